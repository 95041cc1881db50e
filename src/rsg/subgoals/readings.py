"""Readings: what terms mean, as formulas over facts, with what the data leave open; and planning with them."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import torch

from rsg.core.arrays import Array, Bools, Floats
from rsg.search import Goals
from rsg.search.goals import every
from rsg.subgoals.classifiers import Classifiers, Part, log_sigmoid
from rsg.subgoals.formulas import Formula, Literal, compiled_goals, program, where
from rsg.worlds import EitherWorld
from rsg.worlds.facts import Facts, facts_of

OPEN = 0.1  # a formula that is as likely as this may be meant
CARE = (0.01, 0.001, 0.0001)  # less likely ones are seen to as well, as long as there is a way


@dataclass(frozen=True)
class Reading:
    """What a term means."""

    formulas: tuple[tuple[Formula, float], ...]  # what it may mean and how likely that is, the likeliest first
    seen: int  # how many demonstrations mention it
    explained: int  # how many of their descriptions seem right
    read: bool = True  # whether that explains what was shown
    # facts that held whenever it came true, which is more than chance, and of which it says nothing
    always: tuple[str, ...] = ()

    @property
    def formula(self) -> Formula:
        """The likeliest."""
        return self.formulas[0][0]

    @property
    def sure(self) -> float:
        """How likely that is."""
        return self.formulas[0][1]

    @property
    def open(self) -> tuple[Formula, ...]:
        """What else it may mean."""
        return tuple(one for one, share in self.formulas[1:] if share >= OPEN and one.literals)

    def meant(self, least: float = OPEN) -> list[tuple[Formula, float]]:
        """What planners reckon with: the likeliest and what else is as likely as that, with shares of all these."""
        others = ((one, share) for one, share in self.formulas[1:] if share >= least and one.literals)
        some = [self.formulas[0], *others]
        total = sum(share for _, share in some)
        return [(one, share / total) for one, share in some]

    def plain(self) -> dict[str, Any]:
        """As JSON."""
        formulas = [
            {"literals": [list(one) for one in formula.literals], "share": share} for formula, share in self.formulas
        ]
        counted = {"seen": self.seen, "explained": self.explained, "read": self.read}
        return {"formulas": formulas, **counted, "always": list(self.always)}

    @classmethod
    def restored(cls, plain: Mapping[str, Any]) -> "Reading":
        """From JSON."""
        formulas = [
            (Formula(tuple(Literal(str(f), bool(h), bool(a)) for f, h, a in one["literals"])), float(one["share"]))
            for one in plain["formulas"]
        ]
        seen, explained = int(plain["seen"]), int(plain["explained"])
        return cls(tuple(formulas), seen, explained, bool(plain["read"]), tuple(map(str, plain["always"])))


class Readings(Classifiers):
    """Terms as formulas over facts; those that no formula explains have a network.

    certainty: log-odds of what a formula says.
    """

    def __init__(self, readings: Mapping[str, Reading], certainty: float, network: Classifiers | None = None) -> None:
        super().__init__(single=True)
        self.readings, self.certainty, self.network = dict(readings), certainty, network
        self.terms = (*readings, *(network.terms if network else ()))
        said = json.dumps({term: reading.plain() for term, reading in readings.items()})
        seal = torch.frombuffer(bytearray(hashlib.sha256(said.encode()).digest()), dtype=torch.uint8)
        self.register_buffer("seal", seal)  # so that what is saved differs if readings do

    def grow(self, terms: Sequence[str], seed: int = 0) -> Self:
        """Learn of new terms: the network does."""
        new = [term for term in dict.fromkeys(terms) if term not in self.terms]
        if new and self.network is not None:
            self.network.grow(new, seed)
            self.terms = (*self.readings, *self.network.terms)
        return self

    def evaluate(self, world: EitherWorld, states: Array, numbers: Sequence[int]) -> Floats:
        """Log-odds `[N, terms, 2]`: of open readings the likelier counts more."""
        terms, odds = [self.terms[number] for number in numbers], np.zeros((len(states), len(numbers)))
        read = [k for k, term in enumerate(terms) if term in self.readings]
        meant = [self.readings[terms[k]].meant() for k in read]
        for k, some, holds in zip(read, meant, where_meant(asked_by(world, meant), states, meant), strict=True):
            share = np.clip(np.array([share for _, share in some]) @ holds, 0.0, 1.0)
            odds[:, k] = np.clip(log_odds(share), -self.certainty, self.certainty)
        if rest := [k for k, term in enumerate(terms) if term not in self.readings]:
            odds[:, rest] = self._network_odds(world, states, [terms[k] for k in rest])
        return np.stack([odds, -odds], axis=-1)

    def _network_odds(self, world: EitherWorld, states: Array, terms: Sequence[str]) -> Floats:
        assert self.network is not None
        found: Floats = self.network.evaluate(world, states, self.network.numbers(terms))[..., 0]
        return found

    def backward(self, world: EitherWorld, parts: Sequence[Part]) -> None:
        """Formulas have no parameters; the gradients of all other terms are the network's."""
        for states, numbers, gradient in parts:
            rest = [k for k, number in enumerate(numbers) if self.terms[number] not in self.readings]
            names = [self.terms[numbers[k]] for k in rest]
            if rest and self.network is not None:
                self.network.backward(world, [(states, self.network.numbers(names), gradient[:, rest])])

    def groups(self) -> list[torch.Tensor]:
        """Those of the network."""
        return self.network.groups() if self.network else []

    def looks_at(self, term: str, world: EitherWorld | None) -> list[tuple[str, float]]:
        """What the network looks at; a formula says itself what it asks for."""
        return self.network.looks_at(term, world) if self.network and term not in self.readings else []

    def goals(self, world: EitherWorld, terms: Sequence[str], state: Array) -> Goals:
        """What planners ask: a term is true where all that it may mean holds, and not yet true where nothing does.

        If anything is open, the goals have an attribute `bold`: by the likeliest readings alone; that has one too, by
        the next, as long as there are others. If something less likely may be meant as well, they have an attribute
        `careful`: by that too; it has one again for what is less likely still.
        """
        self.numbers(terms)
        meant, more = self._meant(terms, OPEN), [self._meant(terms, least) for least in CARE]
        facts = asked_by(world, [some for some in more[-1].values() if some is not None], np.asarray(state))
        first = last = ReadGoals(self, world, meant, facts)
        several = max((len(some) for some in meant.values() if some), default=1)
        for turn in range(several if several > 1 else 0):
            alone = {term: some and [(some[min(turn, len(some) - 1)][0], 1.0)] for term, some in meant.items()}
            last.bold = ReadGoals(self, world, alone, facts)
            last = last.bold
        last = first
        for each in more:
            if each != last.meant:
                last.careful = ReadGoals(self, world, each, facts)
                last = last.careful
        return first

    def _meant(self, terms: Sequence[str], least: float) -> dict[str, list[tuple[Formula, float]] | None]:
        """What terms may mean that is as likely as that; None for those that a network knows."""
        return {term: self.readings[term].meant(least) if term in self.readings else None for term in terms}

    goals_with_i = goals


Meant = Sequence[tuple[Formula, float]]
"""What a term may mean, with shares."""


def asked_by(world: EitherWorld, meant: Sequence[Meant], state: Array | None = None) -> Facts:
    """The facts that formulas ask for; state: see `facts_of`."""
    return facts_of(world, tuple(dict.fromkeys(name for some in meant for one, _ in some for name in one.facts)), state)


def where_meant(facts: Facts, states: Array, meant: Sequence[Meant]) -> list[Bools]:
    """Where what terms may mean holds, `[formulas, N]` for each term."""
    holds, place = facts.ask(states), {name: number for number, name in enumerate(facts.names)}
    return [where([one for one, _ in some], holds, place) for some in meant]


def log_odds(share: Floats) -> Floats:
    """The log-odds of a probability."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(share) - np.log1p(-share))


class ReadGoals:
    """Readings of some terms in one world, or None for terms that a network knows."""

    bold: "ReadGoals"
    careful: "ReadGoals"

    def __init__(self, subgoals: Readings, world: EitherWorld, meant: Mapping[str, Meant | None], facts: Facts) -> None:
        self._subgoals, self._world, self.meant, self._facts = subgoals, world, meant, facts
        formulas = [some for some in meant.values() if some is not None]
        form = compiled_goals(facts, program(facts, formulas, subgoals.certainty))
        if form and len(formulas) == len(meant):
            self.compiled = form

    def __call__(self, states: Array) -> tuple[Floats, Floats]:
        """log G and log I, each `[N, terms]`."""
        if hasattr(self, "compiled"):
            return every(self.compiled, states, len(self.meant))
        log_g, log_i = np.empty((2, len(states), len(self.meant)))
        true = -np.log1p(np.exp(-self._subgoals.certainty))
        false = true - self._subgoals.certainty
        known = {k: some for k, some in enumerate(self.meant.values()) if some is not None}
        for (k, some), holds in zip(known.items(), where_meant(self._facts, states, [*known.values()]), strict=True):
            share = np.clip(np.array([share for _, share in some]) @ holds, 0.0, 1.0)
            all_of_them, none = holds.all(axis=0), ~holds.any(axis=0)
            with np.errstate(divide="ignore"):
                log_g[:, k] = np.where(all_of_them, true, np.where(none, false, np.log(share / 2)))
                log_i[:, k] = np.where(all_of_them, false, np.where(none, true, np.log((1 - share) / 2)))
        for k, term in enumerate(self.meant):
            if k not in known:
                odds = self._subgoals.evaluate(self._world, states, self._subgoals.numbers([term]))[:, 0, 0]
                log_g[:, k], log_i[:, k] = log_sigmoid(odds), log_sigmoid(-odds)
        return log_g, log_i
