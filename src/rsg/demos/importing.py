"""Demonstrations from any source that rsg reads."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from rsg.core.errors import RsgError, StoreError
from rsg.demos.demonstration import Demonstration
from rsg.demos.exchange import import_jsonl, import_npz
from rsg.demos.store import Store


def import_from(source: str | Path, dtype: str | None = None) -> Iterator[Demonstration]:
    """The demonstrations of `minari:ID`, of a `.npz` or of a `.jsonl` file; `dtype` is that of the states."""
    if str(source).startswith("minari:"):
        from rsg.demos.minari_sets import import_minari

        return import_minari(str(source).removeprefix("minari:"), dtype)
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
