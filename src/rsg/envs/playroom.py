"""Playroom as Gymnasium environments."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

from rsg.core.errors import RsgError
from rsg.core.random import stream
from rsg.envs.tasks import TaskEnv, TaskVectorEnv, check_render_mode
from rsg.language import Machine, Task, parse
from rsg.worlds.playroom import Layout, PlayroomWorld, geometry, load_layout
from rsg.worlds.playroom.terminal import terminal_view
from rsg.worlds.playroom.truth import effectors_of
from rsg.worlds.playroom.world import Floats

RENDER_MODES = ("rgb_array", "human")


class _Setting:
    """Where episodes start, what is asked, what is seen."""

    def __init__(self, layout: str | Path | Layout, task: str | Task | None, observation: str, pixels: int) -> None:
        if observation not in ("numbers", "image"):
            raise RsgError(f"observation must be 'numbers' or 'image', not {observation!r}")
        self.world = PlayroomWorld(layout if isinstance(layout, Layout) else load_layout(layout))
        asked = parse(task, self.world.layout.terms) if isinstance(task, str) else task
        self.machine = Machine.of(asked) if asked else None
        self._effectors = effectors_of(self.world, [str(term) for term in asked.terms()] if asked else [])
        self._pixels = pixels
        self.sample = self.world.start
        self.checked = self.world.checked_start
        self.actions = gymnasium.spaces.Box(-1, 1, (len(self.world.reach),), np.float32)
        self.observe = self.world.encode if observation == "numbers" else self._images
        first = self.observe(self.world.sample(stream(0, "playroom"), 1))[0]
        image = observation == "image"
        self.space = gymnasium.spaces.Box(0 if image else -1, 255 if image else 1, first.shape, first.dtype.type)

    def _images(self, states: Floats) -> NDArray[np.uint8]:
        return np.stack([self.world.render(state, self._pixels) for state in states])

    def act(self, states: Floats, action: Any) -> Floats:
        """What follows one state."""
        return self.world.step(states, np.asarray(action)[None])

    def truth(self, states: Floats) -> NDArray[np.bool_]:
        """Which terms of the task hold, `[N, terms]`."""
        out = np.empty((len(states), len(self._effectors)), dtype=bool)
        geometry.touch_rows(self.world.layout.shapes, states, self._effectors, out)
        return out

    def view(self, state: Floats) -> Any:
        """A state for a terminal."""
        return terminal_view(self.world, state)


class PlayroomEnv(TaskEnv):
    """One copy of Playroom: `gymnasium.make("rsg/Playroom-v0", task="turn-on-music then play-with-ball")`.

    Args:
        layout: the name of a layout that comes with rsg, a file, or a `rsg.worlds.playroom.Layout`.
        task: a task over the layout's terms. When the trajectory has done it, the reward is 1 and the episode ends.
            Without a task there is no reward and no end.
        observation: `numbers` (see `PlayroomWorld.encode`) or `image`.
        pixels: the longer side of an image observation.
        render_mode: `rgb_array` gives pixels, `human` prints a small picture of each state to the terminal.

    An action is a change of x, y and angle, each from -1 to 1.
    """

    metadata: dict[str, Any] = {"render_modes": list(RENDER_MODES), "render_fps": 10}

    def __init__(
        self,
        layout: str | Path | Layout = "paper",
        task: str | Task | None = None,
        observation: str = "numbers",
        pixels: int = 84,
        render_mode: str | None = None,
    ) -> None:
        super().__init__(_Setting(layout, task, observation, pixels), render_mode)


class PlayroomVectorEnv(TaskVectorEnv):
    """Many copies that step in one call: `gymnasium.make_vec("rsg/Playroom-v0", num_envs=1000, ...)`.

    Takes what `PlayroomEnv` takes.
    """

    def __init__(
        self,
        num_envs: int = 1,
        layout: str | Path | Layout = "paper",
        task: str | Task | None = None,
        observation: str = "numbers",
        pixels: int = 84,
        render_mode: str | None = None,
        max_episode_steps: int | None = None,
    ) -> None:
        check_render_mode(render_mode, RENDER_MODES)
        super().__init__(_Setting(layout, task, observation, pixels), num_envs, render_mode, max_episode_steps)
