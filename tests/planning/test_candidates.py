"""Candidate instructions, made one at a time, against all of them in order; and what a goal still needs."""

import time
import tracemalloc
from itertools import islice, pairwise

import numba
import numpy as np
import pytest
from tests.reference import goal_only as reference

from rsg.core.errors import RsgError
from rsg.core.random import stream
from rsg.planning import Candidates, Rules, candidates, priority
from rsg.worlds.crafting import STANDARD, VOCABULARY

SLOW = bool(numba.config.DISABLE_JIT)


def random_matrix(rng, terms, empty=0.5):
    """Each row sums up to 1, or is zero: nothing ever came before that term."""
    counts = np.where(rng.random((terms, terms)) < empty, 0.0, rng.random((terms, terms)))
    np.fill_diagonal(counts, 0.0)
    return counts / np.maximum(counts.sum(axis=1, keepdims=True), 1e-300)


def test_the_queue_gives_what_the_sorted_enumeration_gives():
    rng = stream(0, "candidates")
    sizes = []
    for case in range(60):
        matrix = random_matrix(rng, int(rng.integers(5, 7)), empty=[0.0, 0.5, 0.8][case % 3])
        goal, limit, bias = int(rng.integers(len(matrix))), int(rng.integers(1, 5)), float(rng.choice([0.5, 0.9, 1.0]))
        found = list(candidates(matrix, goal, Candidates(limit, bias)))
        expected = reference.all_candidates(matrix, goal, limit, bias)
        np.testing.assert_allclose([value for value, _ in found], [value for value, _ in expected], rtol=1e-12)
        assert sorted(each for _, each in found) == sorted(each for _, each in expected)
        for value, instruction in found:
            assert value == pytest.approx(priority(matrix, instruction, bias), rel=1e-12)
            assert value == pytest.approx(reference.priority(matrix, instruction, bias), rel=1e-12)
        if len({round(np.log(value), 9) for value, _ in expected}) == len(expected):  # no ties
            assert [each for _, each in found] == [each for _, each in expected]
            sizes.append(len(found))
    assert len(sizes) > 40
    assert max(sizes) == 1 + 5 + 5 * 4 + 5 * 4 * 3


def test_what_every_queue_keeps_to():
    rng = stream(0, "keeps to")
    for limit in (1, 2, 4, 6):
        matrix, goal = random_matrix(rng, 12), int(rng.integers(12))
        found = list(islice(candidates(matrix, goal, Candidates(limit)), 3000))
        values, instructions = [value for value, _ in found], [instruction for _, instruction in found]
        assert all(one >= other for one, other in pairwise(values))
        assert instructions[0] == (goal,)
        assert len(set(instructions)) == len(instructions)
        for instruction in instructions:
            assert instruction[-1] == goal
            assert len(set(instruction)) == len(instruction) <= limit
        assert max(map(len, instructions)) == limit


def test_a_term_that_nothing_helps_stands_alone():
    assert list(candidates(np.zeros((3, 3)), 1)) == [(0.9, (1,))]


def test_by_hand():
    """Axe, wood, plank, boat: each helps the next; the potato helps none of them."""
    matrix = np.zeros((5, 5))
    matrix[1, 0] = matrix[2, 1] = matrix[3, 2] = 1.0
    matrix[4, :4] = 0.25
    found = [instruction for _, instruction in candidates(matrix, 3)]
    assert found == [(3,), (2, 3), (1, 2, 3), (0, 1, 2, 3)]


def test_equal_ones_come_in_the_order_in_which_they_were_made():
    matrix = np.full((3, 3), 1 / 3)
    one, other = (list(candidates(matrix, 2)) for _ in range(2))
    assert one == other
    assert [instruction for _, instruction in one[:3]] == [(2,), (0, 2), (1, 2)]


def test_never_all_at_once():
    """200 terms and up to 6 of them: 3 · 10^11 instructions, of which ten are wanted."""
    matrix = np.full((200, 200), 1 / 200)
    tracemalloc.start()
    start = time.perf_counter()
    try:
        queue = candidates(matrix, 7, Candidates(length_limit=6))
        first = list(islice(queue, 10))
        kept = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert time.perf_counter() - start < 2
    assert kept < 20e6
    assert len(first) == 10
    assert len(queue.gi_frame.f_locals["queue"]) <= 10 * 200


@pytest.mark.parametrize(
    "numbers", [{"length_limit": 0}, {"each": 0}, {"bias": 0.0}, {"bias": 1.1}, {"bias": -1.0}], ids=str
)
def test_bad_numbers(numbers):
    with pytest.raises(RsgError, match=r"the length limit .* at least 1 and the bias in \(0, 1\], not"):
        Candidates(**numbers)


# What is still needed.


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
