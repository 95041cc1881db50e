"""`check(world)`: does a class keep the promises that search and learning rely on? It answers in plain sentences."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from rsg.core.arrays import Array, Bools, Floats
from rsg.core.random import stream
from rsg.worlds.protocol import States

_PARTS = {
    "World": ("actions", "costs", "step", "successors", "encode", "render"),
    "ContinuousWorld": ("low", "high", "period", "reach", "cost", "step", "free", "clear", "encode", "render"),
}
_OF_CONTINUOUS = ("low", "high", "period", "reach", "free", "clear")
_ROUNDING = 1e-9


def check(world: Any, states: States | None = None, seed: int = 0) -> list[str]:
    """What is wrong with the world, one sentence each; an empty list means that rsg can use it.

    A world with bounds, a reach or free motions is judged as a `ContinuousWorld`, any other as a `World`.

    Args:
        world: the world to look at.
        states: some states `[N, W]` to try it on; by default `world.sample(rng, 64)`.
        seed: which actions are tried.
    """
    continuous = any(hasattr(world, part) for part in _OF_CONTINUOUS) and not hasattr(world, "successors")
    protocol = "ContinuousWorld" if continuous else "World"
    lacking = [part for part in _PARTS[protocol] if not hasattr(world, part)]
    if lacking:
        return [f"The world has no `{part}`; see rsg.worlds.{protocol}." for part in lacking]
    if states is None and not hasattr(world, "sample"):
        return ["Give some states, check(world, states), or add a method sample(rng, count) that makes them."]
    rng = stream(seed, "conformance")
    problems = _found("bounds", _check_bounds, world) if continuous else _found("costs", _check_costs, world)
    try:
        rows = np.asarray(world.sample(rng, 64) if states is None else states)
    except Exception as error:
        return [*problems, _raised("sample", error)]
    problems += _found("states", _check_states, rows)
    if problems:
        return problems
    problems = _found_in_motion(world, rows, rng) if continuous else _found_in_steps(world, rows, rng)
    if hasattr(world, "facts"):
        problems += _found("facts", _check_facts, world, rows)
    return [*problems, *_found("encode", _check_encoding, world, rows), *_found("render", _check_picture, world, rows)]


def _found_in_steps(world: Any, rows: States, rng: np.random.Generator) -> list[str]:
    """What is wrong with what actions do; what follows from a wrong step would only be told twice."""
    actions = rng.integers(len(world.actions), size=len(rows))
    return _found("step", _check_step, world, rows, actions) or _found("successors", _check_successors, world, rows)


def _found_in_motion(world: Any, rows: States, rng: np.random.Generator) -> list[str]:
    """The same in a continuous world."""
    moves = rng.uniform(-1, 1, size=(len(rows), len(world.reach))) * world.reach
    return (
        _found("states", _check_poses, world, rows)
        or _found("step", _check_step, world, rows, moves)
        or _found("motion", _check_motion, world, rows, moves, rng)
    )


def _found(name: str, find: Callable[..., Iterable[str]], *given: Any) -> list[str]:
    """What a check finds; whatever a stranger's world raises, the answer is a sentence."""
    problems: list[str] = []
    try:
        problems.extend(find(*given))
    except Exception as error:
        problems.append(_raised(name, error))
    return problems


def _raised(name: str, error: Exception) -> str:
    return f"{name}: raised {type(error).__name__}: {error}"


def _same(a: Any, b: Any) -> bool:
    """Whether two arrays agree to the byte: the same numbers, -0.0 and NaN among them."""
    a, b = np.asarray(a), np.asarray(b)
    return bool(a.shape == b.shape and a.dtype == b.dtype and a.tobytes() == b.tobytes())


def _check_states(states: States) -> Iterator[str]:
    """Rows that can be told apart by their bytes."""
    if states.ndim != 2 or len(states) == 0:
        yield f"States must be rows [N, W] with at least one row, but have shape {states.shape}."
    elif states.dtype.hasobject:
        yield "States hold Python objects: they cannot be told apart by their bytes. Use a numeric dtype."
    elif states.dtype.kind == "f" and (np.isnan(states).any() or (np.signbit(states) & (states == 0)).any()):
        yield "States hold NaN or -0.0: equal states would have different bytes."


def _check_step(world: Any, states: States, actions: Array) -> Iterator[str]:
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
    if not _same(world.step(before.copy(), actions), after):
        yield "`step` gave two answers for the same states and actions: the world must be deterministic."
        return
    alone = np.concatenate([np.asarray(world.step(before[i : i + 1], actions[i : i + 1])) for i in range(len(before))])
    if not _same(alone, after):
        yield "`step` treats a state differently in a batch than alone: rows must not depend on each other."
    yield from _check_states(after)


def _check_encoding(world: Any, states: States) -> Iterator[str]:
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
    if parts.keys() != again.keys() or any(not _same(parts[name], again[name]) for name in parts):
        yield "`encode` gave two answers for the same states: classifiers need one."


def _check_facts(world: Any, states: States) -> Iterator[str]:
    """A name for each column, all different; the compiled form says the same."""
    names = list(world.fact_names)
    holds = np.asarray(world.facts(states.copy()))
    if holds.dtype != np.bool_ or holds.shape != (len(states), len(names)):
        yield f"`facts` must give booleans [{len(states)}, {len(names)}], but gave {holds.dtype} {holds.shape}."
    elif not _same(world.facts(states.copy()), holds):
        yield "`facts` gave two answers for the same states: a fact holds or does not."
    elif hasattr(world, "compiled_facts"):
        kernel, tables = world.compiled_facts
        said = np.array([[kernel(tables, states, i, n) for n in range(len(names))] for i in range(len(states))])
        if not np.array_equal(said, holds):
            wrong = names[int(np.argmax((said != holds).any(axis=0)))]
            yield f"`compiled_facts` says something else of '{wrong}' than `facts`."
    if len(set(names)) < len(names):
        yield f"Two facts have the same name: {min(name for name in names if names.count(name) > 1)}."


def _check_picture(world: Any, states: States) -> Iterator[str]:
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


def _check_costs(world: Any) -> Iterator[str]:
    names = list(world.actions)
    costs = np.asarray(world.costs)
    if not names:
        yield "There are no actions: `actions` is empty."
    if costs.shape != (len(names),):
        yield f"`costs` has shape {costs.shape}, but there are {len(names)} actions: give one cost for each."
    elif not (np.isfinite(costs).all() and (costs > 0).all()):
        yield f"Every cost must be positive and finite, but `costs` is {costs.tolist()}."


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


def _check_bounds(world: Any) -> Iterator[str]:
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


def _check_poses(world: Any, states: States) -> Iterator[str]:
    """States whose first numbers are poses within the bounds, some of them free."""
    if states.dtype != np.float64:
        yield f"States of a continuous world must be float64, but are {states.dtype}."
    elif states.shape[1] < len(world.low):
        yield f"States have {states.shape[1]} numbers, fewer than a pose: `low` has {len(world.low)}."
    elif not ((states[:, : len(world.low)] >= world.low) & (states[:, : len(world.low)] <= world.high)).all():
        yield "A state has a pose outside `low` and `high`."
    elif not np.asarray(world.free(states.copy())).any():
        yield "`free` says that none of the states is free: give some that are."


def _check_motion(world: Any, states: States, moves: Floats, rng: np.random.Generator) -> Iterator[str]:
    """`step`, `free` and `clear` tell the same story."""
    width = len(world.low)
    ends = _within(world, states[:, :width] + moves)
    given = states.copy()
    free, clear = np.asarray(world.free(given)), np.asarray(world.clear(given, ends))
    if not _same(given, states):
        yield "`free` or `clear` changed the states it was given: it must be pure."
    for name, answer in (("free", free), ("clear", clear)):
        if answer.dtype != np.bool_ or answer.shape != (len(states),):
            yield f"`{name}` must give a truth value for each state, but gave {answer.dtype} {answer.shape}."
            return
    if not (_same(world.free(states.copy()), free) and _same(world.clear(states.copy(), ends), clear)):
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
