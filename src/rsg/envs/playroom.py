"""Playroom as Gymnasium environments."""

from pathlib import Path

import numpy as np
from gymnasium import spaces

from rsg.core.arrays import Array, Floats
from rsg.core.errors import RsgError
from rsg.core.random import stream
from rsg.envs.tasks import Setting, TaskEnv, TaskVectorEnv, machine_for
from rsg.language import Task
from rsg.worlds.playroom import Layout, PlayroomWorld, TrueGoals, load_layout


def playroom_setting(
    layout: str | Path | Layout = "paper",
    task: str | Task | None = None,
    observation: str = "numbers",
    pixels: int = 84,
) -> Setting:
    """The options of Playroom.

    Args:
        layout: the name of a layout that comes with rsg, a file, or a `rsg.worlds.playroom.Layout`.
        task: a task over the layout's terms. When the trajectory has done it, the reward is 1 and the episode ends.
            Without a task there is no reward and no end.
        observation: `numbers` (see `PlayroomWorld.encode`) or `image`.
        pixels: the longer side of an image observation.
    """
    if observation not in ("numbers", "image"):
        raise RsgError(f"observation must be 'numbers' or 'image', not {observation!r}")
    world = PlayroomWorld(layout if isinstance(layout, Layout) else load_layout(layout))
    machine = machine_for(task, world.layout.terms)

    def pictures(states: Floats) -> Array:
        return np.stack([world.render(state, pixels) for state in states])

    image = observation == "image"
    observe = pictures if image else world.encode
    first = observe(world.sample(stream(0, "playroom"), 1))[0]
    return Setting(
        world=world,
        machine=machine,
        sample=world.start,
        truth=TrueGoals(world, machine.names if machine else []).holds,
        observe=observe,
        space=spaces.Box(0 if image else -1, 255 if image else 1, first.shape, first.dtype.type),
        actions=spaces.Box(-1, 1, (len(world.reach),), np.float32),
    )


class PlayroomEnv(TaskEnv):
    """One copy of Playroom: `gymnasium.make("rsg/Playroom-v0", task="turn-on-music then play-with-ball")`.

    Takes what `playroom_setting` takes, and `render_mode`: `rgb_array` gives pixels, `human` prints a small picture
    of each state to the terminal. An action is a change of x, y and angle, each from -1 to 1.
    """

    setting = staticmethod(playroom_setting)
    metadata = {"render_modes": ["rgb_array", "human"], "render_fps": 10}


class PlayroomVectorEnv(TaskVectorEnv):
    """Many copies that step in one call: `gymnasium.make_vec("rsg/Playroom-v0", num_envs=1000, ...)`.

    Takes what `PlayroomEnv` takes.
    """

    single = PlayroomEnv
