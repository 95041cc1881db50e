"""Whatever happens to the bytes of a store: an error that names the file, or the original data. Never other data."""

import io
import random
import re
import shutil
import zipfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from tests.demos.examples import contents, demonstration

from rsg.cli.main import main
from rsg.core.errors import StoreError
from rsg.demos import Recipe, Store, repair, shards
from rsg.demos.store import MANIFEST
from rsg.domain import make_demonstrations

SHARD = 6


@dataclass
class Original:
    """An undamaged store and what its bytes mean."""

    folder: Path
    everything: tuple
    files: dict

    @property
    def demos(self):
        return self.everything[0]

    def copy(self, folder):
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(self.folder, folder)
        return folder

    def episodes(self, name):
        """The numbers of the episodes in a file."""
        shard = next(shard for shard in Store(self.folder).manifest.shards if shard.file == name)
        first = Store(self.folder).first_episode(shard)
        return range(first, first + shard.episodes)


@pytest.fixture(scope="module")
def originals(tmp_path_factory):
    """A store of our own with several kinds of numbers, and one of Crafting World, both of a few small shards."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("rsg.demos.store.SHARD_EPISODES", SHARD)
        patch.setattr("rsg.demos.making.SHARD_EPISODES", SHARD)
        own = Store.create(tmp_path_factory.mktemp("own") / "store", "own")
        own.append(demonstration(i) for i in range(9))
        own.append(demonstration(i, states="float32", actions="float64", action_width=2) for i in range(9, 14))
        made = make_demonstrations(Recipe("crafting", "goal-only", 2), tmp_path_factory.mktemp("made") / "store")
    return [Original(store.folder, read_all(store.folder), contents(store.folder)) for store in (own, made)]


@pytest.fixture
def check(capsys):
    """`rsg demos check`: its exit code and all that it says."""

    def run(folder):
        with pytest.raises(SystemExit) as stop:
            main(["demos", "check", str(folder)])
        out, err = capsys.readouterr()
        assert "Traceback" not in err
        return stop.value.code, out + err

    return run


def read_all(folder):
    """Everything in a store, by streaming and by number, with the draws; or the error."""
    try:
        store = Store(folder)
        streamed = list(store)
        assert store[:] == streamed
        return streamed, [store.read_shard(shard)[1] for shard in store.manifest.shards]
    except StoreError as error:
        return error


def endanger(original, folder, name, check):
    """Check what is said of a store in which one file is damaged, then mend it. Gives the numbers of lost episodes."""
    found = read_all(folder)
    code, said = check(folder)
    if isinstance(found, StoreError):
        assert str(folder / name) in str(found)
        if name != MANIFEST:
            numbers = original.episodes(name)
            assert f"episodes {numbers[0]} to {numbers[-1]}" in str(found)
        assert code == 2
        assert str(folder / name) in said
    else:
        assert found == original.everything
        assert code == 0
    result = repair(folder)
    kept = Store(folder)
    assert result.kept == len(kept)
    assert result.lost == len(original.demos) - len(kept)
    assert result.damaged == ((name,) if isinstance(found, StoreError) else ())
    code, said = check(folder)
    assert code == 0, said
    assert repair(folder).damaged == ()
    assert [path for path in contents(folder) if path.startswith(".")] == []
    return lost_of(original.demos, list(kept))


def lost_of(demos, kept):
    """Which of the demonstrations are not there; those that are must be in the old order."""
    lost, rest = [], iter(kept)
    now = next(rest, None)
    for number, demo in enumerate(demos):
        if now is not None and demo == now:
            now = next(rest, None)
        else:
            lost.append(number)
    assert now is None, "a repaired store holds other data"
    return lost


def places(data):
    """Where the header of each array of a shard begins, and where its numbers begin and end."""
    found = {}
    with zipfile.ZipFile(io.BytesIO(data)) as file:
        for info in file.infolist():
            header = data.index(b"\x93NUMPY", info.header_offset)
            begin = header + 10 + int.from_bytes(data[header + 8 : header + 10], "little")
            found[info.filename.removesuffix(".npy")] = (header, begin, header + info.file_size)
    return found


def may_be_lost(original, name, offset):
    """The episodes that damage of one byte may cost, and whether it must cost them."""
    if name == MANIFEST:
        return [], True
    data = original.files[name]
    numbers = original.episodes(name)
    with np.load(io.BytesIO(data)) as arrays:
        for array, (header, begin, end) in places(data).items():
            if header <= offset < begin:
                return list(numbers), False  # what an array is made of
            if not begin <= offset < end:
                continue
            cell = (offset - begin) // arrays[array].itemsize
            if array in ("tasks", "settings"):  # one text, for all that use it
                return [numbers[i] for i in np.flatnonzero(arrays[array.removesuffix("s")] == cell)], True
            if array in ("states", "actions"):
                cell = int(np.searchsorted(arrays[array.removesuffix("s")], cell, side="right")) - 1
            return [numbers[cell]], array != "action_width"  # any width below 0 may pass for a single number
    return [], True  # the zip around the arrays


def flip(folder, name, offset, bit):
    data = bytearray((folder / name).read_bytes())
    data[offset] ^= 1 << bit
    (folder / name).write_bytes(data)


def any_place(original, rng):
    name = rng.choice(sorted(original.files))
    return name, rng.randrange(len(original.files[name]))


@pytest.mark.parametrize("count", [12, pytest.param(1000, marks=pytest.mark.slow)])
def test_a_flipped_bit_is_never_other_data(originals, tmp_path, check, count):
    rng = random.Random(4)
    for number in range(count):
        original = originals[number % 2]
        name, offset = any_place(original, rng)
        folder = original.copy(tmp_path / "copy")
        flip(folder, name, offset, bit := rng.randrange(8))
        lost = endanger(original, folder, name, check)
        allowed, all_of_them = may_be_lost(original, name, offset)
        where = f"bit {bit} of byte {offset} of {name}"
        assert lost == allowed if all_of_them else set(lost) <= set(allowed), where


def test_a_flipped_bit_in_an_episode_costs_that_episode_alone(originals, tmp_path, check):
    rng = random.Random(5)
    for original in originals:
        name = "shard-00001.npz"
        numbers = original.episodes(name)
        i = rng.randrange(len(numbers))
        with np.load(io.BytesIO(original.files[name])) as arrays:
            steps, width, first = (int(arrays[array][i]) for array in ("steps", "width", "state"))
            regions = dict.fromkeys(("state", "steps", "width", "task", "draws", "crc"), (i, 1))
            regions |= {"states": (first, (steps + 1) * width), "actions": (int(arrays["action"][i]), steps)}
            sizes = {array: arrays[array].itemsize for array in regions}
        for array, (begin, count) in regions.items():
            folder = original.copy(tmp_path / "copy")
            offset = begin * sizes[array] + rng.randrange(count * sizes[array])
            flip(folder, name, places(original.files[name])[array][1] + offset, rng.randrange(8))
            assert endanger(original, folder, name, check) == [numbers[i]], array


@pytest.mark.parametrize("everywhere", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_every_single_bit_of_a_shard(originals, everywhere):
    """By default only where it says what its states are made of."""
    for original in originals:
        good = original.files["shard-00001.npz"]
        demos, draws, held = shards.salvage(good)
        assert held == len(demos) == len(original.episodes("shard-00001.npz"))
        pairs = list(zip(demos, draws, strict=True))
        header, begin, _ = places(good)["states"]
        for offset in range(len(good)) if everywhere else range(header, begin):
            for bit in range(8):
                data = bytearray(good)
                data[offset] ^= 1 << bit
                kept, drawn, _ = shards.salvage(bytes(data))
                assert lost_of(pairs, list(zip(kept, drawn, strict=True))) is not None


@pytest.mark.parametrize("count", [6, pytest.param(200, marks=pytest.mark.slow)])
def test_a_file_cut_short_keeps_what_is_before_the_cut(originals, tmp_path, check, count):
    rng = random.Random(6)
    for number in range(count):
        original = originals[number % 2]
        name, length = any_place(original, rng)
        folder = original.copy(tmp_path / "copy")
        with (folder / name).open("r+b") as file:
            file.truncate(length)
        lost = endanger(original, folder, name, check)
        if name == MANIFEST:
            assert lost == []
            continue
        data = original.files[name]
        with np.load(io.BytesIO(data)) as arrays:
            ends = arrays["state"] + (arrays["steps"] + 1) * arrays["width"]
            ends = places(data)["states"][1] + ends * arrays["states"].itemsize
        assert lost == [episode for episode, end in zip(original.episodes(name), ends, strict=True) if end > length]


def test_whole_files_gone_empty_or_grown(originals, tmp_path, check):
    for original in originals:
        names = sorted(set(original.files) - {MANIFEST})
        for name in names[::2]:
            folder = original.copy(tmp_path / "copy")
            (folder / name).write_bytes(original.files[name] + random.Random(7).randbytes(1000))
            assert endanger(original, folder, name, check) == []
            for damage in (lambda path: path.write_bytes(b""), lambda path: path.unlink()):
                folder = original.copy(tmp_path / "copy")
                damage(folder / name)
                assert endanger(original, folder, name, check) == list(original.episodes(name))
            folder = original.copy(tmp_path / "copy")
            (folder / name).write_bytes(random.Random(8).randbytes(5000))
            assert endanger(original, folder, name, check) == list(original.episodes(name))
        folder = original.copy(tmp_path / "copy")
        (folder / MANIFEST).write_bytes(b"")
        assert endanger(original, folder, MANIFEST, check) == []


def test_a_deleted_manifest_is_rebuilt(originals, tmp_path, check):
    for original, world in zip(originals, ("own", "crafting"), strict=True):
        folder = original.copy(tmp_path / "copy")
        (folder / MANIFEST).unlink()
        (folder / "shard-of-something-else.npz").write_bytes(b"mine")
        code, said = check(folder)
        assert code == 2
        assert f"{folder} is not a store of demonstrations: it has no {MANIFEST}" in said
        assert repair(folder).damaged == (MANIFEST,)
        assert read_all(folder) == original.everything
        assert Store(folder).manifest.world == world
        assert (folder / "shard-of-something-else.npz").read_bytes() == b"mine"
        unchanged = {name: data for name, data in contents(folder).items() if name in original.files}
        unchanged[MANIFEST] = original.files[MANIFEST]  # all but the recipe, which is not known any more
        assert unchanged == original.files


def test_a_deleted_manifest_and_a_flipped_bit(originals, tmp_path, check):
    original = originals[0]
    folder = original.copy(tmp_path / "copy")
    (folder / MANIFEST).unlink()
    flip(folder, "shard-00001.npz", places(original.files["shard-00001.npz"])["states"][1], 3)
    result = repair(folder)
    assert (result.kept, result.lost, result.damaged) == (13, 1, (MANIFEST, "shard-00001.npz"))
    assert lost_of(original.demos, list(Store(folder))) == [SHARD]
    assert check(folder)[0] == 0


def test_shards_under_each_others_names_are_found_and_stay_in_order(originals, tmp_path, check):
    for original in originals:
        folder = original.copy(tmp_path / "copy")
        (folder / "shard-00000.npz").rename(folder / "aside")
        (folder / "shard-00002.npz").rename(folder / "shard-00000.npz")
        (folder / "aside").rename(folder / "shard-00002.npz")
        code, said = check(folder)
        assert code == 2
        assert re.findall(r"shard-\d+.npz", said) == ["shard-00000.npz", "shard-00002.npz"]
        assert "shard-00000.npz" in str(read_all(folder))
        result = repair(folder)
        assert (result.lost, result.damaged) == (0, ("shard-00000.npz", "shard-00002.npz"))
        assert read_all(folder) == original.everything
        assert check(folder)[0] == 0
        flip(folder, "shard-00000.npz", places(original.files["shard-00002.npz"])["states"][1], 0)
        assert repair(folder).damaged == ("shard-00000.npz",)
        store = Store(folder)
        store.append(original.demos[:1])
        assert lost_of(original.demos, store[:-1]) == [original.episodes("shard-00002.npz")[0]]
        assert store[-1] == original.demos[0]


def test_a_shard_overwritten_by_another_is_lost_and_the_other_is_not_doubled(originals, tmp_path, check):
    for original in originals:
        folder = original.copy(tmp_path / "copy")
        shutil.copy(folder / "shard-00001.npz", folder / "shard-00000.npz")
        assert endanger(original, folder, "shard-00000.npz", check) == list(original.episodes("shard-00000.npz"))


def test_a_misplaced_last_shard_is_not_overwritten_by_the_next_one(originals, tmp_path):
    original = originals[0]
    folder = original.copy(tmp_path / "copy")
    last = max(set(original.files) - {MANIFEST})
    (folder / "shard-00000.npz").rename(folder / last)
    (folder / last).rename(folder / "shard-00007.npz")
    assert repair(folder).lost == len(original.episodes(last))
    store = Store(folder)
    for _ in range(9):
        store.append(original.demos[:1])
    assert list(Store(folder))[:-9] == original.demos[: original.episodes(last)[0]]


def test_what_repair_says(originals, tmp_path, capsys):
    folder = originals[0].copy(tmp_path / "copy")

    def said(*options):
        with pytest.raises(SystemExit) as stop:
            main(["demos", "repair", str(folder), *options])
        assert stop.value.code == 0
        return capsys.readouterr().out

    assert said() == "nothing to mend: all 14 demonstrations are intact\n"
    flip(folder, "shard-00001.npz", places(originals[0].files["shard-00001.npz"])["actions"][1], 0)
    again = "if rsg made them, the same 'rsg demos make' makes them again"
    assert said() == f"13 demonstrations kept, 1 lost ({again}); damaged: shard-00001.npz\n"
    (folder / MANIFEST).unlink()
    forgotten = "at least 0 lost, and how the store was made is forgotten"
    assert said() == f"13 demonstrations kept, {forgotten}; damaged: manifest.json\n"
