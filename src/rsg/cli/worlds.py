"""The worlds of the command line: what a command asks of each, and the one place where they are listed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from rsg.cli.crafting_face import Crafting
from rsg.cli.playroom_face import Playroom
from rsg.core.errors import RsgError, unknown

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rsg.envs.game import Game
    from rsg.planning import Plan
    from rsg.search import Goals, SearchSettings
    from rsg.subgoals import Segmentation

Place = str | Path | None
"""Where: a kind of map, a layout, or a file; None leaves it to the world."""

_PLACES = {"kind", "map", "layout"}  # options that say a place


class Face(Protocol):
    """A world as the command line shows it."""

    name: str
    """The word for it."""
    options: tuple[str, ...]
    """The options that not every world has."""
    order: str
    """How plans are searched for unless one says otherwise."""
    dtype: str
    """Of its states."""
    setting: str
    """An example of what a demonstration says about its world."""
    examples: tuple[str, str]
    """A task and a goal."""

    def places(self) -> Mapping[str, str]:
        """The named places, and a few words about each."""
        ...

    def start(self, place: Place, terms: Sequence[str], seed: int) -> tuple[Any, Any, dict[str, Any]]:
        """A world, a first state in which all terms can be done, and where that is, for `--json`."""
        ...

    def goal_start(self, place: Place, term: str, seed: int) -> tuple[Any, Any]:
        """A world and a first state for a plan of which only the end is named."""
        ...

    def game(self, place: Place, task: str | None, seed: int) -> Game:
        """A game for a person."""
        ...

    def view(self, world: Any, state: Any) -> Any:
        """A state for the terminal, as rich text."""
        ...

    def steps(self, world: Any, states: Any, actions: Any) -> str:
        """Some actions, and the states `[T + 1, W]` that they lead through, in a line."""
        ...

    def values(self, world: Any, state: Any) -> dict[str, Any]:
        """What `rsg world --json` says of a start."""
        ...

    def text(self, world: Any, state: Any) -> str:
        """The start as a file that a person can edit and load."""
        ...

    def pictures(self) -> Mapping[str, Any]:
        """Functions of world, state and the size of a cell to pictures, by the option that asks for one."""
        ...

    def plan_picture(self, world: Any, plan: Plan, goals: Goals, settings: SearchSettings) -> NDArray[Any]:
        """A plan, and how it was searched for, as a picture."""
        ...

    def draw_steps(self, path: Path, world: Any, steps: tuple[Any, Any], found: Segmentation, note: str) -> None:
        """Write a picture of which subgoal each step of a trajectory, its states and its actions, served."""
        ...

    def about(self, place: Place) -> dict[str, Any]:
        """What `--json` says about the place that was asked for."""
        ...


FACES: Mapping[str, Face] = {face.name: face for face in (Crafting(), Playroom())}


def face_named(name: str, **given: Any) -> Face:
    """The world of that name; it is an error if an option was given (is not None) that it does not have."""
    if name not in FACES:
        raise unknown("world", name, FACES)
    face = FACES[name]
    for option, value in given.items():
        if value is not None and option not in face.options:
            others = " and ".join(other.name for other in FACES.values() if option in other.options)
            own = " and ".join(f"--{own}" for own in face.options if {own, option} <= _PLACES)
            raise RsgError(f"--{option} is for {others}, not for {name}" + (f", which has {own}" if own else ""))
    return face


def action_values(world: Any, actions: Any) -> list[Any]:
    """Actions as plain values: their names, or numbers in a continuous world."""
    return [world.actions[action] for action in actions] if hasattr(world, "actions") else actions.tolist()
