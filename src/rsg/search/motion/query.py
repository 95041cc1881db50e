"""What a plan in a continuous world is for."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rsg.language import Machine
from rsg.search.goals import Goals, asked
from rsg.search.motion.space import free_at, rows_of
from rsg.search.product.settings import SearchSettings
from rsg.worlds.continuous import ContinuousWorld

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


class Query(NamedTuple):
    """The task's machine and its classifiers in a continuous world, from a state `[W]` on."""

    world: ContinuousWorld
    state: Floats
    machine: Machine
    goals: Goals
    settings: SearchSettings

    @property
    def start(self) -> Floats:
        """The pose of the state, `[1, D]`."""
        return self.state[None, : len(self.world.low)]

    @property
    def hard(self) -> bool:
        """Whether subgoals hold or not: then they may be judged anew along a path."""
        return self.settings.threshold is not None

    @property
    def bar(self) -> Any:
        """The log G from which on a term holds."""
        return np.log(self.settings.threshold or 0.5)

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
        return log_g >= self.bar, log_i > np.log1p(-(self.settings.threshold or 0.5))
