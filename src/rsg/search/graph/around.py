"""All states within some actions of a trajectory, and the actions between them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rsg.core.compiled import inlined, specialised
from rsg.core.errors import RsgError
from rsg.search.graph.edges import StateGraph
from rsg.search.kernels.table import Table, larger, slot_of, table_for
from rsg.worlds import World

Array = NDArray[Any]
Ints = NDArray[np.int32]


def local_graph(world: World, states: Array, depth: int, max_states: int = 1_000_000) -> StateGraph:
    """All states within `depth` actions of the given ones `[T + 1, W]`, breadth-first, and every edge among them.

    Actions that change nothing are self-loops. A graph that would be larger than `max_states` is an error. The world's
    compiled step is used if there; otherwise it is asked for the successors of whole layers.
    """
    if states.ndim != 2 or len(states) == 0:
        raise RsgError(f"a graph grows from states [N, W], got {states.shape}")
    if depth < 0:
        raise RsgError(f"depth must be at least 0, not {depth}")
    if hasattr(world, "compiled_step"):
        world.step(states, np.zeros(len(states), dtype=np.int64))  # so that it may object: a kernel takes any bytes
    known = _Known(world, states)
    path = known.take_in(states[:, None], max_states + 1)[:, 0]
    layers: list[Ints] = []
    begin = 0
    while begin < known.count <= max_states and len(layers) <= depth:
        frontier, begin = known.rows(begin, known.count), known.count
        layers.append(known.follow(frontier, max_states + 1 if len(layers) < depth else begin))
    if known.count > max_states:
        raise RsgError(f"more than {max_states:,} states within {depth} actions; choose a smaller depth")
    after = np.concatenate(layers)
    source, action = np.nonzero(after >= 0)
    start = np.concatenate([[0], np.cumsum(np.count_nonzero(after >= 0, axis=1))]).astype(np.int32)
    cost = np.asarray(world.costs, dtype=np.float64)[action]
    distinct = known.rows(0, known.count)
    return StateGraph(distinct, start, after[source, action], action.astype(np.int32), cost, path)


class _Known:
    """The distinct states so far; those that were found last are the next to be followed."""

    def __init__(self, world: World, states: Array) -> None:
        self._world, self._dtype, self._width = world, states.dtype, states.shape[1]
        self._bytes = states.shape[1] * states.itemsize
        self._table: Table = table_for(128, -(-self._bytes // 8))
        self.count = 0

    def rows(self, begin: int, end: int) -> Array:
        """States by their numbers, `[end - begin, W]`."""
        rows = np.ascontiguousarray(self._table.words[begin:end].view(np.uint8)[:, : self._bytes])
        return rows.view(self._dtype).reshape(end - begin, self._width)

    def take_in(self, after: Array, limit: int) -> Ints:
        """The numbers of states `[N, A, W]`, `[N, A]`. New ones are known from now on, up to a limit, or -1."""
        rows = np.zeros((*after.shape[:2], self._table.words.shape[1]), dtype=np.uint64)
        rows.view(np.uint8)[..., : self._bytes] = np.ascontiguousarray(after, dtype=self._dtype).view(np.uint8)
        return self._numbered(copied, (rows, self.count - len(rows)), np.empty(rows.shape[:2], dtype=np.int32), limit)

    def follow(self, frontier: Array, limit: int) -> Ints:
        """Where the actions lead from the frontier `[N, W]`, the states that were found last; `[N, A]` as `take_in`."""
        if not hasattr(self._world, "compiled_step"):
            return self.take_in(np.asarray(self._world.successors(frontier)), limit)
        step, tables = self._world.compiled_step
        after = np.empty((len(frontier), len(self._world.actions)), dtype=np.int32)
        return self._numbered(step, tables, after, limit)

    def _numbered(self, step: Callable[..., None], tables: Any, after: Ints, limit: int) -> Ints:
        limit = min(limit, self.count + after.size)
        if limit >= len(self._table.words):
            self._table = larger(self._table, self.count, 2 * limit)
        states = self._table.words if step is copied else self._table.words.view(self._dtype)
        self.count = specialised(follow, step=step)(tables, self._table, states, after, self.count, limit)
        return after


def step(tables: Any, states: Array, i: int, action: int, out: Array, j: int) -> None:
    """Hook: a world's compiled step, or `copied`."""


@inlined
def copied(tables: tuple[Array, int], states: Array, i: int, action: int, out: Array, j: int) -> None:  # noqa: ARG001
    """A step that is known: the states after each action, `[N, A, W]`, and the number of the first of these N."""
    after, first = tables
    for w in range(after.shape[2]):
        out[j, w] = after[i - first, action, w]


def follow(tables: Any, table: Table, states: Array, after: Ints, count: int, limit: int) -> int:
    """Where the actions lead from the last N of the states; new ones are added while there are fewer than `limit`.

    Args:
        tables: of the world.
        table: of the `count` known states; states: the same, as the world sees them.
        after: `[N, A]` takes the numbers of the states, -1 if unknown.
        count: how many there are.
        limit: how many there may be. The state to be looked up is written behind the last one.

    Gives the new count.
    """
    first = count - len(after)
    for i in range(len(after)):
        for a in range(after.shape[1]):
            step(tables, states, first + i, a, states, count)
            slot = slot_of(table, count)
            if table.slots[slot] < 0 and count < limit:
                table.slots[slot] = count
                count += 1
            after[i, a] = table.slots[slot]
    return count
