"""The roadmap planner: the product search on a roadmap with the start on it, then a shorter way along what it found."""

import time
from dataclasses import replace

import numpy as np

from rsg.core.arrays import Array, Bools, Floats
from rsg.core.errors import RsgError
from rsg.core.random import stream
from rsg.language import Machine
from rsg.search.driving import Limits
from rsg.search.goals import Goals
from rsg.search.graph import StateGraph
from rsg.search.motion.finishing import finished
from rsg.search.motion.query import WANTED, Query, around, likely_poses
from rsg.search.motion.roadmap import attach, roadmap
from rsg.search.motion.space import checked_start
from rsg.search.product.on_graph import GraphSearch
from rsg.search.product.settings import Found, Roadmap, best
from rsg.worlds.protocol import ContinuousWorld

_FEW = 3  # actions that lead from a start to a roadmap
_BESIDE = (1.0, 0.3, 0.1)  # how far around such a start to look, in actions
MAX_LABELS = 5_000_000  # (state, node) pairs that fit into memory


def _without(poses: Floats, others: Floats) -> Floats:
    """The poses `[N, D]` that are not among the others."""
    one, other = np.nonzero(poses[:, :1] == others[:, 0])
    known = one[(poses[one] == others[other]).all(axis=1)]
    return np.delete(poses, known, axis=0)


class RoadmapSearch:
    """One search of the roadmap planner; `run` may be called again as with `ProductSearch`.

    A start `[W]` that is in collision is an error.
    """

    def __init__(
        self, world: ContinuousWorld, state: Array, machine: Machine, goals: Goals, how: Roadmap, seed: int = 0
    ) -> None:
        if not self.fits(machine, how):
            raise RsgError(
                f"{machine.nodes:,} machine nodes are too many for a roadmap of {how.poses:,} poses; "
                "say part of the order of the task with 'then', or use the planner 'rrt'"
            )
        self.how = how
        self._query = Query(world, checked_start(world, state), machine, goals, how.transitions)
        self._rng = stream(seed, "roadmap-search")
        self._graph, values = self._roads()
        self._search = GraphSearch(self._graph, machine, lambda _: values, how, seed)
        self._tried_all = False

    @staticmethod
    def fits(machine: Machine, how: Roadmap) -> bool:
        """Whether the labels of such a search fit into memory."""
        return machine.nodes * how.poses <= MAX_LABELS

    def _roads(self) -> tuple[StateGraph, tuple[Floats, Floats]]:
        """The roadmap with the start on it, first, and likely goals if it has few; log G and log I of its states."""
        query, world = self._query, self._query.world
        roads = roadmap(world, query.state, self.how.poses)
        log_g, log_i = query.asked(query.rows(roads.states))
        given = query.state[None]
        if (np.count_nonzero(log_g >= query.bar, axis=0) < WANTED).any():
            likely = np.concatenate(likely_poses(query, roads.states, log_g, self._rng))
            given = np.concatenate([given, query.rows(_without(likely, roads.states))])
        graph = attach(world, roads, given, trajectory=False)
        if graph.edge_start[1] < _FEW:  # it starts in a corner: poses around it may see more of the roadmap
            beside = np.concatenate([around(query, query.start, radius, self._rng) for radius in _BESIDE])
            graph = attach(world, roads, np.concatenate([given, query.rows(beside)]), trajectory=False)
        more_g, more_i = query.asked(graph.states[: len(graph.states) - len(roads.states)])
        return graph, (np.concatenate([more_g, log_g]), np.concatenate([more_i, log_i]))

    def run(self, limits: Limits | None = None) -> Found:
        """As `ProductSearch.run`, with `anytime` the best that the limits allow.

        That all of the roadmap was tried is told as `roadmap`.
        """
        start = time.perf_counter()
        found = best(self._search, limits)
        if found.actions is None or found.states is None or found.nodes is None:
            self._tried_all = found.ended == "exhausted"
            return replace(found, ended="roadmap") if self._tried_all else found
        poses = found.states[:, : len(self._query.world.low)]
        actions, states, nodes = finished(self._query, poses, found.nodes, self._rng)
        cost = found.cost - self._query.world.cost * (len(found.actions) - len(actions))
        seconds = time.perf_counter() - start
        return replace(found, actions=actions, states=states, nodes=nodes, cost=cost, seconds=seconds)

    def reached(self) -> tuple[Bools, Bools]:
        """As `ProductSearch.reached`; if all of the roadmap was tried, by what its edges connect.

        The search itself did not go anywhere from where it saw that there is no way to the end.
        """
        if not self._tried_all or not self._query.hard:
            return self._search.reached()
        graph, machine = self._graph, self._query.machine
        part = graph.parts()
        holds, may_enter = self._query.holding(graph.states[part == part[0]])
        entered, left = np.zeros((2, machine.nodes), dtype=np.bool_)
        for node in range(machine.nodes - 1):
            here = holds[:, machine.term_of[node]] if node > 0 else np.arange(len(holds)) == 0
            left[node] = (entered[node] or node == 0) and here.any()
            for after in machine.successors(node).tolist() if left[node] else []:
                entered[after] |= after < machine.nodes - 1 and (here & may_enter[:, machine.term_of[after]]).any()
        return entered, left
