"""`rsg demos import` and `export`: what is guessed, what is asked for, what is said."""

import json

import numpy as np
import pytest

from rsg.core import extras
from rsg.demos import Demonstration, Store

CORRIDOR = "from rsg.worlds.corridor import Corridor\n"


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path / "minari"))
    (tmp_path / "lamp.py").write_text(CORRIDOR)
    return tmp_path


def seen(rsg, *rows, task="light-lamp", name="seen.jsonl"):
    """Recordings without actions."""
    record = {"states": [list(row) for row in rows], "actions": None, "task": task}
    with open(name, "a") as file:
        file.write(json.dumps(record) + "\n")


@pytest.mark.parametrize("target", ["out.npz", "out.jsonl", "out", "out.hdf5", "minari:mine/out-v0"])
def test_out_and_in_again(rsg, here, target):
    store = Store.create("store", "own")
    store.append(
        [
            Demonstration(np.arange(6).reshape(3, 2), np.array([0, 1]), "a then b", "s"),
            Demonstration([[1], [2]], [1], ""),
        ]
    )
    code, out, err = rsg("demos", "export", "store", target)
    assert (code, out.strip(), err) == (0, f"2 episodes in {target}", "")
    code, out, err = rsg("demos", "import", target, "--out", "back", "--json")
    assert (code, err) == (0, "")
    values = json.loads(out)
    assert (values["imported"], values["world"]) == (2, "own")
    assert values["notes"] == ["1 of 2 recordings have come without a description"]
    assert list(Store("back")) == list(store)
    assert "1 without a description" not in rsg("demos", "info", target)[2]
    code, _, err = rsg("demos", "export", "store", target)
    assert code == 2
    assert "exists already" in err


def test_actions_are_found(rsg, here):
    seen(rsg, [2, 0, 0], [1, 0, 0], [0, 0, 0], [0, 1, 0])
    words = ["demos", "import", "seen.jsonl", "--world", "lamp.py:Corridor", "--out"]
    assert "1 of 1 recordings have come without actions" in rsg(*words, "kept")[1]
    assert rsg(*words, "found", "--find-actions")[0] == 0
    assert Store("found")[0].actions.tolist() == [0, 0, 2]
    again = ["demos", "import", "kept", "--world", "lamp.py:Corridor", "--find-actions", "--out", "later"]
    assert rsg(*again)[0] == 0  # from a store
    assert list(Store("later")) == list(Store("found"))
    code, out, _ = rsg("demos", "check", "kept", "--world", "lamp.py:Corridor")
    assert (code, "1 without actions: not replayed" in out) == (0, True)
    assert json.loads(rsg("demos", "show", "kept", "--json")[1])["actions"] is None
    assert "(no actions)" in rsg("demos", "show", "kept", "--world", "lamp.py:Corridor")[1]
    seen(rsg, [3, 0, 0], [0, 0, 0], [0, 1, 0])
    code, _, err = rsg(*words, "none", "--find-actions")
    assert code == 2
    assert "seen.jsonl, line 2: step 0: no action leads from state 0 to state 1" in err
    assert not (here / "none").exists()
    assert rsg(*words, "bridged", "--find-actions", "--bridge", "3")[0] == 0
    assert [len(demo) for demo in Store("bridged")] == [3, 4]


def test_what_does_not_go_together_is_one_sentence(rsg, here):
    seen(rsg, [2, 0, 0], [1, 0, 0])
    for words, problem in (
        (["--find-actions"], "actions are found with the world's model; name the world: --world WORLD"),
        (["--bridge", "3"], "--bridge says how actions are found; add --find-actions"),
        (["--format", "hdf6"], "there is no format 'hdf6'"),
        (["--format", "npz"], "is not a readable .npz file"),
        (["--words", "none.toml"], "none.toml"),
    ):
        code, _, err = rsg("demos", "import", "seen.jsonl", "--out", "new", *words)
        assert (code, problem in err) == (2, True), err
    for target, problem in (
        ("out.csv", "cannot export to 'out.csv'; give one of FILE.npz, "),
        ("seen.jsonl", "exists"),
    ):
        assert problem in rsg("demos", "export", "seen.jsonl", target)[2]
    assert "cannot export to 'new'" in rsg("demos", "export", "seen.jsonl", "new", "--format", "rsg")[2]
    assert not (here / "new").exists()


def test_words_and_formats_are_chosen(rsg, here):
    seen(rsg, [2, 0, 0], [1, 0, 0], task="Put the light on!", name="seen.log")
    (here / "words.toml").write_text('"Put the light on!" = "light-lamp"\n')
    words = ["demos", "import", "seen.log", "--out", "new"]
    assert "cannot import 'seen.log'; give a .npz, .jsonl or .hdf5 file" in rsg(*words)[2]
    code, _, err = rsg(*words, "--format", "jsonl")
    assert (code, "line 1: the task is not understood" in err, "--words FILE" in err) == (2, True, True)
    assert rsg(*words, "--format", "jsonl", "--words", "words.toml")[0] == 0
    assert Store("new")[0].task == "light-lamp"


def test_a_format_without_its_package_names_the_extra(rsg, here, monkeypatch):
    Store.create("store", "own").append([Demonstration([[1], [2]], [1], "a")])
    monkeypatch.setattr(extras, "there", lambda module: False)
    code, _, err = rsg("demos", "export", "store", "out.hdf5")
    assert code == 2
    assert "the format robomimic needs the package h5py; pip install -c constraints.txt -e '.[formats]'" in err
    assert rsg("demos", "export", "store", "out.npz")[0] == 0


def test_any_format_is_opened_where_demonstrations_are_wanted(rsg, here):
    store = Store.create("store", "own")
    store.append([Demonstration(np.array([[1], [2]]), np.array([1]), "a")] * 3)
    for target in ("out.npz", "out", "out.hdf5"):
        assert rsg("demos", "export", "store", target)[0] == 0
        assert json.loads(rsg("demos", "info", target, "--json")[1])["episodes"] == 3
        assert rsg("demos", "show", target)[0] == 0


def test_a_store_cannot_be_read_into_itself(rsg, here):
    Store.create("store", "own").append([Demonstration([[1], [2]], [1], "a")])
    assert "store is what is read; choose another folder" in rsg("demos", "import", "store", "--out", "store")[2]
