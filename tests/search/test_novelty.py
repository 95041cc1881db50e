"""The order `novel` against a plain twin, and what it promises."""

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.reference.novelty import DigitGoals, DigitWorld, NovelSearch, WalkingSearch
from tests.reference.search import TableWorld, best_plan_cost

from reproductions.paper.random_tasks import sample_task
from rsg.core.compiled import compiled
from rsg.core.random import stream
from rsg.language import Machine, parse
from rsg.search import Hard, Limits, Product, ProductSearch, Soft, goals_from, nodes_ahead
from rsg.search.kernels.table import new_table
from rsg.search.product import kernels, novelty

pytestmark = pytest.mark.filterwarnings("ignore:overflow encountered in scalar multiply")  # the hash, uncompiled

SLOW = bool(numba.config.DISABLE_JIT)
PRICES = [0.125, 0.25, 0.5, 1.0]  # sums of these are exact, so that ties are ties


class Case:
    """A random world in which some actions change one digit and others lead anywhere; a task, rare subgoals."""

    def __init__(self, seed, dtype="u1", states=(2, 200)):
        rng = stream(seed, "novelty")
        count, actions, base = int(rng.integers(*states)), int(rng.integers(1, 6)), int(rng.integers(2, 8))
        numbers = np.arange(count)
        after = rng.integers(count, size=(count, actions))
        for action in range(int(rng.integers(actions + 1))):
            place = base ** int(rng.integers(3))
            turned = numbers - numbers // place % base * place + (numbers // place + rng.integers(base)) % base * place
            after[:, action] = np.where((turned < count) & (rng.random(count) < 0.9), turned, numbers)
        self.world = DigitWorld(after, rng.choice(PRICES, size=actions), base, dtype)
        self.start, self.seed = int(rng.integers(count)), int(rng.integers(1000))
        self.machine = Machine.of(sample_task("abcd"[: rng.integers(2, 5)], int(rng.integers(1, 3)), rng))
        self.threshold = float(rng.choice([0.3, 0.5, 0.8]))
        held = rng.random((count, len(self.machine.terms))) < rng.choice([0.02, 0.1, 0.4])
        g = np.where(held, (1 + self.threshold) / 2, 0.9 * self.threshold)
        self.values = np.log(g), np.log1p(-g)
        self.goals = DigitGoals(self.world, *self.values)

    def search(self, goals=None, order="novel"):
        how, row = Product(order, Hard(self.threshold)), self.world.rows[self.start]
        return ProductSearch(self.world, row, self.machine, goals or self.goals, how, self.seed)

    def expected(self, budget):
        ahead = nodes_ahead(self.machine) * self.world.costs.min()
        values = (self.values, self.threshold, ahead, self.seed)
        return NovelSearch(self.world, self.start, self.machine, *values).run(budget)


def check_against_twin(case, budget, goals=None):
    """The real search expands the same labels up to any budget, and finds the same."""
    search, expected = case.search(goals), case.expected(budget)
    found = search.run(Limits(budget))
    count = search.explored.count
    expanded = np.argwhere(np.isfinite(search.memory.labels["expanded"][:count]) & (np.arange(case.machine.nodes) > 0))
    numbers = case.world.numbers(search.explored.rows(np.arange(count)))
    assert {(int(numbers[s]), int(v)) for s, v in expanded} == set(expected.expanded)
    assert found.expansions == len(expected.expanded)
    assert found.cost == expected.cost
    return found


@pytest.mark.kernels
@pytest.mark.parametrize("dtype", ["u1", "i8"])
@settings(max_examples=5 if SLOW else 30, deadline=None)
@given(seed=st.integers(0, 10**6), budget=st.integers(1, 400))
def test_the_compiled_form_expands_the_labels_that_the_plain_twin_does(dtype, seed, budget):
    check_against_twin(Case(seed, dtype), budget)


@pytest.mark.kernels
@settings(max_examples=5 if SLOW else 30, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    budget=st.integers(1, 400),
    dtype=st.sampled_from(["u1", "i2", "i4", "i8", "f4", "f8"]),
)
def test_the_general_form_expands_the_labels_that_the_plain_twin_does(seed, budget, dtype):
    case = Case(seed, dtype)
    check_against_twin(case, budget, lambda states: case.goals(states))


class Sighted(DigitWorld):
    """A world of a walker on a grid of all digits, with switches that work where there is something to see."""

    def __init__(self, rng):
        base = int(rng.integers(3, 7))
        numbers = np.arange(base**4)
        y, x, *switches = (numbers // base**place % base for place in range(4))
        open_to = rng.random((4, base, base)) < 0.9
        needs = np.where(rng.random((4, base, base)) < 0.1, rng.integers(base, size=(4, base, base)), -1)
        after = []
        for turn, (dy, dx) in enumerate([(1, 0), (-1, 0), (0, 1), (0, -1)]):
            free = open_to[turn, y, x] & ((needs[turn, y, x] < 0) | (needs[turn, y, x] == switches[0]))
            to_y, to_x = ((at + np.where(free, step, 0)).clip(0, base - 1) for at, step in ((y, dy), (x, dx)))
            after.append(numbers + (to_y - y) + base * (to_x - x))
        things = np.where(rng.random((base, base)) < 0.25, rng.integers(1, 4, size=(base, base)), 0)
        for place, switch in zip((2, 3), switches, strict=True):
            works = (things[y, x] > 0) & ((place == 2) | (switches[0] == things[y, x]))
            after.append(numbers + np.where(works, (switch + 1) % base - switch, 0) * base**place)
        super().__init__(np.stack(after, axis=1), np.ones(6) if rng.integers(2) else rng.choice(PRICES, size=6), base)
        self.at = things[y, x]

    def sights(self, states):
        return self.at[self.numbers(states)]


class Walked(Case):
    """A task in such a world."""

    def __init__(self, seed):
        super().__init__(seed)
        rng = stream(seed, "walks")
        self.world = Sighted(rng)
        count = len(self.world.after)
        self.start, self.early = int(rng.integers(count)), int(rng.choice([0, 20, 80]))
        switch = self.world.rows[:, rng.integers(2, 4, size=len(self.machine.terms))].T
        held = switch == rng.integers(self.world.base, size=(len(switch), 1))
        held &= rng.random(held.shape) < rng.choice([0.3, 1.0])
        g = np.where(held.T, (1 + self.threshold) / 2, 0.9 * self.threshold)
        self.values = np.log(g), np.log1p(-g)
        self.goals = DigitGoals(self.world, *self.values)

    def expected(self, budget):
        ahead = nodes_ahead(self.machine) * self.world.costs.min()
        given = (self.world, self.start, self.machine, self.values, self.threshold, ahead, self.seed)
        return WalkingSearch(*given, sights=self.world.at, early=self.early).run(budget)


@pytest.mark.kernels
@pytest.mark.parametrize("compiled", [True, False])
def test_walks_are_those_of_the_plain_twin(compiled, monkeypatch):
    """Any plan is a way through the world, too; now and then a walk cannot be done."""
    walked = 0
    for seed in range(5 if SLOW else 60):
        case = Walked(seed)
        monkeypatch.setattr("rsg.search.product.search.EARLY", case.early)
        search = case.search(None if compiled else lambda states, case=case: case.goals(states))
        budget = int(stream(seed, "budget").integers(50, 1500))
        found, expected = search.run(Limits(budget)), case.expected(budget)
        assert (found.expansions, found.cost) == (expected.count, expected.cost), seed
        walked += expected.count > len(expected.expanded)
        if found.actions is not None:
            numbers = case.world.numbers(found.states)
            assert numbers[0] == case.start
            assert (case.world.after[numbers[:-1], found.actions] == numbers[1:]).all()
            assert found.cost == case.world.costs[found.actions].sum()
    assert walked > (1 if SLOW else 10)


def test_a_hash_set_that_grows_changes_nothing(monkeypatch):
    ended = []
    for seed in range(30):
        case = Case(seed, states=(500, 2000))
        normal = check_against_twin(case, 1500)
        with monkeypatch.context() as patch:
            patch.setattr(novelty, "FIRST_FACTS", 128)
            small = case.search()
            found = small.run(Limits(1500))
        assert (found.expansions, found.cost, found.ended) == (normal.expansions, normal.cost, normal.ended)
        ended.append(len(small.memory.novelty.seen))
    assert max(ended) > 128


@pytest.mark.kernels
def test_what_does_not_matter_does_not_multiply_what_is_tried():
    """A walker on a long road with switches at its start, each with its lamp: without them there are 40 states."""
    length, switches = 40, 4
    numbers = np.arange(length << switches)
    place, set_to = numbers >> switches, numbers & 15
    flips = [np.where(place == 0, numbers ^ 1 << k, numbers) for k in range(switches)]
    moves = [np.clip(place + step, 0, length - 1) << switches | set_to for step in (-1, 1)]
    after = np.stack([*flips, *moves], axis=1)
    rows = np.stack([place, *(set_to >> k & 1 for k in 2 * list(range(switches)))], axis=1).astype("u1")
    world, machine = TableWorld(after, np.ones(6), rows), Machine.of(parse("a"))
    goals = goals_from(lambda states: states[:, :1] == length - 1)
    novel, plain = (
        ProductSearch(world, rows[0], machine, goals, Product(order)).run() for order in ("novel", "deepest")
    )
    assert len(novel.actions) == length - 1
    assert novel.expansions < 2 * length < 10 * length < plain.expansions


@pytest.mark.kernels
def test_where_a_state_is_one_number_or_in_a_graph_all_is_new():
    """Then nothing waits behind the rest, but for labels that became cheaper."""
    table = new_table(8, 1)
    none, one = novelty.new_novelty(table, 3, 0), novelty.new_novelty(table, 3, 8)
    table.words[:, 0] = np.arange(8)
    run = np.zeros(1, dtype=kernels.RUN)
    assert all(asks_news(none, table.words, run, s, 1, -1) for s in (0, 1, 1, 0))
    assert all(asks_news(one, table.words, run, s, 1, s - 1) for s in range(8))
    assert not asks_news(one, table.words, run, 3, 1, 2)
    assert asks_news(one, table.words, run, 3, 2, 2)


@compiled
def asks_news(*asked):
    """The kernel, for Python to call."""
    given, words, run, s, v, before = asked
    return novelty.shows_new(given, words, run[0], s, v, before)


@pytest.mark.parametrize("order", ["novel", "deepest"])
def test_soft_searches_find_the_cheapest_in_any_order(order):
    for seed in range(10):
        case = Case(seed, states=(2, 30))
        how, row = Product(order, Soft()), case.world.rows[case.start]
        found = ProductSearch(case.world, row, case.machine, case.goals, how).run()
        best = best_plan_cost(case.world, case.start, case.machine, *case.values)
        assert found.cost == pytest.approx(best, abs=1e-9)
