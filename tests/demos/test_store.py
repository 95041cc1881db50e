import hashlib
import json
import os
import signal
import subprocess
import sys
from threading import Thread

import numpy as np
import pytest
from tests.demos.examples import contents, demonstration, demonstrations

from rsg.core.errors import RsgError, StoreError
from rsg.demos import Demonstration, Recipe, Store, check_store, repair, shards
from rsg.demos.store import FOLDER, MANIFEST
from rsg.domain import find, make_demonstrations


@pytest.fixture
def small_shards(monkeypatch):
    """Shards of five episodes."""
    monkeypatch.setattr("rsg.demos.store.SHARD_EPISODES", 5)
    monkeypatch.setattr("rsg.demos.making.SHARD_EPISODES", 5)


@pytest.fixture
def store(tmp_path, small_shards):
    """Thirteen demonstrations in three shards."""
    new = Store.create(tmp_path / "store", "own")
    new.append(demonstrations(13))
    return new


def old_seal(content):
    """The checksum that stores of older versions carry."""
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def edit_manifest(folder, sealed=True, **changes):
    """Change values of a manifest, with the checksum that goes with them or the old one."""
    content = json.loads((folder / MANIFEST).read_text()) | changes
    old = content.pop("sha256")
    (folder / MANIFEST).write_text(json.dumps({**content, "sha256": old_seal(content) if sealed else old}))


def put_shard(folder, data):
    """Another first shard, and a manifest that agrees with it."""
    (folder / "shard-00000.npz").write_bytes(data)
    listed = json.loads((folder / MANIFEST).read_text())["shards"]
    edit_manifest(folder, shards=[{**listed[0], "sha256": hashlib.sha256(data).hexdigest()}, *listed[1:]])


def rsg(*words, **environment):
    return subprocess.run(
        [sys.executable, "-m", "rsg", *map(str, words)],
        capture_output=True,
        text=True,
        timeout=200,
        env=os.environ | environment,
    )


# Writing and reading


def test_what_is_appended_comes_back_in_order(store):
    demos = demonstrations(13)
    assert len(store.manifest.shards) == 3
    assert len(store) == len(list(store)) == 13
    assert store.steps == sum(map(len, demos))
    assert list(store) == list(Store(store.folder)) == demos
    store.append(demonstration(number) for number in range(13, 15))
    assert list(Store(store.folder)) == demonstrations(15)


def test_episodes_are_found_by_number(store):
    demos = demonstrations(13)
    assert [store[i] for i in range(13)] == demos
    assert [store[i] for i in range(-13, 0)] == demos
    assert store[np.int64(7)] == demos[7]
    assert store[3:9] == demos[3:9]
    assert store[::-4] == demos[::-4]
    assert store[20:] == []
    for outside in (13, -14, 10**20):
        with pytest.raises(StoreError, match=rf"has 13 episodes, 0 to 12; there is no episode {outside}$"):
            store[outside]


def test_an_empty_store_has_nothing(tmp_path):
    store = Store.create(tmp_path, "own")
    assert (len(store), store.steps, list(store), store[:]) == (0, 0, [], [])
    with pytest.raises(StoreError, match="has 0 episodes"):
        store[0]
    store.append([])
    assert store.manifest.shards == ()


def test_one_store_may_mix_widths_settings_and_lengths(tmp_path):
    demos = [demonstration(i, steps=1 + i % 4, width=1 + i % 3) for i in range(9)]
    store = Store.create(tmp_path, "own")
    store.append(demos)
    assert list(store) == demos
    assert len({demo.setting for demo in store}) == 3


@pytest.mark.parametrize(
    ("states", "actions", "width"),
    [
        ("float32", "int64", None),
        ("float64", "float32", 2),
        ("bool", "uint8", 1),
        ("float16", "float64", None),
        ("int8", "uint64", 3),
    ],
)
def test_dtypes_and_vector_actions_survive(tmp_path, states, actions, width):
    demos = demonstrations(4, states=states, actions=actions, action_width=width)
    store = Store.create(tmp_path, "own")
    store.append(demos)
    assert list(store) == demos
    assert store[1].actions.ndim == (1 if width is None else 2)


def test_not_a_number_infinity_and_minus_zero_survive(tmp_path):
    states = np.array([[np.nan, np.inf], [-0.0, -np.inf]])
    store = Store.create(tmp_path, "own")
    store.append([Demonstration(states, np.array([np.nan]), "a")])
    assert (store[0].states.tobytes(), store[0].actions.tobytes()) == (states.tobytes(), np.array([np.nan]).tobytes())


def test_views_of_other_arrays_survive(tmp_path):
    numbers = np.arange(24).reshape(3, 8)
    demos = [Demonstration(numbers[:, ::2], numbers[0, 5:7], "a"), Demonstration(numbers.T[:4], numbers[:, 1], "b")]
    store = Store.create(tmp_path, "own")
    store.append(demos)
    (store.folder / MANIFEST).unlink()
    assert repair(store.folder).lost == 0
    assert list(Store(tmp_path)) == demos


def test_actions_of_no_numbers_do_not_borrow_those_of_another(tmp_path):
    silent = [Demonstration(np.zeros((3, 2)), np.zeros((2, 0)), text) for text in ("a", "b")]
    store = Store.create(tmp_path, "own")
    store.append([*silent, Demonstration(np.zeros((2, 0)), np.array([7.0]), "c")])
    assert list(store)[:2] == silent
    assert store[2].states.shape == (2, 0)


@pytest.mark.parametrize("text", ["", "grüße 木 🪓", "two\nlines", "\ud800", " ", "x" * 5000])
def test_any_text_survives(tmp_path, text):
    demo = Demonstration(np.zeros((2, 1)), np.zeros(1), text, text)
    store = Store.create(tmp_path, "own")
    store.append([demo, demonstration(0, states="float64", actions="float64")])
    assert store[0] == demo
    (tmp_path / MANIFEST).unlink()
    assert repair(tmp_path).lost == 0
    assert Store(tmp_path)[0] == demo


def test_mixed_dtypes_in_a_shard_are_refused_and_change_nothing(store):
    before = contents(store.folder)
    for odd in (demonstration(0, states="float32"), demonstration(0, actions="uint8")):
        with pytest.raises(StoreError, match="must share their dtypes"):
            store.append([demonstration(1), odd])
    assert contents(store.folder) == before


@pytest.mark.parametrize(
    ("states", "actions", "problem"),
    [
        ((1, 3), (0,), "at least one action"),
        ((3, 3), (3,), "one state more than actions, got 3 states and 3 actions"),
        ((3, 3), (1,), "one state more"),
        ((3,), (2,), r"states \[T \+ 1, W\]"),
        ((3, 2, 2), (2,), r"states \[T \+ 1, W\]"),
        ((3, 2), (), r"states \[T \+ 1, W\]"),
        ((3, 2), (2, 1, 1), r"states \[T \+ 1, W\]"),
    ],
)
def test_a_demonstration_that_does_not_add_up_is_refused(states, actions, problem):
    with pytest.raises(RsgError, match=problem):
        Demonstration(np.zeros(states), np.zeros(actions), "a")


def test_what_a_shard_could_not_give_back_is_refused():
    for states in (np.array([[None], [None]]), np.zeros((2, 1), ">f8"), np.array([["a"], ["b"]])):
        with pytest.raises(RsgError, match="holds numbers in the machine's own byte order, not "):
            Demonstration(states, np.zeros(1), "a")
    for texts in (("a\0", ""), ("a", "\0b")):
        with pytest.raises(RsgError, match="must not contain a null character"):
            Demonstration(np.zeros((2, 1)), np.zeros(1), *texts)


def test_equal_demonstrations_are_equal_in_all_they_say():
    demo = demonstration(0)
    assert demo == demonstration(0)
    assert hash(demo) == hash(demonstration(0))
    assert len({demo, demonstration(0), demonstration(1)}) == 2
    assert demo != Demonstration(demo.states, demo.actions, "other", demo.setting)
    assert demo != Demonstration(demo.states, demo.actions, demo.task, "other")
    assert demo != Demonstration(demo.states.astype("int64"), demo.actions, demo.task, demo.setting)
    assert demo != Demonstration(demo.states, demo.actions + 1, demo.task, demo.setting)
    assert demo != "grab-axe"


def test_an_error_in_the_middle_keeps_the_shards_before_it(store):
    def broken():
        yield from map(demonstration, range(13, 20))
        raise ValueError("no more")

    with pytest.raises(ValueError, match="no more"):
        store.append(broken())
    assert list(Store(store.folder)) == list(store) == demonstrations(18)


def test_an_appended_demonstration_never_takes_the_place_of_a_planned_one(tmp_path, small_shards):
    recipe = Recipe("crafting", "goal-only", 2)
    whole = list(make_demonstrations(recipe, tmp_path / "whole"))
    part = make_demonstrations(recipe, tmp_path / "part")
    extra = whole[:1]
    kept = [vars(part.manifest.shards[i]) for i in (0, 2)]
    edit_manifest(part.folder, shards=kept, episodes=9)
    store = Store(part.folder)
    store.append(extra)
    store.append(extra)
    assert not store.manifest.complete
    assert not check_store(store, find("crafting")).complete
    done = make_demonstrations(recipe, part.folder)
    assert done.manifest.complete
    assert list(done) == whole + extra + extra


# Folders, formats, locks


def test_a_folder_with_something_in_it_is_refused_and_left_alone(tmp_path):
    (tmp_path / ".hidden").write_text("mine")
    with pytest.raises(StoreError, match="is not empty; choose another folder"):
        Store.create(tmp_path, "own")
    assert os.listdir(tmp_path) == [".hidden"]
    with pytest.raises(StoreError, match="is not empty"):
        make_demonstrations(Recipe("crafting", "goal-only", 1), tmp_path)
    with pytest.raises(StoreError, match="is not a store of demonstrations"):
        repair(tmp_path)
    assert os.listdir(tmp_path) == [".hidden"]
    for nowhere in (tmp_path / ".hidden", tmp_path / ".hidden" / "below"):
        with pytest.raises(StoreError, match=r"is not empty|is a file, not a folder|cannot write to"):
            Store.create(nowhere, "own")
    assert (tmp_path / ".hidden").read_text() == "mine"


def test_a_store_is_not_created_twice(store):
    before = contents(store.folder)
    with pytest.raises(StoreError, match="already holds a store of demonstrations"):
        Store.create(store.folder, "own")
    assert contents(store.folder) == before


def test_what_a_killed_writer_left_is_cleared_away(store, tmp_path):
    before = contents(store.folder)
    for name in (".manifest.json.abcd1234.json", ".shard-00003.npz.abcd1234.npz"):
        (store.folder / name).write_bytes(b"half")
        (tmp_path / name).write_bytes(b"half")
    store.append([])
    assert contents(store.folder) == before
    (tmp_path / "new").mkdir()
    for name in (".manifest.json.abcd1234.json", ".lock"):
        (tmp_path / "new" / name).write_bytes(b"")
    assert len(Store.create(tmp_path / "new", "own")) == 0
    assert sorted(os.listdir(tmp_path / "new")) == [".lock", MANIFEST]
    assert (tmp_path / ".shard-00003.npz.abcd1234.npz").exists()  # another folder is none of its business


def test_a_folder_without_a_manifest_is_not_a_store(tmp_path):
    for folder, lack in ((tmp_path, "it has no manifest.json"), (tmp_path / "none", "there is no folder of that name")):
        with pytest.raises(StoreError, match=f"is not a store of demonstrations: {lack}"):
            Store(folder)
        with pytest.raises(StoreError, match="is not a store of demonstrations"):
            repair(folder)
    assert os.listdir(tmp_path) == []


def test_a_newer_format_is_not_read_and_not_repaired(store):
    edit_manifest(store.folder, version=2)
    before = contents(store.folder)
    for act in (Store, repair):
        with pytest.raises(StoreError, match=r"manifest.json has format 2, this rsg reads up to 1; update rsg"):
            act(store.folder)
    assert contents(store.folder) == before


def test_a_newer_version_with_the_wrong_checksum_is_damage(store):
    edit_manifest(store.folder, sealed=False, version=2)
    with pytest.raises(StoreError, match=r"manifest.json is damaged: its checksum differs; 'rsg demos repair"):
        Store(store.folder)
    assert repair(store.folder).damaged == (MANIFEST,)
    assert list(Store(store.folder)) == demonstrations(13)


def test_a_manifest_of_another_format_is_told_apart(store):
    edit_manifest(store.folder, format="music")
    before = contents(store.folder)
    for act in (Store, repair):
        with pytest.raises(StoreError, match=r"is not of a store of demonstrations but of 'music'"):
            act(store.folder)
    assert contents(store.folder) == before


@pytest.mark.parametrize("text", ["", "[]", "{}", "17", '{"format": "rsg-demonstrations"}', "\x00", "[" * 100_000])
def test_other_things_called_manifest_are_one_sentence(tmp_path, text):
    (tmp_path / MANIFEST).write_text(text)
    with pytest.raises(StoreError, match=r"manifest.json is damaged"):
        Store(tmp_path)
    with pytest.raises(StoreError, match="holds no intact demonstration"):
        repair(tmp_path)
    assert (tmp_path / MANIFEST).read_text() == text


def test_a_manifest_with_the_right_checksum_and_missing_values_is_one_sentence(store):
    for changes in ({"shards": [{"index": 0}]}, {"shards": 3}, {"version": "one"}):
        edit_manifest(store.folder, **changes)
        with pytest.raises(StoreError, match=r"manifest.json is damaged: it cannot be read"):
            Store(store.folder)


def test_a_missing_shard_is_named_with_its_episodes(store):
    (store.folder / "shard-00001.npz").unlink()
    again = Store(store.folder)
    assert again[:5] == demonstrations(5)
    assert again[12] == demonstration(12)
    for read in (lambda: list(again), lambda: again[7]):
        with pytest.raises(StoreError, match=r"cannot read .*shard-00001.npz \(episodes 5 to 9\): No such file"):
            read()


def test_a_folder_that_cannot_be_written_is_one_sentence(store):
    (store.folder / ".lock").unlink()
    (store.folder / ".lock").mkdir()
    with pytest.raises(StoreError, match=r"cannot write to .*store: Is a directory"):
        store.append(demonstrations(1))


HOLD = """
import sys, time
from pathlib import Path
from rsg.demos.store import FOLDER
with FOLDER.writing(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(300)
"""


def test_only_one_process_writes_and_a_killed_one_holds_no_lock(store, tmp_path):
    made = tmp_path / "made"
    make_demonstrations(Recipe("crafting", "goal-only", 1), made)
    for folder in (store.folder, made):
        with subprocess.Popen([sys.executable, "-c", HOLD, folder], stdout=subprocess.PIPE) as other:
            try:
                assert other.stdout.readline() == b"held\n"
                sentence = f"another process is writing to {folder}; wait for it, or stop it"
                for write in (lambda: Store(folder).append(demonstrations(1)), lambda: repair(folder)):  # noqa: B023
                    with pytest.raises(StoreError, match=sentence):
                        write()
                assert list(Store(folder))  # reading needs no lock
                if folder == made:
                    with pytest.raises(StoreError, match=sentence):
                        make_demonstrations(Recipe("crafting", "goal-only", 1), folder)
            finally:
                other.send_signal(signal.SIGKILL)
        with FOLDER.writing(folder):
            pass


def test_a_store_loads_without_its_world(tmp_path):
    store = Store.create(tmp_path, "a world that nobody knows")
    store.append(demonstrations(3))
    script = f"""
import sys
from rsg.demos import Store, check_store
store = Store({str(tmp_path)!r})
assert len(list(store)) == 3
report = check_store(store, None)
assert report.ok and not report.replayed and report.episodes == 3
assert "rsg.domains.crafting.domain" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", script], check=True, timeout=200)


class Trap:
    """Runs when it is unpickled."""

    def __reduce__(self):
        return os.mkdir, ("trapped",)


def test_nothing_is_unpickled(store, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with np.load(store.folder / "shard-00000.npz") as file:
        good = dict(file)
    for name in ("states", "tasks", "steps"):
        arrays = dict(good)
        arrays[name] = np.array([Trap()] * len(arrays[name]), dtype=object)
        np.savez(tmp_path / "trap.npz", **arrays)
        data = (tmp_path / "trap.npz").read_bytes()
        put_shard(store.folder, data)
        with pytest.raises(StoreError, match=r"shard-00000.npz is not a readable shard .*allow_pickle=False"):
            Store(store.folder)[0]
        assert shards.salvage(data) == ([], [], 0)
        assert not (tmp_path / "trapped").exists()


def test_a_shard_that_was_never_one_is_one_sentence_even_with_the_right_checksum(store):
    good = (store.folder / "shard-00000.npz").read_bytes()
    fewer = shards.pack(demonstrations(4))
    for data, problem in (
        (b"", "is not a readable shard"),
        (b"PK\x03\x04", "is not a readable shard"),
        (good[:-30], "is not a readable shard"),
        (fewer, "has 4 episodes, the manifest says 5"),
    ):
        put_shard(store.folder, data)
        with pytest.raises(StoreError, match=rf"shard-00000.npz {problem}"):
            Store(store.folder)[0]


def test_figures_that_do_not_fit_are_one_sentence_even_with_the_right_checksum(store, tmp_path):
    with np.load(store.folder / "shard-00000.npz") as file:
        arrays = dict(file)
    for name, value, problem in (
        ("steps", 10**9, "1 of its episodes cannot be read"),
        ("steps", 2**63 - 1, "1 of its episodes cannot be read"),
        ("task", 10**9, "1 of its episodes cannot be read"),
        ("crc", None, "5 of its episodes cannot be read|not a readable"),
    ):
        changed = {**arrays, name: np.zeros(()) if value is None else np.array([*arrays[name][:4], value])}
        np.savez(tmp_path / "odd.npz", **changed)
        put_shard(store.folder, (tmp_path / "odd.npz").read_bytes())
        with pytest.raises(StoreError, match=problem):
            Store(store.folder)[0]


def test_the_checksum_of_an_episode_is_over_everything():
    demo = Demonstration(np.ones((3, 4), "int64"), np.ones(2), "a", "b")
    others = [
        (Demonstration(demo.states.view("uint64"), demo.actions, "a", "b"), 1),
        (Demonstration(demo.states, demo.actions.view("int64"), "a", "b"), 1),
        (Demonstration(demo.states, demo.actions[:, None], "a", "b"), 1),
        (Demonstration(demo.states[:, :2], demo.actions, "a", "b"), 1),
        (Demonstration(demo.states + 1, demo.actions, "a", "b"), 1),
        (Demonstration(demo.states, demo.actions, "ab", ""), 1),
        (demo, 2),
    ]
    assert shards.checksum(demo, 1) not in [shards.checksum(*other) for other in others]


# Size and sameness

STREAM = """
import resource, sys
from rsg.demos import Store
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1024 if sys.platform == "linux" else 1024**2)
store = Store(sys.argv[1])
next(iter(store))
before, steps = peak(), 0
for demo in store:
    steps += len(demo)
for number in range(0, len(store), 40):
    store[number]
print(steps, peak() - before)
"""


def test_a_large_store_is_read_in_little_memory(tmp_path):
    store = Store.create(tmp_path, "own")
    store.append(demonstration(number, steps=20, width=256) for number in range(10_000))
    size = sum(map(len, contents(tmp_path).values())) / 2**20
    assert size > 50
    done = subprocess.run([sys.executable, "-c", STREAM, tmp_path], capture_output=True, check=True, timeout=200)
    steps, growth = done.stdout.split()
    assert int(steps) == store.steps == 200_000
    assert float(growth) < 20


def test_the_same_demonstrations_give_the_same_bytes(tmp_path, small_shards):
    for name in ("one", "two"):
        Store.create(tmp_path / name, "own").append(demonstrations(13))
    assert contents(tmp_path / "one") == contents(tmp_path / "two")
    again = Store.create(tmp_path / "three", "own")
    again.append(Store(tmp_path / "one"))
    assert contents(tmp_path / "one") == contents(tmp_path / "three")


def test_the_bytes_of_a_shard_are_those_of_the_format():
    """Changed bytes mean that stores of older versions of rsg cannot be completed: think of `VERSION`."""
    digest = hashlib.sha256(shards.pack(demonstrations(13), range(1, 14))).hexdigest()
    assert digest == "f028844afd421bac9a118b88a0b307c48b942204e5951646821761bb1b36ae7e"


def test_making_does_not_depend_on_hashing_or_workers(tmp_path):
    for name, workers in (("1", 1), ("2", 2)):
        words = ("make", "crafting", "--per-task", 8, "--workers", workers, "--out", tmp_path / name)
        done = rsg("demos", *words, PYTHONHASHSEED=name)
        assert done.returncode == 0, done.stderr
    assert len(Store(tmp_path / "1").manifest.shards) == 2
    assert contents(tmp_path / "1") == contents(tmp_path / "2")


def test_workers_may_be_started_from_any_thread(tmp_path):
    recipe = Recipe("crafting", "train", 8)
    make_demonstrations(recipe, tmp_path / "here", workers=2)
    other = Thread(target=make_demonstrations, args=(recipe, tmp_path / "there", 2))
    other.start()
    other.join(200)
    assert contents(tmp_path / "here") == contents(tmp_path / "there")


def test_making_goes_on_and_makes_damaged_shards_again(tmp_path, small_shards):
    recipe = Recipe("crafting", "goal-only", 3)
    counted = []
    make_demonstrations(recipe, tmp_path, advance=counted.append)
    assert counted == [0, 5, 5, 5, 5, 4]
    whole = contents(tmp_path)
    (tmp_path / "shard-00001.npz").unlink()
    (tmp_path / "shard-00003.npz").write_bytes(b"not what it was")
    counted.clear()
    make_demonstrations(recipe, tmp_path, advance=counted.append)
    assert counted == [14, 5, 5]
    assert contents(tmp_path) == whole


def test_another_recipe_is_refused(tmp_path, small_shards):
    store = make_demonstrations(Recipe("crafting", "goal-only", 1), tmp_path)
    before = contents(tmp_path)
    for other in (Recipe("crafting", "goal-only", 2), Recipe("crafting", "novel", 1), Recipe("crafting", "train", 1)):
        with pytest.raises(StoreError, match=r"holds other demonstrations \((per_task 1|split goal-only)"):
            make_demonstrations(other, tmp_path)
    assert contents(tmp_path) == before
    edit_manifest(tmp_path, world="own")
    with pytest.raises(StoreError, match="holds demonstrations of the world 'own'"):
        make_demonstrations(Recipe("crafting", "goal-only", 1), tmp_path)
    edit_manifest(tmp_path, world="crafting", planned_shards=7)
    with pytest.raises(StoreError, match="holds other demonstrations"):
        make_demonstrations(Recipe("crafting", "goal-only", 1), tmp_path)
    assert len(store) == 8


def test_two_makers_of_different_recipes_do_not_mix(tmp_path, monkeypatch):
    """The other one creates its store just after we have looked whether there is any."""
    import rsg.demos.making as making

    def late(folder, *_):
        making.Store = Store
        make_demonstrations(Recipe("crafting", "goal-only", 1, seed=5), folder)
        return Store.create(folder, "crafting")

    monkeypatch.setattr("rsg.demos.making.Store", type("Late", (), {"create": staticmethod(late)}))
    with pytest.raises(StoreError, match="already holds a store"):
        make_demonstrations(Recipe("crafting", "goal-only", 1), tmp_path)
    assert Store(tmp_path).manifest.recipe["seed"] == 5
    assert check_store(Store(tmp_path), find("crafting")).ok
