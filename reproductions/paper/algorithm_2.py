"""The paper's Algorithm 2: instructions that may lead to a goal, the most promising first, each searched by itself."""

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np

from rsg.core.arrays import Floats
from rsg.core.errors import RsgError
from rsg.language import Machine
from rsg.planning.goal_only import HOLDS, GoalProblem, instruction, never_reached
from rsg.planning.plan import Plan, plan
from rsg.search import Auto, Hard, Limits, SearchSettings, after


@dataclass(frozen=True)
class Candidates:
    """Which instructions are tried, and for how long.

    Attributes:
        length_limit: the most terms of an instruction.
        bias: below 1, shorter ones are preferred; the paper calls it λ, as it does the weight of transitions.
        each: expansions for each of them, which the paper does not say.
        uniform: whether all terms are as likely to help one another, instead of d(o1, o2).
        seed: where the chance of each search comes from.
    """

    length_limit: int = 6
    bias: float = 0.9
    each: int = 2000
    uniform: bool = False
    seed: int = 0

    def __post_init__(self) -> None:
        if self.length_limit < 1 or self.each < 1 or not 0 < self.bias <= 1:
            raise RsgError(
                "the length limit and the expansions of each candidate are at least 1 and the bias in (0, 1], "
                f"not {self.length_limit}, {self.each} and {self.bias}"
            )


_USUAL = Candidates()
LIMITED = "all instructions that may help were tried, each as far as it may go"


def priority(matrix: Floats, terms: Sequence[int], bias: float = Candidates.bias) -> float:
    """How promising `o_1 then ... then o_k` is (eq. 7): each step should help one of those after it.

    >>> round(priority(np.array([[0.0, 1.0], [0.0, 0.0]]), [1, 0]), 3)
    0.81
    """
    value = bias ** len(terms)
    for i, term in enumerate(terms[:-1]):
        value *= 1 - np.prod([1 - matrix[later, term] for later in terms[i + 1 :]])
    return float(value)


def candidates(matrix: Floats, goal: int, how: Candidates = _USUAL) -> Iterator[tuple[float, tuple[int, ...]]]:
    """Priorities and instructions that end in the goal, in falling order; made one at a time.

    An instruction is made longer at its front, by a term that is not in it and that helps one in it. That never raises
    its priority, so the first in the queue is the best of all that are still to come.

    Args:
        matrix: `[T, T]` d(o1, o2).
        goal: the last term.
        how: the length limit and the bias.
    """
    tick = 0
    queue: list[tuple[float, int, tuple[int, ...], Floats]] = [(-how.bias, tick, (goal,), 1 - matrix[goal])]
    while queue:
        best, _, terms, useless = heapq.heappop(queue)  # useless: the chance that a term helps none of them
        yield -best, terms
        if len(terms) < how.length_limit:
            for term in np.flatnonzero(useless < 1).tolist():
                if term not in terms:
                    tick += 1
                    value = best * how.bias * (1 - useless[term])
                    heapq.heappush(queue, (value, tick, (term, *terms), useless * (1 - matrix[term])))


def algorithm_2(problem: GoalProblem, limits: Limits, how: Candidates = _USUAL) -> Plan:
    """A plan for the goal: that of the first candidate for which one is found."""
    budget, between = limits.budget, limits.between
    assert budget is not None
    spent, reached, missed = 0, dict[str, None](), dict[str, None]()
    ended = "exhausted"  # if each candidate was, and there are no more
    queue = candidates(_matrix(problem, how.uniform), problem.goal, how)
    for _, terms in islice(queue, budget):  # one whose first term holds already costs nothing
        machine = Machine.of(instruction([problem.terms[number] for number in terms]))
        limit = min(how.each, budget - spent)
        search = SearchSettings(Auto("balanced", Hard(HOLDS)), limit, seed=how.seed)
        told = after(spent, between)
        tried = plan(problem.world, problem.state, machine, problem.goals, search, told)
        spent += tried.expansions
        if tried.found:
            return replace(tried, expansions=spent)
        reached.update(dict.fromkeys(tried.reached))
        missed.update(dict.fromkeys(tried.missed))
        if tried.ended == "cancelled" or (between and between(spent)):
            ended = "cancelled"
            break
        if spent >= budget:
            ended = "budget"
            break
        if tried.ended == "budget":
            ended = LIMITED
    never = [term for term in missed if term not in reached] or [problem.name]
    return problem.no_plan(spent, ended, reached, never, never_reached(never))


def _matrix(problem: GoalProblem, uniform: bool) -> Floats:
    """d(o1, o2); without dependencies, and for a goal that is a function, all terms are as likely."""
    size, known = len(problem.terms), len(problem.dependencies.terms)
    if uniform:
        return np.full((size, size), 1 / size)
    matrix = np.zeros((size, size))
    matrix[:known, :known] = problem.dependencies.matrix
    if not problem.named:
        matrix[-1, :known] = 1 / known
    return matrix
