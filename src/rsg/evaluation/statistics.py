"""Intervals for what was measured."""

from __future__ import annotations

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
    return max(0.0, (center - spread) / scale), min(1.0, (center + spread) / scale)
