"""A world that has `actions`, `step` and `encode` and nothing else works everywhere; slips in one are sentences."""

import inspect
from pathlib import Path
from types import MappingProxyType

import gymnasium
import numpy as np
import pytest

import rsg
from rsg.core.errors import RsgError
from rsg.demos import Demonstration
from rsg.domain import Domain
from rsg.envs.tasks import TaskEnv, TaskVectorEnv
from rsg.worlds import check, costs_of, require, successors_of
from rsg.worlds.defaults import COST
from rsg.worlds.facts import fact_names


class Small:
    """Nine places. A state is (place, lamp touched, book touched)."""

    actions = ("left", "right", "touch")

    def step(self, states, actions):
        after = states.copy()
        after[:, 0] = np.clip(states[:, 0] + (actions == 1) - (actions == 0), 0, 8)
        after[:, 1] |= (actions == 2) & (states[:, 0] == 0)
        after[:, 2] |= (actions == 2) & (states[:, 0] == 8)
        return after

    def encode(self, states):
        return states.astype(np.float32)


class Place(Domain):
    """The small world, its tasks, and where they begin."""

    splits = MappingProxyType(
        {"train": ("light-lamp", "read-book", "light-lamp then read-book"), "novel": ("read-book then light-lamp",)}
    )

    def world(self, setting=""):
        return Small()

    def start(self, terms, rng, goal=False):
        return Small(), np.array([rng.integers(1, 8), 0, 0])

    def truth(self, world, states, terms):
        return states[:, [{"light-lamp": 1, "read-book": 2}[term] for term in terms]] == 1


def shown():
    """Demonstrations from every place."""
    for place in range(1, 8):
        to_lamp, to_book = [0] * place + [2], [1] * (8 - place) + [2]
        tasks = {"light-lamp": to_lamp, "read-book": to_book, "light-lamp then read-book": to_lamp + [1] * 8 + [2]}
        for task, actions in tasks.items():
            states = [np.array([place, 0, 0])]
            for action in actions:
                states.append(Small().step(states[-1][None], np.array([action]))[0])
            yield Demonstration(np.array(states), np.array(actions), task=task)


def test_the_rest_follows():
    states = np.array([[0, 0, 0], [8, 1, 0]])
    assert costs_of(Small()).tolist() == [COST] * 3
    expected = np.stack([Small().step(states, np.full(2, action)) for action in range(3)], axis=1)
    assert np.array_equal(successors_of(Small(), states), expected)
    assert successors_of(Small(), states[:0]).shape == (0, 3, 3)
    assert check(Small(), states) == []
    assert check(Small()) == ["Give some states to try the world on: check(world, states)."]
    assert fact_names(Small(), np.concatenate([demo.states for demo in shown()]))


def test_what_a_world_offers_is_used():
    class Dear(Small):
        costs = (1, 2, 0.5)

        def successors(self, states):
            return np.zeros((len(states), 3, 3), dtype=states.dtype)

    assert costs_of(Dear()).tolist() == [1.0, 2.0, 0.5]
    assert not successors_of(Dear(), np.array([[8, 1, 1]])).any()


def test_it_is_learned_and_planned_in():
    world, demos, start = Small(), list(shown()), np.array([4, 0, 0])
    subgoals = rsg.learn(demos, world)
    plan = subgoals.plan(world, start, "read-book then light-lamp")
    assert plan.actions.tolist() == [1] * 4 + [2] + [0] * 8 + [2]
    assert plan.cost == pytest.approx(COST * len(plan.actions))
    last = demos[-1]
    assert str(subgoals.recognise(last, candidates=Place().tasks("train"))[0].task) == last.task
    assert subgoals.segment(last).terms[-1] == "read-book"
    assert subgoals.plan_goal(world, start, "read-book").states[-1].tolist() == [8, 0, 1]


def test_it_is_an_environment():
    env = TaskEnv(Place(), task="light-lamp")
    seen, info = env.reset(seed=0)
    assert env.action_space == gymnasium.spaces.Discrete(3)
    assert np.array_equal(seen, info["state"])
    for action in [0] * 8 + [2]:
        *_, done, _, _ = env.step(action)
    assert done
    many = TaskVectorEnv(3, Place(), task="light-lamp")
    many.reset(seed=0)
    assert many.step(np.array([0, 1, 2]))[0].shape == (3, 3)


@pytest.fixture
def place(tmp_path, monkeypatch):
    """The domain in a file."""
    monkeypatch.chdir(tmp_path)
    head = "from types import MappingProxyType\n\nimport numpy as np\nfrom rsg.domain import Domain\n\n"
    Path("small.py").write_text(head + inspect.getsource(Small) + inspect.getsource(Place))
    return "small.py:Place"


def test_commands_take_it(rsg, place):
    for words, said in (
        (["train", place, "--per-task", "20", "--out", "run"], "2 of 2 terms were read"),
        (["plan", place, "read-book then light-lamp", "--subgoals", "run"], "read-book"),
        (["plan", place, "--goal", "read-book", "--subgoals", "run"], "read-book"),
        (["eval", place, "--subgoals", "run", "--split", "novel", "--per-task", "2"], "novel"),
        (["world", place], "state  ["),
        (["deps", "run", "--world", place], "light-lamp"),
    ):
        code, out, err = rsg(*words)
        assert code == 0, err
        assert said in out


# Slips.


class Number(Small):
    actions = 3


class Word(Small):
    actions = "left"


class Numbers(Small):
    actions = (0, 1, 2)


class Longer(Small):
    def step(self, states, actions):
        return np.concatenate([states, states], axis=1)


class One(Small):
    def step(self, states, actions):
        return states[0]


class Halves(Small):
    def step(self, states, actions):
        return states / 2


class ByIndex(Small):
    def step(self, states, actions):
        return states + np.eye(9, 3, dtype=int)[states[:, 0]]


class Short(Small):
    def encode(self, states):
        return states[0]


class Dear(Small):
    costs = (1.0, 2.0)


ROW = np.array([4, 0, 0])
SLIPS = {
    "a class": (Small, ROW, "make one, Small("),
    "nothing of a world": (object(), ROW, "The world has no `actions`; see rsg.worlds.World"),
    "a number of actions": (Number(), ROW, "`actions` must be the names of the actions, such as ('left', 'right')"),
    "one word": (Word(), ROW, "`actions` must be the names of the actions, such as ('left', 'right'), but is 'left'"),
    "numbers for names": (Numbers(), ROW, "`actions` must be names, such as ('left', 'right'), but are [0, 1, 2]"),
    "another width": (Longer(), ROW, "`step` returned shape (2, 6) for states of shape (2, 3)"),
    "a row for all": (One(), ROW, "`step` returned shape (3,) for states of shape (2, 3)"),
    "another dtype": (Halves(), ROW, "`step` returned float64 for states of int64: the dtype must not change"),
    "float states": (
        ByIndex(),
        ROW * 1.0,
        "step, given states of 3 numbers, float64: raised IndexError: arrays used as indices",
    ),
    "an encoding of one": (
        Short(),
        ROW,
        "`encode` must give one row per state, but the encoding of 2 states has shape",
    ),
    "too few costs": (Dear(), ROW, "`costs` has shape (2,), but there are 3 actions"),
}


@pytest.mark.parametrize("slip", SLIPS)
def test_a_slip_is_a_sentence(slip):
    world, state, said = SLIPS[slip]
    goals = Place().true_goals
    for use in (
        lambda: require(world, state[None]),
        lambda: rsg.plan(world, state, "light-lamp", goals),
        lambda: rsg.learn([Demonstration(state[None].repeat(3, axis=0), np.array([2, 2]), "light-lamp")], world),
    ):
        with pytest.raises(RsgError) as error:
            use()
        assert said in str(error.value)
        assert "\n" not in str(error.value)
    assert check(world, state[None].repeat(4, axis=0))
