"""Plans for a goal when nobody says which subgoals lead to it, by one search over states.

All instructions that may lead to the goal share what has been explored.
"""

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import cached_property, partial

import numpy as np

from rsg.core.arrays import Array, Bools, Floats, Ints
from rsg.core.errors import RsgError
from rsg.language import Task, Term, Then, machine_of
from rsg.planning.dependencies import Dependencies, Rules
from rsg.planning.plan import Origin, Plan, first_state
from rsg.search import (
    Between,
    Explored,
    GoalFn,
    Goals,
    Limits,
    Rank,
    Reached,
    RegionSearch,
    SearchSettings,
    after,
    goals_from,
    goals_in,
    instead,
    sees_to,
)
from rsg.worlds import EitherWorld, check_again, is_continuous
from rsg.worlds.macros import with_macros

Goal = str | Callable[[Array], Array]
"""A term, or a function from states `[N, W]` to whether the goal holds `[N]` (or to its probability)."""

HOLDS = 0.5  # a subgoal holds where G is at least this
BUDGET = 25_000  # expansions, the paper's limit


class GoalProblem:
    """A goal among the terms: one that is a function comes after them, and nothing is known of what it needs.

    Args:
        world, state, goal, goal_fn, dependencies: as for `rsg.planning.plan_goal`.

    Attributes:
        asked: the goal as it was given; named: whether it is a term.
        terms: all terms; goal: the number of the goal among them.
    """

    def __init__(
        self, world: EitherWorld, state: Array, goal: Goal, goal_fn: GoalFn, dependencies: Dependencies
    ) -> None:
        if not isinstance(goal, str) and not callable(goal):
            raise RsgError(f"a goal is a term or a function of states, not {goal!r}")
        self.world, self.state, self.dependencies = world, state, dependencies
        self.asked, self.goal_fn = goal, goal_fn
        self.named = isinstance(goal, str)
        name = "goal"
        while name in dependencies.terms:
            name = f"my-{name}"
        self.terms = dependencies.terms if isinstance(goal, str) else (*dependencies.terms, name)
        self.goal = dependencies.number(goal) if isinstance(goal, str) else len(dependencies.terms)

    @property
    def name(self) -> str:
        """The goal's term."""
        return self.terms[self.goal]

    @cached_property
    def rules(self) -> Rules:
        """What each term needs."""
        prerequisites = self.dependencies.prerequisites
        return Rules.of(prerequisites if self.named else [*prerequisites, ((),)])

    def goals(self, world: EitherWorld, terms: Sequence[str], state: Array) -> Goals:
        """The classifiers of terms, among them perhaps the goal: a `GoalFn`."""
        if isinstance(self.asked, str) or self.name not in terms:
            return goals_in(self.goal_fn, world, terms, state)
        own = goals_from(partial(_probability, self.asked))
        known = [term for term in terms if term != self.name]
        if not known:
            return own
        others = goals_in(self.goal_fn, world, known, state)

        def goals(states: Array) -> tuple[Floats, Floats]:
            (log_g, log_i), (own_g, own_i) = others(states), own(states)
            return np.hstack([log_g, own_g]), np.hstack([log_i, own_i])

        return goals

    @cached_property
    def own(self) -> Goals:
        """The classifier of the goal alone."""
        return self.goals(self.world, [self.name], self.state)

    def instead(self, which: str) -> "GoalProblem":
        """The same by the `bold` or the `careful` classifiers of terms."""
        return GoalProblem(self.world, self.state, self.asked, instead(self.goal_fn, which), self.dependencies)

    def no_plan(self, expansions: int, ended: str, reached: Iterable[str], never: Sequence[str], because: str) -> Plan:
        """That there is none, and why."""
        return Plan(
            task=Term(self.name),
            states=self.state[None],
            expansions=expansions,
            ended=ended,
            reached=tuple(reached),
            missed=tuple(never),
            because=because,
        )


Method = Callable[[GoalProblem, Limits], Plan]
"""A way to plan for a goal."""


def _probability(goal: Callable[[Array], Array], states: Array) -> Floats:
    """What a goal of the user's own says of states, `[N, 1]`; anything that is no probability is an error."""
    own = np.asarray(goal(states), dtype=np.float64)
    if own.shape != (len(states),):
        raise RsgError(f"a goal gives for states [N, W] whether it holds [N], or its probability, not {own.shape}")
    if not ((own >= 0) & (own <= 1)).all():
        raise RsgError("a goal gives whether it holds, or its probability: numbers from 0 to 1")
    return own[:, None]


def plan_goal(
    world: EitherWorld,
    start: Array,
    goal: Goal,
    subgoals: GoalFn,
    dependencies: Dependencies | None = None,
    budget: int = BUDGET,
    between: Between | None = None,
) -> Plan:
    """A plan that makes the goal true, with the subgoals on the way as its task.

    Args:
        world: where.
        start: `[W]` the first state.
        goal: what to reach. It must come true: where it holds already, it would have to become false first.
        subgoals: what terms mean: what `rsg.learn` gave, or any `GoalFn`.
        dependencies: which subgoals help which; by default as the subgoals have learned it.
        budget: expansions in total.
        between: called now and then with the number of expansions; the search stops if it gives something true.

    >>> import rsg
    >>> from rsg.worlds.corridor import Corridor
    >>> shown = [rsg.Demonstration(*walk) for walk in Corridor().walks()]
    >>> subgoals = rsg.learn(shown, Corridor())
    >>> str(plan_goal(Corridor(), np.array([4, 0, 0]), "read-book", subgoals).task)
    'light-lamp then read-book'
    """
    known = getattr(subgoals, "dependencies", None) if dependencies is None else dependencies
    if known is None:
        raise RsgError("say which subgoals help which: dependencies=...; what rsg.learn gives knows that by itself")
    problem = GoalProblem(world, first_state(world, start), goal, subgoals, known)
    return planned(problem, by_regions, budget, between)


def planned(problem: GoalProblem, method: Method, budget: int = BUDGET, between: Between | None = None) -> Plan:
    """The same by any method; if there is more to try than what is sure to be meant, half of what is left must do."""
    if budget < 1:
        raise RsgError(f"budget must be at least 1, not {budget}")
    start = time.perf_counter()
    bold, spent = False, 0
    while True:
        unsure = hasattr(problem.own, "bold")
        left = budget - spent
        made = method(problem, Limits(-(-left // 2) if unsure else left, between=after(spent, between)))
        spent += made.expansions
        if made.found or not unsure or spent >= budget:
            break
        bold, problem = True, problem.instead("bold")
    while made.found and spent < budget and hasattr(problem.own, "careful"):
        problem = problem.instead("careful")
        if not sees_to(problem.own, made.states, [(0, 0, len(made.actions))]):
            surer = method(problem, Limits(budget - spent, between=after(spent, between)))
            spent += surer.expansions
            if not surer.found:
                break
            made = surer
    if made.found:
        check_again(problem.world, made.states, made.actions)
    origin = Origin(problem.world, machine_of(made.task), problem.goals, SearchSettings(budget=budget))
    seconds = time.perf_counter() - start
    return replace(made, expansions=spent, bold=made.found and bold, seconds=seconds, origin=origin)


def by_regions(
    problem: GoalProblem, limits: Limits, rank: Rank | None = None, blind: bool = False, novel: bool = True
) -> Plan:
    """A plan for the goal.

    rank: judges regions by the terms that hold; without one, those in which the goal lacks least come first. Of the
    same rank the cheapest states come first if it is blind, whatever they show; otherwise, if novel, those that show
    something new.
    """
    if is_continuous(problem.world):
        raise RsgError(
            "what a goal needs first is looked for in worlds with finitely many actions; "
            "in a continuous one give the goal to rsg.plan, as an instruction of one term"
        )
    goals = problem.goals(problem.world, problem.terms, problem.state)
    explored = Explored(with_macros(problem.world), problem.state, goals, len(problem.terms))
    rank, novel = rank or partial(_lacking, problem), novel and not blind
    found = RegionSearch(explored, problem.goal, rank, HOLDS, blind, novel).run(limits)
    return _failed(problem, found) if found.holds is None else _succeeded(problem, found, found.holds)


def _lacking(problem: GoalProblem, holds: Bools, _: object) -> Ints:
    """How many terms the goal lacks in regions; those from which no way is known come last."""
    needed = problem.rules.still_needed(holds, problem.goal).sum(axis=1)
    return np.where(needed > 0, needed, len(problem.terms) + 1)


def _succeeded(problem: GoalProblem, found: Reached, holds: Bools) -> Plan:
    """The subgoals that the goal was reached by become the task; each action serves the next of them."""
    assert found.actions is not None
    assert found.states is not None
    steps = steps_to(problem.rules, holds, problem.goal)
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


def _failed(problem: GoalProblem, found: Reached) -> Plan:
    """Which subgoals on the way to the goal were reached, and which never."""
    if found.first[problem.goal]:
        held = f"{problem.name} holds already, and did not become false and true again"
        return problem.no_plan(found.expansions, found.ended, (), [problem.name], held)
    needed = problem.rules.still_needed(found.first[None], problem.goal)[0]
    needed[problem.goal] = True  # also where no way is known
    helpful = problem.rules.helpful(problem.goal) | (not problem.named)
    never, reached = (
        [problem.terms[number] for number in np.flatnonzero(some)]
        for some in (needed & ~found.seen, helpful & found.seen)
    )
    return problem.no_plan(found.expansions, found.ended, reached, never, never_reached(never))


def instruction(names: Sequence[str]) -> Task:
    """Terms one after the other."""
    parts = [Term(name) for name in names]
    return parts[0] if len(parts) == 1 else Then(tuple(parts))


def never_reached(terms: Sequence[str]) -> str:
    """That in words."""
    return f"{' and '.join(terms)} {'was' if len(terms) == 1 else 'were'} never reached"
