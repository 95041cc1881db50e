"""Convex polygons that move and turn: kernels that say when two of them touch, at a pose and along a whole motion.

Two convex polygons are apart if and only if the line along an edge of one has the other wholly beyond it. A distance of
exactly zero is a touch; nearer to zero than about 1e-12 rounding decides.

Along a motion, how far a corner is beyond such a line is a smooth function of time, and its curvature has a bound: so
if one line keeps the polygons apart at both ends of a stretch, with that much to spare, it does so all along. A motion
is free when stretches of this kind cover it. Nothing can slip through, however thin or fast; a motion that comes nearer
to a wall than about `TOLERANCE` may be called not free.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from rsg.core.arrays import Array, Ints
from rsg.core.compiled import bare, compiled, inlined, inner, pasted

TOLERANCE = 1e-6
"""No stretch of a motion in which a corner moves less than this is divided any further."""


class At(NamedTuple):
    """A pose for the kernels, with the cosine and the sine of its angle."""

    x: float
    y: float
    cos: float
    sin: float


class Ends(NamedTuple):
    """The poses at both ends of a motion, or of a stretch of it."""

    first: At
    last: At


class Spare(NamedTuple):
    """By how much a line must keep two polygons apart: one along an edge of the fixed one, or of the moved one."""

    fixed: float
    moved: float


_FIELDS = [(name, np.float64) for name in ("x", "y", "normal_x", "normal_y", "offset")]
CORNER = np.dtype((np.record, np.dtype(_FIELDS, align=True)))
"""A corner of a polygon; of the edge from there to the next one the unit vector out of it, and how far along that the
edge is out."""


class Polygons(NamedTuple):
    """Convex polygons, the corners of one after those of the other, anticlockwise."""

    start: Ints  # `[P + 1]` where the corners of each polygon begin
    # `[C]` of `CORNER`: one array, since kernels take the longer to compile the more arrays they are given
    corners: Array


class Shapes(NamedTuple):
    """All that kernels know of a room."""

    size: tuple[float, float]  # width and height of the room
    radius: float  # the distance of the robot's farthest corner from its own origin
    robot: Polygons  # the parts of its body, around its origin
    walls: Polygons  # the four sides of the room, and then the walls in it
    effectors: Polygons  # each around its own position


def polygons(shapes: Sequence[Sequence[Sequence[float]]]) -> Polygons:
    """Polygons from their corners, which go round anticlockwise."""
    rings = [np.array(shape, dtype=np.float64).reshape(-1, 2) for shape in shapes]
    corners = np.concatenate([np.empty((0, 2)), *rings])
    edges = np.concatenate([np.empty((0, 2)), *(np.roll(ring, -1, axis=0) - ring for ring in rings)])
    normals = np.stack([edges[:, 1], -edges[:, 0]], axis=1) / np.hypot(edges[:, 0], edges[:, 1])[:, None]
    numbers = np.column_stack([corners, normals, (normals * corners).sum(axis=1)])
    return Polygons(np.cumsum([0, *map(len, rings)]), np.ascontiguousarray(numbers).view(CORNER)[:, 0])


@inner
def _beyond_edge(fixed: Polygons, edge: int, moved: Polygons, m: int, at: At) -> float:
    """How far polygon m, moved to a pose, is beyond the line of an edge; below zero where it is not."""
    nx, ny = fixed.corners[edge].normal_x, fixed.corners[edge].normal_y
    across, along = nx * at.cos + ny * at.sin, ny * at.cos - nx * at.sin  # the normal, seen by what is moved
    least = np.inf
    for i in range(moved.start[m], moved.start[m + 1]):
        least = min(least, across * moved.corners[i].x + along * moved.corners[i].y)
    return float(least + nx * at.x + ny * at.y - fixed.corners[edge].offset)


@inner
def _beyond_moved_edge(moved: Polygons, edge: int, fixed: Polygons, f: int, at: At) -> float:
    """How far polygon f is beyond the line of an edge that is moved to a pose."""
    edge_x, edge_y = moved.corners[edge].normal_x, moved.corners[edge].normal_y
    nx, ny = at.cos * edge_x - at.sin * edge_y, at.sin * edge_x + at.cos * edge_y
    least = np.inf
    for i in range(fixed.start[f], fixed.start[f + 1]):
        least = min(least, nx * fixed.corners[i].x + ny * fixed.corners[i].y)
    return float(least - nx * at.x - ny * at.y - moved.corners[edge].offset)


@bare
def apart(moved: Polygons, m: int, fixed: Polygons, f: int, at: At) -> bool:
    """Whether polygon m, moved to a pose, does not touch polygon f."""
    for edge in range(fixed.start[f], fixed.start[f + 1]):
        if _beyond_edge(fixed, edge, moved, m, at) > 0:
            return True
    for edge in range(moved.start[m], moved.start[m + 1]):  # noqa: SIM110, kernels are loops
        if _beyond_moved_edge(moved, edge, fixed, f, at) > 0:
            return True
    return False


@inner
def _apart_between(moved: Polygons, m: int, fixed: Polygons, f: int, ends: Ends, spare: Spare) -> bool:
    """Whether one line keeps them apart at both poses: then also between the two."""
    first, last = ends
    for edge in range(fixed.start[f], fixed.start[f + 1]):
        if (
            _beyond_edge(fixed, edge, moved, m, first) > spare.fixed
            and _beyond_edge(fixed, edge, moved, m, last) > spare.fixed
        ):
            return True
    for edge in range(moved.start[m], moved.start[m + 1]):
        if (
            _beyond_moved_edge(moved, edge, fixed, f, first) > spare.moved
            and _beyond_moved_edge(moved, edge, fixed, f, last) > spare.moved
        ):
            return True
    return False


@inlined
def _far(fixed: Polygons, f: int, x: float, y: float, radius: float) -> bool:
    """Whether a circle is surely apart from polygon f."""
    for edge in range(fixed.start[f], fixed.start[f + 1]):
        if fixed.corners[edge].normal_x * x + fixed.corners[edge].normal_y * y - fixed.corners[edge].offset > radius:
            return True
    return False


@inlined
def _in_range(shapes: Shapes, x: float, y: float, angle: float) -> bool:
    """Whether these numbers, none of them NaN or infinite, can be a pose in the room."""
    return 0 <= x <= shapes.size[0] and 0 <= y <= shapes.size[1] and abs(angle) < np.inf


@bare
def pose_free(shapes: Shapes, x: float, y: float, angle: float) -> bool:
    """Whether the robot is in the room and touches no wall and no side of it."""
    if not _in_range(shapes, x, y, angle):
        return False
    at = At(x, y, 2.0, 0.0)  # cosine and sine are only worked out near a wall
    for wall in range(len(shapes.walls.start) - 1):
        if _far(shapes.walls, wall, x, y, shapes.radius):
            continue
        if at.cos == 2.0:
            at = At(x, y, math.cos(angle), math.sin(angle))
        for part in range(len(shapes.robot.start) - 1):
            if not apart(shapes.robot, part, shapes.walls, wall, at):
                return False
    return True


@bare
def wrapped(angle: float) -> float:
    """The same angle in [-π, π): of a difference of angles, the shorter way round."""
    if -np.pi <= angle < np.pi:
        return angle
    angle = angle - 2 * np.pi * math.floor((angle + np.pi) / (2 * np.pi))
    return angle if -np.pi <= angle < np.pi else -np.pi  # rounding may miss by a little, on either side


@pasted
def _part_free(shapes: Shapes, part: int, wall: int, start: Array, end: Array, ends: Ends) -> bool:
    """Whether a part of the robot stays clear of a wall during a motion; `ends` are its start and its end."""
    robot, walls = shapes.robot, shapes.walls
    first, last = ends
    if not (apart(robot, part, walls, wall, first) and apart(robot, part, walls, wall, last)):
        return False
    dx, dy, turn = end[0] - start[0], end[1] - start[1], wrapped(end[2] - start[2])
    way, lever = math.hypot(dx, dy), shapes.radius  # the lever: how far from the robot's centre a corner may be
    for i in range(walls.start[wall], walls.start[wall + 1]):
        x, y = walls.corners[i].x - start[0], walls.corners[i].y - start[1]
        lever = max(lever, math.hypot(x, y), math.hypot(x - dx, y - dy))
    curve, curve_moved = turn * turn * shapes.radius / 8, (turn * turn * lever + 2 * abs(turn) * way) / 8
    time, stretch, here, there = 0.0, 1.0, first, last
    while True:
        square = stretch * stretch
        spare = Spare(curve * square, curve_moved * square)
        if _apart_between(robot, part, walls, wall, Ends(here, there), spare):
            time += stretch
            if time == 1:
                return True
            stretch, here = min(2 * stretch, 1 - time), there
        elif stretch * (way + abs(turn) * lever) < TOLERANCE or not apart(robot, part, walls, wall, there):
            return False
        else:
            stretch /= 2
        until = time + stretch
        angle = start[2] + until * turn
        there = (
            last if until == 1 else At(start[0] + until * dx, start[1] + until * dy, math.cos(angle), math.sin(angle))
        )


@bare
def motion_free(shapes: Shapes, start: Array, end: Array) -> bool:
    """Whether the straight motion between two poses `[3]` is free along its whole length."""
    if not (_in_range(shapes, start[0], start[1], start[2]) and _in_range(shapes, end[0], end[1], end[2])):
        return False
    x, y = (start[0] + end[0]) / 2, (start[1] + end[1]) / 2
    radius = shapes.radius + math.hypot(end[0] - start[0], end[1] - start[1]) / 2  # this circle holds the whole motion
    first, last = At(start[0], start[1], 2.0, 0.0), At(end[0], end[1], 2.0, 0.0)
    for wall in range(len(shapes.walls.start) - 1):
        if _far(shapes.walls, wall, x, y, radius):
            continue
        if first.cos == 2.0:
            first = At(start[0], start[1], math.cos(start[2]), math.sin(start[2]))
            last = At(end[0], end[1], math.cos(end[2]), math.sin(end[2]))
        for part in range(len(shapes.robot.start) - 1):
            if not _part_free(shapes, part, wall, start, end, Ends(first, last)):
                return False
    return True


@bare
def touches(shapes: Shapes, effector: int, x: float, y: float, at: At) -> bool:
    """Whether the robot at a pose touches an effector that lies at (x, y)."""
    seen = At(at.x - x, at.y - y, at.cos, at.sin)
    if _far(shapes.effectors, effector, seen.x, seen.y, shapes.radius):
        return False
    for part in range(len(shapes.robot.start) - 1):
        if not apart(shapes.robot, part, shapes.effectors, effector, seen):
            return True
    return False


@bare
def free_rows(shapes: Shapes, states: Array, out: Array) -> None:
    """`pose_free` of each state."""
    for i in range(len(states)):
        out[i] = pose_free(shapes, states[i, 0], states[i, 1], states[i, 2])


@bare
def clear_rows(shapes: Shapes, states: Array, ends: Array, out: Array) -> None:
    """`motion_free` from each state to its end."""
    for i in range(len(states)):
        out[i] = motion_free(shapes, states[i, :3], ends[i])


@compiled
def step_rows(shapes: Shapes, states: Array, actions: Array, out: Array) -> None:
    """The states after an action each: `out` holds copies of `states`, whose poses move where the motion is free."""
    end = np.empty(3)
    for i in range(len(states)):
        end[0], end[1] = states[i, 0] + actions[i, 0], states[i, 1] + actions[i, 1]
        end[2] = wrapped(states[i, 2] + actions[i, 2])
        if motion_free(shapes, states[i, :3], end):
            for d in range(3):  # an assignment of slices takes seconds to compile
                out[i, d] = end[d] + 0.0  # never -0.0


@bare
def touch_rows(shapes: Shapes, states: Array, effectors: Array, out: Array) -> None:
    """Which of some effectors the robot touches in each state, `[N, effectors]`."""
    for i in range(len(states)):
        at = At(states[i, 0], states[i, 1], math.cos(states[i, 2]), math.sin(states[i, 2]))
        for k in range(len(effectors)):
            place = 3 + 2 * effectors[k]
            out[i, k] = touches(shapes, effectors[k], states[i, place], states[i, place + 1], at)


@bare
def overlap(shapes: Shapes, effector: int, places: Array) -> int:
    """What an effector at its row of `places` touches: -1 nothing, -2 a wall or a side, else the number of another.

    Effectors whose place is NaN have none yet.
    """
    x, y = places[effector, 0], places[effector, 1]
    if not (0 <= x <= shapes.size[0] and 0 <= y <= shapes.size[1]):
        return -2
    for wall in range(len(shapes.walls.start) - 1):
        if not apart(shapes.effectors, effector, shapes.walls, wall, At(x, y, 1.0, 0.0)):
            return -2
    for other in range(len(places)):
        if other == effector or np.isnan(places[other, 0]):
            continue
        at = At(x - places[other, 0], y - places[other, 1], 1.0, 0.0)
        if not apart(shapes.effectors, effector, shapes.effectors, other, at):
            return other
    return -1


@bare
def scatter(shapes: Shapes, places: Array, dice: Array) -> bool:
    """Give each effector whose place is NaN the next place of `dice` `[K, 2]`, in [0, 1), where it overlaps nothing.

    False if the dice did not suffice.
    """
    die = 0
    for effector in range(len(places)):
        if not np.isnan(places[effector, 0]):
            continue
        while die < len(dice):
            places[effector, 0], places[effector, 1] = dice[die, 0] * shapes.size[0], dice[die, 1] * shapes.size[1]
            die += 1
            if overlap(shapes, effector, places) == -1:
                break
            places[effector, 0] = np.nan
        if np.isnan(places[effector, 0]):
            return False
    return True
