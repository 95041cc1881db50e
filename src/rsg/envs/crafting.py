"""Crafting World as Gymnasium environments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np

from rsg.core.arrays import Bools
from rsg.core.errors import RsgError
from rsg.envs.tasks import Setting, TaskEnv, TaskVectorEnv
from rsg.language import Task
from rsg.worlds.crafting import ACTIONS, VOCABULARY, CraftingWorld, kernels
from rsg.worlds.crafting.pictures import image_shape, images
from rsg.worlds.crafting.starts import Starts
from rsg.worlds.crafting.terminal import terminal_view
from rsg.worlds.crafting.truth import goals
from rsg.worlds.crafting.world import States

Map = str | Path | tuple[CraftingWorld, States]


@dataclass
class CraftingSetting(Setting):
    """The options of Crafting World.

    Attributes:
        map: a kind of map, a map file, or a pair (world, state); by default a field that holds what the task needs.
        task: a task over the paper's terms. When the trajectory has done it, the reward is 1 and the episode ends.
            Without a task there is no reward and no end.
        observation: `sets` (see `rsg.worlds.crafting.Sets`) or `image`.
        cell: pixels per cell of an image observation.
        inventory, size: see `rsg.worlds.crafting.starts.Starts`.
    """

    render_modes = ("ansi", "rgb_array", "human")
    fps = 4

    map: Map | None = None
    task: str | Task | None = None
    observation: str = "sets"
    cell: int = 16
    inventory: Sequence[str] = ()
    size: tuple[int, int] | None = None
    world: CraftingWorld = field(init=False)

    def __post_init__(self) -> None:
        if self.observation not in ("sets", "image"):
            raise RsgError(f"observation must be 'sets' or 'image', not {self.observation!r}")
        self.ask(self.task, VOCABULARY)
        self.starts = Starts(self.map, self.terms, self.inventory, self.size)
        self.world = self.starts.world
        self.goals = goals(self.world, self.terms)
        self.space = self._space()
        self.actions = gymnasium.spaces.Discrete(len(ACTIONS))

    def _space(self) -> gymnasium.Space[Any]:
        world, spaces = self.world, gymnasium.spaces
        if self.observation == "image":
            return spaces.Box(0, 255, image_shape(world, self.cell), np.uint8)
        types = len(world.rules.things)
        place = [max(world.height - 1, 1), max(world.width - 1, 1)]  # Gymnasium frowns on a range of one value
        high = np.array([types, *place, 1, 1], dtype=np.uint8)
        size = np.array([world.height, world.width, *place, world.capacity], np.float32)
        return spaces.Dict(
            {
                "overall": spaces.Box(np.zeros(5, np.float32), size, dtype=np.float32),
                "inventory": spaces.Box(0, types, (world.capacity,), np.uint8),
                "objects": spaces.Box(0, np.tile(high, (world.objects, 1)), dtype=np.uint8),
            }
        )

    def sample(self, rng: np.random.Generator) -> States:
        """A first state `[W]`."""
        return self.starts.sample(rng)

    def checked(self, state: States) -> States:
        """A state that a user gave, or an error."""
        row: States = self.world.checked(state[None])[0]
        return row

    def act(self, states: States, action: Any) -> States:
        """What follows one state: 0 up, 1 down, 2 left, 3 right, 4 toggle."""
        if action not in range(len(ACTIONS)):
            raise RsgError(f"action {action} is out of range: actions are 0 to {len(ACTIONS) - 1}")
        after = np.empty_like(states)
        kernels.step_rows(self.world.tables, states, np.array([action]), after)
        return after

    def observe(self, states: States) -> Any:
        """Sets by their names, or pictures."""
        if self.observation == "image":
            return images(self.world, states, self.cell)
        return self.world.encode(states)._asdict()

    def truth(self, states: States) -> Bools:
        """Which terms of the task hold, `[N, terms]`."""
        out = np.empty((len(states), len(self.goals)), dtype=bool)
        kernels.truth_rows(self.world.capacity, self.goals, states, out)
        return out

    def view(self, state: States) -> Any:
        """A state for a terminal."""
        return terminal_view(self.world, state)


class CraftingEnv(TaskEnv):
    """One copy of Crafting World: `gymnasium.make("rsg/CraftingWorld-v0", map="river", task="...")`.

    Takes the fields of `CraftingSetting`, and `render_mode`: `ansi` gives text, `rgb_array` pixels, `human` prints each
    state to the terminal. Actions are 0 up, 1 down, 2 left, 3 right, 4 toggle.
    """

    setting = CraftingSetting
    metadata = {"render_modes": list(CraftingSetting.render_modes), "render_fps": CraftingSetting.fps}


class CraftingVectorEnv(TaskVectorEnv):
    """Many copies that step in one call: `gymnasium.make_vec("rsg/CraftingWorld-v0", num_envs=1000, ...)`.

    Takes what `CraftingEnv` takes.
    """

    setting = CraftingSetting
