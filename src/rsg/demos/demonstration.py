"""One demonstration: what was seen, what was done, and the words that go with it."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeVar

import numpy as np

from rsg.core.arrays import Array
from rsg.core.errors import RsgError

T = TypeVar("T")


class Trajectory(Protocol):
    """What was seen and done: states `[T + 1, W]`, actions `[T]` or `[T, D]`; nothing may have been done yet.

    Where only was seen, not done, the actions are None.
    """

    @property
    def states(self) -> Array: ...  # noqa: D102

    @property
    def actions(self) -> Array | None: ...  # noqa: D102


@dataclass(frozen=True, eq=False)
class Demonstration:
    """A trajectory and the description of its task. It needs no world to be loaded.

    Attributes:
        states: `[T + 1, W]` rows of the world, T ≥ 1.
        actions: `[T]` indices, or `[T, D]` vectors in a continuous world; None where a recording has none.
        task: the description, as text; empty where a recording has none.
        setting: what the world must know to replay it, as text (JSON); empty if nothing.

    >>> demo = Demonstration(np.zeros((3, 4)), np.array([0, 1]), "grab-axe")
    >>> len(demo)
    2
    """

    states: Array
    actions: Array | None
    task: str
    setting: str = ""

    def __post_init__(self) -> None:
        if not isinstance(self.task, str) or not isinstance(self.setting, str):
            raise RsgError(f"the task and the setting of a demonstration are text, not {self.task!r}, {self.setting!r}")
        object.__setattr__(self, "states", np.asarray(self.states))
        if self.actions is not None:
            object.__setattr__(self, "actions", np.asarray(self.actions))
        self._check_shapes()
        for values in (self.states, self.actions):
            if values is not None and (values.dtype.kind not in "biuf" or not values.dtype.isnative):
                named = "; an action is its place in the world's `actions`" if values.dtype.kind == "U" else ""
                raise RsgError(
                    f"a demonstration holds numbers in the machine's own byte order, not {values.dtype}{named}"
                )
        if "\0" in self.task + self.setting:
            raise RsgError("the text of a demonstration must not contain a null character")

    def _check_shapes(self) -> None:
        """An error unless there is one state more than actions."""
        states, actions = self.states, self.actions
        if states.ndim != 2 or (actions is not None and actions.ndim not in (1, 2)):
            shapes = f"{states.shape} and {None if actions is None else actions.shape}"
            raise RsgError(f"a demonstration has states [T + 1, W] and actions [T] or [T, D], got {shapes}")
        if actions is None and len(states) < 2:
            raise RsgError(f"a demonstration has at least two states, got {len(states)}")
        if actions is not None and (len(states) != len(actions) + 1 or len(actions) == 0):
            raise RsgError(
                f"a demonstration has at least one action and one state more than actions, "
                f"got {len(states)} states and {len(actions)} actions"
            )

    def __len__(self) -> int:
        """The number of steps."""
        return len(self.states) - 1

    def first(self, steps: int) -> "Demonstration":
        """Its first steps, as it was when somebody had only begun."""
        if not 1 <= steps <= len(self):
            raise RsgError(f"a demonstration of {len(self)} steps has no first {steps}")
        actions = None if self.actions is None else self.actions[:steps]
        return replace(self, states=self.states[: steps + 1], actions=actions)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Demonstration) and all(
            (
                self.task == other.task,
                self.setting == other.setting,
                _same(self.states, other.states),
                _same(self.actions, other.actions),
            )
        )

    def __hash__(self) -> int:
        actions = b"" if self.actions is None else self.actions.tobytes()
        return hash((self.task, self.setting, self.states.tobytes(), actions))


def _same(one: Array | None, other: Array | None) -> bool:
    if one is None or other is None:
        return one is other
    return one.dtype == other.dtype and np.array_equal(one, other)


def actions_of(trajectory: Trajectory) -> Array:
    """The actions, where they are needed: an error if they are missing."""
    return known_actions(trajectory.actions)


def known_actions(actions: Array | None) -> Array:
    """The same, of actions that may be missing."""
    if actions is None:
        how = "rsg demos import STORE --out DIR --world WORLD --find-actions finds them"
        raise RsgError(f"this recording has no actions, and they are needed here; {how}")
    return actions


Demonstrator = Any
"""Who can show tasks and judge what was done: a `rsg.domain.Domain`, which stands above this room."""


def met(world: T, demo: Demonstration) -> T:
    """The world of a demonstration, which knows its states: a wrapped environment only knows those that it was in."""
    if hasattr(world, "meet") and demo.actions is not None:
        world.meet(demo)
    return world


def by_world(items: Iterable[tuple[Any, T]]) -> list[tuple[Any, list[T]]]:
    """Each world (the same object) with all that came with it, in the order of first appearance.

    >>> first, second = object(), object()
    >>> [things for _, things in by_world([(first, "a"), (second, "b"), (first, "c")])]
    [['a', 'c'], ['b']]
    """
    found: dict[int, tuple[Any, list[T]]] = {}  # the world itself too: the id of one that is gone is reused
    for world, thing in items:
        found.setdefault(id(world), (world, []))[1].append(thing)
    return list(found.values())
