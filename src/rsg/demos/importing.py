"""Demonstrations from any source that rsg reads."""

from collections.abc import Iterator
from pathlib import Path

from rsg.core.errors import StoreError
from rsg.demos.demonstration import Demonstration
from rsg.demos.exchange import import_jsonl, import_npz


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
