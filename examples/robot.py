"""A robot: a drone among round towers. It learns what its words mean from flights, and flies elsewhere with them."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

import rsg
from rsg.search import Goals, goals_from
from rsg.worlds import EitherWorld

Poses = NDArray[np.float64]
TOWERS, RADIUS = np.array([[4.0, 5.5], [7.0, 2.5]]), 1.2
PLACES = {"charge": (1.0, 1.0), "deliver": (9.0, 8.5)}  # what the words mean in truth: for the one who flies


class Drone:
    """A field of ten by ten. A state is where the drone is; an action moves it by at most one, straight."""

    low, high = np.zeros(2), np.full(2, 10.0)
    period, reach, cost = np.zeros(2), np.ones(2), 1.0

    def free(self, states: Poses) -> NDArray[np.bool_]:
        inside = ((states >= self.low) & (states <= self.high)).all(axis=1)
        away = np.hypot(*(states[:, None] - TOWERS).transpose(2, 0, 1)) > RADIUS
        return np.asarray(inside & away.all(axis=1))

    def clear(self, states: Poses, ends: Poses) -> NDArray[np.bool_]:
        parts = [self.free(states + share * (ends - states)) for share in np.linspace(0, 1, 21)]
        return np.asarray(np.all(parts, axis=0))

    def step(self, states: Poses, actions: Poses) -> Poses:
        ends = states + actions
        return np.where(self.clear(states, ends)[:, None], ends, states)

    def encode(self, states: Poses) -> NDArray[np.float32]:
        return (states / 5 - 1).astype(np.float32)

    def sample(self, rng: np.random.Generator, count: int) -> Poses:
        states = rng.uniform(0, 10, (20 * count, 2))
        return states[self.free(states)][:count]


def pilot(world: EitherWorld, terms: Sequence[str], start: Poses) -> Goals:
    """Somebody who knows what the words mean."""
    return goals_from(lambda states: np.stack([np.hypot(*(states - PLACES[term]).T) < 0.8 for term in terms], axis=1))


drone, tasks = Drone(), ["charge", "deliver", "charge then deliver"] * 8
starts = drone.sample(np.random.default_rng(0), len(tasks))
flights = [rsg.plan(drone, start, task, pilot) for start, task in zip(starts, tasks, strict=True)]
demonstrations = [rsg.Demonstration(one.states, one.actions, str(one.task)) for one in flights if one.found]
subgoals = rsg.learn(demonstrations, drone, settings={"steps": 60})  # nothing is discrete here: a network learns

made = subgoals.plan(drone, np.array([5.0, 1.0]), "deliver then charge")  # which nobody flew
verdict = rsg.validate(drone, made, made.task, lambda states, terms: pilot(drone, terms, states[0])(states)[0] == 0)
print(f"{len(made.actions)} moves to {made.task}:", "right" if verdict.ok else f"wrong, {verdict.reason}")
