"""`wrap(env)`: the way of saving is chosen here, and the promises are checked."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rsg.worlds.wrapping.acting import actions_of
from rsg.worlds.wrapping.layers import Played, PurePlayed
from rsg.worlds.wrapping.saving import looking_into
from rsg.worlds.wrapping.wrapped import Wrapped


def wrap(
    env: Any,
    *,
    key: Callable[[Any], Any] | None = None,
    observe: Callable[[Any], Any] | None = None,
    names: Mapping[str, Sequence[str]] | None = None,
    seed: int = 0,
) -> Wrapped:
    """An environment as a world."""
    played = Played(env)
    played.reset(seed)
    actions = actions_of(played.env, (names or {}).get("actions"))
    return Wrapped(played, looking_into(played), actions, key, observe)
