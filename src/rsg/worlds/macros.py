"""Actions that are several: named sequences, or controllers that say what to do in a state until it is done."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from rsg.core.arrays import Array, Floats, Ints
from rsg.core.errors import RsgError, unknown
from rsg.worlds.defaults import costs_of, successors_of
from rsg.worlds.protocol import States, World

Sequel = Sequence[int | str] | Array
"""Actions, by name or number."""

Controller = Callable[[Any, Array], Sequel]
"""What to do from a state on, given the world and the state `[W]`, the same each time; nothing: it cannot be done
there. With an attribute `batched` it is given states `[N, W]` and gives a list, actions for each."""

Macros = Mapping[str, Sequel | Controller]
"""The macros of a world, by name."""


class Unrolled(NamedTuple):
    """A way of which every step is an action: actions `[T]`, states `[T + 1, W]`, and how many each step was before."""

    actions: Ints
    states: States
    counts: Ints


class WithMacros:
    """A world in which each macro is one more action, which costs what its actions cost together.

    >>> from rsg.worlds.corridor import Corridor
    >>> class Quick(Corridor):
    ...     macros = {"jump": ["left", "left"], "to-lamp": lambda world, state: ["left"] * state[0]}
    >>> both = WithMacros(Quick())
    >>> after, costs = both.priced(np.array([[5, 0, 0]]))
    >>> after[0, :, 0].tolist(), costs.round(1).tolist()
    ([4, 6, 5, 3, 0], [[0.1, 0.1, 0.1, 0.2, 0.5]])
    """

    def __init__(self, world: World) -> None:
        self.world, self._costs = world, costs_of(world)
        macros: Macros = world.macros  # type: ignore[attr-defined]
        for name in macros:
            if name in world.actions:
                raise RsgError(f"the macro '{name}' has the name of an action; give it another one")
        self._numbers = {name: number for number, name in enumerate(world.actions)}
        self._macros: list[tuple[str, Any]] = [
            (name, one if callable(one) else self._read(name, one)) for name, one in macros.items()
        ]
        self.actions = (*world.actions, *macros)
        self.costs = np.concatenate([self._costs, np.full(len(macros), self._costs.min())])  # the least that each costs
        if hasattr(world, "checked"):
            self.checked = world.checked

    def priced(self, states: States) -> tuple[States, Floats]:
        """The next states `[N, A, W]` for every action and macro, and what each costs there `[N, A]`."""
        ways = [way for macro in self._macros for way in self._ways(macro, states)]
        ends = self._follow(np.tile(states, (len(self._macros), 1)), ways)
        cost = np.array([self._costs[way].sum() if len(way) else np.inf for way in ways])
        shape = (len(self._macros), len(states))
        after = np.concatenate([successors_of(self.world, states), ends.reshape(*shape, -1).swapaxes(0, 1)], axis=1)
        return after, np.concatenate([np.tile(self._costs, (len(states), 1)), cost.reshape(shape).T], axis=1)

    def unroll(self, actions: Ints, states: States) -> Unrolled:
        """A way by actions and macros, `[T]` and `[T + 1, W]`, in actions alone."""
        ways, rows = list[Ints](), [states[0]]
        for action, start, end in zip(actions.tolist(), states, states[1:], strict=False):
            macro = action - len(self.world.actions)
            way = np.array([action]) if macro < 0 else self._ways(self._macros[macro], start[None])[0]
            ways.append(way)
            for one in way:
                rows.append(np.asarray(self.world.step(rows[-1][None], one[None]))[0])
            if not np.array_equal(rows[-1], end):
                name = self.actions[action]
                raise RsgError(f"the macro '{name}' does not lead to the same state each time, so nothing rests on it")
        return Unrolled(np.concatenate(ways), np.stack(rows), np.array([len(way) for way in ways]))

    def _follow(self, states: States, ways: list[Ints]) -> States:
        """Where ways lead, each from its state; all of them are walked at once."""
        ends = np.array(states)
        for step in range(max(map(len, ways), default=0)):
            on = np.array([n for n, way in enumerate(ways) if len(way) > step])
            ends[on] = self.world.step(ends[on], np.array([ways[n][step] for n in on]))
        return ends

    def _ways(self, named: tuple[str, Any], states: States) -> list[Ints]:
        """The actions of a macro in each state."""
        name, macro = named
        if not callable(macro):
            return [macro] * len(states)
        told = macro(self.world, states) if getattr(macro, "batched", False) else [macro(self.world, s) for s in states]
        if len(told) != len(states):
            raise RsgError(f"the macro '{name}' is batched: it must give actions for each of {len(states)} states")
        return [self._read(name, one) if len(one) else np.empty(0, dtype=np.int64) for one in told]

    def _read(self, name: str, sequel: Sequel) -> Ints:
        """Actions as numbers."""
        if isinstance(sequel, str) or not len(sequel):
            raise RsgError(f"the macro '{name}' is a sequence of actions, or a controller, not {sequel!r}")
        for one in sequel:
            if one not in self._numbers if isinstance(one, str) else not 0 <= int(one) < len(self._numbers):
                raise unknown(f"action in the macro '{name}'", str(one), self._numbers)
        return np.array([self._numbers[one] if isinstance(one, str) else int(one) for one in sequel])


def with_macros(world: Any) -> Any:
    """The world, with its macros as further actions if it has any."""
    return WithMacros(world) if getattr(world, "macros", None) else world
