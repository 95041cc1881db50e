"""What a claim of the paper is judged by: figures that other experiments have written, compared by fixed rules."""

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, NamedTuple

from reproductions.harness.jobs import Plain
from reproductions.harness.results import Results
from reproductions.harness.tables import mean_of
from reproductions.harness.trials import SPLITS
from reproductions.harness.verdicts import (
    CONTRADICTED,
    FACTOR,
    POINTS,
    UNTOLD,
    Span,
    ahead,
    always,
    difference,
    faster,
    rate,
    ratio,
    reached,
    shown,
    times,
    together,
    with_interval,
    within,
)

UNMEASURED = "not measured"


class Lacking(KeyError):
    """Results that are not there, or older than the claim."""


class Figures:
    """Summaries of experiments, and what is found in them at the end of a path such as `ablations/ours/stuck`."""

    def __init__(self, results: Results) -> None:
        self._results = results

    def at(self, path: str) -> Any:
        """What is there."""
        value: Any = self._results
        for part in path.split("/"):
            if not isinstance(value, Mapping) or value.get(part) is None:
                raise Lacking(path)
            value = value[part]
        return value

    def seeds(self, path: str) -> list[float]:
        """Values, a seed to each."""
        found = self.at(path)
        values = found.get("seeds") if isinstance(found, Mapping) else found
        if not isinstance(values, list) or not values or None in values:
            raise Lacking(path)
        return values

    def rate(self, path: str) -> Plain:
        """A rate over seeds, as `Rate.plain` has it."""
        found = self.at(path)
        if not isinstance(found, Mapping) or not {"seeds", "mean", "pooled_interval"} <= set(found):
            raise Lacking(path)
        return dict(found)


class Judged(NamedTuple):
    """A quantity with its interval, the same for people, and what it says of the claim."""

    span: Span | None
    text: str
    verdict: str

    def plain(self) -> Plain:
        """For JSON."""
        span = {} if self.span is None else self.span._asdict()
        return {**span, "text": self.text, "verdict": self.verdict}


Part = Callable[[Figures], Judged]
Parts = Mapping[str, Sequence[Part]]
"""What is compared, by its name: often a part to each split."""


class Claim(NamedTuple):
    """Something that the paper says.

    Attributes:
        says: in short.
        compared: what is looked at, and how it was measured.
        parts: the comparisons.
        judge: what their verdicts say together.
        beyond: whether the paper does not say it, and it stands beside something that it says.
    """

    says: str
    compared: str
    parts: Parts
    judge: Callable[[Collection[str]], str] = together
    beyond: bool = False

    def judged(self, figures: Figures) -> Plain:
        """Figures and verdict; where something was not measured, no verdict."""
        found = {label: [_told(part, figures) for part in some] for label, some in self.parts.items()}
        verdicts = [one.verdict for some in found.values() for one in some]
        texts = [f"{label} {' / '.join(one.text for one in some)}".strip() for label, some in found.items()]
        return {
            "says": self.says,
            "compared": self.compared,
            "beyond": self.beyond,
            "ours": "; ".join(texts),
            "verdict": UNMEASURED if UNMEASURED in verdicts else self.judge(verdicts),
            "parts": {label: [one.plain() for one in some] for label, some in found.items()},
        }


def _told(part: Part, figures: Figures) -> Judged:
    try:
        return part(figures)
    except Lacking:
        return Judged(None, UNMEASURED, UNMEASURED)


def both(make: Callable[..., Part], *paths: str, **more: Any) -> list[Part]:
    """A part to each split, whose name takes the place of `SPLIT` in the paths; of `more`, one value to each split."""
    return [
        make(*(path.replace("SPLIT", split) for path in paths), **{key: some[i] for key, some in more.items()})
        for i, split in enumerate(SPLITS)
    ]


# Rates.


def figure(path: str, printed: float) -> Part:
    """Our method's rate beside the printed one: better, about that, or worse."""

    def part(figures: Figures) -> Judged:
        span = rate(figures.rate(path))
        return Judged(span, shown(span), reached(span, printed))

    return part


def level(path: str, printed: float) -> Part:
    """Another rate beside the printed one: about that or not."""
    return between(path, printed - POINTS, printed + POINTS)


def between(path: str, low: float, high: float) -> Part:
    """A rate that lies between two bounds."""

    def part(figures: Figures) -> Judged:
        span = rate(figures.rate(path))
        return Judged(span, shown(span), within(span, low, high))

    return part


def more(path: str, other: str) -> Part:
    """One rate is above another one; by how many points."""

    def part(figures: Figures) -> Judged:
        span = difference(figures.rate(path), figures.rate(other))
        return Judged(span, shown(span, signed=True), ahead(span))

    return part


def alike(path: str, other: str) -> Part:
    """Two rates are about the same."""

    def part(figures: Figures) -> Judged:
        span = difference(figures.rate(path), figures.rate(other))
        return Judged(span, shown(span, signed=True), within(span, -POINTS, POINTS))

    return part


def no_worse(path: str, other: str) -> Part:
    """One rate is that of another one, about, or above it."""

    def part(figures: Figures) -> Judged:
        span = difference(figures.rate(path), figures.rate(other))
        return Judged(span, shown(span, signed=True), ahead(span, -POINTS))

    return part


def widening(path: str, other: str) -> Part:
    """One rate is further above another one in novel tasks than in compositional ones; paths have `SPLIT`."""

    def part(figures: Figures) -> Judged:
        few, many = (
            [figures.seeds(one.replace("SPLIT", split)) for one in (path, other)] for split in SPLITS
        )  # compositional, novel
        pairs = zip(*few, *many, strict=False)
        span = Span.of([(novel - their_novel) - (own - theirs) for own, theirs, novel, their_novel in pairs])
        return Judged(span, shown(span, signed=True), ahead(span))

    return part


# Other quantities.


def count(path: str, other: str) -> Part:
    """There are more of something than of something else."""

    def part(figures: Figures) -> Judged:
        one, two = figures.seeds(path), figures.seeds(other)
        span = Span.of([a - b for a, b in zip(one, two, strict=False)])
        means = f"{mean_of(one).mean:.1f} and {mean_of(two).mean:.1f}"
        return Judged(span, f"{means}: {with_interval(span, '{:+.1f}'.format)}", ahead(span))

    return part


def larger(path: str, other: str) -> Part:
    """Something is so many times as much as something else."""

    def part(figures: Figures) -> Judged:
        span = ratio(_by_seed(figures, path), _by_seed(figures, other))
        return Judged(span, times(span), ahead(span))

    return part


def _by_seed(figures: Figures, path: str) -> list[float]:
    """Values, a seed to each; those of a method's episodes come split by split, of which the mean is taken."""
    values = figures.seeds(path)
    if not path.endswith("episode_ms"):
        return values
    half = len(values) // len(SPLITS)
    return [sum(values[seed::half]) / len(SPLITS) for seed in range(half)]


def ranked(wrong: str, of: str) -> Part:
    """The share of pairs, so many for each seed, that do not rank wrongly is about all."""

    def part(figures: Figures) -> Judged:
        pairs = figures.at(of)
        span = Span.of([1 - one / pairs for one in figures.seeds(wrong)])
        return Judged(span, shown(span), within(span, 1 - POINTS, 1 + POINTS))

    return part


def seconds(path: str, printed: float, unit: float = 1.0) -> Part:
    """A time, of which a unit of the figures has so many seconds, beside the printed one; the geometric mean."""

    def part(figures: Figures) -> Judged:
        found = ratio(_by_seed(figures, path), [1 / unit] * len(figures.seeds(path)))
        span = Span(math.exp(found.mean), *(None if one is None else math.exp(one) for one in found[1:]))
        told = (with_interval(span, "{:.1f}".format, "s"), with_interval(span, lambda one: f"{1000 * one:.1f}", "ms"))
        return Judged(span, told[span.mean < 1], faster(span, printed))

    return part


def nodes(path: str, printed: float) -> Part:
    """How many nodes something takes, beside the printed number: within `FACTOR` of it or not."""

    def part(figures: Figures) -> Judged:
        values = figures.at(path)
        if None in values:
            far = all(one is None for one in values)
            return Judged(None, "not reached with every seed", CONTRADICTED if far else UNTOLD)
        span = ratio(values, [1.0] * len(values))
        told = with_interval(span, lambda one: f"{math.exp(one):,.0f}")
        return Judged(span, told, within(span, math.log(printed / FACTOR), math.log(printed * FACTOR)))

    return part


def given(path: str) -> Part:
    """What another section has judged already, with these rules."""

    def part(figures: Figures) -> Judged:
        found = figures.at(path)
        span = Span(*(found[key] for key in ("value", "low", "high")))
        return Judged(span, found["text"], found["verdict"])

    return part


def agrees(right: str, of: str) -> Part:
    """Something is so every time: how often it is, of how many."""

    def part(figures: Figures) -> Judged:
        good, total = (int(figures.at(path)) for path in (right, of))
        return Judged(None, f"{good:,} of {total:,}", always(total, total - good))

    return part


def never(wrong: str, of: str) -> Part:
    """Something never happens: how often it did, over all seeds, of how many."""

    def part(figures: Figures) -> Judged:
        bad, total = (int(figures.at(path)) for path in (wrong, of))
        return Judged(None, f"{bad:,} of {total:,}", always(total, bad))

    return part
