"""Other ways to plan for a goal than ours: other guides for the search over regions, and the paper's algorithm."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reproductions.paper.algorithm_2 import Candidates, algorithm_2, priority
from rsg.planning import Dependencies, GoalProblem, Method, Plan, by_regions
from rsg.search import Limits

Ints = NDArray[np.int64]
regions: Callable[..., Plan] = partial(
    by_regions, novel=False
)  # ours, as experiments have it: what is new does not come first
ORDINARY = ("method", "budget", "seed")  # what every job asks for; all else is of single methods


def conditional(problem: GoalProblem, limits: Limits) -> Plan:
    """By prerequisites, which are all terms that nearly always came before."""
    always = problem.dependencies.conditional >= 0.9
    needs = tuple((tuple(np.flatnonzero(row).tolist()),) for row in always)
    return regions(_knowing(problem, replace(problem.dependencies, prerequisites=needs)), limits)


def by_priority(problem: GoalProblem, limits: Limits) -> Plan:
    """By the paper's priority (eq. 7) of the terms achieved so far, then the goal."""
    matrix, goal = problem.dependencies.matrix, problem.goal

    def rank(_: object, achieved: Sequence[tuple[int, ...]]) -> NDArray[Any]:
        values = np.array([priority(matrix, [*dict.fromkeys(way), goal]) for way in achieved])
        return np.asarray(-np.log(np.maximum(values, 1e-300)))

    return regions(problem, limits, rank)


def unranked(problem: GoalProblem, limits: Limits, blind: bool = False) -> Plan:
    """Without a rank, so that fewer regions behind come first."""
    return regions(problem, limits, lambda holds, _: np.zeros(len(holds)), blind)


def helpful(problem: GoalProblem, limits: Limits) -> Plan:
    """By prerequisites, but only terms from which they lead to the goal make regions."""
    known = np.flatnonzero(problem.rules.helpful(problem.goal)[: len(problem.dependencies.terms)])
    return regions(_knowing(problem, among(problem.dependencies, known)), limits)


def blind(problem: GoalProblem, limits: Limits) -> Plan:
    """The cheapest states first; no term but the goal makes regions."""
    known = np.array([problem.goal] if problem.named else [], dtype=np.int64)
    return unranked(_knowing(problem, among(problem.dependencies, known)), limits, blind=True)


def _knowing(problem: GoalProblem, dependencies: Dependencies) -> GoalProblem:
    """The same problem, where other things are known of terms, or of other terms."""
    return GoalProblem(problem.world, problem.state, problem.asked, problem.goal_fn, dependencies)


def among(known: Dependencies, terms: Ints) -> Dependencies:
    """What is known of some of the terms; an alternative that needs another one is none, unless none is left."""
    number, square = {term: i for i, term in enumerate(terms.tolist())}, np.ix_(terms, terms)
    needs = (
        [tuple(number[need] for need in one) for one in known.prerequisites[term] if number.keys() >= set(one)]
        for term in terms.tolist()
    )
    return Dependencies(
        terms=tuple(known.terms[term] for term in terms),
        before=known.before[square],
        together=known.together[square],
        achieved=known.achieved[terms],
        held=known.held[square],
        prerequisites=tuple(tuple(several) or ((),) for several in needs),
        thresholds=known.thresholds[terms],
    )


GUIDES: dict[str, Callable[[GoalProblem, Limits], Plan]] = {
    "conditional": conditional,
    "priority": by_priority,
    "none": unranked,
    "helpful": helpful,
}


def method_of(asked: Mapping[str, Any]) -> Method:
    """The method that a job asks for, by name, with a guide or numbers of the paper's `Candidates`."""
    more = {name: value for name, value in asked.items() if name not in ORDINARY}
    if "guide" in more:
        return GUIDES[more["guide"]]
    if asked["method"] in ("paper", "uniform"):
        uniform = asked["method"] == "uniform"
        return partial(algorithm_2, how=Candidates(uniform=uniform, seed=asked["seed"], **more))
    return {"regions": regions, "blind": blind}[asked["method"]]
