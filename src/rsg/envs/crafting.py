"""Crafting World as Gymnasium environments."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

from rsg.core.errors import RsgError
from rsg.envs.tasks import TaskEnv, TaskVectorEnv, check_render_mode
from rsg.language import Machine, Task, parse
from rsg.worlds.crafting import ACTIONS, VOCABULARY, CraftingWorld, kernels
from rsg.worlds.crafting.pictures import image_shape, images
from rsg.worlds.crafting.starts import Starts
from rsg.worlds.crafting.terminal import terminal_view
from rsg.worlds.crafting.truth import goals
from rsg.worlds.crafting.world import States

RENDER_MODES = ("ansi", "rgb_array", "human")
Map = str | Path | tuple[CraftingWorld, States]


class _Setting:
    """Where episodes start, what is asked, what is seen."""

    def __init__(
        self,
        map: Map | None,  # noqa: A002
        task: str | Task | None,
        observation: str,
        cell: int,
        inventory: Sequence[str],
        size: tuple[int, int] | None,
    ) -> None:
        if observation not in ("sets", "image"):
            raise RsgError(f"observation must be 'sets' or 'image', not {observation!r}")
        asked = parse(task, VOCABULARY) if isinstance(task, str) else task
        terms = [str(term) for term in asked.terms()] if asked else []
        self.starts = Starts(map, terms, inventory, size)
        self.world = self.starts.world
        self.sample = self.starts.sample
        self.machine = Machine.of(asked) if asked else None
        self.goals = goals(self.world, terms)
        self.observe = self._sets if observation == "sets" else partial(images, self.world, cell=cell)
        self.space = self._space(observation, cell)
        self.actions = gymnasium.spaces.Discrete(len(ACTIONS))

    def _sets(self, states: States) -> dict[str, NDArray[Any]]:
        return self.world.encode(states)._asdict()

    def _space(self, observation: str, cell: int) -> gymnasium.Space[Any]:
        world, spaces = self.world, gymnasium.spaces
        if observation == "image":
            return spaces.Box(0, 255, image_shape(world, cell), np.uint8)
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

    def checked(self, state: States) -> States:
        """A state that a user gave, or an error."""
        row: States = self.world.checked(state[None])[0]
        return row

    def act(self, states: States, action: int) -> States:
        """What follows one state: 0 up, 1 down, 2 left, 3 right, 4 toggle."""
        if action not in range(len(ACTIONS)):
            raise RsgError(f"action {action} is out of range: actions are 0 to {len(ACTIONS) - 1}")
        after = np.empty_like(states)
        kernels.step_rows(*self.world.tables, states, np.array([action]), after)
        return after

    def truth(self, states: States) -> NDArray[np.bool_]:
        """Which terms of the task hold, `[N, terms]`."""
        out = np.empty((len(states), len(self.goals)), dtype=bool)
        kernels.truth_rows(self.world.capacity, self.goals, states, out)
        return out

    def view(self, state: States) -> Any:
        """A state for a terminal."""
        return terminal_view(self.world, state)


class CraftingEnv(TaskEnv):
    """One copy of Crafting World: `gymnasium.make("rsg/CraftingWorld-v0", map="river", task="...")`.

    Args:
        map: a kind of map, a map file, or a pair (world, state); by default a field that holds what the task needs.
        task: a task over the paper's terms. When the trajectory has done it, the reward is 1 and the episode ends.
            Without a task there is no reward and no end.
        observation: `sets` (see `rsg.worlds.crafting.Sets`) or `image`.
        cell: pixels per cell of an image observation.
        inventory, size: see `rsg.worlds.crafting.starts.Starts`.
        render_mode: `ansi` gives text, `rgb_array` pixels, `human` prints each state to the terminal.

    Actions are 0 up, 1 down, 2 left, 3 right, 4 toggle.
    """

    metadata: dict[str, Any] = {"render_modes": list(RENDER_MODES), "render_fps": 4}

    def __init__(
        self,
        map: Map | None = None,  # noqa: A002
        task: str | Task | None = None,
        observation: str = "sets",
        cell: int = 16,
        inventory: Sequence[str] = (),
        size: tuple[int, int] | None = None,
        render_mode: str | None = None,
    ) -> None:
        setting = _Setting(map, task, observation, cell, inventory, size)
        super().__init__(setting, render_mode)
        self.starts = setting.starts


class CraftingVectorEnv(TaskVectorEnv):
    """Many copies that step in one call: `gymnasium.make_vec("rsg/CraftingWorld-v0", num_envs=1000, ...)`.

    Takes what `CraftingEnv` takes.
    """

    def __init__(
        self,
        num_envs: int = 1,
        map: Map | None = None,  # noqa: A002
        task: str | Task | None = None,
        observation: str = "sets",
        cell: int = 16,
        inventory: Sequence[str] = (),
        size: tuple[int, int] | None = None,
        render_mode: str | None = None,
        max_episode_steps: int | None = None,
    ) -> None:
        check_render_mode(render_mode, RENDER_MODES)
        setting = _Setting(map, task, observation, cell, inventory, size)
        super().__init__(setting, num_envs, render_mode, max_episode_steps)
