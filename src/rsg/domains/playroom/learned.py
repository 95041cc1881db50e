"""Pictures of learning and planning in Playroom: where subgoals hold, which step served which, trees and roadmaps."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import degrees
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Polygon

from rsg.core.arrays import Bools, Bytes, Floats
from rsg.core.errors import RsgError
from rsg.core.pictures import COLORS, png
from rsg.domain import Illustration
from rsg.domains.playroom import PlayroomWorld, truth
from rsg.domains.playroom.drawings import Canvas, draw_effector
from rsg.domains.playroom.pictures import BODY, NOSE, Trail, outline, picture
from rsg.domains.playroom.pictures import EDGE as OUTLINE
from rsg.domains.playroom.truth import effectors_of
from rsg.language import Machine
from rsg.planning import Part, Plan
from rsg.search import Goals, SearchSettings, Trees, TreeSearch, roadmap
from rsg.subgoals import Classifiers

ANGLES = tuple(np.pi * np.array([0, 0.25, 0.5, 0.75]))
"""The orientations that close-ups show."""
TURNS = 12  # orientations of which the best one counts in the view of the whole room
FINE, CLOSE = 80, 60  # places along a side of the room, and of a close-up
AROUND = 3.0  # from the middle of a close-up to its side

TRUE, PLANNED, BLOCKED, WALL = "#d1495b", "#1b1b1b", "#e4e0d8", "#5c5650"
HEAT = ("#ffffff", "#d6e6f4", "#8fc1e3", "#3d8fc9")
COLORS_OF_G = LinearSegmentedColormap.from_list("heat", HEAT).with_extremes(bad=BLOCKED)
SIDE, LEFT, ABOVE_AND_BELOW = 2.2, 1.3, 1.6  # inches of a panel, and around all of them
HEAT_TEXT = (
    "In a random start, how sure each classifier G is that its subgoal holds, for each place of the robot: in the "
    "whole room, and around the effector for several orientations. Planners go where it is surest: within the "
    "dashed line it is at most twice as likely to be false as at the surest place that can be reached."
)


# Where subgoals hold.


@dataclass(frozen=True, eq=False)
class Heat:
    """What one classifier says of many places of the robot."""

    xs: Floats  # `[X]` the places
    ys: Floats  # `[Y]`
    response: Floats  # `[Y, X]` G there
    sure: Floats  # `[Y, X]` log-odds of G less its margin: planners take the subgoal for true from 0 on
    holds: Bools  # `[Y, X]` whether the subgoal really holds there
    free: Bools  # `[Y, X]` whether the robot can be there


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
    odds = subgoals.evaluate(world, states, subgoals.numbers(terms))[..., 0]
    holds = truth(world, states, terms) & free[:, None]
    wanted = subgoals.margins_at(world, subgoals.numbers(terms), state)
    best = np.where(free[:, None], odds, -np.inf).reshape(*x.shape, -1).max(axis=2)
    with np.errstate(over="ignore"):
        response = 1 / (1 + np.exp(-best))
    sure, seen = best - wanted, np.asarray(free.reshape(x.shape).any(axis=2))
    really = np.asarray(holds.reshape(*x.shape, -1).any(axis=2))
    return [Heat(xs, ys, response[..., k], sure[..., k], really[..., k], seen) for k in range(len(terms))]


def heat_picture(subgoals: Classifiers, world: PlayroomWorld, state: Floats, dpi: int = 110) -> bytes:
    """A PNG with a row for each term: the whole room, then close-ups of its effector for some orientations.

    The effectors are where they are in the state `[W]`; where the robot is does not matter.
    """
    return png(heat_figure(subgoals, world, state), dpi)


def heat_illustration(subgoals: Classifiers, world: PlayroomWorld, state: Floats) -> Illustration:
    """The same for a report."""
    return Illustration("Where subgoals hold", HEAT_TEXT, [("", heat_picture(subgoals, world, state, 85))])


def heat_figure(subgoals: Classifiers, world: PlayroomWorld, state: Floats) -> Figure:
    """What `heat_picture` draws, as a figure."""
    state = world.checked(np.asarray(state)[None])[0]
    terms = [term for term in world.layout.terms if term in subgoals.terms]
    if not terms:
        raise RsgError(f"these subgoals are of another room; they know {', '.join(subgoals.terms)}")
    ratios = [world.layout.size[0] / world.layout.size[1], *[1.0] * len(ANGLES)]
    size = (LEFT + SIDE * sum(ratios), ABOVE_AND_BELOW + SIDE * len(terms))
    figure = Figure(size, facecolor="white", layout=ConstrainedLayoutEngine(w_pad=0.03, h_pad=0.03))
    panels = figure.subplots(len(terms), len(ratios), width_ratios=ratios, squeeze=False)
    icons = [_icon(world, number) for number in range(len(world.layout.effectors))]
    turns = np.arange(TURNS) * 2 * np.pi / TURNS
    whole = heats(subgoals, world, state, terms, (*_room_places(world), turns))
    for row, term, heat in zip(panels, terms, whole, strict=True):
        row[0].set_ylabel(term, rotation=0, ha="right", va="center", fontsize=11)
        for axes, one in zip(row, [heat, *_close_ups(subgoals, world, state, term)], strict=True):
            _draw_places(axes, one, world, state, icons)
    panels[0, 0].set_title(f"the whole room\n(best of {TURNS} orientations)", fontsize=10)
    for axes, angle in zip(panels[0, 1:], ANGLES, strict=True):
        _draw_robot(axes, world, angle)
    _draw_key(figure, panels[:, 0])
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


def _draw_places(axes: Axes, heat: Heat, world: PlayroomWorld, state: Floats, icons: Sequence[Any]) -> None:
    """One panel: colours for G, grey where the robot cannot be, walls and effectors, and both boundaries."""
    half = (heat.xs[1] - heat.xs[0]) / 2
    sides = (heat.xs[0] - half, heat.xs[-1] + half, heat.ys[0] - half, heat.ys[-1] + half)
    shown = np.where(heat.free, heat.response, np.nan)
    axes.imshow(shown, extent=sides, origin="lower", cmap=COLORS_OF_G, vmin=0, vmax=1, interpolation="nearest")
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


def _icon(world: PlayroomWorld, number: int) -> Bytes:
    """The drawing of an effector, as large as it is."""
    effector = world.layout.effectors[number]
    corners = np.array(effector.shape)
    canvas = Canvas(corners.min(axis=0), corners.max(axis=0), 64, (255, 255, 255))
    draw_effector(canvas, effector.name, np.zeros(2), effector.shape)
    return canvas.picture()


def _draw_robot(axes: Axes, world: PlayroomWorld, angle: float) -> None:
    """Above a close-up, the robot as it is turned there."""
    radius = max(float(np.hypot(*np.array(part).T).max()) for part in world.layout.robot)
    axes.set_title(f"{degrees(angle):.0f}°", fontsize=11, loc="left", x=0.54, y=1.1)
    robot = axes.inset_axes((0.18, 1.02, 0.3, 0.3))
    for number, part in enumerate(outline(world, np.array([0, 0, angle]))):
        robot.fill(*part.T, facecolor=np.array(NOSE if number else BODY) / 255, edgecolor=np.array(OUTLINE) / 255)
    robot.set(xlim=(-radius, radius), ylim=(-radius, radius), aspect="equal")
    robot.axis("off")


def _draw_key(figure: Figure, column: Any) -> None:
    """What colours and lines mean: below a column of panels, and at the bottom."""
    scale = ScalarMappable(cmap=COLORS_OF_G)
    bar = figure.colorbar(scale, ax=column, location="bottom", ticks=[0, 0.5, 1], aspect=16, pad=0.01)
    bar.outline.set(linewidth=0.6)
    bar.set_label("G: how sure the classifier is", fontsize=9)
    bar.ax.tick_params(labelsize=8, length=2, pad=1)
    lines: list[Any] = [
        Line2D([], [], color=TRUE, lw=1.6, label="the robot really touches the effector (never seen in training)"),
        Line2D([], [], color=PLANNED, lw=1.3, ls="dashed", label="within it planners take the subgoal for true"),
        Patch(facecolor=BLOCKED, label="the robot cannot be here"),
    ]
    figure.legend(handles=lines, loc="outside lower right", ncols=3, frameon=False, fontsize=9)


def floor_plan(world: PlayroomWorld, states: Floats, served: Sequence[Part], ended: int, pixels: int = 1000) -> Bytes:
    """A trajectory `[T + 1, W]` on the floor, in the colours of the subgoals that its parts serve.

    The ends of the first parts, as many as `ended`, are numbered: there a subgoal came true.
    """
    numbers = [number for number, part in enumerate(served) for _ in range(part.start, part.end)]
    colors = [rgb(number) for number in (numbers[0], *numbers)]
    ends = [(part.end, part.term) for part in served[:ended]]
    return picture(world, states[0], pixels, Trail(states, ends, colors))


def rgb(number: int) -> tuple[int, int, int]:
    """Of a subgoal by its place in the order, as in timelines."""
    text = COLORS[number % len(COLORS)]
    return int(text[1:3], 16), int(text[3:5], 16), int(text[5:7], 16)


def plan_picture(world: PlayroomWorld, plan: Plan, goals: Goals, settings: SearchSettings, pixels: int) -> Bytes:
    """The robot's outlines along the way, the end of each subgoal, and the tree that the planner `rrt` grew."""
    tree = None
    if isinstance(settings.planner, Trees):  # the same search once more: it ends with the same tree
        search = TreeSearch(world, plan.states[0], Machine.of(plan.task), goals, settings.planner, settings.seed)
        search.run(settings.limits())
        tree = search.tree()
    trail = Trail(plan.states, [(part.end, part.term) for part in plan.parts])
    return picture(world, plan.states[0], pixels, trail, tree)


def roadmap_picture(world: PlayroomWorld, state: Floats, pixels: int) -> Bytes:
    """The roadmap on the floor of a room."""
    roads = roadmap(world, state)
    one = np.repeat(np.arange(len(roads.states)), np.diff(roads.edge_start))
    links = np.stack([one, roads.edge_end], axis=1)
    return picture(world, state, pixels, links=(roads.states, links[links[:, 0] < links[:, 1]]))
