"""How sure an alignment is: all alignments weighed by their scores, and the one that comes second.

The score (eq. 2) is the logarithm of how likely a demonstrator acts so and ends each subgoal there, up to a constant.
So a softmax over alignments is their posterior, and sums over it take the same dynamic programme as the best of them.

By eq. 2 alone a subgoal that stays true may end at any later moment as well: whoever carries an axe to a tree may grab
it all the way. People mean the moment when it came true, so here serving on says that it has not (`end_at_once`).
"""

from typing import Any, NamedTuple

import numpy as np

from rsg.core.arrays import Floats
from rsg.core.compiled import compiled, inner
from rsg.language import Nodes
from rsg.search.cost_to_go import Logs
from rsg.search.graph import Edges
from rsg.subgoals.alignment import (
    STAY,
    STRAIGHT,
    Along,
    Shares,
    align,
    crossing_on,
    nothing_shared,
    staying,
    trace,
    way_on,
    worth,
)
from rsg.subgoals.objective import forward
from rsg.subgoals.rationality import FRESH, MOVED, Rationality, Walk


class Judged(NamedTuple):
    """How sure an alignment is.

    Attributes:
        value: the score of eq. 2, minus infinity if no alignment is possible.
        best: the alignment in which each subgoal ends when it comes true; second: the one that is next.
        chances: `[T + 1, V]` how likely it is that node v is left at state i.
        behind: how much less the second scores; infinite if there is none.
    """

    value: float
    best: Shares
    chances: Floats
    second: Shares
    behind: float


def judge(edges: Edges, walk: Walk, nodes: Nodes, logs: Logs, how: Rationality) -> Judged:
    """Where each subgoal ended, how likely that is, and where else it may have; arguments as for `score`."""
    return Judged(*_judge(edges, walk, nodes, logs, how))


@compiled
def _judge(edges: Edges, walk: Walk, nodes: Nodes, logs: Logs, how: Rationality) -> Any:
    value, _, along, best = forward(edges, walk, nodes, logs, how)
    first, second = nothing_shared(along), nothing_shared(along)
    chances, behind = np.zeros((len(along.path), len(nodes.term))), np.inf
    if value > -np.inf:
        end_at_once(along)
        align(along, best)
        trace(along, best, first)
        behind = runner_up(along, best, second)
        every = np.empty(best.shape)
        whole = weigh(along, every)
        spread(along, every, whole, np.zeros(best.shape), chances)
    return value, first, chances, second, behind


@inner
def end_at_once(along: Along) -> None:
    """A subgoal ends when it comes true: who goes on serving it says that it is not true yet, log I_v(s)."""
    for i in range(len(along.path) - 1):
        for v in range(1, len(along.nodes.term) - 1):
            along.rat[i, v, MOVED] += along.logs.i[along.path[i], along.nodes.term[v]]


@inner
def both(one: float, other: float) -> float:
    """log (e^one + e^other)."""
    most = max(one, other)
    return most + np.log1p(np.exp(min(one, other) - most)) if most > -np.inf else most


@inner
def leaving_somehow(along: Along, i: int, v: int, every: Floats) -> float:
    """As `leaving`, along all edges together."""
    total = -np.inf
    for edge in range(along.nodes.start[v], along.nodes.start[v + 1]):
        total = both(total, crossing_on(along, i, v, edge, every))
    return total


@inner
def weigh(along: Along, every: Floats) -> float:
    """As `align`, for all alignments together: fill `every` `[T + 1, V, 2]`, and give log Σ exp(score)."""
    for i in range(len(along.path) - 1, -1, -1):
        for v in range(len(along.nodes.term) - 2, 0, -1):
            every[i, v, MOVED] = both(staying(along, i, v, MOVED, every), leaving_somehow(along, i, v, every))
            every[i, v, FRESH] = staying(along, i, v, FRESH, every)
    return leaving_somehow(along, 0, 0, every)


@inner
def spread(along: Along, every: Floats, whole: float, there: Floats, chances: Floats) -> None:
    """Fill `chances` `[T + 1, V]`: how likely it is that node v is left at state i. `every` is as `weigh` left it.

    there: zeros `[T + 1, V, 2]`, to be filled with how likely each label is part of the alignment.
    """
    _leave(along, 0, 0, every, whole, there, chances)
    for i in range(len(along.path)):
        for v in range(1, len(along.nodes.term) - 1):
            if there[i, v, MOVED] > 0.0:
                _leave(along, i, v, every, every[i, v, MOVED] - np.log(there[i, v, MOVED]), there, chances)
            if i < len(along.path) - 1:
                for label in range(2):
                    if there[i, v, label] > 0.0:
                        stays = np.exp(staying(along, i, v, label, every) - every[i, v, label])
                        there[i + 1, v, MOVED] += there[i, v, label] * stays


@inner
def _leave(along: Along, i: int, v: int, every: Floats, whole: float, there: Floats, chances: Floats) -> None:
    """Hand on what part of the alignments leaves v at state i; exp(-whole) makes probabilities of their scores."""
    for edge in range(along.nodes.start[v], along.nodes.start[v + 1]):
        flow = np.exp(crossing_on(along, i, v, edge, every) - whole)
        chances[i, v] += flow
        there[i, along.nodes.after[edge], FRESH] += flow


@inner
def runner_up(along: Along, best: Floats, shares: Shares) -> float:
    """The second best alignment, as `trace` gives the best, and how much less it scores; infinite if there is none.

    It takes one other way somewhere on the best alignment, and goes on in the best way from there.
    """
    least, turn = np.inf, STRAIGHT
    i, v, label = 0, 0, MOVED
    while v < len(along.nodes.term) - 1:
        way = way_on(along, i, v, label, best)
        here = worth(along, i, v, label, way, best)
        if v > 0 and way != STAY and here - staying(along, i, v, label, best) < least:
            least, turn = here - staying(along, i, v, label, best), (i, v, label, STAY)
        for edge in range(along.nodes.start[v], along.nodes.start[v + 1] if label == MOVED else 0):
            if edge != way and here - crossing_on(along, i, v, edge, best) < least:
                least, turn = here - crossing_on(along, i, v, edge, best), (i, v, label, edge)
        if way != STAY:
            v, label = along.nodes.after[way], FRESH
        elif i == len(along.path) - 1:
            break
        else:
            i, label = i + 1, MOVED
    if least < np.inf:
        trace(along, best, shares, turn)
    return least
