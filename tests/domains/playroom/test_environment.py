import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode

import rsg.envs  # noqa: F401, which registers the ids
from rsg.core.errors import ParseError, RsgError
from rsg.domains.environments import environment, environments
from rsg.domains.playroom import SHIPPED, Effector, Layout, PlayroomWorld, load_layout, save_layout, truth
from rsg.domains.playroom.environment import Rooms
from rsg.domains.playroom.layout import box
from rsg.envs import TaskEnv, TaskVectorEnv
from rsg.language import satisfies

ID = "rsg/Playroom-v0"
TASK = "turn-on-music then play-with-ball"


@pytest.mark.parametrize("task", [None, TASK])
@pytest.mark.parametrize("observation", ["numbers", "image"])
@pytest.mark.parametrize("render_mode", [None, "ansi", "rgb_array", "human"])
def test_gymnasiums_own_check(observation, task, render_mode, recwarn):
    env = gymnasium.make(ID, observation=observation, task=task, render_mode=render_mode)
    check_env(env.unwrapped)
    assert [str(w.message) for w in recwarn] == []


@pytest.mark.parametrize("name", SHIPPED)
def test_every_layout_is_an_environment(name):
    env = gymnasium.make(ID, layout=name)
    first, info = env.reset(seed=3)
    again, _ = env.reset(seed=3)
    assert np.array_equal(first, again)
    assert env.observation_space.contains(first)
    assert np.array_equal(env.unwrapped.world.encode(info["state"][None])[0], first)


@pytest.fixture
def row():
    """Between the ball on the right and the music on the left."""
    return PlayroomWorld().state((5, 5, 0), {"music-on": (2.8, 5), "ball": (7.2, 5)})


def test_a_task_gives_reward_and_end(row):
    env = gymnasium.make(ID, task=TASK)
    env.reset(options={"state": row})
    assert env.step(np.float32([-1, 0, 0]))[1:4] == (0, False, False)
    assert [str(term) for term in env.unwrapped.frontier()] == ["play-with-ball"]
    assert env.step([1, 0, 0])[1:4] == (0, False, False)
    assert env.step([1, 0, 0])[1:4] == (1.0, True, False)


def test_without_a_task_there_is_no_end(row):
    env = TaskEnv(Rooms())
    env.reset(options={"state": row})
    assert all(env.step([x, 0, 0])[1:4] == (0.0, False, False) for x in (-1, 1, 1))
    assert env.frontier() == ()


def test_an_episode_is_cut_after_a_hundred_steps():
    env = gymnasium.make(ID)
    env.reset()
    assert [env.step(np.zeros(3, np.float32))[3] for _ in range(100)] == [False] * 99 + [True]


def test_termination_is_what_satisfies_says():
    """On random walks the episode ends in the first state at which the trajectory so far does the task."""
    ended = 0
    small = Layout((7, 6), (box(1, 0.6),), tuple(Effector(name, box(1, 1)) for name in "abcd"))
    for seed in range(30):
        env = TaskEnv(Rooms(small), task="touch-a or touch-b then touch-c or touch-d")
        rng = np.random.default_rng(seed)
        states = [env.reset(seed=seed)[1]["state"]]
        terms = [str(term) for term in env.machine.terms]
        for _ in range(60):
            _, _, terminated, _, info = env.step(rng.uniform(-1, 1, 3))
            states.append(info["state"])
            assert terminated == satisfies(truth(env.world, np.array(states), terms), env.machine.task, terms)
            if terminated:
                ended += 1
                break
    assert ended > 10


@pytest.mark.parametrize("task", [None, "play-with-ball or ring-bell then turn-on-music or turn-on-light"])
@pytest.mark.parametrize("observation", ["numbers", "image"])
def test_the_vector_version_does_what_single_copies_do(task, observation):
    n, horizon = 5, 20
    setting = {"task": task, "observation": observation, "pixels": 32, "max_episode_steps": horizon}
    vector = gymnasium.make_vec(ID, num_envs=n, **setting)
    assert vector.metadata["autoreset_mode"] == AutoresetMode.NEXT_STEP
    single = gymnasium.make_vec(ID, num_envs=n, vectorization_mode="sync", **setting)
    seen, _ = vector.reset(seed=5)
    expected, _ = single.reset(seed=5)
    assert np.array_equal(seen, expected)
    assert vector.observation_space.contains(seen)
    rng = np.random.default_rng(0)
    for _ in range(60):
        actions = rng.uniform(-1, 1, (n, 3)).astype(np.float32)
        *got, info = vector.step(actions)
        *wanted, _ = single.step(actions)
        for a, b in zip(got, wanted, strict=True):
            assert np.array_equal(a, b)
        assert info["state"].shape == (n, vector.world.state_width)


def test_vector_pictures():
    vector = gymnasium.make_vec(ID, num_envs=2, render_mode="rgb_array")
    vector.reset(seed=[1, 1])
    first, second = vector.render()
    assert first.shape == (480, 480, 3)
    assert np.array_equal(first, second)
    assert TaskVectorEnv(2, Rooms()).render() is None


def test_human_mode_prints_each_state(row, capsys):
    env = TaskEnv(Rooms(), render_mode="human")
    env.reset(options={"state": row})
    env.step([1, 0, 0.5])
    assert env.render() is None
    out = capsys.readouterr().out
    assert "robot at (5.00, 5.00), angle 0.00" in out
    assert "robot at (6.00, 5.00), angle 0.50" in out
    assert out.count("▀") == 2 * (64 * 32 - 6)  # each effector has a letter


def test_a_layout_file_is_an_environment(tmp_path):
    save_layout(load_layout("narrow"), tmp_path / "my.json")
    env = gymnasium.make(ID, layout=str(tmp_path / "my.json"))
    assert env.unwrapped.world == PlayroomWorld(load_layout("narrow"))
    assert TaskEnv(Rooms(load_layout("twelve"))).observation_space.shape == (28,)


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({"layout": "papr"}, "no layout 'papr'; did you mean paper"),
        ({"layout": "no/such.json"}, "cannot read the layout no/such.json"),
        ({"task": "ring-bel"}, "did you mean ring-bell"),
        ({"task": "beat-drum"}, "unknown term 'beat-drum'"),
        ({"observation": "smell"}, "'numbers' or 'image', not 'smell'"),
        ({"observation": "image", "pixels": 2}, "has 32 to 4096 pixels"),
    ],
)
def test_bad_settings_are_one_sentence(arguments, problem):
    for make in (environment, environments):
        with pytest.raises((RsgError, ParseError), match=problem):
            make("Playroom", **arguments)


def test_bad_actions_states_and_modes(row):
    env = TaskEnv(Rooms())
    env.reset(options={"state": row})
    for action, problem in (([0, 0, 2], "must be from -1 to 1"), ([0, 0], r"got \[1, 2\]"), ([np.nan] * 3, "from -1")):
        with pytest.raises(RsgError, match=problem):
            env.step(action)
    for change, problem in ((row * np.nan, "x is nan"), (row * 0, "overlaps"), (row[:4], "expected float64")):
        with pytest.raises(RsgError, match=problem):
            env.reset(options={"state": change})
    row[:3] = (10, 2, 0)
    with pytest.raises(RsgError, match="the robot starts in collision"):
        env.reset(options={"state": row})
    for make in (environment, environments):
        with pytest.raises(RsgError, match="render_mode must be one of ansi, rgb_array, human, not '3d'"):
            make("Playroom", render_mode="3d")


def test_letters(row):
    env = TaskEnv(Rooms(), render_mode="ansi")
    env.reset(options={"state": row})
    assert "@" in env.render()
    assert "robot at (5.00, 5.00), angle 0.00" in env.render()
