"""Playroom at the command line: all commands, what they print and write, and their messages."""

import io
import json
import time
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from rsg.demos import Store
from rsg.domains.playroom import PlayroomWorld, load_layout, truth
from rsg.language import Machine, parse
from rsg.planning.validation import does_leniently

TASK = "turn-on-music then play-with-ball"
BODY = [[[-1, -0.5], [1, -0.5], [1, 0.5], [-1, 0.5]]]
BALL = {"name": "ball", "size": 1}
CELL = [{"from": [15, 5], "to": [20, 5], "thickness": 0.5}, {"from": [15, 0], "to": [15, 5.25], "thickness": 0.5}]


def layout(path, **values):
    """Write a layout; gives its path."""
    path.write_text(json.dumps({"room": [20, 20], "robot": BODY, "effectors": [BALL], **values}))
    return str(path)


@pytest.fixture
def unreachable(tmp_path):
    """A ball in a cell without a door."""
    effectors = [{**BALL, "position": [17.5, 2.5]}, {"name": "bell", "size": 1, "term": "ring-bell"}]
    return layout(tmp_path / "cell.json", walls=CELL, effectors=effectors)


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    from rsg.demos import Recipe
    from rsg.domain import make_demonstrations

    folder = tmp_path_factory.mktemp("demos") / "train"
    make_demonstrations(Recipe("playroom", "train", 1), folder)
    return folder


def pixels(path):
    with Image.open(path) as image:
        return np.asarray(image.convert("RGB"))


def test_world_for_a_person_and_a_machine(rsg):
    code, out, err = rsg("world", "playroom", "--seed", "3")
    assert (code, err) == (0, "")
    assert "B ball  E bell  L light-switch  M music-on  U music-off  O monkey\nrobot at (1.40, 5.96)" in out
    assert out.startswith("#" * 64 + "\n##")
    values = json.loads(rsg("world", "playroom", "--seed", "3", "--json")[1])
    assert (values["layout"], values["room"], values["written"]) == ("paper", [20, 20], [])
    assert np.allclose(values["pose"][:2], [1.40, 5.96], atol=0.01)
    assert list(values["places"])[:2] == ["ball", "bell"]
    assert values != json.loads(rsg("world", "playroom", "--seed", "4", "--json")[1])


def test_the_layouts_are_listed(rsg):
    assert "narrow             two rooms and one door" in rsg("world", "playroom", "--list")[1]
    assert list(json.loads(rsg("world", "playroom", "--list", "--json")[1])) == [
        "paper", "rotated-bars", "narrow", "twelve",
    ]  # fmt: skip


def test_a_saved_start_is_the_same_start_again(rsg, tmp_path):
    saved = str(tmp_path / "my.json")
    first = json.loads(rsg("world", "playroom", "--layout", "twelve", "--seed", "5", "--save", saved, "--json")[1])
    assert first["written"] == [saved]
    again = json.loads(rsg("world", "playroom", "--layout", saved, "--seed", "6", "--json")[1])
    assert (again["pose"], again["places"]) == (first["pose"], first["places"])
    edited = json.loads(Path(saved).read_text())
    del edited["start"]
    Path(saved).write_text(json.dumps(edited))
    moved = json.loads(rsg("world", "playroom", "--layout", saved, "--seed", "6", "--json")[1])
    assert moved["places"] == first["places"]
    assert moved["pose"] != first["pose"]


def test_pictures_of_a_room(rsg, tmp_path):
    room, roads = tmp_path / "room.png", tmp_path / "roads.png"
    code, out, _ = rsg("world", "playroom", "--png", str(room), "--roadmap", str(roads))
    assert code == 0
    assert out.count("written to") == 2
    plain, drawn = pixels(room).astype(int), pixels(roads).astype(int)
    assert plain.shape == drawn.shape == (800, 800, 3)
    changed = (np.abs(plain - drawn).max(axis=2) > 10).mean()
    assert 0.1 < changed < 0.8


def test_plan_for_a_person(rsg, tmp_path):
    gif, png = tmp_path / "plan.gif", tmp_path / "plan.png"
    code, out, err = rsg("plan", "playroom", TASK, "--gif", str(gif), "--png", str(png))
    assert (code, err) == (0, "")
    assert out.startswith(f"task   {TASK}\n\n####")
    assert out.index("turn-on-music      ") < out.index("play-with-ball      ")
    assert " ms; replayed: it does the task\n" in out
    steps = int(out.split(" steps, cost")[0].split()[-1])
    assert f"to {steps}  play-with-ball" in out
    with Image.open(gif) as frames:
        assert frames.n_frames == steps + 1
    assert pixels(png).shape == (800, 800, 3)


@pytest.mark.parametrize("planner", ["auto", "roadmap", "rrt"])
def test_plan_for_a_machine(rsg, planner):
    start = json.loads(rsg("world", "playroom", "--seed", "2", "--layout", "narrow", "--json")[1])
    words = ["plan", "playroom", TASK, "--layout", "narrow", "--seed", "2", "--planner", planner, "--json"]
    code, out, err = rsg(*words)
    assert (code, err) == (0, "")
    values = json.loads(out)
    assert (values["valid"], values["planner"], values["layout"]) == (True, planner, "narrow")
    assert values["cost"] == pytest.approx(0.1 * len(values["actions"]))
    world = PlayroomWorld(load_layout("narrow"))
    states = [world.state(start["pose"], start["places"])]
    for action in values["actions"]:
        states.append(world.step(states[-1][None], [action])[0])
    machine = Machine.of(parse(TASK))
    assert does_leniently(machine, truth(world, np.array(states), [str(term) for term in machine.terms]))
    assert set(json.loads(rsg("plan", "crafting", "grab-axe", "--json")[1])) <= set(values)


def test_the_tree_is_behind_the_plan(rsg, tmp_path):
    from rsg.domains.playroom.pictures import LINKS

    words = ["plan", "playroom", TASK, "--layout", "narrow", "--seed", "2", "--planner"]
    for planner in ("rrt", "roadmap"):
        assert rsg(*words, planner, "--png", str(tmp_path / f"{planner}.png"))[0] == 0
    tree, plain = (
        (np.abs(pixels(tmp_path / f"{planner}.png").astype(int) - LINKS).max(axis=2) < 50).sum()
        for planner in ("rrt", "roadmap")
    )
    assert tree > plain + 500


def test_a_goal_is_simply_planned(rsg):
    code, out, err = rsg("plan", "playroom", "--goal", "Ring_Bell")
    assert (code, err) == (0, "")
    assert out.startswith("goal   ring-bell\n")
    assert "subgoals on the way: ring-bell\n" in out
    assert "replayed: ring-bell comes true\n" in out
    values = json.loads(rsg("plan", "playroom", "--goal", "ring-bell", "--order", "optimal", "--json")[1])
    assert (values["goal"], values["instruction"], values["valid"]) == ("ring-bell", "ring-bell", True)


def test_what_cannot_be_reached_is_said_soon(rsg, unreachable, tmp_path):
    words = ["--layout", unreachable]
    rsg("plan", "playroom", "ring-bell", *words)  # loads the kernels
    begun = time.perf_counter()
    code, out, _ = rsg("plan", "playroom", "ring-bell then touch-ball", *words, "--png", str(tmp_path / "none.png"))
    assert code == 1
    assert "no plan: touch-ball could not be reached" in out
    assert not (tmp_path / "none.png").exists()
    out_words = ["--per-task", "1", "--workers", "1", "--out", str(tmp_path / "d")]
    code, _, err = rsg("demos", "make", "playroom", "--task", "ring-bell then touch-ball", *words, *out_words)
    assert code == 2
    assert "no demonstration of 'ring-bell then touch-ball' was found in 20 starts; an effector is out of reach" in err
    assert time.perf_counter() - begun < 10  # about one on an idle machine


def test_eval(rsg):
    code, out, err = rsg("eval", "playroom", "--per-task", "1")
    assert (code, err) == (0, "")
    assert out.startswith(
        "novel, subgoals: oracle, order: auto, hard transitions, planner: auto, layout: paper, 5,000 expansions"
    )
    assert "8 plans: 100.00%" in out
    words = ["--split", "primitive", "--layout", "narrow", "--planner", "rrt", "--per-task", "1", "--json"]
    values = json.loads(rsg("eval", "playroom", *words)[1])
    assert (values["planner"], values["layout"], values["episodes"], values["success"]) == ("rrt", "narrow", 6, 1.0)


def test_demonstrations(rsg, store, tmp_path):
    assert "14 demonstrations of playroom" in rsg("demos", "info", str(store))[1]
    gif = tmp_path / "a.gif"
    code, out, _ = rsg("demos", "show", str(store), "--episode", "7", "--gif", str(gif))
    assert code == 0
    assert "task   turn-on-light then ring-bell\n\n####" in out
    lines = out.splitlines()
    light, bell = (next(i for i, line in enumerate(lines) if line.strip() == term) for term in
                   ("turn-on-light", "ring-bell"))  # fmt: skip
    assert light < bell
    assert lines[light - 1].startswith("  steps  1 to ")
    with Image.open(gif) as frames:
        assert frames.n_frames == len(Store(store)[7]) + 1
    assert "verified, replayed and judged: all is well" in rsg("demos", "check", str(store))[1]
    assert "nothing to mend" in rsg("demos", "repair", str(store))[1]


def test_a_lie_is_found(rsg, store, tmp_path):
    demo = Store(store)[7]
    states = demo.states.copy()
    states[3, 0] += 1e-9
    lies = Store.create(tmp_path / "lies", "playroom")
    lies.append([type(demo)(demo.states, demo.actions, "touch-monkey", demo.setting)])
    lies.append([type(demo)(states, demo.actions, demo.task, demo.setting)])
    code, out, _ = rsg("demos", "check", str(tmp_path / "lies"))
    assert code == 2
    assert "episode 0: the trajectory does not do 'touch-monkey'" in out
    assert "episode 1: the world does not go from state 2 to state 3" in out


def test_tasks_and_rooms_of_ones_own(rsg, tmp_path):
    effectors = [{"name": "lamp", "size": 1, "position": [5, 5]}, {"name": "drum", "size": 1}]
    mine = layout(tmp_path / "my.json", effectors=effectors, start=[10, 10, 0])
    words = ["--task", "touch-lamp then touch-drum", "--layout", mine, "--per-task", "2", "--workers", "1"]
    assert "2 demonstrations" in rsg("demos", "make", "playroom", *words, "--out", str(tmp_path / "d"))[1]
    assert all(demo.states[0, :5].tolist() == [10, 10, 0, 5, 5] for demo in Store(tmp_path / "d"))
    Path(mine).unlink()  # a store knows its room
    assert "all is well" in rsg("demos", "check", str(tmp_path / "d"))[1]
    assert "L lamp  D drum\n" in rsg("demos", "show", str(tmp_path / "d"))[1]


def test_demonstrations_go_out_and_come_back(rsg, store, tmp_path, monkeypatch):
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path / "minari"))
    assert "14 episodes" in rsg("demos", "export", str(store), "minari:playroom/train-v0")[1]
    code, _, err = rsg("demos", "import", "minari:playroom/train-v0", "--out", str(tmp_path / "back"))
    assert code == 0, err
    assert list(Store(tmp_path / "back")) == list(Store(store))
    demo = Store(store)[2]
    line = {"states": demo.states.tolist(), "actions": demo.actions.tolist(), "task": demo.task}
    mine = tmp_path / "my.jsonl"
    mine.write_text(json.dumps(line))
    words = ["demos", "import", str(mine), "--world", "playroom", "--out", str(tmp_path / "mine")]
    assert 'give each a setting such as {"world": "playroom", "layout": "paper"}' in rsg(*words)[2]
    mine.write_text(json.dumps({**line, "setting": demo.setting}))
    assert rsg(*words)[0] == 0
    assert "all is well" in rsg("demos", "check", str(tmp_path / "mine"))[1]


def test_play_in_a_pipe(rsg, tmp_path, monkeypatch):
    mine = layout(tmp_path / "my.json", effectors=[{**BALL, "position": [12.8, 10]}], start=[10, 10, 0])

    def played(keys, *words):
        monkeypatch.setattr("sys.stdin", io.StringIO(keys))
        code, out, err = rsg("play", "playroom", "--layout", mine, *words)
        assert (code, err) == (0, "")
        return out

    values = json.loads(played("w\x1b[BazC" + "u" + "Sq ignored", "--json"))
    assert values["pose"] == pytest.approx([9, 9.5, np.pi / 4])
    assert values["actions"][-1] == [0, -0.5, 0]
    assert (values["steps"], values["places"]) == (5, {"ball": [12.8, 10]})
    assert "next   touch-ball" in played("D\n", "--task", "touch-ball")
    out = played("\x1b[C\x1b[C", "--task", "touch-ball")
    assert "done   in 2 steps" in out
    assert "true   touch-ball" in out


def test_one_seed_is_one_start_in_every_command(rsg, monkeypatch):
    shown = json.loads(rsg("world", "playroom", "--seed", "3", "--json")[1])
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    played = json.loads(rsg("play", "playroom", "--seed", "3", "--json")[1])
    assert (played["pose"], played["places"]) == (shown["pose"], shown["places"])
    view = rsg("world", "playroom", "--seed", "3")[1]
    assert view in rsg("plan", "playroom", "ring-bell", "--seed", "3")[1]


@pytest.mark.parametrize("command", ["world", "play", "plan", "eval", "demos make"])
def test_help_has_an_example_for_each_world(rsg, command):
    for world in ("crafting", "playroom"):
        assert f"rsg {command} {world}" in rsg(*command.split(), world, "--help")[1]
    assert f"rsg {command} crafting" in rsg(*command.split(), "--help")[1]


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["world", "playrom"], "there is no world 'playrom'; did you mean playroom?"),
        (["world", "playroom", "--layout", "papr"], "there is no layout 'papr'; did you mean paper?"),
        (["world", "playroom", "--layout", "missing.json"], "cannot read the layout missing.json: No such file"),
        (["world", "playroom", "--kind", "islands"], "--kind is for crafting, not for playroom, which has --layout"),
        (["world", "playroom", "--map", "x"], "--map is for crafting, not for playroom, which has --layout"),
        (["world", "playroom", "--sprites", "x.png"], "--sprites is for crafting, not for playroom"),
        (
            ["world", "crafting", "--layout", "paper"],
            "--layout is for playroom, not for crafting, which has --map",
        ),
        (["world", "crafting", "--roadmap", "x.png"], "--roadmap is for playroom, not for crafting"),
        (["world", "playroom", "--png", "x.jpg"], "the name must end in .png"),
        (["world", "playroom", "--seed", "-1"], "a seed is a whole number from 0 up, not -1"),
        (["play", "playroom", "--task", "ring-bel"], "did you mean ring-bell?"),
        (["plan", "playroom"], "TASK, such as 'turn-on-music then play-with-ball', or only the end: --goal ring-bell"),
        (["plan", "playroom", "ring-bel then touch-monkey"], "did you mean ring-bell?"),
        (["plan", "playroom", "ring-bell", "--layout", "papr"], "did you mean paper?"),
        (["plan", "playroom", "ring-bell", "--map", "field"], "--map is for crafting"),
        (["plan", "playroom", "ring-bell", "--planner", "magic"], "there is no planner 'magic'"),
        (
            ["plan", "playroom", "ring-bell", "--planner", "product"],
            "is for worlds with finitely many actions; leave it out",
        ),
        (
            ["plan", "playroom", "ring-bell", "--planner", "rrt", "--order", "optimal"],
            "for the planner 'rrt' order is deepest, balanced or",
        ),
        (["plan", "crafting", "grab-axe", "--planner", "rrt"], "the planner 'rrt' is for continuous worlds"),
        (["plan", "crafting", "grab-axe", "--png", "x.png"], "crafting has no picture of a whole plan"),
        (["eval", "playroom", "--split", "tset"], "there is no split 'tset'"),
        (["eval", "crafting", "--layout", "paper"], "--layout is for playroom"),
        (["demos", "make", "playroom", "--layout", "papr", "--out", "d"], "did you mean paper?"),
        (["demos", "make", "playroom", "--map", "river", "--task", "ring-bell", "--out", "d"], "--map is for crafting"),
        (["demos", "make", "playroom", "--task", "ring-bel", "--out", "d"], "did you mean ring-bell?"),
        (["demos", "make", "crafting", "--layout", "paper", "--out", "d"], "--layout is for playroom"),
    ],
)
def test_bad_input_is_one_sentence(rsg, words, problem, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, out, err = rsg(*words)
    assert (code, out) == (2, "")
    assert problem in err
    assert err.count("error:") == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("command", [["world"], ["plan", "touch-ball"], ["play"], ["eval"], ["demos", "make"]])
@pytest.mark.parametrize(
    ("values", "problem"),
    [
        ({"effectors": []}, "the layout has no effectors"),
        ({"effectors": [{**BALL, "position": [0.2, 5]}]}, "the ball at (0.2, 5) overlaps a wall or a side of the room"),
        ({"start": [0.5, 5, 0]}, "the robot starts at (0.5, 5, 0), where it touches a wall or a side"),
        (
            {"effectors": [{**BALL, "position": [5, 5]}], "start": [5, 5, 0]},
            "the robot starts at (5, 5, 0), where it touches the ball",
        ),
        ({"start": [float("nan"), 5, 0]}, "the start of the robot must be finite numbers, not nan, 5.0, 0.0"),
    ],
)
def test_a_room_that_cannot_be(rsg, command, values, problem, tmp_path):
    mine = layout(tmp_path / "my.json", **values)
    where = ["--out", str(tmp_path / "d")] if command == ["demos", "make"] else []
    words = [*command[:1], "playroom", *command[1:]] if command[0] != "demos" else [*command, "playroom"]
    code, out, err = rsg(*words, "--layout", mine, *where)
    assert (code, out) == (2, "")
    assert f"my.json: {problem}" in err


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{", "line 1, column 2: this is not JSON"),
        ("", "line 1, column 1: this is not JSON"),
        ("{}", "the layout has no 'room'"),
        ("[]", "the layout must be an object"),
    ],
)
def test_a_file_that_is_no_layout(rsg, tmp_path, text, problem):
    (tmp_path / "my.json").write_text(text)
    code, out, err = rsg("world", "playroom", "--layout", str(tmp_path / "my.json"))
    assert (code, out) == (2, "")
    assert problem in err
