"""`check(world)`: does a class keep the promises that search and learning rely on? It answers in plain sentences."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rsg.core.random import stream
from rsg.worlds.protocol import States

PARTS = ("actions", "costs", "step", "successors", "encode", "render")


def check(world: Any, states: States | None = None, seed: int = 0) -> list[str]:
    """What is wrong with the world, one sentence each; an empty list means that rsg can use it.

    Args:
        world: the world to look at.
        states: some states `[N, W]` to try it on; by default `world.sample(rng, 64)`.
        seed: which actions are tried.
    """
    lacking = [f"The world has no `{part}`; see rsg.worlds.World." for part in PARTS if not hasattr(world, part)]
    if lacking:
        return lacking
    rng = stream(seed, "conformance")
    if states is None and not hasattr(world, "sample"):
        return ["Give some states, check(world, states), or add a method sample(rng, count) that makes them."]
    problems: list[str] = []
    _attempt(problems, "costs", lambda: _check_costs(world))
    try:
        rows = np.asarray(world.sample(rng, 64) if states is None else states)
    except Exception as error:  # whatever a stranger's world raises, the answer is a sentence
        return [*problems, f"sample: raised {type(error).__name__}: {error}"]
    _attempt(problems, "states", lambda: _check_states(rows))
    if problems:
        return problems
    actions = rng.integers(len(world.actions), size=len(rows))
    _attempt(problems, "step", lambda: _check_step(world, rows, actions))
    if not problems:  # a wrong step would only be told twice
        _attempt(problems, "successors", lambda: _check_successors(world, rows))
    _attempt(problems, "encode", lambda: _check_encoding(world, rows))
    _attempt(problems, "render", lambda: _check_picture(world, rows))
    return problems


def _attempt(problems: list[str], name: str, find: Callable[[], Iterable[str]]) -> None:
    """Add what a check finds."""
    try:
        problems.extend(find())
    except Exception as error:  # whatever a stranger's world raises, the answer is a sentence
        problems.append(f"{name}: raised {type(error).__name__}: {error}")


def _same(a: Any, b: Any) -> bool:
    """Whether two arrays agree to the byte: the same numbers, -0.0 and NaN among them."""
    a, b = np.asarray(a), np.asarray(b)
    return bool(a.shape == b.shape and a.dtype == b.dtype and a.tobytes() == b.tobytes())


def _check_costs(world: Any) -> Iterator[str]:
    names = list(world.actions)
    costs = np.asarray(world.costs)
    if not names:
        yield "There are no actions: `actions` is empty."
    if costs.shape != (len(names),):
        yield f"`costs` has shape {costs.shape}, but there are {len(names)} actions: give one cost for each."
    elif not (np.isfinite(costs).all() and (costs > 0).all()):
        yield f"Every cost must be positive and finite, but `costs` is {costs.tolist()}."


def _check_states(states: States) -> Iterator[str]:
    if states.ndim != 2 or len(states) == 0:
        yield f"States must be rows [N, W] with at least one row, but have shape {states.shape}."
    elif states.dtype.hasobject:
        yield "States hold Python objects: they cannot be told apart by their bytes. Use a numeric dtype."
    elif states.dtype.kind == "f" and (np.isnan(states).any() or (np.signbit(states) & (states == 0)).any()):
        yield "States hold NaN or -0.0: equal states would have different bytes."


def _check_step(world: Any, states: States, actions: NDArray[Any]) -> Iterator[str]:
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
    if not _same(world.step(before.copy(), actions), after):
        yield "`step` gave two answers for the same states and actions: the world must be deterministic."
        return
    alone = np.concatenate([np.asarray(world.step(before[i : i + 1], actions[i : i + 1])) for i in range(len(before))])
    if not _same(alone, after):
        yield "`step` treats a state differently in a batch than alone: rows must not depend on each other."
    yield from _check_states(after)


def _check_successors(world: Any, states: States) -> Iterator[str]:
    count = len(world.actions)
    given = states.copy()
    after = np.asarray(world.successors(given))
    if not _same(given, states):
        yield "`successors` changed the states it was given: it must be pure."
    if after.shape != (len(states), count, states.shape[1]):
        yield f"`successors` returned shape {after.shape}, not [N, A, W] = {(len(states), count, states.shape[1])}."
        return
    for action in range(count):
        expected = np.asarray(world.step(states.copy(), np.full(len(states), action)))
        if not _same(after[:, action], expected):
            yield f"`successors` and `step` disagree on action '{list(world.actions)[action]}'."


def _check_encoding(world: Any, states: States) -> Iterator[str]:
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
    if parts.keys() != again.keys() or any(not _same(parts[name], again[name]) for name in parts):
        yield "`encode` gave two answers for the same states: classifiers need one."


def _check_picture(world: Any, states: States) -> Iterator[str]:
    picture = np.asarray(world.render(states[0].copy()))
    if picture.dtype != np.uint8 or picture.ndim != 3 or picture.shape[2] != 3:
        yield f"`render` must give a picture [height, width, 3] of uint8, but gave {picture.dtype} {picture.shape}."


def _arrays(encoding: Any) -> dict[str, NDArray[Any]]:
    """The arrays of an encoding by name, whatever holds them."""
    if hasattr(encoding, "_asdict"):
        encoding = encoding._asdict()
    if not isinstance(encoding, dict):
        encoding = {"the encoding": encoding}
    convert: Callable[[Any], NDArray[Any]] = np.asarray
    return {str(name): convert(array) for name, array in encoding.items()}
