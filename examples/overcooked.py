"""A kitchen of another package: Overcooked for one cook, wrapped by its own transition function, judged by its reward.

What is told: what a cook looks at and how that is called, and for each demonstration what its steps are. What these
words mean is learned; what counts in the end is what the kitchen pays for.
"""

from typing import Any

import gymnasium
import numpy as np
from overcooked_ai_py.mdp.actions import Action
from overcooked_ai_py.mdp.overcooked_mdp import OvercookedGridworld

import rsg
from rsg.search import goals_from
from rsg.worlds import Wrapped, wrap

STEPS = ("first-onion", "second-onion", "third-onion", "cook-soup", "fetch-dish", "take-soup", "serve-soup")
ACTIONS = ("up", "down", "right", "left", "stay", "use", "wait")  # as the package has them; to wait is to stay for long
HANDS, SOUP = ("nothing", "onion", "dish", "soup"), ("filling", "cooking", "ready")
ROOM = OvercookedGridworld.from_layout_name("cramped_room_single")


class Kitchen(gymnasium.Env[Any, Any]):
    """Where a cook may begin: as the package draws it, without tomatoes, which there are none of, and ready soups."""

    action_space = gymnasium.spaces.Discrete(len(ACTIONS))

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        draw = ROOM.get_random_start_state_fn(random_start_pos=True, rnd_obj_prob_thresh=0.5)
        self.state = draw(), 0
        while "tomato" in str(self.state[0].to_dict()) or seen(self.state)["cook"][-1] == 3 or seen(self.state)["pot"][1]:
            self.state = draw(), 0
        return None, {}


def moves(room: Any, action: int) -> tuple[Any, float, int]:
    """What comes of an action: the room, what was paid, and how many moves of the package it took."""
    paid, count = 0.0, 0
    while not count or (ACTIONS[action] == "wait" and seen((room, 0))["pot"][1] == 1):
        room, told = ROOM.get_state_transition(room, [Action.ALL_ACTIONS[min(action, 4) if action != 5 else 5]])
        paid, count = paid + sum(told["sparse_reward_by_agent"]), count + 1
    return room, paid, count


def follow(state: Any, action: int) -> Any:
    """What comes of an action: the room, and how many soups were paid for."""
    room, paid, _ = moves(state[0], action)
    return room, state[1] + (paid > 0)


def seen(state: Any) -> dict[str, Any]:
    """What a cook looks at."""
    cook = state[0].players[0]
    soup = next((state[0].objects[place] for place in ROOM.get_pot_locations() if place in state[0].objects), None)
    hand = HANDS.index(cook.held_object.name) if cook.held_object else 0
    pot = (len(soup.ingredients), 0 if soup.is_idle else 1 + soup.is_ready) if soup else (0, 0)
    return {"cook": (*cook.position, *cook.orientation, hand), "pot": pot, "paid": state[1]}


def what_counts(state: Any) -> str:
    """All of a state but the time of day."""
    told = state[0].to_dict()
    return f"{told['players']} {sorted(map(str, told['objects']))} {state[1]}"


def kitchen() -> Wrapped:
    """The kitchen as a world."""
    names = {
        "actions": ACTIONS,
        "cook": {"x": None, "y": None, "looks right": None, "looks down": None, "hand": HANDS},
        "pot": {"onions": None, "soup": SOUP},
        "paid": ("soups",),
    }
    return wrap(Kitchen(), save=lambda env: env.state, step=follow, key=what_counts, observe=seen, names=names)


def task_of(state: Any) -> str:
    """What is left to do in a room: onions that are in the pot need no words."""
    return " then ".join(STEPS[seen(state)["pot"][0] :])


TRUTH = {
    **{step: lambda state, n=n: seen(state)["pot"][0] > n for n, step in enumerate(STEPS[:3])},
    "cook-soup": lambda state: seen(state)["pot"][1] > 0,
    "fetch-dish": lambda state: seen(state)["cook"][-1] == HANDS.index("dish"),
    "take-soup": lambda state: seen(state)["cook"][-1] == HANDS.index("soup"),
    "serve-soup": lambda state: state[1] > 0,
}


def shown(world: Wrapped, count: int, seed: int) -> list[rsg.Demonstration]:
    """What somebody does who knows what the steps mean."""
    truth, demos = world.truth(TRUTH), list[rsg.Demonstration]()
    for number, start in enumerate(world.sample(np.random.default_rng(seed), count)):
        steps = task_of(world.restore(start)).split(" then ")
        task = " then ".join(steps[: 1 + number % len(steps)])  # first parts of the work, then all of it
        made = rsg.plan(world, start, task, lambda *asked: goals_from(lambda states: truth(None, states, asked[1])))
        demos.append(rsg.Demonstration(made.states, made.actions, task, world.setting(start)))
    return demos


def paid(world: Wrapped, subgoals: rsg.Subgoals, seed: int) -> bool:
    """Whether the kitchen itself pays for what was planned."""
    start = world.start(seed)
    room, earned = world.restore(start)[0], 0.0
    for action in subgoals.plan(world, start, task_of((room, 0))).actions:
        room, reward, _ = moves(room, int(action))
        earned += reward
    return earned == 20
