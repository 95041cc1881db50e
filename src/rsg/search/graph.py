"""A graph of distinct states with the actions between them: the ground on which cost-to-go is computed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rsg.core.compiled import specialised
from rsg.core.errors import RsgError
from rsg.search import graph_kernels
from rsg.worlds import World

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]
_Grown = tuple[NDArray[Any], tuple[Ints, Ints, Ints], Ints]
_UNLIMITED = 2**62


@dataclass(frozen=True, eq=False)
class StateGraph:
    """Distinct states and the edges between them, in CSR form.

    Attributes:
        states: `[S, W]`.
        edge_start: `[S + 1]` where the edges of each state begin.
        edge_end: `[E]` the state that an edge leads to.
        edge_action: `[E]` the action, edge_cost: `[E]` its cost.
        path: `[T + 1]` where the trajectory, or the start, lies on the graph.
    """

    states: NDArray[Any]
    edge_start: NDArray[np.int32]
    edge_end: NDArray[np.int32]
    edge_action: NDArray[np.int32]
    edge_cost: NDArray[np.float64]
    path: NDArray[np.int32]

    @property
    def edges(self) -> int:
        """How many edges."""
        return len(self.edge_end)

    @cached_property
    def reverse(self) -> tuple[Ints, Ints, Floats]:
        """The edges by the state that they lead to.

        `[S + 1]` where those to each state begin; then, `[E]` each, the state that an edge comes from, and its cost.
        """
        return graph_kernels.turned_around(self.edge_start, self.edge_end, self.edge_cost)

    @cached_property
    def size_bytes(self) -> int:
        """The memory of its arrays, `reverse` not counted."""
        edges = (self.edge_start, self.edge_end, self.edge_action, self.edge_cost)
        return sum(array.nbytes for array in (self.states, *edges, self.path))


def local_graph(world: World, states: NDArray[Any], depth: int, max_states: int = 1_000_000) -> StateGraph:
    """All states within `depth` actions of the given ones `[T + 1, W]`, breadth-first, and every edge among them.

    Actions that change nothing are self-loops. A graph that would be larger than `max_states` is an error. The world's
    compiled step is used if there.
    """
    if states.ndim != 2 or len(states) == 0:
        raise RsgError(f"a graph grows from states [N, W], got {states.shape}")
    if depth < 0:
        raise RsgError(f"depth must be at least 0, not {depth}")
    grow = _grow_compiled if hasattr(world, "compiled_step") else _grow
    distinct, (start, end, action), path = grow(world, states, depth, max_states)
    cost = np.asarray(world.costs, dtype=np.float64)[action]
    return StateGraph(states=distinct, edge_start=start, edge_end=end, edge_action=action, edge_cost=cost, path=path)


def _grow_compiled(world: Any, states: NDArray[Any], depth: int, max_states: int) -> _Grown:
    """The distinct states, their edges and where the given ones are, in one kernel."""
    step, tables = world.compiled_step
    states = np.array(states, order="C")  # never read-only, which would be compiled once more
    world.step(states, np.zeros(len(states), dtype=np.int64))  # so that it may object: a kernel takes any bytes
    limits = min(int(depth), _UNLIMITED), min(int(max_states), _UNLIMITED)
    fits, distinct, edges, path = _explorer(step)(tuple(tables), states, len(world.actions), *limits)
    if not fits:
        raise _too_large(depth, max_states)
    return distinct, edges, path


@cache
def _explorer(step: Callable[..., None]) -> Callable[..., Any]:
    return specialised(graph_kernels.explore, follow=specialised(graph_kernels.follow, step=step))


def _grow(world: World, states: NDArray[Any], depth: int, max_states: int) -> _Grown:
    """The same with a dictionary; the world is asked for the successors of whole layers."""
    index: dict[bytes, int] = {}
    rows: list[NDArray[Any]] = []

    def number(row: NDArray[Any]) -> int:
        key = row.tobytes()
        if key not in index:
            if len(rows) >= max_states:
                raise _too_large(depth, max_states)
            index[key] = len(rows)
            rows.append(row)
        return index[key]

    path = np.array([number(row) for row in states], dtype=np.int32)
    known, after = 0, []
    for _ in range(depth):
        if known == len(rows):
            break
        frontier = np.stack(rows[known:])
        known = len(rows)
        after.append(np.array([[number(row) for row in rest] for rest in np.asarray(world.successors(frontier))]))
    if known < len(rows):  # the last layer: only edges back to known states
        last = np.asarray(world.successors(np.stack(rows[known:])))
        after.append(np.array([[index.get(row.tobytes(), -1) for row in rest] for rest in last]))
    ends = np.concatenate(after)
    source, action = np.nonzero(ends >= 0)
    start = np.searchsorted(source, np.arange(len(rows) + 1)).astype(np.int32)
    return np.stack(rows), (start, ends[source, action].astype(np.int32), action.astype(np.int32)), path


def _too_large(depth: int, max_states: int) -> RsgError:
    return RsgError(f"more than {max_states:,} states within {depth} actions; choose a smaller depth")
