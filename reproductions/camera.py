"""Pictures in another light, and from another place: what subgoals that were learned from pixels are tried with."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rsg.core.arrays import Floats
from rsg.core.errors import RsgError
from rsg.core.random import stream
from rsg.domains.crafting import tile_kernels as kernels
from rsg.domains.crafting.images import MARGIN

LEVELS = 64  # of 255, by which brightness 1 may lift or lower a picture


@dataclass(frozen=True)
class Camera:
    """How pictures are taken. The same state always looks the same to the same camera.

    Attributes:
        brightness: b: a picture's levels are multiplied by 1 - b to 1 + b, then up to 64 b are added or taken away.
        shift: a picture is moved by up to so many pixels, up or down and left or right.
        seed: of both.
    """

    brightness: float = 0.0
    shift: int = 0
    seed: int = 0

    def __post_init__(self) -> None:
        if not 0 <= self.brightness < 1:
            raise RsgError(f"brightness is at least 0 and less than 1, not {self.brightness}")
        if not 0 <= self.shift <= MARGIN:
            raise RsgError(f"a picture is shifted by 0 to {MARGIN} pixels, not {self.shift}")

    def __call__(self, states: NDArray[Any], pictures: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """Pictures `[N, H + margins, W + margins, 3]` of states `[N, W]` that are drawn as `[N, H, W, 3]`."""
        n, height, width = pictures.shape[:3]
        chance = np.zeros((n, 4))
        if self.brightness or self.shift:
            chance[:] = 2 * chances(states, self.seed) - 1
        corners = MARGIN + np.rint(chance[:, :2] * (self.shift + 0.499)).astype(np.int64)
        light = np.stack([1 + self.brightness * chance[:, 2], self.brightness * LEVELS * chance[:, 3]], axis=1)
        out = np.empty((n, height + 2 * MARGIN, width + 2 * MARGIN, 3), dtype=np.uint8)
        kernels.expose(pictures, corners, light, out)
        return out


def chances(states: NDArray[Any], seed: int) -> Floats:
    """Four numbers from 0 to 1 for each state, `[N, 4]`, which follow from the seed and the state."""
    rows = np.ascontiguousarray(states).view(np.uint8).reshape(len(states), -1).astype(np.uint64)
    weights = _weights(seed, rows.shape[1] + 1)
    mixed = np.stack([(rows * one[1:]).sum(axis=1) + one[0] for one in weights], axis=1)  # modulo 2^64
    mixed = (mixed ^ (mixed >> np.uint64(32))) * np.uint64(0x9E3779B97F4A7C15)
    return np.asarray((mixed >> np.uint64(11)) / 2.0**53)


@lru_cache(maxsize=16)
def _weights(seed: int, count: int) -> NDArray[np.uint64]:
    return stream(seed, "camera").integers(2**64, size=(4, count), dtype=np.uint64)
