"""Playroom in a terminal: a small picture of coloured half blocks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rsg.worlds.playroom.pictures import picture
from rsg.worlds.playroom.world import Floats, PlayroomWorld

if TYPE_CHECKING:
    from rich.text import Text


def terminal_view(world: PlayroomWorld, state: Floats, columns: int = 64) -> Text:
    """The state as rich text, two pixels above each other in every character."""
    from rich.text import Text

    image = picture(world, state, columns)
    if len(image) % 2:
        image = np.concatenate([image, image[-1:]])
    text = Text()
    for above, below in zip(image[::2].tolist(), image[1::2].tolist(), strict=True):
        for upper, lower in zip(above, below, strict=True):
            text.append("▀", style=f"rgb({upper[0]},{upper[1]},{upper[2]}) on rgb({lower[0]},{lower[1]},{lower[2]})")
        text.append("\n")
    x, y, angle = state[:3]
    return text.append(f"robot at ({x:.2f}, {y:.2f}), angle {angle:.2f}")
