"""Random maps of the kinds in `kinds`: one sampler for all of them."""

from collections.abc import Sequence
from functools import cache

import numpy as np

from rsg.core.errors import RsgError
from rsg.domains.crafting.kinds import KINDS, MapKind, kind_named
from rsg.domains.crafting.rules import STANDARD, Rulebook
from rsg.domains.crafting.world import CraftingWorld, States

__all__ = ["KINDS", "MapKind", "kind_named", "objects_for", "sample_map"]


def sample_map(
    kind: str,
    rng: np.random.Generator,
    needs: Sequence[str] = (),
    inventory: Sequence[str] = (),
    size: tuple[int, int] | None = None,
    limit: int | None = None,
) -> tuple[CraftingWorld, States]:
    """A random map of a kind: its world and its first state `[W]`.

    needs: objects that must be on the map, see `objects_for`; they are kept when the limit cuts. size: (height, width)
    other than the kind's own, for open fields only; limit: how many objects other than the kind's own.

    >>> from rsg.core.random import stream
    >>> world, state = sample_map("river", stream(0, "example"))
    >>> world.height, world.width, world.state_width
    (6, 6, 44)
    """
    plan = kind_named(kind)
    template = plan.template
    if size is not None:
        if set("".join(template)) != {"."}:
            own = f"{len(template)}×{len(template[0])}"
            raise RsgError(f"a map of kind {kind} has one size, {own}; open fields have any")
        if min(size) < 1:
            raise RsgError(f"a map has at least one row and one column, not {size[0]}×{size[1]}")
        template = ("." * size[1],) * size[0]
    sketch = _Sketch(template, rng)
    limit = min(plan.limit if limit is None else limit, sketch.height * sketch.width - 1)  # room for the agent
    _fence(plan, sketch)
    _fill(plan, sketch, rng, needs)
    _scatter(plan, sketch, rng, needs, limit)
    agent = sketch.free_cell(plan.start, "the agent")

    turn = int(rng.integers(8)) if plan.turned and plan.far != "." else 0  # an open field looks the same from all sides
    places = {sketch.turned(place, turn): name for place, name in sketch.objects.items()}
    world = _world(sketch.height, sketch.width, limit)
    return world, world.state(places, sketch.turned(agent, turn), inventory)


def objects_for(terms: Sequence[str], rules: Rulebook = STANDARD) -> tuple[str, ...]:
    """The objects that subgoals need on the map: the item to grab, the switch, the places that their rules name.

    >>> objects_for(["grab-axe", "mine-wood", "craft-boat", "toggle-switch"])
    ('axe', 'tree', 'boat-station', 'switch')
    """
    found: dict[str, None] = {}
    for term in terms:
        verb, _, name = term.partition("-")
        found |= dict.fromkeys(rules.places_of(name) if verb in ("mine", "craft") else [name])
    return tuple(found)


@cache
def _world(height: int, width: int, objects: int) -> CraftingWorld:
    return CraftingWorld(height, width, objects=objects)


class _Sketch:
    """A map under way: its plan, what lies where, and the free cells in random order."""

    def __init__(self, template: Sequence[str], rng: np.random.Generator) -> None:
        self.height, self.width = len(template), len(template[0])
        self.region = "".join(template)
        self.free = rng.permutation(len(self.region)).tolist()
        self.objects: dict[int, str] = {}

    def put(self, region: str, name: str) -> None:
        """Lay an object into a random free cell of a region."""
        self.objects[self.free_cell(region, name)] = name

    def free_cell(self, region: str, name: str) -> int:
        """Take a random free cell of a region; `.` is all ground."""
        for i, cell in enumerate(self.free):
            here = self.region[cell]
            if here == region or (region == "." and here not in "~="):
                del self.free[i]
                return int(cell)
        raise RsgError(f"there is no free cell left for {name} on a map of {self.height}×{self.width}")

    def turned(self, cell: int, turn: int) -> tuple[int, int]:
        """The place (row, column) of a cell after `turn % 4` quarter turns, mirrored first if `turn` is 4 or more."""
        y, x = divmod(cell, self.width)
        if turn >= 4:
            x = self.width - 1 - x
        for _ in range(turn % 4):  # plans that are turned are square
            y, x = self.width - 1 - x, y
        return y, x


def _fence(plan: MapKind, sketch: _Sketch) -> None:
    """Water, and the fence with one door in a random place."""
    name = "door"
    for _ in range(sketch.region.count("=")):
        sketch.put("=", name)
        name = plan.fence
    for _ in range(sketch.region.count("~")):
        sketch.put("~", "water")


def _fill(plan: MapKind, sketch: _Sketch, rng: np.random.Generator, needs: Sequence[str]) -> None:
    """What belongs into each region, and what the task needs into the far one."""
    for region, names in plan.regions[int(rng.integers(len(plan.regions)))].items():
        for name in names:
            sketch.put(region, name)
    if plan.far != ".":
        for name in dict.fromkeys(needs or plan.goal):
            if name not in plan.own and name not in sketch.objects.values():
                sketch.put(plan.far, name)


def _scatter(plan: MapKind, sketch: _Sketch, rng: np.random.Generator, needs: Sequence[str], limit: int) -> None:
    """Objects anywhere: what is needed first, then by chance, groups whole, up to the limit."""
    there = plan.own | (set(sketch.objects.values()) if plan.far != "." else set())
    needed = [name for name in dict.fromkeys(needs) if name not in there]
    missing = [name for name in needed if name not in plan.scattered]
    if missing:
        raise RsgError(f"this kind of map cannot hold what the task needs: {', '.join(missing)}")
    needed += [name for group in plan.together if set(group) & set(needed) for name in group if name not in needed]
    room = limit - len(sketch.objects)
    if len(needed) > room:
        total = len(sketch.objects) + len(needed)
        raise RsgError(f"map and task need {total} objects together, but the limit is {limit}")
    low, high = plan.chance
    chance = rng.uniform(low, high)
    lucky = rng.random(len(plan.scattered)) < chance
    drawn = [name for name, luck in zip(plan.scattered, lucky, strict=True) if luck and name not in {*needed, *there}]
    present = (needed + [drawn[i] for i in rng.permutation(len(drawn))])[:room]
    for group in plan.together:
        if not set(group) <= set(present):
            present = [name for name in present if name not in group]
    for name in present:
        sketch.put(".", name)
