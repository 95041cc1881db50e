"""A machine as a picture: layers from left to right, few crossings, no Graphviz needed."""

from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from textwrap import fill
from typing import Any, NamedTuple

import numpy as np

from rsg.core.arrays import Floats, Ints
from rsg.core.errors import RsgError, TaskError
from rsg.core.files import replacing
from rsg.language.machine import Machine

MAX_DRAWN = 500
"""A picture of more nodes than this is not readable."""

_FORMATS = (".svg", ".png", ".pdf")
_HEIGHT, _ROW, _GAP, _LETTER, _PAD = 0.42, 0.72, 0.95, 0.098, 0.34  # inches
_PIXELS = 90  # of an inch
_INNER, _OUTER, _LINE = "#e8f0fb", "#fde7c4", "#44546a"


def draw(machine: Machine, path: str | Path) -> None:
    """Write a picture of the machine; the file's ending (.svg, .png, .pdf) chooses the format."""
    path = Path(path)
    if path.suffix.lower() not in _FORMATS:
        raise RsgError(f"cannot draw to {path}: the name must end in {', '.join(_FORMATS)}")
    if machine.nodes > MAX_DRAWN:
        raise TaskError(f"a picture of {machine.nodes:,} nodes is not readable; at most {MAX_DRAWN} are drawn")

    from matplotlib import rc_context
    from matplotlib.figure import Figure

    places = Places.of(machine)
    left, right, low, high = places.sides
    title = fill(str(machine.task), max(30, int((right - left) / _LETTER)))
    head = 0.25 * (title.count("\n") + 2)

    with rc_context({"svg.hashsalt": "rsg"}):  # the same task gives the same bytes
        figure = Figure(figsize=(right - left, high - low + head))
        axes = figure.add_axes((0, 0, 1, 1))
        axes.set(xlim=(left, right), ylim=(low, high + head))
        axes.axis("off")
        axes.text((left + right) / 2, high + head / 2, title, ha="center", va="center", fontsize=10, color=_LINE)
        put(axes, places)
        with replacing(path) as part:
            metadata = {"Date": None} if path.suffix.lower() == ".svg" else None
            figure.savefig(part, format=path.suffix[1:].lower(), dpi=150, metadata=metadata)


_Route = tuple[int, list[tuple[float, float]], int]


class Places(NamedTuple):
    """Where the parts of a machine are drawn, in inches."""

    labels: list[str]  # what is written in each node
    widths: Floats  # `[V]` of its box
    x: Floats  # `[V]` the middle of each node
    y: Floats  # `[V]`
    routes: list[_Route]  # the way of each edge: source, points between, target

    @staticmethod
    def of(machine: Machine) -> "Places":
        """Those of a machine."""
        labels = ["$v_0$", *(str(machine.terms[i]) for i in machine.term_of[1:-1]), "$v_T$"]
        widths = np.array([_LETTER * (3 if label.startswith("$") else len(label)) + _PAD for label in labels])
        return Places(labels, widths, *layout(machine, widths))

    @property
    def sides(self) -> tuple[float, float, float, float]:
        """What it needs, with a margin: left, right, low, high."""
        left, right = self.x[0] - self.widths[0], self.x[-1] + self.widths[-1]
        return left, right, self.y.min() - _HEIGHT, self.y.max() + _HEIGHT


def plain_picture(machine: Machine) -> dict[str, Any]:
    """A machine as plain values for who draws it: where nodes and edges are, in pixels, with y down.

    >>> from rsg.language.machine import machine_of
    >>> [node["label"] for node in plain_picture(machine_of("a then b"))["nodes"]]
    ['start', 'a', 'b', 'end']
    """
    if machine.nodes > MAX_DRAWN:
        return {"width": 0, "height": 0, "nodes": [], "edges": []}
    places = Places.of(machine)
    labels, widths, x, y, routes = places
    left, right, low, high = places.sides

    def spot(across: float, up: float) -> list[float]:
        return [round((across - left) * _PIXELS, 1), round((high - up) * _PIXELS, 1)]

    nodes = [
        {"label": label, "x": spot(x[k], y[k])[0], "y": spot(x[k], y[k])[1], "width": round(widths[k] * _PIXELS, 1)}
        for k, label in enumerate(["start", *labels[1:-1], "end"])
    ]
    edges = [
        {
            "from": source,
            "to": target,
            "points": [
                spot(*point)
                for point in (
                    (x[source] + widths[source] / 2, y[source]),
                    *between,
                    (x[target] - widths[target] / 2, y[target]),
                )
            ],
        }
        for source, between, target in routes
    ]
    size = {"width": round((right - left) * _PIXELS, 1), "height": round((high - low) * _PIXELS, 1)}
    return {**size, "nodes": [{**node, "height": round(_HEIGHT * _PIXELS, 1)} for node in nodes], "edges": edges}


def put(axes: Any, places: Places, colors: Mapping[int, str] | None = None, size: float = 10) -> None:
    """Draw a machine on axes whose units are its own.

    colors: of some nodes, by their numbers, in the place of the usual ones; size: of the letters, in points.
    """
    from matplotlib.patches import FancyArrowPatch, FancyBboxPatch

    labels, widths, x, y, routes = places
    for source, points, target in routes:
        start, end = (x[source] + widths[source] / 2, y[source]), (x[target] - widths[target] / 2, y[target])
        curve = _curve(np.array([start, *points, end]))
        axes.add_patch(FancyArrowPatch(path=curve, arrowstyle="-|>", mutation_scale=9, lw=0.9, color=_LINE, fc=_LINE))
    for node, label in enumerate(labels):
        corner = (x[node] - widths[node] / 2 + 0.08, y[node] - _HEIGHT / 2 + 0.08)
        box = (widths[node] - 0.16, _HEIGHT - 0.16)
        colour, line = (_OUTER, 1.6) if node in (0, len(labels) - 1) else (_INNER, 0.9)
        look: Any = {"fc": (colors or {}).get(node, colour), "ec": _LINE, "lw": line, "zorder": 3}
        axes.add_patch(FancyBboxPatch(corner, *box, boxstyle="round,pad=0.08,rounding_size=0.12", **look))
        axes.text(x[node], y[node], label, ha="center", va="center_baseline", fontsize=size, zorder=4)


def layout(machine: Machine, widths: Floats) -> tuple[Floats, Floats, list[_Route]]:
    """Places for the nodes, x `[V]` and y `[V]`, and the way of each edge: (source, points between, target).

    A node stands one layer right of its latest predecessor. An edge that crosses a layer gets a bend there, which is
    ordered like a node, so that edges run around boxes, not through them.
    """
    layer = _layers(machine)
    chains: list[list[int]] = []  # the vertices of each edge: source, bends, target
    of_layer = layer.tolist()
    for source in range(machine.nodes):
        for target in machine.successors(source).tolist():
            bends = range(len(of_layer), len(of_layer) + of_layer[target] - of_layer[source] - 1)
            of_layer.extend(range(of_layer[source] + 1, of_layer[target]))
            chains.append([source, *bends, target])
    links = [link for chain in chains for link in pairwise(chain)]
    y = _ordered(np.array(of_layer), np.array(links)) * _ROW

    wide = np.array([widths[layer == i].max() for i in range(layer.max() + 1)])
    center = np.cumsum(wide) - wide / 2 + np.arange(len(wide)) * _GAP
    routes: list[_Route] = []
    for source, *between, target in chains:
        points = [(center[of_layer[b]] + side * wide[of_layer[b]] / 2, y[b]) for b in between for side in (-1, 1)]
        routes.append((source, points, target))
    return center[layer], y[: machine.nodes], routes


def _layers(machine: Machine) -> Ints:
    layer = np.zeros(machine.nodes, dtype=np.int64)
    for node in range(machine.nodes):  # topological order
        after = machine.successors(node)
        layer[after] = np.maximum(layer[after], layer[node] + 1)
    return layer


def _ordered(layer: Ints, links: Ints, sweeps: int = 8) -> Floats:
    """Row of each vertex: repeatedly the mean row of its neighbours on one side, spread to whole rows again."""
    rows = np.zeros(len(layer))
    members = [np.flatnonzero(layer == i) for i in range(layer.max() + 1)]
    for group in members:
        rows[group] = (len(group) - 1) / 2 - np.arange(len(group))
    source, target = links.T
    for sweep in range(sweeps):
        forward = sweep % 2 == 0
        near, far = (target, source) if forward else (source, target)
        for group in members if forward else members[::-1]:
            total, count = np.zeros(len(layer)), np.zeros(len(layer))
            np.add.at(total, near, rows[far])
            np.add.at(count, near, 1)
            wish = np.where(count[group] > 0, total[group] / np.maximum(count[group], 1), rows[group])
            order = group[np.lexsort((-rows[group], -wish))]
            rows[order] = (len(order) - 1) / 2 - np.arange(len(order))
    return rows


def _curve(points: Floats):  # type: ignore[no-untyped-def]
    """A smooth path through the points that leaves and arrives horizontally."""
    from matplotlib.path import Path as Curve

    vertices, codes = [points[0]], [Curve.MOVETO]
    for a, b in pairwise(points):
        if a[1] == b[1]:
            vertices.append(b)
            codes.append(Curve.LINETO)
        else:
            middle = (a[0] + b[0]) / 2
            vertices.extend([(middle, a[1]), (middle, b[1]), b])
            codes.extend([Curve.CURVE4] * 3)
    return Curve(vertices, codes)
