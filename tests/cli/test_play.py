"""`rsg play` for environments that nobody here wrote, and what it keeps."""

import io
import json
import sys

import pytest

from rsg import Store
from rsg.domain import find

FILE = """
import gymnasium, numpy as np, rsg

lake = rsg.worlds.wrap(gymnasium.make("FrozenLake-v1", is_slippery=False, render_mode="ansi"))
taxi = rsg.worlds.wrap(gymnasium.make("Taxi-v4"))
cliff = rsg.worlds.wrap(gymnasium.make("CliffWalking-v1", render_mode="rgb_array"))


class Lake(rsg.Domain):
    splits = {"train": ["reach-goal"]}

    def world(self, setting=""):
        return lake

    truth = staticmethod(lake.truth({"reach-goal": lambda env: env.unwrapped.s == 15}))
"""


@pytest.fixture
def played(rsg, tmp_path, monkeypatch):
    """Give keys to `rsg play` in a world of the file."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "theirs.py").write_text(FILE)

    def play(name, keys, *words):
        monkeypatch.setattr(sys, "stdin", io.StringIO(keys))
        return rsg("play", f"theirs.py:{name}", *words)

    return play


def test_the_environment_shows_itself(played):
    code, out, _ = played("lake", "32")
    assert code == 0
    assert "SFFF\nFHFH\nFFFH\nHFFG" in out
    assert "1 action-0   2 action-1   3 action-2   4 action-3" in out
    assert "  steps  2 " in out


def test_what_it_shows_in_words(played):
    code, out, _ = played("taxi", "1")
    assert code == 0
    assert "seen  " in out
    assert played("cliff", "1")[0] == 0


def test_a_task_is_played_and_the_end_is_told(played):
    code, out, _ = played("Lake", "223233", "--task", "reach the goal")
    assert code == 0
    assert "done   in 6 steps" in out
    assert "the environment has ended here" in out


def test_what_was_done_is_kept(played, rsg):
    code, out, _ = played("Lake", "22u3r223233n1ur22n", "--record", "out", "--describe", "Reach the goal")
    assert code == 0
    assert "2 demonstrations kept; 2 in out" in out
    code, out, _ = played("Lake", "223233q111", "--record", "out", "--task", "reach-goal", "--json")
    assert json.loads(out)["recorded"] == 1
    store = Store("out")
    assert [demo.actions.tolist() for demo in store] == [[1, 1, 2, 1, 2, 2], [1, 1], [1, 1, 2, 1, 2, 2]]
    assert {demo.task for demo in store} == {"reach-goal"}
    assert all(json.loads(demo.setting).keys() == {"seed"} for demo in store)
    world = find("theirs.py:Lake").world()
    for demo in store:
        assert (world.step(demo.states[:-1], demo.actions) == demo.states[1:]).all()


def test_slips_are_sentences(played):
    assert "say what you are going to do" in played("lake", "1", "--record", "out")[2]
    assert "did you mean reach-goal" in played("Lake", "1", "--record", "out", "--describe", "reach-gaol")[2]
    played("Lake", "1", "--record", "other", "--describe", "reach-goal")
    assert "holds demonstrations of 'Lake', not of 'taxi'" in played("taxi", "1", "--record", "other", "--task", "x")[2]
