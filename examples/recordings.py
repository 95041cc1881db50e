"""Recordings without a simulator: where did each step end? python examples/recordings.py [seed] [fresh].

20 recordings of MiniGrid's DoorKey (Apache-2.0) are all that is known: rows of 198 numbers, a description each. There
is no model, no actions, and nobody says what the numbers are. What is learned cuts recordings that were never seen.
"""

import sys

import gymnasium
import minigrid  # noqa: F401 - its environments have names then
from doorkey import FAR, shown, truth
from minigrid_model import MiniGrid

import rsg

WHOLE = "pick-up-key then open-door then reach-goal"
TASKS = [WHOLE] * 14 + ["pick-up-key", "open-door", "reach-goal"] * 2


def recording(env: MiniGrid, place: gymnasium.Env[object, int], seed: int, task: str) -> rsg.Demonstration:
    """What was seen of somebody who does a task."""
    place.reset(seed=seed)
    return rsg.Demonstration(shown(env, env.state(place), task).states, None, task)


def true_ends(env: MiniGrid, demo: rsg.Demonstration) -> list[tuple[str, int]]:
    """The first state in which each term holds, after the one before it: only to judge."""
    found, now = list[tuple[str, int]](), 0
    for term in demo.task.split(" then "):
        holds = truth(env, demo.states, [term])[:, 0]
        now = next(n for n in range(now + 1, len(holds)) if holds[n])
        found.append((term, now))
    return found


def run(seed: int = 0, fresh: int = 50) -> dict[str, float]:
    """Learn from 20 recordings; the share of ends in fresh ones that are found exactly, and within one step."""
    place = gymnasium.make("MiniGrid-DoorKey-8x8-v0")
    place.reset(seed=0)
    env = MiniGrid(place)
    recordings = [recording(env, place, 1000 * seed + n, task) for n, task in enumerate(TASKS)]
    subgoals = rsg.learn(recordings, rsg.worlds.recorded(recordings))
    print(*(told.means for told in subgoals.tell()), sep="\n")
    away = list[int]()
    for number in range(fresh):
        demo = recording(env, place, FAR * (seed + 1) + number, WHOLE)
        pairs = zip(subgoals.segment(demo).ends, true_ends(env, demo), strict=True)
        away += [abs(one - other) for (_, one), (_, other) in pairs]
    exact, near = (sum(one <= most for one in away) / len(away) for most in (0, 1))
    print(f"{len(away)} ends: {exact:.1%} exact, {near:.1%} within one step")
    return {"exact": exact, "one": near}


if __name__ == "__main__":
    run(*map(int, sys.argv[1:]))
