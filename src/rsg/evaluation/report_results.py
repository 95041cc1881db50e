"""The figures of a report: planning success of a run on both splits, an untrained model beside it, and the paper's."""

from dataclasses import dataclass
from typing import Any

from rsg.core.progress import Advance
from rsg.core.random import stream
from rsg.demos import Benchmark
from rsg.evaluation.planning import Starts, evaluate_planning
from rsg.evaluation.statistics import hundredths
from rsg.evaluation.trained import untrained_for
from rsg.search import SearchSettings, is_continuous
from rsg.subgoals import Classifiers

SPLITS = ("compositional", "novel")
NONE = "–"
Results = dict[str, dict[str, dict[str, Any]]]
"""What `evaluate_planning` gives, by model (`rsg`, `untrained`) and by split: plain JSON."""


@dataclass(frozen=True)
class Sizes:
    """How many starts of each task are planned from."""

    compositional: int = 30
    novel: int = 50
    untrained: int = 3

    def plans(self, source: Benchmark) -> int:
        """How many plans that is in all."""
        tasks = {split: len(source.tasks(split)) for split in SPLITS}
        own = tasks["compositional"] * self.compositional + tasks["novel"] * self.novel
        return own + self.untrained * sum(tasks.values())


def measure(
    source: Benchmark,
    subgoals: Classifiers,
    sizes: Sizes | None = None,
    seed: int = 0,
    advance: Advance | None = None,
) -> Results:
    """Plan for both splits with learned subgoals and with untrained ones; every plan is judged by the truth.

    In a continuous world untrained ones are planned with on the roadmap alone: trees would grow for long, in vain.
    """
    sizes = sizes or Sizes()
    world, _ = source.start("novel", 0, stream(seed, "world"))
    floor, quick = untrained_for(source, world), SearchSettings(planner="roadmap" if is_continuous(world) else "auto")
    own = {
        split: evaluate_planning(source, Starts(split, getattr(sizes, split), seed), subgoals.goals, advance=advance)
        for split in SPLITS
    }
    untrained = {
        split: evaluate_planning(source, Starts(split, sizes.untrained, seed), floor.goals, quick, advance)
        for split in SPLITS
    }
    return {"rsg": own, "untrained": untrained}


def unseen_success(results: Results) -> tuple[float, list[str]]:
    """Success on the novel tasks that are not among the compositional ones, and those that are, and so are left out."""
    known = {row["task"] for row in results["rsg"]["compositional"]["tasks"]}
    rows = results["rsg"]["novel"]["tasks"]
    new = [row for row in rows if row["task"] not in known]
    episodes = sum(row["episodes"] for row in new)
    rate = sum(row["success"] * row["episodes"] for row in new) / episodes if episodes else float("nan")
    return rate, [row["task"] for row in rows if row["task"] in known]


def percent(rate: float | None) -> str:
    """A fraction as people read it, or a dash; less than all is never rounded up to all.

    >>> percent(0.996), percent(0.9996), percent(1.0), percent(None)
    ('99.6 %', '99.96 %', '100.0 %', '–')
    """
    return NONE if rate is None else f"{hundredths(rate)} %"


def duration(seconds: float | None) -> str:
    """A time in the unit that suits it, or a dash.

    >>> duration(0.00047), duration(4.6962), duration(14.3), duration(61200), duration(None)
    ('0.47 ms', '4.7 s', '14 s', '17 h', '–')
    """
    if seconds is None:
        return NONE
    for limit, unit, size in ((1.0, "ms", 1e-3), (180.0, "s", 1.0), (7200.0, "min", 60.0)):
        if seconds < limit:
            return f"{_short(seconds / size)} {unit}"
    return f"{_short(seconds / 3600)} h"


def _short(number: float) -> str:
    digits = 2 if number < 1 else 1 if number < 10 else 0
    return f"{number:.{digits}f}"
