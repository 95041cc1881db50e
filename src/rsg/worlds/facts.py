"""Facts: what can be asked of a state, with names. What a term means is said with them.

A world may offer its own: `fact_names`, and `facts(states)` → `[N, F]` booleans. It may offer `compiled_facts` too,
`(kernel, tables)` with a numba function `kernel(tables, states, i, fact)` for search loops, and `fact_phrases`, which
say a family of facts in words: `{"held": ("{a} is held", "no {x} is held")}` for facts such as `held(axe)`.

Of all other worlds, facts follow from what is discrete: in the named parts that `encode` gives, or else in a state of
whole numbers, or else in the one array that `encode` gives. A column has a value, two columns agree, one of several
columns has a value; of a part `[N, things, columns]`, there is a thing of a type, in some condition.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from rsg.core.arrays import Array, Bools, Ints
from rsg.core.compiled import bare
from rsg.core.errors import RsgError
from rsg.worlds.protocol import EitherWorld, States

VALUES = 64  # a column with more of them is a number, not one of several possibilities
COMPARED = 32  # columns of a part; if it has more, they are not compared with each other
CONDITIONS = 4  # values of a column that may tell in which condition a thing is
STATE = "state"  # the part that is the state itself
SEEN = "seen"  # the part that is the one array of `encode`
EQUAL, SAME, SOME = range(3)  # a column has a value, two columns agree, some column has a value


@dataclass(frozen=True, eq=False)
class Facts:
    """What can be asked of the states of one world.

    Attributes:
        names: of the facts, such as `held(axe)` or `door[0]=1`.
        ask: gives for states `[N, W]` which facts hold, `[N, F]`.
        compiled: `(kernel, tables)` for search loops, if there is one: `kernel(tables, states, i, number)`.
        numbers: `[F]` what the kernel calls each fact, -1 for one that this world does not have.
    """

    names: tuple[str, ...]
    ask: Callable[[States], Bools]
    compiled: tuple[Any, Any] | None
    numbers: Ints


def say(phrases: Mapping[str, tuple[str, str]], name: str, holds: bool = True) -> str:
    """A fact in words, if its family has some.

    >>> say({"held": ("{a} is held", "no {x} is held")}, "held(axe)")
    'an axe is held'
    """
    kind, _, what = name.removesuffix(")").partition("(")
    if kind not in phrases:
        return name if holds else f"not {name}"
    article = "an" if what[:1] in "aeiou" else "a"
    return phrases[kind][0 if holds else 1].format(*what.split(","), x=what, a=f"{article} {what}")


def family(name: str) -> str:
    """The family of a fact: what stands before its bracket, or the column before its value.

    >>> family("held(axe)"), family("door[2]=1")
    ('held', 'door[2]')
    """
    return re.split(r"[(=]", name)[0]


def fact_names(world: EitherWorld, states: States) -> tuple[str, ...]:
    """The names of the facts of a world, as they show in states `[N, W]`; none if nothing in them is discrete."""
    if hasattr(world, "facts") and hasattr(world, "fact_names"):
        return tuple(world.fact_names)
    for parts in _sources(world, states):
        if found := tuple(name for part, shown in parts.items() for name in _names(part, shown)):
            return found
    return ()


def facts_of(world: EitherWorld, names: Sequence[str]) -> Facts:
    """The facts of these names in a world; one that it does not have never holds there."""
    if not hasattr(world, "facts") or not hasattr(world, "fact_names"):
        return _derived(world, tuple(names))
    place = {name: number for number, name in enumerate(world.fact_names)}
    numbers = np.array([place.get(name, -1) for name in names], dtype=np.int64)

    def ask(states: States) -> Bools:
        return np.asarray(world.facts(states), dtype=np.bool_)[:, numbers] & (numbers >= 0)

    return Facts(tuple(names), ask, getattr(world, "compiled_facts", None), numbers)


def _sources(world: EitherWorld, states: States) -> Iterator[dict[str, Array]]:
    """Where facts may come from, the best first: named parts of `encode`, the state, the one array of `encode`."""
    seen = world.encode(states)
    if isinstance(seen, dict) or hasattr(seen, "_asdict"):
        parts = seen if isinstance(seen, dict) else seen._asdict()
        yield {name: np.asarray(part) for name, part in parts.items()}
    states = np.asarray(states)
    if states.dtype.kind in "iub":
        yield {STATE: states}
    if not isinstance(seen, dict | tuple):
        yield {SEEN: np.asarray(seen)}


class _Column(NamedTuple):
    """The values that a column of a part takes."""

    number: int
    values: tuple[float, ...]


def _names(part: str, shown: Array) -> Iterator[str]:
    """The facts that show in a part `[N, columns]`, or `[N, things, columns]` whose first column is the type."""
    if shown.ndim == 3:
        yield from _thing_names(part, shown)
        return
    columns = _discrete(shown.reshape(len(shown), -1))
    for column in columns:
        told = column.values[1:] if len(column.values) == 2 else column.values  # what is not the one is the other
        for value in told:
            yield f"{part}[{column.number}]={value:g}"
    if len(columns) <= COMPARED:
        for one, other in combinations(columns, 2):
            if len(set(one.values) & set(other.values)) > 1 and len(one.values) > 2:
                yield f"{part}[{one.number}]={part}[{other.number}]"
    ranges = {column.values for column in columns}
    if len(columns) > 2 and len(ranges) < len(columns):
        for value in sorted({value for values in ranges for value in values}):
            yield f"some {part}={value:g}"


def _thing_names(part: str, shown: Array) -> Iterator[str]:
    """A thing of a type is there; one in some condition."""
    types, *others = _discrete(shown.reshape(-1, shown.shape[2]), constant=True)
    if types.number != 0:
        return
    for value in types.values:
        yield f"some {part}={value:g}"
        for column in others:
            for condition in column.values[1:] if len(column.values) <= CONDITIONS else ():
                yield f"some {part}={value:g}&[{column.number}]={condition:g}"


def _discrete(rows: Array, constant: bool = False) -> list[_Column]:
    """The columns of rows `[N, columns]` that take several values, but not many."""
    found = []
    for number, column in enumerate(rows.T):
        values = np.unique(column)
        whole = bool((values == np.round(values)).all())
        few = len(values) <= (VALUES if whole else min(VALUES, len(rows) // VALUES))
        if few and (constant or len(values) > 1):
            found.append(_Column(number, tuple(values.tolist())))
    return found


_NAME = re.compile(
    r"(?P<some>some )?(?P<part>\w+?)(\[(?P<column>\d+)\])?="
    r"(\w+\[(?P<other>\d+)\]|(?P<value>[^&]+))(&\[(?P<which>\d+)\]=(?P<condition>.+))?"
)


class _Fact(NamedTuple):
    """A fact that follows from what is discrete."""

    part: str
    kind: int
    column: int
    value: float
    which: int = -1
    condition: float = 0.0

    @classmethod
    def read(cls, name: str) -> "_Fact":
        """The fact of that name."""
        found = _NAME.fullmatch(name)
        if not found:
            raise RsgError(f"this world has no fact '{name}'; was this learned in another one?")
        if found["some"]:
            which = int(found["which"] or -1)
            return cls(found["part"], SOME, -1, float(found["value"]), which, float(found["condition"] or 0))
        if found["other"]:
            return cls(found["part"], SAME, int(found["column"]), float(found["other"]))
        return cls(found["part"], EQUAL, int(found["column"]), float(found["value"]))

    def of(self, shown: Array) -> Bools:
        """Where it holds, `[N]`, given its part."""
        if self.kind == SOME and shown.ndim == 3:
            fits = np.isclose(shown[..., 0], self.value)
            if self.which >= 0:
                fits &= np.isclose(shown[..., self.which], self.condition)
            return np.asarray(fits.any(axis=1))
        rows = shown.reshape(len(shown), -1)
        if self.kind == SOME:
            return np.asarray(np.isclose(rows, self.value).any(axis=1))
        other = rows[:, int(self.value)] if self.kind == SAME else self.value
        return np.asarray(np.isclose(rows[:, self.column], other))


def _derived(world: EitherWorld, names: tuple[str, ...]) -> Facts:
    """Facts that follow from what is discrete; those of a state of whole numbers are compiled."""
    facts = [_Fact.read(name) for name in names]

    def ask(states: States) -> Bools:
        shown = {part: one for parts in _sources(world, states) for part, one in parts.items()}
        out = np.zeros((len(states), len(facts)), dtype=np.bool_)
        for number, fact in enumerate(facts):
            with suppress(KeyError, IndexError):  # a smaller world has no such column
                out[:, number] = fact.of(shown[fact.part])
        return out

    tables = np.array([(fact.kind, fact.column, fact.value) for fact in facts], dtype=np.int64).reshape(-1, 3)
    compiled = (column_fact, tables) if all(fact.part == STATE and fact.kind != SOME for fact in facts) else None
    return Facts(names, ask, compiled, np.arange(len(facts)))


@bare
def column_fact(tables: Array, states: Array, i: int, number: int) -> bool:
    """Whether a fact holds in state i of whole numbers."""
    kind, column, value = tables[number, 0], tables[number, 1], tables[number, 2]
    if kind == EQUAL:
        return bool(states[i, column] == value)
    return bool(states[i, column] == states[i, value])
