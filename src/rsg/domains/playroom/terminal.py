"""Playroom in a terminal: a small picture of coloured half blocks, or a chart of letters where there are no colours."""

from collections.abc import Sequence
from shutil import get_terminal_size

import numpy as np
from numpy.typing import NDArray
from rich.text import Text

from rsg.core.arrays import Bools, Bytes, Floats
from rsg.domains.playroom.pictures import MARGIN, outline, picture
from rsg.domains.playroom.world import POSE, PlayroomWorld

BESIDES = 8  # lines below and above the picture
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"


def terminal_view(world: PlayroomWorld, state: Floats, columns: int | None = None, colours: bool = True) -> Text:
    """The state as rich text, at most so many columns wide, with a letter on each effector and what it stands for.

    Unless it is said how many, as many as leave room in the terminal for what a game says besides.

    Each character is two square pixels above each other. Without colours walls are `#`, the robot is `@`, its nose `o`.
    """
    columns = columns or max(24, min(64, 2 * (get_terminal_size((80, 44)).lines - BESIDES)))
    chart = _chart(world, state, columns)
    text = _coloured(chart, picture(world, state, columns)) if colours else Text()
    if not colours:
        text.append("".join(f"{''.join(row)}\n" for row in chart.tolist()))
    names = [effector.name for effector in world.layout.effectors]
    text.append("  ".join(f"{letter} {name}" for letter, name in zip(letters(names), names, strict=True)))
    x, y, angle = state[:POSE]
    return text.append(f"\nrobot at ({x:.2f}, {y:.2f}), angle {angle:.2f}")


def letters(names: Sequence[str]) -> list[str]:
    """A letter for each name: its first that is not taken, else any that is left.

    >>> letters(["ball", "bell", "light-switch"])
    ['B', 'E', 'L']
    """
    chosen: list[str] = []
    for name in names:
        wanted = [*name.upper(), *_LETTERS]
        chosen.append(next((letter for letter in wanted if letter in _LETTERS and letter not in chosen), "*"))
    return chosen


def _coloured(chart: NDArray[np.str_], image: Bytes) -> Text:
    """The picture `[2·rows, columns, 3]` in half blocks, and on it the letters of the chart, one for each effector."""
    text, seen = Text(), set("#@o ")
    pairs = np.pad(image, ((0, len(image) % 2), (0, 0), (0, 0)), mode="edge").reshape(-1, 2, *image.shape[1:])
    for row, (above, below) in zip(chart.tolist(), pairs.tolist(), strict=True):
        for letter, (r, g, b), (u, v, w) in zip(row, above, below, strict=True):
            if letter in seen:
                text.append("▀", style=f"rgb({r},{g},{b}) on rgb({u},{v},{w})")
            else:
                text.append(letter, style="bold rgb(20,20,20) on rgb(255,255,255)")
                seen.add(letter)
        text.append("\n")
    return text


def _chart(world: PlayroomWorld, state: Floats, columns: int) -> NDArray[np.str_]:
    """What is at each character, `[rows, columns]`."""
    width, height = world.layout.size
    scale = (max(width, height) + 2 * MARGIN) / columns
    across, down = (round((length + 2 * MARGIN) / scale) for length in (width, height))
    x, y = np.meshgrid(
        (np.arange(across) + 0.5) * scale - MARGIN, height + MARGIN - (np.arange(0, down, 2) + 1) * scale
    )
    chart = np.full(x.shape, " ")
    chart[(x < 0) | (x > width) | (y < 0) | (y > height)] = "#"
    for wall in world.layout.walls:  # thin ones must not fall between two characters
        chart[_inside(np.array(wall), x, y - scale / 2) | _inside(np.array(wall), x, y + scale / 2)] = "#"
    marks = letters([effector.name for effector in world.layout.effectors])
    places = state[POSE:].reshape(-1, 2)
    things = [np.array(one.shape) + place for one, place in zip(world.layout.effectors, places, strict=True)]
    parts = outline(world, state[:POSE])
    for mark, corners in zip([*marks, "@", *"o" * (len(parts) - 1)], [*things, *parts], strict=True):
        chart[_inside(corners, x, y)] = mark
    return chart


def _inside(corners: Floats, x: Floats, y: Floats) -> Bools:
    """Which points lie in a convex polygon with its corners anticlockwise."""
    inside = np.ones(x.shape, dtype=np.bool_)
    for (ax, ay), (bx, by) in zip(corners, np.roll(corners, -1, axis=0), strict=True):
        inside &= (bx - ax) * (y - ay) - (by - ay) * (x - ax) >= 0
    return inside
