"""What is seen of a state: the named parts of what `encode` gives, what kind each of them is, and what it is called.

A world may say both: `spaces` maps a part to its kind, and `columns` maps it to the names of its columns,
`("x", "y", "direction")`, or of their values besides, `{"object": ["empty", "door", "key"], "colour": {"red": 0}}`. A
world that gives one array has one part, `seen`. What it does not say follows from the arrays.
"""

import re
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

import numpy as np

from rsg.core.arrays import Array
from rsg.core.errors import RsgError, unknown
from rsg.worlds.protocol import EitherWorld, Seen, States

Kind = Literal["numbers", "symbols", "things", "picture"]
"""A row of numbers; a grid of symbols `[N, H, W, C]`; things `[N, things, C]`, their type first, 0 where there is none;
a picture `[N, H, W, C]`."""
KINDS: dict[Kind, int] = {"numbers": 0, "symbols": 4, "things": 3, "picture": 4}  # with so many dimensions; 0: any

SEEN = "seen"  # the part that is the one array of `encode`
CODES = 64  # a grid of whole numbers below that shows symbols, any other is a picture


def parts_of(seen: Seen) -> dict[str, Array]:
    """The arrays of what a world shows, by name, each with at least one column."""
    if hasattr(seen, "_asdict"):
        seen = seen._asdict()
    if not isinstance(seen, Mapping):
        seen = {f"{SEEN}{n}": one for n, one in enumerate(seen)} if isinstance(seen, tuple) else {SEEN: seen}
    parts = {str(name): part if hasattr(part, "shape") else np.asarray(part) for name, part in seen.items()}
    return {name: part[:, None] if part.ndim == 1 else part for name, part in parts.items()}


def kinds_of(world: object, parts: Mapping[str, Array]) -> dict[str, Kind]:
    """What kind each part is: as the world says, or as it looks.

    >>> kinds_of(None, {"agent": np.zeros((5, 3)), "map": np.ones((5, 8, 8, 3), dtype=np.uint8)})
    {'agent': 'numbers', 'map': 'symbols'}
    """
    said: Mapping[str, Any] = getattr(world, "spaces", None) or {}
    return {name: _said(name, part, said[name]) if name in said else _looks(part) for name, part in parts.items()}


def _said(name: str, part: Array, kind: Any) -> Kind:
    if kind not in KINDS:
        raise unknown("kind of observation", str(kind), KINDS)
    if KINDS[kind] not in (0, part.ndim) and not (kind == "symbols" and part.ndim == 3):
        shape = {3: "[N, things, columns]", 4: "[N, H, W, columns]"}[KINDS[kind]]
        raise RsgError(f"`spaces` says that '{name}' is {kind}, {shape}, but `encode` gives {part.shape}")
    found: Kind = kind
    return found


def _looks(part: Array) -> Kind:
    if part.ndim == 4:
        return "symbols" if few(part) else "picture"
    if part.ndim == 3 and (part[..., 0] == np.round(part[..., 0])).all():
        return "things"
    return "numbers"


def few(part: Array) -> bool:
    """Whether these are numbers of symbols."""
    return part.dtype.kind in "iub" and (part.size == 0 or bool(part.min() >= 0 and part.max() < CODES))


def cells_of(part: Array, kind: Kind) -> Array:
    """Things or a grid of symbols as `[N, H, W, C]`: things stand in one row."""
    if kind == "things":
        return part[:, None]
    return part[..., None] if part.ndim == 3 else part


class Column(NamedTuple):
    """What a column of a part is called, and its values, by what they are."""

    name: str
    values: Mapping[float, str]

    def said(self, value: float) -> str:
        """A value by its name."""
        return self.values.get(float(value), f"{value:g}")

    def meant(self, name: str) -> float | None:
        """The value of that name; None if there is none."""
        named = {one: value for value, one in self.values.items()}
        try:
            return named[name] if name in named else float(name)
        except ValueError:
            return None


def columns_of(world: object, part: str, count: int) -> list[Column]:
    """The columns of a part that has so many."""
    told = (getattr(world, "columns", None) or {}).get(part, ())
    names, values = (list(told), list(told.values())) if isinstance(told, Mapping) else (list(told), [None] * len(told))
    if len(names) > count:
        raise RsgError(f"`columns` names {len(names)} columns of '{part}', which has {count}")
    named = [Column(_word(name), _values(some)) for name, some in zip(names, values, strict=True)]
    return named + [Column(str(number), {}) for number in range(len(named), count)]


def _values(told: Any) -> dict[float, str]:
    """The names of values: in order, or by name as others write it, `{"open": 0, "closed": 1}`."""
    if isinstance(told, Mapping):
        turned = (one if isinstance(one[0], str) else one[::-1] for one in told.items())
        return {float(value): _word(name) for name, value in turned}
    return {float(value): _word(name) for value, name in enumerate(told or ())}


def _word(name: object) -> str:
    """A name without what facts are written with."""
    return re.sub(r"[^\w .-]", "-", str(name))


class Layout(NamedTuple):
    """Where a part lies in rows: the column of its first number, its shape, and how far apart its numbers are."""

    first: int
    shape: tuple[int, ...]
    apart: tuple[int, ...]


def layout_in(states: States, part: Array) -> Layout | None:
    """Where a part lies in the states that it was made of, if it is nothing but a view of them; otherwise None.

    >>> states = np.zeros((2, 10), dtype=int)
    >>> layout_in(states, states[:, 1:].reshape(2, 3, 3))
    Layout(first=1, shape=(3, 3), apart=(3, 1))
    """
    size, row = states.itemsize, states.strides[0]
    if part.dtype != states.dtype or not len(part) or not np.may_share_memory(part, states):
        return None
    at, rest = divmod(part.__array_interface__["data"][0] - states.__array_interface__["data"][0], size)
    apart = part.strides[1:]
    if rest or at < 0 or part.strides[0] != row or any(step % size for step in apart) or states.strides[1] != size:
        return None
    return Layout(int(at), part.shape[1:], tuple(step // size for step in apart))


def layouts(world: EitherWorld, state: Array) -> dict[str, Layout]:
    """Where the parts that a world shows lie in its states, of those that are nothing but views of them."""
    states = np.stack([state, state])
    found = {name: layout_in(states, part) for name, part in parts_of(world.encode(states)).items()}
    return {name: one for name, one in found.items() if one is not None}


def side_by_side(parts: Mapping[str, Array]) -> tuple[Array, dict[str, Layout]]:
    """All parts in one row of numbers `[N, numbers]`, and where each lies in it."""
    found, first = dict[str, Layout](), 0
    for name, part in parts.items():
        shape = part.shape[1:]
        apart = tuple(int(np.prod(shape[n + 1 :], dtype=np.int64)) for n in range(len(shape)))
        found[name] = Layout(first, shape, apart)
        first += int(np.prod(shape, dtype=np.int64))
    rows = [np.asarray(part, dtype=np.float64).reshape(len(part), -1) for part in parts.values()]
    return np.concatenate(rows, axis=1), found
