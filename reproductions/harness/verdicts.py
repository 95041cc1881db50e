"""What figures say of a claim, in four words, by fixed rules; every rule looks at a 95 % interval over seeds alone.

*Contradicted* needs the whole interval on the other side; what a single seed says is *not told apart*.
"""

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import NamedTuple

from reproductions.harness.jobs import Plain
from reproductions.harness.tables import Mean, mean_of
from rsg.evaluation.statistics import hundredths

BETTER, CONFIRMED, CONTRADICTED, UNTOLD = "better", "confirmed", "contradicted", "not told apart"
FACTOR = 1.5  # of numbers of nodes: "about" and "similar" are within this factor
POINTS = 0.05  # of rates: "about", "similar" and "well" are within so much
HARDWARE = 10.0  # of times: the paper's hardware is not known, so this factor is granted


class Span(NamedTuple):
    """A quantity over seeds: its mean, and its 95 % interval, None for a single seed."""

    mean: float
    low: float | None
    high: float | None

    @classmethod
    def of(cls, values: Sequence[float]) -> "Span":
        """Over seeds, by Student's t."""
        mean = mean_of(values)
        return cls(mean.mean, mean.low, mean.high)

    def wider(self, low: float, high: float) -> "Span":
        """The interval that holds this one and another; a single seed has none all the same."""
        if self.low is None or self.high is None:
            return self
        return Span(self.mean, min(self.low, low), max(self.high, high))


def ahead(span: Span | Mean, least: float = 0.0) -> str:
    """Whether something is more than `least`.

    >>> ahead(Span(1.0, 0.5, 1.5)), ahead(Span(1.0, -0.5, 2.5)), ahead(Span(-1.0, -1.5, -0.5))
    ('confirmed', 'not told apart', 'contradicted')
    """
    if span.low is None or span.high is None or span.low <= least <= span.high:
        return UNTOLD
    return CONFIRMED if span.low > least else CONTRADICTED


def within(span: Span | Mean, low: float, high: float) -> str:
    """Whether something lies between two bounds.

    >>> within(Span(1.0, 0.9, 1.1), 0, 2), within(Span(1.0, 0.9, 2.1), 0, 2), within(Span(3.0, 2.9, 3.1), 0, 2)
    ('confirmed', 'not told apart', 'contradicted')
    """
    if span.low is None or span.high is None:
        return UNTOLD
    if low <= span.low and span.high <= high:
        return CONFIRMED
    return CONTRADICTED if span.high < low or high < span.low else UNTOLD


def reached(span: Span | Mean, printed: float, margin: float = POINTS) -> str:
    """Whether a figure of which more is better is that in print, about, or better.

    >>> reached(Span(0.9, 0.8, 1.0), 0.7), reached(Span(0.7, 0.68, 0.72), 0.7), reached(Span(0.6, 0.5, 0.64), 0.7)
    ('better', 'confirmed', 'contradicted')
    """
    if span.low is not None and span.low > printed:
        return BETTER
    return within(span, printed - margin, printed + margin)


def faster(span: Span | Mean, printed: float) -> str:
    """Whether a time is that in print; see `HARDWARE`.

    >>> faster(Span(1.0, 0.9, 1.1), 60.0), faster(Span(9.0, 8.0, 10.0), 60.0), faster(Span(900.0, 800.0, 999.0), 60.0)
    ('better', 'not told apart', 'contradicted')
    """
    if span.low is None or span.high is None or (span.high >= printed / HARDWARE and span.low <= printed * HARDWARE):
        return UNTOLD
    return BETTER if span.high < printed / HARDWARE else CONTRADICTED


def always(times: int, wrong: int) -> str:
    """Whether what can never be wrong never was."""
    return UNTOLD if not times else CONTRADICTED if wrong else CONFIRMED


def together(verdicts: Collection[str]) -> str:
    """What several say of a claim about all of them: one that contradicts is enough.

    >>> together(["better", "better"]), together(["better", "confirmed"]), together(["confirmed", "contradicted"])
    ('better', 'confirmed', 'contradicted')
    >>> together(["confirmed", "not told apart"])
    'not told apart'
    """
    for word in (CONTRADICTED, UNTOLD, CONFIRMED):
        if word in verdicts:
            return word
    return BETTER if verdicts else UNTOLD


def some(verdicts: Collection[str]) -> str:
    """What several say of a claim about one of them at least.

    >>> some(["not told apart", "confirmed"]), some(["not told apart", "contradicted"]), some(["contradicted"])
    ('confirmed', 'not told apart', 'contradicted')
    """
    for word in (CONFIRMED, UNTOLD, CONTRADICTED):
        if word in verdicts:
            return word
    return UNTOLD


# Rates as summaries have them (`Rate.plain`).


def rate(plain: Plain) -> Span:
    """A rate; its interval is the wider one of that over seeds and Wilson's of all episodes together.

    >>> rate({"seeds": [1.0, 1.0], "pooled_interval": [0.98, 1.0]})
    Span(mean=1.0, low=0.98, high=1.0)
    """
    found = Span.of(plain["seeds"]).wider(*plain["pooled_interval"])
    if found.low is None or found.high is None:
        return found
    return Span(found.mean, max(0.0, found.low), min(1.0, found.high))


def difference(one: Plain, other: Plain) -> Span:
    """A rate minus another one, paired by seed; the interval is no narrower than Newcombe's of all episodes.

    >>> both = difference({"seeds": [0.9, 0.8], "mean": 0.85, "pooled_interval": [0.8, 0.9]},
    ...                   {"seeds": [0.4, 0.3], "mean": 0.35, "pooled_interval": [0.3, 0.4]})
    >>> [round(value, 2) for value in both]
    [0.5, 0.43, 0.57]
    """
    found = Span.of(paired(one["seeds"], other["seeds"]))
    (low, high), (least, most) = one["pooled_interval"], other["pooled_interval"]
    down = math.hypot(one["mean"] - low, most - other["mean"])
    up = math.hypot(high - one["mean"], other["mean"] - least)
    found = found.wider(found.mean - down, found.mean + up)
    if found.low is None or found.high is None:
        return found
    return Span(found.mean, max(-1.0, found.low), min(1.0, found.high))


def ratio(one: Sequence[float], other: Sequence[float]) -> Span:
    """The logarithm of how many times as large one is as another, paired by seed."""
    return Span.of(paired(list(map(math.log, one)), list(map(math.log, other))))


def paired(one: Sequence[float], other: Sequence[float]) -> list[float]:
    """Differences by seed, of the seeds that both have; those of each begin with the same one."""
    return [a - b for a, b in zip(one, other, strict=False)]


# How they are told.


def shown(span: Span | Mean, signed: bool = False) -> str:
    """A rate, or a difference of two, in percent, with its interval.

    >>> shown(Span(0.5, 0.4, 0.6)), shown(Span(0.5, None, None), signed=True)
    ('50.0 (40.0 to 60.0)', '+50.0')
    """
    return with_interval(span, (lambda one: f"{100 * one:+.1f}") if signed else hundredths)


def times(span: Span | Mean) -> str:
    """How many times, of a logarithm, with its interval.

    >>> times(Span(0.0, None, None))
    '1.00 times'
    """
    return with_interval(span, lambda one: f"{math.exp(one):,.2f}", "times")


def with_interval(span: Span | Mean, form: Callable[[float], str], unit: str = "") -> str:
    """A mean in some unit, and its interval in brackets.

    >>> with_interval(Span(1.0, 0.5, 1.5), "{:.1f}".format, "s")
    '1.0 s (0.5 to 1.5)'
    """
    mean = f"{form(span.mean)} {unit}".strip()
    return mean if span.low is None or span.high is None else f"{mean} ({form(span.low)} to {form(span.high)})"


RULES: Mapping[str, str] = {
    BETTER: "a figure of our method, or a time: the whole interval is better than the printed one",
    CONFIRMED: "the whole interval is where the claim says",
    CONTRADICTED: "none of it is",
    UNTOLD: "neither, or there is a single seed",
}
