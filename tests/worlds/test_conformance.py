"""The check of worlds finds nothing wrong with a good one, and says of each broken one what is wrong with it."""

from typing import NamedTuple

import numpy as np
import pytest

from rsg.core.random import stream
from rsg.domains.crafting import CraftingWorld
from rsg.worlds import World, check


class Clock:
    """A tiny good world: an hour and the number of turns left, which cannot go below none."""

    actions = ("forward", "back", "wait")
    costs = np.array([1.0, 2.0, 0.5])

    def step(self, states, actions):
        after = states.copy()
        turns = np.array([1, -1, 0])[actions] * (states[:, 1] > 0)
        after[:, 0] = (states[:, 0] + turns) % 12
        after[:, 1] -= turns != 0
        return after

    def successors(self, states):
        return np.stack([Clock.step(self, states, np.full(len(states), action)) for action in range(3)], axis=1)

    def encode(self, states):
        return states.astype(np.float32)

    def render(self, state):
        return np.full((12, 12, 3), state[0], dtype=np.uint8)

    def sample(self, rng, count):
        return np.stack([rng.integers(12, size=count), rng.integers(5, size=count)], axis=1).astype(np.float64)


class Parts(NamedTuple):
    hour: np.ndarray
    left: np.ndarray


class PartsClock(Clock):
    def encode(self, states):
        return Parts(states[:, 0], states[:, 1:].astype(bool))


class NamedClock(Clock):
    def encode(self, states):
        return {"hour": states[:, 0].astype(np.int16)}


@pytest.mark.kernels
@pytest.mark.parametrize(
    "world", [CraftingWorld(), CraftingWorld(1, 1, 1), CraftingWorld(4, 9, 10)], ids=["6×6", "1×1", "4×9"]
)
def test_crafting_world_is_a_world(world):
    assert check(world) == []
    assert check(world, seed=5) == []
    assert isinstance(world, World)


@pytest.mark.parametrize("world", [Clock(), PartsClock(), NamedClock()])
def test_nothing_is_wrong_with_a_good_world(world):
    assert check(world) == []
    assert check(world, Clock().sample(stream(0), 1)) == []
    assert isinstance(world, World)


def test_the_states_that_are_given_are_used():
    assert check(Clock(), np.array([[3.0, 1.0], [5.0, np.nan]])) == [
        "States hold NaN or -0.0: equal states would have different bytes."
    ]


# One thing wrong at a time. The check may find that more follows from it, but this sentence must be there.


class Random(Clock):
    def __init__(self):
        self.rng = np.random.default_rng(0)

    def step(self, states, actions):
        return Clock.step(self, states, self.rng.permutation(actions))


class Mutating(Clock):
    def step(self, states, actions):
        after = Clock.step(self, states, actions)
        states[:] = after
        return after


class InPlace(Clock):
    def step(self, states, actions):
        states[:] = Clock.step(self, states, actions)
        return states


class Narrow(Clock):
    def step(self, states, actions):
        return Clock.step(self, states, actions)[:, :1]


class FewerRows(Clock):
    def step(self, states, actions):
        return np.unique(Clock.step(self, states, actions), axis=0)


class OtherDtype(Clock):
    def step(self, states, actions):
        return Clock.step(self, states, actions).astype(np.float32)


class Crowded(Clock):
    def step(self, states, actions):
        """Whoever is alone is faster."""
        return Clock.step(self, Clock.step(self, states, actions), actions if len(states) == 1 else actions * 0 + 2)


class BecomesNegativeZero(Clock):
    def step(self, states, actions):
        after = Clock.step(self, states, actions)
        return np.where(after == 0, -0.0, after)


class Failing(Clock):
    def step(self, states, actions):
        raise KeyError("no such hour")


class TooFewCosts(Clock):
    costs = np.array([1.0, 1.0])


class NegativeCost(Clock):
    costs = np.array([1.0, -1.0, 1.0])


class FreeAction(Clock):
    costs = (1, 0, 1)


class EndlessCost(Clock):
    costs = (1.0, np.inf, 1.0)


class Idle(Clock):
    actions = ()
    costs = ()


class OtherSuccessors(Clock):
    def successors(self, states):
        after = super().successors(states)
        after[-1, 1] += 1
        return after


class TurnedSuccessors(Clock):
    def successors(self, states):
        return super().successors(states).transpose(1, 0, 2)


class FailingSuccessors(Clock):
    def successors(self, states):
        raise NotImplementedError("later")


class ObjectStates(Clock):
    def sample(self, rng, count):
        return super().sample(rng, count).astype(object)


class NegativeZeroStates(Clock):
    def sample(self, rng, count):
        return super().sample(rng, count) * -0.0


class FlatStates(Clock):
    def sample(self, rng, count):
        return np.zeros(count)


class NoStates(Clock):
    def sample(self, rng, count):
        return np.zeros((0, 2))


class EncodesInfinity(Clock):
    def encode(self, states):
        return np.where(states == states[0], np.inf, states)


class EncodesTheBatch(Clock):
    def encode(self, states):
        return states.mean(axis=0)


class EncodesNoRows(Clock):
    def encode(self, states):
        return {"hour": states[:, 0], "count": len(states)}


class EncodesText(Clock):
    def encode(self, states):
        return Parts(states[:, 0], np.array([str(state) for state in states]))


class EncodesRandomly(Clock):
    def __init__(self):
        self.rng = np.random.default_rng(0)

    def encode(self, states):
        return self.rng.random(states.shape)


class EncodesOtherNames(Clock):
    count = 0

    def encode(self, states):
        self.count += 1
        return {f"part {self.count}": states}


class EncodesAndChanges(Clock):
    def encode(self, states):
        states += 1
        return states.copy()


class FailingEncoding(Clock):
    def encode(self, states):
        raise RuntimeError("out of memory")


class FloatPicture(Clock):
    def render(self, state):
        return np.zeros((4, 4, 3))


class GreyPicture(Clock):
    def render(self, state):
        return np.zeros((4, 4), dtype=np.uint8)


class FailingPicture(Clock):
    def render(self, state):
        raise OSError("no display")


class WordySights(Clock):
    def sights(self, states):
        return np.array(["a bell"] * len(states))


class OneSight(Clock):
    def sights(self, states):
        return np.array([1])


BROKEN = [
    (WordySights, "`sights` must give whole numbers [64], but gave <U6 [64]."),
    (OneSight, "`sights` must give whole numbers [64], but gave int64 [1]."),
    (Random, "`step` gave two answers for the same states: the world must be deterministic."),
    (Mutating, "`step` changed the states it was given: it must be pure"),
    (InPlace, "`step` changed the states it was given: it must be pure"),
    (Narrow, "`step` returned shape (64, 1) for states of shape (64, 2): the width must not change."),
    (FewerRows, "for states of shape (64, 2)"),
    (OtherDtype, "`step` returned float32 for states of float64: the dtype must not change."),
    (Crowded, "`step` treats a state differently in a batch than alone: rows must not depend on each other."),
    (BecomesNegativeZero, "States hold NaN or -0.0"),
    (Failing, "step: raised KeyError: 'no such hour'"),
    (TooFewCosts, "`costs` has shape (2,), but there are 3 actions: give one cost for each."),
    (NegativeCost, "Every cost must be positive and finite, but `costs` is [1.0, -1.0, 1.0]."),
    (FreeAction, "Every cost must be positive and finite, but `costs` is [1, 0, 1]."),
    (EndlessCost, "Every cost must be positive and finite, but `costs` is [1.0, inf, 1.0]."),
    (Idle, "There are no actions: `actions` is empty."),
    (OtherSuccessors, "`successors` and `step` disagree on action 'back'."),
    (TurnedSuccessors, "`successors` returned shape (3, 64, 2), not [N, A, W] = (64, 3, 2)."),
    (FailingSuccessors, "successors: raised NotImplementedError: later"),
    (ObjectStates, "States hold Python objects: they cannot be told apart by their bytes. Use a numeric dtype."),
    (NegativeZeroStates, "States hold NaN or -0.0: equal states would have different bytes."),
    (FlatStates, "States must be rows [N, W] with at least one row, but have shape (64,)."),
    (NoStates, "States must be rows [N, W] with at least one row, but have shape (0, 2)."),
    (EncodesInfinity, "`encode` gave values that are not finite in the encoding."),
    (EncodesTheBatch, "`encode` must give numbers with one row per state, but the encoding is float64 (2,)."),
    (EncodesNoRows, "`encode` must give numbers with one row per state, but count is int64 ()."),
    (EncodesText, "`encode` must give numbers with one row per state, but left is <U"),
    (EncodesRandomly, "`encode` gave two answers for the same states: the world must be deterministic."),
    (EncodesOtherNames, "`encode` gave two answers for the same states: the world must be deterministic."),
    (EncodesAndChanges, "`encode` changed the states it was given: it must be pure"),
    (FailingEncoding, "encode: raised RuntimeError: out of memory"),
    (FloatPicture, "`render` must give a picture [height, width, 3] of uint8, but gave float64 (4, 4, 3)."),
    (GreyPicture, "`render` must give a picture [height, width, 3] of uint8, but gave uint8 (4, 4)."),
    (FailingPicture, "render: raised OSError: no display"),
]
ALSO = {  # what follows from the one mistake
    Random: ["disagree on action"],
    InPlace: ["returned memory of the states", "in a batch than alone", "disagree on action"],
    Narrow: ["disagree on action"],
    FewerRows: ["disagree on action"],
    Crowded: ["disagree on action"],
    Failing: ["successors: raised KeyError"],
}


@pytest.mark.parametrize(("broken", "sentence"), BROKEN, ids=[broken.__name__ for broken, _ in BROKEN])
def test_what_is_wrong_is_said(broken, sentence):
    problems = check(broken())
    assert any(sentence in problem for problem in problems), problems
    others = [problem for problem in problems if sentence not in problem]
    assert all(any(part in problem for part in ALSO.get(broken, [])) for problem in others), problems


def test_a_returned_view_is_found():
    class Waiting(Clock):
        actions = ("wait",)
        costs = (1.0,)

        def step(self, states, actions):
            return states[:]

        def successors(self, states):
            return states[:, None].copy()

    assert check(Waiting()) == ["`step` returned memory of the states it was given: a later change would reach both."]


@pytest.mark.parametrize("part", ["actions", "step", "encode"])
def test_a_missing_part_is_named(part):
    rest = {name: value for name, value in vars(Clock).items() if name != part}
    world = type("Half", (), rest)()
    assert check(world) == [f"The world has no `{part}`; see rsg.worlds.World."]
    assert not isinstance(world, World)


def test_all_missing_parts_are_named():
    assert len(check(object())) == 3


@pytest.mark.parametrize("part", ["costs", "successors", "render"])
def test_what_follows_may_be_left_out(part):
    world = type("Shorter", (), {name: value for name, value in vars(Clock).items() if name != part})()
    assert check(world) == []
    assert isinstance(world, World)


def test_a_world_without_states_asks_for_some():
    class Unsampled(Clock):
        @property
        def sample(self):
            raise AttributeError

    assert check(Unsampled()) == ["Give some states to try the world on: check(world, states)."]
    assert check(Unsampled(), Clock().sample(stream(0), 8)) == []


# Broken versions of Crafting World itself


class SlipperyCrafting(CraftingWorld):
    """The agent moves down by itself where the last row of the batch is on the top row."""

    def step(self, states, actions):
        after = super().step(states, actions)
        after[:-1, 0] = np.where(states[-1, 0] == 0, self.height - 1, after[:-1, 0])
        return after


class UnsortedCrafting(CraftingWorld):
    def successors(self, states):
        return super().successors(states)[:, ::-1]


class BoundedCrafting(CraftingWorld):
    """Has room for fewer objects in its encodings than its states have."""

    def encode(self, states):
        return CraftingWorld(self.height, self.width, self.capacity, objects=1).encode(states)


@pytest.mark.parametrize(
    ("broken", "sentence"),
    [
        (SlipperyCrafting, "`step` treats a state differently in a batch than alone"),
        (UnsortedCrafting, "`successors` and `step` disagree on action 'up'."),
        (BoundedCrafting, "encode: raised RsgError: state"),
    ],
)
def test_what_is_wrong_with_a_broken_crafting_world(broken, sentence):
    world = broken(3, 3, 2)
    states = world.sample(stream(0, "broken"), 40)
    states[-1, 0] = 0
    assert any(sentence in problem for problem in check(world, states))


# What is not a number is not a second answer


def test_an_encoding_that_is_not_a_number_is_not_called_random():
    class EncodesNaN(Clock):
        def encode(self, states):
            return states * np.nan

    assert check(EncodesNaN()) == ["`encode` gave values that are not finite in the encoding."]


def test_a_step_that_gives_nan_is_not_called_random():
    class StepsToNaN(Clock):
        def step(self, states, actions):
            return Clock.step(self, states, actions) * np.nan

        def successors(self, states):
            return Clock.successors(self, states) * np.nan

    assert check(StepsToNaN()) == ["States hold NaN or -0.0: equal states would have different bytes."]


def test_successors_must_leave_their_input_too():
    class ChangesInSuccessors(Clock):
        def successors(self, states):
            after = super().successors(states)
            states += 1
            return after

    assert any("`successors` changed the states" in problem for problem in check(ChangesInSuccessors()))


def test_successors_must_agree_to_the_byte():
    class NegativeZeroSuccessors(Clock):
        def successors(self, states):
            after = super().successors(states)
            return np.where(after == 0, -0.0, after)

    assert check(NegativeZeroSuccessors()) != []


@pytest.mark.parametrize(
    "parts",
    [
        {"costs": ["cheap", "dear", "free"]},
        {"costs": [[1.0], [1.0, 2.0], 3.0]},
        {"actions": 3},
        {"sample": lambda self, rng, count: 1 / 0},
    ],
)
def test_whatever_a_world_does_the_answer_is_sentences(parts):
    problems = check(type("Odd", (Clock,), parts)())
    assert problems
    assert all(isinstance(problem, str) for problem in problems)
