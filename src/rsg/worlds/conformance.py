"""`check(world)`: does a class keep the promises that search and learning rely on? It answers in plain sentences."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, cast

import numpy as np
from typing_extensions import TypeIs

from rsg.core.arrays import Array, Bools, Floats
from rsg.core.blame import place_of
from rsg.core.errors import RsgError
from rsg.core.random import stream
from rsg.worlds.defaults import costs_of
from rsg.worlds.determinism import two_answers
from rsg.worlds.protocol import ContinuousWorld, EitherWorld, States, World
from rsg.worlds.recorded import Recorded

_OF_CONTINUOUS = ("low", "high", "period", "reach", "free", "clear")
_ROUNDING = 1e-9
_MET: deque[tuple[object, tuple[object, ...]]] = deque(maxlen=16)  # worlds, and the kind of states they were seen with


def check(world: object, states: States | None = None, seed: int = 0) -> list[str]:
    """What is wrong with the world, one sentence each; an empty list means that rsg can use it.

    A world with bounds, a reach or free motions is judged as a `ContinuousWorld`, any other as a `World`.

    Args:
        world: the world to look at.
        states: some states `[N, W]` to try it on; by default `world.sample(rng, 64)`, if it has that.
        seed: which actions are tried.

    >>> from rsg.worlds.corridor import Corridor
    >>> check(Corridor())
    []
    >>> class Lost(Corridor):
    ...     def step(self, states, actions):
    ...         return states[:, :2]
    >>> check(Lost())[0]
    '`step` returned shape (64, 2) for states of shape (64, 3): the width must not change.'
    """
    if lacking := _lacking(world):
        return lacking
    rng, known = stream(seed, "conformance"), cast(EitherWorld, world)
    problems = _found("bounds", _check_bounds, known) if _moves_a_pose(known) else _found("costs", _check_costs, known)
    if states is None:
        if not hasattr(world, "sample"):
            return [*problems, "Give some states to try the world on: check(world, states)."]
        try:
            states = world.sample(rng, 64)
        except Exception as error:
            return [*problems, _raised("sample", error)]
    rows = np.asarray(states)
    problems += _found("states", _check_states, rows)
    if problems:
        return problems
    problems = _found_in_motion(known, rows, rng) if _moves_a_pose(known) else _found_in_steps(known, rows, rng)
    if hasattr(world, "facts"):
        problems += _found("facts", _check_facts, known, rows)
    if hasattr(world, "sights"):
        problems += _found("sights", _check_sights, known, rows)
    problems += _found("encode", _check_encoding, known, rows)
    return problems + (_found("render", _check_picture, world.render, rows) if hasattr(world, "render") else [])


def require(world: object, states: States) -> None:
    """A short look where a world and states `[N, W]` first meet: an error that says why they do not go together."""
    rows = np.asarray(states)
    if isinstance(world, Recorded):
        world.checked(rows)
        return
    kind = (rows.dtype, rows.shape[1:])
    if any(known is world and met == kind for known, met in _MET):
        return
    problems = _lacking(world) or _found("states", _check_states, rows)
    if not problems:
        known, rows = cast(EitherWorld, world), rows[[0, 0]]
        rows = world.checked(rows) if hasattr(world, "checked") else rows
        given = f"given states of {rows.shape[1]} numbers, {rows.dtype}"
        problems = [] if _moves_a_pose(known) else _found("costs", _check_costs, known)
        problems = problems or _found(f"step, {given}", _check_two_steps, known, rows)
        problems = problems or _found(f"encode, {given}", _check_two_seen, known, rows)
        problems = problems or _found("step", _check_chance, known, np.asarray(states))
    if problems:
        whole = "; if its states are whole numbers, give such: states.astype(int)" if rows.dtype.kind == "f" else ""
        raise RsgError(f"this world cannot be used: {problems[0].removesuffix('.')}{whole}")
    _MET.append((world, kind))


def _moves_a_pose(world: object) -> TypeIs[ContinuousWorld]:
    """Whether it means to be a `ContinuousWorld`."""
    return any(hasattr(world, part) for part in _OF_CONTINUOUS) and not hasattr(world, "actions")


def _lacking(world: object) -> list[str]:
    """What it must have and has not, or has in another form."""
    if isinstance(world, type):
        return [f"This is the class {world.__name__}, not a world: make one, {world.__name__}()."]
    protocol = ContinuousWorld if _moves_a_pose(world) else World
    parts = [part for kind in protocol.__mro__ for part in vars(kind) if not part.startswith("_")]
    lacking = [part for part in parts if not hasattr(world, part)]
    if lacking or isinstance(world, ContinuousWorld):
        return [f"The world has no `{part}`; see rsg.worlds.{protocol.__name__}." for part in lacking]
    return list(_check_actions(cast(World, world).actions))


def _check_actions(actions: object) -> Iterator[str]:
    """Names, at least one."""
    if isinstance(actions, str) or not isinstance(actions, Sequence | np.ndarray):
        yield f"`actions` must be the names of the actions, such as ('left', 'right'), but is {actions!r}."
    elif len(actions) == 0:
        yield "There are no actions: `actions` is empty."
    elif not all(isinstance(name, str) for name in actions):
        yield f"`actions` must be names, such as ('left', 'right'), but are {list(actions)!r}."


def _found_in_steps(world: World, rows: States, rng: np.random.Generator) -> list[str]:
    """What is wrong with what actions do; what follows from a wrong step would only be told twice."""
    actions = rng.integers(len(world.actions), size=len(rows))
    if (found := _found("step", _check_step, world, rows, actions)) or not hasattr(world, "successors"):
        return found
    return _found("successors", _check_successors, world, world.successors, rows)


def _found_in_motion(world: ContinuousWorld, rows: States, rng: np.random.Generator) -> list[str]:
    """The same in a continuous world."""
    moves = rng.uniform(-1, 1, size=(len(rows), len(world.reach))) * world.reach
    return (
        _found("states", _check_poses, world, rows)
        or _found("step", _check_step, world, rows, moves)
        or _found("motion", _check_motion, world, rows, moves, rng)
    )


class _Wrong(Exception):
    """A sentence after which a check has nothing more to say."""


def _found(name: str, find: Callable[..., Iterable[str]], *given: object) -> list[str]:
    """What a check finds; whatever a stranger's world raises, the answer is a sentence."""
    problems: list[str] = []
    try:
        problems.extend(find(*given))
    except _Wrong as error:
        problems.append(str(error))
    except Exception as error:
        problems.append(_raised(name, error))
    return problems


def _raised(name: str, error: Exception) -> str:
    return f"{name}: raised {type(error).__name__}: {error}{place_of(error)}"


def _asked(name: str, ask: Callable[..., Any], states: States, *given: object) -> dict[str, Array]:
    """What a part of a world answers, as arrays by name; it is pure, and says the same of the same states."""
    before = states.copy()
    answer = _arrays(ask(before, *given))
    if not _same(before, states):
        raise _Wrong(f"`{name}` changed the states it was given: it must be pure and return new ones.")
    again = _arrays(ask(before, *given))
    if answer.keys() != again.keys() or not all(_same(answer[part], again[part]) for part in answer):
        raise _Wrong(f"`{name}` gave two answers for the same states: the world must be deterministic.")
    return answer


def _array(name: str, ask: Callable[..., Any], states: States, *given: object) -> Array:
    """The same where the answer is one array."""
    return next(iter(_asked(name, ask, states, *given).values()))


def _arrays(answer: object) -> dict[str, Array]:
    """The arrays of an encoding by name, whatever holds them."""
    if hasattr(answer, "_asdict"):
        answer = answer._asdict()
    if not isinstance(answer, dict):
        answer = {"the encoding": answer}
    return {str(name): np.asarray(array) for name, array in answer.items()}


def _same(a: Array, b: Array) -> bool:
    """Whether two arrays agree to the byte: the same numbers, -0.0 and NaN among them."""
    return bool(a.shape == b.shape and a.dtype == b.dtype and a.tobytes() == b.tobytes())


def _check_states(states: States) -> Iterator[str]:
    """Rows that can be told apart by their bytes."""
    if states.ndim != 2 or len(states) == 0:
        yield f"States must be rows [N, W] with at least one row, but have shape {states.shape}."
    elif states.dtype.hasobject:
        yield "States hold Python objects: they cannot be told apart by their bytes. Use a numeric dtype."
    elif states.dtype.kind == "f" and (np.isnan(states).any() or (np.signbit(states) & (states == 0)).any()):
        yield "States hold NaN or -0.0: equal states would have different bytes."


def _check_step(world: EitherWorld, states: States, actions: Array) -> Iterator[str]:
    """Steps are pure, deterministic, and each row is on its own."""
    after = _array("step", world.step, states, actions)
    yield from _check_after_step(after, states)
    given = states.copy()
    if np.shares_memory(world.step(given, actions), given):
        yield "`step` returned memory of the states it was given: a later change would reach both."
    alone = np.concatenate([np.asarray(world.step(states[i : i + 1], actions[i : i + 1])) for i in range(len(states))])
    if not _same(alone, after):
        yield "`step` treats a state differently in a batch than alone: rows must not depend on each other."
    yield from _check_states(after)


def _check_two_steps(world: EitherWorld, rows: States) -> Iterator[str]:
    """Two states have two successors."""
    actions = np.zeros((2, len(world.reach))) if _moves_a_pose(world) else np.array([0, len(world.actions) - 1])
    yield from _check_after_step(np.asarray(world.step(rows.copy(), actions)), rows)


def _check_chance(world: EitherWorld, rows: States) -> Iterator[str]:
    """Nothing is drawn by chance, as far as a short look shows."""
    if told := two_answers(world, rows):
        yield told


def _check_two_seen(world: EitherWorld, rows: States) -> Iterator[str]:
    """Of two states two rows are seen."""
    for name, array in _arrays(world.encode(rows.copy())).items():
        if array.ndim < 1 or len(array) != 2:
            yield f"`encode` must give one row per state, but {name} of 2 states has shape {array.shape}."


def _check_after_step(after: States, states: States) -> Iterator[str]:
    if after.shape != states.shape:
        raise _Wrong(
            f"`step` returned shape {after.shape} for states of shape {states.shape}: the width must not change."
        )
    if after.dtype != states.dtype:
        yield f"`step` returned {after.dtype} for states of {states.dtype}: the dtype must not change."


def _check_encoding(world: EitherWorld, states: States) -> Iterator[str]:
    """Numbers, a row for each state."""
    for name, array in _asked("encode", world.encode, states).items():
        if array.dtype.kind not in "biuf" or array.ndim < 1 or len(array) != len(states):
            yield f"`encode` must give numbers with one row per state, but {name} is {array.dtype} {array.shape}."
        elif array.dtype.kind == "f" and not np.isfinite(array).all():
            yield f"`encode` gave values that are not finite in {name}."


def _check_facts(world: object, states: States) -> Iterator[str]:
    """A name for each column, all different; the compiled form says the same."""
    if not hasattr(world, "facts") or not hasattr(world, "fact_names"):
        raise _Wrong("A world that has `facts` must name them: `fact_names`.")
    names = list(world.fact_names)
    holds = _array("facts", world.facts, states)
    if holds.dtype != np.bool_ or holds.shape != (len(states), len(names)):
        yield f"`facts` must give booleans [{len(states)}, {len(names)}], but gave {holds.dtype} {holds.shape}."
    elif hasattr(world, "compiled_facts"):
        kernel, tables = world.compiled_facts
        said = np.array([[kernel(tables, states, i, n) for n in range(len(names))] for i in range(len(states))])
        if not np.array_equal(said, holds):
            wrong = names[int(np.argmax((said != holds).any(axis=0)))]
            yield f"`compiled_facts` says something else of '{wrong}' than `facts`."
    if len(set(names)) < len(names):
        yield f"Two facts have the same name: {min(name for name in names if names.count(name) > 1)}."


def _check_sights(world: Any, states: States) -> Iterator[str]:
    """One whole number for each state."""
    told = _array("sights", world.sights, states)
    if told.shape != (len(states),) or told.dtype.kind not in "iu":
        yield f"`sights` must give whole numbers [{len(states)}], but gave {told.dtype} {list(told.shape)}."


def _check_picture(render: Callable[[States], object], states: States) -> Iterator[str]:
    """A picture of a state."""
    picture = np.asarray(render(states[0].copy()))
    if picture.dtype != np.uint8 or picture.ndim != 3 or picture.shape[2] != 3:
        yield f"`render` must give a picture [height, width, 3] of uint8, but gave {picture.dtype} {picture.shape}."


def _check_costs(world: World) -> Iterator[str]:
    names, costs = world.actions, np.asarray(world.costs if hasattr(world, "costs") else costs_of(world))
    if costs.shape != (len(names),):
        yield f"`costs` has shape {costs.shape}, but there are {len(names)} actions: give one cost for each."
    elif not (np.isfinite(costs).all() and (costs > 0).all()):
        yield f"Every cost must be positive and finite, but `costs` is {costs.tolist()}."


def _check_successors(world: World, successors: Callable[[States], object], states: States) -> Iterator[str]:
    after = _array("successors", successors, states)
    wanted = (len(states), len(world.actions), states.shape[1])
    if after.shape != wanted:
        raise _Wrong(f"`successors` returned shape {after.shape}, not [N, A, W] = {wanted}.")
    for action, name in enumerate(world.actions):
        if not _same(after[:, action], np.asarray(world.step(states.copy(), np.full(len(states), action)))):
            yield f"`successors` and `step` disagree on action '{name}'."


def _check_bounds(world: ContinuousWorld) -> Iterator[str]:
    """Numbers that bound a pose and an action."""
    bounds = {name: np.asarray(getattr(world, name)) for name in ("low", "high", "period", "reach")}
    low, high, period, reach = bounds.values()
    if any(array.shape != low.shape for array in bounds.values()) or low.ndim != 1 or low.size == 0:
        listed = ", ".join(f"{name} {array.shape}" for name, array in bounds.items())
        raise _Wrong(
            f"`low`, `high`, `period` and `reach` must have the length of a pose, [D], but have shapes: {listed}."
        )
    if any(array.dtype.kind not in "iuf" or not np.isfinite(array).all() for array in bounds.values()):
        raise _Wrong("`low`, `high`, `period` and `reach` must be finite numbers.")
    if not (low < high).all():
        yield f"`low` must be below `high`, but they are {low.tolist()} and {high.tolist()}."
    if not (reach > 0).all():
        yield f"`reach` must be positive, but is {reach.tolist()}."
    around = period != 0
    if (period < 0).any() or not np.allclose((high - low)[around], period[around]):
        yield "`period` must be 0, or `high` - `low` where a number comes round again."
    if not (np.isfinite(world.cost) and world.cost > 0):
        yield f"`cost` must be positive and finite, but is {world.cost}."


def _check_poses(world: ContinuousWorld, states: States) -> Iterator[str]:
    """States whose first numbers are poses within the bounds, some of them free."""
    if states.dtype != np.float64:
        yield f"States of a continuous world must be float64, but are {states.dtype}."
    elif states.shape[1] < len(world.low):
        yield f"States have {states.shape[1]} numbers, fewer than a pose: `low` has {len(world.low)}."
    elif not ((states[:, : len(world.low)] >= world.low) & (states[:, : len(world.low)] <= world.high)).all():
        yield "A state has a pose outside `low` and `high`."
    elif not np.asarray(world.free(states.copy())).any():
        yield "`free` says that none of the states is free: give some that are."


def _check_motion(world: ContinuousWorld, states: States, moves: Floats, rng: np.random.Generator) -> Iterator[str]:
    """`step`, `free` and `clear` tell the same story."""
    width = len(world.low)
    aims = states[:, :width] + moves
    ends = np.asarray(aims - _whole_turns(world, aims - world.low, np.floor))
    free, clear = _array("free", world.free, states), _array("clear", world.clear, states, ends)
    for name, answer in (("free", free), ("clear", clear)):
        if answer.dtype != np.bool_ or answer.shape != (len(states),):
            raise _Wrong(f"`{name}` must give a truth value for each state, but gave {answer.dtype} {answer.shape}.")
    yield from _check_after(world, states, np.asarray(world.step(states.copy(), moves)), ends, clear)
    moved = np.concatenate([ends, states[:, width:]], axis=1)
    if (clear & ~(free & np.asarray(world.free(moved)))).any():
        yield "`clear` allows a motion whose start or end is not free."
    if not np.asarray(world.clear(states[free], states[free, :width])).all():
        yield "`clear` forbids to stay at a free pose."
    yield from _check_compiled(world, states, ends, rng)


def _check_after(world: ContinuousWorld, states: States, after: States, ends: Floats, clear: Bools) -> Iterator[str]:
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


def _check_compiled(world: ContinuousWorld, states: States, ends: Floats, rng: np.random.Generator) -> Iterator[str]:
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


def _difference(world: ContinuousWorld, a: Floats, b: Floats) -> Floats:
    """From b to a, the shorter way round where a number comes round again."""
    return np.asarray(a - b - _whole_turns(world, a - b, np.round))


def _whole_turns(world: ContinuousWorld, away: Floats, whole: Callable[[Floats], Floats]) -> Floats:
    """How much of a way is whole turns; none where a number does not come round again."""
    period = np.asarray(world.period)
    return np.asarray(whole(away / np.where(period > 0, period, np.inf)) * period)
