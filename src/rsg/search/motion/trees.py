"""Rapidly exploring random trees of poses, and motion planning from pose to pose with two of them.

All paths are poses `[T + 1, D]` that are one action each apart, checked as the world will check them. Neighbours are
found by looking at all: a tree has a few thousand poses at most, and a look costs far less than a check of a motion.
"""

import time
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from rsg.core.arrays import Floats, Indices, Ints, grown
from rsg.core.compiled import bare
from rsg.core.errors import RsgError
from rsg.search.motion.space import (
    Space,
    advance,
    checked_start,
    difference,
    prepared,
    put,
    space_of,
    straight_way,
    uniform,
)
from rsg.worlds.protocol import ContinuousWorld

_SLICE = 128  # samples between two looks at the clock
_CHAIN = 64  # actions that a tree grows at once at most


class Tree(NamedTuple):
    """Poses that were each reached from another one.

    Attributes:
        poses: `[cap, D]`, parent: `[cap]` the number of the pose that each was reached from, -1 for roots.
        size: `[1]` how many of these there are.
    """

    poses: Floats
    parent: Indices
    size: Ints

    @classmethod
    def at(cls, roots: Floats) -> "Tree":
        """A tree with these roots `[N, D]`."""
        return cls(roots.copy(), np.full(len(roots), -1, dtype=np.int32), np.array([len(roots)]))

    def with_room(self, more: int) -> "Tree":
        """The same tree with room for so many more poses."""
        count = int(self.size[0])
        if count + more <= len(self.poses):
            return self
        room = 2 * count + more
        return Tree(grown(self.poses, room), grown(self.parent, room), self.size)

    def add_roots(self, poses: Floats) -> int:
        """Begin once more at each of these poses `[N, D]`, for which there is room; gives the number of the first."""
        first = int(self.size[0])
        end = first + len(poses)
        self.poses[first:end], self.parent[first:end], self.size[0] = poses, -1, end
        return first

    def way_to(self, number: int) -> list[int]:
        """The numbers of the poses from a root to this one."""
        way = [number]
        while (number := int(self.parent[number])) >= 0:
            way.append(number)
        return way[::-1]


@bare
def nearest(space: Space, poses: Floats, count: int, target: Floats) -> int:
    """The pose, of the first `count`, from which the target takes the fewest actions."""
    best, found = np.inf, -1
    for i in range(count):
        most = 0.0
        for d in range(len(target)):
            most = max(most, abs(difference(space, poses[i], target, d)) / space[d].reach)
            if most >= best:
                break
        if most < best:
            best, found = most, i
    return found


def reach_for(
    tables: object, space: Space, tree: Tree, target: Floats, chain: Floats, backward: bool
) -> tuple[int, bool]:
    """Grow a tree from its pose nearest to the target straight towards it, as far as `chain` has room for poses.

    Gives the number of the pose that this led to, -1 if the first action is blocked, and whether that is the target.
    """
    at = nearest(space, tree.poses, tree.size[0], target)
    done, total = advance(tables, space, tree.poses[at], target, chain, backward)
    if done == 0 and total > 0:
        return -1, False
    for i in range(done):
        new = tree.size[0]
        put(chain[i], tree.poses[new])
        tree.parent[new] = at
        tree.size[0] = new + 1
        at = new
    return at, done == total


def grow(tables: object, space: Space, tree: Tree, targets: Floats, every: int, chain: Floats) -> int:
    """Grow a tree towards one target after the other; `chain` is room for the poses of one such step.

    Each target whose number is a multiple of `every`, if that is not 0, is an aim, and the first aim that is newly
    reached ends it. Gives how many targets were used.
    """
    for n in range(len(targets)):
        before = tree.size[0]
        _, reached = reach_for(tables, space, tree, targets[n], chain, False)
        if reached and tree.size[0] > before and every > 0 and n % every == 0:
            return n + 1
    return len(targets)


def connect_trees(
    tables: object, space: Space, trees: tuple[Tree, Tree], samples: Floats, chain: Floats
) -> tuple[int, int]:
    """Grow two trees in turns: each towards a sample, then the other one towards where that led.

    Gives the two poses that met, or (-1, -1). Motions of the second tree are checked in the direction of its root.
    """
    for n in range(len(samples)):
        one, other = n & 1, 1 - (n & 1)
        tip, _ = reach_for(tables, space, trees[one], samples[n], chain, one == 1)
        if tip < 0:
            continue
        met, reached = reach_for(tables, space, trees[other], trees[one].poses[tip], chain, other == 1)
        if reached:
            return (tip, met) if one == 0 else (met, tip)
    return -1, -1


@dataclass(frozen=True, eq=False)
class Motion:
    """A way from pose to pose, or why there is none.

    Attributes:
        poses: `[T + 1, D]`, each one action from the one before; empty if no way was found.
        samples: how many poses were drawn in search of it.
        ended: `found`, `budget` (of samples) or `time`.
    """

    poses: Floats
    samples: int
    ended: str

    @property
    def found(self) -> bool:
        """Whether there is a way."""
        return self.ended == "found"


def connect(
    world: ContinuousWorld,
    state: Floats,
    goal: Floats,
    rng: np.random.Generator,
    budget: int = 20_000,
    time_limit: float | None = None,
) -> Motion:
    """Two trees, from the state `[W]` and from the pose `goal` `[D]`, that grow towards each other (RRT-Connect)."""
    start, goal = _checked_ends(world, state, goal)
    space, chain = space_of(world), np.empty((_CHAIN, len(goal)))
    trees = Tree.at(start[None, : len(goal)]), Tree.at(goal[None])
    kernel, tables = prepared(connect_trees, world, start, reach_for=reach_for)
    late = time.perf_counter() + (np.inf if time_limit is None else time_limit)
    used = 0
    while used < budget and (used == 0 or time.perf_counter() < late):
        samples = uniform(space, rng, min(_SLICE, budget - used))
        if used == 0:  # perhaps nothing is in the way
            samples[0] = goal
            if (way := straight_way(world, start, goal, chain)) is not None:
                return Motion(way, len(samples), "found")
        used += len(samples)
        trees = trees[0].with_room(len(samples) * _CHAIN), trees[1].with_room(len(samples) * _CHAIN)
        here, there = kernel(tables, space, trees, samples, chain)
        if here >= 0:
            back = trees[1].way_to(there)[-2::-1]  # both trees have the pose where they met
            return Motion(np.concatenate([trees[0].poses[trees[0].way_to(here)], trees[1].poses[back]]), used, "found")
    return Motion(np.empty((0, len(goal))), used, "budget" if used >= budget else "time")


def _checked_ends(world: ContinuousWorld, state: Floats, goal: Floats) -> tuple[Floats, Floats]:
    """A start and a goal that can be had."""
    start = checked_start(world, state)
    size = len(world.low)
    if np.shape(goal) != (size,):
        raise RsgError(f"a goal is a pose of {size} numbers, got shape {np.shape(goal)}")
    return start, checked_start(world, np.concatenate([goal, start[size:]]))[:size]
