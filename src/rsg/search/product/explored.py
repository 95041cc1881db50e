"""The states that a search knows: each is stored once, its successors and its subgoals are asked for once."""

from typing import NamedTuple

import numpy as np

from rsg.core.arrays import Array, Ints, grown
from rsg.core.compiled import Kernel, bare, compiled, inlined, pasted, specialised
from rsg.search.goals import Goals, asked
from rsg.search.kernels.table import ANY, Table, add, larger, new_table
from rsg.worlds import World, costs_of, successors_of
from rsg.worlds.macros import Unrolled, WithMacros

BATCH = 256  # states looked ahead where the world has no compiled step, unless the goals say otherwise
FEW = 16  # the same where it has macros: each is many steps, and few are needed
FIRST_CAPACITY = 512  # states; grows fourfold when it is full


class Known(NamedTuple):
    """States as kernels want them.

    Attributes:
        pool: `[cap, ·]` distinct states in order of discovery, padded with zeros to whole words.
        table: the same memory as words, and where each state is found.
        after: `[cap, A]` the state after each action; -1 in the first column where that is not known yet.
        price: `[1, A]` what each action costs, or `[cap, A]` if that depends on the state.
        value: `[cap, K, 2]` log G and log I of the terms, NaN where not known yet.
        size: `[2]` how many states, and how many there may be: beyond that, what is new gets the number -1.
    """

    pool: Array
    table: Table
    after: Array
    price: Array
    value: Array
    size: Array


class Forms(NamedTuple):
    """How kernels find out about states and ask for goals: hooks of `kernels.search`, and the tables of each."""

    find_out: Kernel
    tables: object
    goal: Kernel
    goals: object


def step(tables: object, states: Array, i: int, action: int, out: Array, j: int) -> None:
    """Hook: the world's compiled step."""


def find_out(tables: object, known: Known, s: int) -> bool:
    """Find out where the actions in state s lead."""
    pool, (words, slots), after, _, value, size = known  # once: taking an array out of a tuple costs
    n, most = size[0], size[1]
    for a in range(after.shape[1]):
        step(tables, pool, s, a, pool, n)
        t = add(words, slots, n, most)
        if t == n:
            forget(after, value, n)
            n += 1
        after[s, a] = t
    size[0] = n
    return True


def find_out_all(tables: object, known: Known, first: int, end: int) -> None:
    """The same of all states from one number up to another."""
    for s in range(first, end):
        find_out(tables, known, s)


@inlined
def forget(after: Array, value: Array, n: int) -> None:
    """Nothing is known of state n, which is new."""
    after[n, 0] = -1
    for k in range(value.shape[1]):
        value[n, k, 0] = np.nan


@bare
def ask(tables: object, known: Known, s: int) -> bool:  # noqa: ARG001
    """In place of `find_out` where the world has no compiled step: the caller must find out."""
    return False


@bare
def unknown(goals: object, states: Array, i: int, k: int) -> tuple[float, float]:  # noqa: ARG001
    """In place of a compiled goal where values are always computed beforehand."""
    return np.nan, np.nan


@compiled
def add_rows(known: Known, rows: Array) -> Ints:
    """Take in states `[N, B / 8]` that were computed elsewhere; says which numbers they have `[N]`."""
    _, (words, slots), after, _, value, size = known
    n, most = size[0], size[1]
    found = np.empty(len(rows), dtype=np.int64)
    for i in range(len(rows)):
        for w in range(rows.shape[1]):
            words[n, w] = rows[i, w]
        found[i] = add(words, slots, n, most)
        if found[i] == n:
            forget(after, value, n)
            n += 1
    size[0] = n
    return found


class Explored:
    """What is known of a world, from one state on.

    Args:
        world: with only a batched `successors` it is asked for whole frontiers; a compiled step is used if there. One
            `WithMacros` says what actions cost in each state.
        state: `[W]` where the search starts; it gets number 0.
        goals: the classifiers, if any.
        terms: how many.

    Attributes:
        known: the arrays for kernels; new ones after `grow`, `provide`, `follow` and `add`.
        costs: `[A]` of the actions, the least that each costs.
        sights: gives for states what there is in their poses, if the world tells.
        forms: the hooks for kernels.
    """

    def __init__(self, world: World, state: Array, goals: Goals | None = None, terms: int = 0) -> None:
        if hasattr(world, "checked"):  # compiled steps believe what they are given
            state = world.checked(state[None])[0]
        self._world, self._goals = world, goals
        self._dtype, self._width = state.dtype, state.size
        self.column = state.dtype.itemsize
        self._bytes = self.column * state.size
        self._macros = world if isinstance(world, WithMacros) else None
        batch = FEW if self._macros else getattr(goals, "batch", BATCH)
        self._batch = min(batch, getattr(world, "batch", batch))
        self._compiled = hasattr(world, "compiled_step") and (goals is None or hasattr(goals, "compiled"))
        self.costs = costs_of(world)
        self.sights = None if self._macros else getattr(world, "sights", None)
        self.forms = self._forms()
        room, words = FIRST_CAPACITY, -(-self._bytes // 8)
        after = np.empty((room, len(world.actions)), dtype=np.int32)
        price = np.empty((room, len(self.costs))) if self._macros else self.costs[None]
        self._keep(new_table(room, words), after, price, np.empty((room, terms, 2)), np.array([0, ANY]))
        self.add(state[None])

    def _forms(self) -> Forms:
        if not self._compiled:
            return Forms(ask, (), unknown, ())
        step, tables = self._world.compiled_step  # type: ignore[attr-defined]
        goal, goal_tables = getattr(self._goals, "compiled", (unknown, ()))
        return Forms(specialised(find_out, pasted, step=step), tables, goal, goal_tables)

    def _keep(self, table: Table, after: Array, price: Array, value: Array, count: Ints) -> None:
        pool = table.words.view(self._dtype if self._compiled else np.uint8)
        self.known = Known(pool, table, after, price, value, count)

    @property
    def count(self) -> int:
        """How many states."""
        return int(self.known.size[0])

    @property
    def full(self) -> bool:
        """Whether there may be no room for what the next expansion finds."""
        return self.count + len(self.costs) >= len(self.known.pool)

    def grow(self) -> None:
        """Four times the room, everything else as it was."""
        old, count = self.known, self.count
        room = 4 * len(old.pool)
        price = old.price if len(old.price) == 1 else grown(old.price, room)
        self._keep(larger(old.table, count, room), grown(old.after, room), price, grown(old.value, room), old.size)

    def provide(self, wanted: int, soon: list[Ints]) -> None:
        """Ask the world for the successors of a state that the search needs, and of others that it may need next.

        Args:
            wanted: the number of the state.
            soon: numbers of states in the order of each heap, the first ones of which may be needed next.
        """
        after = self.known.after
        next_ones = np.concatenate([states[: self._batch] for states in soon])
        oldest = np.flatnonzero(after[: self.count, 0] < 0)[: self._batch]
        self._ask(np.unique(np.concatenate([[wanted], oldest, next_ones[after[next_ones, 0] < 0]])))

    def _ask(self, numbers: Ints) -> None:
        """Ask the world for the successors of some states."""
        rows = self.rows(numbers)
        priced = self._macros.priced(rows) if self._macros else None
        found = self.add((successors_of(self._world, rows) if priced is None else priced[0]).reshape(-1, self._width))
        if priced is not None:
            self.known.price[numbers] = priced[1]
        self.known.after[numbers] = found.reshape(len(numbers), len(self.costs))

    def follow(self, first: int, most: int) -> None:
        """Find out where the actions in all states lead, from the number `first` on; in all `most` states at most."""
        end, self.known.size[1] = self.count, most
        if self._compiled:
            self._make_room((end - first) * len(self.costs))
            specialised(find_out_all, find_out=self.forms.find_out)(self.forms.tables, self.known, first, end)
        else:
            self._ask(np.arange(first, end))

    def _make_room(self, more: int) -> None:
        while min(self.count + more, self.known.size[1]) >= len(self.known.pool):
            self.grow()

    def add(self, states: Array) -> Ints:
        """Take in states `[N, W]`; says which numbers they have."""
        rows = np.zeros((len(states), self.known.table.words.shape[1]), dtype=np.uint64)
        rows.view(np.uint8)[:, : self._bytes] = np.ascontiguousarray(states, dtype=self._dtype).view(np.uint8)
        return self.take(rows)

    def take(self, rows: Array) -> Ints:
        """The same of states as words `[N, B / 8]`."""
        count = self.count
        self._make_room(len(rows))
        found = add_rows(self.known, rows)
        if not self._compiled and self._goals is not None and self.count > count:
            new = self.rows(np.arange(count, self.count))
            self.known.value[count : self.count] = values_of(self._goals, new, self.known.value.shape[1])
        return found

    def price(self, state: int, action: int) -> float:
        """What an action costs in the state with that number."""
        price = self.known.price
        return float(price[state if len(price) > 1 else 0, action])

    def unroll(self, actions: Ints, states: Array) -> Unrolled:
        """A way in single actions of the world, whatever was searched by."""
        if self._macros:
            return self._macros.unroll(actions, states)
        return Unrolled(actions, states, np.ones(len(actions), dtype=np.int64))

    def values(self, states: Array) -> Array:
        """log G and log I of any states, `[N, terms, 2]`."""
        assert self._goals is not None
        return values_of(self._goals, states, self.known.value.shape[1])

    def rows(self, numbers: Ints) -> Array:
        """States by their numbers, as the world knows them."""
        rows = np.ascontiguousarray(self.known.table.words[numbers].view(np.uint8)[:, : self._bytes])
        return rows.view(self._dtype).reshape(len(numbers), self._width)


def values_of(goals: Goals, states: Array, terms: int) -> Array:
    """log G and log I of states, as `[N, terms, 2]`."""
    return np.stack(asked(goals, states, terms), axis=-1)
