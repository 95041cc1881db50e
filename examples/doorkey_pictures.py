"""MiniGrid (Apache-2.0) from pictures alone: python examples/doorkey_pictures.py [seed] [starts] [environment].

The environment itself is the model, wrapped; what is seen is its picture, and one of what is carried, which that does
not show. A network learns from 100 demonstrations, for which somebody walks in the batched model of `doorkey.py`.
"""

import sys
import time
from typing import Any

import gymnasium
import numpy as np
from doorkey import FAR, done, shown
from minigrid.core.grid import Grid
from minigrid_model import MiniGrid

import rsg
from rsg.demos import actions_of

TILE = 8  # pixels of a cell
LAST = {"DoorKey-8x8": "reach-goal", "UnlockPickup": "pick-up-box"}  # by environment: what is done last


def made(name: str) -> Any:
    """An environment."""
    env = gymnasium.make(f"MiniGrid-{name}-v0", highlight=False)
    env.reset(seed=0)
    return env


def wrapped(name: str) -> rsg.worlds.Wrapped:
    """The environment as a world; its own view, of a part of the grid, is not used, so no step waits for it."""
    env = made(name)
    env.unwrapped.gen_obs = dict

    def seen(_: Any, there: Any = env.unwrapped) -> dict[str, Any]:
        hand = Grid.render_tile(there.carrying, tile_size=TILE).astype(np.uint8)
        return {"room": there.grid.render(TILE, there.agent_pos, there.agent_dir), "hand": hand}

    return rsg.worlds.wrap(env, key=MiniGrid(env).state, observe=seen)


def walks(world: rsg.worlds.Wrapped, name: str, seed: int, count: int = 100) -> list[rsg.Demonstration]:
    """What somebody shows: of ten walks, seven are the whole task."""
    env, found, last = made(name), [], LAST[name]
    tasks = [f"pick-up-key then open-door then {last}"] * 7 + ["pick-up-key", "open-door", last]
    for number in range(1000 * seed, 1000 * seed + count):
        env.reset(seed=number)
        task, first, model = tasks[number % len(tasks)], world.start(number), MiniGrid(env)
        actions = actions_of(shown(model, model.state(env), task))
        found.append(rsg.Demonstration(world.after(first, actions.tolist()), actions, task, world.setting(first)))
    return found


def judged(
    subgoals: rsg.Subgoals, world: Any, name: str, starts: range, budget: int = 5000
) -> list[tuple[bool, float]]:
    """Of each plan whether the environment accepts it, and the seconds of processor time that it took."""
    env, told, task = made(name), list[tuple[bool, float]](), f"pick-up-key then open-door then {LAST[name]}"
    for number in starts:
        begun, plan = time.process_time(), subgoals.plan(world, world.start(number), task, {"budget": budget})
        seconds = time.process_time() - begun
        told.append((done(env, number, plan)[1] > 0, seconds))
    right, seconds = sum(right for right, _ in told), float(np.median([seconds for _, seconds in told]))
    print(f"{right} of {len(starts)} right, {seconds:.2f} s for a plan")
    return told


def run(
    seed: int = 0, starts: int = 200, name: str = "DoorKey-8x8", count: int = 100, steps: int = 300, budget: int = 5000
) -> float:
    """Learn from pictures, then plan in the wrapped environment: which share of plans it accepts."""
    world = wrapped(name)
    settings, first = {"seed": seed, "encoder": "pictures", "steps": steps}, FAR * (seed + 1)
    subgoals = rsg.learn(walks(world, name, seed, count), world, settings=settings)
    return sum(right for right, _ in judged(subgoals, world, name, range(first, first + starts), budget)) / starts


if __name__ == "__main__":
    run(*(int(one) if one.isdigit() else one for one in sys.argv[1:]))  # type: ignore[arg-type]
