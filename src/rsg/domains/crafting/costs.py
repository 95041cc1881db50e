"""The paper's value-function figure: what is left to pay from each cell, with learned subgoals."""

from dataclasses import dataclass

import numpy as np
from matplotlib.colors import LinearSegmentedColormap, Normalize
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.patheffects import withStroke

from rsg.core.arrays import Array, Floats
from rsg.core.pictures import png
from rsg.domain import Illustration
from rsg.domains.crafting.text import read_map
from rsg.domains.crafting.world import CraftingWorld
from rsg.language import Machine, parse
from rsg.search import StateGraph, local_graph
from rsg.search.cost_to_go import CostToGo, Logs, cost_to_go
from rsg.subgoals import Classifiers, RsgSettings

COST_TASK = "grab-axe then mine-wood then craft-wood-plank"
COST_MAP = """map:
@...#...
..a.#.T.
....#...
........
.##..~~.
...1.~..
"""
_EVERYTHING = 10_000  # a depth that reaches all states of a small map
_RED = "#d21f1f"
_TEXT = (
    "The paper’s value-function figure for {task}: for each machine node, every cell is coloured by what is left to "
    "pay when the agent stands there, J(s, v), computed with the learned classifiers. Deeper colour is a larger cost; "
    "each picture has its own scale. Dotted: a rational way from where the node is entered; red box: where it is "
    "left for the next one."
)


def cost_figure(subgoals: Classifiers, settings: RsgSettings) -> Illustration:
    """A picture for each node that a rational agent serves on a small map."""
    shown = []
    world, state = read_map(COST_MAP)
    for one in cost_maps(world, state, COST_TASK, subgoals, settings):
        held, (least, most) = ", ".join(world.inventory(one.state)) or "nothing", one.range
        shown.append((f"{one.term}, holding {held}: {least:.2f} to {most:.2f}", cost_picture(one)))
    return Illustration("Cost-to-go", _TEXT.format(task=COST_TASK), shown)


@dataclass(frozen=True, eq=False)
class CostMap:
    """The cost-to-go of one machine node, for each place of the agent."""

    term: str  # of the node
    world: CraftingWorld  # a grid
    state: Array  # `[W]` as the node is entered
    # `[height, width]` J(s, v) with the agent there and all else as in `state`; NaN where it cannot be
    cost: Floats
    path: list[tuple[int, int]]  # (row, column) of each state from entering the node to leaving it

    @property
    def range(self) -> tuple[float, float]:
        """The least and the largest cost."""
        return float(np.nanmin(self.cost)), float(np.nanmax(self.cost))


def cost_maps(
    world: CraftingWorld, state: Array, task: str, subgoals: Classifiers, settings: RsgSettings
) -> list[CostMap]:
    """J on all that can be reached from a state of Crafting World, for each node that a rational agent serves."""
    machine = Machine.of(parse(task))
    graph = local_graph(world, state[None], _EVERYTHING)
    terms = machine.names
    logs = Logs(*subgoals.goals_with_i(world, terms, state)(graph.states))
    found = cost_to_go(graph, machine, logs, settings.weight)
    maps = []
    for node, rows in rational_path(graph, found):
        entered = graph.states[rows[0]]
        here = np.flatnonzero((graph.states[:, 2:] == entered[2:]).all(axis=1))  # all but the agent's place
        cost = np.full((world.height, world.width), np.nan)
        cost[graph.states[here, 0], graph.states[here, 1]] = found.cost[here, node]
        path = [(int(graph.states[row, 0]), int(graph.states[row, 1])) for row in rows]
        maps.append(CostMap(terms[machine.term_of[node]], world, entered, cost, path))
    return maps


def rational_path(graph: StateGraph, found: CostToGo) -> list[tuple[int, list[int]]]:
    """The cheapest way through world and machine from the graph's first state: each node with its states.

    A node is left as soon as waiting gains less than half an action: small differences of classifiers are no reason.
    """
    slack = graph.edge_cost.min() / 2
    row, node = int(graph.path[0]), int(found.then[graph.path[0], 0])
    last = found.cost.shape[1] - 1
    parts = [(node, [row])]
    fresh = True
    while True:
        if not fresh and found.leave[row, node] <= found.cost[row, node] + slack:
            node, fresh = int(found.then[row, node]), True
            if node == last:
                return parts
            parts.append((node, [row]))
        else:
            edges = np.arange(graph.edge_start[row], graph.edge_start[row + 1])
            costs = graph.edge_cost[edges] + found.cost[graph.edge_end[edges], node]
            row, fresh = int(graph.edge_end[edges[costs.argmin()]]), False
            parts[-1][1].append(row)


def cost_picture(shown: CostMap) -> bytes:
    """A map with every place of the agent coloured by its cost; the plan dotted, its goal in a red box."""
    height, width = shown.cost.shape
    figure = Figure(figsize=(0.52 * width, 0.52 * height))
    axes = figure.add_axes((0, 0, 1, 1))
    blues = LinearSegmentedColormap.from_list("depth", ["#f4f8fc", "#a9cbe6", "#4a90c4", "#12456f"])
    tints = blues.with_extremes(bad="white")(Normalize(*shown.range)(np.ma.masked_invalid(shown.cost)))[..., :3]
    drawn = shown.world.render(shown.state, 48)[: 48 * height] / 255  # without what is held
    axes.imshow(drawn * tints.repeat(48, 0).repeat(48, 1), extent=(-0.5, width - 0.5, height - 0.5, -0.5))
    cells = np.argwhere(np.isfinite(shown.cost)).tolist()
    for y, x in (cell for cell in cells if tuple(cell) not in shown.path):
        words = axes.text(x, y + 0.3, f"{shown.cost[y, x]:.1f}", ha="center", va="center", fontsize=7, color="#22384c")
        words.set_path_effects([withStroke(linewidth=2, foreground="white")])
    rows, columns = zip(*shown.path, strict=True)
    axes.plot(columns, rows, ":", color="white", lw=4.5)
    axes.plot(columns, rows, ":", color="black", lw=2.2)
    axes.plot(columns[0], rows[0], "o", color="black", markeredgecolor="white", markersize=8)
    axes.add_patch(Rectangle((columns[-1] - 0.48, rows[-1] - 0.48), 0.96, 0.96, fill=False, ec=_RED, lw=3))
    axes.axis("off")
    return png(figure, 120)
