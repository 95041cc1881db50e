"""The robot's steps, what classifiers see, where things start, and what the subgoals mean."""

import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.reference import playroom as reference

from rsg.core.errors import RsgError
from rsg.core.random import stream
from rsg.domains.playroom import SHIPPED, PlayroomWorld, TrueGoals, load_layout, truth
from rsg.domains.playroom.layout_files import layout_of, layout_values
from rsg.worlds import ContinuousWorld, World, check

WORLDS = {name: PlayroomWorld(load_layout(name)) for name in SHIPPED}
PAPER = WORLDS["paper"]


@pytest.mark.parametrize("name", SHIPPED)
def test_it_is_a_continuous_world(name):
    assert check(WORLDS[name]) == []
    assert check(WORLDS[name], seed=4) == []
    assert isinstance(WORLDS[name], ContinuousWorld)
    assert not isinstance(WORLDS[name], World)


def test_bounds():
    assert PAPER.low.tolist() == [0, 0, -np.pi]
    assert PAPER.high.tolist() == [20, 20, np.pi]
    assert PAPER.period.tolist() == [0, 0, 2 * np.pi]
    assert PAPER.reach.tolist() == [1, 1, 1]
    assert (PAPER.cost, PAPER.state_width) == (0.1, 15)
    with pytest.raises(ValueError, match="read-only"):
        PAPER.high[0] = 3


@pytest.mark.kernels
def test_a_step_adds_the_action_where_the_way_is_free():
    state = PAPER.state((6.5, 8.5, 0))
    ways = np.array([[0, 1, 0], [1, 0, 0.5], [-1, 1, 0], [-1, -1, -1], [0, 0, 0]], dtype=float)
    after = PAPER.step(np.tile(state, (5, 1)), ways)
    assert np.allclose(after[:, :3], [[6.5, 9.5, 0], [7.5, 8.5, 0.5], [6.5, 8.5, 0], [5.5, 7.5, -1], [6.5, 8.5, 0]])
    assert (after[:, 3:] == state[3:]).all()


@pytest.mark.kernels
def test_no_step_jumps_over_a_wall():
    """The room's walls are thinner than an action is long."""
    below = np.tile(PAPER.state((2, 5, 0)), (3, 1))
    below[:, 1:3] = [[8.6, 0], [8.74, 0], [8.7, np.pi]]
    after = PAPER.step(below, [[0, 1, 0]] * 3)
    assert (after == below).all()


@pytest.mark.kernels
def test_the_angle_comes_round():
    state = PAPER.state((5, 5, 3))
    assert PAPER.step(state[None], [[0, 0, 0.5]])[0, 2] == pytest.approx(3.5 - 2 * np.pi)
    state[2] = -3
    assert PAPER.step(state[None], [[0, 0, -0.5]])[0, 2] == pytest.approx(2 * np.pi - 3.5)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from(SHIPPED))
def test_random_walks_never_touch_a_wall(seed, name):
    world, rng = WORLDS[name], stream(seed, "walks")
    states = world.sample(rng, 20)
    for _ in range(20):
        actions = rng.uniform(-1, 1, (20, 3))
        after = world.step(states, actions)
        moved = (after != states).any(axis=1)
        clear = world.clear(states, states[:, :3] + actions)
        assert np.array_equal(moved, clear)
        states = after
    assert world.free(states).all()
    assert reference.clearance(world.layout, states[0, :3]) > 0
    assert ((states[:, 2] >= -np.pi) & (states[:, 2] < np.pi)).all()


@pytest.mark.parametrize(
    ("actions", "problem"),
    [
        ([[0, 0, 1.01]], r"action 0 is \[0.0, 0.0, 1.01\]; each of its numbers must be from -1 to 1"),
        ([[0, np.nan, 0]], "each of its numbers must be from -1 to 1"),
        ([[0, -np.inf, 0]], "each of its numbers must be from -1 to 1"),
        ([0, 0, 0], r"1 states need actions \[1, 3\], got \[3\]"),
        ([[0, 0]], r"1 states need actions \[1, 3\], got \[1, 2\]"),
    ],
)
def test_actions_that_cannot_be(actions, problem):
    with pytest.raises(RsgError, match=problem):
        PAPER.step(PAPER.state((5, 5, 0))[None], actions)


def test_states_that_cannot_be():
    state = PAPER.state((5, 5, 0))
    for rows, problem in [
        (state, r"not states of a Playroom with 6 effectors: expected float64 \[N, 15\], got float64 \[15\]"),
        (state[None, :9], r"got float64 \[1, 9\]"),
        (state[None].astype(np.float32), "got float32"),
    ]:
        for ask in (PAPER.free, PAPER.encode, lambda rows: truth(PAPER, rows)):
            with pytest.raises(RsgError, match=problem):
                ask(rows)
    for place, what in ((1, "y is nan"), (2, "the angle is nan"), (6, "the place of effector 2 is nan")):
        odd = np.stack([state, state])
        odd[1, place] = np.nan
        with pytest.raises(RsgError, match=f"state 1 is not of a Playroom: {what}"):
            PAPER.step(odd, np.zeros((2, 3)))
    with pytest.raises(RsgError, match=r"1 states need ends \[1, 3\]"):
        PAPER.clear(state[None], np.zeros((2, 3)))


def test_starts_that_cannot_be():
    good = {"ball": (3, 3), "bell": (5, 14)}
    assert PAPER.state((14, 5, 0), good)[3:7].tolist() == [3, 3, 5, 14]
    for pose, places, problem in [
        ((10, 2, 0), good, r"the robot starts in collision: at \(10, 2, 0\) it touches a wall or a side"),
        ((-3, 2, 0), good, "the robot starts in collision"),
        ((np.nan, 2, 0), good, "the pose of the robot must be finite numbers, not nan, 2.0, 0.0"),
        ((14, 5, 0), {"ball": (10, 10)}, r"the ball at \(10, 10\) overlaps a wall or a side of the room"),
        ((14, 5, 0), {"ball": (3, 3), "bell": (3.9, 3.9)}, r"the ball at \(3, 3\) overlaps the bell"),
        ((14, 5), good, r"the pose of the robot must be 3 numbers \[x, y, angle\]"),
        ((14, 5, 0), {"bal": (3, 3)}, "there is no effector 'bal'; there are: ball, bell"),
        ((14, 5, 0), {"ball": (np.nan, 3)}, "the place of the ball must be finite numbers, not nan, 3.0"),
    ]:
        with pytest.raises(RsgError, match=problem):
            PAPER.state(pose, places)


# Where things start


@pytest.mark.kernels
@pytest.mark.parametrize("name", SHIPPED)
def test_starts_are_free_of_everything(name):
    world, layout = WORLDS[name], WORLDS[name].layout
    walls = reference.obstacles(layout)
    for i in range(10):
        state = world.start(stream(i, "starts"))
        assert world.free(state[None])[0]
        assert not truth(world, state[None]).any()
        things = [reference.effector(layout, state, number) for number in range(len(layout.effectors))]
        assert all(thing.distance(walls) > 0 for thing in things)
        assert all(a.distance(b) > 0 for j, a in enumerate(things) for b in things[:j])


def test_starts_are_everywhere():
    states = np.array([PAPER.start(stream(i)) for i in range(400)])
    for column in [*range(2), *range(3, 15)]:
        counts = np.histogram(states[:, column], bins=4, range=(0, 20))[0]
        assert counts.min() > 60
    assert np.histogram(states[:, 2], bins=4, range=(-np.pi, np.pi))[0].min() > 60


def test_samples_touch_things_too():
    assert 0.1 < truth(PAPER, PAPER.sample(stream(0), 500)).any(axis=1).mean() < 0.5
    assert PAPER.sample(stream(0), 0).shape == (0, 15)


def test_fixed_places_are_kept():
    values = layout_values(load_layout("paper"))
    values["effectors"][2]["position"] = [15, 15]
    values["start"] = [5, 5, 0.5]
    world = PlayroomWorld(layout_of(values))
    starts = np.array([world.start(stream(i)) for i in range(50)])
    assert (starts[:, :3] == [5, 5, 0.5]).all()
    assert (starts[:, 7:9] == 15).all()
    assert len(np.unique(starts[:, 3])) == 50
    assert not truth(world, starts).any()
    assert len(np.unique(world.sample(stream(0), 50)[:, 0])) == 50


def test_the_same_seed_gives_the_same_start_everywhere():
    script = (
        "import hashlib; from rsg.domains.playroom import *; from rsg.core.random import stream\n"
        "world = PlayroomWorld(); state = world.start(stream(3)); h = hashlib.sha256(state.tobytes())\n"
        "for action in stream(4).uniform(-1, 1, (50, 1, 3)):\n"
        "    state = world.step(state[None], action)[0]; h.update(state.tobytes())\n"
        "print(h.hexdigest())"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", script],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(outputs) == 1


# What classifiers see, and what is true


@pytest.mark.parametrize("name", SHIPPED)
def test_encodings_are_in_range_and_tell_states_apart(name):
    world = WORLDS[name]
    states = world.sample(stream(1), 60)
    seen = world.encode(states)
    assert seen.dtype == np.float32
    assert seen.shape == (60, 4 + 2 * len(world.layout.effectors))
    assert np.abs(seen).max() <= 1
    middle, half = np.array(world.layout.size) / 2, max(world.layout.size) / 2
    assert np.allclose(seen[:, :2] * half + middle, states[:, :2], atol=1e-5)
    assert np.allclose(np.arctan2(seen[:, 3], seen[:, 2]), states[:, 2], atol=1e-5)
    assert np.allclose(seen[:, 4:].reshape(60, -1, 2) * half + middle, states[:, 3:].reshape(60, -1, 2), atol=1e-5)


def test_truth_follows_the_terms_that_are_asked():
    states = PAPER.sample(stream(2), 300)
    every = truth(PAPER, states)
    assert every.shape == (300, 6)
    assert np.array_equal(truth(PAPER, states, ["touch-monkey", "ring-bell"]), every[:, [5, 1]])
    for term, problem in (("ring-bel", "did you mean ring-bell?"), ("sing", "there are: play-with-ball, ring-bell")):
        with pytest.raises(RsgError, match=f"this Playroom has no subgoal '{term}'; {problem}"):
            truth(PAPER, states, [term])


@pytest.mark.kernels
def test_the_truth_as_classifiers():
    terms = ["turn-on-light", "play-with-ball"]
    goals = TrueGoals(PAPER, terms)
    states = PAPER.sample(stream(2), 100)
    states[::3, 3:5] = states[::3, :2]
    good, yet = goals(states)
    holds = truth(PAPER, states, terms)
    assert np.array_equal(good == 0, holds)
    assert np.array_equal(yet == 0, ~holds)
    kernel, tables = goals.compiled
    longer = np.concatenate([states, np.zeros((100, 2))], axis=1)
    for i in range(100):
        for k in range(2):
            assert kernel(tables, longer, i, k) == (good[i, k], yet[i, k])
