"""Shorter paths: corners are cut off where the straight way is free, then every action is a full stride."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rsg.search import shortening_kernels as kernels
from rsg.search.motion import prepared, space_of
from rsg.worlds.continuous import ContinuousWorld

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
TRIES = 100  # shortcuts to try on a path
_ENDS = 0.15  # by how much of its length a shortcut may be thought to reach beyond an end, and so begins or ends there


def shorten(
    world: ContinuousWorld, state: Floats, poses: Floats, rng: np.random.Generator, tries: int = TRIES
) -> Floats:
    """A path from the first pose to the last one, of at most as many actions, each checked as the world will check it.

    Args:
        world: where.
        state: `[W]` any state of the path: what poses do not tell.
        poses: `[T + 1, D]` a path of single actions.
        rng: where chance comes from.
        tries: shortcuts to try.
    """
    return shorten_parts(world, state, poses, np.array([0, len(poses) - 1]), rng, tries)[0]


def shorten_parts(
    world: ContinuousWorld, state: Floats, poses: Floats, bounds: Ints, rng: np.random.Generator, tries: int = TRIES
) -> tuple[Floats, Ints]:
    """The same for each part of a path, `bounds` `[P + 1]` being where they begin and end; gives the new ones too."""
    kernel, tables = prepared(
        kernels.shorten_parts, world, state, pull_straight=kernels.pull_straight, walk=kernels.walk
    )
    pairs = rng.uniform(-_ENDS, 1 + _ENDS, (len(bounds) - 1, tries, 2))
    short, ends = np.empty_like(poses), np.empty(len(bounds), dtype=np.int64)
    kernel(tables, space_of(world), poses, np.asarray(bounds, dtype=np.int64), pairs, short, ends)
    return short[: ends[-1] + 1], ends
