"""What follows of a world that says no more than it must: what its actions cost, and where all of them lead."""

import numpy as np

from rsg.core.arrays import Floats
from rsg.worlds.protocol import States, World


def costs_of(world: World) -> Floats:
    """What each action costs, `[A]`: 1, unless the world says otherwise."""
    return np.asarray(world.costs, dtype=np.float64) if hasattr(world, "costs") else np.ones(len(world.actions))


def successors_of(world: World, states: States) -> States:
    """The next states `[N, A, W]` for every action."""
    if hasattr(world, "successors"):
        return np.asarray(world.successors(states))
    count = len(world.actions)
    after = world.step(np.repeat(states, count, axis=0), np.tile(np.arange(count), len(states)))
    return np.asarray(after).reshape(len(states), count, -1)
