"""Where chance and time come into an environment from outside: held still, or stirred, one by one."""

import random
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import numpy as np

NUMPY, PYTHON, OWN, CLOCK = (
    "numpy's global np.random",
    "Python's global `random`",
    "its own random numbers (env.np_random)",
    "the clock",
)
_CLOCKS = ("time", "monotonic", "perf_counter", "process_time")


@contextmanager
def kept() -> Iterator[None]:
    """Whoever uses global random numbers elsewhere notices nothing of what happens here."""
    numbers, others = np.random.get_state(), random.getstate()  # noqa: NPY002
    try:
        yield
    finally:
        np.random.set_state(numbers)  # noqa: NPY002
        random.setstate(others)


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """The global random numbers follow from the seed: environments of old draw from them."""
    with kept():
        np.random.seed(seed % 2**32)  # noqa: NPY002
        random.seed(seed)
        yield


def stir(own: Iterator[Any] | list[Any], rng: np.random.Generator) -> None:
    """Other random numbers than before, wherever they come from."""
    np.random.seed(int(rng.integers(2**32)))  # noqa: NPY002
    random.seed(int(rng.integers(2**62)))
    for one in own:
        for _ in range(int(rng.integers(1, 9))):
            if hasattr(one, "random"):
                one.random()


def draw_alike(one: Any, other: Any) -> None:
    """Let a generator of random numbers draw what another one of its kind draws."""
    if isinstance(one, random.Random) and not isinstance(one, random.SystemRandom):
        one.setstate(other.getstate())
    elif isinstance(one, np.random.RandomState):
        one.set_state(other.get_state())
    elif isinstance(one := getattr(one, "bit_generator", one), np.random.BitGenerator):
        one.state = getattr(other, "bit_generator", other).state


@contextmanager
def clock(offset: float, still: bool, modules: set[str]) -> Iterator[None]:
    """Another time: later by some seconds, or one that only goes on when somebody looks."""
    real = {name: getattr(time, name) for name in _CLOCKS}
    looked = [0]

    def at(name: str) -> Callable[[], float]:
        def tell() -> float:
            looked[0] += 1
            return (1e9 + 1e-3 * looked[0]) if still else real[name]() + offset

        return tell

    told = {name: at(name) for name in _CLOCKS}
    told |= {f"{name}_ns": (lambda name=name: int(told[name]() * 1e9)) for name in _CLOCKS}  # type: ignore[misc]
    own = [
        (sys.modules[one], name, value)
        for one in modules
        if one in sys.modules
        for name, value in vars(sys.modules[one]).items()
    ]
    by_real = {id(getattr(time, name)): tells for name, tells in told.items()}
    changed = [patch.object(time, name, tells) for name, tells in told.items()]
    changed += [patch.object(module, name, by_real[id(value)]) for module, name, value in own if id(value) in by_real]
    for one in changed:
        one.start()
    try:
        yield
    finally:
        for one in reversed(changed):
            one.stop()
