"""Several demonstrations as tensors, flat: one after the other, without padding."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from rsg.baselines.encoders import Shape, look
from rsg.baselines.networks import Actions
from rsg.core.errors import DemonstrationError, RsgError
from rsg.demos import Demonstration
from rsg.subgoals.classifiers import tensors
from rsg.subgoals.learning import WorldOf


@dataclass(frozen=True, eq=False)
class Batch:
    """B demonstrations with N states altogether.

    Attributes:
        texts: `[B]` their descriptions.
        seen: what the world shows of the N states, as tensors.
        owner: `[N]` the demonstration of each state; place: `[N]` the state's number in it.
        moving: `[N]` whether an action follows.
        actions: `[N - B]` or `[N - B, D]` those of the states where one follows.
    """

    texts: tuple[str, ...]
    seen: Any
    owner: Tensor
    place: Tensor
    moving: Tensor
    actions: Tensor

    def padded(self, values: Tensor) -> Tensor:
        """Values of states `[N, F]` as `[B, longest, F]`, zero beyond the end of each demonstration."""
        longest = int(self.place.max()) + 1
        return values.new_zeros(len(self.texts), longest, values.shape[-1]).index_put((self.owner, self.place), values)

    def unpadded(self, values: Tensor) -> Tensor:
        """The way back: `[B, longest, F]` as `[N, F]`."""
        return values[self.owner, self.place]

    def per_demonstration(self, values: Tensor) -> Tensor:
        """The sum `[B, ...]` over the states of each demonstration."""
        return values.new_zeros(len(self.texts), *values.shape[1:]).index_add(0, self.owner, values)


def batch_of(demos: Sequence[Demonstration], world_of: WorldOf, shape: Shape, device: str = "cpu") -> Batch:
    """Demonstrations as a batch, each seen with the eyes of its own world."""
    actions = Actions(shape)
    lengths = np.array([len(demo.states) for demo in demos])
    place = np.concatenate([np.arange(length) for length in lengths])
    taken = torch.cat([actions.read(_checked(demo, actions.discrete).actions) for demo in demos])
    owner = torch.as_tensor(np.repeat(np.arange(len(demos)), lengths), device=device)
    moving = torch.as_tensor(place < np.repeat(lengths - 1, lengths), device=device)
    seen = tensors(joined([_seen(demo, world_of, shape) for demo in demos]), device)
    texts = tuple(demo.task for demo in demos)
    return Batch(texts, seen, owner, torch.as_tensor(place, device=device), moving, taken.to(device))


def _seen(demo: Demonstration, world_of: WorldOf, shape: Shape) -> Any:
    try:
        return look(world_of(demo), demo.states, shape)
    except RsgError as error:
        raise DemonstrationError(str(error), demo) from None


def _checked(demo: Demonstration, discrete: bool) -> Demonstration:
    if discrete != (demo.actions.ndim == 1):
        wanted = "whole numbers [T]" if discrete else "moves [T, D]"
        raise DemonstrationError(f"actions are {wanted} in this world, not {list(demo.actions.shape)}", demo)
    return demo


def joined(parts: Sequence[Any]) -> Any:
    """Observations one after the other; sets of different sizes are padded with zeros."""
    first = parts[0]
    if isinstance(first, dict):
        return {key: joined([part[key] for part in parts]) for key in first}
    if isinstance(first, tuple):
        columns = [joined(column) for column in zip(*parts, strict=True)]
        return type(first)(*columns) if hasattr(first, "_fields") else tuple(columns)
    arrays = [np.asarray(part) for part in parts]
    size = np.max([array.shape[1:] for array in arrays], axis=0).astype(int).tolist()
    out = np.zeros((sum(map(len, arrays)), *size), dtype=arrays[0].dtype)
    start = 0
    for array in arrays:
        out[(slice(start, start + len(array)), *map(slice, array.shape[1:]))] = array
        start += len(array)
    return out
