"""Small formulas over facts: what a term may mean, said exactly."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from rsg.core.arrays import Array, Bools, Floats, Ints
from rsg.core.compiled import specialised
from rsg.worlds.facts import Facts, say


class Literal(NamedTuple):
    """A fact that holds, or does not; `also`: besides what comes before it, otherwise instead of it."""

    fact: str
    holds: bool = True
    also: bool = True


@dataclass(frozen=True)
class Formula:
    """Literals read from left to right: `a`, `a and b`, `(a and b) or c`; none: it never holds.

    >>> Formula.of(Literal("held(axe)"), Literal("on(lamp)", holds=False))
    Formula: held(axe) and not on(lamp)
    """

    literals: tuple[Literal, ...] = ()

    @classmethod
    def of(cls, *literals: Literal) -> "Formula":
        """The formula of some literals; the same ones in another order are the same formula if that changes nothing."""
        first, *rest = (Literal(*one) for one in literals)
        if len({one.also for one in rest}) == 1:
            same = sorted((one.fact, one.holds) for one in literals)
            return cls(tuple(Literal(*one, rest[0].also if i else True) for i, one in enumerate(same)))
        return cls((first._replace(also=True), *rest))

    def __repr__(self) -> str:
        return f"Formula: {self}"

    def __str__(self) -> str:
        return self.said({})

    def said(self, phrases: Mapping[str, tuple[str, str]]) -> str:
        """The formula in words."""
        text = ""
        for number, (fact, holds, also) in enumerate(self.literals):
            if number > 1 and self.literals[number - 1].also != also:
                text = f"({text})"
            text += (" and " if also else " or ") * (number > 0) + say(phrases, fact, holds)
        return text or "never"

    @property
    def facts(self) -> tuple[str, ...]:
        """The facts that it asks for."""
        return tuple(dict.fromkeys(one.fact for one in self.literals))

    def grown(self, literals: Sequence[Literal]) -> Iterator["Formula"]:
        """The formulas that say one thing more."""
        for fact, holds, _ in literals:
            if fact not in self.facts:
                yield Formula.of(*self.literals, Literal(fact, holds, True))
                yield Formula.of(*self.literals, Literal(fact, holds, False))


def where(formulas: Sequence[Formula], holds: Bools, place: Mapping[str, int]) -> Bools:
    """Where formulas hold, `[formulas, N]`, given which facts hold `[N, F]` and the column of each."""
    value = np.zeros((len(formulas), len(holds)), dtype=np.bool_)
    for number in range(max((len(one.literals) for one in formulas), default=0)):
        rows = [row for row, one in enumerate(formulas) if len(one.literals) > number]
        literals = [formulas[row].literals[number] for row in rows]
        one = holds.T[[place[literal.fact] for literal in literals]]
        one ^= ~np.array([[literal.holds] for literal in literals])
        also = np.array([[literal.also] for literal in literals])
        value[rows] = one if number == 0 else np.where(also, value[rows] & one, value[rows] | one)
    return value


class Program(NamedTuple):
    """Formulas of several terms for a kernel."""

    facts: object  # the tables of the world's facts
    literals: Ints  # `[L, 3]` the number of a fact, whether it shall hold, whether it is needed also
    formulas: Ints  # `[R + 1]` where the literals of each formula begin
    terms: Ints  # `[T + 1]` where the formulas of each term begin, the likeliest first
    shares: Floats  # `[R]` how likely each is
    odds: float  # log-odds of what is sure


def program(facts: Facts, readings: Sequence[Sequence[tuple[Formula, float]]], odds: float) -> Program:
    """The formulas of each term, with their shares, as tables."""
    formulas = [formula for some in readings for formula, _ in some]
    place = {name: int(number) for name, number in zip(facts.names, facts.numbers, strict=True)}
    literals = [(place[one.fact], one.holds, one.also) for formula in formulas for one in formula.literals]
    return Program(
        facts.compiled[1] if facts.compiled else None,
        np.array(literals, dtype=np.int64).reshape(-1, 3),
        np.cumsum([0, *(len(formula.literals) for formula in formulas)]),
        np.cumsum([0, *map(len, readings)]),
        np.array([share for some in readings for _, share in some], dtype=np.float64),
        odds,
    )


def fact(tables: object, states: Array, i: int, number: int) -> bool:  # noqa: ARG001
    """Hook: whether a fact holds in state i."""
    return False


def goal(tables: Program, states: Array, i: int, k: int) -> tuple[float, float]:
    """log G and log I of term k in state i; what only some of its formulas say is neither true nor not yet true."""
    some, all_of_them = 0.0, 1.0
    for r in range(tables.terms[k], tables.terms[k + 1]):
        value = False
        begin, end = tables.formulas[r], tables.formulas[r + 1]
        for n in range(begin, end):
            number = tables.literals[n, 0]
            one = (number >= 0 and fact(tables.facts, states, i, number)) == (tables.literals[n, 1] == 1)
            value = one if n == begin else (value and one) if tables.literals[n, 2] == 1 else (value or one)
        if value:
            some += tables.shares[r]
        else:
            all_of_them = 0.0
    sure = -np.log1p(np.exp(-tables.odds))
    if all_of_them > 0.0:
        return sure, sure - tables.odds
    if some == 0.0:
        return sure - tables.odds, sure
    return np.log(some / 2), np.log((1 - some) / 2)


def compiled_goals(facts: Facts, tables: Program) -> tuple[Any, Program] | None:
    """The kernel and its tables for the product search, see `rsg.search.Goals`; None if facts are not compiled."""
    return (specialised(goal, fact=facts.compiled[0]), tables) if facts.compiled else None
