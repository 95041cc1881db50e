"""A training run on disk: a folder with `run.json` and the tensors of its last and its best checkpoint.

Tensors go to a file of a new name, and count only once `run.json` names that file with its SHA-256. So a kill at any
moment leaves the checkpoint before or the one after, and a changed bit is always an error, never other weights.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

import torch
from safetensors import SafetensorError
from safetensors.torch import load as unpack
from safetensors.torch import save as pack

from rsg.core.errors import RunError
from rsg.core.files import leftovers, replacing
from rsg.demos.store import MANIFEST

FORMAT = "rsg-run"
VERSION = 1
RUN = "run.json"
Which = Literal["last", "best"]
_TENSORS = re.compile(r"(last|best)-\d{8,}(-\d+)?\.safetensors")
_UNREADABLE = (ValueError, KeyError, TypeError, AttributeError, RecursionError)  # what reading strange JSON may raise
_BACKUP = "restore it from a backup, or train again into another folder"


@dataclass(frozen=True, eq=False)
class Saved:
    """One checkpoint.

    Attributes:
        tensors: weights, optimiser state and the like, by name.
        notes: everything else, as plain JSON (keys are strings, tuples come back as lists); `step` must be among it.
    """

    tensors: dict[str, torch.Tensor]
    notes: dict[str, Any]


@dataclass(frozen=True)
class _Entry:
    """What `run.json` says of a checkpoint: the file of its tensors, what that must hash to, and the notes."""

    file: str
    sha256: str
    notes: dict[str, Any]

    @property
    def step(self) -> int:
        return int(self.notes["step"])


@dataclass(frozen=True)
class _Content:
    """All that `run.json` says."""

    about: dict[str, Any]
    entries: dict[Which, _Entry]


class Run:
    """The folder of a training run, opened for reading; `Run.create` makes one, and `writing` opens it for `save`.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     run = Run.create(f"{folder}/run", {"method": "rsg"})
    ...     with writing(run.folder) as run:
    ...         run.save({"last": Saved({"weight": torch.ones(2)}, {"step": 150})})
    ...     run.steps, run.load("last").tensors["weight"]
    ({'last': 150}, tensor([1., 1.]))
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        self._content = _read_run(self.folder)
        self._writing = False

    @staticmethod
    def create(folder: str | Path, about: dict[str, Any]) -> Run:
        """A new run without checkpoints, in a folder that does not exist or is empty; `about` is plain JSON."""
        folder = Path(folder)
        data = _json(_Content(about, {}), folder)
        check_new(folder)
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise RunError(f"cannot write to {folder}: {error.strerror}") from None
        with _locked(folder):
            check_new(folder)  # another process may have been quicker
            _write(folder / RUN, data)
            _clean(folder, _Content(about, {}))
        return Run(folder)

    @property
    def about(self) -> dict[str, Any]:
        """What is trained and how: method, world, settings, data, ..."""
        return deepcopy(self._content.about)

    @property
    def steps(self) -> dict[Which, int]:
        """The checkpoints that are there, and the step of each."""
        return {which: entry.step for which, entry in self._content.entries.items()}

    def has(self, which: Which) -> bool:
        """Whether there is such a checkpoint."""
        return which in self._content.entries

    def digest(self, which: Which) -> str:
        """What the tensors of a checkpoint hash to: another one has another digest."""
        entry = self._content.entries.get(which)
        if entry is None:
            raise RunError(f"{self.folder} has no {which} checkpoint yet; train it first")
        return entry.sha256

    def save(self, checkpoints: Mapping[Which, Saved], about: dict[str, Any] | None = None) -> None:
        """Put new checkpoints in the place of the old ones: all of those given, or none on an error or a kill.

        With `about`, what the run says about itself is replaced along with them.
        """
        if not self._writing:
            raise RunError(
                f"{self.folder} is open for reading only; save to it inside of 'with writing(folder) as run'"
            )
        old = self._content
        packed = {which: pack(_own(saved.tensors)) for which, saved in checkpoints.items()}
        entries = {which: _entry(which, checkpoints[which], data, old) for which, data in packed.items()}
        content = _Content(old.about if about is None else about, {**old.entries, **entries})
        data = _json(content, self.folder)
        try:
            for which, entry in entries.items():
                _write(self.folder / entry.file, packed[which])
            _write(self.folder / RUN, data)
        finally:  # what counts now is what the disk says, wherever an error or an interrupt came
            self._content = _read_run(self.folder)
            _clean(self.folder, self._content)

    def load(self, which: Which) -> Saved:
        """A checkpoint, with the very bits that were saved, on the CPU; its file is verified first."""
        entry, data = self._read_tensors(which)
        if hashlib.sha256(data).hexdigest() != entry.sha256:
            raise self._broken(which, "is damaged: its checksum differs")
        try:  # copies lie in memory as torch lays it out: sums may depend on that, and a resumed run must not differ
            tensors = {name: tensor.clone() for name, tensor in unpack(data).items()}
        except (SafetensorError, *_UNREADABLE):
            raise self._broken(which, "holds no tensors that can be read") from None
        return Saved(tensors, deepcopy(entry.notes))

    def _read_tensors(self, which: Which) -> tuple[_Entry, bytes]:
        """What `run.json` says of a checkpoint and the bytes of its file; follows a trainer that went on meanwhile."""
        while True:
            entry = self._content.entries.get(which)
            if entry is None:
                raise RunError(f"{self.folder} has no {which} checkpoint yet; train it first")
            path = self.folder / entry.file
            try:
                return entry, path.read_bytes()
            except FileNotFoundError:
                self._content = _read_run(self.folder)
                if self._content.entries.get(which) == entry:
                    raise self._broken(which, "is missing") from None
            except OSError as error:
                raise self._broken(which, f"cannot be read: {error.strerror}") from None

    def _broken(self, which: Which, problem: str) -> RunError:
        """The error for a checkpoint that cannot be loaded; it tells which others can."""
        entries = self._content.entries
        intact = [other for other in entries if other != which and _is_intact(self.folder, entries[other])]
        rest = "".join(f"; the {other} checkpoint (step {entries[other].step:,}) is intact" for other in intact)
        path = self.folder / entries[which].file
        return RunError(f"{path} (step {entries[which].step:,}) {problem}; {_BACKUP}{rest}")


@contextmanager
def writing(folder: str | Path) -> Iterator[Run]:
    """The run, opened for `save` while no other process writes to it; what killed writers left is removed first."""
    run = Run(folder)  # before the lock: nothing is put into a folder that is not a run
    with _locked(run.folder):
        run = Run(run.folder)  # another process may have saved meanwhile
        _clean(run.folder, run._content)
        run._writing = True
        try:
            yield run
        finally:
            run._writing = False


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Only one process writes to a run at a time; the lock goes with the process, also when it is killed."""
    try:
        handle = (folder / ".lock").open("w")
    except OSError as error:
        raise RunError(f"cannot write to {folder}: {error.strerror}") from None
    with handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise RunError(f"another process is training in {folder}; wait for it, or stop it") from None
        yield


def check_new(folder: Path) -> None:
    """An error if a run cannot be begun in the folder: it holds something already."""
    try:
        if folder.is_file():
            raise RunError(f"{folder} is a file, not a folder; choose another name")
        there = set(folder.iterdir()) if folder.exists() else set()
    except OSError as error:
        raise RunError(f"cannot read {folder}: {error.strerror}") from None
    if folder / RUN in there:
        raise RunError(f"{folder} already holds a run; go on with it, or choose another folder")
    if there - {folder / ".lock", *_unfinished(folder)}:
        raise RunError(f"{folder} is not empty; choose another folder, or remove it first")


def _unfinished(folder: Path) -> list[Path]:
    return leftovers(folder, RUN, "last-*.safetensors", "best-*.safetensors")


def _clean(folder: Path, content: _Content) -> None:
    """Remove temporary files and the tensors that do not count; what cannot be removed does no harm."""
    named = {entry.file for entry in content.entries.values()}
    with suppress(OSError):
        stray = [path for path in folder.iterdir() if _TENSORS.fullmatch(path.name) and path.name not in named]
        for path in (*_unfinished(folder), *stray):
            path.unlink(missing_ok=True)


def _own(tensors: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """The tensors as they can be written: on the CPU, in one piece, and none sharing memory with another."""
    return {
        name: tensor.detach().cpu().clone(memory_format=torch.contiguous_format) for name, tensor in tensors.items()
    }


def _entry(which: Which, saved: Saved, data: bytes, old: _Content) -> _Entry:
    """What `run.json` shall say of a checkpoint; its file is never one that counts already with other bytes."""
    step = saved.notes.get("step")
    if which not in get_args(Which):
        raise RunError(f"there is no '{which}' checkpoint; choose from {', '.join(get_args(Which))}")
    if not isinstance(step, int) or step < 0:
        raise RunError(f"the notes of the {which} checkpoint need a 'step', a whole number from 0; got {step!r}")
    sha256 = hashlib.sha256(data).hexdigest()
    taken = {entry.file for entry in old.entries.values() if entry.sha256 != sha256}
    name, again = f"{which}-{step:08}.safetensors", 1
    while name in taken:
        again += 1
        name = f"{which}-{step:08}-{again}.safetensors"
    return _Entry(name, sha256, saved.notes)


def _is_intact(folder: Path, entry: _Entry) -> bool:
    with suppress(OSError):
        return hashlib.sha256((folder / entry.file).read_bytes()).hexdigest() == entry.sha256
    return False


def _write(path: Path, data: bytes) -> None:
    with replacing(path) as part:
        part.write_bytes(data)


def _json(content: _Content, folder: Path) -> bytes:
    """The bytes of `run.json`: a part to a line, and the checksum of all other bytes at the end."""
    parts = {
        "format": FORMAT,
        "version": VERSION,
        "about": content.about,
        "checkpoints": {which: vars(entry) for which, entry in content.entries.items()},
    }
    try:
        lines = "".join(f'"{name}": {json.dumps(part, allow_nan=False)},\n' for name, part in parts.items())
    except (ValueError, TypeError, RecursionError) as error:
        raise RunError(f"cannot save to {folder}, what is to be noted is not plain JSON: {error}") from None
    head, tail = f'{{\n{lines}"sha256": "'.encode(), b'"\n}\n'
    return head + hashlib.sha256(head + tail).hexdigest().encode() + tail


def _is_sealed(data: bytes, checksum: str) -> bool:
    """Whether a `run.json` matches its checksum; the rule is the same for every version of the format."""
    return hashlib.sha256(data.replace(checksum.encode(), b"", 1)).hexdigest() == checksum


def _read_run(folder: Path) -> _Content:
    path = folder / RUN
    data = _read_json(path)
    try:
        content = json.loads(data.decode("utf-8"))
        if content["format"] != FORMAT:
            raise RunError(f"{path} is not of a run but of '{content['format']}'; give the folder of a run")
        if not _is_sealed(data, content["sha256"]):
            raise RunError(f"{path} is damaged: its checksum differs; {_BACKUP}")
        if content["version"] > VERSION:
            raise RunError(
                f"{path} has format {content['version']}, this rsg reads up to {VERSION}; update rsg to read it"
            )
        entries = {which: _Entry(**entry) for which, entry in content["checkpoints"].items()}
        if not all(which in get_args(Which) and _is_sound(entry) for which, entry in entries.items()):
            raise ValueError("a checkpoint that rsg would not write")
        return _Content(dict(content["about"]), entries)
    except _UNREADABLE:
        raise RunError(f"{path} is damaged: it cannot be read; {_BACKUP}") from None


def _is_sound(entry: _Entry) -> bool:
    """Whether the file is one of the run's own, never one elsewhere, and the notes have a step."""
    return _TENSORS.fullmatch(entry.file) is not None and isinstance(entry.notes["step"], int)


def _read_json(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        raise RunError(f"{_why_not_a_run(path.parent)}; give the folder of a run") from None
    except OSError as error:
        raise RunError(f"cannot read {path}: {error.strerror}") from None


def _why_not_a_run(folder: Path) -> str:
    if folder.is_file():
        return f"{folder} is a file, not a folder"
    if not folder.exists():
        return f"there is no folder {folder}"
    if (folder / MANIFEST).exists():
        return f"{folder} is a store of demonstrations (it has a {MANIFEST}), not a run"
    return f"{folder} is not a run: it has no {RUN}"
