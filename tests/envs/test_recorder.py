"""What a recorder keeps: every episode with its words, whatever happens, and nothing that cannot be found again."""

import signal
import subprocess
import sys

import gymnasium
import numpy as np
import pytest

import rsg
from rsg.core.errors import ParseError, RsgError, StoreError
from rsg.worlds import wrap
from rsg.worlds.corridor import Corridor


class Lamps(gymnasium.Env):
    """Six places in a row, a lamp at the left end and a book at the right end; it begins anywhere between."""

    action_space = gymnasium.spaces.Discrete(3)
    observation_space = gymnasium.spaces.Dict(
        {"at": gymnasium.spaces.Box(0, 5, (3,), np.int64), "mission": gymnasium.spaces.Text(40)}
    )

    def __init__(self, slip=0.0, length=None):
        self.slip, self.length = slip, length

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.at = np.array([self.np_random.integers(1, 5), 0, 0])
        self.steps = 0
        return self._seen(), {}

    def step(self, action):
        if action == 2:
            self.at[1] |= self.at[0] == 0
            self.at[2] |= self.at[0] == 5
        elif self.slip <= self.np_random.random():
            self.at[0] = np.clip(self.at[0] + (1 if action == 1 else -1), 0, 5)
        self.steps += 1
        return self._seen(), 0.0, bool(self.at[2]), self.steps == self.length, {}

    def _seen(self):
        return {"at": self.at.copy(), "mission": "light the lamp" if self.at[0] < 3 else "read-book"}


def key(env):
    return env.unwrapped.at


class Model:
    """The same, written by hand."""

    actions = ("left", "right", "touch")

    def step(self, states, actions):
        after, touch = states.copy(), actions == 2
        after[:, 0] = np.clip(states[:, 0] + (actions == 1) - (actions == 0), 0, 5)
        after[:, 1] |= touch & (states[:, 0] == 0)
        after[:, 2] |= touch & (states[:, 0] == 5)
        return after

    def encode(self, states):
        return states

    def read(self, env):
        return env.unwrapped.at


@pytest.fixture
def kept(tmp_path):
    return tmp_path / "store"


def walk(recorder, task):
    """What a person does: to the lamp, or to the book."""
    while recorder.unwrapped.at[0] != (0 if task == "light-lamp" else 5):
        recorder.step(0 if task == "light-lamp" else 1)
    recorder.step(2)


def test_episodes_are_kept_in_a_wrapped_world(kept):
    world = wrap(Lamps(), key=key)
    with rsg.Recorder(Lamps(), kept, world) as recorder:
        for seed in range(6):
            task = ("light-lamp", "read-book")[seed % 2]
            recorder.reset(seed=seed)
            recorder.describe(task)
            walk(recorder, task)
    store = rsg.Store(kept)
    assert [demo.task for demo in store] == ["light-lamp", "read-book"] * 3
    assert store.manifest.world == "Lamps"
    for seed, demo in enumerate(store):
        assert demo.setting == f'{{"seed": {seed}}}'
        wrap(Lamps(), key=key).meet(demo)  # in a later process its states are found again
        assert demo.states[0, :3].tolist() == world.start(seed)[:3].tolist()
        assert demo.states[-1, 3] == (demo.task == "read-book")  # then the environment said that it was over
    assert not (kept / "recording").exists()


def test_what_is_recorded_is_learned_from(kept):
    with rsg.Recorder(Lamps(), kept, Model()) as recorder:
        for task in ("light-lamp", "read-book") * 4:
            recorder.reset(seed=len(task) + recorder.store.steps)
            recorder.describe(task)
            walk(recorder, task)
    subgoals = rsg.learn(kept, Model())
    env = Lamps()
    env.reset(seed=1)
    made = subgoals.plan(Model(), env.at, "light the lamp then read the book")
    assert rsg.execute(env, made).done
    assert env.at.tolist() == [5, 1, 1]


@pytest.mark.parametrize("order", ["before", "after", "late", "by task", "by observation", "by function"])
def test_who_describes_an_episode_and_when(kept, order):
    tasks = ["light-lamp", "read-book", "light-lamp"]
    options = {
        "by task": {"task": "light-lamp"},
        "by observation": {"task": "mission", "words": ["light-lamp", "read-book"]},
        "by function": {"task": lambda seen: f"step-{seen['at'][0]}"},
    }
    with rsg.Recorder(Lamps(), kept, Model(), **options.get(order, {})) as recorder:
        for seed, task in enumerate(tasks):
            if order == "before":
                recorder.describe(task)
            recorder.reset(seed=seed)
            if order == "after":
                recorder.describe(task)
            walk(recorder, task)
            if order == "late":
                recorder.describe(task)
    starts = [demo.states[0, 0] for demo in rsg.Store(kept)]
    expected = {
        "by task": ["light-lamp"] * 3,
        "by observation": ["light-lamp" if place < 3 else "read-book" for place in starts],
        "by function": [f"step-{place}" for place in starts],
    }
    assert [demo.task for demo in rsg.Store(kept)] == expected.get(order, tasks)


def test_an_episode_is_safe_as_soon_as_it_has_ended(kept):
    recorder = rsg.Recorder(Lamps(), kept, Model(), task="read-book")
    recorder.reset(seed=0)
    walk(recorder, "read-book")
    assert len(rsg.Store(kept)) == 1
    recorder.reset(seed=1)
    recorder.step(0)
    assert len(rsg.Store(kept)) == 1
    recorder.reset(seed=2)  # who begins anew has ended what was before
    assert [len(demo) for demo in rsg.Store(kept)][1:] == [1]
    recorder.close()
    recorder.close()
    assert len(rsg.Store(kept)) == 2  # nothing was done in the last one


def test_no_description_is_told(kept, capsys):
    with rsg.Recorder(Lamps(length=2), kept, Model()) as recorder:
        recorder.reset(seed=0)
        recorder.step(0)
        recorder.step(0)
        assert len(recorder.store) == 0  # somebody may describe it yet
        recorder.reset(seed=1)
    assert [demo.task for demo in rsg.Store(kept)] == [""]
    assert "without a description" in capsys.readouterr().err


def test_what_cannot_be_recorded(kept, capsys):
    recorder = rsg.Recorder(Lamps(slip=0.6), kept, wrap(Lamps(), key=key), task="read-book")
    with pytest.raises(RsgError, match=r"found again by its seed: reset\(seed=...\)"):
        recorder.reset()
    with pytest.raises(RsgError, match=r"an episode begins with reset\(seed=...\)"):
        recorder.step(0)
    with pytest.raises(RsgError, match="began with options cannot be recorded"):
        recorder.reset(seed=1, options={"easy": True})
    recorder.reset(seed=3)
    walk(recorder, "read-book")
    assert len(recorder.store) == 0
    assert "in step 1 of 'read-book' the environment did not do what its model does" in capsys.readouterr().err
    with pytest.raises(StoreError, match="somebody else is recording into"):
        rsg.Recorder(Lamps(), kept, Model())
    recorder.close()
    with pytest.raises(RsgError, match="this recorder was closed"):
        recorder.reset(seed=4)
    with pytest.raises(RsgError, match="not a Model"):
        rsg.Recorder(Model(), kept)
    with pytest.raises(RsgError, match="a method read"), rsg.Recorder(Lamps(), kept, Corridor()):
        pass
    with rsg.Recorder(Lamps(), kept, Model()) as other, pytest.raises(ParseError, match=r"words=\[...\], if desc"):
        other.describe("light the lamp")


def test_without_a_model_the_environment_is_wrapped(kept):
    with rsg.Recorder(gymnasium.make("CliffWalking-v1"), kept, task="go-up") as recorder:
        recorder.reset(seed=4)
        recorder.step(0)
        recorder.step(1)
    (demo,) = rsg.Store(kept)
    recorder.world.meet(demo)
    assert rsg.Store(kept).manifest.world == "CliffWalking-v1"
    with rsg.Recorder(Lamps(), kept, state=lambda env: env.unwrapped.at, task="x") as recorder:
        recorder.reset(seed=1)
        recorder.step(0)
    assert rsg.Store(kept)[1].states.shape == (2, 3)


SCRIPT = """
import sys, time
sys.path.insert(0, {root!r})
from tests.envs.test_recorder import *
recorder = rsg.Recorder(Lamps(), {store!r}, Model(), task="light-lamp")
recorder.reset(seed=0)
recorder.step(1); recorder.step(0)
recorder.reset(seed=1)
recorder.step(1); recorder.step(0); recorder.step(0)
{end}
"""


@pytest.mark.parametrize(
    "end", ["raise ValueError('mine')", "sys.exit(3)", "print('here', flush=True); time.sleep(60)"]
)
def test_nothing_is_lost(kept, end, capsys):
    from pathlib import Path

    script = SCRIPT.format(root=str(Path(__file__).parents[2]), store=str(kept), end=end)
    process = subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    killed = "sleep" in end
    if killed:
        assert process.stdout.readline() == "here\n"
        process.send_signal(signal.SIGKILL)
    process.communicate()
    assert [len(demo) for demo in rsg.Store(kept)] == ([2] if killed else [2, 3])
    rsg.Recorder(Lamps(), kept, Model()).close()
    assert [(len(demo), demo.task) for demo in rsg.Store(kept)] == [(2, "light-lamp"), (3, "light-lamp")]
    assert ("an episode of 3 steps that was cut off is kept" in capsys.readouterr().err) == killed


def test_an_episode_is_not_added_twice(kept):
    """Killed between the store and the note that it is there."""
    recorder = rsg.Recorder(Lamps(), kept, Model(), task="light-lamp")
    recorder.reset(seed=0)
    recorder.step(0)
    file = kept / "recording" / "episode.jsonl"
    written = file.read_text()
    recorder.close()
    file.parent.mkdir()
    file.write_text(written + '{"action": 1, "sta')
    rsg.Recorder(Lamps(), kept, Model()).close()
    assert len(rsg.Store(kept)) == 1
    assert not file.exists()


class Pushed(gymnasium.Wrapper):
    """Somebody pushes now and then."""

    def __init__(self, env, seed):
        super().__init__(env)
        self.rng = np.random.default_rng(seed)

    def step(self, action):
        told = self.env.step(action)
        if self.rng.random() < 0.3:
            self.unwrapped.at[0] = self.rng.integers(0, 6)
        return {"at": self.unwrapped.at.copy(), "mission": told[0]["mission"]}, *told[1:]


class Sly(Lamps):
    """Of a class of its own, with more in it."""

    def __init__(self, seed):
        super().__init__()
        self.rng = np.random.default_rng(seed)

    def step(self, action):
        return super().step(0 if self.rng.random() < 0.3 else action)


@pytest.mark.parametrize("real", [lambda n: Pushed(Lamps(), n), lambda n: Sly(n)], ids=["wrapper", "class"])
@pytest.mark.parametrize("given", [{}, {"key": key}], ids=["whole", "key"])
def test_a_plan_of_the_wrapped_world_is_done_in_a_world_that_slips(real, given):
    """What is around or above the model in reality takes no part in planning."""
    world = wrap(Lamps(), **given)
    tests = world.truth({"light-lamp": lambda env: env.unwrapped.at[1] == 1, "read-book": lambda env: env.at[2] == 1})
    goals = lambda where, terms, state: rsg.search.goals_from(lambda rows: tests(where, rows, terms))  # noqa: E731
    for seed in range(4):
        env = real(seed)
        seen, _ = env.reset(seed=seed)
        plan = rsg.plan(world, world.read(env, seen=seen), "light-lamp then read-book", goals)
        done = rsg.execute(env, plan)
        assert done.done, done.reason
        assert env.unwrapped.at[1:].tolist() == [1, 1]
        assert len(done.replans) < len(done.actions) / 2  # only where something was unexpected
