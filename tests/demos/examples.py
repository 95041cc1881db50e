"""Demonstrations out of thin air: each follows from its number alone."""

import numpy as np

from rsg.demos import Demonstration

TASKS = ("grab-axe", "grab-axe then mine-wood", "grab-key or grab-axe then toggle-switch")


def demonstration(number, steps=None, width=None, states="uint8", actions="int64", action_width=None):
    """States and actions are random numbers of these dtypes; the shapes are too, unless they are given."""
    rng = np.random.default_rng(number)
    steps = steps or int(rng.integers(1, 9))
    width = width or int(rng.integers(1, 7))
    shape = (steps,) if action_width is None else (steps, action_width)
    return Demonstration(
        rng.integers(0, 100, (steps + 1, width)).astype(states),
        rng.integers(0, 100, shape).astype(actions),
        TASKS[number % 3],
        f'{{"world": "own", "width": {width}}}',
    )


def demonstrations(count, **kinds):
    return [demonstration(number, **kinds) for number in range(count)]


def contents(folder):
    """All files of a store with their bytes, the hidden ones too, except for the lock."""
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir()) if path.name != ".lock"}
