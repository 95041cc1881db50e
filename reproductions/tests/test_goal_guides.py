"""Other guides than prerequisites: counts against the plain twin."""

import numpy as np
import pytest
from tests.planning.test_goal_only import Toy, check, random_toy
from tests.reference import goal_only as reference

from reproductions.goal_guides import GUIDES, blind, method_of, regions
from rsg.core.random import stream

pytestmark = pytest.mark.filterwarnings("ignore:overflow encountered in scalar multiply")


def twin(toy, goal, guide, budget):
    """The same by the plain search over regions."""
    rules, terms = toy.prerequisites, set(range(len(toy.names)))
    is_blind = guide == "blind"
    counts, size, watched = toy.dependencies, len(toy.names), set(terms)
    if guide == "conditional":
        shares = [[counts.before[i, j] / max(counts.together[i, j], 1) for j in terms] for i in terms]
        rules = tuple((tuple(j for j in terms if shares[i][j] >= 0.9),) for i in terms)
    if guide in ("helpful", "blind"):
        watched = {goal}
    if guide == "helpful":
        while more := {t for o in watched for one in rules[o] for t in one} - watched:
            watched = watched | more

    def judge(holds, way):
        if guide in ("none", "blind"):
            return 0
        if guide == "priority":
            value = reference.priority(counts.matrix.tolist(), [*dict.fromkeys(way), goal], 0.9)
            return -np.log(max(value, 1e-300))
        return len(reference.still_needed(rules, holds, goal)) or size + 1

    holds = [frozenset(np.flatnonzero(row).tolist()) & watched for row in toy.held]
    return reference.RegionSearch(toy.world, toy.start, holds, goal, judge, budget, is_blind).run()


METHODS = {**GUIDES, "blind": blind}


@pytest.mark.parametrize("guide", METHODS)
def test_the_count_is_that_of_the_twin(guide):
    rng = stream(0, "guides", guide)
    found = 0
    for _ in range(60):
        toy, goal = random_toy(rng), int(rng.integers(5))
        budget = int(rng.choice([5, 15, 25_000]))
        made = toy.plan(toy.names[goal], METHODS[guide], budget=budget)
        expected = twin(toy, goal, guide, budget)
        assert (made.ended, made.expansions, made.cost) == (expected.ended, expected.expansions, expected.cost)
        assert made.actions.tolist() == (expected.actions or [])
        if made.found:
            check(toy, made, toy.names[goal])
            found += 1
    assert found > 10


def test_one_of_several_alternatives_is_enough_for_every_guide():
    """`a` or `b` leads to `c`, and each time that both were shown, both were shown before it."""
    toy = Toy([[1], [2], [2]], [[0, 0, 0], [1, 0, 0], [1, 0, 1]], (((),), ((),), ((0,), (1,))))
    for method in METHODS.values():
        assert toy.plan("c", method).found


def test_methods_as_jobs_ask_for_them():
    usual = {"method": "regions", "budget": 7, "seed": 1}
    assert method_of(usual) is regions
    assert method_of({**usual, "method": "blind"}) is blind
    assert method_of({**usual, "guide": "none"}) is GUIDES["none"]
    numbers = method_of({**usual, "method": "paper", "each": 200}).keywords["how"]
    assert (numbers.each, numbers.length_limit, numbers.seed, numbers.uniform) == (200, 6, 1, False)
    assert method_of({**usual, "method": "uniform"}).keywords["how"].uniform
