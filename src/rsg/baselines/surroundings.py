"""The states around a demonstration, and what follows what among them: where max-entropy planning takes place.

A node is a history: the demonstration up to one of its states, and then at most one more state. From each state of the
demonstration some detours lead away from it; a detour that comes back to where it began has not been taken.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rsg.core.errors import DemonstrationError, RsgError
from rsg.demos import Demonstration
from rsg.search import local_graph

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Surroundings:
    """S nodes with N distinct states around one demonstration of T actions, or around several, one after the other.

    Attributes:
        states: `[N, W]`, of each demonstration; state: `[S]` the state of each node.
        after: `[S, A]` the node that each choice leads to; -1 where it is not known, or there is no such choice.
        since: `[S]` how many states of the demonstration come before the node's own in its history.
        path: `[T + 1]` the nodes of the demonstration; chosen: `[T]` its choices.
    """

    states: tuple[NDArray[Any], ...]
    state: Ints
    after: Ints
    since: Ints
    path: Ints
    chosen: Ints


def surroundings(world: Any, demo: Demonstration, tried: int, rng: np.random.Generator) -> Surroundings:
    """A demonstration's own nodes, and one for whatever else could have been done at each of its states.

    Where actions are discrete these are all actions, else `tried` random moves; a move that changes nothing is no
    choice.
    """
    count = len(demo.states)
    try:
        ends, open_ = _discrete(world, demo) if hasattr(world, "actions") else _continuous(world, demo, tried, rng)
    except RsgError as error:
        raise DemonstrationError(str(error), demo) from None
    choices = ends.shape[1]
    after = np.full((count * (1 + choices), choices), -1)
    after[:count] = np.where(open_, count + np.arange(count * choices).reshape(count, choices), -1)
    chosen = demo.actions.astype(np.int64) if hasattr(world, "actions") else np.zeros(count - 1, dtype=np.int64)
    path = np.arange(count)
    after[path[:-1], chosen] = path[1:]
    since = np.concatenate([path, np.repeat(path + 1, choices)])
    rows = np.concatenate([demo.states, ends.reshape(count * choices, -1)])
    states, state = np.unique(rows, axis=0, return_inverse=True)
    return Surroundings((states,), state.reshape(-1), after, since, path, chosen)


def _discrete(world: Any, demo: Demonstration) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    ends = np.asarray(world.successors(demo.states))
    return ends, np.ones(ends.shape[:2], dtype=bool)


def _continuous(
    world: Any, demo: Demonstration, tried: int, rng: np.random.Generator
) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """The first column is left to the demonstration's own moves."""
    reach = np.asarray(world.reach)
    begin = np.repeat(demo.states, 1 + tried, axis=0)
    ends = world.step(begin, rng.uniform(-reach, reach, size=(len(begin), len(reach))))
    moved = (ends != begin).any(axis=1).reshape(len(demo.states), 1 + tried)
    moved[:, 0] = False
    return ends.reshape(*moved.shape, -1), moved


def together(parts: Sequence[Surroundings]) -> Surroundings:
    """Surroundings one after the other."""
    nodes = _starts([len(part.state) for part in parts])
    rows = _starts([len(part.states[0]) for part in parts])
    return Surroundings(
        tuple(part.states[0] for part in parts),
        np.concatenate([part.state + start for part, start in zip(parts, rows, strict=True)]),
        np.concatenate(
            [np.where(part.after >= 0, part.after + start, -1) for part, start in zip(parts, nodes, strict=True)]
        ),
        np.concatenate([part.since for part in parts]),
        np.concatenate([part.path + start for part, start in zip(parts, nodes, strict=True)]),
        np.concatenate([part.chosen for part in parts]),
    )


def _starts(sizes: Sequence[int]) -> Ints:
    return np.cumsum([0, *sizes[:-1]])
