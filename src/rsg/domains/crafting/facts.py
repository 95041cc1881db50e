"""What can be asked of a state of Crafting World, with names: what is held, lies about, is on or open, and where."""

from functools import cache
from typing import NamedTuple

import numpy as np

from rsg.core.arrays import Array, Bools, Ints
from rsg.core.compiled import bare
from rsg.domains.crafting.kernels import HEAD, holds
from rsg.domains.crafting.rules import Rulebook

HELD, LIES, CHANGED, HERE, AT = range(5)
PHRASES = {
    "held": ("{a} is held", "no {x} is held"),
    "lies": ("{a} is on the map", "no {x} is on the map"),
    "on": ("{a} is on", "no {x} is on"),
    "open": ("{a} is open", "no {x} is open"),
    "here": ("the agent stands on {a}", "the agent stands on no {x}"),
    "at": ("the agent is at row {0}, column {1}", "the agent is not at row {0}, column {1}"),
}


class FactTables(NamedTuple):
    """All that the kernels know: the sizes of a world, and of each fact its kind, a code, and the code when changed."""

    height: int
    width: int
    capacity: int
    facts: Ints


@cache
def named_facts(rules: Rulebook, height: int, width: int) -> tuple[tuple[str, ...], Ints]:
    """The names of all facts, and the rows of `FactTables`."""
    found: dict[str, tuple[int, int, int]] = {}
    for code, thing in enumerate(rules.things, 1):
        changed = int(rules.table[code, 2]) or code
        found[f"lies({thing.name})"] = (LIES, code, changed)
        found[f"here({thing.name})"] = (HERE, code, changed)
        if thing.kind == "item":
            found[f"held({thing.name})"] = (HELD, code, code)
        if thing.kind in ("door", "switch"):
            found[f"{'open' if thing.kind == 'door' else 'on'}({thing.name})"] = (CHANGED, code, changed)
    for row in range(height):
        for column in range(width):
            found[f"at({row},{column})"] = (AT, row, column)
    return tuple(found), np.array(list(found.values()), dtype=np.int64)


@bare
def fact(tables: FactTables, states: Array, i: int, number: int) -> bool:
    """Whether a fact holds in state i."""
    kind, code, changed = tables.facts[number, 0], tables.facts[number, 1], tables.facts[number, 2]
    cells = HEAD + tables.capacity
    if kind == HELD:
        return bool(holds(states, i, tables.capacity, code))
    if kind == AT:
        return bool(states[i, 0] == code and states[i, 1] == changed)
    if kind == HERE:
        here = states[i, cells + int(states[i, 0]) * tables.width + int(states[i, 1])]
        return bool(here in (code, changed))
    for cell in range(cells, cells + tables.height * tables.width):
        if states[i, cell] == changed or (kind == LIES and states[i, cell] == code):
            return True
    return False


@bare
def fact_rows(tables: FactTables, states: Array, out: Bools) -> None:
    """Whether each fact holds in each state, `[N, F]`."""
    for i in range(len(states)):
        for number in range(out.shape[1]):
            out[i, number] = fact(tables, states, i, number)
