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
from rsg.subgoals.alignment import align, trace
from rsg.subgoals.rationality import log_rationality, pull_cost_to_go, pull_rationality

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Rationality:
    """How rational demonstrators are taken to be, with the paper's values.

    Attributes:
        alpha: α, inverse rationality: small for noisy demonstrators.
        weight: λ, what a transition's log-probabilities cost beside actions.
        one_action: whether a node that was entered must be served by an action before it is left.
        marginal: whether scores sum over alignments (log-sum-exp) instead of taking the best one.
    """

    alpha: float = 1.0
    weight: float = 1.0
    one_action: bool = True
    marginal: bool = False


@dataclass(frozen=True, eq=False)
class Score:
    """How well a task explains a demonstration.

    Attributes:
        value: the score, minus infinity if no alignment is possible (fewer steps than subgoals).
        slope_g, slope_i: `[S, terms]` its gradient with respect to log G and log I of the machine's terms.
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
    graph: StateGraph, taken: NDArray[Any], machine: Machine, log_g: Floats, log_i: Floats, how: Rationality
) -> Score:
    """The score of the demonstration that lies on a graph, for a machine (eq. 2), and its exact gradient.

    Args:
        graph: of states around the demonstration.
        taken: `[T]` the edges of the graph that the demonstration took.
        machine: of the task.
        log_g, log_i: `[S, terms]` of the machine's terms.
        how: the demonstrator's rationality.
    """
    edges = (graph.edge_start, graph.edge_end, graph.edge_cost, *graph.reverse)
    order = (machine.term_of, machine.next_start, machine.next_node)
    numbers = (how.alpha, how.weight, how.one_action, how.marginal)
    steps, sizes = len(taken), (len(graph.states), machine.nodes)
    costs, nodes = np.full((3, *sizes), np.inf), np.full((2, *sizes), -1, dtype=np.int32)
    tables = (costs[0], costs[1], nodes[0], nodes[1], costs[2])
    slopes = np.zeros((2, *log_g.shape))
    acts, crossings = np.zeros((steps, machine.nodes, 2)), np.zeros((steps + 1, machine.edges))
    value = _score(edges, graph.path, taken, order, (log_g, log_i), numbers, tables, acts, crossings, slopes)
    return Score(value, slopes[0], slopes[1], acts.sum(axis=2), crossings, costs[0])


@compiled
def _score(
    edges: Any, path: Any, taken: Any, order: Any, values: Any, how: Any, tables: Any, acts: Any, crossings: Any,
    slopes: Any,
) -> float:  # fmt: skip
    """Cost-to-go, rationality, alignment; then the gradient the same way back."""
    _, weight, one_action, _ = how
    term_of, next_start, next_node = order
    steps, nodes = len(taken), len(term_of)
    sweep(edges, order, values, weight, one_action, tables)
    rat = np.empty((steps, nodes, 2))
    log_rationality(edges, values, order, tables, path, taken, how, rat)
    best = np.empty((steps + 1, nodes, 2))
    value = align(path, values, order, how, rat, best)
    if value == -np.inf:
        return value
    trace(path, values, order, how, rat, best, acts, crossings)
    d_g, d_i = slopes[0], slopes[1]
    for i in range(steps + 1):
        for v in range(nodes - 1):
            for edge in range(next_start[v], next_start[v + 1]):
                if crossings[i, edge] != 0.0:
                    if v > 0:
                        d_g[path[i], term_of[v]] += crossings[i, edge]
                    if next_node[edge] < nodes - 1:
                        d_i[path[i], term_of[next_node[edge]]] += crossings[i, edge]
    d_cost = np.zeros((len(tables[0]), nodes))
    d_entry = np.zeros((len(tables[0]), nodes))
    both = (d_g, d_i, d_cost, d_entry)
    pull_rationality(edges, values, order, tables, path, taken, how, acts, both)
    pull_cost_to_go(edges, order, tables, weight, one_action, both)
    return value


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
    path = graph.path
    taken = np.full(len(actions), -1, dtype=np.int32)
    for i, action in enumerate(actions):
        for edge in range(graph.edge_start[path[i]], graph.edge_start[path[i] + 1]):
            if graph.edge_action[edge] == action and graph.edge_end[edge] == path[i + 1]:
                taken[i] = edge
        if taken[i] < 0:
            raise RsgError(f"step {i} of the demonstration is not one of this world: action {action} leads elsewhere")
    return taken
