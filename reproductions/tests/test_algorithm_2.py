"""The paper's Algorithm 2: its candidates against all of them in order, its searches against a plain twin."""

import time
import tracemalloc
from itertools import islice, pairwise
from math import inf

import numpy as np
import pytest
from tests.planning.test_goal_only import (
    FIELD,
    RULES,
    SMALL,
    Toy,
    check,
    check_shape,
    craft,
    only_batched,
    oracle,
    random_toy,
)
from tests.planning.test_motion_planning import rooms, touching
from tests.reference import goal_only as reference

from reproductions.goal_guides import method_of
from reproductions.paper.algorithm_2 import LIMITED, Candidates, candidates, priority
from rsg.core.errors import RsgError
from rsg.core.random import stream
from rsg.domains.crafting.text import read_map
from rsg.language import Machine, Term, Then
from rsg.planning import Dependencies, GoalProblem, planned
from rsg.search import Limits, Product, ProductSearch

pytestmark = pytest.mark.filterwarnings("ignore:overflow encountered in scalar multiply")  # the hash, uncompiled

OTHERS = ("paper", "uniform", "blind")


def named(method, **numbers):
    """A method as jobs ask for it, with numbers if it is the paper's."""
    return method_of({"method": method, "seed": 0, **({} if method in ("regions", "blind") else numbers)})


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


# Its searches.


@pytest.mark.parametrize("method", ["paper", "uniform"])
def test_the_count_of_the_papers_algorithm_is_that_of_all_its_searches(method):
    """Each candidate is searched for by itself, and all that is expanded for it counts, also what was before."""
    rng = stream(0, "algorithm 2", method)
    tried, ended = [], []
    for _ in range(60):
        toy, goal = random_toy(rng, terms=4), int(rng.integers(4))
        each = int(rng.choice([3, 10, 1000]))
        budget, seed = int(rng.choice([20, 100, 400])), int(rng.integers(9))
        papers = named(method, each=each, length_limit=3, seed=seed)
        before = toy.dependencies.before
        rows = before / np.maximum(before.sum(axis=1, keepdims=True), 1)
        matrix = np.full((4, 4), 0.25) if method == "uniform" else rows
        instructions = [one for _, one in reference.all_candidates(matrix.tolist(), goal, 3, 0.9)]
        searched = []

        def search(instruction, limit, toy=toy, seed=seed, searched=searched):
            names = [toy.names[term] for term in instruction]
            task = Then(tuple(Term(name) for name in names)) if len(names) > 1 else Term(names[0])
            goals = toy.goal_fn(toy.world, [str(term) for term in Machine.of(task).terms], toy.world.rows[toy.start])
            how, start = Product("balanced"), toy.world.rows[toy.start]
            found = ProductSearch(toy.world, start, Machine.of(task), goals, how, seed).run(Limits(limit))
            searched.append(instruction)
            return found.actions is not None, found.expansions

        instruction, spent = reference.algorithm_2(instructions, search, each, budget)
        found = toy.plan(toy.names[goal], papers, budget=budget)
        assert found.expansions == spent
        if instruction is not None:
            assert check(toy, found, toy.names[goal])
            assert str(found.task) == " then ".join(toy.names[term] for term in instruction)
        else:
            assert found.ended in (("budget",) if spent >= budget else ("exhausted", LIMITED))
        tried.append(len(searched))
        ended.append(found.ended)
    assert min(ended.count("found"), ended.count("budget"), ended.count("exhausted") + ended.count(LIMITED)) >= 3
    assert max(tried) == 1 + 3 + 3 * 2


@pytest.mark.kernels
@pytest.mark.parametrize("method", OTHERS)
def test_a_boat_by_every_method(method):
    made = craft("craft-boat", method=named(method, each=100))
    assert made.found
    if method == "blind":
        assert str(made.task) == "craft-boat"  # what it watches
    again = craft("craft-boat", goal_fn=only_batched, method=named(method, each=100))
    assert (again.actions.tolist(), again.expansions) == (made.actions.tolist(), made.expansions)


def test_every_method_on_a_larger_map():
    found = {}
    for goal in ("craft-shears", "craft-boat", "craft-bed"):
        for method in ("regions", *OTHERS):
            made = craft(goal, FIELD, method=named(method), budget=4000)
            found[goal, method] = made.expansions if made.found else inf
    for goal in ("craft-shears", "craft-boat"):
        assert 10 * found[goal, "regions"] < min(found[goal, "paper"], found[goal, "blind"])
    assert found["craft-bed", "regions"] < 1000
    assert sum(value < inf for value in found.values()) >= 5


@pytest.mark.parametrize("method", OTHERS)
def test_a_goal_may_be_a_function(method):
    world, state = read_map(SMALL)

    def holds(states):
        return np.array(["wood" in world.inventory(state) for state in states])

    made = planned(GoalProblem(world, state, holds, oracle, RULES), named(method))
    check_shape(world, made, "goal")
    assert ["wood" in world.inventory(state) for state in made.states[-2:]] == [False, True]


@pytest.mark.parametrize("method", OTHERS)
def test_a_goal_that_holds_already(method):
    """Where it cannot become false, there is no plan; a blind search finds where it comes true again."""
    toy = Toy([[1], [2], [2]], [[1], [1], [1]], (((),),))
    made = toy.plan("a", named(method))
    assert (made.found, made.ended, made.missed) == (False, "exhausted", ("a",))
    told = "a holds already, and did not become false" if method == "blind" else "a was never reached"
    assert made.reason.startswith(f"no plan: {told}")
    if method == "blind":
        toy = Toy([[1], [2], [2]], [[1], [0], [1]], (((),),))
        assert toy.plan("a", named(method)).actions.tolist() == [0, 0]


@pytest.mark.parametrize("method", OTHERS)
def test_an_object_that_is_not_there(method):
    made = craft("craft-boat", SMALL.replace("5", "."), method=named(method, each=50, length_limit=4), budget=3000)
    assert not made.found
    assert made.ended in ("exhausted", "budget", LIMITED)
    assert made.expansions <= 3000
    assert (len(made.actions), len(made.states), made.terms) == (0, 1, ())
    if method == "paper":
        assert set(made.reached) == {"grab-axe", "mine-wood", "craft-wood-plank"}
        assert made.missed == ("craft-boat",)
        assert made.reason.startswith("no plan: craft-boat was never reached; ")


@pytest.mark.parametrize("method", OTHERS)
def test_a_goal_may_come_true_without_its_prerequisites(method):
    toy = Toy([[1], [1]], [[0, 0], [0, 1]], (((),), ((0,),)))
    made = toy.plan("b", named(method))
    assert (str(made.task), made.actions.tolist()) == ("b", [0])


@pytest.mark.parametrize("method", OTHERS)
def test_budgets_are_kept_exactly(method):
    """A ring on which nothing ever holds has no end for the paper's algorithm, and twenty states for others."""
    toy = Toy([[(s + 1) % 20, s] for s in range(20)], np.zeros((20, 4)), (((),), ((0,),), ((1,),), ((2,),)))
    for budget in (1, 2, 19, 20, 21, 50):
        made = toy.plan("d", named(method, each=7), budget=budget)
        assert made.expansions <= budget
        assert not made.found
        if method == "blind":
            assert made.expansions == min(budget, 20)
            assert made.ended == ("budget" if budget < 20 else "exhausted")
        elif made.ended == "budget":
            assert made.expansions == budget
            assert f"the budget of {budget} expansions ended" in made.reason
        else:
            assert made.ended == LIMITED  # seven expansions are less than the ring


@pytest.mark.parametrize("method", OTHERS)
def test_cancelling(method):
    world, state = read_map(FIELD.replace("3..E", "...E"))
    problem, told = GoalProblem(world, state, "craft-shears", only_batched, RULES), []

    def look(count):
        told.append(count)
        return len(told) > 3

    made = planned(problem, named(method), 3000, look)
    assert (made.found, made.ended) == (False, "cancelled")
    assert len(told) == 4
    assert made.expansions >= told[-1]


def test_progress_never_falls():
    world, state = read_map(FIELD.replace("3..E", "...E"))
    problem, told = GoalProblem(world, state, "craft-shears", only_batched, RULES), []
    made = planned(problem, named("paper", each=200), 1500, told.append)
    assert told == sorted(told)
    assert told[-1] > made.expansions - 200


@pytest.mark.kernels
def test_how_far_a_candidate_may_go():
    """A chain of three, far away: with few expansions per candidate only the right candidate gets there."""
    count = 30
    after = [[max(s - 1, 0), min(s + 1, count - 1)] for s in range(count)]
    held = np.zeros((count, 3))
    held[8:, 0] = held[16:, 1] = held[24:, 2] = 1
    toy = Toy(after, held, (((),), ((0,),), ((1,),)))
    one = toy.plan("c", method=named("paper", each=1000))
    assert str(one.task) == "c"
    several = toy.plan("c", method=named("paper", each=60))
    assert several.found
    nothing = toy.plan("c", method=named("paper", each=5))
    assert (nothing.found, nothing.ended) == (False, LIMITED)
    assert nothing.expansions == 15  # three candidates


def test_a_goal_in_a_continuous_world():
    one, two = np.ones(2, dtype=np.int64), np.ones((2, 2), dtype=np.int64)
    terms, needs_nothing = ("touch-0", "touch-1"), (((),), ((),))
    known = Dependencies(terms, two, two, one, two, needs_nothing, np.full(2, 0.5), one, 1)
    state = np.array([3.0, 3.0, 0.0, 15.0, 16.0, 4.0, 15.0])
    problem = GoalProblem(rooms, state, "touch-0", touching.goal_fn, known)
    made = planned(problem, named("paper"))
    assert (made.found, str(made.task)) == (True, "touch-0")
