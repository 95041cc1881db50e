"""Whether terms mean what they should, everywhere: measures against the truth, in Crafting World.

A script learns from few, noisy or wrongly described demonstrations and measures what came of it:

    from reproductions.harness import measures
    from reproductions.harness.measures import Given
    from rsg.subgoals import RsgSettings

    demos = Given(per_task=1).demonstrations(seed=200)          # or Given(5, noise=0.4), Given(5, wrong=0.3), ...
    subgoals, seconds = measures.learned(demos, RsgSettings(encoder="sets", seed=200))
    goals, terms = measures.known(subgoals), subgoals.terms     # any GoalFn, and the terms that it knows
    measures.instructions(goals, terms, seed=200, per_task=20)  # {"compositional": [right, of], "novel": [right, of]}
    measures.single_terms(goals, terms, seed=200, maps=20)      # right, wrong and no plans; the truth's; missed
    measures.goals_only(goals, measures.links(goals, terms, demos), seed=200, starts=2)
    measures.crowded(goals, terms, seed=200, per_task=5)        # [right, of] on maps with all places
    measures.terms_right(goals, terms, seed=200, walks=1000)    # which terms are wrong or open in some state

The truth is `measures.TRUTH`, a `GoalFn` like any other. Instructions with a term that is not known, since no
description had it, are not counted; as a goal it is one that was not reached. Starts of a seed are drawn once for all
that is measured on them, and are never those of demonstrations.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any

import numpy as np

from reproductions.harness.jobs import Plain
from reproductions.harness.trials import BUDGET, ORDER, SPLITS
from rsg.core.arrays import Array, Bools, Floats
from rsg.core.random import stream
from rsg.demos import Demonstration
from rsg.demos.demonstration import by_world
from rsg.domains.crafting import VOCABULARY
from rsg.domains.crafting.domain import Crafting
from rsg.domains.crafting.maps import objects_for, sample_map
from rsg.domains.crafting.starts import KIND, start_for
from rsg.evaluation.planning import Starts, evaluate_planning
from rsg.language import machine_of
from rsg.planning import Dependencies, Plan, plan, plan_goal, validate
from rsg.search import GoalFn, Goals, Product, SearchSettings
from rsg.subgoals import RsgSettings, discover, learn
from rsg.subgoals.classifiers import Classifiers
from rsg.training.data import least_steps

SOURCE = Crafting()
LONGEST = 12  # subgoals of an instruction that the expert can often follow in its 50 steps on a large map
CROWDED = Crafting(
    [
        replace(spec, maps=(KIND,))
        for split in SPLITS
        for spec in SOURCE.split(split)
        if least_steps(machine_of(spec.text)) <= LONGEST
    ]
)
"""The tasks of both splits on maps of the kind that holds everything, but for the longest."""
TRUTH: GoalFn = SOURCE.true_goals
MUCH = 25_000  # expansions for a term whose steps nobody names
SIZES = (10, 16)  # rows and columns of maps for goals
STEPS = 10  # of a random walk
TOGETHER = 2000  # states that are asked about together

Count = list[int]
"""How often it was right, of how many."""


@dataclass(frozen=True)
class Given:
    """What there is to learn from.

    Attributes:
        per_task: demonstrations of each training task.
        noise: the share of their actions that is random.
        wrong: the share of demonstrations that have the description of another task.
        several: whether there are only descriptions of several terms.

    >>> print(Given(5, noise=0.4))
    5 per task, 40 % random actions
    """

    per_task: int
    noise: float = 0.0
    wrong: float = 0.0
    several: bool = False

    def __str__(self) -> str:
        noise = f", {self.noise:.0%} random actions" if self.noise else ""
        wrong = f", {self.wrong:.0%} wrong descriptions" if self.wrong else ""
        several = ", descriptions of several terms only" if self.several else ""
        return f"{self.per_task} per task{noise}{wrong}{several}".replace("%", " %")

    def demonstrations(self, seed: int) -> list[Demonstration]:
        """Those of a seed; fewer of each task are the first of more."""
        tasks = SOURCE.tasks("train")
        chosen = [n for n, text in enumerate(tasks) if not self.several or len(machine_of(text).names) > 1]
        demos = [
            SOURCE.demonstrate("train", task, stream(seed, "demonstrations", "train", task, number), self.noise)[0]
            for task in chosen
            for number in range(self.per_task)
        ]
        rng = stream(seed, "wrong descriptions")
        for place in rng.permutation(len(demos))[: round(self.wrong * len(demos))]:
            demos[place] = _misnamed(demos[place], [tasks[task] for task in chosen], rng)
        return demos


def _misnamed(demo: Demonstration, tasks: Sequence[str], rng: np.random.Generator) -> Demonstration:
    """With the description of another task; learning rejects those that take more steps than were shown."""
    others = [text for text in tasks if text != demo.task and least_steps(machine_of(text)) <= len(demo)]
    return replace(demo, task=others[rng.integers(len(others))]) if others else demo


def world_of(demo: Demonstration) -> Any:
    """The world of a demonstration."""
    return SOURCE.world(demo.setting)


def learned(demos: Sequence[Demonstration], settings: RsgSettings) -> tuple[Classifiers, float]:
    """What is learned, and the seconds of processor time with all that belongs to it, but for compilation."""
    some = demos[:: -(-len(demos) // 20)]
    learn(some, world_of, settings=replace(settings, steps=2, curriculum=1))  # compiles
    begun = time.process_time()
    found = learn(demos, world_of, settings=settings)
    return found.classifiers, time.process_time() - begun


def known(subgoals: Classifiers) -> GoalFn:
    """What was learned, with a term that nobody ever spoke of as false everywhere."""

    def goals(world: Any, terms: Sequence[str], state: Any) -> Goals:
        there = np.array([term in subgoals.terms for term in terms])
        inner = subgoals.goals(world, [term for term in terms if term in subgoals.terms], state)
        return inner if there.all() else partial(_padded, inner, there)

    return goals


def _padded(inner: Goals, there: Bools, states: Any) -> tuple[Floats, Floats]:
    """log G and log I with columns for terms that are not there."""
    log_g, log_i = np.full((len(states), len(there)), -np.inf), np.zeros((len(states), len(there)))
    if there.any():
        log_g[:, there], log_i[:, there] = inner(states)
    return log_g, log_i


def links(goals: GoalFn, terms: Sequence[str], demos: Sequence[Demonstration]) -> Dependencies:
    """Which subgoals help which, as the demonstrations show."""
    return discover(goals, terms, demos, world_of)


class Kept(Starts):
    """Starts that are drawn once for all that is measured on them."""

    draw = cache(Starts.draw)


def instructions(goals: GoalFn, terms: Sequence[str], seed: int, per_task: int) -> dict[str, Count]:
    """Instructions of both splits from fresh starts, so many of each task, judged strictly."""
    return {split: _planned(SOURCE, Kept(split, per_task, seed), goals, terms) for split in SPLITS}


def crowded(goals: GoalFn, terms: Sequence[str], seed: int, per_task: int) -> Count:
    """The same instructions where all places are on the map."""
    return _planned(CROWDED, Kept("custom", per_task, seed), goals, terms)


def _planned(source: Crafting, starts: Starts, goals: GoalFn, terms: Sequence[str]) -> Count:
    found = evaluate_planning(source, starts, goals, SearchSettings(Product(ORDER), BUDGET, seed=starts.seed))
    return counted(found, terms)


def counted(evaluation: Plain, terms: Sequence[str]) -> Count:
    """How often the tasks of an evaluation were done, of how many, where all of their terms are known."""
    rows = [row for row in evaluation["tasks"] if set(machine_of(row["task"]).names) <= set(terms)]
    return [sum(round(row["success"] * row["episodes"]) for row in rows), sum(row["episodes"] for row in rows)]


def single_terms(goals: GoalFn, terms: Sequence[str], seed: int, maps: int) -> Plain:
    """Each term as an instruction by itself: empty hands, open maps with everything.

    Gives how many plans were right or wrong or not found, the same of the truth; how often a right plan was missed
    that the truth found; and by term how many plans were wrong and missed, where any was.
    """
    own = np.array([_outcomes(goals, term, seed, maps) for term in terms])
    truths = np.array([_truths(term, seed, maps) for term in terms])
    wrong, missed = own == -1, (truths == 1) & (own != 1)
    bad = {term: [int(wrong[n].sum()), int(missed[n].sum())] for n, term in enumerate(terms)}
    return {
        **_tally(own),
        "truth": _tally(truths),
        "missed": int(missed.sum()),
        "terms": {term: both for term, both in bad.items() if any(both)},
    }


def _tally(outcomes: Array) -> dict[str, int]:
    """Of outcomes as `_judged` gives them."""
    return {name: int((outcomes == value).sum()) for name, value in (("right", 1), ("wrong", -1), ("none", 0))}


@cache
def _fields(term: str, seed: int, maps: int) -> list[tuple[Any, Any]]:
    """Open maps that hold everything, with empty hands."""
    return [sample_map(KIND, stream(seed, "single terms", term, i), objects_for([term])) for i in range(maps)]


def _outcomes(goals: GoalFn, term: str, seed: int, maps: int) -> list[int]:
    settings = SearchSettings(Product(ORDER), MUCH, seed=seed)
    return [
        _judged(world, plan(world, state, term, goals, settings), term) for world, state in _fields(term, seed, maps)
    ]


_truths = cache(partial(_outcomes, TRUTH))


def _judged(world: Any, made: Plan, task: str) -> int:
    """1 for a plan that is right, -1 for one that is wrong, 0 if there is none."""
    return 1 if validate(world, made, task, partial(SOURCE.truth, world)).ok else -int(made.found)


def goals_only(goals: GoalFn, dependencies: Dependencies, seed: int, starts: int) -> Plain:
    """All 26 goals from empty hands on large maps, so many starts of each size, when nobody names the steps.

    Gives how many plans were right, wrong or not found, and by goal how many were not right, where any was not.
    """
    every = {}
    for term in VOCABULARY:
        if term in dependencies.terms:
            places = [_open(term, size, seed, i) for size in SIZES for i in range(starts)]
            plans = [(world, plan_goal(world, state, term, goals, dependencies, MUCH)) for world, state in places]
            every[term] = [_judged(world, made, term) for world, made in plans]
        else:  # nobody ever spoke of it
            every[term] = [0] * starts * len(SIZES)
    bad = {term: sum(one != 1 for one in some) for term, some in every.items()}
    return {**_tally(np.array(list(every.values()))), "terms": {term: count for term, count in bad.items() if count}}


@cache
def _open(term: str, size: int, seed: int, number: int) -> tuple[Any, Any]:
    return start_for(term, size, stream(seed, "goals", term, size, number))


def terms_right(goals: GoalFn, terms: Sequence[str], seed: int, walks: int) -> Plain:
    """Whether each term is true exactly where it should be, and not yet true elsewhere, in every state of random walks.

    Gives how many states there were; how many terms are right in all of them, and how many never wrong but somewhere
    open, neither true nor not yet true; and of all others in how many states they are not yet true and should be true,
    true and should not be, open.
    """
    count, faults = 0, np.zeros((len(terms), 3), dtype=int)
    for world, states in _walks(seed, walks):
        for first in range(0, len(states), TOGETHER):
            some = states[first : first + TOGETHER]
            log_g, log_i = goals(world, terms, some[0])(some)
            truth, true, false = SOURCE.truth(world, some, terms), log_g >= np.log(0.5), log_i > np.log(0.5)
            faults += np.stack([truth & false, ~truth & true, ~true & ~false], axis=-1).sum(axis=0)
            count += len(some)
    wrong = {term: row.tolist() for term, row in zip(terms, faults, strict=True) if row.any()}
    opened = sum(not any(row[:2]) for row in wrong.values())
    return {"states": count, "of": len(terms), "right": len(terms) - len(wrong), "open": opened, "wrong": wrong}


@cache
def _walks(seed: int, walks: int) -> list[tuple[Any, Any]]:
    """The states of random walks by world, from fresh starts of all tasks in turn."""
    tasks = [(split, task) for split in ("train", "novel") for task in range(len(SOURCE.tasks(split)))]
    starts = [SOURCE.start_of(*tasks[n % len(tasks)], stream(seed, "walks", n)) for n in range(walks)]
    found: list[tuple[Any, Any]] = []
    for world, states in by_world(starts):
        rng, now = stream(seed, "actions", len(found)), np.stack(states)
        seen = [now]
        for _ in range(STEPS):
            now = world.step(now, rng.integers(len(world.actions), size=len(now)))
            seen.append(now)
        found.append((world, np.concatenate(seen)))
    return found
