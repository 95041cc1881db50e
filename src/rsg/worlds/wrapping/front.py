"""`wrap(env)`: the way of saving is chosen here, and the promises are checked."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from rsg.core.arrays import Array
from rsg.core.errors import RsgError, unknown
from rsg.worlds.seen import cells_of, columns_of, few, kinds_of
from rsg.worlds.wrapping.acting import actions_of
from rsg.worlds.wrapping.chance import kept
from rsg.worlds.wrapping.checking import check, clocks
from rsg.worlds.wrapping.face import Face
from rsg.worlds.wrapping.layers import Played, PurePlayed
from rsg.worlds.wrapping.objects import Left
from rsg.worlds.wrapping.saving import (
    COPY,
    Saving,
    by_table,
    check_table,
    looking_into,
    own_pair,
    tables_of,
)
from rsg.worlds.wrapping.wrapped import Wrapped

Function = Callable[[Any], Any]


def wrap(
    env: Any,
    *,
    key: Function | None = None,
    observe: Function | None = None,
    names: Mapping[str, Any] | None = None,
    save: Function | str | None = None,
    restore: Callable[[Any, Any], Any] | None = None,
    step: Callable[[Any, Any], Any] | None = None,
    seed: int = 0,
) -> Wrapped:
    """An environment that somebody else wrote, as a world: it is saved and restored instead of computed in batches.

    Its states are saved by the functions that are given, or the ones that it has (such as `get_state` and
    `set_state`), by its table (toy-text), or by looking into all that it holds, a simulation with MuJoCo too. Whether
    that works is tried here, and an error says which promise it does not keep: that restoring is exact, that the same
    action in the same state has one outcome, that what is seen follows from the state.

    Args:
        env: an environment of Gymnasium, with finitely many actions.
        key: from the environment to the numbers that make a state; without it, all that is saved.
        observe: from the environment to what is seen, numbers or a mapping of names to numbers; without it, what the
            environment shows.
        names: `{"actions": [...]}` if the environment has no names for its actions, and for each part of what is seen
            the names of its columns (`World.columns`).
        save, restore: `save(env)` gives something that `restore(env, saved)` brings back; `save="copy"` looks into the
            environment though it has such functions itself.
        step: a pure function from a state and an action to the next state, in the place of the environment's. States
            are what `save(env)` gives, and `key` and `observe` are given them in the place of the environment.
        seed: with which it is tried.

    >>> import gymnasium
    >>> taxi = wrap(gymnasium.make("Taxi-v4"), names={"actions": ["south", "north", "east", "west", "pick", "drop"]})
    >>> start = taxi.start(seed=0)
    >>> taxi.step(start[None], [1]).tolist()
    [[214, 0]]
    >>> print(taxi.how)
    a state is its number in the table
    """
    _check_arguments(env, {"key": key, "observe": observe, "restore": restore, "step": step}, save, names)
    if step is not None and callable(save):
        played: Played = PurePlayed(env, step, save)
    else:
        played = Played(env)
    columns = dict(names or {})
    actions = actions_of(played.env, columns.pop("actions", None))
    played.reset(seed)
    if save is None and (table := tables_of(played.env)):
        check_table(table, actions[0])

    def face(left: Left = frozenset()) -> Face:
        return Face(played, lambda one: _way(one, save, restore, left), key, observe)

    with kept():
        world: Wrapped | None = None
        if key is None and (counting := clocks(face(), actions[1], seed)):
            # What only counts steps tells no states apart, unless something comes of it.
            with suppress(RsgError):
                world = _tried(face(counting), actions, columns, seed)
        world = world or _tried(face(), actions, columns, seed)
        parts = world.encode(world.start(seed)[None])
        if observe is None:  # things in rows are what somebody makes of an environment, a board is what it shows
            world.spaces = {name: "symbols" for name, part in parts.items() if part.ndim == 3 and few(part)}
        _check_names(world, parts)
    return world


def _tried(face: Face, actions: tuple[tuple[str, ...], list[Any]], columns: Mapping[str, Any], seed: int) -> Wrapped:
    """The world, if it keeps its promises."""
    steps, seconds = check(face, actions, seed)
    return Wrapped(face, actions, columns, (steps, seconds))


def _check_names(world: Wrapped, parts: Mapping[str, Array]) -> None:
    """Names are those of something that is seen."""
    for name in world.columns:
        if name not in parts:
            raise unknown("part of what is seen", name, parts)
    for name, kind in kinds_of(world, parts).items():
        columns_of(world, name, parts[name][0].size if kind == "numbers" else cells_of(parts[name], kind).shape[-1])


def _check_arguments(env: Any, functions: Mapping[str, Any], save: Any, names: Any) -> None:
    """What is given must be what it should be, and go together."""
    if isinstance(env, str | type):
        given = f"'{env}'" if isinstance(env, str) else f"the class {env.__name__}"
        raise RsgError(f"wrap takes an environment, not {given}: make one, gymnasium.make(...)")
    for name, one in functions.items():
        if one is not None and not callable(one):
            raise RsgError(f"{name}= takes a function, not {one!r}")
    if save is not None and save != COPY and not callable(save):
        raise RsgError(f"save= takes a function of the environment, or 'copy', not {save!r}")
    told = names or {}
    if not isinstance(told, Mapping) or not all(isinstance(one, Mapping | list | tuple) for one in told.values()):
        raise RsgError(f"names= maps parts of what is seen to names of columns, {{'car': ['x', 'y']}}, not {told!r}")
    restore, step = functions["restore"], functions["step"]
    if step is not None and not callable(save):
        raise RsgError("step= needs save=, a function from the environment after a reset to the first state")
    if step is None and callable(save) != (restore is not None):
        lacking, given = ("restore=", "save=") if callable(save) else ("save=", "restore=")
        raise RsgError(
            f"{given} needs {lacking} too: one takes down where the environment is, the other goes back there"
        )


def _way(played: Played, save: Any, restore: Any, left: Left) -> Saving:
    """How it is saved: by what the user gives, by what it has, or by looking into it."""
    env = played.env
    if isinstance(played, PurePlayed):
        how = "states are what step= makes of each other"
        return Saving(played, lambda: played.state, played.back, how, "step=", True, left)
    if callable(save):
        how = "states are saved by save= and restored by restore="
        return Saving(played, lambda: save(env), lambda saved: restore(env, saved), how, "restore=", True, left)
    if save is None and (pair := own_pair(env)):
        (take, put), (one, other) = pair
        how = f"states are saved and restored by its own `{one}` and `{other}`"
        return Saving(played, take, put, how, f"`{other}`", True, left)
    if save is None and tables_of(env):
        return by_table(played)
    return looking_into(played, left)
