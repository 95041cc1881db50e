"""The score as an expectation over transitions (appendix): chance leaves a node with probability G_v(s).

Where the demonstrator serves v in state s, the score that is expected is

    E(i, v) = G_v(s_i) · (leave v here) + (1 - G_v(s_i)) · (act, and be at E(i + 1, v)),

where leaving is the best of the ways on, and what is impossible has no chance. The package takes the better of the two.
"""

from typing import Any

import numpy as np

from rsg.core.arrays import Floats
from rsg.core.compiled import compiled
from rsg.language import Machine, Nodes
from rsg.search.cost_to_go import Logs, Slopes, no_slopes, sweep_back
from rsg.search.graph import Edges
from rsg.subgoals import Rationality, RationalSubgoals, Score
from rsg.subgoals.alignment import Along, Shares, best_edge, crossings_back, leaving, nothing_shared, staying
from rsg.subgoals.objective import View, forward
from rsg.subgoals.rationality import FRESH, MOVED, Walk, log_rationality_back


class Expectation(RationalSubgoals):
    """RSG with expected scores."""

    def score(self, view: View, machine: Machine) -> Score:
        """How well a task explains a demonstration, as expected."""
        nodes, ground = machine.among(view.columns), view.ground
        return Score(*expected(ground.graph.arrays, ground.walk, nodes, view.logs, self.settings.rationality))


@compiled
def chance_to_leave(along: Along, i: int, v: int, stay: float, leave: float) -> float:
    """G_v(s_i), or all or nothing where one of both is impossible."""
    if stay == -np.inf:
        return 1.0
    if leave == -np.inf:
        return 0.0
    return np.exp(along.logs.g[along.path[i], along.nodes.term[v]])  # type: ignore[no-any-return]


@compiled
def expect(along: Along, best: Floats) -> float:
    """Fill `best` `[T + 1, V, 2]`, the score that is expected from each label on, and give that of the whole."""
    for i in range(len(along.path) - 1, -1, -1):
        for v in range(len(along.nodes.term) - 2, 0, -1):
            stay, leave = staying(along, i, v, MOVED, best), leaving(along, i, v, best)
            g = chance_to_leave(along, i, v, stay, leave)
            best[i, v, MOVED] = leave if g == 1.0 else stay if g == 0.0 else g * leave + (1.0 - g) * stay
            best[i, v, FRESH] = staying(along, i, v, FRESH, best)
    return leaving(along, 0, 0, best)


@compiled
def go_on(along: Along, i: int, v: int, weight: float, best: Floats, shares: Shares, reach: Floats) -> None:
    """Leave v at state i along the best edge, with some weight."""
    edge = best_edge(along, i, v, best)
    w = along.nodes.after[edge]
    shares.crossings[i, edge] += weight
    if w < len(along.nodes.term) - 1:
        reach[i, w, FRESH] += weight


@compiled
def spread(along: Along, best: Floats, shares: Shares, slopes: Slopes) -> None:
    """With which probability each act, crossing and stop comes; and the slope of G as far as it is a chance."""
    steps, last = len(along.path) - 1, len(along.nodes.term) - 1
    reach = np.zeros((steps + 2, last + 1, 2))
    go_on(along, 0, 0, 1.0, best, shares, reach)
    for i in range(steps + 1):
        for v in range(1, last):
            if i < steps:
                shares.acts[i, v, FRESH] = reach[i, v, FRESH]
                reach[i + 1, v, MOVED] += reach[i, v, FRESH]
            here = reach[i, v, MOVED]
            if here == 0.0:
                continue
            stay, leave = staying(along, i, v, MOVED, best), leaving(along, i, v, best)
            g = chance_to_leave(along, i, v, stay, leave)
            if i < steps:
                shares.acts[i, v, MOVED] = here * (1.0 - g)
                reach[i + 1, v, MOVED] += here * (1.0 - g)
            else:
                shares.stops[v] = here * (1.0 - g)
            if g > 0.0:
                go_on(along, i, v, here * g, best, shares, reach)
            if stay > -np.inf and leave > -np.inf:
                slopes.g[along.path[i], along.nodes.term[v]] += here * g * (leave - stay)


@compiled
def expected(edges: Edges, walk: Walk, nodes: Nodes, logs: Logs, how: Rationality) -> Any:
    """The expected score, its slopes, and the fields of `Score`."""
    _, case, along, best = forward(edges, walk, nodes, logs, how)
    value = expect(along, best)
    shares, slopes = nothing_shared(along), no_slopes(case)
    if value > -np.inf:
        spread(along, best, shares, slopes)
        crossings_back(walk.path, nodes, shares, slopes)
        log_rationality_back(case, how.alpha, walk, shares.acts, slopes)
        sweep_back(case, slopes)
    acts = shares.acts[:, :, FRESH] + shares.acts[:, :, MOVED]
    return value, slopes.g, slopes.i, acts, shares.crossings, case.togo.cost
