"""The options that Crafting World has as a Gymnasium environment."""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from gymnasium import spaces

from rsg.domains.crafting.domain import Crafting
from rsg.domains.crafting.pictures import image_shape, images
from rsg.domains.crafting.starts import Start, names_a_file, start_on
from rsg.domains.crafting.text import load_map
from rsg.domains.crafting.world import CraftingWorld


class Maps(Crafting):
    """Crafting World on maps of one's own.

    map: a kind of map, a map file, or a pair (world, state); by default a field that holds what the task needs. cell:
    pixels per cell of an image observation. inventory, size: see `rsg.domains.crafting.starts.start_on`.
    """

    def __init__(
        self,
        map: str | Path | Start | None = None,  # noqa: A002, the word users know
        cell: int = 16,
        inventory: Sequence[str] = (),
        size: tuple[int, int] | None = None,
    ) -> None:
        super().__init__()
        given = load_map(map) if isinstance(map, str | Path) and names_a_file(map) else map
        self._cell, self._start = cell, partial(start_on, given, inventory=inventory, size=size)

    def start(self, terms: Sequence[str], rng: np.random.Generator, goal: bool = False) -> Start:
        """On that map."""
        del goal
        return self._start(terms, rng)

    def observations(self, world: CraftingWorld) -> Mapping[str, Any]:
        """What classifiers see (`rsg.domains.crafting.Sets`), and pictures."""
        types = len(world.rules.things)
        place = [max(world.height - 1, 1), max(world.width - 1, 1)]  # Gymnasium frowns on a range of one value
        high = np.array([types, *place, 1, 1], dtype=np.uint8)
        size = np.array([world.height, world.width, *place, world.capacity], np.float32)
        sets: dict[str, spaces.Space[Any]] = {
            "overall": spaces.Box(np.zeros(5, np.float32), size, dtype=np.float32),
            "inventory": spaces.Box(0, types, (world.capacity,), np.uint8),
            "objects": spaces.Box(0, np.tile(high, (world.objects, 1)), dtype=np.uint8),
        }
        image = spaces.Box(0, 255, image_shape(world, self._cell), np.uint8)
        return {
            "sets": (world.encode, spaces.Dict(sets)),
            "image": (partial(images, world, cell=self._cell), image),
        }
