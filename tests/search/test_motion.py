"""Motion planning from pose to pose: every path is replayed in its world, compiled or not."""

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.reference import motion as plain
from tests.reference.boxes import BoxWorld, CompiledBoxWorld, four_rooms

from rsg.core.errors import RsgError
from rsg.core.random import stream
from rsg.search import connect, shorten
from rsg.search.motion.space import prepared, space_of, split
from rsg.search.motion.trees import Tree, grow, nearest, reach_for

pytestmark = pytest.mark.kernels
SLOW = bool(numba.config.DISABLE_JIT)
SEEDS = st.integers(0, 2**32 - 1)


def random_world(rng, kind=CompiledBoxWorld):
    """A few boxes in two or three dimensions, the last of which may come round."""
    count = int(rng.integers(2, 4))
    size = rng.uniform(2.0, 8.0, count)
    corners = rng.random((int(rng.integers(0, 7)), 2, count)) * size
    boxes = np.stack([corners.min(axis=1), corners.min(axis=1) + 0.3 * np.ptp(corners, axis=1)], axis=1)
    return kind(size, boxes, [False] * (count - 1) + [bool(rng.integers(2))], rng.uniform(0.3, 1.5, count))


def free_states(world, rng, count):
    rows = world.sample(rng, 50 * count + 50)
    return rows[world.free(rows)][:count]


@given(SEEDS)
@settings(deadline=None)
def test_distances_and_single_actions_are_those_of_the_definition(seed):
    rng = stream(seed, "distance")
    world = random_world(rng)
    space, rows = space_of(world), world.sample(rng, 12)
    target = rows[-1]
    away = plain.actions_apart(world, rows[:-1], target)
    assert nearest(space, rows, 11, target) == np.argmin(away)
    chain = np.empty((40, len(target)))
    for row, distance in zip(rows, away, strict=False):
        count, total = split(space, row, target, chain)
        assert count == total == np.ceil(distance)
        way = np.concatenate([row[None], chain[:count]])
        assert np.allclose(plain.actions_apart(world, way[:-1], way[1:]), distance / total)
        assert np.array_equal(way[-1], target)
        assert (way >= world.low).all()
        assert (way <= world.high).all()
        assert split(space, row, target, chain[:1])[0] == 1


@given(SEEDS)
@settings(deadline=None, max_examples=40)
def test_every_path_can_be_walked_and_gets_no_longer_by_shortening(seed):
    """In random worlds: from the start to the goal, within reach, nothing in the way; seeds reproduce."""
    rng = stream(seed, "paths")
    world = random_world(rng)
    ends = free_states(world, rng, 2)
    if len(ends) < 2:
        return
    start, goal = ends
    found = connect(world, start, goal, stream(seed, "plan"), budget=400)
    if not found.found:
        assert (found.ended, found.samples, len(found.poses)) == ("budget", 400, 0)
        return
    assert plain.what_is_wrong(world, start, found.poses) == ""
    assert np.array_equal(found.poses[-1], goal)
    short = shorten(world, start, found.poses, stream(seed, "shorten"), tries=30)
    assert plain.what_is_wrong(world, start, short) == ""
    assert np.array_equal(short[-1], goal)
    assert len(short) <= len(found.poses)
    assert plain.length(world, short) <= plain.length(world, found.poses) + 1e-6
    again = connect(world, start, goal, stream(seed, "plan"), budget=400)
    assert again.poses.tobytes() == found.poses.tobytes()
    assert shorten(world, start, again.poses, stream(seed, "shorten"), tries=30).tobytes() == short.tobytes()


def grown(world, start, targets, every):
    """A tree from the start after it grew towards targets, and how many of these it took."""
    tree, chain = Tree.at(start[None]).with_room(8 * len(targets)), np.empty((8, len(start)))
    kernel, tables = prepared(grow, world, start, reach_for=reach_for)
    return tree, kernel(tables, space_of(world), tree, targets, every, chain)


@given(SEEDS)
@settings(deadline=None, max_examples=25)
def test_a_tree_grows_by_actions_that_can_be_walked_and_ends_where_it_reached_an_aim(seed):
    """The same tree with motions that are not compiled; each target is approached from the nearest pose there was."""
    rng = stream(seed, "tree")
    worlds = [random_world(stream(seed, "tree"), kind) for kind in (CompiledBoxWorld, BoxWorld)]
    world, starts = worlds[0], free_states(worlds[0], rng, 1)
    targets = world.sample(rng, 60)
    if len(starts) == 0:
        return
    tree, used = grown(world, starts[0], targets, 3)
    count = int(tree.size[0])
    again, used_again = grown(worlds[1], starts[0], targets, 3)
    assert (used_again, int(again.size[0])) == (used, count)
    assert again.poses[:count].tobytes() == tree.poses[:count].tobytes()
    assert again.parent[:count].tobytes() == tree.parent[:count].tobytes()
    assert tree.parent[0] == -1
    for number in range(1, count):
        assert (
            plain.what_is_wrong(world, tree.poses[tree.parent[number]], tree.poses[[tree.parent[number], number]]) == ""
        )
    assert all(np.array_equal(tree.poses[tree.way_to(n)[0]], starts[0]) for n in range(count))
    reached = [bool((tree.poses[:count] == target).all(axis=1).any()) for target in targets[:used:3]]
    assert not any(reached[:-1])
    assert used == len(targets) or reached[-1]
    assert count == plain.tree_size(world, starts[0], targets[:used], 8)


@given(SEEDS)
@settings(deadline=None, max_examples=10)
def test_a_world_without_compiled_motions_gives_the_same_paths(seed):
    rng = stream(seed, "general")
    worlds = [random_world(stream(seed, "general"), kind) for kind in (CompiledBoxWorld, BoxWorld)]
    ends = free_states(worlds[0], rng, 2)
    if len(ends) < 2:
        return
    one, other = (connect(world, *ends, stream(seed), budget=300) for world in worlds)
    assert one.poses.tobytes() == other.poses.tobytes()
    if one.found:
        one, other = (shorten(world, ends[0], one.poses, stream(seed)) for world in worlds)
        assert one.tobytes() == other.tobytes()


def test_paths_lead_through_doors_and_shortening_is_worth_it():
    world = four_rooms()
    rng = stream(0, "rooms")
    before = after = bound = 0
    for number in range(6 if SLOW else 30):
        start, goal = free_states(world, rng, 2)
        found = connect(world, start, goal, stream(number))
        assert found.found
        short = shorten(world, start, found.poses, stream(number))
        before, after = before + len(found.poses) - 1, after + len(short) - 1
        bound += np.ceil(plain.actions_apart(world, start, goal))
    assert after < 0.8 * before
    assert after < 1.5 * bound


def test_a_shortened_path_in_the_open_is_straight():
    world = CompiledBoxWorld([10.0, 10.0])
    corners = np.array([[0.0, 0], [0, 1], [0, 2], [0, 3], [1, 3], [2, 3], [3, 3], [3.5, 3], [3.5, 3.5]])
    short = shorten(world, corners[0], corners, stream(0))
    assert len(short) == 5
    assert plain.length(world, short) == pytest.approx(np.hypot(3.5, 3.5), abs=0.02)


@pytest.mark.parametrize("seed", range(5))
def test_shortcuts_that_end_in_a_wall_are_not_taken(seed):
    """Down behind a thin wall: only the last action of a straight way is blocked."""
    world = CompiledBoxWorld([10.0, 10.0], [[[8.4, 0.0], [8.6, 3.0]]])
    up, down = np.arange(0.5, 4), np.arange(2.5, 0, -1)
    x = np.concatenate([np.zeros(len(up)), np.arange(1.0, 10), np.full(len(down), 9.0)])
    y = np.concatenate([up, np.full(9, 3.5), down])
    poses = np.stack([x, y], axis=1)
    assert plain.what_is_wrong(world, poses[0], poses) == ""
    short = shorten(world, poses[0], poses, stream(seed))
    assert plain.what_is_wrong(world, poses[0], short) == ""
    assert len(short) <= len(poses) - 2


class OneWay(BoxWorld):
    """No motion leads to the left."""

    def clear(self, states, ends):
        return super().clear(states, ends) & (ends[:, 0] >= np.asarray(states)[:, 0])


def test_the_tree_of_the_goal_grows_against_the_motions():
    world, start, goal = OneWay([100.0, 10.0]), np.array([0.0, 5.0]), np.array([100.0, 5.0])
    found = connect(world, start, goal, stream(0), budget=1)  # too far for one of the trees alone
    assert found.found
    assert plain.what_is_wrong(world, start, found.poses) == ""
    assert not connect(world, goal, start, stream(0), budget=10).found


def test_what_cannot_be_reached_ends_with_the_budget_or_the_time():
    world = CompiledBoxWorld([10.0, 10.0], [[[4.0, 0.0], [5.0, 10.0]]])
    found = connect(world, np.array([1.0, 1.0]), np.array([9.0, 9.0]), stream(0), budget=1000)
    assert (found.found, found.ended, found.samples) == (False, "budget", 1000)
    found = connect(world, np.array([1.0, 1.0]), np.array([9.0, 9.0]), stream(0), budget=10**9, time_limit=0.05)
    assert (found.found, found.ended) == (False, "time")


def test_a_goal_at_hand_is_reached_at_once():
    world = CompiledBoxWorld([10.0, 10.0])
    start = np.array([1.0, 1.0, 7.0])  # the last number is none of the pose
    assert connect(world, start, np.array([1.0, 1.0]), stream(0)).poses.tolist() == [[1, 1]]
    assert connect(world, start, np.array([3.0, 1.0]), stream(0)).poses.tolist() == [[1, 1], [2, 1], [3, 1]]


@pytest.mark.parametrize(
    ("start", "goal", "complaint"),
    [
        ([4.5, 1.0], [1.0, 1.0], r"the pose \(4.5, 1\) is out of bounds or touches an obstacle"),
        ([1.0, 1.0], [4.5, 1.0], r"the pose \(4.5, 1\) is out of bounds or touches an obstacle"),
        ([1.0, 1.0], [11.0, 1.0], r"the pose \(11, 1\) is out of bounds"),
        ([np.nan, 1.0], [1.0, 1.0], "finite numbers, but number 0 is not one"),
        ([1.0, 1.0], [1.0, np.inf], "finite numbers, but number 1 is not one"),
        ([1.0, 1.0, 0.0, np.nan], [1.0, 2.0], "finite numbers, but number 3 is not one"),
        ([1.0], [1.0, 1.0], "a row of at least 2 numbers"),
        ([1.0, 1.0], [1.0], "a pose of 2 numbers"),
    ],
)
def test_impossible_questions_are_errors(start, goal, complaint):
    world = CompiledBoxWorld([10.0, 10.0], [[[4.0, 0.0], [5.0, 8.0]]])
    with pytest.raises(RsgError, match=complaint):
        connect(world, np.array(start), np.array(goal), stream(0))
