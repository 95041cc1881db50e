"""Motion planning from pose to pose: rapidly exploring random trees, one or two of them.

All paths are poses `[T + 1, D]` that are one action each apart, checked as the world will check them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from types import FunctionType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rsg.core.compiled import specialised
from rsg.core.errors import RsgError
from rsg.search import motion_kernels as kernels
from rsg.search.motion_kernels import Space
from rsg.worlds.continuous import ContinuousWorld

Floats = NDArray[np.float64]
Template = Callable[..., Any]
_SLICE = 128  # samples between two looks at the clock
_CHAIN = 64  # actions that a tree grows at once at most


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


def is_continuous(world: Any) -> bool:
    """Whether it is a `ContinuousWorld` and no `World`."""
    return hasattr(world, "clear") and hasattr(world, "reach")


def space_of(world: ContinuousWorld) -> Space:
    """The world's poses as kernels want them."""
    return Space(*(np.array(part, dtype=np.float64) for part in (world.low, world.high, world.period, world.reach)))


def prepared(
    template: Template, world: ContinuousWorld, state: Floats, **parts: Template
) -> tuple[Callable[..., Any], Any]:
    """A kernel that checks motions in the world, and its tables: compiled if the world's motions are.

    Otherwise the template runs as plain Python, and the world is asked about all actions of a straight way at once.

    Args:
        template: a function that calls `advance`, or one of the parts.
        world: where.
        state: `[W]` what else is in the states.
        parts: other templates that the first one calls, by the names that it has for them.
    """
    if hasattr(world, "compiled_motion"):
        clear, tables = world.compiled_motion
        return _compiled(template, clear, tuple(parts.items())), tables
    return _interpreted(template, tuple(parts.items())), (world, state)


@cache
def _compiled(template: Template, clear: Template, parts: tuple[tuple[str, Template], ...]) -> Template:
    hooks = {name: _compiled(part, clear, ()) for name, part in parts}
    return specialised(template, False, advance=specialised(kernels.advance, clear=clear), **hooks)


@cache
def _interpreted(template: Any, parts: tuple[tuple[str, Template], ...]) -> Template:
    hooks = {"advance": _advance, **{name: _interpreted(part, ()) for name, part in parts}}
    return FunctionType(template.__code__, {**template.__globals__, **hooks}, template.__name__)


def _advance(
    tables: tuple[ContinuousWorld, Floats], space: Space, start: Floats, end: Floats, out: Floats, backward: bool
) -> tuple[int, int]:
    """As `motion_kernels.advance`, in one question to the world."""
    world, state = tables
    count, total = kernels.split(space, start, end, out)
    before, after = np.concatenate([start[None], out[: count - 1]])[:count], out[:count]
    if backward:
        before, after = after, before
    blocked = np.flatnonzero(~np.asarray(world.clear(rows_of(before, state), after)))
    return (int(blocked[0]) if len(blocked) else count), total


def rows_of(poses: Floats, state: Floats) -> Floats:
    """States `[N, W]` at these poses `[N, D]`, all else as in the given state `[W]`."""
    rows = np.empty((len(poses), len(state)))
    rows[:] = state
    rows[:, : poses.shape[1]] = poses
    return rows


def checked_start(world: ContinuousWorld, state: Any) -> Floats:
    """A state that motions may start in, as numbers; anything else is an error."""
    row = np.array(state, dtype=np.float64)
    size = len(world.low)
    if row.ndim != 1 or row.size < size:
        raise RsgError(f"a state is a row of at least {size} numbers, the pose first; got shape {row.shape}")
    if not np.isfinite(row).all():
        raise RsgError(f"a state must have finite numbers, but number {int(np.argmin(np.isfinite(row)))} is not one")
    if not np.asarray(world.free(row[None]))[0]:
        raise RsgError(f"the pose {_told(row[:size])} is out of bounds or touches an obstacle; choose a free one")
    return row


def _told(pose: Floats) -> str:
    return f"({', '.join(f'{number:g}' for number in pose)})"


def uniform(space: Space, rng: np.random.Generator, count: int) -> Floats:
    """Random poses `[count, D]` within the bounds, free or not."""
    poses: Floats = space.low + rng.random((count, len(space.low))) * (space.high - space.low)
    return poses


def wrapped(space: Space, poses: Floats) -> Floats:
    """Numbers that come round, within their bounds."""
    turning = space.period > 0
    inside = poses.copy()
    inside[:, turning] = space.low[turning] + (poses - space.low)[:, turning] % space.period[turning]
    return inside


def differences(space: Space, starts: Floats, ends: Floats) -> Floats:
    """From poses to poses `[N, D]`, the shorter way round."""
    way = ends - starts
    turning = space.period > 0
    way[:, turning] -= space.period[turning] * np.round(way[:, turning] / space.period[turning])
    return way


def free_at(world: ContinuousWorld, state: Floats, poses: Floats) -> NDArray[np.bool_]:
    """Whether each pose `[N, D]` is free, all else as in the given state `[W]`."""
    return np.asarray(world.free(rows_of(poses, state)), dtype=np.bool_)


class Tree:
    """Poses `[count, D]` and the number of the pose that each was reached from, -1 for roots."""

    def __init__(self, size: int) -> None:
        self.poses = np.empty((4 * _SLICE, size))
        self.parent = np.empty(len(self.poses), dtype=np.int32)
        self.count = 0

    def add_roots(self, poses: Floats) -> None:
        """Begin once more at each of these poses `[N, D]`."""
        self.make_room(len(poses))
        end = self.count + len(poses)
        self.poses[self.count : end], self.parent[self.count : end] = poses, -1
        self.count = end

    def make_room(self, more: int) -> None:
        """Room for so many more poses."""
        if self.count + more > len(self.poses):
            poses, parent = self.poses[: self.count], self.parent[: self.count]
            self.poses = np.empty((2 * self.count + more, poses.shape[1]))
            self.parent = np.empty(len(self.poses), dtype=np.int32)
            self.poses[: self.count], self.parent[: self.count] = poses, parent

    def way_to(self, number: int) -> list[int]:
        """The numbers of the poses from a root to this one."""
        way = [number]
        while (number := int(self.parent[number])) >= 0:
            way.append(number)
        return way[::-1]


def tree_at(pose: Floats) -> Tree:
    """A tree with one root."""
    tree = Tree(len(pose))
    tree.add_roots(pose[None])
    return tree


def rrt(
    world: ContinuousWorld,
    state: Floats,
    goal: Floats,
    rng: np.random.Generator,
    budget: int = 20_000,
    time_limit: float | None = None,
    every: int = 10,
) -> Motion:
    """One tree from the state `[W]` to the pose `goal` `[D]`, which is every so many-th sample."""
    start, goal = _checked_ends(world, state, goal)
    space, tree, chain = space_of(world), tree_at(start[: len(goal)]), np.empty((_CHAIN, len(goal)))
    kernel, tables = prepared(kernels.grow, world, start)
    if kernels.actions_between(space, tree.poses[0], goal) == 0:
        return Motion(tree.poses[:1], 0, "found")
    for samples, used in _slices(space, rng, budget, time_limit):
        samples[::every] = goal
        tree.make_room(len(samples) * _CHAIN)
        tree.count, _, reached = kernel(tables, space, samples, every, tree.poses, tree.parent, tree.count, chain)
        if reached:
            return Motion(tree.poses[tree.way_to(tree.count - 1)], used, "found")
    return Motion(np.empty((0, len(goal))), used, "budget" if used >= budget else "time")


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
    space, trees, chain = space_of(world), (tree_at(start[: len(goal)]), tree_at(goal)), np.empty((_CHAIN, len(goal)))
    kernel, tables = prepared(kernels.connect, world, start)
    counts = np.ones(2, dtype=np.int64)
    for samples, used in _slices(space, rng, budget, time_limit):
        if used == len(samples):
            samples[0] = goal  # perhaps nothing is in the way
        for tree in trees:
            tree.make_room(len(samples) * _CHAIN)
        poses, parents = (trees[0].poses, trees[1].poses), (trees[0].parent, trees[1].parent)
        here, there = kernel(tables, space, samples, poses, parents, counts, chain)
        trees[0].count, trees[1].count = counts.tolist()
        if here >= 0:
            back = trees[1].way_to(there)[-2::-1]  # both trees have the pose where they met
            return Motion(np.concatenate([poses[0][trees[0].way_to(here)], poses[1][back]]), used, "found")
    return Motion(np.empty((0, len(goal))), used, "budget" if used >= budget else "time")


def _slices(
    space: Space, rng: np.random.Generator, budget: int, time_limit: float | None
) -> Iterator[tuple[Floats, int]]:
    """Random poses, some at a time, with how many there were so far, until a limit is reached."""
    late = time.perf_counter() + (np.inf if time_limit is None else time_limit)
    used = 0
    while used < budget and (used == 0 or time.perf_counter() < late):
        count = min(_SLICE, budget - used)
        used += count
        yield uniform(space, rng, count), used


def _checked_ends(world: ContinuousWorld, state: Floats, goal: Floats) -> tuple[Floats, Floats]:
    """A start and a goal that can be had."""
    start = checked_start(world, state)
    size = len(world.low)
    if np.shape(goal) != (size,):
        raise RsgError(f"a goal is a pose of {size} numbers, got shape {np.shape(goal)}")
    return start, checked_start(world, np.concatenate([goal, start[size:]]))[:size]
