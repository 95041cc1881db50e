"""Playroom as pixels: a state, a plan as the robot's outlines over time, and a tree or roadmap under it."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rsg.core.arrays import Bytes, Floats
from rsg.core.errors import RsgError
from rsg.domains.playroom.drawings import INK, Canvas, Color, draw_effector

FLOOR, WALL = (236, 230, 216), (92, 86, 80)
BODY, NOSE, EDGE = (70, 120, 200), (245, 150, 60), (28, 52, 100)
EARLY, LATE = np.array([150, 190, 235]), np.array([20, 55, 130])
DONE = (30, 140, 70)
LINKS, PATH = (125, 85, 160), (200, 60, 50)
MANY = 2000  # links from which on each is drawn finer
LETTER = 0.5  # width of a letter, as a share of its height
MARGIN = 0.5  # of the room's own walls around it, in units of length
MIN_PIXELS, MAX_PIXELS = 32, 4096


Room = Any
"""A `PlayroomWorld`, which draws itself with this file."""


class Trail(NamedTuple):
    """What was done."""

    states: Floats  # `[T, W]`, or poses `[T, 3]`: the robot's outline in each, fainter the earlier it is
    # steps at which something came true, with its name: drawn in green and numbered; what the numbers mean is written
    # on the lower wall
    moments: Sequence[tuple[int, str]] = ()
    # of each state, moments too; without them they darken over time, and moments are green
    colors: Sequence[Color] | None = None


def picture(
    world: Room,
    state: Floats,
    pixels: int = 480,
    trail: Trail | None = None,
    links: tuple[Floats, NDArray[np.integer]] | None = None,
) -> Bytes:
    """A state `[W]` as a picture `[height, width, 3]`, and if wanted what was or may be done in it.

    pixels: the longer side of the picture; names are written from 300 up. trail: the way of a plan. links: poses `[N,
    D]`, and pairs `[E, 2]` of their numbers: a tree or a roadmap, as thin lines.
    """
    if not MIN_PIXELS <= pixels <= MAX_PIXELS:
        raise RsgError(f"a picture of a Playroom has {MIN_PIXELS} to {MAX_PIXELS} pixels, not {pixels}")
    state = world.checked(np.asarray(state)[None])[0]
    canvas = _room(world, pixels)
    if links is not None:
        poses, pairs = map(np.asarray, links)
        alpha, line = (100, 0.025) if len(pairs) > MANY else (180, 0.06)
        for pair in poses[:, :2][pairs]:
            canvas.line(pair, (*LINKS, alpha), line)
    places = state[3:].reshape(-1, 2)
    for effector, place in zip(world.layout.effectors, places, strict=True):
        draw_effector(canvas, effector.name, place, effector.shape)
    if trail is not None:
        _draw_trail(canvas, world, trail)
    for number, part in enumerate(outline(world, state)):
        canvas.polygon(part, NOSE if number else BODY, EDGE, 0.06)
    if pixels >= 300:
        _write_names(canvas, world, places)
        if trail is not None and trail.moments:
            _write_moments(canvas, world, trail)
    return canvas.picture()


def outline(world: Room, pose: Floats) -> list[Floats]:
    """The corners `[C, 2]` of each part of the robot at a pose."""
    cos, sin = np.cos(pose[2]), np.sin(pose[2])
    turn = np.array([[cos, sin], [-sin, cos]])
    return [np.array(part) @ turn + pose[:2] for part in world.layout.robot]


def _room(world: Room, pixels: int) -> Canvas:
    width, height = world.layout.size
    canvas = Canvas((-MARGIN, -MARGIN), (width + MARGIN, height + MARGIN), pixels, WALL)
    canvas.polygon([(0, 0), (width, 0), (width, height), (0, height)], FLOOR)
    for wall in world.layout.walls:
        canvas.polygon(wall, WALL)
    return canvas


def _draw_trail(canvas: Canvas, world: Room, trail: Trail) -> None:
    states, moments, colors = np.asarray(trail.states), dict(trail.moments), trail.colors
    if colors is None:
        canvas.line(states[:, :2], PATH, 0.06)
    else:
        for step in range(1, len(states)):
            canvas.line(states[step - 1 : step + 1, :2], colors[step], 0.1)
    for step, pose in enumerate(states):
        share = step / max(1, len(states) - 1)
        special = DONE if colors is None else colors[step]
        usual = tuple(np.rint(EARLY + share * (LATE - EARLY)).astype(int).tolist()) if colors is None else special
        line = 90 + round(120 * share) if colors is None else 170
        fill, edge = ((*special, 90), (*special, 255)) if step in moments else ((*usual, 26), (*usual, line))
        for part in outline(world, pose):
            canvas.polygon(part, fill, edge, 0.05)


def _write_names(canvas: Canvas, world: Room, places: Floats) -> None:
    width, size = world.layout.size[0], 0.42
    for effector, (x, y) in zip(world.layout.effectors, places, strict=True):
        name, low = effector.name.replace("-", " "), min(corner[1] for corner in effector.shape)
        half, below = LETTER * size * len(name) / 2, y + low - 0.3
        place = (min(max(x, half), width - half), below if below > 0.2 else y - low + 0.3)
        canvas.text(place, name, INK, size)


def _write_moments(canvas: Canvas, world: Room, trail: Trail) -> None:
    for number, (step, _) in enumerate(trail.moments, 1):
        (x, y), color = trail.states[step][:2], DONE if trail.colors is None else trail.colors[step]
        canvas.circle(x, y, 0.36, color)
        canvas.text((x, y), str(number), (255, 255, 255), 0.5, around=color)
    told = "     ".join(f"{number}  {name}" for number, (_, name) in enumerate(trail.moments, 1))
    width = world.layout.size[0]
    canvas.text((width / 2, -MARGIN / 2), told, (255, 255, 255), min(0.42, width / (LETTER * len(told))), around=WALL)
