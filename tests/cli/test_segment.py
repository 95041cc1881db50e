"""`rsg segment`: many recordings into segments, on any number of cores, with whatever may be wrong with them."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import rsg as package
from rsg.demos import Demonstration, Store
from rsg.demos.labels import Labels
from rsg.demos.store import write_shard
from rsg.subgoals import segmenting
from rsg.worlds.corridor import Corridor

LAMP = ["--world", "lamp.py:Corridor"]
BOTH = "light-lamp then read-book"


@pytest.fixture
def here(tmp_path, monkeypatch, capsys):
    """A folder with a run that knows the corridor, and a store of recordings in it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path / "minari"))
    (tmp_path / "lamp.py").write_text("from rsg.worlds.corridor import Corridor\n")
    corridor = Corridor()
    shown = [Demonstration(*walk) for walk in corridor.walks()]
    package.learn(shown, package.domain.find("lamp.py:Corridor"), "run")
    subgoals = package.load("run", corridor)
    demos = []
    for place in range(9):
        plan = subgoals.plan(corridor, np.array([place, 0, 0]), BOTH)
        demos.append(Demonstration(plan.states, plan.actions, BOTH))
    Store.create("store", "Corridor").append(demos)
    capsys.readouterr()
    return tmp_path


def ends_in(path):
    """Of each recording."""
    return [[(one.term, one.end) for one in found.segments] for found in Labels([Path(path)])]


def expected():
    return [[("light-lamp", place + 1), ("read-book", place + 10)] for place in range(9)]


def test_a_line_for_each_recording(rsg, here):
    code, out, err = rsg("segment", "run", "--demos", "store", "--out", "out.jsonl", *LAMP)
    assert (code, err) == (0, "")
    assert "9 of 9 recordings cut into 18 segments in out.jsonl" in out
    assert ends_in("out.jsonl") == expected()
    first = json.loads(Path("out.jsonl").read_text().splitlines()[0])
    assert (first["episode"], first["steps"], first["task"]) == (0, 10, BOTH)
    assert all(0.5 < one["confidence"] <= 1.0 for one in first["segments"])
    assert not list(here.glob(".*parts"))
    code, _, err = rsg("segment", "run", "--demos", "store", "--out", "out.jsonl", *LAMP)
    assert (code, "exists already" in err) == (2, True)


@pytest.mark.parametrize("acts", [True, False], ids=["with actions", "without"])
@pytest.mark.parametrize("target", ["out", "out.hdf5", "minari:cut-v0"])
@pytest.mark.filterwarnings("ignore")
def test_labels_go_where_others_look_for_them(rsg, here, target, acts):
    demos = [replace(demo, actions=demo.actions if acts else None) for demo in Store("store")]
    Store.create("mine", "Corridor").append(demos)
    code, out, _ = rsg("segment", "run", "--demos", "mine", "--out", target, "--json", *LAMP)
    told = json.loads(out)
    assert (code, told["cut"], told["segments"], told["problems"]) == (0, 9, 18, {})
    assert rsg("demos", "import", target, "--out", "back")[0] == 0
    assert list(Store("back")) == demos


def test_pictures_go_to_a_new_folder(rsg, here):
    (here / "drawn").mkdir()
    code, _, err = rsg("segment", "run", "--demos", "store", "--out", "o.jsonl", "--pictures", "drawn", *LAMP)
    assert (code, "drawn exists already; choose another name" in err) == (2, True)
    assert not Path("o.jsonl").exists()


def test_pictures(rsg, here):
    assert rsg("segment", "run", "--demos", "store", "--out", "o.jsonl", "--pictures", "drawn", *LAMP)[0] == 0
    assert sorted(path.name for path in Path("drawn").iterdir()) == [f"episode-{n:05}.png" for n in range(9)]


def test_without_actions_the_segments_are_the_same(rsg, here):
    store = Store.create("seen", "Corridor")
    store.append([Demonstration(demo.states, None, demo.task) for demo in Store("store")])
    assert rsg("segment", "run", "--demos", "seen", "--out", "seen.jsonl", *LAMP)[0] == 0
    assert ends_in("seen.jsonl") == expected()


def test_what_cannot_be_cut_is_named_and_the_rest_is_cut(rsg, here):
    demo = Store("store")[4]
    wrong = [
        Demonstration(demo.states, demo.actions, ""),
        Demonstration(demo.states, demo.actions, "grasp-cup"),
        Demonstration(demo.states[[0, 3, 4]], None, BOTH),
        Demonstration(demo.states[:2], demo.actions[:1], BOTH),
        demo,
    ]
    Store.create("wrong", "Corridor").append(wrong)
    code, out, _ = rsg("segment", "run", "--demos", "wrong", "--out", "out.jsonl", "--json", *LAMP)
    told = json.loads(out)
    assert (code, told["recordings"], told["cut"]) == (0, 5, 1)
    why = {episode: problem for problem, episode in told["first"].items()}
    assert "no description" in why[0]
    assert "grasp-cup" in why[1]
    assert "step 0: no action leads from state 0 to state 1" in why[2]
    assert "fewer steps" in why[3]
    assert ends_in("out.jsonl")[:4] == [[]] * 4
    Store.create("none", "Corridor").append(wrong[:1])
    code, out, _ = rsg("segment", "run", "--demos", "none", "--out", "none.jsonl", *LAMP)
    assert (code, "0 of 1 recording cut" in out, Path("none.jsonl").exists()) == (1, True, False)


def test_a_stop_loses_nothing_and_processes_change_nothing(rsg, here, monkeypatch):
    """A store of several files; the second fails at first."""
    demos = list(Store("store"))
    store = Store("store")
    with package.demos.store.FOLDER.writing(store.folder):
        store.commit(*(write_shard(store.folder, index, demos[index : index + 2]) for index in range(1, 6)))
    done, segment_shard = [], segmenting.segment_shard

    def failing(*asked):
        if len(done) == 2:
            raise KeyboardInterrupt
        done.append(asked[-1])
        return segment_shard(*asked)

    command = ["segment", "run", "--demos", "store", "--out", "out.jsonl", *LAMP]
    monkeypatch.setattr(segmenting, "segment_shard", failing)
    assert rsg(*command, "--workers", "1")[0] == 130
    assert not Path("out.jsonl").exists()
    assert len(list(here.glob(".out.jsonl.*.parts/*"))) == 2
    monkeypatch.setattr(segmenting, "segment_shard", segment_shard)
    assert rsg(*command, "--workers", "2")[0] == 0
    assert rsg("segment", "run", "--demos", "store", "--out", "one.jsonl", "--workers", "1", *LAMP)[0] == 0
    assert Path("out.jsonl").read_bytes() == Path("one.jsonl").read_bytes()
    assert [one.episode for one in Labels([Path("out.jsonl")])] == list(range(19))


def test_what_does_not_go_together_is_one_sentence(rsg, here):
    for words, problem in (
        (["run", "--out", "o.jsonl"], "say with what to segment and what: rsg segment RUN --demos SOURCE"),
        (["run", "--demos", "store", "--out", "o.npz"], "npz has no place for labels"),
        (["run", "--demos", "store", "--out", "o", "--lerobot", "0.7"], "--lerobot is 0.6 or 0.5, not 0.7"),
        (["store", "--demos", "store", "--out", "o"], "store is a store of demonstrations"),
        (["run", "--demos", "store", "--out", "o", "--state-keys", "x"], "there is nothing for --state-keys"),
        (["run", "--demos", "store", "--out", "minari:cut"], "'cut' is not a Minari id; write it like name-v0"),
    ):
        code, _, err = rsg("segment", *words, *LAMP)
        assert (code, problem in err) == (2, True), err
    assert not list(here.glob(".*"))


def described(name, count=3):
    """A store of what teaches both terms, without actions, of a world that nobody knows."""
    walks = [Demonstration(states, None, task) for states, _, task in Corridor().walks()]
    made = Store.create(name, "own")
    made.append(walks * count)
    made.append([Demonstration(demo.states, None, demo.task) for demo in Store("store")])


@pytest.mark.parametrize("world", [[], LAMP])
def test_recordings_are_learned_from_and_cut_in_one_command(rsg, here, world):
    described("mine")
    code, out, _ = rsg("segment", "--fit", "mine", "--out", "out.jsonl", "--json", *world)
    told = json.loads(out)
    assert (code, told["cut"], told["recordings"]) == (0, 63, 63)
    assert ends_in("out.jsonl")[-9:] == expected()
    assert any("light-lamp holds where" in note for note in told["notes"])


def test_what_cannot_be_learned_from_is_named_and_the_rest_is(rsg, here):
    described("mine")
    states = Store("store")[4].states
    Store("mine").append([Demonstration(states, None, task) for task in ("", BOTH)])
    Store("mine").append([Demonstration(states[:2], None, BOTH)])
    code, out, _ = rsg("segment", "--fit", "mine", "--out", "out.jsonl", "--json")
    told = json.loads(out)
    assert (code, told["cut"], told["recordings"], [*told["first"].values()]) == (0, 64, 66, [63, 65])
    assert any(
        "learned without 2 recordings: the first, episode 63, has no description" in note for note in told["notes"]
    )
    silent = Store.create("silent", "own")
    silent.append([Demonstration(states, None, "")] * 3)
    code, _, err = rsg("segment", "--fit", "silent", "--out", "silent.jsonl")
    assert (code, err.count("has no description")) == (2, 1)
    assert "there is nothing to learn from: episode 0 has no description" in err


def test_where_nothing_can_be_cut_nothing_is_written(rsg, here):
    states = Store("store")[4].states
    Store.create("odd", "Corridor").append([Demonstration(states, None, f"do-{number}") for number in range(9)])
    code, out, _ = rsg("segment", "run", "--demos", "odd", "--out", "odd.jsonl", *LAMP)
    assert (code, "odd.jsonl" in out, Path("odd.jsonl").exists()) == (1, False, False)
    assert "not cut  9 in all\n" in out


def test_fitting_that_was_interrupted_goes_on(rsg, here, monkeypatch):
    shown = Store.create("mine", "own")
    shown.append([Demonstration(*walk) for walk in Corridor().walks()] * 3)
    shown.append(list(Store("store")))
    assert rsg("demos", "export", "mine", "mine.jsonl")[0] == 0
    segment_shard = segmenting.segment_shard

    def failing(*asked):
        segment_shard(*asked)
        raise KeyboardInterrupt

    monkeypatch.setattr(segmenting, "segment_shard", failing)
    assert rsg("segment", "--fit", "mine.jsonl", "--out", "out.jsonl")[0] == 130
    assert len(list(here.glob(".out.jsonl.*.parts/*"))) == 1
    monkeypatch.setattr(segmenting, "segment_shard", segment_shard)
    assert rsg("segment", "--fit", "mine.jsonl", "--out", "out.jsonl")[0] == 0
    assert ends_in("out.jsonl")[-9:] == expected()
    assert not list(here.glob(".*parts"))  # it is where the second run looked


def test_what_was_learned_is_kept_and_cuts_others(rsg, here):
    described("mine")
    code, out, err = rsg("segment", "kept", "--fit", "mine", "--out", "out.jsonl")
    assert (code, "there is no model, so the world is made of the recordings" in out + err) == (0, True)
    assert rsg("segment", "kept", "--demos", "store", "--out", "others.jsonl")[0] == 0
    assert ends_in("others.jsonl") == expected()
    code, _, err = rsg("segment", "kept", "--fit", "mine", "--demos", "store", "--out", "o.jsonl")
    assert (code, "say with what to segment and what" in err) == (2, True)
