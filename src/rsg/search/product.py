"""The product search: from a state and a machine to a plan, by any order of expansion."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rsg.core.compiled import specialised
from rsg.core.errors import RsgError
from rsg.language import Machine
from rsg.search import core
from rsg.search.goals import Goals
from rsg.search.pool import StatePool
from rsg.worlds import World

ORDERS = {
    "optimal": core.OPTIMAL,
    "anytime": core.ANYTIME,
    "balanced": core.BALANCED,
    "deepest": core.DEEPEST,
    "layered": core.LAYERED,
}
PLANNERS = ("auto", "product", "roadmap", "rrt")
Heuristic = Callable[[NDArray[Any]], NDArray[Any]]
_SLICE = 50_000  # expansions between two looks at the clock
_UNLIMITED = 2**62


@dataclass(frozen=True)
class SearchSettings:
    """How to search.

    Attributes:
        order: `deepest` alternates the deepest open node with a random one; `balanced` takes a random node each time
            (the paper's); `optimal` the globally cheapest label, so that the plan costs the least; `anytime` improves
            the plan until nothing open can better it; `layered` is the paper's appendix (b full layers, c of beam k);
            `auto` is `deepest`, on a roadmap `optimal` for a plan that may cost a fifth more than the cheapest.
        budget: expansions in total; None: no limit.
        per_node: expansions of each machine node; None: no limit.
        time_limit: seconds; None: no limit.
        threshold: a subgoal holds where G is at least this, and not yet where I is more than 1 minus this; None:
            transitions have soft costs, -λ (log G + log I).
        weight: λ.
        not_yet: whether a node may only be entered where its own subgoal is not yet true.
        one_action: whether a node that was entered must be served by an action before it is left.
        heuristic: `steps` counts the nodes ahead, `none` is zero, or a function from states `[N, W]` to lower bounds
            `[N, V]` on the cost ahead at each node.
        layers: b, c and k of `layered`.
        seed: where chance comes from.
        planner: `product` for worlds with finitely many actions; `roadmap` (a product search on a roadmap) or `rrt` (a
            random tree for each machine node) for continuous ones; `auto` is `product`, or `roadmap` and where that
            finds nothing `rrt`.
        poses: of a roadmap.
    """

    order: str = "auto"
    budget: int | None = 5000
    per_node: int | None = None
    time_limit: float | None = None
    threshold: float | None = 0.5
    weight: float = 1.0
    not_yet: bool = True
    one_action: bool = True
    heuristic: str | Heuristic = "steps"
    layers: tuple[int, int, int] = (4, 25, 10)
    seed: int = 0
    planner: str = "auto"
    poses: int = 2000

    def __post_init__(self) -> None:
        if self.order not in ("auto", *ORDERS):
            raise RsgError(f"there is no order '{self.order}'; orders are: {', '.join(ORDERS)}")
        if self.planner not in PLANNERS:
            raise RsgError(f"there is no planner '{self.planner}'; planners are: {', '.join(PLANNERS)}")
        for name in ("budget", "per_node", "poses"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise RsgError(f"{name} must be at least 1, not {value}")
        if self.threshold is not None and not 0 < self.threshold < 1:
            raise RsgError(f"threshold lies between 0 and 1, not {self.threshold}")
        if self.time_limit is not None and self.time_limit <= 0:
            raise RsgError(f"the time limit must be positive, not {self.time_limit}")
        if not self.weight > 0:
            raise RsgError(f"weight must be positive, not {self.weight}")
        if len(self.layers) != 3 or min(self.layers) < 0:
            raise RsgError(f"layers are three numbers, none negative, not {self.layers}")
        if isinstance(self.heuristic, str) and self.heuristic not in ("steps", "none"):
            raise RsgError(f"heuristic is 'steps', 'none' or a function, not '{self.heuristic}'")


@dataclass(frozen=True, eq=False)
class Found:
    """What a search found: the best plan so far, if any, and how the search ended.

    Attributes:
        actions: `[T]`, or `[T, D]` in a continuous world; states: `[T + 1, W]`; nodes: `[T]` the machine node that
            each action serves; None: no plan.
        cost: of actions and transitions together.
        expansions: labels expanded so far; per_node `[V]` the same by node.
        ended: `found`, `exhausted` (all that can be reached was tried), `budget` (of expansions, or the layers and beam
            of `layered`), `roadmap` (all that can be reached on it was tried), `time` or `cancelled`.
        seconds: spent so far.
    """

    actions: NDArray[Any] | None
    states: NDArray[Any] | None
    nodes: NDArray[np.int64] | None
    cost: float
    expansions: int
    per_node: NDArray[np.int64]
    ended: str
    seconds: float


class ProductSearch(StatePool):
    """One search over world × machine; `run` may be called again to go on with a larger budget.

    Args:
        world: with only a batched `successors` it is asked for whole frontiers; a compiled step is used if there.
        state: `[W]` where it starts.
        machine: of the task.
        goals: the classifiers of the machine's terms.
        settings: how to search.
    """

    def __init__(
        self, world: World, state: NDArray[Any], machine: Machine, goals: Goals, settings: SearchSettings
    ) -> None:
        settings = replace(settings, order="deepest") if settings.order == "auto" else settings
        self._machine, self.settings = machine, settings
        super().__init__(world, state, goals, machine.nodes, self._uniform_heuristic)
        nodes = machine.nodes
        self._kernels = self._choose_kernels()
        self._heaps_count = 1 if settings.order == "optimal" else nodes
        # One expansion adds at most so many labels to a heap: for every action the moved one and one per edge of the
        # machine, or, if each node has its own heap, one per edge to that node.
        self._spread = self._actions * (machine.edges + 1 if self._heaps_count == 1 else nodes)
        options = np.array(
            [
                ORDERS[settings.order],
                settings.budget or _UNLIMITED,
                settings.per_node or _UNLIMITED,
                _SLICE,
                settings.threshold is not None,
                settings.not_yet,
                settings.one_action,
                self._spread,
            ],
            dtype=np.int64,
        )
        counters = np.zeros(10, dtype=np.int64)
        counters[core.DICE] = (settings.seed * 2654435761 + 97) & 0x7FFFFFFF
        holds = settings.threshold if settings.threshold is not None else 0.5
        numbers = np.array([np.inf, settings.weight, np.log(holds), np.log1p(-holds)])
        self._fixed = (np.zeros(nodes, dtype=np.int64), counters, numbers, options)
        self._begin(state)
        self._kernels[0](self._kernels[3], self.arrays, self._task)
        self._layering = self._layers() if settings.order == "layered" else None

    @property
    def _uniform_heuristic(self) -> bool:
        return isinstance(self.settings.heuristic, str)

    def _choose_kernels(self) -> tuple[Any, Any, Any, Any]:
        """The begin and search kernels and their tables, for this world and these goals."""
        learn, goal, *tables = self._forms()
        leave = specialised(core.leave, inline=True, goal=goal)
        expand = specialised(core.expand, inline=True, leave=leave)
        body = core.expand_layer if self.settings.order == "layered" else core.search
        search = specialised(body, learn=learn, expand=expand)
        return specialised(core.begin, leave=leave), search, tables[0], tables[1]

    def _allocate(self, capacity: int) -> None:
        """Room for so many states."""
        nodes, terms = self._machine.nodes, len(self._machine.terms)
        room = (self._heaps_count, 2 * capacity + self._spread)
        self.arrays = core.Arrays(
            *self._room_for_states(capacity, terms),
            np.empty((capacity, nodes, 3)),
            np.empty((capacity, nodes, 4), dtype=np.int32),
            np.empty(room),
            np.empty(room, dtype=np.int64),
            np.zeros(self._heaps_count, dtype=np.int64),
            *self._fixed,
        )
        count_steps = self.settings.heuristic == "steps" and self.settings.one_action  # else a node may take no step
        uniform = _task(self._machine, tuple(np.asarray(self._world.costs).tolist()), count_steps)
        self._task = uniform if self._uniform_heuristic else uniform._replace(ahead=np.empty((capacity, nodes)))

    def run(
        self,
        progress: Callable[[int], None] | None = None,
        cancelled: Callable[[], bool] | None = None,
        budget: int | None = None,
    ) -> Found:
        """Search until there is a plan, a limit, or nothing left; for `anytime`, until the next better plan.

        Args:
            progress: called now and then with the number of expansions.
            cancelled: asked now and then whether to stop.
            budget: a new total budget, to go on after the old one has ended.
        """
        start = time.perf_counter()
        if budget is not None:
            self.arrays.options[core.MAX_EXPANSIONS] = budget
        for status in self._layering or iter(self._kernel, None):
            if status == core.GROW:
                self._grow()
            elif status == core.NEED:
                self._provide(int(self.arrays.counters[core.WANTED]))
            elif status != core.PAUSED:
                return self._result({core.EXHAUSTED: "exhausted", core.BUDGET: "budget"}.get(status, "found"), start)
            if progress:
                progress(int(self.arrays.counters[core.EXPANSIONS]))
            if cancelled and cancelled():
                return self._result("cancelled", start)
            if self.settings.time_limit and time.perf_counter() - start > self.settings.time_limit:
                return self._result("time", start)
        raise AssertionError("a search ends with a status")

    def _kernel(self, *more: Any) -> int:
        _, search, tables, goals = self._kernels
        return int(search(tables, goals, self.arrays, self._task, *more))

    def _layers(self) -> Iterator[int]:
        """The paper's appendix: node after node, b exhaustive layers of actions, then c layers of the k best labels."""
        full, narrow, beam = self.settings.layers
        for node in range(1, self._machine.nodes - 1):
            for depth in range(full + narrow):
                states = self._open_states(node)
                layer = states if depth < full else states[:beam]
                self.arrays.counters[core.CUT] += len(states) - len(layer)
                while len(layer) and (status := self._kernel(layer, node)) != core.EXHAUSTED:
                    yield status
                yield core.PAUSED
            self.arrays.counters[core.CUT] += len(self._open_states(node))
        while True:
            failed = core.BUDGET if self.arrays.counters[core.CUT] else core.EXHAUSTED
            yield core.FOUND if self.arrays.numbers[core.BEST] < np.inf else failed

    def _open_states(self, node: int) -> NDArray[np.int64]:
        """The states of the node's open labels, best first; its heap is emptied."""
        arrays = self.arrays
        size = int(arrays.sizes[node])
        order = np.lexsort((arrays.items[node, :size], arrays.keys[node, :size]))
        states = (arrays.items[node, :size][order] & 0xFFFFFFFF) // self._machine.nodes
        arrays.sizes[node] = 0
        states = states[np.sort(np.unique(states, return_index=True)[1])]
        cost = arrays.cost[states, node]
        still_open: NDArray[np.int64] = states[cost[:, core.EXPANDED] > cost[:, : core.EXPANDED].min(axis=1)]
        return still_open

    def _grow(self) -> None:
        """Four times the room, everything else as it was."""
        count, ahead = int(self.arrays.counters[core.STATES]), self._task.ahead
        super()._grow()
        if not self._uniform_heuristic:
            self._task.ahead[:count] = ahead[:count]

    def _ask(self, states: NDArray[Any], start: int, end: int) -> None:
        """Classifiers and heuristic for new states."""
        super()._ask(states, start, end)
        if callable(self.settings.heuristic):
            self._task.ahead[start:end] = self._ask_heuristic(self.settings.heuristic, states)

    def _ask_heuristic(self, heuristic: Heuristic, states: NDArray[Any]) -> NDArray[Any]:
        ahead = np.asarray(heuristic(states))
        shape = (len(states), self._machine.nodes)
        if ahead.shape != shape or np.isnan(ahead).any():
            raise RsgError(f"a heuristic must give costs of shape {shape} without NaN, got {ahead.shape}")
        return ahead

    def _result(self, ended: str, start: float) -> Found:
        arrays = self.arrays
        plan: tuple[Any, Any, Any] = self._trace() if arrays.numbers[core.BEST] < np.inf else (None, None, None)
        cost, expansions = float(arrays.numbers[core.BEST]), int(arrays.counters[core.EXPANSIONS])
        return Found(*plan, cost, expansions, arrays.per_node.copy(), ended, time.perf_counter() - start)

    def _trace(self) -> tuple[NDArray[np.int64], NDArray[Any], NDArray[np.int64]]:
        """The best plan, followed back from its end. A label on its way may have become cheaper: so does the plan."""
        link, counters, best = self.arrays.link, self.arrays.counters, self.arrays.numbers
        s, v, moved = int(counters[core.BEST_STATE]), int(counters[core.BEST_NODE]), True
        cost = self._transition_cost(s, v, self._machine.nodes - 1)
        actions, nodes, numbers = [], [], [s]
        while v != 0:
            entered_from, came_from, by, was_moved = link[s, v].tolist()
            if moved and came_from >= 0:
                actions.append(by)
                nodes.append(v)
                numbers.append(came_from)
                cost += self._task.costs[by]
                s, moved = came_from, bool(was_moved)
            else:
                cost += self._transition_cost(s, entered_from, v)
                v, moved = entered_from, True
        best[core.BEST] = min(best[core.BEST], cost)
        states = self._rows(np.array(numbers[::-1]))
        return np.array(actions[::-1], dtype=np.int64), states, np.array(nodes[::-1], dtype=np.int64)

    def _transition_cost(self, s: int, v: int, w: int) -> float:
        """What it costs to go from node v to node w in state s, where that is allowed."""
        settings, term_of, value = self.settings, self._machine.term_of, self.arrays.value
        if settings.threshold is not None:
            return 0.0
        leaving = value[s, term_of[v], 0] if v > 0 else 0.0
        entering = value[s, term_of[w], 1] if w < self._machine.nodes - 1 and settings.not_yet else 0.0
        return float(-settings.weight * (leaving + entering))

    def reached(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Which nodes were entered, and which of these were left, `[V]` each: why there is no plan."""
        count = int(self.arrays.counters[core.STATES])
        fresh = np.isfinite(self.arrays.cost[:count, :, core.FRESH])
        left = np.zeros(self._machine.nodes, dtype=bool)
        left[self.arrays.link[:count, :, core.ENTERED_FROM][fresh]] = True
        if self.arrays.numbers[core.BEST] < np.inf:
            left[self.arrays.counters[core.BEST_NODE]] = True
        return np.asarray(fresh.any(axis=0)), left


@lru_cache(maxsize=256)
def _task(machine: Machine, costs: tuple[float, ...], count_steps: bool) -> core.Task:
    """The machine as kernels want it, made once."""
    prices = np.array(costs)
    ahead = nodes_ahead(machine)[None] * (prices.min() if count_steps else 0.0)
    touched = np.zeros(machine.nodes, dtype=np.bool_)
    return core.Task(machine.term_of, machine.next_start, machine.next_node, ahead, touched, prices)


def nodes_ahead(machine: Machine) -> NDArray[np.float64]:
    """How many nodes must still be served from each node on, itself included: each takes at least one action `[V]`.

    >>> from rsg.language import parse
    >>> nodes_ahead(Machine.of(parse("a then (b or (c then d))"))).tolist()
    [2.0, 2.0, 1.0, 2.0, 1.0, 0.0]
    """
    ahead = np.zeros(machine.nodes)
    for node in range(machine.nodes - 2, -1, -1):
        ahead[node] = (node > 0) + min(ahead[after] for after in machine.successors(node))
    return ahead
