"""Random maps: the kinds that the paper trains and tests on, as data, and one sampler for all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches

import numpy as np
from numpy.typing import NDArray

from rsg.core.errors import RsgError
from rsg.worlds.crafting.rules import STANDARD, Rulebook
from rsg.worlds.crafting.world import CraftingWorld, States

RESOURCES = (
    *("iron-ore-vein", "coal-ore-vein", "gold-ore-vein", "cobblestone-stash", "tree"),
    *("chicken", "sheep", "potato-plant", "beetroot-crop", "sugar-cane-plant"),
)
STATIONS = (
    *("work-station", "weapon-station", "tool-station", "bed-station", "boat-station", "furnace", "food-station"),
)
BOATYARD = ("axe", "tree", "work-station", "boat-station")  # all that it takes to get a boat


@dataclass(frozen=True)
class MapKind:
    """How maps of one kind are drawn.

    Attributes:
        about: what it is for, in a sentence.
        limit: at most so many objects, walls and water among them.
        scattered: objects that may lie anywhere on free ground, each with a chance drawn per map from `chance`.
        together: groups of scattered objects that come all or not at all.
        template: the plan of the map: letters are regions, `.` is free ground that belongs to all, `~` water, and one
            cell of all `=` becomes a door, the others `fence`.
        regions: what lies in each region of the template; one of these is chosen per map.
        far: the region for what the task needs and no region holds; `goal` is put there if no task is given.
        start: the region in which the agent starts.
        turned: whether the map is turned and mirrored at random.
    """

    about: str
    limit: int
    scattered: tuple[str, ...] = ()
    chance: tuple[float, float] = (0.0, 0.0)
    together: tuple[tuple[str, ...], ...] = ()
    template: tuple[str, ...] = ("......",) * 6
    fence: str = "wall"
    regions: tuple[Mapping[str, tuple[str, ...]], ...] = field(default=({},))
    far: str = "."
    goal: tuple[str, ...] = ()
    start: str = "."
    turned: bool = True


_TOOLS = ("key", "door", "pickaxe", "axe")
_SWITCHED = ("switch", "door", "pickaxe", "axe", "water", "water", "wall", "wall")
_RIVER = ("aaaaaa", "aaaaaa", "aaaaaa", "~~~~~~", "bbbbbb", "bbbbbb")
_LINE = ("aaaaaa", "aaaaaa", "======", "bbbbbb", "bbbbbb", "bbbbbb")
_EVERYTHING = ("key", "switch", "door", "pickaxe", "axe", *RESOURCES, *STATIONS, *("water", "wall") * 4)

KINDS: dict[str, MapKind] = {
    "smithy": MapKind(
        "an open field with ore, coal and a furnace",
        limit=8,
        scattered=("pickaxe", "coal-ore-vein", "iron-ore-vein", "furnace"),
        chance=(0.6, 0.6),
    ),
    "garden": MapKind(
        "an open field with tools, a tree and plants",
        limit=8,
        scattered=("key", "door", "pickaxe", "axe", "tree", "potato-plant", "beetroot-crop"),
        chance=(0.6, 0.6),
        together=(("key", "door"),),
    ),
    "field": MapKind(
        "an open field with some of everything, a key and a door",
        limit=8,
        scattered=(*_TOOLS, *RESOURCES, *STATIONS),
        chance=(0.5, 1.0),
        together=(("key", "door"),),
    ),
    "switch-field": MapKind(
        "an open field with some of everything, a switch and a door, some river and wall",
        limit=8,
        scattered=(*_SWITCHED, *RESOURCES, *STATIONS),
        chance=(0.5, 1.0),
        together=(("switch", "door"),),
    ),
    "full-field": MapKind(
        "like field, fuller",
        limit=23,
        scattered=(*_TOOLS, *RESOURCES, *STATIONS),
        chance=(0.5, 1.0),
        together=(("key", "door"),),
    ),
    "full-switch-field": MapKind(
        "like switch-field, fuller",
        limit=23,
        scattered=(*_SWITCHED, *RESOURCES, *STATIONS),
        chance=(0.5, 1.0),
        together=(("switch", "door"),),
    ),
    "key-door": MapKind(
        "a wall with a door across the map; the key is on the agent's side",
        limit=23,
        template=_LINE,
        regions=({"a": ("key",)},),
        far="b",
        goal=("axe",),
        start="a",
        scattered=(*RESOURCES, *STATIONS),
        chance=(0.0, 0.5),
    ),
    "switch-door": MapKind(
        "a wall with a door across the map; the switch is on the agent's side",
        limit=23,
        template=_LINE,
        regions=({"a": ("switch",)},),
        far="b",
        goal=("beetroot-crop",),
        start="a",
        scattered=(*RESOURCES, *STATIONS),
        chance=(0.0, 0.5),
    ),
    "river": MapKind(
        "a river across the map; all that a boat takes is on the agent's side",
        limit=23,
        template=_RIVER,
        regions=({"a": BOATYARD},),
        far="b",
        goal=("sugar-cane-plant",),
        start="a",
        scattered=(*RESOURCES, *STATIONS),
        chance=(0.0, 0.5),
    ),
    "river-and-room": MapKind(
        "a river across the map; the axe for the boat is in a locked room",
        limit=23,
        template=("aaaa=r", "aaaaa=", "aaaaaa", "~~~~~~", "bbbbbb", "bbbbbb"),
        regions=({"a": ("key", *BOATYARD[1:]), "r": ("axe",)},),
        far="b",
        goal=("potato-plant",),
        start="a",
        scattered=(*RESOURCES, *STATIONS),
        chance=(0.0, 0.5),
    ),
    "key-or-boat": MapKind(
        "a river with a door in it: a key or a boat leads to the pickaxe and the gold",
        limit=23,
        template=("aaaaaa", "aaaaaa", "aaaaaa", "======", "bbbbbb", "bbbbbb"),
        fence="water",
        regions=(
            {"a": ("key",), "b": ("pickaxe", "gold-ore-vein")},
            {"a": BOATYARD, "b": ("pickaxe", "gold-ore-vein")},
            {"a": ("key", *BOATYARD), "b": ("pickaxe", "gold-ore-vein")},
        ),
        far="b",
        start="a",
        scattered=(*RESOURCES, *STATIONS),
        chance=(0.0, 0.5),
    ),
    "islands": MapKind(
        "by boat to a key or a switch, which opens the room with pickaxe and furnace; ore and coal on other islands",
        limit=23,
        template=("aaa~bb", "aaa~bb", "~~~~~~", "cc~ddd", "cc~d==", "cc~=rr"),
        regions=tuple(
            {
                "a": BOATYARD,
                "b": (opener,),
                "c": ("iron-ore-vein",),
                "d": ("coal-ore-vein",),
                "r": ("pickaxe", "furnace"),
            }
            for opener in ("key", "switch")
        ),
        far="c",
        start="a",
    ),
    "large-field": MapKind(
        "7×7, an open field with everything",
        limit=30,
        template=(".......",) * 7,
        scattered=_EVERYTHING,
        chance=(1.0, 1.0),
        together=(("key", "switch", "door"),),
    ),
    "bands": MapKind(
        "7×7: pickaxe, coal, iron, furnace and tool station in bands below each other, the agent above them",
        limit=30,
        template=("aaaaaaa", "bbbbbbb", "ccccccc", "ddddddd", "eeeeeee", "fffffff", "fffffff"),
        regions=(
            {
                "b": ("pickaxe",),
                "c": ("coal-ore-vein",),
                "d": ("iron-ore-vein",),
                "e": ("furnace",),
                "f": ("tool-station",),
            },
        ),
        far="f",
        start="a",
        turned=False,
    ),
}


def sample_map(
    kind: str,
    rng: np.random.Generator,
    needs: Sequence[str] = (),
    inventory: Sequence[str] = (),
    size: tuple[int, int] | None = None,
    limit: int | None = None,
) -> tuple[CraftingWorld, States]:
    """A random map of a kind: its world and its first state `[W]`.

    Args:
        kind: a name in `KINDS`.
        rng: where chance comes from.
        needs: objects that must be on the map, see `objects_for`; they are kept when the limit cuts.
        inventory: items that the agent holds.
        size: (height, width) other than the kind's own; for open fields only.
        limit: how many objects other than the kind's own.

    >>> from rsg.core.random import stream
    >>> world, state = sample_map("river", stream(0, "example"))
    >>> world.height, world.width, world.state_width
    (6, 6, 44)
    """
    plan = kind_named(kind)
    limit = plan.limit if limit is None else limit
    template = plan.template
    if size is not None:
        if set("".join(template)) != {"."}:
            raise RsgError(
                f"a map of kind {kind} has one size, {len(template)}×{len(template[0])}; open fields have any"
            )
        template = ("." * size[1],) * size[0]
    grid = np.array([list(row) for row in template])
    objects: dict[tuple[int, int], str] = {}
    _build_terrain(plan, grid, rng, objects)
    _fill_regions(plan, grid, rng, objects, needs)
    _scatter(plan, grid, rng, objects, needs, limit)
    agent = _free(grid, rng, objects, plan.start, "the agent")

    flip, turns = (int(rng.integers(2)), int(rng.integers(4))) if plan.turned else (0, 0)
    places = {_turned(place, grid.shape, flip, turns): name for place, name in objects.items()}
    height, width = grid.shape[::-1] if turns % 2 else grid.shape
    world = CraftingWorld(height, width, objects=limit)
    return world, world.state(places, _turned(agent, grid.shape, flip, turns), inventory)


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


def kind_named(name: str) -> MapKind:
    """The kind of that name, or an error with the nearest one."""
    if name not in KINDS:
        near = get_close_matches(name, KINDS, n=1)
        hint = f"did you mean {near[0]}? " if near else ""
        raise RsgError(f"there is no kind of map '{name}'; {hint}Kinds are: {', '.join(KINDS)}")
    return KINDS[name]


_Grid = NDArray[np.str_]
_Objects = dict[tuple[int, int], str]


def _build_terrain(plan: MapKind, grid: _Grid, rng: np.random.Generator, objects: _Objects) -> None:
    fence = [(int(y), int(x)) for y, x in np.argwhere(grid == "=")]
    objects.update(dict.fromkeys(fence, plan.fence))
    if fence:
        objects[fence[rng.integers(len(fence))]] = "door"
    objects.update({(int(y), int(x)): "water" for y, x in np.argwhere(grid == "~")})


def _fill_regions(
    plan: MapKind, grid: _Grid, rng: np.random.Generator, objects: _Objects, needs: Sequence[str]
) -> None:
    regions = plan.regions[rng.integers(len(plan.regions))]
    held = {name for choice in plan.regions for names in choice.values() for name in names}
    for region, names in regions.items():
        for name in names:
            objects[_free(grid, rng, objects, region, name)] = name
    if plan.far != ".":
        for name in needs or plan.goal:
            if name not in held and name not in objects.values():
                objects[_free(grid, rng, objects, plan.far, name)] = name


def _scatter(
    plan: MapKind, grid: _Grid, rng: np.random.Generator, objects: _Objects, needs: Sequence[str], limit: int
) -> None:
    """Objects anywhere: what is needed first, then by chance, groups whole, up to the limit."""
    chance = rng.uniform(*plan.chance)
    held = set(objects.values()) | {name for choice in plan.regions for names in choice.values() for name in names}
    allowed = [name for name in plan.scattered if plan.far == "." or name not in held]
    needed = [name for name in dict.fromkeys(needs) if name not in held]
    needed += [name for group in plan.together if set(group) & set(needed) for name in group if name not in needed]
    drawn = [name for name in allowed if name not in needed and rng.random() < chance]
    drawn = [drawn[i] for i in rng.permutation(len(drawn))]
    present = (needed + drawn)[: max(limit - len(objects), len(needed))]
    for group in plan.together:
        if not set(group) <= set(present):
            present = [name for name in present if name not in group]
    missing = [name for name in needed if name not in [*plan.scattered, *held]]
    if missing:
        raise RsgError(f"this kind of map cannot hold what the task needs: {', '.join(missing)}")
    if len(objects) + len(needed) > limit:
        raise RsgError(f"the task needs {len(needed)} objects, but the limit is {limit}")
    for name in present:
        objects[_free(grid, rng, objects, ".", name)] = name


def _free(grid: _Grid, rng: np.random.Generator, objects: _Objects, region: str, name: str) -> tuple[int, int]:
    """A random free cell of a region; `.` is all ground."""
    ground = np.argwhere(grid == region if region != "." else (grid != "~") & (grid != "="))
    cells = [(int(y), int(x)) for y, x in ground if (int(y), int(x)) not in objects]
    if not cells:
        raise RsgError(f"there is no free cell left for {name} on a map of {grid.shape[0]}×{grid.shape[1]}")
    return cells[rng.integers(len(cells))]


def _turned(place: tuple[int, int], shape: tuple[int, ...], flip: int, turns: int) -> tuple[int, int]:
    """Where a place goes when the map is mirrored, then turned by quarters."""
    (y, x), (height, width) = place, shape
    if flip:
        x = width - 1 - x
    for _ in range(turns):
        y, x, height, width = width - 1 - x, y, width, height
    return y, x
