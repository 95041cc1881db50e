"""What rsg asks of a world: a deterministic model that can be stepped in batches. Nothing else."""

from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

from rsg.core.arrays import Array, Bytes, Floats

States = Array
"""Rows `[N, W]` of one fixed width and dtype; two states are the same if and only if their bytes are."""


@runtime_checkable
class World(Protocol):
    """A deterministic world. `rsg.worlds.check(world)` says what a class that means to be one still lacks.

    A world may offer more, which is used where it is there:

    - `sample(rng, count)` → states `[count, W]`: typical states, for the check and for examples.
    - `compiled_step` → `(kernel, tables)`: a numba function `kernel(tables, states, i, action, out, j)` that writes
      the state after `states[i]` into `out[j]`, for search loops that leave Python altogether.
    """

    @property
    def actions(self) -> Sequence[str]:
        """The names of the actions; an action is an index into them."""
        ...

    @property
    def costs(self) -> Floats:
        """What each action costs, `[A]`, positive."""
        ...

    def step(self, states: States, actions: Array) -> States:
        """The next states `[N, W]` after `actions` `[N]`; the given states are left as they are."""
        ...

    def successors(self, states: States) -> States:
        """The next states `[N, A, W]` for every action."""
        ...

    def encode(self, states: States) -> Any:
        """What classifiers see: an array, or a named tuple or dict of arrays, each with N rows."""
        ...

    def render(self, state: States) -> Bytes:
        """One state `[W]` as a picture `[height, width, 3]`."""
        ...
