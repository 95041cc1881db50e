"""The rules of Crafting World as data. Another `Rulebook` gives another world; no code knows a name of this one."""

import json
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from rsg.core.errors import RsgError
from rsg.core.files import shipped

Kind = Literal["barrier", "door", "switch", "place", "item"]
_KINDS = ("floor", "barrier", "door", "switch", "place", "item")
RESERVED = ".@;'* "  # floor, agent, comment, open door, switch that is on, nothing
FLOOR, BARRIER, DOOR, SWITCH, PLACE, ITEM = range(6)


@dataclass(frozen=True)
class Thing:
    """A type of object."""

    name: str  # as in `iron-ore-vein`
    # `item` can be picked up; `place` is where rules apply; `switch` opens all doors while it is on; a `door` and a
    # `barrier` stand in the way
    kind: Kind
    symbol: str  # one letter for map files and terminals
    key: str | None = None  # for a door or barrier, the item that lets the agent pass; None: nothing does


@dataclass(frozen=True)
class Rule:
    """At a place, with the tools in the inventory (kept) and the ingredients (used up), `toggle` gives one item."""

    gives: str
    at: str
    tools: tuple[str, ...] = ()
    uses: tuple[str, ...] = ()


@dataclass(frozen=True)
class Rulebook:
    """The types of objects and the rules, the first that applies in their order.

    A cell of a state holds a code: 0 for bare floor, i + 1 for `things[i]`, and after those one code more for each door
    (open) and each switch (on), in order.
    """

    things: tuple[Thing, ...]
    rules: tuple[Rule, ...]

    def __post_init__(self) -> None:
        for what, values in (("name", [t.name for t in self.things]), ("symbol", [t.symbol for t in self.things])):
            twice = {value for value in values if values.count(value) > 1}
            if twice:
                raise RsgError(f"two things have the same {what}: {min(twice)}")
        for thing in self.things:
            if len(thing.symbol) != 1 or not thing.symbol.isprintable() or thing.symbol in RESERVED:
                raise RsgError(
                    f"{thing.name} has the symbol {thing.symbol!r}: give it one letter, not one of {RESERVED}"
                )
        if len(set(self.names)) < len(self.names):
            again = next(name for name in self.names if self.names.count(name) > 1)
            raise RsgError(f"the name {again} has a meaning already")
        if len(self.names) > 256:
            raise RsgError(
                f"a world has at most 255 things (doors and switches count twice), not {len(self.names) - 1}"
            )
        kinds = {thing.name: thing.kind for thing in self.things}
        wanted = [(item, "item") for rule in self.rules for item in (rule.gives, *rule.tools, *rule.uses)]
        wanted += [(rule.at, "place") for rule in self.rules] + [(t.key, "item") for t in self.things if t.key]
        for name, kind in wanted:
            if kinds.get(name) != kind:
                raise RsgError(f"a rule or a door speaks of the {kind} '{name}', but there is no such {kind}")

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The name of each code; `door-open` and `switch-on` for the changed ones."""
        changed = [
            f"{t.name}-{'open' if t.kind == 'door' else 'on'}" for t in self.things if t.kind in ("door", "switch")
        ]
        return ("floor", *(thing.name for thing in self.things), *changed)

    def code(self, name: str) -> int:
        """The code of a name, or an error with the nearest names."""
        if name not in self._codes:
            raise RsgError(f"there is no object '{name}' in this world; it has: {', '.join(self.names[1:])}")
        return self._codes[name]

    @cached_property
    def _codes(self) -> dict[str, int]:
        return {name: code for code, name in enumerate(self.names)}

    @cached_property
    def kinds(self) -> NDArray[np.int16]:
        """The kind of each code, `[codes]`."""
        return self.table[:, 0]

    @cached_property
    def table(self) -> NDArray[np.int16]:
        """For kernels, `[codes, 5]`: kind, what lets the agent pass, the code it changes to, its rules from and to.

        The second is 0 if everybody may pass and -1 if nobody may.
        """
        table = np.zeros((len(self.names), 5), dtype=np.int16)
        order = self._rules_by_place
        for code, thing in enumerate(self.things, start=1):
            table[code, 0] = _KINDS.index(thing.kind)
            if thing.kind in ("barrier", "door"):
                table[code, 1] = self.code(thing.key) if thing.key else -1
            here = [i for i, rule in enumerate(order) if rule.at == thing.name]
            if here:
                table[code, 3:] = here[0], here[-1] + 1
        for code in range(len(self.things) + 1, len(self.names)):
            closed = self.code(self.names[code].rsplit("-", 1)[0])
            table[code, 0] = table[closed, 0]
            table[code, 2], table[closed, 2] = closed, code
        return table

    @cached_property
    def recipes(self) -> NDArray[np.int16]:
        """For kernels, `[rules, 1 + 2·k]`: what the rule gives, k tools and k ingredients (0: none), place by place."""
        k = max([1, *(max(len(rule.tools), len(rule.uses)) for rule in self.rules)])
        recipes = np.zeros((len(self.rules), 1 + 2 * k), dtype=np.int16)
        for row, rule in zip(recipes, self._rules_by_place, strict=True):
            row[0] = self.code(rule.gives)
            row[1 : 1 + len(rule.tools)] = [self.code(item) for item in rule.tools]
            row[1 + k : 1 + k + len(rule.uses)] = [self.code(item) for item in rule.uses]
        return recipes

    @cached_property
    def _rules_by_place(self) -> list[Rule]:
        places = [thing.name for thing in self.things]
        return sorted(self.rules, key=lambda rule: places.index(rule.at))  # stable: keeps the order at a place

    def places_of(self, item: str) -> tuple[str, ...]:
        """Where an item can be had by a rule."""
        return tuple(dict.fromkeys(rule.at for rule in self.rules if rule.gives == item))


def _standard() -> Rulebook:
    content = json.loads(shipped("rsg.domains.crafting", "rules.json"))
    rules = [
        Rule(rule["gives"], rule["at"], tuple(rule.get("tools", ())), tuple(rule.get("uses", ())))
        for rule in content["rules"]
    ]
    return Rulebook(tuple(Thing(*row) for row in content["things"]), tuple(rules))


STANDARD = _standard()
"""The world of the paper, `rules.json`: 47 types of objects, 11 rules for mining and 15 for crafting."""
