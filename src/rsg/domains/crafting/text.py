"""Maps as text, so that people can write their own.

    ; Lines that begin with a semicolon are comments.
    inventory: axe, wood
    map:
    @.T.#~
    ..1.+.

One symbol per cell: `.` is floor, `@` the agent on bare floor, the others are the symbols of the rulebook, and `'` is
an open door, `*` a switch that is on. `agent: ROW COLUMN` (counted from 0) puts the agent on top of an object;
`capacity: N` sets the size of the inventory (6).
"""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import numpy as np

from rsg.core.errors import RsgError
from rsg.domains.crafting.rules import STANDARD, Rulebook
from rsg.domains.crafting.world import CraftingWorld, States

Given = dict[str, tuple[int, str]]
Rows = list[tuple[int, str]]
_OPEN, _ON, _MORE = "'", "*", '"^$?&=<>{}[]|_%:' + "".join(map(chr, range(0xC0, 0x180)))


class MapError(RsgError):
    """A map file with a mistake; the message says line and column."""


@cache
def symbols(rules: Rulebook) -> dict[str, str]:
    """The name that each symbol stands for."""
    table = {thing.symbol: thing.name for thing in rules.things}
    for name in rules.names[len(rules.things) + 1 :]:  # a second type of door or switch takes any free symbol
        free = (_OPEN if name.endswith("-open") else _ON) + _MORE
        table[next(symbol for symbol in free if symbol not in table)] = name
    return table


def write_map(world: CraftingWorld, state: States) -> str:
    """The state as text; `read_map` gives it back."""
    by_name = {name: symbol for symbol, name in symbols(world.rules).items()} | {"floor": "."}
    lines = []
    if world.capacity != CraftingWorld.capacity:
        lines.append(f"capacity: {world.capacity}")
    if world.inventory(state):
        lines.append(f"inventory: {', '.join(world.inventory(state))}")
    rows = [[by_name[world.rules.names[code]] for code in row] for row in world.cells(state)]
    y, x = int(state[0]), int(state[1])
    if rows[y][x] == ".":
        rows[y][x] = "@"
    else:
        lines.append(f"agent: {y} {x}")
    return "\n".join([*lines, "map:", *("".join(row) for row in rows)]) + "\n"


def read_map(text: str, rules: Rulebook = STANDARD, source: str = "map") -> tuple[CraftingWorld, States]:
    """The world and the state that a text describes; `source` names it in messages."""
    try:
        return _build(rules, *_parts(text))
    except MapError as error:
        raise MapError(f"{source}, {error}") from None


def _parts(text: str) -> tuple[Given, Rows]:
    """The settings by name and the rows of the map, each with the number of its line."""
    given: Given = {}
    rows: Rows = []
    in_map = False
    for number, line in enumerate(text.splitlines(), start=1):
        key, colon, value = line.strip().partition(":")
        if line.lstrip().startswith(";") or not line.strip():
            continue
        if in_map:
            rows.append((number, line.rstrip()))
        elif line.strip().lower() == "map:":
            in_map = True
        elif not colon or key.strip().lower() not in ("inventory", "capacity", "agent"):
            raise _wrong(number, 1, f"expected 'inventory:', 'capacity:', 'agent:' or 'map:', not '{line.strip()}'")
        elif key.strip().lower() in given:
            raise _wrong(number, 1, f"'{key.strip()}:' is there twice")
        else:
            given[key.strip().lower()] = (number, value.strip())
    if not rows:
        raise _wrong(len(text.splitlines()) or 1, 1, "there is no map: write 'map:' and its rows below")
    return given, rows


def _build(rules: Rulebook, given: Given, rows: Rows) -> tuple[CraftingWorld, States]:
    objects, agents = _cells(rules, rows)
    capacity = _numbers(given, "capacity", 1) or [CraftingWorld.capacity]
    place = _numbers(given, "agent", 2)
    if place and agents:
        raise _wrong(given["agent"][0], 1, "the agent is on the map (@) already")
    if not place and len(agents) != 1:
        line, column = (rows[agents[1][0]][0], agents[1][1] + 1) if agents else (rows[-1][0], 1)
        raise _wrong(line, column, f"a map has one agent (@), this one has {len(agents)}")
    y, x = place or agents[0]
    number, text = given.get("inventory", (1, ""))
    held = [name.strip().lower().replace("_", "-") for name in text.split(",") if name.strip()]
    with _at(given.get("capacity", rows[0])[0], 1):
        world = CraftingWorld(len(rows), len(rows[0][1]), capacity[0], rules=rules)
    with _at(given.get("agent", (1, ""))[0], len("agent: ") + 1):
        world.state({}, (y, x))
    for name in held:
        with _at(number, len("inventory:") + text.lower().replace("_", "-").index(name) + 2):
            world.state({}, (y, x), [name])
    with _at(number, 1):
        return world, world.state(objects, (y, x), held)


def _cells(rules: Rulebook, rows: Rows) -> tuple[dict[tuple[int, int], str], list[tuple[int, int]]]:
    """The objects by place, and where the agent is drawn."""
    names = symbols(rules)
    objects: dict[tuple[int, int], str] = {}
    agents = []
    width = len(rows[0][1])
    for y, (number, row) in enumerate(rows):
        if len(row) != width:
            problem = f"this row has {len(row)} cells, the first has {width}"
            raise _wrong(number, min(len(row), width) + 1, problem)
        for x, symbol in enumerate(row):
            if symbol == "@":
                agents.append((y, x))
            elif symbol in names:
                objects[y, x] = names[symbol]
            elif symbol != ".":
                raise _wrong(number, x + 1, f"no object has the symbol '{symbol}'")
    return objects, agents


def _numbers(given: Given, key: str, count: int) -> list[int]:
    if key not in given:
        return []
    number, text = given[key]
    words = text.replace(",", " ").split()
    if len(words) != count or not all(word.isdecimal() for word in words):
        many = "s" if count > 1 else ""
        raise _wrong(number, len(key) + 2, f"'{key}:' takes {count} whole number{many}, not '{text}'")
    return [int(word) for word in words]


@contextmanager
def _at(line: int, column: int) -> Iterator[None]:
    """What is wrong in here is wrong at that place of the text."""
    try:
        yield
    except RsgError as error:
        raise _wrong(line, column, str(error)) from None


def _wrong(line: int, column: int, problem: str) -> MapError:
    return MapError(f"line {line}, column {column}: {problem}")


def legend(world: CraftingWorld, state: States) -> dict[str, str]:
    """The symbols that occur on this map, with their names."""
    by_name = {name: symbol for symbol, name in symbols(world.rules).items()}
    present = [world.rules.names[code] for code in np.unique(world.cells(state)) if code]
    return {by_name[name]: name for name in present}


def load_map(path: str | Path, rules: Rulebook = STANDARD) -> tuple[CraftingWorld, States]:
    """The world and the state of a map file."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not a text file"
        raise RsgError(f"cannot read the map {path}: {reason}") from None
    return read_map(text, rules, str(path))
