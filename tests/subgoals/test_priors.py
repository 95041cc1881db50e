from math import comb, exp, log

import numpy as np
import pytest

from rsg.core.random import stream
from rsg.subgoals.formulas import Formula, Literal
from rsg.subgoals.priors import DOUBTS, HABITS, Occasions, Prices, by_doubt, expected_doubt, mentioned

SIZES = {("held", True): 3, ("held", False): 3, ("lies", False): 2}
AXE, KEY = Literal("held(axe)"), Literal("held(key)")


def test_what_other_terms_are_about_takes_fewer_words():
    prices = Prices.learned([Formula.of(AXE), Formula.of(KEY), Formula.of(AXE, KEY)], SIZES)
    assert prices.kind["held", True] < prices.kind["held", False]
    assert prices.joint[True] < prices.joint[False]  # one was joined by and, none by or
    longer = Formula.of(AXE, Literal("lies(axe)", holds=False))
    assert prices.of(longer) >= prices.of(Formula.of(AXE)) + prices.least
    alone = Prices.learned([Formula.of(AXE)] * 20, SIZES)
    assert alone.joint[True] > prices.joint[True]  # where all say one thing, saying two takes more


def test_prices_are_those_of_a_code():
    """The probabilities of all formulas of at most two literals, and of all that go on from there, add up to 1."""
    prices = Prices.learned([Formula.of(AXE), Formula.of(AXE, KEY)], SIZES)
    kinds = sum(size * exp(-prices.kind[kind]) for kind, size in SIZES.items())
    joints = sum(exp(-price) for price in prices.joint.values())
    assert kinds == pytest.approx(1)
    assert joints + exp(-prices.end) == pytest.approx(1)


def test_habits_are_those_of_other_terms():
    often, seldom = [Occasions(8, 0)] * 6, [Occasions(4, 6)] * 6
    asked = [Occasions(5, 0), Occasions(5, 6)]
    strict, lax = (np.diff(mentioned(asked, others))[0] for others in (often, seldom))
    assert strict < lax < 0


def test_mentioning_by_counting_all_ways():
    """For whole numbers: of all ways to mention some of so many occasions, the probabilities add up to 1."""
    others = [Occasions(3, 2), Occasions(5, 0)]
    every = mentioned([Occasions(told, 6 - told) for told in range(7)], others)
    assert sum(comb(6, told) * exp(every[told]) for told in range(7)) == pytest.approx(1)
    first = mentioned([Occasions(1, 0)], [])[0]
    assert first == pytest.approx(log(np.mean([a / (a + b) for a, b in HABITS])))


def test_doubt_is_what_the_others_show():
    good, bad, otherwise = np.full(50, -1.0), -100.0, np.full(50, -8.0)
    assert expected_doubt(by_doubt(good, otherwise).sum(axis=-1)) < 1 / 50**2
    some = good.copy()
    some[:10] = bad
    assert expected_doubt(by_doubt(some, otherwise).sum(axis=-1)) == pytest.approx(0.2, abs=0.03)


def test_scores_by_doubt_one_by_one():
    rng = stream(0, "doubt")
    scores, otherwise = rng.normal(-5, 3, (2, 4)), rng.normal(-9, 3, 4)
    found = by_doubt(scores, otherwise)
    for a in range(2):
        for q, share in enumerate(DOUBTS):
            for d in range(4):
                value = log((1 - share) * exp(scores[a, d]) + share * exp(otherwise[d]))
                assert found[a, q, d] == pytest.approx(value)
