"""Crafting World in PDDL: a state and a goal as text that any classical planner reads.

The domain says the rules, the problem says the map. One PDDL action is one step of the world and costs 1, so that the
cheapest PDDL plan has as many steps as the cheapest plan here. How many copies of an item are held is a level `n0`,
`n1`, ... up to the capacity, and so is the room that is left; rules that come first at a place come first here too.

`python -m reproductions.pddl river mine-potato out` writes the two files of a problem.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np

from reproductions.harness.tables import PAGES
from rsg.core.errors import RsgError
from rsg.core.random import stream
from rsg.domains.crafting.rules import BARRIER, DOOR, ITEM, PLACE, SWITCH, Rule, Rulebook
from rsg.domains.crafting.starts import start_on
from rsg.domains.crafting.truth import goals, truth
from rsg.domains.crafting.world import ACTIONS, CraftingWorld, States

TOGGLE = len(ACTIONS) - 1
_MOVES = {"up": (-1, 0), "down": (1, 0), "left": (0, -1), "right": (0, 1)}
_DOMAIN, _PROBLEM = ((PAGES / f"{name}.pddl").read_text(encoding="utf-8") for name in ("domain", "problem"))
_RULE = """  (:action {name}
    :parameters (?c - cell {levels} - level)
    :precondition (and (at ?c) (stands {at} ?c) {conditions})
    :effect (and {effects} (increase (total-cost) 1)))
"""
_OWN = set(re.findall(r"[a-z][a-z-]*", re.sub(r";.*|\?[a-z-]+", "", _DOMAIN)))  # words that have a meaning


class Pddl(NamedTuple):
    """The two texts of a planning problem."""

    domain: str
    problem: str


def to_pddl(world: CraftingWorld, state: States, term: str) -> Pddl:
    """A state `[W]`, and a term that is to come true, as PDDL.

    >>> world = CraftingWorld(1, 2)
    >>> print(to_pddl(world, world.state({(0, 1): "axe"}), "grab-axe").problem.splitlines()[-2])
      (:goal (held axe n1))
    """
    state = world.checked(state[None])[0]
    if truth(world, state[None], [term])[0, 0]:
        raise RsgError(f"{term} holds in that state already; PDDL asks for what is not yet so: take another state")
    return Pddl(_domain(world.rules), _problem(world, state, int(goals(world, [term])[0])))


def to_actions(steps: Iterable[Sequence[str]]) -> list[int]:
    """The actions of the world for the steps of a PDDL plan, each its name and what it is done with.

    >>> to_actions([("walk", "right", "c-0-0", "c-0-1"), ("pick-up", "c-0-1", "axe", "n0", "n1", "n6", "n5")])
    [3, 4]
    """
    return [ACTIONS.index(step[1]) if step[0].startswith("walk") else TOGGLE for step in steps]


def _domain(rules: Rulebook) -> str:
    _check_names(rules)
    names = {f"{kind}s": " ".join(_names(rules, kind)) for kind in ("item", "place")}
    names["switches"] = " ".join(_names(rules, "switch"))
    written = "".join(_rule(rules, number) for number in range(len(rules.rules)))
    more = " :disjunctive-preconditions" if "(or " in written else ""
    levels = " ".join(_levels(_named_levels(rules)))
    fits = "\n".join(f"    (fit-{k} {' '.join(f'?n{i}' for i in range(k))} - level)" for k in _fits(rules.rules))
    text = _DOMAIN.format(**names, levels=levels, requirements=more, fits=fits, rules=written)
    return "".join(line for line in text.splitlines(keepends=True) if not re.match(r"\s+- \w", line))  # of no names


def _names(rules: Rulebook, kind: str) -> list[str]:
    return [thing.name for thing in rules.things if thing.kind == kind]


def _check_names(rules: Rulebook) -> None:
    """PDDL has one space of names, and knows no capitals."""
    seen: set[str] = set()
    for thing in rules.things:
        name = thing.name.lower()
        if not re.fullmatch(r"[a-z][a-z0-9_-]*", name) or re.fullmatch(r"n\d+|c-\d+-\d+", name) or name in seen | _OWN:
            raise RsgError(f"'{thing.name}' cannot be a name in PDDL; call it something else in the rulebook")
        seen.add(name)


def _levels(count: int) -> list[str]:
    return [f"n{level}" for level in range(count + 1)]


def _named_levels(rules: Rulebook) -> int:
    """The greatest number that the domain speaks of."""
    return max(1, *(max(len(rule.uses) - 1, *_needs(rule).values(), 0) for rule in rules.rules), 0)


def _needs(rule: Rule) -> Counter[str]:
    """How many of each item must be held."""
    return Counter(rule.uses) | Counter(dict.fromkeys(rule.tools, 1))


def _fits(rules: Iterable[Rule]) -> list[int]:
    """How many numbers there are at a time that together are no more than the capacity.

    A rule asks how many there are of its items, and how much room, unless that stays the same.
    """
    counted = {len({*rule.tools, *rule.uses, rule.gives}) + (len(rule.uses) != 1) for rule in rules}
    return sorted({2, *counted} - {1})


def _rule(rules: Rulebook, number: int) -> str:
    """The PDDL action of a rule; nothing for one that never applies because others at its place come first."""
    rule, needs = rules.rules[number], _needs(rules.rules[number])
    change = Counter(rule.uses)
    change.subtract([rule.gives])  # how many are gone afterwards
    conditions: list[str] = []
    effects: list[str] = []
    levels: list[str] = []

    def counted(fact: str, of: str, lost: int, least: int = 0) -> None:
        """A number that becomes less by `lost`, or more."""
        before, after = f"?had-{of}", f"?has-{of}"
        levels.append(before)
        conditions.append(f"({fact} {before})")
        if least > max(lost, 0):
            conditions.append(f"(at-least {before} n{least})")
        if lost:
            levels.append(after)
            high, low = (before, after) if lost > 0 else (after, before)
            conditions.append(f"(less {high} n{abs(lost)} {low})")
            effects.extend([f"(not ({fact} {before}))", f"({fact} {after})"])

    for item in dict.fromkeys([*rule.tools, *rule.uses, rule.gives]):
        counted(f"held {item}", item, change[item], needs[item])
    if len(rule.uses) != 1:
        counted("room", "room", 1 - len(rule.uses))
    had = [level for level in levels if level.startswith("?had-")]
    if len(had) > 1:
        conditions.append(f"(fit-{len(had)} {' '.join(had)})")
    for other in rules.rules[:number]:
        if other.at == rule.at:
            lacking = _lacking(other, needs, bool(rule.uses))
            if not lacking:
                return ""
            conditions.append(lacking[0] if len(lacking) == 1 else f"(or {' '.join(lacking)})")
    parts = {"levels": levels, "conditions": conditions, "effects": effects}
    return _RULE.format(name=_name(rule), at=rule.at, **{key: " ".join(some) for key, some in parts.items()})


def _lacking(rule: Rule, held: Counter[str], maybe_full: bool) -> list[str]:
    """The facts each of which keeps a rule from applying, among those possible while so many items are held."""
    facts = [
        f"(held {item} n{level})" for item, least in _needs(rule).items() for level in range(held[item], least)
    ]  # fewer than needed
    return facts + ["(room n0)"] * (maybe_full and not rule.uses)


def _name(rule: Rule) -> str:
    """Of the action of a rule, like `make-wool-at-sheep-with-shears`."""
    words = [f"make-{rule.gives}-at-{rule.at}"]
    words += [f"{word}-{'-and-'.join(some)}" for word, some in (("from", rule.uses), ("with", rule.tools)) if some]
    return "-".join(words)


def _problem(world: CraftingWorld, state: States, goal: int) -> str:
    named = _named_levels(world.rules)
    levels = " ".join(_levels(max(named, world.capacity))[named + 1 :])
    facts = [*_start(world, state), *_map(world, state), *_arithmetic(world, state)]
    return _PROBLEM.format(
        world=world,
        cost=world.costs[0],
        cells=" ".join(_cell(y, x) for y, x in np.ndindex(world.height, world.width)),
        levels=f"\n    {levels} - level" if levels else "",
        facts="\n    ".join(facts),
        goal=_goal(world, state, goal),
    )


def _cell(y: int, x: int) -> str:
    return f"c-{y}-{x}"


def _start(world: CraftingWorld, state: States) -> Iterable[str]:
    """What is so at the start and may change."""
    yield f"(at {_cell(*state[:2])})"
    held = Counter(world.inventory(state))
    for item in _names(world.rules, "item"):
        yield f"(held {item} n{held[item]})"
    yield f"(room n{world.capacity - held.total()})"
    doors = set()
    for y, x, code in _objects(world, state):
        changed = code > len(world.rules.things)
        if world.rules.kinds[code] == ITEM:
            yield f"(lies {world.rules.names[code]} {_cell(y, x)})"
        elif world.rules.kinds[code] == SWITCH:
            yield f"({'on' if changed else 'off'} {_cell(y, x)})"
        elif world.rules.kinds[code] == DOOR:
            doors.add("open" if changed else "shut")
    yield f"(doors-are {doors.pop() if len(doors) == 1 else 'mixed' if doors else 'shut'})"


def _objects(world: CraftingWorld, state: States) -> list[tuple[int, int, int]]:
    """Row, column and code of each object."""
    cells = world.cells(state)
    return [(int(y), int(x), int(cells[y, x])) for y, x in np.argwhere(cells)]


def _map(world: CraftingWorld, state: States) -> Iterable[str]:
    """What never changes: where one can walk, and what stands where."""
    cells = world.cells(state)
    for y, x in np.ndindex(*cells.shape):
        for name, (dy, dx) in _MOVES.items():
            if 0 <= y + dy < world.height and 0 <= x + dx < world.width:
                word = "barred-path" if _stands_in_the_way(world, cells[y + dy, x + dx]) else "path"
                yield f"({word} {name} {_cell(y, x)} {_cell(y + dy, x + dx)})"
    for y, x, code in _objects(world, state):
        if world.rules.kinds[code] == PLACE:
            yield f"(stands {world.rules.names[code]} {_cell(y, x)})"
        if world.rules.kinds[code] == SWITCH:
            yield f"(is {_cell(y, x)} {world.rules.names[world.plain[code]]})"
        if _stands_in_the_way(world, code):
            closed = world.plain[code]
            key = world.rules.things[closed - 1].key
            if key:
                yield f"(needs {_cell(y, x)} {key})"
            if world.rules.kinds[code] == DOOR:
                yield f"(lets-pass {_cell(y, x)} open)"
                if code != closed:
                    yield f"(lets-pass {_cell(y, x)} mixed)"


def _stands_in_the_way(world: CraftingWorld, code: int) -> bool:
    return bool(world.rules.kinds[code] in (BARRIER, DOOR))


def _arithmetic(world: CraftingWorld, state: States) -> Iterable[str]:
    for k in range(1, _named_levels(world.rules) + 1):
        for n in range(k, world.capacity + 1):
            yield f"(at-least n{n} n{k})"
            yield f"(less n{n} n{k} n{n - k})"
    there = {world.rules.names[code] for _, _, code in _objects(world, state)}
    for k in _fits(rule for rule in world.rules.rules if rule.at in there):
        for numbers in product(range(world.capacity + 1), repeat=k):
            if sum(numbers) <= world.capacity:
                yield f"(fit-{k} {' '.join(f'n{n}' for n in numbers)})"


def _goal(world: CraftingWorld, state: States, goal: int) -> str:
    """It is false at the start. So the first copy of an item makes it true, and so does the first switch of a kind."""
    if goal > 0:
        return f"(held {world.rules.names[goal]} n1)"
    off = world.plain[-goal]
    if not (world.cells(state) == off).any():
        raise RsgError(f"the map has no {world.rules.names[off]} that could be toggled; take another map")
    return f"(switched {world.rules.names[off]})"


def main(map: str, term: str, out: str) -> None:  # noqa: A002, the word users know
    """Write the first state of a kind of map or of a map file, and a term, as OUT/domain.pddl and OUT/problem.pddl."""
    made = to_pddl(*start_on(map, [term], stream(0, "world")), term)
    Path(out).mkdir(parents=True, exist_ok=True)
    for name, text in made._asdict().items():
        (Path(out) / f"{name}.pddl").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    import sys

    main(*sys.argv[1:])
