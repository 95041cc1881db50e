"""A world without a model: it is made of the recordings themselves.

Nothing is known of it but what happened: from each recorded state the recording went on to the next. That is a graph,
too, a chain with one choice at each state: to go on with a subgoal, or to be done with it. As far as it goes,
demonstrators are as rational on it as elsewhere.
"""

import re
from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

import numpy as np

from rsg.core.arrays import Array
from rsg.core.errors import RsgError
from rsg.worlds.protocol import States

RECORDED = "recorded"
ASSUMED = (
    "there is no model of this world, only what was recorded: it is assumed that what a description names was done in "
    "that order, that a subgoal ends when it comes true, and that the recorded numbers tell when that is"
)
NO_PLANS = (
    "this world is made of recordings, and nobody knows where another action would have led: nothing can be planned in "
    "it without a model; rsg domains lists worlds that have one"
)
_PART = re.compile(r"([^:,]+):(\d+(?:x\d+)*)")


class Recorded:
    """What recordings show where there is no simulator; it can be learned from and segmented, not planned in.

    Args:
        parts: what the numbers of a state are, in order: how many, or the shape of a grid of symbols or of things, by
            name. None: one row of numbers.
        columns: names of their columns and values, as a world may tell them, see `rsg.worlds.seen`.

    >>> kitchen = Recorded({"hand": 3, "drawer": 1})
    >>> {name: part.shape for name, part in kitchen.encode(np.zeros((5, 4))).items()}
    {'hand': (5, 3), 'drawer': (5, 1)}
    """

    actions = ("go on",)
    recorded = True

    def __init__(
        self, parts: Mapping[str, int | Sequence[int]] | None = None, columns: Mapping[str, Any] | None = None
    ) -> None:
        self.parts = {name: (one,) if isinstance(one, int) else tuple(one) for name, one in (parts or {}).items()}
        self.columns = dict(columns or {})

    def step(self, states: States, actions: Array) -> States:  # noqa: ARG002
        """Nobody knows: the states stay as they are."""
        return states.copy()

    def sample(self, rng: np.random.Generator, count: int) -> States:  # noqa: ARG002
        """Nobody can begin anything there."""
        raise RsgError(NO_PLANS)

    def encode(self, states: States) -> Any:
        """The recorded numbers, in their parts."""
        if not self.parts:
            return states
        ends = np.cumsum([prod(shape) for shape in self.parts.values()])
        if ends[-1] != states.shape[1]:
            raise RsgError(f"states have {states.shape[1]} numbers, {named(self.parts)} has {ends[-1]}")
        rows = zip(self.parts.items(), np.split(states, ends[:-1], axis=1), strict=True)
        return {name: part.reshape(len(states), *shape) for (name, shape), part in rows}


recorded = Recorded


def is_recorded(world: object) -> bool:
    """Whether nothing but recordings tells of a world."""
    return bool(getattr(world, "recorded", False))


def named(parts: Mapping[str, Sequence[int]]) -> str:
    """The name of such a world, as commands take it.

    >>> named({"agent": (3,), "grid": (8, 8, 3)})
    'recorded/agent:3,grid:8x8x3'
    """
    told = ",".join(f"{name}:{'x'.join(map(str, shape or (1,)))}" for name, shape in parts.items())
    return f"{RECORDED}/{told}" if told else RECORDED


def of_name(name: str) -> Recorded:
    """The world of such a name."""
    parts: dict[str, tuple[int, ...]] = {}
    told = name.partition("/")[2]
    for word in told.split(",") if told else ():
        found = _PART.fullmatch(word.strip())
        if not found:
            raise RsgError(f"'{word}' is no part of a state; write {RECORDED}/NAME:SIZE,NAME:8x8x3, in their order")
        parts[found[1]] = tuple(map(int, found[2].split("x")))
    return Recorded(parts)
