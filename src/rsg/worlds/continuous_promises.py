"""What a continuous world promises beyond the rest: bounds, free poses and free motions; part of `rsg.worlds.check`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from rsg.core.arrays import Bools, Floats
from rsg.worlds.promises import same
from rsg.worlds.protocol import States

PARTS = ("low", "high", "period", "reach", "cost", "step", "free", "clear", "encode", "render")
_OF_NO_OTHER = ("low", "high", "period", "reach", "free", "clear")
_ROUNDING = 1e-9


def meant_by(world: Any) -> bool:
    """Whether a class means to be a continuous world."""
    return any(hasattr(world, part) for part in _OF_NO_OTHER) and not hasattr(world, "successors")


def check_bounds(world: Any) -> Iterator[str]:
    """Numbers that bound a pose and an action."""
    bounds = {name: np.asarray(getattr(world, name)) for name in ("low", "high", "period", "reach")}
    shapes = {array.shape for array in bounds.values()}
    if len(shapes) > 1 or len(next(iter(shapes))) != 1 or bounds["low"].size == 0:
        listed = ", ".join(f"{name} {array.shape}" for name, array in bounds.items())
        yield f"`low`, `high`, `period` and `reach` must have the length of a pose, [D], but have shapes: {listed}."
        return
    if any(array.dtype.kind not in "iuf" or not np.isfinite(array).all() for array in bounds.values()):
        yield "`low`, `high`, `period` and `reach` must be finite numbers."
        return
    if not (bounds["low"] < bounds["high"]).all():
        yield f"`low` must be below `high`, but they are {bounds['low'].tolist()} and {bounds['high'].tolist()}."
    if not (bounds["reach"] > 0).all():
        yield f"`reach` must be positive, but is {bounds['reach'].tolist()}."
    around = bounds["period"] != 0
    if (bounds["period"] < 0).any() or not np.allclose(
        (bounds["high"] - bounds["low"])[around], bounds["period"][around]
    ):
        yield "`period` must be 0, or `high` - `low` where a number comes round again."
    if not (np.isfinite(world.cost) and world.cost > 0):
        yield f"`cost` must be positive and finite, but is {world.cost}."


def check_poses(world: Any, states: States) -> Iterator[str]:
    """States whose first numbers are poses within the bounds, some of them free."""
    if states.dtype != np.float64:
        yield f"States of a continuous world must be float64, but are {states.dtype}."
    elif states.shape[1] < len(world.low):
        yield f"States have {states.shape[1]} numbers, fewer than a pose: `low` has {len(world.low)}."
    elif not ((states[:, : len(world.low)] >= world.low) & (states[:, : len(world.low)] <= world.high)).all():
        yield "A state has a pose outside `low` and `high`."
    elif not np.asarray(world.free(states.copy())).any():
        yield "`free` says that none of the states is free: give some that are."


def check_motion(world: Any, states: States, moves: Floats, rng: np.random.Generator) -> Iterator[str]:
    """`step`, `free` and `clear` tell the same story."""
    width = len(world.low)
    ends = _within(world, states[:, :width] + moves)
    given = states.copy()
    free, clear = np.asarray(world.free(given)), np.asarray(world.clear(given, ends))
    if not same(given, states):
        yield "`free` or `clear` changed the states it was given: it must be pure."
    for name, answer in (("free", free), ("clear", clear)):
        if answer.dtype != np.bool_ or answer.shape != (len(states),):
            yield f"`{name}` must give a truth value for each state, but gave {answer.dtype} {answer.shape}."
            return
    if not (same(world.free(states.copy()), free) and same(world.clear(states.copy(), ends), clear)):
        yield "`free` or `clear` gave two answers for the same states: the world must be deterministic."
    after = np.asarray(world.step(states.copy(), moves))
    yield from _check_after(world, states, after, ends, clear)
    moved = np.concatenate([ends, states[:, width:]], axis=1)
    if (clear & ~(free & np.asarray(world.free(moved)))).any():
        yield "`clear` allows a motion whose start or end is not free."
    if not np.asarray(world.clear(states[free], states[free, :width])).all():
        yield "`clear` forbids to stay at a free pose."
    yield from _check_compiled(world, states, ends, rng)


def _check_after(world: Any, states: States, after: States, ends: Floats, clear: Bools) -> Iterator[str]:
    width = len(world.low)
    if not np.array_equal(after[:, width:], states[:, width:]):
        yield "`step` changed more than the pose: the rest of a state must stay as it is."
    if not (np.abs(_difference(world, after[:, :width], states[:, :width])) <= world.reach * (1 + _ROUNDING)).all():
        yield "`step` moved a pose farther than `reach`."
    still = (after[:, :width] == states[:, :width]).all(axis=1)
    there = (np.abs(_difference(world, after[:, :width], ends)) <= _ROUNDING).all(axis=1)
    if not (still | there).all():
        yield "`step` must add the action to the pose, or leave the pose as it is; it did neither."
    elif (there != clear).any():
        yield "`step` and `clear` disagree: an action must move the pose exactly where its motion is free."


def _check_compiled(world: Any, states: States, ends: Floats, rng: np.random.Generator) -> Iterator[str]:
    """The compiled form says the same, on short motions and on long ones."""
    if not hasattr(world, "compiled_motion"):
        return
    kernel, tables = world.compiled_motion
    far = states[rng.permutation(len(states)), : len(world.low)]
    for goals in (ends, far):
        expected = np.asarray(world.clear(states.copy(), goals))
        pairs = zip(states[:, : len(world.low)], goals, strict=True)
        if [bool(kernel(tables, start.copy(), goal.copy())) for start, goal in pairs] != expected.tolist():
            yield "`compiled_motion` and `clear` disagree on some motions."
            return


def _difference(world: Any, a: Floats, b: Floats) -> Floats:
    """From b to a, the shorter way round where a number comes round again."""
    period = np.asarray(world.period)
    with np.errstate(divide="ignore", invalid="ignore"):
        turns = np.where(period > 0, np.round((a - b) / period), 0.0)
    return np.asarray(a - b - turns * period)


def _within(world: Any, poses: Floats) -> Floats:
    """Poses whose periodic numbers are within the bounds."""
    period, low = np.asarray(world.period), np.asarray(world.low)
    with np.errstate(divide="ignore", invalid="ignore"):
        turns = np.where(period > 0, np.floor((poses - low) / period), 0.0)
    return np.asarray(poses - turns * period)
