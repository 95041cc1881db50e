"""What was saved comes back bit for bit, damage is always noticed, and a kill leaves the old or the new checkpoint."""

import hashlib
import json
import random
import resource
import shutil
from contextlib import contextmanager
from itertools import count

import pytest
import torch
from tests.demos.examples import contents
from tests.kill.moments import killed

import rsg.core.folder as folders
import rsg.training.checkpoint as checkpoint
from rsg.core.errors import RsgError, RunError
from rsg.demos import Store
from rsg.training.checkpoint import Run, Saved, writing

ABOUT = {"method": "rsg", "world": "crafting", "settings": {"rate": 0.1, "terms": ["grab-axe", "größer"]}}


def saved(step, seed=None, size=50):
    """A checkpoint that follows from its numbers alone."""
    generator = torch.Generator().manual_seed(step if seed is None else seed)
    tensors = {"weight": torch.randn(size, generator=generator), "moment": torch.randn(3, 4, generator=generator)}
    return Saved(tensors, {"step": step, "history": [[step, 0.1 * step]]})


def same(one, other):
    return one.notes == other.notes and bits(one.tensors) == bits(other.tensors)


def bits(tensors):
    return {name: (t.dtype, tuple(t.shape), t.contiguous().numpy().tobytes()) for name, t in tensors.items()}


@pytest.fixture
def folder(tmp_path):
    """A run with both checkpoints."""
    Run.create(tmp_path / "run", ABOUT)
    with writing(tmp_path / "run") as run:
        run.save({"last": saved(150), "best": saved(100)})
    return tmp_path / "run"


def reseal(folder, **changes):
    """Change what `run.json` says, with the checksum that goes with it."""
    content = json.loads((folder / "run.json").read_text()) | changes | {"sha256": ""}
    digest = hashlib.sha256(json.dumps(content).encode()).hexdigest()
    (folder / "run.json").write_text(json.dumps(content).replace('"sha256": ""', f'"sha256": "{digest}"'))


def refused(call, *parts):
    """The call raises one sentence with these parts."""
    with pytest.raises(RunError) as caught:
        call()
    assert "\n" not in str(caught.value)
    for part in parts:
        assert str(part) in str(caught.value)


# ---- what is saved and loaded


def test_a_new_run_says_what_it_is_about(tmp_path):
    run = Run.create(tmp_path / "deep" / "run", ABOUT)
    assert (run.about, run.steps) == (ABOUT, {})
    assert Run(str(run.folder)).about == ABOUT
    run.about["settings"]["rate"] = 7
    assert run.about == ABOUT


def test_every_kind_of_tensor_comes_back_bit_for_bit(tmp_path):
    odd = torch.tensor([0x7FC00001, -0x80000000, 1], dtype=torch.int32).view(torch.float32)  # NaN with bits, -0, tiny
    weight = torch.nn.Parameter(torch.randn(4, 5))
    tensors = {
        "float32": odd,
        "float64": torch.randn(2, 3, dtype=torch.float64),
        "int64": torch.tensor([-(2**63), 2**63 - 1]),
        "uint8": torch.arange(256, dtype=torch.uint8),  # the state of a random generator
        "int16": torch.tensor([-5, 5], dtype=torch.int16),
        "bool": torch.tensor([True, False, True]),
        "zero-dim": torch.tensor(1.5),
        "zero-dim int": torch.tensor(7),
        "empty": torch.zeros(0, 3, dtype=torch.int64),
        "parameter": weight,
        "tied": weight,
        "turned": weight.T,
        "part": weight[1:, 2:4],
    }
    Run.create(tmp_path / "run", {})
    with writing(tmp_path / "run") as run:
        run.save({"last": Saved(tensors, {"step": 0})})
    loaded = Run(tmp_path / "run").load("last").tensors
    assert bits(loaded) == bits({name: tensor.detach() for name, tensor in tensors.items()})
    loaded["tied"] += 1
    assert not torch.equal(loaded["tied"], loaded["parameter"])


def test_no_tensors_at_all(tmp_path):
    Run.create(tmp_path / "run", {})
    with writing(tmp_path / "run") as run:
        run.save({"best": Saved({}, {"step": 0})})
    assert Run(tmp_path / "run").load("best").tensors == {}


def test_a_checkpoint_takes_the_place_of_the_one_before(folder):
    with writing(folder) as run:
        run.save({"last": saved(200)})
        assert run.steps == {"last": 200, "best": 100}
        assert same(run.load("last"), saved(200))
    assert same(Run(folder).load("best"), saved(100))
    assert set(contents(folder)) == {"run.json", "last-00000200.safetensors", "best-00000100.safetensors"}
    with writing(folder) as run:
        run.save({"last": saved(250), "best": saved(250)})
    assert Run(folder).about == ABOUT
    assert set(contents(folder)) == {"run.json", "last-00000250.safetensors", "best-00000250.safetensors"}


def test_the_same_step_may_be_saved_again(folder):
    before = contents(folder)
    with writing(folder) as run:
        run.save({"last": saved(150), "best": saved(100)})
        assert contents(folder) == before
        for seed in (1, 2, 3):
            run.save({"last": saved(150, seed)})
            assert same(Run(folder).load("last"), saved(150, seed))
            assert len(contents(folder)) == 3


def test_large_notes(folder):
    notes = {"step": 300, "history": [[step, step / 7] for step in range(20_000)]}
    with writing(folder) as run:
        run.save({"last": Saved({}, notes)})
    assert Run(folder).load("last").notes == notes


def test_a_reader_follows_a_trainer_that_goes_on(folder):
    reader = Run(folder)
    with writing(folder) as run:
        run.save({"last": saved(200)})
    assert same(reader.load("last"), saved(200))


# ---- errors


@pytest.mark.parametrize("open_run", [Run, lambda folder: writing(folder).__enter__()])
def test_what_is_not_a_run_is_named(tmp_path, open_run):
    file, empty, store = tmp_path / "file", tmp_path / "empty", tmp_path / "store"
    file.write_text("x")
    empty.mkdir()
    Store.create(store, "own")
    refused(lambda: open_run(tmp_path / "none"), "there is no folder", tmp_path / "none")
    refused(lambda: open_run(file), f"{file} is a file, not a folder")
    refused(lambda: open_run(file / "run"), "there is no folder")
    refused(lambda: open_run(empty), f"{empty} is not a run: it has no run.json")
    refused(
        lambda: open_run(store), f"{store} is a store of demonstrations", "manifest.json", "give the folder of a run"
    )
    refused(lambda: open_run(tmp_path / ("x" * 300)), "cannot read", "too long")
    assert list(empty.iterdir()) == []


def test_a_run_is_created_only_in_an_empty_folder(tmp_path, folder):
    before = contents(folder)
    refused(lambda: Run.create(folder, {}), f"{folder} already holds a run")
    assert contents(folder) == before
    file = tmp_path / "file"
    file.write_text("x")
    refused(lambda: Run.create(file, {}), f"{file} is a file")
    refused(lambda: Run.create(file / "run", {}), "cannot write to", "Not a directory")
    refused(lambda: Run.create(tmp_path, {}), f"{tmp_path} is not empty")
    refused(lambda: Run.create(tmp_path / ("x" * 300), {}), "too long")
    refused(lambda: Run.create(tmp_path / "new", {"rate": float("nan")}), "not plain JSON")
    assert not (tmp_path / "new").exists()


def test_a_run_is_created_over_the_leftovers_of_a_killed_one(tmp_path):
    (tmp_path / ".lock").touch()
    (tmp_path / ".run.json.abc.json").write_text("{")
    Run.create(tmp_path, ABOUT)
    assert set(contents(tmp_path)) == {"run.json"}


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "null", "{}", '"rsg-run"', '{"format": "rsg-run"}', "[" * 100_000, "\xff"]
)
def test_a_run_json_that_cannot_be_read(folder, text):
    (folder / "run.json").write_bytes(text.encode("latin-1"))
    refused(lambda: Run(folder), folder / "run.json", "damaged", "backup")


def test_a_run_json_that_is_a_folder(folder):
    (folder / "run.json").unlink()
    (folder / "run.json").mkdir()
    refused(lambda: Run(folder), "cannot read", folder / "run.json")


def test_other_formats_and_newer_versions(folder):
    reseal(folder)
    assert Run(folder).steps == {"last": 150, "best": 100}
    reseal(folder, version=2)
    refused(lambda: Run(folder), folder / "run.json", "has format 2", "update rsg")
    reseal(folder, format="rsg-demonstrations")
    refused(lambda: Run(folder), "not of a run but of 'rsg-demonstrations'")


@pytest.mark.parametrize(
    "checkpoints",
    [
        {"last": {"file": "../file.safetensors", "sha256": "0", "notes": {"step": 1}}},
        {"last": {"file": "last-00000001.safetensors", "sha256": "0", "notes": {}}},
        {"last": {"file": 1, "sha256": "0", "notes": {"step": 1}}},
        {"worst": {"file": "last-00000001.safetensors", "sha256": "0", "notes": {"step": 1}}},
        {"last": {}},
        [],
    ],
)
def test_a_forged_run_json_names_no_other_files(folder, checkpoints):
    reseal(folder, checkpoints=checkpoints)
    refused(lambda: Run(folder), "damaged: it cannot be read")


def test_any_changed_byte_of_run_json_is_noticed(folder):
    path = folder / "run.json"
    whole = path.read_bytes()
    for position, mask in flips(whole):
        path.write_bytes(changed(whole, position, mask))
        refused(lambda: Run(folder), path)
    for length in range(0, len(whole), 17):
        path.write_bytes(whole[:length])
        refused(lambda: Run(folder), path, "damaged")
    path.write_bytes(whole + b"\n")
    refused(lambda: Run(folder), path, "damaged")


def test_any_changed_byte_of_the_tensors_is_noticed(folder):
    path = folder / "last-00000150.safetensors"
    whole = path.read_bytes()
    run = Run(folder)
    for position, mask in flips(whole):
        path.write_bytes(changed(whole, position, mask))
        refused(
            lambda: run.load("last"), path, "step 150", "checksum differs", "the best checkpoint (step 100) is intact"
        )
    for length in range(0, len(whole), 17):
        path.write_bytes(whole[:length])
        refused(lambda: run.load("last"), path, "checksum differs")
    assert same(run.load("best"), saved(100))
    path.write_bytes(whole)
    assert same(run.load("last"), saved(150))


def flips(data):
    """Places and how to change the byte there; line ends and letters also become others of their kind."""
    rng = random.Random(1)
    yield from ((position, mask) for position in (0, 1, len(data) - 1, len(data) - 2) for mask in (1, 7, 32, 255))
    yield from ((rng.randrange(len(data)), rng.choice((1, 7, 32, 128, rng.randrange(1, 256)))) for _ in range(60))


def changed(data, position, mask):
    return data[:position] + bytes([data[position] ^ mask]) + data[position + 1 :]


def test_an_escape_in_other_letters_is_noticed(folder):
    """The same text, but not the same bytes."""
    data = (folder / "run.json").read_bytes()
    assert b"\\u00f6" in data
    (folder / "run.json").write_bytes(data.replace(b"\\u00f6", b"\\u00F6"))
    refused(lambda: Run(folder), "checksum differs")


def test_missing_tensors(folder):
    last, best = folder / "last-00000150.safetensors", folder / "best-00000100.safetensors"
    last.unlink()
    refused(lambda: Run(folder).load("last"), last, "is missing", "backup", "the best checkpoint (step 100) is intact")
    best.unlink()
    best.mkdir()
    refused(lambda: Run(folder).load("best"), best, "cannot be read: Is a directory")
    with pytest.raises(RunError) as caught:
        Run(folder).load("last")
    assert "intact" not in str(caught.value)


def test_tensors_that_are_none_with_the_right_checksum(folder):
    """Bytes with a code that would run, had they been read as a pickle."""
    data = b"cos\nsystem\n(S'false'\ntR."
    entry = {"file": "last-00000150.safetensors", "sha256": hashlib.sha256(data).hexdigest(), "notes": {"step": 150}}
    (folder / entry["file"]).write_bytes(data)
    reseal(folder, checkpoints={"last": entry})
    refused(lambda: Run(folder).load("last"), entry["file"], "no tensors that can be read")


def test_a_checkpoint_that_is_not_there(tmp_path):
    run = Run.create(tmp_path / "run", {})
    refused(lambda: run.load("best"), tmp_path / "run", "no best checkpoint yet")


@pytest.mark.parametrize(
    ("notes", "words"),
    [
        ({"step": 1, "loss": float("nan")}, "not plain JSON"),
        ({"step": 1, "loss": float("-inf")}, "not plain JSON"),
        ({"step": 1, "loss": torch.ones(1)}, "not plain JSON"),
        ({}, "need a 'step'"),
        ({"step": -1}, "need a 'step'"),
        ({"step": 1.5}, "need a 'step'"),
    ],
)
def test_notes_that_cannot_be_kept_change_nothing(folder, notes, words):
    before = contents(folder)
    with writing(folder) as run:
        refused(lambda: run.save({"best": saved(7), "last": Saved({}, notes)}), words)
        assert contents(folder) == before
        assert run.steps == {"last": 150, "best": 100}


def test_only_two_checkpoints_have_a_name(folder):
    with writing(folder) as run:
        refused(lambda: run.save({"worst": saved(1)}), "no 'worst' checkpoint", "last, best")


# ---- who may write


def test_one_writer_at_a_time(folder):
    with writing(folder) as run:
        refused(lambda: writing(folder).__enter__(), f"another process is training in {folder}")
        run.save({"last": saved(151)})
        assert Run(folder).steps["last"] == 151
    with writing(folder):
        pass


def test_a_run_open_for_reading_cannot_be_saved(folder):
    refused(lambda: Run(folder).save({"last": saved(1)}), "open for reading only")
    with writing(folder) as run:
        pass
    refused(lambda: run.save({"last": saved(1)}), "open for reading only")


def test_a_folder_that_cannot_be_written_to(folder):
    (folder / ".lock").unlink()
    (folder / ".lock").mkdir()
    refused(lambda: writing(folder).__enter__(), f"cannot write to {folder}")


def test_leftovers_are_cleaned_and_nothing_else(folder):
    before = contents(folder)
    for name in (
        "last-00000160.safetensors",
        "best-00000100-2.safetensors",
        ".run.json.x.json",
        ".last-1.safetensors.y",
    ):
        (folder / name).write_text("left")
    (folder / "mine.safetensors").write_text("kept")
    (folder / "last-notes.txt").write_text("kept")
    Run(folder)
    assert len(contents(folder)) == len(before) + 6
    with writing(folder):
        assert contents(folder) == before | {"mine.safetensors": b"kept", "last-notes.txt": b"kept"}


@contextmanager
def files_up_to(size):
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_full_disk_changes_nothing(folder):
    before = contents(folder)
    with writing(folder) as run:
        with files_up_to(4096), pytest.raises(RsgError, match=r"cannot write .*last-00000200"):
            run.save({"best": saved(200), "last": saved(200, size=5000)})
        assert contents(folder) == before
        run.save({"best": saved(200), "last": saved(200)})
    assert same(Run(folder).load("last"), saved(200))


# ---- interrupts and kills

OLD = {"last": saved(150), "best": saved(100)}
SAVES = {
    "both": {"last": saved(200), "best": saved(200)},
    "last": {"last": saved(200)},
    "same step": {"last": saved(150, 7), "best": saved(100, 8)},
    "same bytes": {"last": saved(150), "best": saved(100)},
}


def old_or_new(folder, new):
    """All old or all new; True if new."""
    run = Run(folder)
    loaded = {which: run.load(which) for which in ("last", "best")}
    assert run.about == ABOUT
    for is_new, expected in ((True, OLD | new), (False, OLD)):
        if all(same(loaded[which], expected[which]) for which in loaded):
            return is_new
    raise AssertionError("neither the old checkpoints nor the new ones")


def tidy(folder):
    """Nothing is there but what counts."""
    named = {entry["file"] for entry in json.loads((folder / "run.json").read_text())["checkpoints"].values()}
    assert set(contents(folder)) == named | {"run.json"}


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("moment", [0, 1, 2])
@pytest.mark.parametrize("name", ["both", "same step"])
def test_an_interrupt_saves_all_or_none(folder, monkeypatch, name, moment, after):
    clock = count()

    def write(path, data, whole=folders.write):
        now = next(clock) == moment
        if now and not after:
            raise KeyboardInterrupt
        whole(path, data)
        if now:
            raise KeyboardInterrupt

    for module in (checkpoint, folders):
        monkeypatch.setattr(module, "write", write)
    with writing(folder) as run:
        with pytest.raises(KeyboardInterrupt):
            run.save(SAVES[name])
        assert old_or_new(folder, SAVES[name]) == (moment == 2 and after)
        assert run.steps == Run(folder).steps
        tidy(folder)
        run.save({"last": saved(300)})


SLOW = ("last", "same step")  # in every run the two that are least alike


@pytest.mark.parametrize("name", [pytest.param(n, marks=pytest.mark.slow) if n in SLOW else n for n in SAVES])
def test_a_kill_at_every_single_file_operation(tmp_path, folder, name):
    def write(tried):
        with writing(tried) as run:
            run.save(SAVES[name])

    tried = tmp_path / "tried"
    seen = set()
    for moment in count():
        shutil.rmtree(tried, ignore_errors=True)
        shutil.copytree(folder, tried)
        if not killed(write, tried, moment):
            break
        seen.add(old_or_new(tried, SAVES[name]))
        with writing(tried):
            tidy(tried)
        write(tried)
        assert old_or_new(tried, SAVES[name])
        tidy(tried)
    assert moment > 15
    assert seen == {False, True} or name == "same bytes"


def test_a_kill_while_a_run_is_created(tmp_path):
    tried = tmp_path / "tried"
    for moment in count():
        shutil.rmtree(tried, ignore_errors=True)
        if not killed(lambda folder: Run.create(folder, ABOUT), tried, moment):
            break
        if not (tried / "run.json").exists():
            Run.create(tried, ABOUT)
        with writing(tried) as run:
            assert run.about == ABOUT
            tidy(tried)
    assert moment > 5
