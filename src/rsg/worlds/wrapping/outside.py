"""What an environment may remember outside of itself, where nothing that saves it looks."""

import sys
from collections.abc import Mapping
from types import ModuleType
from typing import Any

import numpy as np

from rsg.worlds.wrapping.face import Face
from rsg.worlds.wrapping.layers import chain
from rsg.worlds.wrapping.objects import Objects, Strange
from rsg.worlds.wrapping.saving import spelled

_NONE = ("builtins", "abc", "typing", "collections", "enum", "numpy")  # modules that remember nothing of anybody


class Outside:
    """What an environment could remember outside of itself: class attributes and globals of the modules it is from."""

    def __init__(self, face: Face) -> None:
        kinds = {one for layer in chain(face.played.env) for one in type(layer).__mro__}
        try:
            inside = Objects([face.played.env, face.played.state]).take().contents
            kinds |= {one for thing, _ in inside.values() for one in type(thing).__mro__}
        except Strange:
            pass  # what cannot be looked into remembers on its own
        own = {one for one in kinds if one.__module__.partition(".")[0] not in _NONE}
        self.kinds = sorted(own, key=lambda one: one.__qualname__)
        self.modules = {one.__module__ for one in own} | set(face.played.modules)
        self.before = self.values()

    def values(self) -> dict[str, bytes]:
        """What is there now, by name."""
        places: list[tuple[str, Mapping[str, Any]]] = [
            (f"the class attribute `{kind.__qualname__}.{{}}`", vars(kind)) for kind in self.kinds
        ]
        known = [name for name in sorted(self.modules) if name in sys.modules]
        places += [(f"the global `{{}}` of {name}", vars(sys.modules[name])) for name in known]
        return {
            name.format(attribute): told
            for name, inside in places
            for attribute, value in list(inside.items())
            if not attribute.startswith("__") and (told := _told(value))
        }

    def changed(self, since: dict[str, bytes] | None = None) -> list[str]:
        """What is no longer what it was."""
        now, before = self.values(), since or self.before
        return [name for name in now if now[name] != before.get(name)]


def _told(value: Any) -> bytes:
    if callable(value) or isinstance(value, ModuleType):
        return b""
    if not isinstance(value, int | float | str | tuple | list | dict | set | np.ndarray | np.generic):
        return b""
    try:
        return spelled(value)
    except Exception:
        return b""
