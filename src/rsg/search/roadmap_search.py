"""The roadmap planner: the product search on a roadmap with the start on it, then a shorter way along what it found."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rsg.core.errors import RsgError
from rsg.core.random import stream
from rsg.language import Machine
from rsg.search import core
from rsg.search import roadmap_kernels as kernels
from rsg.search.finishing import Problem, finished
from rsg.search.goals import Goals
from rsg.search.graph import StateGraph
from rsg.search.likely import WANTED, around, asked, likely_poses
from rsg.search.motion import checked_start, rows_of
from rsg.search.product import Found, ProductSearch, SearchSettings, nodes_ahead
from rsg.search.roadmap import attach, roadmap
from rsg.worlds.continuous import ContinuousWorld

Floats = NDArray[np.float64]
_HASTE = 1.2  # how much dearer than the cheapest plan on a roadmap one may be
_FEW = 3  # actions that lead from a start to a roadmap
_BESIDE = (1.0, 0.3, 0.1)  # how far around such a start to look, in actions
MAX_LABELS = 5_000_000  # (state, node) pairs that fit into memory


class _Edges(NamedTuple):
    """What the product search asks of a world whose states and edges are all known beforehand."""

    actions: range
    costs: Floats


class GraphSearch(ProductSearch):
    """The product search on a graph: nothing has to be asked while it runs.

    Args:
        graph: it starts in its first state. Edges lead both ways, at the same cost.
        machine: of the task.
        goals: the classifiers of the machine's terms.
        settings: how to search; `auto` is `optimal` but for a plan that may cost a fifth more, which takes far fewer
            expansions. The heuristic `steps` counts actions on the graph.
    """

    def __init__(self, graph: StateGraph, machine: Machine, goals: Goals, settings: SearchSettings) -> None:
        self._graph = graph
        degree = max(1, int(np.diff(graph.edge_start).max(initial=0)))
        alone = graph.edge_start[1] == 0  # no way leads from the start: no action has a price that can be paid
        edges: Any = _Edges(range(degree), np.full(degree, np.inf if alone else graph.edge_cost[0]))
        self._haste = _HASTE if settings.order == "auto" else 1.0
        order = "optimal" if settings.order == "auto" else settings.order
        settings = replace(settings, order=order, heuristic="none" if alone else settings.heuristic)
        super().__init__(edges, np.zeros(1, dtype=np.int64), machine, goals, settings)

    @property
    def _uniform_heuristic(self) -> bool:
        return False

    def _begin(self, state: NDArray[Any]) -> None:  # noqa: ARG002
        """All states at once: a state is its number."""
        graph, count = self._graph, len(self._graph.states)
        self._allocate(count + self._actions + 1)
        arrays = self.arrays
        arrays.words[:count, 0] = np.arange(count)
        arrays.cost[:count] = np.inf
        arrays.counters[core.STATES] = count
        kernels.write_ends(graph.edge_start, graph.edge_end, arrays.after)
        self._ask(graph.states, 0, count)
        if not callable(self.settings.heuristic):
            self._task.ahead[:count] = self._ahead()

    def _ahead(self) -> Any:
        """A lower bound on the cost ahead of each label, `[S, V]` or `[V]`."""
        settings, machine, cost = self.settings, self._machine, self._task.costs[0]
        if settings.heuristic == "none":
            return 0.0
        if settings.threshold is None:
            return cost * settings.one_action * nodes_ahead(machine)
        holds = self.arrays.value[: len(self._graph.states), :, 0] >= self.arrays.numbers[core.THRESHOLD]
        counts = kernels.steps_to(self._graph.edge_start, self._graph.edge_end, holds).T
        steps = np.where(counts >= 0, counts, np.inf)
        return self._haste * cost * steps_ahead(machine, steps, holds, settings.one_action)


def steps_ahead(machine: Machine, steps: Floats, holds: NDArray[np.bool_], one_action: bool) -> Floats:
    """A lower bound on the actions from each state and node to the end of the task, `[S, V]`.

    To the nearest state where the node's term holds, and on from the nearest such state to where the next one holds.
    A little is added to the bound of what is farther away, so that of equals the one nearest to the end comes first.

    Args:
        machine: of the task.
        steps: `[S, terms]` actions to the nearest state where a term holds; holds: whether it does.
        one_action: whether each node takes an action at least.
    """
    terms = len(machine.terms)
    gap = np.full((terms, terms), np.inf)
    for term in range(terms):
        gap[term] = steps[holds[:, term]].min(axis=0, initial=np.inf)
    gap = np.maximum(gap, float(one_action))
    rest = np.zeros(machine.nodes)
    last = machine.nodes - 1
    for v in range(last - 1, 0, -1):
        here, after = machine.term_of[v], machine.successors(v)
        rest[v] = min(0.0 if w == last else gap[here, machine.term_of[w]] + rest[w] for w in after.tolist())
    ahead = np.zeros((len(steps), machine.nodes))
    ahead[:, 1:last] = steps[:, machine.term_of[1:last]] + rest[1:last]
    most = float(ahead.max(initial=1.0, where=np.isfinite(ahead)))
    return ahead * (1 + 0.5 / most)


def _without(poses: Floats, others: Floats) -> Floats:
    """The poses `[N, D]` that are not among the others."""
    one, other = np.nonzero(poses[:, :1] == others[:, 0])
    known = one[(poses[one] == others[other]).all(axis=1)]
    return np.delete(poses, known, axis=0)


class RoadmapSearch:
    """One search of the roadmap planner; `run` may be called again as with `ProductSearch`.

    Args:
        world: continuous.
        state: `[W]` where it starts; one that is in collision is an error.
        machine: of the task.
        goals: the classifiers of the machine's terms.
        settings: how to search.
    """

    def __init__(
        self, world: ContinuousWorld, state: NDArray[Any], machine: Machine, goals: Goals, settings: SearchSettings
    ) -> None:
        if not self.fits(machine, settings):
            raise RsgError(
                f"{machine.nodes:,} machine nodes are too many for a roadmap of {settings.poses:,} poses; "
                "say part of the order of the task with 'then', or use the planner 'rrt'"
            )
        self.settings = settings
        self._problem = Problem(world, checked_start(world, state), machine, goals, settings)
        self._rng = stream(settings.seed, "roadmap-search")
        self._graph, values = self._ground()
        self._search = GraphSearch(self._graph, machine, lambda _: values, settings)
        self._tried_all = False

    @staticmethod
    def fits(machine: Machine, settings: SearchSettings) -> bool:
        """Whether the labels of such a search fit into memory."""
        return machine.nodes * settings.poses <= MAX_LABELS

    def _ground(self) -> tuple[StateGraph, tuple[Floats, Floats]]:
        """The roadmap with the start on it, first, and likely goals if it has few; log G and log I of its states."""
        world, state, machine, goals, settings = self._problem
        roads = roadmap(world, state, settings.poses)
        terms = len(machine.terms)
        log_g, log_i = asked(goals, rows_of(roads.states, state), terms)
        given = state[None]
        holds = np.log(settings.threshold or 0.5)
        if (np.count_nonzero(log_g >= holds, axis=0) < WANTED).any():
            likely = np.concatenate(likely_poses(world, state, goals, roads.states, log_g, holds, self._rng))
            given = np.concatenate([given, rows_of(_without(likely, roads.states), state)])
        graph = attach(world, roads, given, trajectory=False)
        if graph.edge_start[1] < _FEW:  # it starts in a corner: poses around it may see more of the roadmap
            beside = [around(world, state, state[None, : len(world.low)], radius, self._rng) for radius in _BESIDE]
            graph = attach(world, roads, np.concatenate([given, rows_of(np.concatenate(beside), state)]), False)
        more_g, more_i = asked(goals, graph.states[: len(graph.states) - len(roads.states)], terms)
        return graph, (np.concatenate([more_g, log_g]), np.concatenate([more_i, log_i]))

    def run(
        self,
        progress: Callable[[int], None] | None = None,
        cancelled: Callable[[], bool] | None = None,
        budget: int | None = None,
    ) -> Found:
        """As `ProductSearch.run`, with `anytime` the best that the limits allow.

        That all of the roadmap was tried is told as `roadmap`.
        """
        start = time.perf_counter()
        found = self._search.run(progress, cancelled, budget)
        while self.settings.order == "anytime" and found.ended == "found":
            before, found = found, self._search.run(progress, cancelled)
            if found.cost >= before.cost:
                break
        if found.actions is None or found.states is None or found.nodes is None:
            self._tried_all = found.ended == "exhausted"
            return replace(found, ended="roadmap") if self._tried_all else found
        poses = self._graph.states[found.states[:, 0], : len(self._problem.world.low)]
        if len(poses) < 2:  # a task may be done where it begins, with the looser rule
            return replace(found, states=self._problem.state[None])
        actions, states, nodes = finished(self._problem, poses, found.nodes, self._rng)
        cost = found.cost - self._problem.world.cost * (len(found.actions) - len(actions))
        seconds = time.perf_counter() - start
        return replace(found, actions=actions, states=states, nodes=nodes, cost=cost, seconds=seconds)

    def reached(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """As `ProductSearch.reached`; if all of the roadmap was tried, by what its edges connect.

        The search itself did not go anywhere from where it saw that there is no way to the end.
        """
        if not self._tried_all or not self._problem.hard:
            return self._search.reached()
        graph, machine = self._graph, self._problem.machine
        part = kernels.components(graph.edge_start, graph.edge_end)
        holds, may_enter = self._problem.holding(graph.states[part == part[0]])
        entered, left = np.zeros((2, machine.nodes), dtype=np.bool_)
        for node in range(machine.nodes - 1):
            here = holds[:, machine.term_of[node]] if node > 0 else np.arange(len(holds)) == 0
            left[node] = (entered[node] or node == 0) and here.any()
            for after in machine.successors(node).tolist() if left[node] else []:
                entered[after] |= after < machine.nodes - 1 and (here & may_enter[:, machine.term_of[after]]).any()
        return entered, left
