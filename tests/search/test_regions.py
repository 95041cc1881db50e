"""The search over regions against a plain twin, its compiled form against its general one, and what it promises."""

from math import inf

import numba
import numpy as np
import pytest
from tests.reference import goal_only as reference
from tests.reference.novelty import DigitGoals, DigitWorld
from tests.reference.search import ByteWorld, NumberWorld, TableGoals, TableWorld

from rsg.core.errors import RsgError
from rsg.core.random import stream
from rsg.domains.crafting.maps import sample_map
from rsg.domains.crafting.truth import TrueGoals
from rsg.search import Explored, Limits, RegionSearch
from rsg.search.product import explored, serving

pytestmark = pytest.mark.filterwarnings("ignore:overflow encountered in scalar multiply")  # the hash, uncompiled

SLOW = bool(numba.config.DISABLE_JIT)
PRICES = [0.125, 0.25, 0.5, 1.0, 1.75, 3000.0]  # sums of these are exact, so that ties are ties; one is very dear
BUDGETS = [1, 2, 7, 30, 25_000]


class Case:
    """A random world, start and terms, and regions that are judged by chance, and by the way to them.

    Each term holds in at most `rare` of the states; the goal only in the share `goals` of those.
    """

    def __init__(self, rng, make_world=TableWorld, states=(2, 40), terms=(1, 6), rare=0.5, goals=0.6):
        count, actions = int(rng.integers(states[0], states[1] + 1)), int(rng.integers(1, 5))
        after = rng.integers(count, size=(count, actions))
        near = rng.random(after.shape) < 0.5  # not all are a few steps away
        after = np.where(near, (np.arange(count)[:, None] + 1 + np.arange(actions)) % count, after)
        self.world = make_world(after, rng.choice(PRICES, size=actions))
        self.start, self.terms = int(rng.integers(count)), int(rng.integers(terms[0], terms[1] + 1))
        self.goal = int(rng.integers(self.terms))
        self.threshold = float(rng.choice([0.3, 0.5, 0.8]))
        self.held = rng.random((count, self.terms)) < rng.uniform(0.02, rare, size=self.terms)
        self.held[:, self.goal] &= rng.random(count) < goals
        share = rng.random(self.held.shape)
        g = np.where(self.held, self.threshold + (1 - self.threshold) * share, self.threshold * share * 0.999)
        g[self.held & (rng.random(g.shape) < 0.3)] = self.threshold  # just enough
        g[rng.random(g.shape) < 0.1] = 0.0
        self.held &= g > 0
        with np.errstate(divide="ignore"):
            self.goals = TableGoals(self.world, np.log(g), np.log1p(-g))
        self.ranks = rng.choice([-1.0, 0.0, 1.0, 2.5], size=2**self.terms)
        self.by_way = bool(rng.integers(2))
        self.budget = int(rng.choice(BUDGETS, p=[0.05, 0.05, 0.2, 0.2, 0.5]))
        self.blind, self.novel = bool(rng.integers(4) == 0), False

    def judge(self, terms, way):
        """The rank of a region."""
        number = sum(1 << term for term in terms)
        return self.ranks[number] + (sum(way) % 3 if self.by_way else 0)

    def rank(self, holds, achieved):
        assert holds.shape == (len(achieved), self.terms)
        self.ways.update(
            {frozenset(np.flatnonzero(row).tolist()): way for row, way in zip(holds, achieved, strict=True)}
        )
        return np.array(
            [self.judge(np.flatnonzero(row).tolist(), way) for row, way in zip(holds, achieved, strict=True)]
        )

    def search(self, goals=None):
        self.ways = {}
        known = Explored(self.world, self.world.rows[self.start], goals or self.goals, self.terms)
        return RegionSearch(known, self.goal, self.rank, self.threshold, self.blind, self.novel)

    def found(self, goals=None):
        return self.search(goals).run(Limits(self.budget))

    def expected(self):
        holds = [frozenset(np.flatnonzero(row).tolist()) for row in self.held]
        options = (self.goal, self.judge, self.budget, self.blind, self.novel)
        return reference.RegionSearch(self.world, self.start, holds, *options).run()


def unranked(holds, _):
    """All regions are alike."""
    return np.zeros(len(holds))


def compare_with_reference(case, **how):
    """The real search says what its twin says; gives that."""
    found, expected = case.found(**how), case.expected()
    assert found.ended == expected.ended
    assert found.expansions == expected.expansions
    assert found.regions == len(expected.regions)
    assert case.ways == {terms: region.way for terms, region in expected.regions.items() if region.rank is not None}
    assert set(np.flatnonzero(found.seen).tolist()) == expected.seen
    assert found.cost == expected.cost
    if expected.actions is None:
        assert found.actions is found.states is found.holds is None
    else:
        assert found.actions.tolist() == expected.actions
        check_plan(case, found)
    return expected


def check_plan(case, found):
    """It leads from the start to a state in which the goal comes true."""
    assert np.array_equal(found.states[0], case.world.rows[case.start])
    assert np.array_equal(found.states[1:], case.world.step(found.states[:-1], found.actions))
    numbers = case.world.numbers(found.states)
    assert len(set(numbers[:-1].tolist())) == len(numbers) - 1
    assert np.array_equal(found.holds, case.held[numbers])
    assert found.holds[-2:, case.goal].tolist() == [False, True]
    assert found.cost == case.world.costs[found.actions].sum()
    assert found.states.dtype == case.world.rows.dtype


# Against the twin.


@pytest.mark.kernels
@pytest.mark.parametrize("make_world", [TableWorld, ByteWorld])
@pytest.mark.parametrize("batch", range(4))
def test_the_twin_agrees_on_100_random_worlds(batch, make_world):
    rng = stream(batch, "regions")
    answers = []
    for _ in range(25 if SLOW else 100):
        case = Case(rng, make_world, states=(2, 15 if SLOW else 40))
        answers.append(compare_with_reference(case))
        if make_world is ByteWorld:
            compare_with_reference(case, goals=lambda states, case=case: case.goals(states))
    ended = [answer.ended for answer in answers]
    assert SLOW or min(ended.count(one) for one in ("found", "exhausted", "budget")) >= 5


@pytest.mark.parametrize("batch", range(3))
def test_the_twin_agrees_where_novelty_counts(batch):
    rng = stream(batch, "novel regions")
    fewer = []
    for _ in range(10 if SLOW else 60):
        case = Case(rng, DigitWorld, (10, 400), (2, 6), rare=0.1, goals=0.2)
        case.goals, case.novel = DigitGoals(case.world, case.goals.log_g, case.goals.log_i), True
        expected = compare_with_reference(case)
        compare_with_reference(case, goals=lambda states, case=case: case.goals(states))
        case.novel = False
        fewer.append(expected.expansions - case.expected().expansions)
    assert SLOW or (min(fewer) < 0 < max(fewer))


def test_the_twin_agrees_on_larger_worlds():
    rng = stream(0, "larger regions")
    sizes = []
    for number in range(30):
        case = Case(rng, [TableWorld, ByteWorld][number % 2], (300, 600), (4, 7), rare=0.05, goals=0.1)
        case.budget, case.blind = 25_000, number % 4 == 3
        sizes.append(compare_with_reference(case).expansions)
    assert max(sizes) > 250
    assert np.median(sizes) > 20


@pytest.mark.kernels
def test_the_cheapest_ways_first_if_all_expansions_are_blind():
    """With actions of one price and regions of one rank a blind search finds a shortest way."""
    rng = stream(0, "blind regions")
    found = 0
    for _ in range(15 if SLOW else 60):
        case = Case(rng, ByteWorld, rare=0.1, goals=1.0)
        case.world.costs[:] = 0.25
        case.budget, case.blind, case.by_way = 25_000, True, False
        case.ranks[:] = 0.0
        case.held[case.start, case.goal] = False
        case.goals.log_g[case.start, case.goal] = -inf
        result = case.found()
        distance, layer, steps = {}, {case.start}, 0
        while layer:
            distance.update(dict.fromkeys(layer, steps))
            layer, steps = {int(t) for s in layer for t in case.world.after[s]} - set(distance), steps + 1
        least = min((distance[s] for s in distance if case.held[s, case.goal]), default=inf)
        assert result.cost == 0.25 * least
        found += result.ended == "found"
    assert SLOW or found > 15


@pytest.mark.kernels
def test_a_way_on_is_kept_though_a_cheaper_one_to_where_it_began_turns_up():
    """1 is dear and expanded at once; by way of 3 it would have been cheap, but what comes after 1 is known already."""
    world = ByteWorld([[1, 3], [1, 2], [2, 4], [3, 1], [4, 4]], [4.0, 1.0])
    held = np.array([[0, 0], [0, 0], [0, 0], [1, 0], [0, 1]], dtype=bool)
    goals = TableGoals(world, np.where(held, 0.0, -inf), np.where(held, -inf, 0.0))

    def rank(holds, _):
        return np.where(holds[:, 0], 5.0, 0.0)

    found = RegionSearch(Explored(world, world.rows[0], goals, 2), 1, rank).run()
    assert (found.actions.tolist(), found.cost, found.expansions) == ([0, 1, 1], 6.0, 3)


@pytest.mark.kernels
def test_a_small_example_by_hand():
    """From 0 a key lies one way, a long dead end the other; the door opens only with the key."""
    #         0       1       2       3       4
    after = [[1, 2], [0, 1], [0, 3], [2, 2], [4, 4]]
    after[1][1] = 4
    world = ByteWorld(after, [1.0, 1.0])
    held = np.array([[0, 0], [1, 0], [0, 0], [0, 0], [1, 1]], dtype=bool)  # key, door
    goals = TableGoals(world, np.where(held, 0.0, -inf), np.where(held, -inf, 0.0))
    asked = []

    def rank(holds, achieved):
        asked.append((holds.tolist(), list(achieved)))
        return np.where(holds[:, 0], 0.0, 1.0)

    found = RegionSearch(Explored(world, world.rows[0], goals, 2), 1, rank).run()
    assert (found.ended, found.actions.tolist(), found.expansions, found.regions) == ("found", [0, 1], 2, 3)
    assert found.holds.tolist() == [[False, False], [True, False], [True, True]]
    assert found.cost == 2.0
    assert found.seen.tolist() == [True, True]
    assert asked == [([[False, False]], [()]), ([[True, False]], [(0,)])]  # the last one was never needed


# The compiled form and the general one.


def differences(a, b):
    """What differs between two results."""
    return [name for name in vars(a) if not np.array_equal(getattr(a, name), getattr(b, name))]


def compare_forms(case):
    """The same search compiled and in batches; gives the result."""
    assert hasattr(case.goals, "compiled")
    result = case.found()
    assert differences(result, case.found(goals=lambda states: case.goals(states))) == []
    return result


WORLDS = {
    "1 byte": lambda after, costs: ByteWorld(after, costs, width=1),
    "3 bytes": lambda after, costs: ByteWorld(after, costs, width=3),
}
if SLOW:  # one more kernel to compile otherwise; the product search has one for such states
    WORLDS["float32"] = NumberWorld


@pytest.mark.kernels
@pytest.mark.parametrize("make_world", WORLDS)
def test_compiled_and_general_form_agree(make_world):
    rng = stream(0, "forms of regions", make_world)
    for _ in range(8 if SLOW else 40):
        compare_forms(Case(rng, WORLDS[make_world], states=(2, 200)))


def long_case(seed, states, goals=0.001):
    """A world of a long way, of many regions, and a goal that holds nearly nowhere."""
    case = Case(stream(seed, "long regions"), ByteWorld, (states, states), (8, 8), rare=0.8, goals=goals)
    case.budget, case.blind = 25_000, seed % 4 == 1
    return case


def test_compiled_and_general_form_agree_on_worlds_that_outgrow_their_first_room():
    results = [compare_forms(long_case(seed, states=4000)) for seed in range(12)]
    assert max(result.expansions for result in results) > explored.FIRST_CAPACITY
    assert max(result.regions for result in results) > 64
    assert {result.ended for result in results} == {"found", "exhausted"}


def rooms_full_of_rubbish(monkeypatch):
    """New rooms often look like those of the search before: here they do not."""
    make = np.empty

    def rubbish(shape, dtype=np.float64, **how):
        room = make(shape, dtype, **how)
        room.view(np.uint8).reshape(-1)[:] = 77
        return room

    monkeypatch.setattr(np, "empty", rubbish)


@pytest.mark.kernels
def test_small_batches_rooms_and_slices_change_nothing(monkeypatch):
    late = 0
    for seed in range(13 if SLOW else 20):
        case = long_case(seed, states=100, goals=0.04)
        normal = compare_forms(case)
        late += normal.ended == "found" and normal.expansions > 20 and normal.regions > 16
        for batch, room, slice_ in [(1, 4, 1), (3, 17, 5), (1000, 1000, 2), (256, 5, 50_000)]:
            rooms_full_of_rubbish(monkeypatch)
            monkeypatch.setattr(explored, "BATCH", batch)
            monkeypatch.setattr(explored, "FIRST_CAPACITY", room)
            monkeypatch.setattr(serving, "FIRST_ROOM", room)
            monkeypatch.setattr(serving, "SLICE", slice_)
            assert differences(compare_forms(case), normal) == []
            monkeypatch.undo()
    assert late >= 3  # these depend on the order in which states are expanded


@pytest.mark.kernels
def test_there_is_room_for_all_that_one_expansion_opens(monkeypatch):
    """Whatever the first rooms are: heaps, states and regions."""
    monkeypatch.setattr(serving, "SLICE", 1)
    for room in range(2, 8 if SLOW else 40):
        monkeypatch.setattr(explored, "FIRST_CAPACITY", room)
        monkeypatch.setattr(serving, "FIRST_ROOM", room)
        search = long_case(room, states=60).search()

        def look(expansions, search=search):
            memory, run = search.memory, search.memory.run[0]
            assert run.fullest < memory.heaps.shape[1]
            assert memory.known.size[0] <= len(memory.labels) == len(memory.known.pool)
            assert run.regions <= len(memory.regions) == len(memory.holds)

        search.run(Limits(25_000, between=look))


@pytest.mark.kernels
@pytest.mark.parametrize("room", [25, 30, 37, 60])
def test_the_heap_has_room_for_states_that_become_cheaper_again_and_again(monkeypatch, room):
    """From 0 to each of twelve states, and from each of them, the dearest first, to the same twelve others."""
    monkeypatch.setattr(explored, "FIRST_CAPACITY", room)
    monkeypatch.setattr(serving, "FIRST_ROOM", room)
    after = np.array([range(1, 13), *[range(13, 25)] * 12, *[[s] * 12 for s in range(13, 25)]])
    world = ByteWorld(after, np.arange(1.0, 13.0))
    held = np.zeros((25, 5), dtype=bool)  # the goal comes last and never holds
    held[:, :4] = np.arange(25)[:, None] >> np.arange(4) & 1  # which of the first ones it is
    held[13:, :4] = True
    goals = TableGoals(world, np.where(held, 0.0, -inf), np.where(held, -inf, 0.0))

    def judge(terms, _):
        number = sum(1 << term for term in terms)
        return 99 if number == 15 else -number

    def rank(holds, achieved):
        return np.array([judge(np.flatnonzero(row).tolist(), ()) for row in holds])

    search = RegionSearch(Explored(world, world.rows[0], goals, 5), 4, rank)
    result = search.run()
    assert (result.ended, result.expansions) == ("exhausted", 25)
    assert search.memory.run[0].tick == 1 + 12 + 12 * 12  # each of the others was opened twelve times
    states = [frozenset(np.flatnonzero(row).tolist()) for row in held]
    expected = reference.RegionSearch(world, 0, states, 4, judge, 25_000).run()
    assert expected.order[:13] == [0, *range(12, 0, -1)]
    assert expected.expansions == 25


@pytest.mark.kernels
def test_every_expansion_counts():
    """The count is the number of states that were expanded, each of them once."""
    for seed in range(2 if SLOW else 10):
        case = long_case(seed, states=100)
        search = case.search()
        result = search.run(Limits(case.budget))
        expanded = search.memory.labels["expanded"][: search.memory.known.size[0]] > 0
        assert result.expansions == expanded.sum()
        states = search.explored.rows(np.flatnonzero(expanded))
        assert set(case.world.numbers(states).tolist()) == set(case.expected().order)


# In which order: first by rank, then by how many regions lie behind, then by cost, however large each of them is.


def search_by_rank(world, held, ranks):
    """From state 0 to the last term; each region has the rank of the terms that hold there, as a number."""
    goals = TableGoals(world, np.where(held, 0.0, -inf), np.where(held, -inf, 0.0))
    of_term = np.array(ranks)
    known = Explored(world, world.rows[0], goals, held.shape[1])
    return RegionSearch(known, held.shape[1] - 1, lambda holds, _: (holds * of_term).sum(axis=1)).run()


@pytest.mark.kernels
@pytest.mark.parametrize("make_world", [TableWorld, ByteWorld])
@pytest.mark.parametrize("price", [2e3, 5e6, 1e12])
def test_a_better_region_comes_first_however_dear_it_is(make_world, price):
    world = make_world([[1, 2], [3, 3], [3, 3], [3, 3]], [price, 1.0])
    held = np.array([[False] * 3, [True, False, False], [False, True, False], [False, False, True]])
    found = search_by_rank(world, held, [0.0, 1.0, 0.0])
    assert found.actions.tolist() == [0, 0]
    found = search_by_rank(world, held, [1.0, 0.0, 0.0])
    assert found.actions.tolist() == [1, 0]


@pytest.mark.kernels
@pytest.mark.parametrize("make_world", [TableWorld, ByteWorld])
def test_a_better_region_comes_first_however_many_lie_behind_it(make_world):
    """A way through more than 1,000 regions of rank 0 is gone to its end before one step into a region of rank 1."""
    count, bits = (1100 if SLOW else 1500), 11
    goal, aside = count, count + 1
    after = [[1, aside], *([s + 1, s] for s in range(1, count)), [goal, goal], [goal, goal]]
    codes = np.arange(count) ^ (np.arange(count) >> 1)  # each differs from the one before in one bit
    held = np.zeros((count + 2, bits + 2), dtype=bool)
    held[:count, :bits] = (codes[:, None] >> np.arange(bits)) & 1
    held[aside, bits] = held[goal, bits + 1] = True
    found = search_by_rank(make_world(after, [1.0, 1.0]), held, [*[0.0] * bits, 1.0, 0.0])
    assert found.regions > 1000
    assert found.expansions == len(found.actions) == count
    assert found.actions.tolist() == [0] * count


# What ends a search.


@pytest.mark.kernels
def test_budgets_are_kept():
    for seed in range(4 if SLOW else 12):
        case = long_case(seed, states=60, goals=0.0)
        whole = case.found()
        assert whole.ended == "exhausted"
        for budget in (1, 5, whole.expansions - 1, whole.expansions, whole.expansions + 1):
            case.budget = budget
            result = case.found()
            assert result.expansions == min(budget, whole.expansions)
            assert result.ended == ("budget" if budget < whole.expansions else "exhausted")


@pytest.mark.kernels
def test_exhausted_means_that_all_was_tried():
    for seed in range(4 if SLOW else 20):
        case = Case(stream(seed, "all"), ByteWorld, goals=0.0)
        case.budget = 25_000
        result, reached, frontier = case.found(), {case.start}, [case.start]
        while frontier:
            after = {int(t) for t in case.world.after[frontier.pop()]} - reached
            reached |= after
            frontier += after
        assert (result.ended, result.expansions) == ("exhausted", len(reached))
        held = case.held[sorted(reached)]
        assert np.array_equal(result.seen, held.any(axis=0) & ~case.held[case.start])
        assert result.regions == len(np.unique(held, axis=0))


@pytest.mark.kernels
def test_a_goal_that_holds_already_does_not_count():
    """Nor where it goes on holding: it must become false first."""
    world = ByteWorld([[1], [2], [3], [3]], [1.0])
    held = np.array([[True], [True], [False], [True]])
    goals = TableGoals(world, np.where(held, 0.0, -inf), np.where(held, -inf, 0.0))

    found = RegionSearch(Explored(world, world.rows[0], goals, 1), 0, unranked).run()
    assert (found.ended, found.cost, found.holds[:, 0].tolist()) == ("found", 3.0, [True, True, False, True])
    assert not found.seen.any()  # it held at the start
    found = RegionSearch(Explored(world, world.rows[3], goals, 1), 0, unranked).run()
    assert (found.ended, found.expansions) == ("exhausted", 1)


@pytest.mark.kernels
def test_a_goal_may_come_true_where_one_has_been():
    """There and back: it becomes false and true again."""
    world, held = ByteWorld([[1], [0]], [1.0]), np.array([[True], [False]])
    goals = TableGoals(world, np.where(held, 0.0, -inf), np.where(held, -inf, 0.0))
    found = RegionSearch(Explored(world, world.rows[0], goals, 1), 0, unranked).run()
    assert found.ended == "found"
    assert len(found.actions) == 2


def endless():
    """A map with millions of states and a goal that never holds, compiled and not."""
    world, _ = sample_map("large-field", stream(0, "endless"))
    items = ["wood", "coal", "stick", "bowl", "potato", "feather", "key", "axe"]
    state = world.state({(i // 7, i % 7): items[i % 8] for i in range(30)}, agent=(6, 6))
    goals = TrueGoals(world, ["craft-boat", "grab-key", "grab-axe"])
    return world, state, {"compiled": goals, "general": lambda rows: goals(rows)}


@pytest.mark.parametrize("form", ["compiled", "general"])
def test_time_limits_cancelling_and_progress(form, monkeypatch):
    monkeypatch.setattr(serving, "SLICE", 1000)
    world, state, goals = endless()

    def search():
        return RegionSearch(Explored(world, state, goals[form], 3), 0, lambda holds, _: holds.sum(axis=1))

    search().run(Limits(10))  # compiles, or loads what was compiled
    timed = search()
    first, second = (timed.run(Limits(seconds=0.001)) for _ in range(2))
    assert first.ended == second.ended == "time"
    assert second.expansions > first.expansions
    assert first.actions is second.actions is None

    answers, told = iter([False, False, True]), []
    result = search().run(Limits(between=lambda count: told.append(count) or next(answers)))
    assert result.ended == "cancelled"
    assert result.actions is None
    assert told == sorted(told)
    assert len(told) == 3
    assert result.expansions == told[-1]

    again = search()
    assert again.run(Limits(5000, between=lambda _: True)).ended == "cancelled"
    assert differences(again.run(Limits(5000)), search().run(Limits(5000))) == []  # it goes on where it stopped


# Wrong use.


@pytest.mark.parametrize("threshold", [0.0, 1.0, np.nan])
def test_wrong_thresholds(threshold):
    world = TableWorld([[0]], [1.0])
    goals = TableGoals(world, np.zeros((1, 1)), np.zeros((1, 1)))
    with pytest.raises(RsgError, match="threshold lies between 0 and 1"):
        RegionSearch(Explored(world, world.rows[0], goals, 1), 0, unranked, threshold)


@pytest.mark.parametrize("value", [np.zeros((1, 2)), np.zeros(1), np.full((1, 1), np.nan)], ids=["wide", "flat", "nan"])
def test_goals_that_do_not_fit(value):
    world = TableWorld([[0]], [1.0])
    with pytest.raises(RsgError, match=r"goals must give log G and log I of shape \(1, 1\) without NaN"):
        Explored(world, world.rows[0], lambda states: (value, value), 1)
