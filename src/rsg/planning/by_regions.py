"""Plans for a goal by one search over states, in which all instructions share what has been explored."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from rsg.core.arrays import Array, Bools, Ints
from rsg.core.errors import RsgError
from rsg.planning.dependencies import Rules
from rsg.planning.plan import Plan
from rsg.planning.problem import HOLDS, GoalProblem, GoalSettings, instruction, never_reached
from rsg.search import Between, Explored, Limits, Rank, Reached, RegionSearch, is_continuous


class Guide(NamedTuple):
    """What leads a search over regions.

    Attributes:
        rank: judges regions by the terms that hold; those that are not watched never do.
        rules: what each term needs, to say how the goal was reached, or why not.
        watched: `[T]` which terms make regions.
        blind: whether the cheapest states come first, whatever their region.
    """

    rank: Rank
    rules: Rules
    watched: Bools
    blind: bool = False


def prerequisites(problem: GoalProblem) -> Guide:
    """Regions in which the goal lacks least come first; last come those from which no way is known."""
    rules, goal, size = problem.rules, problem.goal, len(problem.terms)

    def rank(holds: Bools, _: object) -> Ints:
        needed = rules.still_needed(holds, goal).sum(axis=1)
        return np.where(needed > 0, needed, size + 1)

    return Guide(rank, rules, np.ones(size, dtype=np.bool_))


def blind(problem: GoalProblem) -> Guide:
    """The cheapest states first; no term but the goal is watched."""
    watched = np.arange(len(problem.terms)) == problem.goal
    return Guide(lambda holds, _: np.zeros(len(holds)), problem.rules, watched, blind=True)


def by_regions(
    problem: GoalProblem,
    settings: GoalSettings,
    between: Between | None,
    guide: Callable[[GoalProblem], Guide] = prerequisites,
) -> Plan:
    """A plan for the goal; the guide is made for the problem."""
    if is_continuous(problem.world):
        raise RsgError(
            "the methods 'regions' and 'blind' are for worlds with finitely many actions; "
            "in a continuous one use the method 'paper', or give an instruction to rsg.plan"
        )
    led = guide(problem)
    numbers = np.flatnonzero(led.watched)
    terms = [problem.terms[number] for number in numbers]

    def everything(holds: Bools) -> Bools:
        every = np.zeros((len(holds), len(problem.terms)), dtype=np.bool_)
        every[:, numbers] = holds
        return every

    def rank(holds: Bools, achieved: Sequence[tuple[int, ...]]) -> Array:
        return led.rank(everything(holds), [tuple(numbers[list(way)].tolist()) for way in achieved])

    goals = problem.goals(problem.world, terms, problem.state)
    explored = Explored(problem.world, problem.state, goals, len(terms))
    goal = int(led.watched[: problem.goal].sum())
    found = RegionSearch(explored, goal, rank, HOLDS, led.blind).run(Limits(settings.budget, between=between))
    if found.holds is not None:
        return _succeeded(problem, found, led.rules, everything(found.holds))
    return _failed(problem, found, led, everything(np.stack([found.first, found.seen])))


def _succeeded(problem: GoalProblem, found: Reached, rules: Rules, holds: Bools) -> Plan:
    """The subgoals that the goal was reached by become the task; each action serves the next of them."""
    assert found.actions is not None
    assert found.states is not None
    steps = steps_to(rules, holds, problem.goal)
    if not problem.named:  # nothing is known of what it needs: all that came true for the first time
        first = {term: int(holds[1:, term].argmax()) + 1 for term in np.flatnonzero(holds.any(axis=0) & ~holds[0])}
        came = {end: int(term) for term, end in first.items()}
        steps = sorted({**came, len(found.actions): problem.goal}.items())
    names = tuple(problem.terms[term] for _, term in steps)
    nodes = np.repeat(np.arange(1, len(steps) + 1), np.diff([0, *(end for end, _ in steps)]))
    return Plan(
        task=instruction(names),
        actions=found.actions,
        states=found.states,
        nodes=nodes,
        terms=tuple(names[node - 1] for node in nodes),
        cost=found.cost,
        expansions=found.expansions,
    )


def steps_to(rules: Rules, holds: Bools, goal: int) -> list[tuple[int, int]]:
    """What made the goal come true at the end of a way on which `holds` `[N, T]` do: (state, term) in order.

    Followed back from the goal: each prerequisite that held before a step came true the last time before it, unless it
    held from the start.
    """
    steps: dict[int, int] = {}
    open_steps = [(len(holds) - 1, goal)]
    while open_steps:
        end, term = open_steps.pop()
        if steps.setdefault(end, term) != term:  # two came true at once: one of them is told
            continue
        for need in rules.fulfilled(holds[end - 1], term):
            came = np.flatnonzero(holds[1:end, need] & ~holds[: end - 1, need]) + 1
            if len(came) and steps.get(int(came[-1])) != need:
                open_steps.append((int(came[-1]), need))
    return sorted(steps.items())


def _failed(problem: GoalProblem, found: Reached, led: Guide, holds: Bools) -> Plan:
    """Which subgoals on the way to the goal were reached, and which never; `holds` `[2, T]`: at first, and since."""
    first, seen = holds
    if first[problem.goal]:
        held = f"{problem.name} holds already, and did not become false and true again"
        return problem.no_plan(found.expansions, found.ended, (), [problem.name], held)
    needed = led.rules.still_needed(holds[:1], problem.goal)[0] & led.watched  # nothing is known of others
    needed[problem.goal] = True  # also where no way is known
    helpful = led.rules.helpful(problem.goal) | (not problem.named)
    never, reached = (
        [problem.terms[number] for number in np.flatnonzero(some)] for some in (needed & ~seen, helpful & seen)
    )
    return problem.no_plan(found.expansions, found.ended, reached, never, never_reached(never))
