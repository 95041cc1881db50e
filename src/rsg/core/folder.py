"""A folder that rsg keeps: one sealed JSON file says what counts, beside the files that it names.

The file takes the place of the old one at once, and its seal is a checksum of its own bytes. So a kill at any moment
leaves the state before or the one after, and a changed bit is always an error, never other data.
"""

import hashlib
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from filelock import FileLock, Timeout

from rsg.core.errors import RsgError
from rsg.core.files import leftovers, replacing

VERSION = 1
UNREADABLE = (ValueError, KeyError, TypeError, AttributeError, RecursionError)  # what reading strange JSON may raise
_LOCK = ".lock"
_Read = TypeVar("_Read")
KINDS = {"run.json": "a run", "manifest.json": "a store of demonstrations"}  # all that there are, by their files


@dataclass(frozen=True)
class Sealed:
    """A kind of folder."""

    file: str  # the name of the sealed file
    format: str  # what it says it is
    what: str  # the words for such a folder
    parts: tuple[str, ...]  # patterns of the names of the other files in it
    error: type[RsgError]  # what is raised
    busy: str  # the words for what another process does there
    mend: str  # what to do with a damaged one; `{folder}` stands for it

    def create(self, folder: Path, content: dict[str, Any]) -> None:
        """Begin a folder that does not exist or is empty."""
        data = self._data(folder, content)
        self.check_new(folder)
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise self.error(f"cannot write to {folder}: {error.strerror}") from None
        with self.writing(folder):
            self.check_new(folder)  # another process may have been quicker
            write(folder / self.file, data)

    def check_new(self, folder: Path) -> None:
        """An error if none can be begun in the folder: it holds something already."""
        try:
            if folder.is_file():
                raise self.error(f"{folder} is a file, not a folder; choose another name")
            there = set(folder.iterdir()) if folder.exists() else set()
        except OSError as error:
            raise self.error(f"cannot read {folder}: {error.strerror}") from None
        if folder / self.file in there:
            raise self.error(f"{folder} already holds {self.what}; go on with it, or choose another folder")
        if there - {folder / _LOCK, *self._unfinished(folder)}:
            raise self.error(f"{folder} is not empty; choose another folder, or remove it first")

    @contextmanager
    def writing(self, folder: Path) -> Iterator[None]:
        """Only one process writes at a time; what killed ones left is removed first."""
        with locked(folder, self.error(f"another process is {self.busy} {folder}; wait for it, or stop it")):
            self.clean(folder)
            yield

    def clean(self, folder: Path, *stray: Path) -> None:
        """Remove temporary files, and these; what cannot be removed does no harm."""
        with suppress(OSError):
            for path in (*self._unfinished(folder), *stray):
                path.unlink(missing_ok=True)

    def _unfinished(self, folder: Path) -> list[Path]:
        return leftovers(folder, self.file, *self.parts)

    def write(self, folder: Path, content: dict[str, Any]) -> None:
        """Put the content in the place of the old one. The caller is `writing`."""
        write(folder / self.file, self._data(folder, content))

    def _data(self, folder: Path, content: dict[str, Any]) -> bytes:
        try:
            return seal({"format": self.format, "version": VERSION, **content})
        except (ValueError, TypeError, RecursionError) as error:
            raise self.error(f"cannot save to {folder}, what is to be noted is not plain JSON: {error}") from None

    def read(self, folder: Path, make: Callable[[dict[str, Any]], _Read]) -> _Read:
        """What is made of the content; it is verified first."""
        path, mend = folder / self.file, self.mend.format(folder=folder)
        try:
            data = path.read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            raise self.error(f"{self._lack(folder)}; give the folder of {self.what}") from None
        except OSError as error:
            raise self.error(f"cannot read {path}: {error.strerror}") from None
        try:
            content = json.loads(data.decode("utf-8"))
            if content["format"] != self.format:
                raise self.error(f"{path} is not of {self.what} but of '{content['format']}'; give another folder")
            if not is_sealed(data):
                raise self.error(f"{path} is damaged: its checksum differs; {mend}")
            if content["version"] > VERSION:
                has = f"{path} has format {content['version']}"
                raise self.error(f"{has}, this rsg reads up to {VERSION}; update rsg to read it")
            return make(content)
        except UNREADABLE:
            raise self.error(f"{path} is damaged: it cannot be read; {mend}") from None

    def _lack(self, folder: Path) -> str:
        """Why that is no such folder."""
        if folder.is_file():
            return f"{folder} is a file, not a folder"
        if not folder.exists():
            return f"{folder} is not {self.what}: there is no folder of that name"
        other = next((file for file in KINDS if (folder / file).exists()), None)
        if other:
            return f"{folder} is {KINDS[other]} (it has a {other}), not {self.what}"
        return f"{folder} is not {self.what}: it has no {self.file}"


def seal(content: dict[str, Any]) -> bytes:
    """The bytes of a file: a part to a line, and the checksum of all other bytes at the end."""
    lines = "".join(f'"{name}": {json.dumps(part, allow_nan=False)},\n' for name, part in content.items())
    head, tail = f'{{\n{lines}"sha256": "'.encode(), b'"\n}\n'
    return head + hashlib.sha256(head + tail).hexdigest().encode() + tail


def is_sealed(data: bytes) -> bool:
    """Whether a file matches its checksum; the rule is the same for every version of a format.

    The checksum of stores was once that of their content with sorted keys; such ones are still read.
    """
    try:
        content = json.loads(data.decode("utf-8"))
        checksum = str(content.pop("sha256"))
        sorted_content = json.dumps(content, sort_keys=True).encode()
        return checksum in (sha256(data.replace(checksum.encode(), b"", 1)), sha256(sorted_content))
    except UNREADABLE:
        return False


def sha256(data: bytes) -> str:
    """The checksum of some bytes."""
    return hashlib.sha256(data).hexdigest()


def write(path: Path, data: bytes) -> None:
    """Write a file whole or not at all."""
    with replacing(path) as part:
        part.write_bytes(data)


@contextmanager
def locked(folder: Path, busy: RsgError) -> Iterator[None]:
    """The folder is ours, or `busy` is raised; the lock goes with the process, also when it is killed."""
    lock = FileLock(folder / _LOCK, timeout=0)
    try:
        lock.acquire()
    except Timeout:
        raise busy from None
    except OSError as error:
        raise type(busy)(f"cannot write to {folder}: {error.strerror}") from None
    try:
        yield
    finally:
        lock.release()
