"""Which subgoal each step of a demonstration serves (paper, Algorithm 3, corrected): a dynamic programme over labels.

A label (i, v) says: at state i of the demonstration the demonstrator serves node v; it is *fresh* if v was entered at
this very state, and *moved* if an action has been taken for v. A machine transition does not consume a step. With the
one-action rule a fresh label must act before it can be left: an atom needs two states. v_T is entered at the last
state only. With an *open end* the demonstration may stop at any label, as far as its subgoal is not true yet: the task
goes on where nobody looks.

Alignments can be joined in three ways: `MAX` takes the best one, `SUM` all of them (log-sum-exp), and `EXPECTATION` is
the appendix's stochastic formulation: chance leaves a node with probability G_v(s) and stays with 1 - G_v(s), the score
is expected, and the demonstrator chooses the best of several ways on. What is impossible has no chance.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rsg.core.compiled import compiled
from rsg.subgoals.rationality import FRESH, MOVED

Array = NDArray[Any]
MAX, SUM, EXPECTATION = 0, 1, 2
JOINED = ("max", "sum", "expectation")  # their names


@compiled
def join(a: float, b: float, joined: int) -> float:
    """The better of two scores, or with `SUM` the logarithm of the sum of both."""
    if joined != SUM or a == -np.inf or b == -np.inf:
        return max(a, b)
    return max(a, b) + np.log1p(np.exp(-abs(a - b)))  # type: ignore[no-any-return]


@compiled
def join_with_chance(stay: float, leave: float, log_g: float, joined: int) -> float:
    """The score of a label from that of staying in its node and that of leaving it."""
    if joined != EXPECTATION or stay == -np.inf or leave == -np.inf:
        return join(stay, leave, joined)
    g = np.exp(log_g)
    return g * leave + (1.0 - g) * stay  # type: ignore[no-any-return]


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
def leaving(i: int, v: int, path: Array, values: Any, order: Any, joined: int, best: Array) -> float:
    """The score of leaving v at state i along any of its edges."""
    total = -np.inf
    for edge in range(order[1][v], order[1][v + 1]):
        total = join(total, ways_on(i, edge, path, values, order, v, best), joined)
    return total


@compiled
def align(path: Array, values: Any, order: Any, how: Any, rat: Array, best: Array) -> float:
    """Algorithm 3: fill `best` `[T + 1, V, 2]`, the score from each label to the end, and give that of the whole.

    The score (paper, eq. 2) is Σ log Rat of the actions + Σ (log G + log I) at the transitions, for the best
    alignment, summed over all alignments, or expected.
    """
    _, _, one_action, joined, open_end = how
    steps, last = len(path) - 1, len(order[0]) - 1
    for i in range(steps, -1, -1):
        for v in range(last - 1, 0, -1):
            stop = values[1][path[i], order[0][v]] if open_end else -np.inf
            stay = rat[i, v, MOVED] + best[i + 1, v, MOVED] if i < steps else stop
            leave = leaving(i, v, path, values, order, joined, best)
            best[i, v, MOVED] = join_with_chance(stay, leave, values[0][path[i], order[0][v]], joined)
            if not one_action:
                best[i, v, FRESH] = best[i, v, MOVED]
            else:
                stop = 0.0 if open_end else -np.inf  # it was asked on entering whether it is true yet
                best[i, v, FRESH] = rat[i, v, FRESH] + best[i + 1, v, MOVED] if i < steps else stop
    return leaving(0, 0, path, values, order, joined, best)


@compiled
def share(option: float, total: float, joined: int) -> float:
    """The part of a label's weight that goes along an option: all along the best one, or as by its score."""
    if option == -np.inf or total == -np.inf:
        return 0.0
    if joined == SUM:
        return np.exp(option - total)  # type: ignore[no-any-return]
    return 1.0 if option == total else 0.0


@compiled
def share_of_staying(stay: float, leave: float, log_g: float, joined: int) -> float:
    """The part of a label's weight that stays in its node."""
    if joined != EXPECTATION or stay == -np.inf or leave == -np.inf:
        return share(stay, join(stay, leave, joined), joined)
    return 1.0 - np.exp(log_g)  # type: ignore[no-any-return]


@compiled
def go_on(
    i: int, v: int, weight: float, path: Array, values: Any, order: Any, joined: int, best: Array, found: Any
) -> None:
    """Let the weight of a label leave v at state i: along the first best edge, or along all as by their scores."""
    crossings, reach = found
    next_start, next_node = order[1], order[2]
    total = leaving(i, v, path, values, order, joined, best)
    left = weight
    for edge in range(next_start[v], next_start[v + 1]):
        part = min(left, weight * share(ways_on(i, edge, path, values, order, v, best), total, joined))
        left -= part
        crossings[i, edge] += part
        if next_node[edge] < len(order[0]) - 1:
            reach[i, next_node[edge], FRESH] += part


@compiled
def trace(path: Array, values: Any, order: Any, how: Any, rat: Array, best: Array, found: Any) -> None:
    """The arg-max of eq. 2, the alignment itself, first state first; or the probability of each part of it.

    Args:
        best: as filled by `align`.
        found: arrays to fill. `acts` `[T, V, 2]`: the weight with which action i serves node v, fresh or moved;
            `crossings` `[T + 1, E]`: that with which each machine edge is taken at state i; `stops` `[V]`: that with
            which it stops in a node that it has served; `chances` `[T + 1, V]`: the gradient with respect to log G as
            far as it is a chance.
    """
    _, _, one_action, joined, open_end = how
    acts, crossings, stops, chances = found
    steps, last = len(path) - 1, len(order[0]) - 1
    reach = np.zeros((steps + 1, last + 1, 2))
    go_on(0, 0, 1.0, path, values, order, joined, best, (crossings, reach))
    for i in range(steps + 1):
        for v in range(1, last):
            if not one_action:
                reach[i, v, MOVED] += reach[i, v, FRESH]
            elif reach[i, v, FRESH] > 0 and i < steps:
                acts[i, v, FRESH] += reach[i, v, FRESH]
                reach[i + 1, v, MOVED] += reach[i, v, FRESH]
            here = reach[i, v, MOVED]
            if here == 0.0:
                continue
            stop = values[1][path[i], order[0][v]] if open_end else -np.inf
            stay = rat[i, v, MOVED] + best[i + 1, v, MOVED] if i < steps else stop
            leave = leaving(i, v, path, values, order, joined, best)
            log_g = values[0][path[i], order[0][v]]
            part = share_of_staying(stay, leave, log_g, joined)
            if i < steps:
                acts[i, v, MOVED] += here * part
                reach[i + 1, v, MOVED] += here * part
            else:
                stops[v] += here * part
            if part < 1.0:
                go_on(i, v, here * (1.0 - part), path, values, order, joined, best, (crossings, reach))
            if joined == EXPECTATION and stay > -np.inf and leave > -np.inf:
                chances[i, v] += here * np.exp(log_g) * (leave - stay)


@compiled
def pull_crossings(path: Array, order: Any, found: Any, d_g: Array, d_i: Array) -> None:
    """Add the gradients of Σ crossings · (log G + log I), the second sum of eq. 2, of Σ stops · log I, of chances."""
    _, crossings, stops, chances = found
    term_of, next_start, next_node = order
    last = len(term_of) - 1
    for v in range(1, last):
        d_i[path[-1], term_of[v]] += stops[v]
    for i in range(len(path)):
        for v in range(last):
            if v > 0:
                d_g[path[i], term_of[v]] += chances[i, v]
            for edge in range(next_start[v], next_start[v + 1]):
                if crossings[i, edge] != 0.0:
                    if v > 0:
                        d_g[path[i], term_of[v]] += crossings[i, edge]
                    if next_node[edge] < last:
                        d_i[path[i], term_of[next_node[edge]]] += crossings[i, edge]
