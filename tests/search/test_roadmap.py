"""Roadmaps: every edge is walked in its world; what is attached is compared with a plain count."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.reference import motion as plain
from tests.reference.boxes import BoxWorld, CompiledBoxWorld, four_rooms

from rsg.core.errors import RsgError
from rsg.core.random import stream
from rsg.search import attach, roadmap
from rsg.search.motion.roadmap import passages
from rsg.search.motion.sampling import halton

SEEDS = st.integers(0, 2**32 - 1)
ARRAYS = ["states", "edge_start", "edge_end", "edge_action", "edge_cost", "path"]


def source_of(graph):
    return np.repeat(np.arange(len(graph.states)), np.diff(graph.edge_start))


def edges_of(graph):
    return set(zip(source_of(graph).tolist(), graph.edge_end.tolist(), strict=True))


def connected(graph, start):
    seen, stack = {start}, [start]
    while stack:
        s = stack.pop()
        for t in graph.edge_end[graph.edge_start[s] : graph.edge_start[s + 1]].tolist():
            if t not in seen:
                seen.add(t)
                stack.append(t)
    return seen


def assert_walkable(world, graph):
    """Each edge is an action of the world that leads where it says, at the world's cost; numbers count from 0."""
    size = len(world.low)
    source, end = source_of(graph), graph.edge_end
    moves = plain.differences(world, graph.states[source][:, :size], graph.states[end][:, :size])
    assert (np.abs(moves) <= world.reach * (1 + 1e-8)).all()
    after = world.step(graph.states[source], moves)
    assert np.allclose(plain.differences(world, after[:, :size], graph.states[end][:, :size]), 0, atol=1e-9)
    assert (graph.edge_cost == world.cost).all()
    assert np.array_equal(graph.edge_action, np.arange(len(graph.edge_end)) - graph.edge_start[source])


@pytest.mark.parametrize("turning", [False, True])
def test_poses_are_free_and_edges_can_be_walked_both_ways(turning):
    world = four_rooms(turning=turning)
    roads = roadmap(world, world.low, 600 if turning else 300)
    assert len(np.unique(roads.states, axis=0)) == len(roads.states)
    assert len(roads.states) >= (600 if turning else 300)
    assert world.free(roads.states).all()
    assert len(roads.path) == 0
    assert_walkable(world, roads)
    pairs = edges_of(roads)
    assert pairs == {(b, a) for a, b in pairs}
    assert len(pairs) == len(roads.edge_end)


def test_every_free_action_between_poses_is_an_edge():
    world = four_rooms(turning=False)
    roads = roadmap(world, world.low, 250)
    one, other = np.meshgrid(np.arange(len(roads.states)), np.arange(len(roads.states)), indexing="ij")
    near = plain.actions_apart(world, roads.states[one], roads.states[other]) <= 1
    one, other = one[near & (one != other)], other[near & (one != other)]
    free = world.clear(roads.states[one], roads.states[other])
    assert edges_of(roads) == set(zip(one[free].tolist(), other[free].tolist(), strict=True))


@given(SEEDS)
@settings(deadline=None, max_examples=30)
def test_attached_states_come_first_and_have_all_their_actions(seed):
    """Against a plain count, for a random walk that may bump into walls and stand still."""
    rng = stream(seed, "attach")
    world = four_rooms(CompiledBoxWorld if seed % 2 else BoxWorld, turning=seed % 3 > 0)
    size = len(world.low)
    roads = roadmap(world, np.append(world.low, [0.0, 0.0]), 300)
    start = world.sample(rng, 500)
    rows = [np.append(start[world.free(start)][0], [3.0, 4.0])]
    for action in rng.uniform(-1.5, 1.5, (6, size)):
        rows.append(world.step(rows[-1][None], np.clip(action, -1, 1)[None])[0])
    rows.append(rows[-2])
    trajectory = np.stack(rows)
    graph = attach(world, roads, trajectory)
    assert np.array_equal(graph.states[graph.path], trajectory)
    assert graph.path[0] == 0
    count = len(graph.states) - len(roads.states)
    assert count == len({row.tobytes() for row in trajectory})
    assert np.array_equal(graph.states[count:, :size], roads.states)
    assert (graph.states[:, size:] == [3.0, 4.0]).all()
    expected = {(a + count, b + count) for a, b in edges_of(roads)}
    expected |= set(zip(graph.path[:-1].tolist(), graph.path[1:].tolist(), strict=True))
    for a in range(count):
        for b in range(len(graph.states)):
            here, there = graph.states[a], graph.states[b]
            near = a != b and plain.actions_apart(world, here[:size], there[:size]) <= 1 + 1e-9
            if near and world.clear(here[None], there[None, :size])[0]:
                expected |= {(a, b), (b, a)}
    assert edges_of(graph) == expected
    assert len(graph.edge_end) == len(expected)
    assert_walkable(world, graph)


def test_one_roadmap_serves_all_states_and_equal_worlds():
    world, state = four_rooms(), np.zeros(5)
    roads = roadmap(world, state, 100)
    assert roadmap(world, state + 1.0, 100) is roads
    assert roadmap(four_rooms(), state, 100) is roads
    assert roadmap(four_rooms(margin=0.8), state, 100) is not roads
    assert roadmap(world, state, 101) is not roads
    assert roadmap(world, state, 100, seed=1) is not roads
    general = four_rooms(BoxWorld)  # whose motions may depend on what else is in the state
    assert roadmap(general, state, 100) is roadmap(general, state, 100)
    assert roadmap(general, state, 100) is not roadmap(general, state + 1.0, 100)
    for seed in range(16):  # so many are kept
        roadmap(CompiledBoxWorld([3.0, 3.0]), np.zeros(2), 20, seed)
    again = roadmap(world, state, 100)
    assert again is not roads
    assert all(getattr(again, name).tobytes() == getattr(roads, name).tobytes() for name in ARRAYS)


def test_only_the_last_few_roadmaps_are_kept():
    world = CompiledBoxWorld([3.0, 3.0])
    first = roadmap(world, np.zeros(2), 20, seed=100)
    for seed in range(101, 115):
        roadmap(world, np.zeros(2), 20, seed)
    assert roadmap(world, np.zeros(2), 20, seed=100) is first
    for seed in range(120, 136):
        roadmap(world, np.zeros(2), 20, seed)
    assert roadmap(world, np.zeros(2), 20, seed=100) is not first


def test_a_narrow_passage_joins_the_roadmap():
    wall = [[[4.9, 0.0], [5.1, 4.95]], [[4.9, 5.05], [5.1, 10.0]]]
    for seed in range(3):
        roads = roadmap(CompiledBoxWorld([10.0, 10.0], wall), np.zeros(2), 300, seed)
        assert len(connected(roads, 0)) == len(roads.states)
        assert_walkable(CompiledBoxWorld([10.0, 10.0], wall), roads)


def test_poses_in_passages_are_free_and_many_are_in_the_narrow_one():
    world = CompiledBoxWorld([10.0, 10.0], [[[4.9, 0.0], [5.1, 4.8]], [[4.9, 5.2], [5.1, 10.0]]])
    found = passages(world, np.zeros(2), 400)
    assert passages(world, np.zeros(2), 400) is found
    assert world.free(found).all()
    inside = (np.abs(found - 5.0) <= [0.1, 0.2]).all(axis=1)
    assert inside.mean() > 0.02  # of the whole world it is less than a thousandth
    assert len(passages(CompiledBoxWorld([10.0, 10.0]), np.zeros(2))) == 0


def test_worlds_that_cannot_be_hashed_have_roadmaps_too():
    class Plain(BoxWorld):
        __hash__ = None

    world = Plain([3.0, 3.0])
    assert roadmap(world, np.zeros(2), 20) is roadmap(world, np.zeros(2), 20)


def test_parts_that_nothing_joins_stay_apart():
    world = CompiledBoxWorld([10.0, 10.0], [[[4.9, 0.0], [5.1, 10.0]]])
    roads = roadmap(world, np.zeros(2), 300)
    left = roads.states[:, 0] < 5
    assert connected(roads, int(np.argmax(left))) == set(np.flatnonzero(left).tolist())


def test_a_world_without_room_is_an_error():
    with pytest.raises(RsgError, match=r"no free pose was found among 1,000; is there room for the robot\?"):
        roadmap(CompiledBoxWorld([1.0, 1.0], [[[0.0, 0.0], [1.0, 1.0]]]), np.zeros(2), 50)


def test_haltons_points_fill_the_cube_evenly():
    points = halton(0, 1000, 3)
    assert ((points >= 0) & (points < 1)).all()
    cells = np.unique((points * 5).astype(int), axis=0)
    assert len(cells) == 125
