"""An environment of another package: Gymnasium's Taxi, wrapped, learned from a few rides and judged by its own reward.

What is told: the names of the actions, what the number of a state stands for (as the environment's page says), and the
description of each ride, `pick-up then drop-off`. Nobody says what these words mean.
"""

import gymnasium

import rsg
from rsg.worlds import Wrapped, wrap

TASK = "pick-up then drop-off"
MOVES = ["south", "north", "east", "west", "pick", "drop"]
IN_TAXI = 4


def taxi() -> Wrapped:
    """The environment as a world."""
    env = gymnasium.make("Taxi-v4")
    decoded = env.unwrapped.decode  # type: ignore[attr-defined]

    def observe(env: gymnasium.Env) -> dict[str, list[int]]:
        return {"taxi": decoded(env.unwrapped.s)}  # type: ignore[attr-defined]

    return wrap(env, observe=observe, names={"actions": MOVES, "taxi": ("row", "column", "passenger", "destination")})


def rides(world: Wrapped, count: int, seed: int) -> list[rsg.Demonstration]:
    """What somebody shows who knows how: the shortest rides from some starts."""

    def told(env: gymnasium.Env) -> tuple[int, int]:
        _, _, passenger, destination = env.unwrapped.decode(env.unwrapped.s)  # type: ignore[attr-defined]
        return passenger, destination

    truth = world.truth(
        {"pick-up": lambda env: told(env)[0] == IN_TAXI, "drop-off": lambda env: told(env)[0] == told(env)[1]}
    )
    return rsg.demonstrate(world, TASK, truth, per_task=count, seed=seed)


def delivered(subgoals: rsg.Subgoals, world: Wrapped, starts: list[int]) -> int:
    """In how many episodes a plan, carried out in a fresh environment, ends with a passenger where he wanted to go."""
    right = 0
    for start in starts:
        plan = subgoals.plan(world, world.start(start), TASK)
        env = gymnasium.make("Taxi-v4")
        env.reset(seed=start)
        told = [env.step(int(action)) for action in plan.actions]
        right += bool(told) and told[-1][1] == 20 and bool(told[-1][2])  # its reward, and that it ended
    return right


def run(count: int, seed: int, tests: int) -> dict[str, float]:
    """Learn from so many rides; judge on starts that none of them began with."""
    world = taxi()
    shown = rides(world, count, seed)
    subgoals = rsg.learn(shown, world)
    seen = {demo.states[0].tobytes() for demo in shown}
    fresh = [
        start for start in range(10_000 * (seed + 1), 10_000 * (seed + 2)) if world.start(start).tobytes() not in seen
    ]
    for told in subgoals.tell(world):
        print(f"  {told.means}")
    return {"success": delivered(subgoals, world, fresh[:tests]) / tests, "speed": world.speed}


if __name__ == "__main__":
    for count in (20, 5):
        print(f"{count} rides:", f"{run(count, seed=0, tests=50)['success']:.0%} of fresh starts")
