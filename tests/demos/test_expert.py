"""Demonstrations of whoever knows what is true: shortest ways, with mistakes if asked for."""

from typing import ClassVar

import numpy as np
import pytest
from tests.planning.test_execution import House, truth

import rsg
from rsg.core.errors import RsgError
from rsg.language import Machine
from rsg.worlds.corridor import Corridor

TESTS = {"take-key": lambda states: states[:, 2] == 1, "open-door": lambda states: states[:, 3] == 1}


class Rooms(House):
    def sample(self, rng, count):
        return np.stack([*rng.integers(0, 5, (2, count)), *np.zeros((2, count), dtype=np.int64)], axis=1)

    def setting(self, row):
        return f'{{"x": {row[0]}}}'


def judged(world, states, terms):
    return truth(states, terms)


@pytest.mark.parametrize("noise", [0.0, 0.4])
@pytest.mark.parametrize("how", [judged, TESTS], ids=["function", "tests"])
def test_every_demonstration_does_its_task(noise, how):
    tasks = ["take-key", "take-key then open-door"]
    shown = rsg.demonstrate(Rooms(), tasks, how, per_task=10, noise=noise, seed=3)
    assert [demo.task for demo in shown] == [task for task in tasks for _ in range(10)]
    for demo in shown:
        assert (Rooms().step(demo.states[:-1], demo.actions) == demo.states[1:]).all()
        machine = Machine.of(rsg.parse(demo.task))
        holds = truth(demo.states, machine.names)
        assert machine.accepts(holds, machine.names)
        assert not holds[0].any()
        assert demo.setting == f'{{"x": {demo.states[0, 0]}}}'
    least = [1 + demo.states[0, 0] + 4 - demo.states[0, 1] for demo in shown[:10]]
    assert ([len(demo) for demo in shown[:10]] == least) == (noise == 0)
    assert all(len(demo) >= way for demo, way in zip(shown, least, strict=False))


def test_the_same_seed_shows_the_same():
    first, again, other = (rsg.demonstrate(Rooms(), "take-key", TESTS, 3, 0.3, seed) for seed in (1, 1, 2))
    assert first == again != other


def test_it_shows_what_a_domain_shows():
    class Study(rsg.Domain):
        splits: ClassVar = {"train": ["light-lamp", "light-lamp then read-book"]}

        def world(self, setting=""):
            return Corridor()

        def truth(self, world, states, terms):
            return states[:, [{"light-lamp": 1, "read-book": 2}[term] for term in terms]] == 1

    study, rng = Study(), rsg.core.random.stream(5, "demonstrations", "train", 1, 0)
    shown = rsg.demonstrate(Corridor(), study.tasks("train"), study.truth, noise=0.2, seed=5)
    assert shown[1] == study.demonstrate("train", 1, rng, 0.2)[0]


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"world": House()}, "House has no starts; write a method sample"),
        ({"tasks": ["take-keys then open"]}, "'open'|unknown"),
        ({"per_task": 0}, "per_task must be at least 1, not 0"),
        ({"noise": 1.0}, "up to but not 1, not 1.0"),
        ({"truth": {"take-key": lambda states: states}}, r"where it holds, \[N\], not \(1, 4\)"),
        ({"truth": {"take-key": lambda states: states[:, 0] >= 0}}, "no start was found in 100 draws"),
        ({"truth": {"take-key": lambda states: states[:, 0] > 9}}, "no demonstration of 'take-key' was found in 100"),
    ],
)
def test_slips_are_sentences(given, problem):
    with pytest.raises(RsgError, match=problem):
        rsg.demonstrate(**{"world": Rooms(), "tasks": "take-key", "truth": TESTS, **given})
