"""Environments that break a promise, each in its own way; all walk about on a small grid."""

import functools
import itertools
import random
import threading
import time
from typing import Any, ClassVar

import gymnasium
import numpy as np
from gymnasium import spaces

MOVES = ((0, 1), (0, -1), (1, 0), (-1, 0))
TICKS = [0]


class Walk(gymnasium.Env):
    """A walk on a grid of five by five; breaks nothing."""

    def __init__(self) -> None:
        self.action_space = spaces.Discrete(4)
        self.observation_space = spaces.Box(0, 9, (2,), np.int64)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.place = [int(self.np_random.integers(5)), int(self.np_random.integers(5))]
        return self.seen(), {}

    def step(self, action):
        self.move(MOVES[action])
        return self.seen(), 0.0, False, False, {}

    def move(self, by):
        self.place = [min(max(one + d, 0), 4) for one, d in zip(self.place, by, strict=True)]

    def seen(self):
        return np.array(self.place)

    def key(self):
        return self.place


class Battery(Walk):
    """Empty after 30 steps; a key of the place alone leaves that out."""

    def reset(self, *, seed=None, options=None):
        self.battery = 30
        return super().reset(seed=seed)

    def move(self, by):
        self.battery -= 1
        if self.battery > 0:
            super().move(by)


class Phase(Walk):
    """Every third step goes the other way: a counter modulo three that the key leaves out."""

    def reset(self, *, seed=None, options=None):
        self.phase = 0
        return super().reset(seed=seed)

    def move(self, by):
        self.phase = (self.phase + 1) % 3
        super().move(by if self.phase else (-by[0], -by[1]))


class Noise(Walk):
    """What is seen is noisy, from its own numbers."""

    def seen(self):
        return np.array(self.place) + self.np_random.normal(0, 0.1, 2)


class GlobalNoise(Walk):
    """The same, from numpy's global ones."""

    def seen(self):
        return np.array(self.place) + np.random.normal(0, 0.1, 2)  # noqa: NPY002


class Forgets(Walk):
    """Restores the place, not the fuel."""

    def reset(self, *, seed=None, options=None):
        self.fuel = 9
        return super().reset(seed=seed)

    def move(self, by):
        super().move(by if self.fuel > 0 else (0, 0))
        self.fuel = (self.fuel - 1) % 12

    def get_state(self):
        return np.array(self.place)

    def set_state(self, state):
        self.place = [int(one) for one in state]


class Aliased(Walk):
    """Gives away the list that it goes on changing."""

    def move(self, by):
        for axis, d in enumerate(by):
            self.place[axis] = min(max(self.place[axis] + d, 0), 4)

    def get_state(self):
        return self.place

    def set_state(self, state):
        self.place = state


class Shared(Walk):
    """A counter of the class, for all copies."""

    ticks: ClassVar[int] = 0

    def move(self, by):
        Shared.ticks += 1
        super().move(by if Shared.ticks % 5 else (0, 0))


class Module(Walk):
    """A counter of the module."""

    def move(self, by):
        TICKS[0] += 1
        super().move(by if TICKS[0] % 7 else (0, 0))


class Slippery(Walk):
    """Slips now and then, by numpy's global numbers."""

    chance = 0.1

    def move(self, by):
        super().move(MOVES[np.random.randint(4)] if np.random.rand() < self.chance else by)  # noqa: NPY002


class SlipsSeldom(Slippery):
    """One step in fifty."""

    chance = 0.03


class SlipsByPython(Walk):
    """By Python's."""

    def move(self, by):
        super().move((0, 0) if random.random() < 1 / 3 else by)


class SlipsByItself(Walk):
    """By its own."""

    def move(self, by):
        super().move((0, 0) if self.np_random.random() < 1 / 3 else by)


class SavesChance(SlipsByItself):
    """The same, and it saves and restores its random numbers as well."""

    def get_state(self):
        return [*self.place, self.np_random.bit_generator.state]

    def set_state(self, state):
        *self.place, self.np_random.bit_generator.state = state


class Clock(Walk):
    """Another way in every other minute."""

    def move(self, by):
        super().move(by if int(time.time() / 60) % 2 else (-by[0], -by[1]))


class Script(Walk):
    """Its state is in a Python generator, which cannot be copied."""

    def reset(self, *, seed=None, options=None):
        shown = super().reset(seed=seed)
        self.script = self.moving()
        next(self.script)
        return shown

    def moving(self):
        while True:
            action = yield
            self.move(MOVES[action])

    def step(self, action):
        self.script.send(action)
        return self.seen(), 0.0, False, False, {}


class History(Walk):
    """Shows where it was a step ago, too."""

    def reset(self, *, seed=None, options=None):
        self.was = [0, 0]
        return super().reset(seed=seed)

    def move(self, by):
        self.was = list(self.place)
        super().move(by)

    def seen(self):
        return np.array([*self.place, *self.was])


class Locked(Walk):
    """Holds a lock, which cannot be copied and is no state."""

    def __init__(self) -> None:
        super().__init__()
        self.lock = threading.Lock()


class Steered(Walk):
    """An action is a vector."""

    def __init__(self) -> None:
        super().__init__()
        self.action_space = spaces.Box(-1, 1, (2,))


class Growing(Walk):
    """What it shows grows."""

    def reset(self, *, seed=None, options=None):
        self.trail: list[Any] = []
        return super().reset(seed=seed)

    def move(self, by):
        super().move(by)
        self.trail.append(tuple(self.place))


class Breaks(Walk):
    """Has a mistake in it."""

    def move(self, by):
        raise KeyError("fuel")


class LateCurse(Walk):
    """After 150 steps, left is right."""

    def reset(self, *, seed=None, options=None):
        self.age = 0
        return super().reset(seed=seed)

    def move(self, by):
        self.age += 1
        super().move(by if self.age < 150 else (-by[0], -by[1]))


class Times(Walk):
    """Ends after 40 steps and calls that an end of its own."""

    def reset(self, *, seed=None, options=None):
        self.steps = 0
        return super().reset(seed=seed)

    def step(self, action):
        self.steps += 1
        seen, reward, _, cut, info = super().step(action)
        return seen, reward, self.steps >= 40, cut, info


class Once(Walk):
    """Goes the other way once in its life, counted where nobody looks."""

    def __init__(self):
        super().__init__()
        self.count = functools.partial(next, itertools.count())

    def move(self, by):
        super().move(by if self.count() != 300 else (-by[0], -by[1]))


class Fractions(Walk):
    """Keeps where it is as an array of fractions."""

    def move(self, by):
        super().move(by)
        self.at = np.array(self.place) / 8

    def reset(self, *, seed=None, options=None):
        told = super().reset(seed=seed)
        self.at = np.array(self.place) / 8
        return told
