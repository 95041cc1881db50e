"""Writes a store again and again, each time in a process that is killed one file operation later.

Run as `python -m tests.kill.moments make|append|repair FOLDER`; prints how many moments there were.
"""

import os
import shutil
import signal
import sys
from itertools import count
from pathlib import Path

from tests.demos.examples import contents, demonstrations
from tests.kill.runs import verify

import rsg.demos.making as making
import rsg.demos.store as stores
from rsg.demos import Recipe, Store, repair
from rsg.demos.store import MANIFEST
from rsg.domain import make_demonstrations

EVENTS = {"open", "os.rename", "os.remove", "os.chmod", "os.mkdir", "os.scandir", "half written"}


def make(folder):
    make_demonstrations(Recipe("crafting", "goal-only", 1), folder)


def append(folder):
    store = Store(folder) if (folder / MANIFEST).exists() else Store.create(folder, "own")
    for start in range(len(store), 8, 3):
        store.append(demonstrations(8)[start : start + 3])


def mend(folder):
    repair(folder)


def damage(folder):
    """A store with an episode of the third shard damaged, and the first two under each other's name."""
    append(folder)
    first, second, third = sorted(folder.glob("shard-*"))
    data = bytearray(third.read_bytes())
    data[data.rindex(b"\x93NUMPY") + 129] ^= 1
    third.write_bytes(data)
    first.rename(folder / "aside")
    second.rename(first)
    (folder / "aside").rename(second)


def killed(write, folder, moment):
    """Write in a process of its own, killed at that moment; False if it was done before."""
    child = os.fork()
    if child:
        status = os.waitpid(child, 0)[1]
        assert os.WIFSIGNALED(status) or status == 0
        return os.WIFSIGNALED(status)
    clock = count()

    def watch(event, arguments):
        if event in EVENTS and str(arguments[0]).startswith(str(folder)) and next(clock) == moment:
            os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(watch)
    Path.write_bytes = write_in_halves
    Path.write_text = lambda path, text, encoding: write_in_halves(path, text.encode(encoding))
    try:
        write(folder)
    except BaseException:
        sys.excepthook(*sys.exc_info())
        os._exit(1)
    os._exit(0)


def write_in_halves(path, data):
    with path.open("wb", buffering=0) as file:
        file.write(data[: len(data) // 2])
        sys.audit("half written", str(path))
        file.write(data[len(data) // 2 :])


def main(name, base):
    stores.SHARD_EPISODES = making.SHARD_EPISODES = 3
    write = {"make": make, "append": append, "repair": mend}[name]
    begin = damage if name == "repair" else lambda folder: None
    base = Path(base)
    begin(base / "whole")
    write(base / "whole")
    whole = contents(base / "whole")
    expected = list(Store(base / "whole"))
    for moment in count():
        folder = base / "tried"
        shutil.rmtree(folder, ignore_errors=True)
        begin(folder)
        if not killed(write, folder, moment):
            assert contents(folder) == whole
            print(moment)
            return
        if name != "repair":
            verify(folder, expected, 3)
        write(folder)
        assert contents(folder) == whole, f"{name}: other bytes after a kill at moment {moment}"


if __name__ == "__main__":
    main(*sys.argv[1:])
