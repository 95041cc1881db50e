"""What is likely before it is asked what a formula explains: as it is with the formulas of the other terms.

How long formulas are and which facts they are about, how often people mention what they do, how many descriptions are
wrong.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from math import lgamma, log
from typing import NamedTuple

import numpy as np

from rsg.core.arrays import Floats
from rsg.subgoals.formulas import Formula
from rsg.worlds.facts import family

HABITS = [(share * often, (1 - share) * often) for share in np.arange(0.05, 1.0, 0.1) for often in 2.0 ** np.arange(7)]
"""Of what people do, the share that they mention: Beta distributions, each as likely as the others."""

DOUBTS = np.array([0.0, *(np.arange(200) + 0.5) / 200])
"""The share of descriptions that are wrong: that none is, is as likely as all others together."""

DOUBTS_PRIOR = -np.log(2 * np.array([1.0, *[len(DOUBTS) - 1.0] * (len(DOUBTS) - 1)]))

Kind = tuple[str, bool]
"""Of literals: the family of the fact, and whether it shall hold."""


def kinds(formula: Formula) -> list[Kind]:
    """Those of its literals."""
    return [(family(one.fact), one.holds) for one in formula.literals]


class Prices(NamedTuple):
    """What it takes to describe a literal of each kind, to join one more to others (and, or), and to end, in nats."""

    kind: Mapping[Kind, float]
    joint: Mapping[bool, float]
    end: float

    @classmethod
    def learned(cls, others: Sequence[Formula], sizes: Mapping[Kind, int]) -> "Prices":
        """By Laplace's rule: less for what is common in others; sizes: how many literals there are of each kind."""
        seen = Counter(kind for one in others for kind in kinds(one))
        joints = Counter(literal.also for one in others for literal in one.literals[1:])
        every, more = seen.total(), joints.total()
        return cls(
            {kind: log((every + len(sizes)) / (seen[kind] + 1)) + log(size) for kind, size in sizes.items()},
            {also: log((every + 2) / (more + 1)) + log((more + 2) / (joints[also] + 1)) for also in (True, False)},
            log((every + 2) / (every - more + 1)),
        )

    @property
    def least(self) -> float:
        """Of one literal more."""
        return min(self.kind.values()) + min(self.joint.values())

    def of(self, formula: Formula) -> float:
        """Of a formula."""
        joints = sum(self.joint[one.also] for one in formula.literals[1:])
        return self.end + joints + sum(self.kind[kind] for kind in kinds(formula))


class Occasions(NamedTuple):
    """In how many descriptions a term is mentioned; in how many others its formula comes true without that."""

    told: float
    silent: float


def mentioned(asked: Sequence[Occasions], others: Sequence[Occasions]) -> Floats:
    """The logarithm of how likely it is that people mention what they do on these occasions, as they do with others."""
    habit = np.sum([_by_habit(one) for one in others], axis=0) if others else np.zeros(len(HABITS))
    habit -= np.logaddexp.reduce(habit)
    known = {one: float(np.logaddexp.reduce(habit + _by_habit(one))) for one in set(asked)}
    return np.array([known[one] for one in asked])


@cache
def _by_habit(counts: Occasions) -> Floats:
    """The same by each habit."""
    told, silent = counts
    return np.array([_log_beta(a + told, b + silent) - _log_beta(a, b) for a, b in HABITS])


def _log_beta(a: float, b: float) -> float:
    return lgamma(a) + lgamma(b) - lgamma(a + b)


def by_doubt(scores: Floats, otherwise: Floats) -> Floats:
    """The scores `[..., D]` of demonstrations for each share of wrong descriptions, `[..., DOUBTS, D]`.

    otherwise: `[D]` their scores if descriptions are wrong.
    """
    with np.errstate(divide="ignore"):
        right = np.log1p(-DOUBTS)[:, None] + scores[..., None, :]
        return np.asarray(np.logaddexp(right, np.log(DOUBTS)[:, None] + otherwise))


def expected_doubt(explained: Floats) -> float:
    """The share of wrong descriptions to be expected, given how well each of `DOUBTS` explains what was shown."""
    weights = explained + DOUBTS_PRIOR
    return float(np.exp(weights - np.logaddexp.reduce(weights)) @ DOUBTS)
