"""How often searches ask a world for the successors of a state: costs that are the same thing for every search."""

from copy import copy
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rsg.core.compiled import inlined, specialised

_FIRST, _PRIME = np.uint64(14695981039346656037), np.uint64(1099511628211)  # of the hash FNV-1a


class Count:
    """The states whose successors were asked for.

    A search that knows where the actions of a state lead does not ask again, so `stepped` are the different states of
    each search, summed over searches; `different` are those of all searches together. Where a step or the classifiers
    are not compiled, a search asks ahead for many states at once, and those that it never needs count too.

    Args:
        room: how many states are asked for at most.
    """

    def __init__(self, room: int) -> None:
        self.size = np.zeros(1, dtype=np.int64)
        self.seen = np.empty(room, dtype=np.uint64)

    def add(self, states: NDArray[Any]) -> None:
        """States `[N, W]` of whole numbers were asked for, outside of kernels."""
        found = np.full(len(states), _FIRST)
        for column in states.T.astype(np.uint64):
            found = (found ^ column) * _PRIME
        self.seen = np.concatenate([self.seen[: self.stepped], found])
        self.size[0] += len(states)

    @property
    def stepped(self) -> int:
        """How many in all."""
        return int(self.size[0])

    @property
    def different(self) -> int:
        """How many different ones."""
        assert self.stepped <= len(self.seen)
        return len(np.unique(self.seen[: self.stepped]))


def step(tables: Any, states: NDArray[Any], i: int, action: int, out: NDArray[Any], j: int) -> None:
    """Hook: the compiled step of the world itself."""


def counted_step(tables: Any, states: NDArray[Any], i: int, action: int, out: NDArray[Any], j: int) -> None:
    """The same, counted; a search tries all actions of a state at once, so the first of them stands for all."""
    own, size, seen = tables
    if action == 0:
        if size[0] < len(seen):
            found = _FIRST
            for w in range(states.shape[1]):
                found = (found ^ np.uint64(states[i, w])) * _PRIME
            seen[size[0]] = found
        size[0] += 1
    step(own, states, i, action, out, j)


def counting(world: Any, room: int) -> tuple[Any, Count]:
    """The same world, whose states are rows of whole numbers, and the count of what it is asked from now on."""
    count, twin, kind = Count(room), copy(world), world.__class__
    object.__setattr__(twin, "count", count)  # also if the world is frozen
    object.__setattr__(twin, "__class__", _kind(kind))
    return twin, count


@cache
def _kind(world: Any) -> Any:
    """The class of worlds that count; also one of the given class, for who looks at that."""

    class Counting(world):  # type: ignore[misc]
        @property
        def compiled_step(self) -> Any:
            kernel, tables = super().compiled_step
            counted = specialised(counted_step, inlined, step=kernel)
            return counted, (tables, self.count.size, self.count.seen)

        def successors(self, states: NDArray[Any]) -> Any:
            self.count.add(states)
            return super().successors(states)

    return Counting
