"""Scores as the paper prints them: against every alignment one by one, gradients against finite differences."""

from math import inf

import numba
import numpy as np
import pytest
from tests.reference import learning as reference
from tests.reference.boxes import BoxWorld
from tests.search.test_roadmap import assert_walkable
from tests.subgoals.test_ground import walk
from tests.subgoals.test_objective import (
    check_gradients,
    compare_with_all_alignments,
    parts_of,
    random_question,
    road_ground,
    small_example,
)

from reproductions.paper.expectation import expected
from reproductions.paper.geometric_threshold import geometric_mean
from reproductions.paper.printed_score import printed
from reproductions.paper.sampled_actions import sampled_ground
from rsg.core.random import stream
from rsg.search import roadmap
from rsg.subgoals import Score, score

pytestmark = pytest.mark.slow
SLOW = bool(numba.config.DISABLE_JIT)


def kernel(function, **changes):
    """A score by one of the paper's kernels, for questions with other rules."""

    def ask(q):
        there, nodes, logs, how = parts_of(q._replace(**changes))
        return Score(*function(there.graph.arrays, there.walk, nodes, logs, how))

    return ask


def loose_question(rng, impossible, **asked):
    return random_question(rng, impossible, **asked)._replace(one_action=False)


# The printed score.


@pytest.mark.parametrize("open_end", [False, True])
def test_the_printed_score_is_that_of_all_alignments(open_end):
    rng = stream(0, "printed", int(open_end))
    for case in range(8 if SLOW else 100):
        q = loose_question(rng, [0.0, 0.1][case % 2], steps=(0, 5), open_end=open_end)
        compare_with_all_alignments(q, kernel(printed))


def test_the_printed_score_needs_no_action_for_a_subgoal():
    q = small_example()._replace(one_action=False)
    act, leave = np.exp(-(0.5 - np.log(0.8))), 0.1
    wanted = np.log(0.9) + np.log(0.8) + np.log(act / (act + leave))
    assert kernel(printed)(q).value == pytest.approx(wanted)


@pytest.mark.parametrize("open_end", [False, True])
def test_gradients_of_the_printed_score(open_end):
    check_gradients(stream(0, "printed", int(open_end)), 2 if SLOW else 40, kernel(printed), open_end=open_end)


# The expectation.


@pytest.mark.parametrize("open_end", [False, True])
def test_the_expected_score_is_that_of_the_reference(open_end):
    rng = stream(0, "expectation", int(open_end))
    possible = 0
    for case in range(8 if SLOW else 100):
        q = random_question(rng, [0.0, 0.1][case % 2], steps=(0, 5), open_end=open_end)
        wanted, found = reference.expected_score(q), kernel(expected)(q)
        assert found.value == pytest.approx(wanted, rel=1e-10, abs=1e-10)
        if wanted > -inf:
            possible += 1
            np.testing.assert_allclose(found.acts.sum(axis=1), 1, rtol=1e-10)
    assert possible >= (3 if SLOW else 40)


@pytest.mark.parametrize("open_end", [False, True])
def test_gradients_of_the_expected_score(open_end):
    check_gradients(stream(0, "expected", int(open_end)), 2 if SLOW else 40, kernel(expected), open_end=open_end)


# Sampled actions.


def sampled_roads(rng, steps):
    return road_ground(rng, steps, lambda world, states, done, *sizes: sampled_ground(world, states, done, (*sizes, 2)))


def test_the_score_over_sampled_actions_is_that_of_all_alignments():
    rng = stream(0, "sampled")
    for case in range(4 if SLOW else 50):
        compare_with_all_alignments(random_question(rng, [0.0, 0.1][case % 2], make_ground=sampled_roads))


def test_gradients_over_sampled_actions():
    ask = lambda q: score(*parts_of(q))  # noqa: E731
    check_gradients(stream(0, "sampled"), 2 if SLOW else 10, ask, make_ground=sampled_roads)


def test_sampled_actions_are_all_that_one_could_have_done():
    world = BoxWorld([4.0, 4.0], [[[1.9, 0.0], [2.1, 3.0]]])
    states, actions = walk(world, 6)
    there, again = (sampled_ground(world, states, actions, (2, 40, 5)) for _ in range(2))
    assert np.array_equal(there.graph.states, again.graph.states)
    assert_walkable(world, there.graph)
    graph, rng = there.graph, stream(0, "volume")
    roads = {row.tobytes() for row in roadmap(world, states[0], 40).states}
    for i, s in enumerate(graph.path[:-1]):
        ends = graph.edge_end[graph.edge_start[s] : graph.edge_start[s + 1]]
        stays = (states[i] == states[i + 1]).all()
        assert len(ends) == 6
        assert graph.path[i + 1] in ends
        assert not any(graph.states[end, :2].tobytes() in roads for end in ends)
        tries = rng.uniform(-1, 1, (4000, 2))
        after = world.step(np.repeat(states[i][None], 4000, axis=0), tries)
        volume = 4 * (after != states[i]).any(axis=1).mean()  # a square of actions, as far as they are free
        assert there.walk.each[i] * len(ends) == pytest.approx(volume, abs=0.5), stays


# The threshold of dependencies.


def test_the_threshold_is_the_geometric_mean():
    rng = stream(0, "geometric mean")
    for _ in range(50):
        odds = rng.normal(0, rng.uniform(0.5, 8), 20).astype(np.float32)
        g = 1 / (1 + np.exp(-odds.astype(np.float64)))
        assert 1 / (1 + np.exp(-geometric_mean(odds))) == pytest.approx(np.sqrt(g.min() * g.max()), rel=1e-6)


@pytest.mark.parametrize("same_everywhere", [-3.0, 0.0, 7.0])
def test_classifiers_that_say_the_same_of_all_states(same_everywhere):
    assert np.isfinite(geometric_mean(np.full(5, same_everywhere, dtype=np.float32)))


def test_with_a_g_of_0_all_is_called_true():
    assert geometric_mean(np.array([-1e30, 3.0], dtype=np.float32)) == -inf
