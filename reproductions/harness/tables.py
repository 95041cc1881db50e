"""Results as people read them: means and rates with their intervals, tables, pages, sections of a file."""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from rsg.core.errors import RsgError
from rsg.evaluation.statistics import hundredths, wilson

HEAD = """# Results

Written by `rsg reproduce`; do not edit by hand. Each section is written anew by its own command; its figures lie
beside this file, those of every job in the work folder.
"""
PAGES = Path(__file__).parents[1] / "pages"
NONE = "–"
_BAR = r"\|"  # a bar in a cell, not between two


def page(name: str, **told: object) -> str:
    """The prose of an experiment, `reproductions/pages/NAME.md`, with what is told put in: figures and whole tables."""
    pages = Environment(loader=FileSystemLoader(PAGES), undefined=StrictUndefined, trim_blocks=True)
    return re.sub(r"\n{3,}", "\n\n", pages.get_template(f"{name}.md").render(told)).strip()


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table, its first column to the left and all others to the right.

    >>> print(table(["method", "success"], [["RSG", "99.6"]]))
    | method | success |
    |:---|---:|
    | RSG | 99.6 |
    """
    first, *rest = [f"| {' | '.join(cell.replace('|', _BAR) for cell in row)} |" for row in (head, *rows)]
    return "\n".join([first, f"|:---|{'---:|' * (len(head) - 1)}", *rest])


@dataclass(frozen=True)
class Mean:
    """The mean of some values, one per seed.

    Attributes:
        count: how many values.
        mean: their mean.
        low, high: the 95 % interval of the mean (Student's t); None for a single value.
        least, most: the extremes.
    """

    count: int
    mean: float
    low: float | None
    high: float | None
    least: float
    most: float


def mean_of(values: Sequence[float], confidence: float = 0.95) -> Mean:
    """The mean with its interval.

    >>> mean_of([1.0, 2.0, 3.0]).mean
    2.0
    """
    if not values:
        raise ValueError("the mean of nothing")
    count = len(values)
    mean = math.fsum(values) / count
    if count == 1:
        return Mean(1, mean, None, None, mean, mean)
    spread = math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (count - 1) / count)
    half = t_quantile((1 + confidence) / 2, count - 1) * spread
    return Mean(count, mean, mean - half, mean + half, min(values), max(values))


def t_quantile(probability: float, freedom: int) -> float:
    """The quantile of Student's t distribution, by bisection.

    >>> round(t_quantile(0.975, 4), 3)
    2.776
    """
    if not 0 < probability < 1 or freedom < 1:
        raise ValueError("the probability lies between 0 and 1, and there is at least one degree of freedom")
    low, high = -1e6, 1e6
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if t_cdf(middle, freedom) < probability else (low, middle)
    return (low + high) / 2


def t_cdf(t: float, freedom: int) -> float:
    """The distribution function of Student's t for whole degrees of freedom (Abramowitz and Stegun, 26.7.3 and 4)."""
    angle = math.atan2(t, math.sqrt(freedom))
    cosine, odd = math.cos(angle), freedom % 2
    term, total = (cosine if odd else 1.0), 0.0
    for k in range(odd, freedom - 1, 2):
        total += term
        term *= cosine * cosine * (k + 1) / (k + 2)
    within = math.sin(angle) * total
    if odd:
        within = (angle + within) * 2 / math.pi
    return 0.5 + within / 2


class Rate(NamedTuple):
    """A success rate over seeds: the successes and the trials of each."""

    successes: tuple[int, ...]
    trials: tuple[int, ...]

    @property
    def seeds(self) -> list[float]:
        """The rate of each seed."""
        return [done / of for done, of in zip(self.successes, self.trials, strict=True)]

    @property
    def over_seeds(self) -> Mean:
        """The mean of the seeds' rates."""
        return mean_of(self.seeds)

    @property
    def pooled(self) -> tuple[float, float]:
        """Wilson's interval of all trials together."""
        return wilson(sum(self.successes), sum(self.trials))

    def plain(self) -> dict[str, object]:
        """All of it, for JSON."""
        mean = self.over_seeds
        return {
            "mean": mean.mean,
            "interval_over_seeds": None if mean.low is None else [mean.low, mean.high],
            "least": mean.least,
            "pooled_interval": list(self.pooled),
            "episodes": sum(self.trials),
            "seeds": self.seeds,
        }


def percent(rate: Rate | None) -> str:
    """A rate in percent, with its interval over seeds.

    >>> percent(Rate((98, 100), (100, 100)))
    '99.0 (86.3 to 100.0)'
    """
    if rate is None:
        return NONE
    mean = rate.over_seeds
    if mean.low is None or mean.high is None:
        return hundredths(mean.mean)
    return f"{hundredths(mean.mean)} ({span(mean.low, mean.high)})"


def span(low: float, high: float) -> str:
    """An interval of a rate, in percent; it does not leave 0 to 100."""
    return f"{hundredths(max(0.0, low))} to {hundredths(min(1.0, high))}"


def number(mean: Mean | None, digits: int = 1, unit: str = "") -> str:
    """A mean with its range over seeds.

    >>> number(mean_of([10.0, 12.0]), 0, "s")
    '11 s (10 to 12)'
    """
    if mean is None:
        return NONE
    unit = f" {unit}" if unit else ""
    if mean.count == 1:
        return f"{mean.mean:,.{digits}f}{unit}"
    return f"{mean.mean:,.{digits}f}{unit} ({mean.least:,.{digits}f} to {mean.most:,.{digits}f})"


def rates_table(first: str, columns: Iterable[str], rows: Mapping[str, Mapping[Any, Rate | None]]) -> str:
    """A table of rates, in percent, under its head."""
    return table([first, *columns], [[label, *map(percent, row.values())] for label, row in rows.items()])


def certainty(rates: Mapping[str, Mapping[str, Rate | None]]) -> str:
    """A table of how sure rates by row and split are."""
    lines = []
    for label, row in rates.items():
        for split, one in row.items():
            if one is not None:
                mean = one.over_seeds
                both, episodes = [f"{100 * value:.2f}" for value in (mean.mean, mean.least)], f"{sum(one.trials):,}"
                lines.append([label, split, *both, span(*one.pooled), episodes])
    return table(["method", "split", "mean", "worst seed", "all episodes, 95 %", "episodes"], lines)


def with_section(text: str, name: str, body: str, order: Sequence[str] = (), where: str = "the file") -> str:
    """The text with the section of that name put in; every other byte stays as it is.

    A section that is there is replaced; a new one goes before the first that comes later in `order`, or to the end.
    """
    begin, end = f"<!-- begin {name} -->", f"<!-- end {name} -->"
    section = f"{begin}\n{body.strip()}\n{end}\n"
    if (text.count(begin), text.count(end)) not in ((0, 0), (1, 1)) or text.find(begin) > text.find(end):
        raise RsgError(f"{where} needs one '{begin}' with '{end}' after it, or neither; mend it, or move it away")
    if begin in text:
        before, after = text[: text.index(begin)], text[text.index(end) + len(end) :]
        return before + section + after.removeprefix("\n")
    later = order[order.index(name) + 1 :] if name in order else ()
    places = [text.find(f"<!-- begin {other} -->") for other in later]
    if place := min((one for one in places if one >= 0), default=0):
        return f"{text[:place]}{section}\n{text[place:]}"
    text = text or HEAD
    gap = "" if text.endswith("\n\n") else "\n" if text.endswith("\n") else "\n\n"
    return text + gap + section
