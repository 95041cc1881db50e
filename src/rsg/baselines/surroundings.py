"""What else could have been done at each state of a demonstration: where max-entropy planning takes place.

A node is a history: the demonstration up to one of its states, or up to there and then one other choice.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from rsg.baselines.batches import joined
from rsg.baselines.encoders import Shape, look
from rsg.core.errors import DemonstrationError, RsgError
from rsg.demos import Demonstration
from rsg.subgoals.classifiers import tensors

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Surroundings:
    """S nodes with N distinct states around a demonstration of T actions.

    Attributes:
        states: `[N, W]`; state: `[S]` the state of each node. The first T + 1 nodes are those of the demonstration.
        after: `[S, A]` the node that each choice leads to, -1 for none; nodes off the path have no choices.
        since: `[S]` how many states of the demonstration come before the node's own in its history.
        chosen: `[T]` the demonstration's choices.
    """

    states: NDArray[Any]
    state: Ints
    after: Ints
    since: Ints
    chosen: Ints


Draw = Callable[[int], NDArray[Any]]
"""Gives that many random moves `[N, D]` of a continuous world."""


def surroundings(world: Any, demo: Demonstration, tried: int, draw: Draw) -> Surroundings:
    """The nodes of a demonstration, and around each of them the other choices.

    These are all actions, or in a continuous world `tried` moves that are drawn; a move that is blocked is no choice.
    """
    discrete, count = hasattr(world, "actions"), len(demo.states)
    try:
        world.step(demo.states[:-1], demo.actions)  # says so if they do not fit
        ends, possible = _all_actions(world, demo) if discrete else _random_moves(world, demo, tried, draw)
    except RsgError as error:
        raise DemonstrationError(str(error), demo) from None
    choices = ends.shape[1]
    off_path = count + np.arange(count * choices).reshape(count, choices)
    after = np.full((count * (1 + choices), choices), -1)
    after[:count] = np.where(possible, off_path, -1)
    chosen = demo.actions.astype(np.int64) if discrete else np.zeros(count - 1, dtype=np.int64)
    after[np.arange(count - 1), chosen] = np.arange(1, count)
    since = np.concatenate([np.arange(count), np.repeat(np.arange(1, count + 1), choices)])
    rows = np.concatenate([demo.states, ends.reshape(count * choices, -1)])
    states, state = np.unique(rows, axis=0, return_inverse=True)
    return Surroundings(states, state.reshape(-1), after, since, chosen)


def _all_actions(world: Any, demo: Demonstration) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Where each choice leads `[T + 1, A, W]`, and which are possible."""
    ends = np.asarray(world.successors(demo.states))
    return ends, np.ones(ends.shape[:2], dtype=bool)


def _random_moves(world: Any, demo: Demonstration, tried: int, draw: Draw) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """The same; the first choice is left to the demonstration."""
    count = len(demo.states)
    begin = np.repeat(demo.states, 1 + tried, axis=0)
    ends = world.step(begin, draw(len(begin)))
    moved = (ends != begin).any(axis=1).reshape(count, 1 + tried)
    moved[:, 0] = False
    return ends.reshape(count, 1 + tried, -1), moved


@dataclass(frozen=True, eq=False)
class Ground:
    """The surroundings of B demonstrations one after the other, as tensors.

    Attributes:
        seen: what the worlds show of the N states; whose: `[N]` the demonstration of each state.
        state, after, since: as in `Surroundings`; owner: `[S]` the demonstration of each node.
        path: `[T + B]` the nodes of the demonstrations; moving: `[T + B]` which of them are left by an action.
        chosen: `[T]` the choices there.
    """

    seen: Any
    whose: Tensor
    state: Tensor
    after: Tensor
    since: Tensor
    owner: Tensor
    path: Tensor
    moving: Tensor
    chosen: Tensor


def ground_of(worlds: Sequence[Any], parts: Sequence[Surroundings], shape: Shape, device: str = "cpu") -> Ground:
    """Surroundings one after the other."""
    states, nodes = [len(part.states) for part in parts], [len(part.state) for part in parts]
    rows, firsts = np.cumsum([0, *states[:-1]]), np.cumsum([0, *nodes[:-1]])
    longs = [len(part.chosen) for part in parts]

    def tensor(pieces: Sequence[NDArray[Any]]) -> Tensor:
        return torch.as_tensor(np.concatenate(pieces), device=device)

    return Ground(
        tensors(joined([look(world, part.states, shape) for world, part in zip(worlds, parts, strict=True)]), device),
        tensor([np.full(count, i) for i, count in enumerate(states)]),
        tensor([part.state + row for part, row in zip(parts, rows, strict=True)]),
        tensor([np.where(part.after >= 0, part.after + n, -1) for part, n in zip(parts, firsts, strict=True)]),
        tensor([part.since for part in parts]),
        tensor([np.full(count, i) for i, count in enumerate(nodes)]),
        tensor([n + np.arange(long + 1) for n, long in zip(firsts, longs, strict=True)]),
        tensor([np.arange(long + 1) < long for long in longs]),
        tensor([part.chosen for part in parts]),
    )
