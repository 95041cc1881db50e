"""Which subgoal each step of a demonstration serves (paper, Algorithm 3, corrected): a dynamic programme over labels.

A label (i, v) says: at state i of the demonstration the demonstrator serves node v; it is *fresh* if v was entered at
this very state, and *moved* if an action has been taken for v. A machine transition does not consume a step. A fresh
label must act before it can be left: an atom needs two states. v_T is entered at the last state only, or *late*: some
go on when they are done. With an *open end* the demonstration may stop at any label, as far as its subgoal is not true
yet: the task goes on where nobody looks.
"""

from typing import NamedTuple

import numpy as np

from rsg.core.arrays import Array, Floats
from rsg.core.compiled import inner, pasted
from rsg.language import Nodes
from rsg.search.cost_to_go import Logs, Slopes
from rsg.subgoals.rationality import FRESH, MOVED

STAY = -1  # in the place of a machine edge: act for the same node
STRAIGHT = (-1, -1, -1, STAY)  # no turn anywhere


class Along(NamedTuple):
    """What is known along a demonstration.

    Attributes:
        path: `[T + 1]` its states.
        logs: log G and log I in all states.
        nodes: what is to be served.
        rat: `[T, V, 2]` log Rat of each action at each node, fresh and moved.
        open_end: whether it may end before the task is done.
        late: whether it may go on after that, see `Walk`.
    """

    path: Array
    logs: Logs
    nodes: Nodes
    rat: Floats
    open_end: bool
    late: Floats


class Shares(NamedTuple):
    """An alignment: 1 where something is part of it.

    Attributes:
        acts: `[T, V, 2]` action i serves node v, fresh or moved.
        crossings: `[T + 1, E]` a machine edge is taken at state i.
        stops: `[V]` the demonstration stops in a node that it has served.
    """

    acts: Floats
    crossings: Floats
    stops: Floats


@pasted
def nothing_shared(along: Along) -> Shares:
    """An alignment to be filled by `trace`."""
    steps, nodes = len(along.path) - 1, len(along.nodes.term)
    crossings = np.zeros((steps + 1, len(along.nodes.after)))
    return Shares(np.zeros((steps, nodes, 2)), crossings, np.zeros(nodes))


@pasted
def served(shares: Shares) -> Floats:
    """The weight with which action i serves node v, fresh or moved, `[T, V]`."""
    steps, nodes = len(shares.acts), shares.acts.shape[1]
    acts = np.empty((steps, nodes))
    for i in range(steps):
        for v in range(nodes):
            acts[i, v] = shares.acts[i, v, FRESH] + shares.acts[i, v, MOVED]
    return acts


@inner
def crossing(along: Along, i: int, v: int, edge: int) -> float:
    """The second sum of eq. 2, log G_v(s) + log I_w(s): how fitting it is to go from v to w at state i."""
    nodes, s = along.nodes, along.path[i]
    w = nodes.after[edge]
    total = 0.0
    if v > 0:
        total += along.logs.g[s, nodes.term[v]]
    if w < len(nodes.term) - 1:
        total += along.logs.i[s, nodes.term[w]]
    return total


@inner
def crossing_on(along: Along, i: int, v: int, edge: int, best: Floats) -> float:
    """The score of leaving v at state i along a machine edge, and of all that follows."""
    w = along.nodes.after[edge]
    if w < len(along.nodes.term) - 1:
        return crossing(along, i, v, edge) + best[i, w, FRESH]  # type: ignore[no-any-return]
    if len(along.late) > 0:
        return crossing(along, i, v, edge) + along.late[i]  # type: ignore[no-any-return]
    return crossing(along, i, v, edge) if i == len(along.path) - 1 else -np.inf


@inner
def leaving(along: Along, i: int, v: int, best: Floats) -> float:
    """The score of leaving v at state i along the best of its edges."""
    total = -np.inf
    for edge in range(along.nodes.start[v], along.nodes.start[v + 1]):
        total = max(total, crossing_on(along, i, v, edge, best))
    return total


@inner
def staying(along: Along, i: int, v: int, label: int, best: Floats) -> float:
    """The score of serving v with action i, and of all that follows; at the end, of stopping there."""
    if i < len(along.path) - 1:
        return along.rat[i, v, label] + best[i + 1, v, MOVED]  # type: ignore[no-any-return]
    if not along.open_end:
        return -np.inf
    if label == FRESH:
        return 0.0  # it was asked on entering whether it is true yet
    return along.logs.i[along.path[i], along.nodes.term[v]]  # type: ignore[no-any-return]


@pasted
def align(along: Along, best: Floats) -> float:
    """Algorithm 3: fill `best` `[T + 1, V, 2]`, the score from each label to the end, and give that of the whole.

    The score (eq. 2) is Σ log Rat of the actions + Σ (log G + log I) at the transitions, of the best alignment.
    """
    for i in range(len(along.path) - 1, -1, -1):
        for v in range(len(along.nodes.term) - 2, 0, -1):
            best[i, v, MOVED] = max(staying(along, i, v, MOVED, best), leaving(along, i, v, best))
            best[i, v, FRESH] = staying(along, i, v, FRESH, best)
    return leaving(along, 0, 0, best)


@inner
def worth(along: Along, i: int, v: int, label: int, way: int, best: Floats) -> float:
    """The score of one way on from a label: a machine edge, or STAY; and of the best that follows."""
    return staying(along, i, v, label, best) if way == STAY else crossing_on(along, i, v, way, best)


@inner
def best_edge(along: Along, i: int, v: int, best: Floats) -> int:
    """The first of the best edges along which v is left at state i."""
    edge, total = along.nodes.start[v], leaving(along, i, v, best)
    while crossing_on(along, i, v, edge, best) != total:
        edge += 1
    return edge  # type: ignore[no-any-return]


@inner
def way_on(along: Along, i: int, v: int, label: int, best: Floats) -> int:
    """The best way on from a label; of equals, to stay, or else the first edge."""
    if v > 0 and (label == FRESH or staying(along, i, v, MOVED, best) == best[i, v, MOVED]):
        return STAY
    return best_edge(along, i, v, best)


@inner
def trace(along: Along, best: Floats, shares: Shares, turn: tuple[int, int, int, int] = STRAIGHT) -> None:
    """The arg-max of eq. 2, the alignment itself, first state first. `best` is as `align` left it.

    turn: a label (state, node, fresh or moved) at which another way is taken, and which.
    """
    i, v, label = 0, 0, MOVED
    while v < len(along.nodes.term) - 1:
        way = turn[3] if turn[:3] == (i, v, label) else way_on(along, i, v, label, best)
        if way != STAY:
            shares.crossings[i, way] = 1.0
            v, label = along.nodes.after[way], FRESH
        elif i == len(along.path) - 1:
            shares.stops[v] = label
            return
        else:
            shares.acts[i, v, label] = 1.0
            i, label = i + 1, MOVED


@pasted
def crossings_back(path: Array, nodes: Nodes, shares: Shares, slopes: Slopes | Logs) -> None:
    """Add the slopes of Σ crossings · (log G + log I), the second sum of eq. 2, and of Σ stops · log I."""
    last = len(nodes.term) - 1
    for v in range(1, last):
        slopes.i[path[-1], nodes.term[v]] += shares.stops[v]
    for i in range(len(path)):
        for v in range(last):
            for edge in range(nodes.start[v], nodes.start[v + 1]):
                share, w = shares.crossings[i, edge], nodes.after[edge]
                if share != 0.0 and v > 0:
                    slopes.g[path[i], nodes.term[v]] += share
                if share != 0.0 and w < last:
                    slopes.i[path[i], nodes.term[w]] += share
