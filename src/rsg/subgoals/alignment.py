"""Which subgoal each step of a demonstration serves (paper, Algorithm 3, corrected): a dynamic programme over labels.

A label (i, v) says: at state i of the demonstration the demonstrator serves node v; it is *fresh* if v was entered at
this very state, and *moved* if an action has been taken for v. A machine transition does not consume a step. With the
one-action rule a fresh label must act before it can be left: an atom needs two states. v_T is entered at the last
state only. With an *open end* the demonstration may stop at any label, as far as its subgoal is not true yet: the task
goes on where nobody looks.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rsg.core.compiled import compiled
from rsg.subgoals.rationality import FRESH, MOVED

Array = NDArray[Any]


@compiled
def join(a: float, b: float, marginal: bool) -> float:
    """The better of two scores, or with `marginal` the logarithm of the sum of both."""
    if not marginal or a == -np.inf or b == -np.inf:
        return max(a, b)
    return max(a, b) + np.log1p(np.exp(-abs(a - b)))  # type: ignore[no-any-return]


@compiled
def crossing(values: Any, order: Any, s: int, v: int, edge: int) -> float:
    """The second sum of eq. 2, log G_v(s) + log I_w(s): how fitting it is to go from v to w at s."""
    log_g, log_i = values
    term_of, _, next_node = order
    w = next_node[edge]
    total = 0.0
    if v > 0:
        total += log_g[s, term_of[v]]
    if w < len(term_of) - 1:
        total += log_i[s, term_of[w]]
    return total


@compiled
def ways_on(i: int, edge: int, path: Array, values: Any, order: Any, v: int, best: Array) -> float:
    """The score of leaving v at state i along a machine edge, and of all that follows."""
    w = order[2][edge]
    last = len(order[0]) - 1
    if w == last:
        return crossing(values, order, path[i], v, edge) if i == len(path) - 1 else -np.inf
    return crossing(values, order, path[i], v, edge) + best[i, w, FRESH]  # type: ignore[no-any-return]


@compiled
def align(path: Array, values: Any, order: Any, how: Any, rat: Array, best: Array) -> float:
    """Algorithm 3: fill `best` `[T + 1, V, 2]`, the score from each label to the end, and give that of the whole.

    The score (paper, eq. 2) is Σ log Rat of the actions + Σ (log G + log I) at the transitions, for the best
    alignment, or summed over all alignments.
    """
    _, _, one_action, marginal, open_end = how
    next_start = order[1]
    steps, last = len(path) - 1, len(order[0]) - 1
    for i in range(steps, -1, -1):
        for v in range(last - 1, 0, -1):
            stop = values[1][path[i], order[0][v]] if open_end else -np.inf
            total = rat[i, v, MOVED] + best[i + 1, v, MOVED] if i < steps else stop
            for edge in range(next_start[v], next_start[v + 1]):
                total = join(total, ways_on(i, edge, path, values, order, v, best), marginal)
            best[i, v, MOVED] = total
            if not one_action:
                best[i, v, FRESH] = total
            else:
                stop = 0.0 if open_end else -np.inf  # it was asked on entering whether it is true yet
                best[i, v, FRESH] = rat[i, v, FRESH] + best[i + 1, v, MOVED] if i < steps else stop
    total = -np.inf
    for edge in range(next_start[0], next_start[1]):
        total = join(total, ways_on(0, edge, path, values, order, 0, best), marginal)
    return total


@compiled
def share(option: float, total: float, marginal: bool, taken: bool) -> float:
    """The part of a label's weight that goes along an option: all along the first best one, or as by its score."""
    if option == -np.inf or total == -np.inf:
        return 0.0
    if marginal:
        return np.exp(option - total)  # type: ignore[no-any-return]
    return 1.0 if option == total and not taken else 0.0


@compiled
def trace(
    path: Array, values: Any, order: Any, how: Any, rat: Array, best: Array, acts: Array, crossings: Array, stops: Array
) -> None:
    """The arg-max of eq. 2, the alignment itself, first state first; under `marginal` the probability of each part.

    Args:
        best: as filled by `align`.
        acts: `[T, V, 2]` the weight with which action i serves node v, fresh or moved.
        crossings: `[T + 1, E]` the weight with which each machine edge is taken at state i.
        stops: `[V]` the weight with which it stops in a node that it has served.
    """
    _, _, one_action, marginal, open_end = how
    next_start, next_node = order[1], order[2]
    steps, last = len(path) - 1, len(order[0]) - 1
    reach = np.zeros((steps + 1, last + 1, 2))
    total = -np.inf
    for edge in range(next_start[0], next_start[1]):
        total = join(total, ways_on(0, edge, path, values, order, 0, best), marginal)
    gone = False
    for edge in range(next_start[0], next_start[1]):
        part = share(ways_on(0, edge, path, values, order, 0, best), total, marginal, gone)
        gone = gone or part > 0
        crossings[0, edge] += part
        reach[0, next_node[edge], FRESH] += part
    for i in range(steps + 1):
        for v in range(1, last):
            if not one_action:
                reach[i, v, MOVED] += reach[i, v, FRESH]
            elif reach[i, v, FRESH] > 0 and i < steps:
                acts[i, v, FRESH] += reach[i, v, FRESH]
                reach[i + 1, v, MOVED] += reach[i, v, FRESH]
            here, gone = reach[i, v, MOVED], False
            if here == 0.0:
                continue
            if i < steps:
                part = share(rat[i, v, MOVED] + best[i + 1, v, MOVED], best[i, v, MOVED], marginal, False)
                gone = part > 0
                acts[i, v, MOVED] += here * part
                reach[i + 1, v, MOVED] += here * part
            elif open_end:
                part = share(values[1][path[i], order[0][v]], best[i, v, MOVED], marginal, False)
                gone = part > 0
                stops[v] += here * part
            for edge in range(next_start[v], next_start[v + 1]):
                part = share(ways_on(i, edge, path, values, order, v, best), best[i, v, MOVED], marginal, gone)
                gone = gone or part > 0
                crossings[i, edge] += here * part
                if next_node[edge] < last:
                    reach[i, next_node[edge], FRESH] += here * part


@compiled
def pull_crossings(path: Array, order: Any, crossings: Array, stops: Array, d_g: Array, d_i: Array) -> None:
    """Add the gradient of Σ crossings · (log G + log I), the second sum of eq. 2, and of Σ stops · log I."""
    term_of, next_start, next_node = order
    last = len(term_of) - 1
    for v in range(1, last):
        d_i[path[-1], term_of[v]] += stops[v]
    for i in range(len(path)):
        for v in range(last):
            for edge in range(next_start[v], next_start[v + 1]):
                if crossings[i, edge] != 0.0:
                    if v > 0:
                        d_g[path[i], term_of[v]] += crossings[i, edge]
                    if next_node[edge] < last:
                        d_i[path[i], term_of[next_node[edge]]] += crossings[i, edge]
