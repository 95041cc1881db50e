"""Little pictures of the object types of Crafting World, drawn by code.

`sprites.json` says what each type looks like, as a stack of simple shapes with the bottom one first, and `sprite` turns
one stack into pixels of any size. The same pictures serve people (cells of 32 to 64 pixels) and image observations (8
to 16 pixels), so types differ in colour and in silhouette and not only in fine detail. A white halo keeps the agent
apart from whatever it stands on; the right and the bottom of its cell stay visible.

Shapes are written on squared paper of 32 units a side, x to the right and y down, each with the name of a colour:

    poly COLOUR X Y X Y ...          rect COLOUR LEFT TOP RIGHT BOTTOM
    line COLOUR WIDTH X Y X Y ...    disc COLOUR X Y RADIUS [RADIUS DOWN]
    whole NAME, small NAME           the shapes of another, as they are or as an emblem on top of a bench
"""

import json
from dataclasses import dataclass, replace
from functools import cache
from typing import Literal

import numpy as np

from rsg.core.arrays import Bools, Bytes, Floats
from rsg.core.files import shipped

_PAPER = 32
_OUTLINE_WIDTH = 0.9 / _PAPER
_CONTENT = json.loads(shipped("rsg.domains.crafting", "sprites.json"))

COLOURS: dict[str, tuple[int, int, int]] = {name: tuple(rgb) for name, rgb in _CONTENT["colours"].items()}
FLOOR = COLOURS["floor"]
SPRITES: dict[str, list[str]] = _CONTENT["sprites"]
_ALL = SPRITES | _CONTENT["parts"]


@dataclass(frozen=True)
class Shape:
    """One coloured primitive in unit coordinates: x to the right and y down, both in [0, 1].

    `points` are the corners of a `poly`, two opposite corners of the box around a `disc` (an ellipse), or the stops of
    a `line`, which is `width` thick and has round ends.
    """

    kind: Literal["poly", "disc", "line"]
    colour: str
    points: tuple[tuple[float, float], ...]
    width: float = 0.0


def shapes(name: str) -> list[Shape]:
    """The shapes of a sprite or of a part of some, the bottom one first."""
    found: list[Shape] = []
    for kind, what, *words in map(str.split, _ALL[name]):
        numbers = [float(word) for word in words]
        if kind == "whole":
            found += shapes(what)
        elif kind == "small":
            found += [_smaller(shape) for shape in shapes(what)]
        elif kind == "line":
            found.append(Shape("line", what, _points(numbers[1:]), numbers[0] / _PAPER))
        elif kind == "disc":
            x, y, rx, ry = numbers if len(numbers) == 4 else [*numbers, numbers[2]]
            found.append(Shape("disc", what, _points([x - rx, y - ry, x + rx, y + ry])))
        elif kind == "rect":
            left, top, right, bottom = numbers
            found.append(Shape("poly", what, _points([left, top, right, top, right, bottom, left, bottom])))
        else:
            found.append(Shape("poly", what, _points(numbers)))
    return found


def _points(xy: list[float]) -> tuple[tuple[float, float], ...]:
    return tuple((x / _PAPER, y / _PAPER) for x, y in zip(xy[::2], xy[1::2], strict=True))


def _smaller(shape: Shape) -> Shape:
    """The shape as part of an emblem: in the middle of the upper part of the cell."""
    return replace(shape, points=tuple((0.6 * x + 0.2, 0.6 * y) for x, y in shape.points), width=0.6 * shape.width)


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
        for shape in shapes(name):
            painted[_covers(shape, x, y, grow)] = (*COLOURS["ink" if grow else shape.colour], 1)
    sums = painted.reshape(cell, samples, cell, samples, 4).sum(axis=(1, 3))
    colour = sums[..., :3] / np.maximum(sums[..., 3:], 1)
    alpha = sums[..., 3:] * (255 / samples**2)
    pixels: Bytes = np.rint(np.concatenate([colour, alpha], axis=-1)).astype(np.uint8)
    pixels.setflags(write=False)
    return pixels
