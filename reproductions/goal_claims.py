"""What the paper says of plans for a goal, judged: each claim with a 95 % interval over seeds, and a verdict."""

import math
from collections.abc import Callable, Mapping
from typing import NamedTuple

from reproductions.goal_trials import EASY, HARD, UNITS, Trials
from reproductions.harness.jobs import Plain
from reproductions.harness.tables import Mean, mean_of, table
from reproductions.harness.verdicts import CONTRADICTED, FACTOR, POINTS, UNTOLD, within
from reproductions.harness.verdicts import ahead as more

SHARE = 0.7  # of the starts, at which the paper compares


class Advantage(NamedTuple):
    """How far one method is ahead of another, by seed.

    Attributes:
        times: whether values are logarithms of how many times fewer nodes it needs to 70 %, which is so where both get
            there with every seed; otherwise they are how much more of the starts it solves within the paper's budget.
        values: above 0 where it is ahead.
    """

    times: bool
    values: Mapping[int, float]

    @property
    def mean(self) -> Mean:
        """Over seeds."""
        return mean_of(list(self.values.values()))

    @property
    def text(self) -> str:
        """The mean with its interval, for people."""
        mean = self.mean
        every = [mean.mean] + [one for one in (mean.low, mean.high) if one is not None]
        shown = [f"{math.exp(one):,.2f}" if self.times else f"{100 * one:+.1f}" for one in every]
        span = f" ({shown[1]} to {shown[2]})" if len(shown) > 1 else ""
        return f"{shown[0]} times{span}" if self.times else f"success {shown[0]} points{span}"

    def plain(self) -> Plain:
        """The mean with its interval, for JSON: times, or a difference of two rates."""
        mean, form = self.mean, math.exp if self.times else float
        numbers = {"value": mean.mean, "low": mean.low, "high": mean.high}
        return {
            "measure": "times" if self.times else "success",
            **{key: None if one is None else form(one) for key, one in numbers.items()},
            "seeds": [form(one) for one in self.values.values()],
            "text": self.text,
        }


def advantage(one: Trials, other: Trials, unit: str, times: bool = True) -> Advantage:
    """How far one is ahead of another, with the seeds and starts of both; `times` is false if only success counts."""
    seeds = sorted(one.seeds.keys() & other.seeds.keys())
    own, theirs = one.reach(SHARE, unit), other.reach(SHARE, unit)
    if times and all(math.isfinite(reach[seed]) for reach in (own, theirs) for seed in seeds):
        return Advantage(True, {seed: math.log(theirs[seed] / own[seed]) for seed in seeds})
    rates = [dict(zip(some.seeds, some.success().seeds, strict=True)) for some in (one, other)]
    return Advantage(False, {seed: rates[0][seed] - rates[1][seed] for seed in seeds})


def ahead(found: Advantage) -> str:
    """Whether one is ahead, as the paper says.

    >>> ahead(Advantage(True, {0: 0.5, 1: 0.51})), ahead(Advantage(True, {0: -0.5, 1: -0.51}))
    ('confirmed', 'contradicted')
    """
    return more(found.mean)


def about(found: Advantage, times: float) -> str:
    """Whether one needs about so many times fewer nodes; that it solves more starts says nothing of how many.

    >>> about(Advantage(True, {0: 1.5, 1: 1.51}), 4.5), about(Advantage(True, {0: 0.3, 1: 0.31}), 4.5)
    ('confirmed', 'contradicted')
    """
    if not found.times and times != 1:
        return CONTRADICTED if found.mean.high is not None and found.mean.high < 0 else UNTOLD
    said, margin = math.log(times), math.log(FACTOR) if found.times else POINTS
    return within(found.mean, said - margin, said + margin)


def grown(methods: Mapping[str, Trials], unit: str) -> Advantage:
    """How much further the first of two methods is ahead with many subgoals than with few."""
    one, other = methods.values()
    for times in (True, False):
        few, many = (advantage(one.of(group), other.of(group), unit, times) for group in (EASY, HARD))
        if few.times == many.times:
            break
    both = few.values.keys() & many.values.keys()
    return Advantage(few.times, {seed: many.values[seed] - few.values[seed] for seed in sorted(both)})


class Claim(NamedTuple):
    """A sentence of the paper: who is ahead of whom with which goals, and how that is judged."""

    words: str
    compared: str
    one: str
    other: str
    group: str | None
    judge: Callable[[Advantage], str] = ahead


def claims_about(given: str) -> dict[str, Claim]:
    """The claims about a method that is given dependencies, by the name that results know them by."""
    blind, without = "blind", "uniform"
    over_blind, without_over_blind = "blind ÷ with dependencies", "blind ÷ without dependencies"
    return {
        "hard-with": Claim(f"{HARD}: with dependencies fewer nodes than blind", over_blind, given, blind, HARD),
        "hard-with-4.5": Claim("… by about 4.5 times", over_blind, given, blind, HARD, lambda one: about(one, 4.5)),
        "hard-over-without": Claim(
            f"{HARD}: with dependencies fewer nodes than without", "without ÷ with dependencies", given, without, HARD
        ),
        "hard-without": Claim(
            f"{HARD}: without dependencies worse than blind", "without dependencies ÷ blind", blind, without, HARD
        ),
        "easy-similar": Claim(
            f"{EASY}: with and without dependencies similar",
            "without ÷ with dependencies",
            given,
            without,
            EASY,
            lambda one: about(one, 1),
        ),
        "easy-with": Claim(f"{EASY}: with dependencies fewer nodes than blind", over_blind, given, blind, EASY),
        "easy-with-2.4": Claim("… by about 2.4 times", over_blind, given, blind, EASY, lambda one: about(one, 2.4)),
        "easy-without": Claim(
            f"{EASY}: without dependencies fewer nodes than blind", without_over_blind, without, blind, EASY
        ),
        "easy-without-2.4": Claim(
            "… by about 2.4 times", without_over_blind, without, blind, EASY, lambda one: about(one, 2.4)
        ),
        "grows": Claim(
            "with dependencies, the advantage over blind grows with the number of subgoals",
            f"{over_blind}, {HARD} ÷ {EASY}",
            given,
            blind,
            None,
        ),
    }


def judged(trials: Mapping[str, Trials], given: str) -> Plain:
    """Each claim that can be judged, by its name and by unit: the figures and the verdict."""
    found = Plain()
    for key, claim in claims_about(given).items():
        methods = {name: trials[name] for name in (claim.one, claim.other) if name in trials}
        if len(methods) == 2 and _complete(methods):
            found[key] = {"claim": claim.words, "compared": claim.compared}
            for unit in UNITS:
                one = _measured(claim, methods, unit)
                found[key][unit] = {**one.plain(), "verdict": claim.judge(one)}
    return found


def _complete(methods: Mapping[str, Trials]) -> bool:
    """Whether some seeds have both methods, with goals of both groups."""
    seeds = [set(several.of(group).seeds) for several in methods.values() for group in (EASY, HARD)]
    return bool(set.intersection(*seeds))


def _measured(claim: Claim, methods: Mapping[str, Trials], unit: str) -> Advantage:
    if claim.group is None:
        return grown(methods, unit)
    one, other = (several.of(claim.group) for several in methods.values())
    return advantage(one, other, unit)


def claims_table(found: Plain) -> str:
    """The same as a table; success does not depend on the unit, so it is told once."""
    rows = []
    for one in found.values():
        cells = [f"{one[unit]['text']}: **{one[unit]['verdict']}**" for unit in UNITS]
        rows.append(
            [one["claim"], one["compared"], cells[0], *("the same" if cell == cells[0] else cell for cell in cells[1:])]
        )
    return table(["the paper says", "compared", *(f"in {label}" for label in UNITS.values())], rows)
