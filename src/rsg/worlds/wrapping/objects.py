"""All that an environment holds, object by object: taken down, put back in place, and spelled as bytes.

Objects stay who they are: a snapshot says what each of them held, so that whoever knows an object of the environment
sees it change with the state. What did not change since the last look is not copied again.
"""

import pickle
import random
from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from datetime import date, time, timedelta
from decimal import Decimal
from enum import Enum
from functools import cache
from hashlib import blake2b
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any, NamedTuple

import numpy as np

Left = frozenset[tuple[str, str]]
"""Attributes that do not tell states apart: the class of the object, the name."""

_NEVER = {  # attributes for those who watch
    "render_mode", "_np_random_seed", "np_random_seed", "window", "clock", "screen", "viewer", "surf", "isopen", "spec",
    "_cached_spec", "metadata", "render_fps",
}  # fmt: skip
_PLAIN = (int, float, str, bytes, bool, type(None), complex)
_FIXED: tuple[Any, ...] = (type, FunctionType, BuiltinFunctionType, ModuleType, np.dtype, np.ufunc, range, slice)
_FIXED += (property, date, time, timedelta, Decimal, type(Ellipsis))
_CHANCE = (np.random.Generator, np.random.RandomState, random.Random, np.random.BitGenerator, np.random.SeedSequence)
_LEFT = (  # packages whose objects are no part of a state
    "gymnasium.spaces", "gym.spaces", "gymnasium.envs.registration", "gym.envs.registration", "pygame", "logging",
    "_thread", "threading", "_io", "weakref", "functools", "re",
)  # fmt: skip


class Content(NamedTuple):
    """What an object held: how that is seen at a glance, a flat copy, its own values as bytes, and objects in it."""

    glance: Any
    held: Any
    spelled: bytes
    inner: tuple[Any, ...]


class Snapshot(NamedTuple):
    """What every object held, and all of that as bytes."""

    contents: dict[int, tuple[Any, Content]]
    digest: bytes


class Strange(Exception):
    """An object that can be neither looked into nor left out."""

    def __init__(self, thing: object) -> None:
        super().__init__(type(thing).__name__)
        self.thing = thing


class _Kind(NamedTuple):
    """How one kind of object is taken down and put back."""

    glance: Callable[[Any], Any]
    copy: Callable[[Any], Any]
    put: Callable[[Any, Any], None]
    items: Callable[[Any], Iterable[tuple[Any, Any]]]


def _fill(into: Any, held: Any) -> None:
    into.clear()
    (into.update if hasattr(into, "update") else into.extend)(held)


def _numbers(array: Any, held: Any) -> None:
    if array.flags.writeable:
        array[...] = held


def _ids(values: Iterable[Any]) -> tuple[int, ...]:
    return tuple(map(id, values))


def _in_order(items: Mapping[Any, Any]) -> list[tuple[Any, Any]]:
    """In the order of the names: when each was set makes no other state."""
    return sorted(items.items(), key=lambda item: (type(item[0]).__name__, repr(item[0])))


@cache
def _slots(kind: Hashable) -> tuple[str, ...]:
    """The names of all slots of a class."""
    found = list[str]()
    for one in kind.__mro__:  # type: ignore[attr-defined]
        slots = vars(one).get("__slots__", ())
        for name in [slots] if isinstance(slots, str) else slots:
            private = name[:2] == "__" and name[-2:] != "__"
            found.append(f"_{one.__name__.lstrip('_')}{name}" if private else name)
    return tuple(name for name in found if name not in ("__dict__", "__weakref__"))


def _attributes(thing: Any) -> dict[str, Any]:
    """All attributes of its own; without slots that is what it keeps them in, so whoever holds on to it copies it."""
    own: dict[str, Any] = getattr(thing, "__dict__", {})
    slots = _slots(thing.__class__)
    return {**own, **{name: getattr(thing, name) for name in slots if hasattr(thing, name)}} if slots else own


def _set_attributes(thing: Any, held: dict[str, Any]) -> None:
    slots = _slots(thing.__class__)
    if hasattr(thing, "__dict__"):
        _fill(thing.__dict__, {name: value for name, value in held.items() if name not in slots})
    for name in slots:
        if name in held:
            object.__setattr__(thing, name, held[name])
        elif hasattr(thing, name):
            object.__delattr__(thing, name)


def _glance_of_dict(items: Mapping[Any, Any]) -> Any:
    return (_ids(items), _ids(items.values()))


def _spelled_numbers(held: Any) -> list[tuple[str, Any]]:
    unsigned = held + 0 if held.dtype.kind == "f" else held  # -0.0 is 0.0
    return [("", held.shape), ("", held.dtype.str), ("", unsigned.tobytes())]


_DICT = _Kind(_glance_of_dict, dict, _fill, _in_order)
_LIST = _Kind(_ids, list, _fill, enumerate)
_SET = _Kind(_ids, list, _fill, lambda held: sorted((("", one) for one in held), key=lambda one: repr(one[1])))
_BYTES = _Kind(bytes, bytes, _fill, lambda held: [("", held)])
_THINGS = _Kind(lambda array: _ids(array.flat), np.copy, _numbers, lambda held: enumerate(held.flat))
_NUMBERS = _Kind(lambda array: (array.shape, array.tobytes()), np.copy, _numbers, _spelled_numbers)
_OBJECT = _Kind(
    lambda thing: _glance_of_dict(_attributes(thing)),
    lambda thing: dict(_attributes(thing)),
    _set_attributes,
    _in_order,
)
_PICKLED = _Kind(pickle.dumps, pickle.dumps, lambda *_: None, lambda held: [("", held)])
_NOTHING = _Kind(lambda _: (), lambda _: (), lambda *_: None, lambda _: ())
_BUILTIN: dict[type, _Kind] = {dict: _DICT, list: _LIST, deque: _LIST, set: _SET, bytearray: _BYTES}


class Objects:
    """All that can be reached from an object.

    Args:
        root: where to begin.
        left: attributes that make no other state.
        pickled: whether what cannot be looked into is spelled by pickle; it cannot be put back.

    Attributes:
        chance: the generators of random numbers that were met: they are no part of a state.
    """

    def __init__(self, root: Any, left: Left = frozenset(), pickled: bool = False) -> None:
        self.root, self.left, self._pickled = root, left, pickled
        self.chance: dict[int, Any] = {}
        self._kinds: dict[type, _Kind] = {}
        self._last: dict[int, tuple[Any, Content]] = {}  # what need not be copied again
        self._now: dict[int, tuple[Any, Content]] = {}  # what objects hold, as far as known

    def take(self) -> Snapshot:
        """What every object holds now."""
        last, pieces = self._last, []
        contents: dict[int, tuple[Any, Content]] = {}
        stack, count = [self.root], 0
        places: dict[int, int] = {}
        while stack:
            thing = stack.pop()
            number = id(thing)
            if number in places:
                pieces.append(b"#%d" % places[number])
                continue
            places[number] = count
            count += 1
            known = last.get(number)
            kind = self._kind(thing)
            glance = kind.glance(thing)
            if known is None or known[0] is not thing or known[1].glance != glance:
                known = (thing, self._content(thing, kind, glance))
            contents[number] = known
            pieces.append(known[1].spelled)
            stack.extend(known[1].inner)
        self._last = self._now = contents
        return Snapshot(contents, blake2b(b"\0".join(pieces), digest_size=18).digest())

    def put(self, snapshot: Snapshot) -> None:
        """Give every object back what it held; if nothing moved since the last look, only what differs is written."""
        now = self._now
        self._last = self._now = snapshot.contents
        for number, (thing, content) in snapshot.contents.items():
            if number not in now or now[number][1] is not content:
                self._kind(thing).put(thing, content.held)

    def moved(self) -> None:
        """Something happened: it is not known what objects hold now."""
        self._now = {}

    def leaves(self) -> Iterator[tuple[str, tuple[str, str], Any]]:
        """All plain values and arrays of numbers, each with its path and the attribute that it is in."""
        for thing, path, attribute, value, _ in self._walk():
            if isinstance(thing, np.ndarray) and not thing.dtype.hasobject:
                yield path, attribute, thing
            elif _is_plain(value):
                yield path, attribute, value
            else:
                yield path, ("", ""), b"".join(_spell(value, []))

    def path_of(self, wanted: object) -> str:
        """How an object is reached."""
        return next((path for _, path, _, _, inner in self._walk() if any(one is wanted for one in inner)), "env")

    def _walk(self) -> Iterator[tuple[Any, str, tuple[str, str], Any, list[Any]]]:
        """All that objects hold: the object, the path, the attribute, the value and the objects in it."""
        stack: list[tuple[str, Any]] = [("env", self.root)]
        seen: set[int] = set()
        while stack:
            path, thing = stack.pop()
            if id(thing) in seen:
                continue
            seen.add(id(thing))
            try:
                kind = self._kind(thing)
            except Strange:
                continue
            named = kind is _OBJECT
            for name, value in kind.items(kind.copy(thing)):
                here = f"{path}.{name}" if named else path if type(name) is str and not name else f"{path}[{name!r}]"
                inner: list[Any] = []
                if not _is_plain(value):
                    _spell(value, inner)
                yield thing, here, (type(thing).__qualname__, str(name)) if named else ("", ""), value, inner
                stack.extend((here, one) for one in inner)

    def _content(self, thing: Any, kind: _Kind, glance: Any) -> Content:
        held = kind.copy(thing)
        inner: list[Any] = []
        name, attributes = type(thing).__qualname__, kind is _OBJECT
        pieces = [name.encode()]
        for key, value in kind.items(held):
            if (name, key) in self.left or (attributes and key in _NEVER):
                continue
            pieces.extend(_spell(key, inner))
            pieces.extend(_spell(value, inner))
        return Content(glance, held, b"\1".join(pieces), tuple(reversed(inner)))

    def _kind(self, thing: Any) -> _Kind:
        found = self._kinds.get(type(thing))
        if found is None:
            found = _kind_of(thing) or (_PICKLED if self._pickled else None)
            if found is None:
                raise Strange(thing)
            self._kinds[type(thing)] = found
        if found is _NOTHING and isinstance(thing, _CHANCE):
            self.chance[id(thing)] = thing
        if found is _NUMBERS and thing.dtype.hasobject:
            return _THINGS
        return found


def _kind_of(thing: Any) -> _Kind | None:
    """None for what can be neither looked into nor left out."""
    kind: type = type(thing)
    if kind.__module__.startswith("mujoco"):
        return _of_mujoco() if kind.__name__ == "MjData" else _NOTHING
    if isinstance(thing, _CHANCE) or any(
        one.__module__ == left or one.__module__.startswith(f"{left}.") for one in kind.__mro__ for left in _LEFT
    ):
        return _NOTHING
    builtin: Any = next(one for one in kind.__mro__ if not one.__flags__ & (1 << 9))  # not made by a `class` statement
    named = hasattr(thing, "__dict__") or any("__slots__" in vars(one) for one in kind.__mro__[:-1])
    if builtin is object and named:
        return _OBJECT
    for base, found in _BUILTIN.items():
        if isinstance(thing, base) and not getattr(thing, "__dict__", None):
            return found
    if isinstance(thing, np.ndarray):
        return _NUMBERS
    return None


def _is_plain(value: Any) -> bool:
    return isinstance(value, (*_PLAIN, np.generic, Enum))


def _spell(value: Any, inner: list[Any]) -> list[bytes]:
    """A value as bytes; objects that can change are put into `inner`, and only said to be there."""
    kind = type(value)
    if kind in _PLAIN:
        return [repr(value + 0.0 if kind is float else value).encode()]
    if isinstance(value, np.generic):
        return _spell(value.item(), inner) if not isinstance(value, np.void) else [value.tobytes()]
    if isinstance(value, Enum):
        return [f"{kind.__qualname__}.{value.name}".encode()]
    if isinstance(value, tuple):
        return [b"(", *(piece for one in value for piece in _spell(one, inner)), b")"]
    if isinstance(value, frozenset):
        return [b"{", *sorted(b"".join(_spell(one, inner)) for one in value), b"}"]
    if isinstance(value, MethodType):
        inner.append(value.__self__)
        return [value.__func__.__qualname__.encode()]
    if isinstance(value, _FIXED):
        return [repr(getattr(value, "__qualname__", None) or str(value)).encode()]
    if isinstance(value, _PLAIN):  # of a class of its own
        return [repr(value).encode()]
    inner.append(value)
    return [b"@"]


def _of_mujoco() -> _Kind:
    """How the state of a simulation with MuJoCo is taken down: all that integration goes on from."""
    import mujoco  # whoever has such data has it

    what = int(mujoco.mjtState.mjSTATE_INTEGRATION)

    def take(data: Any) -> Any:
        state = np.empty(mujoco.mj_stateSize(data.model, what))
        mujoco.mj_getState(data.model, data, state, what)
        return state

    def put(data: Any, state: Any) -> None:
        mujoco.mj_setState(data.model, data, state, what)
        mujoco.mj_forward(data.model, data)

    return _Kind(lambda one: take(one).tobytes(), take, put, lambda state: [("", (state[1:] + 0.0).tobytes())])
