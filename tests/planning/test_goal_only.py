"""Plans for a goal only: every count against a plain twin, every plan replayed, and what is said when there is none."""

from functools import partial
from itertools import pairwise
from math import inf

import numba
import numpy as np
import pytest
from tests.planning.test_rules import random_prerequisites
from tests.reference import goal_only as reference
from tests.reference.search import ByteWorld, TableGoals, TableWorld

from rsg.core.errors import RsgError
from rsg.core.random import stream
from rsg.domain import find
from rsg.domains.crafting import STANDARD, VOCABULARY, truth
from rsg.domains.crafting.text import read_map
from rsg.language import Then
from rsg.planning import Dependencies, GoalProblem, Rules, by_regions, plan_goal, planned, validate
from rsg.planning.goal_only import steps_to

pytestmark = pytest.mark.filterwarnings("ignore:overflow encountered in scalar multiply")  # the hash, uncompiled

SLOW = bool(numba.config.DISABLE_JIT)
SOURCE = find("crafting")
oracle = SOURCE.true_goals
NAMES = tuple("abcdefg")


def only_batched(world, terms, state):
    """The truth of Crafting World without its compiled form."""
    goals = oracle(world, terms, state)
    return lambda states: goals(states)


def dependencies(terms, prerequisites, before=None):
    """By hand: by default each prerequisite came before in the same number of demonstrations."""
    size = len(terms)
    if before is None:
        before = [[int(any(j in one for one in prerequisites[i])) for j in range(size)] for i in range(size)]
    before = np.array(before, dtype=np.int64).reshape(size, size)
    return Dependencies(
        tuple(terms), before, before + before.T, before.sum(axis=1), before, tuple(prerequisites), np.full(size, 0.5)
    )


class Toy:
    """A world given by a table in which terms hold in some states."""

    def __init__(self, after, held, prerequisites, costs=None, before=None, make_world=ByteWorld, start=0):
        self.world = make_world(after, [0.25] * len(after[0]) if costs is None else costs)
        self.held, self.start = np.array(held, dtype=bool), start
        self.names, self.prerequisites = NAMES[: self.held.shape[1]], tuple(prerequisites)
        self.dependencies = dependencies(self.names, prerequisites, before)

    def goal_fn(self, world, terms, state):
        assert np.array_equal(state, world.rows[self.start])
        held = np.ascontiguousarray(self.held[:, [self.names.index(term) for term in terms]])
        return TableGoals(world, np.where(held, 0.0, -inf), np.where(held, -inf, 0.0))

    def plan(self, goal, method=by_regions, **settings):
        problem = GoalProblem(self.world, self.world.rows[self.start], goal, self.goal_fn, self.dependencies)
        return planned(problem, method, **settings)

    def truth(self, states, terms):
        return self.held[self.world.numbers(states)][:, [self.names.index(term) for term in terms]]


def random_toy(rng, make_world=ByteWorld, terms=5):
    """Needs that make sense and needs that do not, and terms that never hold: the search must do with each."""
    count, actions = int(rng.integers(4, 30)), int(rng.integers(2, 4))
    after = rng.integers(count, size=(count, actions))
    after[:, 0] = (np.arange(count) + 1) % count
    held = rng.random((count, terms)) < rng.choice([0.0, 0.05, 0.2, 0.5], size=terms)
    return Toy(
        after.tolist(),
        held,
        random_prerequisites(rng, terms),
        rng.choice([0.125, 0.25, 0.5, 1.0], size=actions),
        rng.integers(5, size=(terms, terms)) * (1 - np.eye(terms, dtype=int)),
        make_world,
        int(rng.integers(count)),
    )


# Counts against twins.


def twin(toy, goal, budget):
    """The same by the plain search over regions."""

    def judge(holds, _):
        return len(reference.still_needed(toy.prerequisites, holds, goal)) or len(toy.names) + 1

    holds = [frozenset(np.flatnonzero(row).tolist()) for row in toy.held]
    return reference.RegionSearch(toy.world, toy.start, holds, goal, judge, budget, novel=True).run()


@pytest.mark.kernels
@pytest.mark.parametrize("batch", range(4))
def test_the_count_of_one_search_is_that_of_its_twin_on_100_small_worlds(batch):
    rng = stream(batch, "goal only")
    ended, strict = [], []
    for _ in range(25 if SLOW else 100):
        toy, goal = random_toy(rng, [ByteWorld, TableWorld][batch % 2]), int(rng.integers(5))
        budget = int(rng.choice([1, 5, 15, 25_000]))
        found, expected = toy.plan(toy.names[goal], budget=budget), twin(toy, goal, budget)
        assert (found.ended, found.expansions, found.cost) == (expected.ended, expected.expansions, expected.cost)
        assert found.actions.tolist() == (expected.actions or [])
        if found.found:
            strict.append(check(toy, found, toy.names[goal]))
        ended.append(found.ended)
    assert SLOW or np.mean(strict) > 0.5  # else the goal held from the start, became false and came true again
    assert SLOW or min(ended.count(one) for one in ("found", "exhausted", "budget")) >= 5


def check(toy, found, goal):
    """A plan that replays, and that does what it says it does; says whether each step was false where it began."""
    verdict = validate(toy.world, found, found.task, toy.truth)
    assert verdict.lenient, verdict.reason
    check_shape(toy.world, found, goal)
    held = toy.truth(found.states, toy.names)
    assert held[-2:, toy.names.index(goal)].tolist() == [False, True]
    begins = [0, *(np.flatnonzero(np.diff(found.nodes)) + 1).tolist()]
    begun = any(held[begin, toy.names.index(found.terms[begin])] for begin in begins)
    assert verdict.ok or begun, verdict.reason
    return not begun


def check_shape(world, found, goal):
    """The task is a chain that ends in the goal; actions serve its terms one after the other; the cost is theirs."""
    assert found.ended == "found"
    assert found.reason == ""
    parts = [str(part) for part in found.task.parts] if isinstance(found.task, Then) else [str(found.task)]
    assert parts[-1] == goal
    assert len(found.states) == len(found.actions) + 1 == len(found.nodes) + 1 == len(found.terms) + 1
    assert found.terms == tuple(parts[node - 1] for node in found.nodes)
    assert (found.nodes[0], found.nodes[-1]) == (1, len(parts))
    assert set(np.diff(found.nodes).tolist()) <= {0, 1}
    assert found.cost == pytest.approx(np.asarray(world.costs)[found.actions].sum())
    assert found.expansions >= 1
    assert found.seconds > 0


# The steps that explain a plan.


def steps(prerequisites, goal, *states):
    """From the terms that hold in each state, as text."""
    names = NAMES[: len(prerequisites)]
    holds = np.array([[name in state for name in names] for state in states])
    return [(end, names[term]) for end, term in steps_to(Rules.of(prerequisites), holds, names.index(goal))]


A_THEN_B_THEN_C = (((),), ((0,),), ((1,),), ((),))


def test_steps_are_followed_back_from_the_goal():
    assert steps(A_THEN_B_THEN_C, "c", "", "a", "ad", "ab", "abc") == [(1, "a"), (3, "b"), (4, "c")]  # d helps nobody
    assert steps(A_THEN_B_THEN_C, "c", "a", "ab", "b", "bc") == [(1, "b"), (3, "c")]  # a held from the start
    assert steps(A_THEN_B_THEN_C, "c", "b", "b", "bc") == [(2, "c")]
    assert steps(A_THEN_B_THEN_C, "c", "", "c") == [(1, "c")]  # without what it needs


def test_steps_use_the_last_time_that_something_came_true():
    assert steps(A_THEN_B_THEN_C, "c", "", "a", "", "a", "b", "bc") == [(3, "a"), (4, "b"), (5, "c")]
    used_twice = (((),), ((0,),), ((0, 1),))
    assert steps(used_twice, "c", "", "a", "b", "ab", "c") == [(1, "a"), (2, "b"), (3, "a"), (4, "c")]


def test_steps_with_alternatives():
    either = (((),), ((),), ((0,), (1,)))
    assert steps(either, "c", "", "b", "bc") == [(1, "b"), (2, "c")]
    assert steps(either, "c", "", "b", "ab", "abc") == [(2, "a"), (3, "c")]  # the first that holds
    both_at_once = (((),), ((),), ((0, 1),))
    assert steps(both_at_once, "c", "", "ab", "abc") in ([(1, "a"), (2, "c")], [(1, "b"), (2, "c")])


def test_steps_of_random_plans():
    rng = stream(0, "steps")
    several = 0
    for _ in range(300):
        prerequisites, goal = random_prerequisites(rng, 5), int(rng.integers(5))
        holds = rng.random((int(rng.integers(2, 12)), 5)) < 0.5
        holds[-2:, goal] = False, True
        found = steps_to(Rules.of(prerequisites), holds, goal)
        assert found[-1] == (len(holds) - 1, goal)
        assert all(one < other for (one, _), (other, _) in pairwise(found))
        for end, term in found:
            assert not holds[end - 1, term]
            assert holds[end, term]
        for end, term in found[:-1]:  # each is of use for a later one, and held until then
            users = [
                later
                for later, user in found
                if later > end and any(term in one and holds[later - 1, list(one)].all() for one in prerequisites[user])
            ]
            assert any(holds[end:later, term].all() for later in users)
        several += len(found) > 2
    assert several > 30


# Crafting World.


PREREQUISITES = reference.by_the_rules(STANDARD.rules, VOCABULARY)
RULES = dependencies(VOCABULARY, PREREQUISITES)
BOAT = "grab-axe then mine-wood then craft-wood-plank then craft-boat"
SMALL = "map:\n@.aT\n.1.5\n"
FIELD = """
; All that shears, a bed and a boat need, and some that they do not.
map:
@..a..T
.p....1
...I..5
C..6..4
..3..E.
P..B..7
"""


def craft(goal, text=SMALL, goal_fn=oracle, method=by_regions, **settings):
    """A plan for the map; checked if there is one."""
    world, state = read_map(text)
    made = planned(GoalProblem(world, state, goal, goal_fn, RULES), method, **settings)
    if made.found:
        verdict = validate(world, made, made.task, partial(truth, world))
        assert verdict.ok, verdict.reason
        check_shape(world, made, goal)
        assert np.array_equal(made.states[0], state)
    assert made.expansions <= settings.get("budget", 25_000)
    return made


@pytest.mark.kernels
def test_a_boat():
    made = craft("craft-boat")
    assert str(made.task) == BOAT
    again = craft("craft-boat", goal_fn=only_batched)
    assert (again.actions.tolist(), again.expansions) == (made.actions.tolist(), made.expansions)


def test_shears_and_what_led_to_them():
    made = craft("craft-shears", FIELD)
    terms = [str(part) for part in made.task.parts]
    assert terms[0] == "grab-pickaxe"
    assert set(terms[1:3]) == {"mine-iron-ore", "mine-coal"}
    assert terms[3:] == ["craft-iron-ingot", "craft-shears"]
    held = craft("craft-shears", "inventory: iron-ore, coal\n" + FIELD.strip())
    assert str(held.task) == "craft-iron-ingot then craft-shears"


def as_table(text):
    """A map as a table of all states that can be reached, in the order in which they are."""
    world, state = read_map(text)
    rows, number = [state], {state.tobytes(): 0}
    after = []
    while len(after) < len(rows):
        successors = world.successors(rows[len(after)][None])[0]
        for row in successors:
            if row.tobytes() not in number:
                number[row.tobytes()] = len(rows)
                rows.append(row)
        after.append([number[row.tobytes()] for row in successors])
    return world, np.stack(rows), np.array(after)


@pytest.mark.parametrize("goal", ["craft-boat", "craft-stick", "mine-wood", "craft-bed"])
def test_the_count_in_crafting_world_is_that_of_the_twin(goal):
    """On a small map, all of whose states can be listed."""
    world, rows, after = as_table("map:\n@aT\n1.5\n")
    held = truth(world, rows, VOCABULARY)
    toy = Toy.__new__(Toy)
    toy.world, toy.held, toy.start = TableWorld(after, np.full(5, 0.125), rows), held, 0
    toy.names, toy.prerequisites, toy.dependencies = VOCABULARY, PREREQUISITES, RULES
    for budget in (25_000, 9):
        made = craft(goal, "map:\n@aT\n1.5\n", budget=budget)
        expected = twin(toy, VOCABULARY.index(goal), budget)
        assert (made.ended, made.expansions) == (expected.ended, expected.expansions)
        assert made.found == (goal != "craft-bed" and made.ended != "budget")
    assert len(rows) > 100


# Goals that are functions.


def in_hands(world, item):
    return lambda states: np.array([item in world.inventory(state) for state in states])


def test_a_goal_may_be_a_function():
    world, state = read_map(SMALL)
    asked = []

    def holds(states):
        asked.append(len(states))
        return in_hands(world, "wood")(states)

    sure = plan_goal(world, state, holds, oracle, RULES)
    likely = plan_goal(world, state, lambda states: 0.3 + 0.4 * holds(states), oracle, RULES)
    for made in (sure, likely):
        check_shape(world, made, "goal")
        assert "wood" in world.inventory(made.states[-1])
        assert "wood" not in world.inventory(made.states[-2])
        for before, action, after in zip(made.states[:-1], made.actions, made.states[1:], strict=True):
            assert np.array_equal(world.step(before[None], [action])[0], after)
    assert sure.actions.tolist() == likely.actions.tolist()
    assert sum(asked) >= sure.expansions
    # Nothing is known of what it needs: what came true on the way is said; mine-wood came true together with it.
    assert str(sure.task) == "grab-axe then goal"


def test_a_function_holds_from_one_half_on():
    world, state = read_map(SMALL)

    def likely(states, most):
        return most * in_hands(world, "axe")(states)

    assert plan_goal(world, state, partial(likely, most=0.5), oracle, RULES).found
    made = plan_goal(world, state, partial(likely, most=0.49), oracle, RULES)
    assert (made.found, made.ended, made.missed) == (False, "exhausted", ("goal",))


@pytest.mark.parametrize(
    "answer",
    [
        lambda states: True,
        lambda states: np.zeros((len(states), 1)),
        lambda states: np.zeros(len(states) + 1),
        lambda states: np.full(len(states), np.nan),
        lambda states: np.full(len(states), 1.5),
        lambda states: np.full(len(states), -1),
        lambda states: None,
    ],
    ids=["one", "a column", "one more", "nan", "more than 1", "less than 0", "nothing"],
)
def test_a_function_that_does_not_fit(answer):
    toy = Toy([[1], [1]], [[0], [1]], (((),),))
    with pytest.raises(RsgError, match=r"a goal gives .*whether it holds.*, or its probability"):
        toy.plan(answer)


def test_a_term_may_be_called_goal():
    toy = Toy([[1], [1]], [[0], [0]], (((),),))
    toy.names, toy.dependencies = ("goal",), dependencies(["goal"], (((),),))
    assert toy.plan(lambda states: toy.world.numbers(states) == 1).found


# What ends it, and what is said then.


def test_a_goal_that_holds_already():
    """It must come true. Where it cannot become false, there is no plan; where it can, it may come true again."""
    toy = Toy([[1], [2], [2]], [[1], [1], [1]], (((),),))
    made = toy.plan("a")
    assert (made.found, made.ended, made.missed) == (False, "exhausted", ("a",))
    assert made.reason.startswith("no plan: a holds already, and did not become false")
    assert made.reason.endswith("; everything that can be reached was tried")
    toy = Toy([[1], [2], [2]], [[1], [0], [1]], (((),),))
    made = toy.plan("a")
    assert made.actions.tolist() == [0, 0]
    assert str(made.task) == "a"


def test_an_object_that_is_not_there():
    """No boat station: all else is reached, and that is said."""
    made = craft("craft-boat", SMALL.replace("5", "."))
    assert (made.found, made.ended) == (False, "exhausted")
    assert (len(made.actions), len(made.states), made.terms) == (0, 1, ())
    assert set(made.reached) == {"grab-axe", "mine-wood", "craft-wood-plank"}
    assert made.missed == ("craft-boat",)
    assert made.reason == "no plan: craft-boat was never reached; everything that can be reached was tried"


def test_all_that_lacks_for_want_of_a_tool():
    """No axe: nothing that needs wood was reached."""
    made = craft("craft-boat", SMALL.replace("aT", "pT"))
    assert (made.found, made.ended) == (False, "exhausted")
    assert set(made.missed) == {"grab-axe", "mine-wood", "craft-wood-plank", "craft-boat"}
    assert made.reached == ()
    assert str(made.task) == "craft-boat"
    made = craft("craft-cooked-potato", FIELD.replace(".p", ".."))
    assert set(made.missed) == {"grab-pickaxe", "mine-coal", "craft-cooked-potato"}
    assert made.reached == ("mine-potato",)


def test_no_way_is_known():
    """Two terms that need one another: the goal alone is named."""
    toy = Toy([[1], [0]], [[0, 0], [0, 0]], (((1,),), ((0,),)))
    made = toy.plan("a")
    assert (made.found, made.ended, made.missed, made.expansions) == (False, "exhausted", ("a",), 2)


def test_a_goal_may_come_true_without_its_prerequisites():
    toy = Toy([[1], [1]], [[0, 0], [0, 1]], (((),), ((0,),)))
    made = toy.plan("b")
    assert (str(made.task), made.actions.tolist()) == ("b", [0])


def test_one_of_several_alternatives_is_enough():
    """`a` or `b` leads to `c`, and each time that both were shown, both were shown before it."""
    toy = Toy([[1], [2], [2]], [[0, 0, 0], [1, 0, 0], [1, 0, 1]], (((),), ((),), ((0,), (1,))))
    assert str(toy.plan("c").task) == "a then c"


def test_budgets_are_kept_exactly():
    """A ring of twenty states on which nothing ever holds."""
    toy = Toy([[(s + 1) % 20, s] for s in range(20)], np.zeros((20, 4)), (((),), ((0,),), ((1,),), ((2,),)))
    for budget in (1, 2, 19, 20, 21, 50):
        made = toy.plan("d", budget=budget)
        assert not made.found
        assert made.expansions == min(budget, 20)
        assert made.ended == ("budget" if budget < 20 else "exhausted")
        assert budget >= 20 or f"the budget of {budget} expansions ended" in made.reason


def test_cancelling_and_progress():
    world, state = read_map(FIELD.replace("3..E", "...E"))
    told = []
    answers = iter([False] * 3 + [True] * 9)

    def look(count):
        told.append(count)
        return next(answers)

    made = plan_goal(world, state, "craft-shears", only_batched, RULES, 3000, look)
    assert (made.found, made.ended) == (False, "cancelled")
    assert "the search was cancelled" in made.reason
    assert len(told) == 4
    assert made.expansions >= told[-1]


# Wrong use.


def test_a_goal_that_nobody_knows():
    with pytest.raises(RsgError, match="nothing is known of the term 'fly-away'; there are: grab-pickaxe, grab-axe, "):
        craft("fly-away")


@pytest.mark.parametrize(
    ("state", "problem"),
    [
        (np.zeros((2, 14), np.uint8), r"a plan starts in one state \[W\], got shape \(2, 14\)"),
        (np.uint8(0), r"a plan starts in one state \[W\], got shape \(\)"),
        (np.zeros(7, np.uint8), "not states of a 2×4 Crafting World"),
    ],
    ids=["two", "none", "short"],
)
def test_a_state_of_the_wrong_shape(state, problem):
    world, _ = read_map(SMALL)
    with pytest.raises(RsgError, match=problem):
        plan_goal(world, state, "craft-boat", only_batched, RULES)


def test_a_state_of_the_wrong_width_where_all_is_compiled():
    world, state = read_map(SMALL)
    with pytest.raises(RsgError, match="not states of a 2×4 Crafting World"):
        plan_goal(world, np.append(state, state), "grab-key", oracle, RULES, 5)


def test_wrong_settings():
    with pytest.raises(RsgError, match="budget must be at least 1, not 0"):
        craft("craft-boat", budget=0)
