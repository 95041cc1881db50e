"""How rational each action of a demonstration was (paper, eq. 3): log Rat(s, v, a), and its gradient.

Rat(s, v, ·) is a softmax of -α J(s, v, ·) over the primitive actions and the machine transitions open at (s, v). A
label is *fresh* when v has just been entered at s: then an action must come first, so no transition is open.
"""

from typing import NamedTuple

import numpy as np

from rsg.core.arrays import Array, Floats
from rsg.core.compiled import bare, compiled
from rsg.language import Nodes
from rsg.search.cost_to_go import CostToGo, Logs
from rsg.search.graph import Edges

FRESH, MOVED = 0, 1


class Rationality(NamedTuple):
    """How rational demonstrators are taken to be, with the paper's values.

    Attributes:
        alpha: α, inverse rationality: small for noisy demonstrators.
        weight: λ, what a transition's log-probabilities cost beside actions.
        open_end: whether the demonstration may end before the task is done.
    """

    alpha: float = 1.0
    weight: float = 1.0
    open_end: bool = False


class Walk(NamedTuple):
    """A demonstration on a graph.

    Attributes:
        path: `[T + 1]` its states; taken: `[T]` the edges that it took.
        each: `[T]` what an action counts in the sum over all actions at each step: 1, or its share of an integral.
    """

    path: Array
    taken: Array
    each: Floats


class Case(NamedTuple):
    """A task on a graph: what actions cost, what is to be served, what classifiers say, what is still to be paid."""

    edges: Edges
    nodes: Nodes
    logs: Logs
    togo: CostToGo
    how: Rationality


class Slopes(NamedTuple):
    """Gradients: of log G and log I `[S, terms]`, of J (moved) and of J (entered) `[S, V]`."""

    g: Floats
    i: Floats
    cost: Floats
    entry: Floats


@compiled
def no_slopes(case: Case) -> Slopes:
    """Gradients to add to."""
    terms, nodes = case.logs.g.shape, case.togo.cost.shape
    return Slopes(np.zeros(terms), np.zeros(terms), np.zeros(nodes), np.zeros(nodes))


@bare
def transition_cost(case: Case, s: int, v: int, edge: int) -> float:
    """J (eq. 4) of leaving v at state s along a machine edge: -λ (log G_v(s) + log I_w(s)) + what follows at w."""
    nodes, logs, weight = case.nodes, case.logs, case.how.weight
    w = nodes.after[edge]
    cost = -weight * logs.g[s, nodes.term[v]]
    if w < len(nodes.term) - 1:
        cost += case.togo.entry[s, w] - weight * logs.i[s, nodes.term[w]]
    return cost  # type: ignore[no-any-return]


@bare
def log_partitions(case: Case, s: int, v: int, each: float) -> tuple[float, float]:
    """The denominator of eq. 3, log Σ exp(-α J(s, v, ·)): over the primitive actions, and over transitions too.

    `each` is what an action counts: 1, or what share of an integral over all actions it stands for.
    """
    edges, nodes, cost, alpha = case.edges, case.nodes, case.togo.cost, case.how.alpha
    most = -np.inf
    for edge in range(edges.start[s], edges.start[s + 1]):
        most = max(most, -alpha * (edges.cost[edge] + cost[edges.end[edge], v]))
    for edge in range(nodes.start[v], nodes.start[v + 1]):
        most = max(most, -alpha * transition_cost(case, s, v, edge))
    if most == -np.inf:
        return most, most
    total = 0.0
    for edge in range(edges.start[s], edges.start[s + 1]):
        total += each * np.exp(-alpha * (edges.cost[edge] + cost[edges.end[edge], v]) - most)
    actions = most + np.log(total) if total > 0.0 else -np.inf
    for edge in range(nodes.start[v], nodes.start[v + 1]):
        total += np.exp(-alpha * transition_cost(case, s, v, edge) - most)
    return actions, most + np.log(total)


@bare
def log_rationality(case: Case, walk: Walk, rat: Floats) -> None:
    """Fill `rat` `[T, V, 2]`: log Rat (eq. 3) of each action of the demonstration at each node, fresh and moved."""
    edges, cost = case.edges, case.togo.cost
    for i in range(len(walk.taken)):
        edge = walk.taken[i]
        for v in range(1, rat.shape[1] - 1):
            chosen = -case.how.alpha * (edges.cost[edge] + cost[edges.end[edge], v])
            actions, everything = log_partitions(case, walk.path[i], v, walk.each[i])
            possible = chosen > -np.inf
            rat[i, v, FRESH] = chosen - actions if possible else -np.inf
            rat[i, v, MOVED] = chosen - everything if possible else -np.inf


@bare
def pull_rationality(case: Case, walk: Walk, acts: Floats, slopes: Slopes) -> None:
    """The gradient of Σ acts · log Rat (eq. 3): to J after each action, and to what each transition costs.

    acts: `[T, V, 2]` the weight of each log Rat in the score. The gradients are added to `slopes`.
    """
    edges, cost, alpha = case.edges, case.togo.cost, case.how.alpha
    for i in range(len(walk.taken)):
        s, each = walk.path[i], walk.each[i]
        for v in range(1, acts.shape[1] - 1):
            for label in range(2):
                p = alpha * acts[i, v, label]
                if p == 0.0:
                    continue
                actions, everything = log_partitions(case, s, v, each)
                total = actions if label == FRESH else everything
                slopes.cost[edges.end[walk.taken[i]], v] -= p
                for edge in range(edges.start[s], edges.start[s + 1]):
                    after = edges.end[edge]
                    slopes.cost[after, v] += p * each * np.exp(-alpha * (edges.cost[edge] + cost[after, v]) - total)
                if label == MOVED:
                    pull_transitions(case, s, v, p, total, slopes)


@bare
def pull_transitions(case: Case, s: int, v: int, p: float, total: float, slopes: Slopes) -> None:
    """The part of it that comes from the machine transitions open at (s, v)."""
    nodes = case.nodes
    for edge in range(nodes.start[v], nodes.start[v + 1]):
        share = p * np.exp(-case.how.alpha * transition_cost(case, s, v, edge) - total)
        pull_transition(case, s, v, nodes.after[edge], share, slopes)


@bare
def pull_transition(case: Case, s: int, v: int, w: int, share: float, slopes: Slopes) -> None:
    """The gradient of share · (what it costs to go from v to w at state s)."""
    nodes, weight = case.nodes, case.how.weight
    slopes.g[s, nodes.term[v]] -= weight * share
    if w < len(nodes.term) - 1:
        slopes.i[s, nodes.term[w]] -= weight * share
        slopes.entry[s, w] += share


@bare
def pull_cost_to_go(case: Case, slopes: Slopes) -> None:
    """The gradient of J (eq. 4), exact by the envelope theorem: that of the exits on the best path, node by node."""
    for v in range(1, len(case.nodes.term) - 1):
        pull_entry(case, v, slopes)
        pull_exits(case, v, slopes)


@bare
def pull_entry(case: Case, v: int, slopes: Slopes) -> None:
    """From J where v is entered to J after the best action there."""
    edges, cost = case.edges, case.togo.cost
    for s in range(len(cost)):
        if slopes.entry[s, v] == 0.0:
            continue
        best, after = np.inf, s
        for edge in range(edges.start[s], edges.start[s + 1]):
            total = edges.cost[edge] + cost[edges.end[edge], v]
            if total < best:
                best, after = total, edges.end[edge]
        slopes.cost[after, v] += slopes.entry[s, v]


@compiled
def pull_exits(case: Case, v: int, slopes: Slopes) -> None:
    """From J of v to log G and log I where the best path leaves v, and to J where it then enters another node."""
    togo = case.togo
    leave = np.zeros(len(togo.cost))
    for s in range(len(leave)):
        if slopes.cost[s, v] != 0.0 and togo.exit[s, v] >= 0:
            leave[togo.exit[s, v]] += slopes.cost[s, v]
    for s in range(len(leave)):
        if leave[s] != 0.0:
            pull_transition(case, s, v, togo.then[s, v], leave[s], slopes)
