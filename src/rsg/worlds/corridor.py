"""The world of the examples: small enough to see all of it."""

from collections.abc import Iterator

import numpy as np

from rsg.core.arrays import Array, Ints


class Corridor:
    """Nine places in a row: a lamp at the left end, a book at the right end, which nobody reads in the dark.

    A state is (place, lamp lit, book read).

    >>> Corridor().step(np.array([[0, 0, 0]]), np.array([2]))  # touch the lamp
    array([[0, 1, 0]])
    """

    actions = ("left", "right", "touch")

    def step(self, states: Ints, actions: Ints) -> Ints:
        """Walk, or touch what is here."""
        after, touched = states.copy(), np.asarray(actions) == 2
        after[:, 0] = np.clip(states[:, 0] + (actions == 1) - (actions == 0), 0, 8)
        after[:, 1] |= touched & (states[:, 0] == 0)
        after[:, 2] |= touched & (states[:, 0] == 8) & (states[:, 1] == 1)
        return after

    def encode(self, states: Ints) -> Ints:
        """All there is."""
        return states

    def sample(self, rng: np.random.Generator, count: int) -> Ints:
        """Somewhere, nothing done."""
        return np.stack([rng.integers(0, 9, count), *np.zeros((2, count), dtype=np.int64)], axis=1)

    def walks(self) -> Iterator[tuple[Array, Array, str]]:
        """What somebody shows: states, actions and a description, from every place."""
        for place in range(9):
            yield self._walk([place, 0, 0], [0] * place, "light-lamp")
            yield self._walk([place, 1, 0], [1] * (8 - place), "read-book")

    def _walk(self, start: list[int], moves: list[int], task: str) -> tuple[Array, Array, str]:
        states, actions = [np.array(start)], np.array([*moves, 2])
        for action in actions:
            states.append(self.step(states[-1][None], action[None])[0])
        return np.array(states), actions, task
