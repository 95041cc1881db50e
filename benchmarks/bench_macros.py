"""What macros gain: plans with and without, on floors of growing size, by a batched world. One core."""

import time
from typing import Any

import numpy as np

from rsg.core.arrays import Array, Bools, Ints
from rsg.planning import plan
from rsg.search import Goals, goals_from

TASK = "take-key then open-door then press-button"
TERMS = ("take-key", "open-door", "press-button")


class Floor:
    """A square floor: a key, a door and a button in three of its corners. A state: x, y, and which is done."""

    actions = ("up", "down", "left", "right", "use")

    def __init__(self, size: int, with_macros: bool = False, controllers: bool = True) -> None:
        last, self.asked = size - 1, 0
        self.last = last
        self.places = np.array([[0, last], [last, last], [last, 0]])
        if with_macros and controllers:
            self.macros: dict[str, Any] = {term: self._going(n) for n, term in enumerate(TERMS)}
        elif with_macros:
            self.macros = {f"dash-{way}": [way] * 4 for way in self.actions[:4]}

    def _going(self, number: int) -> Any:
        def controller(_: Any, state: Ints) -> list[str]:
            across, down = (self.places[number] - state[:2]).tolist()
            walk = ["right" if across > 0 else "left"] * abs(across) + ["down" if down > 0 else "up"] * abs(down)
            return [f"{way}" for way in walk] + ["use"]

        return controller

    def step(self, states: Ints, actions: Ints) -> Ints:
        """Walk, or use what is here once what comes before it was used."""
        self.asked += len(states)
        after = states.copy()
        after[:, 0] = np.clip(states[:, 0] + (actions == 3) - (actions == 2), 0, self.last)
        after[:, 1] = np.clip(states[:, 1] + (actions == 1) - (actions == 0), 0, self.last)
        for n, place in enumerate(self.places):
            ready = states[:, 1 + n] == 1 if n else True
            after[:, 2 + n] |= (actions == 4) & (states[:, :2] == place).all(axis=1) & ready
        return after

    def encode(self, states: Ints) -> Ints:
        """All there is."""
        return states


def truth(*_: object) -> Goals:
    """The true subgoals."""

    def holds(states: Array) -> Bools:
        return np.asarray(states[:, 2:] == 1)

    return goals_from(holds)


def run() -> dict[str, Any]:
    """Expansions, states that the world was asked for, milliseconds, actions of a plan: the median of 20 starts."""
    figures: dict[str, Any] = {}
    for size in (8, 16, 32):
        for name, world in {
            "actions alone": Floor(size),
            "with controllers that end in a subgoal": Floor(size, True),
            "with sequences of four steps": Floor(size, True, controllers=False),
        }.items():
            rng, rows = np.random.default_rng(0), []
            for _ in range(20):
                start = np.array([*rng.integers(0, size, 2), 0, 0, 0])
                begun, world.asked = time.perf_counter(), 0
                made = plan(world, start, TASK, truth, {"budget": 100_000})
                assert made.found
                rows.append((made.expansions, world.asked, 1000 * (time.perf_counter() - begun), len(made.actions)))
            median = np.median(np.array(rows[1:], dtype=float), axis=0).round(2).tolist()
            names = ("expansions", "asked", "ms", "actions")
            figures[f"{size}×{size}, {name}"] = dict(zip(names, median, strict=True))
    return figures
