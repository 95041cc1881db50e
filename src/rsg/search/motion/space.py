"""Poses as kernels want them, and straight ways between them, checked as the world will check them."""

from functools import cache
from types import FunctionType

import numpy as np
from numpy.typing import ArrayLike

from rsg.core.arrays import Array, Bools, Floats, record
from rsg.core.compiled import Kernel, bare, inner, pasted, specialised
from rsg.core.errors import RsgError
from rsg.worlds.protocol import ContinuousWorld

ROUNDING = 1e-9  # of an action: what is so little beyond the reach is within it


AXIS = record(low=np.float64, high=np.float64, period=np.float64, reach=np.float64)
Space = Array
"""The poses of a world, `[D]` of `AXIS`: what `rsg.worlds.protocol.ContinuousWorld` says of each of their numbers."""


def clear(tables: object, start: Floats, end: Floats) -> bool:  # noqa: ARG001
    """Hook: whether the world lets a straight motion pass."""
    return True


@inner
def difference(space: Space, start: Floats, end: Floats, d: int) -> float:
    """From start to end in dimension d, the shorter way round."""
    way = end[d] - start[d]
    period = space[d].period
    if period > 0:
        way -= period * np.rint(way / period)
    return way  # type: ignore[no-any-return]


@bare
def put(pose: Floats, out: Floats) -> None:
    """Copy a pose; a loop compiles in far less time than an assignment of slices."""
    for d in range(len(pose)):
        out[d] = pose[d]


@inner
def apart(space: Space, start: Floats, end: Floats) -> float:
    """How many actions lie between two poses, not rounded."""
    most = 0.0
    for d in range(len(start)):
        most = max(most, abs(difference(space, start, end, d)) / space[d].reach)
    return most


@inner
def between(space: Space, start: Floats, end: Floats, part: float, out: Floats) -> None:
    """The pose at that part of the straight way from start to end, within the bounds where numbers come round."""
    for d in range(len(start)):
        out[d] = start[d] + part * difference(space, start, end, d)
        period = space[d].period
        if period > 0:
            out[d] -= period * np.floor((out[d] - space[d].low) / period)


@bare
def actions_between(space: Space, start: Floats, end: Floats) -> int:
    """How many actions the straight way takes."""
    return int(np.ceil(apart(space, start, end) - ROUNDING))


@bare
def split(space: Space, start: Floats, end: Floats, out: Floats) -> tuple[int, int]:
    """The poses after each action of the straight way, as many as `out` has room for; how many these are, and all."""
    total = actions_between(space, start, end)
    count = min(total, len(out))
    for i in range(count):
        between(space, start, end, (i + 1) / total, out[i])
    if total > 0 and count == total:
        put(end, out[total - 1])
    return count, total


@bare
def walked(space: Space, actions: Floats, poses: Floats) -> None:
    """Where actions `[T, D]` lead from the first pose, into the poses `[T + 1, D]` after it."""
    for i in range(len(actions)):
        for d in range(len(space)):
            end = poses[i, d] + actions[i, d]
            if space[d].period > 0:
                end -= space[d].period * np.floor((end - space[d].low) / space[d].period)
            poses[i + 1, d] = end


def advance(tables: object, space: Space, start: Floats, end: Floats, out: Floats, backward: bool) -> tuple[int, int]:
    """Go straight from start to end, action by action, while the way is free and `out` has room.

    Gives how many actions that was, and how many lead to the end. Each is checked by itself, as the world will do it;
    backward: in the direction from end to start.
    """
    count, total = split(space, start, end, out)
    for i in range(count):
        before = out[i - 1] if i > 0 else start
        if not (clear(tables, out[i], before) if backward else clear(tables, before, out[i])):
            return i, total
    return count, total


def space_of(world: ContinuousWorld) -> Space:
    """The world's poses as kernels want them."""
    space = np.empty(len(world.low), dtype=AXIS)
    space["low"], space["high"], space["period"], space["reach"] = world.low, world.high, world.period, world.reach
    return space


def prepared(template: Kernel, world: ContinuousWorld, state: Floats, **parts: Kernel) -> tuple[Kernel, object]:
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
def _compiled(template: Kernel, clear: Kernel, parts: tuple[tuple[str, Kernel], ...]) -> Kernel:
    straight = specialised(advance, inner, clear=clear)
    hooks = {name: specialised(part, pasted, advance=straight) for name, part in parts}
    return specialised(template, bare, advance=straight, **hooks)


@cache
def _interpreted(template: Kernel, parts: tuple[tuple[str, Kernel], ...]) -> Kernel:
    hooks = {"advance": _advance, **{name: _interpreted(part, ()) for name, part in parts}}
    return FunctionType(template.__code__, {**template.__globals__, **hooks}, template.__name__)


def _advance(
    tables: tuple[ContinuousWorld, Floats], space: Space, start: Floats, end: Floats, out: Floats, backward: bool
) -> tuple[int, int]:
    """As `advance`, in one question to the world."""
    world, state = tables
    count, total = split(space, start, end, out)
    before, after = np.concatenate([start[None], out[: count - 1]])[:count], out[:count]
    if backward:
        before, after = after, before
    blocked = np.flatnonzero(~np.asarray(world.clear(rows_of(before, state), after)))
    return (int(blocked[0]) if len(blocked) else count), total


def straight_way(world: ContinuousWorld, state: Floats, goal: Floats, chain: Floats) -> Floats | None:
    """The poses on the straight way from a state to the pose `goal`, if it is free and `chain` has room for it."""
    start = state[: len(goal)]
    count, total = _advance((world, state), space_of(world), start, goal, chain, False)
    return np.concatenate([start[None], chain[:count]]) if count == total else None


def rows_of(poses: Floats, state: Floats) -> Floats:
    """States `[N, W]` at these poses `[N, D]`, all else as in the given state `[W]`."""
    rows = np.empty((len(poses), len(state)))
    rows[:] = state
    rows[:, : poses.shape[1]] = poses
    return rows


def checked_start(world: ContinuousWorld, state: ArrayLike) -> Floats:
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
    poses: Floats = space["low"] + rng.random((count, len(space))) * (space["high"] - space["low"])
    return poses


def wrapped(space: Space, poses: Floats) -> Floats:
    """Numbers that come round, within their bounds."""
    turning = space["period"] > 0
    low, period = space["low"][turning], space["period"][turning]
    inside = poses.copy()
    inside[:, turning] = low + (poses[:, turning] - low) % period
    return inside


def differences(space: Space, starts: Floats, ends: Floats) -> Floats:
    """From poses to poses `[N, D]`, the shorter way round."""
    way = ends - starts
    turning = space["period"] > 0
    period = space["period"][turning]
    way[:, turning] -= period * np.round(way[:, turning] / period)
    return way


def free_at(world: ContinuousWorld, state: Floats, poses: Floats) -> Bools:
    """Whether each pose `[N, D]` is free, all else as in the given state `[W]`."""
    return np.asarray(world.free(rows_of(poses, state)), dtype=np.bool_)
