"""The kinds of maps that the paper trains and tests on, as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from rsg.core.errors import unknown

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
    regions: tuple[Mapping[str, tuple[str, ...]], ...] = ({},)
    far: str = "."
    goal: tuple[str, ...] = ()
    start: str = "."
    turned: bool = True

    @cached_property
    def own(self) -> frozenset[str]:
        """What the regions hold, in any of their variants."""
        return frozenset(name for choice in self.regions for names in choice.values() for name in names)


_FIELD = MapKind(
    "an open field with some of everything, a key and a door",
    limit=8,
    scattered=("key", "door", "pickaxe", "axe", *RESOURCES, *STATIONS),
    chance=(0.5, 1.0),
    together=(("key", "door"),),
)
_SWITCH_FIELD = MapKind(
    "an open field with some of everything, a switch and a door, some river and wall",
    limit=8,
    scattered=("switch", "door", "pickaxe", "axe", *RESOURCES, *STATIONS, *("water", "wall") * 2),
    chance=(0.5, 1.0),
    together=(("switch", "door"),),
)
_WALL = MapKind(
    "a wall with a door across the map; the key is on the agent's side",
    limit=23,
    template=("aaaaaa", "aaaaaa", "======", "bbbbbb", "bbbbbb", "bbbbbb"),
    regions=({"a": ("key",)},),
    far="b",
    goal=("axe",),
    start="a",
    scattered=(*RESOURCES, *STATIONS),
    chance=(0.0, 0.5),
)
_GOLD = ("pickaxe", "gold-ore-vein")

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
    "field": _FIELD,
    "switch-field": _SWITCH_FIELD,
    "full-field": replace(_FIELD, about="like field, fuller", limit=23),
    "full-switch-field": replace(_SWITCH_FIELD, about="like switch-field, fuller", limit=23),
    "key-door": _WALL,
    "switch-door": replace(
        _WALL,
        about="a wall with a door across the map; the switch is on the agent's side",
        regions=({"a": ("switch",)},),
        goal=("beetroot-crop",),
    ),
    "river": replace(
        _WALL,
        about="a river across the map; all that a boat takes is on the agent's side",
        template=("aaaaaa", "aaaaaa", "aaaaaa", "~~~~~~", "bbbbbb", "bbbbbb"),
        regions=({"a": BOATYARD},),
        goal=("sugar-cane-plant",),
    ),
    "river-and-room": replace(
        _WALL,
        about="a river across the map; the axe for the boat is in a locked room",
        template=("aaaa=r", "aaaaa=", "aaaaaa", "~~~~~~", "bbbbbb", "bbbbbb"),
        regions=({"a": ("key", *BOATYARD[1:]), "r": ("axe",)},),
        goal=("potato-plant",),
    ),
    "key-or-boat": replace(
        _WALL,
        about="a river with a door in it: a key or a boat leads to the pickaxe and the gold",
        template=("aaaaaa", "aaaaaa", "aaaaaa", "======", "bbbbbb", "bbbbbb"),
        fence="water",
        regions=tuple({"a": way, "b": _GOLD} for way in (("key",), BOATYARD, ("key", *BOATYARD))),
        goal=(),
    ),
    "islands": MapKind(
        "by boat to a key or a switch, which opens the room with pickaxe and furnace; ore and coal on other islands",
        limit=23,
        template=("aaa~bb", "aaa~bb", "~~~~~~", "cc~ddd", "cc~d==", "cc~=rr"),
        regions=tuple(
            {"a": BOATYARD, "b": (way,), "c": ("iron-ore-vein",), "d": ("coal-ore-vein",), "r": ("pickaxe", "furnace")}
            for way in ("key", "switch")
        ),
        far="c",
        start="a",
    ),
    "large-field": MapKind(
        "7×7, an open field with everything",
        limit=30,
        template=(".......",) * 7,
        scattered=("key", "switch", "door", "pickaxe", "axe", *RESOURCES, *STATIONS, *("water", "wall") * 4),
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


def kind_named(name: str) -> MapKind:
    """The kind of that name, or an error with the nearest one."""
    if name not in KINDS:
        raise unknown("kind of map", name, KINDS)
    return KINDS[name]
