"""What every world promises about its states, its steps, its encoding and its pictures; part of `rsg.worlds.check`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from rsg.core.arrays import Array
from rsg.worlds.protocol import States


def attempt(problems: list[str], name: str, find: Callable[[], Iterable[str]]) -> None:
    """Add what a check finds."""
    try:
        problems.extend(find())
    except Exception as error:  # whatever a stranger's world raises, the answer is a sentence
        problems.append(f"{name}: raised {type(error).__name__}: {error}")


def same(a: Any, b: Any) -> bool:
    """Whether two arrays agree to the byte: the same numbers, -0.0 and NaN among them."""
    a, b = np.asarray(a), np.asarray(b)
    return bool(a.shape == b.shape and a.dtype == b.dtype and a.tobytes() == b.tobytes())


def check_states(states: States) -> Iterator[str]:
    """Rows that can be told apart by their bytes."""
    if states.ndim != 2 or len(states) == 0:
        yield f"States must be rows [N, W] with at least one row, but have shape {states.shape}."
    elif states.dtype.hasobject:
        yield "States hold Python objects: they cannot be told apart by their bytes. Use a numeric dtype."
    elif states.dtype.kind == "f" and (np.isnan(states).any() or (np.signbit(states) & (states == 0)).any()):
        yield "States hold NaN or -0.0: equal states would have different bytes."


def check_step(world: Any, states: States, actions: Array) -> Iterator[str]:
    """Steps are pure, deterministic, and each row is on its own."""
    before = states.copy()
    after = np.asarray(world.step(states, actions))
    if not np.array_equal(states, before):
        yield "`step` changed the states it was given: it must be pure and return new ones."
        states = before
    if after.shape != states.shape:
        yield f"`step` returned shape {after.shape} for states of shape {states.shape}: the width must not change."
        return
    if after.dtype != states.dtype:
        yield f"`step` returned {after.dtype} for states of {states.dtype}: the dtype must not change."
    if np.shares_memory(after, states):
        yield "`step` returned memory of the states it was given: a later change would reach both."
    if not same(world.step(before.copy(), actions), after):
        yield "`step` gave two answers for the same states and actions: the world must be deterministic."
        return
    alone = np.concatenate([np.asarray(world.step(before[i : i + 1], actions[i : i + 1])) for i in range(len(before))])
    if not same(alone, after):
        yield "`step` treats a state differently in a batch than alone: rows must not depend on each other."
    yield from check_states(after)


def check_encoding(world: Any, states: States) -> Iterator[str]:
    """Numbers, a row for each state, the same each time."""
    before = states.copy()
    parts = _arrays(world.encode(states))
    if not np.array_equal(states, before):
        yield "`encode` changed the states it was given: it must be pure."
    for name, array in parts.items():
        if array.dtype.kind not in "biuf" or array.ndim < 1 or len(array) != len(states):
            yield f"`encode` must give numbers with one row per state, but {name} is {array.dtype} {array.shape}."
        elif array.dtype.kind == "f" and not np.isfinite(array).all():
            yield f"`encode` gave values that are not finite in {name}."
    again = _arrays(world.encode(before.copy()))
    if parts.keys() != again.keys() or any(not same(parts[name], again[name]) for name in parts):
        yield "`encode` gave two answers for the same states: classifiers need one."


def check_picture(world: Any, states: States) -> Iterator[str]:
    """A picture of a state."""
    picture = np.asarray(world.render(states[0].copy()))
    if picture.dtype != np.uint8 or picture.ndim != 3 or picture.shape[2] != 3:
        yield f"`render` must give a picture [height, width, 3] of uint8, but gave {picture.dtype} {picture.shape}."


def _arrays(encoding: Any) -> dict[str, Array]:
    """The arrays of an encoding by name, whatever holds them."""
    if hasattr(encoding, "_asdict"):
        encoding = encoding._asdict()
    if not isinstance(encoding, dict):
        encoding = {"the encoding": encoding}
    convert: Callable[[Any], Array] = np.asarray
    return {str(name): convert(array) for name, array in encoding.items()}
