"""The paper's planner for continuous worlds: a random tree (RRT) over pose × machine node.

The tree is kept as one tree for each machine node. A tree grows towards random poses and towards such at which its
node's subgoal is likely true; where it is true, the trees of the nodes that follow get new roots.
"""

import time
from typing import Any

import numpy as np

from rsg.core.arrays import Array, Bools, Floats, Ints
from rsg.core.random import stream
from rsg.language import Machine
from rsg.search.driving import Limits, drive
from rsg.search.goals import Goals
from rsg.search.motion.finishing import finished
from rsg.search.motion.query import Query, likely_poses
from rsg.search.motion.roadmap import passages
from rsg.search.motion.space import checked_start, prepared, space_of, uniform
from rsg.search.motion.trees import Tree, grow, reach_for
from rsg.search.product.settings import Found, Trees
from rsg.worlds.protocol import ContinuousWorld

_SLICE = 32  # targets that a tree grows towards before its new poses are judged
_EVERY = 4  # one target of so many is where the subgoal is likely true, another one in a narrow passage
_CHAIN = 8  # actions that a tree grows at once at most
_CANDIDATES = 8  # ends of a plan to choose the shortest from
_LOOKED_AT = 2048  # random poses among which likely ones are looked for


class TreeSearch:
    """One search of the planner `rrt`; `run` may be called again to go on with a larger budget.

    A start `[W]` that is in collision is an error; an expansion is a step of a tree towards one target.
    """

    def __init__(
        self, world: ContinuousWorld, state: Array, machine: Machine, goals: Goals, how: Trees, seed: int = 0
    ) -> None:
        self.how = how
        self._query = Query(world, checked_start(world, state), machine, goals, how.transitions)
        self._rng = stream(seed, "tree-search")
        self._space = space_of(world)
        self._kernel, self._tables = prepared(grow, world, self._query.state, reach_for=reach_for)
        self._trees: dict[int, Tree] = {}  # of machine nodes
        self._origin: dict[tuple[int, int], tuple[int, int]] = {}  # of roots: node and number -> those before
        self._left = np.zeros(machine.nodes, dtype=np.bool_)
        self.expansions = 0  # steps of trees so far
        self._turn = 0
        self._best: tuple[Floats, Floats, Ints] | None = None  # actions, states and nodes
        self._likely = self._look_around()
        self._passages = passages(world, self._query.state)
        self._begin()

    def _look_around(self) -> list[Floats]:
        """For each term, poses at which it is likely true."""
        poses = self._query.free(uniform(self._space, self._rng, _LOOKED_AT))
        log_g, _ = self._query.asked(self._query.rows(poses))
        return likely_poses(self._query, poses, log_g, self._rng)

    def _begin(self) -> None:
        """Roots at the start, for the first nodes."""
        machine = self._query.machine
        _, may_enter = self._query.holding(self._query.state[None])
        for node in machine.successors(0).tolist():
            if may_enter[0, machine.term_of[node]]:
                self._enter(node, self._query.start, 0, np.zeros(1, dtype=np.int64))

    def run(self, limits: Limits) -> Found:
        """Search until there is a plan, or with `anytime` a better one, or a limit; as `ProductSearch.run`."""
        start = time.perf_counter()
        ended = drive(self, limits)
        plan: tuple[Any, Any, Any] = self._best or (None, None, None)
        seconds = time.perf_counter() - start
        return Found(*plan, cost=self._cost, expansions=self.expansions, ended=ended, seconds=seconds)

    def advance(self, budget: int | None) -> str:
        """Grow one tree for a while; says how the search ended, or nothing if it has not."""
        if not self._trees:
            return "exhausted"
        left = _SLICE if budget is None else budget - self.expansions
        if left <= 0:
            return "budget"
        cost = self._cost
        self._grow(self._choose(), min(left, _SLICE))
        return "found" if self._cost < cost else ""

    def _choose(self) -> int:
        """The node whose tree grows next, by the order of the search."""
        nodes = sorted(self._trees)
        self._turn += 1
        if self.how.order != "balanced" and self._turn % 2:
            return nodes[-1]
        return nodes[int(self._rng.integers(len(nodes)))]

    def _grow(self, node: int, count: int) -> None:
        """Grow the tree of a node towards so many targets, then leave the node where its subgoal came true."""
        tree = self._trees[node]
        likely = self._likely[self._query.machine.term_of[node]]
        targets = uniform(self._space, self._rng, count)
        for some, chosen in ((likely, targets[::_EVERY]), (self._passages, targets[1::_EVERY])):
            if len(some):
                chosen[:] = some[self._rng.integers(len(some), size=len(chosen))]
        begin, every, chain = int(tree.size[0]), _EVERY if len(likely) else 0, np.empty((_CHAIN, targets.shape[1]))
        self._trees[node] = tree = tree.with_room(count * _CHAIN)
        used = self._kernel(self._tables, self._space, tree, targets, every, chain)
        self.expansions += int(used)
        self._judge(node, begin)

    def _judge(self, node: int, begin: int) -> None:
        """Where the subgoal of a node holds, among the poses of its tree from `begin` on, go on to what follows."""
        tree, machine = self._trees[node], self._query.machine
        holds, may_enter = self._query.holding(self._query.rows(tree.poses[begin : tree.size[0]]))
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

    def _enter(self, node: int, poses: Floats, before: int, numbers: Ints) -> None:
        """Roots for a node's tree at these poses, which have these numbers in the tree of the node before it."""
        if len(poses) == 0:
            return
        tree = self._trees.get(node, Tree.at(poses[:0])).with_room(len(poses))
        first = tree.add_roots(poses)
        self._trees[node] = tree
        for i, number in enumerate(numbers.tolist()):
            self._origin[node, first + i] = (before, number)

    def _finish(self, node: int, numbers: Ints) -> None:
        """Make a plan that ends at one of these poses of a node's tree, and keep it if it is the best so far."""
        ways = [self._way(node, number) for number in numbers[:_CANDIDATES].tolist()]
        poses, nodes = min(ways, key=lambda way: len(way[1]))
        made = finished(self._query, poses, nodes, self._rng)
        if self._best is None or len(made[0]) < len(self._best[0]):
            self._best = made

    def _way(self, node: int, number: int) -> tuple[Floats, Ints]:
        """From the start to a pose of a node's tree: the poses `[T + 1, D]`, and the node that each action serves."""
        poses: list[Floats] = []
        nodes: list[int] = []
        end = self._trees[node].poses[number]
        while node > 0:
            tree = self._trees[node]
            way = tree.way_to(number)
            poses[:0] = tree.poses[way[:-1]]
            nodes[:0] = [node] * (len(way) - 1)
            node, number = self._origin[node, way[0]]
        return np.array([*poses, end]), np.array(nodes, dtype=np.int64)

    @property
    def _cost(self) -> float:
        """Of the best plan so far."""
        return np.inf if self._best is None else self._query.world.cost * len(self._best[0])

    def reached(self) -> tuple[Bools, Bools]:
        """As `ProductSearch.reached`."""
        entered = np.zeros(len(self._left), dtype=np.bool_)
        entered[list(self._trees)] = True
        return entered, self._left

    def tree(self) -> tuple[Floats, Ints]:
        """The poses of all trees `[N, D]`, and pairs `[E, 2]` of the numbers of those that are an action apart."""
        poses, links, first = [np.empty((0, len(self._space)))], [np.empty((0, 2), dtype=np.int64)], 0
        for tree in self._trees.values():
            count = int(tree.size[0])
            parent = tree.parent[:count]
            child = np.flatnonzero(parent >= 0)
            links.append(first + np.stack([parent[child], child], axis=1))
            poses.append(tree.poses[:count])
            first += count
        return np.concatenate(poses), np.concatenate(links)
