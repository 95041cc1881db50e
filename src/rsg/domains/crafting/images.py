"""The encoder `image`: subgoals learned from pixels.

A picture is cut into tiles, so that as few of them as possible have anything in them. Pictures consist of few distinct
tiles, and which looks these have is learned first, from the pictures of the demonstrations alone. To a classifier a
picture is the set of looks that are in it; the log-odds are a weighted sum over them. A goal is about few things, so
most weights come to be 0.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from rsg.core.arrays import Array, Bytes, Floats, Indices
from rsg.core.errors import RsgError
from rsg.domain import Network
from rsg.domains.crafting import CraftingWorld, Sets
from rsg.domains.crafting import tile_kernels as kernels
from rsg.domains.crafting.pictures import images
from rsg.domains.crafting.sets import TYPES, SetClassifiers
from rsg.subgoals.classifiers import DOUBT, Classifiers, Weights, doubtful
from rsg.worlds import EitherWorld

TILE = 8  # pixels of a tile, and of a cell of Crafting World: enough to tell all its things apart
MARGIN = TILE // 2  # pixels around a picture, so that a shift cuts nothing off
NUMBERS = TILE * TILE * 3 + 1  # of a tile: its pixels, all together up to 1, and its ground
ALIKE = 0.1  # distance of tiles that have the same look
MOST = 1000  # looks; pictures of a world with more of them do not consist of tiles
FAINT = 0.2  # how much things on the usual ground count beside others: the map is the scenery
GAIN = 2 * DOUBT  # log-odds from a weight of 1, so that Adam's steps go far enough
AT_ONCE = 256  # pictures


def framed(states: Array, pictures: Bytes) -> Bytes:
    """Pictures `[N, H + margins, W + margins, 3]` of states that are drawn as `[N, H, W, 3]`, as they are."""
    n, height, width = pictures.shape[:3]
    out = np.empty((n, height + 2 * MARGIN, width + 2 * MARGIN, 3), dtype=np.uint8)
    kernels.expose(pictures, np.full((n, 2), MARGIN), np.tile([1.0, 0.0], (len(states), 1)), out)
    return out


class ImageClassifiers(Classifiers):
    """Classifiers that see pictures of states, and nothing else.

    Args:
        single: whether I is 1 - G.
        looks: how many looks of tiles are known, for weights that are to be loaded.

    Attributes:
        camera: how pictures are taken, given states and how these are drawn.
        looks: `[L, numbers]` a tile of each look that is known, see `meet`; reach: `[L]` how far from it tiles may be.
        weights: `[terms, networks, L]`, what the classifiers make of each look.
    """

    batch = 16  # states that a search should look ahead
    looks: Tensor
    reach: Tensor
    weights: Tensor
    offset: Tensor

    def __init__(self, single: bool = False, looks: int = 0) -> None:
        networks = 1 if single else 2
        super().__init__(single, {"weights": Weights((networks, looks)), "offset": doubtful(networks)})
        self.camera: Callable[..., Bytes] = framed
        self.register_buffer("looks", torch.zeros(looks, NUMBERS))
        self.register_buffer("reach", torch.zeros(looks))

    def meet(self, world: EitherWorld, states: Array) -> None:
        """Get to know the looks of the tiles in their pictures; a tile that is like a known one is no new look.

        A tile has the look that it is nearest to, if it is not further away than half the way to the next look.
        """
        tiles = self.tiles(world, states)[0]
        looks = self.looks
        for tile in tiles[_distances(tiles, looks).amin(dim=1) > ALIKE]:
            if len(looks) < MOST and (_distances(tile[None], looks) > ALIKE).all():
                looks = torch.cat([looks, tile[None]])
        if new := len(looks) - len(self.looks):
            self.looks, self.shape = looks, {"looks": len(looks)}
            self.reach = (_distances(looks, looks) + 2 * torch.eye(len(looks)).to(looks)).amin(dim=1).clamp(max=1) / 2
            self._weights["weights"] = Weights((self.networks, len(looks)))
            self.weights = nn.Parameter(nn.functional.pad(self.weights.detach(), (0, new)))

    def groups(self) -> list[Tensor]:
        """Each look is a thing to look at."""
        return [self.weights[..., None]]

    def pictures(self, world: EitherWorld, states: Array) -> Bytes:
        """Pictures of states as the camera takes them, `[N, H, W, 3]`."""
        if isinstance(world, CraftingWorld):
            drawn = images(world, states, TILE)
        elif hasattr(world, "render"):
            drawn = np.stack([world.render(state) for state in states])
        else:
            raise RsgError("the encoder 'image' reads pictures, and this world has no method render(state)")
        return self.camera(states, drawn)

    def tiles(self, world: EitherWorld, states: Array) -> tuple[Tensor, Indices]:
        """The distinct tiles of pictures, `[U, numbers]`, and pairs of a picture and a tile that is in it."""
        pictures = self.pictures(world, np.asarray(states))
        shown = np.empty(pictures.shape, dtype=np.int8)
        kernels.contrasts(pictures, shown)
        corners, pairs = kernels.tiles(shown, TILE)
        cut = np.empty((len(corners), NUMBERS), dtype=np.float32)
        kernels.cut(shown, corners, TILE, cut)
        return torch.as_tensor(cut).to(self.looks), pairs

    def see(self, world: EitherWorld, states: Array) -> Tensor:
        """How much of each look is in their pictures, `[N, L]`: 0, FAINT on the usual ground, 1 on another."""
        tiles, pairs = self.tiles(world, states)
        there = np.zeros((len(states), len(self.looks) + 1), dtype=np.float32)  # the last one: no look that is known
        if len(self.looks):
            far, which = _distances(tiles, self.looks).min(dim=1)
            known = torch.where(far <= self.reach[which], which, -1).cpu().numpy()
            there[pairs[:, 0], known[pairs[:, 1]]] = 1
        return torch.as_tensor(there[:, :-1]).to(self.offset) * torch.where(self.looks[:, -1] > 0, 1.0, FAINT)

    def taken(self, seen: Any) -> Any:  # noqa: ARG002
        """Pictures are cut into tiles by what is no network."""
        raise RsgError("the encoder 'image' cuts pictures into tiles, which is no part of a network; use sets or seen")

    def odds(self, seen: Tensor, numbers: Sequence[int]) -> Tensor:
        """Log-odds `[N, terms, networks]`."""
        chosen = list(numbers)
        return GAIN * torch.einsum("nl,tml->ntm", seen, self.weights[chosen]) + self.offset[chosen]

    def evaluate(self, world: EitherWorld, states: Array, numbers: Sequence[int]) -> Floats:
        """Log-odds `[N, terms, 2]` of states, without a gradient; so many at once that memory is no concern."""
        parts = [states[i : i + AT_ONCE] for i in range(0, max(len(states), 1), AT_ONCE)]
        return np.concatenate([super(ImageClassifiers, self).evaluate(world, part, numbers) for part in parts])


def _distances(tiles: Tensor, looks: Tensor) -> Tensor:
    """`[U, L]`; to no looks at all, `[U, 1]` infinite."""
    if not len(looks):
        return tiles.new_full((len(tiles), 1), torch.inf)
    return torch.cdist(tiles, looks, compute_mode="donot_use_mm_for_euclid_dist")


def _types(seen: object, world: EitherWorld) -> dict[str, int]:
    if not isinstance(seen, Sets):
        raise RsgError("the encoder 'sets' reads sets of objects, and this world shows none; use --encoder seen")
    return {"types": len(world.rules.things) if hasattr(world, "rules") else TYPES}


NETWORKS = {
    "sets": Network(lambda how, shape: SetClassifiers(how.hidden, shape["types"], how.single), _types),
    "image": Network(lambda how, shape: ImageClassifiers(how.single, shape["looks"]), lambda *_: {"looks": 0}),
}
"""The networks for subgoals in Crafting World, by name."""
