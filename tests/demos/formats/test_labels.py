"""Labels in the formats of others: each reader's own idea of where a segment ends gives back the same segments."""

import json
import os
import subprocess
import sys
import textwrap

import h5py
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.demos.formats.test_lerobot import LENGTHS, foreign, older
from tests.demos.formats.test_robomimic import LENGTHS as EPISODES
from tests.demos.formats.test_robomimic import foreign as foreign_file

from rsg.core.errors import StoreError
from rsg.demos import Demonstration, Store
from rsg.demos.formats import Options
from rsg.demos.importing import Import, import_from, label_to, labelled_as
from rsg.demos.labels import Labelled, Labels, Segment, line_of, named_apart

CUTS = [  # ends and terms of each recording
    [("reach", 2), ("grasp", 5), ("reach", 7)],
    [("grasp", 4)],
    [],  # nobody could say
    [("reach", 1), ("grasp", 2), ("lift", 3)],
]
FEW = [[("reach", 1), ("grasp", 2)], [("grasp", 1)], [("reach", 1), ("grasp", 3)]]  # of the folders of others


def segments_of(cut):
    starts = [0, *(end for _, end in cut)]
    return [Segment(term, start, end, 0.9) for (term, end), start in zip(cut, starts, strict=False)]


def labels_in(path, cuts, lengths):
    """A file of labels."""
    lines = [
        line_of(n, length, segments_of(cut), {"task": "t"})
        for n, (cut, length) in enumerate(zip(cuts, lengths, strict=True))
    ]
    path.write_text("".join(line + "\n" for line in lines))
    return Labels([path])


@pytest.fixture
def store(tmp_path):
    rng = np.random.default_rng(0)
    made = Store.create(tmp_path / "store", "arm")
    for cut in CUTS:
        steps = cut[-1][1] if cut else 3
        made.append([Demonstration(rng.normal(size=(steps + 1, 3)), rng.normal(size=(steps, 2)), "t")])
    return made


@pytest.fixture
def labels(tmp_path):
    return labels_in(tmp_path / "labels", CUTS, [cut[-1][1] if cut else 3 for cut in CUTS])


def served(cut, frames):
    """The term of each frame, said once more."""
    ends = [end for _, end in cut]
    return [next((term for term, end in cut if frame < end), cut[-1][0]) if ends else "" for frame in range(frames)]


def frames_in(folder):
    """The frames of a folder by episode."""
    table = pq.read_table(folder / "data")
    return [part for _, part in table.to_pandas().groupby("episode_index")]


def test_lines_hold_all_that_was_said(labels, store, tmp_path):
    label_to(str(tmp_path / "out.jsonl"), labels, store, "store", Options())
    assert list(Labels([tmp_path / "out.jsonl"])) == list(labels)
    for one, cut in zip(labels, CUTS, strict=True):
        assert [(s.term, s.end) for s in one.segments] == cut


def test_lerobot_from_06_on_reads_what_is_active(labels, store, tmp_path):
    """`active_at`: the last row of the style at or before a time; there is no end."""
    label_to(str(tmp_path / "out"), labels, store, "store", Options(fps=30))
    info = json.loads((tmp_path / "out/meta/info.json").read_text())
    for name in ("language_persistent", "language_events"):
        assert info["features"][name] == {"dtype": "language", "shape": [1], "names": None}
    assert info["features"]["subtask"] == {"dtype": "string", "shape": [1], "names": None}
    kind = pq.read_table(tmp_path / "out/data").schema.field("language_persistent").type.value_type
    assert [kind.field(n).name for n in range(6)] == ["role", "content", "style", "timestamp", "camera", "tool_calls"]
    assert not kind.field("role").nullable
    assert not kind.field("timestamp").nullable
    assert kind.field("timestamp").type == pa.float32()
    for frames, cut in zip(frames_in(tmp_path / "out"), CUTS, strict=True):
        rows = [list(map(dict, row)) for row in frames["language_persistent"]]
        assert all(row == rows[0] for row in rows)  # every frame has them all
        assert all(len(row) == 0 for row in frames["language_events"])
        assert frames["subtask"].tolist() == served(cut, len(frames))
        for text, now in zip(frames["subtask"], frames["timestamp"], strict=True):
            active = [row for row in rows[0] if row["style"] == "subtask" and row["timestamp"] <= now]
            assert (active[-1]["content"] if active else "") == text
        for row in rows[0]:
            assert (row["role"], row["camera"], row["tool_calls"]) == ("assistant", None, None)
            assert row["timestamp"] in frames["timestamp"].tolist()


@pytest.mark.parametrize("lerobot", ["0.6", "0.5"])
def test_files_are_labelled_piece_by_piece(labels, store, tmp_path, monkeypatch, lerobot):
    label_to(str(tmp_path / "whole"), labels, store, "store", Options(lerobot=lerobot))
    data = "data/chunk-000/file-000.parquet"
    for rows, pieces in ((1, 4), (8, 3), (100, 1)):  # frames of the four episodes: 7, 4, 3, 3
        monkeypatch.setattr("rsg.demos.formats.lerobot.labels.ROWS", rows)
        label_to(str(tmp_path / f"by-{rows}"), labels, store, "store", Options(lerobot=lerobot))
        assert pq.read_table(tmp_path / f"by-{rows}" / data).equals(pq.read_table(tmp_path / "whole" / data))
        assert pq.ParquetFile(tmp_path / f"by-{rows}" / data).num_row_groups == pieces
    assert not list(tmp_path.rglob("*.part"))


def test_earlier_lerobot_has_a_table_of_subtasks_and_sarm_ends_that_are_inclusive(labels, store, tmp_path):
    label_to(str(tmp_path / "out"), labels, store, "store", Options(fps=30, lerobot="0.5"))
    info = json.loads((tmp_path / "out/meta/info.json").read_text())
    assert not any(feature["dtype"] == "language" for feature in info["features"].values())  # it could not be opened
    subtasks = pd.read_parquet(tmp_path / "out/meta/subtasks.parquet")
    episodes = pd.read_parquet(tmp_path / "out/meta/episodes")
    shares = json.loads((tmp_path / "out/meta/temporal_proportions_sparse.json").read_text())
    assert sum(shares.values()) == pytest.approx(1.0)
    assert list(shares) == ["reach", "grasp", "lift"]
    for frames, cut, (_, row) in zip(frames_in(tmp_path / "out"), CUTS, episodes.iterrows(), strict=True):
        found = [subtasks.iloc[number].name for number in frames["subtask_index"]]  # by row, as LeRobot does
        assert found == frames["subtask"].tolist() == served(cut, len(frames))
        spans = list(zip(row["sparse_subtask_start_frames"], row["sparse_subtask_end_frames"], strict=True))
        names = row["sparse_subtask_names"]
        inclusive = [
            next((name for name, (a, b) in zip(names, spans, strict=True) if a <= n <= b), "")
            for n in range(len(frames))
        ]
        assert inclusive == served(cut, len(frames))
        for kind in ("start", "end"):  # SARM makes frames of times
            times, numbers = row[f"sparse_subtask_{kind}_times"], row[f"sparse_subtask_{kind}_frames"]
            assert [int(time * 30) for time in times] == list(numbers)


def test_times_are_cut_to_their_frames_whatever_the_clock():
    from rsg.demos.formats.lerobot.labels import time_of

    assert all(int(time_of(n, fps) * fps) == n for fps in (1, 7, 10, 24, 29.97, 30, 50, 100) for n in range(3000))


@pytest.mark.parametrize("lerobot", ["0.5", "0.6"])
@pytest.mark.parametrize("make", [foreign, older])
def test_a_folder_of_others_is_copied_with_all_it_holds(tmp_path, make, lerobot):
    """Its frames are states: the last one is of the last subtask."""
    source = make(tmp_path / "set")
    (source / "videos").mkdir()
    (source / "videos/film.mp4").write_bytes(b"film")
    imported = Store.create(tmp_path / "imported", "arm")
    imported.append(import_from(source))
    labels, notes = labels_in(tmp_path / "labels", FEW, [length - 1 for length in LENGTHS]), []
    label_to(str(tmp_path / "out"), labels, imported, str(source), Options(lerobot=lerobot, note=notes.append))
    assert (tmp_path / "out/videos/film.mp4").read_bytes() == b"film"
    for frames, before, cut in zip(frames_in(tmp_path / "out"), frames_in(source), FEW, strict=True):
        assert frames["subtask"].tolist() == served(cut, len(frames))
        for name in before:
            assert all(np.array_equal(a, b) for a, b in zip(frames[name], before[name], strict=True))
    assert make is foreign or "gets the column 'subtask' alone" in notes[0]
    assert list(import_from(tmp_path / "out")) == list(imported)
    with pytest.raises(StoreError, match="episode 0 has 3 frames, its labels are of 4 steps"):
        label_to(
            str(tmp_path / "other"), labels_in(tmp_path / "labels", FEW, [4, 1, 3]), imported, str(source), Options()
        )
    assert not (tmp_path / "other").exists()


def test_labels_take_the_place_of_older_ones(labels, store, tmp_path):
    label_to(str(tmp_path / "out"), labels, store, "store", Options())
    other = labels_in(tmp_path / "labels", [[("push", len(demo))] for demo in store], map(len, store))
    label_to(str(tmp_path / "again"), other, store, str(tmp_path / "out"), Options())
    assert {text for frames in frames_in(tmp_path / "again") for text in frames["subtask"]} == {"push"}
    assert list(import_from(tmp_path / "again")) == list(store)


READ_AS_LEROBOT_DOES = """
    import json, sys
    from pathlib import Path
    import datasets, torch

    root = Path(sys.argv[1])
    info = json.loads((root / "meta/info.json").read_text())
    said = {key: datasets.Value("string") for key in ("role", "content", "style")}
    more = {"camera": datasets.Value("string"), "tool_calls": datasets.List(datasets.Json())}
    language = {
        "language_persistent": datasets.List({**said, "timestamp": datasets.Value("float32"), **more}),
        "language_events": datasets.List({**said, **more}),
    }
    kinds = {}
    for name, feature in info["features"].items():
        if feature["dtype"] == "language":
            kinds[name] = language[name]
        else:
            kind = datasets.Value(feature["dtype"])
            alone = feature["shape"] == [1]
            kinds[name] = kind if alone else datasets.Sequence(length=feature["shape"][0], feature=kind)
    paths = [str(path) for path in sorted((root / "data").glob("*/*.parquet"))]
    frames = datasets.Dataset.from_parquet(paths, features=datasets.Features(kinds), cache_dir=sys.argv[2])
    told = [[row["content"] for row in frame.get("language_persistent", [])] for frame in frames]
    print(json.dumps({"subtask": list(frames["subtask"]), "persistent": told}))
"""


@pytest.mark.parametrize("lerobot", ["0.5", "0.6"])
def test_the_library_of_its_reader_opens_both(labels, store, tmp_path, lerobot):
    label_to(str(tmp_path / "out"), labels, store, "store", Options(lerobot=lerobot))
    command = [sys.executable, "-c", textwrap.dedent(READ_AS_LEROBOT_DOES), tmp_path / "out", tmp_path / "cache"]
    quiet = {"HF_HUB_OFFLINE": "1", "HF_DATASETS_DISABLE_PROGRESS_BARS": "1", "HF_HOME": str(tmp_path / "home")}
    run = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env={**os.environ, **quiet})
    assert run.returncode == 0, run.stderr
    found = json.loads(run.stdout)
    expected = [term for cut, demo in zip(CUTS, store, strict=True) for term in served(cut, len(demo))]
    assert found["subtask"] == expected
    names = [[term for term, _ in cut] for cut, demo in zip(CUTS, store, strict=True) for _ in range(len(demo))]
    assert found["persistent"] == (names if lerobot == "0.6" else [[]] * len(names))


def mimicgen_ends(episode, names):
    """Where subtasks end, as MimicGen reads a file: the first state where the signal changes, after the last end."""
    found, last = [], 0
    for name in names:
        signal = episode[f"datagen_info/subtask_term_signals/{name}"][:]
        steps = (signal[1:] - signal[:-1]).nonzero()[0] + 1
        last = next(int(step) for step in steps if step >= last)
        found.append(last)
    return found


def test_mimicgen_finds_the_states_where_subtasks_were_completed(labels, store, tmp_path):
    label_to(str(tmp_path / "out.hdf5"), labels, store, "store", Options())
    with h5py.File(tmp_path / "out.hdf5") as file:
        for number, cut in enumerate(CUTS):
            episode = file[f"data/demo_{number}"]
            told = json.loads(episode.attrs["subtasks"])
            names = [name for name, _, _ in told]
            assert [name.split("_")[0] for name in names] == [term for term, _ in cut]
            assert mimicgen_ends(episode, names[:-1]) == [end for _, end in cut[:-1]]
            signals = episode.get("datagen_info/subtask_term_signals", {})
            assert set(signals) == set(names[:-1])  # the last one has none: it ends with the recording
            for signal in signals.values():
                assert len(signal) == len(episode["actions"])
    assert list(import_from(tmp_path / "out.hdf5")) == list(store)


def test_a_robomimic_file_is_copied_with_all_it_holds(tmp_path):
    foreign_file(tmp_path / "set.hdf5")
    imported = Store.create(tmp_path / "imported", "arm")
    imported.append(import_from(tmp_path / "set.hdf5", Import(words={"*": "reach then grasp"})))
    lengths = [EPISODES[name] for name in sorted(EPISODES, key=lambda name: int(name[5:]))]
    cuts = [[("reach", 1), ("grasp", length)] for length in lengths]
    label_to(
        str(tmp_path / "out.hdf5"),
        labels_in(tmp_path / "l", cuts, lengths),
        imported,
        str(tmp_path / "set.hdf5"),
        Options(),
    )
    with h5py.File(tmp_path / "out.hdf5") as file, h5py.File(tmp_path / "set.hdf5") as before:
        for name in EPISODES:
            assert mimicgen_ends(file[f"data/{name}"], ["reach"]) == [1]
            image = "obs/agentview_image"
            assert np.array_equal(file[f"data/{name}/{image}"], before[f"data/{name}/{image}"])
        assert dict(file["data"].attrs) == dict(before["data"].attrs)


@pytest.mark.filterwarnings("ignore")
def test_minari_keeps_them_in_the_metadata_of_episodes(labels, store, tmp_path, monkeypatch):
    import minari

    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path / "minari"))
    label_to("minari:arm/cut-v0", labels, store, "store", Options())
    label_to("minari:arm/again-v0", labels, store, "minari:arm/cut-v0", Options())
    for dataset in ("arm/cut-v0", "arm/again-v0"):
        there = minari.load_dataset(dataset)
        assert there.spec.dataset_id == dataset
        for about, cut in zip(there.storage.get_episode_metadata(range(len(CUTS))), CUTS, strict=True):
            found = json.loads(about["segments"])
            assert [(one["term"], one["end"]) for one in found] == cut
        assert list(import_from(f"minari:{dataset}")) == list(store)


def test_what_has_no_place_for_labels_is_said_before_any_work(tmp_path):
    with pytest.raises(StoreError, match="npz has no place for labels; give FILE"):
        labelled_as(str(tmp_path / "out.npz"))
    (tmp_path / "there.jsonl").write_text("")
    with pytest.raises(StoreError, match="exists already"):
        labelled_as(str(tmp_path / "there.jsonl"))


def test_a_term_that_comes_again_has_a_number():
    cut = segments_of([("reach", 1), ("grasp", 2), ("reach", 3), ("reach", 4)])
    assert named_apart(cut) == ["reach", "grasp", "reach_2", "reach_3"]
    assert Labelled(0, 4, tuple(cut)).frames(5, "here") == [0, 1, 2, 3, 3]
