"""The encoder `seen`: a network for whatever a world shows, which looks at few things.

Each classifier has its own small network. All numbers that are seen go through two layers with ReLU, side by side; each
thing, and each symbol of a grid, through one layer of its part, and the maximum over them counts; pictures go through
convolutions that all classifiers share, and the maximum over places counts. What comes of it is added up.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from rsg.core.arrays import Array, Floats
from rsg.core.errors import RsgError
from rsg.core.random import stream
from rsg.core.words import quantity
from rsg.domain import Network
from rsg.subgoals import seeing_kernels as kernels
from rsg.subgoals.classifiers import Classifiers, Weights, as_tensor, doubtful
from rsg.worlds import EitherWorld
from rsg.worlds.seen import Kind, Layout, cells_of, columns_of, kinds_of, layouts, parts_of, side_by_side

CODES = 8  # values of a column of things: if it has more, and is not their type, it is a number
TYPES = 64  # of things or symbols, at most
LARGEST = 96  # pixels of a picture's side: larger ones are made smaller
AT_ONCE = 64  # pictures: so many stay near the processor
SECOND = 32  # the width of the second layer of numbers: one alone makes no islands
FIRST = 0.5  # the spread of the first weights of layers
CHANNELS = (16, 32)  # of the convolutions


@dataclass
class Column:
    """What is known of a column before training: how often it was met, sums for its mean and spread, and its values."""

    count: int = 0
    total: float = 0.0
    squares: float = 0.0
    values: list[float] | None = field(default_factory=list)

    def meet(self, numbers: Array, most: int) -> None:
        """Get to know some of its numbers; most: how many values it may have that are told apart."""
        numbers = np.asarray(numbers, dtype=np.float64).ravel()
        self.count += numbers.size
        self.total += float(numbers.sum())
        self.squares += float((numbers**2).sum())
        if self.values is not None:
            new = np.unique(numbers)
            whole = bool((new == np.round(new)).all())
            values = sorted({*self.values, *new.tolist()})
            self.values = values if whole and len(values) <= most else None

    @property
    def mean(self) -> float:
        """Of its numbers."""
        return self.total / max(self.count, 1)

    @property
    def spread(self) -> float:
        """Their standard deviation; 1 if they never vary."""
        return max(self.squares / max(self.count, 1) - self.mean**2, 0.0) ** 0.5 or 1.0

    def plain(self) -> list[Any]:
        """As JSON."""
        return [self.count, self.total, self.squares, self.values]


@dataclass
class Seen:
    """A part of what is seen: its kind, its shape but for the states, and its columns."""

    kind: Kind
    size: tuple[int, ...]
    columns: list[Column]

    @classmethod
    def first(cls, kind: Kind, part: Array) -> "Seen":
        """A part of which nothing is known yet."""
        size = part.shape[1:]
        many = 0 if kind == "picture" else prod(size) if kind == "numbers" else cells_of(part, kind).shape[-1]
        return cls(kind, size, [Column() for _ in range(many)])

    def meet(self, part: Array) -> None:
        """Get to know what it looks like."""
        if self.kind == "picture":
            return
        rows = part.reshape(len(part), -1) if self.kind == "numbers" else cells_of(part, self.kind)
        if self.kind == "things":
            rows = rows[rows[..., 0] != 0]
        for number, column in enumerate(self.columns):
            column.meet(rows[..., number], 0 if self.kind == "numbers" else CODES if number else TYPES)

    def plain(self) -> dict[str, Any]:
        """As JSON."""
        return {"kind": self.kind, "size": list(self.size), "columns": [one.plain() for one in self.columns]}

    @classmethod
    def restored(cls, plain: Any) -> "Seen":
        """From JSON."""
        return cls(plain["kind"], tuple(plain["size"]), [Column(*one) for one in plain["columns"]])


class Eye(nn.Module):
    """Convolutions over a picture, then the maximum over places.

    Args:
        channels: of the picture.
        features: how many it gives.
        seed: of the first weights.
    """

    def __init__(self, channels: int, features: int, seed: int = 0) -> None:
        super().__init__()
        first, second = CHANNELS
        self.first = nn.Conv2d(channels, first, 4, 4)
        self.second = nn.Conv2d(first, second, 3, 2, padding=1)
        self.third = nn.Conv2d(second, features, 1)
        rng = stream(seed, "eye")
        with torch.no_grad():
            for name, one in self.named_parameters():
                spread = (2 / max(prod(one.shape[1:]), 1)) ** 0.5 if name.endswith("weight") else 0.0
                one.copy_(torch.as_tensor(spread * rng.standard_normal(tuple(one.shape))))

    def forward(self, pictures: Tensor) -> Tensor:
        """Features `[N, features]` of pictures `[N, channels, H, W]`, with numbers from 0 to 255 if they are whole."""
        half = 1.0 if pictures.is_floating_point() else 127.5
        pictures = pictures.to(self.first.weight)
        if less := -(-max(pictures.shape[2:]) // LARGEST) - 1:
            pictures = functional.avg_pool2d(pictures, less + 1, ceil_mode=True)
        if any(size % 4 for size in pictures.shape[2:]):
            pictures = functional.pad(pictures, (0, -pictures.shape[3] % 4, 0, -pictures.shape[2] % 4))
        weight, bias = self.first.weight, self.first.bias
        assert bias is not None
        if half > 1:  # from -1 to 1, without a copy of what may be large
            weight, bias = weight / half, bias - weight.sum(dim=(1, 2, 3))
        seen = torch.relu(functional.conv2d(pictures, weight, bias, stride=4))
        return torch.relu(self.third(torch.relu(self.second(seen)))).amax(dim=(2, 3))


class SeenClassifiers(Classifiers):
    """Classifiers for whatever is seen; `meet` shows them what it looks like, `grow` gives them terms.

    Args:
        shape: what is known of each part, as `shape_of` gives it.
        hidden: the width of layers, and how many features a picture has.
        single: whether I is 1 - G.
        seed: of the first weights of what all classifiers share.
    """

    first: Tensor
    bias: Tensor
    second: Tensor
    second_bias: Tensor
    head: Tensor
    things: Tensor
    pooled: Tensor
    pictures: Tensor
    offset: Tensor

    def __init__(self, shape: dict[str, Any], hidden: int = 128, single: bool = False, seed: int = 0) -> None:
        super().__init__(single)
        self.hidden, self.parts = hidden, {name: Seen.restored(one) for name, one in shape["parts"].items()}
        self.shape = shape
        pictures = {name: one for name, one in self.parts.items() if one.kind == "picture"}
        self.eyes = nn.ModuleList(Eye(one.size[-1], hidden, seed) for one in pictures.values())
        self._pictures = list(pictures)
        if pictures:
            self.batch = AT_ONCE // 4  # states that a search looks ahead: each costs a picture
        self._settle()

    def meet(self, world: EitherWorld, states: Array) -> None:
        """Get to know numbers and symbols; once there are terms, what they look like stays as it was."""
        if self.terms:
            return
        for name, part in parts_of(world.encode(states)).items():
            self._part(name, part).meet(part)
        self.shape["parts"] = {name: one.plain() for name, one in self.parts.items()}
        self._settle()

    def _part(self, name: str, part: Array) -> Seen:
        """What is known of a part; one of another shape is an error."""
        known = self.parts.get(name)
        if known is None:
            raise RsgError(
                f"these subgoals learned without '{name}', which this world shows; they saw {list(self.parts)}"
            )
        free = 1 if known.kind == "things" else 2 if known.kind in ("symbols", "picture") else 0
        if part.shape[1:][free:] != known.size[free:] or part.ndim - 1 != len(known.size):
            raise RsgError(
                f"these subgoals learned where '{name}' is {known.kind} {list(known.size)}, this world shows "
                f"{list(part.shape[1:])}; a network for numbers needs worlds of one size"
            )
        return known

    def _settle(self) -> None:
        """The weights of each classifier follow from what was met."""
        self.numbers_met = [column for one in self.parts.values() if one.kind == "numbers" for column in one.columns]
        self.sets = {name: one for name, one in self.parts.items() if one.kind in ("symbols", "things")}
        rows, self._first_row = 0, dict[tuple[str, int], int]()
        for name, one in self.sets.items():
            for number, column in enumerate(one.columns):
                self._first_row[name, number] = rows
                rows += 1 if column.values is None else len(column.values)
            self._first_row[name, -1] = rows  # the offset of its layer
            rows += 1
        self._rows, networks, hidden = rows, 1 if self.single else 2, self.hidden
        count = len(self.numbers_met)
        weights = {
            "first": Weights((networks, count, hidden), FIRST),
            "bias": Weights((networks, hidden), FIRST),
            "second": Weights((networks, hidden, SECOND), (2 / hidden) ** 0.5),
            "second_bias": Weights((networks, SECOND)),
            "head": Weights((networks, SECOND), SECOND**-0.5),
            "things": Weights((networks, rows, hidden), FIRST),
            "pooled": Weights((networks, len(self.sets), hidden), hidden**-0.5),
            "pictures": Weights((networks, len(self._pictures), hidden), hidden**-0.5),
            "offset": doubtful(networks),
        }
        self._weights = weights
        for name, wanted in weights.items():
            self.register_parameter(name, nn.Parameter(torch.zeros(0, *wanted.shape).to(self._like())))

    def _like(self) -> Tensor:
        return next(iter(self.parameters()), torch.zeros(0))

    def groups(self) -> list[Tensor]:
        """Numbers, values of columns of things, and features of pictures."""
        return [self.first, self.things, self.pictures.flatten(2)[..., None]]

    def looks_at(self, term: str, world: EitherWorld | None) -> list[tuple[str, float]]:
        """Such as "agent x", "a door in grid", "a colour 2 in grid", and pictures as a whole."""
        names = self._names(world)
        one = self.numbers([term])[0]
        strong = [rows.detach()[one, 0].flatten(1).norm(dim=-1) for rows in (self.first, self.things)]
        sizes = torch.cat([*strong, self.pictures.detach()[one, 0].norm(dim=-1)]).tolist()
        total = sum(sizes) or 1.0
        found = [(name, size / total) for name, size in zip(names, sizes, strict=True) if name and size]
        return sorted(found, key=lambda pair: -pair[1])

    def _names(self, world: object) -> list[str]:
        found = []
        for name, one in self.parts.items():
            if one.kind == "numbers":
                found += [f"{name} {column.name}" for column in columns_of(world, name, len(one.columns))]
        for name, one in self.sets.items():
            for known, column in zip(one.columns, columns_of(world, name, len(one.columns)), strict=True):
                values = [f" {column.said(value)}" for value in known.values] if known.values is not None else [""]
                found += [f"{name} {column.name}{value}" for value in values]
            found.append("")
        return found + self._pictures

    # What is seen, as tensors, and how log-odds follow.

    def taken(self, seen: Any) -> dict[str, Tensor]:
        """The numbers, the rows of weights of each thing with what they count, and the pictures."""
        like = self._like()
        parts: dict[str, Any] = {name: as_tensor(part).to(like.device) for name, part in parts_of(seen).items()}
        shown = {name: (self._part(name, part), part) for name, part in parts.items() if name in self.parts}
        numbers = [part.flatten(1).double() for one, part in shown.values() if one.kind == "numbers"]
        some = next(iter(parts.values()))
        taken = {"": some.new_empty((some.shape[0], 0))}
        if numbers:
            means, spreads = ([getattr(one, what) for one in self.numbers_met] for what in ("mean", "spread"))
            rows = torch.cat(numbers, dim=1)
            taken[""] = ((rows - rows.new_tensor(means)) / rows.new_tensor(spreads)).to(like)
        for name, (one, part) in shown.items():
            if one.kind == "picture":
                taken[name] = part.permute(0, 3, 1, 2)
            elif one.kind != "numbers":
                cells: Any = cells_of(part, one.kind)
                which, size = self._coded(name, one, cells.flatten(1, -2).double())
                taken[name], taken[f"{name} size"] = which, size.to(like)
        return taken

    def _coded(self, name: str, one: Seen, cells: Tensor) -> tuple[Tensor, Tensor]:
        """For each thing `[N, K, C]` the rows of weights of its columns, and how much each counts."""
        which, size = list[Tensor](), list[Tensor]()
        for number, column in enumerate(one.columns):
            here, row = cells[..., number], self._first_row[name, number]
            if column.values is None:
                which.append(torch.full_like(here, row, dtype=torch.int64))
                size.append((here - column.mean) / column.spread)
            else:  # one that was never met counts for nothing
                same = (here[..., None] == here.new_tensor(column.values)).long()
                which.append(row + (same * torch.arange(len(column.values), device=here.device)).sum(dim=-1))
                size.append(same.sum(dim=-1).to(here))
        sizes = torch.stack(size, dim=-1)
        if one.kind == "things":
            sizes = torch.where(cells[..., :1] == 0, -torch.inf, sizes)  # there is none
        return torch.stack(which, dim=-1), sizes

    def odds(self, seen: dict[str, Tensor], numbers: Sequence[int]) -> Tensor:
        """Log-odds `[N, terms, networks]`."""
        chosen = list(numbers)
        total = self.offset[chosen]
        if self.numbers_met:
            layer = torch.einsum("nd,tmdh->ntmh", seen[""], self.first[chosen]) + self.bias[chosen]
            layer = torch.einsum("ntmh,tmhk->ntmk", torch.relu(layer), self.second[chosen]) + self.second_bias[chosen]
            total = total + (torch.relu(layer) * self.head[chosen]).sum(dim=-1)
        for place, name in enumerate(self.sets):
            which, size = seen[name], seen[f"{name} size"]
            there = torch.isfinite(size[..., 0])
            size = torch.where(there[..., None], size, 0.0)
            columns = []
            for one in chosen:
                table = self.things[one].transpose(0, 1)  # [rows, networks, hidden]
                layer = table[self._first_row[name, -1]] + (table[which] * size[..., None, None]).sum(dim=2)
                best = (torch.relu(layer) * there[..., None, None]).amax(dim=1) if which.shape[1] else layer.sum(dim=1)
                columns.append((best * self.pooled[one, :, place]).sum(dim=-1))
            total = total + torch.stack(columns, dim=1)
        for place, (name, eye) in enumerate(zip(self._pictures, self.eyes, strict=True)):
            total = total + torch.einsum("nf,tmf->ntm", eye(seen[name]), self.pictures[chosen][:, :, place])
        return total.expand(seen[""].shape[0], *total.shape[-2:])

    def evaluate(self, world: EitherWorld, states: Array, numbers: Sequence[int]) -> Floats:
        """Log-odds `[N, terms, 2]` of states, without a gradient: compiled where there are no pictures."""
        if self._pictures:
            parts = [states[i : i + AT_ONCE] for i in range(0, max(len(states), 1), AT_ONCE)]
            return np.concatenate([super(SeenClassifiers, self).evaluate(world, part, numbers) for part in parts])
        rows, found = side_by_side(self._checked(world, states))
        odds = np.empty((len(states), len(numbers), self.networks))
        kernels.forward(self._tables(found, numbers, self.networks), rows, odds)
        return np.concatenate([odds, -odds], axis=-1) if self.single else odds

    def compiled(
        self, world: EitherWorld, numbers: Sequence[int], separate: bool, state: Array
    ) -> tuple[Any, Any] | None:
        """The kernel and its tables for the product search, where all that is seen lies in the state itself."""
        found = layouts(world, state)
        parts = self._checked(world, state[None])
        if self._pictures or found.keys() != parts.keys():
            return None
        return kernels.goal, self._tables(found, numbers, min(self.networks, 1 + separate))

    def _checked(self, world: EitherWorld, states: Array) -> dict[str, Array]:
        """The parts that are seen, of the shapes that were learned."""
        parts = parts_of(world.encode(states))
        for name, part in parts.items():
            self._part(name, part)
        return parts

    def _tables(self, found: dict[str, Layout], numbers: Sequence[int], networks: int) -> kernels.Tables:
        """All that the kernels know, for some terms, where parts lie like that in rows."""
        places = [place for name, one in self.parts.items() if one.kind == "numbers" for place in _places(found[name])]
        columns, values = list[tuple[float, ...]](), list[float]()
        for name, one in self.sets.items():
            for number, column in enumerate(one.columns):
                mine, row = column.values or [], self._first_row[name, number]
                columns.append((len(values), len(values) + len(mine), row, column.mean, column.spread))
                values += mine
        sets = [
            kernels.of_set(one.kind, found[name], len(one.columns), self._first_row[name, -1])
            for name, one in self.sets.items()
        ]
        chosen = list(numbers)
        of_numbers = [self.first, self.bias, self.second, self.second_bias, self.head]
        weights = [*of_numbers, self.things, self.pooled, self.offset]
        made: list[Any] = [
            np.array(places, dtype=np.int64),
            np.array([one.mean for one in self.numbers_met], dtype=np.float64),
            np.array([one.spread for one in self.numbers_met], dtype=np.float64),
            np.array(sets, dtype=kernels.SET),
            np.array(columns, dtype=kernels.COLUMN),
            np.array(values, dtype=np.float64),
            *(np.ascontiguousarray(one.detach().cpu().float().numpy()[chosen, :networks]) for one in weights),
            np.empty((2, max(self.hidden, SECOND)), dtype=np.float32),
        ]
        return kernels.Tables(*made)


def _places(layout: Layout) -> list[int]:
    """The columns of all numbers of a part in a row."""
    first, shape, apart = layout
    return [first + int(np.dot(place, apart)) for place in np.ndindex(*shape)]


def _known(seen: Any, world: Any) -> dict[str, Any]:
    """The kinds and sizes of all parts, of which nothing more is known."""
    parts = parts_of(seen)
    kinds = kinds_of(world, parts)
    return {"parts": {name: Seen.first(kinds[name], part).plain() for name, part in parts.items()}}


def told_of(shape: dict[str, Any]) -> str:
    """What is seen, in words: "agent (3 numbers), grid (symbols, 8 × 8)"."""
    words = []
    for name, one in shape["parts"].items():
        size = " × ".join(map(str, one["size"][:2]))
        count = prod(one["size"])
        some = {"numbers": quantity(count, "number"), "things": quantity(one["size"][0], "thing")}.get(one["kind"])
        words.append(f"{name} ({some or one['kind'] + ', ' + size})")
    return ", ".join(words)


def _build(how: Any, shape: dict[str, Any]) -> SeenClassifiers:
    if "parts" not in shape:
        raise RsgError(
            "this run has the encoder 'flat' of an older rsg; use that, or train again: 'seen' took its place"
        )
    return SeenClassifiers(shape, how.hidden, how.single, how.seed)


SEEN = Network(_build, _known)
PICTURES = Network(_build, _known, {"hidden": 32, "depth": 2, "batch": 12})
