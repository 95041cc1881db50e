"""Playroom as Gymnasium environments."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np

from rsg.core.arrays import Bools, Floats
from rsg.core.errors import RsgError
from rsg.core.random import stream
from rsg.envs.tasks import Setting, TaskEnv, TaskVectorEnv
from rsg.language import Task
from rsg.worlds.playroom import Layout, PlayroomWorld, geometry, load_layout
from rsg.worlds.playroom.terminal import terminal_view
from rsg.worlds.playroom.truth import effectors_of


@dataclass
class PlayroomSetting(Setting):
    """The options of Playroom.

    Attributes:
        layout: the name of a layout that comes with rsg, a file, or a `rsg.worlds.playroom.Layout`.
        task: a task over the layout's terms. When the trajectory has done it, the reward is 1 and the episode ends.
            Without a task there is no reward and no end.
        observation: `numbers` (see `PlayroomWorld.encode`) or `image`.
        pixels: the longer side of an image observation.
    """

    render_modes = ("rgb_array", "human")
    fps = 10

    layout: str | Path | Layout = "paper"
    task: str | Task | None = None
    observation: str = "numbers"
    pixels: int = 84
    world: PlayroomWorld = field(init=False)

    def __post_init__(self) -> None:
        if self.observation not in ("numbers", "image"):
            raise RsgError(f"observation must be 'numbers' or 'image', not {self.observation!r}")
        self.world = PlayroomWorld(self.layout if isinstance(self.layout, Layout) else load_layout(self.layout))
        self.ask(self.task, self.world.layout.terms)
        self._effectors = effectors_of(self.world, self.terms)
        self.actions = gymnasium.spaces.Box(-1, 1, (len(self.world.reach),), np.float32)
        first = self.observe(self.world.sample(stream(0, "playroom"), 1))[0]
        image = self.observation == "image"
        self.space = gymnasium.spaces.Box(0 if image else -1, 255 if image else 1, first.shape, first.dtype.type)

    def sample(self, rng: np.random.Generator) -> Floats:
        """A first state `[W]`."""
        return self.world.start(rng)

    def checked(self, state: Floats) -> Floats:
        """A state that a user gave, or an error."""
        return self.world.checked_start(state)

    def act(self, states: Floats, action: Any) -> Floats:
        """What follows one state."""
        return self.world.step(states, np.asarray(action)[None])

    def observe(self, states: Floats) -> Any:
        """Numbers, or pictures."""
        if self.observation == "image":
            return np.stack([self.world.render(state, self.pixels) for state in states])
        return self.world.encode(states)

    def truth(self, states: Floats) -> Bools:
        """Which terms of the task hold, `[N, terms]`."""
        out = np.empty((len(states), len(self._effectors)), dtype=bool)
        geometry.touch_rows(self.world.layout.shapes, states, self._effectors, out)
        return out

    def view(self, state: Floats) -> Any:
        """A state for a terminal."""
        return terminal_view(self.world, state)


class PlayroomEnv(TaskEnv):
    """One copy of Playroom: `gymnasium.make("rsg/Playroom-v0", task="turn-on-music then play-with-ball")`.

    Takes the fields of `PlayroomSetting`, and `render_mode`: `rgb_array` gives pixels, `human` prints a small picture
    of each state to the terminal. An action is a change of x, y and angle, each from -1 to 1.
    """

    setting = PlayroomSetting
    metadata = {"render_modes": list(PlayroomSetting.render_modes), "render_fps": PlayroomSetting.fps}


class PlayroomVectorEnv(TaskVectorEnv):
    """Many copies that step in one call: `gymnasium.make_vec("rsg/Playroom-v0", num_envs=1000, ...)`.

    Takes what `PlayroomEnv` takes.
    """

    setting = PlayroomSetting
