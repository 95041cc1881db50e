"""Shorter paths: corners are cut off where the straight way is free, then every action is a full stride.

A straight way between two points of a path is never longer than the path between them, by any norm. So a path is first
pulled straight as a line of corners, without regard to single actions, and then walked along in full strides.
"""

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from rsg.core.arrays import Floats, Ints
from rsg.core.compiled import bare
from rsg.search.motion.space import Space, advance, apart, between, difference, prepared, put, space_of
from rsg.worlds.protocol import ContinuousWorld

TRIES = 100  # shortcuts to try on a path
_ENDS = 0.15  # by how much of its length a shortcut may be thought to reach beyond an end, and so begins or ends there
_GAIN = 0.03  # of an action: what a shortcut must save to be worth a check
_HALVINGS = 6  # of the way along a path, to find how far along it an action may go


@bare
def straight(space: Space, start: Floats, end: Floats) -> float:
    """The length of a straight way: all differences together, in actions."""
    total = 0.0
    for d in range(len(start)):
        total += (difference(space, start, end, d) / space[d].reach) ** 2
    return float(np.sqrt(total))


@bare
def lengths_along(space: Space, corners: Floats, count: int, along: Floats) -> None:
    """How far each corner is from the first one along the path, into `along`."""
    along[0] = 0.0
    for i in range(1, count):
        along[i] = along[i - 1] + straight(space, corners[i - 1], corners[i])


@bare
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


@bare
def replace(corners: Floats, count: int, begin: int, rest: int, ends: Floats) -> int:
    """Put two corners in the place of those from `begin` up to `rest`; gives the new count."""
    shift = begin + 2 - rest
    for i in range(count - rest):
        source = rest + i if shift <= 0 else count - 1 - i
        put(corners[source], corners[source + shift])
    put(ends[0], corners[begin])
    put(ends[1], corners[begin + 1])
    return count + shift


class Room(NamedTuple):
    """Where a path is made shorter."""

    corners: Floats  # `[cap, D]` of which the first ones are the path, with room for two more per shortcut
    along: Floats  # `[cap]`
    ends: Floats  # `[2, D]` of a shortcut
    chain: Floats  # `[T + 1, D]` the poses of one straight way
    out: Floats  # `[T + 1, D]` the new path

    @classmethod
    def of(cls, poses: Floats, tries: int) -> "Room":
        """For a path `[T + 1, D]`, which is in it."""
        size = len(poses) + 2 * tries
        corners, width = np.empty((size, poses.shape[1])), poses.shape[1]
        corners[: len(poses)] = poses
        return cls(corners, np.empty(size), np.empty((2, width)), np.empty(poses.shape), np.empty(poses.shape))


def pull_straight(tables: object, space: Space, room: Room, count: int, pairs: Floats) -> int:
    """Cut corners off: between two points of the path, each given as a part of its length, go straight if possible.

    The first `count` corners of the room are the path. pairs: `[N, 2]` of which parts below 0 mean the start of the
    path and those above 1 its end.

    Gives the new count.
    """
    corners, along, ends, chain, _ = room
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


@bare
def place(space: Space, corners: Floats, count: int, at: float, out: Floats) -> None:
    """A point of the path: the whole part of `at` is a corner, the rest says how far it is to the next one."""
    i = min(int(at), count - 2)
    if at == i + 1:
        put(corners[i + 1], out)
    else:
        between(space, corners[i], corners[i + 1], at - i, out)


@bare
def furthest(space: Space, pose: Floats, corners: Floats, count: int, at: float) -> float:
    """The place, from `at` on, where the path first leaves the reach of the pose, which is at that place."""
    i = int(at)
    begin, part = pose, at - i
    while i < count - 2 and apart(space, pose, corners[i + 1]) <= 1.0:
        i += 1
        begin, part = corners[i], 0.0
    share = 1.0  # of the way from there to the next corner
    for d in range(len(pose)):
        way = difference(space, begin, corners[i + 1], d)
        if way != 0:
            share = min(share, (np.sign(way) * space[d].reach - difference(space, pose, begin, d)) / way)
    return i + 1.0 if share >= 1 else i + part + max(0.0, share) * (1 - part)


def walk(tables: object, space: Space, corners: Floats, count: int, out: Floats, chain: Floats) -> int:
    """Walk along the path in few actions: each as far along it as is within reach and, about, as is free to go to.

    Gives how many poses that took; 0 if it cannot be done or `out` has not the room.
    """
    put(corners[0], out[0])
    size, at = 1, 0.0
    while at < count - 1:
        if size == len(out):
            return 0
        near, far = at, furthest(space, out[size - 1], corners, count, at)
        to = far
        for _ in range(_HALVINGS):
            place(space, corners, count, to, out[size])
            done, steps = advance(tables, space, out[size - 1], out[size], chain, False)
            if done == steps:
                near = to
            else:
                far = to
            if near == far:
                break
            to = (near + far) / 2
        if near == at:
            return 0
        place(space, corners, count, near, out[size])
        size += 1
        at = near
    return size


def shorter(tables: object, space: Space, room: Room, pairs: Floats) -> int:
    """Pull a path straight by shortcuts and walk along it; gives how many poses that took, 0 if it cannot be done."""
    count = len(room.out)
    if count > 2:
        count = pull_straight(tables, space, room, count, pairs)
    return walk(tables, space, room.corners, count, room.out, room.chain)


def shorten(
    world: ContinuousWorld, state: Floats, poses: Floats, rng: np.random.Generator, tries: int = TRIES
) -> Floats:
    """A path from the first pose to the last one, of at most as many actions, each checked as the world will check it.

    state: `[W]` any state of the path, for what poses `[T + 1, D]` do not tell; tries: shortcuts to try.
    """
    return shorten_parts(world, state, poses, np.array([0, len(poses) - 1]), rng, tries)[0]


def shorten_parts(
    world: ContinuousWorld, state: Floats, poses: Floats, bounds: Ints, rng: np.random.Generator, tries: int
) -> tuple[Floats, Ints]:
    """The same for each part of a path, `bounds` `[P + 1]` being where they begin and end; gives the new ones too."""
    kernel, tables = prepared(shorter, world, state, pull_straight=pull_straight, walk=walk)
    space, chances = space_of(world), rng.uniform(-_ENDS, 1 + _ENDS, (len(bounds) - 1, tries, 2))
    parts = []
    for (begin, end), pairs in zip(pairwise(bounds.tolist()), chances, strict=True):
        room = Room.of(poses[begin : end + 1], tries)
        length = kernel(tables, space, room, pairs)
        parts.append(room.out[:length] if length > 0 else poses[begin : end + 1])
    ends = np.concatenate([[0], np.cumsum([len(part) - 1 for part in parts])])
    return np.concatenate([poses[:1], *(part[1:] for part in parts)]), ends
