"""The paper's planner for continuous worlds: a random tree (RRT) over pose × machine node.

The tree is kept as one tree for each machine node. A tree grows towards random poses and towards such at which its
node's subgoal is likely true; where it is true, the trees of the nodes that follow get new roots.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rsg.core.errors import RsgError
from rsg.core.random import stream
from rsg.language import Machine
from rsg.search import motion_kernels as kernels
from rsg.search.finishing import Problem, finished
from rsg.search.goals import Goals
from rsg.search.likely import asked, likely_poses
from rsg.search.motion import Tree, checked_start, free_at, prepared, rows_of, space_of, uniform
from rsg.search.product import Found, SearchSettings
from rsg.search.roadmap import passages
from rsg.worlds.continuous import ContinuousWorld

Floats = NDArray[np.float64]

_SLICE = 32  # targets that a tree grows towards before its new poses are judged
_EVERY = 4  # one target of so many is where the subgoal is likely true, another one in a narrow passage
_CHAIN = 8  # actions that a tree grows at once at most
_CANDIDATES = 8  # ends of a plan to choose the shortest from
_LOOKED_AT = 2048  # random poses among which likely ones are looked for


class _NodeTree(Tree):
    """The tree of a machine node; it knows where in the tree of which node before it each root lies."""

    def __init__(self, size: int) -> None:
        super().__init__(size)
        self.origin: dict[int, tuple[int, int]] = {}


class TreeSearch:
    """One search of the planner `rrt`; `run` may be called again to go on with a larger budget.

    Args:
        world: continuous.
        state: `[W]` where it starts; one that is in collision is an error.
        machine: of the task.
        goals: the classifiers of the machine's terms.
        settings: how to search; an expansion is a step of a tree towards one target.
    """

    def __init__(
        self, world: ContinuousWorld, state: NDArray[Any], machine: Machine, goals: Goals, settings: SearchSettings
    ) -> None:
        if objection := self.objection(settings):
            raise RsgError(objection)
        self.settings = settings
        self._problem = Problem(world, checked_start(world, state), machine, goals, settings)
        self._rng = stream(settings.seed, "tree-search")
        self._space = space_of(world)
        self._kernel, self._tables = prepared(kernels.grow, world, self._problem.state)
        self._trees: dict[int, _NodeTree] = {}
        self._left = np.zeros(machine.nodes, dtype=np.bool_)
        self._per_node = np.zeros(machine.nodes, dtype=np.int64)
        self._turn = 0
        self._best: tuple[Floats, Floats, NDArray[np.int64]] | None = None  # actions, states and nodes
        self._likely = self._look_around()
        self._passages = passages(world, self._problem.state)
        self._begin()

    def _look_around(self) -> list[Floats]:
        """For each term, poses at which it is likely true."""
        world, state, machine, goals, settings = self._problem
        poses = uniform(self._space, self._rng, _LOOKED_AT)
        poses = poses[free_at(world, state, poses)]
        log_g, _ = asked(goals, rows_of(poses, state), len(machine.terms))
        return likely_poses(world, state, goals, poses, log_g, np.log(settings.threshold or 0.5), self._rng)

    def _begin(self) -> None:
        """Roots at the start, for the first nodes."""
        state, machine = self._problem.state, self._problem.machine
        _, may_enter = self._problem.holding(state[None])
        for node in machine.successors(0).tolist():
            if may_enter[0, machine.term_of[node]]:
                self._enter(node, state[None, : len(self._space.low)], 0, np.zeros(1, dtype=np.int64))

    def run(
        self,
        progress: Callable[[int], None] | None = None,
        cancelled: Callable[[], bool] | None = None,
        budget: int | None = None,
    ) -> Found:
        """Search until there is a plan, or with `anytime` a better one, or a limit; as `ProductSearch.run`."""
        start = time.perf_counter()
        limit = budget or self.settings.budget or np.inf
        while (left := limit - self._per_node.sum()) > 0:
            node = self._choose()
            if node is None:
                break
            cost = self._cost
            self._grow(node, int(min(left, _SLICE, self._room(node))))
            if self._cost < cost:
                return self._result("found", start)
            if progress:
                progress(int(self._per_node.sum()))
            if cancelled and cancelled():
                return self._result("cancelled", start)
            if self.settings.time_limit and time.perf_counter() - start > self.settings.time_limit:
                return self._result("time", start)
        return self._result("budget" if self._trees else "exhausted", start)

    def _room(self, node: int) -> float:
        """How many expansions of a node are still allowed."""
        return float((self.settings.per_node or np.inf) - self._per_node[node])

    def _choose(self) -> int | None:
        """The node whose tree grows next, by the order of the search."""
        nodes = sorted(node for node in self._trees if self._room(node) > 0)
        if not nodes:
            return None
        self._turn += 1
        if self.settings.order != "balanced" and self._turn % 2:
            return nodes[-1]
        return nodes[int(self._rng.integers(len(nodes)))]

    def _grow(self, node: int, count: int) -> None:
        """Grow the tree of a node towards so many targets, then leave the node where its subgoal came true."""
        tree = self._trees[node]
        likely = self._likely[self._problem.machine.term_of[node]]
        targets = uniform(self._space, self._rng, count)
        for some, chosen in ((likely, targets[::_EVERY]), (self._passages, targets[1::_EVERY])):
            if len(some):
                chosen[:] = some[self._rng.integers(len(some), size=len(chosen))]
        begin, chain = tree.count, np.empty((_CHAIN, targets.shape[1]))
        tree.make_room(count * _CHAIN)
        every = _EVERY if len(likely) else 0
        tree.count, used, _ = self._kernel(
            self._tables, self._space, targets, every, tree.poses, tree.parent, begin, chain
        )
        self._per_node[node] += used
        self._judge(node, begin)

    def _judge(self, node: int, begin: int) -> None:
        """Where the subgoal of a node holds, among the poses of its tree from `begin` on, go on to what follows."""
        tree, machine = self._trees[node], self._problem.machine
        holds, may_enter = self._problem.holding(rows_of(tree.poses[begin : tree.count], self._problem.state))
        leave = holds[:, machine.term_of[node]]
        if not leave.any():
            return
        self._left[node] = True
        for after in machine.successors(node).tolist():
            if after == machine.nodes - 1:
                self._finish(node, begin + np.flatnonzero(leave))
            else:
                numbers = begin + np.flatnonzero(leave & may_enter[:, machine.term_of[after]])
                self._enter(after, tree.poses[numbers], node, numbers)

    def _enter(self, node: int, poses: Floats, before: int, numbers: NDArray[np.int64]) -> None:
        """Roots for a node's tree at these poses, which have these numbers in the tree of the node before it."""
        if len(poses) == 0:
            return
        tree = self._trees.setdefault(node, _NodeTree(poses.shape[1]))
        first = tree.count
        tree.add_roots(poses)
        for i, number in enumerate(numbers.tolist()):
            tree.origin[first + i] = (before, number)
        if not self.settings.one_action:  # what is entered here may be left here
            self._judge(node, first)

    def _finish(self, node: int, numbers: NDArray[np.int64]) -> None:
        """Make a plan that ends at one of these poses of a node's tree, and keep it if it is the best so far."""
        ways = [self._way(node, number) for number in numbers[:_CANDIDATES].tolist()]
        poses, nodes = min(ways, key=lambda way: len(way[1]))
        if len(nodes) == 0:  # a task may be done where it begins, with the looser rule
            made = np.empty((0, poses.shape[1])), self._problem.state[None], nodes
        else:
            made = finished(self._problem, poses, nodes, self._rng)
        if self._best is None or len(made[0]) < len(self._best[0]):
            self._best = made

    def _way(self, node: int, number: int) -> tuple[Floats, NDArray[np.int64]]:
        """From the start to a pose of a node's tree: the poses `[T + 1, D]`, and the node that each action serves."""
        poses: list[Floats] = []
        nodes: list[int] = []
        end = self._trees[node].poses[number]
        while node > 0:
            tree = self._trees[node]
            way = tree.way_to(number)
            poses[:0] = tree.poses[way[:-1]]
            nodes[:0] = [node] * (len(way) - 1)
            node, number = tree.origin[way[0]]
        return np.array([*poses, end]), np.array(nodes, dtype=np.int64)

    @property
    def _cost(self) -> float:
        """Of the best plan so far."""
        return np.inf if self._best is None else self._problem.world.cost * len(self._best[0])

    def _result(self, ended: str, start: float) -> Found:
        plan: tuple[Any, Any, Any] = self._best or (None, None, None)
        expansions, seconds = int(self._per_node.sum()), time.perf_counter() - start
        return Found(*plan, self._cost, expansions, self._per_node.copy(), ended, seconds)

    def reached(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """As `ProductSearch.reached`."""
        entered = np.zeros(len(self._left), dtype=np.bool_)
        entered[list(self._trees)] = True
        return entered, self._left

    def tree(self) -> tuple[Floats, NDArray[np.int64]]:
        """The poses of all trees `[N, D]`, and pairs `[E, 2]` of the numbers of those that are an action apart."""
        poses, links, first = [np.empty((0, len(self._space.low)))], [np.empty((0, 2), dtype=np.int64)], 0
        for tree in self._trees.values():
            parent = tree.parent[: tree.count]
            child = np.flatnonzero(parent >= 0)
            links.append(first + np.stack([parent[child], child], axis=1))
            poses.append(tree.poses[: tree.count])
            first += tree.count
        return np.concatenate(poses), np.concatenate(links)

    @staticmethod
    def objection(settings: SearchSettings) -> str:
        """Why these settings make no sense for trees; empty if they do."""
        if settings.threshold is None:
            return "the planner 'rrt' needs a threshold: in a tree, subgoals hold or they do not"
        if settings.order in ("optimal", "layered"):
            return f"the planner 'rrt' has no order '{settings.order}'; it has: deepest, balanced, anytime"
        if settings.budget is None and settings.time_limit is None:
            return "the planner 'rrt' needs a budget or a time limit: it would never know that there is no plan"
        return ""
