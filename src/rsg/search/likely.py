"""Where is a subgoal likely true? Asked of its classifier alone, which need not know the shape of what it means."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rsg.core.errors import RsgError
from rsg.search.goals import Goals
from rsg.search.motion import free_at, rows_of, space_of, wrapped
from rsg.worlds.continuous import ContinuousWorld

Floats = NDArray[np.float64]

WANTED = 16  # likely poses of each term
_AROUND = 8  # poses drawn around each of the most likely ones, in each round
_ROUNDS = (1.0, 0.5, 0.25, 0.125)  # how far around them, in actions


def asked(goals: Goals, states: Floats, terms: int) -> tuple[Floats, Floats]:
    """log G and log I of states `[N, W]`, `[N, terms]` each; numbers that no search can use are an error."""
    log_g, log_i = (np.asarray(values, dtype=np.float64) for values in goals(states))
    shape = (len(states), terms)
    if log_g.shape != shape or log_i.shape != shape or np.isnan(log_g).any() or np.isnan(log_i).any():
        raise RsgError(f"goals must give log G and log I of shape {shape} without NaN, got {log_g.shape}")
    return log_g, log_i


def likely_poses(
    world: ContinuousWorld,
    state: Floats,
    goals: Goals,
    poses: Floats,
    log_g: Floats,
    holds: float,
    rng: np.random.Generator,
) -> list[Floats]:
    """For each term some poses at which it most likely holds, if it is not quite impossible at all of those given.

    Args:
        world, state: where, and what else is in the states.
        goals: the classifiers.
        poses: `[N, D]` free poses to begin with; log_g: `[N, terms]` of these.
        holds: the log G from which on a term holds. Where fewer poses than wanted do, others around the most likely
            ones are tried, nearer and nearer.
        rng: where chance comes from.
    """
    best = [_top(poses, values) for values in log_g.T]
    for radius in _ROUNDS:
        short = [k for k, (_, values) in enumerate(best) if len(values) and np.sum(values >= holds) < WANTED]
        if not short:
            break
        tries = around(world, state, np.concatenate([best[k][0] for k in short]), radius, rng)
        found, _ = asked(goals, rows_of(tries, state), len(best))
        for k in short:
            old, values = best[k]
            best[k] = _top(np.concatenate([old, tries]), np.concatenate([values, found[:, k]]))
    return [some for some, _ in best]


def _top(poses: Floats, values: Floats) -> tuple[Floats, Floats]:
    """The most likely poses, best first, and their log G; none that are impossible."""
    order = np.argsort(-values, kind="stable")[:WANTED]
    order = order[values[order] > -np.inf]
    return poses[order], values[order]


def around(world: ContinuousWorld, state: Floats, poses: Floats, radius: float, rng: np.random.Generator) -> Floats:
    """Free poses near the given ones `[N, D]`: within so many actions."""
    space = space_of(world)
    near = np.repeat(poses, _AROUND, axis=0)
    near = wrapped(space, near + radius * space.reach * rng.uniform(-1, 1, near.shape))
    near = np.clip(near, space.low, space.high)
    return near[free_at(world, state, near)]
