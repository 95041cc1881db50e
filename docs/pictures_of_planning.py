"""The paper's figures of the machine and of its search, drawn from what the package builds and visits."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import FancyBboxPatch, Patch

from rsg.core.arrays import Floats
from rsg.core.files import replacing
from rsg.core.pictures import COLORS, PAPER, png, save
from rsg.domain import find
from rsg.domains.crafting import CraftingWorld
from rsg.domains.crafting.text import read_map
from rsg.language import Machine, parse
from rsg.language.drawing import Places, put
from rsg.search import Product
from rsg.search.product.search import ProductSearch

IMAGES = Path(__file__).parent / "images"
FAINT = "#666666"


# How machines are built.

SMALL = 0.62  # of the size that a machine is drawn with by itself
CONSTRUCTIONS = (  # where each is drawn: the left side and the middle, in inches of a machine by itself
    ("a", "a single subgoal", (0.0, 1.5)),
    ("a or b", "one of two: side by side", (0.0, -1.1)),
    ("a then b", "one after the other", (4.9, 1.5)),
    ("a and b", "both, in any order", (4.9, -1.1)),
    ("a and b and c", "all three, in any order", (11.2, -0.2)),
)


def constructions() -> None:
    """The machine of a single subgoal, of `then`, `or` and `and`, and of `and` with three parts."""
    width, low, high = 18.6, -2.6, 3.0
    with rc_context({"svg.hashsalt": "rsg"}):
        figure = Figure(figsize=(width * SMALL, (high - low) * SMALL), facecolor="white")
        axes = figure.add_axes((0, 0, 1, 1))
        axes.set(xlim=(-0.4, width - 0.4), ylim=(low, high))
        axes.axis("off")
        for text, means, place in CONSTRUCTIONS:
            _construction(axes, text, means, place)
        with replacing(IMAGES / "constructions.svg") as part:
            figure.savefig(part, format="svg", metadata={"Date": None})


def _construction(axes: Axes, text: str, means: str, place: tuple[float, float]) -> None:
    """One machine, with what it is for and how large it is above it."""
    machine = Machine.of(parse(text))
    places = Places.of(machine)
    left, right, low, high = places.sides
    dx, dy = place[0] - left, place[1] - (low + high) / 2
    routes = [(a, [(u + dx, v + dy) for u, v in points], b) for a, points, b in places.routes]
    put(axes, places._replace(x=places.x + dx, y=places.y + dy, routes=routes), size=10)
    orders = machine.count_instructions()
    size = f"{machine.nodes - 2} node{'s' * (machine.nodes > 3)}, {orders} way{'s' * (orders > 1)}"
    middle, top = place[0] + (right - left) / 2, place[1] + (high - low) / 2
    axes.text(middle, top + 0.5, text, ha="center", va="center", fontsize=11, fontweight="bold", color=PAPER)
    axes.text(middle, top + 0.15, f"{means} ({size})", ha="center", va="center", fontsize=8.5, color=FAINT)


# The running example of the search.

TASK = "(mine-wood or mine-coal) then mine-gold-ore"
VALLEY = "capacity: 4\ninventory: axe, pickaxe\nmap:\n.T..\n.@..\n..CG\n"
ACTION, TRANSITION, HOLDS, PLAN = COLORS[0], "#e3a008", "#2f9e44", COLORS[1]
WIDE = 0.66  # of a state; two states that are an action apart are drawn 1 apart
FIRST, LAST = -1.25, 8.6  # where v_0 and v_T are, in actions
ROWS = {1: (1.0, 0.0), 2: (4.4, 5.4)}  # at the first nodes: of states that lead on, and of others
BRANCH = {1: 2.2, 2: 3.2}  # at v_3, after each of them
BANDS = {  # where a node is drawn: from, to, the first and the last row; and where its name stands
    0: (FIRST - 0.5, FIRST + 0.5, 2.2, 3.2, FIRST, 1.95),
    1: (-0.5, 5.3, 0.0, 1.0, 3.9, 0.45),
    2: (-0.5, 5.3, 4.4, 5.4, 4.3, 4.85),
    3: (-0.05, 7.5, 2.2, 3.2, 0.72, 2.6),
    4: (LAST - 0.5, LAST + 0.5, 2.2, 3.2, LAST, 1.95),
}


class Label(NamedTuple):
    """A state at a node of the machine that the search visited, with its cost and the action that led there."""

    state: int
    node: int
    cost: float
    action: str = ""


class Example(NamedTuple):
    """A search that is over, and what it is drawn on."""

    axes: Axes
    world: CraftingWorld
    search: ProductSearch

    @property
    def labels(self) -> Any:
        """What is remembered of all states that are known, `[S, V]`."""
        return self.search.memory.labels[: self.search.memory.run["labelled"][0]]

    def holds(self, label: Label) -> bool:
        """Whether the subgoal of its node holds in its state."""
        term = self.search.machine.term_of[label.node]
        return bool(term >= 0 and self.search.memory.known.value[label.state, term, 0] == 0.0)

    def moved(self, state: int, node: int) -> Label:
        """A state as an action has led to it."""
        label = self.labels[state, node]
        return Label(state, node, float(label["moved"]), self.world.actions[label["by"]])


def running() -> None:
    """The running example of FSM-A*: states that a real search visited at each node, their costs, and the plan."""
    world, state = read_map(VALLEY)
    machine = Machine.of(parse(TASK))
    goals = find("crafting").true_goals(world, machine.names, state)
    search = ProductSearch(world, state, machine, goals, Product("anytime"), seed=5)
    costs = [search.run().cost]
    while (found := search.run()).cost < costs[-1]:
        costs.append(found.cost)
    figure = Figure(figsize=(11.9, 7.3), facecolor="white")
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(FIRST - 0.6, LAST + 0.6), ylim=(6.4, -0.5))
    axes.axis("off")
    example = Example(axes, world, search)
    _draw_bands(example)
    best, *others = sorted((_way(example, end) for end in _ends(example)), key=lambda way: way[-1].cost)
    _mark_plan(axes, best)
    for way in (best, *others):
        _draw_way(example, way)
        _draw_others(example, way)
    _draw_end(example, best, "the cheapest end:\nits plan is traced back")
    for way in others:
        _draw_end(example, way, "found first" if np.isclose(way[-1].cost, costs[0]) else "found on the way")
    _draw_key(example)
    save(IMAGES / "running-example.png", png(figure, 130))


def _ends(example: Example) -> list[int]:
    """The states in which the last node can be left for v_T."""
    last = example.search.machine.nodes - 2
    reached = np.flatnonzero(np.isfinite(example.labels["moved"][:, last]))
    return [state for state in reached.tolist() if example.holds(example.moved(state, last))]


def _way(example: Example, state: int) -> list[Label]:
    """How the search came to a state at the last node, traced back to v_0 and turned around."""
    node, moved, way = example.search.machine.nodes - 2, True, list[Label]()
    while node != 0:
        label = example.labels[state, node]
        if moved:
            way.append(example.moved(state, node))
            state, moved = int(label["came_from"]), bool(label["was_moved"])
        else:
            way.append(Label(state, node, float(label["fresh"])))
            node, moved = int(label["entered_from"]), True
    return [Label(state, 0, 0.0), *way[::-1]]


def _places(way: Sequence[Label]) -> list[tuple[float, float]]:
    """Where the labels of a way are drawn: from left to right by their costs."""
    branch = next(label.node for label in way if label.node > 0)
    rows = {0: 2.7, branch: ROWS[branch][0], 3: BRANCH[branch]}
    return [(FIRST if label.node == 0 else label.cost * 10, rows[label.node]) for label in way]


def _draw_bands(example: Example) -> None:
    """The nodes of the machine, each with its name and how many states were visited there."""
    axes, machine, labels = example.axes, example.search.machine, example.labels
    visited = np.isfinite(np.minimum(labels["fresh"], labels["moved"])).sum(axis=0)
    for node, (left, right, top, low, x, y) in BANDS.items():
        outer = node in (0, machine.nodes - 1)
        box: Any = {"boxstyle": "round,pad=0,rounding_size=0.12", "ec": "none", "zorder": 0}
        corner, height = (left, top - 0.44), low - top + 1.02
        axes.add_patch(FancyBboxPatch(corner, right - left, height, fc="#fdf1dc" if outer else "#edf3fb", **box))
        name = "$v_T$" if node == machine.nodes - 1 else f"$v_{node}$"
        words: Any = {"ha": "center", "va": "center", "color": PAPER}
        axes.text(x, y, name if outer else f"{name}  {machine.names[machine.term_of[node]]}", fontsize=12, **words)
        if not outer:
            axes.text(x, y + 0.24, f"{visited[node]} states visited", **{**words, "color": FAINT}, fontsize=9)


def _draw_way(example: Example, way: Sequence[Label]) -> None:
    """The states of a way, and what leads from each to the next."""
    places = _places(way)
    for label, place in zip(way, places, strict=True):
        _draw_state(example, label, place)
    for before, label, start, end in zip(way, way[1:], places, places[1:], strict=False):
        _arrow(example.axes, start, end, ACTION if before.node == label.node else TRANSITION)
        if before.node == label.node:
            _name(example.axes, start, end, label.action)


def _draw_others(example: Example, way: Sequence[Label]) -> None:
    """At the first node, some states that were visited too: for each cost the first that leads no further here."""
    node, labels, (near, far) = way[1].node, example.labels, ROWS[way[1].node]
    drawn = {label.state for label in way}
    at = {label.state: (label.cost * 10, float(near)) for label in way if label.node == node}
    for cost in sorted(label.cost for label in way if label.node == node and label.cost > 0):
        there = np.flatnonzero(np.isclose(labels["moved"][:, node], cost))
        new = [s for s in there.tolist() if s not in drawn and labels["came_from"][s, node] in at]
        if new:
            other, start = example.moved(new[0], node), at[labels["came_from"][new[0], node]]
            at[new[0]] = place = (cost * 10, float(far))
            _draw_state(example, other, place)
            _arrow(example.axes, start, place, ACTION)
            _name(example.axes, start, place, other.action)


def _draw_state(example: Example, label: Label, place: tuple[float, float]) -> None:
    """A state as its map with the inventory, framed if the subgoal holds, and what it costs to be there."""
    (x, y), half, holds = place, WIDE / 2, example.holds(label)
    picture = example.world.render(example.search.explored.rows(np.array([label.state]))[0], 32)
    example.axes.imshow(picture, extent=(x - half, x + half, y + half, y - half), zorder=3, aspect="auto")
    example.axes.plot(
        x + half * np.array([-1, 1, 1, -1, -1]), y + half * np.array([-1, -1, 1, 1, -1]),
        color=HOLDS if holds else "#8a8577", lw=3.2 if holds else 0.8, zorder=4, solid_joinstyle="miter",
    )  # fmt: skip
    example.axes.text(x - half, y + half + 0.11, f"{label.cost:.1f}", va="center", fontsize=9, zorder=5)


def _draw_end(example: Example, way: Sequence[Label], told: str) -> None:
    """The last state of a way once more, at v_T."""
    end = way[-1]._replace(node=example.search.machine.nodes - 1)
    x, y = _places(way)[-1]
    _draw_state(example, end, (LAST, y))
    _arrow(example.axes, (x, y), (LAST, y), TRANSITION)
    words: Any = {"ha": "right", "va": "top", "fontsize": 9, "color": PAPER, "linespacing": 1.3}
    example.axes.text(LAST - 0.55, y + 0.14, told, **words)


def _mark_plan(axes: Axes, way: Sequence[Label]) -> None:
    """A broad line below the way of the plan."""
    first, second, *rest = map(np.array, _places(way))
    along = _leaving(first, second)
    places = [first, first + along, second - along, second, *rest, (LAST, rest[-1][1])]
    axes.plot(*np.array(places).T, color=PLAN, lw=16, alpha=0.4, zorder=1, solid_joinstyle="round")


def _leaving(start: Sequence[float] | Floats, end: Sequence[float] | Floats) -> Floats:
    """From the middle of a state to where an arrow leaves it; one from v_0 leaves and arrives sideways."""
    step = np.array(end) - np.array(start)
    if step[0] > 1.1:
        step[1] = 0.0
    return np.asarray(step / np.abs(step).max() * (WIDE / 2 + 0.03))


def _arrow(axes: Axes, start: tuple[float, float], end: tuple[float, float], color: str) -> None:
    """From the side of one state to that of another."""
    one, other = np.array(start), np.array(end)
    along = _leaving(start, end)
    look: Any = {"arrowstyle": "-|>", "color": color, "lw": 2.2, "mutation_scale": 13, "shrinkA": 0, "shrinkB": 0}
    axes.annotate("", tuple(other - along), tuple(one + along), arrowprops=look, zorder=6)


def _name(axes: Axes, start: tuple[float, float], end: tuple[float, float], action: str) -> None:
    """What an action is called, above the middle of its arrow."""
    x, y = (np.array(start) + np.array(end)) / 2
    axes.text(x, y - 0.1, action, ha="center", va="bottom", fontsize=7, color=ACTION, zorder=7)


def _draw_key(example: Example) -> None:
    """What arrows and frames mean."""
    handles = [
        Line2D([], [], color=ACTION, lw=2.2, label="primitive action, 0.1 each"),
        Line2D([], [], color=TRANSITION, lw=2.2, label="transition of the machine, at no cost"),
        Patch(fc="none", ec=HOLDS, lw=2.5, label="the node's subgoal holds"),
        Line2D([], [], color=PLAN, lw=10, alpha=0.4, label="the plan"),
    ]
    example.axes.legend(handles=handles, loc="lower center", ncols=4, frameon=False, fontsize=10)
