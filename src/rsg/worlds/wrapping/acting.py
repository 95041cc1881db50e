"""What can be done in an environment: names, and what its `step` is given for each."""

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np

from rsg.core.errors import RsgError

MOST = 4096  # actions: a search tries all of them in every state


def kind_of(space: object) -> str:
    """The kind of a space, Gymnasium's or an older one's: nothing of theirs is loaded for it."""
    known = {"Discrete", "MultiDiscrete", "MultiBinary", "Tuple", "Box", "Dict", "Text"}
    return next((one.__name__ for one in type(space).__mro__ if one.__name__ in known), type(space).__name__)


def actions_of(env: Any, given: Sequence[str] | None = None) -> tuple[tuple[str, ...], list[Any]]:
    """The names of all actions, and their values."""
    space = getattr(env, "action_space", None)
    if space is None:
        raise RsgError("the environment has no `action_space`; wrap a Gymnasium environment, or give it one")
    values = _values(space)
    names = tuple(map(str, given)) if given is not None else _named(env, values)
    if len(names) != len(values):
        raise RsgError(f"names={{'actions': ...}} gives {len(names)} names, but there are {len(values)} actions")
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise RsgError(f"two actions have the same name, '{twice}'")
    return names, values


def _values(space: Any) -> list[Any]:
    """All values of a space of actions."""
    kind = kind_of(space)
    if kind == "Discrete":
        first = int(getattr(space, "start", 0))
        return list(range(first, first + int(space.n)))
    if kind in ("MultiDiscrete", "MultiBinary"):
        counts = np.asarray(space.nvec if kind == "MultiDiscrete" else np.full(space.shape, 2))
        least = np.broadcast_to(getattr(space, "start", 0), counts.shape)
        _check_count(int(np.prod(counts.astype(float))))
        every = product(*map(range, counts.ravel().tolist()))
        return [np.asarray(one, dtype=space.dtype).reshape(counts.shape) + least for one in every]
    if kind == "Tuple":
        parts = [_values(part) for part in space.spaces]
        _check_count(int(np.prod([float(len(part)) for part in parts])))
        return list(product(*parts))
    vector = "an action is a vector of numbers" if kind == "Box" else f"its actions are a space {kind}"
    raise RsgError(
        f"{vector} here, {space}, and a search needs finitely many: wrap it in an environment whose action is one of "
        "a few such values (gymnasium.wrappers.TransformAction with a Discrete space)"
    )


def _check_count(count: int) -> None:
    if count > MOST:
        raise RsgError(f"there are {count:,} actions, too many to try each in every state; {MOST:,} are the most")


def _named(env: Any, values: list[Any]) -> tuple[str, ...]:
    """Names that the environment has for its actions, or numbers."""
    bare = getattr(env, "unwrapped", env)
    if known := getattr(getattr(bare, "actions", None), "__members__", None):
        members = {int(one.value): name.lower() for name, one in known.items() if _whole(one.value)}
        if all(_whole(value) and value in members for value in values):
            return tuple(members[value].replace("_", "-") for value in values)
    meanings = getattr(bare, "get_action_meanings", None)
    if callable(meanings) and len(told := [str(one).lower() for one in meanings()]) == len(set(told)) == len(values):
        return tuple(told)
    return tuple(
        f"action-{value}" if _whole(value) else "action-" + "-".join(map(str, np.ravel(value))) for value in values
    )


def _whole(value: object) -> bool:
    return isinstance(value, int | np.integer)
