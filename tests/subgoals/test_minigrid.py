"""MiniGrid as others wrote it: the batched model agrees with it, terms are read and named, what is open is told."""

from pathlib import Path

import numpy as np
import pytest

gymnasium = pytest.importorskip("gymnasium")
pytest.importorskip("minigrid")

EXAMPLES = Path(__file__).parents[2] / "examples"
WORLDS = {"MiniGrid-DoorKey-8x8-v0": "reach-goal", "MiniGrid-UnlockPickup-v0": "pick-up-box"}


@pytest.fixture(autouse=True)
def beside(monkeypatch):
    monkeypatch.syspath_prepend(EXAMPLES)


@pytest.mark.parametrize("name", WORLDS)
def test_the_model_does_what_the_environment_does(name):
    from doorkey import shown
    from minigrid_model import MiniGrid

    env, rng, opened = gymnasium.make(name), np.random.default_rng(0), 0
    env.reset(seed=0)
    world = MiniGrid(env)
    for seed in range(10):
        env.reset(seed=seed)
        state = world.state(env)
        walk = shown(world, state, "pick-up-key then open-door").actions if seed % 2 else np.empty(0, int)
        for action in [*walk, *rng.choice([0, 1, 2, 2, 2, 3, 4, 5, 5], size=150)]:
            state = world.step(state[None], np.array([action]))[0]
            ended = env.step(int(action))[2]
            assert np.array_equal(state, world.state(env))
            if ended:
                break
        opened += bool((world.grid(state[None])[..., 2] == 0).any())
    assert opened


@pytest.mark.parametrize("name", WORLDS)
def test_twenty_demonstrations_are_enough(name, capsys):
    from doorkey import run

    right = run(name, WORLDS[name], seed=0, starts=12, budget=12_000)
    assert all(value == 1.0 for name, value in right.items() if not name.endswith("ms"))
    assert "open-door holds where a door is open" in capsys.readouterr().out


def test_what_never_varied_is_told_and_settled_by_what_it_asks_for():
    from doorkey_readings import run

    before, after, share = run(seed=0, starts=6)
    assert "a door is locked" in before
    assert "a door is locked" not in after
    assert share >= 0.99


def test_pictures_are_learned_from_and_planned_with(capsys):
    from doorkey_pictures import run

    assert 0 <= run(seed=0, starts=1, count=4, steps=3, budget=20) <= 1
    assert "of 1 right" in capsys.readouterr().out


def test_recordings_without_their_world_are_cut_where_each_step_ended():
    from recordings import run

    told = run(seed=7, fresh=10)
    assert told["exact"] >= 0.97
    assert told["one"] >= 0.97
