"""The product search against brute force, its compiled form against its general one, and what every order promises."""

from math import inf

import numpy as np
import pytest
from tests.reference.search import (
    ByteWorld,
    NumberWorld,
    TableGoals,
    TableWorld,
    best_plan_cost,
    plan_cost,
)

from reproductions.paper.random_tasks import sample_task
from rsg.core.errors import RsgError
from rsg.core.random import stream
from rsg.domains.crafting import CraftingWorld, truth
from rsg.domains.crafting.maps import objects_for, sample_map
from rsg.domains.crafting.tasks import COMPOSITIONAL, NOVEL
from rsg.domains.crafting.truth import TrueGoals
from rsg.language import Machine, parse
from rsg.search import ORDERS, Hard, Limits, Product, ProductSearch, Soft, best, goals_from, nodes_ahead
from rsg.search.product import explored, kernels, serving
from rsg.worlds import check

pytestmark = pytest.mark.filterwarnings("ignore:overflow encountered in scalar multiply")  # the hash, uncompiled


class Case:
    """A random world, start, task and soft classifiers; some logs are minus infinity."""

    def __init__(self, rng, make_world=TableWorld, states=(3, 12), depth=2, impossible=(0.1, 0.1)):
        count, actions = int(rng.integers(states[0], states[1] + 1)), int(rng.integers(2, 5))
        after = rng.integers(count, size=(count, actions))
        after[rng.random(after.shape) < 0.2] = 0
        self.world = make_world(after, rng.choice([0.1, 0.25, 0.5, 1.0, 1.7], size=actions))
        self.start = int(rng.integers(count))
        self.machine = Machine.of(sample_task("abcd"[: rng.integers(3, 5)], int(rng.integers(1, depth + 1)), rng))
        shape = (count, len(self.machine.terms))
        self.log_g, self.log_i = np.log(rng.random(shape)), np.log(rng.random(shape))
        self.log_g[rng.random(shape) < impossible[0]] = -inf
        self.log_i[rng.random(shape) < impossible[1]] = -inf
        self.weight = float(rng.choice([0.3, 1.0, 2.0]))
        self.goals = TableGoals(self.world, self.log_g, self.log_i)

    def search(self, goals=None, order="deepest", threshold=None, seed=0):
        how = Product(order, Soft(self.weight) if threshold is None else Hard(threshold))
        return ProductSearch(self.world, self.world.rows[self.start], self.machine, goals or self.goals, how, seed)

    def best(self, threshold=None):
        tables = (self.log_g, self.log_i)
        return best_plan_cost(self.world, self.start, self.machine, *tables, self.weight, threshold)

    def price(self, found, threshold=None):
        tables = (self.log_g, self.log_i)
        return plan_cost(self.world, self.machine, *tables, found, self.weight, threshold)


def to_the_end(search, limits=None):
    """Run until no better plan comes."""
    found, cost = search.run(limits), None
    while found.cost != cost and found.ended == "found":
        found, cost = search.run(limits), found.cost
    return found


def compare_with_brute_force(case, threshold=None):
    """`optimal` at once and finished `anytime` against brute force; gives the least cost.

    With soft transitions every order gives the cheapest end, at once.
    """
    expected = case.best(threshold)
    for order in ORDERS if threshold is None else ("optimal", "anytime"):
        search = case.search(order=order, threshold=threshold)
        found = search.run() if order == "optimal" or threshold is None else to_the_end(search)
        assert found.cost == pytest.approx(expected, abs=1e-9)
        assert found.ended == ("found" if expected < inf else "exhausted")
        if expected < inf:
            assert case.price(found, threshold) == pytest.approx(expected, abs=1e-9)
        else:
            assert found.actions is found.states is found.nodes is None
    return expected


@pytest.mark.parametrize("batch", range(10))
def test_the_least_cost_on_100_random_worlds(batch):
    rng = stream(batch, "brute force")
    costs = [compare_with_brute_force(Case(rng)) for _ in range(100)]
    assert 0.5 < np.isfinite(costs).mean() < 1


@pytest.mark.parametrize("batch", range(3))
def test_the_least_cost_with_a_threshold_on_100_random_worlds(batch):
    rng = stream(batch, "brute force with a threshold")
    costs = []
    for _ in range(100):
        case, threshold = Case(rng), float(rng.choice([0.3, 0.5, 0.8]))
        costs.append(compare_with_brute_force(case, threshold))
    assert 0.3 < np.isfinite(costs).mean() < 0.9


@pytest.mark.kernels
@pytest.mark.parametrize("threshold", [None, 0.5])
def test_the_least_cost_on_a_few_random_worlds(threshold):
    rng = stream(0, "a few")
    for _ in range(4):
        compare_with_brute_force(Case(rng, depth=1), threshold)


@pytest.mark.kernels
@pytest.mark.parametrize("dtype", ["f8", "f4", "i4", "u1", "i2"])
def test_states_of_any_dtype_and_width(dtype):
    for width in (1, 3, 5):
        rng = stream(width, "rows")  # the same case each time, but for the look of its states
        looks = [rng.permutation(200)[:12].reshape(12, 1) + np.arange(width) for _ in range(2)]

        def make(after, costs, rows=looks[0]):
            return TableWorld(after, costs, rows[: len(after)].astype(dtype))

        case = Case(rng, make, depth=1)
        assert check(case.world) == []
        compare_with_brute_force(case)


# The compiled form and the general one.


def differences(a, b):
    """What differs between two results, their time apart."""
    names = ("actions", "states", "nodes", "cost", "expansions", "ended")
    return [name for name in names if not np.array_equal(getattr(a, name), getattr(b, name))]


def compare_forms(case, budget=None, **settings):
    """The same search compiled and in batches; gives the result."""
    compiled, general = case.search(**settings), case.search(goals=lambda states: case.goals(states), **settings)
    assert hasattr(case.goals, "compiled")
    result = to_the_end(compiled, Limits(budget))
    assert differences(result, to_the_end(general, Limits(budget))) == []
    return result


WORLDS = {
    "1 byte": lambda after, costs: ByteWorld(after, costs, width=1),
    "2 bytes": lambda after, costs: ByteWorld(after, costs, width=2),
    "3 bytes": lambda after, costs: ByteWorld(after, costs, width=3),
    "float32": NumberWorld,
}


@pytest.mark.kernels
@pytest.mark.parametrize(
    ("world", "order"), [*((world, order) for world in list(WORLDS)[:3] for order in ORDERS), ("float32", "optimal")]
)
def test_compiled_and_general_form_agree_on_small_worlds(world, order):
    rng = stream(0, "forms", world, order)
    for _ in range(5):
        case = Case(rng, WORLDS[world], depth=1)
        for threshold in (None, 0.5):
            compare_forms(case, order=order, threshold=threshold)


def long_case(seed, states=4000, make_world=ByteWorld):
    """A world of a long way: where subgoals hold is rare."""
    return Case(stream(seed, "long"), make_world, states=(states, states), impossible=(0.99, 0))


@pytest.mark.parametrize("order", ORDERS)
def test_compiled_and_general_form_agree_on_worlds_that_outgrow_their_first_room(order):
    found = []
    for seed in range(10):
        case = long_case(seed)
        found.append(compare_forms(case, order=order, threshold=0.3))
        found.append(compare_forms(case, order=order, budget=3000))
    assert max(result.expansions for result in found) > explored.FIRST_CAPACITY
    assert sum(result.ended == "found" for result in found) > 5


@pytest.mark.kernels
@pytest.mark.parametrize("order", ORDERS)
def test_small_batches_rooms_and_slices_change_nothing(order, monkeypatch):
    case = long_case(1, states=150)
    normal = compare_forms(case, order=order)
    for batch, room, slice_ in [(1, 4, 1), (3, 17, 5), (1000, 1000, 2)]:
        monkeypatch.setattr(explored, "BATCH", batch)
        monkeypatch.setattr(explored, "FIRST_CAPACITY", room)
        monkeypatch.setattr(serving, "FIRST_ROOM", room)
        monkeypatch.setattr(serving, "SLICE", slice_)
        assert differences(compare_forms(case, order=order), normal) == []


@pytest.mark.kernels
def test_the_heap_has_room_for_all_that_one_expansion_opens(monkeypatch):
    monkeypatch.setattr(serving, "SLICE", 1)
    machine = Machine.of(parse("x then (a or b or c or d) then (e or f or g or h)"))
    rng = stream(0, "heap")
    rising = np.tile([0.0, -9.0, -8.0, -7.0, -6.0, -9.0, -9.0, -9.0, -9.0], (60, 1))
    for room in range(1, 30):
        monkeypatch.setattr(serving, "FIRST_ROOM", room)
        world = ByteWorld(rng.integers(60, size=(60, 4)), [0.1, 0.2, 0.3, 0.4])
        goals = TableGoals(world, rising, np.zeros_like(rising))
        search = ProductSearch(world, world.rows[0], machine, goals, Product("optimal", Soft()))

        def look(expansions, search=search):
            assert search.memory.run[0].fullest < search.memory.heaps.shape[1]

        search.run(Limits(80, between=look))


# Crafting World.


def crafting(text, kind, seed, given=()):
    """A machine, and a random map with what it needs."""
    machine = Machine.of(parse(text))
    terms = [str(term) for term in machine.terms]
    world, state = sample_map(kind, stream(seed, "search"), objects_for(terms), given)
    return world, state, machine, TrueGoals(world, terms)


@pytest.mark.parametrize("order", ORDERS)
def test_compiled_and_general_form_agree_on_crafting_world(order):
    specs = [*COMPOSITIONAL[4::4], *NOVEL[:3], NOVEL[-1]]
    found = []
    for seed, spec in enumerate(specs):
        kind = "islands" if spec is NOVEL[-1] else "large-field"
        world, state, machine, goals = crafting(spec.text, kind, seed, spec.given[0])
        how, limits = Product(order), Limits(6000)
        compiled = to_the_end(ProductSearch(world, state, machine, goals, how), limits)
        general = to_the_end(ProductSearch(world, state, machine, lambda states, ask=goals: ask(states), how), limits)
        assert differences(compiled, general) == []
        found.append(compiled)
    assert sum(result.ended == "found" for result in found) >= 4
    assert max(result.expansions for result in found) > explored.FIRST_CAPACITY


@pytest.mark.kernels
@pytest.mark.parametrize("order", ORDERS)
def test_a_plan_in_crafting_world(order):
    world, state, machine, goals = crafting("grab-axe then mine-wood", "garden", 0)
    found = ProductSearch(world, state, machine, goals, Product(order)).run()
    assert found.ended == "found"
    replayed = [state]
    for action in found.actions:
        replayed.append(world.step(replayed[-1][None], [action])[0])
    assert np.array_equal(found.states, np.stack(replayed))
    assert "wood" in world.inventory(found.states[-1])
    assert np.array_equal(found.nodes, np.sort(found.nodes))
    assert found.cost == pytest.approx(0.1 * len(found.actions))


# What every order promises.


@pytest.mark.kernels
@pytest.mark.parametrize("order", ORDERS)
def test_plans_are_what_they_claim(order):
    rng = stream(0, "claims", order)
    found = 0
    for _ in range(60):
        case = Case(rng, ByteWorld, states=(3, 40), impossible=(0.5, 0.5))
        for threshold in (None, 0.3):
            search = case.search(order=order, threshold=threshold)
            least, cost = case.best(threshold), None
            while (result := search.run()).ended == "found" and result.cost != cost:
                assert cost is None or result.cost < cost
                found, cost = found + 1, result.cost
                assert case.price(result, threshold) == pytest.approx(cost, abs=1e-9)
                assert cost >= least - 1e-9
                assert np.array_equal(result.states[0], case.world.rows[case.start])
                assert np.array_equal(result.states[1:], case.world.step(result.states[:-1], result.actions))
    assert found > 25


@pytest.mark.parametrize("order", ORDERS)
def test_budgets_are_kept_and_a_search_goes_on_where_it_stopped(order):
    rng = stream(0, "budgets", order)
    ended = []
    for seed in range(30):
        case = long_case(seed, states=400)
        settings = {"order": order, "seed": seed, "threshold": rng.choice([None, 0.3])}
        budgets = np.sort(rng.integers(1, 400, size=3)).tolist()
        search = case.search(**settings)
        for budget in budgets:
            result = to_the_end(search, Limits(budget))
            fresh = to_the_end(case.search(**settings), Limits(budget))
            assert result.expansions <= budget
            assert result.ended != "budget" or result.expansions == budget
            assert differences(result, fresh) == []
            ended.append(result.ended)
            if result.ended != "budget":
                break
    assert ended.count("budget") > 5
    assert ended.count("found") > 5


@pytest.mark.parametrize("order", ["deepest", "balanced", "anytime"])
def test_more_expansions_of_a_soft_search_never_give_a_dearer_plan(order):
    fell = 0
    for seed in range(10):
        costs = [long_case(seed, 400).search(order=order, seed=seed).run(Limits(n)).cost for n in (5, 50, 500, 5000)]
        assert costs == sorted(costs, reverse=True)
        fell += costs[0] > costs[-1]
    assert fell > 5


@pytest.mark.parametrize("order", ["deepest", "anytime"])
def test_a_soft_search_finds_what_is_likely_nearly_as_soon_as_a_hard_one(order):
    """Long instructions in Crafting World; subgoals are true or false with 99.9 %, likely transitions come first."""
    for spec in NOVEL[:5]:
        world, state, machine, goals = crafting(spec.text, "large-field", 3, spec.given[0])
        sure = goals_from(lambda states, ask=goals: 0.001 + 0.998 * np.exp(ask(states)[0]))
        hard = ProductSearch(world, state, machine, goals, Product(order)).run(Limits(20_000))
        soft = ProductSearch(world, state, machine, sure, Product(order, Soft()))
        found = soft.run(Limits(2 * hard.expansions))
        assert hard.ended == "found"
        assert found.cost < 0.1 * len(hard.actions) + 2.0  # an unlikely transition costs 6.9


@pytest.mark.kernels
def test_exhausted_means_that_all_was_tried():
    """On a ring where two steps at once are dear: every state is opened twice, and expanded once."""
    world = ByteWorld((np.arange(6)[:, None] + [1, 2]) % 6, [1.0, 5.0])
    machine = Machine.of(parse("a"))

    def result(order, budget):
        tables = np.full((6, 1), -inf), np.zeros((6, 1))
        return ProductSearch(world, world.rows[0], machine, TableGoals(world, *tables), Product(order)).run(
            Limits(budget)
        )

    for order in ORDERS:
        for budget, ended, expansions in ((None, "exhausted", 6), (6, "exhausted", 6), (5, "budget", 5)):
            found = result(order, budget)
            assert (found.ended, found.expansions) == (ended, expansions)


def test_the_seed_decides():
    cases = [long_case(seed, states=300) for seed in range(24)]
    for order in ORDERS:
        results = [[case.search(order=order, seed=seed, threshold=0.3).run() for case in cases] for seed in (5, 5, 6)]
        assert sum(result.ended == "found" for result in results[0]) > 1
        same, other = (
            [bool(differences(*pair)) for pair in zip(results[0], rest, strict=True)] for rest in results[1:]
        )
        assert not any(same)
        assert any(other) == (order != "optimal")


def endless():
    """A map with millions of states and a subgoal that never holds, compiled and not."""
    world, _ = sample_map("large-field", stream(0, "endless"))
    items = ["wood", "coal", "stick", "bowl", "potato", "feather", "key", "axe"]
    state = world.state({(i // 7, i % 7): items[i % 8] for i in range(30)}, agent=(6, 6))
    goals = TrueGoals(world, ["craft-boat"])
    return world, state, Machine.of(parse("craft-boat")), {"compiled": goals, "general": lambda rows: goals(rows)}


@pytest.mark.parametrize("form", ["compiled", "general"])
@pytest.mark.parametrize("order", ["deepest", "optimal"])
def test_time_limits_cancelling_and_progress(order, form):
    world, state, machine, goals = endless()

    def search():
        return ProductSearch(world, state, machine, goals[form], Product(order))

    soon = Limits(seconds=0.001)
    search().run(soon)  # compiles, or loads what was compiled
    timed = search()
    first, second = timed.run(soon), timed.run(soon)
    assert first.ended == second.ended == "time"
    assert second.expansions > first.expansions
    assert first.seconds < 5

    answers, told = iter([False, False, True]), []
    result = search().run(Limits(between=lambda count: told.append(count) or next(answers)))
    assert result.ended == "cancelled"
    assert result.actions is None
    assert told == sorted(told)
    assert len(told) == 3


@pytest.mark.kernels
def test_the_best_that_limits_allow():
    """`anytime` goes on as long as plans get better; other orders stop at the first."""
    for seed in range(6):
        case = long_case(seed, states=60)
        first, last = case.search(order="anytime").run(), best(case.search(order="anytime"))
        assert last.cost == pytest.approx(case.best(), abs=1e-9)
        assert last.cost <= first.cost
        short = best(case.search(order="anytime"), Limits(first.expansions))
        assert short.cost == first.cost
        assert differences(best(case.search(order="deepest")), case.search(order="deepest").run()) == []


def test_nodes_ahead_is_the_least_number_of_nodes_still_to_be_served():
    rng = stream(0, "ahead")
    for _ in range(200):
        machine = Machine.of(sample_task("abcd", 3, rng))
        ahead = nodes_ahead(machine)
        least = np.full(machine.nodes, inf)
        for _ in range(30):
            walk = [0]
            while walk[-1] != machine.nodes - 1:
                walk.append(int(rng.choice(machine.successors(walk[-1]))))
            for steps, node in enumerate(reversed(walk)):
                least[node] = min(least[node], steps - (node == 0))
        assert (ahead <= least).all()
        assert ahead[0] == min(len(path) for path, _ in zip(machine.paths(), range(2000), strict=False))
        assert ahead[-1] == 0


# Wrong use, and what a search can say about failure.


@pytest.mark.parametrize(
    "answer",
    [
        lambda n, k: (np.zeros((n, k + 1)), np.zeros((n, k + 1))),
        lambda n, k: (np.zeros((n, k)), np.zeros(k)),
        lambda n, k: (np.zeros((n, k)), np.full((n, k), np.nan)),
        lambda n, k: (np.full((n, k), np.nan), np.zeros((n, k))),
    ],
)
def test_goals_that_do_not_fit(answer):
    case = Case(stream(0, "misfit"))
    with pytest.raises(RsgError, match=r"goals must give log G and log I of shape \(1, \d+\) without NaN"):
        case.search(goals=lambda states: answer(len(states), len(case.machine.terms)))


def test_goals_from_probabilities():
    log_g, log_i = goals_from(lambda states: [[0.0, 0.25, 1.0]])(np.zeros((1, 2)))
    assert np.exp(log_g).tolist() == [[0.0, 0.25, 1.0]]
    assert np.exp(log_i).tolist() == [[1.0, 0.75, 0.0]]


@pytest.mark.kernels
def test_which_nodes_were_reached():
    world = ByteWorld([[1, 0], [2, 1], [0, 2]], [1.0, 1.0])
    machine = Machine.of(parse("a then b then c"))
    holds = np.array([[False, False, False], [True, False, True], [False, False, False]])
    tables = np.where(holds, 0.0, -inf), np.where(holds, -inf, 0.0)
    search = ProductSearch(world, world.rows[0], machine, TableGoals(world, *tables), Product())
    assert search.run().ended == "exhausted"
    entered, left = search.reached()
    assert entered.tolist() == [False, True, True, False, False]
    assert left.tolist() == [True, True, False, False, False]

    holds[2, 1] = True
    search = ProductSearch(world, world.rows[0], machine, goals_from(lambda rows: holds[rows[:, 0]]), Product())
    assert search.run().actions.tolist() == [0, 0, 0, 0]
    entered, left = search.reached()
    assert entered.tolist() == [False, True, True, True, False]
    assert left.tolist() == [True, True, True, True, False]


@pytest.mark.kernels
def test_every_other_expansion_is_of_the_deepest_node():
    """On a long road, where searches for subgoals that were achieved could go on and on."""
    world, size, apart = ByteWorld(np.minimum(np.arange(200) + 1, 199)[:, None], [1.0]), 8, 3
    machine = Machine.of(parse(" then ".join("abcdefgh")))
    holds = np.arange(200)[:, None] == apart * np.arange(1, size + 1)
    tables = np.where(holds, 0.0, -inf), np.where(holds, -inf, 0.0)
    for seed in range(3):
        how = Product("deepest")
        found = ProductSearch(world, world.rows[0], machine, TableGoals(world, *tables), how, seed).run()
        assert len(found.actions) == size * apart
        assert found.expansions <= 2 * size * apart


@pytest.mark.kernels
def test_what_stands_in_for_a_missing_compiled_form_knows_nothing():
    rows = np.zeros((1, 1))
    assert np.isnan(explored.unknown((), rows, 0, 0)).all()
    assert kernels.goal((), rows, 0, 0) == (0.0, 0.0)
    assert not kernels.find_out((), (), 0)


def test_not_yet_is_what_i_says():
    world, start = CraftingWorld(1, 2), CraftingWorld(1, 2).state({(0, 1): "axe"})
    machine = Machine.of(parse("grab-axe"))

    def goals(already):
        def values(states):
            held = truth(world, states, ["grab-axe"]).astype(float)
            with np.errstate(divide="ignore"):
                return np.log(held), np.log(np.full(held.shape, 1.0 - already))

        return values

    for already, found in ((0.2, True), (0.49, True), (0.5, False), (0.9, False)):
        search = ProductSearch(world, start, machine, goals(already), Product())
        assert (search.run().actions is not None) == found
