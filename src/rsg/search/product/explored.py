"""The states that a search knows: each is stored once, its successors and its subgoals are asked for once."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rsg.core.compiled import bare, compiled, inlined, specialised
from rsg.search.goals import Goals, asked
from rsg.search.graph.edges import StateGraph
from rsg.search.kernels.table import Table, add, larger, new_table, slot_in
from rsg.worlds import World

Array = NDArray[Any]
Ints = NDArray[np.int64]

BATCH = 256  # states looked ahead where the world has no compiled step, unless the goals say otherwise
FIRST_CAPACITY = 512  # states; grows fourfold when it is full


class Known(NamedTuple):
    """States as kernels want them.

    Attributes:
        pool: `[cap, ·]` distinct states in order of discovery, padded with zeros to whole words.
        table: the same memory as words, and where each state is found.
        after: `[cap, A]` the state after each action; -1 in the first column where that is not known yet.
        value: `[cap, K, 2]` log G and log I of the terms, NaN where not known yet.
        size: `[1]` how many states.
    """

    pool: Array
    table: Table
    after: Array
    value: Array
    size: Array


class Forms(NamedTuple):
    """How kernels learn of states and ask for goals: hooks of `kernels.search`, and the tables of each."""

    learn: Any
    tables: Any
    goal: Any
    goals: Any


def step(tables: Any, states: Array, i: int, action: int, out: Array, j: int) -> None:
    """Hook: the world's compiled step."""


def learn(tables: Any, known: Known, s: int) -> bool:
    """Find out where the actions in state s lead."""
    pool, (words, slots), after, value, size = known  # once: taking an array out of a tuple costs
    n = size[0]
    for a in range(after.shape[1]):
        step(tables, pool, s, a, pool, n)
        slot = slot_in(words, slots, n)
        if slots[slot] < 0:
            slots[slot] = n
            forget(after, value, n)
            n += 1
        after[s, a] = slots[slot]
    size[0] = n
    return True


@inlined
def forget(after: Array, value: Array, n: int) -> None:
    """Nothing is known of state n, which is new."""
    after[n, 0] = -1
    for k in range(value.shape[1]):
        value[n, k, 0] = np.nan


@bare
def ask(tables: Any, known: Known, s: int) -> bool:  # noqa: ARG001
    """In place of `learn` where the world has no compiled step: the caller must find out."""
    return False


@bare
def unknown(goals: Any, states: Array, i: int, k: int) -> tuple[float, float]:  # noqa: ARG001
    """In place of a compiled goal where values are always computed beforehand."""
    return np.nan, np.nan


@compiled
def add_rows(known: Known, rows: Array) -> Ints:
    """Take in states `[N, B / 8]` that were computed elsewhere; says which numbers they have `[N]`."""
    words, n = known.table.words, known.size[0]
    found = np.empty(len(rows), dtype=np.int64)
    for i in range(len(rows)):
        for w in range(rows.shape[1]):
            words[n, w] = rows[i, w]
        found[i] = add(known.table, n)
        if found[i] == n:
            forget(known.after, known.value, n)
            n += 1
    known.size[0] = n
    return found


class Explored:
    """What is known of a world, from one state on.

    Args:
        world: with only a batched `successors` it is asked for whole frontiers; a compiled step is used if there.
        state: `[W]` where the search starts; it gets number 0.
        goals: the classifiers.
        terms: how many.

    Attributes:
        known: the arrays for kernels; new ones after `grow`, `provide` and `add`.
        costs: `[A]` of the actions.
        forms: the hooks for kernels.
    """

    def __init__(self, world: World, state: NDArray[Any], goals: Goals, terms: int) -> None:
        if hasattr(world, "checked"):  # compiled steps believe what they are given
            state = world.checked(state[None])[0]
        self._world, self._goals = world, goals
        self._dtype, self._width = state.dtype, state.size
        self._bytes = state.dtype.itemsize * state.size
        self._batch = getattr(goals, "batch", BATCH)
        self._compiled = hasattr(world, "compiled_step") and hasattr(goals, "compiled")
        self.costs = np.asarray(world.costs, dtype=np.float64)
        self.forms = self._forms()
        room, words = FIRST_CAPACITY, -(-self._bytes // 8)
        after = np.empty((room, len(world.actions)), dtype=np.int32)
        self._keep(new_table(room, words), after, np.empty((room, terms, 2)), np.zeros(1, dtype=np.int64))
        self.add(np.ascontiguousarray(state)[None])

    def _forms(self) -> Forms:
        if not self._compiled:
            return Forms(ask, (), unknown, ())
        step, tables = self._world.compiled_step  # type: ignore[attr-defined]
        goal, goal_tables = self._goals.compiled  # type: ignore[attr-defined]
        return Forms(specialised(learn, step=step), tables, goal, goal_tables)

    def _keep(self, table: Table, after: Array, value: Array, count: Ints) -> None:
        pool = table.words.view(self._dtype if self._compiled else np.uint8)
        self.known = Known(pool, table, after, value, count)

    @property
    def count(self) -> int:
        """How many states."""
        return int(self.known.size[0])

    @property
    def full(self) -> bool:
        """Whether there may be no room for what the next expansion finds."""
        return self.count + len(self.costs) >= len(self.known.pool)

    def grow(self) -> None:
        """Four times the room, everything else as it was."""
        old, count = self.known, self.count
        room = 4 * len(old.pool)
        self._keep(larger(old.table, count, room), grown(old.after, room), grown(old.value, room), old.size)

    def provide(self, wanted: int, soon: list[Ints]) -> None:
        """Ask the world for the successors of a state that the search needs, and of others that it may need next.

        Args:
            wanted: the number of the state.
            soon: numbers of states in the order of each heap, the first ones of which may be needed next.
        """
        after = self.known.after
        next_ones = np.concatenate([states[: self._batch] for states in soon])
        oldest = np.flatnonzero(after[: self.count, 0] < 0)[: self._batch]
        numbers = np.unique(np.concatenate([[wanted], oldest, next_ones[after[next_ones, 0] < 0]]))
        states = np.ascontiguousarray(self._world.successors(self.rows(numbers)))
        found = self.add(states.reshape(len(numbers) * len(self.costs), -1))
        self.known.after[numbers] = found.reshape(len(numbers), len(self.costs))

    def add(self, states: NDArray[Any]) -> Ints:
        """Take in states `[N, W]`; says which numbers they have."""
        count = self.count
        while count + len(states) >= len(self.known.pool):
            self.grow()
        rows = np.zeros((len(states), self.known.table.words.shape[1]), dtype=np.uint64)
        rows.view(np.uint8)[:, : self._bytes] = states.view(np.uint8).reshape(len(states), -1)
        found = add_rows(self.known, rows)
        if not self._compiled and self.count > count:
            new = self.rows(np.arange(count, self.count))
            self.known.value[count : self.count] = _values(self._goals, new, self.known.value.shape[1])
        return found

    def rows(self, numbers: Ints) -> NDArray[Any]:
        """States by their numbers, as the world knows them."""
        rows = np.ascontiguousarray(self.known.table.words[numbers].view(np.uint8)[:, : self._bytes])
        return rows.view(self._dtype).reshape(len(numbers), self._width)


class Mapped:
    """The same for a graph, of which everything is known beforehand: the search starts in its first state.

    Args:
        graph: its edges lead both ways, at the same cost.
        goals: the classifiers.
        terms: how many.
    """

    def __init__(self, graph: StateGraph, goals: Goals, terms: int) -> None:
        count, degree = len(graph.states), max(1, int(np.diff(graph.edge_start).max(initial=0)))
        # Where no way leads from the start, no action has a price that can be paid.
        self.costs = np.full(degree, graph.edge_cost[0] if graph.edge_start[1] > 0 else np.inf)
        room = count + degree + 1  # a search wants room for what an expansion may find
        self.known = Known(
            np.empty((room, 0), dtype=np.uint8),
            new_table(0, 1),
            grown(_ends(graph, degree), room),
            grown(_values(goals, graph.states, terms), room),
            np.array([count]),
        )
        self.forms = Forms(ask, (), unknown, ())
        self._states = graph.states

    def rows(self, numbers: Ints) -> NDArray[Any]:
        """States by their numbers."""
        return self._states[numbers]


def _ends(graph: StateGraph, width: int) -> NDArray[np.int32]:
    """Where edges lead, `[S, width]`; a state with fewer has its last one again, one without leads to itself."""
    ends = np.repeat(np.arange(len(graph.states), dtype=np.int32)[:, None], width, axis=1)
    degree = np.diff(graph.edge_start)
    some = np.flatnonzero(degree)
    columns = np.minimum(np.arange(width), degree[some, None] - 1)
    ends[some] = graph.edge_end[graph.edge_start[some, None] + columns]
    return ends


def _values(goals: Goals, states: NDArray[Any], terms: int) -> Array:
    """log G and log I of states, as `[N, terms, 2]`."""
    return np.stack(asked(goals, states, terms), axis=-1)


def grown(array: Array, room: int, axis: int = 0) -> Array:
    """The same array with room for so many along an axis, if that is more than it has."""
    if room <= array.shape[axis]:
        return array
    more = np.empty((*array.shape[:axis], room, *array.shape[axis + 1 :]), dtype=array.dtype)
    whole = np.dtype((np.void, array.itemsize))  # copied as they are: record by record, not field by field
    more.view(whole)[tuple(map(slice, array.shape))] = array.view(whole)
    return more
