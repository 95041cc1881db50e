"""What is known of subgoals that help one another: data for planners; `rsg.subgoals.discover` finds it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from rsg.core.arrays import Bools, Floats, Ints
from rsg.core.compiled import compiled
from rsg.core.errors import RsgError


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
    def rules(self) -> Rules:
        """The prerequisites as arrays."""
        return Rules.of(self.prerequisites)

    def number(self, term: str) -> int:
        """The place of a term."""
        if term not in self.terms:
            raise RsgError(f"nothing is known of the term '{term}'; known are: {', '.join(self.terms)}")
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
        return {
            "terms": list(self.terms),
            **{name: getattr(self, name).tolist() for name in ("before", "together", "achieved", "held")},
            "prerequisites": [[list(one) for one in alternatives] for alternatives in self.prerequisites],
            "thresholds": self.thresholds.tolist(),
            "covered": self.covered.tolist(),
            "demonstrations": self.demonstrations,
        }

    @staticmethod
    def restored(plain: Mapping[str, Any]) -> Dependencies:
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


@dataclass(frozen=True, eq=False)
class Rules:
    """Prerequisites as kernels want them.

    Attributes:
        choices: `[T + 1]` where the alternatives of each term begin.
        starts: `[C + 1]` where the terms of each alternative begin; needs: `[·]` these terms.
    """

    choices: Ints
    starts: Ints
    needs: Ints

    @staticmethod
    def of(prerequisites: Sequence[Sequence[Sequence[int]]]) -> Rules:
        """From alternatives of sets of terms."""
        every = [one for alternatives in prerequisites for one in alternatives]
        choices = np.cumsum([0, *(len(alternatives) for alternatives in prerequisites)])
        starts = np.cumsum([0, *(len(one) for one in every)])
        needs = np.array([term for one in every for term in one], dtype=np.int64)
        return Rules(choices.astype(np.int64), starts.astype(np.int64), needs)

    def still_needed(self, holds: Bools, goal: int) -> Bools:
        """Which terms must still come true, the goal among them, where `holds` `[N, T]` do: `[N, T]`.

        As if nothing that holds were used up. All false if no way is known.
        """
        out = np.zeros(holds.shape, dtype=np.bool_)
        _still_needed(self.choices, self.starts, self.needs, np.ascontiguousarray(holds), goal, out)
        return out

    def ready(self, holds: Bools, goal: int) -> Bools:
        """Where one of the goal's alternatives holds, `[N]`."""
        found = np.zeros(len(holds), dtype=np.bool_)
        for choice in range(self.choices[goal], self.choices[goal + 1]):
            found |= holds[:, self.needs[self.starts[choice] : self.starts[choice + 1]]].all(axis=1)
        return found

    def fulfilled(self, holds: Bools, term: int) -> list[int]:
        """The terms of the first of a term's alternatives that holds, where `holds` `[T]` do; none if none holds."""
        for choice in range(self.choices[term], self.choices[term + 1]):
            needs: list[int] = self.needs[self.starts[choice] : self.starts[choice + 1]].tolist()
            if holds[needs].all():
                return needs
        return []

    def direct(self, goal: int) -> Bools:
        """The terms in the goal's own alternatives, `[T]`."""
        found = np.zeros(len(self.choices) - 1, dtype=np.bool_)
        found[self.needs[self.starts[self.choices[goal]] : self.starts[self.choices[goal + 1]]]] = True
        return found

    def helpful(self, goal: int) -> Bools:
        """All terms that may be of use for a goal, itself among them, `[T]`."""
        found = np.zeros(len(self.choices) - 1, dtype=np.bool_)
        open_terms = [goal]
        while open_terms:
            term = open_terms.pop()
            if not found[term]:
                found[term] = True
                open_terms += np.flatnonzero(self.direct(term)).tolist()
        return found


@compiled
def _still_needed(choices: Any, starts: Any, needs: Any, holds: Any, goal: int, out: Any) -> None:
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
            for o in range(terms):
                for choice in range(choices[o] if size[o] > 0 else choices[o + 1], choices[o + 1]):
                    known = True
                    for p in range(terms):
                        union[p] = p == o
                    for at in range(starts[choice], starts[choice + 1]):
                        known = known and size[needs[at]] <= terms and not need[needs[at], o]
                        for p in range(terms):
                            union[p] = union[p] or need[needs[at], p]
                    total = union.sum()
                    if known and total < size[o]:
                        size[o] = total
                        better = True
                        for p in range(terms):
                            need[o, p] = union[p]
        for p in range(terms):
            out[n, p] = need[goal, p]
