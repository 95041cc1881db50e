"""The inner loops of shortening a path: templates for `rsg.search.motion.prepared`, whose hook is `advance`.

A straight way between two points of a path is never longer than the path between them, by any norm. So a path is first
pulled straight as a line of corners, without regard to single actions, and then walked along in full strides.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rsg.core.compiled import compiled
from rsg.search.motion_kernels import Space, advance, apart, between, difference, put

Floats = NDArray[np.float64]

_GAIN = 1e-3  # of an action: what a shortcut must save to be worth a check


@compiled
def straight(space: Space, start: Floats, end: Floats) -> float:
    """The length of a straight way: all differences together, in actions."""
    total = 0.0
    for d in range(len(start)):
        total += (difference(space, start, end, d) / space.reach[d]) ** 2
    return float(np.sqrt(total))


@compiled
def lengths_along(space: Space, corners: Floats, count: int, along: Floats) -> None:
    """How far each corner is from the first one along the path, into `along`."""
    along[0] = 0.0
    for i in range(1, count):
        along[i] = along[i - 1] + straight(space, corners[i - 1], corners[i])


@compiled
def point_at(space: Space, corners: Floats, along: Floats, count: int, length: float, out: Floats) -> int:
    """The point that far along the path; gives the number of the corner at or before it."""
    i = 0
    while i < count - 2 and along[i + 1] <= length:
        i += 1
    if length <= along[i]:
        put(corners[i], out)
    elif length >= along[i + 1]:
        put(corners[i + 1], out)
    else:
        between(space, corners[i], corners[i + 1], (length - along[i]) / (along[i + 1] - along[i]), out)
    return i


@compiled
def replace(corners: Floats, count: int, begin: int, rest: int, ends: Floats) -> int:
    """Put two corners in the place of those from `begin` up to `rest`; gives the new count."""
    shift = begin + 2 - rest
    for i in range(count - rest):
        source = rest + i if shift <= 0 else count - 1 - i
        put(corners[source], corners[source + shift])
    put(ends[0], corners[begin])
    put(ends[1], corners[begin + 1])
    return count + shift


def pull_straight(tables: Any, space: Space, corners: Floats, count: int, pairs: Floats, chain: Floats) -> int:
    """Cut corners off: between two points of the path, each given as a part of its length, go straight if possible.

    Args:
        corners: `[cap, D]` of which the first `count` are the path; there is room for two more per pair.
        pairs: `[N, 2]` of which parts below 0 mean the start of the path and those above 1 its end.
        chain: room for the poses of one straight way.

    Gives the new count.
    """
    ends = np.empty((2, corners.shape[1]))
    along = np.empty(len(corners))
    lengths_along(space, corners, count, along)
    for n in range(len(pairs)):
        total = along[count - 1]
        first, last = min(pairs[n, 0], pairs[n, 1]) * total, max(pairs[n, 0], pairs[n, 1]) * total
        first, last = max(0.0, first), min(total, last)
        before = point_at(space, corners, along, count, first, ends[0])
        after = point_at(space, corners, along, count, last, ends[1]) + 1
        if after - before < 2 or last - first - straight(space, ends[0], ends[1]) < _GAIN:
            continue
        done, steps = advance(tables, space, ends[0], ends[1], chain, False)
        if done < steps:
            continue
        begin = before + (first > along[before])  # a shortcut that begins at a corner takes its place
        rest = after + (last >= along[after])
        count = replace(corners, count, begin, rest, ends)
        lengths_along(space, corners, count, along)
    return count


@compiled
def furthest(space: Space, pose: Floats, corners: Floats, count: int, i: int, out: Floats) -> int:
    """The last point of the path, from corner i on, before it first leaves the reach of the pose, into `out`.

    Gives the number of the corner at or before it.
    """
    while i < count - 1 and apart(space, pose, corners[i + 1]) <= 1.0:
        i += 1
    put(corners[i], out)
    if i == count - 1:
        return i
    part = 1.0
    for d in range(len(pose)):
        way = difference(space, corners[i], corners[i + 1], d)
        if way != 0:
            part = min(part, (np.sign(way) * space.reach[d] - difference(space, pose, corners[i], d)) / way)
    between(space, corners[i], corners[i + 1], max(0.0, part), out)
    return i


def walk(tables: Any, space: Space, corners: Floats, count: int, out: Floats, chain: Floats) -> int:
    """Walk along the path, each action as far as the path stays within reach; if it cannot cut a corner, to the corner.

    Gives how many poses that took; 0 if it cannot be done or `out` has not the room.
    """
    point = np.empty(corners.shape[1])
    put(corners[0], out[0])
    size, i = 1, 0
    while i < count - 1:
        before = i
        i = furthest(space, out[size - 1], corners, count, i, point)
        done, steps = advance(tables, space, out[size - 1], point, chain, False)
        if done < steps and i > before:
            i = before + 1
            put(corners[i], point)
            done, steps = advance(tables, space, out[size - 1], point, chain, False)
        if done < steps or size + done > len(out) or (done == 0 and i == before):
            return 0
        if done > 0:
            put(point, out[size])
            size += 1
    return size
