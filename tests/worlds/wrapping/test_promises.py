"""Environments that break a promise are refused, each with the sentence that names the cause."""

import re
import time

import numpy as np
import pytest
from tests.worlds.wrapping import broken
from tests.worlds.wrapping.broken import MOVES

from rsg.core.errors import RsgError
from rsg.worlds import wrap

PLACE = {"key": lambda env: env.place}
STOCHASTIC = (
    "the environment is stochastic: '.*' in the same state led to two different states, since its steps draw from "
)
ONE_STATE = "the observation is not a function of the state: `seen` of the same state showed two things"
OUTSIDE = (
    "the environment remembers something outside of itself: '.*' in the same state led to two different states, since "
)
COARSE = "key= takes different states for the same: '.*' in the same state led to two different states, and "


def changing(state, action):
    for axis, by in enumerate(MOVES[action]):
        state[axis] = min(max(state[axis] + by, 0), 4)
    return state


BROKEN = [
    (broken.Battery, PLACE, COARSE + r"`env.battery` was -?\d+ in one and -?\d+ in the other; add it to key="),
    (broken.Phase, PLACE, COARSE + r"`env.phase` was \d in one and \d in the other; add it to key="),
    (broken.LateCurse, PLACE, COARSE + r"`env.age` was \d+ in one and \d+ in the other; add it to key="),
    (broken.Times, PLACE, COARSE + r"`env.steps` was \d+ in one and \d+ in the other; add it to key="),
    (broken.Noise, {}, ONE_STATE + r", since it is drawn from its own random numbers \(env.np_random\); give observe="),
    (broken.GlobalNoise, {}, ONE_STATE + ", since it is drawn from numpy's global np.random; give observe="),
    (broken.Forgets, {}, r"`set_state` does not bring back the whole state: `env.fuel` was \d+ and is \d+ after it"),
    (
        broken.Aliased,
        {},
        r"what was saved changed when the environment went on \(`state\[\d\]` was \d and is \d\): what saves a state",
    ),
    (broken.Shared, {}, OUTSIDE + "the class attribute `Shared.ticks` changes with its steps and is not saved"),
    (broken.Module, {}, OUTSIDE + "the global `TICKS` of tests.worlds.wrapping.broken changes with its steps"),
    (broken.Slippery, {}, STOCHASTIC + "numpy's global np.random; rsg plans in deterministic worlds"),
    (broken.SlipsSeldom, {}, STOCHASTIC + "numpy's global np.random; rsg plans in deterministic worlds"),
    (broken.SlipsByPython, {}, STOCHASTIC + "Python's global `random`; rsg plans in deterministic worlds"),
    (broken.SlipsByItself, {}, STOCHASTIC + r"its own random numbers \(env.np_random\); rsg plans"),
    (broken.SavesChance, {}, STOCHASTIC + r"its own random numbers \(env.np_random\); rsg plans"),
    (
        broken.Once,
        {},
        "the environment is stochastic, or remembers something that is not saved: '.*' in the same state",
    ),
    (
        broken.Fractions,
        {"key": lambda env: 0, "observe": lambda env: env.at},
        r".* \(`env.at` was \[0\.\d+, 0\.\d+\] and \[",
    ),
    (broken.Clock, {}, "the environment depends on the clock: '.*' in the same state led to two different states at"),
    (broken.Script, {}, "the environment cannot be saved: `env.script` is a generator, which cannot be copied"),
    (broken.History, PLACE, ONE_STATE + r": key= leaves out what it shows \(`env.was\[\d\]` was \d and \d\); add that"),
    (broken.Steered, {}, r"an action is a vector of numbers here, Box.*, and a search needs finitely many"),
    (
        broken.Growing,
        {"observe": lambda env: [x for place in env.trail for x in place] or [0]},
        r"what is seen must have one shape in all states, but `seen` had \(1,\) and then \(2,\); give observe=",
    ),
    (
        broken.Growing,
        {"key": lambda env: [*env.place, *(x for place in env.trail for x in place)]},
        "key= must give the same number of values for every state, but gave 2 and then 4",
    ),
    (broken.Breaks, {}, r"`step` of the environment failed: KeyError: 'fuel' \(.*broken.py, line \d+\)"),
    (
        broken.Walk,
        {"save": lambda env: env.place, "step": changing},
        r"step= changes the state that it is given \(`state\[\d\]` was \d and is \d\): it must leave that as it is and",
    ),
    (broken.Walk, {"key": lambda _: {"x": 1}}, "key= must give numbers that say which state it is.*, not {'x': 1}"),
    (broken.Walk, {"key": lambda _: "here"}, ONE_STATE + r": key= leaves out what it shows \(`env.place\[\d\]` was"),
    (broken.Walk, {"key": lambda _: float("nan")}, "key= gave a number that is not finite"),
    (broken.Walk, {"key": lambda _: time.perf_counter()}, "key= gave two answers for one state"),
    (broken.Walk, {"save": lambda env: env.place}, "save= needs restore= too"),
    (broken.Walk, {"step": changing}, "step= needs save="),
    (
        broken.Walk,
        {"names": {"actions": ["up", "down"]}},
        "names={'actions': ...} gives 2 names, but there are 4 actions",
    ),
    (broken.Walk, {"names": {"actions": ["up", "up", "up", "down"]}}, "two actions have the same name, 'up'"),
]


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize(("kind", "given", "sentence"), BROKEN, ids=lambda one: getattr(one, "__name__", None))
def test_a_broken_promise_is_named(kind, given, sentence, seed):
    with pytest.raises(RsgError) as told:
        wrap(kind(), seed=seed, **given)
    assert re.match(sentence, str(told.value)), str(told.value)
    assert "\n" not in str(told.value)


@pytest.mark.parametrize("kind", [broken.Walk, broken.Battery, broken.Phase, broken.LateCurse, broken.Times])
@pytest.mark.parametrize("seed", [0, 1])
def test_what_is_counted_is_a_part_of_the_state_if_something_comes_of_it(kind, seed):
    world = wrap(kind(), seed=seed)
    actions, rows = np.random.default_rng(0).integers(4, size=200).tolist(), []
    for _ in range(2):  # the same actions by two ways: stepped as they are, and remembered
        row = world.start(7)
        for action in actions:
            row = world.step(row[None], [action])[0]
        rows.append(row)
    env = kind()
    env.reset(seed=7)
    for action in actions:
        if env.step(action)[2]:
            break
    world.restore(rows[0])
    assert np.array_equal(rows[0], rows[1])
    assert world.env.place == env.place


@pytest.mark.parametrize("kind", [broken.History, broken.Locked, broken.Growing])
def test_what_keeps_its_promises_is_taken(kind):
    given = {"key": lambda env: env.place} if kind is broken.Growing else {}
    assert wrap(kind(), **given).speed > 0


def test_a_pair_that_forgets_can_be_left_aside():
    world = wrap(broken.Forgets(), save="copy")
    assert "all that the environment holds" in world.how


def test_global_random_numbers_are_left_as_they_were():
    np.random.seed(0)  # noqa: NPY002
    wanted = np.random.random(3)  # noqa: NPY002
    np.random.seed(0)  # noqa: NPY002
    wrap(broken.Walk())
    with pytest.raises(RsgError):
        wrap(broken.Slippery())
    assert np.array_equal(np.random.random(3), wanted)  # noqa: NPY002


@pytest.mark.parametrize("given", ["Taxi-v4", broken.Walk, object()])
def test_what_is_no_environment_is_said_to_be_none(given):
    with pytest.raises(RsgError, match=r"wrap takes an environment|this is no environment"):
        wrap(given)
