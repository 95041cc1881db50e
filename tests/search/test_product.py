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

from rsg.core.errors import RsgError
from rsg.core.random import stream
from rsg.demos.crafting_tasks import COMPOSITIONAL, NOVEL
from rsg.language import Machine, parse, sample_task
from rsg.search import (
    ORDERS,
    ProductSearch,
    SearchSettings,
    core,
    cost_to_go,
    goals_from,
    local_graph,
    nodes_ahead,
    pool,
    product,
)
from rsg.worlds import check
from rsg.worlds.crafting import CraftingWorld, truth
from rsg.worlds.crafting.maps import objects_for, sample_map
from rsg.worlds.crafting.truth import TrueGoals

pytestmark = pytest.mark.filterwarnings("ignore:overflow encountered in scalar multiply")  # the hash, uncompiled

RULES = [(one_action, not_yet) for one_action in (True, False) for not_yet in (True, False)]


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

    def search(self, goals=None, **settings):
        settings = SearchSettings(**{"budget": None, "threshold": None, "weight": self.weight, **settings})
        return ProductSearch(self.world, self.world.rows[self.start], self.machine, goals or self.goals, settings)

    def best(self, threshold=None, **rules):
        tables = (self.log_g, self.log_i)
        return best_plan_cost(self.world, self.start, self.machine, *tables, self.weight, threshold, **rules)

    def price(self, found, threshold=None, **rules):
        tables = (self.log_g, self.log_i)
        return plan_cost(self.world, self.machine, *tables, found, self.weight, threshold, **rules)


def to_the_end(search, **arguments):
    """Run until no better plan comes."""
    found, cost = search.run(**arguments), None
    while found.cost != cost and found.ended == "found":
        found, cost = search.run(**arguments), found.cost
    return found


def compare_with_brute_force(case, threshold=None, **rules):
    """`optimal` and finished `anytime` against brute force; gives the least cost."""
    expected = case.best(threshold, **rules)
    for order in ("optimal", "anytime"):
        found = to_the_end(case.search(order=order, threshold=threshold, **rules))
        assert found.cost == pytest.approx(expected, abs=1e-9)
        assert found.ended == ("found" if expected < inf else "exhausted")
        if expected < inf:
            assert case.price(found, threshold, **rules) == pytest.approx(expected, abs=1e-9)
        else:
            assert found.actions is found.states is found.nodes is None
    return expected


@pytest.mark.parametrize("batch", range(10))
def test_the_least_cost_on_100_random_worlds(batch):
    rng = stream(batch, "brute force")
    costs = []
    for _ in range(100):
        case = Case(rng)
        costs += [compare_with_brute_force(case, one_action=one, not_yet=not_yet) for one, not_yet in RULES]
    assert 0.5 < np.isfinite(costs).mean() < 1


@pytest.mark.parametrize("batch", range(3))
def test_the_least_cost_with_a_threshold_on_100_random_worlds(batch):
    rng = stream(batch, "brute force with a threshold")
    costs = []
    for _ in range(100):
        case, threshold = Case(rng), float(rng.choice([0.3, 0.5, 0.8]))
        costs += [compare_with_brute_force(case, threshold, one_action=one, not_yet=not_yet) for one, not_yet in RULES]
    assert 0.3 < np.isfinite(costs).mean() < 0.9


@pytest.mark.kernels
@pytest.mark.parametrize("threshold", [None, 0.5])
def test_the_least_cost_on_a_few_random_worlds(threshold):
    rng = stream(0, "a few")
    for _ in range(4):
        case = Case(rng, depth=1)
        for one_action, not_yet in RULES:
            compare_with_brute_force(case, threshold, one_action=one_action, not_yet=not_yet)


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
    names = ("actions", "states", "nodes", "cost", "expansions", "per_node", "ended")
    return [name for name in names if not np.array_equal(getattr(a, name), getattr(b, name))]


def compare_forms(case, **settings):
    """The same search compiled and in batches; gives the result."""
    compiled, general = case.search(**settings), case.search(goals=lambda states: case.goals(states), **settings)
    assert hasattr(case.goals, "compiled")
    result = to_the_end(compiled)
    assert differences(result, to_the_end(general)) == []
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
        for one_action, not_yet in RULES:
            for threshold in (None, 0.5):
                compare_forms(case, order=order, threshold=threshold, one_action=one_action, not_yet=not_yet)


def long_case(seed, states=4000, make_world=ByteWorld):
    """A world of a long way: where subgoals hold is rare."""
    return Case(stream(seed, "long"), make_world, states=(states, states), impossible=(0.99, 0))


@pytest.mark.parametrize("order", ORDERS)
def test_compiled_and_general_form_agree_on_worlds_that_outgrow_their_first_room(order):
    found = []
    for seed in range(10):
        case = long_case(seed)
        layers = (15, 10, 100)
        found.append(compare_forms(case, order=order, threshold=0.3, layers=layers))
        found.append(compare_forms(case, order=order, layers=layers, budget=3000))
        found.append(compare_forms(case, order=order, threshold=0.3, layers=layers, per_node=500))
    assert max(result.expansions for result in found) > pool._FIRST_CAPACITY
    assert sum(result.ended == "found" for result in found) > 5


@pytest.mark.kernels
@pytest.mark.parametrize("order", ORDERS)
def test_small_batches_rooms_and_slices_change_nothing(order, monkeypatch):
    case = long_case(1, states=150)
    settings = {"order": order, "one_action": False, "layers": (5, 5, 5)}
    normal = compare_forms(case, **settings)
    for batch, room, slice_ in [(1, 4, 1), (3, 17, 5), (1000, 1000, 2)]:
        monkeypatch.setattr(pool, "_BATCH", batch)
        monkeypatch.setattr(pool, "_FIRST_CAPACITY", room)
        monkeypatch.setattr(product, "_SLICE", slice_)
        assert differences(compare_forms(case, **settings), normal) == []


@pytest.mark.kernels
def test_the_heap_has_room_for_all_that_one_expansion_opens(monkeypatch):
    """With the looser rule one node may be entered several times in a row, each time more cheaply."""
    monkeypatch.setattr(product, "_SLICE", 1)
    machine = Machine.of(parse("x then (a or b or c or d) then (e or f or g or h)"))
    rng = stream(0, "heap")
    rising = np.tile([0.0, -9.0, -8.0, -7.0, -6.0, -9.0, -9.0, -9.0, -9.0], (60, 1))
    for room in range(10, 40):
        monkeypatch.setattr(pool, "_FIRST_CAPACITY", room)
        world = ByteWorld(rng.integers(60, size=(60, 4)), [0.1, 0.2, 0.3, 0.4])
        goals = TableGoals(world, rising, np.zeros_like(rising))
        settings = SearchSettings(order="optimal", threshold=None, one_action=False, budget=80)
        search = ProductSearch(world, world.rows[0], machine, goals, settings)

        def look(expansions, search=search):
            assert search.arrays.counters[core.FULLEST] <= search.arrays.keys.shape[1]

        search.run(progress=look)


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
        settings = SearchSettings(order=order, budget=6000)
        compiled = to_the_end(ProductSearch(world, state, machine, goals, settings))
        general = to_the_end(ProductSearch(world, state, machine, lambda states, ask=goals: ask(states), settings))
        assert differences(compiled, general) == []
        found.append(compiled)
    assert sum(result.ended == "found" for result in found) >= 4
    assert max(result.expansions for result in found) > pool._FIRST_CAPACITY


@pytest.mark.kernels
@pytest.mark.parametrize("order", ORDERS)
def test_a_plan_in_crafting_world(order):
    world, state, machine, goals = crafting("grab-axe then mine-wood", "garden", 0)
    found = ProductSearch(world, state, machine, goals, SearchSettings(order=order)).run()
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
    for _ in range(40):
        case = Case(rng, ByteWorld, states=(3, 40), impossible=(0.5, 0.5))
        for one_action, not_yet in RULES:
            threshold = rng.choice([None, 0.3])
            rules = {"one_action": one_action, "not_yet": not_yet}
            search = case.search(order=order, threshold=threshold, **rules)
            best, cost = case.best(threshold, **rules), None
            while (result := search.run()).ended == "found" and result.cost != cost:
                assert cost is None or result.cost < cost
                found, cost = found + 1, result.cost
                assert case.price(result, threshold, **rules) == pytest.approx(cost, abs=1e-9)
                assert cost >= best - 1e-9
                assert np.array_equal(result.states[0], case.world.rows[case.start])
                assert np.array_equal(result.states[1:], case.world.step(result.states[:-1], result.actions))
                assert result.per_node.sum() == result.expansions
    assert found > 50


@pytest.mark.parametrize("order", ORDERS)
def test_budgets_are_kept_and_a_search_goes_on_where_it_stopped(order):
    rng = stream(0, "budgets", order)
    ended = []
    for seed in range(30):
        case = long_case(seed, states=400)
        settings = {"order": order, "seed": seed, "threshold": rng.choice([None, 0.3]), "layers": (9, 9, 30)}
        budgets = np.sort(rng.integers(1, 400, size=3)).tolist()
        search = case.search(budget=budgets[0], **settings)
        for budget in budgets:
            result = to_the_end(search, budget=budget)
            fresh = to_the_end(case.search(budget=budget, **settings))
            assert result.expansions <= budget
            assert result.ended != "budget" or result.expansions == budget or order == "layered"
            assert differences(result, fresh) == []
            ended.append(result.ended)
            if result.ended != "budget":
                break
    assert ended.count("budget") > 5
    assert ended.count("found") > 5


@pytest.mark.kernels
@pytest.mark.parametrize("order", ORDERS)
def test_budgets_per_node_are_kept(order):
    for seed in range(8):
        case = long_case(seed, states=100)
        for limit in (1, 7):
            result = to_the_end(case.search(order=order, per_node=limit, layers=(5, 5, 5)))
            assert result.per_node.max() == limit
            assert result.ended in ("found", "budget")  # never that all was tried


@pytest.mark.kernels
def test_exhausted_means_that_all_was_tried():
    """On a ring where two steps at once are dear: every state is opened twice, and expanded once."""
    world = ByteWorld((np.arange(6)[:, None] + [1, 2]) % 6, [1.0, 5.0])
    machine = Machine.of(parse("a"))

    def result(order, **settings):
        tables = np.full((6, 1), -inf), np.zeros((6, 1))
        settings = SearchSettings(order=order, **settings)
        return ProductSearch(world, world.rows[0], machine, TableGoals(world, *tables), settings).run()

    for order in ORDERS:
        for limits in ({}, {"per_node": 6}, {"budget": 6}):
            assert result(order, **limits).ended == "exhausted"
            assert result(order, **limits).per_node.tolist() == [0, 6, 0]
        for limits in ({"per_node": 5}, {"budget": 5}):
            assert result(order, **limits).ended == "budget"
            assert result(order, **limits).per_node.tolist() == [0, 5, 0]
    assert result("layered", layers=(4, 0, 1)).ended == "exhausted"
    assert result("layered", layers=(3, 0, 1)).ended == "budget"
    assert result("layered", layers=(1, 9, 2)).ended == "exhausted"
    assert result("layered", layers=(1, 9, 1)).ended == "budget"  # though what the beam left out came in again


def test_the_seed_decides():
    cases = [long_case(seed, states=300) for seed in range(6)]
    for order in ORDERS:
        results = [[case.search(order=order, seed=seed, threshold=0.3).run() for case in cases] for seed in (5, 5, 6)]
        assert sum(result.ended == "found" for result in results[0]) > 1
        same, other = (
            [bool(differences(*pair)) for pair in zip(results[0], rest, strict=True)] for rest in results[1:]
        )
        assert not any(same)
        assert any(other) == (order in ("balanced", "deepest", "anytime"))


def endless():
    """A map with millions of states and a subgoal that never holds, compiled and not."""
    world, _ = sample_map("large-field", stream(0, "endless"))
    items = ["wood", "coal", "stick", "bowl", "potato", "feather", "key", "axe"]
    state = world.state({(i // 7, i % 7): items[i % 8] for i in range(30)}, agent=(6, 6))
    goals = TrueGoals(world, ["craft-boat"])
    return world, state, Machine.of(parse("craft-boat")), {"compiled": goals, "general": lambda rows: goals(rows)}


@pytest.mark.parametrize("form", ["compiled", "general"])
@pytest.mark.parametrize("order", ["deepest", "optimal", "layered"])
def test_time_limits_cancelling_and_progress(order, form):
    world, state, machine, goals = endless()

    def search(**limits):
        settings = SearchSettings(order=order, budget=None, layers=(20, 1000, 1000), **limits)
        return ProductSearch(world, state, machine, goals[form], settings)

    search(time_limit=0.001).run()  # compiles, or loads what was compiled
    timed = search(time_limit=0.001)
    first, second = timed.run(), timed.run()
    assert first.ended == second.ended == "time"
    assert second.expansions > first.expansions
    assert first.seconds < 5

    answers, told = iter([False, False, True]), []
    result = search().run(progress=told.append, cancelled=lambda: next(answers))
    assert result.ended == "cancelled"
    assert result.actions is None
    assert told == sorted(told)
    assert len(told) == 3


@pytest.mark.kernels
def test_with_the_looser_rule_a_task_may_be_done_where_it_begins():
    world = ByteWorld([[1, 0], [0, 1]], [0.1, 0.1])
    machine = Machine.of(parse("a then b"))
    tables = np.log([[0.5, 0.5], [0.9, 0.9]]), np.log([[0.5, 0.5], [0.1, 0.1]])
    for order in ORDERS:
        settings = SearchSettings(order=order, threshold=None, one_action=False)
        found = ProductSearch(world, world.rows[0], machine, TableGoals(world, *tables), settings).run()
        assert found.ended == "found"
        if order in ("balanced", "deepest"):  # content with the first plan
            assert (len(found.actions), len(found.states), found.expansions) == (0, 1, 0)
            assert found.cost == pytest.approx(4 * np.log(2))
        else:
            assert found.cost == pytest.approx(best_plan_cost(world, 0, machine, *tables, one_action=False))


# Heuristics.


def test_admissible_heuristics_keep_the_least_cost_and_save_expansions():
    rng = stream(0, "heuristics")
    expansions = []
    for _ in range(100):
        case = Case(rng, states=(3, 40), impossible=(0.3, 0.3))
        everything = local_graph(case.world, case.world.rows, depth=0)
        exact = cost_to_go(everything, case.machine, case.log_g, case.log_i, case.weight).cost
        half = np.where(np.isfinite(exact), exact / 2, inf)

        def told(states, table):
            return table[case.world.numbers(states)]  # noqa: B023

        heuristics = [
            "none",
            "steps",
            lambda states, half=half: told(states, half),
            lambda states, exact=exact: told(states, exact),
        ]
        results = [case.search(order="optimal", heuristic=heuristic).run() for heuristic in heuristics]
        assert [result.cost for result in results] == pytest.approx([case.best()] * 4)
        expansions.append([result.expansions for result in results])
    none, steps, half, exact = np.sum(expansions, axis=0)
    assert exact < half < steps < none


@pytest.mark.kernels
def test_a_heuristic_of_ones_own_while_the_room_grows(monkeypatch):
    monkeypatch.setattr(pool, "_FIRST_CAPACITY", 8)
    case = long_case(2, states=60)
    asked = []

    def heuristic(states):
        asked.extend(case.world.numbers(states).tolist())
        return np.zeros((len(states), case.machine.nodes))

    for order in ORDERS:
        asked.clear()
        own, none = case.search(order=order, heuristic=heuristic), case.search(order=order, heuristic="none")
        assert differences(to_the_end(own), to_the_end(none)) == []
        assert len(asked) == len(set(asked)) > 8


@pytest.mark.parametrize("answer", [lambda n, v: np.zeros(v), lambda n, v: np.zeros((n, 1)), lambda n, v: 0 * np.nan])
def test_a_heuristic_that_does_not_fit(answer):
    case = Case(stream(0, "misfit"))
    with pytest.raises(RsgError, match=r"heuristic must give .* of shape \(1, \d+\) without NaN"):
        case.search(heuristic=lambda states: answer(len(states), case.machine.nodes))


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
    ("settings", "problem"),
    [
        ({"order": "random"}, "there is no order 'random'; orders are: optimal, anytime, balanced, deepest, layered"),
        ({"budget": 0}, "budget must be at least 1, not 0"),
        ({"per_node": -5}, "per_node must be at least 1, not -5"),
        ({"threshold": 0.0}, "threshold lies between 0 and 1, not 0.0"),
        ({"threshold": 1.0}, "threshold lies between 0 and 1, not 1.0"),
        ({"time_limit": 0.0}, "the time limit must be positive, not 0.0"),
        ({"heuristic": "manhattan"}, "heuristic is 'steps', 'none' or a function, not 'manhattan'"),
        ({"weight": 0.0}, "weight must be positive, not 0.0"),
        ({"weight": -1.0}, "weight must be positive, not -1.0"),
        ({"layers": (-1, 2, 3)}, r"layers are three numbers, none negative, not \(-1, 2, 3\)"),
        ({"layers": (1, 2)}, r"layers are three numbers, none negative, not \(1, 2\)"),
    ],
    ids=str,
)
def test_wrong_settings(settings, problem):
    with pytest.raises(RsgError, match=problem):
        SearchSettings(**settings)


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
    search = ProductSearch(world, world.rows[0], machine, TableGoals(world, *tables), SearchSettings())
    assert search.run().ended == "exhausted"
    entered, left = search.reached()
    assert entered.tolist() == [False, True, True, False, False]
    assert left.tolist() == [True, True, False, False, False]

    holds[2, 1] = True
    search = ProductSearch(world, world.rows[0], machine, goals_from(lambda rows: holds[rows[:, 0]]), SearchSettings())
    assert search.run().actions.tolist() == [0, 0, 0, 0]
    entered, left = search.reached()
    assert entered.tolist() == [False, True, True, True, False]
    assert left.tolist() == [True, True, True, True, False]


@pytest.mark.kernels
def test_what_stands_in_for_a_missing_compiled_form_knows_nothing():
    rows = np.zeros((1, 1))
    assert np.isnan(core.unknown((), rows, 0, 0)).all()
    assert core.goal((), rows, 0, 0) == (0.0, 0.0)


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
        search = ProductSearch(world, start, machine, goals(already), SearchSettings())
        assert (search.run().actions is not None) == found
    assert ProductSearch(world, start, machine, goals(0.9), SearchSettings(not_yet=False)).run().actions is not None
