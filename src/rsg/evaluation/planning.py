"""Planning success: many starts per task, every plan replayed and judged by the truth."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import log
from typing import Any, NamedTuple

import numpy as np

from rsg.core.progress import Advance
from rsg.core.random import stream
from rsg.demos import Demonstration
from rsg.domain import Domain
from rsg.evaluation.statistics import wilson
from rsg.language import Machine, Task, parse
from rsg.planning import Plan, Verdict, plan, validate
from rsg.search import GoalFn, Hard, SearchSettings
from rsg.worlds import EitherWorld

ALREADY = "already true"  # how a search for such a goal ended


def judged(made: Plan, domain: Domain, world: Any, goal_fn: GoalFn, goal: Task | None = None) -> tuple[Plan, Verdict]:
    """A plan and what its replay says; goal: the only thing that was named, if so.

    Whether a goal holds at once, so that there is nothing to do, is asked last: classifiers may be wrong there.
    """
    if not domain.has("truth"):
        return made, Verdict(made.found, made.found, "")  # nobody can judge it
    truth = partial(domain.truth, world)
    start, term = made.states[:1], str(goal)
    asked_at_once = goal is not None and not made.found
    if not asked_at_once or goal_fn(world, [term], start[0])(start)[0][0, 0] < log(Hard().threshold):
        return made, validate(world, made, goal or made.task, truth)
    right = bool(truth(start, [term])[0, 0])
    nothing = replace(made, cost=0.0, ended=ALREADY, reached=(), missed=(), because="")
    return nothing, Verdict(right, right, "" if right else f"{term} is not true at the start")


@dataclass(frozen=True)
class Episode:
    """One plan and its judgement."""

    success: bool
    lenient: bool
    expansions: int
    milliseconds: float
    cost: float


class Starts(NamedTuple):
    """Where an evaluation starts: of each task of a split so many times, drawn with a seed.

    They are drawn as for demonstrations, so that each task can be done on them; classifiers see nothing of that.
    """

    split: str
    per_task: int
    seed: int = 0

    def draw(self, source: Domain, task: int, place: int) -> Demonstration:
        """A demonstration that begins at one of the starts of a task, both by their numbers."""
        rng = stream(self.seed, "evaluation", self.split, task, place)
        return source.demonstrate(self.split, task, rng)[0]


def evaluate_planning(
    source: Domain,
    starts: Starts,
    goal_fn: GoalFn,
    settings: SearchSettings | None = None,
    advance: Advance | None = None,
    planner: Callable[..., Plan] = plan,
) -> dict[str, Any]:
    """Success, expansions and time over a split, in total and per task. Rates are fractions."""
    settings = settings or SearchSettings()
    tasks = source.tasks(starts.split)
    episodes: list[list[Episode]] = []
    for number, text in enumerate(tasks):
        machine = Machine.of(parse(text))
        rows = []
        for i in range(starts.per_task):
            demo = starts.draw(source, number, i)
            world: EitherWorld = source.world(demo.setting)
            made = planner(world, demo.states[0], machine, goal_fn, settings)
            verdict = validate(world, made, machine, partial(source.truth, world))
            rows.append(Episode(verdict.ok, verdict.lenient, made.expansions, 1000 * made.seconds, made.cost))
            if advance:
                advance(1)
        episodes.append(rows)
    return {**starts._asdict(), **by_task(tasks, episodes)}


def by_task(tasks: Sequence[str], episodes: Sequence[list[Episode]]) -> dict[str, Any]:
    """The figures of all episodes, and those of each task."""
    rows = [{"task": text, **summary(some)} for text, some in zip(tasks, episodes, strict=True)]
    return {**summary([episode for some in episodes for episode in some]), "tasks": rows}


def summary(episodes: list[Episode]) -> dict[str, Any]:
    """The figures of some episodes."""
    successes = sum(episode.success for episode in episodes)
    costs = [episode.cost for episode in episodes if episode.success]
    return {
        "episodes": len(episodes),
        "success": successes / len(episodes),
        "success_interval": [round(edge, 6) for edge in wilson(successes, len(episodes))],
        "success_lenient": sum(episode.lenient for episode in episodes) / len(episodes),
        "expansions_mean": float(np.mean([episode.expansions for episode in episodes])),
        "expansions_median": float(np.median([episode.expansions for episode in episodes])),
        "plan_ms_median": float(np.median([episode.milliseconds for episode in episodes])),
        "plan_ms_mean": float(np.mean([episode.milliseconds for episode in episodes])),
        "cost_mean": float(np.mean(costs)) if costs else None,
    }
