"""Does the same action in the same state always lead to the same state? Looked at where a world is used, not only once.

A compiled step draws nothing; all other worlds may hold a random number that nobody thought of.
"""

import time
from typing import Any

import numpy as np

from rsg.core.arrays import Array
from rsg.core.errors import RsgError
from rsg.core.random import stream
from rsg.worlds.protocol import EitherWorld, States, is_continuous

NEEDED = "rsg needs a deterministic world"
LARGE, SMALL = 8, 40  # calls with many states, and with few
SECONDS = 0.2  # at most, for a first look
COPIES = 48  # of each step that is taken again: of a slip in ten, one in two hundred is missed
_CLOSE = 1e-6


def compiled(world: EitherWorld) -> bool:
    """Whether it has a compiled form, which is the same whenever it is asked."""
    return hasattr(world, "compiled_step") or hasattr(world, "compiled_motion")


def two_answers(world: EitherWorld, states: States) -> str | None:
    """A sentence if a short look at states `[N, W]` shows that steps are drawn by chance; None if it shows nothing."""
    if compiled(world) or hasattr(world, "again"):
        return None
    rng, begun = stream(0, "determinism"), time.perf_counter()
    few = np.asarray(states)[rng.permutation(len(states))[:16]]
    rows, actions = _each(world, few, rng)
    first = np.asarray(world.step(rows.copy(), actions))
    for call in range(LARGE + SMALL):
        some = np.arange(len(rows)) if call < LARGE else rng.integers(len(rows), size=2)
        after = np.asarray(world.step(rows[some].copy(), actions[some]))
        if len(wrong := np.flatnonzero(_apart(world, after, first[some]))):
            action = actions[some][wrong[0]]
            return (
                f"`step` gave two answers for {_named(world, action)} in the same state: it is stochastic, and {NEEDED}"
            )
        if time.perf_counter() - begun > SECONDS:
            break
    return None


def check_again(world: EitherWorld, states: States, actions: Array) -> None:
    """An error if actions `[T]`, taken once more, do not lead through the states `[T + 1, W]` of a plan."""
    if compiled(world) or len(actions) == 0:
        return
    number = varying(world, states, actions)
    if number is not None:
        raise RsgError(
            f"a plan was found, but step {number} of it, {_named(world, actions[number])}, leads elsewhere when it is "
            f"taken again: the world is stochastic, and {NEEDED}"
        )


def varying(world: EitherWorld, states: States, actions: Array) -> int | None:
    """The first step of a trajectory that leads elsewhere when it is taken again; None if none does."""
    before, wanted = np.asarray(states)[:-1], np.asarray(states)[1:]
    if hasattr(world, "again"):
        after = np.asarray(world.again(before, actions))
    else:
        wanted = np.repeat(wanted, COPIES, axis=0)
        after = np.asarray(world.step(np.repeat(before, COPIES, axis=0), np.repeat(actions, COPIES, axis=0)))
    wrong = np.flatnonzero(_apart(world, after, wanted))
    return int(wrong[0]) * len(before) // len(wanted) if len(wrong) else None


def chance_in(world: EitherWorld, state: Array, action: Any) -> bool:
    """Whether an action in a state has several outcomes, as far as some tries show."""
    rows, actions = np.repeat(state[None], 64, axis=0), np.repeat(np.asarray(action)[None], 64, axis=0)
    ask = getattr(world, "again", world.step)
    after = np.asarray(ask(rows, actions))
    return bool(_apart(world, after, np.repeat(after[:1], 64, axis=0)).any())


def _each(world: EitherWorld, states: States, rng: np.random.Generator) -> tuple[States, Array]:
    """Some actions in each state."""
    if is_continuous(world):
        return states, rng.uniform(-1, 1, size=(len(states), len(world.reach))) * world.reach
    count = min(len(world.actions), 16)
    chosen = rng.permutation(len(world.actions))[:count]
    times = -(-64 // (len(states) * count))  # each several times, too
    return np.repeat(states, count * times, axis=0), np.tile(chosen, len(states) * times)


def _apart(world: EitherWorld, one: States, other: States) -> Array:
    """Which rows differ; in a continuous world, by more than rounding."""
    if is_continuous(world):
        return np.asarray((np.abs(one - other) > _CLOSE).any(axis=1))
    return np.asarray((one != other).any(axis=1))


def _named(world: EitherWorld, action: Any) -> str:
    return "an action" if is_continuous(world) else f"'{world.actions[int(action)]}'"
