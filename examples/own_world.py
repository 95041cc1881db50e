"""A world of one's own; every command takes it: rsg train examples/own_world.py:Greenhouse --out out/greenhouse."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

import rsg

Rows = NDArray[np.int64]
Truths = NDArray[np.bool_]
TAP, BEANS, ROSES = 0, 3, 6


class Beds:
    """Seven places in a row, with a tap and two beds. A state is (place, can full, beans wet, roses wet)."""

    actions = ("left", "right", "use")
    fact_names = ("full(can)", "wet(beans)", "wet(roses)")  # what can be asked of a state, for better sentences
    fact_phrases = {"full": ("the {x} is full", "the {x} is empty"), "wet": ("the {x} are wet", "the {x} are dry")}

    def step(self, states: Rows, actions: Rows) -> Rows:
        after, place, full, use = states.copy(), states[:, 0], states[:, 1] == 1, actions == 2
        after[:, 0] = np.clip(place + (actions == 1) - (actions == 0), 0, 6)
        after[:, 2] |= use & full & (place == BEANS)
        after[:, 3] |= use & full & (place == ROSES)
        after[:, 1] = np.where(use, place == TAP, full)  # a can waters one bed
        return after

    def encode(self, states: Rows) -> Rows:
        return states

    def facts(self, states: Rows) -> Truths:
        return np.asarray(states[:, 1:] == 1)

    def sample(self, rng: np.random.Generator, count: int) -> Rows:
        return np.stack([rng.integers(0, 7, count), *np.zeros((3, count), dtype=np.int64)], axis=1)


class Greenhouse(rsg.Domain):
    """Which tasks there are, and what their words mean in truth: for experts and judges, never for a learner."""

    splits = {"train": ["fill-can", "water-beans", "water-roses"], "novel": ["water-roses then water-beans"]}

    def world(self, setting: str = "") -> Beds:
        return Beds()

    def truth(self, world: Any, states: Rows, terms: Sequence[str]) -> Truths:
        return Beds().facts(states)[:, [self.vocabulary.index(term) for term in terms]]


if __name__ == "__main__":
    house, beds, rng = Greenhouse(), Beds(), np.random.default_rng(0)
    print("what it lacks:", rsg.worlds.check(beds))
    subgoals = rsg.learn([house.demonstrate("train", task, rng)[0] for task in (0, 1, 2) for _ in range(3)], house)
    print(*(told.means for told in subgoals.tell(beds)), sep="\n")
    print(subgoals.plan_goal(beds, np.array([4, 0, 0, 0]), "water-roses").task)
