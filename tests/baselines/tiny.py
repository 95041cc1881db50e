"""A world that everything can be learned in: a walk between the two ends of a corridor, in cells or in any steps.

Where one stands does not tell what to do next in `left then right`: the policy must remember, or have a machine.
"""

from typing import ClassVar

import numpy as np

from rsg.demos import Demonstration
from rsg.language import Machine, parse

TASKS = ["left", "right", "left then right", "right then left"]


class _Line:
    """What both have in common; `ends` are the places that terms ask for."""

    ends: ClassVar[dict[str, int]]

    def render(self, state):
        return np.zeros((1, self.ends["right"] + 1, 3), dtype=np.uint8)


class Corridor(_Line):
    """Cells 0 to 6; actions 0 (to the left) and 1 (to the right). A state is `[1]` the cell."""

    ends: ClassVar = {"left": 0, "right": 6}
    actions = ("back", "forth")
    costs = np.full(2, 0.1)

    def step(self, states, actions):
        return np.clip(states + 2 * np.asarray(actions)[:, None] - 1, 0, 6)

    def successors(self, states):
        return np.stack([self.step(states, np.full(len(states), a)) for a in (0, 1)], axis=1)

    def encode(self, states):
        return np.eye(7, dtype=np.float32)[states[:, 0]]

    def towards(self, place, end):
        return int(end > place)

    def start(self, rng):
        return np.array([rng.integers(1, 6)])

    def there(self, states, term):
        return states[:, 0] == self.ends[term]


class Track(_Line):
    """Shorter, with moves of any length up to 1. A state is `[1]` the place from 0 to 4."""

    ends: ClassVar = {"left": 0, "right": 4}
    reach = np.ones(1)
    cost = 0.1

    def step(self, states, actions):
        return np.clip(states + np.asarray(actions), 0, 4)

    def encode(self, states):
        return (states / 2 - 1).astype(np.float32)

    def towards(self, place, end):
        return np.array([1.0 if end > place else -1.0])

    def start(self, rng):
        return rng.uniform(1, 3, size=1)

    def there(self, states, term):
        return np.abs(states[:, 0] - self.ends[term]) < 0.5


class Tiny:
    """The corridor as a domain."""

    name, vocabulary = "tiny", ("left", "right")

    def __init__(self, world=None):
        self.splits = {"train": TASKS, "primitive": TASKS[:2], "compositional": TASKS[2:]}
        self._world = world or Corridor()

    def tasks(self, split):
        return list(self.splits[split])

    def start(self, split, task, rng):
        return self._world, self._world.start(rng)

    def world(self, setting):
        return self._world

    def truth(self, world, states, terms):
        return np.stack([world.there(states, term) for term in terms], axis=1)

    def demonstrate(self, split, task, rng, noise=0.0):
        text = self.tasks(split)[task]
        states, actions = [self._world.start(rng)], []
        for term in next(Machine.of(parse(text)).paths()):
            while not self._world.there(states[-1][None], str(term))[0]:
                actions.append(self._world.towards(states[-1][0], self._world.ends[str(term)]))
                states.append(self._world.step(states[-1][None], np.array([actions[-1]]))[0])
        return Demonstration(np.stack(states), np.array(actions), text), 1


def demonstrations(world=None, per_task=40):
    """Some of each task."""
    source = Tiny(world)
    found = [
        source.demonstrate("train", task, np.random.default_rng([task, i]))[0]
        for task in range(len(TASKS))
        for i in range(per_task)
    ]
    return source, found
