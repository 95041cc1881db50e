"""What a plan in a continuous world is for, and where its subgoals are likely true.

That is asked of classifiers alone: they need not know the shape of what they mean.
"""

from typing import NamedTuple

import numpy as np

from rsg.core.arrays import Bools, Floats
from rsg.language import Machine
from rsg.search.goals import Goals, asked
from rsg.search.motion.space import free_at, rows_of, space_of, wrapped
from rsg.search.product.settings import Hard, Soft
from rsg.worlds.protocol import ContinuousWorld

WANTED = 16  # likely poses of each term
_AROUND = 8  # poses drawn around each of the most likely ones, in each round
_ROUNDS = (1.0, 0.5, 0.25, 0.125)  # how far around them, in actions


class Query(NamedTuple):
    """The task's machine and its classifiers in a continuous world, from a state `[W]` on."""

    world: ContinuousWorld
    state: Floats
    machine: Machine
    goals: Goals
    transitions: Hard | Soft

    @property
    def start(self) -> Floats:
        """The pose of the state, `[1, D]`."""
        return self.state[None, : len(self.world.low)]

    @property
    def hard(self) -> bool:
        """Whether subgoals hold or not: then they may be judged anew along a path."""
        return isinstance(self.transitions, Hard)

    @property
    def bar(self) -> float:
        """The log G from which on a term holds."""
        return float(np.log(self.transitions.threshold))

    def rows(self, poses: Floats) -> Floats:
        """States `[N, W]` at these poses `[N, D]`."""
        return rows_of(poses, self.state)

    def free(self, poses: Floats) -> Floats:
        """Those of the poses `[N, D]` that are free."""
        return poses[free_at(self.world, self.state, poses)]

    def asked(self, states: Floats) -> tuple[Floats, Floats]:
        """log G and log I of states `[N, W]`: `[N, terms]` each."""
        return asked(self.goals, states, len(self.machine.terms))

    def holding(self, states: Floats) -> tuple[Bools, Bools]:
        """Which terms hold, and which may be entered, in states `[N, W]`: `[N, terms]` each."""
        log_g, log_i = self.asked(states)
        return log_g >= self.bar, log_i > np.log1p(-self.transitions.threshold)


def likely_poses(query: Query, poses: Floats, log_g: Floats, rng: np.random.Generator) -> list[Floats]:
    """For each term some poses at which it most likely holds, if it is not quite impossible at all of those given.

    Where fewer poses than wanted do, others around the most likely ones are tried, nearer and nearer.

    poses: `[N, D]` free poses to begin with; log_g: `[N, terms]` of these.
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
