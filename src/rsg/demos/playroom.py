"""Playroom as a benchmark: starts and expert for the tasks in `playroom_tasks`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rsg.core.errors import RsgError
from rsg.core.words import quantity
from rsg.demos.demonstration import Demonstration
from rsg.demos.playroom_expert import BUDGET, expert
from rsg.demos.playroom_tasks import COMPOSITIONAL, NOVEL, PRIMITIVE
from rsg.language import Machine, parse
from rsg.worlds.playroom import SHIPPED, Layout, PlayroomWorld, TrueGoals, load_layout, truth
from rsg.worlds.playroom.layout_files import layout_of, layout_values
from rsg.worlds.playroom.world import Floats

MAX_DRAWS = 20
LATER_BUDGET = BUDGET // 4  # from the second start on: if there is no way at all, that must not take long to see


class PlayroomBenchmark:
    """The splits of the paper: `train` is primitive and compositional; `validation` the same tasks from other starts.

    Args:
        layout: another room than the paper's: a name, a file, or a layout. Splits with terms that it lacks are left
            out.
        custom: tasks of one's own, which make up the split `custom`.
    """

    name = "playroom"

    def __init__(self, layout: str | Path | Layout = "paper", custom: Sequence[str] = ()) -> None:
        self._world = PlayroomWorld(layout if isinstance(layout, Layout) else load_layout(layout))
        self.vocabulary = self._world.layout.terms
        for text in custom:
            parse(text, self.vocabulary)
        splits = {
            "train": PRIMITIVE + COMPOSITIONAL,
            "validation": PRIMITIVE + COMPOSITIONAL,
            "primitive": PRIMITIVE,
            "compositional": COMPOSITIONAL,
            "novel": NOVEL,
            **({"custom": tuple(custom)} if custom else {}),
        }
        known = set(self.vocabulary)
        self.splits: Mapping[str, tuple[str, ...]] = {
            name: tasks for name, tasks in splits.items() if all(set(_asked(text)[1]) <= known for text in tasks)
        }

    def tasks(self, split: str) -> list[str]:
        """The descriptions of a split."""
        if split not in self.splits:
            listed = ", ".join(self.splits) or "none; this layout lacks terms of the paper's tasks: give your own tasks"
            raise RsgError(f"there is no split '{split}'; splits are: {listed}")
        return list(self.splits[split])

    def start(self, split: str, task: int, rng: np.random.Generator) -> tuple[PlayroomWorld, Floats]:
        """The room, effectors free of walls and of each other, the robot free of all; every task can begin there."""
        del split, task
        return self._world, self._world.start(rng)

    def demonstrate(
        self, split: str, task: int, rng: np.random.Generator, noise: float = 0.0
    ) -> tuple[Demonstration, int]:
        """Starts are drawn until the expert can do the task from one."""
        text = self.tasks(split)[task]
        for draw in range(1, MAX_DRAWS + 1):
            world, state = self.start(split, task, rng)
            budget = BUDGET if draw == 1 else LATER_BUDGET
            found = expert(world, state, _asked(text)[0], rng, noise, budget)
            if found is not None:
                return Demonstration(*found, task=text, setting=setting(world)), draw
        reason = "an effector is out of reach, the task asks twice for the same, or it takes too many steps"
        raise RsgError(f"no demonstration of '{text}' was found in {quantity(MAX_DRAWS, 'start')}; {reason}")

    def truth(self, world: PlayroomWorld, states: Floats, terms: Sequence[str]) -> NDArray[np.bool_]:
        """Which subgoals really hold, `[N, terms]`."""
        return truth(world, states, terms)

    def true_goals(self, world: PlayroomWorld, terms: Sequence[str], state: Floats) -> TrueGoals:
        """The truth as classifiers: an oracle for planners."""
        del state
        return TrueGoals(world, terms)

    def world(self, setting: str) -> PlayroomWorld:
        """The world that a demonstration's setting describes."""
        try:
            return _world(setting)
        except (ValueError, TypeError, KeyError, AttributeError):
            raise RsgError(f"this is not a setting of Playroom: {setting!r}") from None


@cache
def setting(world: PlayroomWorld) -> str:
    """What it takes to make the world again, as text: the name of a layout that comes with rsg, or all of it."""
    name = next((name for name in SHIPPED if load_layout(name) == world.layout), None)
    return json.dumps({"world": "playroom", "layout": name or layout_values(world.layout)})


@cache
def _world(setting: str) -> PlayroomWorld:
    values = json.loads(setting)
    if values["world"] != "playroom":
        raise ValueError(setting)
    layout = values["layout"]
    return PlayroomWorld(load_layout(layout) if layout in SHIPPED else layout_of(layout))


@cache
def _asked(text: str) -> tuple[Machine, tuple[str, ...]]:
    """The machine of a description, and its terms."""
    machine = Machine.of(parse(text))
    return machine, tuple(map(str, machine.terms))
