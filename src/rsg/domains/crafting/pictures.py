"""Crafting World as pixels: for people, and as what an agent with a camera would see."""

from functools import lru_cache
from typing import Any

import numpy as np

from rsg.core.arrays import Array, Bools, Bytes
from rsg.core.errors import RsgError
from rsg.domains.crafting.kernels import HEAD
from rsg.domains.crafting.rules import Rulebook
from rsg.domains.crafting.sprites import FLOOR, SPRITES, sprite

MAX_CELL = 256
STRIP = (202, 196, 178)  # the ground of the inventory: darker than the floor


Map = Any
"""A `CraftingWorld`, which draws itself with this file."""


def images(world: Map, states: Bytes, cell: int = 32) -> Bytes:
    """The states as RGB pictures `[N, rows·cell, width·cell, 3]`: the map, then the inventory strip below it."""
    states = world.checked(states)
    n = len(states)
    tiles = atlas(world.rules, cell, np.unique(states[:, HEAD:]))
    here = np.arange(n)
    look = np.zeros((n, world.height, world.width), dtype=np.int64)  # 0: plain, 1: with the agent on it
    look[here, states[:, 0], states[:, 1]] = 1
    grid = tiles[look, world.cells(states)]

    rows = strip_rows(world)
    held = np.zeros((n, rows * world.width), dtype=np.int64)
    held[:, : world.capacity] = states[:, HEAD : HEAD + world.capacity]
    strip = tiles[2, held.reshape(n, rows, world.width)]
    both = np.concatenate([grid, strip], axis=1)
    return both.transpose(0, 1, 3, 2, 4, 5).reshape(n, *image_shape(world, cell))


def image_shape(world: Map, cell: int) -> tuple[int, int, int]:
    """The shape of one picture."""
    return ((world.height + strip_rows(world)) * cell, world.width * cell, 3)


def strip_rows(world: Map) -> int:
    """How many rows of cells the inventory takes."""
    return int(-(-world.capacity // world.width))


def atlas(rules: Rulebook, cell: int, codes: Array | None = None) -> Bytes:
    """Tiles `[look, code, cell, cell, 3]`: on the floor, under the agent, in the inventory strip.

    Only those of the given codes are sure to be drawn; by default all are.
    """
    if not 4 <= cell <= MAX_CELL:
        raise RsgError(f"a cell is drawn with 4 to {MAX_CELL} pixels, not {cell}")
    tiles, drawn = _tiles(rules, cell)
    for code in range(len(rules.names)) if codes is None else [0, *codes.tolist()]:
        if not drawn[code]:
            for look, ground in enumerate((FLOOR, FLOOR, STRIP)):
                tile = np.full((cell, cell, 3), ground, dtype=np.uint8)
                if code:
                    tile = _over(tile, _picture(rules.names[code], cell))
                tiles[look, code] = _over(tile, sprite("agent", cell)) if look == 1 else tile
            drawn[code] = True
    shown = tiles.view()
    shown.setflags(write=False)
    return shown


@lru_cache(maxsize=8)
def _tiles(rules: Rulebook, cell: int) -> tuple[Bytes, Bools]:
    """Room for all tiles of a size, and which of them have been drawn."""
    shape = (3, len(rules.names), cell, cell, 3)
    return np.empty(shape, dtype=np.uint8), np.zeros(len(rules.names), dtype=bool)


def sheet(rules: Rulebook, cell: int = 48, columns: int = 10) -> Bytes:
    """All sprites side by side, in the order of their codes."""
    tiles = atlas(rules, cell)[0, 1:]
    rows = -(-len(tiles) // columns)
    page = np.empty((rows * columns, cell, cell, 3), dtype=np.uint8)
    page[:] = FLOOR
    page[: len(tiles)] = tiles
    return page.reshape(rows, columns, cell, cell, 3).transpose(0, 2, 1, 3, 4).reshape(rows * cell, columns * cell, 3)


def _picture(name: str, cell: int) -> Bytes:
    """The sprite of a name; things of another rulebook that nobody has drawn get a pattern of their own."""
    if name in SPRITES:
        return sprite(name, cell)
    from rsg.core.random import stream

    rng = stream(0, "pattern", name)
    blocks = rng.integers(40, 220, size=(4, 4, 3))
    index = np.arange(cell) * 4 // cell
    picture = np.full((cell, cell, 4), 255, dtype=np.uint8)
    picture[..., :3] = blocks[index][:, index]
    return picture


def _over(ground: Bytes, picture: Bytes) -> Bytes:
    """A picture with its alpha laid over the ground."""
    alpha = picture[..., 3:].astype(np.float64) / 255
    mixed: Bytes = np.rint(picture[..., :3] * alpha + ground * (1 - alpha)).astype(np.uint8)
    return mixed
