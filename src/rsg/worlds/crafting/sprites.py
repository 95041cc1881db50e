"""Little pictures of the object types of Crafting World, drawn by code.

`SPRITES` says what each type looks like, as a stack of simple shapes, and `sprite` turns one stack into pixels of any
size. The same pictures serve people (cells of 32 to 64 pixels) and image observations (8 to 16 pixels), so types differ
in colour and in silhouette and not only in fine detail.
"""

from dataclasses import dataclass, replace
from functools import cache
from typing import Literal, TypeAlias

import numpy as np

from rsg.core.arrays import Bools, Bytes, Floats

RGB: TypeAlias = tuple[int, int, int]

FLOOR: RGB = (238, 234, 222)

INK: RGB = (44, 38, 48)
WHITE: RGB = (255, 255, 255)
CREAM: RGB = (250, 240, 214)
SILVER: RGB = (206, 224, 240)
MIST: RGB = (160, 166, 178)
STONE: RGB = (124, 124, 134)
SLATE: RGB = (84, 86, 98)
COAL: RGB = (34, 34, 40)
GOLD: RGB = (252, 202, 36)
BARK: RGB = (104, 66, 36)
WOOD: RGB = (156, 102, 54)
PLANK: RGB = (222, 170, 104)
SOIL: RGB = (88, 58, 40)
POTATO: RGB = (214, 168, 84)
BAKED: RGB = (148, 84, 30)
BEET: RGB = (158, 22, 84)
LEAF: RGB = (58, 150, 58)
FOREST: RGB = (30, 104, 52)
CANE: RGB = (146, 206, 84)
RED: RGB = (214, 48, 44)
ORANGE: RGB = (250, 130, 30)
SKY: RGB = (150, 206, 246)
WATER: RGB = (48, 122, 214)
TEAL: RGB = (28, 150, 150)
ROSE: RGB = (244, 156, 186)
VIOLET: RGB = (132, 48, 226)


@dataclass(frozen=True)
class Shape:
    """One coloured primitive in unit coordinates: x to the right and y down, both in [0, 1].

    `points` are the corners of a `poly`, two opposite corners of the box around a `disc` (an ellipse), or the stops of
    a `line`, which is `width` thick and has round ends.
    """

    kind: Literal["poly", "disc", "line"]
    colour: RGB
    points: tuple[tuple[float, float], ...]
    width: float = 0.0


Shapes: TypeAlias = tuple[Shape, ...]

# The pictures are written on squared paper of this many units a side, which keeps their numbers short.
_PAPER = 32


def _points(*xy: float) -> tuple[tuple[float, float], ...]:
    return tuple((x / _PAPER, y / _PAPER) for x, y in zip(xy[::2], xy[1::2], strict=True))


def _poly(colour: RGB, *xy: float) -> Shape:
    return Shape("poly", colour, _points(*xy))


def _rect(colour: RGB, left: float, top: float, right: float, bottom: float) -> Shape:
    return _poly(colour, left, top, right, top, right, bottom, left, bottom)


def _disc(colour: RGB, x: float, y: float, rx: float, ry: float | None = None) -> Shape:
    ry = rx if ry is None else ry
    return Shape("disc", colour, _points(x - rx, y - ry, x + rx, y + ry))


def _line(colour: RGB, width: float, *xy: float) -> Shape:
    return Shape("line", colour, _points(*xy), width / _PAPER)


def _station(cloth: RGB, emblem: Shapes) -> Shapes:
    """A bench with a coloured cloth; a small copy of the emblem stands on it and says what is made here."""
    legs = (_rect(BARK, 4, 22, 8, 31), _rect(BARK, 24, 22, 28, 31))
    small = (
        replace(shape, points=tuple((0.6 * x + 0.2, 0.6 * y) for x, y in shape.points), width=0.6 * shape.width)
        for shape in emblem
    )
    return (*legs, _rect(cloth, 1, 19, 31, 25), _rect(WOOD, 1, 18, 31, 20), *small)


def _vein(ore: RGB) -> Shapes:
    """A rock face that fills most of the cell, with large specks of ore."""
    rock = _poly(STONE, 1, 31, 2, 16, 7, 9, 11, 3, 20, 1, 25, 7, 30, 13, 31, 31)
    shade = _poly(SLATE, 1, 31, 2, 25, 9, 28, 17, 25, 24, 28, 31, 24, 31, 31)
    specks = ((8, 17), (16, 8), (23, 14), (15, 21), (25, 22))
    return (rock, shade, *(_poly(ore, x - 4, y, x, y - 4, x + 4, y - 1, x + 3, y + 3, x - 2, y + 4) for x, y in specks))


def _ore(ore: RGB) -> Shapes:
    """A single dark chunk, small enough to carry, with round grains of ore."""
    chunk = _poly(SLATE, 5, 24, 4, 16, 9, 8, 19, 6, 26, 10, 29, 19, 24, 27, 11, 28)
    return (chunk, _disc(ore, 11, 15, 4), _disc(ore, 21, 13, 4), _disc(ore, 18, 22, 4))


def _ingot(face: RGB, end: RGB) -> Shapes:
    """A cast bar, seen from the front and a little from above."""
    bar = _poly(face, 3, 22, 8, 12, 23, 10, 28, 18, 29, 21, 6, 25)
    return (bar, _poly(end, 3, 22, 6, 25, 29, 21, 28, 18, 5, 21), _line(WHITE, 1.5, 9, 14.5, 21, 13))


def _switch(lamp: RGB, tip: float) -> Shapes:
    lever = (_line(BARK, 4, 16, 22, tip, 7), _disc(lamp, tip, 7, 4.5))
    return (_rect(MIST, 4, 21, 28, 29), *lever, _disc(lamp, 16, 25, 3))


# One paragraph per picture, bottom shape first: easier to take in than one shape per line.
# fmt: off
_HAMMER: Shapes = (_line(WOOD, 4, 18, 10, 8, 28), _poly(SLATE, 25, 19, 30, 12, 11, 1, 6, 8))
_SWORD: Shapes = (
    _poly(SILVER, 29, 3, 28, 9, 14, 22, 10, 18, 23, 4), _line(MIST, 1.4, 13, 19, 26, 6),
    _line(BARK, 3.6, 9, 23, 4, 28), _line(GOLD, 3.4, 7, 16, 16, 25))
_SHEARS: Shapes = (
    _poly(SILVER, 8, 1, 14, 14, 20, 21, 16, 23, 10, 16), _poly(MIST, 24, 1, 18, 14, 12, 21, 16, 23, 22, 16),
    *(_disc(colour, x, 25, r) for colour, r in ((RED, 5.5), (FLOOR, 2.4)) for x in (9, 23)), _disc(INK, 16, 17.5, 1.5))
_BED: Shapes = (
    _rect(BARK, 1, 8, 4, 29), _rect(BARK, 28, 15, 31, 29), _rect(WOOD, 2, 22, 30, 26),
    _poly(RED, 11, 15, 26, 15, 29, 18, 29, 23, 11, 23), _rect(WHITE, 4, 16, 13, 22))
_BOAT: Shapes = (
    _line(BARK, 2, 16, 3, 16, 22), _poly(WHITE, 17.5, 3, 28, 18, 17.5, 18), _poly(SKY, 14.5, 6, 14.5, 18, 6, 18),
    _poly(WOOD, 1, 20, 31, 20, 25, 29, 7, 29), _line(PLANK, 2, 3, 21.5, 29, 21.5))
_BOWL: Shapes = (
    _poly(WOOD, 3, 15, 29, 15, 27, 21, 23, 26, 20, 28, 12, 28, 9, 26, 5, 21),
    _disc(PLANK, 16, 15, 13, 4.5), _disc(BARK, 16, 15, 10.5, 3))
_STEAM: Shapes = tuple(_line(WHITE, 1.6, x, 9, x - 1.5, 7, x + 1.5, 4.5, x, 2) for x in (9, 16, 23))

SPRITES: dict[str, Shapes] = {
    # A white halo keeps the agent apart from whatever it stands on; the right and the bottom of the cell stay visible.
    "agent": (
        _line(WHITE, 11, 8, 6, 8, 13), _line(WHITE, 6, 6, 18, 10, 18), _line(VIOLET, 6, 6.5, 12.5, 9.5, 12.5),
        _line(VIOLET, 2.6, 6.4, 14, 6.2, 19), _line(VIOLET, 2.6, 9.6, 14, 9.8, 19),
        _disc(VIOLET, 8, 5.5, 3.8), _disc(WHITE, 6.6, 5.3, 1), _disc(WHITE, 9.6, 5.3, 1)),
    # Structures
    "wall": (
        _rect(SLATE, 0, 0, 32, 32), *(_rect(STONE, x, y, x + 14, y + 6) for y in (1, 17) for x in (1, 17)),
        *(_rect(STONE, left, y, right, y + 6) for y in (9, 25) for left, right in ((0, 7), (9, 23), (25, 32)))),
    "water": (
        _rect(WATER, 0, 0, 32, 32),
        *(_line(SKY, 2.2, 3, y, 7, y - 3, 12, y, 17, y, 21, y - 3, 26, y, 29, y - 1) for y in (7, 18, 29))),
    "door": (
        _rect(BARK, 4, 1, 28, 32), _rect(WOOD, 7, 4, 25, 32),
        *(_rect(BARK, x, y, x + 6, y + 9) for x in (9, 17) for y in (7, 20)), _disc(GOLD, 23, 18, 2.2)),
    "door-open": (
        _rect(BARK, 4, 1, 28, 32), _rect(CREAM, 7, 4, 25, 32),
        _poly(WOOD, 7, 4, 13, 7, 13, 32, 7, 32), _disc(GOLD, 11.4, 18, 1.4)),
    "switch": _switch(RED, 7),
    "switch-on": _switch(CANE, 25),
    # Resources
    "iron-ore-vein": _vein(SILVER),
    "coal-ore-vein": _vein(COAL),
    "gold-ore-vein": _vein(GOLD),
    "cobblestone-stash": (
        *(_disc(MIST, x, 25, 6, 5.5) for x in (7, 25)), *(_disc(STONE, x, 16, 6, 5.5) for x in (11, 21)),
        _disc(SLATE, 16, 25.5, 5.5), _disc(MIST, 16, 8, 5.5, 5)),
    "tree": (
        _poly(BARK, 13, 18, 19, 18, 21, 31, 11, 31), *(_disc(FOREST, x, 15, 7.5) for x in (9, 23)),
        _disc(LEAF, 16, 9.5, 8.5), _disc(LEAF, 16, 16, 6),
        *(_disc(CANE, x, y, 1.4) for x, y in ((13, 7), (19, 11), (13, 14)))),
    "chicken": (
        *(_line(ORANGE, 2, x, 24, x, 30, x + 3, 30) for x in (13, 19)),
        _poly(WHITE, 2, 10, 9, 14, 20, 15, 16, 22, 6, 20), _disc(WHITE, 15, 19, 9, 7), _disc(RED, 22, 4, 2.5),
        _disc(WHITE, 22, 10, 5.5), _poly(ORANGE, 26, 8, 31, 11, 26, 13), _disc(RED, 25, 15.5, 1.8, 2.5),
        _disc(INK, 23, 9, 1.2), _line(MIST, 1.4, 9, 18, 12, 22, 17, 21)),
    "sheep": (
        *(_rect(INK, x, 22, x + 3, 31) for x in (7, 17)),
        *(_disc(CREAM, x, y, 6) for x, y in ((8, 11), (14, 9), (20, 11), (7, 18), (14, 19), (20, 18))),
        _disc(INK, 26, 13, 4.5, 6), _disc(CREAM, 25, 8, 4, 3), _disc(WHITE, 27, 12.5, 1.2)),
    "potato-plant": (
        _rect(SOIL, 1, 19, 31, 31), *(_line(LEAF, 2, 16, 20, x, y) for x, y in ((8, 12), (16, 6), (24, 12))),
        *(_disc(LEAF, x, y, 4.5, 3.5) for x, y in ((7, 11), (25, 11), (11, 15), (21, 15), (16, 6))),
        _disc(WHITE, 16, 5, 1.8), *(_disc(POTATO, x, y, 4, 3) for x, y in ((8, 24), (24, 24), (16, 27)))),
    "beetroot-crop": (
        _rect(SOIL, 1, 24, 31, 31), *(_disc(BEET, x, 23, 5.5) for x in (8, 24)),
        *(_line(LEAF, 3, x, 17, x + dx, 4) for x in (8, 24) for dx in (-5, 0, 5)),
        *(_line(BEET, 1.4, x, 19, x + dx, 9) for x in (8, 24) for dx in (-3, 0, 3))),
    "sugar-cane-plant": (
        _rect(SOIL, 2, 27, 30, 31), *(_line(CANE, 4, x, 28, x, top) for x, top in ((7, 8), (16, 3), (25, 6))),
        *(_line(FOREST, 1.6, x - 2, y, x + 2, y) for x in (7, 16, 25) for y in (14, 21)),
        *(_line(LEAF, 2, x, y, x + dx, y - 5) for x, y, dx in ((7, 14, -4), (16, 14, 4), (16, 21, -4), (25, 21, 4)))),
    # Stations
    "work-station": _station(PLANK, _HAMMER),
    "weapon-station": _station(RED, _SWORD),
    "tool-station": _station(TEAL, _SHEARS),
    "bed-station": _station(ROSE, _BED),
    "boat-station": _station(WATER, _BOAT),
    "food-station": _station(LEAF, (*_BOWL, _disc(RED, 11, 12, 5), _disc(LEAF, 20, 12, 5))),
    "furnace": (
        _rect(SLATE, 3, 3, 29, 31), _rect(STONE, 1, 1, 31, 7), *(_line(INK, 2, x, 11, x + 4, 11) for x in (8, 14, 20)),
        _poly(COAL, 7, 29, 7, 20, 11, 15, 21, 15, 25, 20, 25, 29),
        _poly(ORANGE, 9, 29, 9, 22, 12, 24, 16, 17, 20, 24, 23, 21, 23, 29),
        _poly(GOLD, 13, 29, 13, 26, 16, 22, 19, 26, 19, 29)),
    # Items
    "key": (
        _disc(GOLD, 10, 10, 7.5), _disc(FLOOR, 10, 10, 3.2), _line(GOLD, 4, 15, 15, 27, 27),
        *(_line(GOLD, 3, x, x, x + 4, x - 4) for x in (22, 26))),
    "pickaxe": (
        _line(WOOD, 3.6, 4, 29, 22, 9), _poly(MIST, 4, 8, 11, 3, 20, 3, 28, 11, 29, 20, 25, 28, 24, 20, 20, 12, 12, 8)),
    "axe": (
        _line(WOOD, 3.6, 9, 29, 22, 5), _poly(MIST, 19, 7, 10, 2, 4, 9, 5, 17, 15, 15), _line(WHITE, 2, 9, 4, 5, 15)),
    "iron-ore": _ore(SILVER),
    "gold-ore": _ore(GOLD),
    "coal": (
        _poly(COAL, 5, 22, 7, 12, 14, 7, 23, 9, 28, 17, 25, 25, 14, 27),
        _poly(SLATE, 10, 14, 15, 10, 18, 12, 13, 16), _poly(SLATE, 18, 21, 23, 17, 24, 20, 21, 23)),
    "iron-ingot": _ingot(SILVER, MIST),
    "gold-ingot": _ingot(GOLD, ORANGE),
    "cobblestone": (
        _disc(MIST, 16, 18, 11, 9), _line(SLATE, 1.8, 8, 14, 14, 18, 13, 25), _line(SLATE, 1.8, 14, 18, 24, 15)),
    "wood": (
        _line(BARK, 12, 9, 17, 22, 17), *(_line(SOIL, 1.4, 6, y, 18, y) for y in (14, 19)),
        _disc(PLANK, 24, 17, 5, 7), _disc(WOOD, 24, 17, 3, 4.4), _disc(PLANK, 24, 17, 1.4, 2.2)),
    "wood-plank": (
        *(_rect(PLANK, 2, y, 30, y + 8) for y in (7, 17)), *(_disc(BARK, x, y, 1.2) for x in (5, 27) for y in (11, 21)),
        *(_line(WOOD, 1.4, left, y, right, y) for left, right, y in ((2, 30, 16), (9, 20, 11), (12, 23, 21)))),
    "stick": (_line(WOOD, 3.6, 7, 27, 25, 5), _line(WOOD, 2.6, 16, 16, 23, 15)),
    "sword": _SWORD,
    "feather": (
        _poly(SKY, 8, 24, 8, 17, 12, 10, 19, 5, 29, 2, 28, 9, 23, 11, 25, 14, 20, 16, 21, 19, 15, 20, 14, 23),
        _line(WHITE, 1.8, 4, 29, 12, 18, 25, 6)),
    "arrow": (
        _poly(RED, 6, 26, 1, 25, 6, 19, 12, 20, 13, 26, 7, 31), _line(WOOD, 2.4, 5, 27, 25, 7),
        _poly(SILVER, 30, 2, 28, 14, 23, 9, 18, 4)),
    "shears": _SHEARS,
    "wool": (
        _line(CREAM, 2.6, 19, 26, 25, 29, 30, 27), _disc(CREAM, 15, 15, 12),
        *(_line(MIST, 1.5, 5 + d, 15 - d, 11 + d, 15 - d, 16 + d, 20 - d, 16 + d, 25 - d) for d in (0, 4, 8)),
        *(_line(MIST, 1.5, 4 + d, 19 + d, 9 + d, 18 + d) for d in (0, 4))),
    "bed": _BED,
    "boat": _BOAT,
    "sugar-cane": (
        *(_line(CANE, 5, 5 + d, 21 + d, 19 + d, 5 + d) for d in (0, 7)),
        *(_line(FOREST, 1.6, x - 2, y - 2, x + 2, y + 2) for x, y in ((9, 17), (15, 9), (16, 24), (22, 16)))),
    "paper": (
        _poly(WHITE, 6, 2, 20, 2, 26, 8, 26, 30, 6, 30), _poly(MIST, 20, 2, 26, 8, 20, 8),
        *(_line(MIST, 1.5, 10, y, 22, y) for y in (13, 18, 23))),
    "bowl": _BOWL,
    "potato": (
        _disc(POTATO, 16, 17, 12, 8.5), *(_disc(WOOD, x, y, 1.3) for x, y in ((9, 16), (15, 12), (18, 20), (23, 16)))),
    "cooked-potato": (
        *_STEAM, _disc(BAKED, 16, 21, 13, 9), *(_line(SOIL, 1.8, x, 25, x + 2, 28) for x in (9, 14, 19)),
        _poly(GOLD, 5, 19, 10, 15, 16, 17, 22, 15, 27, 19, 22, 22, 16, 20, 10, 22)),
    "beetroot": (
        *(_line(LEAF, 4, 16, 14, x, y) for x, y in ((8, 4), (16, 3), (24, 4))),
        _line(BEET, 2.4, 16, 24, 17, 31), _disc(BEET, 16, 19, 9.5, 8), _disc(WHITE, 12.5, 16, 2, 1.4)),
    "beetroot-soup": (*_STEAM, *_BOWL[:2], _disc(BEET, 16, 15, 11.5, 3.6)),
}
# fmt: on

_OUTLINE_WIDTH = 0.9 / _PAPER


def _distance(shape: Shape, x: Floats, y: Floats) -> Floats:
    """Distance from each sample to the nearest edge (poly) or stretch (line) of a shape."""
    starts = shape.points
    ends = starts[1:] + (starts[:1] if shape.kind == "poly" else ())
    nearest = np.full(np.broadcast_shapes(x.shape, y.shape), np.inf)
    for (x0, y0), (x1, y1) in zip(starts, ends, strict=False):
        dx, dy = x1 - x0, y1 - y0
        along = np.clip(((x - x0) * dx + (y - y0) * dy) / (dx * dx + dy * dy), 0.0, 1.0)
        nearest = np.minimum(nearest, (x - x0 - along * dx) ** 2 + (y - y0 - along * dy) ** 2)
    distance: Floats = np.sqrt(nearest)
    return distance


def _inside(shape: Shape, x: Floats, y: Floats) -> Bools:
    """Even-odd rule: a sample is inside a polygon if a ray to its right crosses the border an odd number of times."""
    inside = np.zeros(np.broadcast_shapes(x.shape, y.shape), dtype=np.bool_)
    for (x0, y0), (x1, y1) in zip(shape.points, shape.points[1:] + shape.points[:1], strict=True):
        if y0 != y1:
            inside ^= ((y0 > y) != (y1 > y)) & (x < x0 + (y - y0) * (x1 - x0) / (y1 - y0))
    return inside


def _covers(shape: Shape, x: Floats, y: Floats, grow: float) -> Bools:
    """Which samples lie on the shape once its border is pushed out by `grow`."""
    if shape.kind == "disc":
        (x0, y0), (x1, y1) = shape.points
        rx, ry = (x1 - x0) / 2 + grow, (y1 - y0) / 2 + grow
        return ((x - (x0 + x1) / 2) / rx) ** 2 + ((y - (y0 + y1) / 2) / ry) ** 2 <= 1.0
    if shape.kind == "line":
        return _distance(shape, x, y) <= shape.width / 2 + grow
    inside = _inside(shape, x, y)
    return inside | (_distance(shape, x, y) <= grow) if grow else inside


@cache
def sprite(name: str, cell: int) -> Bytes:
    """Draw one sprite as a read-only RGBA picture of shape [cell, cell, 4]; alpha is how much of a pixel is covered.

    >>> sprite("tree", 16).shape
    (16, 16, 4)
    >>> int(sprite("water", 8)[..., 3].min()), int(sprite("key", 8)[0, 7, 3])
    (255, 0)
    """
    if cell < 4:
        raise ValueError(f"a sprite needs a cell of at least 4 pixels, not {cell}")
    samples = 8 if cell < 32 else 4  # per side of a pixel; large pictures look smooth with fewer
    side = cell * samples
    x = (np.arange(side)[None, :] + 0.5) / side
    y = x.T
    painted = np.zeros((side, side, 4))
    # One dark outline around the whole picture, under everything else, keeps pale objects visible on the pale floor.
    for grow in (_OUTLINE_WIDTH, 0.0):
        for shape in SPRITES[name]:
            painted[_covers(shape, x, y, grow)] = (*(INK if grow else shape.colour), 1)
    sums = painted.reshape(cell, samples, cell, samples, 4).sum(axis=(1, 3))
    colour = sums[..., :3] / np.maximum(sums[..., 3:], 1)
    alpha = sums[..., 3:] * (255 / samples**2)
    pixels: Bytes = np.rint(np.concatenate([colour, alpha], axis=-1)).astype(np.uint8)
    pixels.setflags(write=False)
    return pixels
