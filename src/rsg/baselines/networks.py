"""Parts that baselines are built from: words of a task, what a world shows, and actions, each as a torch module.

Sequences lie flat, one demonstration after the other (see `batches`), so that no time is spent on padding.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from functools import lru_cache
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import logsigmoid, one_hot
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from rsg.core.errors import RsgError
from rsg.language import Task, Term
from rsg.language.tree import CONNECTIVES
from rsg.subgoals.encoders import flat
from rsg.training.data import machine_of
from rsg.worlds.crafting import Sets
from rsg.worlds.playroom import PlayroomWorld

PUNCTUATION = ("(", ")", *CONNECTIVES)
SCALE = 0.1  # of counts and cells, so that all inputs are about as large
ROBOT, NEAR = 4, 5.0  # numbers that tell the robot's pose; how much larger distances to it are than places
LEAST_VARIANCE = 1e-3  # of a continuous action: more certainty is never of use

Shape = dict[str, Any]
"""What a network must know of a world: `types` or `inputs` of what it shows; `actions` or `reach` of what is done."""


def shape_of(world: Any, seen: Any) -> Shape:
    """The shape of a world, given what it shows of some state."""
    shows = {"types": len(world.rules.things)} if isinstance(seen, Sets) else {"inputs": int(flat(seen).shape[1])}
    if isinstance(world, PlayroomWorld):
        shows["effectors"] = len(world.layout.effectors)
    if hasattr(world, "actions"):
        return {**shows, "actions": len(world.actions)}
    return {**shows, "reach": [float(most) for most in world.reach]}


@lru_cache(maxsize=4096)
def words_of(text: str) -> tuple[str, ...]:
    """The words of a description as rsg writes it: terms, connectives, parentheses.

    >>> words_of("a > (b | c)")
    ('a', 'then', 'b', 'or', 'c')
    >>> words_of("(a then b) and c")
    ('(', 'a', 'then', 'b', ')', 'and', 'c')
    """
    return tuple(_words(machine_of(text).task))


def _words(task: Task) -> Iterator[str]:
    if isinstance(task, Term):
        yield str(task)
        return
    for number, part in enumerate(task.parts):  # type: ignore[attr-defined]
        if number:
            yield task.word  # type: ignore[attr-defined]
        loose = part.binding <= task.binding
        yield from ("(", *_words(part), ")") if loose else _words(part)


class TaskEncoder(nn.Module):
    """The bi-directional LSTM of the paper over the words of a description, averaged over the words.

    Args:
        terms: those that it knows.
        hidden: the width of each direction; it gives twice as many features.
    """

    def __init__(self, terms: Sequence[str], hidden: int) -> None:
        super().__init__()
        self.vocabulary = (*PUNCTUATION, *terms)
        self.features = 2 * hidden
        self.words = nn.Embedding(len(self.vocabulary), hidden)
        self.lstm = nn.LSTM(hidden, hidden, batch_first=True, bidirectional=True)

    def forward(self, texts: Sequence[str]) -> Tensor:
        """Features `[texts, 2·hidden]`; a text that comes several times is read once."""
        distinct = {text: number for number, text in enumerate(dict.fromkeys(texts))}
        rows = [[place_of(word, self.vocabulary) for word in words_of(text)] for text in distinct]
        lengths = torch.tensor([len(row) for row in rows])
        numbers = torch.zeros(len(rows), int(lengths.max()), dtype=torch.int64)
        for i, row in enumerate(rows):
            numbers[i, : len(row)] = torch.tensor(row)
        embedded = self.words(numbers.to(self.words.weight.device))
        packed = pack_padded_sequence(embedded, lengths, batch_first=True, enforce_sorted=False)
        read, _ = pad_packed_sequence(self.lstm(packed)[0], batch_first=True)  # zero beyond the end
        features: Tensor = read.sum(dim=1) / lengths[:, None].to(read)
        return features[[distinct[text] for text in texts]]


def place_of(word: str, vocabulary: Sequence[str]) -> int:
    """Where a word stands in a vocabulary; one that is not in it is an error."""
    if word not in vocabulary:
        near = get_close_matches(word, vocabulary, n=1)
        raise RsgError(f"this run never learned the term '{word}'; " + (f"did you mean {near[0]}?" if near else ""))
    return vocabulary.index(word)


class SetEncoder(nn.Module):
    """The paper's network for sets: each object through small layers, then the maximum over objects.

    Args:
        types: of objects.
        hidden: the width of every layer, and how many features it gives.
        condition: how many features of the task each object is seen with; 0: none.
        layers: per object on the map; the paper has one. Items held have one: they are nowhere.
    """

    def __init__(self, types: int, hidden: int, condition: int = 0, layers: int = 2) -> None:
        super().__init__()
        self.items = nn.Embedding(types + 1, hidden)
        self.things = nn.Embedding(types + 1, hidden)
        self.places = nn.Linear(6, hidden, bias=False)
        self.context = nn.Linear(5 + condition, 2 * hidden)
        self.held = nn.Linear(hidden, hidden, bias=False)
        self.more = _layers(hidden, layers - 1)
        self.out = nn.Sequential(nn.Linear(2 * hidden + 5 + condition, hidden), nn.ReLU())

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


def _layers(hidden: int, count: int) -> nn.Sequential:
    return nn.Sequential(*(layer for _ in range(count) for layer in (nn.Linear(hidden, hidden), nn.ReLU())))


def _strongest(values: Tensor, owner: Tensor, slot: Tensor, shape: Sequence[int]) -> Tensor:
    """The maximum `[N, hidden]` of the values, never negative, that belong to each of N states; 0 without any."""
    table = values.new_zeros(shape[0], shape[1], values.shape[-1])
    return table.index_put((owner, slot), values).amax(dim=1)


class NumberEncoder(nn.Module):
    """Layers over all the numbers that a world shows.

    Args:
        inputs: how many.
        hidden: the width of every layer, and how many features it gives.
        condition: how many features of the task are read with them; 0: none.
        layers: how many.
    """

    def __init__(self, inputs: int, hidden: int, condition: int = 0, layers: int = 2) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(inputs + condition, hidden), nn.ReLU(), *_layers(hidden, layers - 1))

    def forward(self, seen: Any, condition: Tensor | None = None) -> Tensor:
        """Features `[N, hidden]`."""
        numbers = flat(seen)
        return self.layers(numbers if condition is None else torch.cat([numbers, condition], dim=-1))  # type: ignore[no-any-return]


class PlaceEncoder(nn.Module):
    """What Playroom shows, read as a set: each effector through small layers, then the maximum over effectors.

    Args:
        effectors: how many; the numbers before their places are those of the robot.
        hidden, condition, layers: as for `SetEncoder`.
    """

    def __init__(self, effectors: int, hidden: int, condition: int = 0, layers: int = 2) -> None:
        super().__init__()
        self.names = nn.Parameter(torch.randn(effectors, hidden))
        self.places = nn.Linear(4, hidden, bias=False)
        self.context = nn.Linear(ROBOT + condition, hidden)
        self.more = _layers(hidden, layers - 1)
        self.out = nn.Sequential(nn.Linear(hidden + ROBOT + condition, hidden), nn.ReLU(), *_layers(hidden, 1))

    def forward(self, seen: Tensor, condition: Tensor | None = None) -> Tensor:
        """Features `[N, hidden]`."""
        robot, places = seen[:, :ROBOT], seen[:, ROBOT:].reshape(len(seen), -1, 2)
        context = robot if condition is None else torch.cat([robot, condition], dim=-1)
        away = NEAR * (places - robot[:, None, :2])
        things = self.names + self.places(torch.cat([places, away], dim=-1)) + self.context(context)[:, None]
        pooled = self.more(torch.relu(things)).amax(dim=1)
        return self.out(torch.cat([pooled, context], dim=-1))  # type: ignore[no-any-return]


def state_encoder(shape: Shape, hidden: int, condition: int = 0, layers: int = 2) -> nn.Module:
    """The encoder for what a world of that shape shows."""
    if "types" in shape:
        return SetEncoder(shape["types"], hidden, condition, layers)
    if "effectors" in shape:
        return PlaceEncoder(shape["effectors"], hidden, condition, layers)
    return NumberEncoder(shape["inputs"], hidden, condition, layers)


class Actions:
    """What a policy's last layer means: log-odds of each action, or a Gaussian over moves.

    A Gaussian's mean is a tanh, its variance a sigmoid, as in the paper.

    Attributes:
        outputs: how many numbers the layer gives.
    """

    def __init__(self, shape: Shape) -> None:
        self.discrete = "actions" in shape
        self._reach = torch.tensor(shape.get("reach", []), dtype=torch.float32)
        self.outputs = int(shape["actions"]) if self.discrete else 2 * len(self._reach)

    def read(self, actions: NDArray[Any]) -> Tensor:
        """Actions of a demonstration `[T]` or `[T, D]` as a tensor."""
        return torch.as_tensor(actions.astype(np.int64 if self.discrete else np.float32))

    def log_probability(self, given: Tensor, actions: Tensor) -> Tensor:
        """Of actions `[N]` or `[N, D]`, for outputs `[N, ..., outputs]`: `[N, ...]`."""
        more = given.ndim - 2
        if self.discrete:
            chosen = one_hot(actions, self.outputs).to(given)
            return (given.log_softmax(dim=-1) * chosen.reshape(len(given), *[1] * more, -1)).sum(dim=-1)
        mean, variance = self._gaussian(given)
        away = actions.reshape(len(given), *[1] * more, -1) - mean
        return -0.5 * (away**2 / variance + torch.log(2 * math.pi * variance)).sum(dim=-1)

    def _gaussian(self, given: Tensor) -> tuple[Tensor, Tensor]:
        mean, spread = given.chunk(2, dim=-1)
        return torch.tanh(mean) * self._reach.to(given), torch.sigmoid(spread) + LEAST_VARIANCE

    def entropy(self, given: Tensor) -> Tensor:
        """Of what is drawn, for outputs `[N, outputs]`: `[N]`."""
        if self.discrete:
            logs = given.log_softmax(dim=-1)
            return -(logs.exp() * logs).sum(dim=-1)
        return 0.5 * torch.log(2 * math.pi * math.e * self._gaussian(given)[1]).sum(dim=-1)

    def best(self, given: Tensor) -> NDArray[Any]:
        """The most likely actions `[N]`, or the mean moves `[N, D]`."""
        if self.discrete:
            return given.argmax(dim=-1).cpu().numpy()
        return self._gaussian(given)[0].double().cpu().numpy()

    def drawn(self, given: Tensor, rng: np.random.Generator) -> NDArray[Any]:
        """Actions `[N]` or moves `[N, D]` by chance, moves never beyond reach."""
        if self.discrete:
            gumbel = torch.as_tensor(rng.gumbel(size=tuple(given.shape))).to(given)
            return (given + gumbel).argmax(dim=-1).cpu().numpy()
        mean, variance = self._gaussian(given)
        noise = torch.as_tensor(rng.standard_normal(tuple(mean.shape))).to(mean)
        reach = self._reach.to(mean)
        return (mean + noise * variance.sqrt()).clamp(-reach, reach).double().cpu().numpy()

    def stops(self, given: Tensor, odds: Tensor) -> NDArray[np.bool_]:
        """Where stopping, with these log-odds `[N]`, is likelier than any action; among moves, where it is likely."""
        best = given.log_softmax(dim=-1).amax(dim=-1) if self.discrete else torch.zeros_like(odds)
        return (logsigmoid(odds) > logsigmoid(-odds) + best).cpu().numpy()
