"""Settings in a file: `--settings FILE.toml` of train, plan and eval."""

import json

import pytest
from tests.training.examples import small_store

from rsg.training import Run

BOTH = """
[train]
steps = 3
encoder = "flat"
hidden = 8
rate = 1

[search]
budget = 4
order = "optimal"
"""


@pytest.fixture(scope="module")
def demos(tmp_path_factory):
    return small_store(tmp_path_factory.mktemp("settings") / "store").folder


def trained(rsg, tmp_path, demos, text, *words):
    """The settings of a run that was trained with such a file."""
    (tmp_path / "mine.toml").write_text(text)
    where = ["--out", str(tmp_path / "run"), "--demos", str(demos), "--settings", str(tmp_path / "mine.toml")]
    assert rsg("train", "crafting", *where, "--json", *words)[0] == 0
    return Run(tmp_path / "run").about["settings"]


def test_training(rsg, tmp_path, demos):
    had = trained(rsg, tmp_path, demos, BOTH)
    assert (had["steps"], had["encoder"], had["hidden"], had["rate"]) == (3, "flat", 8, 1.0)


def test_what_is_said_counts_more(rsg, tmp_path, demos):
    had = trained(rsg, tmp_path, demos, "steps = 3\nseed = 5\nhidden = 8\n", "--set", "steps=2", "--encoder", "flat")
    assert (had["steps"], had["seed"], had["hidden"], had["encoder"]) == (2, 5, 8, "flat")


def test_a_baseline(rsg, tmp_path, demos):
    assert trained(rsg, tmp_path, demos, "[train]\nsteps = 2\n", "--method", "bc", "--seed", "7")["steps"] == 2


def test_planning(rsg, tmp_path):
    (tmp_path / "mine.toml").write_text(BOTH)
    file = ["--settings", str(tmp_path / "mine.toml"), "--json"]
    words = ["plan", "crafting", "grab-axe then mine-wood", "--seed", "2", *file]
    code, out, _ = rsg(*words)
    assert (code, json.loads(out)["ended"], json.loads(out)["expansions"]) == (1, "budget", 4)
    assert json.loads(out)["order"] == "optimal"
    code, out, _ = rsg(*words, "--budget", "5000")
    assert (code, json.loads(out)["found"]) == (0, True)
    assert json.loads(rsg("plan", "crafting", "--goal", "craft-boat", *file)[1])["expansions"] == 4
    values = json.loads(rsg("eval", "crafting", "--per-task", "1", *file)[1])
    assert (values["budget"], values["order"]) == (4, "optimal")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("stepps = 3", "mine.toml: there is no setting 'stepps'; did you mean steps?"),
        ("[train]\nsteps = 'many'", "mine.toml: steps is a whole number, not 'many'"),
        ("[trian]\nsteps = 3", "mine.toml: there is no table 'trian'; did you mean train?"),
        ("steps = 0", "steps must be at least 1, not 0"),
        ("steps is 3", "mine.toml is no TOML file"),
    ],
)
def test_what_is_wrong_in_a_file_is_one_sentence(rsg, tmp_path, monkeypatch, text, problem):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.toml").write_text(text)
    code, out, err = rsg("train", "crafting", "--out", "run", "--settings", "mine.toml")
    assert (code, out) == (2, "")
    assert problem in err
    assert [path.name for path in tmp_path.iterdir()] == ["mine.toml"]


def test_a_planner_with_its_own_settings(rsg, tmp_path):
    (tmp_path / "mine.toml").write_text('[search]\nplanner = "roadmap"\nposes = 300\nsoft = true\nweight = 2\n')
    words = ["plan", "playroom", "ring-bell", "--settings", str(tmp_path / "mine.toml"), "--json"]
    code, out, _ = rsg(*words)
    assert (code, json.loads(out)["planner"], json.loads(out)["order"]) == (0, "roadmap", "auto")
    code, out, _ = rsg(*words, "--planner", "rrt")
    assert code == 2
    assert "the planner 'rrt' has no soft transitions" in out


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("steps = 3", "mine.toml: there is no setting 'steps'"),
        ("weight = 2.0", "mine.toml: weight means nothing to the planner 'auto' with hard transitions; there are: "),
        ("planner = 'rrt'\nposes = 9", "mine.toml: poses means nothing to the planner 'rrt' with hard transitions"),
        ("budget = 'all'", "mine.toml: budget is a whole number, not 'all'"),
    ],
)
def test_what_means_nothing_to_a_search(rsg, tmp_path, text, problem):
    (tmp_path / "mine.toml").write_text(f"[search]\n{text}")
    code, _, err = rsg("plan", "crafting", "grab-axe", "--settings", str(tmp_path / "mine.toml"))
    assert code == 2
    assert problem in err
    assert rsg("plan", "crafting", "grab-axe", "--settings", str(tmp_path / "none.toml"))[0] == 2
