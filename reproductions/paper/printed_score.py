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
from rsg.search.cost_to_go import (
    Case,
    Logs,
    Slopes,
    leave_node,
    no_slopes,
    nothing_known,
    reach_exits,
    reach_exits_back,
    room_for,
)
from rsg.search.graph import Edges
from rsg.subgoals import Rationality, RationalSubgoals, Score
from rsg.subgoals.alignment import Along, Shares, best_edge, crossings_back, leaving, nothing_shared, staying
from rsg.subgoals.objective import View
from rsg.subgoals.rationality import MOVED, Walk, log_rationality, log_rationality_back


class PrintedScore(RationalSubgoals):
    """RSG without the one-action rule."""

    def score(self, view: View, machine: Machine) -> Score:
        """How well a task explains a demonstration (eq. 2)."""
        nodes, ground = machine.among(view.columns), view.ground
        return Score(*printed(ground.graph.arrays, ground.walk, nodes, view.logs, self.settings.rationality))


@compiled
def sweep(case: Case) -> None:
    """J (eq. 4), last node first: what follows where a node is entered is its J there."""
    room = room_for(case)
    for v in range(len(case.nodes.term) - 2, -1, -1):
        leave_node(case, v)
        if v > 0:
            reach_exits(case, v, room)
        case.togo.entry[:, v] = case.togo.cost[:, v]


@compiled
def sweep_back(case: Case, slopes: Slopes) -> None:
    """The slopes of J (eq. 4), first node first."""
    for v in range(1, len(case.nodes.term) - 1):
        slopes.cost[:, v] += slopes.entry[:, v]
        reach_exits_back(case, v, slopes)


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
def printed(edges: Edges, walk: Walk, nodes: Nodes, logs: Logs, how: Rationality) -> Any:
    """The score (eq. 2), its slopes, and the fields of `Score`."""
    case = Case(edges, nodes, logs, how.weight, nothing_known(len(logs.g), len(nodes.term)))
    sweep(case)
    rat = np.empty((len(walk.taken), len(nodes.term), 2))
    log_rationality(case, how.alpha, walk, rat)
    along = Along(walk.path, logs, nodes, rat, how.open_end, walk.late)
    best = np.empty((len(walk.path), len(nodes.term), 2))
    value = align(along, best)
    shares, slopes = nothing_shared(along), no_slopes(case)
    if value > -np.inf:
        trace(along, best, shares)
        crossings_back(walk.path, nodes, shares, slopes)
        log_rationality_back(case, how.alpha, walk, shares.acts, slopes)
        sweep_back(case, slopes)
    return value, slopes.g, slopes.i, shares.acts[:, :, 0] + shares.acts[:, :, 1], shares.crossings, case.togo.cost
