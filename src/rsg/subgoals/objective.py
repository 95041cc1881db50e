"""The score of a demonstration for a task and what is maximised in training (paper, eq. 2 and 5), with gradients."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from rsg.core.arrays import Floats
from rsg.core.compiled import compiled, pasted
from rsg.core.errors import RsgError
from rsg.language import Machine, Nodes
from rsg.search.cost_to_go import Case, Logs, no_slopes, nothing_known, sweep, sweep_back
from rsg.search.graph import Edges
from rsg.subgoals.alignment import Along, align, crossings_back, nothing_shared, served, trace
from rsg.subgoals.classifiers import Classifiers
from rsg.subgoals.ground import Ground
from rsg.subgoals.rationality import Rationality, Walk, log_rationality, log_rationality_back


class Given(NamedTuple):
    """What a score needs besides what terms mean: a graph, a demonstration on it, and a machine."""

    edges: Edges
    walk: Walk
    nodes: Nodes


class Aligned(NamedTuple):
    """The best alignment with a task, without a gradient; the fields are those of `Score`."""

    value: float
    acts: Floats
    crossings: Floats
    cost: Floats


@dataclass(frozen=True, eq=False)
class Score:
    """How well a task explains a demonstration."""

    value: float  # the score, minus infinity if no alignment is possible (fewer steps than subgoals)
    slope_g: Floats  # `[S, terms]` its gradient with respect to log G
    slope_i: Floats  # the same with respect to log I
    acts: Floats  # `[T, V]` the weight with which action i serves node v
    # `[T + 1, E]` that with which a machine edge is taken at state i. For the best alignment each is 0 or 1.
    crossings: Floats
    cost: Floats  # `[S, V]` the cost-to-go J


def score(ground: Ground, nodes: Nodes, logs: Logs, how: Rationality) -> Score:
    """The score of a demonstration for a task (eq. 2), and its exact gradient.

    nodes: of the task's machine, `machine.arrays`, or `machine.among` terms of a larger table; logs: `[S, terms]`.
    """
    states, terms = len(ground.graph.states), int(nodes.term.max()) + 1
    if logs.g.shape != logs.i.shape or len(logs.g) != states:  # kernels would read any memory
        raise RsgError(f"log G and log I must be [{states} states, terms], got {logs.g.shape} and {logs.i.shape}")
    if terms > logs.g.shape[1]:
        raise RsgError(f"the machine has {terms} terms, log G and log I have {logs.g.shape[1]}")
    return Score(*_score(ground.graph.arrays, ground.walk, nodes, Logs(*map(np.ascontiguousarray, logs)), how))


@pasted
def forward(edges: Edges, walk: Walk, nodes: Nodes, logs: Logs, how: Rationality) -> Any:
    """Cost-to-go, rationality, alignment: the score, and all that it came from."""
    steps, size = len(walk.taken), len(nodes.term)
    case = Case(edges, nodes, logs, how.weight, nothing_known(len(logs.g), size))
    sweep(case)
    rat = np.empty((steps, size, 2))
    log_rationality(case, how.alpha, walk, rat)
    along = Along(walk.path, logs, nodes, rat, how.open_end, walk.late)
    best = np.empty((steps + 1, size, 2))
    return align(along, best), case, along, best


@compiled
def aligned(edges: Edges, walk: Walk, nodes: Nodes, logs: Logs, how: Rationality) -> Any:
    """The best alignment: the fields of `Aligned`."""
    value, case, along, best = forward(edges, walk, nodes, logs, how)
    shares = nothing_shared(along)
    if value > -np.inf:
        trace(along, best, shares)
    return value, served(shares), shares.crossings, case.togo.cost


@compiled
def _score(edges: Edges, walk: Walk, nodes: Nodes, logs: Logs, how: Rationality) -> Any:
    """The score, then its slopes the same way back."""
    value, case, along, best = forward(edges, walk, nodes, logs, how)
    shares, slopes = nothing_shared(along), no_slopes(case)
    if value > -np.inf:
        trace(along, best, shares)
        crossings_back(walk.path, nodes, shares, slopes)
        log_rationality_back(case, how.alpha, walk, shares.acts, slopes)
        sweep_back(case, slopes)
    return value, slopes.g, slopes.i, served(shares), shares.crossings, case.togo.cost


@dataclass(frozen=True, eq=False)
class View:
    """A trajectory with the graph around it and what classifiers say there."""

    ground: Ground  # the trajectory and the graph
    columns: dict[str, int]  # the column of each term in `odds` and `logs`
    numbers: list[int]  # the terms' numbers among the classifiers
    odds: Floats  # `[S, terms, 2]` the log-odds of G and I
    logs: Logs  # log G and log I

    @staticmethod
    def of(classifiers: Classifiers, ground: Ground, terms: Iterable[str]) -> "View":
        """What classifiers say of some terms; each is named once."""
        columns = {term: column for column, term in enumerate(dict.fromkeys(terms))}
        numbers = classifiers.numbers(list(columns))
        odds = classifiers.evaluate(ground.world, ground.graph.states, numbers)
        return View(ground, columns, numbers, odds, log_probabilities(odds))

    def score(self, machine: Machine, how: Rationality) -> Score:
        """How well a task explains the trajectory, with the gradient."""
        return Score(*_score(*self.given(machine), how))

    def align(self, machine: Machine, how: Rationality) -> Aligned:
        """The best alignment with a task."""
        return Aligned(*aligned(*self.given(machine), how))

    def given(self, machine: Machine) -> tuple[Edges, Walk, Nodes, Logs]:
        """What kernels are told of the trajectory and a task."""
        return self.ground.graph.arrays, self.ground.walk, machine.among(self.columns), self.logs


@compiled
def log_probabilities(odds: Floats) -> Logs:
    """log G and log I `[S, terms]` from log-odds `[S, terms, 2]`."""
    log_g, log_i = np.empty(odds.shape[:2]), np.empty(odds.shape[:2])
    for s in range(odds.shape[0]):
        for k in range(odds.shape[1]):
            log_g[s, k] = min(odds[s, k, 0], 0.0) - np.log1p(np.exp(-abs(odds[s, k, 0])))
            log_i[s, k] = min(odds[s, k, 1], 0.0) - np.log1p(np.exp(-abs(odds[s, k, 1])))
    return Logs(log_g, log_i)


def contrast(scores: Sequence[float], beta: float) -> tuple[float, Floats]:
    """log softmax of β · score for the first of several tasks (the second part of eq. 5), and its gradient."""
    scaled = beta * np.asarray(scores, dtype=np.float64)
    if scaled[0] == -np.inf:
        return -np.inf, np.zeros(len(scaled))
    logs = scaled - np.logaddexp.reduce(scaled)
    return float(logs[0]), beta * (np.eye(1, len(logs))[0] - np.exp(logs))
