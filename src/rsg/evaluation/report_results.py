"""What a report tells of a run: planning success beside an untrained model, a demonstration as it sees it, a plan."""

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from rsg.core.arrays import Bools, Floats
from rsg.core.progress import Advance
from rsg.core.random import stream
from rsg.demos import Demonstration
from rsg.domain import Domain
from rsg.evaluation.planning import Starts, evaluate_planning
from rsg.evaluation.statistics import hundredths
from rsg.evaluation.timeline import parts
from rsg.language import Machine, parse
from rsg.planning import Part, Plan, validate
from rsg.planning.validation import Verdict
from rsg.search import Auto, Roadmap, SearchSettings
from rsg.subgoals import Subgoals, untrained
from rsg.subgoals.objective import log_probabilities
from rsg.worlds import EitherWorld, World, is_continuous

NONE = "–"
Results = dict[str, dict[str, dict[str, Any]]]
"""What `evaluate_planning` gives, by model (`rsg`, `untrained`) and by split: plain JSON."""


@dataclass(frozen=True)
class Sizes:
    """How many starts of each task are planned from, with what was learned and with what was not."""

    first: int = 30
    others: int = 50
    untrained: int = 3

    def of(self, source: Domain) -> dict[str, int]:
        """By split."""
        first, *others = source.reported
        return {first: self.first, **dict.fromkeys(others, self.others)}

    def plans(self, source: Domain) -> int:
        """How many plans that is in all."""
        return sum(len(source.tasks(split)) * (count + self.untrained) for split, count in self.of(source).items())


def measure(
    source: Domain,
    subgoals: Subgoals,
    sizes: Sizes | None = None,
    seed: int = 0,
    advance: Advance | None = None,
) -> Results:
    """Plan for each split with learned subgoals and with untrained ones; every plan is judged by the truth.

    In a continuous world untrained ones are planned with on the roadmap alone: trees would grow for long, in vain.
    """
    sizes = sizes or Sizes()
    world, state = source.start_of(source.reported[-1], 0, stream(seed, "world"))
    floor = untrained(source.vocabulary, world, state=state)
    quick = SearchSettings(Roadmap() if is_continuous(world) else Auto())
    own = {
        split: evaluate_planning(source, Starts(split, count, seed), subgoals, advance=advance)
        for split, count in sizes.of(source).items()
    }
    beside = {
        split: evaluate_planning(source, Starts(split, sizes.untrained, seed), floor.goals, quick, advance)
        for split in source.reported
    }
    return {"rsg": own, "untrained": beside}


def unseen_success(results: Results) -> tuple[float, list[str]]:
    """Success on the tasks of the last split that are not in the first, and those that are, and so are left out."""
    first, *others = results["rsg"].values()
    if not others:
        return float("nan"), []
    known, rows = {row["task"] for row in first["tasks"]}, others[-1]["tasks"]
    new = [row for row in rows if row["task"] not in known]
    episodes = sum(row["episodes"] for row in new)
    rate = sum(row["success"] * row["episodes"] for row in new) / episodes if episodes else float("nan")
    return rate, [row["task"] for row in rows if row["task"] in known]


@dataclass(frozen=True, eq=False)
class Followed:
    """A demonstration as the classifiers see it."""

    demo: Demonstration  # what was shown
    world: EitherWorld  # where
    terms: tuple[str, ...]  # of its task
    responses: Floats  # `[T + 1, terms]` G of each term in each state
    truth: Bools  # `[T + 1, terms]` what really holds
    segments: list[Part]  # the best alignment: which subgoal the steps serve

    @property
    def hits(self) -> int:
        """How many parts end exactly where a subgoal comes true."""
        truth = [step for number in range(len(self.terms)) for step in self.turns(number)]
        return sum(part.end in truth for part in self.segments)

    def turns(self, term: int) -> list[int]:
        """The states in which a term turns true."""
        column = self.truth[:, term]
        return [int(i) + 1 for i in np.flatnonzero(~column[:-1] & column[1:])]


def follow_demonstration(source: Domain, subgoals: Subgoals, seed: int = 0) -> Followed:
    """A new demonstration of the task with the largest machine in the first split, aligned as in training."""
    split = source.reported[0]
    machines = [Machine.of(parse(text)) for text in source.tasks(split)]
    number = max(range(len(machines)), key=lambda i: machines[i].nodes)
    machine = machines[number]
    demo, _ = source.demonstrate(split, number, stream(seed, "report", "demonstration"))
    world = source.world(demo.setting)
    terms = machine.names
    classifiers = subgoals.classifiers
    log_g, _ = log_probabilities(classifiers.evaluate(world, demo.states, classifiers.numbers(terms)))
    found = subgoals.segment(demo, world=world)
    return Followed(demo, world, terms, np.exp(log_g), source.truth(world, demo.states, terms), parts(found))


def plan_novel_task(source: Domain, subgoals: Subgoals, seed: int = 0) -> tuple[World, Plan, Verdict]:
    """A plan for the last task, from the first start that chance gives, which may fail: where, and its replay."""
    split = source.reported[-1]
    demo, _ = source.demonstrate(split, len(source.tasks(split)) - 1, stream(seed, "report", "plan"))
    world = source.world(demo.setting)
    subgoals.plan(world, demo.states[0], demo.task)  # loads the kernels, which is not planning
    made = subgoals.plan(world, demo.states[0], demo.task)
    return world, made, validate(world, made, demo.task, partial(source.truth, world))


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
