"""DoorKey of MiniGrid (Apache-2.0) from pictures alone: python examples/doorkey_pictures.py [seed] [starts] [count].

The environment itself is the model, wrapped; what is seen is its picture, 8 pixels to a cell. A network learns from 100
demonstrations, for which somebody walks in the batched model of `doorkey.py`.
"""

import sys
import time
from functools import partial
from typing import Any

import gymnasium
import numpy as np
from doorkey import FAR, done, shown
from minigrid.wrappers import RGBImgObsWrapper
from minigrid_model import MiniGrid

import rsg
from rsg.demos import actions_of

TASK = "pick-up-key then open-door then reach-goal"
TASKS = [TASK] * 7 + ["pick-up-key", "open-door", "reach-goal"]


def timed(clock: dict[str, float], name: str, method: object, *given: object) -> object:
    """What a method gives; the clock goes on by the seconds that it takes."""
    begun = time.perf_counter()
    try:
        return method(*given)  # type: ignore[operator]
    finally:
        clock[name] += time.perf_counter() - begun


def pixels(env: Any) -> Any:
    """The environment, seen as pictures."""
    return RGBImgObsWrapper(env, tile_size=8)  # type: ignore[no-untyped-call]


def run(seed: int = 0, starts: int = 200, count: int = 100, steps: int = 300, budget: int = 5000) -> dict[str, float]:
    """Learn from pictures, then plan in the wrapped environment; what the environment says, and what takes the time."""
    env, plain = (gymnasium.make("MiniGrid-DoorKey-8x8-v0") for _ in range(2))
    plain.reset(seed=0)
    world, model = rsg.worlds.wrap(pixels(env), names={"direction": ("way",)}), MiniGrid(plain)
    demonstrations = []
    for number in range(1000 * seed, 1000 * seed + count):
        plain.reset(seed=number)
        task, first = TASKS[number % len(TASKS)], world.start(number)
        actions = actions_of(shown(model, model.state(plain), task))
        states = world.after(first, actions.tolist())
        demonstrations.append(rsg.Demonstration(states, actions, task, setting=world.setting(first)))
    subgoals = rsg.learn(demonstrations, world, settings={"seed": seed, "encoder": "pictures", "steps": steps})
    clock, seconds, good = {"environment": 0.0, "network": 0.0}, [], 0
    world.successors = partial(timed, clock, "environment", world.successors)  # type: ignore[method-assign, assignment]
    subgoals.classifiers.evaluate = partial(timed, clock, "network", subgoals.classifiers.evaluate)  # type: ignore[assignment]
    for number in range(FAR * (seed + 1), FAR * (seed + 1) + starts):
        begun = time.perf_counter()
        plan = subgoals.plan(world, world.start(number), TASK, {"budget": budget})
        seconds.append(time.perf_counter() - begun)
        good += done(plain, number, plan)[1] > 0
    shares = {name: spent / sum(seconds) for name, spent in clock.items()}
    print(f"{good} of {starts} right, {np.median(seconds):.2f} s for a plan:", shares)
    return {"right": good / starts, "seconds": float(np.median(seconds)), **shares}


if __name__ == "__main__":
    run(*map(int, sys.argv[1:]))
