"""Intervals for what was measured."""

import math


def wilson(successes: int, trials: int, z: float = 1.96) -> tuple[float, float]:
    """The 95 % interval of a rate (Wilson's), which is right for rates near 0 and 1 too.

    >>> low, high = wilson(99, 100)
    >>> round(low, 3), round(high, 3)
    (0.946, 0.998)
    """
    if trials == 0:
        return 0.0, 1.0
    rate = successes / trials
    center = rate + z * z / (2 * trials)
    spread = z * math.sqrt(rate * (1 - rate) / trials + z * z / (4 * trials * trials))
    scale = 1 + z * z / trials
    low = (center - spread) / scale if successes > 0 else 0.0  # exactly, whatever sums are rounded to
    high = (center + spread) / scale if successes < trials else 1.0
    return max(0.0, low), min(1.0, high)


def hundredths(rate: float) -> str:
    """A fraction in percent; less than all is never rounded up to all.

    >>> hundredths(0.996), hundredths(0.99995), hundredths(1.0)
    ('99.6', '99.995', '100.0')
    """
    digits = 1
    while rate < 1 and round(100 * rate, digits) == 100:
        digits += 1
    return f"{100 * rate:.{digits}f}"
