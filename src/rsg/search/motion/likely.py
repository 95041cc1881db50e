"""Where is a subgoal likely true? Asked of its classifier alone, which need not know the shape of what it means."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rsg.search.motion.query import Query
from rsg.search.motion.space import space_of, wrapped

Floats = NDArray[np.float64]

WANTED = 16  # likely poses of each term
_AROUND = 8  # poses drawn around each of the most likely ones, in each round
_ROUNDS = (1.0, 0.5, 0.25, 0.125)  # how far around them, in actions


def likely_poses(query: Query, poses: Floats, log_g: Floats, rng: np.random.Generator) -> list[Floats]:
    """For each term some poses at which it most likely holds, if it is not quite impossible at all of those given.

    Where fewer poses than wanted do, others around the most likely ones are tried, nearer and nearer.

    Args:
        query: what they are for.
        poses: `[N, D]` free poses to begin with; log_g: `[N, terms]` of these.
        rng: where chance comes from.
    """
    best = [_top(poses, values) for values in log_g.T]
    for radius in _ROUNDS:
        short = [k for k, (_, values) in enumerate(best) if len(values) and np.sum(values >= query.bar) < WANTED]
        if not short:
            break
        tries = around(query, np.concatenate([best[k][0] for k in short]), radius, rng)
        found, _ = query.asked(query.rows(tries))
        for k in short:
            old, values = best[k]
            best[k] = _top(np.concatenate([old, tries]), np.concatenate([values, found[:, k]]))
    return [some for some, _ in best]


def _top(poses: Floats, values: Floats) -> tuple[Floats, Floats]:
    """The most likely poses, best first, and their log G; none that are impossible."""
    order = np.argsort(-values, kind="stable")[:WANTED]
    order = order[values[order] > -np.inf]
    return poses[order], values[order]


def around(query: Query, poses: Floats, radius: float, rng: np.random.Generator) -> Floats:
    """Free poses near the given ones `[N, D]`: within so many actions."""
    space = space_of(query.world)
    near = np.repeat(poses, _AROUND, axis=0)
    near = wrapped(space, near + radius * space["reach"] * rng.uniform(-1, 1, near.shape))
    return query.free(np.clip(near, space["low"], space["high"]))
