"""The options that Playroom has as a Gymnasium environment."""

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from gymnasium import spaces

from rsg.core.arrays import Bytes, Floats
from rsg.domains.playroom import Layout, PlayroomWorld
from rsg.domains.playroom.domain import PAPER, Playroom


class Rooms(Playroom):
    """Playroom in a room of one's own.

    layout: the name of one that comes with rsg, a file, or a `rsg.domains.playroom.Layout`; pixels: the longer side of
    an image observation.
    """

    def __init__(self, layout: str | Path | Layout = PAPER, pixels: int = 84) -> None:
        super().__init__(layout)
        self._side = pixels

    def observations(self, world: PlayroomWorld) -> Mapping[str, Any]:
        """What classifiers see (`PlayroomWorld.encode`), and pictures."""
        width = world.encode(np.zeros((1, world.state_width))).shape[1]
        numbers = spaces.Box(-1, 1, (width,), np.float32)
        return {"numbers": (world.encode, numbers), "image": (partial(_pictures, world, self._side), None)}


def _pictures(world: PlayroomWorld, pixels: int, states: Floats) -> Bytes:
    return np.stack([world.render(state, pixels) for state in states])
