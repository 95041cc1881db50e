"""Crafting World as a benchmark: starts and expert for the tasks in `crafting_tasks`."""

import json
from collections.abc import Sequence
from functools import cache
from itertools import islice
from typing import NamedTuple

import numpy as np

from rsg.core.arrays import Ints
from rsg.core.errors import RsgError
from rsg.core.words import quantity
from rsg.demos.benchmark import Benchmark, splits_of
from rsg.demos.crafting_tasks import (
    COMPOSITIONAL,
    FULL_MAPS,
    GOAL_ONLY,
    NOVEL,
    PRIMITIVE,
    TRAINING_MAPS,
    Items,
    TaskSpec,
)
from rsg.demos.demonstration import Demonstration
from rsg.language import Machine, parse
from rsg.worlds.crafting import ACTIONS, STANDARD, VOCABULARY, CraftingWorld, kernels, truth
from rsg.worlds.crafting.maps import KINDS, kind_named, objects_for, sample_map
from rsg.worlds.crafting.starts import names_a_file
from rsg.worlds.crafting.text import load_map
from rsg.worlds.crafting.truth import TrueGoals, goals
from rsg.worlds.crafting.world import States

MAX_STEPS = 50
MAX_DRAWS = 1000
MAX_PATHS = 5000  # linear instructions that the expert tries
MORE_ITEMS = 0.66  # the chance of one more random item in the hands, while there is room

_ITEMS = tuple(thing.name for thing in STANDARD.things if thing.kind == "item")
_KEYS = frozenset(thing.key for thing in STANDARD.things if thing.key)


class CraftingBenchmark(Benchmark):
    """The tasks of the paper, with random maps that hold what they need.

    Args:
        custom: tasks of one's own, which make up the split `custom`.
    """

    name = "crafting"
    title = "Crafting World"
    vocabulary = VOCABULARY
    true_goals_of = TrueGoals
    world_of = CraftingWorld

    def __init__(self, custom: Sequence[TaskSpec] = ()) -> None:
        self.splits = splits_of(PRIMITIVE, COMPOSITIONAL, {"novel": NOVEL, "goal-only": GOAL_ONLY}, tuple(custom))

    def start(self, split: str, task: int, rng: np.random.Generator) -> tuple[CraftingWorld, States]:
        """A map that holds what the task needs, and hands that hold what it takes for granted, plus random items."""
        spec = self.split(split)[task]
        asked = _asked(spec.text)
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

    def demonstrate(
        self, split: str, task: int, rng: np.random.Generator, noise: float = 0.0
    ) -> tuple[Demonstration, int]:
        """Starts are drawn until the expert can do the task on one."""
        spec = self.split(split)[task]
        for draw in range(1, MAX_DRAWS + 1):
            world, state = self.start(split, task, rng)
            found = expert(world, state, spec.text, rng, noise)
            if found is not None:
                return Demonstration(*found, task=spec.text, setting=setting(world)), draw
            if spec.maps[0] not in KINDS and not noise:
                break
        there = {world.rules.names[code] for code in np.unique(world.cells(state))} | set(world.inventory(state))
        missing = [name for name in _asked(spec.text).needs if name not in there]
        reason = "something is out of reach, out of room, true from the start, or takes too many steps"
        reason = f"the map lacks: {', '.join(missing)}" if missing else reason
        raise RsgError(f"no demonstration of '{spec.text}' was found in {quantity(draw, 'start')}; {reason}")


def setting(world: CraftingWorld) -> str:
    """What it takes to make the world again, as text."""
    sizes = {name: getattr(world, name) for name in ("height", "width", "capacity", "objects")}
    return json.dumps({"world": "crafting", **sizes})


class _Asked(NamedTuple):
    """What follows from a description."""

    machine: Machine
    needs: tuple[str, ...]
    produced: frozenset[str]
    paths: tuple[tuple[str, ...], ...]


@cache
def _asked(text: str) -> _Asked:
    machine = Machine.of(parse(text, VOCABULARY))
    produced = frozenset(term.partition("-")[2] for term in machine.names)
    paths = tuple(tuple(map(str, path)) for path in islice(machine.paths(), MAX_PATHS))
    return _Asked(machine, objects_for(machine.names), produced, paths)


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


def expert(
    world: CraftingWorld, state: States, text: str, rng: np.random.Generator, noise: float = 0.0
) -> tuple[States, Ints] | None:
    """Follow each linear instruction with shortest walks and keep the shortest trajectory that does the task.

    With noise, that share of the actions is random, and the walk is found anew after each of them.

    Returns:
        states `[T + 1, W]` and actions `[T]`, or None if no instruction can be followed in 50 steps (with noise: in
        twice as many, and more the more actions are random).
    """
    asked, names = _asked(text), _asked(text).machine.names
    limit = MAX_STEPS if not noise else int(2 * MAX_STEPS / (1 - noise))  # slips and the ways back take longer
    tries = [_follow(world, state, goals(world, path), rng, noise, limit) for path in asked.paths]
    done = [found for found in tries if found is not None]
    if not done:
        return None
    ties = rng.random(len(done))
    states, actions = done[min(range(len(done)), key=lambda i: (len(done[i][1]), ties[i]))]
    return (states, actions) if asked.machine.accepts(truth(world, states, names), names) else None


def _follow(
    world: CraftingWorld, state: States, path: Ints, rng: np.random.Generator, noise: float, limit: int
) -> tuple[States, Ints] | None:
    """One linear instruction, subgoal after subgoal."""
    states = np.empty((limit + 1, world.state_width), dtype=np.uint8)
    actions = np.empty(limit, dtype=np.int64)
    states[0] = state
    scratch = np.empty((2, world.state_width), dtype=np.uint8)
    walk = np.empty(world.height * world.width + 1, dtype=np.int64)
    now = 0
    for goal in path:
        if kernels.goal_holds(states, now, world.capacity, goal):
            return None  # it must be false where its part begins
        while not kernels.goal_holds(states, now, world.capacity, goal):
            dice = rng.integers(2**31, size=len(walk))
            steps = kernels.achieve(world.tables, states[now : now + 1], goal, dice, scratch, walk)
            if steps < 0 or now + steps > limit:
                return None
            if noise:
                slips = np.flatnonzero(rng.random(steps) < noise)
                if len(slips):  # up to the first slip, then find the way again
                    steps = int(slips[0]) + 1
                    walk[steps - 1] = rng.integers(len(ACTIONS))
            actions[now : now + steps] = walk[:steps]
            kernels.replay_rows(world.tables, states[now : now + steps + 1], walk[:steps])
            now += steps
    return states[: now + 1], actions[:now]


def custom_task(text: str, map: str | None = None) -> TaskSpec:  # noqa: A002
    """A task of one's own, on a kind of map, a map file, or an open field that holds what it needs."""
    asked = _asked(text)
    if map is None:
        return TaskSpec(text, (*TRAINING_MAPS[2:], *FULL_MAPS, "large-field"))
    if map not in KINDS and names_a_file(map):
        _loaded(map)  # or says what is wrong with it
    elif kind_named(map).far == ".":
        _fitting(TaskSpec(text, (map,)), asked.needs)
    return TaskSpec(text, (map,))
