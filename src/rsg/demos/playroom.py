"""Playroom as a benchmark: its tasks, starts and expert."""

import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from rsg.core.arrays import Floats
from rsg.core.errors import RsgError
from rsg.core.words import quantity
from rsg.demos.benchmark import Benchmark, machine_of, paper_tasks, splits_of
from rsg.demos.demonstration import Demonstration
from rsg.demos.playroom_expert import BUDGET, expert
from rsg.language import parse
from rsg.worlds.playroom import SHIPPED, Layout, PlayroomWorld, TrueGoals, load_layout
from rsg.worlds.playroom.layout_files import layout_of, layout_values

MAX_DRAWS = 20
LATER_BUDGET = BUDGET // 4  # from the second start on: if there is no way at all, that must not take long to see


class PlayroomBenchmark(Benchmark):
    """The tasks of the paper, in its room or another one.

    Args:
        layout: another room than the paper's: a name, a file, or a layout. Splits with terms that it lacks are left
            out.
        custom: tasks of one's own, which make up the split `custom`.
    """

    name = "playroom"
    title = "Playroom"
    no_splits = "none; this layout lacks terms of the paper's tasks: give your own tasks"
    true_goals_of = TrueGoals

    def __init__(self, layout: str | Path | Layout = "paper", custom: Sequence[str] = ()) -> None:
        self._world = PlayroomWorld(layout if isinstance(layout, Layout) else load_layout(layout))
        self.vocabulary = self._world.layout.terms
        for text in custom:
            parse(text, self.vocabulary)
        known = set(self.vocabulary)
        primitive, compositional, novel = map(tuple, paper_tasks("playroom").values())
        splits = splits_of(primitive, compositional, {"novel": novel}, tuple(custom))
        self.splits = {
            name: tasks for name, tasks in splits.items() if all(set(machine_of(text).names) <= known for text in tasks)
        }

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
            found = expert(world, state, machine_of(text), rng, noise, budget)
            if found is not None:
                return Demonstration(*found, task=text, setting=setting(world)), draw
        reason = "an effector is out of reach, the task asks twice for the same, or it takes too many steps"
        raise RsgError(f"no demonstration of '{text}' was found in {quantity(MAX_DRAWS, 'start')}; {reason}")

    @staticmethod
    def world_of(layout: Any) -> PlayroomWorld:
        """A room from the name of a layout that comes with rsg, or from all its values."""
        return PlayroomWorld(load_layout(layout) if layout in SHIPPED else layout_of(layout))


@cache
def setting(world: PlayroomWorld) -> str:
    """What it takes to make the world again, as text: the name of a layout that comes with rsg, or all of it."""
    name = next((name for name in SHIPPED if load_layout(name) == world.layout), None)
    return json.dumps({"world": "playroom", "layout": name or layout_values(world.layout)})
