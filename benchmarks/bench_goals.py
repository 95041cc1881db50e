"""Goals of which nobody says the steps: how long chains of subgoals may be that lead to them."""

import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from benchmarks.bench_large import SEEDS, SOURCE, within
from benchmarks.harness import in_pieces
from benchmarks.made_up import chains, dependencies
from rsg.core.random import stream
from rsg.domains.crafting import VOCABULARY
from rsg.domains.crafting.starts import leading_to, start_for, ways
from rsg.planning import Dependencies, GoalProblem, by_regions, planned, validate

BUDGET = 25_000  # expansions
SIZES = (7, 12, 20)
LENGTHS = range(6, 16)
FRESH = range(400, 410)  # rule books and maps that nothing was chosen by
OBJECTS = 30
MAPS = 4  # of each goal and seed
ORDERS = {"plain": False, "novel": True}


class Asked(NamedTuple):
    """A goal, where, and what needs what."""

    seed: int
    goal: str
    world: Any
    state: Any
    known: Dependencies


def run() -> dict[str, Any]:
    """By size of the map in the standard rule book, and by the length of the chain in others."""
    pieces: dict[str, Callable[[], Any]] = {f"standard/{size}": partial(_standard, size) for size in SIZES}
    return in_pieces("goals", {**pieces, **{f"chains/{length}": partial(_chains, length) for length in LENGTHS}})


def true_dependencies() -> Dependencies:
    """What each term of the standard rule book needs."""
    return dependencies(VOCABULARY, [[sorted(way) for way in ways(term)] for term in VOCABULARY])


def _standard(size: int) -> dict[str, Any]:
    """Goals to which chains of at least 6 terms lead."""
    known = true_dependencies()
    goals = [term for term in known.terms if len(leading_to(term)) >= LENGTHS[0]]
    asked = [
        Asked(seed, goal, *start_for(goal, size, stream(seed, "large", "goal", goal, size, number)), known)
        for seed in SEEDS
        for goal in goals
        for number in range(MAPS)
    ]
    return {"terms": [len(leading_to(goal)) for goal in goals]} | _both(asked)


def _chains(length: int, side: int = 20) -> dict[str, Any]:
    """The last term of chains that are so long, each in a rule book of its own."""
    return _both(
        [
            Asked(seed, one.goal, *one.start(side, OBJECTS, stream(seed, "chain", "map", length, number)), one.known)
            for seed, one in chains(length, FRESH)
            for number in range(MAPS)
        ]
    )


def _both(asked: Sequence[Asked]) -> dict[str, Any]:
    return {name: _figures(asked, novel) for name, novel in ORDERS.items()}


def _figures(asked: Sequence[Asked], novel: bool) -> dict[str, float]:
    """What the search takes, judged by a replay."""
    rows: dict[str, list[Any]] = {"seed": [], "right": [], "expansions": [], "actions": [], "ms": []}
    for number, one in enumerate([asked[0], *asked]):
        problem = GoalProblem(one.world, one.state, one.goal, SOURCE.true_goals, one.known)
        begun = time.process_time()
        made = planned(problem, partial(by_regions, novel=novel), BUDGET)
        spent = time.process_time() - begun
        if number:  # the first one compiles
            right = bool(validate(one.world, made, one.goal, partial(SOURCE.truth, one.world)).ok)
            kept = (one.seed, right, int(made.expansions), len(made.actions), 1000 * spent)
            for column, value in zip(rows.values(), kept, strict=True):
                column.append(value)
    lengths = {"actions_mean": round(float(np.mean(rows["actions"])), 2), "most": max(rows["expansions"])}
    return {**within(rows, BUDGET), **lengths}
