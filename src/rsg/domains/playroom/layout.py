"""A room as data: its size, its walls, the robot's body, and the effectors that it can touch."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from rsg.core.arrays import Floats
from rsg.core.errors import RsgError
from rsg.domains.playroom.geometry import At, Polygons, Shapes, overlap, polygons, pose_free, touches

Point = tuple[float, float]
Polygon = tuple[Point, ...]

_NAME = "[A-Za-z0-9]+(?:[-_][A-Za-z0-9]+)*"
_TERM = rf"{_NAME}(?:\({_NAME}(?:, *{_NAME})*\))?"
_FLAT = 1e-9  # three corners that turn less than this are in one line


class LayoutError(RsgError):
    """A layout that cannot be: the message says what is wrong, and where in it."""


@dataclass(frozen=True)
class Effector:
    """A thing that does something when the robot touches it."""

    name: str  # what it is; the six of the paper have drawings of their own
    shape: Polygon  # a convex polygon around its position
    term: str = ""  # the subgoal that holds while the robot touches it; `touch-NAME` if none is given
    position: Point | None = None  # where it always lies; by default in a new random place each time


@dataclass(frozen=True)
class Layout:
    """A room: everything in it that stays the same from start to start. Polygons are convex; they may overlap.

    >>> square = box(1, 1)
    >>> Layout((4, 3), robot=(square,), effectors=(Effector("ball", square),)).terms
    ('touch-ball',)
    """

    size: Point  # width and height of the room; one corner of it is at (0, 0)
    robot: tuple[Polygon, ...]  # the parts of the robot's body, as they lie around (0, 0) when its angle is 0
    effectors: tuple[Effector, ...]  # what it can touch; they are no obstacles
    walls: tuple[Polygon, ...] = ()  # what it must not touch, nor the sides of the room
    # the pose (x, y, angle) in which the robot always starts; by default a random one
    start: tuple[float, float, float] | None = None

    def __post_init__(self) -> None:
        values = {
            "size": numbers(self.size, 2, "the size of the room"),
            "robot": tuple(convex(part, f"part {i} of the robot") for i, part in enumerate(self.robot, 1)),
            "walls": tuple(convex(wall, f"wall {i}") for i, wall in enumerate(self.walls, 1)),
            "effectors": tuple(_effector(effector) for effector in self.effectors),
            "start": None if self.start is None else numbers(self.start, 3, "the start of the robot"),
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)
        self._check_parts()
        self._check_places()

    @property
    def terms(self) -> tuple[str, ...]:
        """The subgoal of each effector."""
        return tuple(effector.term for effector in self.effectors)

    @cached_property
    def shapes(self) -> Shapes:
        """What the kernels know of the room."""
        robot, effectors = polygons(self.robot), polygons([effector.shape for effector in self.effectors])
        walls = polygons([*_sides(self.size, 1 + 2 * max(_radius(robot), _radius(effectors))), *self.walls])
        return Shapes(self.size, _radius(robot), robot, walls, effectors)

    def _check_parts(self) -> None:
        if min(self.size) <= 0:
            raise LayoutError(f"a room has a width and a height above 0, not {self.size[0]:g} and {self.size[1]:g}")
        if not self.robot:
            raise LayoutError("the layout has no robot: give at least one polygon for its body")
        if not self.effectors:
            raise LayoutError("the layout has no effectors: without one there is nothing to do in the room")
        for what, given in (("effectors", [e.name for e in self.effectors]), ("terms", list(self.terms))):
            twice = next((name for i, name in enumerate(given) if name in given[:i]), None)
            if twice is not None:
                raise LayoutError(f"two {what} have the name '{twice}'; give each its own")

    def _check_places(self) -> None:
        """What has a fixed place must be free there."""
        places = np.array([effector.position or (math.nan, math.nan) for effector in self.effectors])
        check_places(self, places)
        if self.start is None:
            return
        x, y, angle = self.start
        at = At(x, y, math.cos(angle), math.sin(angle))
        hit = "" if pose_free(self.shapes, x, y, angle) else "a wall or a side"
        for number in np.flatnonzero(~np.isnan(places[:, 0])).tolist():
            if not hit and touches(self.shapes, number, places[number, 0], places[number, 1], at):
                hit = f"the {self.effectors[number].name}; move one of them"
        if hit:
            raise LayoutError(f"the robot starts at ({x:g}, {y:g}, {angle:g}), where it touches {hit}")


def check_places(layout: Layout, places: Floats) -> None:
    """An error if an effector at its row of `places` `[E, 2]` overlaps something; those at NaN have no place yet."""
    for number in np.flatnonzero(~np.isnan(places[:, 0])).tolist():
        hit = overlap(layout.shapes, number, places)
        if hit != -1:
            what = "a wall or a side of the room" if hit == -2 else f"the {layout.effectors[hit].name}"
            x, y = places[number]
            raise LayoutError(
                f"the {layout.effectors[number].name} at ({x:g}, {y:g}) overlaps {what}; move one of them"
            )


def box(width: float, height: float) -> Polygon:
    """A rectangle around (0, 0)."""
    x, y = width / 2, height / 2
    return ((-x, -y), (x, -y), (x, y), (-x, y))


def bar(start: Point, end: Point, thickness: float) -> Polygon:
    """A straight wall between two points, in any direction.

    >>> bar((0, 10), (5, 10), 0.5)
    ((0.0, 9.75), (5.0, 9.75), (5.0, 10.25), (0.0, 10.25))
    """
    (x, y), (u, v) = start, end
    length = math.hypot(u - x, v - y)
    if not (length > 0 and thickness > 0):
        raise LayoutError("a bar goes from one point to another and has a thickness above 0")
    dx, dy = -(v - y) / length * thickness / 2, (u - x) / length * thickness / 2
    return ((x - dx, y - dy), (u - dx, v - dy), (u + dx, v + dy), (x + dx, y + dy))


def convex(points: Any, what: str) -> Polygon:
    """The polygon with its corners anticlockwise, if it is a convex one; `what` names it in messages."""
    points = points.tolist() if isinstance(points, np.ndarray) else points
    if isinstance(points, str) or not isinstance(points, Sequence) or len(points) < 3:
        raise LayoutError(f"{what} must be a polygon: a list of at least three corners [x, y]")
    corners: list[Point] = [numbers(point, 2, f"corner {i} of {what}") for i, point in enumerate(points, 1)]
    turns = [
        _turn(corners[i - 1], corner, corners[(i + 1) % len(corners)], f"corner {i + 1} of {what}")
        for i, corner in enumerate(corners)
    ]
    if sum(turns) < 0:
        corners, turns = corners[::-1], [-turn for turn in turns]
    wrong = next((i for i, turn in enumerate(turns) if turn < 0), None)
    if wrong is not None or sum(turns) > 3 * math.pi:  # a star turns left at each corner too, but goes round twice
        raise LayoutError(f"{what} is not convex: cut it into convex polygons")
    return tuple(corners)


def _turn(before: Point, here: Point, after: Point, what: str) -> float:
    """By how much an outline turns left at a corner."""
    ax, ay, bx, by = here[0] - before[0], here[1] - before[1], after[0] - here[0], after[1] - here[1]
    turn = math.atan2(ax * by - ay * bx, ax * bx + ay * by)
    if abs(turn) < _FLAT or abs(turn) > math.pi - _FLAT or (ax, ay) == (0, 0) or (bx, by) == (0, 0):
        raise LayoutError(f"{what} is in one line with its neighbours, or the same as one of them: leave it out")
    return turn


def numbers(values: Any, count: int, what: str) -> Any:
    """Finite numbers as a tuple."""
    values = values.tolist() if isinstance(values, np.ndarray) else values
    names = {2: "[x, y]", 3: "[x, y, angle]"}[count]
    fine = isinstance(values, Sequence) and not isinstance(values, str) and len(values) == count
    if not fine or any(isinstance(v, bool) or not isinstance(v, int | float | np.number) for v in values):
        raise LayoutError(f"{what} must be {count} numbers {names}, not {values!r}")
    if not all(math.isfinite(v) for v in values):
        raise LayoutError(f"{what} must be finite numbers, not {', '.join(f'{float(v)}' for v in values)}")
    return tuple(float(v) + 0.0 for v in values)


def _effector(effector: Effector) -> Effector:
    """With all its values checked and filled in."""
    name, term = effector.name, effector.term or f"touch-{effector.name}"
    if not isinstance(name, str) or not re.fullmatch(_NAME, name):
        raise LayoutError(f"{name!r} cannot be the name of an effector: use letters, digits and single hyphens")
    if not isinstance(term, str) or not re.fullmatch(_TERM, term):
        raise LayoutError(f"{term!r} cannot be the term of the {name}: write it as in a task, for example ring-bell")
    place = effector.position
    position = None if place is None else numbers(place, 2, f"the position of the {name}")
    return Effector(name, convex(effector.shape, f"the shape of the {name}"), term.lower().replace("_", "-"), position)


def _radius(shapes: Polygons) -> float:
    return float(np.hypot(shapes.corners["x"], shapes.corners["y"]).max(initial=0.0))


def _sides(size: Point, thickness: float) -> list[Polygon]:
    """The sides of a room as walls: so thick that nothing whose centre is in the room reaches beyond them.

    The edge towards the room comes first: kernels look at it first, and it nearly always decides.
    """
    (w, h), t = size, thickness
    return [
        ((w + t, 0.0), (-t, 0.0), (-t, -t), (w + t, -t)),
        ((-t, h), (w + t, h), (w + t, h + t), (-t, h + t)),
        ((0.0, -t), (0.0, h + t), (-t, h + t), (-t, -t)),
        ((w, h + t), (w, -t), (w + t, -t), (w + t, h + t)),
    ]
