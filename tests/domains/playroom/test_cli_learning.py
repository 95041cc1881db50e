"""Learned subgoals of Playroom at the command line: one tiny run, and every command that takes a run."""

import json
import re
from contextlib import suppress

import numpy as np
import pytest
from PIL import Image

from rsg.cli.main import main
from rsg.demos import Store
from rsg.domain import find
from rsg.domains.playroom.learned import rgb
from rsg.planning import plan
from rsg.search import Roadmap, SearchSettings
from rsg.subgoals import RsgSettings, learn
from rsg.training import Run

SMALL = ["--per-task", "1", "--set", "batch=4", "--set", "held_out=4", "--set", "hidden=8", "--set", "depth=1"]


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """A folder with a run that has learned nearly nothing, and the demonstrations that were made for it."""
    home = tmp_path_factory.mktemp("learning")
    with suppress(SystemExit):
        main(["train", "playroom", "--out", str(home / "run"), *SMALL, "--set", "steps=3", "--set", "curriculum=1"])
    return home


@pytest.fixture
def run(home):
    return str(home / "run")


def pixels(path):
    with Image.open(path) as image:
        return np.asarray(image.convert("RGB")).astype(int)


def test_a_run_knows_its_world_and_room(run, home):
    about = Run(run).about
    assert about["settings"]["encoder"] == "relative"
    assert about["source"]["world"] == "playroom"
    assert json.loads(about["source"]["setting"])["layout"] == "paper"
    assert len(Store(home / "run-demos")) == 14


def test_training_in_another_room(rsg, tmp_path):
    out = str(tmp_path / "run")
    words = ["train", "playroom", "--layout", "narrow", "--out", out, *SMALL, "--set", "steps=1"]
    code, told, _ = rsg(*words, "--encoder", "seen")
    assert code == 0
    assert f"rsg eval playroom --layout narrow --subgoals {out} " in told
    assert f"rsg world playroom --layout narrow --subgoals {out} --heat heat.png" in told
    assert json.loads(Run(out).about["source"]["setting"])["layout"] == "narrow"
    assert all('"narrow"' in demo.setting for demo in Store(tmp_path / "run-demos"))


@pytest.mark.parametrize("which", ["run", "untrained"])
def test_plans(rsg, run, which):
    words = ["--subgoals", run if which == "run" else which, "--planner", "roadmap", "--json"]
    for asked in (["ring-bell then touch-monkey"], ["--goal", "ring-bell"]):
        code, out, _ = rsg("plan", "playroom", *asked, *words)
        values = json.loads(out)
        assert code == (0 if values["found"] else 1)
        assert values["subgoals"] == words[1]


def test_eval(rsg, run):
    words = ["--split", "primitive", "--per-task", "1", "--planner", "roadmap"]
    code, out, _ = rsg("eval", "playroom", "--subgoals", run, *words)
    assert code == 0
    assert f"subgoals: {run}, order: auto, hard transitions, planner: roadmap, layout: paper" in out
    assert json.loads(rsg("eval", "playroom", "--subgoals", "untrained", *words, "--json")[1])["episodes"] == 6


def test_recognise(rsg, run, home, tmp_path):
    store = home / "run-demos"
    words = ["recognise", run, "--demos", str(store), "--episode", "13", "--candidates", "compositional"]
    png = tmp_path / "steps.png"
    code, out, _ = rsg(*words, "--png", str(png))
    assert code == 0
    assert f"described as  {Store(store)[13].task}\n" in out
    assert f"written to {png}" in out
    assert pixels(png).shape == (1080, 1920, 3)
    values = json.loads(rsg(*words, "--json")[1])
    assert len(values["terms"]) == len(values["actions"]) == len(Store(store)[13])
    drawn = {tuple(color) for color in pixels(png).reshape(-1, 3)}
    assert all(rgb(number) in drawn for number in range(len(values["ends"])))


def test_dependencies(rsg, run, tmp_path):
    code, out, _ = rsg("deps", run, "--png", str(tmp_path / "deps.png"))
    assert code == 0
    assert "6 subgoals, " in out
    assert (tmp_path / "deps.png").exists()


def test_heat(rsg, run, tmp_path, monkeypatch):
    monkeypatch.setattr("rsg.domains.playroom.learned.FINE", 16)
    monkeypatch.setattr("rsg.domains.playroom.learned.CLOSE", 8)
    png = tmp_path / "heat.png"
    code, out, err = rsg("world", "playroom", "--subgoals", run, "--heat", str(png))
    assert (code, err) == (0, "")
    assert f"written to {png}" in out
    assert pixels(png).shape[0] > 1000


def test_report(rsg, run, tmp_path, monkeypatch):
    """Plans are made on the roadmap alone: with what this run learned, random trees would grow for minutes."""
    on_roadmap = SearchSettings(Roadmap())
    monkeypatch.setattr("rsg.domains.playroom.learned.FINE", 16)
    monkeypatch.setattr("rsg.domains.playroom.learned.CLOSE", 8)
    monkeypatch.setattr("rsg.evaluation.planning.SearchSettings", lambda: on_roadmap)
    monkeypatch.setattr("rsg.subgoals.subgoals.plan", lambda *asked: plan(*asked[:4], on_roadmap))
    page = tmp_path / "page.html"
    code, out, err = rsg("report", run, "--per-task", "1", "--out", str(page))
    assert (code, err) == (0, "")
    assert f"the report is in {page}" in out
    text = page.read_text()
    titles = ["Training", "What it learned", "Where subgoals hold", "A plan for a novel task", "Details"]
    assert re.findall(r"<h2>(.*?)</h2>", text) == titles
    assert "<h1>Rational subgoals in Playroom</h1>" in text
    for figure in ("paper 82.0 %", "paper 78.2 %", "paper 32 h", "paper 431 ms", "plans on the roadmap alone"):
        assert figure in text
    kinds = re.findall(r'src="data:image/(\w+);', text)
    assert (kinds.count("png"), kinds.count("gif")) == (2, 1)


def test_info(rsg, run):
    code, out, _ = rsg("info", run)
    assert code == 0
    assert "terms  6: play-with-ball, " in out


# Mistakes.


def complaint(rsg, *words):
    """The one message of a command that refuses."""
    code, out, err = rsg(*map(str, words))
    assert (code, out) == (2, "")
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    return err


def test_a_room_with_other_effectors(rsg, run, tmp_path):
    problem = "was trained in a room with 6 effectors (ball, bell, light-switch, music-on, music-off, monkey), this one"
    for words in (
        ["eval", "playroom", "--per-task", "1"],
        ["plan", "playroom", "ring-bell"],
        ["plan", "playroom", "--goal", "ring-bell"],
        ["world", "playroom", "--heat", tmp_path / "heat.png"],
    ):
        assert f"{problem} has 12 effectors (" in complaint(rsg, *words, "--layout", "twelve", "--subgoals", run)
    assert list(tmp_path.iterdir()) == []


def test_effectors_in_another_order(rsg, run, tmp_path):
    mine = tmp_path / "my.json"
    rsg("world", "playroom", "--save", str(mine))
    values = json.loads(mine.read_text())
    values["effectors"].reverse()
    mine.write_text(json.dumps(values))
    told = complaint(rsg, "plan", "playroom", "ring-bell", "--layout", mine, "--subgoals", run)
    assert "this one has 6 effectors (monkey, " in told
    assert "subgoals know effectors by their order" in told


def test_a_demonstration_from_another_room(rsg, run, tmp_path):
    words = ["--layout", "twelve", "--task", "ring-bell", "--per-task", "1", "--workers", "1", "--out", tmp_path / "d"]
    assert rsg("demos", "make", "playroom", *map(str, words))[0] == 0
    assert "this one has 12 effectors" in complaint(rsg, "recognise", run, "--demos", tmp_path / "d")


def test_a_run_of_another_world(rsg, run, home, tmp_path):
    problem = "was trained in 'playroom' and cannot be used in 'crafting'"
    assert problem in complaint(rsg, "eval", "crafting", "--subgoals", run, "--per-task", "1")
    assert problem in complaint(rsg, "plan", "crafting", "grab-axe", "--subgoals", run)
    crafting = tmp_path / "run"
    small = RsgSettings(encoder="seen", steps=1, batch=4, depth=1)
    where = find("playroom").world(Store(home / "run-demos")[0].setting)
    learn(Store(home / "run-demos"), where, crafting, small, tensorboard=False, source={"world": "crafting"})
    problem = "was trained in 'crafting' and cannot be used in 'playroom'"
    assert problem in complaint(rsg, "plan", "playroom", "ring-bell", "--subgoals", crafting)
    assert problem in complaint(rsg, "world", "playroom", "--subgoals", crafting, "--heat", tmp_path / "x.png")
    told = complaint(rsg, "recognise", crafting, "--demos", home / "run-demos")
    assert "holds trajectories of 'playroom', the run was trained in 'crafting'" in told


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["world", "playroom", "--heat", "x.png"], "--heat FILE draws the subgoals of --subgoals RUN"),
        (["world", "playroom", "--subgoals", "untrained"], "give both"),
        (["world", "playroom", "--subgoals", "oracle", "--heat", "x.png"], "give the folder of a run, or untrained"),
        (["world", "playroom", "--subgoals", "untrained", "--heat", "x.jpg"], "the name must end in .png"),
        (["world", "playroom", "--subgoals", "nowhere", "--heat", "x.png"], "there are no subgoals 'nowhere'"),
        (["world", "crafting", "--subgoals", "r", "--heat", "x.png"], "--heat is for playroom, not for crafting"),
        (["train", "crafting", "--out", "r", "--layout", "paper"], "--layout is for playroom, not for crafting"),
        (["train", "playroom", "--out", "r", "--layout", "narrow", "--demos", "d"], "demonstrations know their place"),
        (["train", "playroom", "--out", "r", "--layout", "papr"], "did you mean paper?"),
        (["train", "playroom", "--out", "r", "--encoder", "sets", "--per-task", "1"], "this world shows none"),
    ],
)
def test_mistakes(rsg, tmp_path, monkeypatch, words, problem):
    monkeypatch.chdir(tmp_path)
    assert problem in complaint(rsg, *words)


def test_a_room_without_the_papers_tasks(rsg, tmp_path):
    mine = tmp_path / "my.json"
    body = [[[-1, -0.5], [1, -0.5], [1, 0.5], [-1, 0.5]]]
    mine.write_text(json.dumps({"room": [20, 20], "robot": body, "effectors": [{"name": "drum", "size": 1}]}))
    told = complaint(rsg, "train", "playroom", "--layout", mine, "--out", tmp_path / "run")
    assert f"rsg demos make playroom --layout {mine} --task ... --out DIR" in told
    assert not (tmp_path / "run").exists()
