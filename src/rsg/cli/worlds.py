"""The worlds of the command line: what a command asks of each, and the one place where they are listed."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

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
from rsg.worlds.crafting.goal_starts import leading_to, start_for
from rsg.worlds.crafting.kinds import KINDS
from rsg.worlds.crafting.pictures import sheet
from rsg.worlds.crafting.starts import Starts
from rsg.worlds.crafting.terminal import terminal_view as view_of_map
from rsg.worlds.crafting.text import write_map
from rsg.worlds.playroom import PlayroomWorld, load_layout
from rsg.worlds.playroom.layout_files import LAYOUTS, write_layout
from rsg.worlds.playroom.pictures import Trail, picture
from rsg.worlds.playroom.terminal import terminal_view as view_of_room
from rsg.worlds.playroom.truth import effectors_of

_PLACES = {"map", "layout"}  # options that say a place
_SIZE = 7  # rows and columns of a map for a goal
CELL, ROOM = 48, 800  # pixels of a cell, and of a room, in pictures

Where = str | None
"""A kind of map, a layout, or a file; None leaves it to the world."""
Started = tuple[Any, Any, dict[str, Any]]
"""A world, a first state, and where that is, for `--json`."""


@dataclass(frozen=True, kw_only=True)
class Face:
    """A world as the command line shows it.

    Attributes:
        name: the word for it.
        options: those that not every world has.
        order: how plans are searched for unless one says otherwise.
        dtype: of its states.
        examples: a task and a goal.
        setting: an example of what a demonstration says about its world.
        places: the named ones, and a few words about each.
        about: what `--json` says about a place that was asked for.
        start: at a place, such that all of some terms can be done, drawn with a seed; for a plan of which only the
            end is named, if so said, such that all can be done that may help.
        game: for a person, at a place, with a task or none, drawn with a seed.
        view: a state of the world for the terminal, as rich text.
        steps: in a line, the states `[T + 1, W]` and actions of a part of a trajectory in the world.
        values: what `rsg world --json` says of a state of the world.
        text: the same as a file that a person can edit and load.
        pictures: what draws it, given the pixels of a cell, by the option that asks for it.
    """

    name: str
    options: tuple[str, ...]
    order: str
    dtype: str
    examples: tuple[str, str]
    setting: str
    places: Mapping[str, str]
    about: Callable[[Where], dict[str, Any]]
    start: Callable[[Where, Sequence[str], int, bool], Started]
    game: Callable[[Where, str | None, int], Game]
    view: Callable[[Any, Any], Any]
    steps: Callable[[Any, Any, Any], str]
    values: Callable[[Any, Any], dict[str, Any]]
    text: Callable[[Any, Any], str]
    pictures: Mapping[str, Callable[[Any, Any, int], Any]]


def _on_a_map(place: Where, terms: Sequence[str], seed: int, goal: bool) -> Started:
    """For a goal: the map that was asked for, or one on which all that can help is within a walk; hands are empty."""
    if goal and place is None:
        return *start_for(terms[0], _SIZE, stream(seed, "world")), {}
    starts = Starts(place, leading_to(terms[0]) if goal else terms)  # holds that, though not always in reach
    return starts.world, starts.sample(stream(seed, "world")), {"kind": starts.kind}


def _of_a_map(world: Any, state: Any) -> dict[str, Any]:
    return {
        "height": world.height,
        "width": world.width,
        "capacity": world.capacity,
        "agent": [int(x) for x in state[:2]],
        "inventory": list(world.inventory(state)),
        "map": write_map(world, state),
    }


_CRAFTING = Face(
    name="crafting",
    options=("map", "sprites", "cell", "method"),
    order="deepest",
    dtype="uint8",
    examples=("grab-axe then mine-wood", "craft-boat"),
    setting='{"world": "crafting", "height": 6, "width": 6, "capacity": 6, "objects": 36}',
    places={name: kind.about for name, kind in KINDS.items()},
    about=lambda _: {},
    start=_on_a_map,
    game=lambda place, task, seed: Game(CraftingEnv(map=place, task=task), seed),
    view=view_of_map,
    steps=lambda world, _, actions: " ".join(world.actions[action] for action in actions),
    values=_of_a_map,
    text=write_map,
    pictures={
        "png": lambda world, state, cell: world.render(state, cell),
        "sprites": lambda world, _, cell: sheet(world.rules, cell),
    },
)


def _in_a_room(place: Where, terms: Sequence[str], seed: int, _: bool) -> Started:
    world = PlayroomWorld(load_layout(place or "paper"))
    effectors_of(world, terms)
    return world, world.start(stream(seed, "world")), _layout(place)


def _layout(place: Where) -> dict[str, Any]:
    return {"layout": str(place or "paper")}


def _moved(_: Any, states: Any, actions: Any) -> str:
    x, y, angle = states[-1][:3]
    return f"{quantity(len(actions), 'step'):>8} to ({x:.2f}, {y:.2f}), angle {angle:.2f}"


_PLAYROOM = Face(
    name="playroom",
    options=("layout", "roadmap", "png", "heat", "subgoals"),
    order="auto",
    dtype="float64",
    examples=("turn-on-music then play-with-ball", "ring-bell"),
    setting='{"world": "playroom", "layout": "paper"}',
    places=LAYOUTS,
    about=_layout,
    start=_in_a_room,
    game=lambda place, task, seed: Game(PlayroomEnv(place or "paper", task), seed, PLAYROOM),
    view=lambda world, state: view_of_room(world, state, colours=console().color_system is not None),
    steps=_moved,
    values=lambda world, state: {
        "room": list(world.layout.size),
        **world.told(state),
        "terms": list(world.layout.terms),
    },
    text=lambda world, state: write_layout(world.layout_at(state)),
    pictures={
        "png": lambda world, state, _: world.render(state, ROOM),
        "roadmap": lambda world, state, _: _roadmap_picture(world, state),
    },
)
FACES: Mapping[str, Face] = {face.name: face for face in (_CRAFTING, _PLAYROOM)}


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
