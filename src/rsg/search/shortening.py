"""Shorter paths: corners are cut off where the straight way is free, then every action is a full stride."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rsg.search import shortening_kernels as kernels
from rsg.search.motion import prepared, space_of
from rsg.worlds.continuous import ContinuousWorld

Floats = NDArray[np.float64]
_ENDS = 0.15  # by how much of its length a shortcut may be thought to reach beyond an end, and so begins or ends there


def shorten(world: ContinuousWorld, state: Floats, poses: Floats, rng: np.random.Generator, tries: int = 100) -> Floats:
    """A path from the first pose to the last one, of at most as many actions, each checked as the world will check it.

    Args:
        world: where.
        state: `[W]` any state of the path: what poses do not tell.
        poses: `[T + 1, D]` a path of single actions.
        rng: where chance comes from.
        tries: shortcuts to try.
    """
    count, size = poses.shape
    if count < 3:
        return poses
    space = space_of(world)
    chain, corners = np.empty((count, size)), np.empty((count + 2 * tries, size))
    corners[:count] = poses
    pull_straight, tables = prepared(kernels.pull_straight, world, state)
    walk, _ = prepared(kernels.walk, world, state)
    pairs = rng.uniform(-_ENDS, 1 + _ENDS, (tries, 2))
    turns = pull_straight(tables, space, corners, count, pairs, chain)
    walked = np.empty_like(poses)
    length = walk(tables, space, corners, turns, walked, chain)
    return walked[:length] if length else poses
