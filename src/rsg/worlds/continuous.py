"""What rsg asks of a continuous world: poses that move in straight lines among obstacles that do not."""

from typing import Any, Protocol, runtime_checkable

from rsg.core.arrays import Bools, Bytes, Floats
from rsg.worlds.protocol import States


@runtime_checkable
class ContinuousWorld(Protocol):
    """A deterministic world in which a pose moves freely, action by action, as far as nothing is in its way.

    A state is a row `[W]` of float64: the pose first, `[D]`, then all that an action does not change. An action `[D]`,
    each number within `reach`, is added to the pose; one that would leave the bounds or hit something changes nothing.
    How far two poses are apart is counted in actions: the largest difference, in units of `reach`.

    A world may offer more, which is used where it is there:

    - `sample(rng, count)` → states `[count, W]`: typical states, for the check and for examples.
    - `compiled_motion` → `(kernel, tables)`: a numba function `kernel(tables, start, end)` of two poses `[D]` that
      says whether the straight motion between them is free, for search loops that leave Python altogether.
    """

    @property
    def low(self) -> Floats:
        """The least value of each number of a pose, `[D]`."""
        ...

    @property
    def high(self) -> Floats:
        """The largest value of each, `[D]`."""
        ...

    @property
    def period(self) -> Floats:
        """After how much each number of a pose comes round again, `[D]`, as an angle does; 0 where it does not."""
        ...

    @property
    def reach(self) -> Floats:
        """How far one action moves each number of a pose at most, `[D]`."""
        ...

    @property
    def cost(self) -> float:
        """What an action costs."""
        ...

    def step(self, states: States, actions: Floats) -> States:
        """The next states `[N, W]` after `actions` `[N, D]`; the given states are left as they are."""
        ...

    def free(self, states: States) -> Bools:
        """Whether each pose is within the bounds and touches no obstacle, `[N]`."""
        ...

    def clear(self, states: States, ends: Floats) -> Bools:
        """Whether the straight motion from each state to the pose `ends` `[N, D]` is free all along, `[N]`.

        An angle goes the shorter way round.
        """
        ...

    def encode(self, states: States) -> Any:
        """What classifiers see: an array, or a named tuple or dict of arrays, each with N rows."""
        ...

    def render(self, state: States) -> Bytes:
        """One state `[W]` as a picture `[height, width, 3]`."""
        ...
