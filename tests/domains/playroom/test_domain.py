import json

import numpy as np
import pytest
from tests.demos.examples import contents
from tests.language.test_machine import paper_tasks
from tests.reference.playroom import judge_plan

from rsg.core.errors import ParseError, RsgError
from rsg.core.random import stream
from rsg.demos import Demonstration, Recipe, Store, check_store
from rsg.demos.importing import export_to, import_from, world_of_source
from rsg.demos.showing import milestones
from rsg.domain import find, make_demonstrations
from rsg.domains.playroom import SHIPPED, Effector, Layout, PlayroomWorld, load_layout, save_layout, truth
from rsg.domains.playroom.domain import Playroom
from rsg.domains.playroom.expert import MAX_STEPS, expert
from rsg.domains.playroom.layout import box
from rsg.language import Machine, parse, satisfies

SPLITS = ("primitive", "compositional", "novel")
source = Playroom()
PAPER = PlayroomWorld()


@pytest.mark.parametrize("split", SPLITS)
def test_the_tasks_are_the_papers(split):
    assert source.tasks(split) == [text for name, text in paper_tasks() if name == f"playroom {split}"]
    assert source.tasks("train") == source.tasks("primitive") + source.tasks("compositional")
    assert source.tasks("validation") == source.tasks("train")


def judge(demo, limit=MAX_STEPS):
    """Replay a demonstration and judge it by the definition; then by shapely, which has never seen the kernels."""
    world = source.world(demo.setting)
    assert np.array_equal(world.step(demo.states[:-1], demo.actions), demo.states[1:])
    task = parse(demo.task)
    terms = [str(term) for term in task.terms()]
    assert satisfies(truth(world, demo.states, terms), task, terms)
    assert 1 <= len(demo) <= limit
    assert not truth(world, demo.states[:1]).any()


@pytest.mark.parametrize("split", SPLITS)
def test_every_demonstration_does_what_it_says(split):
    for task in range(len(source.tasks(split))):
        for i in range(6):
            demo, draws = source.demonstrate(split, task, stream(1, split, task, i))
            judge(demo)
            assert draws >= 1


@pytest.mark.parametrize("name", SHIPPED)
@pytest.mark.parametrize("count", [1, pytest.param(10, marks=pytest.mark.slow)])
def test_shapely_accepts_what_the_expert_does(name, count):
    room = Playroom(name)
    for split in SPLITS:
        for task in range(len(room.tasks(split))):
            for i in range(count):
                demo, _ = room.demonstrate(split, task, stream(2, split, task, i))
                assert judge_plan(load_layout(name), demo.states, demo.actions, demo.task) == ""


def test_the_judge_of_plans_finds_what_is_wrong():
    world, state = PAPER, PAPER.state((5, 5, 0), {"ball": (7.2, 5), "bell": (2, 2)})
    actions = np.array([[0.5, 0, 0], [0.5, 0, 0]])
    states = np.stack([state] * 3)
    states[:, 0] = [5, 5.5, 6]
    assert judge_plan(world.layout, states, actions, "play-with-ball") == ""
    assert "do not do 'ring-bell'" in judge_plan(world.layout, states, actions, "ring-bell")
    assert "do not do" in judge_plan(world.layout, states[::-1], -actions, "play-with-ball")
    assert "beyond the limits" in judge_plan(world.layout, states[::2], actions[:1] * 2.1, "play-with-ball")
    assert "does not lead" in judge_plan(world.layout, states, actions * 0.9, "play-with-ball")
    assert "do not go with" in judge_plan(world.layout, states, actions[:1], "play-with-ball")
    moved = states.copy()
    moved[1, 3] += 1
    assert judge_plan(world.layout, moved, actions, "play-with-ball") == "an effector moved"
    through = states.copy()
    through[:, :2] = [[9, 8.5], [9, 9.4], [9, 10.3]]
    up = np.array([[0, 0.9, 0], [0, 0.9, 0]])
    assert judge_plan(world.layout, through, up, "play-with-ball") == "step 1: the robot goes through a wall"


def test_demonstrations_with_noise_still_do_the_task():
    plain, noisy = [], []
    for task in range(0, len(source.tasks("train")), 3):
        for i in range(4):
            plain.append(len(source.demonstrate("train", task, stream(2, task, i))[0]))
            demo, _ = source.demonstrate("train", task, stream(2, task, i), noise=0.3)
            judge(demo, limit=2 * MAX_STEPS / 0.7)
            noisy.append(len(demo))
    assert np.mean(noisy) > 1.2 * np.mean(plain)


def test_starts_are_free_of_everything():
    for split in SPLITS:
        for task in range(len(source.tasks(split))):
            world, state = source.start_of(split, task, stream(3, split, task))
            assert world.free(state[None])[0]
            assert not truth(world, state[None]).any()


# What the expert does


def walk(task, pose, places, layout=None, seed=0):
    world = PlayroomWorld(layout) if layout else PAPER
    state = world.state(pose, places)
    found = expert(world, state, Machine.of(parse(task, world.layout.terms)), stream(seed))
    return None if found is None else found[1]


def test_a_straight_way_is_as_short_as_can_be():
    """The ball is 7 away from the robot's long side, its tile and body take off 0.5 and between 0.5 and 1."""
    lengths = [len(walk("play-with-ball", (2.5, 5, 0), {"ball": (9, 5)}, seed=seed)) for seed in range(5)]
    assert lengths == [5] * 5


def test_the_expert_takes_the_nearer_branch_and_the_shorter_order():
    places = {"ball": (5, 5), "bell": (5, 15), "monkey": (15, 15), "light-switch": (15, 5)}
    near = walk("play-with-ball or ring-bell", (5, 8, 0), places)
    assert len(near) <= 3
    assert near[:, 1].sum() < 0
    ordered = walk("ring-bell and play-with-ball then touch-monkey", (5, 3, 0), places)
    forced = walk("ring-bell then play-with-ball then touch-monkey", (5, 3, 0), places)
    assert len(ordered) < len(forced) - 5


def test_what_cannot_be_done_is_not_demonstrated():
    assert walk("play-with-ball then play-with-ball", (5, 5, 0), {"ball": (8, 5)}) is None
    assert walk("play-with-ball", (5, 5, 0), {"ball": (5.5, 5)}) is None  # true from the start
    closed = Layout(
        (10, 4),
        (box(1, 1),),
        (Effector("ball", box(1, 1), position=(8, 2)),),
        walls=[[[5, 0], [5.5, 0], [5.5, 4], [5, 4]]],
    )
    assert walk("touch-ball", (2, 2, 0), {}, closed) is None


def test_neighbours_are_touched_one_after_the_other():
    """Two effectors side by side: the second must be false where its part begins."""
    for seed in range(6):
        state = PAPER.state((5, 3, 0), {"ball": (5, 6), "bell": (6.01, 6)})
        machine = Machine.of(parse("play-with-ball then ring-bell"))
        states, _ = expert(PAPER, state, machine, stream(seed))
        assert machine.accepts(truth(PAPER, states, ["play-with-ball", "ring-bell"]), machine.terms)


def test_the_expert_is_the_same_for_the_same_seed():
    first, again = (source.demonstrate("novel", 5, stream(4, "same"))[0] for _ in range(2))
    assert first == again
    assert first != source.demonstrate("novel", 5, stream(5, "same"))[0]


# Rooms and tasks of one's own


@pytest.mark.parametrize("name", SHIPPED)
def test_other_layouts_need_no_other_code(name):
    room = find("playroom").at(name)
    assert set(room.splits) == {"train", "validation", *SPLITS}
    demo, _ = room.demonstrate("compositional", 4, stream(0))
    world = room.world(demo.setting)
    assert world == PlayroomWorld(load_layout(name))
    assert np.array_equal(world.step(demo.states[:-1], demo.actions), demo.states[1:])
    assert json.loads(demo.setting) == {"world": "playroom", "layout": name}


def test_a_task_and_a_layout_of_ones_own(tmp_path):
    tiles = (Effector("drum", box(1, 1), "beat-drum"), Effector("fan", box(1, 1)))
    mine = Layout((9, 7), (box(1.5, 0.8),), tiles)
    save_layout(mine, tmp_path / "my.json")
    room = find("playroom").at(str(tmp_path / "my.json"), ["touch-fan then beat-drum"])
    assert room.vocabulary == ("beat-drum", "touch-fan")
    assert list(room.splits) == ["custom"]
    demo, _ = room.demonstrate("custom", 0, stream(0))
    assert source.world(demo.setting).layout == mine
    assert judge_plan(mine, demo.states, demo.actions, demo.task) == ""


def closed_room():
    wall = [[5, 0], [5.5, 0], [5.5, 4], [5, 4]]
    ball = Effector("ball", box(1, 1), "play-with-ball", position=(8, 2))
    return Layout((10, 4), (box(1, 1),), (ball,), walls=(wall,), start=(2, 2, 0))


@pytest.mark.parametrize(
    ("call", "problem"),
    [
        (lambda: source.tasks("goal-only"), "no split 'goal-only'; splits are: train, validation, primitive"),
        (lambda: Playroom(closed_room()).tasks("train"), "splits are: none; this layout lacks terms"),
        (lambda: find("playroom").at(None, ["ring-bel"]), "did you mean ring-bell"),
        (lambda: find("playroom").at("papr"), "did you mean paper"),
        (lambda: find("kitchen"), "there is no world 'kitchen'; there are: crafting, playroom"),
        (
            lambda: Playroom(closed_room(), ["play-with-ball"]).demonstrate("custom", 0, stream(0)),
            "no demonstration of 'play-with-ball' was found in 20 starts; an effector is out of reach",
        ),
        (lambda: source.world("{}"), "not a setting of Playroom"),
        (lambda: source.world("nonsense"), "not a setting of Playroom"),
        (lambda: source.world('{"world": "crafting", "layout": "paper"}'), "not a setting of Playroom"),
        (lambda: source.world('{"world": "playroom", "layout": "papr"}'), "the layout must be an object"),
    ],
)
def test_bad_input(call, problem):
    with pytest.raises((RsgError, ParseError), match=problem):
        call()


def test_settings_give_the_world_back():
    for name in SHIPPED:
        world = PlayroomWorld(load_layout(name))
        assert source.world(source.setting_of(world)) == world
    assert source.world(source.setting_of(PlayroomWorld(closed_room()))).layout == closed_room()


# The store


@pytest.fixture
def small_shards(monkeypatch):
    for module in ("store", "making"):
        monkeypatch.setattr(f"rsg.demos.{module}.SHARD_EPISODES", 9)


def test_the_store_holds_float_states_and_actions(tmp_path, small_shards):
    store = make_demonstrations(Recipe("playroom", "train", 2), tmp_path / "demos")
    assert len(store) == 28
    report = check_store(store, find("playroom"))
    assert (report.ok, report.replayed, report.episodes, report.complete) == (True, True, 28, True)
    for demo in Store(tmp_path / "demos"):
        assert (demo.states.dtype, demo.actions.dtype) == (np.float64, np.float64)
        assert demo.actions.shape == (len(demo), 3)
    make_demonstrations(Recipe("playroom", "train", 2), tmp_path / "again")
    assert contents(tmp_path / "demos") == contents(tmp_path / "again")


@pytest.mark.slow
def test_any_number_of_workers_gives_the_same_bytes(tmp_path, monkeypatch):
    recipe = Recipe("playroom", "train", 60)
    for workers in (1, 2):
        make_demonstrations(recipe, tmp_path / str(workers), workers)
    assert contents(tmp_path / "1") == contents(tmp_path / "2")


def test_a_store_of_another_layout_is_checked_in_that_layout(tmp_path):
    recipe = Recipe("playroom", "custom", 3, tasks=("beat-drum then push-car",), map="twelve")
    assert check_store(make_demonstrations(recipe, tmp_path / "demos"), find("playroom")).ok


def test_a_wrong_demonstration_is_found(tmp_path):
    demo, _ = source.demonstrate("train", 0, stream(0))
    drifting = demo.states.copy()
    drifting[-1, 0] += 1e-12
    wrong = {
        "the world does not go from state": Demonstration(drifting, demo.actions, demo.task, demo.setting),
        "the trajectory does not do 'ring-bell'": Demonstration(demo.states, demo.actions, "ring-bell", demo.setting),
        "this Playroom has no subgoal 'beat-drum'": Demonstration(demo.states, demo.actions, "beat-drum", demo.setting),
        "must be from -1 to 1": Demonstration(demo.states, demo.actions * 9, demo.task, demo.setting),
    }
    for number, (problem, bad) in enumerate(wrong.items()):
        store = Store.create(tmp_path / str(number), "playroom")
        store.append([demo, bad] if number != 3 else [bad])
        report = check_store(store, find("playroom"))
        assert len(report.problems) == 1
        assert problem in report.problems[0]
        assert "episode 1:" in report.problems[0] or number == 3


def test_minari_and_jsonl_hold_them_too(tmp_path, monkeypatch):
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path / "minari"))
    store = make_demonstrations(Recipe("playroom", "compositional", 1), tmp_path / "demos")
    export_to("minari:playroom-v0", store)
    assert list(import_from("minari:playroom-v0")) == list(store)
    assert world_of_source("minari:playroom-v0") == "playroom"
    lines = [
        {"states": d.states.tolist(), "actions": d.actions.tolist(), "task": d.task, "setting": d.setting}
        for d in store
    ]
    (tmp_path / "demos.jsonl").write_text("\n".join(map(json.dumps, lines)))
    assert list(import_from(tmp_path / "demos.jsonl")) == list(store)


def test_demonstrations_can_be_shown():
    demo, _ = source.demonstrate("compositional", 1, stream(0))
    steps = milestones(source, demo)
    assert steps[-1] == (len(demo), "ring-bell")
    pictures = [source.picture(source.world(demo.setting), state) for state in demo.states]
    assert len(pictures) == len(demo) + 1
    assert pictures[0].shape == (480, 480, 3)
