"""The inner loops of motion planning: templates for `rsg.search.motion.prepared`, whose hook is `advance` or `clear`.

A tree is `poses` `[cap, D]` and `parent` `[cap]`, of which the first `count` rows are filled. Neighbours are found by
looking at all: a tree has a few thousand poses at most, and a look costs far less than a check of a motion.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rsg.core.compiled import compiled

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]

ROUNDING = 1e-9  # of an action: what is so little beyond the reach is within it


class Space(NamedTuple):
    """The poses of a world: `[D]` each, as in `rsg.worlds.continuous.ContinuousWorld`."""

    low: Floats
    high: Floats
    period: Floats
    reach: Floats


def clear(tables: Any, start: Floats, end: Floats) -> bool:  # noqa: ARG001
    """Hook: whether the world lets a straight motion pass."""
    return True


@compiled
def difference(space: Space, start: Floats, end: Floats, d: int) -> float:
    """From start to end in dimension d, the shorter way round."""
    way = end[d] - start[d]
    period = space.period[d]
    if period > 0:
        way -= period * np.round(way / period)
    return way  # type: ignore[no-any-return]


@compiled
def put(pose: Floats, out: Floats) -> None:
    """Copy a pose; a loop compiles in far less time than an assignment of slices."""
    for d in range(len(pose)):
        out[d] = pose[d]


@compiled
def apart(space: Space, start: Floats, end: Floats) -> float:
    """How many actions lie between two poses, not rounded."""
    most = 0.0
    for d in range(len(start)):
        most = max(most, abs(difference(space, start, end, d)) / space.reach[d])
    return most


@compiled
def between(space: Space, start: Floats, end: Floats, part: float, out: Floats) -> None:
    """The pose at that part of the straight way from start to end, within the bounds where numbers come round."""
    for d in range(len(start)):
        out[d] = start[d] + part * difference(space, start, end, d)
        period = space.period[d]
        if period > 0:
            out[d] -= period * np.floor((out[d] - space.low[d]) / period)


@compiled
def actions_between(space: Space, start: Floats, end: Floats) -> int:
    """How many actions the straight way takes."""
    return int(np.ceil(apart(space, start, end) - ROUNDING))


@compiled
def split(space: Space, start: Floats, end: Floats, out: Floats) -> tuple[int, int]:
    """The poses after each action of the straight way, as many as `out` has room for; how many these are, and all."""
    total = actions_between(space, start, end)
    count = min(total, len(out))
    for i in range(count):
        between(space, start, end, (i + 1) / total, out[i])
    if total > 0 and count == total:
        put(end, out[total - 1])
    return count, total


@compiled
def walked(space: Space, actions: Floats, poses: Floats) -> None:
    """Where actions `[T, D]` lead from the first pose, into the poses `[T + 1, D]` after it."""
    for i in range(len(actions)):
        for d in range(len(space.low)):
            end = poses[i, d] + actions[i, d]
            if space.period[d] > 0:
                end -= space.period[d] * np.floor((end - space.low[d]) / space.period[d])
            poses[i + 1, d] = end


def advance(
    tables: Any, space: Space, start: Floats, end: Floats, out: Floats, backward: bool = False
) -> tuple[int, int]:
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


@compiled
def nearest(space: Space, poses: Floats, count: int, target: Floats) -> int:
    """The pose of a tree from which the target takes the fewest actions."""
    best, found = np.inf, -1
    for i in range(count):
        most = 0.0
        for d in range(len(target)):
            most = max(most, abs(difference(space, poses[i], target, d)) / space.reach[d])
            if most >= best:
                break
        if most < best:
            best, found = most, i
    return found


@compiled
def add(poses: Floats, parent: Ints, count: int, at: int, chain: Floats, length: int) -> int:
    """Hang the first poses of a chain on pose number `at` of a tree; gives the new count."""
    for i in range(length):
        put(chain[i], poses[count])
        parent[count] = at
        at = count
        count += 1
    return count


def grow(
    tables: Any, space: Space, targets: Floats, every: int, poses: Floats, parent: Ints, count: int, chain: Floats
) -> tuple[int, int, bool]:
    """Grow a tree towards one target after the other; `chain` is room for the poses of one such step.

    Each target whose number is a multiple of `every`, if that is not 0, is an aim, and the first aim that is newly
    reached ends it. Gives the new count, how many targets were used, and whether an aim was reached.
    """
    for n in range(len(targets)):
        near = nearest(space, poses, count, targets[n])
        done, total = advance(tables, space, poses[near], targets[n], chain, False)
        count = add(poses, parent, count, near, chain, done)
        if done == total and done > 0 and every > 0 and n % every == 0:
            return count, n + 1, True
    return count, len(targets), False


def connect(
    tables: Any, space: Space, samples: Floats, poses: Any, parent: Any, counts: Any, chain: Floats
) -> tuple[int, int]:
    """Grow two trees in turns: each towards a sample, then the other one towards where that led.

    Gives the two poses that met, or (-1, -1). Motions of the second tree are checked in the direction of its root.
    """
    for n in range(len(samples)):
        one = n & 1
        other = 1 - one
        near = nearest(space, poses[one], counts[one], samples[n])
        done, total = advance(tables, space, poses[one][near], samples[n], chain, one == 1)
        if done == 0 and total > 0:
            continue
        counts[one] = add(poses[one], parent[one], counts[one], near, chain, done)
        tip = counts[one] - 1 if done > 0 else near
        near = nearest(space, poses[other], counts[other], poses[one][tip])
        done, total = advance(tables, space, poses[other][near], poses[one][tip], chain, other == 1)
        counts[other] = add(poses[other], parent[other], counts[other], near, chain, done)
        if done == total:
            met = counts[other] - 1 if done > 0 else near
            return (tip, met) if one == 0 else (met, tip)
    return -1, -1
