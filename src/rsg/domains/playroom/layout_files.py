"""Layouts as JSON that people can write; some come with rsg.

    {
      "room": [20, 20],
      "walls": [
        {"from": [0, 10], "to": [5, 10], "thickness": 0.5},
        [[12, 3], [14, 3], [13, 5]]
      ],
      "robot": [[[-1, -0.5], [1, -0.5], [1, 0.5], [-1, 0.5]]],
      "effectors": [
        {"name": "ball", "size": 1, "term": "play-with-ball"},
        {"name": "bell", "shape": [[-0.5, -0.5], [0.5, -0.5], [0, 0.5]], "position": [3, 4]}
      ],
      "start": [2, 2, 0]
    }

A wall is a straight bar or a convex polygon. An effector has a shape, or the size of a square or rectangle; its term is
`touch-NAME` if it says none. One without a position, and a robot without a start, are put in random places.
"""

import json
import math
from functools import cache
from pathlib import Path
from typing import Any

from rsg.core.errors import meant
from rsg.core.files import replacing, shipped
from rsg.domains.playroom.layout import Effector, Layout, LayoutError, bar, box, numbers

LAYOUTS = {
    "paper": "the one of the paper: four rooms in a ring, a door from each to the next",
    "rotated-bars": "one room with seven bars that stand askew",
    "narrow": "two rooms and one door, hardly wider than the robot is long",
    "twelve": "a wider house with nooks, and twelve effectors instead of six",
}
"""The layouts that come with rsg, and a few words about each."""

SHIPPED = tuple(LAYOUTS)

_KEYS = ("room", "walls", "robot", "effectors", "start")
_BAR = ("from", "to", "thickness")
_EFFECTOR = ("name", "term", "size", "shape", "position")


def load_layout(source: str | Path) -> Layout:
    """The layout of a file, or the one of that name that comes with rsg."""
    if isinstance(source, str) and source in SHIPPED:
        return _shipped(source)
    if not Path(source).exists() and isinstance(source, str) and "/" not in source and "." not in source:
        raise LayoutError(f"there is no layout '{source}'; {meant(source, SHIPPED)}")
    try:
        text = Path(source).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not a text file"
        raise LayoutError(f"cannot read the layout {source}: {reason}") from None
    return read_layout(text, str(source))


def save_layout(layout: Layout, path: str | Path) -> None:
    """Write a layout to a file."""
    with replacing(path) as part:
        part.write_text(write_layout(layout), encoding="utf-8")


def read_layout(text: str, source: str = "layout") -> Layout:
    """The layout that a text describes; `source` names it in messages."""
    try:
        values = json.loads(text)
    except RecursionError:
        raise LayoutError(f"{source} is not JSON that a layout could be: it is nested too deeply") from None
    except json.JSONDecodeError as error:
        where = f"{source}, line {error.lineno}, column {error.colno}"
        raise LayoutError(f"{where}: this is not JSON: {error.msg}") from None
    try:
        return layout_of(values)
    except LayoutError as error:
        raise LayoutError(f"{source}: {error}") from None


def write_layout(layout: Layout) -> str:
    """The layout as text, one wall and one effector a line; `read_layout` gives it back."""
    lines = []
    for key, value in layout_values(layout).items():
        if key in ("room", "start") or not value:
            lines.append(f"  {json.dumps(key)}: {json.dumps(value)}")
        else:
            inner = ",\n".join(f"    {json.dumps(item)}" for item in value)
            lines.append(f"  {json.dumps(key)}: [\n{inner}\n  ]")
    return "{\n" + ",\n".join(lines) + "\n}\n"


def layout_of(values: Any) -> Layout:
    """A layout from plain values, as JSON has them."""
    _check_keys(values, _KEYS, ("room", "robot", "effectors"), "the layout")
    robot, effectors, walls = (_list(values.get(key, []), key) for key in ("robot", "effectors", "walls"))
    return Layout(
        values["room"],
        tuple(robot),
        tuple(_effector(value, f"effector {number}") for number, value in enumerate(effectors, 1)),
        tuple(_wall(value, f"wall {number}") for number, value in enumerate(walls, 1)),
        values.get("start"),
    )


def layout_values(layout: Layout) -> dict[str, Any]:
    """The layout as plain values: what `layout_of` takes."""
    values: dict[str, Any] = {"room": layout.size, "walls": list(layout.walls), "robot": list(layout.robot)}
    values["effectors"] = [
        {"name": one.name, "term": one.term, "shape": one.shape} | ({"position": one.position} if one.position else {})
        for one in layout.effectors
    ]
    return values | ({"start": layout.start} if layout.start else {})


@cache
def _shipped(name: str) -> Layout:
    return read_layout(shipped("rsg.domains.playroom", "layouts", f"{name}.json"), name)


def _list(values: Any, key: str) -> list[Any]:
    if not isinstance(values, list):
        raise LayoutError(f"'{key}' must be a list, not {_short(values)}")
    return values


def _wall(value: Any, what: str) -> Any:
    """The corners of a wall: of a bar, or as they are given."""
    if not isinstance(value, dict):
        return value
    _check_keys(value, _BAR, _BAR, what)
    start, end = (numbers(value[key], 2, f"'{key}' of {what}") for key in _BAR[:2])
    thickness = value["thickness"]
    if isinstance(thickness, bool) or not isinstance(thickness, int | float) or not math.isfinite(thickness):
        raise LayoutError(f"'thickness' of {what} must be a finite number, not {_short(thickness)}")
    try:
        return bar(start, end, thickness)
    except LayoutError as error:
        raise LayoutError(f"{what}: {error}") from None


def _effector(value: Any, what: str) -> Effector:
    _check_keys(value, _EFFECTOR, ("name",), what)
    if ("size" in value) == ("shape" in value):
        raise LayoutError(f"{what} must have either a 'size' or a 'shape'")
    shape = value.get("shape")
    if "size" in value:
        size = value["size"]
        size = [size, size] if isinstance(size, int | float) else size
        width, height = numbers(size, 2, f"the size of {what}")
        if min(width, height) <= 0:
            raise LayoutError(f"the size of {what} must be above 0")
        shape = box(width, height)
    return Effector(value["name"], shape, value.get("term", ""), value.get("position"))


def _check_keys(value: Any, known: tuple[str, ...], needed: tuple[str, ...], what: str) -> None:
    if not isinstance(value, dict):
        raise LayoutError(f"{what} must be an object {{...}}, not {_short(value)}")
    for key in value:
        if key not in known:
            raise LayoutError(f"{what} has an unknown key '{key}'; {meant(key, known)}")
    for key in needed:
        if key not in value:
            raise LayoutError(f"{what} has no '{key}'")


def _short(value: Any) -> str:
    return json.dumps(value, default=str)[:40]
