"""A graph of distinct states with the actions between them: the ground on which cost-to-go is computed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rsg.core.errors import RsgError
from rsg.worlds import World


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


def local_graph(world: World, states: NDArray[Any], depth: int, max_states: int = 1_000_000) -> StateGraph:
    """All states within `depth` actions of the given ones `[T + 1, W]`, breadth-first, and every edge among them.

    Actions that change nothing are self-loops. A graph that would be larger than `max_states` is an error.
    """
    if states.ndim != 2 or len(states) == 0:
        raise RsgError(f"a graph grows from states [N, W], got {states.shape}")
    if depth < 0:
        raise RsgError(f"depth must be at least 0, not {depth}")
    index: dict[bytes, int] = {}
    rows: list[NDArray[Any]] = []

    def number(row: NDArray[Any]) -> int:
        key = row.tobytes()
        if key not in index:
            if len(rows) >= max_states:
                raise RsgError(f"more than {max_states:,} states within {depth} actions; choose a smaller depth")
            index[key] = len(rows)
            rows.append(row)
        return index[key]

    path = np.array([number(row) for row in states], dtype=np.int32)
    known, after = 0, []
    for _ in range(depth):
        frontier = np.stack(rows[known:]) if len(rows) > known else None
        if frontier is None:
            break
        known = len(rows)
        after.append(np.array([[number(row) for row in rest] for rest in np.asarray(world.successors(frontier))]))
    inner = len(rows)
    ends = np.concatenate(after) if after else np.empty((0, len(world.actions)), dtype=np.int64)
    rim = rows[len(ends) : inner]
    if rim:  # the last layer: only edges back to known states
        last = [[index.get(row.tobytes(), -1) for row in rest] for rest in np.asarray(world.successors(np.stack(rim)))]
        ends = np.concatenate([ends, np.array(last)])
    source, action = np.nonzero(ends >= 0)
    return StateGraph(
        states=np.stack(rows),
        edge_start=np.searchsorted(source, np.arange(inner + 1)).astype(np.int32),
        edge_end=ends[source, action].astype(np.int32),
        edge_action=action.astype(np.int32),
        edge_cost=np.asarray(world.costs, dtype=np.float64)[action],
        path=path,
    )
