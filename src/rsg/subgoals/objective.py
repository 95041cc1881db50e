"""The score of a demonstration for a task and what is maximised in training (paper, eq. 2 and 5), with gradients."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rsg.core.compiled import compiled
from rsg.core.errors import RsgError
from rsg.language import Machine
from rsg.search.cost_to_go import sweep
from rsg.search.graph import StateGraph
from rsg.subgoals.alignment import JOINED, align, pull_crossings, trace
from rsg.subgoals.rationality import log_rationality, pull_cost_to_go, pull_rationality

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Rationality:
    """How rational demonstrators are taken to be, with the paper's values.

    Attributes:
        alpha: α, inverse rationality: small for noisy demonstrators.
        weight: λ, what a transition's log-probabilities cost beside actions.
        one_action: whether a node that was entered must be served by an action before it is left.
        alignment: how scores join all alignments: `max`, `sum` (log-sum-exp) or `expectation`.
        open_end: whether the demonstration may end before the task is done.
    """

    alpha: float = 1.0
    weight: float = 1.0
    one_action: bool = True
    alignment: str = "max"
    open_end: bool = False

    @property
    def numbers(self) -> tuple[float, float, bool, int, bool]:
        """As kernels want it."""
        return float(self.alpha), float(self.weight), self.one_action, JOINED.index(self.alignment), self.open_end


@dataclass(frozen=True, eq=False)
class Score:
    """How well a task explains a demonstration.

    Attributes:
        value: the score, minus infinity if no alignment is possible (fewer steps than subgoals).
        slope_g, slope_i: `[S, terms]` its gradient with respect to log G and log I.
        acts: `[T, V]` the weight with which action i serves node v; crossings: `[T + 1, E]` that with which a machine
            edge is taken at state i. For the best alignment each is 0 or 1.
        cost: `[S, V]` the cost-to-go J.
    """

    value: float
    slope_g: Floats
    slope_i: Floats
    acts: Floats
    crossings: Floats
    cost: Floats


def score(
    graph: StateGraph,
    taken: NDArray[Any],
    machine: Machine,
    log_g: Floats,
    log_i: Floats,
    how: Rationality,
    columns: NDArray[Any] | None = None,
    each: Floats | None = None,
) -> Score:
    """The score of the demonstration that lies on a graph, for a machine (eq. 2), and its exact gradient.

    Args:
        graph: of states around the demonstration.
        taken: `[T]` the edges of the graph that the demonstration took.
        machine: of the task.
        log_g, log_i: `[S, terms]` of the machine's terms.
        how: the demonstrator's rationality.
        columns: `[V]` the column of `log_g` and `log_i` for each node (-1 for v_0, v_T), if they hold other terms too.
        each: `[T]` what an action of a state counts among the others in its rationality, 1 unless said otherwise.
    """
    term_of = machine.term_of if columns is None else columns
    if log_g.shape != log_i.shape or len(log_g) != len(graph.states):
        raise RsgError(f"log G and log I must be [states, terms], got {log_g.shape} and {log_i.shape}")
    if columns is None and log_g.shape[1] != len(machine.terms):
        raise RsgError(f"the machine has {len(machine.terms)} terms, log G and log I have {log_g.shape[1]}")
    edges = (graph.edge_start, graph.edge_end, graph.edge_cost, *graph.reverse)
    order = (term_of, machine.next_start, machine.next_node)
    values = (np.ascontiguousarray(log_g), np.ascontiguousarray(log_i))
    each = np.ones(len(taken)) if each is None else each
    return Score(*_score(edges, graph.path, taken, each, order, values, how.numbers))


def score_values(
    graph: StateGraph,
    taken: NDArray[Any],
    machines: Sequence[Machine],
    log_g: Floats,
    log_i: Floats,
    how: Rationality,
    columns: Sequence[NDArray[Any]],
    each: Floats | None = None,
) -> Floats:
    """The scores `[machines]` alone of several tasks, as `score` gives them."""
    edges = (graph.edge_start, graph.edge_end, graph.edge_cost, *graph.reverse)
    values = (np.ascontiguousarray(log_g), np.ascontiguousarray(log_i))
    each = np.ones(len(taken)) if each is None else each
    found = []
    for machine, column in zip(machines, columns, strict=True):
        order = (column, machine.next_start, machine.next_node)
        found.append(_forward(edges, graph.path, taken, each, order, values, how.numbers)[0])
    return np.array(found)


@compiled
def _forward(edges: Any, path: Any, taken: Any, each: Any, order: Any, values: Any, how: Any) -> Any:
    """Cost-to-go, rationality, alignment: the score, and all that it came from."""
    weight, one_action = how[1], how[2]
    steps, nodes, states = len(taken), len(order[0]), len(values[0])
    cost, entry = np.full((states, nodes), np.inf), np.full((states, nodes), np.inf)
    leave = np.empty((states, nodes))
    exits, then = np.empty((states, nodes), dtype=np.int32), np.empty((states, nodes), dtype=np.int32)
    tables = (cost, entry, exits, then, leave)
    sweep(edges, order, values, weight, one_action, tables)
    rat = np.empty((steps, nodes, 2))
    log_rationality(edges, values, order, tables, path, taken, each, how, rat)
    best = np.empty((steps + 1, nodes, 2))
    return align(path, values, order, how, rat, best), tables, rat, best


@compiled
def _score(edges: Any, path: Any, taken: Any, each: Any, order: Any, values: Any, how: Any) -> Any:
    """The score, then its gradient the same way back."""
    weight, one_action = how[1], how[2]
    log_g = values[0]
    steps, nodes, states = len(taken), len(order[0]), len(log_g)
    value, tables, rat, best = _forward(edges, path, taken, each, order, values, how)
    d_g, d_i = np.zeros(log_g.shape), np.zeros(log_g.shape)
    acts, crossings = np.zeros((steps, nodes, 2)), np.zeros((steps + 1, len(order[2])))
    if value > -np.inf:
        found = (acts, crossings, np.zeros(nodes), np.zeros((steps + 1, nodes)))
        trace(path, values, order, how, rat, best, found)
        pull_crossings(path, order, found, d_g, d_i)
        slopes = (d_g, d_i, np.zeros((states, nodes)), np.zeros((states, nodes)))
        pull_rationality(edges, values, order, tables, path, taken, each, how, acts, slopes)
        pull_cost_to_go(edges, order, tables, weight, one_action, slopes)
    return value, d_g, d_i, acts[:, :, 0] + acts[:, :, 1], crossings, tables[0]


def contrast(scores: Sequence[float], beta: float) -> tuple[float, Floats]:
    """log softmax of β · score for the first of several tasks (the second part of eq. 5), and its gradient.

    >>> value, slope = contrast([0.0, 0.0], beta=1.0)
    >>> round(value, 4), slope.tolist()
    (-0.6931, [0.5, -0.5])
    """
    scaled = beta * np.asarray(scores, dtype=np.float64)
    if scaled[0] == -np.inf:
        return -np.inf, np.zeros(len(scaled))
    logs = scaled - np.logaddexp.reduce(scaled)
    return float(logs[0]), beta * (np.eye(1, len(logs))[0] - np.exp(logs))


def taken_edges(graph: StateGraph, actions: NDArray[Any]) -> NDArray[np.int32]:
    """The edges `[T]` of a graph that a demonstration took; an error if its actions do not lead where it went."""
    actions = np.asarray(actions)
    if actions.ndim != 1 or actions.dtype.kind not in "iu":
        raise RsgError(f"actions are whole numbers [T] in this world, not {actions.dtype} {list(actions.shape)}")
    taken = _taken(graph.edge_start, graph.edge_end, graph.edge_action, graph.path, np.asarray(actions, dtype=np.int64))
    if (taken < 0).any():
        step = int(taken.argmin())
        raise RsgError(
            f"step {step} of the demonstration is not one of this world: action {actions[step]} leads elsewhere"
        )
    return taken


@compiled
def _taken(edge_start: Any, edge_end: Any, edge_action: Any, path: Any, actions: Any) -> NDArray[np.int32]:
    taken = np.full(len(actions), -1, dtype=np.int32)
    for i in range(len(actions)):
        for edge in range(edge_start[path[i]], edge_start[path[i] + 1]):
            if edge_action[edge] == actions[i] and edge_end[edge] == path[i + 1]:
                taken[i] = edge
    return taken


def edges_to_next(graph: StateGraph) -> NDArray[np.int32]:
    """The edges `[T]` from each state of the trajectory to the one after it, whatever their actions are."""
    taken = _to_next(graph.edge_start, graph.edge_end, graph.path)
    if (taken < 0).any():
        raise RsgError(f"step {int(taken.argmin())} of the trajectory is no edge of the graph")
    return taken


@compiled
def _to_next(edge_start: Any, edge_end: Any, path: Any) -> NDArray[np.int32]:
    taken = np.full(len(path) - 1, -1, dtype=np.int32)
    for i in range(len(taken)):
        for edge in range(edge_start[path[i]], edge_start[path[i] + 1]):
            if edge_end[edge] == path[i + 1]:
                taken[i] = edge
    return taken
