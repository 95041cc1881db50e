"""What baselines see of Crafting World: networks for sets of objects, and for pictures."""

from collections.abc import Mapping, Sequence
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
import torch
from torch import Tensor, nn

from rsg.core.arrays import Array
from rsg.domain import Network
from rsg.domains.crafting.pictures import images
from rsg.domains.crafting.world import CraftingWorld, Sets
from rsg.subgoals.encoders import dense

_Numbers = TypeVar("_Numbers", Array, Tensor)
SCALE = 0.1  # of counts and cells, so that all inputs are about as large
TILE = 8  # pixels of a cell: enough to tell all things apart


class SetEncoder(nn.Module):
    """The paper's network for sets: each object through small layers, then the maximum over objects.

    condition: how many features of the task each object is seen with; 0: none. layers: per object on the map; the paper
    has one. Items held have one: they are nowhere.
    """

    def __init__(self, types: int, hidden: int, condition: int = 0, layers: int = 2) -> None:
        super().__init__()
        self.items = nn.Embedding(types + 1, hidden)
        self.things = nn.Embedding(types + 1, hidden)
        self.places = nn.Linear(6, hidden, bias=False)
        self.context = nn.Linear(5 + condition, 2 * hidden)
        self.held = nn.Linear(hidden, hidden, bias=False)
        self.more = dense(hidden, hidden, layers - 1)
        self.out = dense(2 * hidden + 5 + condition, hidden, 1)

    def forward(self, seen: Sets, condition: Tensor | None = None) -> Tensor:
        """Features `[N, hidden]` of N states, each with its condition `[N, condition]`."""
        overall, inventory, objects = (torch.as_tensor(part) for part in seen)
        context = SCALE * overall if condition is None else torch.cat([SCALE * overall, condition], dim=-1)
        for_items, for_things = self.context(context).chunk(2, dim=-1)
        owner, slot = torch.nonzero(inventory, as_tuple=True)  # what is not there costs no time
        items = torch.relu(self.items(inventory[owner, slot].long()) + for_items[owner])
        most_items = _strongest(items, owner, slot, inventory.shape)
        for_things = for_things + self.held(most_items)  # which object matters depends on what is held already
        owner, slot = torch.nonzero(objects[..., 0], as_tuple=True)
        there = objects[owner, slot]
        cells, marks = there[:, 1:3].to(overall), there[:, 3:].to(overall)
        away = cells - overall[owner, 2:4]  # follows from the rest, but is learned sooner when it is told
        places = self.places(torch.cat([SCALE * cells, away, marks], dim=-1))
        things = torch.relu(self.things(there[:, 0].long()) + places + for_things[owner])
        most_things = _strongest(self.more(things), owner, slot, objects.shape)
        return self.out(torch.cat([most_items, most_things, context], dim=-1))  # type: ignore[no-any-return]


def _strongest(values: Tensor, owner: Tensor, slot: Tensor, shape: Sequence[int]) -> Tensor:
    """The maximum `[N, hidden]` of the values, never negative, that belong to each of N states; 0 without any."""
    table = values.new_zeros(shape[0], shape[1], values.shape[-1])
    return table.index_put((owner, slot), values).amax(dim=1)


class TileEncoder(nn.Module):
    """Pictures: the pixels of each tile through small layers, then the maximum over tiles.

    Where the agent is, is not told: it is the mean place of the tiles, weighted by how much each looks like it.
    """

    def __init__(self, tile: int, hidden: int, condition: int = 0, layers: int = 2) -> None:
        super().__init__()
        self.looks = dense(3 * tile * tile, hidden, 1)
        self.agent = nn.Linear(hidden, 1)
        self.things = nn.Linear(hidden, hidden)
        self.places = nn.Linear(4, hidden, bias=False)
        self.context = nn.Linear(2 + condition, hidden)
        self.more = dense(hidden, hidden, layers - 1)
        self.out = dense(hidden + 2 + condition, hidden, 1)

    def forward(self, seen: "FilledTiles[Tensor]", condition: Tensor | None = None) -> Tensor:
        """Features `[N, hidden]` of N pictures, each with its condition `[N, condition]`."""
        count, most = seen.there.shape
        owner, slot = torch.nonzero(seen.there, as_tuple=True)
        cells = seen.cells[owner, slot]
        looks = self.looks(seen.pixels[owner, slot])
        alike = looks.new_full((count, most), -torch.inf).index_put((owner, slot), self.agent(looks)[:, 0])
        agent = (alike.softmax(dim=1)[..., None] * seen.cells).sum(dim=1)
        context = SCALE * agent if condition is None else torch.cat([SCALE * agent, condition], dim=-1)
        places = self.places(torch.cat([SCALE * cells, cells - agent[owner]], dim=-1))
        things = torch.relu(self.things(looks) + places + self.context(context)[owner])
        pooled = _strongest(self.more(things), owner, slot, (count, most))
        return self.out(torch.cat([pooled, context], dim=-1))  # type: ignore[no-any-return]


class FilledTiles(NamedTuple, Generic[_Numbers]):
    """What is seen of N pictures: the tiles that have anything in them, padded with zeros."""

    there: _Numbers  # `[N, K]` 1 for a tile
    cells: _Numbers  # `[N, K, 2]` its row and column
    pixels: _Numbers  # `[N, K, numbers]` from -1 to 1


def look(world: CraftingWorld, states: Array, shape: Mapping[str, Any]) -> FilledTiles[Array]:
    """The tiles of pictures of states."""
    side, count = shape["tile"], len(states)
    pictures = images(world, states, side)
    rows, columns = pictures.shape[1] // side, pictures.shape[2] // side
    cut = pictures.reshape(count, rows, side, columns, side, 3).transpose(0, 1, 3, 2, 4, 5)
    cut = cut.reshape(count, rows * columns, side * side, 3)
    owner, cell = np.nonzero((cut != cut[:, :, :1]).any(axis=(2, 3)))  # one colour alone is bare ground
    slot = np.arange(len(owner)) - np.searchsorted(owner, owner)
    most = int(slot.max(initial=0)) + 1
    there = np.zeros((count, most), dtype=np.uint8)
    cells, pixels = np.zeros((count, most, 2), np.float32), np.zeros((count, most, 3 * side * side), np.float32)
    there[owner, slot] = 1
    cells[owner, slot] = np.stack([cell // columns, cell % columns], axis=1)
    pixels[owner, slot] = cut[owner, cell].reshape(len(owner), -1) / 127.5 - 1
    return FilledTiles(there, cells, pixels)


VISIONS = {
    "types": Network(SetEncoder, lambda _, world: {"types": len(world.rules.things)}),
    "tile": Network(TileEncoder, lambda *_: {"tile": TILE}, look=look),
}
