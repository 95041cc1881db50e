"""Facts: what can be asked of a state, with names. What a term means is said with them.

A world may offer its own: `fact_names`, and `facts(states)` → `[N, F]` booleans. It may offer `compiled_facts` too,
`(kernel, tables)` with a numba function `kernel(tables, states, i, fact)` for search loops, and `fact_phrases`, which
say a family of facts in words: `{"held": ("{a} is held", "no {x} is held")}` for facts such as `held(axe)`.

Of all other worlds, facts follow from what is discrete: in the named parts that `encode` gives, or else in a state of
whole numbers, or else in the one array that `encode` gives. Of numbers, a column has a value, two columns agree, one of
several columns has a value. Of things and of symbols on a grid, there is one of a type, in some condition; of a grid
besides, what is at a place, and on what two numbers stand that are a place.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations, pairwise
from typing import Any, NamedTuple

import numpy as np

from rsg.core.arrays import Array, Bools, Ints, record
from rsg.core.compiled import bare, inlined
from rsg.core.errors import RsgError
from rsg.worlds.protocol import EitherWorld, States
from rsg.worlds.seen import SEEN, Column, Layout, cells_of, columns_of, kinds_of, layouts, parts_of, side_by_side

VALUES = 64  # a column with more of them is a number, not one of several possibilities
COMPARED = 32  # columns of a part; if it has more, they are not compared with each other
CONDITIONS = 8  # values of a column that may tell in which condition a thing is
PLACES = 64  # of a grid where something changes; if there are more, what is at each is no fact
LEAST = ">="  # in the name of a fact that says how large a number is at least
NOT = "not "  # before the name of a fact that does not hold
STATE = "state"  # the part that is the state itself
EQUAL, SAME, SOME, ON, NEVER = range(5)  # a column has a value, two agree, some thing is, two point to a cell; no fact
FACT = record(
    **dict.fromkeys(("kind", "first", "rows", "columns", "down", "right", "one", "other"), np.int64),
    **dict.fromkeys(("value", "one_is", "other_is"), np.float64),
)
"""A fact for the kernel.

In SOME and ON a grid: the column of its first number, its size, how far it is to the next row and column, and the
value that is looked for. SOME: one and other are how far the columns of conditions are from that of the type, -1:
there is none. ON: the columns that are a place. SAME: the column that agrees with the first.
"""


@dataclass(frozen=True, eq=False)
class Facts:
    """What can be asked of the states of one world."""

    names: tuple[str, ...]  # of the facts, such as `held(axe)` or `door[0]=1`
    ask: Callable[[States], Bools]  # gives for states `[N, W]` which facts hold, `[N, F]`
    # `(kernel, tables)` for search loops, if there is one: `kernel(tables, states, i, number)`
    compiled: tuple[Any, Any] | None
    numbers: Ints  # `[F]` what the kernel calls each fact, -1 for one that this world does not have


def say(phrases: Mapping[str, tuple[str, str]], name: str, holds: bool = True) -> str:
    """A fact in words, if its family has some, or its parts have names.

    >>> say({"held": ("{a} is held", "no {x} is held")}, "held(axe)")
    'an axe is held'
    >>> say({}, "some map=door&[state]=open", holds=False), say({}, "agent[x,y] on map=goal")
    ('no door is open', 'agent is on a goal')
    """
    if name.startswith(NOT):
        return say(phrases, name.removeprefix(NOT), not holds)
    if LEAST in name and not holds:
        return name.replace(LEAST, "<")
    kind, _, what = name.removesuffix(")").partition("(")
    if kind in phrases:
        return phrases[kind][0 if holds else 1].format(*what.split(","), x=what, a=_with_article(what))
    found = next((form.fullmatch(name) for _, form in _PATTERNS if form.fullmatch(name)), None)
    told = found.groupdict() if found else {}
    said = _said_of(told, holds) if any(map(_named, (told.get("value"), told.get("one")))) else None
    return said or (name if holds else f"{NOT}{name}")


def _said_of(told: Mapping[str, str | None], holds: bool) -> str | None:
    """A fact whose value, or whose column, has a name."""
    value, one = told.get("value") or "", told.get("one") or ""
    thing = _with_article(value) if holds else f"no {value}"
    if told.get("who"):
        return f"{told['who']} is on {thing}"
    if "one_is" in told:  # some thing
        pairs = [(told[c], told[f"{c}_is"]) for c in ("one", "other") if told[c]]
        words = [str(word) if _named(word) else f"of {column} {word}" for column, word in pairs]
        return f"{thing} is {' and '.join(words) or 'there'}" if _named(value) else None
    if told.get("row"):
        return f"{thing} is at {told['row']}, {told['column']}"
    column = f"{told['part']} {one}" if _named(one) else str(told["part"])
    what = f"{told['part']} {told['other']}" if told.get("other") else value
    return f"{column} is {'' if holds else 'not '}{what}"


def _named(word: str | None) -> bool:
    """Whether it is a name and no number."""
    return bool(re.search("[^0-9.e+-]", word or ""))


def _with_article(what: str) -> str:
    return f"{'an' if what[:1] in 'aeiou' else 'a'} {what}"


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
        if found := tuple(_names(world, parts)):
            return found
    return ()


def facts_of(world: EitherWorld, names: Sequence[str], state: Array | None = None) -> Facts:
    """The facts of these names in a world; one that it does not have never holds there.

    state: one of its states; facts that follow from it alone are compiled.
    """
    if not hasattr(world, "facts") or not hasattr(world, "fact_names"):
        return _derived(world, tuple(names), state)
    place = {name: number for number, name in enumerate(world.fact_names)}
    numbers = np.array([place.get(name, -1) for name in names], dtype=np.int64)

    def ask(states: States) -> Bools:
        return np.asarray(world.facts(states), dtype=np.bool_)[:, numbers] & (numbers >= 0)

    return Facts(tuple(names), ask, getattr(world, "compiled_facts", None), numbers)


def _sources(world: EitherWorld, states: States) -> Iterator[dict[str, Array]]:
    """Where facts may come from, the best first: named parts of `encode`, the state, the one array of `encode`.

    A world that says what it shows, or shows a grid or a picture, shows all that may be asked.
    """
    parts, states = parts_of(world.encode(states)), np.asarray(states)
    told = hasattr(world, "spaces") or any(kind != "numbers" for kind in kinds_of(world, parts).values())
    if SEEN not in parts or told:
        yield parts
    if states.dtype.kind in "iub" and not told:
        yield {STATE: states}
    if SEEN in parts and not told:
        yield parts


def _names(world: object, parts: Mapping[str, Array]) -> Iterator[str]:
    """The facts that show in some parts."""
    kinds = kinds_of(world, parts)
    for part, shown in parts.items():
        if kinds[part] == "numbers":
            yield from _number_names(part, shown, world)
        elif kinds[part] != "picture":
            yield from _thing_names(part, cells_of(shown, kinds[part]), world)
        if kinds[part] == "symbols":
            cells = cells_of(shown, "symbols")
            yield from _place_names(part, cells, world)
            for other, numbers in parts.items():
                if kinds[other] == "numbers":
                    yield from _standing_names(part, cells, other, numbers.reshape(len(numbers), -1), world)


def _number_names(part: str, shown: Array, world: object) -> Iterator[str]:
    """A column has a value, two columns agree, one of several has a value."""
    rows = shown.reshape(len(shown), -1)
    columns, named = _discrete(rows), columns_of(world, part, rows.shape[1])
    for number, values in columns.items():
        for value in values[1:] if len(values) == 2 else values:  # what is not the one is the other
            yield f"{part}[{named[number].name}]={named[number].said(value)}"
    if len(columns) <= COMPARED:
        for one, other in combinations(columns, 2):
            if len(set(columns[one]) & set(columns[other])) > 1 and len(columns[one]) > 2:
                yield f"{part}[{named[one].name}]={part}[{named[other].name}]"
    ranges = set(columns.values())
    if shown.ndim == 2 and named[0].name == "0" and len(columns) > 2 and len(ranges) < len(columns):
        for value in sorted({value for values in ranges for value in values}):
            yield f"some {part}={named[next(iter(columns))].said(value)}"


def _thing_names(part: str, cells: Array, world: object) -> Iterator[str]:
    """A thing of a type is there; one in some condition, or in two."""
    things, named = cells.reshape(-1, cells.shape[-1]), columns_of(world, part, cells.shape[-1])
    for value in _discrete(things[:, :1], constant=True).get(0, ()):
        yield (thing := f"some {part}={named[0].said(value)}")
        those = things[things[:, 0] == value]
        columns = {number: some for number, some in _discrete(those).items() if number and len(some) <= CONDITIONS}
        told = {number: f"&[{named[number].name}]=" for number in columns}
        for number, values in columns.items():
            yield from (f"{thing}{told[number]}{named[number].said(one)}" for one in values)
        for one, other in combinations(columns, 2):
            for pair in np.unique(those[:, [one, other]], axis=0):
                first, second = named[one].said(pair[0]), named[other].said(pair[1])
                yield f"{thing}{told[one]}{first}{told[other]}{second}"


def _place_names(part: str, cells: Array, world: object) -> Iterator[str]:
    """Something is at a place, where that changes."""
    types = columns_of(world, part, cells.shape[3])[0]
    changing = _discrete(cells[..., 0].reshape(len(cells), -1))
    for number, values in changing.items() if len(changing) <= PLACES else ():
        row, column = divmod(number, cells.shape[2])
        yield from (f"{part}({row},{column})={types.said(value)}" for value in values)


def _standing_names(part: str, cells: Array, other: str, shown: Array, world: object) -> Iterator[str]:
    """Two numbers side by side that are a place in the grid stand on something."""
    named = columns_of(world, other, shown.shape[1])  # what has names for its values is no place, nor what has two
    columns = {n: values for n, values in _discrete(shown).items() if len(values) > 2 and not named[n].values}
    types = columns_of(world, part, cells.shape[3])[0]
    used = -1
    for row, column in pairwise(columns):
        places = zip((row, column), cells.shape[1:3], strict=True)
        inside = all(min(columns[n]) >= 0 and max(columns[n]) < size for n, size in places)
        if inside and column == row + 1 and row > used:
            used = column
            here = cells[np.arange(len(cells)), shown[:, row].astype(int), shown[:, column].astype(int), :1]
            who = f"{other}[{named[row].name},{named[column].name}] on {part}"
            yield from (f"{who}={types.said(value)}" for value in _discrete(here).get(0, ()))


def _discrete(rows: Array, constant: bool = False) -> dict[int, tuple[float, ...]]:
    """The values of the columns of rows that take several, but not many."""
    found = {}
    for number, column in enumerate(rows.T):
        values = np.unique(column)
        whole = bool((values == np.round(values)).all())
        few = len(values) <= (VALUES if whole else min(VALUES, len(rows) // VALUES))
        if few and (constant or len(values) > 1):
            found[number] = tuple(values.tolist())
    return found


_LABEL, _PART = r"[\w .-]+", r"[^=&()\[\]]+"
_FORMS = [  # how the names of facts are written
    (SOME, rf"some (?P<part>{_PART})=(?P<value>{_LABEL})(&\[(?P<one>{_LABEL})\]=(?P<one_is>{_LABEL}))?"
           rf"(&\[(?P<other>{_LABEL})\]=(?P<other_is>{_LABEL}))?"),
    (ON, rf"(?P<who>{_PART})\[(?P<one>{_LABEL}),(?P<other>{_LABEL})\] on (?P<part>{_PART})=(?P<value>{_LABEL})"),
    (SAME, rf"(?P<part>{_PART})\[(?P<one>{_LABEL})\]={_PART}\[(?P<other>{_LABEL})\]"),
    (EQUAL, rf"(?P<part>{_PART})(\[(?P<one>{_LABEL})\]|\((?P<row>\d+),(?P<column>\d+)\))=(?P<value>{_LABEL})"),
]  # fmt: skip
_PATTERNS = [(kind, re.compile(form)) for kind, form in _FORMS]
Told = Mapping[str, str | None]


def _read(name: str) -> tuple[int, Told]:
    """The kind of a fact and what its name says."""
    for kind, pattern in _PATTERNS:
        if found := pattern.fullmatch(name):
            return kind, found.groupdict()
    raise RsgError(f"this world has no fact '{name}'; was this learned in another one?")


class _Part(NamedTuple):
    """A part as it lies in rows: a grid, in which things stand in one row, and numbers, too."""

    first: int  # the column of its first number
    rows: int  # of the grid
    columns: int  # of the grid
    down: int  # how far it is to the next row
    right: int  # to the next column
    deep: int  # to the next number of a cell
    named: list[Column]  # the columns of a cell, or all numbers

    @classmethod
    def of(cls, world: object, name: str, layout: Layout, flat: bool) -> "_Part":
        """The part of that name; flat: as numbers, whatever it is."""
        first, shape, apart = layout
        if flat or len(shape) == 1:
            count = int(np.prod(shape))
            return cls(first, 1, count, 0, apart[-1], 1, columns_of(world, name, count))
        if len(shape) == 2 and (getattr(world, "spaces", None) or {}).get(name) != "symbols":
            return cls(first, 1, shape[0], 0, apart[0], apart[1], columns_of(world, name, shape[1]))
        (down, right, deep), depth = (*apart, 1)[:3], (*shape, 1)[2]
        return cls(first, shape[0], shape[1], down, right, deep, columns_of(world, name, depth))

    def number(self, name: str | None) -> int | None:
        """The number of the column of that name; None if there is none."""
        return next((number for number, one in enumerate(self.named) if one.name == name), None)

    def place(self, name: str | None) -> int | None:
        """Where the column of that name lies in a row, of numbers."""
        number = self.number(name)
        return None if number is None else self.first + number * self.right

    def cell(self, row: int, column: int) -> int | None:
        """Where a cell lies in a row."""
        return self.first + row * self.down + column * self.right if row < self.rows and column < self.columns else None

    def value(self, column: int | None, name: str | None) -> float | None:
        """The value of that name."""
        return None if column is None else self.named[column].meant(str(name))

    def condition(self, name: str | None, wanted: str | None) -> tuple[int | None, float | None]:
        """How far a condition is from the type of a thing, -1 if none is named, and its value."""
        number = self.number(name)
        if name is None or number is None:
            return (-1, 0.0) if name is None else (None, None)
        return number * self.deep, self.value(number, wanted)


_NONE = (NEVER, *[0] * 7, *[0.0] * 3)  # no fact of this world


def _row(name: str, part_of: Callable[[str, bool], _Part | None]) -> tuple[Any, ...]:
    """A fact for the kernel."""
    kind, told = _read(name)
    flat = kind == SAME or (kind == EQUAL and told["row"] is None)
    part, who = part_of(str(told["part"]), flat), part_of(str(told.get("who") or told["part"]), True)
    if part is None or who is None:
        return _NONE
    value, found = part.value(0, told.get("value") or "0"), tuple[Any, ...]()
    if kind == SAME:
        found = part.place(told["one"]), part.place(told["other"]), -1, 0.0, 0.0, 0.0
    elif kind == EQUAL and flat:
        found = part.place(told["one"]), -1, -1, part.value(part.number(told["one"]), told["value"]), 0.0, 0.0
    elif kind == EQUAL:
        found = part.cell(int(told["row"] or 0), int(told["column"] or 0)), -1, -1, value, 0.0, 0.0
    elif kind == ON:
        found = part.first, who.place(told["one"]), who.place(told["other"]), value, 0.0, 0.0
    else:
        (one, one_is), (other, other_is) = (part.condition(told[c], told[f"{c}_is"]) for c in ("one", "other"))
        found = part.first, one, other, value, one_is, other_is
    return _NONE if None in found else (kind, found[0], *part[1:5], *found[1:])


def _derived(world: EitherWorld, names: tuple[str, ...], state: Array | None) -> Facts:
    """Facts that follow from what is discrete; compiled where all that they ask for lies in the state itself."""
    told = [_read(name)[1] for name in names]
    parts = {str(one[part]) for one in told for part in ("part", "who") if one.get(part)}
    made: dict[tuple[tuple[str, Layout], ...], Array] = {}

    def tables(found: Mapping[str, Layout]) -> Array:
        key = tuple(found.items())
        if key not in made:

            @cache
            def part_of(name: str, flat: bool) -> _Part | None:
                return _Part.of(world, name, found[name], flat) if name in found else None

            made[key] = np.array([_row(name, part_of) for name in names], dtype=FACT)
        return made[key]

    def ask(states: States) -> Bools:
        shown = {STATE: np.asarray(states)} if STATE in parts else {}
        if parts - {STATE}:
            shown |= {name: part for name, part in parts_of(world.encode(states)).items() if name in parts}
        out = np.zeros((len(states), len(names)), dtype=np.bool_)
        if shown:
            rows, found = side_by_side(shown)
            fact_rows(tables(found), rows, out)
        return out

    compiled = None
    if state is not None:
        inside = layouts(world, state) if parts - {STATE} else {}
        inside[STATE] = Layout(0, state.shape, (1,))
        compiled = (fact, tables(inside)) if parts <= inside.keys() else None
    return Facts(names, ask, compiled, np.arange(len(names)))


@bare
def fact(tables: Array, rows: Array, i: int, number: int) -> bool:
    """Whether a fact holds in row i."""
    one = tables[number]
    if one.kind == EQUAL:
        return same(rows[i, one.first], one.value)
    if one.kind == SAME:
        return same(rows[i, one.first], rows[i, one.one])
    if one.kind == ON:
        row, column = int(rows[i, one.one]), int(rows[i, one.other])
        inside = 0 <= row < one.rows and 0 <= column < one.columns
        return inside and same(rows[i, one.first + row * one.down + column * one.right], one.value)
    if one.kind == SOME:
        for row in range(one.rows):
            for column in range(one.columns):
                cell = one.first + row * one.down + column * one.right
                if (
                    same(rows[i, cell], one.value)
                    and (one.one < 0 or same(rows[i, cell + one.one], one.one_is))
                    and (one.other < 0 or same(rows[i, cell + one.other], one.other_is))
                ):
                    return True
    return False


@inlined
def same(number: float, wanted: float) -> bool:
    """Whether two numbers agree, as far as numbers can be told apart that were computed."""
    return bool(abs(float(number) - float(wanted)) <= 1e-8 + 1e-5 * abs(wanted))


@bare
def fact_rows(tables: Array, rows: Array, out: Bools) -> None:
    """Whether each fact holds in each row, `[N, F]`."""
    for i in range(len(rows)):
        for number in range(out.shape[1]):
            out[i, number] = fact(tables, rows, i, number)
