"""Plans in continuous worlds, by a roadmap and by random trees: each is replayed and judged by the truth."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.reference.boxes import BoxWorld, CompiledBoxWorld, Touching, four_rooms

from rsg.core.errors import RsgError
from rsg.core.random import stream
from rsg.domains.crafting.text import read_map
from rsg.language import Machine, parse, satisfies
from rsg.planning import Dependencies, Plan, plan, plan_goal, validate
from rsg.search import Auto, Limits, Product, Roadmap, SearchSettings, Soft, Trees
from rsg.search.motion.roadmap_search import RoadmapSearch
from rsg.search.motion.space import rows_of
from rsg.search.motion.tree_search import TreeSearch

TASKS = [
    "touch-0",
    "touch-0 then touch-1",
    "touch-0 or touch-1",
    "touch-0 and touch-1 then touch-2",
    "touch-2 then touch-0 then touch-2",
    "touch-0 and (touch-1 or touch-2) then touch-3",
]
PLANNERS = (Roadmap(), Trees(), Auto())
EACH = pytest.mark.parametrize("planner", PLANNERS, ids=lambda planner: planner.name)
rooms = four_rooms()
touching = Touching(rooms)


def start_in(world, rng, places=4):
    """A free pose, and places for the terms."""
    rows = world.sample(rng, 200)
    return np.concatenate([rows[world.free(rows)][0], rng.uniform(1, world.high[0] - 1, 2 * places)])


def with_poses(planner, poses):
    """The same planner with another roadmap, if it has one."""
    return replace(planner, poses=poses) if isinstance(planner, Roadmap) else planner


def verdict_of(world, made, task, meaning=touching):
    return validate(world, made, task, meaning.truth)


@EACH
@pytest.mark.parametrize("kind", [CompiledBoxWorld, BoxWorld])
def test_every_plan_is_valid_and_the_same_seed_gives_the_same_plan(planner, kind):
    world = four_rooms(kind)
    found = 0
    for number, task in enumerate(TASKS):
        state = start_in(world, stream(number, "valid"))
        how = SearchSettings(with_poses(planner, 1500), seed=number)
        made = plan(world, state, task, touching.goal_fn, how)
        if not made.found:  # a place may be in a wall
            assert made.ended in ("budget", "roadmap")
            continue
        found += 1
        verdict = verdict_of(world, made, task)
        assert verdict.ok, verdict.reason
        assert made.cost == pytest.approx(0.1 * len(made.actions))
        assert made.actions.shape == (len(made.states) - 1, 3)
        assert np.array_equal(made.states[0], state)
        assert (made.states[:, 3:] == state[3:]).all()
        assert len(made.nodes) == len(made.terms) == len(made.actions)
        terms = [str(term) for term in parse(task).terms()]
        assert satisfies(touching.truth(made.states, terms), parse(task), terms)
        again = plan(world, state, task, touching.goal_fn, how)
        assert again.states.tobytes() == made.states.tobytes()
        assert again.actions.tobytes() == made.actions.tobytes()
    assert found >= 5


@given(st.integers(0, 2**32 - 1))
@settings(deadline=None, max_examples=15)
def test_plans_in_random_rooms_are_valid(seed):
    """Random boxes, reaches, radii and classifiers, in two or three dimensions; both planners find what there is."""
    rng = stream(seed, "rooms")
    size = [6.0, 6.0] + [3.0] * int(rng.integers(2))
    corners = rng.uniform(0, 6, (int(rng.integers(0, 5)), len(size)))
    boxes = np.stack([corners, corners + rng.uniform(0.2, 1.5, corners.shape)], axis=1)
    world = CompiledBoxWorld(size, boxes, [False, False, True][: len(size)], rng.uniform(0.4, 1.5, len(size)))
    rows = world.sample(rng, 50)
    if not world.free(rows).any():
        return
    meaning = Touching(world, float(rng.uniform(0.3, 1.0)), None if rng.integers(2) else 8.0)
    task = TASKS[int(rng.integers(len(TASKS)))]
    state = np.concatenate([rows[world.free(rows)][0], rng.uniform(0, 6, 8)])
    for planner in PLANNERS:
        made = plan(world, state, task, meaning.goal_fn, SearchSettings(with_poses(planner, 800), budget=2000))
        assert made.expansions <= 2000
        if made.found:
            verdict = verdict_of(world, made, task, meaning)
            assert verdict.ok, verdict.reason


def test_subgoals_are_done_in_the_order_that_is_shorter():
    world = CompiledBoxWorld([20.0, 20.0])
    state = np.array([2.0, 10.0, 18.0, 10.0, 6.0, 10.0])
    for planner in PLANNERS:
        made = plan(world, state, "touch-0 and touch-1", Touching(world).goal_fn, SearchSettings(planner))
        assert verdict_of(world, made, "touch-0 and touch-1", Touching(world)).ok
        if not isinstance(planner, Trees):
            assert list(dict.fromkeys(made.terms)) == ["touch-1", "touch-0"]
            assert len(made.actions) <= 17  # 15 in a straight line


def test_a_subgoal_is_done_as_soon_as_the_path_allows():
    world, meaning = CompiledBoxWorld([20.0, 20.0]), Touching(CompiledBoxWorld([20.0, 20.0]), 2.0)
    made = plan(world, np.array([2.3, 10.0, 10.0, 10.0]), "touch-0", meaning.goal_fn)
    assert len(made.actions) == 6
    assert 10 - made.states[-1, 0] > 1.0


def test_a_subgoal_that_holds_already_must_be_left_first():
    """`touch-0 then touch-1` where both places are the same: touch-1 must not hold when its part begins."""
    world = CompiledBoxWorld([10.0, 10.0])
    meaning = Touching(world)
    near = np.array([2.0, 2.0, 6.0, 6.0, 6.5, 6.0])
    same = np.array([2.0, 2.0, 6.0, 6.0, 6.0, 6.0])
    for planner in PLANNERS:
        how = SearchSettings(planner)
        made = plan(world, near, "touch-0 then touch-1", meaning.goal_fn, how)
        assert verdict_of(world, made, "touch-0 then touch-1", meaning).ok
        made = plan(world, same, "touch-0 then touch-1", meaning.goal_fn, how)
        assert not made.found
        assert made.reached == ("touch-0",)
        assert "no plan: what follows was true already wherever touch-0 was reached; " in made.reason
        made = plan(world, np.array([6.0, 6.0, 6.0, 6.0]), "touch-0", meaning.goal_fn, how)
        assert "the first subgoal is already true" in made.reason


@EACH
def test_thin_goals_are_found_by_their_likelihood(planner):
    """No pose of a roadmap is so near by chance; the classifier leads there, though it says no all the way."""
    thin = Touching(rooms, radius=0.02, sharpness=30.0)
    state = np.array([3.0, 3.0, 0.0, 15.3, 16.2, 4.1, 15.7])
    made = plan(rooms, state, "touch-0 then touch-1", thin.goal_fn, SearchSettings(planner))
    assert verdict_of(rooms, made, "touch-0 then touch-1", thin).ok


def nowhere(world, terms, state):
    """Classifiers that nothing is true for."""
    return lambda states: (np.full((len(states), len(terms)), -np.inf), np.zeros((len(states), len(terms))))


@EACH
def test_what_cannot_be_reached_is_said(planner):
    world = CompiledBoxWorld([10.0, 10.0], [[[4.0, 0.0], [5.0, 10.0]]])
    state = np.array([1.0, 1.0, 8.0, 8.0, 2.0, 8.0])
    made = plan(world, state, "touch-1 then touch-0", Touching(world).goal_fn, SearchSettings(planner))
    assert not made.found
    assert (made.reached, made.missed) == (("touch-1",), ("touch-0",))
    if planner == Roadmap():
        assert made.reason == (
            "no plan: touch-0 could not be reached; everything that can be reached on the roadmap was tried"
        )
    else:
        assert made.reason == "no plan: touch-0 could not be reached; the budget of 5,000 expansions ended"
        assert made.expansions == 5000
    assert verdict_of(world, made, "touch-1 then touch-0", Touching(world)).reason == made.reason
    assert not plan(world, state, "touch-0", nowhere, SearchSettings(planner, budget=500)).found


def test_limits_and_signals():
    """Time, expansions, progress and cancelling; `anytime` uses what it may."""
    world = CompiledBoxWorld([10.0, 10.0], [[[4.0, 0.0], [5.0, 10.0]]])
    state, goal_fn = np.array([1.0, 1.0, 8.0, 8.0]), Touching(world).goal_fn
    made = plan(world, state, "touch-0", goal_fn, SearchSettings(Trees(), budget=None, time_limit=0.05))
    assert made.ended == "time"
    told: list[int] = []
    made = plan(world, state, "touch-0", goal_fn, SearchSettings(budget=200), told.append)
    assert (made.ended, made.expansions, told[-1]) == ("budget", 200, 200)
    assert told == sorted(told)
    made = plan(world, state, "touch-0", goal_fn, SearchSettings(Trees()), lambda count: True)
    assert made.ended == "cancelled"
    state = start_in(rooms, stream(8, "anytime"))
    first, best = (
        plan(rooms, state, "touch-0", touching.goal_fn, SearchSettings(Trees(order), budget=2000))
        for order in ("deepest", "anytime")
    )
    assert best.found
    assert first.expansions < best.expansions == 2000
    assert best.cost <= first.cost
    assert verdict_of(rooms, best, "touch-0").ok
    on_roads = plan(rooms, state, "touch-0", touching.goal_fn, SearchSettings(Auto("anytime")))
    assert verdict_of(rooms, on_roads, "touch-0").ok


def test_a_search_of_trees_goes_on_where_it_stopped():
    machine, state = Machine.of(parse("touch-0")), start_in(rooms, stream(3, "on"))
    goals = touching.goal_fn(rooms, ["touch-0"], state)
    search = TreeSearch(rooms, state, machine, goals, Trees())
    assert search.run(Limits(1)).ended == "budget"
    found = search.run(Limits(5000))
    assert found.ended == "found"
    assert found.expansions > 1


def test_the_trees_can_be_looked_at():
    machine, state = Machine.of(parse("touch-0 then touch-1")), start_in(rooms, stream(3, "on"))
    search = TreeSearch(rooms, state, machine, touching.goal_fn(rooms, ["touch-0", "touch-1"], state), Trees())
    assert search.run(Limits(5000)).ended == "found"
    poses, links = search.tree()
    assert len(np.unique(links[:, 1])) == len(links) < len(poses)  # each pose was reached from one other, but for roots
    assert rooms.clear(rows_of(poses[links[:, 0]], state), poses[links[:, 1]]).all()
    assert (poses == state[: poses.shape[1]]).all(axis=1).any()


def test_soft_costs_on_a_roadmap():
    """Transitions cost what the classifiers doubt; trees cannot do that."""
    soft = Touching(rooms, 1.0, 4.0)
    state = start_in(rooms, stream(5, "soft"))
    made = plan(
        rooms, state, "touch-0 then touch-1", soft.goal_fn, SearchSettings(Auto(transitions=Soft()), budget=None)
    )
    assert made.found
    log_g, log_i = soft.goal_fn(rooms, ["touch-0", "touch-1"], state)(made.states)
    change = int(np.argmax(made.nodes == 2))
    doubts = -log_i[0, 0] - log_g[change, 0] - log_i[change, 1] - log_g[-1, 1]
    assert made.cost == pytest.approx(0.1 * len(made.actions) + doubts)
    verdict = validate(
        rooms, made, "touch-0 then touch-1", lambda states, terms: np.zeros((len(states), len(terms)), bool)
    )
    assert not verdict.ok
    assert "the world" not in verdict.reason  # it can be walked, whatever it means


class Rounding(CompiledBoxWorld):
    """It adds up in a way of its own, as worlds with another arithmetic do."""

    def step(self, states, actions):
        after = super().step(states, actions)
        after[:, : len(self.high)] = after[:, : len(self.high)].round(12)
        return after


class Stuck(CompiledBoxWorld):
    """Nothing is in the way, and yet it does not move."""

    def step(self, states, actions):
        return np.array(states)


def test_plans_are_what_the_world_makes_of_them():
    state = np.array([1.0 / 3, 1.0 / 7, 8.0, 8.0])
    for planner in PLANNERS:
        world = Rounding([10.0, 10.0])
        made = plan(world, state, "touch-0", Touching(world).goal_fn, SearchSettings(planner))
        assert verdict_of(world, made, "touch-0", Touching(world)).ok
        assert np.array_equal(made.states[1:, :2], made.states[1:, :2].round(12))
        with pytest.raises(RsgError, match="the world's step stops where its clear saw nothing in the way"):
            plan(Stuck([10.0, 10.0]), state, "touch-0", Touching(world).goal_fn, SearchSettings(planner))


def test_a_narrow_passage_is_found():
    wall = [[[4.9, 0.0], [5.1, 4.9]], [[4.9, 5.1], [5.1, 10.0]]]
    world = CompiledBoxWorld([10.0, 10.0], wall)
    state, meaning = np.array([1.0, 1.0, 9.0, 1.0]), Touching(world)
    for planner in PLANNERS:
        made = plan(world, state, "touch-0", meaning.goal_fn, SearchSettings(planner))
        assert verdict_of(world, made, "touch-0", meaning).ok


def test_where_a_roadmap_does_not_do_a_tree_is_grown():
    """Three poses are no roadmap to speak of."""
    state = np.array([3.0, 3.0, 0.0, 15.0, 16.0])
    few = SearchSettings(Roadmap(poses=3))
    assert plan(rooms, state, "touch-0", touching.goal_fn, few).ended == "roadmap"
    made = plan(rooms, state, "touch-0", touching.goal_fn, SearchSettings(Auto(poses=3)))
    assert verdict_of(rooms, made, "touch-0").ok
    optimal = SearchSettings(Auto("optimal", poses=3))
    assert plan(rooms, state, "touch-0", touching.goal_fn, optimal).ended == "roadmap"


def test_a_machine_that_is_too_large_for_a_roadmap_is_left_to_trees():
    task = " and ".join(f"touch-{i}" for i in range(9))
    machine = Machine.of(parse(task))
    assert RoadmapSearch.fits(machine, Roadmap())
    assert not RoadmapSearch.fits(machine, Roadmap(poses=10_000))
    world = CompiledBoxWorld([4.0, 4.0])
    state = np.concatenate([[0.5, 0.5], stream(0).uniform(1, 3, 18)])
    meaning = Touching(world, 0.4)
    with pytest.raises(RsgError, match="2,306 machine nodes are too many for a roadmap of 10,000 poses"):
        plan(world, state, machine, meaning.goal_fn, SearchSettings(Roadmap(poses=10_000)))
    made = plan(world, state, machine, meaning.goal_fn, SearchSettings(Auto(poses=10_000), budget=20_000))
    assert made.found == verdict_of(world, made, machine, meaning).ok


@pytest.mark.parametrize(
    ("state", "complaint"),
    [
        (
            [10.0, 3.0, 0.0, 1.0, 1.0],
            r"the pose \(10, 3, 0\) is out of bounds or touches an obstacle; choose a free one",
        ),
        ([-1.0, 3.0, 0.0, 1.0, 1.0], r"the pose \(-1, 3, 0\) is out of bounds"),
        ([np.nan, 3.0, 0.0, 1.0, 1.0], "a state must have finite numbers, but number 0 is not one"),
        ([3.0, 3.0, 0.0, np.inf, 1.0], "a state must have finite numbers, but number 3 is not one"),
    ],
)
@EACH
def test_starts_that_cannot_be_are_errors(planner, state, complaint):
    with pytest.raises(RsgError, match=complaint):
        plan(rooms, np.array(state), "touch-0", touching.goal_fn, SearchSettings(planner))


@EACH
def test_classifiers_that_give_nonsense_are_errors(planner):
    state = np.array([3.0, 3.0, 0.0, 15.0, 16.0])
    for value, width in ((np.nan, 1), (0.0, 2)):
        bad = lambda world, terms, state, v=value, w=width: lambda states: (np.full((len(states), w), v),) * 2  # noqa: E731
        with pytest.raises(RsgError, match="goals must give log G and log I of shape"):
            plan(rooms, state, "touch-0", bad, SearchSettings(planner))


def test_planners_are_for_one_kind_of_world():
    state = np.array([3.0, 3.0, 0.0, 15.0, 16.0])
    with pytest.raises(RsgError, match="the planner 'product' is for worlds with finitely many actions; leave it out"):
        plan(rooms, state, "touch-0", touching.goal_fn, SearchSettings(Product()))
    world, state = read_map("map:\n@a\n")
    for planner in (Roadmap(), Trees()):
        with pytest.raises(RsgError, match=f"the planner '{planner.name}' is for continuous worlds; leave it out"):
            plan(world, state, "grab-axe", touching.goal_fn, SearchSettings(planner))


def test_a_goal_is_an_instruction_of_one_term():
    one, two = np.ones(2, dtype=np.int64), np.ones((2, 2), dtype=np.int64)
    terms, needs_nothing = ("touch-0", "touch-1"), (((),), ((),))
    known = Dependencies(terms, two, two, one, two, needs_nothing, np.full(2, 0.5), one, 1)
    state = np.array([3.0, 3.0, 0.0, 15.0, 16.0, 4.0, 15.0])
    with pytest.raises(RsgError, match=r"in a continuous one give the goal to rsg\.plan"):
        plan_goal(rooms, state, "touch-0", touching.goal_fn, known)
    assert plan(rooms, state, "touch-0", touching.goal_fn).found


def test_validation_believes_nothing():
    """An action beyond the reach, a state that the world does not lead to, a wall in the way."""
    world, meaning = (
        CompiledBoxWorld([10.0, 10.0], [[[4.0, 0.0], [5.0, 8.0]]]),
        Touching(CompiledBoxWorld([10.0, 10.0])),
    )
    judge = partial(validate, world, task="touch-0", truth=meaning.truth)

    def walked(poses):
        states = np.concatenate([np.array(poses), np.tile([8.0, 1.0], (len(poses), 1))], axis=1)
        count = len(poses) - 1
        return Plan(
            task=parse("touch-0"),
            actions=np.diff(poses, axis=0),
            states=states,
            nodes=np.ones(count),
            terms=("touch-0",) * count,
            cost=1.0,
            expansions=0,
        )

    assert judge(walked([[9.0, 3.0], [8.5, 2.2], [8.2, 1.4]])).ok
    assert judge(walked([[9.0, 3.5], [8.5, 2.4], [8.2, 1.4]])).reason == (
        "step 1: the action goes beyond the reach of the world"
    )
    assert "step 1: the action goes beyond" in judge(walked([[9.0, 3.0], [np.nan, 2.0], [8.2, 1.4]])).reason
    through = walked([[3.5, 1.0], [4.5, 1.0], [5.5, 1.0], [6.5, 1.0], [7.4, 1.0]])
    assert judge(through).reason == "step 1: the world does not lead to the state that the plan claims"
    assert judge(walked([[9.0, 3.0], [8.5, 2.4]])).reason == "it got as far as touch-0, which was never done"
