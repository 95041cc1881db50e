"""How subgoals reach the search: as numbers for states, never as networks."""

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

from rsg.core.arrays import Array, Floats, Ints
from rsg.core.compiled import specialised
from rsg.core.errors import RsgError
from rsg.worlds import EitherWorld

HALF = np.log(0.5)


class Goals(Protocol):
    """The classifiers of some terms in one world.

    May have an attribute `compiled`, `(kernel, tables)`: a numba function `kernel(tables, states, i, k)` that gives
    (log G, log I) of term k in row i of `states`, whose rows may be longer than a state. Or an attribute `batch`: how
    many states a search should look ahead when it asks; the default is for goals that cost little once they are asked.
    Or an attribute `bold`: other goals, for a second search if the first finds no way to what is sure to be meant.
    Or an attribute `careful`: goals that hold, or do not yet hold, in fewer states, for a search for a surer way.
    """

    def __call__(self, states: Array) -> tuple[Floats, Floats]:
        """log G and log I, each `[N, terms]`: is the subgoal true, is it not yet true?"""


GoalFn = Callable[[Any, Sequence[str], Array], Goals]
"""Asked with a world, the terms of a machine and the first state `[W]`; gives their classifiers."""


def goals_in(subgoals: GoalFn, world: Any, terms: Sequence[str], state: Array) -> Goals:
    """The classifiers of some terms; what is no `GoalFn` is an error that says what is one."""
    if isinstance(subgoals, type) or not callable(subgoals) or hasattr(subgoals, "goals"):
        kind = f"the class {subgoals.__name__}" if isinstance(subgoals, type) else f"a {type(subgoals).__name__}"
        own = ", or its method `goals`" if hasattr(subgoals, "goals") and not isinstance(subgoals, type) else ""
        raise RsgError(
            f"subgoals are what rsg.learn or rsg.load gives, or a function of a world, terms and a state; "
            f"this is {kind}{own and ': give the Subgoals that hold it'}{own}"
        )
    return subgoals(world, terms, state)


def instead(goal_fn: GoalFn, which: str) -> GoalFn:
    """The same, which gives the `bold` or the `careful` goals where there are such."""

    def goals(world: EitherWorld, terms: Sequence[str], state: Array) -> Goals:
        usual = goal_fn(world, terms, state)
        other: Goals = getattr(usual, which, usual)
        return other

    return goals


def goal(tables: object, states: Array, i: int, k: int) -> tuple[float, float]:  # noqa: ARG001
    """Hook: the compiled form of goals."""
    return 0.0, 0.0


class Begun:
    """Goals of a task that goes on: what was begun is served wherever that is, even where it holds.

    columns: `[K]` which of the goals, those of distinct terms, each term is; first: from which term on they were begun.
    """

    def __init__(self, goals: Goals, columns: Ints, first: int) -> None:
        self._goals, self._columns, self._first = goals, columns, first

    def __call__(self, states: Array) -> tuple[Floats, Floats]:
        """Log G and log I, each `[N, terms]`."""
        log_g, log_i = (values[:, self._columns] for values in self._goals(states))
        log_i[:, self._first :] = 0.0
        return log_g, log_i

    def __getattr__(self, name: str) -> Any:
        if name not in ("batch", "bold", "careful", "compiled"):
            raise AttributeError(name)
        own = getattr(self._goals, name)
        if name == "compiled":
            return specialised(_begun, goal=own[0]), (own[1], self._columns, self._first)
        return Begun(own, self._columns, self._first) if name in ("bold", "careful") else own


def _begun(tables: tuple[object, Ints, int], states: Array, i: int, k: int) -> tuple[float, float]:
    """The compiled form of `Begun`."""
    own, columns, first = tables
    log_g, log_i = goal(own, states, i, columns[k])
    return log_g, log_i if k < first else 0.0


def begun(subgoals: GoalFn, stale: int) -> GoalFn:
    """The same where the last terms, so many, were begun already."""

    def goals(world: Any, terms: Sequence[str], state: Array) -> Goals:
        distinct = list(dict.fromkeys(terms))
        columns = np.array([distinct.index(term) for term in terms])
        return Begun(goals_in(subgoals, world, distinct, state), columns, len(terms) - stale)

    return goals if stale else subgoals


def asked(goals: Goals, states: Array, terms: int) -> tuple[Floats, Floats]:
    """log G and log I of states `[N, W]`, `[N, terms]` each; numbers that no search can use are an error."""
    log_g, log_i = (np.asarray(values, dtype=np.float64) for values in goals(states))
    shape = (len(states), terms)
    if log_g.shape != shape or log_i.shape != shape or np.isnan(log_g).any() or np.isnan(log_i).any():
        raise RsgError(f"goals must give log G and log I of shape {shape} without NaN, got {log_g.shape}")
    return log_g, log_i


def every(form: tuple[Any, Any], states: Array, terms: int) -> tuple[Floats, Floats]:
    """log G and log I of states, `[N, terms]` each, by a compiled form."""
    kernel, tables = form
    values = np.empty((2, len(states), terms))
    specialised(_every, goal=kernel)(tables, states, values)
    return values[0], values[1]


def _every(tables: object, states: Array, values: Floats) -> None:
    for i in range(values.shape[1]):
        for k in range(values.shape[2]):
            values[0, i, k], values[1, i, k] = goal(tables, states, i, k)


def sees_to(goals: Goals, states: Array, ends: Sequence[tuple[int, int, int]]) -> bool:
    """Whether on a way through states each (term, start, end) is not yet true at its start and true at its end."""
    terms, starts, stops = np.array(ends).T
    log_g, log_i = goals(states)
    return bool((log_g[stops, terms] >= HALF).all() and (log_i[starts, terms] > HALF).all())


def goals_from(probability: Callable[[Array], Array]) -> Goals:
    """Classifiers from one function that gives G as probabilities `[N, terms]`; I is 1 - G.

    >>> goals = goals_from(lambda states: states == 9)
    >>> log_g, log_i = goals(np.array([[3], [9]]))
    >>> np.exp(log_g).ravel().tolist()
    [0.0, 1.0]
    """

    def goals(states: Array) -> tuple[Floats, Floats]:
        g = np.asarray(probability(states), dtype=np.float64)
        with np.errstate(divide="ignore"):
            return np.log(g), np.log1p(-g)

    return goals
