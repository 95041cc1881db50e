"""The true meaning of the terms: for experts and success checks, never for a learner."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rsg.core.compiled import bare
from rsg.core.errors import RsgError, meant
from rsg.worlds.playroom import geometry
from rsg.worlds.playroom.world import Floats, PlayroomWorld


def truth(world: PlayroomWorld, states: Floats, terms: Sequence[str] | None = None) -> NDArray[np.bool_]:
    """Which subgoals hold in which states, `[N, terms]`: those whose effector the robot touches.

    >>> world = PlayroomWorld()
    >>> state = world.state((5, 5, 0), {"ball": (6.4, 5), "bell": (8, 8)})
    >>> truth(world, state[None], ["play-with-ball", "ring-bell"])
    array([[ True, False]])
    """
    states = world.checked(states)
    which = effectors_of(world, world.layout.terms if terms is None else terms)
    out = np.empty((len(states), len(which)), dtype=bool)
    geometry.touch_rows(world.layout.shapes, states, which, out)
    return out


def effectors_of(world: PlayroomWorld, terms: Sequence[str]) -> NDArray[np.int64]:
    """The number of the effector that each term is about."""
    known = world.layout.terms
    for term in terms:
        if term not in known:
            raise RsgError(f"this Playroom has no subgoal '{term}'; {meant(term, known)}")
    return np.array([known.index(term) for term in terms], dtype=np.int64)


@bare
def true_goal(tables: Any, states: NDArray[Any], i: int, k: int) -> tuple[float, float]:
    """log G and log I of goal k in state i: 0 for true, minus infinity for false."""
    shapes, effectors = tables
    at = (states[i, 0], states[i, 1], math.cos(states[i, 2]), math.sin(states[i, 2]))
    place = 3 + 2 * effectors[k]
    if geometry.touches(shapes, effectors[k], states[i, place], states[i, place + 1], at):
        return 0.0, -np.inf
    return -np.inf, 0.0


class TrueGoals:
    """The truth in the form of classifiers: for planning before anything is learned, and as an upper bound after."""

    def __init__(self, world: PlayroomWorld, terms: Sequence[str]) -> None:
        self._world, self._terms = world, tuple(terms)
        self.compiled = (true_goal, (world.layout.shapes, effectors_of(world, terms)))

    def __call__(self, states: Floats) -> tuple[Floats, Floats]:
        """log G and log I, each `[N, terms]`."""
        holds = truth(self._world, states, self._terms)
        return np.where(holds, 0.0, -np.inf), np.where(holds, -np.inf, 0.0)
