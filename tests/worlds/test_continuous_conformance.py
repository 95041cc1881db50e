"""The check of continuous worlds: nothing wrong with good ones, and a sentence for each thing that is."""

import numpy as np
import pytest

from rsg.core.compiled import compiled
from rsg.core.random import stream
from rsg.worlds import ContinuousWorld, World, check


class Pond:
    """A tiny good world: a boat at a place and a heading, in a square pond with a round island, and a buoy."""

    low, high = np.array([-5.0, -5.0, 0.0]), np.array([5.0, 5.0, 360.0])
    period, reach = np.array([0.0, 0.0, 360.0]), np.array([1.0, 1.0, 30.0])
    cost = 1.0

    def step(self, states, actions):
        after = states.copy()
        ends = states[:, :3] + actions
        ends[:, 2] %= 360
        clear = Pond.clear(self, states, ends)
        after[clear, :3] = ends[clear] + 0.0
        return after

    def free(self, states):
        x, y = states[:, 0], states[:, 1]
        return (np.abs(states[:, :2]) <= 5).all(axis=1) & (np.hypot(x, y) > 2)

    def clear(self, states, ends):
        start, way = states[:, :2], ends[:, :2] - states[:, :2]
        nearest = np.clip(-(start * way).sum(axis=1) / np.maximum((way**2).sum(axis=1), 1e-12), 0, 1)
        passed = start + nearest[:, None] * way
        inside = (np.abs(start) <= 5).all(axis=1) & (np.abs(ends[:, :2]) <= 5).all(axis=1)
        return inside & (np.hypot(*passed.T) > 2) & (np.hypot(*ends[:, :2].T) > 2) & (np.hypot(*start.T) > 2)

    def encode(self, states):
        return states.astype(np.float32)

    def render(self, state):
        return np.zeros((4, 4, 3), dtype=np.uint8)

    def sample(self, rng, count):
        states = rng.uniform([-5, -5, 0, -5, -5], [5, 5, 360, 5, 5], (4 * count + 50, 5))
        return states[Pond.free(self, states)][:count]


@compiled
def always(tables, start, end):
    return True


@compiled
def around(radius, start, end):
    x, y, dx, dy = start[0], start[1], end[0] - start[0], end[1] - start[1]
    nearest = min(1.0, max(0.0, -(x * dx + y * dy) / max(dx * dx + dy * dy, 1e-12)))
    inside = max(abs(x), abs(y), abs(end[0]), abs(end[1])) <= 5
    return inside and np.hypot(x + nearest * dx, y + nearest * dy) > radius and np.hypot(end[0], end[1]) > radius


class CompiledPond(Pond):
    compiled_motion = (around, 2.0)


@pytest.mark.parametrize("world", [Pond(), CompiledPond()])
def test_nothing_is_wrong_with_a_good_world(world):
    assert check(world) == []
    assert check(world, seed=3) == []
    assert check(world, Pond().sample(stream(1), 1)) == []
    assert isinstance(world, ContinuousWorld)
    assert not isinstance(world, World)


# One thing wrong at a time


class ShortReach(Pond):
    reach = np.array([1.0, 1.0])


class NoPose(Pond):
    low = high = period = reach = np.array([])


class EndlessBounds(Pond):
    high = np.array([5.0, np.inf, 360.0])


class TurnedBounds(Pond):
    low, high = Pond.high, Pond.low


class NoReach(Pond):
    reach = np.array([1.0, 0.0, 30.0])


class OddPeriod(Pond):
    period = np.array([0.0, 0.0, 180.0])


class FreeRide(Pond):
    cost = 0.0


class EndlessCost(Pond):
    cost = np.inf


class SmallNumbers(Pond):
    def sample(self, rng, count):
        return super().sample(rng, count).astype(np.float32)


class NarrowStates(Pond):
    def sample(self, rng, count):
        return super().sample(rng, count)[:, :2].copy()


class StatesOutside(Pond):
    def sample(self, rng, count):
        return super().sample(rng, count) + 2


class NeverFree(Pond):
    def free(self, states):
        return np.zeros(len(states), dtype=bool)


class DriftingBuoy(Pond):
    def step(self, states, actions):
        after = super().step(states, actions)
        after[:, 4] += 0.1
        return after


class Jumping(Pond):
    def step(self, states, actions):
        return super().step(super().step(states, actions), actions)


class Sliding(Pond):
    """Goes half the way where it can."""

    def step(self, states, actions):
        after = super().step(states, actions)
        return np.where((after == states).all(axis=1)[:, None], super().step(states, actions * [0, 1, 1]), after)


class Tunnelling(Pond):
    """Looks only at the end of a motion."""

    reach = np.array([5.0, 5.0, 30.0])

    def step(self, states, actions):
        after = states.copy()
        after[:, :3] += actions
        after[:, 2] %= 360
        free = self.free(after)
        return np.where(free[:, None], after + 0.0, states)


class Hesitant(Pond):
    """Stays where it could go."""

    def step(self, states, actions):
        return np.where(actions[:, :1] > 0.5, states, super().step(states, actions))


class Timid(Pond):
    def clear(self, states, ends):
        return super().clear(states, ends) & (ends != states[:, :3]).any(axis=1)


class Reckless(Pond):
    """Calls motions clear that go into the island, and takes them."""

    def clear(self, states, ends):
        return (np.abs(states[:, :2]) <= 5).all(axis=1) & (np.abs(ends[:, :2]) <= 5).all(axis=1)

    def step(self, states, actions):
        after = states.copy()
        ends = states[:, :3] + actions
        ends[:, 2] %= 360
        clear = self.clear(states, ends)
        after[clear, :3] = ends[clear] + 0.0
        return after


class CountsFree(Pond):
    def free(self, states):
        return super().free(states).astype(int)


class OneAnswer(Pond):
    def clear(self, states, ends):
        return super().clear(states, ends).all()


class ChangesInFree(Pond):
    def free(self, states):
        answer = super().free(states)
        states[:, 3] += 1
        return answer


class RandomlyFree(Pond):
    def __init__(self):
        self.rng = np.random.default_rng(0)

    def free(self, states):
        return super().free(states) & (self.rng.random(len(states)) < 0.9)


class OtherKernel(Pond):
    compiled_motion = (always, 0)


class FailingClear(Pond):
    def clear(self, states, ends):
        raise ZeroDivisionError("no way")


class Mutating(Pond):
    def step(self, states, actions):
        after = super().step(states, actions)
        states[:] = after
        return after


class GreyPicture(Pond):
    def render(self, state):
        return np.zeros((4, 4), dtype=np.uint8)


class EncodesInfinity(Pond):
    def encode(self, states):
        return states / 0.0


BROKEN = [
    (ShortReach, "must have the length of a pose, [D], but have shapes: low (3,), high (3,), period (3,), reach (2,)."),
    (NoPose, "must have the length of a pose, [D]"),
    (EndlessBounds, "`low`, `high`, `period` and `reach` must be finite numbers."),
    (TurnedBounds, "`low` must be below `high`, but they are [5.0, 5.0, 360.0] and [-5.0, -5.0, 0.0]."),
    (NoReach, "`reach` must be positive, but is [1.0, 0.0, 30.0]."),
    (OddPeriod, "`period` must be 0, or `high` - `low` where a number comes round again."),
    (FreeRide, "`cost` must be positive and finite, but is 0.0."),
    (EndlessCost, "`cost` must be positive and finite, but is inf."),
    (SmallNumbers, "States of a continuous world must be float64, but are float32."),
    (NarrowStates, "States have 2 numbers, fewer than a pose: `low` has 3."),
    (StatesOutside, "A state has a pose outside `low` and `high`."),
    (NeverFree, "`free` says that none of the states is free: give some that are."),
    (DriftingBuoy, "`step` changed more than the pose: the rest of a state must stay as it is."),
    (Jumping, "`step` moved a pose farther than `reach`."),
    (Sliding, "`step` must add the action to the pose, or leave the pose as it is; it did neither."),
    (Tunnelling, "`step` and `clear` disagree: an action must move the pose exactly where its motion is free."),
    (Hesitant, "`step` and `clear` disagree: an action must move the pose exactly where its motion is free."),
    (Timid, "`clear` forbids to stay at a free pose."),
    (Reckless, "`clear` allows a motion whose start or end is not free."),
    (CountsFree, "`free` must give a truth value for each state, but gave int64 (64,)."),
    (OneAnswer, "`clear` must give a truth value for each state, but gave bool ()."),
    (ChangesInFree, "`free` changed the states it was given: it must be pure"),
    (RandomlyFree, "`free` gave two answers for the same states: the world must be deterministic."),
    (OtherKernel, "`compiled_motion` and `clear` disagree on some motions."),
    (FailingClear, "motion: raised ZeroDivisionError: no way"),
    (Mutating, "`step` changed the states it was given: it must be pure"),
    (GreyPicture, "`render` must give a picture [height, width, 3] of uint8, but gave uint8 (4, 4)."),
    (EncodesInfinity, "`encode` gave values that are not finite in the encoding."),
]
ALSO = {  # what follows from the one mistake
    TurnedBounds: ["`period` must be 0"],
    Jumping: ["it did neither"],
    RandomlyFree: ["whose start or end is not free"],
}


@pytest.mark.filterwarnings("ignore:.* encountered in divide:RuntimeWarning")
@pytest.mark.parametrize(("broken", "sentence"), BROKEN, ids=[broken.__name__ for broken, _ in BROKEN])
def test_what_is_wrong_is_said(broken, sentence):
    problems = check(broken())
    assert any(sentence in problem for problem in problems), problems
    others = [problem for problem in problems if sentence not in problem]
    assert all(any(part in problem for part in ALSO.get(broken, [])) for problem in others), problems


@pytest.mark.parametrize("part", ["low", "high", "period", "reach", "cost", "step", "free", "clear", "encode"])
def test_a_missing_part_is_named(part):
    rest = {name: value for name, value in vars(Pond).items() if name != part}
    world = type("Half", (), rest)()
    assert check(world) == [f"The world has no `{part}`; see rsg.worlds.ContinuousWorld."]
    assert not isinstance(world, ContinuousWorld)


def test_a_world_without_states_asks_for_some():
    class Unsampled(Pond):
        @property
        def sample(self):
            raise AttributeError

    assert check(Unsampled()) == ["Give some states to try the world on: check(world, states)."]
    assert check(Unsampled(), Pond().sample(stream(0), 8)) == []


@pytest.mark.parametrize(
    "parts", [{"cost": "cheap"}, {"low": None}, {"reach": 1.0}, {"sample": lambda self, rng, count: 1 / 0}]
)
def test_whatever_a_world_does_the_answer_is_sentences(parts):
    problems = check(type("Odd", (Pond,), parts)())
    assert problems
    assert all(isinstance(problem, str) for problem in problems)
