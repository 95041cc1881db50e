"""The worlds of the command line: what a command asks of each, and the one place where they are listed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from rsg.cli.output import console
from rsg.core.errors import RsgError, unknown
from rsg.core.random import stream
from rsg.core.words import quantity
from rsg.envs import CraftingEnv, PlayroomEnv
from rsg.envs.game import PLAYROOM, Game
from rsg.language import Machine
from rsg.planning import Plan
from rsg.search import Goals, SearchSettings, TreeSearch, roadmap
from rsg.worlds.crafting import terminal as crafting_terminal
from rsg.worlds.crafting.goal_starts import leading_to, start_for
from rsg.worlds.crafting.kinds import KINDS
from rsg.worlds.crafting.pictures import sheet
from rsg.worlds.crafting.starts import Starts
from rsg.worlds.crafting.text import write_map
from rsg.worlds.playroom import PlayroomWorld, load_layout
from rsg.worlds.playroom import terminal as playroom_terminal
from rsg.worlds.playroom.layout_files import LAYOUTS, write_layout
from rsg.worlds.playroom.pictures import Trail, picture
from rsg.worlds.playroom.truth import effectors_of

Place = str | Path | None
"""Where: a kind of map, a layout, or a file; None leaves it to the world."""

_PLACES = {"kind", "map", "layout"}  # options that say a place
_SIZE = 7  # rows and columns of a map for a goal
CELL, ROOM = 48, 800  # pixels of a cell, and of a room, in pictures


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
    places: Mapping[str, str]
    """The named places, and a few words about each."""

    def start(self, place: Place, terms: Sequence[str], seed: int) -> tuple[Any, Any, dict[str, Any]]:
        """A world, a first state in which all terms can be done, and where that is, for `--json`."""

    def goal_start(self, place: Place, term: str, seed: int) -> tuple[Any, Any]:
        """A world and a first state for a plan of which only the end is named."""
        return self.start(place, [term], seed)[:2]

    def game(self, place: Place, task: str | None, seed: int) -> Game:
        """A game for a person."""

    def view(self, world: Any, state: Any) -> Any:
        """A state for the terminal, as rich text."""

    def steps(self, world: Any, states: Any, actions: Any) -> str:
        """Some actions, and the states `[T + 1, W]` that they lead through, in a line."""

    def values(self, world: Any, state: Any) -> dict[str, Any]:
        """What `rsg world --json` says of a start."""

    def text(self, world: Any, state: Any) -> str:
        """The start as a file that a person can edit and load."""

    def pictures(self, world: Any, state: Any, cell: int) -> Mapping[str, Any]:
        """What draws a start, by the option that asks for it; `cell`: pixels of a cell."""

    def about(self, place: Place) -> dict[str, Any]:
        """What `--json` says about the place that was asked for."""
        del place
        return {}


class _Crafting(Face):
    """A place is a kind of map or a map file."""

    name = "crafting"
    options = ("kind", "map", "sprites", "cell", "method")
    order = "deepest"
    dtype = "uint8"
    examples = ("grab-axe then mine-wood", "craft-boat")
    setting = '{"world": "crafting", "height": 6, "width": 6, "capacity": 6, "objects": 36}'
    places: Mapping[str, str] = {name: kind.about for name, kind in KINDS.items()}

    def start(self, place: Place, terms: Sequence[str], seed: int) -> tuple[Any, Any, dict[str, Any]]:
        starts = Starts(place, terms)
        return starts.world, starts.sample(stream(seed, "world")), {"kind": starts.kind}

    def goal_start(self, place: Place, term: str, seed: int) -> tuple[Any, Any]:
        """The map that was asked for, or one on which all that can help is within a walk; hands are empty."""
        if place is None:
            return start_for(term, "empty", _SIZE, stream(seed, "world"))
        return self.start(place, leading_to(term), seed)[:2]  # holds what may be needed, though not always in reach

    def game(self, place: Place, task: str | None, seed: int) -> Game:
        return Game(CraftingEnv(map=place, task=task), seed)

    def view(self, world: Any, state: Any) -> Any:
        return crafting_terminal.terminal_view(world, state)

    def steps(self, world: Any, states: Any, actions: Any) -> str:
        del states
        return " ".join(world.actions[action] for action in actions)

    def values(self, world: Any, state: Any) -> dict[str, Any]:
        return {
            "height": world.height,
            "width": world.width,
            "capacity": world.capacity,
            "agent": [int(x) for x in state[:2]],
            "inventory": list(world.inventory(state)),
            "map": self.text(world, state),
        }

    def text(self, world: Any, state: Any) -> str:
        return write_map(world, state)

    def pictures(self, world: Any, state: Any, cell: int) -> Mapping[str, Any]:
        return {"png": lambda: world.render(state, cell), "sprites": lambda: sheet(world.rules, cell)}


class _Playroom(Face):
    """A place is a layout: one that comes with rsg, or a file."""

    name = "playroom"
    options = ("layout", "roadmap", "png", "heat", "subgoals")
    order = "auto"
    dtype = "float64"
    examples = ("turn-on-music then play-with-ball", "ring-bell")
    setting = '{"world": "playroom", "layout": "paper"}'
    places: Mapping[str, str] = LAYOUTS

    def start(self, place: Place, terms: Sequence[str], seed: int) -> tuple[Any, Any, dict[str, Any]]:
        about = self.about(place)
        world = PlayroomWorld(load_layout(place or about["layout"]))
        effectors_of(world, terms)
        return world, world.start(stream(seed, "world")), about

    def game(self, place: Place, task: str | None, seed: int) -> Game:
        return Game(PlayroomEnv(place or "paper", task), seed, PLAYROOM)

    def view(self, world: Any, state: Any) -> Any:
        return playroom_terminal.terminal_view(world, state, colours=console().color_system is not None)

    def steps(self, world: Any, states: Any, actions: Any) -> str:
        del world
        x, y, angle = states[-1][:3]
        return f"{quantity(len(actions), 'step'):>8} to ({x:.2f}, {y:.2f}), angle {angle:.2f}"

    def values(self, world: Any, state: Any) -> dict[str, Any]:
        return {"room": list(world.layout.size), **world.told(state), "terms": list(world.layout.terms)}

    def text(self, world: Any, state: Any) -> str:
        return write_layout(world.layout_at(state))

    def pictures(self, world: Any, state: Any, cell: int) -> Mapping[str, Any]:
        del cell
        return {"png": lambda: world.render(state, ROOM), "roadmap": lambda: _roadmap_picture(world, state)}

    def about(self, place: Place) -> dict[str, Any]:
        return {"layout": str(place or "paper")}


def plan_picture(world: PlayroomWorld, plan: Plan, goals: Goals, settings: SearchSettings) -> Any:
    """The robot's outlines along the way, the end of each subgoal, and the tree that the planner `rrt` grew."""
    tree = None
    if settings.planner == "rrt":  # the same search once more: it ends with the same tree
        search = TreeSearch(world, plan.states[0], Machine.of(plan.task), goals, settings)
        search.run()
        tree = search.tree()
    trail = Trail(plan.states, [(part.end, part.term) for part in plan.parts])
    return picture(world, plan.states[0], ROOM, trail, tree)


def _roadmap_picture(world: Any, state: Any) -> Any:
    """The roadmap on the floor of a room."""
    roads = roadmap(world, state)
    one = np.repeat(np.arange(len(roads.states)), np.diff(roads.edge_start))
    links = np.stack([one, roads.edge_end], axis=1)
    return picture(world, state, ROOM, links=(roads.states, links[links[:, 0] < links[:, 1]]))


FACES: Mapping[str, Face] = {face.name: face for face in (_Crafting(), _Playroom())}


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
