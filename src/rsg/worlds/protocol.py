"""What rsg asks of a world: a deterministic model that can be stepped in batches. Nothing else.

Actions are few and have names, or a pose moves in straight lines among obstacles that do not.
"""

from collections.abc import Mapping, Sequence
from typing import Protocol, runtime_checkable

from typing_extensions import TypeIs

from rsg.core.arrays import Array, Bools, Floats

States = Array
"""Rows `[N, W]` of one fixed width and dtype; two states are the same if and only if their bytes are."""

Seen = Array | tuple[Array, ...] | Mapping[str, Array]
"""What classifiers see of states: an array, or a named tuple or dict of arrays, each with N rows."""


class Model(Protocol):
    """What every world has.

    It may offer `sample(rng, count)` → states `[count, W]`, typical ones, for starts and examples, and
    `render(state)` → one state `[W]` as a picture `[height, width, 3]` of uint8.
    """

    def step(self, states: States, actions: Array, /) -> States:
        """The next states `[N, W]` after `actions` `[N]` or `[N, D]`; the given states are left as they are."""
        ...

    def encode(self, states: States, /) -> Seen:
        """What classifiers see: an array, or a named tuple or dict of arrays, each with N rows."""
        ...


@runtime_checkable
class World(Model, Protocol):
    """A deterministic world. `rsg.worlds.check(world, states)` says what is wrong with a class that means to be one.

    It may offer more, where that is better than what follows:

    - `costs`: what each action costs, `[A]`, positive; else each costs 0.1, as in the paper.
    - `successors(states)`: the next states `[N, A, W]` for every action; else `step` is asked for each.
    - `macros`: sequences of actions by name, `{"jump": ["up", "right"]}`, or controllers, functions of the world and a
      state `[W]` that give actions; a search tries each beside the actions, and a plan has actions alone.
    - `sights(states)`: what there is where one stands, whole numbers `[N]`, 0: nothing, else one for each kind of
      thing. On large maps a search then does not walk through all of them again for each part of a task.
    - `compiled_step` → `(kernel, tables)`: a numba function `kernel(tables, states, i, action, out, j)` that writes the
      state after `states[i]` into `out[j]`, for search loops that leave Python altogether.

    >>> from rsg.worlds.corridor import Corridor
    >>> isinstance(Corridor(), World)
    True
    """

    @property
    def actions(self) -> Sequence[str]:
        """The names of the actions; an action is an index into them."""
        ...


@runtime_checkable
class ContinuousWorld(Model, Protocol):
    """A deterministic world in which a pose moves freely, action by action, as far as nothing is in its way.

    A state is a row `[W]` of float64: the pose first, `[D]`, then all that an action does not change. An action `[D]`,
    each number within `reach`, is added to the pose; one that would leave the bounds or hit something changes nothing.
    How far two poses are apart is counted in actions: the largest difference, in units of `reach`.

    It may offer `compiled_motion` → `(kernel, tables)`: a numba function `kernel(tables, start, end)` of two poses
    `[D]` that says whether the straight motion between them is free, for search loops that leave Python altogether.

    >>> from rsg.worlds.corridor import Corridor
    >>> isinstance(Corridor(), ContinuousWorld)
    False
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

    def free(self, states: States, /) -> Bools:
        """Whether each pose is within the bounds and touches no obstacle, `[N]`."""
        ...

    def clear(self, states: States, ends: Floats, /) -> Bools:
        """Whether the straight motion from each state to the pose `ends` `[N, D]` is free all along, `[N]`.

        An angle goes the shorter way round.
        """
        ...


EitherWorld = World | ContinuousWorld
"""A world of either kind."""


def is_continuous(world: object) -> TypeIs[ContinuousWorld]:
    """Whether it is a `ContinuousWorld` and no `World`: a pose has a reach, actions have names."""
    return hasattr(world, "reach") and not hasattr(world, "actions")
