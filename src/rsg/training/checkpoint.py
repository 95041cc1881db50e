"""A training run on disk: a folder with `run.json` and the tensors of its last and its best checkpoint.

Tensors go to a file of a new name, and count only once `run.json` names that file with its SHA-256. So a kill at any
moment leaves the checkpoint before or the one after, and a changed bit is always an error, never other weights.
"""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from safetensors import SafetensorError

from rsg.core.errors import RunError
from rsg.core.folder import UNREADABLE, Sealed, sha256, write

if TYPE_CHECKING:
    import torch  # which is loaded when tensors are: whoever asks only what a run is does not wait for it

RUN = "run.json"
_BACKUP = "restore it from a backup, or train again into another folder"
FOLDER = Sealed(
    file=RUN,
    format="rsg-run",
    what="a run",
    parts=("last-*.safetensors", "best-*.safetensors"),
    error=RunError,
    busy="training in",
    mend=_BACKUP,
)
Which = Literal["last", "best"]
_TENSORS = re.compile(r"(last|best)-\d{8,}(-\d+)?\.safetensors")


@dataclass(frozen=True, eq=False)
class Saved:
    """One checkpoint."""

    tensors: "dict[str, torch.Tensor]"  # weights, optimiser state and the like, by name
    # everything else, as plain JSON (keys are strings, tuples come back as lists); `step` must be among it
    notes: dict[str, Any]


@dataclass(frozen=True)
class _Entry:
    """What `run.json` says of a checkpoint: the file of its tensors, what that must hash to, and the notes."""

    file: str
    sha256: str
    notes: dict[str, Any]

    def is_sound(self) -> bool:
        """Whether the file is one of the run's own, never one elsewhere, and the notes have a step."""
        return _TENSORS.fullmatch(self.file) is not None and isinstance(self.notes["step"], int)


_Entries = dict[Which, _Entry]


def _content_of(content: dict[str, Any]) -> tuple[dict[str, Any], _Entries]:
    """What `run.json` says about the run, and of its checkpoints."""
    entries = {which: _Entry(**entry) for which, entry in content["checkpoints"].items()}
    if not all(which in get_args(Which) and entry.is_sound() for which, entry in entries.items()):
        raise ValueError("a checkpoint that rsg would not write")
    return dict(content["about"]), entries


def _plain(about: dict[str, Any], entries: _Entries) -> dict[str, Any]:
    return {"about": about, "checkpoints": {which: vars(entry) for which, entry in entries.items()}}


class Run:
    """The folder of a training run, opened for reading; `Run.create` makes one, and `writing` opens it for `save`.

    >>> import torch
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
        self._about, self._entries = FOLDER.read(self.folder, _content_of)
        self._writing = False

    @staticmethod
    def create(folder: str | Path, about: dict[str, Any]) -> "Run":
        """A new run without checkpoints, in a folder that does not exist or is empty; `about` is plain JSON."""
        FOLDER.create(Path(folder), _plain(about, {}))
        return Run(folder)

    @property
    def about(self) -> dict[str, Any]:
        """What is trained and how: method, world, settings, data, ..."""
        return deepcopy(self._about)

    @property
    def steps(self) -> dict[Which, int]:
        """The checkpoints that are there, and the step of each."""
        return {which: entry.notes["step"] for which, entry in self._entries.items()}

    def digest(self, which: Which) -> str:
        """What the tensors of a checkpoint hash to: another one has another digest."""
        return self._entry(which).sha256

    def _entry(self, which: Which) -> _Entry:
        if which not in self._entries:
            raise RunError(f"{self.folder} has no {which} checkpoint yet; train it first")
        return self._entries[which]

    def save(self, checkpoints: Mapping[Which, Saved]) -> None:
        """Put new checkpoints in the place of the old ones: all of those given, or none on an error or a kill."""
        if not self._writing:
            raise RunError(
                f"{self.folder} is open for reading only; save to it inside of 'with writing(folder) as run'"
            )
        from safetensors.torch import save as pack

        old = self._entries
        packed = {which: pack(_own(saved.tensors)) for which, saved in checkpoints.items()}
        entries = {which: _new_entry(which, checkpoints[which], data, old) for which, data in packed.items()}
        try:
            for which, entry in entries.items():
                write(self.folder / entry.file, packed[which])
            FOLDER.write(self.folder, _plain(self._about, {**old, **entries}))
        finally:  # what counts now is what the disk says, wherever an error or an interrupt came
            self._about, self._entries = FOLDER.read(self.folder, _content_of)
            self._clean()

    def _clean(self) -> None:
        """Remove what does not count."""
        named = {entry.file for entry in self._entries.values()}
        with suppress(OSError):
            files = [path for path in self.folder.iterdir() if _TENSORS.fullmatch(path.name)]
            FOLDER.clean(self.folder, *(path for path in files if path.name not in named))

    def load(self, which: Which) -> Saved:
        """A checkpoint, with the very bits that were saved, on the CPU; its file is verified first."""
        from safetensors.torch import load as unpack

        entry, data = self._verified(which)
        try:  # copies lie in memory as torch lays it out: sums may depend on that, and a resumed run must not differ
            tensors = {name: tensor.clone() for name, tensor in unpack(data).items()}
        except (SafetensorError, *UNREADABLE):
            raise self._broken(which, "holds no tensors that can be read") from None
        return Saved(tensors, deepcopy(entry.notes))

    def notes(self, which: Which) -> dict[str, Any]:
        """What a checkpoint says, but for its tensors; their file is verified all the same."""
        return deepcopy(self._verified(which)[0].notes)

    def _verified(self, which: Which) -> tuple[_Entry, bytes]:
        entry, data = self._read_tensors(which)
        if sha256(data) != entry.sha256:
            raise self._broken(which, "is damaged: its checksum differs")
        return entry, data

    def _read_tensors(self, which: Which) -> tuple[_Entry, bytes]:
        """What `run.json` says of a checkpoint and the bytes of its file; follows a trainer that went on meanwhile."""
        while True:
            entry = self._entry(which)
            path = self.folder / entry.file
            try:
                return entry, path.read_bytes()
            except FileNotFoundError:
                self._about, self._entries = FOLDER.read(self.folder, _content_of)
                if self._entries.get(which) == entry:
                    raise self._broken(which, "is missing") from None
            except OSError as error:
                raise self._broken(which, f"cannot be read: {error.strerror}") from None

    def _broken(self, which: Which, problem: str) -> RunError:
        """The error for a checkpoint that cannot be loaded; it tells which others can."""
        rest = ""
        for other, entry in self._entries.items():
            with suppress(OSError):
                if other != which and sha256((self.folder / entry.file).read_bytes()) == entry.sha256:
                    rest += f"; the {other} checkpoint (step {self.steps[other]:,}) is intact"
        path = self.folder / self._entries[which].file
        return RunError(f"{path} (step {self.steps[which]:,}) {problem}; {_BACKUP}{rest}")


@contextmanager
def writing(folder: str | Path) -> Iterator[Run]:
    """The run, opened for `save` while no other process writes to it; what killed writers left is removed first."""
    run = Run(folder)  # before the lock: nothing is put into a folder that is not a run
    with FOLDER.writing(run.folder):
        run = Run(run.folder)  # another process may have saved meanwhile
        run._clean()
        run._writing = True
        try:
            yield run
        finally:
            run._writing = False


def _own(tensors: "dict[str, torch.Tensor]") -> "dict[str, torch.Tensor]":
    """The tensors as they can be written: on the CPU, in one piece, and none sharing memory with another."""
    import torch

    return {
        name: tensor.detach().cpu().clone(memory_format=torch.contiguous_format) for name, tensor in tensors.items()
    }


def _new_entry(which: Which, saved: Saved, data: bytes, old: _Entries) -> _Entry:
    """What `run.json` shall say of a checkpoint; its file is never one that counts already with other bytes."""
    step = saved.notes.get("step")
    if which not in get_args(Which):
        raise RunError(f"there is no '{which}' checkpoint; choose from {', '.join(get_args(Which))}")
    if not isinstance(step, int) or step < 0:
        raise RunError(f"the notes of the {which} checkpoint need a 'step', a whole number from 0; got {step!r}")
    digest = sha256(data)
    taken = {entry.file for entry in old.values() if entry.sha256 != digest}
    name, again = f"{which}-{step:08}.safetensors", 1
    while name in taken:
        again += 1
        name = f"{which}-{step:08}-{again}.safetensors"
    return _Entry(name, digest, saved.notes)
