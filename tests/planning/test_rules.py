"""What a goal still needs, against a plain twin."""

import numba
import numpy as np
import pytest
from tests.reference import goal_only as reference

from rsg.core.random import stream
from rsg.domains.crafting import STANDARD, VOCABULARY
from rsg.planning import Rules

SLOW = bool(numba.config.DISABLE_JIT)


def random_prerequisites(rng, terms, most=3):
    """For each term alternatives, none of which has the term itself in it."""
    return tuple(
        tuple(
            tuple(sorted(rng.choice([t for t in range(terms) if t != own], size, replace=False).tolist()))
            for size in rng.integers(0 if rng.random() < 0.4 else 1, 3, size=rng.integers(1, most + 1))
        )
        for own in range(terms)
    )


@pytest.mark.kernels
def test_what_is_still_needed_is_what_the_twin_says():
    rng = stream(0, "still needed")
    sizes, more = [], 0
    for _ in range(60 if SLOW else 300):
        terms = int(rng.integers(1, 7))
        prerequisites = random_prerequisites(rng, terms) if terms > 2 else (((),),) * terms
        rules, goal, held = Rules.of(prerequisites), int(rng.integers(terms)), rng.random((4, terms)) < 0.3
        found = rules.still_needed(held, goal)
        for row, answer in zip(held, found, strict=True):
            true, needed = set(np.flatnonzero(row).tolist()), set(np.flatnonzero(answer).tolist())
            assert needed == reference.still_needed(prerequisites, true, goal)
            least = reference.fewest_needed(prerequisites, true, goal)
            sizes.append(least)
            if least == 0:
                assert needed == set()
                continue
            assert goal in needed
            assert not needed & true - {goal}
            assert reference.can_come_true(prerequisites, true, goal, needed)
            more += len(needed) > least
            assert len(needed) == least or max(map(len, prerequisites)) > 1  # exact where there is nothing to choose
    assert SLOW or (sizes.count(0) > 50 and max(sizes) >= 4)
    assert more < 0.02 * len(sizes)


@pytest.mark.kernels
def test_what_shears_still_need():
    prerequisites = reference.by_the_rules(STANDARD.rules, VOCABULARY)
    rules, goal = Rules.of(prerequisites), VOCABULARY.index("craft-shears")

    def needed(*held):
        row = np.array([[term in held for term in VOCABULARY]])
        return [VOCABULARY[t] for t in np.flatnonzero(rules.still_needed(row, goal)[0])]

    assert needed("mine-gold-ore", "mine-coal") == ["craft-shears", "craft-gold-ingot"]
    assert needed("craft-iron-ingot", "craft-shears") == ["craft-shears"]
    assert len(needed()) == 5
    assert len(needed("grab-pickaxe")) == 4


def test_rules_one_by_one():
    rules = Rules.of((((),), ((0,), (2, 3)), ((0,),), ((),), ((1,),)))
    holds = np.array([[1, 0, 0, 0, 0], [0, 0, 1, 0, 0], [0, 0, 1, 1, 0], [0, 1, 0, 0, 1]], dtype=bool)
    assert rules.ready(holds, 0).all()
    assert rules.ready(holds, 1).tolist() == [True, False, True, False]
    assert rules.ready(holds, 4).tolist() == [False, False, False, True]
    assert [rules.fulfilled(row, 1) for row in holds] == [[0], [], [2, 3], []]
    assert np.flatnonzero(rules.helpful(4)).tolist() == [0, 1, 2, 3, 4]
    assert np.flatnonzero(rules.helpful(2)).tolist() == [0, 2]
