"""DoorKey of MiniGrid (Apache-2.0), wrapped, for commands: rsg studio --world examples/doorkey_wrapped.py:DoorKey.

`docs/your-own-world.md` goes through it line by line, in a smaller room.
"""

from collections.abc import Sequence
from typing import Any

import gymnasium
from minigrid.core.constants import COLOR_TO_IDX, OBJECT_TO_IDX, STATE_TO_IDX
from minigrid.wrappers import FullyObsWrapper
from minigrid_model import MiniGrid, Rows

import rsg

SYMBOLS = {"object": OBJECT_TO_IDX, "color": COLOR_TO_IDX, "state": STATE_TO_IDX}


def made() -> Any:
    """The environment, which draws itself."""
    env = gymnasium.make("MiniGrid-DoorKey-6x6-v0", render_mode="rgb_array", highlight=False)
    env.reset(seed=0)
    return FullyObsWrapper(env)  # type: ignore[no-untyped-call]


ENV = made()
WORLD = rsg.worlds.wrap(ENV, names={"image": SYMBOLS}, key=MiniGrid(ENV).state)
TRUTH = WORLD.truth(
    {
        "pick-up-key": lambda env: env.unwrapped.carrying is not None,
        "open-door": lambda env: any(getattr(thing, "is_open", False) for thing in env.unwrapped.grid.grid),
        "reach-goal": lambda env: env.unwrapped.agent_pos == (4, 4),
    }
)


class DoorKey(rsg.Domain):
    """What is known of it; in MiniGrid a move is a turn or a step forward."""

    title = "DoorKey of MiniGrid"
    splits = {
        "train": ["pick-up-key", "pick-up-key then open-door", "pick-up-key then open-door then reach-goal"],
        "novel": ["open-door then reach-goal"],
    }

    def world(self, setting: str = "") -> rsg.worlds.Wrapped:
        return WORLD

    def truth(self, world: rsg.worlds.Wrapped, states: Rows, terms: Sequence[str]) -> Rows:
        return TRUTH(world, states, terms)
