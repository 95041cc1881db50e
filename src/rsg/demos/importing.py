"""Demonstrations from any source that rsg reads."""

import atexit
from collections.abc import Iterable, Iterator
from pathlib import Path
from shutil import rmtree
from tempfile import TemporaryDirectory

from rsg.core.errors import RsgError, StoreError
from rsg.demos.demonstration import Demonstration, Demonstrator
from rsg.demos.exchange import import_jsonl, import_npz
from rsg.demos.store import FOLDER, Store

MINARI = "minari:"  # before the id of a Minari dataset


def import_from(source: str | Path, dtype: str | None = None) -> Iterator[Demonstration]:
    """The demonstrations of `minari:ID`, of a `.npz` or of a `.jsonl` file; `dtype` is that of the states."""
    if str(source).startswith(MINARI):
        from rsg.demos.minari_sets import import_minari

        return import_minari(str(source).removeprefix(MINARI), dtype)
    readers = {".npz": import_npz, ".jsonl": import_jsonl, ".json": import_jsonl}
    reader = readers.get(Path(source).suffix.lower())
    if reader is None:
        raise StoreError(
            f"cannot import '{source}'; give a .npz file, a .jsonl file, or minari:ID for a Minari dataset"
        )
    return reader(source, dtype)


def opened(source: Store | Iterable[Demonstration] | str | Path) -> Store | list[Demonstration]:
    """Demonstrations, however they are given: as such, or as where they are; there is at least one."""
    if isinstance(source, str | Path):
        source = Store(source) if Path(source).is_dir() else list(import_from(source))
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


def import_into(
    folder: Path, source: str, world: str, dtype: str | None = None, known: Demonstrator | None = None
) -> Store:
    """Add the demonstrations of a source to a store, a new one or one of the same world: all of them, or none.

    known: the world itself, if somebody knows it; then each must say its setting, or it could not be replayed.
    """
    demos = _with_settings(import_from(source, dtype), known, source)
    new = not (folder / FOLDER.file).exists()
    store = Store.create(folder, world) if new else Store(folder)
    if store.manifest.world != world:
        raise RsgError(f"{folder} holds demonstrations of the world '{store.manifest.world}', these are of '{world}'")
    try:
        store.append(demos, all_or_none=True)
        if not len(store):
            raise RsgError(f"{source} holds no demonstrations")
    except BaseException:
        if new:  # nothing of a failed import stays
            rmtree(folder, ignore_errors=True)
        raise
    return store


def world_of_source(source: str) -> str | None:
    """The world that a source says it is of, if it says so."""
    if not source.startswith(MINARI):
        return None
    from rsg.demos.minari_sets import minari_world

    return minari_world(source.removeprefix(MINARI))


def open_store(source: Path, world: str, folder: Path | None = None) -> Store:
    """The store of a folder; of `minari:ID`, one that is filled from it: in a folder, or else only while we run.

    world: where the demonstrations are of, if they do not say it.
    """
    if not str(source).startswith(MINARI):
        return Store(source)
    if folder is None:
        scratch = TemporaryDirectory()
        atexit.register(scratch.cleanup)
        folder = Path(scratch.name) / "store"
    if (folder / FOLDER.file).exists():
        raise StoreError(f"{folder} already holds demonstrations; give --demos {folder}, or choose another folder")
    return import_into(folder, str(source), world_of_source(str(source)) or world)


def _with_settings(demos: Iterator[Demonstration], known: Demonstrator | None, source: str) -> Iterator[Demonstration]:
    for number, demo in enumerate(demos):
        try:
            if known:
                known.world(demo.setting)
        except RsgError as error:
            example = getattr(known, "example", "")
            more = f"; give each a setting such as {example}" if example else ""
            raise RsgError(f"{source}, episode {number}: {error}{more}") from None
        yield demo
