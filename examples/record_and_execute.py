"""Record a scripted policy in MiniGrid, learn from it, plan, and do it where actions slip (MiniGrid: Apache-2.0).

python examples/record_and_execute.py [starts share-of-actions-that-slip]
"""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import gymnasium
import minigrid  # noqa: F401 - its environments have names then
import numpy as np
from minigrid.core.constants import COLOR_TO_IDX, OBJECT_TO_IDX, STATE_TO_IDX
from minigrid.wrappers import FullyObsWrapper

import rsg

NAMES = {"image": {"object": OBJECT_TO_IDX, "color": COLOR_TO_IDX, "state": STATE_TO_IDX}}
LEFT, FORWARD, PICK_UP, TOGGLE = 0, 2, 3, 5
TERMS = ("pick-up-key", "open-door")


def make() -> Any:
    """A room with a key and a locked door."""
    return FullyObsWrapper(gymnasium.make("MiniGrid-Unlock-v0"))  # type: ignore[no-untyped-call]


class Slippery(gymnasium.Wrapper[Any, Any, Any, Any]):
    """The same in reality: now and then the robot turns instead of doing what it was told."""

    def __init__(self, env: Any, slip: float, seed: int) -> None:
        super().__init__(env)
        self.slip, self.rng = slip, np.random.default_rng(seed)

    def step(self, action: Any) -> Any:
        return self.env.step(LEFT if self.rng.random() < self.slip else action)


def policy(env: Any) -> int:
    """Somebody's script: to the key and take it, to the door and open it."""
    room = env.unwrapped
    kind, act = ("door", TOGGLE) if room.carrying else ("key", PICK_UP)
    (number,) = (n for n, thing in enumerate(room.grid.grid) if thing and thing.type == kind)
    across, down = np.subtract((number % room.width, number // room.width), room.agent_pos).tolist()
    wanted = (0 if across > 0 else 2) if abs(across) > abs(down) else (1 if down > 0 else 3)
    if room.agent_dir != wanted:
        return LEFT
    return act if abs(across) + abs(down) == 1 else FORWARD


def done(env: Any, task: str) -> bool:
    """Whether that was done, as the environment has it."""
    return bool(env.unwrapped.door.is_open if "door" in task else env.unwrapped.carrying)


if __name__ == "__main__":
    starts, slip = map(float, sys.argv[1:] or ("3", "0.2"))
    world = rsg.worlds.wrap(make(), names=NAMES)
    with TemporaryDirectory() as folder:
        with rsg.Recorder(make(), Path(folder) / "shown", world, words=TERMS) as recorder:
            for seed in range(12):
                recorder.reset(seed=seed)
                task = "pick up the key" if seed % 3 == 0 else "pick up the key, then open the door"
                recorder.describe(task)
                while not done(recorder, task):
                    recorder.step(policy(recorder))
        subgoals = rsg.learn(Path(folder) / "shown", world)
    print(*(told.means for told in subgoals.tell(world)), sep="\n")
    right = again = 0
    for seed in range(1000, 1000 + int(starts)):
        env = Slippery(make(), slip, seed)
        env.reset(seed=seed)
        plan = subgoals.plan(world, world.read(env), "pick up the key, then open the door")
        went = rsg.execute(env, plan)
        right, again = right + done(env, "door"), again + len(went.replans)
        print(f"start {seed}: {len(plan.actions)} steps planned, {len(went.actions)} done. {went.reason}")
    slips = f"though {slip:.0%} of the actions slipped; planned again {again} times"
    print(f"{right} of {starts:.0f} doors are open, {slips}")
