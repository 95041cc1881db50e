"""DoorKey of MiniGrid (Apache-2.0), seen as symbols: python examples/doorkey.py [seed] [starts].

20 demonstrations teach what the terms mean; the environment itself judges the plans, from starts that nobody showed.
"""

import sys
import time
from collections.abc import Sequence
from typing import Any

import gymnasium
import minigrid  # noqa: F401 - its environments have names then
import numpy as np
from minigrid_model import BOX, DOOR, GOAL, KEY, OPEN, MiniGrid, Rows

import rsg

FAR = 10**6  # seeds of starts that are not shown


def truth(world: MiniGrid, states: Rows, terms: Sequence[str]) -> Rows:
    """What the terms really mean: for whoever demonstrates, never for the learner."""
    grid, held, every = world.grid(states), states[:, 3], np.arange(len(states))
    opened = ((grid[..., 0] == DOOR) & (grid[..., 2] == OPEN)).any(axis=(1, 2))
    there = grid[every, states[:, 0], states[:, 1], 0] == GOAL
    meaning = {"pick-up-key": held == KEY, "drop-key": held != KEY, "open-door": opened}
    meaning |= {"pick-up-box": held == BOX, "reach-goal": there}
    return np.stack([meaning[term] for term in terms], axis=1)


def shown(world: MiniGrid, state: Rows, task: str) -> rsg.Demonstration:
    """The shortest way, as somebody who knows what the terms mean would go."""
    knows = rsg.search.goals_from
    settings = {"planner": "product", "order": "optimal", "budget": 200_000}
    plan = rsg.plan(world, state, task, lambda _, terms, __: knows(lambda rows: truth(world, rows, terms)), settings)
    return rsg.Demonstration(plan.states, plan.actions, task)


def done(env: Any, seed: int, plan: rsg.Plan) -> tuple[dict[str, bool], float]:
    """What the environment says after a plan: of its objects, by term, and its reward."""
    env.reset(seed=seed)
    reward = sum(float(env.step(int(action))[1]) for action in plan.actions)
    there = env.unwrapped
    doors = [one for one in there.grid.grid if one is not None and one.type == "door"]
    held, under = there.carrying and there.carrying.type, there.grid.get(*there.agent_pos)
    told = {"pick-up-key": held == "key", "pick-up-box": held == "box", "open-door": any(d.is_open for d in doors)}
    return told | {"reach-goal": under is not None and under.type == "goal"}, reward


def run(name: str, last: str, seed: int = 0, starts: int = 200, budget: int = 5000) -> dict[str, float]:
    """Learn from 20 demonstrations, plan from fresh starts: how many plans the environment accepts, and their time."""
    env = gymnasium.make(name)
    env.reset(seed=0)
    world, whole = MiniGrid(env), f"pick-up-key then open-door then {last}"

    def start(number: int) -> Rows:
        env.reset(seed=number)
        return world.state(env)

    tasks = [whole] * 14 + ["pick-up-key", "open-door", last] * 2
    demonstrations = [shown(world, start(1000 * seed + n), task) for n, task in enumerate(tasks)]
    subgoals = rsg.learn(demonstrations, world, settings={"seed": seed})
    print(*(told.means for told in subgoals.tell(world)), sep="\n")
    figures = {}
    for task in (whole, "pick-up-key", "open-door", last):
        seconds, good = [], 0
        for number in range(FAR * (seed + 1), FAR * (seed + 1) + starts):
            first, begun = start(number), time.process_time()
            plan = subgoals.plan(world, first, task, {"budget": budget})
            seconds.append(time.process_time() - begun)
            holds, reward = done(env, number, plan)
            good += reward > 0 if task == whole else holds[task]
        figures[task], figures[f"{task}, ms"] = good / starts, round(1000 * float(np.median(seconds)), 1)
        print(f"{task}: {good} of {starts} right, {figures[f'{task}, ms']} ms for a plan")
    return figures


if __name__ == "__main__":
    run("MiniGrid-DoorKey-8x8-v0", "reach-goal", *map(int, sys.argv[1:]))
