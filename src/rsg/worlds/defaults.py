"""What follows of a world that says no more than it must: what its actions cost, and where all of them lead."""

import numpy as np

from rsg.core.arrays import Floats
from rsg.worlds.protocol import EitherWorld, States, World, is_continuous

COST = 0.1  # of an action, as in the paper: what demonstrators take for worth it is counted in this unit


def costs_of(world: World) -> Floats:
    """What each action costs, `[A]`: as in the paper, unless the world says otherwise."""
    own = getattr(world, "costs", None)
    return np.full(len(world.actions), COST) if own is None else np.asarray(own, dtype=np.float64)


def unit_of(world: EitherWorld) -> float:
    """What costs of this world are counted in: how many times what an action costs in the paper, in the mean.

    Demonstrators are as rational whatever actions cost, so learning divides costs by it.
    """
    costs = np.array([world.cost]) if is_continuous(world) else costs_of(world)
    return float((costs[0] if (costs == costs[0]).all() else costs.mean()) / COST)


def successors_of(world: World, states: States) -> States:
    """The next states `[N, A, W]` for every action."""
    if hasattr(world, "successors"):
        return np.asarray(world.successors(states))
    count = len(world.actions)
    after = world.step(np.repeat(states, count, axis=0), np.tile(np.arange(count), len(states)))
    return np.asarray(after).reshape(len(states), count, states.shape[1])
