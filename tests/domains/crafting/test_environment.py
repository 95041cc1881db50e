import subprocess
import sys

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode

import rsg.envs  # noqa: F401, which registers the ids
from rsg.core.errors import ParseError, RsgError
from rsg.domains.crafting import ACTIONS, CraftingWorld, truth
from rsg.domains.crafting.environment import Maps
from rsg.domains.crafting.maps import KINDS
from rsg.envs import TaskEnv, TaskVectorEnv
from rsg.language import Machine, parse, satisfies

ID = "rsg/CraftingWorld-v0"
UP, DOWN, LEFT, RIGHT, TOGGLE = range(5)


@pytest.fixture
def forest():
    """An agent beside an axe and a tree: `grab-axe then mine-wood` is right, toggle, right, toggle."""
    world = CraftingWorld(1, 3)
    return world, world.state({(0, 1): "axe", (0, 2): "tree"}, agent=(0, 0))


@pytest.mark.parametrize("task", [None, "grab-axe then mine-wood"])
@pytest.mark.parametrize("observation", ["sets", "image"])
@pytest.mark.parametrize("render_mode", [None, "ansi", "rgb_array", "human"])
def test_gymnasiums_own_check(observation, task, render_mode, recwarn):
    env = gymnasium.make(ID, observation=observation, task=task, render_mode=render_mode)
    check_env(env.unwrapped)
    assert [str(w.message) for w in recwarn] == []


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_map_is_an_environment(kind):
    env = gymnasium.make(ID, map=kind)
    first, _ = env.reset(seed=3)
    again, _ = env.reset(seed=3)
    assert all(np.array_equal(first[name], again[name]) for name in first)
    assert env.observation_space.contains(first)


def test_a_task_gives_reward_and_end(forest):
    env = gymnasium.make(ID, map=forest, task="grab-axe then mine-wood")
    env.reset()
    for action in (RIGHT, TOGGLE, RIGHT):
        _, reward, terminated, truncated, _ = env.step(action)
        assert (reward, terminated, truncated) == (0, False, False)
    assert [str(term) for term in env.unwrapped.frontier()] == ["mine-wood"]
    assert env.step(TOGGLE)[1:4] == (1.0, True, False)


def test_without_a_task_there_is_no_end(forest):
    env = TaskEnv(Maps(forest))
    env.reset()
    assert all(env.step(action)[1:4] == (0.0, False, False) for action in (RIGHT, TOGGLE, RIGHT, TOGGLE))
    assert env.frontier() == ()


def test_an_episode_is_cut_after_a_hundred_steps(forest):
    env = gymnasium.make(ID, map=forest)
    env.reset()
    assert [env.step(UP)[3] for _ in range(100)] == [False] * 99 + [True]


def test_termination_is_what_satisfies_says():
    """On random walks the episode ends in the first state at which the trajectory so far does the task."""
    ended = 0
    for seed in range(60):
        env = TaskEnv(Maps(size=(2, 3 + seed % 3)), task="grab-axe or grab-pickaxe then mine-wood or mine-coal")
        rng = np.random.default_rng(seed)
        states = [env.reset(seed=seed)[1]["state"]]
        terms = [str(term) for term in env.machine.terms]
        for _ in range(60):
            _, _, terminated, _, info = env.step(int(rng.integers(5)))
            states.append(info["state"])
            assert terminated == satisfies(truth(env.world, np.array(states), terms), env.machine.task, terms)
            if terminated:
                ended += 1
                break
    assert ended > 5


@pytest.mark.parametrize("task", [None, "grab-axe and grab-pickaxe then mine-wood"])
@pytest.mark.parametrize("observation", ["sets", "image"])
def test_the_vector_version_does_what_single_copies_do(task, observation):
    n, horizon = 7, 20
    setting = {"map": "garden", "task": task, "observation": observation, "max_episode_steps": horizon}
    vector = gymnasium.make_vec(ID, num_envs=n, **setting)
    assert vector.metadata["autoreset_mode"] == AutoresetMode.NEXT_STEP
    single = gymnasium.make_vec(ID, num_envs=n, vectorization_mode="sync", **setting)
    seen, _ = vector.reset(seed=5)
    expected, _ = single.reset(seed=5)
    _assert_equal(seen, expected)
    assert vector.observation_space.contains(seen)
    rng = np.random.default_rng(0)
    ends = 0
    for _ in range(200):
        actions = rng.choice(5, p=[0.2, 0.2, 0.2, 0.2, 0.2], size=n)
        *got, info = vector.step(actions)
        *wanted, _ = single.step(actions)
        _assert_equal(got[0], wanted[0])
        for a, b in zip(got[1:], wanted[1:], strict=True):
            assert np.array_equal(a, b)
        assert info["state"].shape == (n, vector.world.state_width)
        ends += got[2].sum() + got[3].sum()
    assert ends >= n * 200 // (horizon + 1) - n


def _assert_equal(a, b):
    if isinstance(a, dict):
        assert all(np.array_equal(a[name], b[name]) for name in b)
    else:
        assert np.array_equal(a, b)


@pytest.mark.kernels
def test_progress_of_a_batch_is_that_of_each_row():
    from rsg.envs.progress import BatchProgress

    rng = np.random.default_rng(0)
    for text in ("a", "a then b", "a and b and c", "(a or b) then (c and a) or b then a"):
        machine = Machine.of(parse(text))
        n, steps = 20, 12
        values = np.logical_xor.accumulate(rng.random((steps, n, len(machine.terms))) < 0.3, axis=0)
        batch = BatchProgress(machine, n)
        entered = [machine.START] * n
        for step in range(steps):
            first = rng.random(n) < 0.15 if step else np.ones(n, dtype=bool)
            done = batch.advance(values[step], first)
            for i in range(n):
                row = values[step, i].tolist()
                entered[i], expected = machine.advance(machine.START if first[i] else entered[i], row)
                assert done[i] == expected
                assert set(np.flatnonzero(batch.entered[i])) == entered[i]


def test_vector_seeds(forest):
    vector = gymnasium.make_vec(ID, num_envs=3, map="field", render_mode="rgb_array")
    a, _ = vector.reset(seed=[1, 2, 1])
    assert np.array_equal(a["objects"][0], a["objects"][2])
    assert not np.array_equal(a["objects"][0], a["objects"][1])
    b, _ = vector.reset()  # goes on with the same streams
    assert not np.array_equal(a["objects"], b["objects"])
    assert len(vector.render()) == 3
    assert TaskVectorEnv(2, Maps(forest)).render() is None


def test_rendering(forest):
    env = TaskEnv(Maps(forest), render_mode="ansi")
    env.reset()
    assert "@" in env.render()
    assert "a axe" in env.render()
    env = TaskEnv(Maps(forest), render_mode="rgb_array")
    env.reset()
    assert env.render().shape == (96, 96, 3)


def test_human_mode_prints_each_state(forest, capsys):
    env = TaskEnv(Maps(forest), render_mode="human")
    env.reset()
    env.step(RIGHT)
    assert env.render() is None
    assert capsys.readouterr().out.count("holds") == 2


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({"map": "iland"}, "no kind of map 'iland'; did you mean islands"),
        ({"map": "no/such.txt"}, "cannot read the map no/such.txt"),
        ({"task": "mine-wod"}, "did you mean mine-wood"),
        ({"observation": "smell"}, "'sets' or 'image', not 'smell'"),
        ({"map": "islands", "size": (9, 9)}, "has one size, 6×6"),
        ({"inventory": ["tree"]}, "a tree cannot be held"),
        ({"map": "smithy", "task": "mine-wood"}, "cannot hold what the task needs: tree"),
        (
            {"task": "toggle-switch and grab-key", "size": (1, 2)},
            "map and task need 3 objects together, but the limit is 1",
        ),
        ({"observation": "image", "cell": 2}, "drawn with 4 to 256 pixels"),
    ],
)
def test_bad_settings_are_one_sentence(arguments, problem):
    def make():
        gymnasium.make(ID, **arguments).reset()

    with pytest.raises((RsgError, ParseError), match=problem):
        make()


def test_bad_actions_and_states(forest):
    env = TaskEnv(Maps(forest))
    env.reset()
    with pytest.raises(RsgError, match="action 5 is out of range: actions are 0 to 4"):
        env.step(5)
    with pytest.raises(RsgError, match=r"not states of a 1×3 Crafting World .* expected uint8 \[N, 11\]"):
        env.reset(options={"state": np.zeros(44, np.uint8)})
    with pytest.raises(RsgError, match="render_mode must be one of ansi, rgb_array, human, not '3d'"):
        TaskEnv(Maps(), render_mode="3d")
    with pytest.raises(RsgError, match="inventory and size are for random maps"):
        TaskEnv(Maps(forest, inventory=["axe"]))
    vector = TaskVectorEnv(2, Maps(forest))
    vector.reset(seed=0)
    with pytest.raises(RsgError, match="action -1 of state 1 is out of range"):
        vector.step(np.array([0, -1]))
    with pytest.raises(RsgError, match="2 states need as many whole-numbered actions"):
        vector.step(np.array([0.5, 1]))


def test_a_map_file_is_an_environment(tmp_path):
    (tmp_path / "my.txt").write_text("inventory: axe\nmap:\n@T\n")
    env = gymnasium.make(ID, map=str(tmp_path / "my.txt"), task="mine-wood")
    env.reset()
    env.step(RIGHT)
    assert env.step(TOGGLE)[1:3] == (1.0, True)


def test_the_same_everywhere():
    """Maps and walks do not depend on the process or its hash seed."""
    script = (
        "import hashlib, numpy; from rsg.domains.crafting.environment import Maps; from rsg.envs import TaskEnv\n"
        "from rsg.domains.crafting.maps import KINDS; h = hashlib.sha256()\n"
        "for kind in KINDS:\n"
        "    env = TaskEnv(Maps(kind)); h.update(env.reset(seed=7)[1]['state'].tobytes())\n"
        "    for a in numpy.random.default_rng(0).integers(5, size=50): h.update(env.step(a)[4]['state'].tobytes())\n"
        "print(h.hexdigest())"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", script], env={"PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True
        ).stdout
        for seed in ("1", "2")
    }
    assert len(outputs) == 1


def test_actions_are_named():
    assert ACTIONS == ("up", "down", "left", "right", "toggle")
