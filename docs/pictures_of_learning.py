"""The paper's figures of learning: what happens to one demonstration, and the costs to go that it is judged by."""

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from textwrap import fill
from typing import Any, NamedTuple

import numpy as np
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import LinearSegmentedColormap, Normalize
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Polygon, Rectangle
from matplotlib.patheffects import Normal, Stroke
from matplotlib.ticker import MultipleLocator

from rsg.core.arrays import Floats
from rsg.core.pictures import COLORS, PAPER, PLAIN, png, save
from rsg.core.random import stream
from rsg.demos import Demonstration, Recipe
from rsg.domain import find, make_demonstrations
from rsg.domains.crafting import CraftingWorld
from rsg.domains.crafting.sprites import sprite
from rsg.domains.crafting.text import read_map
from rsg.domains.playroom import PlayroomWorld, load_layout
from rsg.domains.playroom.drawings import Canvas, draw_effector
from rsg.domains.playroom.pictures import outline
from rsg.language import Machine, parse
from rsg.language.drawing import Places, put
from rsg.planning import Plan, plan
from rsg.search import Logs, Product, Roadmap, SearchSettings, attach, cost_to_go, local_graph, roadmap
from rsg.search.cost_to_go import CostToGo
from rsg.subgoals import RationalSubgoals, learn
from rsg.subgoals.learning import Explained
from rsg.subgoals.objective import Given, forward
from rsg.subgoals.rationality import FRESH, MOVED

IMAGES = Path(__file__).parent / "images"
PALE = LinearSegmentedColormap.from_list("pale", ("#ffffff", "#d6e6f4", "#8fc1e3", "#3d8fc9"))
DEEP = LinearSegmentedColormap.from_list("deep", ("#f7fbff", "#9cc8e6", "#3d8fc9", "#123f66"))
BOTH = LinearSegmentedColormap.from_list("both", (COLORS[1], "#ffffff", COLORS[2]))


WAY = "#222222"


# One demonstration on its way through training.

SHOWN = "mine-wool and craft-wood-plank then craft-bed"
SHORT: dict[str, object] = {"encoder": "sets", "steps": 80, "batch": 16}


class Lesson(NamedTuple):
    """What a short training makes of a demonstration.

    Attributes:
        demo: the demonstration.
        tasks: the machine of its description, then those of the negatives.
        explained: the scores of all, and the gradient.
        togo: the cost-to-go.
        rat: `[T, V, 2]` log Rat of each action, as the first one that serves a node, and as a later one.
    """

    demo: Demonstration
    tasks: list[Machine]
    explained: Explained
    togo: CostToGo
    rat: Floats

    @property
    def path(self) -> Any:
        """Where the states of the demonstration are on the graph."""
        return self.explained.views[0].ground.walk.path

    @property
    def nodes(self) -> list[str]:
        """The nodes of the machine that serve a term, by name."""
        machine = self.tasks[0]
        return [f"$v_{v}$  {machine.names[machine.term_of[v]]}" for v in range(1, machine.nodes - 1)]

    def color(self, node: int) -> str:
        """Of a node: that of its term."""
        return COLORS[self.tasks[0].term_of[node]]


def training() -> None:
    """The training diagram: a description and a trajectory, and all that is computed from them, panel by panel."""
    lesson = _lesson()
    with rc_context({**PLAIN, "font.size": 9}):
        figure = Figure(figsize=PAGE, facecolor="white")
        for panel, (left, low, wide, high), (edge, title) in PANELS:
            axes = figure.add_axes((left / PAGE[0], low / PAGE[1], wide / PAGE[0], high / PAGE[1]))
            panel(axes, lesson)
            words: Any = {"fontsize": 10.5, "fontweight": "bold", "color": PAPER, "va": "bottom"}
            figure.text(edge / PAGE[0], (low + high + 0.1) / PAGE[1], title, **words)
        save(IMAGES / "training.png", png(figure, 100))


def _lesson() -> Lesson:
    crafting = find("crafting")
    with TemporaryDirectory() as folder:
        store = make_demonstrations(Recipe("crafting", "train", per_task=3), Path(folder) / "shown")
        shown = list(store)
        subgoals = learn(shown, crafting, settings=SHORT)
    demo = min((one for one in shown if one.task == SHOWN), key=len)
    method = RationalSubgoals(
        subgoals.classifiers,
        subgoals.settings,
        lambda one: crafting.world(one.setting),
        [one.task for one in shown],
    )
    tasks = method.candidates(demo, stream(0, "pictures", "training"))
    explained = method.explain(demo, tasks)
    view = explained.views[0]
    given = Given(view.ground.graph.arrays, view.ground.walk, tasks[0].among(view.columns))
    _, case, along, _ = forward(*given, view.logs, subgoals.settings.rationality)
    return Lesson(demo, tasks, explained, case.togo, along.rat)


def _draw_machine(axes: Axes, lesson: Lesson) -> None:
    places = Places.of(lesson.tasks[0])
    left, right, low, high = places.sides
    put(axes, places, {v: f"{lesson.color(v)}40" for v in range(1, lesson.tasks[0].nodes - 1)}, size=8)
    axes.text((left + right) / 2, high + 0.45, f"“{lesson.demo.task}”", ha="center", fontsize=9, style="italic")
    axes.set(xlim=(left, right), ylim=(low - 0.7, high + 0.9))
    axes.axis("off")


def _draw_trajectory(axes: Axes, lesson: Lesson) -> None:
    view, states = lesson.explained.views[0], lesson.demo.states
    world: Any = view.ground.world
    axes.imshow(world.render(states[0], 32), extent=(-0.5, world.width - 0.5, world.height + 0.5, -0.5))
    places = states[:, 1::-1].astype(float)
    axes.plot(*places.T, color=WAY, lw=2.5, solid_capstyle="round")
    stays = (np.diff(places, axis=0) == 0).all(axis=1)
    axes.plot(*places[1:][stays].T, "o", color=WAY, ms=13, mec="white")
    for step in np.flatnonzero(stays):
        x, y = places[step + 1]
        axes.text(x, y, str(step + 1), ha="center", va="center", fontsize=8, color="white")
    axes.axis("off")


def _draw_graph(axes: Axes, lesson: Lesson) -> None:
    graph = lesson.explained.views[0].ground.graph
    away = np.array([graph.steps_from(np.array([state])) for state in graph.path])
    away = np.where(away < 0, np.iinfo(away.dtype).max, away)
    nearest, far = away.argmin(axis=0), away.min(axis=0)
    x = nearest.astype(float)
    for step, depth in {*zip(nearest.tolist(), far.tolist(), strict=True)}:
        group = np.flatnonzero((nearest == step) & (far == depth))
        x[group] += (np.arange(len(group)) - (len(group) - 1) / 2) * min(0.16, 0.9 / len(group))
    one, other = graph.edge_source, graph.edge_end
    axes.plot([x[one], x[other]], [far[one], far[other]], color=COLORS[0], alpha=0.12, lw=0.7, zorder=1)
    axes.scatter(x, far, s=9, color=COLORS[0], zorder=2, lw=0)
    axes.plot(x[graph.path], far[graph.path], "o-", color=WAY, lw=2.5, ms=5, zorder=3)
    axes.set(xticks=range(len(graph.path)), yticks=range(far.max() + 1), ylabel="actions from the trajectory")
    axes.set_xlabel("nearest state of the trajectory")


def _draw_goals(axes: Axes, lesson: Lesson) -> None:
    names, logs = lesson.tasks[0].names, lesson.explained.views[0].logs
    rows = [row for column in range(len(names)) for row in (logs.g[lesson.path, column], logs.i[lesson.path, column])]
    _grid(axes, np.array(rows), [f"log {kind}  {name}" for name in names for kind in "GI"], PALE, ".1f")
    axes.set_xlabel("state")


def _draw_costs(axes: Axes, lesson: Lesson) -> None:
    _grid(axes, lesson.togo.cost[lesson.path, 1:-1].T, lesson.nodes, DEEP, ".1f")
    axes.set_xlabel("state")


def _draw_rationality(axes: Axes, lesson: Lesson) -> None:
    rat = np.exp(lesson.rat[:, 1:-1, MOVED])
    rat[0] = np.exp(lesson.rat[0, 1:-1, FRESH])  # at first, no node can be left
    _grid(axes, rat.T, lesson.nodes, PALE, ".2f", shift=0.5)
    axes.set_xlabel("action, between two states")


def _draw_alignment(axes: Axes, lesson: Lesson) -> None:
    acts = lesson.explained.scores[0].acts
    for node in range(1, acts.shape[1] - 1):
        steps = np.flatnonzero(acts[:, node])
        if len(steps):
            color, end = lesson.color(node), steps[-1] + 1
            axes.barh(node - 1, len(steps), left=steps[0], height=0.62, color=color)
            axes.plot(end, node - 1, "D", color="white", mec=color, mew=2.2, ms=8, clip_on=False, zorder=3)
    axes.set(xlim=(-0.5, len(acts) + 0.5), ylim=(acts.shape[1] - 2.5, -0.5), xticks=range(len(acts) + 1))
    axes.set_yticks(range(acts.shape[1] - 2), lesson.nodes)
    axes.tick_params(length=0)
    axes.grid(axis="x", color="#e4e4e4")
    axes.set_axisbelow(True)
    axes.set_xlabel("state  (◇ the machine goes on)")


def _draw_scores(axes: Axes, lesson: Lesson) -> None:
    values = [score.value for score in lesson.explained.scores]
    colors = [COLORS[0], *["#9aa3ad"] * (len(values) - 1)]
    axes.hlines(range(len(values)), 1.1 * min(values), values, color=colors, lw=2)
    axes.scatter(values, range(len(values)), s=60, color=colors, zorder=3)
    for row, value in enumerate(values):
        axes.annotate(f"{value:.1f}", (value, row), (8, 0), textcoords="offset points", va="center", fontsize=8)
    names = [fill(str(machine.task), 32, break_on_hyphens=False) for machine in lesson.tasks]
    axes.set_yticks(range(len(values)), names, fontsize=7.5)
    axes.tick_params(axis="y", length=0)
    axes.set(ylim=(len(values) - 0.5, -0.5), xlim=(1.1 * min(values), max(values) + 2.5))
    share = np.exp(lesson.explained.compared)
    axes.xaxis.set_major_locator(MultipleLocator(4))
    axes.set_xlabel(f"score; softmax: {share:.0%} for its own description")


def _draw_gradient(axes: Axes, lesson: Lesson) -> None:
    view, names = lesson.explained.views[0], lesson.tasks[0].names
    slopes = lesson.explained.slopes[view][lesson.path, : len(names)]
    slope = (slopes[..., 0] - slopes[..., 1]).T  # one classifier: the log-odds of I are minus those of G
    _grid(axes, slope, list(names), BOTH, "+.2f", most=float(np.abs(slope).max()))
    axes.set_xlabel("state  (green: G should rise, red: fall)")


def _grid(
    axes: Axes, values: Floats, names: Sequence[str], colors: Any, form: str, shift: float = 0.0, most: float = 0.0
) -> None:
    """Numbers in coloured cells, a row for each name; colours from least to largest, or around 0 up to `most`."""
    low, high = (-most, most) if most else (values.min(), values.max())
    rows, columns = values.shape
    sides = (shift - 0.5, columns - 0.5 + shift, rows - 0.5, -0.5)
    axes.imshow(values, cmap=colors, vmin=low, vmax=high, aspect="auto", extent=sides)
    for (row, column), value in np.ndenumerate(values):
        dark = (colors is DEEP and value > low + 0.6 * (high - low)) or (most > 0 and abs(value) > 0.6 * most)
        text = f"{value:{form}}".replace("-", "−").replace("0.", ".")
        text = text if text.strip("+−.0") else "0"
        look: Any = {"ha": "center", "va": "center", "fontsize": 7.5, "color": "white" if dark else PAPER}
        axes.text(column + shift, row, text, **look)
    axes.set_yticks(range(rows), names)
    axes.set_xticks(range(columns + (shift > 0)))
    axes.set_xlim(-0.5, columns - 0.5 + 2 * shift)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)


PAGE = (14.4, 9.3)  # inches
PANELS = (  # how each is drawn, where (left, low, wide, high), and what stands above it, from where
    (_draw_machine, (0.1, 6.6, 7.2, 2.2), (0.1, "1  the description becomes a machine")),
    (_draw_trajectory, (7.55, 6.6, 2.2, 2.2), (7.55, "2  the trajectory (dots: toggle)")),
    (_draw_graph, (11.0, 6.6, 3.2, 2.2), (10.5, "3  the graph of states around it")),
    (_draw_goals, (1.7, 3.5, 2.9, 2.2), (0.1, "4  what classifiers say of each state: log G, log I")),
    (_draw_costs, (6.3, 3.5, 2.9, 2.2), (4.95, "5  cost-to-go J(s, v), eq. 4")),
    (_draw_rationality, (11.1, 3.5, 3.1, 2.2), (9.7, "6  rationality of each action, Rat(s, v, a), eq. 3")),
    (_draw_alignment, (1.7, 0.5, 2.9, 2.2), (0.1, "7  alignment: which node each action serves")),
    (_draw_scores, (6.95, 0.5, 2.25, 2.2), (4.95, "8  score, against negatives, eq. 2 and 5")),
    (_draw_gradient, (11.1, 0.5, 3.1, 2.2), (9.7, "9  gradient with respect to the log-odds of G")),
)


# The value function at each node of the machine.

ISLAND = "capacity: 3\nmap:\n@..#..\n...#.a\n.#.#..\n.#....\n.####.\nT.....\n"
GOAL, BLOCKED, WALL = "#d1495b", "#e4e0d8", "#5c5650"
MANY = 1000  # actions: further than anything on a small map
FINE = 0.25  # from one place of a room to the next
COSTS = DEEP.with_extremes(bad=BLOCKED)


def values_crafting() -> None:
    """J at each place of the agent and each node of a machine, with the node's goal and a rational trajectory."""
    world, state = read_map(ISLAND)
    machine, crafting = Machine.of(parse("grab-axe then mine-wood")), find("crafting")
    graph = local_graph(world, state[None], MANY)
    togo = cost_to_go(graph, machine, Logs(*crafting.true_goals(world, machine.names, state)(graph.states)))
    made = plan(world, state, machine.task, crafting.true_goals, SearchSettings(Product("optimal")))
    number = {row.tobytes(): place for place, row in enumerate(graph.states)}
    costs = []
    for node, part in enumerate(made.parts, 1):
        rows = np.repeat(made.states[part.start][None], world.height * world.width, axis=0)
        rows[:, :2] = list(np.ndindex(world.height, world.width))
        there = [number.get(row.tobytes(), -1) for row in rows]
        costs.append(np.where(np.array(there) < 0, np.nan, togo.cost[there, node]).reshape(world.height, -1))
    figure, panels, look = _side_by_side(made, costs, (8.4, 4.3))
    for axes, part, cost in zip(panels, made.parts, costs, strict=True):
        axes.imshow(cost, **look)
        for place, value in np.ndenumerate(cost):
            _draw_cell(axes, world, made.states[part.start], place, value, look["vmax"])
        y, x = made.states[part.start][:2].astype(int)
        axes.imshow(sprite("agent", 48), extent=(x - 0.5, x + 0.5, y + 0.5, y - 0.5), zorder=3)
        goal = made.states[part.end][1::-1].astype(float) - 0.5
        axes.add_patch(Rectangle(tuple(goal), 1, 1, fc="none", ec=GOAL, lw=3, zorder=5))
        _draw_dots(axes, made.states[part.start : part.end + 1, 1::-1].astype(float))
    save(IMAGES / "values-crafting.png", png(figure, 100))


def _draw_cell(axes: Axes, world: CraftingWorld, state: Any, place: tuple[int, ...], cost: float, most: float) -> None:
    """What lies at a place of a map, and what it costs from there."""
    y, x = place
    name = world.rules.names[world.cells(state)[place]]
    if name != "floor":
        axes.imshow(sprite(name, 48), extent=(x - 0.5, x + 0.5, y + 0.5, y - 0.5), zorder=2)
    if np.isfinite(cost):
        look: Any = {"color": "white" if cost > 0.55 * most and name == "floor" else PAPER, "fontsize": 8, "zorder": 4}
        if name != "floor":
            look["path_effects"] = [Stroke(linewidth=2.5, foreground="white"), Normal()]
        axes.text(x + 0.44, y + 0.44, f"{cost:.1f}", ha="right", va="bottom", **look)


def values_playroom() -> None:
    """J at each place of the robot, turned one way, and each node of a machine; where its subgoal holds; a plan."""
    playroom, world = find("playroom"), PlayroomWorld(load_layout("paper"))
    state = world.start(stream(3, "pictures", "values"))
    state[2] = 0.0
    machine = Machine.of(parse("turn-on-music then ring-bell then play-with-ball"))
    made = plan(world, state, machine.task, playroom.true_goals, SearchSettings(Roadmap("optimal")))
    xs, ys = (np.arange(FINE / 2, side, FINE) for side in world.layout.size)
    rows = np.repeat(state[None], len(xs) * len(ys), axis=0)
    rows[:, :2] = np.stack(np.meshgrid(xs, ys), axis=-1).reshape(-1, 2)
    free = world.free(rows)
    graph = attach(world, roadmap(world, state), rows[free], trajectory=False)  # the places come first
    log_g, log_i = playroom.true_goals(world, machine.names, state)(graph.states)
    togo = cost_to_go(graph, machine, Logs(log_g, log_i))
    costs, holds = np.full((2, len(machine.names), len(rows)), np.nan)
    costs[:, free], holds[:, free] = togo.cost[graph.path, 1:-1].T, log_g[graph.path].T == 0.0
    shape = (len(machine.names), len(ys), len(xs))
    figure, panels, look = _side_by_side(made, costs.reshape(shape), (12.6, 4.3))
    sides = (0, world.layout.size[0], 0, world.layout.size[1])
    for axes, part, cost, there in zip(panels, made.parts, costs.reshape(shape), holds.reshape(shape), strict=True):
        axes.imshow(cost, extent=sides, origin="lower", **look)
        axes.contour(xs, ys, there, [0.5], colors=GOAL, linewidths=2.5, zorder=5)
        _draw_room(axes, world, state)
        _draw_dots(axes, made.states[part.start : part.end + 1, :2])
        for pose in made.states[[part.start, part.end]]:
            for body in outline(world, pose):
                axes.add_patch(Polygon(body, closed=True, fc="none", ec=WAY, lw=1, zorder=6))
        axes.set(xlim=sides[:2], ylim=sides[2:])
    save(IMAGES / "values-playroom.png", png(figure, 100))


def _draw_room(axes: Axes, world: PlayroomWorld, state: Floats) -> None:
    """Walls and effectors."""
    for wall in world.layout.walls:
        axes.add_patch(Polygon(wall, closed=True, fc=WALL, lw=0, zorder=2))
    for effector, place in zip(world.layout.effectors, state[3:].reshape(-1, 2), strict=True):
        low, high = np.min(effector.shape, axis=0), np.max(effector.shape, axis=0)
        canvas = Canvas(low, high, 64, (255, 255, 255))
        draw_effector(canvas, effector.name, np.zeros(2), effector.shape)
        (left, bottom), (right, top) = low + place, high + place
        axes.imshow(canvas.picture(), extent=(left, right, bottom, top), zorder=3)


def _side_by_side(made: Plan, costs: Sequence[Floats] | Floats, size: tuple[float, float]) -> tuple[Figure, Any, Any]:
    """A panel for each part of a plan, named after the node that it serves, the colours of all, and their scale."""
    figure = Figure(figsize=size, facecolor="white", layout="constrained")
    panels = figure.subplots(1, len(made.parts))
    most = max(float(cost[np.isfinite(cost)].max()) for cost in costs)
    look: dict[str, Any] = {"cmap": COSTS, "vmin": 0.0, "vmax": most}
    for number, (axes, part) in enumerate(zip(panels, made.parts, strict=True), 1):
        axes.set_title(f"$v_{number}$  {part.term}", fontsize=11, color=PAPER)
        axes.set(xticks=[], yticks=[])
        axes.spines[:].set(color=WALL, linewidth=1.2)
    scale = ScalarMappable(Normalize(0.0, most), COSTS)
    bar = figure.colorbar(scale, ax=panels, aspect=28, pad=0.01)
    bar.set_label("J(s, v): cost to the end of the task", fontsize=9)
    bar.outline.set_linewidth(0.6)
    handles: list[Any] = [
        Patch(fc="none", ec=GOAL, lw=2.5, label="where the node's subgoal comes true"),
        Line2D([], [], color=WAY, ls=":", marker="o", ms=4, lw=2, label="a rational trajectory"),
        Patch(fc=BLOCKED, label="the robot cannot be here"),
    ]
    shown = handles if made.states.dtype.kind == "f" else handles[:2]  # on a map it is seen what is in the way
    figure.legend(handles=shown, loc="outside lower center", ncols=3, frameon=False, fontsize=9)
    return figure, panels, look


def _draw_dots(axes: Axes, places: Floats) -> None:
    """A trajectory: its states, and dots between them."""
    seam = [Stroke(linewidth=4, foreground="white", alpha=0.8), Normal()]
    axes.plot(*places.T, ":", color=WAY, lw=2, marker="o", ms=4, zorder=6, path_effects=seam)
