"""The kinds of maps that the paper trains and tests on: `kinds.json`, read.

There, a kind that is `like` another says only how it differs, and a name in `groups` stands for several objects.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from rsg.core.errors import unknown
from rsg.core.files import shipped


@dataclass(frozen=True)
class MapKind:
    """How maps of one kind are drawn."""

    about: str  # what it is for, in a sentence
    limit: int  # at most so many objects, walls and water among them
    # objects that may lie anywhere on free ground, each with a chance drawn per map from `chance`
    scattered: Sequence[str] = ()
    chance: Sequence[float] = (0.0, 0.0)
    together: Sequence[Sequence[str]] = ()  # groups of scattered objects that come all or not at all
    # the plan of the map: letters are regions, `.` is free ground that belongs to all, `~` water, and one cell of all
    # `=` becomes a door, the others `fence`
    template: Sequence[str] = ("......",) * 6
    fence: str = "wall"
    # what lies in each region of the template; one of these is chosen per map
    regions: Sequence[Mapping[str, Sequence[str]]] = ({},)
    far: str = "."  # the region for what the task needs and no region holds; `goal` is put there if no task is given
    goal: Sequence[str] = ()
    start: str = "."  # the region in which the agent starts
    turned: bool = True  # whether the map is turned and mirrored at random

    @cached_property
    def own(self) -> frozenset[str]:
        """What the regions hold, in any of their variants."""
        return frozenset(name for choice in self.regions for names in choice.values() for name in names)


def _kinds() -> dict[str, MapKind]:
    content = json.loads(shipped("rsg.domains.crafting", "kinds.json"))
    given, groups = content["kinds"], content["groups"]

    def named(names: Sequence[str]) -> tuple[str, ...]:
        return tuple(one for name in names for one in groups.get(name, [name]))

    kinds = {}
    for name, own in given.items():
        values: dict[str, Any] = {**given.get(own.pop("like", None), {}), **own}
        values["scattered"] = named(values.get("scattered", ()))
        values["regions"] = [
            {region: named(names) for region, names in choice.items()} for choice in values.get("regions", [{}])
        ]
        kinds[name] = MapKind(**values)
    return kinds


KINDS = _kinds()


def kind_named(name: str) -> MapKind:
    """The kind of that name, or an error with the nearest one."""
    if name not in KINDS:
        raise unknown("kind of map", name, KINDS)
    return KINDS[name]
