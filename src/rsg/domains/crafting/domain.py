"""Crafting World as a domain: its tasks, starts and expert, what a person sees of it, and what learns there."""

import json
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from typing import Any

import numpy as np

from rsg.core.arrays import Array, Bools, Bytes
from rsg.core.errors import RsgError
from rsg.core.words import quantity
from rsg.demos import Demonstration
from rsg.domain import Controls, Domain, Illustration, Picture, PlaceOption, Positions
from rsg.domains.crafting import STANDARD, VOCABULARY, CraftingWorld, kernels
from rsg.domains.crafting.expert import asked_for, expert
from rsg.domains.crafting.kinds import KINDS
from rsg.domains.crafting.maps import kind_named, sample_map
from rsg.domains.crafting.pictures import strip_rows
from rsg.domains.crafting.starts import leading_to, names_a_file, start_for, start_on
from rsg.domains.crafting.tasks import (
    COMPOSITIONAL,
    FULL_MAPS,
    GOAL_ONLY,
    NOVEL,
    PRIMITIVE,
    TRAINING_MAPS,
    Items,
    TaskSpec,
)
from rsg.domains.crafting.text import load_map, write_map
from rsg.domains.crafting.truth import TrueGoals
from rsg.domains.crafting.world import States
from rsg.domains.splits import printed, splits_of

MAX_DRAWS = 1000
MORE_ITEMS = 0.66  # the chance of one more random item in the hands, while there is room
MOST_PIXELS = 2000  # of the longer side of a picture
MOST_PLACES = 10_000
GOAL_SIZE = 7  # rows and columns of a map for a goal

_ITEMS = tuple(thing.name for thing in STANDARD.things if thing.kind == "item")
_KEYS = frozenset(thing.key for thing in STANDARD.things if thing.key)


class Crafting(Domain[CraftingWorld]):
    """The tasks of the paper, with random maps that hold what they need."""

    name = "crafting"
    title = "Crafting World"
    vocabulary = VOCABULARY
    places = {name: kind.about for name, kind in KINDS.items()}
    place_option = PlaceOption(
        ("--map", "--kind"),
        "KIND|FILE",
        "A kind of map (see rsg world crafting --list) or a map file; else a random one that holds what is needed.",
    )
    examples = ("grab-axe then mine-wood", "craft-boat")
    example_place = "garden"
    example = '{"world": "crafting", "height": 6, "width": 6, "capacity": 6, "objects": 36}'
    dtype = "uint8"
    pixels = {"small": 20, "usual": 48, "large": 48}  # of a cell
    networks = "rsg.domains.crafting.images:NETWORKS"
    visions = "rsg.domains.crafting.vision:VISIONS"
    published = printed(__package__)

    def __init__(self, custom: Sequence[TaskSpec] = ()) -> None:
        self.splits = splits_of(PRIMITIVE, COMPOSITIONAL, {"novel": NOVEL, "goal-only": GOAL_ONLY}, tuple(custom))

    def world(self, setting: str = "") -> CraftingWorld:
        return _world(setting)

    def setting_of(self, world: CraftingWorld) -> str:
        sizes = {name: getattr(world, name) for name in ("height", "width", "capacity", "objects")}
        return json.dumps({"world": "crafting", **sizes})

    def at(self, place: str | None = None, tasks: Sequence[str] = ()) -> "Crafting":
        """Tasks of one's own, on a kind of map, a map file, or an open field that holds what they need."""
        found = Crafting([custom_task(str(self.read(text)), place) for text in tasks])
        found.place, found.own, found.found_as = place, tuple(tasks), self.found_as
        return found

    def start(self, terms: Sequence[str], rng: np.random.Generator, goal: bool = False) -> tuple[CraftingWorld, States]:
        """For a goal: the map that was asked for, or one on which all that can help is within a walk; empty hands."""
        if goal and self.place is None:
            return start_for(terms[0], GOAL_SIZE, rng)
        return start_on(self.place, leading_to(terms[0]) if goal else terms, rng)  # holds that, not always in reach

    def start_of(self, split: str, task: int, rng: np.random.Generator) -> tuple[CraftingWorld, States]:
        """A map that holds what the task needs, and hands that hold what it takes for granted, plus random items."""
        if self.place is not None and split != "custom":
            raise RsgError("--map is for tasks of your own: give at least one --task")
        spec = self.split(split)[task]
        asked = asked_for(spec.text)
        if spec.maps[0] not in KINDS:
            return _loaded(spec.maps[0])
        fitting = _fitting(spec, asked.needs)
        kind = fitting[rng.integers(len(fitting))]
        world, state = sample_map(kind, rng, asked.needs)
        # Where one thing stands in the way, what opens it must not be in the hands already.
        barred = asked.produced | (_KEYS if KINDS[kind].far != "." else frozenset())
        held = _hands(spec.given, barred, world.capacity, rng)
        state[kernels.HEAD : kernels.HEAD + len(held)] = held
        return world, state

    def truth(self, world: CraftingWorld, states: Array, terms: Sequence[str]) -> Bools:
        return TrueGoals(world, terms).holds(states)

    def true_goals(self, world: CraftingWorld, terms: Sequence[str], state: Array) -> TrueGoals:
        return TrueGoals(world, terms)

    def expert(
        self, world: CraftingWorld, state: Array, task: str, rng: np.random.Generator, noise: float = 0.0
    ) -> tuple[Array, Array] | None:
        return expert(world, state, task, rng, noise)

    def demonstrate(
        self, split: str, task: int, rng: np.random.Generator, noise: float = 0.0
    ) -> tuple[Demonstration, int]:
        spec = self.split(split)[task]
        for draw in range(1, MAX_DRAWS + 1):
            world, state = self.start_of(split, task, rng)
            found = expert(world, state, spec.text, rng, noise)
            if found is not None:
                return Demonstration(*found, task=spec.text, setting=self.setting_of(world)), draw
            if spec.maps[0] not in KINDS and not noise:
                break
        there = {world.rules.names[code] for code in np.unique(world.cells(state))} | set(world.inventory(state))
        missing = [name for name in asked_for(spec.text).needs if name not in there]
        reason = "something is out of reach, out of room, true from the start, or takes too many steps"
        reason = f"the map lacks: {', '.join(missing)}" if missing else reason
        raise RsgError(f"no demonstration of '{spec.text}' was found in {quantity(draw, 'start')}; {reason}")

    def view(self, world: CraftingWorld, state: Array, colours: bool = True) -> Any:
        from rsg.domains.crafting.terminal import terminal_view

        return terminal_view(world, state)

    def told(self, world: CraftingWorld, state: Array) -> dict[str, Any]:
        return {
            "height": world.height,
            "width": world.width,
            "capacity": world.capacity,
            "agent": [int(x) for x in state[:2]],
            "inventory": list(world.inventory(state)),
            "map": write_map(world, state),
        }

    def about(self) -> dict[str, Any]:
        return {"kind": self.place} if self.place else {}

    def text(self, world: CraftingWorld, state: Array) -> str:
        return write_map(world, state)

    def things(self, world: CraftingWorld) -> Sequence[str]:
        return ("nothing", "agent", *world.rules.names[1:])

    def put(
        self, world: CraftingWorld, state: States, thing: str, at: tuple[float, float]
    ) -> tuple[CraftingWorld, States]:
        """A click on the map puts it there, one below it takes an item into the hands, or empties them."""
        height = world.height + strip_rows(world)
        x, y = min(int(at[0] * world.width), world.width - 1), min(int(at[1] * height), height - 1)
        after, hands = state.copy(), slice(kernels.HEAD, kernels.HEAD + world.capacity)
        if thing == "agent":
            after[:2] = min(y, world.height - 1), x
        elif y < world.height:
            world.cells(after)[y, x] = 0 if thing == "nothing" else world.rules.code(thing)
        else:
            held = () if thing == "nothing" else (*world.inventory(state), thing)
            after[hands] = world.state({}, inventory=held)[hands]
        return world, after

    def positions(self, world: CraftingWorld, state: States) -> Positions:
        if world.height * world.width > MOST_PLACES:
            raise RsgError(f"a map of more than {MOST_PLACES:,} cells is too large to look at all of them")
        states = np.repeat(state[None], world.height * world.width, axis=0)
        states[:, :2] = np.indices((world.height, world.width)).reshape(2, -1).T
        low = world.height / (world.height + strip_rows(world))
        return Positions(states, world.height, world.width, (0.0, 0.0, 1.0, low), np.ones(len(states), dtype=np.bool_))

    def controls(self, world: CraftingWorld) -> Controls:
        moves = {name: number for number, name in enumerate(world.actions)}
        keys = dict.fromkeys([" ", "e", "\r", "\n"], "toggle")
        return Controls(moves, keys, "arrows or wasd move   space toggles")

    def picture(self, world: CraftingWorld, state: States, pixels: int | None = None) -> Bytes:
        """Cells are as large as asked, on a large map smaller."""
        side = max(world.width, world.height + strip_rows(world))
        return world.render(state, min(pixels or 32, max(4, MOST_PIXELS // side)))

    @property
    def pictures(self) -> Mapping[str, Picture]:
        from rsg.domains.crafting.pictures import sheet

        about, large = "Write a picture of all objects.", self.pixels["large"]
        return {"sprites": Picture(about, lambda world, _, pixels, __: sheet(world.rules, pixels or large))}

    def illustrations(self, subgoals: Any, settings: Any) -> list[Illustration]:
        from rsg.domains.crafting.costs import cost_figure

        return [cost_figure(subgoals, settings)]


@lru_cache(maxsize=1000)
def _world(setting: str) -> CraftingWorld:
    try:
        values = json.loads(setting)
        if values.pop("world") != Crafting.name or not all(type(size) is int for size in values.values()):
            raise ValueError(setting)
        return CraftingWorld(**values)
    except (ValueError, TypeError, KeyError, AttributeError):
        raise RsgError(f"this is not a setting of {Crafting.title}: {setting!r}") from None


@cache
def _fitting(spec: TaskSpec, needs: tuple[str, ...]) -> tuple[str, ...]:
    """The kinds of maps that can hold what the task needs."""
    kinds = [k for k in spec.maps if KINDS[k].far != "." or set(needs) <= {*KINDS[k].scattered}]
    if not kinds:
        raise RsgError(f"none of the maps {', '.join(spec.maps)} can hold what the task needs: {', '.join(needs)}")
    return tuple(kinds)


_loaded = cache(load_map)  # all starts on one map file are in the same world


def _hands(given: tuple[Items, ...], barred: frozenset[str], capacity: int, rng: np.random.Generator) -> list[int]:
    """Codes of what is held, in the order of a state: the given items, then random ones."""
    held = list(given[rng.integers(len(given))])
    allowed = [name for name in _ITEMS if name not in barred]
    while len(held) < capacity and rng.random() < MORE_ITEMS:
        held.append(allowed[rng.integers(len(allowed))])
    return sorted(map(STANDARD.code, held), reverse=True)


def custom_task(text: str, map: str | None = None) -> TaskSpec:  # noqa: A002
    """A task of one's own, on a kind of map, a map file, or an open field that holds what it needs."""
    asked = asked_for(text)
    if map is None:
        return TaskSpec(text, (*TRAINING_MAPS[2:], *FULL_MAPS, "large-field"))
    if names_a_file(map):
        _loaded(map)  # or says what is wrong with it
    elif kind_named(map).far == ".":
        _fitting(TaskSpec(text, (map,)), asked.needs)
    return TaskSpec(text, (map,))
