"""Files that are either the old ones or the new ones, never half of each."""

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from importlib.resources import files
from pathlib import Path
from tempfile import NamedTemporaryFile, TemporaryDirectory, TemporaryFile

from rsg.core.errors import RsgError


@contextmanager
def replacing(path: str | Path) -> Iterator[Path]:
    """A temporary path to write to; it takes the place of `path` at the end, and is dropped on an error.

    A kill leaves the old file, and the temporary one beside it: see `leftovers`.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     with replacing(f"{folder}/note.txt") as part:
    ...         _ = part.write_text("whole")
    ...     Path(f"{folder}/note.txt").read_text()
    'whole'
    """
    path = Path(path)
    with _writing(path), ExitStack() as stack:
        with NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", suffix=path.suffix, delete=False) as handle:
            part = Path(handle.name)
        stack.callback(part.unlink, missing_ok=True)
        yield part
        _sync(part)
        part.chmod(0o666 & ~_umask())
        part.replace(path)
        _sync(path.parent)


@contextmanager
def new_folder(path: str | Path) -> Iterator[Path]:
    """A temporary folder to fill; at the end it gets its name, which must be free, and on an error it is dropped.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     with new_folder(f"{folder}/set") as part:
    ...         _ = (part / "note.txt").write_text("whole")
    ...     Path(f"{folder}/set/note.txt").read_text()
    'whole'
    """
    path = Path(path)
    with _writing(path), TemporaryDirectory(dir=path.parent, prefix=f".{path.name}.") as staging:
        part = Path(staging, "new")
        part.mkdir()
        yield part
        for file in (one for one in part.rglob("*") if one.is_file()):
            _sync(file)
        part.rename(path)
        _sync(path.parent)


@contextmanager
def _writing(path: Path) -> Iterator[None]:
    """The folder for a file or a folder is there; what goes wrong in here is said of it."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield
    except OSError as error:
        raise RsgError(f"cannot write {path}: {error.strerror or error}") from error


def check_writable(path: str | Path, folder: bool = False) -> None:
    """An error if no such file (or folder) could be written: asked before long work, not after it. Nothing is left."""
    path = Path(path)
    wrong = path.is_file() if folder else path.is_dir()
    if wrong:
        what = "a file, not a folder" if folder else "a folder, not a file"
        raise RsgError(f"cannot write to {path}: it is {what}; choose another name")
    there = next(one for one in (*([path] if folder else []), *path.absolute().parents) if one.exists())
    try:
        TemporaryFile(dir=there).close()
    except OSError as error:
        raise RsgError(f"cannot write {path}: {error.strerror or error}") from None


def shipped(package: str, *path: str) -> str:
    """The text of a file that comes with a package of ours."""
    return files(package).joinpath(*path).read_text(encoding="utf-8")


def leftovers(folder: Path, *names: str) -> list[Path]:
    """The temporary files that killed writers of these names (or patterns of names) left in a folder."""
    return [part for name in names for part in folder.glob(f".{name}.*")]


def _sync(path: Path) -> None:
    """Make what a file holds durable, or the names in a folder."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _umask() -> int:
    """The process's file mask: a temporary file is private, what replaces the user's file should not be."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
