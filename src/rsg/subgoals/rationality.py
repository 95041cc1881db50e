"""How rational each action of a demonstration was (paper, eq. 3): log Rat(s, v, a), and its slopes.

Rat(s, v, ·) is a softmax of -α J(s, v, ·) over the primitive actions and the machine transitions open at (s, v). A
label is *fresh* when v has just been entered at s: then an action must come first, so no transition is open.
"""

from typing import NamedTuple

import numpy as np

from rsg.core.arrays import Array, Floats
from rsg.core.compiled import inner, pasted
from rsg.search.cost_to_go import Case, Slopes, leave_node_back
from rsg.search.graph import Edges

FRESH, MOVED = 0, 1
AT_THE_END = np.empty(0)  # demonstrations end as soon as their task is done


class Rationality(NamedTuple):
    """How rational demonstrators are taken to be, with the paper's values."""

    alpha: float = 1.0  # α, inverse rationality: small for noisy demonstrators
    weight: float = 1.0  # λ, what a transition's log-probabilities cost beside actions
    open_end: bool = False  # whether the demonstration may end before the task is done


class Walk(NamedTuple):
    """A demonstration on a graph."""

    path: Array  # `[T + 1]` its states
    taken: Array  # `[T]` the edges that it took
    each: Floats  # `[T]` what an action counts in the sum over all actions at each step: 1, or its share of an integral
    # `[T + 1]` the logarithm of how likely what comes after each state is, if the task is done there; empty: only the
    # last state may be that
    late: Floats = AT_THE_END


@inner
def transition_cost(case: Case, s: int, v: int, edge: int) -> float:
    """J (eq. 4) of leaving v at state s along a machine edge: -λ (log G_v(s) + log I_w(s)) + what follows at w."""
    nodes, logs, weight = case.nodes, case.logs, case.weight
    w = nodes.after[edge]
    cost = -weight * logs.g[s, nodes.term[v]]
    if w < len(nodes.term) - 1:
        cost += case.togo.entry[s, w] - weight * logs.i[s, nodes.term[w]]
    return cost  # type: ignore[no-any-return]


@inner
def _of_actions(edges: Edges, cost: Floats, alpha: float, s: int, v: int, each: float) -> float:
    """log Σ exp(-α J(s, v, ·)) over actions where transitions are so much better that beside them it would vanish."""
    most, total = -np.inf, 0.0
    for edge in range(edges.start[s], edges.start[s + 1]):
        most = max(most, -alpha * (edges.cost[edge] + cost[edges.end[edge], v]))
    if most == -np.inf:
        return most
    for edge in range(edges.start[s], edges.start[s + 1]):
        total += each * np.exp(-alpha * (edges.cost[edge] + cost[edges.end[edge], v]) - most)
    return most + np.log(total)  # type: ignore[no-any-return]


@inner
def log_partitions(case: Case, alpha: float, s: int, v: int, each: float) -> tuple[float, float]:
    """The denominator of eq. 3, log Σ exp(-α J(s, v, ·)): over the primitive actions, and over transitions too.

    `each` is what an action counts: 1, or what share of an integral over all actions it stands for.
    """
    edges, nodes, cost = case.edges, case.nodes, case.togo.cost
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
    actions = most + np.log(total) if total > 0.0 else _of_actions(edges, cost, alpha, s, v, each)
    for edge in range(nodes.start[v], nodes.start[v + 1]):
        total += np.exp(-alpha * transition_cost(case, s, v, edge) - most)
    return actions, most + np.log(total)


@pasted
def log_rationality(case: Case, alpha: float, walk: Walk, rat: Floats) -> None:
    """Fill `rat` `[T, V, 2]`: log Rat (eq. 3) of each action of the demonstration at each node, fresh and moved."""
    edges, cost = case.edges, case.togo.cost
    for i in range(len(walk.taken)):
        edge = walk.taken[i]
        for v in range(1, rat.shape[1] - 1):
            chosen = -alpha * (edges.cost[edge] + cost[edges.end[edge], v])
            actions, everything = log_partitions(case, alpha, walk.path[i], v, walk.each[i])
            possible = chosen > -np.inf
            rat[i, v, FRESH] = chosen - actions if possible else -np.inf
            rat[i, v, MOVED] = chosen - everything if possible else -np.inf


@pasted
def log_rationality_back(case: Case, alpha: float, walk: Walk, acts: Floats, slopes: Slopes) -> None:
    """Add the slopes of Σ acts · log Rat (eq. 3): of J after each action, and of what each transition costs.

    acts: `[T, V, 2]` the weight of each log Rat in the score.
    """
    edges, nodes, cost = case.edges, case.nodes, case.togo.cost
    for i in range(len(walk.taken)):
        s, each = walk.path[i], walk.each[i]
        for v in range(1, acts.shape[1] - 1):
            for label in range(2):
                p = alpha * acts[i, v, label]
                if p == 0.0:
                    continue
                actions, everything = log_partitions(case, alpha, s, v, each)
                total = actions if label == FRESH else everything
                slopes.cost[edges.end[walk.taken[i]], v] -= p
                for edge in range(edges.start[s], edges.start[s + 1]):
                    after = edges.end[edge]
                    slopes.cost[after, v] += p * each * np.exp(-alpha * (edges.cost[edge] + cost[after, v]) - total)
                if label == MOVED:
                    for edge in range(nodes.start[v], nodes.start[v + 1]):
                        share = p * np.exp(-alpha * transition_cost(case, s, v, edge) - total)
                        leave_node_back(case, s, v, nodes.after[edge], share, slopes)
