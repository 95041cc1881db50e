"""Small drawings of effectors, from simple shapes in a square from (-1, -1) to (1, 1), y up."""

import math
from collections.abc import Sequence
from copy import copy
from typing import Any

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from rsg.core.arrays import Bytes, Floats
from rsg.core.random import stream

Color = tuple[int, ...]
Points = Sequence[Sequence[float]] | Floats

INK, WHITE = (45, 45, 55), (255, 255, 255)


class Canvas:
    """Something to draw on, in the units of a room with y up; drawn larger and made smaller at the end.

    low, high: the corners (x, y) of what is shown; pixels: the longer side of the picture.
    """

    FINER = 3

    def __init__(self, low: Sequence[float], high: Sequence[float], pixels: int, ground: Color) -> None:
        self.low, self.high = low, high
        self.scale = pixels / max(high[0] - low[0], high[1] - low[1])  # pixels for each unit of length
        self.size = (round((high[0] - low[0]) * self.scale), round((high[1] - low[1]) * self.scale))
        self._image = Image.new("RGB", (self.size[0] * self.FINER, self.size[1] * self.FINER), ground)
        self._draw = ImageDraw.Draw(self._image, "RGBA")
        self._center: Sequence[float] = (0.0, 0.0)
        self._half: Sequence[float] = (1.0, 1.0)

    def within(self, center: Sequence[float], half: Sequence[float]) -> "Canvas":
        """The same canvas in the units of what is drawn there: its own square becomes the one from -1 to 1."""
        icon = copy(self)
        icon._center, icon._half = center, half
        return icon

    def polygon(
        self, points: Points, fill: Color | None = None, edge: Color | None = None, width: float = 0.05
    ) -> None:
        """A filled or outlined polygon; `width` is in units of length."""
        spots = self._spots(points)
        if fill is not None:
            self._draw.polygon(spots, fill=fill)
        if edge is not None:
            self._draw.line([*spots, spots[0], spots[1]], fill=edge, width=self._width(width), joint="curve")

    def line(self, points: Points, color: Color, width: float = 0.05) -> None:
        """A line through points."""
        self._draw.line(self._spots(points), fill=color, width=self._width(width), joint="curve")

    def circle(self, x: float, y: float, radius: float, fill: Color) -> None:
        """A filled circle."""
        (u, v), r = self._spots([(x, y)])[0], self._pixels(radius) * self.FINER
        self._draw.ellipse((u - r, v - r, u + r, v + r), fill=fill)

    def text(self, place: Sequence[float], words: str, color: Color, height: float, around: Color = WHITE) -> None:
        """Words around a place (x, y), with a seam of another colour so that they can be read anywhere."""
        font = ImageFont.load_default(max(6, self._pixels(height)) * self.FINER)
        spot = self._spots([place])[0]
        seam = 2 * self.FINER // 2
        self._draw.text(spot, words, fill=color, font=font, anchor="mm", stroke_width=seam, stroke_fill=around)

    def picture(self) -> Bytes:
        """What was drawn, `[height, width, 3]`."""
        return np.asarray(self._image.resize(self.size, Image.Resampling.BOX))

    def _spots(self, points: Points) -> list[tuple[float, float]]:
        (x, y), (w, h), finer = self._center, self._half, self.scale * self.FINER
        return [
            ((x + w * float(u) - self.low[0]) * finer, (self.high[1] - (y + h * float(v))) * finer) for u, v in points
        ]

    def _pixels(self, length: float) -> float:
        return length * min(self._half) * self.scale

    def _width(self, width: float) -> int:
        return max(1, round(self._pixels(width) * self.FINER))


def _arc(x: float, y: float, radius: float, start: float, end: float) -> list[tuple[float, float]]:
    """Points on a circle between two angles in degrees."""
    angles = np.radians(np.linspace(start, end, 24))
    return [(x + radius * math.cos(angle), y + radius * math.sin(angle)) for angle in angles]


_NOTE = (
    ("circle", -0.3, -0.38, 0.18, WHITE),
    ("circle", 0.32, -0.28, 0.18, WHITE),
    ("line", [(-0.16, -0.36), (-0.16, 0.4), (0.46, 0.52), (0.46, -0.26)], WHITE, 0.15),
)
_BROWN, _SKIN, _GOLD = (122, 78, 48), (232, 196, 152), (226, 170, 40)

DRAWINGS: dict[str, tuple[Any, ...]] = {  # what is drawn, one on the other: the name of a method, what it takes
    "ball": (
        ("circle", 0, 0, 0.85, (214, 62, 54)),
        ("line", _arc(-1.1, -1.1, 1.2, 8, 82), (250, 214, 90), 0.3),
        ("line", _arc(1.1, 1.1, 1.2, 188, 262), (70, 130, 210), 0.3),
        ("circle", -0.3, 0.4, 0.14, (255, 240, 235)),
    ),
    "bell": (
        ("circle", 0, -0.62, 0.2, (140, 95, 20)),
        ("polygon", [*_arc(0, 0.15, 0.5, 0, 180), (-0.62, -0.35), (-0.85, -0.55), (0.85, -0.55), (0.62, -0.35)], _GOLD),
        ("circle", 0, 0.7, 0.16, _GOLD),
        ("line", [(-0.3, 0.35), (-0.38, -0.3)], (255, 225, 140), 0.14),
    ),
    "light-switch": (
        ("polygon", [(-0.25, -0.8), (0.25, -0.8), (0.25, -0.35), (-0.25, -0.35)], (120, 125, 135)),
        ("circle", 0, 0.2, 0.6, (255, 220, 80)),
        ("line", [(-0.2, 0.05), (-0.08, 0.35), (0.08, 0.05), (0.2, 0.35)], (215, 130, 20), 0.12),
    ),
    "music-on": (("circle", 0, 0, 0.85, (52, 150, 82)), *_NOTE),
    "music-off": (
        ("circle", 0, 0, 0.85, (125, 130, 142)),
        *_NOTE,
        ("line", [(-0.6, 0.6), (0.6, -0.6)], (205, 45, 45), 0.22),
    ),
    "monkey": (
        *(("circle", x, 0.15, *part) for x in (-0.68, 0.68) for part in ((0.28, _BROWN), (0.15, _SKIN))),
        ("circle", 0, 0.05, 0.66, _BROWN),
        *(("circle", x, 0.18, *part) for x in (-0.2, 0.2) for part in ((0.26, _SKIN), (0.09, INK))),
        ("circle", 0, -0.28, 0.36, _SKIN),
        ("line", _arc(0, -0.2, 0.22, 210, 330), INK, 0.08),
    ),
}


def draw_effector(canvas: Canvas, name: str, center: Floats, shape: Points) -> None:
    """The shape that the robot touches as a pale tile, with a drawing on it; others get their initials in a colour."""
    corners = np.asarray(shape)
    middle = center + (corners.min(axis=0) + corners.max(axis=0)) / 2
    canvas.polygon(corners + center, WHITE, (150, 150, 160), 0.04)
    icon = canvas.within(middle.tolist(), (np.ptp(corners, axis=0) / 2).tolist())
    if name in DRAWINGS:
        for method, *given in DRAWINGS[name]:
            getattr(icon, method)(*given)
    else:
        color = tuple(stream(0, "effector", name).integers(60, 190, size=3).tolist())
        icon.circle(0, 0, 0.85, color)
        icon.text((0, 0), "".join(word[0] for word in name.split("-")[:2]).upper(), INK, 1.1)
