import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from rsg.demos import Store


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    folder = tmp_path_factory.mktemp("demos") / "train"
    command = [sys.executable, "-m", "rsg", "demos", "make", "crafting", "--per-task", "2", "--out", str(folder)]
    subprocess.run([*command, "--workers", "1"], check=True, capture_output=True)
    return folder


def test_make_says_what_it_made(rsg, tmp_path):
    words = ["demos", "make", "crafting", "--split", "novel", "--per-task", "1", "--workers", "1"]
    code, out, err = rsg(*words, "--out", str(tmp_path / "a"))
    assert (code, err) == (0, "")
    assert "12 demonstrations" in out
    code, out, err = rsg(*words, "--out", str(tmp_path / "b"), "--json")
    assert (code, err) == (0, "")
    assert json.loads(out)["episodes"] == json.loads(out)["tasks"] == 12
    assert (tmp_path / "a/shard-00000.npz").read_bytes() == (tmp_path / "b/shard-00000.npz").read_bytes()
    assert json.loads(rsg(*words, "--out", str(tmp_path / "a"), "--json")[1])["episodes"] == 12  # nothing left to do


def test_info(rsg, store):
    code, out, _ = rsg("demos", "info", str(store))
    assert code == 0
    assert "104 demonstrations of crafting" in out
    assert "mine-wool and craft-wood-plank then craft-bed" in out.replace("\n", " ")
    values = json.loads(rsg("demos", "info", str(store), "--json")[1])
    assert (values["episodes"], values["complete"], values["recipe"]["split"]) == (104, True, "train")
    assert sum(row["episodes"] for row in values["tasks"]) == 104
    assert all(0 <= row["redrawn"] < 1 for row in values["tasks"])


def test_show(rsg, store, tmp_path):
    code, out, _ = rsg("demos", "show", str(store), "--episode", "66", "--gif", str(tmp_path / "a.gif"))
    assert code == 0
    assert "task   mine-wool and craft-wood-plank then craft-bed" in out
    assert out.index("mine-wool\n") < out.index("craft-bed\n", out.index("mine-wool\n"))
    from PIL import Image

    with Image.open(tmp_path / "a.gif") as gif:
        assert gif.n_frames == len(Store(store)[66]) + 1
    values = json.loads(rsg("demos", "show", str(store), "--episode", "66", "--json")[1])
    assert values["reached"][-1] == {"step": values["steps"], "term": "craft-bed"}


def test_check_finds_a_lie(rsg, store, tmp_path):
    assert rsg("demos", "check", str(store))[0] == 0
    values = json.loads(rsg("demos", "check", str(store), "--json")[1])
    assert (values["ok"], values["episodes"], values["problems"]) == (True, 104, [])
    demos = Store(store)[:3]
    false_words = type(demos[0])(demos[0].states, demos[0].actions, "craft-boat", demos[0].setting)
    states = demos[1].states.copy()
    states[-1, 0] ^= 1
    jump = type(demos[1])(states, demos[1].actions, demos[1].task, demos[1].setting)
    lies = Store.create(tmp_path / "lies", "crafting")
    lies.append([demos[2], false_words, jump])
    code, out, _ = rsg("demos", "check", str(tmp_path / "lies"))
    assert code == 2
    assert "episode 1: the trajectory does not do 'craft-boat'" in out
    assert "episode 2: the world does not go from state" in out
    assert "2 problems" in out


def test_repair(rsg, store, tmp_path):
    import shutil

    shutil.copytree(store, tmp_path / "hurt")
    shard = tmp_path / "hurt/shard-00000.npz"
    data = bytearray(shard.read_bytes())
    data[5000] ^= 1
    shard.write_bytes(data)
    code, out, _ = rsg("demos", "check", str(tmp_path / "hurt"))
    assert code == 2
    assert "shard-00000.npz is damaged" in out
    code, out, _ = rsg("demos", "repair", str(tmp_path / "hurt"))
    assert code == 0
    assert "103 demonstrations kept, 1 lost (if rsg made them" in out
    assert "damaged: shard-00000.npz" in out
    assert json.loads(rsg("demos", "repair", str(tmp_path / "hurt"), "--json")[1]) == {
        "kept": 103,
        "lost": 0,
        "damaged": [],
    }
    assert "nothing to mend" in rsg("demos", "repair", str(tmp_path / "hurt"))[1]
    words = ["make", "crafting", "--per-task", "2", "--workers", "1", "--out", str(tmp_path / "hurt")]
    assert json.loads(rsg("demos", *words, "--json")[1])["episodes"] == 104  # what was lost is made again
    assert shard.read_bytes() == (store / "shard-00000.npz").read_bytes()
    (tmp_path / "hurt/manifest.json").write_text("{")
    assert (
        "at least 0 lost, and how the store was made is forgotten" in rsg("demos", "repair", str(tmp_path / "hurt"))[1]
    )


def test_a_failed_import_adds_nothing(rsg, tmp_path):
    good = json.dumps({"states": [[0, 1], [2, 3]], "actions": [0], "task": "open-door"}) + "\n"
    (tmp_path / "my.jsonl").write_text(good * 900 + "{\n")
    words = ["demos", "import", str(tmp_path / "my.jsonl"), "--world", "kitchen", "--out", str(tmp_path / "mine")]
    code, _, err = rsg(*words)
    assert code == 2
    assert "line 901" in err
    assert not (tmp_path / "mine").exists()
    (tmp_path / "my.jsonl").write_text(good)
    assert rsg(*words)[0] == 0
    (tmp_path / "my.jsonl").write_text(good * 900 + "{\n")
    assert rsg(*words)[0] == 2
    assert len(Store(tmp_path / "mine")) == 1
    assert sorted(path.name for path in (tmp_path / "mine").glob("shard*")) == ["shard-00000.npz"]


def test_imported_demonstrations_of_a_known_world_say_their_setting(rsg, tmp_path):
    (tmp_path / "my.jsonl").write_text(json.dumps({"states": [[0], [1]], "actions": [0], "task": "grab-axe"}) + "\n")
    words = ["demos", "import", str(tmp_path / "my.jsonl"), "--world", "crafting", "--out", str(tmp_path / "mine")]
    code, _, err = rsg(*words)
    assert code == 2
    assert (
        "my.jsonl, line 1: this is not a setting of Crafting World: ''; give each a setting such as {\"world\"" in err
    )


def test_a_run_that_never_began_does_not_block_the_folder(rsg, tmp_path):
    (tmp_path / "my.txt").write_text("map:\n@a\n")
    words = ["demos", "make", "crafting", "--map", str(tmp_path / "my.txt"), "--per-task", "2", "--workers", "1"]
    assert rsg(*words, "--task", "mine-wood", "--out", str(tmp_path / "d"))[0] == 2
    assert rsg(*words, "--task", "grab-axe", "--out", str(tmp_path / "d"))[0] == 0
    assert "(seed 0)" in rsg(*words, "--task", "grab-axe", "--seed", "1", "--out", str(tmp_path / "d"))[2]


def test_import_and_export(rsg, store, tmp_path, monkeypatch):
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path / "minari"))
    code, out, err = rsg("demos", "export", str(store), "minari:crafting/train-v0")
    assert code == 0, err
    assert "104 episodes" in out
    code, out, err = rsg("demos", "import", "minari:crafting/train-v0", "--out", str(tmp_path / "back"), "--json")
    assert code == 0, err
    assert json.loads(out)["imported"] == 104
    assert list(Store(tmp_path / "back")) == list(Store(store))
    line = {"states": [[0, 1], [2, 3]], "actions": [0], "task": "open-door"}
    (tmp_path / "my.jsonl").write_text(json.dumps(line) + "\n")
    words = ["demos", "import", str(tmp_path / "my.jsonl"), "--out", str(tmp_path / "mine"), "--world", "kitchen"]
    assert "1 demonstrations imported; 1 in" in rsg(*words)[1]
    assert "1 demonstrations imported; 2 in" in rsg(*words)[1]
    assert np.array_equal(Store(tmp_path / "mine")[1].states, [[0, 1], [2, 3]])
    code, out, _ = rsg("demos", "check", str(tmp_path / "mine"))
    assert code == 0
    assert "an unknown world: not replayed" in out
    code, out, _ = rsg("demos", "show", str(tmp_path / "mine"))
    assert "1 steps" in out
    assert (
        "the world 'kitchen' is not installed here" in rsg("demos", "show", str(tmp_path / "mine"), "--gif", "x.gif")[2]
    )
    code, _, err = rsg("demos", "import", str(tmp_path / "my.jsonl"), "--out", str(store))
    assert code == 2
    assert "holds demonstrations of the world 'crafting', these are of 'own'" in err
    (tmp_path / "none.jsonl").write_text("")
    code, _, err = rsg("demos", "import", str(tmp_path / "none.jsonl"), "--out", str(tmp_path / "none"))
    assert code == 2
    assert "holds no demonstrations" in err
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["make", "crafting", "--split", "tset", "--out", "new"], "there is no split 'tset'"),
        (["make", "mars", "--out", "new"], "there is no world 'mars'"),
        (["make", "crafting", "--per-task", "-1", "--out", "new"], "per-task must be at least 1, not -1"),
        (["make", "crafting", "--task", "mine-wod", "--out", "new"], "did you mean mine-wood?"),
        (["make", "crafting", "--task", "mine-wood", "--map", "my.txt", "--out", "new"], "the map lacks: tree"),
        (["make", "crafting", "--map", "river", "--out", "new"], "give at least one --task"),
        (["make", "crafting", "--out", "full"], "full is not empty"),
        (["info", "missing"], "missing is not a store of demonstrations"),
        (["show", "STORE", "--episode", "104"], "has 104 episodes, 0 to 103; there is no episode 104"),
        (["show", "STORE", "--gif", "a.png"], "the name must end in .gif"),
        (
            ["make", "crafting", "--out", "STORE"],
            "holds other demonstrations (per_task 2)",
        ),
    ],
)
def test_bad_input_is_one_sentence(rsg, store, tmp_path, monkeypatch, words, problem):
    monkeypatch.chdir(tmp_path)
    Path("my.txt").write_text("map:\n@a\n")
    Path("full").mkdir()
    Path("full/note.txt").write_text("mine")
    before = {path: path.read_bytes() for path in store.iterdir()}
    code, out, err = rsg("demos", *(str(store) if word == "STORE" else word for word in words))
    assert (code, out) == (2, "")
    assert problem in err
    assert err.count("error:") == 1
    assert {path: path.read_bytes() for path in store.iterdir()} == before
    assert Path("full/note.txt").read_text() == "mine"
