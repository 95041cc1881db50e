"""Demonstrations from any source that rsg reads, and to any format that it writes."""

import atexit
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from shutil import rmtree
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from rsg.core.errors import ParseError, RsgError, StoreError
from rsg.core.files import check_writable, replacing
from rsg.demos.demonstration import Demonstration, Demonstrator
from rsg.demos.finding import with_actions
from rsg.demos.formats import EVERY, LABELLED, STORE, Format, Options, Recording, format_for, format_of
from rsg.demos.formats.format import check_free, dtype_named, lossless
from rsg.demos.formats.jsonl import JsonLines
from rsg.demos.formats.lerobot import LeRobot
from rsg.demos.formats.minari import Minari
from rsg.demos.labels import Labels
from rsg.demos.store import FOLDER, Store
from rsg.demos.words import reader

UNNAMED = ("npz", JsonLines.name, STORE)  # formats that keep a state as one row


@dataclass(frozen=True)
class Import:
    """How recordings of others become demonstrations."""

    options: Options = field(default_factory=Options)  # how the source is read
    format: str | None = None  # its name, if that is not to be guessed
    # the world, if somebody knows it: each recording must say its setting, or it could not be replayed
    known: Demonstrator | None = None
    words: Mapping[str, str] | None = None  # tasks by text, see `rsg.demos.words`
    # None: actions that are missing stay so. Else they are found with the known world, see `with_actions`.
    bridge: int | None = None


def import_from(source: str | Path, how: Import | None = None) -> Iterator[Demonstration]:
    """The demonstrations of a source, one after the other: `minari:ID`, a file or a folder of any format."""
    how = how or Import()
    found = format_of(str(source), how.format)
    _check_keys(str(source), found.name, how.options)
    return _read(found.read(str(source), how.options), str(source), how)


def _check_keys(source: str, name: str, options: Options) -> None:
    """An error for keys where there are none."""
    asked = "--state-keys" if options.state_keys else "--task-key" if options.task_key else ""
    if asked and name in UNNAMED:
        raise StoreError(f"{source} has a row of numbers for each state, and a task: there is nothing for {asked}")


def _read(recordings: Iterator[Recording], source: str, how: Import) -> Iterator[Demonstration]:
    wanted, task_of = dtype_named(how.options.dtype), reader(how.words, how.known)
    count = silent = wordless = 0
    for recording in recordings:
        try:
            demo = _demonstration(recording, wanted, task_of, how)
        except ParseError as error:
            raise StoreError(f"{recording.where}: the task is not understood: {error}") from None
        except StoreError:
            raise
        except RsgError as error:
            raise StoreError(f"{recording.where}: {error}") from None
        yield demo
        count, silent, wordless = count + 1, silent + (demo.actions is None), wordless + (not demo.task)
    if not count:
        raise StoreError(f"{source} holds no demonstrations")
    for missing, what in ((silent, "actions"), (wordless, "a description")):
        if missing:
            how.options.note(f"{missing:,} of {count:,} recordings have come without {what}")


def _demonstration(
    recording: Recording, dtype: np.dtype[Any] | None, task_of: Callable[[str], str], how: Import
) -> Demonstration:
    """A recording as a demonstration: what it holds is checked, and what it lacks is found if that was asked for."""
    where, states, actions, text, setting = recording
    for name, values in (("state", states), ("action", actions)):
        if values is not None and values.dtype.kind == "f" and np.isnan(values).any():
            place = int(np.argwhere(np.isnan(values))[0][0])
            raise StoreError(f"{where}: {name} {place} holds NaN, which is no number")
    demo = Demonstration(lossless(states, dtype, f"{where}: state"), actions, task_of(text), setting)
    known = how.known
    try:
        world = known.world(setting) if known else None
    except RsgError as error:
        example = getattr(known, "example", "")
        more = f"; give each a setting such as {example}" if example else ""
        raise StoreError(f"{where}: {error}{more}") from None
    if how.bridge is None or actions is not None:
        return demo
    if world is None:
        raise RsgError("actions are found with the world's model; name the world: --world WORLD")
    return with_actions(world, demo, how.bridge)


def opened(source: Store | Iterable[Demonstration] | str | Path) -> Store | list[Demonstration]:
    """Demonstrations, however they are given: as such, or as where they are; there is at least one."""
    if isinstance(source, str | Path):
        here = Path(source).is_dir() and _is_store(source)
        source = Store(source) if here else list(import_from(source))
    if isinstance(source, Demonstration):
        raise RsgError("demonstrations are wanted, not one: put it in a list, [demonstration]")
    if not isinstance(source, Iterable):
        raise RsgError(f"demonstrations are a list, a store, or where one is, not a {type(source).__name__}")
    found = source if isinstance(source, Store) else list(source)
    if not found:
        where = f" in {found.folder}" if isinstance(found, Store) else ""
        raise RsgError(f"there are no demonstrations to learn from{where}")
    for number, one in enumerate(found if isinstance(found, list) else ()):
        if not isinstance(one, Demonstration):
            raise RsgError(
                f"demonstration {number} is a {type(one).__name__}; make each rsg.Demonstration(states, actions, task)"
            )
    return found


def import_into(folder: Path, source: str, world: str, how: Import | None = None) -> Store:
    """Add the demonstrations of a source to a store, a new one or one of the same world: all of them, or none."""
    demos = import_from(source, how)
    new = not (folder / FOLDER.file).exists()
    if not new and _is_store(source) and folder.resolve() == Path(source).resolve():
        raise StoreError(f"{folder} is what is read; choose another folder for what comes out")
    store = Store.create(folder, world) if new else Store(folder)
    if store.manifest.world != world:
        raise RsgError(f"{folder} holds demonstrations of the world '{store.manifest.world}', these are of '{world}'")
    try:
        store.append(demos, all_or_none=True)
    except BaseException:
        if new:  # nothing of a failed import stays
            rmtree(folder, ignore_errors=True)
        raise
    return store


def export_to(target: str, store: Store, options: Options | None = None, named: str | None = None) -> None:
    """Write a store as something new that others read: all of it, or nothing; named: the format, if not guessed."""
    format_for(target, named).write(store, target, options or Options())


def world_of_source(source: str, named: str | None = None) -> str | None:
    """The world that a source says it is of, if it says so."""
    return format_of(source, named).world(source)


def label_to(
    target: str, labels: Labels, store: Store, source: str, options: Options, named: str | None = None
) -> None:
    """Write labels: lines of JSON, or a dataset with them: a copy of the source if that is of the same format.

    Args:
        target: what is written: all of it, or nothing; named: its format, if not guessed.
        labels: of the recordings of a store.
        store: the recordings, and source: where they come from.
        options: how.
    """
    format_ = labelled_as(target, named)
    if format_.name == JsonLines.name:
        with replacing(check_free(target)) as part, part.open("wb") as file:
            file.writelines(path.read_bytes() for path in labels.files)
        return
    same = not _is_store(source) and format_of(source).name == format_.name
    format_.write(store, target, replace(options, labels=labels, copied=source if same else None))


def labelled_as(target: str, named: str | None = None) -> Format:
    """The format in which labels would be written there, or what is wrong with that, before any work."""
    found = format_for(target, named)
    if found.name not in LABELLED:
        raise StoreError(f"{found.name} has no place for labels; give FILE.jsonl, FILE.hdf5, a FOLDER or minari:ID")
    if isinstance(found, Minari):
        found.check(target)
    else:
        check_free(target)
        check_writable(target, folder=found.name == LeRobot.name)
    return found


def open_store(source: Path, world: str, folder: Path | None = None, how: Import | None = None) -> Store:
    """The store of a folder; of another source, one that is filled from it: in a folder, or else only while we run.

    world: where the demonstrations are of, if they do not say it. how: a source is read.
    """
    if _is_store(source) and not (how and (how.words or how.bridge is not None)):
        _check_keys(str(source), STORE, how.options if how else Options())
        return Store(source)
    if folder is None:
        scratch = TemporaryDirectory()
        atexit.register(scratch.cleanup)
        folder = Path(scratch.name) / "store"
    if (folder / FOLDER.file).exists():
        raise StoreError(f"{folder} already holds demonstrations; give --demos {folder}, or choose another folder")
    return import_into(folder, str(source), world_of_source(str(source)) or world, how)


def _is_store(source: str | Path) -> bool:
    """Whether a source is a store, or looks like nothing at all: then a store can say what it lacks."""
    return next((one.name for one in EVERY if one.fits(str(source))), STORE) == STORE
