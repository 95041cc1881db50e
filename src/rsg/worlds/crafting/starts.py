"""Where episodes start: one fixed map, or a new random one each time."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from rsg.core.errors import RsgError
from rsg.core.random import stream
from rsg.worlds.crafting.maps import KINDS, kind_named, objects_for, sample_map
from rsg.worlds.crafting.text import load_map
from rsg.worlds.crafting.world import CraftingWorld, States

_OPEN = ("field", "switch-field", "full-field", "full-switch-field", "large-field")  # tried in this order for a task


class Starts:
    """A source of first states, all of one world.

    Args:
        map: a kind of map (a name in `KINDS`), a map file, or a pair (world, state); by default an open field that
            holds what the terms need.
        terms: the subgoals that must be possible: what they need is put on a random map.
        inventory: items that the agent holds at the start of a random map.
        size: (height, width) of an open field.

    >>> starts = Starts("river")
    >>> starts.sample(np.random.default_rng(0)).shape
    (44,)
    """

    def __init__(
        self,
        map: str | Path | tuple[CraftingWorld, States] | None = None,  # noqa: A002, the word users know
        terms: Sequence[str] = (),
        inventory: Sequence[str] = (),
        size: tuple[int, int] | None = None,
    ) -> None:
        self.kind: str | None = None
        self._state: States | None = None
        self._needs = objects_for(terms)
        self._inventory, self._size = tuple(inventory), size
        if map is None:
            fitting = [kind for kind in _OPEN if set(self._needs) <= {*KINDS[kind].scattered}]
            self.kind = next(iter(fitting), _OPEN[-1])
        elif isinstance(map, tuple):
            self.world, self._state = map
        elif str(map) in KINDS or not names_a_file(map):
            kind_named(str(map))
            self.kind = str(map)
        else:
            self.world, self._state = load_map(map)
        if self.kind is None and (inventory or size):
            raise RsgError("inventory and size are for random maps; a map file says its own")
        if self.kind is not None:
            self.world = self._draw(stream(0, "starts"))[0]

    def sample(self, rng: np.random.Generator) -> States:
        """A first state `[W]`."""
        return self._draw(rng)[1] if self._state is None else self._state.copy()

    def _draw(self, rng: np.random.Generator) -> tuple[CraftingWorld, States]:
        assert self.kind is not None
        return sample_map(self.kind, rng, self._needs, self._inventory, self._size)


def names_a_file(map: str | Path) -> bool:  # noqa: A002
    """Whether that is the name of a map file, not of a kind of map."""
    return isinstance(map, Path) or Path(map).exists() or "/" in map or "." in map
