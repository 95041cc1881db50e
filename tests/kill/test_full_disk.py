"""A full disk ends the work with one sentence; what was safe stays safe, and the work goes on once there is space."""

import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from tests.demos.examples import contents, demonstration
from tests.kill.runs import PATIENCE, verify

from rsg.demos import Recipe, Store
from rsg.demos.store import MANIFEST
from rsg.domain import make_demonstrations

ROOT = Path(__file__).parents[2]
MAKE = ("-m", "rsg", "demos", "make", "crafting", "--per-task", "24", "--out")
SIZE = 300 * 1024  # bytes; each store of these tests takes more

APPEND = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from tests.demos.examples import demonstration
from rsg.core.errors import RsgError
import rsg.demos.store as stores
stores.SHARD_EPISODES = 50
folder = Path(sys.argv[2])
try:
    store = stores.Store(folder) if (folder / stores.MANIFEST).exists() else stores.Store.create(folder, "own")
    store.append(demonstration(number, steps=20, width=200) for number in range(len(store), 220))
except RsgError as error:
    sys.exit(f"error: {error}")
"""


# Becomes the program in its arguments, whose files cannot grow beyond a size.
LIMITED = """
import os, resource, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]),) * 2)
os.execv(sys.executable, [sys.executable, *sys.argv[2:]])
"""


class Limit:
    """A place where no file can grow beyond a size; it takes no permission."""

    sentence = "File too large"
    workers = 1

    def __init__(self, folder):
        self.folder = folder
        self.limit = SIZE // 3

    def run(self, *words):
        limited = ("-c", LIMITED, self.limit) if self.limit is not None else ()
        command = [sys.executable, *map(str, (*limited, *words))]
        return subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)

    def fill(self):
        self.limit = 0

    def grow(self):
        self.limit = None

    def close(self):
        """Nothing stays behind."""


class SmallDisk(Limit):
    """A real disk, in memory."""

    sentence = "No space left on device"
    workers = 2

    def __init__(self, folder):
        super().__init__(folder)
        self.limit = None
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "rsg-test", folder], check=True)

    def fill(self):
        with suppress(OSError), (self.folder / "filler").open("wb", buffering=0) as file:
            while file.write(bytes(4096)):
                pass

    def grow(self):
        subprocess.run(["mount", "-o", "remount,size=64m", self.folder], check=True)

    def close(self):
        subprocess.run(["umount", self.folder], check=True)


@pytest.fixture(params=[SmallDisk, pytest.param(Limit, marks=pytest.mark.slow)])
def disk(request, tmp_path):
    """A disk that is too small, until it grows."""
    (tmp_path / "disk").mkdir()
    try:
        made = request.param(tmp_path / "disk")
    except (OSError, subprocess.CalledProcessError):  # we may not mount here
        made = Limit(tmp_path / "disk")
    try:
        yield made
    finally:
        made.close()


def test_making_on_a_full_disk(disk, tmp_path):
    whole = make_demonstrations(Recipe("crafting", "train", 24), tmp_path / "whole")
    folder = disk.folder / "store"
    words = (*MAKE, folder, "--workers", disk.workers)
    done = disk.run(*words)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"error: cannot write {folder}/")
    assert done.stderr.endswith(f": {disk.sentence}\n")
    assert done.stderr.count("\n") == 1
    assert verify(folder, list(whole), 400) < len(whole)
    assert [name for name in contents(folder) if name.startswith(".")] == []
    disk.grow()
    assert disk.run(*words).returncode == 0
    assert contents(folder) == contents(whole.folder)


@pytest.mark.slow
def test_appending_on_a_full_disk(disk):
    expected = [demonstration(number, steps=20, width=200) for number in range(220)]
    folder = disk.folder / "store"
    for _ in range(2):  # there is no more space the second time
        done = disk.run("-c", APPEND, ROOT, folder)
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr.startswith(f"error: cannot write {folder}/")
        assert done.stderr.endswith(f": {disk.sentence}\n")
        safe = verify(folder, expected, 50)
        assert safe < 220
        assert [name for name in contents(folder) if name.startswith(".")] == []
    disk.grow()
    assert disk.run("-c", APPEND, ROOT, folder).returncode == 0
    assert list(Store(folder)) == expected


def test_a_disk_that_is_full_to_the_last_byte(disk):
    folder = disk.folder / "store"
    disk.fill()
    done = disk.run(*MAKE, folder)
    assert done.returncode == 2
    assert done.stderr.startswith("error: cannot write ")
    assert disk.sentence in done.stderr
    assert not (folder / MANIFEST).exists()
    disk.grow()
    assert disk.run("-m", "rsg", "demos", "make", "crafting", "--per-task", 1, "--out", folder).returncode == 0
    assert sorted(os.listdir(folder)) == [".lock", MANIFEST, "shard-00000.npz"]
