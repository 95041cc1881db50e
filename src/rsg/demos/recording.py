"""Keeping what is being done: an episode is safe step by step, and in the store once it has ended."""

import json
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import IO, Any

import numpy as np

from rsg.core.arrays import Array
from rsg.core.errors import StoreError
from rsg.core.folder import locked
from rsg.core.progress import say
from rsg.demos.demonstration import Demonstration
from rsg.demos.store import MANIFEST, Store

UNFINISHED = "recording"  # the folder, in that of the store, of the episode that is being recorded


class Recording:
    """A store to which episodes are added while they happen; only one at a time records into it.

    Each step is written down before the next one. What a killed process had written is added when somebody records
    into the store again.

    Args:
        store: to add to, or its folder; if there is none it is made.
        world: the name of the world, for a new store.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     recording = Recording(f"{folder}/mine", "corridor")
    ...     recording.begin(np.array([1, 0, 0]), task="light-lamp")
    ...     recording.add(0, np.array([0, 0, 0]))
    ...     recording.add(2, np.array([0, 1, 0]))
    ...     recording.end()
    ...     recording.close()
    ...     len(Store(f"{folder}/mine")[0])
    2
    """

    def __init__(self, store: Store | str | Path, world: str) -> None:
        folder = store.folder if isinstance(store, Store) else Path(store)
        self.store = Store(folder) if (folder / MANIFEST).exists() else Store.create(folder, world)
        self._folder = folder / UNFINISHED
        self._folder.mkdir(exist_ok=True)
        self._held = ExitStack()
        self._held.enter_context(locked(self._folder, StoreError(f"somebody else is recording into {folder}")))
        self._file: IO[str] | None = None
        self._path = self._folder / "episode.jsonl"
        self.task, self.steps = "", 0
        self._recover()

    @property
    def running(self) -> bool:
        """Whether an episode has begun and not ended."""
        return self._file is not None

    def begin(self, state: Array, task: str = "", setting: str = "") -> None:
        """An episode begins; one that is running ends."""
        self.end()
        self.task, self.steps = task, 0
        self._file = self._path.open("w", encoding="utf-8")
        self._write({"state": state.tolist(), "dtype": state.dtype.str, "task": task, "setting": setting})

    def add(self, action: Any, state: Array) -> None:
        """Somebody acted, and came to a state."""
        self.steps += 1
        self._write({"action": np.asarray(action).tolist(), "state": state.tolist()})

    def describe(self, task: str) -> None:
        """What the episode is about."""
        self.task = task
        self._write({"task": task})

    def drop(self) -> None:
        """The episode is not kept."""
        if self._file is not None:
            self._file.close()
            self._file = None
            self._path.unlink(missing_ok=True)

    def end(self) -> None:
        """The episode is over: it is added to the store, if anything was done."""
        if self._file is None:
            return
        self._file.close()
        if shown := _read(self._path):
            self.store.append([shown])
        self._file = None
        self._path.unlink(missing_ok=True)

    def close(self) -> None:
        """Nothing more is recorded."""
        self.end()
        self._held.close()
        with suppress(OSError):
            for path in (*self._folder.iterdir(), self._folder):
                path.rmdir() if path.is_dir() else path.unlink()

    def _write(self, line: dict[str, Any]) -> None:
        assert self._file is not None
        self._file.write(json.dumps(line) + "\n")
        self._file.flush()

    def _recover(self) -> None:
        """Add what was being recorded when a process was killed, unless it had come as far as the store."""
        left = _read(self._path) if self._path.exists() else None
        if left is not None and not (len(self.store) and self.store[-1] == left):
            self.store.append([left])
            say(f"{self.store.folder}: an episode of {len(left)} steps that was cut off is kept, '{left.task}'")
        self._path.unlink(missing_ok=True)


def _read(path: Path) -> Demonstration | None:
    """The episode that was written down, as far as its lines are whole; None if nothing was done in it."""
    lines = []
    with suppress(ValueError):
        for line in path.read_text(encoding="utf-8").splitlines():
            lines.append(json.loads(line))
    steps = [line for line in lines if "action" in line]
    if not steps:
        return None
    task = [line["task"] for line in lines if "task" in line][-1]
    states = np.array([line["state"] for line in (lines[0], *steps)], dtype=np.dtype(lines[0]["dtype"]))
    return Demonstration(states, np.array([line["action"] for line in steps]), task, lines[0]["setting"])
