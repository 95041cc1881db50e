"""Damaged and foreign `.npz`, `.jsonl` and Minari sources: one sentence each, and nothing is half imported."""

import json
import zipfile

import h5py
import numpy as np
import pytest

from rsg.core.errors import RsgError, StoreError
from rsg.demos import Demonstration, Store
from rsg.demos.formats import Options
from rsg.demos.importing import Import, export_to, import_from, import_into, world_of_source


def stored(folder, count=6):
    demos = [
        Demonstration(np.arange(3.0 * (n + 2)).reshape(n + 2, 3), np.arange(n + 1) % 3, "a then b", f"s{n}")
        for n in range(count)
    ]
    store = Store.create(folder, "own")
    store.append(demos)
    return store


def refused(tmp_path, source, message, where):
    """Importing is one sentence that names the file, and leaves nothing behind."""
    with pytest.raises(StoreError, match=message) as caught:
        import_into(tmp_path / "new", str(source), "own")
    text = str(caught.value)
    assert where in text
    assert "\n" not in text or "the task is not understood" in text
    assert len(text.splitlines()[0]) < 400
    assert not (tmp_path / "new").exists()


# .npz


def put(name, values):
    """A change of one array; None leaves it out."""

    def change(path):
        with np.load(path) as file:
            arrays = {**file, name: values}
        np.savez(path, **{one: np.asarray(held) for one, held in arrays.items() if held is not None})

    return change


def raw(name, data):
    """A change of the file itself: the bytes of a member."""

    def change(path):
        with zipfile.ZipFile(path) as file:
            members = {one: file.read(one) for one in file.namelist()}
        members[f"{name}.npy"] = data(members[f"{name}.npy"])
        with zipfile.ZipFile(path, "w") as file:
            for one, content in members.items():
                file.writestr(one, content)

    return change


def bit(path):
    data = bytearray(path.read_bytes())
    data[data.index(b"states.npy") + 200] ^= 1
    path.write_bytes(data)


def version_9(data):
    return data[:6] + b"\x09\x00" + data[8:]


NPZ = {
    "empty": (lambda path: path.write_bytes(b""), "is not a readable .npz file"),
    "cut": (lambda path: path.write_bytes(path.read_bytes()[:900]), "is not a readable .npz file"),
    "text": (lambda path: path.write_text("a,b"), "is not a readable .npz file"),
    "a flipped bit": (bit, "is not a readable .npz file.*"),
    "a member is cut": (
        raw("states", lambda data: data[:-40]),
        "is not a readable .npz file.* ends before it is whole",
    ),
    "a member is no array": (raw("actions", lambda data: b"what"), "is not a readable .npz file"),
    "a newer version of arrays": (raw("tasks", version_9), "is not a readable .npz file"),
    "a header that is code": (
        raw("lengths", lambda data: data[:10] + b"__import__('os').system('x')".ljust(len(data) - 10)),
        "is not a readable .npz file",
    ),
    "no states": (put("states", None), "has no array 'states'; it needs"),
    "no lengths": (put("lengths", None), "has no array 'lengths'; it needs"),
    "no tasks": (put("tasks", None), "has no array 'tasks'; it needs"),
    "an empty file": (put("lengths", np.zeros(0, int)), "holds no demonstrations: 'lengths' is empty"),
    "a length of 0": (put("lengths", [1, 2, 0, 6, 5, 6]), "episode 2: its length is 0"),
    "a length below": (put("lengths", [1, 2, -3, 6, 5, 10]), "episode 2: its length is -3"),
    "lengths too long": (put("lengths", [1, 2, 3, 4, 5, 7]), "episode 5: 'actions' ends before it is whole"),
    "lengths in fractions": (put("lengths", [1.5] * 6), "'lengths' must be whole numbers in 1 dimensions"),
    "words": (put("states", [["x"] * 3] * 27), "'states' must be numbers in 2 dimensions, not <U1"),
    "complex numbers": (put("states", np.zeros((27, 3), complex)), "'states' must be numbers in 2 dimensions"),
    "pickled objects": (put("tasks", np.array([{}] * 6)), "'tasks' holds Python objects, which would need pickle"),
    "one dimension": (put("states", np.zeros(27)), "'states' must be numbers in 2 dimensions"),
    "numbers for tasks": (put("tasks", np.arange(6)), "'tasks' must be texts in 1 dimensions"),
    "tasks too few": (put("tasks", ["a"] * 5), "episode 5: 'tasks' ends before it is whole"),
    "no task language": (put("tasks", ["a"] * 5 + ["Do it!"]), "episode 5: the task is not understood"),
    "NaN": (put("states", [[1.0] * 3] * 5 + [[np.nan] * 3] * 22), "episode 2: state 0 holds NaN"),
    "NaN in an action": (put("actions", [0.0] * 20 + [np.nan]), "episode 5: action 5 holds NaN"),
    "widths too wide": (put("widths", [3, 3, 4, 3, 3, 3]), "episode 2: 'widths' says 4, its states have 3 numbers"),
    "a null character": (put("settings", ["a\0b"] * 6), "episode 0: the text .* must not contain a null character"),
}


@pytest.mark.parametrize("name", NPZ)
def test_a_damaged_npz(tmp_path, name):
    damage, message = NPZ[name]
    path = tmp_path / "own.npz"
    export_to(str(path), stored(tmp_path / "store"))
    damage(path)
    refused(tmp_path, path, message, "own.npz")


def test_other_orders_of_bytes_and_of_columns_are_the_same(tmp_path):
    store = stored(tmp_path / "store")
    export_to(str(tmp_path / "a.npz"), store)
    with np.load(tmp_path / "a.npz") as file:
        arrays = dict(file)
    arrays["states"] = np.asfortranarray(arrays["states"]).astype(">f8", order="F")
    arrays["actions"] = arrays["actions"].astype(">i8")
    np.savez_compressed(tmp_path / "b.npz", **arrays)
    assert list(import_from(tmp_path / "b.npz")) == list(store)


def test_large_files_come_in_pieces(tmp_path):
    """An array is not read as a whole: the first episode is there although the end of the file is missing."""
    path = tmp_path / "own.npz"
    export_to(str(path), stored(tmp_path / "store"))
    raw("states", lambda data: data[:-40])(path)
    source = import_from(path)
    assert next(source).setting == "s0"
    with pytest.raises(StoreError, match="ends before it is whole"):
        list(source)


# .jsonl

GOOD = {"states": [[0, 1], [2, 3], [4, 5]], "actions": [0, 1], "task": "a then b"}
JSONL = {
    "cut": ('{"states": [[0, 1], [2', "line 2 is not JSON"),
    "no UTF-8": (b'{"task": "\xff"}', "line 2 is not JSON"),
    "two in a line": (json.dumps(GOOD) * 2, "line 2 is not JSON"),
    "a whole file in brackets": (json.dumps([GOOD]), "line 2 must be an object .* it is a list"),
    "deep": ("[" * 100_000, "line 2 is not JSON"),
    "no actions": (
        {key: GOOD[key] for key in ("states", "task")},
        "must be an object with the keys states, actions and",
    ),
    "no task": (
        {key: GOOD[key] for key in ("states", "actions")},
        "must be an object with the keys states, actions and",
    ),
    "task is null": ({**GOOD, "task": None}, "'task' must be text, not null"),
    "setting is an object": ({**GOOD, "setting": {}}, "'setting' must be text, not {}"),
    "ragged rows": ({**GOOD, "states": [[0], [1, 2], [3]]}, "'states' has rows of different lengths"),
    "a null": ({**GOOD, "states": [[0, None], [1, 2], [3, 4]]}, "'states' must be a list of numbers"),
    "words": ({**GOOD, "actions": ["up", "down"]}, "'actions' must be a list of numbers"),
    "NaN": ('{"states": [[0, NaN], [1, 2], [3, 4]], "actions": [0, 1], "task": "a"}', "cannot hold exactly"),
    "lengths": ({**GOOD, "actions": [0]}, "got 3 states and 1 actions"),
    "no steps": ({**GOOD, "states": [[0, 1]], "actions": []}, "got 1 states and 0 actions"),
    "one state": ({**GOOD, "states": [[0, 1]], "actions": None}, "at least two states, got 1"),
    "flat states": ({**GOOD, "states": [0, 1, 2]}, r"has states \[T \+ 1, W\]"),
    "nested actions": ({**GOOD, "actions": [[[0]], [[1]]]}, r"has states \[T \+ 1, W\] and actions \[T\] or"),
    "fractions": ({**GOOD, "states": [[0, 0.5], [1, 2], [3, 4]]}, "state 0 has 0.5, which int64 cannot hold exactly"),
    "dtypes in words": ({**GOOD, "dtypes": "uint8"}, "'dtypes' must name that of states and of actions"),
    "no such dtype": ({**GOOD, "dtypes": {"states": "int7"}}, "'int7' is not a dtype for states"),
    "a dtype too small": ({**GOOD, "dtypes": {"states": "bool"}}, "state 1 has 2, which bool cannot hold exactly"),
    "numbers too large": ({**GOOD, "states": [[2**64, 1], [1, 2], [3, 4]]}, "'states' must be a list of numbers"),
    "numbers too far apart": ({**GOOD, "states": [[2**63, -1], [1, 2], [3, 4]]}, "that no dtype can hold together"),
    "no task language": ({**GOOD, "task": "Do it!"}, "line 2: the task is not understood"),
    "a null character": ({**GOOD, "setting": "\0"}, "must not contain a null character"),
}


@pytest.mark.parametrize("name", JSONL)
def test_a_damaged_line(tmp_path, name):
    line, message = JSONL[name]
    line = line if isinstance(line, bytes) else (line if isinstance(line, str) else json.dumps(line)).encode()
    (tmp_path / "own.jsonl").write_bytes(json.dumps(GOOD).encode() + b"\n" + line + b"\n")
    refused(tmp_path, tmp_path / "own.jsonl", message, "own.jsonl, line 2")


# Minari


def edit(change):
    def damage(folder):
        with h5py.File(folder / "data/main_data.hdf5", "r+") as file:
            change(file)

    return damage


def array(name, values, episode="episode_2"):
    def change(file):
        del file[f"{episode}/{name}"]
        if values is not None:
            file[f"{episode}/{name}"] = values

    return edit(change)


def attribute(name, value):
    def change(file):
        if value is None:
            del file["episode_2"].attrs[name]
        else:
            file["episode_2"].attrs[name] = value

    return edit(change)


def metadata(**changes):
    def damage(folder):
        path = folder / "data/metadata.json"
        said = {**json.loads(path.read_text()), **changes}
        path.write_text(json.dumps({key: value for key, value in said.items() if value is not None}))

    return damage


def main(data):
    return lambda folder: (folder / "data/main_data.hdf5").write_bytes(data)


def cut(folder):
    path = folder / "data/main_data.hdf5"
    path.write_bytes(path.read_bytes()[:5000])


def renumbered(file):
    file.move("episode_2", "episode_9")


MINARI = {
    "no metadata": (lambda folder: (folder / "data/metadata.json").unlink(), "cannot open Minari dataset"),
    "metadata is cut": (
        lambda folder: (folder / "data/metadata.json").write_text('{"a": '),
        "cannot open Minari dataset",
    ),
    "metadata is empty": (
        lambda folder: (folder / "data/metadata.json").write_text("{}"),
        "cannot open Minari dataset",
    ),
    "metadata is no UTF-8": (
        lambda folder: (folder / "data/metadata.json").write_bytes(b'{"a": "\xff"}'),
        "cannot open Minari dataset",
    ),
    "a newer version": (metadata(minari_version="9.0.0"), "cannot open Minari dataset"),
    "no space": (metadata(observation_space=None), "cannot open Minari dataset"),
    "an unknown space": (metadata(observation_space='{"type": "Graph"}'), "cannot open Minari dataset"),
    "an unknown format": (metadata(data_format="zip"), "cannot open Minari dataset"),
    "no episodes": (metadata(total_episodes=0), "holds no episodes"),
    "too many episodes": (metadata(total_episodes=9), "cannot read Minari dataset"),
    "no data": (lambda folder: (folder / "data/main_data.hdf5").unlink(), "cannot open Minari dataset"),
    "data is cut": (cut, "cannot read Minari dataset"),
    "data is empty": (main(b""), "cannot read Minari dataset"),
    "data is something else": (main(b"no HDF5"), "cannot read Minari dataset"),
    "a number is missing": (edit(renumbered), "cannot read Minari dataset"),
    "no observations": (array("observations", None), "cannot read Minari dataset"),
    "no actions": (array("actions", None), "cannot read Minari dataset"),
    "fewer observations": (array("observations", np.zeros((3, 3))), "episode 2: .* got 3 states and 3 actions"),
    "fewer actions": (array("actions", np.zeros(1, int)), "episode 2: .* got 4 states and 1 actions"),
    "NaN": (array("observations", np.full((4, 3), np.nan)), "episode 2: state 0 holds NaN"),
    "words for numbers": (array("observations", ["x"] * 4), "Minari dataset"),
    "no width": (attribute("state_width", None), "cannot read Minari dataset"),
    "the text is no task": (attribute("task", "Do it!"), "episode 2: the task is not understood"),
    "the text is no UTF-8": (attribute("task", np.bytes_(b"\xff")), "episode 2: 'task' is not UTF-8 text"),
    "the setting is a number": (attribute("setting", 3), "episode 2 must be text, not a int64"),
}


@pytest.mark.parametrize("name", MINARI)
def test_a_damaged_minari_dataset(tmp_path, monkeypatch, name):
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path / "minari"))
    damage, message = MINARI[name]
    export_to("minari:own-v0", stored(tmp_path / "store"))
    damage(tmp_path / "minari/own-v0")
    refused(tmp_path, "minari:own-v0", message, "own-v0")


@pytest.mark.parametrize("target", ["o.npz", "o.jsonl", "o", "o.hdf5", "minari:o-v0"])
def test_whatever_is_damaged_is_an_error_of_ours(tmp_path, monkeypatch, target):
    """Bits are flipped, ends are cut off, bytes are put in: nothing else than a sentence comes of it, or recordings."""
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path / "minari"))
    minari = target.startswith("minari:")
    target = target if minari else str(tmp_path / target)
    export_to(target, stored(tmp_path / "store"))
    root = tmp_path / "minari/o-v0" if minari else tmp_path / target
    whole = {path: path.read_bytes() for path in root.rglob("*") if path.is_file()} or {root: root.read_bytes()}
    rng = np.random.default_rng(0)
    errors = 0
    for number in range(60):
        path = list(whole)[int(rng.integers(len(whole)))]
        data = bytearray(whole[path])
        place = int(rng.integers(len(data)))
        if number % 3 == 0:
            data[place] ^= 1 << int(rng.integers(8))
        elif number % 3 == 1:
            del data[place:]
        else:
            data[place : place + 20] = rng.bytes(int(rng.integers(40)))
        path.write_bytes(bytes(data))
        try:
            world_of_source(target)
            list(import_from(target))
        except RsgError:
            errors += 1
        path.write_bytes(whole[path])
    assert errors > 20


def test_an_id_that_is_none(tmp_path, monkeypatch):
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path / "minari"))
    for source, message in (("minari:", "is not a Minari id"), ("minari:a-v0", "there is no Minari dataset 'a-v0'")):
        with pytest.raises(RsgError, match=message):
            list(import_from(source, Import(Options())))
