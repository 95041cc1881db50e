"""What follows of a world that says no more than it must: what its actions cost, and where all of them lead."""

import numpy as np

from rsg.core.arrays import Floats
from rsg.worlds.protocol import States, World

COST = 0.1  # of an action, as in the paper: what demonstrators take for worth it is counted in this unit


def costs_of(world: World) -> Floats:
    """What each action costs, `[A]`: as in the paper, unless the world says otherwise."""
    own = getattr(world, "costs", None)
    return np.full(len(world.actions), COST) if own is None else np.asarray(own, dtype=np.float64)


def successors_of(world: World, states: States) -> States:
    """The next states `[N, A, W]` for every action."""
    if hasattr(world, "successors"):
        return np.asarray(world.successors(states))
    count = len(world.actions)
    after = world.step(np.repeat(states, count, axis=0), np.tile(np.arange(count), len(states)))
    return np.asarray(after).reshape(len(states), count, states.shape[1])
