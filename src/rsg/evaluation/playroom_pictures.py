"""Pictures of learning in Playroom: where classifiers say that a subgoal holds, and which step served which."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import degrees
from pathlib import Path
from textwrap import fill, shorten
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rsg.core.arrays import Floats
from rsg.core.errors import RsgError
from rsg.evaluation.pictures import COLORS, PAPER, PLAIN, png, saved
from rsg.evaluation.report_examples import Segment
from rsg.evaluation.timeline import FAINT, draw_bars, name_steps, parts
from rsg.subgoals import Classifiers, Segmentation
from rsg.worlds.playroom import PlayroomWorld, truth
from rsg.worlds.playroom.drawings import Canvas, draw_effector
from rsg.worlds.playroom.pictures import BODY, EDGE, NOSE, Trail, outline, picture
from rsg.worlds.playroom.truth import effectors_of

ANGLES = tuple(np.pi * np.array([0, 0.25, 0.5, 0.75]))
"""The orientations that close-ups show."""
TURNS = 12  # orientations of which the best one counts in the view of the whole room
FINE, CLOSE = 80, 60  # places along a side of the room, and of a close-up
AROUND = 3.0  # from the middle of a close-up to its side

TRUE, PLANNED, BLOCKED, WALL = "#d1495b", "#1b1b1b", "#e4e0d8", "#5c5650"
HEAT = ("#ffffff", "#d6e6f4", "#8fc1e3", "#3d8fc9")
LEFT, HEAD, FOOT, GAP = 1.5, 0.8, 0.75, 0.1  # inches around and between the panels
WIDE, TALL, EDGES = 12.8, 7.2, 0.5  # inches of a slide
_FLOOR = (
    "On the floor: the robot after each step, in the colour of the subgoal that the step serves; in full colour where "
    "it starts, and with a number where a subgoal came true."
)


# Where subgoals hold.


@dataclass(frozen=True, eq=False)
class Heat:
    """What one classifier says of many places of the robot.

    Attributes:
        xs, ys: `[X]` and `[Y]` the places.
        response: `[Y, X]` G there.
        sure: `[Y, X]` log-odds of G less its margin: planners take the subgoal for true from 0 on.
        holds: `[Y, X]` whether the subgoal really holds there.
        free: `[Y, X]` whether the robot can be there.
    """

    xs: Floats
    ys: Floats
    response: Floats
    sure: Floats
    holds: NDArray[np.bool_]
    free: NDArray[np.bool_]


def heats(
    subgoals: Classifiers, world: PlayroomWorld, state: Floats, terms: Sequence[str], places: Sequence[Floats]
) -> list[Heat]:
    """For each term, what its classifier says with the robot at each place, at the best of some orientations.

    All else is as in the state `[W]`; places are `[X]`, `[Y]` and `[A]` angles.
    """
    xs, ys, angles = places
    x, y, angle = np.meshgrid(xs, ys, angles)
    states = np.repeat(state[None], x.size, axis=0)
    states[:, :3] = np.stack([x.ravel(), y.ravel(), angle.ravel()], axis=1)
    free = world.free(states)
    there: Any = world
    odds = subgoals.evaluate(there, states, subgoals.numbers(terms))[..., 0]
    holds = truth(world, states, terms) & free[:, None]
    margins = subgoals.margins
    wanted = 0.0 if margins is None else margins[subgoals.numbers(terms)].clamp(min=0).cpu().numpy()
    best = np.where(free[:, None], odds, -np.inf).reshape(*x.shape, -1).max(axis=2)
    with np.errstate(over="ignore"):
        response = 1 / (1 + np.exp(-best))
    sure, seen = best - wanted, np.asarray(free.reshape(x.shape).any(axis=2))
    really = np.asarray(holds.reshape(*x.shape, -1).any(axis=2))
    return [Heat(xs, ys, response[..., k], sure[..., k], really[..., k], seen) for k in range(len(terms))]


def draw_heat(path: str | Path, subgoals: Classifiers, world: PlayroomWorld, state: Floats) -> None:
    """A PNG file with a row for each term: the whole room, then close-ups of its effector for some orientations.

    Args:
        path: the file.
        subgoals: the classifiers.
        world: the room.
        state: `[W]` where the effectors are; where the robot is does not matter.
    """
    with saved(path) as part:
        part.write_bytes(png(heat_figure(subgoals, world, state), 110))


def heat_figure(subgoals: Classifiers, world: PlayroomWorld, state: Floats) -> Any:
    """What `draw_heat` draws, as a figure."""
    from matplotlib.figure import Figure

    state = world.checked(np.asarray(state)[None])[0]
    terms = [term for term in world.layout.terms if term in subgoals.terms]
    if not terms:
        raise RsgError(f"these subgoals are of another room; they know {', '.join(subgoals.terms)}")
    side, ratio = 2.1, world.layout.size[0] / world.layout.size[1]
    widths = [side * ratio, *[side] * len(ANGLES)]
    wide, tall = sum(widths) + GAP * len(widths) + LEFT, len(terms) * (side + GAP) + HEAD + FOOT
    figure = Figure(figsize=(wide, tall), facecolor="white")
    icons = [_icon(world, number) for number in range(len(world.layout.effectors))]
    turns = np.arange(TURNS) * 2 * np.pi / TURNS
    whole = heats(subgoals, world, state, terms, (*_room_places(world), turns))
    for row, (term, heat) in enumerate(zip(terms, whole, strict=True)):
        bottom = tall - HEAD - (row + 1) * (side + GAP) + GAP
        shown = [heat, *_close_ups(subgoals, world, state, term)]
        for column, one in enumerate(shown):
            left = LEFT + sum(widths[:column]) + GAP * column
            axes = figure.add_axes((left / wide, bottom / tall, widths[column] / wide, side / tall))
            _draw_places(axes, one, world, state, icons)
        figure.text((LEFT - 0.12) / wide, (bottom + side / 2) / tall, term, ha="right", va="center", fontsize=11)
    _name_columns(figure, world, widths)
    _draw_key(figure)
    return figure


def _room_places(world: PlayroomWorld) -> tuple[Floats, Floats]:
    """Places in the whole room, equally far apart."""
    width, height = world.layout.size
    step = max(width, height) / FINE
    return np.arange(step / 2, width, step), np.arange(step / 2, height, step)


def _close_ups(subgoals: Classifiers, world: PlayroomWorld, state: Floats, term: str) -> list[Heat]:
    """The places around a term's effector, at each orientation."""
    x, y = state[3:].reshape(-1, 2)[effectors_of(world, [term])[0]]
    around = np.linspace(-AROUND, AROUND, CLOSE)
    places = [(x + around, y + around, np.array([angle])) for angle in ANGLES]
    return [heats(subgoals, world, state, [term], one)[0] for one in places]


def _draw_places(axes: Any, heat: Heat, world: PlayroomWorld, state: Floats, icons: Sequence[Any]) -> None:
    """One panel: colours for G, grey where the robot cannot be, walls and effectors, and both boundaries."""
    from matplotlib.colors import LinearSegmentedColormap
    from matplotlib.patches import Polygon

    colors = LinearSegmentedColormap.from_list("heat", HEAT).with_extremes(bad=BLOCKED)
    half = (heat.xs[1] - heat.xs[0]) / 2
    sides = (heat.xs[0] - half, heat.xs[-1] + half, heat.ys[0] - half, heat.ys[-1] + half)
    shown = np.where(heat.free, heat.response, np.nan)
    axes.imshow(shown, extent=sides, origin="lower", cmap=colors, vmin=0, vmax=1, interpolation="nearest")
    for wall in world.layout.walls:
        axes.add_patch(Polygon(wall, closed=True, facecolor=WALL, linewidth=0, zorder=2))
    for icon, effector, (x, y) in zip(icons, world.layout.effectors, state[3:].reshape(-1, 2), strict=True):
        corners = np.array(effector.shape) + np.array([x, y])
        (left, low), (right, high) = corners.min(axis=0), corners.max(axis=0)
        axes.imshow(icon, extent=(left, right, low, high), zorder=3, interpolation="antialiased")
    for values, color, style in ((heat.sure, PLANNED, "dashed"), (heat.holds - 0.5, TRUE, "solid")):
        there = np.ma.masked_where(~heat.free, np.clip(values, -20, 20))
        if there.min() < 0 < there.max():
            axes.contour(heat.xs, heat.ys, there, [0], colors=color, linewidths=1.3, linestyles=style, zorder=4)
    axes.set(xlim=sides[:2], ylim=sides[2:], xticks=[], yticks=[], aspect="auto")
    axes.spines[:].set(color=WALL, linewidth=1.2)


def _icon(world: PlayroomWorld, number: int) -> NDArray[np.uint8]:
    """The drawing of an effector, as large as it is."""
    effector = world.layout.effectors[number]
    corners = np.array(effector.shape)
    canvas = Canvas(corners.min(axis=0), corners.max(axis=0), 64, (255, 255, 255))
    draw_effector(canvas, effector.name, np.zeros(2), effector.shape)
    return canvas.picture()


def _name_columns(figure: Any, world: PlayroomWorld, widths: Sequence[float]) -> None:
    """Words for the whole room; above close-ups the robot as it is turned there."""
    wide, tall = figure.get_size_inches()
    top = tall - HEAD
    words = f"the whole room\n(best of {TURNS} orientations)"
    figure.text((LEFT + widths[0] / 2) / wide, (top + 0.12) / tall, words, ha="center", va="bottom", fontsize=10)
    radius = max(float(np.hypot(*np.array(part).T).max()) for part in world.layout.robot)
    for column, angle in enumerate(ANGLES, 1):
        middle = LEFT + sum(widths[:column]) + GAP * column + widths[column] / 2
        size = 0.6
        axes = figure.add_axes(((middle - 0.05 - size) / wide, (top + 0.06) / tall, size / wide, size / tall))
        for number, part in enumerate(outline(world, np.array([0, 0, angle]))):
            axes.fill(*part.T, facecolor=np.array(NOSE if number else BODY) / 255, edgecolor=np.array(EDGE) / 255)
        axes.set(xlim=(-radius, radius), ylim=(-radius, radius), aspect="equal")
        axes.axis("off")
        figure.text((middle + 0.05) / wide, (top + 0.36) / tall, f"{degrees(angle):.0f}°", va="center", fontsize=11)


def _draw_key(figure: Any) -> None:
    """What colours and lines mean."""
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import LinearSegmentedColormap
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    wide, tall = figure.get_size_inches()
    axes = figure.add_axes((LEFT / wide, 0.42 / tall, 2.1 / wide, 0.14 / tall))
    bar = figure.colorbar(ScalarMappable(cmap=LinearSegmentedColormap.from_list("heat", HEAT)), axes,
                          orientation="horizontal", ticks=[0, 0.5, 1])  # fmt: skip
    bar.outline.set(linewidth=0.6)
    bar.set_label("G: how sure the classifier is", fontsize=9, labelpad=1)
    bar.ax.tick_params(labelsize=8, length=2, pad=1)
    lines: list[Any] = [
        Line2D([], [], color=TRUE, lw=1.6, label="the robot really touches the effector (never seen in training)"),
        Line2D([], [], color=PLANNED, lw=1.3, ls="dashed", label="within it planners take the subgoal for true"),
        Patch(facecolor=BLOCKED, label="the robot cannot be here"),
    ]
    place = ((LEFT + 2.4) / wide, 0.36 / tall)
    figure.legend(handles=lines, loc="center left", bbox_to_anchor=place, ncols=2, frameon=False, fontsize=9)


# Which step served which subgoal.


def floor_plan(
    world: PlayroomWorld, states: Floats, served: Sequence[Segment], ended: int, pixels: int = 1000
) -> NDArray[np.uint8]:
    """A trajectory `[T + 1, W]` on the floor, in the colours of the subgoals that its parts serve.

    The ends of the first parts, as many as `ended`, are numbered: there a subgoal came true.
    """
    numbers = [number for number, part in enumerate(served) for _ in range(part.start, part.end)]
    colors = [rgb(number) for number in (numbers[0], *numbers)]
    ends = [(part.end, part.term) for part in served[:ended]]
    return picture(world, states[0], pixels, Trail(states, ends, colors))


def draw_segmentation(
    path: str | Path,
    world: PlayroomWorld,
    states: Floats,
    actions: NDArray[Any],
    found: Segmentation,
    note: str = "",
) -> None:
    """A PNG file, a slide large: the robot's outlines on the floor plan, and a timeline in the same colours.

    Args:
        path: the file.
        world: the room.
        states: `[T + 1, W]`, actions: `[T, 3]` the trajectory.
        found: the alignment.
        note: a line below the task.
    """
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    title = fill(f"“{found.task}”", 82, max_lines=3, placeholder=" …", break_on_hyphens=False)
    served = parts(found)
    drawn = floor_plan(world, states, served, len(found.ends))
    head = 0.75 + 0.31 * (title.count("\n") + 1)
    with saved(path) as part, rc_context({"font.size": 11, **PLAIN}):
        figure = Figure(figsize=(WIDE, TALL), facecolor="white")
        figure.text(EDGES / WIDE, 1 - 0.25 / TALL, title, fontsize=17, fontweight="bold", va="top", color=PAPER)
        below = 1 - (head - 0.16) / TALL
        figure.text(EDGES / WIDE, below, shorten(note, 125, placeholder=" …"), va="bottom", color=FAINT)
        size = TALL - head - 0.3
        plan = figure.add_axes((EDGES / WIDE, 0.3 / TALL, size / WIDE, size / TALL))
        plan.imshow(drawn, interpolation="antialiased")
        plan.set_anchor("NW")
        plan.axis("off")
        names = [f"{number}  {part.term}" for number, part in enumerate(served, 1)]
        left = EDGES + size + 0.5 + 0.095 * max(map(len, names))
        high = min(size - 2.0, 0.85 * len(served))
        bottom = 0.3 + size - high
        bars = figure.add_axes((left / WIDE, bottom / TALL, (WIDE - EDGES - left) / WIDE, high / TALL))
        draw_bars(bars, served, found)
        bars.set_yticks(range(len(served)), names)
        name_steps(bars, world, actions, room=24)
        figure.text((EDGES + size + 0.3) / WIDE, 0.3 / TALL, fill(_FLOOR, 68), va="bottom", fontsize=10, color=FAINT)
        part.write_bytes(png(figure, 150))


def rgb(number: int) -> tuple[int, int, int]:
    """Of a subgoal by its place in the order, as in timelines."""
    text = COLORS[number % len(COLORS)]
    return int(text[1:3], 16), int(text[3:5], 16), int(text[5:7], 16)
