"""From an instruction to actions: the product search over world × machine."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rsg.core.errors import RsgError
from rsg.language import Machine, Task, parse
from rsg.search import Found, GoalFn, ProductSearch, SearchSettings
from rsg.worlds import World

MAX_STITCHED = 1000  # linear instructions that the stitching baseline tries


@dataclass(frozen=True, eq=False)
class Plan:
    """What to do, or why there is nothing to do.

    Attributes:
        task: what was asked; of a plan for a goal only, the instruction that was found.
        actions: `[T]` indices of actions, empty if no plan was found.
        states: `[T + 1, W]` the states that the plan says it goes through, the first one included.
        nodes: `[T]` the machine node that each action serves; terms: the term of each.
        cost: of actions and transitions together, infinite if no plan was found.
        expansions: (state, node) pairs expanded, or states in a search that knows no nodes.
        seconds: spent on planning.
        ended: `found`, or why not: `exhausted` (all that can be reached was tried), `budget`, `time`, `cancelled`, or
            `candidates` (no instruction is left to try).
        reached, missed: without a plan, the terms that were reached somewhere, and those that were tried in vain.
        because: without a plan, what stands in the way, if it takes another sentence than these terms.
    """

    task: Task
    actions: NDArray[np.int64]
    states: NDArray[Any]
    nodes: NDArray[np.int64]
    terms: tuple[str, ...]
    cost: float
    expansions: int
    seconds: float
    ended: str = "found"
    reached: tuple[str, ...] = ()
    missed: tuple[str, ...] = ()
    because: str = ""

    @property
    def found(self) -> bool:
        """Whether there is a plan."""
        return bool(np.isfinite(self.cost))

    @property
    def reason(self) -> str:
        """Why there is no plan, in a sentence."""
        if self.found:
            return ""
        why = {
            "exhausted": "everything that can be reached was tried",
            "budget": f"the budget of {self.expansions:,} expansions ended",
            "time": "the time limit was reached",
            "cancelled": "the search was cancelled",
            "candidates": "all instructions that may help were tried, each as far as it may go",
        }.get(self.ended, self.ended)
        if self.because:
            return f"no plan: {self.because}; {why}"
        if not self.missed:
            return f"no plan: the first subgoal is already true, so it cannot be done ({why})"
        return f"no plan: {' or '.join(self.missed)} could not be reached; {why}"


def plan(
    world: World,
    state: NDArray[Any],
    task: str | Task | Machine,
    goal_fn: GoalFn,
    settings: SearchSettings | None = None,
    progress: Callable[[int], None] | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> Plan:
    """A plan that does the task from the state, judged by the classifiers alone.

    Args:
        world: where; a compiled step makes it fast.
        state: `[W]` the first state.
        task: what to do.
        goal_fn: gives the classifiers of the task's terms.
        settings: how to search.
        progress: called now and then with the number of expansions.
        cancelled: asked now and then whether to stop.

    With the order `anytime` this is the best plan that the limits allow.
    """
    start = time.perf_counter()
    machine = _machine(task)
    state = np.asarray(state)
    if state.ndim != 1:
        raise RsgError(f"a plan starts in one state [W], got shape {state.shape}")
    settings = settings or SearchSettings()
    goals = goal_fn(world, [str(term) for term in machine.terms], state)
    search = ProductSearch(world, state, machine, goals, settings)
    found = search.run(progress, cancelled)
    while settings.order == "anytime" and found.ended == "found" and np.isfinite(found.cost):
        better = search.run(progress, cancelled)
        if better.cost >= found.cost:
            found = replace(found, expansions=better.expansions, per_node=better.per_node)
            break
        found = better
    return _plan(machine, state, found, search, time.perf_counter() - start)


def _machine(task: str | Task | Machine) -> Machine:
    if isinstance(task, Machine):
        return task
    return Machine.of(parse(task) if isinstance(task, str) else task)


def _plan(machine: Machine, state: NDArray[Any], found: Found, search: ProductSearch, seconds: float) -> Plan:
    if found.actions is None or found.states is None or found.nodes is None:
        entered, left = search.reached()
        terms = [str(machine.terms[i]) if i >= 0 else "" for i in machine.term_of]
        reached = tuple(dict.fromkeys(terms[v] for v in np.flatnonzero(entered & left) if terms[v]))
        missed = tuple(dict.fromkeys(terms[v] for v in np.flatnonzero(entered & ~left) if terms[v]))
        nothing = np.empty(0, dtype=np.int64)
        sizes = (np.inf, found.expansions, seconds, found.ended)
        return Plan(machine.task, nothing, state[None], nothing, (), *sizes, reached, missed)
    terms_of = tuple(str(machine.terms[machine.term_of[v]]) for v in found.nodes)
    sizes = (found.cost, found.expansions, seconds, "found")
    return Plan(machine.task, found.actions, found.states, found.nodes, terms_of, *sizes)


def stitched_plan(
    world: World,
    state: NDArray[Any],
    task: str | Task | Machine,
    goal_fn: GoalFn,
    settings: SearchSettings | None = None,
) -> Plan:
    """The baseline: the cheapest way for each subgoal by itself, one after the other; the best linear instruction wins.

    Whole-task plans can be cheaper, because they may prepare a later subgoal on the way to an earlier one.
    """
    start = time.perf_counter()
    machine = _machine(task)
    settings = replace(settings or SearchSettings(), order="optimal")
    best: Plan | None = None
    failed: Plan | None = None
    expansions = 0
    for path in islice(machine.paths(), MAX_STITCHED):
        now, parts = state, []
        for term in path:
            parts.append(plan(world, now, term, goal_fn, settings))
            expansions += parts[-1].expansions
            if not parts[-1].found:
                break
            now = parts[-1].states[-1]
        if not parts[-1].found:
            failed = failed or parts[-1]
            continue
        cost = sum(part.cost for part in parts)
        if best is None or cost < best.cost:
            actions = np.concatenate([part.actions for part in parts])
            states = np.concatenate([state[None], *(part.states[1:] for part in parts)])
            nodes = np.concatenate([np.full(len(part.actions), i) for i, part in enumerate(parts)])
            terms = tuple(term for part in parts for term in part.terms)
            best = Plan(machine.task, actions, states, nodes, terms, cost, 0, 0.0)
    chosen = best or failed
    assert chosen is not None
    return replace(chosen, task=machine.task, expansions=expansions, seconds=time.perf_counter() - start)
