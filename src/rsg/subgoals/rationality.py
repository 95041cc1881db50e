"""How rational each action of a demonstration was (paper, eq. 3): log Rat(s, v, a), and its gradient.

Rat(s, v, ·) is a softmax of -α J(s, v, ·) over the primitive actions and the machine transitions open at (s, v). A
label is *fresh* when v has just been entered at s: then an action must come first, so no transition is open.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rsg.core.compiled import compiled

Array = NDArray[Any]
FRESH, MOVED = 0, 1


@compiled
def transition_cost(values: Any, order: Any, tables: Any, weight: float, s: int, v: int, edge: int) -> float:
    """J (eq. 4) of leaving v at state s along a machine edge: -λ (log G_v(s) + log I_w(s)) + what follows at w."""
    log_g, log_i = values
    term_of, _, next_node = order
    entry = tables[1]
    w = next_node[edge]
    cost = -weight * log_g[s, term_of[v]]
    if w < len(term_of) - 1:
        cost += entry[s, w] - weight * log_i[s, term_of[w]]
    return cost  # type: ignore[no-any-return]


@compiled
def log_partitions(
    edges: Any, values: Any, order: Any, tables: Any, alpha: float, weight: float, s: int, v: int, each: float
) -> tuple[float, float]:
    """The denominator of eq. 3, log Σ exp(-α J(s, v, ·)): over the primitive actions, and over transitions too.

    `each` is what an action counts: 1, or what share of an integral over all actions it stands for.
    """
    edge_start, edge_end, edge_cost = edges[0], edges[1], edges[2]
    cost, next_start = tables[0], order[1]
    most = -np.inf
    for edge in range(edge_start[s], edge_start[s + 1]):
        most = max(most, -alpha * (edge_cost[edge] + cost[edge_end[edge], v]))
    for edge in range(next_start[v], next_start[v + 1]):
        most = max(most, -alpha * transition_cost(values, order, tables, weight, s, v, edge))
    if most == -np.inf:
        return most, most
    total = 0.0
    for edge in range(edge_start[s], edge_start[s + 1]):
        total += each * np.exp(-alpha * (edge_cost[edge] + cost[edge_end[edge], v]) - most)
    actions = most + np.log(total) if total > 0.0 else -np.inf
    for edge in range(next_start[v], next_start[v + 1]):
        total += np.exp(-alpha * transition_cost(values, order, tables, weight, s, v, edge) - most)
    return actions, most + np.log(total)


@compiled
def log_rationality(
    edges: Any, values: Any, order: Any, tables: Any, path: Array, taken: Array, each: Array, how: Any, rat: Array
) -> None:
    """Fill `rat` `[T, V, 2]`: log Rat (eq. 3) of each action of the demonstration at each node, fresh and moved.

    `each` `[T]`: what an action counts in the sum over all of them at each step.
    """
    alpha, weight, one_action = how[0], how[1], how[2]
    edge_end, edge_cost, cost = edges[1], edges[2], tables[0]
    for i in range(len(taken)):
        s, edge = path[i], taken[i]
        for v in range(1, rat.shape[1] - 1):
            chosen = -alpha * (edge_cost[edge] + cost[edge_end[edge], v])
            actions, everything = log_partitions(edges, values, order, tables, alpha, weight, s, v, each[i])
            if chosen == -np.inf:
                rat[i, v, FRESH] = rat[i, v, MOVED] = -np.inf
            else:
                rat[i, v, MOVED] = chosen - everything
                rat[i, v, FRESH] = chosen - (actions if one_action else everything)


@compiled
def pull_rationality(
    edges: Any,
    values: Any,
    order: Any,
    tables: Any,
    path: Array,
    taken: Array,
    each: Array,
    how: Any,
    acts: Array,
    slopes: Any,
) -> None:
    """The gradient of Σ acts · log Rat (eq. 3): to J after each action, and to what each transition costs.

    Args:
        acts: `[T, V, 2]` the weight of each log Rat in the score.
        slopes: gradients to add to: of log G and log I `[S, terms]`, of J (moved) and of J (entered) `[S, V]`.
    """
    alpha, weight, one_action = how[0], how[1], how[2]
    edge_start, edge_end, edge_cost = edges[0], edges[1], edges[2]
    term_of, next_start, next_node = order
    cost = tables[0]
    d_g, d_i, d_cost, d_entry = slopes
    for i in range(len(taken)):
        s = path[i]
        for v in range(1, acts.shape[1] - 1):
            for label in range(2):
                p = alpha * acts[i, v, label]
                if p == 0.0:
                    continue
                closed = one_action and label == FRESH
                actions, everything = log_partitions(edges, values, order, tables, alpha, weight, s, v, each[i])
                total = actions if closed else everything
                d_cost[edge_end[taken[i]], v] -= p
                for edge in range(edge_start[s], edge_start[s + 1]):
                    after = edge_end[edge]
                    d_cost[after, v] += p * each[i] * np.exp(-alpha * (edge_cost[edge] + cost[after, v]) - total)
                if closed:
                    continue
                for edge in range(next_start[v], next_start[v + 1]):
                    j = transition_cost(values, order, tables, weight, s, v, edge)
                    share = p * np.exp(-alpha * j - total)
                    w = next_node[edge]
                    d_g[s, term_of[v]] -= weight * share
                    if w < len(term_of) - 1:
                        d_i[s, term_of[w]] -= weight * share
                        d_entry[s, w] += share


@compiled
def pull_cost_to_go(edges: Any, order: Any, tables: Any, weight: float, one_action: bool, slopes: Any) -> None:
    """The gradient of J (eq. 4), exact by the envelope theorem: that of the exits on the best path, node by node."""
    edge_start, edge_end, edge_cost = edges[0], edges[1], edges[2]
    term_of = order[0]
    cost, _, exit_, then, _ = tables
    d_g, d_i, d_cost, d_entry = slopes
    last = len(term_of) - 1
    d_leave = np.empty(len(cost))
    for v in range(1, last):
        for s in range(len(cost)):
            d_leave[s] = 0.0
            if d_entry[s, v] == 0.0:
                continue
            after = s
            if one_action:
                best = np.inf
                for edge in range(edge_start[s], edge_start[s + 1]):
                    total = edge_cost[edge] + cost[edge_end[edge], v]
                    if total < best:
                        best, after = total, edge_end[edge]
            d_cost[after, v] += d_entry[s, v]
        for s in range(len(cost)):
            if d_cost[s, v] != 0.0 and exit_[s, v] >= 0:
                d_leave[exit_[s, v]] += d_cost[s, v]
        for s in range(len(cost)):
            if d_leave[s] != 0.0:
                w = then[s, v]
                d_g[s, term_of[v]] -= weight * d_leave[s]
                if w < last:
                    d_i[s, term_of[w]] -= weight * d_leave[s]
                    d_entry[s, w] += d_leave[s]
