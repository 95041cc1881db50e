"""Environments of any domain, one's own too: spaces from what its world shows, a task where there is a truth."""

from typing import ClassVar

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from rsg.core.errors import RsgError
from rsg.domain import Domain, find
from rsg.envs import TaskEnv, TaskVectorEnv


class Line:
    """A place on a line; its world offers no more than it must."""

    actions, costs = ("left", "right"), np.ones(2)

    def step(self, states, actions):
        return np.clip(states + 2 * np.asarray(actions)[:, None] - 1, 0, 9).astype(states.dtype)

    def successors(self, states):
        return np.stack([self.step(states, np.full(len(states), action)) for action in range(2)], axis=1)

    def encode(self, states):
        return {"place": states, "far": states > 5}

    def render(self, state):
        return np.full((2, 3, 3), state[0], np.uint8)

    def sample(self, rng, count):
        return rng.integers(1, 3, (count, 1)).astype(np.int16)


class Lines(Domain):
    name = "lines"

    def world(self, setting=""):
        return Line()


class Judged(Lines):
    splits: ClassVar = {"train": ["reach-three"]}

    def truth(self, world, states, terms):
        return np.repeat(states >= 3, len(terms), axis=1)


@pytest.mark.filterwarnings("ignore:.*obs.*")
def test_a_strangers_world_without_a_task():
    env = TaskEnv(Lines())
    check_env(env, skip_render_check=True)
    assert env.observation_space["far"] == gymnasium.spaces.Box(0, 1, (1,), bool)
    assert env.observation_space["place"].dtype == np.int16
    assert env.action_space == gymnasium.spaces.Discrete(2)
    assert env.reset(options={"state": [7]})[0]["far"][0]
    assert env.step(1)[1:4] == (0.0, False, False)


def test_pictures_and_letters():
    env = TaskEnv(Lines(), observation="image", render_mode="ansi")
    seen, info = env.reset(seed=0)
    assert env.observation_space == gymnasium.spaces.Box(0, 255, (2, 3, 3), np.uint8)
    assert (seen == info["state"][0]).all()
    assert env.render() == f"state  {info['state']}"


def test_a_task_needs_the_truth():
    with pytest.raises(RsgError, match="lines has no truth"):
        TaskEnv(Lines(), task="reach-three")
    env = TaskEnv(Judged(), task="reach-three")
    env.reset(options={"state": np.array([1], np.int16)})
    assert [env.step(1)[1:3] for _ in range(2)] == [(0.0, False), (1.0, True)]


def test_many_copies():
    envs = TaskVectorEnv(3, Judged(), task="reach-three", max_episode_steps=4)
    assert envs.reset(seed=1)[0]["place"].shape == (3, 1)
    ends = [envs.step(np.ones(3, np.int64))[2] for _ in range(6)]
    assert np.any(ends, axis=0).all()


def test_all_episodes_are_in_one_world():
    class Several(Lines):
        def setting_of(self, world):
            return str(id(world))

    env = TaskEnv(Several())
    with pytest.raises(RsgError, match="an environment is one world, and episodes of lines start in several"):
        env.reset()


def test_a_place_of_a_domain():
    env = TaskEnv(find("crafting"), "river", "grab-axe then mine-wood")
    seen, _ = env.reset(seed=3)
    assert env.observation_space.contains(seen)
    assert [str(term) for term in env.frontier()] == ["grab-axe"]
