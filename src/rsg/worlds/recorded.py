"""A world that is made of recordings, where there is no model: what happened is known, and nothing else.

In it one goes on as it was recorded, or loses a step. What a subgoal is, and where it ends, is learned on these chains
of states as on any other graph; nothing can be planned.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from math import prod
from typing import Any, Protocol

import numpy as np

from rsg.core.arrays import Array, Bools, Floats, Ints
from rsg.core.errors import RsgError
from rsg.worlds.defaults import COST
from rsg.worlds.facts import LEAST, STATE
from rsg.worlds.protocol import Seen, States
from rsg.worlds.seen import columns_of

NO_MODEL = (
    "this world is made of recordings: what another action would have led to is not known, so nothing can be planned "
    "or tried in it; name a world that has a model (rsg domains lists some)"
)
LOOKED_AT = 2000  # recordings that tell what states are like: more show nothing new
USUAL = 20  # steps of a recording; one of more steps, since it was sampled more often, costs no more in all
MOVING = 0.2  # of how much a number varies: what varies so much within most recordings is the robot's own
ALIKE = 0.5  # of the smaller range of two numbers: if they share so much, how far they are apart tells something
PAIRS = 128  # of numbers, at most, and of places
PLACES, ROOM = (2, 3), 0.8  # numbers of a place: in a plane, or in space; of the larger range, what two share
FASTEST, STIRS = 0.998, 0.5  # of the changes of a number: the fastest; what share of that is to move
LEAP, AMIDST = 0.8, 0.1  # of the range of an angle: where it leaps; share of states in the middle third of its range
RESTS, NOISE = 0.1, 1.4  # of the fastest: a usual step of what rests; of a step: two of what only trembles
MARKS = 16  # of a number that is not one of several: what terms are about may begin or end at one of them
DISTANCES, NEAREST = 32, 0.01  # marks of a distance; of the largest: nearer than that nothing is told apart
DEPTHS, SMALLEST, GRIDLIKE = range(2, 7), 4, 0.25  # of a cell; of a grid's side; by how much its columns are alike


class HasStates(Protocol):
    """A demonstration, as far as it is looked at here."""

    @property
    def states(self) -> Array: ...  # noqa: D102


class Recorded:
    """What recordings show of a world that has no model; `recorded` makes one.

    Args:
        width: how many numbers a state has.
        cost: of a step.
        parts: what the numbers of a state are, in order: a shape for each name, see `recorded`; None: a row.
        columns: what they are called, as worlds say it (`rsg.worlds.seen`).
        pairs: columns whose difference is shown besides: something, and a number of the robot's own.
        guessed: whether nobody named the parts.
        places: columns that are a place of the robot's own, and those that are a thing's: how far these are apart is
            another number, see `places_in`.
        marks: for each number what it may be at least (`marks_in`): facts to read terms by, where nothing is discrete.
        still: by how much each number changes at least if it moves (`still_in`), null if it is none of a thing's.
    """

    actions = ("go on",)

    def __init__(
        self,
        width: int,
        cost: float = COST,
        parts: Mapping[str, Sequence[int]] | None = None,
        columns: Mapping[str, Any] | None = None,
        pairs: Sequence[Sequence[int]] = (),
        guessed: bool = True,
        places: Sequence[Sequence[Sequence[int]]] = (),
        marks: Sequence[Sequence[float]] = (),
        still: Sequence[float | None] = (),
    ) -> None:
        self.width, self.cost_of_step, self.guessed = width, cost, guessed
        self.parts = {name: tuple(shape) for name, shape in (parts or {}).items()}
        self.columns = dict(columns or {})
        self.pairs = np.array(pairs, dtype=np.int64).reshape(-1, 2)
        taken = sum(map(prod, self.parts.values()))
        if self.parts and taken != width:
            raise RsgError(f"the parts of a state take {taken} numbers, but the recordings have {width}")
        self.places = [[list(one), list(other)] for one, other in places]
        self.marks, self.still = [list(map(float, some)) for some in marks], list(still)
        if self.marks:
            self.fact_names, self.facts = self._facts_named(), self._facts_at

    def _facts_named(self) -> tuple[str, ...]:
        """Such as `state[2]>=0.5`, and `state[0,1] to state[3,4]>=0.5`."""
        sizes = {name: prod(shape) for name, shape in self.parts.items()} or {STATE: self.width}
        columns = [(part, one.name) for part, size in sizes.items() for one in columns_of(self, part, size)]
        named = [f"{part}[{name}]" for part, name in columns]
        for places in self.places:
            named.append(" to ".join(f"{columns[one[0]][0]}[{','.join(columns[n][1] for n in one)}]" for one in places))
        return tuple(f"{name}{LEAST}{mark:.4g}" for name, some in zip(named, self.marks, strict=True) for mark in some)

    def _facts_at(self, states: States) -> Bools:
        """Which numbers are at least at which marks, `[N, F]`."""
        rows = with_distances(self.checked(np.asarray(states)), self.places)
        return np.concatenate([rows[:, n, None] >= np.array(some) for n, some in enumerate(self.marks)], axis=1)

    def checked(self, states: States) -> States:
        """The same states, or an error if they are none of this world."""
        if np.ndim(states) != 2 or states.shape[1] != self.width:
            told = states.shape[1] if np.ndim(states) == 2 else list(np.shape(states))  # the same of all recordings
            raise RsgError(f"this world was made of recordings whose states have {self.width} numbers, not {told}")
        return states

    def step(self, states: States, actions: Array, /) -> States:  # noqa: ARG002
        """Nobody knows."""
        raise RsgError(NO_MODEL)

    def encode(self, states: States, /) -> Seen:
        """The parts of what was recorded; how far things are from the robot, if nobody named parts."""
        states, first, shown = self.checked(np.asarray(states)), 0, dict[str, Array]()
        if len(self.pairs):
            return {STATE: states, "apart": states[:, self.pairs[:, 0]] - states[:, self.pairs[:, 1]]}
        for name, shape in self.parts.items():
            shown[name] = states[:, first : first + prod(shape)].reshape(len(states), *shape)
            first += prod(shape)
        return shown or states

    def moves(self, states: States) -> Bools:
        """In which steps of a recording something moves that is not the robot, `[T]`."""
        least = np.array([np.inf if one is None else one for one in self.still])
        return np.asarray((np.abs(np.diff(self.checked(states), axis=0)) > least).any(axis=1))

    def plain(self) -> dict[str, Any]:
        """As JSON, so that a run can make it again: `Recorded(**plain)`."""
        parts = {name: list(shape) for name, shape in self.parts.items()} or None
        about: dict[str, Any] = {"width": self.width, "cost": self.cost_of_step, "parts": parts}
        about |= {"columns": self.columns, "pairs": self.pairs.tolist(), "guessed": self.guessed}
        return {**about, "places": self.places, "marks": self.marks, "still": self.still} if self.marks else about

    @property
    def assumes(self) -> str:
        """What is taken for granted here, in words."""
        told = [
            "there is no model, so the world is made of the recordings: one goes on as it was recorded, or loses a "
            f"step; each costs {self.cost_of_step:.3g}; the numbers of a state tell all that subgoals are about"
        ]
        if self.guessed and "grid" in self.parts:
            rows, columns, depth = self.parts["grid"]
            first = prod(self.parts.get("row", (0,)))
            told.append(
                f"numbers {first} to {first + rows * columns * depth - 1} look like a grid of {rows} × {columns} cells "
                f"of {depth} numbers, and are taken for that (parts= says what they are)"
            )
        if len(self.pairs):
            own = ", ".join(map(str, dict.fromkeys(self.pairs[:, 1].tolist())))
            told.append(f"numbers {own} are taken for the robot's own: how far all others are from them is seen, too")
        if self.places:
            one, other = (", ".join(map(str, some)) for some in self.places[0])
            told.append(f"how far apart two places are, such as numbers {one} and numbers {other}, is a number, too")
        if self.marks:
            told.append(f"of each number, up to {MARKS} marks are tried that a term may be about")
        if any(self.still):
            told.append("a recording may go on when its task is done, for a while in which little moves but the robot")
        return "; ".join(told)


def recorded(
    demonstrations: Iterable[HasStates],
    parts: Mapping[str, int | Sequence[int]] | None = None,
    columns: Mapping[str, Any] | None = None,
) -> Recorded:
    """The world that recordings are of, for `rsg.learn` where there is no model; actions are not asked for.

    Args:
        demonstrations: a list or a store of them; others of the same kind can be segmented in it later.
        parts: what the numbers of a state are, in their order: `{"hand": 3, "map": (8, 8, 3)}`, a row of three numbers
            and a grid of 8 × 8 cells with three numbers each. None: a row, of which is guessed what can be.
        columns: what they are called, `{"hand": ("x", "y", "z")}`, see `rsg.worlds.seen`.

    >>> import rsg
    >>> from rsg.worlds.corridor import Corridor
    >>> seen = [rsg.Demonstration(states, None, task) for states, _, task in Corridor().walks()]
    >>> [told.means for told in rsg.learn(seen, recorded(seen)).tell()]
    ['light-lamp holds where state[1]=1', 'read-book holds where state[2]=1']
    """
    given: object = demonstrations
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise RsgError(f"recorded(...) takes demonstrations, or rsg.Store(folder), not {given!r}")
    rows, lengths = list[Array](), list[int]()
    for demo in demonstrations:
        lengths.append(len(demo.states) - 1)
        if len(rows) < LOOKED_AT:
            rows.append(np.asarray(demo.states))
    if not rows:
        raise RsgError("there are no recordings to make a world of")
    widths = {one.shape[1] for one in rows}
    if len(widths) > 1:
        raise RsgError(f"states have {min(widths)} numbers in some recordings and {max(widths)} in others")
    every, width, cost = np.concatenate(rows), widths.pop(), COST * min(1.0, USUAL / float(np.mean(lengths)))
    if parts is not None:
        shapes = {name: (one,) if isinstance(one, int) else tuple(one) for name, one in parts.items()}
        flat = all(len(shape) == 1 for shape in shapes.values()) and not (every == np.round(every)).all()
        marked = marked_in(rows, [one for (one,) in shapes.values()]) if flat else {}
        return Recorded(width, cost, shapes, columns, guessed=False, **marked)
    if (every == np.round(every)).all():
        return Recorded(width, cost, grid_in(every), columns)
    return Recorded(width, cost, None, columns, pairs_in(rows), **marked_in(rows, [width]))


def marked_in(rows: Sequence[Array], sizes: Sequence[int]) -> dict[str, Any]:
    """What a world of numbers that are not whole is told besides; sizes: of the parts of its states."""
    every, places = np.concatenate(rows), places_in(rows, sizes)
    apart = with_distances(every, places)[:, every.shape[1] :]
    return {"places": places, "marks": marks_in(every) + marks_in(apart, distances=True), "still": still_in(rows)}


def with_distances(rows: Array, places: Sequence[Sequence[Sequence[int]]]) -> Array:
    """The numbers of rows, and how far apart the places are in each.

    >>> with_distances(np.array([[0.0, 0.0, 3.0, 4.0]]), [[[0, 1], [2, 3]]]).tolist()
    [[0.0, 0.0, 3.0, 4.0, 5.0]]
    """
    apart = [np.linalg.norm(rows[:, own] - rows[:, thing], axis=1) for own, thing in places]
    return np.column_stack([rows, *apart])


def places_in(rows: Sequence[Array], sizes: Sequence[int]) -> list[list[list[int]]]:
    """Where the robot and where a thing may be: two or three numbers in a row each, of about the same range by pairs.

    >>> rng = np.random.default_rng(0)
    >>> walk, still = np.linspace(0, 9, 30), np.ones(30)
    >>> places_in([np.stack([walk, walk[::-1], *rng.uniform(0, 9, (2, 1)) * still]).T for _ in range(50)], [4])
    [[[0, 1], [2, 3]]]
    """
    own, low, high = _ranges(rows)
    varied = np.array([len(np.unique(column)) > MARKS for column in np.concatenate(rows).T])
    shared = np.minimum.outer(high, high) - np.maximum.outer(low, low)
    may = shared >= ROOM * np.maximum.outer(high - low, high - low)
    may &= np.logical_and.outer(own & varied, ~own & varied)
    first = np.repeat(np.cumsum([0, *sizes[:-1]]), sizes)  # of its part, for each column
    found = [
        [[*range(one, one + many)], [*range(other, other + many)]]
        for many in PLACES
        for one in range(len(own) - many + 1)
        for other in range(len(own) - many + 1)
        if all(may[one + n, other + n] for n in range(many))
        and first[one] == first[one + many - 1]
        and first[other] == first[other + many - 1]
    ]
    return found if len(found) <= PAIRS else []


def _ranges(rows: Sequence[Array]) -> tuple[Bools, Floats, Floats]:
    """Which columns are the robot's own: what moves within most recordings; the least and the most of each."""
    every = np.concatenate(rows).astype(np.float64)
    spread = np.median([one.std(axis=0) for one in rows], axis=0)
    low, high = np.quantile(every, [0.01, 0.99], axis=0)
    return spread > MOVING * np.maximum(every.std(axis=0), 1e-12), low, high


def marks_in(rows: Array, distances: bool = False) -> list[list[float]]:
    """For each column of rows what its numbers may be at least: between its values, or evenly if it has many.

    Of distances there are more, up to the usual one; small ones are told apart better than large ones.

    >>> marks_in(np.array([[0.0, 7.0], [1.0, 7.0], [4.0, 7.0]]))
    [[0.5, 2.5], []]
    """
    found = []
    for column in rows.T:
        values = np.unique(column)
        low, high = np.quantile(column, [0.005, 0.995])
        even = np.linspace(low, high, MARKS + 2)[1:-1]
        if distances and high > 0:
            near = max(low, NEAREST * high)
            even = np.geomspace(near, max(near, np.median(column)), DISTANCES + 2)[1:-1]
        marks = (values[1:] + values[:-1]) / 2 if len(values) <= MARKS else even
        found.append(np.unique([float(f"{mark:.4g}") for mark in marks]).tolist())
    return found


def still_in(rows: Sequence[Array]) -> list[float | None]:
    """By how much each number changes at least if it moves; None: it moves most of the time, as a robot does.

    What rests is where it was, or trembles: two steps lead no farther than one. An angle that leaps from one end of its
    range to the other has hardly moved.

    >>> still_in([np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [3.0, 8.0]])] * 9)
    [None, 4.0]
    """
    several = [row.astype(np.float64) for row in rows if len(row) > 2]
    if not several:
        return [None] * rows[0].shape[1]
    one, two = (np.abs(np.concatenate([row[by:] - row[:-by] for row in several])) for by in (1, 2))
    around, fastest = around_in(np.concatenate(several), one), np.quantile(one, FASTEST, axis=0)
    one, two = (np.where(some > around / 2, np.abs(around - some), some) for some in (one, two))
    usual = np.median(one, axis=0)
    rests = (usual <= RESTS * np.quantile(one, FASTEST, axis=0)) | (np.median(two, axis=0) <= NOISE * usual)
    return [float(STIRS * most) if rest and most > 0 else None for most, rest in zip(fastest, rests, strict=True)]


def around_in(rows: Array, steps: Array) -> Floats:
    """How far it is once around, for each column that is an angle; endless for others; steps: how much they change.

    An angle leaps from one end of its range to the other, and is in the middle of it as well; a button is not.

    >>> angle = np.linspace(0, 20, 200) % 6
    >>> button = angle.round() % 2
    >>> rows = np.stack([angle, button], axis=1)
    >>> around_in(rows, np.abs(np.diff(rows, axis=0))).round(1).tolist()
    [6.0, inf]
    """
    low, high = rows.min(axis=0), rows.max(axis=0)
    middle = np.abs(rows - (low + high) / 2) < (high - low) / 6
    angles = (steps.max(axis=0) > LEAP * (high - low)) & (middle.mean(axis=0) > AMIDST) & (high > low)
    return np.where(angles, high - low, np.inf)


def pairs_in(rows: Sequence[Array]) -> list[list[int]]:
    """Pairs of columns of recordings whose difference may matter: something's, and one that is the robot's own.

    The robot's own is what moves within most recordings; what is counted in the same unit has about the same range.

    >>> rng = np.random.default_rng(0)
    >>> pairs_in([np.stack([np.linspace(0, 9, 10), np.full(10, x)], axis=1) for x in rng.uniform(0, 9, 20)])
    [[1, 0]]
    """
    moving, low, high = _ranges(rows)
    found = [
        [one, own]
        for one in np.flatnonzero(~moving & (high > low)).tolist()
        for own in np.flatnonzero(moving).tolist()
        if min(high[one], high[own]) - max(low[one], low[own])
        >= ALIKE * min(high[one] - low[one], high[own] - low[own])
    ]
    return found if len(found) <= PAIRS else []


def grid_in(rows: Array) -> dict[str, tuple[int, ...]] | None:
    """The parts of rows of whole numbers that end in a square grid of cells, the largest that there may be.

    The columns of a grid are alike, those that tell the same of different cells: they take about the same values.
    """
    values = [frozenset(np.unique(column).tolist()) for column in rows.T]
    width = rows.shape[1]
    shapes = [(side, depth) for depth in DEPTHS for side in range(SMALLEST, width) if side * side * depth <= width]
    for side, depth in sorted(shapes, key=lambda one: -(one[0] ** 2) * one[1]):
        first = width - side * side * depth
        varying = np.array([n for n in range(first, width) if len(values[n]) > 1], dtype=np.int64)
        if len(varying) > side * depth and _told_apart(values, varying, (varying - first) % depth) >= GRIDLIKE:
            return {**({"row": (first,)} if first else {}), "grid": (side, side, depth)}
    return None


def _told_apart(values: Sequence[frozenset[float]], columns: Ints, kinds: Ints) -> float:
    """How much more alike the values of columns of one kind are than those of different kinds: 1 at most."""
    same, other = list[float](), list[float]()
    for one, two in combinations(range(len(columns)), 2):
        a, b = values[columns[one]], values[columns[two]]
        (same if kinds[one] == kinds[two] else other).append(len(a & b) / len(a | b))
    return float(np.mean(same) - np.mean(other)) if same and other else 0.0
