"""The encoder `sets` (paper, appendix "State feature extractor"): one small network per classifier, on sets of objects.

Each item held and each object on the map goes through a linear layer with ReLU; a maximum over the items and one over
the objects give two vectors, which together with the overall features decide. The paper also shows the overall
features to the first layer: that is the option `context`, which has no compiled form.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from rsg.core.errors import RsgError
from rsg.core.random import stream
from rsg.subgoals import set_kernels as kernels
from rsg.subgoals.classifiers import DOUBT, Classifiers, Floats, Part, doubtful
from rsg.worlds import World
from rsg.worlds.crafting import CraftingWorld, Sets

ROW, COLUMN, STATUS, HERE = range(4)  # features of an object besides its type
OVERALL = 5
TYPES = 47  # of objects in the paper's Crafting World
SCALE = 0.1  # of the overall features, which are counts


class SetClassifiers(Classifiers):
    """G_o and I_o on `Sets`, each with a network of its own.

    Args:
        terms: the terms.
        single: whether I is 1 - G.
        hidden: the width of a layer.
        types: how many types of objects there are.
        seed: of the first weights; those of a term depend on the seed and the term alone.
        fast: whether to use the compiled form: on the CPU, in a `CraftingWorld`, without context.
        context: whether the first layer sees the overall features too.
        doubt: minus the first log-odds of G.

    Parameters have the shape `[terms, 2, ...]`: G and I of each term (`[terms, 1, ...]` if single).
    """

    inventory: Tensor
    objects: Tensor
    places: Tensor
    context: Tensor
    bias: Tensor
    head: Tensor
    overall: Tensor
    offset: Tensor

    def __init__(
        self,
        terms: Sequence[str],
        single: bool = False,
        hidden: int = 128,
        types: int = TYPES,
        seed: int = 0,
        fast: bool = True,
        context: bool = False,
        doubt: float = DOUBT,
    ) -> None:
        super().__init__((), single)
        self.hidden, self.types, self.fast, self.doubt = hidden, types, fast, doubt
        shapes = {
            "inventory": (types + 1, hidden),
            "objects": (types + 1, hidden),
            "places": (4, hidden),
            **({"context": (2, OVERALL, hidden)} if context else {}),
            "bias": (2, hidden),
            "head": (2, hidden),
            "overall": (OVERALL,),
            "offset": (),
        }
        for name, shape in shapes.items():
            self.register_parameter(name, nn.Parameter(torch.zeros(0, self.networks, *shape)))
        self._tables: dict[Any, Any] = {}
        self.grow(terms, seed)

    @property
    def networks(self) -> int:
        """Networks per term."""
        return 1 if self.single else 2

    def grow(self, terms: Sequence[str], seed: int) -> None:
        """Networks for new terms."""
        new = [term for term in dict.fromkeys(terms) if term not in self.terms]
        scale = {"inventory": 0.5, "objects": 0.1, "places": 0.1, "context": 0.1, "head": self.hidden**-0.5}
        for name, old in list(self.named_parameters()):
            fresh = [self._draw(stream(seed, "term", term, name), old.shape[1:], scale.get(name, 0.0)) for term in new]
            if name == "offset":
                fresh = [one + doubtful(self.networks, self.doubt) for one in fresh]
            if fresh:
                grown = torch.cat([old.detach(), torch.stack(fresh).to(old)])
                self.register_parameter(name, nn.Parameter(grown))
        self.terms += tuple(new)
        self._tables.clear()

    def __getstate__(self) -> dict[str, Any]:
        """For copies: without the tables, which are made anew."""
        return {**self.__dict__, "_tables": {}}

    @staticmethod
    def _draw(rng: np.random.Generator, shape: Sequence[int], scale: float) -> Tensor:
        return torch.as_tensor(scale * rng.standard_normal(tuple(shape)), dtype=torch.float32)

    def odds(self, seen: Sets, numbers: Sequence[int]) -> Tensor:
        """Log-odds `[N, terms, networks]`."""
        overall = torch.as_tensor(seen.overall).to(self.head)
        inventory, objects = torch.as_tensor(seen.inventory), torch.as_tensor(seen.objects)
        size = overall[:, None, :2]
        rest = torch.cat([objects[..., 1:3] / size, objects[..., 3:].to(overall)], dim=-1).to(overall)
        columns = []
        for number in numbers:
            networks = [self._one(number, n, inventory, objects[..., 0], rest, overall) for n in range(self.networks)]
            columns.append(torch.stack(networks, dim=-1))
        return torch.stack(columns, dim=1)

    def _one(self, t: int, n: int, inventory: Tensor, types: Tensor, rest: Tensor, overall: Tensor) -> Tensor:
        """Log-odds `[N]` of one network."""
        scaled = overall * SCALE
        items = self.inventory[t, n][inventory] + self.bias[t, n, 0]
        things = self.objects[t, n][types] + rest @ self.places[t, n] + self.bias[t, n, 1]
        if hasattr(self, "context"):
            items = items + (scaled @ self.context[t, n, 0])[:, None]
            things = things + (scaled @ self.context[t, n, 1])[:, None]
        items = torch.relu(items) * (inventory > 0)[..., None]
        things = torch.relu(things) * (types > 0)[..., None]
        pooled = torch.cat([items.amax(dim=1), things.amax(dim=1)], dim=-1)
        return pooled @ self.head[t, n].flatten() + scaled @ self.overall[t, n] + self.offset[t, n]

    def _compiles(self, world: World) -> bool:
        """Whether the compiled form can be used."""
        if isinstance(world, CraftingWorld) and len(world.rules.things) > self.types:
            raise RsgError(
                f"these subgoals know {self.types} types of objects, the world has {len(world.rules.things)}"
            )
        plain = not hasattr(self, "context") and self.head.device.type == "cpu"
        return self.fast and plain and isinstance(world, CraftingWorld)

    def tables(self, world: CraftingWorld) -> kernels.Tables:
        """The parameters as the kernels want them for maps of one size, a differentiable function of the parameters."""
        plain = torch.as_tensor(world.plain.astype(np.int64))
        changed = (plain != torch.arange(len(plain))).to(self.head)
        rows = torch.arange(world.height).repeat_interleave(world.width).to(self.head)
        columns = torch.arange(world.width).repeat(world.height).to(self.head)
        cells = torch.stack([rows / world.height, columns / world.width], dim=-1)  # [cells, 2]
        sizes = torch.tensor([world.height, world.width]).to(self.head).expand(len(rows), 2)
        place = SCALE * torch.cat([sizes, rows[:, None], columns[:, None]], dim=-1)  # [cells, 4]
        return kernels.Tables(
            items=self.inventory[:, :, plain] + self.bias[:, :, :1],
            things=self.objects[:, :, plain] + changed[:, None] * self.places[:, :, None, STATUS] + self.bias[:, :, 1:],
            cells=cells @ self.places[:, :, : COLUMN + 1],
            here=self.places[:, :, HERE],
            head=self.head,
            base=(self.overall[:, :, None, :4] * place).sum(dim=-1) + self.offset[..., None],
            more=SCALE * self.overall[:, :, 4:],
        )

    def _made(self, world: CraftingWorld) -> tuple[kernels.Tables, kernels.Tables]:
        """The tables, and the same as arrays; made anew when a parameter has changed."""
        key = (world.height, world.width, id(world.rules))
        version = tuple((id(one), getattr(one, "_version", 0)) for one in self._parameters.values())
        if key not in self._tables or self._tables[key][0] != version:
            with torch.enable_grad():
                tables = self.tables(world)
            arrays = [table.detach().float().flatten(0, -2).numpy().copy() for table in tables]
            self._tables[key] = (version, (tables, kernels.Tables(*arrays)), world.rules)  # its id is part of the key
        found: tuple[kernels.Tables, kernels.Tables] = self._tables[key][1]
        return found

    def _wanted(self, numbers: Sequence[int]) -> NDArray[np.int64]:
        """The rows of the networks of some terms, `[terms, networks]`."""
        return self.networks * np.asarray(numbers, dtype=np.int64)[:, None] + np.arange(self.networks)

    def evaluate(self, world: World, states: NDArray[Any], numbers: Sequence[int]) -> Floats:
        """Log-odds `[N, terms, 2]` of states, without a gradient."""
        if not self._compiles(world):
            return super().evaluate(world, states, numbers)
        assert isinstance(world, CraftingWorld)
        states = world.checked(states)
        out = np.empty((len(states), len(numbers), 2))
        kernels.forward(world.tables[0], tuple(self._made(world)[1]), states, self._wanted(numbers), out)
        return out

    def backward(self, world: World, parts: Sequence[Part]) -> None:
        """Add to the parameters' gradients; only entries with a gradient are looked at."""
        if not self._compiles(world):
            super().backward(world, parts)
            return
        assert isinstance(world, CraftingWorld)
        tables, flat = self._made(world)
        arrays = tuple(flat)
        gradients = tuple(np.zeros_like(array) for array in arrays)
        for states, numbers, gradient in parts:
            kernels.backward(world.tables[0], arrays, states, self._wanted(numbers), gradient, gradients)
        slopes = [torch.as_tensor(g).to(t).view_as(t) for t, g in zip(tables, gradients, strict=True)]
        torch.autograd.backward(list(tables), slopes)
        self._tables.clear()  # a step follows, and a fused optimiser changes parameters without a trace

    def compiled(self, world: World, numbers: Sequence[int], separate: bool) -> tuple[Any, Any] | None:
        """The kernel and its tables for the product search, see `rsg.search.Goals`."""
        if not self._compiles(world):
            return None
        assert isinstance(world, CraftingWorld)
        wanted = self._wanted(numbers)[:, : 1 + separate].copy()
        scratch = np.empty((4, self.hidden), dtype=np.float32)
        memory = kernels.empty_memory(world.state_width, wanted.size, self.hidden)
        return kernels.goal, (world.tables[0], tuple(self._made(world)[1]), wanted, memory, scratch)
