"""From where on planners take a subgoal for true: on a grid where it is likelier than not, else where it is surest."""

import json

import numpy as np
import pytest
import torch
from tests.training.examples import room_demos, room_of, room_quick, small_demos, world_of

import rsg
from rsg.core.random import stream
from rsg.domains.crafting import CraftingWorld
from rsg.domains.playroom import PlayroomWorld, load_layout, truth
from rsg.search import roadmap
from rsg.subgoals import Classifiers, Subgoals, learn, load, untrained
from rsg.training import Run
from rsg.training.checkpoint import Saved, writing

ROOM = PlayroomWorld()
START = ROOM.start(stream(3, "margins"))
SPLIT = {
    "room": [12, 6],
    "walls": [{"from": [6, 0], "to": [6, 6], "thickness": 0.5}],
    "robot": [[[-0.4, -0.4], [0.4, -0.4], [0.4, 0.4], [-0.4, 0.4]]],
    "effectors": [{"name": "lamp", "size": 0.8, "position": [2, 1]}],
    "start": [3, 3, 0],
}


class Rightwards(Classifiers):
    """The farther right the robot, the surer every subgoal: even odds at some place."""

    def __init__(self, terms, even=0.0):
        super().__init__(single=True)
        self.terms, self.even = tuple(terms), even

    def evaluate(self, world, states, numbers):
        odds = np.repeat(states[:, :1] - self.even, len(numbers), axis=1)[..., None]
        return np.concatenate([odds, -odds], axis=-1)


def log_sigmoid(odds):
    return -np.log1p(np.exp(-odds))


def test_a_margin_is_what_is_twice_as_doubtful_as_the_surest_pose():
    learned = untrained(ROOM.layout.terms, ROOM)
    learned.offsets.data += 5.0
    poses = roadmap(ROOM, START).states
    states = np.concatenate([START[None], np.repeat(START[None], len(poses), axis=0)])
    states[1:, :3] = poses
    surest = learned.evaluate(ROOM, states, [0, 2])[..., 0].max(axis=0)
    assert (surest > 1).all()
    assert learned.margins_at(ROOM, [0, 2], START) == pytest.approx(surest - np.log(2))


def test_it_is_never_below_even_odds():
    assert Rightwards("a", even=25.0).margins_at(ROOM, [0], START).tolist() == [0]


def test_what_is_behind_a_wall_does_not_count(tmp_path):
    (tmp_path / "split.json").write_text(json.dumps(SPLIT))
    world = PlayroomWorld(load_layout(str(tmp_path / "split.json")))
    for x, edges in ((3, (4.7, 5.35)), (9, (10.9, 11.6))):  # the middle of the robot is 0.4 from any wall
        (margin,) = Rightwards("a").margins_at(world, [0], world.state((x, 3, 0)))
        assert edges[0] < margin + np.log(2) <= edges[1]


def test_on_a_grid_there_is_none():
    learned, demo = untrained(["grab-axe", "mine-wood"], CraftingWorld()), small_demos()[0]
    assert learned.margins_at(world_of(demo), [0, 1], demo.states[0]).tolist() == [0, 0]
    assert hasattr(learned.goals(world_of(demo), ["grab-axe"], demo.states[0]), "compiled")


@pytest.mark.parametrize("separate", [False, True])
def test_what_planners_are_told(separate):
    subgoals = Rightwards(["a"], even=5.0)
    margin = subgoals.margins_at(ROOM, [0], START)[0]
    states = np.repeat(START[None], 5, axis=0)
    states[:, 0] = [1.0, 5.5, START[0], 12.0, 19.0]
    log_g, log_i = (subgoals.goals_with_i if separate else subgoals.goals)(ROOM, ["a"], START)(states)
    odds = states[:, 0] - 5.0
    np.testing.assert_allclose(log_g[:, 0], log_sigmoid(odds - margin))
    not_yet = np.where(np.arange(5) == 2, margin - odds, -odds)  # nobody is asked at the start for what is done
    np.testing.assert_allclose(log_i[:, 0], log_sigmoid(not_yet))


def test_a_plan_is_made_where_nothing_is_sure_at_the_start():
    """Between even odds and the margin it is not true, or nobody would ask for it."""
    start = next(state for state in ROOM.sample(stream(0, "starts"), 50) if 8 < state[0] < 12)
    subgoals = Rightwards(["ring-bell"], even=7.0)
    plan = rsg.plan(ROOM, start, "ring-bell", subgoals.goals)
    assert plan.found
    assert plan.states[-1, 0] - 7.0 >= subgoals.margins_at(ROOM, [0], start)[0]
    far = plan.states[-1]
    assert not rsg.plan(ROOM, far, "ring-bell", subgoals.goals).found  # there it is as sure as it can be


def test_a_plan_ends_well_inside_of_what_is_learned():
    """Classifiers that know the truth up to an edge that is too wide: the surest place is inside nevertheless."""

    class Wide(Classifiers):
        def evaluate(self, world, states, numbers):
            odds = 4.0 - 2 * np.hypot(*(states[:, :2] - states[:, 5:7]).T)[:, None, None]  # touches need about 1.5
            return np.concatenate([odds, -odds], axis=-1)

    subgoals = Wide(single=True)
    subgoals.terms = ("ring-bell",)
    for number in range(5):
        start = ROOM.start(stream(number, "wide"))
        if subgoals.evaluate(ROOM, start[None], [0])[0, 0, 0] < 0:
            plan = rsg.plan(ROOM, start, "ring-bell", subgoals.goals)
            assert rsg.validate(ROOM, plan, "ring-bell", lambda states, terms: truth(ROOM, states, terms)).ok


def test_a_run_of_an_older_version_opens_and_goes_on(tmp_path):
    """They learned margins, and had two settings for it."""
    learned = learn(room_demos(), room_of, tmp_path / "new", room_quick(steps=4), tensorboard=False).classifiers
    new = Run(tmp_path / "new")
    settings = {**new.about["settings"], "prompt": 1.0, "sure": 0.92}
    Run.create(tmp_path / "old", {**new.about, "settings": settings})
    with writing(tmp_path / "old") as old:
        for which in ("last", "best"):
            saved = new.load(which)
            margins = torch.full([len(learned.terms)], 2.0, dtype=torch.float64)
            old.save({which: Saved({**saved.tensors, "module.margins": margins}, {**saved.notes, "done": ""})})
    states = room_demos()[0].states
    loaded = load(tmp_path / "old").classifiers
    assert np.array_equal(loaded.evaluate(ROOM, states, [0, 1]), learned.evaluate(ROOM, states, [0, 1]))
    went_on = learn(room_demos(), room_of, tmp_path / "old", room_quick(steps=4), tensorboard=False)
    assert went_on.progress.done
    begun = learn(room_demos(), room_of, None, room_quick(steps=1), start=Subgoals(loaded), tensorboard=False)
    assert begun.classifiers.terms == learned.terms


def test_what_is_asked_for_twice_running_is_evaluated_once_but_never_taken_for_something_else():
    asked = []

    class Counted(Rightwards):
        def evaluate(self, world, states, numbers):
            asked.append(len(states))
            return super().evaluate(world, states, numbers)

    goals = Counted(["a"], even=5.0).goals(ROOM, ["a"], START)
    states = np.repeat(START[None], len(roadmap(ROOM, START).states), axis=0)
    states[:, :3] = roadmap(ROOM, START).states
    first = goals(states)[0]
    states[:, 0] += 1.0  # in the same array
    assert (goals(states)[0] > first).any()
    assert asked == [1, len(states), len(states)]  # the start and the roadmap for the margin; then only what is new
