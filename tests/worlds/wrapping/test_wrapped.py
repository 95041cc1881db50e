"""A wrapped environment is a world: it does what the environment does, whatever way its states are saved."""

import copy
import itertools
import re
from collections import deque
from functools import cache

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.worlds.wrapping.broken import MOVES, Walk

import rsg
from rsg.core.errors import RsgError
from rsg.search import goals_from
from rsg.worlds import check, wrap
from rsg.worlds.wrapping.objects import Objects

TAXI = {"actions": ["south", "north", "east", "west", "pick", "drop"]}


class Thing:
    """With slots, and a place that it shares with others."""

    __slots__ = ("name", "where")

    def __init__(self, name, where):
        self.name, self.where = name, where


class Boxes(Walk):
    """State in all kinds of places: an array, a deque, a set, slots, things that two lists share, closures."""

    def reset(self, *, seed=None, options=None):
        self.floor = np.zeros((5, 5), dtype=np.int8)
        self.trail = deque([0], maxlen=3)
        self.visited = set()
        self.lamp = Thing("lamp", [0, 0])
        self.carried, self.all = [], {"lamp": self.lamp}
        self.mover = self.move
        return super().reset(seed=seed)

    def step(self, action):
        self.mover(MOVES[action])
        x, y = self.place
        self.floor[x, y] ^= 1
        self.trail.append(action)
        self.visited = {*self.visited, (x, y)} if len(self.visited) < 3 else set()
        if self.place == self.lamp.where and not self.carried:
            self.carried.append(self.lamp)
        elif self.carried and action == 0:
            self.all["lamp"].where = list(self.place)
            self.carried.pop()
        over = int(self.floor.sum()) == 9
        return self.seen(), float(over), over, False, {}

    def _get_obs(self):
        return self.seen()

    def seen(self):
        return {"floor": self.floor, "trail": sum(self.trail), "lamp": self.lamp.where, "held": len(self.carried)}


def by_copies(env):
    """The slow way, which needs no cleverness: every state is a deep copy."""
    return lambda actions: _played(copy.deepcopy(env), actions)


def _played(env, actions):
    for action in actions:
        if env.step(action)[2]:
            break
    return env


@cache
def boxes():
    return wrap(Boxes(), seed=3)


@cache
def taxi():
    return wrap(gymnasium.make("Taxi-v4"), names=TAXI)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.lists(st.integers(0, 3), max_size=25), min_size=2, max_size=5))
def test_restoring_does_what_copies_do(ways):
    world = boxes()
    start = world.start(5)
    real = Boxes()
    real.reset(seed=5)
    after = [world.after(start, way)[-1] for way in ways]
    for way, row in zip(ways, after, strict=True):
        wanted = by_copies(real)(way)
        found = world.restore(row)
        assert found.place == wanted.place
        assert found.floor.tolist() == wanted.floor.tolist()
        assert (found.trail, found.visited, found.lamp.where) == (wanted.trail, wanted.visited, wanted.lamp.where)
        assert [one.name for one in found.carried] == [one.name for one in wanted.carried]
        assert found.all["lamp"] is found.lamp
        assert {name: part.ravel().tolist() for name, part in world.encode(row[None]).items()} == {
            name: np.ravel(part).tolist() for name, part in wanted.seen().items()
        }


def test_equal_states_have_equal_rows_and_others_have_not():
    world = boxes()
    start = world.start(1)
    there = world.after(start, [0, 1])[-1]
    again = world.after(start, [0, 1])[-1]
    assert np.array_equal(there, again)
    assert not np.array_equal(there, start)


def test_only_what_changed_is_taken_down_again():
    inside = Objects([[1, 2], [3, 4]])
    first = inside.take()
    inside.root[0][0] = 9
    second = inside.take()
    shared = [number for number, (_, content) in second.contents.items() if first.contents[number][1] is content]
    assert len(shared) == 2
    inside.put(first)
    assert inside.root == [[1, 2], [3, 4]]
    inside.put(second)
    assert inside.root == [[9, 2], [3, 4]]


def test_a_wrapped_world_is_a_world():
    world = taxi()
    assert isinstance(world, rsg.worlds.World)
    assert check(world) == []
    assert world.actions == tuple(TAXI["actions"])
    assert "steps per second" in str(world)
    assert world.how in str(world)


@pytest.mark.parametrize("seed", range(5))
def test_it_does_what_the_environment_does(seed):
    env, world = gymnasium.make("Taxi-v4"), taxi()
    env.reset(seed=seed)
    row, rng = world.start(seed), np.random.default_rng(seed)
    for action in rng.integers(6, size=150).tolist():
        seen, reward, ended, _, _ = env.step(action)
        assert world.reward(row[None], [action]).tolist() == [reward]
        row = world.step(row[None], [action])[0]
        assert world.encode(row[None])["seen"].tolist() == [[seen]]
        assert world.ended(row[None]).tolist() == [ended]
        if ended:
            break


def test_an_episode_that_ended_stays_as_it_is():
    world = wrap(gymnasium.make("CliffWalking-v1"))
    row = world.after(world.start(0), [0, *[1] * 11, 2])[-1]
    assert world.ended(row[None]).all()
    assert np.array_equal(world.successors(row[None])[0], np.repeat(row[None], 4, axis=0))
    assert world.reward(row[None], [0]).tolist() == [0.0]


def test_a_limit_of_steps_is_not_the_worlds():
    world = wrap(gymnasium.make("CliffWalking-v1", max_episode_steps=4))
    assert not world.ended(world.after(world.start(0), [0] * 9)[-1:]).any()


def test_rows_are_enough_where_a_state_is_a_number():
    here, there = taxi(), wrap(gymnasium.make("Taxi-v4"))
    row = here.after(here.start(3), [0, 1, 2])[-1]
    assert np.array_equal(there.step(row[None], [2]), here.step(row[None], [2]))
    assert there.encode(row[None])["seen"].tolist() == [[row[0]]]


def test_states_that_were_never_met_are_an_error():
    here, there = boxes(), wrap(Boxes())
    row = here.after(here.start(11), [0, 1, 2])[-1]
    with pytest.raises(RsgError, match="knows the states that it was in, and this is none of them"):
        there.encode(row[None])


def test_the_states_of_a_demonstration_are_found_again():
    here, there = boxes(), wrap(Boxes())
    start = here.start(11)
    states = here.after(start, [0, 1, 2])
    demo = rsg.Demonstration(states, np.array([0, 1, 2]), "walk", here.setting(start))
    assert demo.setting == '{"seed": 11}'
    there.meet(demo)
    assert len(there.encode(states)["floor"]) == 4
    wrong = rsg.Demonstration(np.array([*states[:2], states[0] + 1]), np.array([0, 1]), "walk", demo.setting)
    with pytest.raises(RsgError, match="is not one of this environment: after step 1 it is in another state"):
        there.meet(wrong)
    with pytest.raises(RsgError, match="says how that was reset"):
        there.meet(rsg.Demonstration(states + 1, demo.actions, "walk"))


def test_another_environment_is_read():
    world, other = boxes(), gymnasium.wrappers.TimeLimit(Boxes(), 100)
    other.reset(seed=4)
    assert world.read(other).tolist() == world.start(4).tolist()
    for action in (0, 0, 2):
        other.step(action)
    other.unwrapped.floor[:] = 1  # which no episode of the world ever was in
    row = world.read(other)
    assert world.encode(row[None])["floor"].sum() == 25
    after = world.step(row[None], [1])[0]
    other.step(1)
    assert world.read(other).tolist() == after.tolist()
    assert world.restore(after) is not other


def test_the_truth_is_told_by_functions_of_the_environment():
    world = boxes()
    truth = world.truth({"hold": lambda env: bool(env.carried), "corner": lambda env: env.place == [0, 0]})
    states = world.after(world.start(0), [1, 3] * 6)
    told = truth(world, states, ["corner", "hold"])
    assert told.shape == (13, 2)
    assert told[-1, 0]
    with pytest.raises(RsgError, match="nothing tells what 'fly' is in truth; there are: hold, corner"):
        truth(world, states, ["fly"])


class Arm(Walk):
    """Several actions at once, names by the environment, and the interface of old."""

    def __init__(self):
        self.action_space = spaces.MultiDiscrete([2, 3])

    def reset(self):
        self.place = [int(np.random.randint(3)), 0]  # noqa: NPY002
        return np.array(self.place)

    def step(self, action):
        self.place = [(self.place[0] + action[0]) % 3, (self.place[1] + action[1]) % 3]
        return np.array(self.place), 1, self.place == [2, 2], {}


def test_actions_of_several_parts_and_environments_of_old():
    world = wrap(Arm())
    assert world.actions[4] == "action-1-1"
    assert world.act(4).tolist() == [1, 1]
    assert world.number([1, 1]) == 4
    assert {tuple(world.start(seed).tolist()) for seed in range(20)} != {tuple(world.start(0).tolist())}
    assert world.start(3).tolist() == world.start(3).tolist()
    assert world.encode(world.step(world.start(0)[None], [4]))["seen"][0, 1] == 1


class Saves(Walk):
    """Saves and restores itself, as numbers."""

    def save_state(self):
        return tuple(self.place)

    def load_state(self, state):
        self.place = list(state)


def test_its_own_pair_is_used_and_its_numbers_are_the_rows():
    world = wrap(Saves(), observe=lambda env: {"x": env.place[0], "y": env.place[1]})
    assert "its own `save_state` and `load_state`" in world.how
    start = world.start(0)
    assert start[:2].tolist() == world.restore(start).place
    assert wrap(Saves(), observe=lambda env: env.place).encode(np.array([[3, 1, 0]]))["seen"].tolist() == [[3, 1]]


def test_functions_of_the_users():
    def step(place, action):
        return tuple(min(max(one + by, 0), 4) for one, by in zip(place, MOVES[action], strict=True))

    world = wrap(Walk(), save=lambda env: tuple(env.place), step=step)
    other = wrap(
        Walk(), save=lambda env: list(env.place), restore=lambda env, saved: setattr(env, "place", saved.copy())
    )
    for actions in ([0, 1, 2], [3, 3, 0]):
        one, two = (each.after(each.start(2), actions) for each in (world, other))
        assert one.tolist() == two.tolist()
    assert world.restore(world.start(2)) == tuple(world.start(2)[:2].tolist())


def test_learning_and_planning_in_a_wrapped_world():
    world = wrap(Saves(), observe=lambda env: {"x": env.place[0], "y": env.place[1]})
    demos = []
    for seed in range(12):
        row = world.start(seed)
        moves = [3] * int(row[0]) + [2] * 4 if row[0] else [2] * 4
        demos.append(rsg.Demonstration(world.after(row, moves), np.array(moves), "go-far", world.setting(row)))
    subgoals = rsg.learn(demos, world)
    made = subgoals.plan(world, world.start(50), "go-far")
    assert made.states[-1][0] == 4


class Odd:
    """Compares itself with its own kind only."""

    def __init__(self, name):
        self.name = name

    def __eq__(self, other):
        return self.name == other.name

    def __hash__(self):
        return hash(self.name)


class WithOdd(Walk):
    """Has such a thing as a key."""

    def __init__(self):
        super().__init__()
        self.orders = {Odd("soup"): 1}


def test_things_with_an_equality_of_their_own_are_looked_into():
    assert wrap(WithOdd()).speed > 0


def test_a_state_is_looked_at_once():
    asked = []
    world = wrap(Walk(), observe=lambda env: asked.append(1) or env.place)
    row = world.start(0)
    asked.clear()
    world.after(row, [0, 1, 0, 1] * 5)
    world.step(np.repeat(row[None], 4, axis=0), np.arange(4))
    assert 0 < len(asked) <= 5


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"names": {"sen": ["x", "y"]}}, "there is no part of what is seen 'sen'; did you mean seen?"),
        ({"names": {"seen": ["x", "y", "z"]}}, "`columns` names 3 columns of 'seen', which has 2"),
        ({"names": {"seen": "xy"}}, "names= maps parts of what is seen to names of columns"),
        ({"key": 5}, "key= takes a function, not 5"),
        ({"save": 3}, "save= takes a function of the environment, or 'copy', not 3"),
    ],
)
def test_what_is_given_must_be_what_it_should_be(given, sentence):
    with pytest.raises(RsgError, match=re.escape(sentence)):
        wrap(Walk(), **given)


def test_an_environment_of_another_kind_is_not_read():
    with pytest.raises(RsgError, match="another environment than the one that was wrapped, a TaxiEnv"):
        boxes().read(gymnasium.make("Taxi-v4"))


@pytest.mark.parametrize("test", [lambda env: env.nothing, lambda env: np.array([True, False])])
def test_a_truth_that_fails_is_named(test):
    truth = boxes().truth({"hold": test})
    with pytest.raises(RsgError, match="the truth of 'hold' failed"):
        truth(None, boxes().start(0)[None], ["hold"])
    with pytest.raises(RsgError, match="truth takes a function of the environment for each term"):
        boxes().truth({"hold": True})


def test_whoever_demonstrates_is_told_the_truth_by_functions_of_the_environment():
    shown = rsg.demonstrate(boxes(), "reach the corner", {"reach-corner": lambda env: env.place == [0, 0]}, per_task=2)
    assert [boxes().restore(demo.states[-1]).place for demo in shown] == [[0, 0], [0, 0]]


class Counts(Walk):
    """Holds an iterator, which can be copied and not looked into."""

    def reset(self, *, seed=None, options=None):
        self.ticks = itertools.count()
        return super().reset(seed=seed)

    def step(self, action):
        way = 1 if next(self.ticks) % 3 else -1
        self.move([way * by for by in MOVES[action]])
        return self.seen(), 0.0, False, False, {}


def test_what_can_only_be_copied_is_copied():
    world = wrap(Counts())
    assert "the environment is copied, which is slow" in world.how
    start = world.start(3)
    for actions in ([0, 2, 2, 1, 0], [3, 1, 1], [0, 2, 0]):  # each from the start, as others have gone on from there
        env = Counts()
        env.reset(seed=3)
        for action in actions:
            env.step(action)
        assert world.restore(world.after(start, actions)[-1]).place == env.place
    other = Counts()
    other.reset(seed=3)
    assert world.read(other, seen=other.seen()).tolist() == start.tolist()


def test_a_plan_of_the_dry_lake_is_carried_out_on_the_slippery_one():
    dry, real = wrap(gymnasium.make("FrozenLake-v1", is_slippery=False)), gymnasium.make("FrozenLake-v1")
    truth = dry.truth({"leave-start": lambda env: env.unwrapped.s in (2, 8)})
    made = rsg.plan(
        dry, dry.start(0), "leave-start", lambda *_: goals_from(lambda states: truth(dry, states, ["leave-start"]))
    )
    with pytest.raises(RsgError, match="the environment is in no state yet"):
        rsg.execute(real, made)
    ends = []
    for seed in range(8):
        real.reset(seed=seed)
        ends.append(rsg.execute(real, made))
    assert any(done.done and done.replans for done in ends)
    assert {done.ended for done in ends} <= {"done", "terminated"}


class Board(Walk):
    """Shows a board of symbols, as games do: an array of rows and columns."""

    def seen(self):
        board = np.zeros((5, 5), dtype=np.int8)
        board[2, 3], board[tuple(self.place)] = 2, 1
        return {"board": board, "place": np.array(self.place)}


def test_a_board_is_seen_as_symbols_and_that_is_said(capsys):
    world = wrap(Board(), names={"board": {"thing": ["floor", "walker", "goal"]}, "place": ["row", "column"]})
    demos = rsg.demonstrate(world, "reach-goal", {"reach-goal": lambda env: env.place == [2, 3]}, per_task=6)
    subgoals = rsg.learn(demos, world)
    assert "which shows board (symbols, 5 × 5), place (2 numbers)" in capsys.readouterr().err
    assert subgoals.tell(world)[0].means == "reach-goal holds where no goal is there"


def test_what_was_learned_and_kept_knows_its_demonstrations_again(tmp_path):
    terms = {"corner": lambda env: env.place == [0, 0], "middle": lambda env: env.place == [2, 2]}
    world = wrap(Walk(), names={"seen": ["row", "column"]})
    tasks = ["corner", "middle", "corner then middle", "middle then corner"]
    demos = rsg.demonstrate(world, tasks, terms, per_task=6)
    rsg.learn(demos, world, tmp_path / "run")
    fresh = wrap(Walk(), names={"seen": ["row", "column"]})  # as in another process
    kept = rsg.load(tmp_path / "run", fresh)
    assert kept.segment(demos[-1]).ends[-1][0] == "corner"
    kept = rsg.load(tmp_path / "run", wrap(Walk(), names={"seen": ["row", "column"]}))
    assert set(kept.discover(demos).terms) == set(terms)
    assert str(rsg.load(tmp_path / "run").recognise(demos[0], tasks[:2], world=wrap(Walk()))[0].task) == "corner"


def test_a_search_asks_an_environment_for_nothing_but_what_it_expands(monkeypatch):
    world, asked = wrap(Walk()), []
    step = Walk.step
    monkeypatch.setattr(Walk, "step", lambda self, action: asked.append(action) or step(self, action))
    truth = world.truth({"corner": lambda env: env.place == [0, 0]})
    start = next(row for row in map(world.start, range(50)) if world.restore(row).place == [1, 1])
    made = rsg.plan(world, start, "corner", lambda *_: goals_from(lambda states: truth(world, states, ["corner"])))
    assert made.found
    assert len(made.actions) == 2
    assert len(asked) <= 4 * made.expansions + len(made.actions)  # the plan is done once more
    assert made.expansions < 20
