"""LeRobot: our folders are read as LeRobot reads them, its own are read by us, and damage is one sentence."""

import json
import os
import shutil
import subprocess
import sys
import textwrap

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from rsg.core.errors import StoreError
from rsg.demos import Demonstration, Store
from rsg.demos.formats import Options
from rsg.demos.formats.lerobot import writing
from rsg.demos.importing import Import, export_to, import_from


def stored(folder, count=5, actions="float32"):
    rng = np.random.default_rng(0)
    demos = []
    for number in range(count):
        steps = int(rng.integers(1, 6))
        done = None if actions is None else rng.normal(size=(steps, 2)).astype(actions)
        states = rng.normal(size=(steps + 1, 3)).astype(np.float32)
        demos.append(Demonstration(states, done, f"task-{number % 2}", f"setting {number}"))
    store = Store.create(folder, "arm")
    store.append(demos)
    return store


def read(folder, **options):
    return list(import_from(folder, Import(Options(**options))))


READ_AS_LEROBOT_DOES = """
    import json, sys
    from pathlib import Path
    import datasets, numpy as np, pandas as pd, torch

    root, expected = Path(sys.argv[1]), np.load(sys.argv[2])
    info = json.loads((root / "meta/info.json").read_text())
    assert info["codebase_version"] == "v3.0"
    kinds = {}
    for name, feature in info["features"].items():  # as get_hf_features_from_features
        kind = datasets.Value(feature["dtype"])
        kinds[name] = kind if feature["shape"] == [1] else datasets.Sequence(length=feature["shape"][0], feature=kind)

    def load(folder, features=None):  # as load_nested_dataset
        paths = [str(path) for path in sorted(folder.glob("*/*.parquet"))]
        return datasets.Dataset.from_parquet(paths, features=features, cache_dir=sys.argv[3])

    frames = load(root / "data", datasets.Features(kinds))
    frames.set_transform(lambda items: {key: [torch.tensor(one) for one in held] for key, held in items.items()})
    episodes = load(root / "meta/episodes")
    episodes = episodes.select_columns([key for key in episodes.features if not key.startswith("stats/")])
    tasks = pd.read_parquet(root / "meta/tasks.parquet")
    stats = json.loads((root / "meta/stats.json").read_text())

    assert len(frames) == info["total_frames"] == len(expected["states"])
    assert len(episodes) == info["total_episodes"] == len(expected["lengths"])
    assert len(tasks) == info["total_tasks"] == 2
    assert tasks.index.name == "task" and tasks.columns.tolist() == ["task_index"]
    assert tasks["task_index"].tolist() == [0, 1]
    begin = 0
    for number, length in enumerate(expected["lengths"].tolist()):
        row = episodes[number]
        assert (row["episode_index"], row["length"]) == (number, length)
        assert (row["dataset_from_index"], row["dataset_to_index"]) == (begin, begin + length)
        assert row["tasks"] == [f"task-{number % 2}"]
        place = {"chunk_index": row["data/chunk_index"], "file_index": row["data/file_index"]}
        assert (root / info["data_path"].format(**place)).exists()
        for frame in range(length):
            item = frames[begin + frame]
            assert item["index"].item() == begin + frame and item["episode_index"].item() == number
            assert item["frame_index"].item() == frame
            assert abs(item["timestamp"].item() - frame / info["fps"]) < 1e-4
            assert tasks.iloc[item["task_index"].item()].name == f"task-{number % 2}"
            assert torch.equal(item["observation.state"], torch.as_tensor(expected["states"][begin + frame]))
            assert torch.equal(item["action"], torch.as_tensor(expected["actions"][begin + frame]))
            assert item["action"].dtype == torch.float32
        begin += length
    for name, values in (("observation.state", expected["states"]), ("action", expected["actions"])):
        one = {kind: np.array(value) for kind, value in stats[name].items()}
        wide = values.astype(np.float64)
        assert one["count"].tolist() == [len(values)]
        assert np.allclose(one["min"], wide.min(axis=0)) and np.allclose(one["max"], wide.max(axis=0))
        assert np.allclose(one["mean"], wide.mean(axis=0)) and np.allclose(one["std"], wide.std(axis=0))
        assert set(one) == {"min", "max", "mean", "std", "count", "q01", "q10", "q50", "q90", "q99"}
    batch = next(iter(torch.utils.data.DataLoader(frames, batch_size=4)))
    assert batch["observation.state"].shape == (4, 3)
    assert not any(name.split(".")[0] == "rsg" for name in sys.modules)
    print("fine")
"""


def test_our_folder_is_read_as_lerobot_reads_it(tmp_path):
    store = stored(tmp_path / "store", 12)
    export_to(str(tmp_path / "set"), store, Options(fps=30))
    demos = list(store)
    arrays = {
        "states": np.concatenate([demo.states[:-1] for demo in demos]),
        "actions": np.concatenate([demo.actions for demo in demos]),
        "lengths": [len(demo) for demo in demos],
    }
    np.savez(tmp_path / "expected.npz", **arrays)
    script = textwrap.dedent(READ_AS_LEROBOT_DOES)
    command = [sys.executable, "-c", script, tmp_path / "set", tmp_path / "expected.npz", tmp_path / "cache"]
    quiet = {"HF_HUB_OFFLINE": "1", "HF_DATASETS_DISABLE_PROGRESS_BARS": "1", "HF_HOME": str(tmp_path / "home")}
    run = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env={**os.environ, **quiet})
    assert run.stdout == "fine\n", run.stderr


def test_our_folder_has_the_documented_layout_and_opens_with_pyarrow_alone(tmp_path, monkeypatch):
    monkeypatch.setattr(writing, "MEGABYTES", 0)  # each shard begins a file
    store = stored(tmp_path / "store", 3)
    store.append(list(store))
    export_to(str(tmp_path / "set"), store)
    files = {str(path.relative_to(tmp_path / "set")) for path in (tmp_path / "set").rglob("*") if path.is_file()}
    assert files == {
        *("meta/info.json", "meta/stats.json", "meta/tasks.parquet", "meta/rsg.json"),
        *("meta/episodes/chunk-000/file-000.parquet", "meta/episodes/chunk-000/file-001.parquet"),
        *("data/chunk-000/file-000.parquet", "data/chunk-000/file-001.parquet"),
    }
    table = pq.read_table(tmp_path / "set" / "data")
    assert table.num_rows == store.steps
    assert table.schema.field("observation.state").type == pa.list_(pa.float32(), 3)
    assert table.schema.field("timestamp").type == pa.float32()
    assert table["index"].to_pylist() == list(range(store.steps))
    listed = pq.read_table(tmp_path / "set" / "meta" / "episodes").to_pylist()
    assert [row["data/file_index"] for row in listed] == [0, 0, 0, 1, 1, 1]
    assert [row["episode_index"] for row in listed] == list(range(6))
    info = json.loads((tmp_path / "set/meta/info.json").read_text())
    assert (info["fps"], info["splits"], info["total_episodes"]) == (10, {"train": "0:6"}, 6)
    assert list(import_from(tmp_path / "set")) == list(store)
    assert [len(demo) for demo in read(tmp_path / "set", state_keys=("observation.state",))] == [
        len(demo) - 1 for demo in store
    ]


# Folders of others


def frames_of(lengths, **more):
    """A table of frames as LeRobot has them, one row each."""
    count = sum(lengths)
    order = np.concatenate([np.arange(length) for length in lengths])
    columns = {
        "action": list(np.arange(2 * count, dtype=np.float32).reshape(count, 2)),
        "observation.state": list(np.arange(3 * count, dtype=np.float32).reshape(count, 3) / 2),
        "timestamp": (order / 10).astype(np.float32),
        "frame_index": order,
        "episode_index": np.repeat(np.arange(len(lengths)), lengths),
        "index": np.arange(count),
        "task_index": np.repeat(np.arange(len(lengths)) % 2, lengths),
        **more,
    }
    return pd.DataFrame({name: values for name, values in columns.items() if values is not None})


def feature(dtype, *shape):
    return {"dtype": dtype, "shape": list(shape), "names": None}


FEATURES = {
    "action": feature("float32", 2),
    "observation.state": feature("float32", 3),
    **{name: feature("int64", 1) for name in ("frame_index", "episode_index", "index", "task_index")},
    "timestamp": feature("float32", 1),
}
LENGTHS = [3, 2, 4]


def foreign(folder, frames=None, features=None, **info):
    """A dataset v3.0 as pandas writes one."""
    frames = frames_of(LENGTHS) if frames is None else frames
    (folder / "meta/episodes/chunk-000").mkdir(parents=True)
    (folder / "data/chunk-000").mkdir(parents=True)
    frames.to_parquet(folder / "data/chunk-000/file-000.parquet", index=False)
    episodes = pd.DataFrame({"episode_index": range(3), "tasks": [["a"], ["b"], ["a"]], "length": LENGTHS})
    episodes.to_parquet(folder / "meta/episodes/chunk-000/file-000.parquet", index=False)
    tasks = pd.DataFrame({"task_index": [0, 1]}, index=pd.Index(["a then b", "b"], name="task"))
    tasks.to_parquet(folder / "meta/tasks.parquet")
    said = {"codebase_version": "v3.0", "fps": 10, "features": {**FEATURES, **(features or {})}, **info}
    (folder / "meta/info.json").write_text(json.dumps(said))
    return folder


def older(folder, version="v2.1"):
    """The same as v2.1: a file for each episode, and lines of JSON."""
    frames = frames_of(LENGTHS)
    (folder / "meta").mkdir(parents=True)
    (folder / "data/chunk-000").mkdir(parents=True)
    for number, part in frames.groupby("episode_index"):
        part.to_parquet(folder / f"data/chunk-000/episode_{number:06d}.parquet", index=False)
    lines = [{"task_index": 0, "task": "a then b"}, {"task_index": 1, "task": "b"}]
    (folder / "meta/tasks.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    lines = [{"episode_index": n, "tasks": ["a"], "length": length} for n, length in enumerate(LENGTHS)]
    (folder / "meta/episodes.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    said = {"codebase_version": version, "fps": 10, "total_episodes": 3, "features": FEATURES}
    (folder / "meta/info.json").write_text(json.dumps(said))
    return folder


@pytest.mark.parametrize("make", [foreign, older])
def test_a_folder_of_others_is_read(tmp_path, make):
    notes, frames = [], frames_of(LENGTHS)
    found = read(make(tmp_path / "set"), note=notes.append)
    assert [demo.task for demo in found] == ["a then b", "b", "a then b"]
    begin = 0
    for demo, length in zip(found, LENGTHS, strict=True):
        assert np.array_equal(demo.states, np.stack(frames["observation.state"][begin : begin + length]))
        assert np.array_equal(demo.actions, np.stack(frames["action"][begin : begin + length - 1]))
        assert demo.states.dtype == demo.actions.dtype == np.float32
        begin += length
    assert "a state is made of observation.state float32[3] (--state-keys" in notes[0]
    assert "the last action of each episode is left out" in notes[1]


def test_version_20_has_the_layout_of_21(tmp_path):
    assert read(older(tmp_path / "new")) == read(older(tmp_path / "old", "v2.0"))


def test_pictures_and_films_are_left_out_and_said(tmp_path):
    count = sum(LENGTHS)
    frames = frames_of(
        LENGTHS,
        **{
            "observation.images.top": [{"bytes": b"png", "path": None}] * count,
            "observation.effort": np.arange(count, dtype=np.float64),
            "observation.grid": [[[n, 1], [2, 3]] for n in range(count)],
            "language_instruction": ["b"] * count,
            "next.reward": np.zeros(count, np.float32),
        },
    )
    features = {
        "observation.images.top": feature("image", 480, 640, 3),
        "observation.images.wrist": feature("video", 480, 640, 3),  # which has no column
        "observation.effort": feature("float64", 1),
        "observation.grid": feature("int64", 2, 2),
        "language_instruction": feature("string", 1),
        "next.reward": feature("float32", 1),
    }
    notes, folder = [], foreign(tmp_path / "set", frames, features)
    first = read(folder, note=notes.append)[0]
    assert first.states[1].tolist() == [1.5, 2.0, 2.5, 1.0, 1.0, 1.0, 2.0, 3.0]
    assert "observation.images.top (image), observation.images.wrist (video)" in notes[0]
    keys = ("observation.grid", "observation.effort")
    chosen = read(folder, state_keys=keys, dtype="uint8", task_key="language_instruction")[0]
    assert (chosen.states[2].tolist(), chosen.task) == ([2, 1, 2, 3, 2], "b")
    assert read(folder, state_keys=("timestamp",))[0].states[:, 0].tolist() == [0.0, np.float32(0.1), np.float32(0.2)]


def test_texts_may_change_within_an_episode(tmp_path):
    notes, frames = [], frames_of(LENGTHS)
    frames.loc[2, "task_index"] = 1
    assert read(foreign(tmp_path / "set", frames), note=notes.append)[0].task == "a then b"
    assert "the text changes within 1 episodes: the first one counts" in notes


def test_numbers_of_tasks_may_be_in_another_column(tmp_path):
    frames = frames_of(LENGTHS, **{"annotation.human.task": np.ones(sum(LENGTHS), np.int64)})
    folder = foreign(tmp_path / "set", frames, {"annotation.human.task": feature("int64", 1)})
    assert [demo.task for demo in read(folder, task_key="annotation.human.task")] == ["b"] * 3


def test_an_unnamed_index_of_texts_is_read(tmp_path):
    folder = foreign(tmp_path / "set")
    table = pq.read_table(folder / "meta/tasks.parquet")
    pq.write_table(table.rename_columns(["task_index", "__index_level_0__"]), folder / "meta/tasks.parquet")
    assert read(folder)[0].task == "a then b"


def test_without_actions_or_tasks(tmp_path):
    folder = foreign(tmp_path / "set", frames_of(LENGTHS, action=None, task_index=None))
    said = json.loads((folder / "meta/info.json").read_text())
    del said["features"]["action"], said["features"]["task_index"]
    (folder / "meta/info.json").write_text(json.dumps(said))
    notes = []
    found = read(folder, note=notes.append)
    assert [(demo.actions, demo.task, len(demo)) for demo in found] == [(None, "", 2), (None, "", 1), (None, "", 3)]
    assert "has no feature 'action'" in notes[1]
    assert notes[-2:] == [f"3 of 3 recordings have come without {what}" for what in ("actions", "a description")]


def test_a_discrete_action_is_a_number(tmp_path):
    frames = frames_of(LENGTHS, action=np.arange(sum(LENGTHS)))
    assert read(foreign(tmp_path / "set", frames, {"action": feature("int64", 1)}))[1].actions.tolist() == [3]


def test_features_of_other_names_are_found(tmp_path):
    """As openpi's sets have them."""
    frames = frames_of(LENGTHS).rename(columns={"action": "actions", "observation.state": "state"})
    folder = foreign(tmp_path / "set", frames)
    info = json.loads((folder / "meta/info.json").read_text())
    info["features"] |= {"actions": info["features"].pop("action"), "state": info["features"].pop("observation.state")}
    (folder / "meta/info.json").write_text(json.dumps(info))
    assert read(folder) == read(foreign(tmp_path / "usual"))


def test_an_edited_folder_of_ours_is_read_as_one_of_lerobot(tmp_path):
    """LeRobot's tools keep the frames and drop what they do not know."""
    store = stored(tmp_path / "store", 9)
    store.append([store[0].first(1)])
    export_to(str(tmp_path / "set"), store)
    (tmp_path / "set/meta/rsg.json").unlink()
    long = [demo for demo in store if len(demo) > 1]
    with pytest.raises(StoreError, match="has one frame; a recording needs two states"):
        read(tmp_path / "set")
    shutil.rmtree(tmp_path / "set")
    longer = Store.create(tmp_path / "longer", "arm")
    longer.append(long)
    export_to(str(tmp_path / "set"), longer)
    (tmp_path / "set/meta/rsg.json").unlink()
    expected = [Demonstration(one.states[:-1], one.actions[:-1], one.task) for one in long]
    assert read(tmp_path / "set") == expected


# Damage


def rewritten(path, change):
    """A parquet file after a change of its table."""
    table = change(pq.read_table(path))
    if table is not None:
        pq.write_table(table, path)


def replaced(name, values, kind=None):
    """A change: another column in the place of one; None drops it."""

    def change(table):
        place = table.schema.get_field_index(name)
        if values is None:
            return table.remove_column(place)
        return table.set_column(place, name, pa.array(values, kind))

    return change


def said(folder, **changes):
    path = folder / "meta/info.json"
    info = {**json.loads(path.read_text()), **changes}
    path.write_text(json.dumps({key: value for key, value in info.items() if value is not None}))


def cut(path, share=0.5):
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * share)])


def flipped(path):
    """Bytes in the middle of the first pages are changed."""
    data = bytearray(path.read_bytes())
    data[20:60] = bytes(40)
    path.write_bytes(bytes(data))


DATA, EPISODES = "data/chunk-000/file-000.parquet", "meta/episodes/chunk-000/file-000.parquet"
THREE = [[0.0, 1.0, 2.0]] * 9
DAMAGE = {
    "no info": (lambda f: (f / "meta/info.json").unlink(), r"is a folder without meta/info.json \(LeRobot\)"),
    "info is cut": (lambda f: cut(f / "meta/info.json"), "info.json is not JSON"),
    "info is no UTF-8": (lambda f: (f / "meta/info.json").write_bytes(b'{"a": "\xff"}'), "info.json is not JSON"),
    "info is a list": (lambda f: (f / "meta/info.json").write_text("[]"), "info.json must hold an object, not a list"),
    "version 1": (lambda f: said(f, codebase_version="v1.6"), "codebase_version 'v1.6'; v3.0 and v2.1 are read"),
    "version 4": (lambda f: said(f, codebase_version="v4.0"), "'v4.0'; v3.0 and v2.1 are read, update rsg"),
    "no version": (lambda f: said(f, codebase_version=None), "says codebase_version None"),
    "no features": (lambda f: said(f, features={}), "info.json names no features"),
    "a feature without dtype": (lambda f: said(f, features={"action": {}}), "the feature 'action' has no dtype"),
    "no vectors": (
        lambda f: said(f, features={"observation.images.top": feature("video", 9, 9, 3)}),
        r"has no vectors of numbers .* it holds observation.images.top \(video\)",
    ),
    "no tasks": (lambda f: (f / "meta/tasks.parquet").unlink(), "has no meta/tasks.parquet, where the tasks are"),
    "tasks without texts": (
        lambda f: rewritten(f / "meta/tasks.parquet", replaced("task", None)),
        "tasks.parquet has the columns task_index; it needs task and task_index",
    ),
    "tasks in disorder": (
        lambda f: rewritten(f / "meta/tasks.parquet", replaced("task_index", [1, 0])),
        "tasks.parquet, row 0: its task_index is 1; LeRobot finds tasks by their rows",
    ),
    "a task is null": (
        lambda f: rewritten(f / "meta/tasks.parquet", replaced("task", ["a", None])),
        "tasks.parquet, row 1: its task must be text, not a NoneType",
    ),
    "a task is no task": (
        lambda f: rewritten(f / "meta/tasks.parquet", replaced("task", ["a", "Put it, please!"])),
        "file-000.parquet, episode 1: the task is not understood",
    ),
    "a task that is not there": (
        lambda f: rewritten(f / DATA, replaced("task_index", [7] * 9)),
        "episode 0: its task_index is 7, there are 2 tasks",
    ),
    "no episodes": (lambda f: shutil.rmtree(f / "meta/episodes"), "has no meta/episodes"),
    "episodes are cut": (lambda f: cut(f / EPISODES), "cannot read .*episodes/chunk-000/file-000.parquet"),
    "episodes with a gap": (
        lambda f: rewritten(f / EPISODES, replaced("episode_index", [0, 2, 3])),
        "episode 2 stands where episode 1 should be",
    ),
    "an episode too few": (
        lambda f: rewritten(f / EPISODES, lambda table: table.slice(0, 2)),
        "episode 2: meta does not list this episode",
    ),
    "a length is null": (
        lambda f: rewritten(f / EPISODES, replaced("length", [3, None, 4])),
        r"row 1: episode_index and length must be whole numbers, not \(1, None\)",
    ),
    "a length is wrong": (
        lambda f: rewritten(f / EPISODES, replaced("length", [3, 5, 4])),
        "episode 1 has 2 frames, meta says 5",
    ),
    "more episodes are promised": (lambda f: said(f, total_episodes=8), "there are 8 episodes, meta has 3"),
    "no data": (lambda f: (f / DATA).unlink(), "has no data/"),
    "data is cut": (lambda f: cut(f / DATA), "cannot read .*data/chunk-000/file-000.parquet"),
    "data is damaged": (lambda f: flipped(f / DATA), "cannot read .*data/chunk-000/file-000.parquet"),
    "data is something else": (lambda f: (f / DATA).write_text("no"), "cannot read .*data/chunk-000/file-000.parquet"),
    "no column of states": (
        lambda f: rewritten(f / DATA, replaced("observation.state", None)),
        "has no column 'observation.state'; it has action",
    ),
    "no column of episodes": (
        lambda f: rewritten(f / DATA, replaced("episode_index", None)),
        "has no column 'episode_index'",
    ),
    "an episode without frames": (
        lambda f: rewritten(f / DATA, lambda table: pa.concat_tables([table.slice(0, 3), table.slice(5)])),
        "episode 1: data has no frames of it",
    ),
    "no frames at the end": (
        lambda f: rewritten(f / DATA, lambda table: table.slice(0, 5)),
        "episode 2: data has no frames of it",
    ),
    "frames in disorder": (
        lambda f: rewritten(f / DATA, lambda table: table.take([0, 2, 1, *range(3, 9)])),
        "episode 0: frame 2 stands where frame 1 should be",
    ),
    "ragged states": (
        lambda f: rewritten(f / DATA, replaced("observation.state", [*THREE[:4], [0.0, 1.0], *THREE[:4]])),
        "episode 1: 'observation.state' has 2 numbers in one frame and 3 in another",
    ),
    "states of another width": (
        lambda f: rewritten(f / DATA, replaced("observation.state", [[1.0] * 4] * 9)),
        "'observation.state' has 4 numbers in each frame, meta/info.json says 3",
    ),
    "a state is null": (
        lambda f: rewritten(f / DATA, replaced("observation.state", [*THREE[:8], None])),
        "episode 2: 'observation.state' is missing",
    ),
    "a number is null": (
        lambda f: rewritten(f / DATA, replaced("observation.state", [*THREE[:8], [0.0, None, 1.0]])),
        "'observation.state' holds a null where a number should be",
    ),
    "NaN": (
        lambda f: rewritten(f / DATA, replaced("observation.state", [*THREE[:4], [0.0, np.nan, 1.0], *THREE[:4]])),
        "episode 1: state 1 holds NaN",
    ),
    "NaN in an action": (
        lambda f: rewritten(f / DATA, replaced("action", [[np.nan, 0.0]] * 9)),
        "episode 0: action 0 holds NaN",
    ),
    "texts for numbers": (
        lambda f: rewritten(f / DATA, replaced("observation.state", ["x"] * 9)),
        "'observation.state' holds (large_)?string, not numbers",
    ),
    "a float for a whole number": (
        lambda f: rewritten(f / DATA, replaced("task_index", [0.5] * 9)),
        "number 0 has 0.5, which int64 cannot hold exactly",
    ),
    "no such key": (lambda f: None, "has no feature 'state' for --state-keys; "),
}


@pytest.mark.parametrize("name", DAMAGE)
def test_damage_is_one_sentence(tmp_path, name):
    damage, message = DAMAGE[name]
    folder = foreign(tmp_path / "set")
    damage(folder)
    with pytest.raises(StoreError, match=message) as caught:
        read(folder, state_keys=("state",) if name == "no such key" else ())
    text = str(caught.value)
    assert str(folder) in text
    assert name == "a task is no task" or "\n" not in text


OLDER_DAMAGE = {
    "no tasks": (lambda f: (f / "meta/tasks.jsonl").unlink(), "has no meta/tasks.parquet"),
    "a task is no JSON": (lambda f: cut(f / "meta/tasks.jsonl", 0.7), "tasks.jsonl, line 2 is not JSON"),
    "a task twice": (
        lambda f: (f / "meta/tasks.jsonl").write_text('{"task_index": 0, "task": "a"}\n' * 2),
        "two tasks have the number 0",
    ),
    "a task without text": (
        lambda f: (f / "meta/tasks.jsonl").write_text('{"task_index": 0}\n'),
        "tasks.jsonl, line 1 must be an object with the keys task_index and task",
    ),
    "no episodes": (lambda f: (f / "meta/episodes.jsonl").unlink(), "has no meta/episodes.jsonl"),
    "an episode is no UTF-8": (
        lambda f: (f / "meta/episodes.jsonl").write_bytes(b'{"tasks": "\xff"}\n'),
        "episodes.jsonl, line 1 is not JSON",
    ),
    "an episode without length": (
        lambda f: (f / "meta/episodes.jsonl").write_text('{"episode_index": 0, "length": null}\n'),
        "episodes.jsonl, row 0: episode_index and length must be whole numbers",
    ),
    "an episode is a list": (lambda f: (f / "meta/episodes.jsonl").write_text("[1]\n"), "line 1 must be an object"),
    "a file is missing": (
        lambda f: (f / "data/chunk-000/episode_000001.parquet").unlink(),
        "episode 1: data has no frames of it",
    ),
    "a file is cut": (
        lambda f: cut(f / "data/chunk-000/episode_000002.parquet"),
        "cannot read .*episode_000002.parquet",
    ),
}


@pytest.mark.parametrize("name", OLDER_DAMAGE)
def test_damage_of_version_21_is_one_sentence(tmp_path, name):
    damage, message = OLDER_DAMAGE[name]
    folder = older(tmp_path / "set")
    damage(folder)
    with pytest.raises(StoreError, match=message) as caught:
        read(folder)
    assert "\n" not in str(caught.value)


def test_damage_to_what_we_noted_is_one_sentence(tmp_path):
    for change, message in (
        (lambda f: (f / "meta/rsg.json").write_text("{}"), "rsg.json is damaged; remove it to read the folder"),
        (lambda f: rewritten(f / EPISODES, replaced("rsg/final_state", None)), "has no column 'rsg/final_state'"),
        (
            lambda f: rewritten(f / EPISODES, replaced("rsg/setting", [None] * 3)),
            "episode 0 has no rsg/final_state or no rsg/setting",
        ),
        (
            lambda f: rewritten(f / EPISODES, replaced("rsg/final_state", [[1.0] * 5] * 3)),
            "episode 0: its last state has 5 numbers, not 3",
        ),
    ):
        export_to(str(tmp_path / "set"), stored(tmp_path / "store", 3))
        change(tmp_path / "set")
        with pytest.raises(StoreError, match=message):
            read(tmp_path / "set")
        shutil.rmtree(tmp_path / "set")
        shutil.rmtree(tmp_path / "store")
