"""Plans for a goal when nobody says which subgoals lead to it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rsg.core.errors import RsgError
from rsg.language import Machine, Task, Term, Then
from rsg.planning.candidates import LENGTH_BIAS, LENGTH_LIMIT, candidates, priority
from rsg.planning.dependencies import Dependencies, Rules
from rsg.planning.plan import Plan, plan
from rsg.search import GoalFn, Goals, Rank, Reached, RegionSearch, SearchSettings, is_continuous
from rsg.worlds import World

Goal = str | Callable[[NDArray[Any]], NDArray[Any]]
"""A term, or a function from states `[N, W]` to whether the goal holds `[N]` (or to its probability)."""

Bools = NDArray[np.bool_]
METHODS = ("regions", "paper", "uniform", "blind")
GUIDES = ("prerequisites", "conditional", "priority", "none")


@dataclass(frozen=True)
class GoalSettings:
    """How to look for a way to a goal.

    Attributes:
        method: `regions` searches states, region by region (see `rsg.search.RegionSearch`); `paper` is the paper's
            Algorithm 2, which plans for one candidate instruction after the other; `uniform` the same without
            dependencies, `blind` the cheapest states first, whatever subgoals hold there.
        budget: expansions in total.
        threshold: a subgoal holds where G is at least this.
        guide: what `regions` ranks a region by: how many `prerequisites` the goal still lacks there; the same with all
            terms as prerequisites that always came before (`conditional`); the paper's `priority` of the terms achieved
            so far, then the goal; or `none`, so that fewer regions behind come first.
        trust: whether a goal that comes true without its prerequisites is believed. Classifiers have seen few states
            in which they hold, and may be wrong in others.
        watch: which terms make regions: `all`, or the `helpful` ones, from which prerequisites lead to the goal.
        spread: each so-manieth expansion takes the cheapest open state.
        per_candidate: expansions of each candidate of the paper's algorithm, which does not say.
        length_limit, length_bias: of the candidates.
        seed: where chance comes from.
    """

    method: str = "regions"
    budget: int = 25_000
    threshold: float = 0.5
    guide: str = "prerequisites"
    trust: bool = False
    watch: str = "all"
    spread: int = 8
    per_candidate: int = 2000
    length_limit: int = LENGTH_LIMIT
    length_bias: float = LENGTH_BIAS
    seed: int = 0

    def __post_init__(self) -> None:
        for name, allowed in (("method", METHODS), ("guide", GUIDES), ("watch", ("all", "helpful"))):
            if getattr(self, name) not in allowed:
                raise RsgError(f"{name} is one of {', '.join(allowed)}, not '{getattr(self, name)}'")
        if self.budget < 1 or self.per_candidate < 1:
            raise RsgError("budget and per_candidate must be at least 1")


def plan_goal(
    world: World,
    state: NDArray[Any],
    goal: Goal,
    goal_fn: GoalFn,
    dependencies: Dependencies,
    settings: GoalSettings | None = None,
    progress: Callable[[int], None] | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> Plan:
    """A plan that makes the goal true, with the subgoals on the way as its task.

    Args:
        world: where.
        state: `[W]` the first state.
        goal: what to reach. It must come true: where it holds already, it would have to become false first.
        goal_fn: gives the classifiers of terms.
        dependencies: what is known of the terms; see `rsg.subgoals.discover`.
        settings: how to search.
        progress: called now and then with the number of expansions.
        cancelled: asked now and then whether to stop.
    """
    start = time.perf_counter()
    settings = settings or GoalSettings()
    state = np.asarray(state)
    if state.ndim != 1:
        raise RsgError(f"a plan starts in one state [W], got shape {state.shape}")
    problem = _Problem(world, state, goal, goal_fn, dependencies)
    if settings.method in ("regions", "blind") and is_continuous(world):
        raise RsgError(
            f"the method '{settings.method}' is for worlds with finitely many actions; "
            "in a continuous one use the method 'paper', or give an instruction to rsg.plan"
        )
    if settings.method in ("paper", "uniform"):
        made = _by_instructions(problem, settings, progress, cancelled)
    else:
        made = _by_regions(problem, settings, progress, cancelled)
    return replace(made, seconds=time.perf_counter() - start)


class _Problem:
    """A goal among the terms: one that is a function comes after them, and nothing is known of what it needs."""

    def __init__(
        self, world: World, state: NDArray[Any], goal: Goal, goal_fn: GoalFn, dependencies: Dependencies
    ) -> None:
        self.world, self.state, self.dependencies = world, state, dependencies
        if not isinstance(goal, str) and not callable(goal):
            raise RsgError(f"a goal is a term or a function of states, not {goal!r}")
        self.named = isinstance(goal, str)
        name = "goal"
        while name in dependencies.terms:
            name = f"my-{name}"
        self.terms = dependencies.terms if isinstance(goal, str) else (*dependencies.terms, name)
        self.goal = dependencies.number(goal) if isinstance(goal, str) else len(dependencies.terms)
        self._goal, self._goal_fn = goal, goal_fn

    @property
    def name(self) -> str:
        return self.terms[self.goal]

    def goals(self, world: World, terms: Sequence[str], state: NDArray[Any]) -> Goals:
        """The classifiers of terms, among them perhaps the goal: a `GoalFn`."""
        if self.named or self.name not in terms:
            return self._goal_fn(world, terms, state)
        known = [term for term in terms if term != self.name]
        return _WithGoal(self._goal_fn(world, known, state) if known else None, self._goal)

    def rules(self, guide: str) -> Rules:
        """What each term needs."""
        prerequisites: Sequence[Any] = self.dependencies.prerequisites
        if guide == "conditional":
            always = self.dependencies.conditional >= 0.9
            prerequisites = [(tuple(np.flatnonzero(row).tolist()),) for row in always]
        return Rules.of(prerequisites if self.named else [*prerequisites, ((),)])

    def matrix(self, uniform: bool) -> NDArray[np.float64]:
        """d(o1, o2); without dependencies, and for a goal that is a function, all terms are as likely."""
        size = len(self.terms)
        if uniform:
            return np.full((size, size), 1 / size)
        matrix = np.zeros((size, size))
        known = len(self.dependencies.terms)
        matrix[:known, :known] = self.dependencies.matrix
        if not self.named:
            matrix[-1, :known] = 1 / known
        return matrix


class _WithGoal:
    """Classifiers of terms, and a goal of the user's own as the last one."""

    def __init__(self, goals: Goals | None, goal: Any) -> None:
        self._goals, self._goal = goals, goal

    def __call__(self, states: NDArray[Any]) -> tuple[Any, Any]:
        own = np.asarray(self._goal(states), dtype=np.float64)
        if own.shape != (len(states),):
            raise RsgError(f"a goal gives for states [N, W] whether it holds [N], or its probability, not {own.shape}")
        if not ((own >= 0) & (own <= 1)).all():
            raise RsgError("a goal gives whether it holds, or its probability: numbers from 0 to 1")
        with np.errstate(divide="ignore"):
            mine = np.log(own)[:, None], np.log1p(-own)[:, None]
        if self._goals is None:
            return mine
        known = self._goals(states)
        return tuple(np.concatenate([theirs, ours], axis=1) for theirs, ours in zip(known, mine, strict=True))  # type: ignore[return-value]


def _by_regions(
    problem: _Problem,
    settings: GoalSettings,
    progress: Callable[[int], None] | None,
    cancelled: Callable[[], bool] | None,
) -> Plan:
    """One search over states, in which all instructions share what has been explored."""
    rules = problem.rules(settings.guide)
    watched = np.ones(len(problem.terms), dtype=np.bool_)
    if settings.method == "blind" or settings.watch == "helpful":
        watched = rules.helpful(problem.goal) & (settings.method != "blind")
        watched |= problem.rules("prerequisites").direct(problem.goal) & (not settings.trust)
        watched[problem.goal] = True
    numbers = np.flatnonzero(watched)
    terms = [problem.terms[number] for number in numbers]
    goals = problem.goals(problem.world, terms, problem.state)
    search = RegionSearch(
        problem.world,
        problem.state,
        goals,
        len(terms),
        int(watched[: problem.goal].sum()),
        _rank(problem, settings, rules, numbers),
        settings.budget,
        settings.threshold,
        1 if settings.method == "blind" else settings.spread,
    )
    found = search.run(progress, cancelled)
    if found.actions is not None:
        return _succeeded(problem, found, rules, numbers)
    first = np.zeros((1, len(problem.terms)), dtype=np.bool_)
    first[0, numbers] = search.first_holds
    if first[0, problem.goal]:
        held = f"{problem.name} holds already, and did not become false and true again"
        return _no_plan(problem, found.expansions, found.ended, (), [problem.name], held)
    helpful = rules.helpful(problem.goal)[numbers] | (not problem.named)
    return _failed(problem, found, terms, helpful, rules.still_needed(first, problem.goal)[0, numbers])


def _rank(problem: _Problem, settings: GoalSettings, rules: Rules, numbers: NDArray[np.int64]) -> Rank:
    """Judges regions by the guide."""
    size, goal, needs = len(problem.terms), problem.goal, problem.rules("prerequisites")
    guide = "none" if settings.method == "blind" else settings.guide
    matrix = problem.matrix(uniform=False)

    def rank(holds: Bools, achieved: Sequence[tuple[int, ...]]) -> tuple[Any, Any]:
        every = np.zeros((len(holds), size), dtype=np.bool_)
        every[:, numbers] = holds
        ready = np.ones(len(holds), dtype=np.bool_) if settings.trust else needs.ready(every, goal)
        if guide == "none":
            return np.zeros(len(holds)), ready
        if guide == "priority":
            ways = ([*dict.fromkeys(numbers[list(way)].tolist()), goal] for way in achieved)
            values = np.array([priority(matrix, way, settings.length_bias) for way in ways])
            return -np.log(np.maximum(values, 1e-300)), ready
        needed = rules.still_needed(every, goal).sum(axis=1)
        return np.where(needed > 0, needed, size + 1), ready

    return rank


def _succeeded(problem: _Problem, found: Reached, rules: Rules, numbers: NDArray[np.int64]) -> Plan:
    """The subgoals that the goal was reached by become the task; each action serves the next of them."""
    assert found.actions is not None
    assert found.states is not None
    assert found.holds is not None
    holds = np.zeros((len(found.states), len(problem.terms)), dtype=np.bool_)
    holds[:, numbers] = found.holds
    steps = _steps(rules, holds, problem.goal)
    if not problem.named:  # nothing is known of what it needs: all that came true for the first time
        came = {
            int(holds[1:, term].argmax()) + 1: term for term in np.flatnonzero(holds.any(axis=0) & ~holds[0]).tolist()
        }
        steps = sorted({**came, len(found.actions): problem.goal}.items())
    names = tuple(problem.terms[term] for _, term in steps)
    nodes = np.repeat(np.arange(1, len(steps) + 1), np.diff([0, *(end for end, _ in steps)]))
    terms = tuple(names[node - 1] for node in nodes)
    sizes = (found.cost, found.expansions, 0.0)
    return Plan(_instruction(names), found.actions, found.states, nodes, terms, *sizes)


def _steps(rules: Rules, holds: Bools, goal: int) -> list[tuple[int, int]]:
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


def _instruction(names: Sequence[str]) -> Task:
    parts = [Term(name) for name in names]
    return parts[0] if len(parts) == 1 else Then(tuple(parts))


def _failed(problem: _Problem, found: Reached, terms: Sequence[str], helpful: Bools, needed: Bools) -> Plan:
    """Which subgoals on the way to the goal were reached, and which never."""
    never = [term for term, seen, need in zip(terms, found.seen, needed, strict=True) if need and not seen]
    if problem.name not in never:
        never.append(problem.name)
    use = [term for term, seen, of_use in zip(terms, found.seen, helpful, strict=True) if of_use and seen]
    because = _never(never)
    if found.doubtful:
        because += f" ({problem.name} came true without its prerequisites, which was not believed)"
    reached = [term for term in use if term not in never]
    return _no_plan(problem, found.expansions, found.ended, reached, never, because)


def _never(terms: Sequence[str]) -> str:
    return f"{' and '.join(terms)} {'was' if len(terms) == 1 else 'were'} never reached"


def _no_plan(
    problem: _Problem, expansions: int, ended: str, reached: Iterable[str], never: Sequence[str], because: str
) -> Plan:
    nothing = np.empty(0, dtype=np.int64)
    sizes = (np.inf, expansions, 0.0, ended)
    terms = (tuple(reached), tuple(never))
    return Plan(Term(problem.name), nothing, problem.state[None], nothing, (), *sizes, *terms, because)


def _by_instructions(
    problem: _Problem,
    settings: GoalSettings,
    progress: Callable[[int], None] | None,
    cancelled: Callable[[], bool] | None,
) -> Plan:
    """Algorithm 2: plan for each candidate instruction by itself, the most promising first."""
    matrix = problem.matrix(uniform=settings.method == "uniform")
    queue = candidates(matrix, problem.goal, settings.length_limit, settings.length_bias)
    spent, reached, missed = 0, dict[str, None](), dict[str, None]()
    ended = "exhausted"  # if each candidate was, and there are no more
    for _, instruction in islice(queue, settings.budget):  # one whose first term holds already costs nothing
        machine = Machine.of(_instruction([problem.terms[number] for number in instruction]))
        limit = min(settings.per_candidate, settings.budget - spent)
        how = SearchSettings("balanced", limit, threshold=settings.threshold, seed=settings.seed)
        told = partial(_add, progress, spent) if progress else None
        tried = plan(problem.world, problem.state, machine, problem.goals, how, told, cancelled)
        spent += tried.expansions
        if tried.found and (settings.trust or _believed(problem, tried, settings.threshold)):
            return replace(tried, expansions=spent)
        reached.update(dict.fromkeys(tried.reached))
        missed.update(dict.fromkeys(tried.missed))
        if tried.ended == "cancelled" or (cancelled and cancelled()):
            ended = "cancelled"
            break
        if spent >= settings.budget:
            ended = "budget"
            break
        if tried.ended == "budget":
            ended = "candidates"
    never = [term for term in missed if term not in reached] or [problem.name]
    return _no_plan(problem, spent, ended, reached, never, _never(never))


def _add(progress: Callable[[int], None], before: int, count: int) -> None:
    progress(before + count)


def _believed(problem: _Problem, made: Plan, threshold: float) -> bool:
    """Whether one of the goal's prerequisites held where it came true."""
    goals = problem.goals(problem.world, problem.terms, problem.state)
    holds = goals(made.states[-2:-1])[0] >= np.log(threshold)
    return bool(problem.rules("prerequisites").ready(holds, problem.goal)[0])
