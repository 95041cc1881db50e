"""The encoder `sets` (paper, appendix "State feature extractor"): one small network per classifier, on sets of objects.

Each item held and each object on the map goes through a linear layer with ReLU; a maximum over the items and one over
the objects give two vectors, which together with the overall features decide.
"""

from collections.abc import Sequence
from typing import Any, Self, TypeGuard

import numpy as np
import torch
from torch import Tensor

from rsg.core.arrays import Array, Floats
from rsg.core.errors import RsgError
from rsg.domains.crafting import CraftingWorld, Sets
from rsg.domains.crafting import set_kernels as kernels
from rsg.subgoals.classifiers import Classifiers, Part, Weights, doubtful
from rsg.worlds import EitherWorld

ROW, COLUMN, STATUS, HERE = range(4)  # features of an object besides its type
PLACES = ("the row of a thing", "the column of a thing", "a thing switched on or open", "a thing where the agent is")
OVERALL = ("height of the map", "width of the map", "the agent's row", "the agent's column", "number of items held")
TYPES = 47  # of objects in the paper's Crafting World
SCALE = 0.1  # of the overall features, which are counts


class SetClassifiers(Classifiers):
    """G_o and I_o on `Sets`, each with a network of its own.

    Parameters have the shape `[terms, 2, ...]`: G and I of each term (`[terms, 1, ...]` if single).
    """

    fast = True  # the compiled form is used where there is one; experiments switch it off to see what it is worth
    inventory: Tensor
    objects: Tensor
    places: Tensor
    bias: Tensor
    head: Tensor
    overall: Tensor
    offset: Tensor

    def __init__(self, hidden: int = 128, types: int = TYPES, single: bool = False) -> None:
        networks = 1 if single else 2
        weights = {
            "inventory": Weights((networks, types + 1, hidden), 0.5),
            "objects": Weights((networks, types + 1, hidden), 0.1),
            "places": Weights((networks, 4, hidden), 0.1),
            "bias": Weights((networks, 2, hidden)),
            "head": Weights((networks, 2, hidden), hidden**-0.5),
            "overall": Weights((networks, len(OVERALL))),
            "offset": doubtful(networks),
        }
        super().__init__(single, weights)
        self.hidden, self.types = hidden, types
        self._tables: dict[Any, Any] = {}

    def grow(self, terms: Sequence[str], seed: int = 0) -> Self:
        """Networks for new terms."""
        self._tables.clear()
        return super().grow(terms, seed)

    def __getstate__(self) -> dict[str, Any]:
        """For copies: without the tables, which are made anew."""
        return {**self.__dict__, "_tables": {}}

    def groups(self) -> list[Tensor]:
        """Types held, types on the map, features of their places, that anything is held or there, and overall ones."""
        return [self.inventory, self.objects, self.places, self.bias, self.overall[..., None]]

    def looks_at(self, term: str, world: EitherWorld | None) -> list[tuple[str, float]]:
        """Such as "axe held", "tree on the map", "the agent's row"."""
        if not isinstance(world, CraftingWorld):
            return []
        types = [thing.name for thing in world.rules.things]
        held, there = [f"{name} held" for name in types], [f"{name} on the map" for name in types]
        names = [
            ["", *held],
            ["", *there],
            PLACES,
            ("anything held", "anything on the map"),
            OVERALL,
        ]  # no type: padding
        sizes = [rows.detach()[self.numbers([term])[0], 0].norm(dim=-1).tolist() for rows in self.groups()]
        pairs = zip(names, sizes, strict=True)
        found = {name: size for some in pairs for name, size in zip(*some, strict=False) if name and size}
        total = sum(found.values())
        return sorted(((name, size / total) for name, size in found.items()), key=lambda one: -one[1])

    def odds(self, seen: Sets, numbers: Sequence[int]) -> Tensor:
        """Log-odds `[N, terms, networks]`."""
        overall = torch.as_tensor(seen.overall).to(self.head)
        inventory, objects = torch.as_tensor(seen.inventory), torch.as_tensor(seen.objects)
        size = overall[:, None, :2]
        rest = torch.cat([objects[..., 1:3] / size, objects[..., 3:].to(overall)], dim=-1).to(overall)
        things = (objects[..., 0], rest)
        columns = []
        for number in numbers:
            networks = [self._one(number, n, inventory, things, overall * SCALE) for n in range(self.networks)]
            columns.append(torch.stack(networks, dim=-1))
        return torch.stack(columns, dim=1)

    def _one(self, t: int, n: int, inventory: Tensor, objects: tuple[Tensor, Tensor], scaled: Tensor) -> Tensor:
        """Log-odds `[N]` of one network; of objects the types and the other features."""
        types, rest = objects
        items = self.inventory[t, n][inventory] + self.bias[t, n, 0]
        things = self.objects[t, n][types] + rest @ self.places[t, n] + self.bias[t, n, 1]
        items = torch.relu(items) * (inventory > 0)[..., None]
        things = torch.relu(things) * (types > 0)[..., None]
        pooled = torch.cat([items.amax(dim=1), things.amax(dim=1)], dim=-1)
        return pooled @ self.head[t, n].flatten() + scaled @ self.overall[t, n] + self.offset[t, n]

    def _compiles(self, world: EitherWorld) -> TypeGuard[CraftingWorld]:
        """Whether the compiled form can be used."""
        if isinstance(world, CraftingWorld) and len(world.rules.things) > self.types:
            raise RsgError(
                f"these subgoals know {self.types} types of objects, the world has {len(world.rules.things)}"
            )
        return self.fast and self.head.device.type == "cpu" and isinstance(world, CraftingWorld)

    def tables(self, world: CraftingWorld) -> tuple[Tensor, Tensor]:
        """Vectors `[N, B, H]` and base `[N, P + 1]` of `kernels.Tables`, as differentiable functions of parameters."""
        plain = torch.as_tensor(world.plain.astype(np.int64))
        changed = (plain != torch.arange(len(plain))).to(self.head)
        rows = torch.arange(world.height).repeat_interleave(world.width).to(self.head)
        columns = torch.arange(world.width).repeat(world.height).to(self.head)
        cells = torch.stack([rows / world.height, columns / world.width], dim=-1)  # [cells, 2]
        sizes = torch.tensor([world.height, world.width]).to(self.head).expand(len(rows), 2)
        place = SCALE * torch.cat([sizes, rows[:, None], columns[:, None]], dim=-1)  # [cells, 4]
        vectors = [
            self.inventory[:, :, plain] + self.bias[:, :, :1],
            self.objects[:, :, plain] + changed[:, None] * self.places[:, :, None, STATUS] + self.bias[:, :, 1:],
            cells @ self.places[:, :, : COLUMN + 1],
            self.places[:, :, HERE:],
            self.head,
        ]
        base = [
            (self.overall[:, :, None, :4] * place).sum(dim=-1) + self.offset[..., None],
            SCALE * self.overall[:, :, 4:],
        ]
        return torch.cat(vectors, dim=2).flatten(0, 1), torch.cat(base, dim=2).flatten(0, 1)

    def _made(self, world: CraftingWorld) -> tuple[tuple[Tensor, Tensor], kernels.Tables]:
        """The tables, and the same as arrays; made anew when a parameter has changed."""
        key = (world.height, world.width, id(world.rules))
        version = tuple((id(one), getattr(one, "_version", 0)) for one in self._parameters.values())
        if key not in self._tables or self._tables[key][0] != version:
            with torch.enable_grad():
                tables = self.tables(world)
            vectors, base = (table.detach().float().flatten(0, -2).numpy().copy() for table in tables)
            sizes = (len(world.rules.names), world.height * world.width, world.width, world.capacity)
            made = kernels.Tables(vectors, base, *sizes)
            self._tables[key] = (version, (tables, made), world.rules)  # its id is part of the key
        found: tuple[tuple[Tensor, Tensor], kernels.Tables] = self._tables[key][1]
        return found

    def _memory(self, world: CraftingWorld, numbers: Sequence[int], networks: int) -> kernels.Memory:
        """For the first so many networks of some terms."""
        wanted = self.networks * np.asarray(numbers, dtype=np.int64)[:, None] + np.arange(networks)
        return kernels.empty_memory(wanted, world.state_width, self.hidden)

    def evaluate(self, world: EitherWorld, states: Array, numbers: Sequence[int]) -> Floats:
        """Log-odds `[N, terms, 2]` of states, without a gradient."""
        if not self._compiles(world):
            return super().evaluate(world, states, numbers)
        states = world.checked(states)
        out = np.empty((len(states), len(numbers), 2))
        kernels.forward(self._made(world)[1], self._memory(world, numbers, self.networks), states, out)
        return out

    def backward(self, world: EitherWorld, parts: Sequence[Part]) -> None:
        """Add to the parameters' gradients; only entries with a gradient are looked at."""
        if not self._compiles(world):
            super().backward(world, parts)
            return
        tables, arrays = self._made(world)
        slopes = kernels.Slopes(np.zeros_like(arrays.vectors), np.zeros_like(arrays.base))
        for states, numbers, slope in parts:
            memory = self._memory(world, numbers, self.networks)
            kernels.backward(arrays, memory, states, slope, slopes)
        passed = [torch.as_tensor(one).to(table).view_as(table) for table, one in zip(tables, slopes, strict=True)]
        torch.autograd.backward(list(tables), passed)
        self._tables.clear()  # a step follows, and a fused optimiser changes parameters without a trace

    def compiled(
        self, world: EitherWorld, numbers: Sequence[int], separate: bool, state: Array | None = None
    ) -> tuple[Any, Any] | None:
        """The kernel and its tables for the product search, see `rsg.search.Goals`."""
        del state  # all states of a world look alike
        if not self._compiles(world):
            return None
        memory = self._memory(world, numbers, min(self.networks, 1 + separate))
        return kernels.goal, kernels.Asked(self._made(world)[1], memory)
