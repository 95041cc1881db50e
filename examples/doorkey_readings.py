"""What demonstrations leave open, said and then settled: python examples/doorkey_readings.py [seed] [starts].

Nobody takes the key but where the door is still locked, so nobody knows whether that matters. The sentence says so, and
which demonstration would settle it; that one is shown.
"""

import sys

import gymnasium
import numpy as np
from doorkey import FAR, shown, truth
from minigrid_model import MiniGrid, Rows

import rsg

TASK = "pick-up-key then open-door then reach-goal"


def true_states(world: MiniGrid, starts: list[Rows], rng: np.random.Generator) -> Rows:
    """Where the key is held, on walks that open the door, with steps by chance."""
    rows = []
    for state in starts:
        for now in shown(world, state, TASK).states[:-1]:
            for _ in range(5):
                now = world.step(now[None], rng.integers(6, size=1))[0]
                rows.append(now)
    found = np.stack(rows)
    return np.asarray(found[truth(world, found, ["pick-up-key"])[:, 0]])


def run(seed: int = 0, starts: int = 50) -> tuple[tuple[str, ...], tuple[str, ...], float]:
    """What is told to be open before and after, and in which share of its true states the term holds at last."""
    env = gymnasium.make("MiniGrid-DoorKey-8x8-v0")
    env.reset(seed=0)
    world = MiniGrid(env)

    def start(number: int) -> Rows:
        env.reset(seed=number)
        return world.state(env)

    tasks = ["pick-up-key", "open-door", "reach-goal", TASK] * 5
    demonstrations = [shown(world, start(1000 * seed + n), task) for n, task in enumerate(tasks)]
    before = rsg.learn(demonstrations, world, settings={"seed": seed}).tell(world)[0]
    print(before.means, *before.open, *before.never_varied, *before.settle, sep="\n  ")
    opened = [shown(world, start(1000 * seed + 500 + n), "open-door then drop-key").states[-1] for n in range(3)]
    asked = [shown(world, state, "pick-up-key") for state in opened]
    subgoals = rsg.learn([*demonstrations, *asked], world, settings={"seed": seed})
    after = subgoals.tell(world)[0]
    print(after.means, *after.never_varied, sep="\n  ")
    states = true_states(world, [start(FAR * (seed + 1) + n) for n in range(starts)], np.random.default_rng(seed))
    odds = subgoals.classifiers.evaluate(world, states, subgoals.classifiers.numbers(["pick-up-key"]))
    share = float((odds[:, 0, 0] > 0).mean())
    print(f"pick-up-key holds in {share:.1%} of {len(states)} states in which the key is held")
    return before.never_varied, after.never_varied, share


if __name__ == "__main__":
    run(*map(int, sys.argv[1:]))
