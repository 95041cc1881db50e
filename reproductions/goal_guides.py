"""Other guides for the search over regions than prerequisites, to see what each idea is worth."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rsg.planning import Candidates, GoalProblem, GoalSettings, Guide, algorithm_2, by_regions, priority
from rsg.planning.by_regions import prerequisites

Bools = NDArray[np.bool_]


def conditional(problem: GoalProblem) -> Guide:
    """As `prerequisites`, with all terms as prerequisites that nearly always came before."""
    always = problem.dependencies.conditional >= 0.9
    rules = problem.rules_of([(tuple(np.flatnonzero(row).tolist()),) for row in always])
    goal, size = problem.goal, len(problem.terms)

    def rank(holds: Bools, _: object) -> NDArray[Any]:
        needed = rules.still_needed(holds, goal).sum(axis=1)
        return np.where(needed > 0, needed, size + 1)

    return Guide(rank, rules, np.ones(size, dtype=np.bool_))


def by_priority(problem: GoalProblem) -> Guide:
    """By the paper's priority (eq. 7) of the terms achieved so far, then the goal."""
    matrix, goal = problem.dependencies.matrix, problem.goal

    def rank(_: object, achieved: Sequence[tuple[int, ...]]) -> NDArray[Any]:
        values = np.array([priority(matrix, [*dict.fromkeys(way), goal]) for way in achieved])
        return np.asarray(-np.log(np.maximum(values, 1e-300)))

    return prerequisites(problem)._replace(rank=rank)


def unranked(problem: GoalProblem) -> Guide:
    """Without a rank, so that fewer regions behind come first."""
    return prerequisites(problem)._replace(rank=lambda holds, _: np.zeros(len(holds)))


def helpful(problem: GoalProblem) -> Guide:
    """By prerequisites, but only terms from which they lead to the goal make regions."""
    return prerequisites(problem)._replace(watched=problem.rules.helpful(problem.goal))


GUIDES: dict[str, Callable[[GoalProblem], Guide]] = {
    "conditional": conditional,
    "priority": by_priority,
    "none": unranked,
    "helpful": helpful,
}


def goal_settings(asked: Mapping[str, Any]) -> GoalSettings:
    """Settings as a job is asked for them: those of goals, and a guide or numbers of the paper's `Candidates`."""
    usual = {name: asked[name] for name in GoalSettings.__dataclass_fields__}
    more = {name: value for name, value in asked.items() if name not in usual}
    if "guide" in more:
        return GoalSettings(**{**usual, "method": partial(by_regions, guide=GUIDES[more["guide"]])})
    if more:
        return GoalSettings(**{**usual, "method": partial(algorithm_2, how=Candidates(**more))})
    return GoalSettings(**usual)
