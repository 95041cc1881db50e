"""The encoder `image`: subgoals learned from pixels.

A picture is cut into tiles, so that as few of them as possible have anything in them. Each classifier is a small
network of its own: a linear layer with ReLU on the pixels of a tile, a maximum over the tiles on the ground that is
usual in the picture and one over those on another ground, as that of an inventory, then a linear layer. It is a
convolution whose stride is a tile; as pictures consist of few distinct tiles, it is computed once for each of these.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from rsg.core.arrays import Floats
from rsg.core.errors import RsgError
from rsg.core.random import stream
from rsg.subgoals import tile_kernels as kernels
from rsg.subgoals.classifiers import Classifiers, Weights, doubtful
from rsg.worlds import World
from rsg.worlds.crafting import CraftingWorld
from rsg.worlds.crafting.pictures import images

TILE = 8  # pixels of a tile, and of a cell of Crafting World: enough to tell all its things apart
MARGIN = TILE // 2  # pixels around a picture, so that a shift cuts nothing off
LEVELS = 64  # of 255, by which brightness 1 may lift or lower a picture
SIZE = 0.28  # of a tile's pixels, all together: with Adam's steps, small inputs learn slowly and surely
FAINT = 0.2  # how much things on the usual ground count at first: the map is the scenery
AT_ONCE = 256  # pictures
PRESET: dict[str, Any] = {"steps": 400, "curriculum": 100, "depth": 2, "held_out": 64}  # what pixels need


@dataclass(frozen=True)
class Camera:
    """How pictures are taken. The same state always looks the same to the same camera.

    Attributes:
        brightness: b: a picture's levels are multiplied by 1 - b to 1 + b, then up to 64 b are added or taken away.
        shift: a picture is moved by up to so many pixels, up or down and left or right.
        seed: of both.
        still: whether all pictures have the same light and place.
    """

    brightness: float = 0.0
    shift: int = 0
    seed: int = 0
    still: bool = False

    def __post_init__(self) -> None:
        if not 0 <= self.brightness < 1:
            raise RsgError(f"brightness is at least 0 and less than 1, not {self.brightness}")
        if not 0 <= self.shift <= MARGIN:
            raise RsgError(f"a picture is shifted by 0 to {MARGIN} pixels, not {self.shift}")

    def take(self, states: NDArray[Any], pictures: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """Pictures `[N, H + margins, W + margins, 3]` of states `[N, W]` that are drawn as `[N, H, W, 3]`."""
        n, height, width = pictures.shape[:3]
        chance = np.zeros((n, 4))
        if self.brightness or self.shift:
            chance[:] = 2 * chances(states[:1] * 0 if self.still else states, self.seed) - 1
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


class Tiles(NamedTuple):
    """What the networks see of N pictures.

    Attributes:
        pixels: `[U, numbers]` the distinct tiles.
        starts: `[N + 1]` where the list of each picture begins; members: the tiles of picture after picture.
    """

    pixels: Tensor
    starts: NDArray[np.int64]
    members: NDArray[np.int32]


class ImageClassifiers(Classifiers):
    """Classifiers that see pictures of states, and nothing else.

    Args:
        hidden: the width of a layer.
        single: whether I is 1 - G.

    Parameters have the shape `[terms, networks, ...]`, as those of `SetClassifiers`.

    Attributes:
        camera: how the pictures are taken.
        variety: how they are taken in training, with another seed in each step.
    """

    batch = 16  # states that a search should look ahead
    filters: Tensor
    bias: Tensor
    head: Tensor
    offset: Tensor

    def __init__(self, hidden: int = 128, single: bool = False) -> None:
        networks, pixels = 1 if single else 2, TILE * TILE * 3
        weights = {
            "filters": Weights((networks, hidden, pixels), pixels**-0.5 / SIZE),
            "bias": Weights((networks, hidden)),
            "head": Weights((networks, 2, hidden), hidden**-0.5),
            "offset": doubtful(networks),
        }
        super().__init__(single, weights)
        self.hidden = hidden
        self.camera, self.variety = Camera(), Camera(brightness=0.25, still=True)

    @contextmanager
    def varied(self, rng: np.random.Generator) -> Iterator[None]:
        """Pictures in another light."""
        usual, self.camera = self.camera, replace(self.variety, seed=int(rng.integers(2**31)))
        try:
            yield
        finally:
            self.camera = usual

    def pictures(self, world: World, states: NDArray[Any]) -> NDArray[np.uint8]:
        """Pictures of states as the camera takes them, `[N, H, W, 3]`."""
        if isinstance(world, CraftingWorld):
            drawn = images(world, states, TILE)
        else:
            drawn = np.stack([world.render(state) for state in states])
        return self.camera.take(states, drawn)

    def see(self, world: World, states: NDArray[Any]) -> Tiles:
        """The tiles of their pictures, as contrasts to the ground."""
        pictures = self.pictures(world, np.asarray(states))
        shown = np.empty(pictures.shape, dtype=np.int8)
        kernels.contrasts(pictures, shown)
        corners, starts, members = kernels.tiles(shown, TILE)
        pixels = np.empty((len(corners), TILE * TILE * 3), dtype=np.float32)
        kernels.cut(shown, corners, TILE, SIZE, pixels)
        return Tiles(torch.as_tensor(pixels).to(self.head), starts, members)

    def odds(self, seen: Tiles, numbers: Sequence[int]) -> Tensor:
        """Log-odds `[N, terms, networks]`."""
        chosen = list(numbers)
        filters, bias = self.filters[chosen].flatten(0, 2), self.bias[chosen].flatten()
        values = torch.relu(seen.pixels @ filters.T + bias)
        which = np.empty((len(seen.starts) - 1, values.shape[1]), dtype=np.int64)
        kernels.strongest(values.detach().cpu().float().numpy(), seen.starts, seen.members, which)
        there = torch.as_tensor(which, device=values.device)
        pooled = values.gather(0, there.clamp(min=0)) * (there >= 0)
        pooled = pooled.reshape(-1, 2, len(chosen), self.networks, self.hidden)
        head = self.head[chosen] * self.head.new_tensor([[FAINT], [1.0]])
        return torch.einsum("npthf,thpf->nth", pooled, head) + self.offset[chosen]

    def evaluate(self, world: World, states: NDArray[Any], numbers: Sequence[int]) -> Floats:
        """Log-odds `[N, terms, 2]` of states, without a gradient; so many at once that memory is no concern."""
        parts = [states[i : i + AT_ONCE] for i in range(0, max(len(states), 1), AT_ONCE)]
        return np.concatenate([super(ImageClassifiers, self).evaluate(world, part, numbers) for part in parts])
