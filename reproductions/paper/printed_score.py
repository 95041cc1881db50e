"""The score as the paper prints it (eq. 2 to 4, Algorithm 3): a node may be entered and left in one state.

The package asks for an action between the two. Without that rule there is no difference between fresh and moved labels:
J where a node is entered is J of the node (eq. 4), all transitions are open at once (eq. 3), and a chain of nodes may
be passed in a single state (Algorithm 3).
"""

from typing import Any

import numpy as np

from rsg.core.arrays import Floats
from rsg.core.compiled import compiled
from rsg.language import Machine, Nodes
from rsg.search.cost_to_go import CostToGo, Logs, leave_node, nothing_known, reach_exits, room_for
from rsg.search.graph import Edges
from rsg.subgoals import Rationality, RationalSubgoals, Score
from rsg.subgoals.alignment import Along, Shares, best_edge, leaving, nothing_shared, pull_crossings, staying
from rsg.subgoals.objective import View
from rsg.subgoals.rationality import MOVED, Case, Slopes, Walk, log_rationality, no_slopes, pull_exits, pull_rationality


class PrintedScore(RationalSubgoals):
    """RSG without the one-action rule."""

    def score(self, view: View, machine: Machine) -> Score:
        """How well a task explains a demonstration (eq. 2)."""
        nodes, ground = machine.among(view.columns), view.ground
        return Score(*printed(ground.graph.arrays, ground.walk, nodes, view.logs, self.settings.rationality))


@compiled
def sweep(edges: Edges, nodes: Nodes, logs: Logs, weight: float, togo: CostToGo) -> None:
    """J (eq. 4), last node first: what follows where a node is entered is its J there."""
    room = room_for(edges, len(togo.cost))
    for v in range(len(nodes.term) - 2, -1, -1):
        leave_node(nodes, logs, weight, togo, v)
        if v > 0:
            reach_exits(edges, togo, v, room)
        togo.entry[:, v] = togo.cost[:, v]


@compiled
def align(along: Along, best: Floats) -> float:
    """Algorithm 3: the score from each label to the end, and that of the whole."""
    for i in range(len(along.path) - 1, -1, -1):
        for v in range(len(along.nodes.term) - 2, 0, -1):
            best[i, v, :] = max(staying(along, i, v, MOVED, best), leaving(along, i, v, best))
    return leaving(along, 0, 0, best)


@compiled
def trace(along: Along, best: Floats, shares: Shares) -> None:
    """The best alignment itself."""
    i, v = 0, 0
    while v < len(along.nodes.term) - 1:
        if v > 0 and staying(along, i, v, MOVED, best) == best[i, v, MOVED]:
            if i == len(along.path) - 1:
                shares.stops[v] = 1.0
                return
            shares.acts[i, v, MOVED] = 1.0
            i += 1
        else:
            edge = best_edge(along, i, v, best)
            shares.crossings[i, edge] = 1.0
            v = along.nodes.after[edge]


@compiled
def pull_cost_to_go(case: Case, slopes: Slopes) -> None:
    """The gradient of J (eq. 4), node by node."""
    for v in range(1, len(case.nodes.term) - 1):
        slopes.cost[:, v] += slopes.entry[:, v]
        pull_exits(case, v, slopes)


@compiled
def printed(edges: Edges, walk: Walk, nodes: Nodes, logs: Logs, how: Rationality) -> Any:
    """The score (eq. 2), its gradient, and the fields of `Score`."""
    togo = nothing_known(len(logs.g), len(nodes.term))
    sweep(edges, nodes, logs, how.weight, togo)
    case = Case(edges, nodes, logs, togo, how)
    rat = np.empty((len(walk.taken), len(nodes.term), 2))
    log_rationality(case, walk, rat)
    along = Along(walk.path, logs, nodes, rat, how.open_end)
    best = np.empty((len(walk.path), len(nodes.term), 2))
    value = align(along, best)
    shares, slopes = nothing_shared(along), no_slopes(case)
    if value > -np.inf:
        trace(along, best, shares)
        pull_crossings(walk.path, nodes, shares, slopes)
        pull_rationality(case, walk, shares.acts, slopes)
        pull_cost_to_go(case, slopes)
    return value, slopes.g, slopes.i, shares.acts[:, :, 0] + shares.acts[:, :, 1], shares.crossings, togo.cost
