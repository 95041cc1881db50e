"""Crafting World as Gymnasium environments."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

from rsg.core.errors import RsgError
from rsg.envs.tasks import Setting, TaskEnv, TaskVectorEnv, machine_for
from rsg.language import Task
from rsg.worlds.crafting import ACTIONS, VOCABULARY, CraftingWorld
from rsg.worlds.crafting.pictures import image_shape, images
from rsg.worlds.crafting.starts import Starts
from rsg.worlds.crafting.truth import TrueGoals
from rsg.worlds.crafting.world import States


def crafting_setting(
    map: str | Path | tuple[CraftingWorld, States] | None = None,  # noqa: A002, the word users know
    task: str | Task | None = None,
    observation: str = "sets",
    cell: int = 16,
    inventory: Sequence[str] = (),
    size: tuple[int, int] | None = None,
) -> Setting:
    """The options of Crafting World.

    Args:
        map: a kind of map, a map file, or a pair (world, state); by default a field that holds what the task needs.
        task: a task over the paper's terms. When the trajectory has done it, the reward is 1 and the episode ends.
            Without a task there is no reward and no end.
        observation: `sets` (see `rsg.worlds.crafting.Sets`) or `image`.
        cell: pixels per cell of an image observation.
        inventory, size: see `rsg.worlds.crafting.starts.Starts`.
    """
    if observation not in ("sets", "image"):
        raise RsgError(f"observation must be 'sets' or 'image', not {observation!r}")
    machine = machine_for(task, VOCABULARY)
    terms = machine.names if machine else []
    starts = Starts(map, terms, inventory, size)
    world = starts.world
    image = observation == "image"
    return Setting(
        world=world,
        machine=machine,
        sample=starts.sample,
        truth=TrueGoals(world, terms).holds,
        observe=partial(images, world, cell=cell) if image else lambda states: world.encode(states)._asdict(),
        space=spaces.Box(0, 255, image_shape(world, cell), np.uint8) if image else _sets_space(world),
        actions=spaces.Discrete(len(ACTIONS)),
    )


def _sets_space(world: CraftingWorld) -> gymnasium.Space[Any]:
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


class CraftingEnv(TaskEnv):
    """One copy of Crafting World: `gymnasium.make("rsg/CraftingWorld-v0", map="river", task="...")`.

    Takes what `crafting_setting` takes, and `render_mode`: `ansi` gives text, `rgb_array` pixels, `human` prints each
    state to the terminal. Actions are 0 up, 1 down, 2 left, 3 right, 4 toggle.
    """

    setting = staticmethod(crafting_setting)
    metadata = {"render_modes": ["ansi", "rgb_array", "human"], "render_fps": 4}


class CraftingVectorEnv(TaskVectorEnv):
    """Many copies that step in one call: `gymnasium.make_vec("rsg/CraftingWorld-v0", num_envs=1000, ...)`.

    Takes what `CraftingEnv` takes.
    """

    single = CraftingEnv
