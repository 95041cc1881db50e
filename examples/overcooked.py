"""Overcooked (the package overcooked-ai) with one cook, wrapped and nothing else: python examples/overcooked.py [seed].

Twenty times somebody does what is left to do; then plans are made from other starts, and the kitchen pays for soups.
All soups are orders, and take half as long as usual to cook: a search that has to wait tries all else meanwhile.
"""

import sys
from functools import partial
from typing import Any

import gymnasium
import numpy as np
from overcooked_ai_py.mdp.actions import Action
from overcooked_ai_py.mdp.overcooked_mdp import OvercookedGridworld

import rsg

STEPS, THINGS = ("add-onion", "start-cooking", "take-soup", "serve"), ("nothing", "onion", "tomato", "dish", "soup")
NAMES = {"hand": {"holds": THINGS}, "pot": {"stage": ("empty", "idle", "cooking", "ready")}, "coins": ("paid",)}
RULES = OvercookedGridworld.from_layout_name("cramped_room_single", start_all_orders=[], cook_time=10)
Now = tuple[Any, float]  # a state: the kitchen's own, and what it has paid


def step(now: Now, action: int) -> Now:
    """The kitchen's own rules, which leave the state that they are given as it is."""
    kitchen, told = RULES.get_state_transition(now[0], (Action.INDEX_TO_ACTION[action],))
    return kitchen, now[1] + sum(told["sparse_reward_by_agent"])


class Kitchen:
    """Episodes begin as the package lets them begin at random, after a few steps by chance."""

    action_space = gymnasium.spaces.Discrete(len(Action.INDEX_TO_ACTION))

    def reset(self) -> None:  # draws from numpy's global random numbers, which `wrap` seeds
        self.now = RULES.get_random_start_state_fn(random_start_pos=True, rnd_obj_prob_thresh=0.5)(), 0.0
        for action in np.random.randint(self.action_space.n, size=5):  # noqa: NPY002
            self.now = step(self.now, int(action))[0], 0.0


def seen(now: Now) -> dict[str, Any]:
    """Where the cook is and looks, what is in the hand and in the pot, and what was paid."""
    cook, soup = now[0].players[0], now[0].objects.get(*RULES.get_pot_locations())
    hand = THINGS.index(cook.held_object.name) if cook.held_object else 0
    stage = 0 if soup is None else 1 if soup.is_idle else 2 if soup.is_cooking else 3
    where, inside = (*cook.position, *cook.orientation), len(soup.ingredients if soup else ())
    return {"cook": where, "hand": [hand], "pot": (stage, inside), "coins": [now[1]]}


def done(now: Now, number: int) -> bool:
    """Whether a step really was done: for whoever demonstrates, never for the learner."""
    return (seen(now)["pot"][1] > 0, seen(now)["pot"][0] > 1, seen(now)["hand"] == [4], now[1] > 0)[number]


def run(seed: int = 0, starts: int = 200, count: int = 20) -> float:
    """For which share of starts that nobody showed the kitchen pays, once a plan for what is left to do is done."""
    given: dict[str, Any] = {"save": lambda env: env.now, "step": step, "observe": seen, "names": NAMES}
    key = lambda now: f"{now[0].players} {sorted(now[0].objects.items())} {now[1]}"  # noqa: E731
    world, demonstrations, good = rsg.worlds.wrap(Kitchen(), key=key, **given), [], 0
    truth = world.truth({name: partial(done, number=number) for number, name in enumerate(STEPS)})
    knows = lambda _, terms, __: rsg.search.goals_from(lambda rows: truth(world, rows, terms))  # noqa: E731
    rows = [world.start(number) for number in range(10**6 * seed, 10**6 * seed + 3 * (starts + count))]
    for number, row in enumerate(list({row.tobytes(): row for row in rows}.values())[: count + starts]):
        now = world.restore(row)
        left = STEPS[max(n for n in range(4) if n == 0 or done(now, n - 1)) :]
        if number < count:  # somebody shows all that is left, or the next step of it
            plan = rsg.plan(world, row, " then ".join(left[: 1 if number % 2 else 4]), knows, {"budget": 20_000})
            demonstrations.append(rsg.Demonstration(plan.states, plan.actions, str(plan.task), world.setting(row)))
            continue
        if number == count:
            subgoals = rsg.learn(demonstrations, world, settings={"seed": seed})
        for action in subgoals.plan(world, row, " then ".join(left), {"budget": 20_000}).actions:
            now = step(now, int(action))
        good += now[1] > 0
    print(*(told.means for told in subgoals.tell(world)), f"{good} of {starts} soups were paid for", sep="\n")
    return good / starts


if __name__ == "__main__":
    run(*map(int, sys.argv[1:]))
