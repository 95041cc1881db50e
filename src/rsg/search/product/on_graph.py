"""The product search on a graph: all states and edges are known beforehand, and bound how far it is to the end."""

from dataclasses import replace

import numpy as np

from rsg.core.arrays import Array, Bools, Floats, Ints, grown
from rsg.language import Machine
from rsg.search.goals import Goals
from rsg.search.graph import StateGraph
from rsg.search.kernels.table import new_table
from rsg.search.product.explored import Explored, Forms, Known, ask, unknown, values_of
from rsg.search.product.search import LabelSearch, nodes_ahead
from rsg.search.product.settings import Hard, Product, Soft

_HASTE = 1.2  # how much dearer than the cheapest plan on a graph one may be, if nothing else is asked for


class Mapped(Explored):
    """The states of a graph, of which everything is known beforehand: the search starts in its first state.

    Args:
        graph: its edges lead both ways, at the same cost.
        goals: the classifiers.
        terms: how many.
    """

    def __init__(self, graph: StateGraph, goals: Goals, terms: int) -> None:
        count, degree = len(graph.states), max(1, int(np.diff(graph.edge_start).max(initial=0)))
        self._macros = None
        # Where no way leads from the start, no action has a price that can be paid.
        self.costs = np.full(degree, graph.edge_cost[0] if graph.edge_start[1] > 0 else np.inf)
        room = count + degree + 1  # a search wants room for what an expansion may find
        self.known = Known(
            np.empty((room, 0), dtype=np.uint8),
            new_table(0, 1),
            grown(_ends(graph, degree), room),
            self.costs[None],
            grown(values_of(goals, graph.states, terms), room),
            np.array([count, count]),
        )
        self.forms = Forms(ask, (), unknown, ())
        self._states, self.column, self.sights = graph.states, 0, None

    def rows(self, numbers: Ints) -> Array:
        """States by their numbers."""
        return self._states[numbers]


def _ends(graph: StateGraph, width: int) -> Array:
    """Where edges lead, `[S, width]`; a state with fewer has its last one again, one without leads to itself."""
    first, last = graph.edge_start[:-1, None], graph.edge_start[1:, None] - 1
    ends = graph.edge_end.take(np.minimum(first + np.arange(width, dtype=np.int32), last), mode="clip")
    lonely = np.flatnonzero(last < first)
    ends[lonely] = lonely[:, None]
    return ends


class GraphSearch(LabelSearch):
    """The search over graph × machine.

    Args:
        graph: it starts in its first state. Edges lead both ways, at the same cost.
        machine: of the task.
        goals: the classifiers of the machine's terms.
        how: to search; without an order, it is `optimal` but for a plan that may cost a fifth more, which takes far
            fewer expansions.
        seed: where chance comes from.
    """

    def __init__(self, graph: StateGraph, machine: Machine, goals: Goals, how: Product, seed: int = 0) -> None:
        mapped = Mapped(graph, goals, len(machine.terms))
        ahead = _ahead(graph, machine, mapped, how.transitions, 1.0 if how.order else _HASTE)
        super().__init__(mapped, machine, ahead, replace(how, order=how.order or "optimal"), seed)


def _ahead(graph: StateGraph, machine: Machine, mapped: Mapped, crossing: Hard | Soft, haste: float) -> Array:
    """A lower bound on the cost ahead of each label, `[S, V]` or `[1, V]`; in haste, of such as are `haste` dearer."""
    cost = float(mapped.costs[0])
    if cost == np.inf:
        return np.zeros((1, machine.nodes))
    if isinstance(crossing, Soft):
        return cost * nodes_ahead(machine)[None]
    holds = mapped.known.value[: len(graph.states), :, 0] >= np.log(crossing.threshold)
    counts = np.stack([graph.steps_from(np.flatnonzero(term)) for term in holds.T], axis=1)  # both ways
    return haste * cost * steps_ahead(machine, np.where(counts >= 0, counts, np.inf), holds)


def steps_ahead(machine: Machine, steps: Floats, holds: Bools) -> Floats:
    """A lower bound on the actions from each state and node to the end of the task, `[S, V]`.

    To the nearest state where the node's term holds, and on from the nearest such state to where the next one holds.
    A little is added to the bound of what is farther away, so that of equals the one nearest to the end comes first.

    Args:
        machine: of the task.
        steps: `[S, terms]` actions to the nearest state where a term holds; holds: whether it does.
    """
    terms = len(machine.terms)
    gap = np.full((terms, terms), np.inf)
    for term in range(terms):
        gap[term] = steps[holds[:, term]].min(axis=0, initial=np.inf)
    gap = np.maximum(gap, 1.0)  # each node takes an action at least
    rest = np.zeros(machine.nodes)
    last = machine.nodes - 1
    for v in range(last - 1, 0, -1):
        here, after = machine.term_of[v], machine.successors(v)
        rest[v] = min(0.0 if w == last else gap[here, machine.term_of[w]] + rest[w] for w in after.tolist())
    ahead = np.zeros((len(steps), machine.nodes))
    ahead[:, 1:last] = steps[:, machine.term_of[1:last]] + rest[1:last]
    most = float(ahead.max(initial=1.0, where=np.isfinite(ahead)))
    return ahead * (1 + 0.5 / most)
