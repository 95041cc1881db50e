"""What is known of subgoals that help one another: data for planners; `rsg.subgoals.discover` finds it."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from rsg.core.arrays import Bools, Floats, Ints
from rsg.core.compiled import compiled
from rsg.core.errors import RsgError, meant


@dataclass(frozen=True, eq=False)
class Dependencies:
    """Which subgoals help which, as demonstrations show it.

    Attributes:
        terms: the terms, in the order of all rows and columns.
        before: `[T, T]` bcount(o1, o2): the demonstrations in which o2 was achieved before o1.
        together: `[T, T]` the demonstrations in which both were achieved.
        achieved: `[T]` how often each came true; held: `[T, T]` how often o2 held in the state before o1 came true.
        prerequisites: for each term alternatives, each a set of terms: nearly always one of them held just before it
            came true. `((),)`: it needs nothing that has a name.
        thresholds: `[T]` the probability from which on a classifier was taken for true.
        covered: `[T]` how often one of the alternatives held; demonstrations: how many were looked at.

    >>> import rsg
    >>> from rsg.worlds.corridor import Corridor
    >>> shown = [rsg.Demonstration(*walk) for walk in Corridor().walks()]
    >>> known = rsg.learn(shown, Corridor()).dependencies
    >>> [[known.terms[term] for term in way] for way in known.prerequisites[known.number("read-book")]]
    [['light-lamp']]
    """

    terms: tuple[str, ...]
    before: Ints
    together: Ints
    achieved: Ints
    held: Ints
    prerequisites: tuple[tuple[tuple[int, ...], ...], ...]
    thresholds: Floats
    covered: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    demonstrations: int = 0

    @cached_property
    def matrix(self) -> Floats:
        """d(o1, o2) (paper, eq. 6): each row of `before` as shares; zero where nothing ever came before."""
        return np.asarray(self.before / np.maximum(self.before.sum(axis=1, keepdims=True), 1))

    @cached_property
    def conditional(self) -> Floats:
        """`[T, T]` the share of the demonstrations that show both o1 and o2 in which o2 came first."""
        return np.asarray(self.before / np.maximum(self.together, 1))

    @cached_property
    def rules(self) -> "Rules":
        """The prerequisites as arrays."""
        return Rules.of(self.prerequisites)

    def number(self, term: str) -> int:
        """The place of a term."""
        if term not in self.terms:
            several = "that is a task: give it to plan" if " " in term.strip() else meant(term, self.terms)
            raise RsgError(f"nothing is known of the term '{term}'; {several}")
        return self.terms.index(term)

    def links(self) -> list[dict[str, Any]]:
        """All that ever came before something else, the strongest first, as plain JSON."""
        rows, columns = np.nonzero(self.before)
        order = np.lexsort((-self.conditional[rows, columns], -self.before[rows, columns], -self.matrix[rows, columns]))
        return [
            {
                "first": self.terms[column],
                "then": self.terms[row],
                "before": int(self.before[row, column]),
                "together": int(self.together[row, column]),
                "d": round(float(self.matrix[row, column]), 6),
                "conditional": round(float(self.conditional[row, column]), 6),
            }
            for row, column in zip(rows[order], columns[order], strict=True)
        ]

    def plain(self) -> dict[str, Any]:
        """All of it as JSON."""
        values = {one.name: getattr(self, one.name) for one in fields(self)}
        return dict(json.loads(json.dumps(values, default=np.ndarray.tolist)))

    @staticmethod
    def restored(plain: Mapping[str, Any]) -> "Dependencies":
        """From what `plain` gave."""
        try:
            size = len(plain["terms"])
            square = (size, size)
            shapes = {"before": square, "together": square, "achieved": (size,), "held": square}
            counts = {name: np.array(plain[name], dtype=np.int64).reshape(shape) for name, shape in shapes.items()}
            needs = tuple(tuple(tuple(map(int, one)) for one in several) for several in plain["prerequisites"])
            thresholds = np.array(plain["thresholds"], dtype=np.float64).reshape(size)
            if (
                len(plain["covered"]) not in (0, size)
                or len(needs) != size
                or any(not 0 <= j < size for several in needs for one in several for j in one)
            ):
                raise ValueError("prerequisites")
            terms = tuple(map(str, plain["terms"]))
            covered, looked_at = np.array(plain["covered"], dtype=np.int64), int(plain["demonstrations"])
            return Dependencies(
                terms, **counts, prerequisites=needs, thresholds=thresholds, covered=covered, demonstrations=looked_at
            )
        except (KeyError, TypeError, ValueError, OverflowError):
            raise RsgError("these are not dependencies as rsg writes them") from None


class Rules(NamedTuple):
    """Prerequisites as kernels want them: the alternatives of all terms."""

    owner: Ints  # `[C]` the term whose alternative each is
    needs: Bools  # `[C, T]` the terms in it

    @staticmethod
    def of(prerequisites: Sequence[Sequence[Sequence[int]]]) -> "Rules":
        """From alternatives of sets of terms."""
        every = [(term, one) for term, alternatives in enumerate(prerequisites) for one in alternatives]
        needs = np.zeros((len(every), len(prerequisites)), dtype=np.bool_)
        for row, (_, one) in zip(needs, every, strict=True):
            row[list(one)] = True
        return Rules(np.array([term for term, _ in every], dtype=np.int64), needs)

    def still_needed(self, holds: Bools, goal: int) -> Bools:
        """Which terms must still come true, the goal among them, where `holds` `[N, T]` do: `[N, T]`.

        As if nothing that holds were used up. All false if no way is known.
        """
        out = np.zeros(holds.shape, dtype=np.bool_)
        _still_needed(self, np.ascontiguousarray(holds), goal, out)
        return out

    def alternatives(self, term: int) -> Bools:
        """The sets of terms one of which a term needs, `[·, T]`."""
        return self.needs[np.flatnonzero(self.owner == term)]

    def ready(self, holds: Bools, goal: int) -> Bools:
        """Where one of the goal's alternatives holds, `[N]`."""
        met = np.asarray((holds[:, None] | ~self.alternatives(goal)).all(axis=2))
        return np.asarray(met.any(axis=1))

    def fulfilled(self, holds: Bools, term: int) -> list[int]:
        """The terms of the first of a term's alternatives that holds, where `holds` `[T]` do; none if none holds."""
        for needs in self.alternatives(term):
            if holds[needs].all():
                return np.flatnonzero(needs).tolist()
        return []

    def helpful(self, goal: int) -> Bools:
        """All terms that may be of use for a goal, itself among them, `[T]`."""
        found: Bools = np.arange(self.needs.shape[1]) == goal
        for _ in range(len(found)):  # no way from need to need is longer
            found |= self.needs[found[self.owner]].any(axis=0)
        return found


@compiled
def _still_needed(rules: Rules, holds: Bools, goal: int, out: Bools) -> None:
    """For each row: what each term still needs, the fewest terms, by sweeps until nothing gets better."""
    terms = holds.shape[1]
    need = np.empty((terms, terms), dtype=np.bool_)
    union = np.empty(terms, dtype=np.bool_)
    size = np.empty(terms, dtype=np.int64)
    for n in range(len(holds)):
        for o in range(terms):
            size[o] = 0 if holds[n, o] and o != goal else terms + 1
            for p in range(terms):
                need[o, p] = False
        better = True
        while better:
            better = False
            for choice in range(len(rules.owner)):
                o = rules.owner[choice]
                known = size[o] > 0
                for p in range(terms):
                    union[p] = p == o
                for q in range(terms):
                    if rules.needs[choice, q]:
                        known = known and size[q] <= terms and not need[q, o]
                        for p in range(terms):
                            union[p] = union[p] or need[q, p]
                total = union.sum()
                if known and total < size[o]:
                    size[o] = total
                    better = True
                    for p in range(terms):
                        need[o, p] = union[p]
        for p in range(terms):
            out[n, p] = need[goal, p]
