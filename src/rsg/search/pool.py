"""The distinct states of a search: each is stored once, its successors and its subgoals are asked for once."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rsg.core.compiled import specialised
from rsg.core.errors import RsgError
from rsg.search import core
from rsg.search.goals import Goals
from rsg.worlds import World

_BATCH = 256  # states looked ahead where the world has no compiled step, unless the goals say otherwise
_FIRST_CAPACITY = 512  # states; grows fourfold when it is full


class StatePool:
    """What searches have in common. A subclass has `arrays` that begin with those of `core.Arrays` up to `items`.

    Args:
        world: with only a batched `successors` it is asked for whole frontiers; a compiled step is used if there.
        state: `[W]` where the search starts.
        goals: the classifiers.
        nodes: labels per state: item l in a heap is state l // nodes.
        compiled: whether compiled forms may be used.
    """

    arrays: Any

    def __init__(self, world: World, state: NDArray[Any], goals: Goals, nodes: int, compiled: bool = True) -> None:
        if hasattr(world, "checked"):  # compiled steps believe what they are given
            state = world.checked(state[None])[0]
        self._world, self._goals, self._nodes = world, goals, nodes
        self._dtype, self._width = state.dtype, state.size
        self._bytes = state.dtype.itemsize * state.size
        self._actions = len(world.actions)
        self._batch = getattr(goals, "batch", _BATCH)
        self._compiled = compiled and hasattr(world, "compiled_step") and hasattr(goals, "compiled")

    def _forms(self) -> tuple[Any, Any, Any, Any]:
        """How states are learned of and goals are asked: two kernels, and the tables of each."""
        if not self._compiled:
            return core.ask, core.unknown, (), ()
        step, tables = self._world.compiled_step  # type: ignore[attr-defined]
        goal, goal_tables = self._goals.compiled  # type: ignore[attr-defined]
        return specialised(core.learn, inline=True, step=step), goal, tuple(tables), tuple(goal_tables)

    def _begin(self, state: NDArray[Any]) -> None:
        """The first state."""
        self._allocate(_FIRST_CAPACITY)
        self._add(np.ascontiguousarray(state)[None])

    def _allocate(self, capacity: int) -> None:
        """Set `arrays` to new ones with room for so many states."""
        raise NotImplementedError

    def _room_for_states(self, capacity: int, terms: int) -> tuple[Any, Any, Any, Any, Any]:
        """The first five arrays: pool, words, slots, after and value."""
        words = np.zeros((capacity, -(-self._bytes // 8)), dtype=np.uint64)
        return (
            words.view(self._dtype if self._compiled else np.uint8),
            words,
            np.full(1 << int(2 * capacity - 1).bit_length(), -1, dtype=np.int32),
            np.empty((capacity, self._actions), dtype=np.int32),
            np.empty((capacity, terms, 2)),
        )

    def _grow(self) -> None:
        """Four times the room, everything else as it was."""
        old = self.arrays
        count = int(old.counters[core.STATES])
        self._allocate(4 * len(old.pool))
        new = self.arrays
        for name in ("words", "after", "value", "cost", "link"):
            getattr(new, name)[:count] = getattr(old, name)[:count]
        filled = old.sizes.max()
        new.keys[:, :filled], new.items[:, :filled] = old.keys[:, :filled], old.items[:, :filled]
        new.sizes[:] = old.sizes
        core.rehash(new.words, new.slots, count)

    def _provide(self, wanted: int) -> None:
        """Ask the world for the successors of a state that the search needs, and of others that it may need next."""
        arrays, count = self.arrays, int(self.arrays.counters[core.STATES])
        firsts = [arrays.items[heap, : min(size, self._batch)] for heap, size in enumerate(arrays.sizes)]
        soon = (np.concatenate(firsts) & 0xFFFFFFFF) // self._nodes
        oldest = np.flatnonzero(arrays.after[:count, 0] < 0)[: self._batch]
        numbers = np.unique(np.concatenate([[wanted], oldest, soon[arrays.after[soon, 0] < 0]]))
        after = np.ascontiguousarray(self._world.successors(self._rows(numbers)))
        found = self._add(after.reshape(len(numbers) * self._actions, -1))
        self.arrays.after[numbers] = found.reshape(len(numbers), self._actions)

    def _add(self, states: NDArray[Any]) -> NDArray[np.int64]:
        """Take in states `[N, W]`; says which numbers they have."""
        count = int(self.arrays.counters[core.STATES])
        while count + len(states) >= len(self.arrays.pool):
            self._grow()
        rows = np.zeros((len(states), self.arrays.words.shape[1]), dtype=np.uint64)
        rows.view(np.uint8)[:, : self._bytes] = states.view(np.uint8).reshape(len(states), -1)
        found = np.empty(len(states), dtype=np.int64)
        arrays = self.arrays
        core.add_rows(arrays.words, arrays.slots, arrays.after, arrays.value, arrays.cost, arrays.counters, rows, found)
        end = int(arrays.counters[core.STATES])
        if not self._compiled and end > count:
            self._ask(self._rows(np.arange(count, end)), count, end)
        return found

    def _ask(self, states: NDArray[Any], start: int, end: int) -> None:
        """Ask the classifiers about new states, which have the numbers from `start` to `end`."""
        log_g, log_i = self._goals(states)
        shape = (len(states), self.arrays.value.shape[1])
        if np.shape(log_g) != shape or np.shape(log_i) != shape or np.isnan(log_g).any() or np.isnan(log_i).any():
            raise RsgError(f"goals must give log G and log I of shape {shape} without NaN, got {np.shape(log_g)}")
        self.arrays.value[start:end] = np.stack([log_g, log_i], axis=-1)

    def _rows(self, numbers: NDArray[np.int64]) -> NDArray[Any]:
        """States by their numbers, as the world knows them."""
        rows = np.ascontiguousarray(self.arrays.words[numbers].view(np.uint8)[:, : self._bytes])
        return rows.view(self._dtype).reshape(len(numbers), self._width)
