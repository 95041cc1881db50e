"""The true meaning of the terms: for experts and success checks, never for a learner."""

import math
from collections.abc import Sequence

import numpy as np

from rsg.core.arrays import Array, Bools, Floats, Ints
from rsg.core.compiled import bare
from rsg.core.errors import RsgError, meant
from rsg.domains.playroom import geometry
from rsg.domains.playroom.world import PlayroomWorld


def truth(world: PlayroomWorld, states: Floats, terms: Sequence[str] | None = None) -> Bools:
    """Which subgoals hold in which states, `[N, terms]`: those whose effector the robot touches.

    >>> world = PlayroomWorld()
    >>> state = world.state((5, 5, 0), {"ball": (6.4, 5), "bell": (8, 8)})
    >>> truth(world, state[None], ["play-with-ball", "ring-bell"])
    array([[ True, False]])
    """
    return TrueGoals(world, world.layout.terms if terms is None else terms).holds(states)


def effectors_of(world: PlayroomWorld, terms: Sequence[str]) -> Ints:
    """The number of the effector that each term is about."""
    known = world.layout.terms
    for term in terms:
        if term not in known:
            raise RsgError(f"this Playroom has no subgoal '{term}'; {meant(term, known)}")
    return np.array([known.index(term) for term in terms], dtype=np.int64)


@bare
def true_goal(tables: tuple[geometry.Shapes, Ints], states: Array, i: int, k: int) -> tuple[float, float]:
    """log G and log I of goal k in state i: 0 for true, minus infinity for false."""
    shapes, effectors = tables
    at = geometry.At(states[i, 0], states[i, 1], math.cos(states[i, 2]), math.sin(states[i, 2]))
    place = 3 + 2 * effectors[k]
    if geometry.touches(shapes, effectors[k], states[i, place], states[i, place + 1], at):
        return 0.0, -np.inf
    return -np.inf, 0.0


class TrueGoals:
    """The truth in the form of classifiers: for planning before anything is learned, and as an upper bound after."""

    def __init__(self, world: PlayroomWorld, terms: Sequence[str]) -> None:
        self._world, self._effectors = world, effectors_of(world, terms)
        self.compiled = (true_goal, (world.layout.shapes, self._effectors))

    def holds(self, states: Floats) -> Bools:
        """Which goals hold in which states, `[N, terms]`."""
        states = self._world.checked(states)
        out = np.empty((len(states), len(self._effectors)), dtype=bool)
        geometry.touch_rows(self._world.layout.shapes, states, self._effectors, out)
        return out

    def __call__(self, states: Floats) -> tuple[Floats, Floats]:
        """log G and log I, each `[N, terms]`."""
        holds = self.holds(states)
        return np.where(holds, 0.0, -np.inf), np.where(holds, -np.inf, 0.0)
