"""The expert in Crafting World: shortest walks from subgoal to subgoal."""

from functools import cache
from itertools import islice
from typing import NamedTuple

import numpy as np

from rsg.core.arrays import Ints
from rsg.domains.crafting import ACTIONS, VOCABULARY, CraftingWorld, kernels, truth
from rsg.domains.crafting.maps import objects_for
from rsg.domains.crafting.truth import goals
from rsg.domains.crafting.world import States
from rsg.language import Machine, parse

MAX_STEPS = 50
MAX_PATHS = 5000  # linear instructions that the expert tries


class Asked(NamedTuple):
    """What follows from a description: its machine, the objects and items that it takes and gives, its paths."""

    machine: Machine
    needs: tuple[str, ...]
    produced: frozenset[str]
    paths: tuple[tuple[str, ...], ...]


@cache
def asked_for(text: str) -> Asked:
    """What follows from a description."""
    machine = Machine.of(parse(text, VOCABULARY))
    produced = frozenset(term.partition("-")[2] for term in machine.names)
    paths = tuple(tuple(map(str, path)) for path in islice(machine.paths(), MAX_PATHS))
    return Asked(machine, objects_for(machine.names), produced, paths)


def expert(
    world: CraftingWorld, state: States, text: str, rng: np.random.Generator, noise: float = 0.0
) -> tuple[States, Ints] | None:
    """Follow each linear instruction with shortest walks and keep the shortest trajectory that does the task.

    With noise, that share of the actions is random, and the walk is found anew after each of them.

    Returns:
        states `[T + 1, W]` and actions `[T]`, or None if no instruction can be followed in 50 steps (with noise: in
        twice as many, and more the more actions are random).
    """
    asked, names = asked_for(text), asked_for(text).machine.names
    limit = MAX_STEPS if not noise else int(2 * MAX_STEPS / (1 - noise))  # slips and the ways back take longer
    tries = [_follow(world, state, goals(world, path), rng, noise, limit) for path in asked.paths]
    done = [found for found in tries if found is not None]
    if not done:
        return None
    ties = rng.random(len(done))
    states, actions = done[min(range(len(done)), key=lambda i: (len(done[i][1]), ties[i]))]
    return (states, actions) if asked.machine.accepts(truth(world, states, names), names) else None


def _follow(
    world: CraftingWorld, state: States, path: Ints, rng: np.random.Generator, noise: float, limit: int
) -> tuple[States, Ints] | None:
    """One linear instruction, subgoal after subgoal."""
    states = np.empty((limit + 1, world.state_width), dtype=np.uint8)
    actions = np.empty(limit, dtype=np.int64)
    states[0] = state
    scratch = np.empty((2, world.state_width), dtype=np.uint8)
    walk = np.empty(world.height * world.width + 1, dtype=np.int64)
    now = 0
    for goal in path:
        if kernels.goal_holds(states, now, world.capacity, goal):
            return None  # it must be false where its part begins
        while not kernels.goal_holds(states, now, world.capacity, goal):
            dice = rng.integers(2**31, size=len(walk))
            steps = kernels.achieve(world.tables, states[now : now + 1], goal, dice, scratch, walk)
            if steps < 0 or now + steps > limit:
                return None
            if noise:
                slips = np.flatnonzero(rng.random(steps) < noise)
                if len(slips):  # up to the first slip, then find the way again
                    steps = int(slips[0]) + 1
                    walk[steps - 1] = rng.integers(len(ACTIONS))
            actions[now : now + steps] = walk[:steps]
            kernels.replay_rows(world.tables, states[now : now + steps + 1], walk[:steps])
            now += steps
    return states[: now + 1], actions[:now]
