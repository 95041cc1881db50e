"""How subgoals reach the search: as numbers for states, never as networks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


class Goals(Protocol):
    """The classifiers of some terms in one world.

    May have an attribute `compiled`, `(kernel, tables)`: a numba function `kernel(tables, states, i, k)` that gives
    (log G, log I) of term k in row i of `states`, whose rows may be longer than a state. Or an attribute `batch`: how
    many states a search should look ahead when it asks; the default is for goals that cost little once they are asked.
    """

    def __call__(self, states: NDArray[Any]) -> tuple[Floats, Floats]:
        """log G and log I, each `[N, terms]`: is the subgoal true, is it not yet true?"""
        ...


GoalFn = Callable[[Any, Sequence[str], NDArray[Any]], Goals]
"""Asked with a world, the terms of a machine and the first state `[W]`; gives their classifiers."""


def goals_from(probability: Callable[[NDArray[Any]], NDArray[Any]]) -> Goals:
    """Classifiers from one function that gives G as probabilities `[N, terms]`; I is 1 - G."""

    def goals(states: NDArray[Any]) -> tuple[Floats, Floats]:
        g = np.asarray(probability(states), dtype=np.float64)
        with np.errstate(divide="ignore"):
            return np.log(g), np.log1p(-g)

    return goals
