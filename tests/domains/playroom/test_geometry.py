"""The kernels of Playroom say what shapely says: for poses, along motions, and for what the robot touches.

Both call a distance of exactly zero a touch. Where the two bodies are nearer to a touch than 1e-9, rounding decides and
neither answer is wrong; motions are compared where they keep 1e-4 away from everything or surely hit something.
"""

import math

import numpy as np
import pytest
import shapely
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.reference import playroom as reference

from rsg.core.random import stream
from rsg.domains.playroom import SHIPPED, Effector, Layout, PlayroomWorld, load_layout, truth
from rsg.domains.playroom.geometry import At, apart, motion_free, polygons, wrapped
from rsg.domains.playroom.layout import box

PAPER = PlayroomWorld()
MANY = pytest.mark.slow


def random_polygon(rng, size):
    """A convex polygon: corners in order on an ellipse."""
    count = int(rng.integers(3, 7))
    angles = (np.arange(count) + rng.uniform(0.1, 0.9, count)) * 2 * np.pi / count
    stretch = size * rng.uniform(0.3, 1, 2)
    return [(stretch[0] * math.cos(angle), stretch[1] * math.sin(angle)) for angle in angles]


def random_layout(rng):
    """A room of any shape with any robot in it."""
    size = rng.uniform(6, 14, 2)
    walls = [np.array(random_polygon(rng, 2.0)) + rng.random(2) * size for _ in range(rng.integers(0, 6))]
    robot = [np.array(random_polygon(rng, 0.9)) + rng.uniform(-0.5, 0.5, 2) for _ in range(rng.integers(1, 4))]
    effectors = [Effector(f"thing-{i}", random_polygon(rng, 0.8)) for i in range(3)]
    return Layout(
        tuple(size), tuple(p.tolist() for p in robot), tuple(effectors), walls=tuple(p.tolist() for p in walls)
    )


def random_rows(world, rng, count):
    """States whose poses are anywhere in the room, or just outside of it, free or not."""
    poses = rng.uniform(-0.1, 1.1, (count, 3)) * [*world.layout.size, 2 * np.pi] - [0, 0, np.pi]
    places = rng.random((count, len(world.layout.effectors), 2)) * world.layout.size
    return np.concatenate([poses, places.reshape(count, -1)], axis=1)


def compare_poses(world, rows):
    """How many poses were free; both must agree on all that are no ties."""
    layout, things = world.layout, reference.obstacles(world.layout)
    shapely.prepare(things)
    free = world.free(rows)
    for row, answer in zip(rows, free, strict=True):
        distance = reference.clearance(layout, row[:3], things)
        if 0 < distance < reference.TIE:
            continue
        assert answer == (distance > 0), row[:3]
    return int(free.sum())


def compare_motions(world, rows, ends):
    """(free, not free, ties); both must agree on all that are no ties."""
    layout, things = world.layout, reference.obstacles(world.layout)
    shapely.prepare(things)
    count = {True: 0, False: 0, None: 0}
    for start, end, answer in zip(rows[:, :3], ends, world.clear(rows, ends), strict=True):
        expected = reference.motion(layout, start, end, things)
        assert expected is None or answer == expected, (start, end)
        count[expected] += 1
    return count


def compare_touches(world, rows):
    holds = truth(world, rows)
    for row, answers in zip(rows, holds, strict=True):
        for number, answer in enumerate(answers):
            assert reference.touching(world.layout, row, number) in (None, answer), row
    return holds


@pytest.mark.kernels
@pytest.mark.parametrize("name", SHIPPED)
@pytest.mark.parametrize("count", [150, pytest.param(25_000, marks=MANY)])
def test_poses(name, count):
    world = PlayroomWorld(load_layout(name))
    free = compare_poses(world, random_rows(world, stream(0, "poses", name), count))
    assert 0.2 * count < free < 0.8 * count


@pytest.mark.parametrize("reach", [1, 5])
@pytest.mark.parametrize("name", SHIPPED)
@pytest.mark.parametrize("count", [40, pytest.param(1250, marks=MANY)])
def test_motions(name, reach, count):
    world, rng = PlayroomWorld(load_layout(name)), stream(0, "motions", name, reach)
    rows = world.sample(rng, count)
    seen = compare_motions(world, rows, rows[:, :3] + reach * rng.uniform(-1, 1, (count, 3)))
    assert seen[None] < 0.02 * count
    assert min(seen[True], seen[False]) > 0.03 * count


@pytest.mark.parametrize("count", [100, pytest.param(20_000, marks=MANY)])
def test_touches(count):
    rng = stream(0, "touches")
    rows = PAPER.sample(rng, count)
    rows[:, 3:] = rows[:, :2].repeat(6, axis=0).reshape(count, 12) + rng.uniform(-2.2, 2.2, (count, 12))
    assert 0.1 < compare_touches(PAPER, rows).mean() < 0.9


@pytest.mark.kernels
@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_any_layout(seed):
    """Rooms with any convex walls and robots of any parts."""
    rng = stream(seed, "layouts")
    world = PlayroomWorld(random_layout(rng))
    rows = random_rows(world, rng, 12)
    compare_poses(world, rows)
    compare_touches(world, rows)
    compare_motions(world, rows[:6], rows[6:, :3])


@pytest.mark.slow
def test_many_layouts():
    for seed in range(300):
        rng = stream(seed, "many layouts")
        world = PlayroomWorld(random_layout(rng))
        rows = random_rows(world, rng, 40)
        compare_poses(world, rows)
        compare_touches(world, rows)
        compare_motions(world, rows[:20], rows[20:, :3])


def test_the_reference_draws_many_bodies_as_it_draws_one():
    poses = stream(0, "bodies").uniform(-5, 5, (20, 3))
    for parts, pose in zip(reference.bodies(PAPER.layout, poses), poses, strict=True):
        for part, same in zip(parts, reference.body(PAPER.layout, pose).geoms, strict=True):
            assert part.symmetric_difference(same).area < 1e-12


# Nothing slips through


@pytest.mark.kernels
def test_a_body_far_from_its_centre_stays_in_the_room():
    arm = [[2.5, -0.5], [3.5, -0.5], [3.5, 0.5], [2.5, 0.5]]
    world = PlayroomWorld(Layout((10, 10), (arm,), (Effector("ball", box(1, 1)),)))
    state = world.sample(stream(0), 1)
    for angle, free in ((0, True), (np.pi, False), (np.pi / 2, True), (-2.0, False)):
        state[0, :3] = (1, 5, angle)
        assert world.free(state)[0] == free


@pytest.mark.kernels
@pytest.mark.parametrize("thickness", [0.5, 1e-3, 1e-6])
def test_no_wall_is_too_thin(thickness):
    """A long motion straight through a wall, however thin."""
    wall = [[5, 0], [5 + thickness, 0], [5 + thickness, 10], [5, 10]]
    world = PlayroomWorld(Layout((10, 10), (box(0.2, 0.2),), (Effector("ball", box(1, 1)),), walls=(wall,)))
    left, right = world.sample(stream(0), 2)
    left[:3], right[:3] = (1, 5, 0), (9, 5, 3)
    assert world.free(np.stack([left, right])).all()
    assert not world.clear(left[None], right[None, :3])[0]
    assert world.clear(left[None], np.array([[4, 9, 3.0]]))[0]


@pytest.mark.kernels
def test_a_bar_that_tilts_while_it_passes_hits_a_spike_that_is_below_it_at_both_ends():
    """Half-way the bar is level and lowest; before and after, the line along its lower edge is well above the spike."""
    spike = [[9.5, 0], [10.5, 0], [10, 4]]
    world = PlayroomWorld(Layout((20, 10), (box(2, 0.4),), (Effector("ball", box(1, 1)),), walls=(spike,)))
    state = world.sample(stream(0), 1)
    for gap, free in ((-0.1, False), (-0.01, False), (0.01, True), (0.1, True)):
        for way in (5.0, -5.0):
            state[0, :3] = (10 - way, 4.2 + gap, np.sign(way) * 0.05)
            assert world.clear(state, np.array([[10 + way, 4.2 + gap, -np.sign(way) * 0.05]]))[0] == free


@pytest.mark.kernels
def test_a_turning_corner_hits_what_both_ends_miss():
    """A quarter turn beside a wall: free at both ends, and its corner would cut into the wall on the way."""
    world = PlayroomWorld(Layout((10, 10), (box(2, 2),), (Effector("ball", box(1, 1)),)))
    state = world.sample(stream(0), 1)
    for gap, free in ((0.1, False), (0.41, False), (0.4143, True), (0.5, True)):  # the corner reaches √2 - 1 = 0.41421…
        state[0, :3] = (1 + gap, 5, 0)
        end = state[:, :3] + [0, 0, np.pi / 2]
        assert world.free(state)[0]
        assert world.clear(state, end)[0] == free


@pytest.mark.kernels
@pytest.mark.parametrize("gap", [1e-3, 1e-5, 1e-7])
def test_sliding_along_a_wall_is_free(gap):
    """However near: one line keeps robot and wall apart all the way."""
    state = PAPER.sample(stream(0), 1)
    state[0, :3] = (1.5, 10.75 + gap, 0)
    assert PAPER.clear(state, np.array([[8.5, 10.75 + gap, 0]]))[0]
    assert not PAPER.clear(state, np.array([[8.5, 10.75 - gap, 0]]))[0]


# Ties at touching distance: a touch is a hit


@pytest.mark.kernels
def test_exactly_touching_a_wall_is_not_free():
    state = PAPER.sample(stream(0), 1)
    for y, free in ((10.75, False), (np.nextafter(10.75, 11) + 1e-14, True), (10.75 - 1e-14, False)):
        state[0, :3] = (3, y, 0)
        assert PAPER.free(state)[0] == free
        assert (reference.clearance(PAPER.layout, state[0, :3]) > 0) == free


@pytest.mark.kernels
def test_exactly_touching_a_side_of_the_room_is_not_free():
    state = PAPER.sample(stream(0), 1)
    for pose, free in (
        ((1, 3, 0), False),
        ((1 + 1e-12, 3, 0), True),
        ((3, 0.5, 0), False),
        ((3, 0.5 + 1e-12, 0), True),
    ):
        state[0, :3] = pose
        assert PAPER.free(state)[0] == free


@pytest.mark.kernels
def test_exactly_touching_an_effector_is_touching():
    state = PAPER.state((5, 5, 0), {"ball": (8, 5)})
    for x, holds in ((6.5, True), (6.5 + 1e-12, False), (3.5, True), (3.5 - 1e-12, False), (5, True)):
        state[3] = x
        assert truth(PAPER, state[None], ["play-with-ball"])[0, 0] == holds


@pytest.mark.kernels
def test_corner_to_corner():
    """Two corners that meet touch; two that miss each other by a little do not, though no edge faces the other."""
    square = polygons([box(2, 2)])
    turned = (math.cos(np.pi / 4), math.sin(np.pi / 4))
    reach = 1 + math.sqrt(2)  # from the middle of one to where its face meets the other's corner
    assert not apart(square, 0, square, 0, At(reach - 1e-9, 0.0, *turned))
    assert apart(square, 0, square, 0, At(reach + 1e-9, 0.0, *turned))
    assert not apart(square, 0, square, 0, At(2.0, 2.0, 1.0, 0.0))
    assert apart(square, 0, square, 0, At(2.0 + 1e-12, 2.0 + 1e-12, 1.0, 0.0))


# Angles


@given(st.floats(-1e6, 1e6))
@example(np.nextafter(np.pi, 0))
@example(np.nextafter(-np.pi, -4))
@example(np.nextafter(3 * np.pi, 0))
@example(np.pi)
def test_wrapped_angles(angle):
    turned = wrapped(angle)
    assert -np.pi <= turned < np.pi
    assert math.isclose(math.cos(turned), math.cos(angle), abs_tol=1e-6)
    assert math.isclose(math.sin(turned), math.sin(angle), abs_tol=1e-6)
    assert wrapped(turned) == turned


def test_a_turn_goes_the_shorter_way():
    assert wrapped(-3.0 - 3.0) == pytest.approx(2 * np.pi - 6)
    assert wrapped(3.0 + 3.0) == pytest.approx(6 - 2 * np.pi)
    assert wrapped(1.0 - 0.5) == 0.5
    assert wrapped(np.pi - 0.0) == -np.pi


@pytest.mark.kernels
def test_the_way_past_pi_is_the_short_one():
    """In a slot that is too tight for a whole turn, a small turn across π is free."""
    layout = Layout((10, 2.4), (box(3, 0.5),), (Effector("ball", box(0.3, 0.3)),))
    world = PlayroomWorld(layout)
    state = world.sample(stream(0), 1)
    state[0, :3] = (5, 1.2, 3.0)
    assert world.clear(state, np.array([[5, 1.2, -3.0]]))[0]
    assert not world.clear(state, np.array([[5, 1.2, 1.5]]))[0]
    assert motion_free(layout.shapes, np.array([5, 1.2, 3.0]), np.array([5, 1.2, -3.0 + 2 * np.pi]))


@pytest.mark.kernels
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_no_pose_is_free_that_is_not_a_number(bad):
    kernel, tables = PAPER.compiled_motion
    good = np.array([5.0, 5.0, 0.0])
    assert kernel(tables, good, good + 0.5)
    for place in range(3):
        odd = good.copy()
        odd[place] = bad
        assert not kernel(tables, odd, good)
        assert not kernel(tables, good, odd)
