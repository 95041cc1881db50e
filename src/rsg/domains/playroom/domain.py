"""Playroom as a domain: its tasks, starts and expert, what a person sees of it, and what learns there."""

import json
import math
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from rsg.core.arrays import Array, Bools, Bytes, Floats
from rsg.core.errors import RsgError, unknown
from rsg.core.random import stream
from rsg.core.words import quantity
from rsg.demos import Demonstration
from rsg.domain import Controls, Domain, Illustration, Picture, PlaceOption, Positions
from rsg.domains.playroom import SHIPPED, Layout, PlayroomWorld, TrueGoals, load_layout
from rsg.domains.playroom.expert import BUDGET, expert
from rsg.domains.playroom.layout_files import LAYOUTS, layout_of, layout_values, write_layout
from rsg.domains.playroom.pictures import MARGIN
from rsg.domains.playroom.truth import effectors_of
from rsg.domains.playroom.world import POSE
from rsg.domains.splits import paper_tasks, printed, splits_of
from rsg.language import machine_of
from rsg.planning import Part, Plan
from rsg.search import Goals, SearchSettings

PAPER = "paper"  # the layout
MAX_DRAWS = 20
LATER_BUDGET = BUDGET // 4  # from the second start on: if there is no way at all, that must not take long to see
TURN = math.pi / 4
PLACE, TURNS = 0.5, 8  # units of length between places of the robot, and orientations at each
MOVES = {
    "w": ("up", (0.0, 1.0, 0.0)),
    "s": ("down", (0.0, -1.0, 0.0)),
    "a": ("left", (-1.0, 0.0, 0.0)),
    "d": ("right", (1.0, 0.0, 0.0)),
    "z": ("turn left", (0.0, 0.0, TURN)),
    "c": ("turn right", (0.0, 0.0, -TURN)),
}
CONTROLS = Controls(
    dict(MOVES.values()) | {f"half {name}": tuple(number / 2 for number in move) for name, move in MOVES.values()},
    {"z": "turn left", "c": "turn right"} | {key.upper(): f"half {name}" for key, (name, _) in MOVES.items()},
    "arrows or wasd move   z c turn   capitals: half as far",
)


class Playroom(Domain[PlayroomWorld]):
    """The tasks of the paper, in its room or another one.

    layout: another room than the paper's: a name, a file, or a layout. Splits with terms that it lacks are left out.
    """

    name = "playroom"
    title = "Playroom"
    no_splits = "none; this layout lacks terms of the paper's tasks: give your own tasks"
    places = LAYOUTS
    place_option = PlaceOption(("--layout",), "NAME|FILE", "A layout (see rsg world playroom --list) or a JSON file.")
    examples = ("turn-on-music then play-with-ball", "ring-bell")
    example_place = "narrow"
    example = '{"world": "playroom", "layout": "paper"}'
    dtype = "float64"
    presets = {
        "rsg": {"encoder": "relative"},
        "irl": {"steps": 2400, "warm_up": 0.3},
        "lstm": {"steps": 2000},
    }
    pixels = {"small": 200, "usual": 384, "large": 800}  # of the longer side
    networks = "rsg.domains.playroom.relative:NETWORKS"
    visions = "rsg.domains.playroom.vision:VISIONS"
    published = printed(__package__)

    def __init__(self, layout: str | Path | Layout = PAPER, custom: Sequence[str] = ()) -> None:
        self._world = PlayroomWorld(layout if isinstance(layout, Layout) else load_layout(layout))
        self.vocabulary = self._world.layout.terms
        for text in custom:
            self.read(text)
        known = set(self.vocabulary)
        primitive, compositional, novel = map(tuple, paper_tasks(__package__).values())
        splits = splits_of(primitive, compositional, {"novel": novel}, tuple(custom))
        self.splits = {
            name: tasks for name, tasks in splits.items() if all(set(machine_of(text).names) <= known for text in tasks)
        }

    def world(self, setting: str = "") -> PlayroomWorld:
        """A room from the name of a layout that comes with rsg, or from all its values."""
        return _world(setting)

    def setting_of(self, world: PlayroomWorld) -> str:
        return _setting(world)

    def at(self, place: str | None = None, tasks: Sequence[str] = ()) -> "Playroom":
        found = Playroom(place or self._world.layout, tasks)
        found.place, found.own, found.found_as = place or self.place, tuple(tasks), self.found_as
        return found

    def within(self, setting: str) -> "Playroom":
        found, named = Playroom(self.world(setting).layout), json.loads(setting)["layout"]
        found.place, found.found_as = named if isinstance(named, str) and named != PAPER else None, self.found_as
        return found

    def unfit(self, setting: str, world: PlayroomWorld) -> str:
        learned, here = _things(self.world(setting)), _things(world)
        if learned == here:
            return ""
        return (
            f"was trained in a room with {learned}, this one has {here}; subgoals know effectors by their order, so "
            "use it where there are the same ones (--layout), or train another run"
        )

    def start(self, terms: Sequence[str], rng: np.random.Generator, goal: bool = False) -> tuple[PlayroomWorld, Floats]:
        """The room, effectors free of walls and of each other, the robot free of all; every task can begin there."""
        effectors_of(self._world, terms)
        return self._world, self._world.start(rng)

    def truth(self, world: PlayroomWorld, states: Array, terms: Sequence[str]) -> Bools:
        return TrueGoals(world, terms).holds(states)

    def true_goals(self, world: PlayroomWorld, terms: Sequence[str], state: Array) -> TrueGoals:
        return TrueGoals(world, terms)

    def expert(
        self, world: PlayroomWorld, state: Array, task: str, rng: np.random.Generator, noise: float = 0.0
    ) -> tuple[Array, Array] | None:
        return expert(world, state, machine_of(task), rng, noise)

    def demonstrate(
        self, split: str, task: int, rng: np.random.Generator, noise: float = 0.0
    ) -> tuple[Demonstration, int]:
        text = self.tasks(split)[task]
        for draw in range(1, MAX_DRAWS + 1):
            world, state = self.start_of(split, task, rng)
            budget = BUDGET if draw == 1 else LATER_BUDGET
            found = expert(world, state, machine_of(text), rng, noise, budget)
            if found is not None:
                return Demonstration(*found, task=text, setting=self.setting_of(world)), draw
        reason = "an effector is out of reach, the task asks twice for the same, or it takes too many steps"
        raise RsgError(f"no demonstration of '{text}' was found in {quantity(MAX_DRAWS, 'start')}; {reason}")

    def view(self, world: PlayroomWorld, state: Array, colours: bool = True) -> Any:
        from rsg.domains.playroom.terminal import terminal_view

        return terminal_view(world, state, colours=colours)

    def steps(self, world: PlayroomWorld, states: Array, actions: Array) -> str:
        x, y, angle = states[-1][:3]
        return f"{quantity(len(actions), 'step'):>8} to ({x:.2f}, {y:.2f}), angle {angle:.2f}"

    def told(self, world: PlayroomWorld, state: Array) -> dict[str, Any]:
        return {"room": list(world.layout.size), **world.told(state), "terms": list(world.layout.terms)}

    def about(self) -> dict[str, Any]:
        return {"layout": str(self.place or PAPER)}

    def text(self, world: PlayroomWorld, state: Array) -> str:
        return write_layout(world.layout_at(state))

    def things(self, world: PlayroomWorld) -> Sequence[str]:
        return ("agent", *(effector.name for effector in world.layout.effectors))

    def put(
        self, world: PlayroomWorld, state: Floats, thing: str, at: tuple[float, float]
    ) -> tuple[PlayroomWorld, Floats]:
        """What is there already is moved."""
        (width, height), names = world.layout.size, self.things(world)
        if thing not in names:
            raise unknown("thing", thing, names)
        place = (at[0] * (width + 2 * MARGIN) - MARGIN, (1 - at[1]) * (height + 2 * MARGIN) - MARGIN)
        after, number = state.copy(), names.index(thing)
        low = POSE + 2 * (number - 1) if number else 0
        after[low : low + 2] = place
        return world, world.checked_start(after)

    def positions(self, world: PlayroomWorld, state: Floats) -> Positions:
        (width, height), turns = world.layout.size, np.arange(TURNS) * 2 * np.pi / TURNS
        xs, ys = np.arange(PLACE / 2, width, PLACE), np.arange(height - PLACE / 2, 0, -PLACE)
        y, x, angle = np.meshgrid(ys, xs, turns, indexing="ij")
        states = np.repeat(state[None], x.size, axis=0)
        states[:, :3] = np.stack([x.ravel(), y.ravel(), angle.ravel()], axis=1)
        wide, high = width + 2 * MARGIN, height + 2 * MARGIN
        box = (MARGIN / wide, MARGIN / high, (MARGIN + width) / wide, (MARGIN + height) / high)
        return Positions(states, len(ys), len(xs), box, world.free(states))

    def controls(self, world: PlayroomWorld) -> Controls:
        return CONTROLS

    @property
    def pictures(self) -> Mapping[str, Picture]:
        from rsg.domains.playroom.learned import heat_picture, roadmap_picture

        large = self.pixels["large"]
        return {
            "roadmap": Picture(
                "Write a picture of the roadmap on the floor.",
                lambda world, state, pixels, _: roadmap_picture(world, state, pixels or large),
            ),
            "heat": Picture(
                "Write a picture of where learned subgoals hold.",
                lambda world, state, _, subgoals: heat_picture(subgoals, world, state),
                learned=True,
            ),
        }

    def trail(self, world: PlayroomWorld, states: Array, parts: Sequence[Part], ended: int) -> Bytes:
        from rsg.domains.playroom.learned import floor_plan

        return floor_plan(world, states, parts, ended)

    def plan_picture(self, world: PlayroomWorld, made: Plan, goals: Goals, settings: SearchSettings) -> Bytes:
        """The robot's outlines along the way, the end of each subgoal, and the tree that the planner `rrt` grew."""
        from rsg.domains.playroom.learned import plan_picture

        return plan_picture(world, made, goals, settings, self.pixels["large"])

    def illustrations(self, subgoals: Any, settings: Any) -> list[Illustration]:
        from rsg.domains.playroom.learned import heat_illustration

        return [heat_illustration(subgoals, *self.start_of("novel", 0, stream(0, "report", "heat")))]


@lru_cache(maxsize=1000)
def _world(setting: str) -> PlayroomWorld:
    try:
        values = json.loads(setting)
        if values.pop("world") != Playroom.name or set(values) != {"layout"}:
            raise ValueError(setting)
        layout = values["layout"]
        return PlayroomWorld(load_layout(layout) if layout in SHIPPED else layout_of(layout))
    except (ValueError, TypeError, KeyError, AttributeError):
        raise RsgError(f"this is not a setting of {Playroom.title}: {setting!r}") from None


@cache
def _setting(world: PlayroomWorld) -> str:
    name = next((name for name in SHIPPED if load_layout(name) == world.layout), None)
    return json.dumps({"world": "playroom", "layout": name or layout_values(world.layout)})


def _things(world: PlayroomWorld) -> str:
    names = [effector.name for effector in world.layout.effectors]
    return f"{quantity(len(names), 'effector')} ({', '.join(names)})"
