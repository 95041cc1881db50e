"""Any world and any module: learned, planned with, replayed, saved and loaded again."""

from functools import cache

import numpy as np
import pytest
import torch
from tests.training.examples import bits, outcome, quick, small_demos, world_of
from torch import nn

import rsg
from rsg.core.errors import RsgError, RunError
from rsg.core.random import stream
from rsg.planning import plan, validate
from rsg.subgoals import EncodedClassifiers, RsgSettings
from rsg.subgoals.building import build
from rsg.subgoals.encoders import flat
from rsg.training import Run
from rsg.worlds import World, check

LENGTH = 7
POSITION, HELD, OPEN = range(3)  # the columns of a state
KEY, DOOR = 1, LENGTH - 2  # where they are
LEFT, RIGHT, USE = range(3)
TASKS = ("take-key", "open-door", "take-key then open-door")


class Corridor:
    """A corridor with a key and a door; the door opens for who has the key. Nothing is compiled."""

    actions = ("left", "right", "use")
    costs = np.full(3, 0.1)

    def step(self, states, actions):
        after = states.copy()
        after[:, POSITION] = np.clip(states[:, POSITION] + np.array([-1, 1, 0])[actions], 0, LENGTH - 1)
        used, at = np.asarray(actions) == USE, states[:, POSITION]
        after[:, HELD] |= used & (at == KEY)
        after[:, OPEN] |= used & (at == DOOR) & (states[:, HELD] == 1)
        return after

    def successors(self, states):
        return np.stack([self.step(states, np.full(len(states), action)) for action in range(3)], axis=1)

    def encode(self, states):
        places = np.eye(LENGTH, dtype=np.float32)[states[:, POSITION]]
        return np.concatenate([places, states[:, HELD:].astype(np.float32)], axis=1)

    def render(self, state):
        return np.full((1, LENGTH, 3), state[POSITION], dtype=np.uint8)

    def sample(self, rng, count):
        return rng.integers([LENGTH, 2, 2], size=(count, 3)).astype(np.uint8)


class Named(Corridor):
    """The same, seen as a dictionary."""

    def encode(self, states):
        whole = super().encode(states)
        return {"place": whole[:, :-2, None], "held": states[:, HELD], "open": states[:, OPEN] > 0}


class Mine(nn.Module):
    """A user's network."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(LENGTH + 2, 20)

    def forward(self, seen):
        return torch.tanh(self.layer(seen))


def truth(states, terms):
    """What the terms really mean; learning never asks."""
    return np.stack([states[:, {"take-key": HELD, "open-door": OPEN}[term]] == 1 for term in terms], axis=1)


def start(rng, task):
    """A random one on which the task can be done."""
    return np.array([rng.integers(LENGTH), task == "open-door", 0], dtype=np.uint8)


def demonstration(number):
    """Walk to what is next, and use it."""
    task, world = TASKS[number % 3], Corridor()
    rows = [start(stream(0, "corridor", number), task)]
    actions = []
    for term in task.split(" then "):
        goal = KEY if term == "take-key" else DOOR
        while not truth(rows[-1][None], [term])[0, 0]:
            here = rows[-1][POSITION]
            actions.append(USE if here == goal else RIGHT if here < goal else LEFT)
            rows.append(world.step(rows[-1][None], actions[-1:])[0])
    return rsg.Demonstration(np.stack(rows), np.array(actions), task)


@cache
def demonstrations(count=60):
    return [demonstration(number) for number in range(count)]


def settings(**changes):
    values = {
        "encoder": "seen",
        "steps": 100,
        "batch": 8,
        "rate": 0.02,
        "rate_end": 0.001,
        "curriculum": 40,
        "negatives": 2,
    }
    return RsgSettings(**{**values, "check_every": 50, "hidden": 24, **changes})


def success(subgoals, world=None, starts=21):
    """The share of plans that do their task, replayed."""
    world, good = world or Corridor(), 0
    for number in range(starts):
        task = TASKS[number % 3]
        state = start(stream(1, "starts", number), task)
        good += validate(world, plan(world, state, task, subgoals.goals), task, truth).ok
    return good / starts


def same_odds(one, other, world=None):
    world = world or Corridor()
    states = world.sample(stream(0, "states"), 50)
    return np.array_equal(one.evaluate(world, states, [0, 1]), other.evaluate(world, states, [0, 1]))


@pytest.fixture(autouse=True)
def one_thread():
    """Networks as small as these are slower on several."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def test_the_corridor_is_a_world():
    assert isinstance(Corridor(), World)
    assert check(Corridor()) == check(Named()) == []


# ---- the encoder `seen`


@pytest.mark.parametrize("world", [Corridor(), Named()], ids=["array", "dictionary"])
def test_a_world_of_ones_own_is_learned(tmp_path, world):
    learned = rsg.learn(demonstrations(), world, tmp_path / "run", settings(encoder="seen"), tensorboard=False)
    assert learned.classifiers.terms == ("take-key", "open-door")
    assert success(learned.classifiers, world) >= 0.95
    loaded = rsg.load(tmp_path / "run").classifiers
    assert same_odds(learned.classifiers, loaded, world)
    assert success(loaded, world) >= 0.95


def test_before_learning_nothing_works():
    learned = rsg.learn(demonstrations(), Corridor(), None, settings(encoder="seen", steps=1))
    assert success(learned.classifiers) < 0.5


def test_the_encoder_sets_needs_sets():
    with pytest.raises(RsgError, match="the encoder 'sets' reads sets of objects, and this world shows none"):
        rsg.learn(demonstrations(), Corridor(), None, settings(encoder="sets"))


def test_flat_sees_every_number():
    world = Named()
    states = world.sample(stream(0, "flat"), 9)
    assert np.array_equal(flat(world.encode(states)).numpy(), Corridor().encode(states))


def test_the_name_of_older_versions_is_understood_and_their_weights_are_not():
    assert rsg.learn(demonstrations(), Corridor(), None, settings(encoder="flat", steps=1)).terms
    with pytest.raises(RsgError, match="has the encoder 'flat' of an older rsg"):
        build(settings(encoder="flat"), [], {"inputs": 9})


def test_flat_sees_no_states():
    """A planner that has grown nothing asks about none."""
    assert flat({"a": np.zeros((0, 2, 3)), "b": np.zeros(0)}).shape == (0, 7)


def test_new_terms_leave_old_ones_as_they_are():
    subgoals = EncodedClassifiers(nn.Linear(9, 8), 8).grow(["a", "b"], 3)
    before = {name: value.clone() for name, value in subgoals.state_dict().items()}
    subgoals.grow(["b", "c"], seed=3)
    assert subgoals.terms == ("a", "b", "c")
    after = subgoals.state_dict()
    assert torch.equal(after["heads"][:2], before["heads"])
    assert torch.equal(after["offsets"][:2], before["offsets"])
    assert (
        bits(EncodedClassifiers(nn.Linear(9, 8), 8).grow(["c", "a", "b"], 3).state_dict())["heads"]
        != bits(after)["heads"]
    )
    assert torch.equal(EncodedClassifiers(nn.Linear(9, 8), 8).grow(["c"], 3).heads[0], after["heads"][2])
    subgoals.grow([], seed=3)
    subgoals.grow(["a"], seed=3)
    assert subgoals.terms == ("a", "b", "c")


# ---- a module of one's own


@pytest.mark.parametrize("named", ["sets", "mine"], ids=["settings as they come", "a name of its own"])
def test_a_module_of_ones_own_is_learned_saved_and_loaded(tmp_path, named):
    folder = tmp_path / "run"
    learned = rsg.learn(demonstrations(), Corridor(), folder, settings(encoder=named), encoder=Mine, tensorboard=False)
    assert isinstance(learned.classifiers.encoder, Mine)
    assert success(learned.classifiers) >= 0.95
    assert same_odds(rsg.load(folder, encoder=Mine).classifiers, learned.classifiers)
    assert success(rsg.load(folder, encoder=Mine).classifiers) >= 0.95
    with pytest.raises(RsgError, match="is an encoder of your own; give it to"):
        rsg.load(folder)
    with pytest.raises(RunError, match="its weights have other shapes"):
        rsg.load(folder, encoder=lambda: nn.Linear(LENGTH + 2, 20))


def test_a_module_of_ones_own_in_crafting_world(tmp_path):
    """Where there is a usual encoder, too, nobody confuses them."""

    class Count(nn.Module):
        def __init__(self):
            super().__init__()
            self.scale = nn.Parameter(torch.ones(5))

        def forward(self, seen):
            return seen.overall * self.scale

    folder = tmp_path / "run"
    rsg.learn(small_demos(), world_of, folder, quick(steps=2), encoder=Count, tensorboard=False)
    assert rsg.load(folder, encoder=Count).classifiers.features == 5
    with pytest.raises(RsgError, match="is an encoder of your own"):
        rsg.load(folder)


def test_the_first_weights_of_ones_own_module_follow_from_the_seed(tmp_path):
    for number in range(2):
        torch.manual_seed(number)
        rsg.learn(
            demonstrations(), Corridor(), tmp_path / str(number), settings(encoder="mine", steps=3), encoder=Mine,
            tensorboard=False,
        )  # fmt: skip
    assert outcome(tmp_path / "0") == outcome(tmp_path / "1")
    rsg.learn(
        demonstrations(), Corridor(), tmp_path / "2", settings(encoder="mine", steps=3, seed=1), encoder=Mine,
        tensorboard=False,
    )  # fmt: skip
    assert outcome(tmp_path / "2") != outcome(tmp_path / "0")


def test_a_run_with_ones_own_module_goes_on_bit_for_bit(tmp_path):
    def train(folder, tracker=None):
        torch.manual_seed(0)
        values = settings(encoder="mine", steps=12, check_every=4, save_every=2)
        rsg.learn(demonstrations(), Corridor(), folder, values, encoder=Mine, tracker=tracker, tensorboard=False)

    def stop(progress, figures):
        if progress.step == 7:
            raise ZeroDivisionError

    train(tmp_path / "whole")
    with pytest.raises(ZeroDivisionError):
        train(tmp_path / "run", stop)
    assert Run(tmp_path / "run").steps["last"] == 6
    train(tmp_path / "run")
    assert outcome(tmp_path / "run") == outcome(tmp_path / "whole")


def test_dropout_is_off_when_nobody_trains(tmp_path):
    class Forgetful(Mine):
        def forward(self, seen):
            return nn.functional.dropout(super().forward(seen), 0.5, self.training)

    learned = rsg.learn(
        demonstrations(), Corridor(), None, settings(encoder="mine", steps=3), encoder=Forgetful
    ).classifiers
    assert same_odds(learned, learned)


def test_a_world_that_lacks_something_is_told_so():
    class Half:
        actions, costs, step = Corridor.actions, Corridor.costs, Corridor.step

    with pytest.raises(RsgError, match="has no `encode`"):
        rsg.learn(demonstrations(), Half(), None, settings(encoder="seen"))


def test_an_encoder_that_gives_no_features():
    class Wrong(nn.Module):
        def forward(self, seen):
            return seen.sum()

    with pytest.raises(RsgError, match="features"):
        rsg.learn(demonstrations(), Corridor(), None, settings(encoder="mine"), encoder=Wrong)
