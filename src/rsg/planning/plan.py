"""From an instruction to actions: a search over world × machine."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from rsg.core.arrays import Array, Ints
from rsg.core.errors import RsgError
from rsg.language import Machine, Task, machine_of
from rsg.search import (
    Auto,
    Between,
    Found,
    GoalFn,
    Goals,
    Hard,
    Product,
    ProductSearch,
    Roadmap,
    RoadmapSearch,
    SearchSettings,
    Trees,
    TreeSearch,
    after,
    best,
    goals_in,
    search_settings,
    sees_to,
)
from rsg.worlds import EitherWorld, check_again, is_continuous, is_recorded, require
from rsg.worlds.recorded import NO_PLANS

_Search = ProductSearch | RoadmapSearch | TreeSearch
_SEARCH: dict[type, Callable[..., _Search]] = {Product: ProductSearch, Roadmap: RoadmapSearch, Trees: TreeSearch}


class Part(NamedTuple):
    """Actions `start` to `end` (the last one not included) that serve one subgoal."""

    term: str
    start: int
    end: int


class Origin(NamedTuple):
    """What a plan was made from, so that another can be made of the rest of its task."""

    world: EitherWorld
    machine: Machine
    subgoals: GoalFn
    settings: SearchSettings


@dataclass(frozen=True, eq=False, kw_only=True)
class Plan:
    """What to do, or why there is nothing to do.

    Attributes:
        task: what was asked; of a plan for a goal only, the instruction that was found.
        actions: `[T]` indices of actions, or `[T, D]` what is added to the pose in a continuous world; empty if no plan
            was found.
        states: `[T + 1, W]` the states that the plan says it goes through, the first one included.
        nodes: `[T]` the machine node that each action serves; terms: the term of each.
        cost: of actions and transitions together, infinite if no plan was found.
        expansions: (state, node) pairs expanded, or states in a search that knows no nodes; steps of a random tree.
        seconds: spent on planning.
        ended: `found`, or why not: `exhausted` (all that can be reached was tried), `roadmap` (the same, on it),
            `budget`, `time` or `cancelled`.
        reached, missed: without a plan, the terms that were reached somewhere, and those that were tried in vain.
        because: without a plan, what stands in the way, if it takes another sentence than these terms.
        bold: whether it counts on what terms are only likely to mean: there was no way to all that they may mean.
        origin: what it was made from, for `rsg.execute`.

    >>> made = Plan(task=machine_of("a").task, states=np.zeros((1, 2)), expansions=12, ended="budget", missed=("a",))
    >>> made.found, made.reason
    (False, 'no plan: a could not be reached; the budget of 12 expansions ended')
    """

    task: Task
    actions: Array = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    states: Array
    nodes: Ints = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    terms: tuple[str, ...] = ()
    cost: float = np.inf
    expansions: int
    seconds: float = 0.0
    ended: str = "found"
    reached: tuple[str, ...] = ()
    missed: tuple[str, ...] = ()
    because: str = ""
    bold: bool = False
    origin: Origin | None = field(default=None, repr=False)

    @property
    def found(self) -> bool:
        """Whether there is a plan."""
        return bool(np.isfinite(self.cost))

    @property
    def parts(self) -> list[Part]:
        """Which actions serve which subgoal, in order."""
        count = len(self.nodes)
        ends = [i for i in range(1, count + 1) if i == count or self.nodes[i] != self.nodes[i - 1]]
        return [Part(self.terms[end - 1], start, end) for start, end in zip([0, *ends], ends, strict=False)]

    @property
    def reason(self) -> str:
        """Why there is no plan, in a sentence."""
        if self.found:
            return ""
        why = {
            "exhausted": "everything that can be reached was tried",
            "budget": f"the budget of {self.expansions:,} expansions ended",
            "roadmap": "everything that can be reached on the roadmap was tried",
            "time": "the time limit was reached",
            "cancelled": "the search was cancelled",
        }.get(self.ended, self.ended)
        if self.because:
            return f"no plan: {self.because}; {why}"
        if not self.missed and self.reached:
            return f"no plan: what follows was true already wherever {' or '.join(self.reached)} was reached; {why}"
        if not self.missed:
            return f"no plan: the first subgoal is already true, so it cannot be done ({why})"
        return f"no plan: {' or '.join(self.missed)} could not be reached; {why}"


def plan(
    world: EitherWorld,
    start: Array,
    task: str | Task | Machine,
    subgoals: GoalFn,
    settings: SearchSettings | Mapping[str, object] | None = None,
    between: Between | None = None,
) -> Plan:
    """A plan that does the task from a state, judged by the subgoals alone.

    Args:
        world: where; a compiled step, or compiled motions, make it fast.
        start: `[W]` the first state.
        task: what to do.
        subgoals: what the task's terms mean: what `rsg.learn` gave, or any `GoalFn`.
        settings: how to search, or a mapping of what is named, such as {"budget": 1000}.
        between: called now and then with the number of expansions; the search stops if it gives something true.

    With the order `anytime` this is the best plan that the limits allow.

    >>> from rsg.search import goals_from
    >>> from rsg.worlds.corridor import Corridor
    >>> def lit(world, terms, start):
    ...     return goals_from(lambda states: states[:, 1:2])
    >>> made = plan(Corridor(), np.array([2, 0, 0]), "light-lamp", lit)
    >>> [Corridor.actions[action] for action in made.actions]
    ['left', 'left', 'touch']
    """
    begun, machine = time.perf_counter(), machine_of(task)
    state = first_state(world, start)
    if not isinstance(settings, SearchSettings):
        settings = SearchSettings() if settings is None else search_settings(settings)
    origin = Origin(world, machine, subgoals, settings)
    goals = goals_in(subgoals, world, machine.names, state)
    bold, spent = False, 0
    while True:
        unsure = hasattr(goals, "bold")  # then there is more to try, so half of what is left must do
        left = replace(settings, budget=-(-settings.budget // 2)) if unsure and settings.budget else settings
        found, search = _searched(world, state, machine, goals, left, after(spent, between))
        more = _left(settings, found) if unsure or hasattr(goals, "careful") else None
        spent += found.expansions
        if found.actions is not None or not unsure or more is None:
            break
        goals, settings, bold = getattr(goals, "bold"), more, True  # noqa: B009
    made = _plan(machine, state, found, search)
    while made.found and more is not None and hasattr(goals, "careful"):
        goals = goals.careful
        if sees_to(goals, made.states, [(machine.names.index(part.term), *part[1:]) for part in made.parts]):
            continue
        found, search = _searched(world, state, machine, goals, more, after(spent, between))
        more = _left(more, found)
        spent += found.expansions
        if found.actions is None:
            break
        made = _plan(machine, state, found, search)
    if made.found:
        check_again(world, made.states, made.actions)
    seconds = time.perf_counter() - begun
    return replace(made, bold=made.found and bold, expansions=spent, seconds=seconds, origin=origin)


def first_state(world: EitherWorld, start: Array) -> Array:
    """A state to plan from in a world."""
    state = np.asarray(start)
    if state.ndim != 1:
        raise RsgError(f"a plan starts in one state [W], got shape {state.shape}")
    if is_recorded(world):
        raise RsgError(NO_PLANS)
    require(world, state[None])
    return state


def _searched(
    world: EitherWorld, state: Array, machine: Machine, goals: Goals, settings: SearchSettings, between: Between | None
) -> tuple[Found, _Search]:
    """What the first planner finds; on a roadmap that has no way, the second."""
    first, *others = _planners(world, machine, settings)
    search = _SEARCH[type(first)](world, state, machine, goals, first, settings.seed)
    found = best(search, settings.limits(between))
    if found.ended == "roadmap" and others and (left := _left(settings, found)) is not None:
        spent = found.expansions
        search = _SEARCH[type(others[0])](world, state, machine, goals, others[0], settings.seed)
        found = best(search, left.limits(after(spent, between)))
        found = replace(found, expansions=spent + found.expansions)
    return found, search


def _left(settings: SearchSettings, found: Found) -> SearchSettings | None:
    """The settings with what a search has left of its limits, if anything."""
    budget = None if settings.budget is None else settings.budget - found.expansions
    time_limit = None if settings.time_limit is None else settings.time_limit - found.seconds
    if (budget is not None and budget < 1) or (time_limit is not None and time_limit <= 0):
        return None
    return replace(settings, budget=budget, time_limit=time_limit)


def _planners(world: EitherWorld, machine: Machine, settings: SearchSettings) -> list[Product | Trees]:
    """The planner to begin with, and another one to try if that is on a roadmap and all of it was tried."""
    how, continuous = settings.planner, is_continuous(world)
    if not isinstance(how, Auto):
        if continuous == (how.name == Product.name):
            others = "worlds with finitely many actions" if continuous else "continuous worlds"
            raise RsgError(f"the planner '{how.name}' is for {others}; leave it out, and one that suits is taken")
        return [how]
    if not continuous:
        return [Product(how.order, how.transitions)]
    roads = Roadmap(how.order, how.transitions, how.poses)
    if not isinstance(how.transitions, Hard) or how.order == "optimal" or settings.endless:
        return [roads]
    trees = Trees(None if how.order == "novel" else how.order, how.transitions)  # a tree never goes back to a place
    return [roads, trees] if RoadmapSearch.fits(machine, roads) else [trees]


def _plan(machine: Machine, state: Array, found: Found, search: _Search) -> Plan:
    def terms_of(nodes: Ints) -> tuple[str, ...]:
        return tuple(machine.names[machine.term_of[node]] for node in nodes)

    told: dict[str, Any] = {"task": machine.task, "expansions": found.expansions}
    if found.actions is None or found.states is None or found.nodes is None:
        entered, left = search.reached()
        reached, missed = (dict.fromkeys(terms_of(np.flatnonzero(entered & done))) for done in (left, ~left))
        return Plan(**told, states=state[None], ended=found.ended, reached=tuple(reached), missed=tuple(missed))
    terms = terms_of(found.nodes)
    return Plan(**told, states=found.states, actions=found.actions, nodes=found.nodes, terms=terms, cost=found.cost)
