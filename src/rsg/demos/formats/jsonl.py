"""`.jsonl`: text, one JSON object a line: `states`, `actions` (or null), `task`, and `setting` if any.

Whole numbers become int64 and others float64, as the first line has them, unless a line names its `dtypes`.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from rsg.core.arrays import Array
from rsg.core.errors import StoreError
from rsg.core.files import replacing
from rsg.demos.demonstration import Demonstration
from rsg.demos.formats.format import (
    Options,
    Recording,
    check_free,
    dtype_named,
    existing,
    first_line,
    lossless,
    one_sentence,
    survey,
)
from rsg.demos.store import Store

_EXACT = 2**53  # up to here, all whole numbers are floats, too
_Kinds = tuple[np.dtype[Any] | None, np.dtype[Any] | None]


class JsonLines:
    """A text file that a person can read and any program can write."""

    name = "jsonl"
    about = "text, one JSON object a line: states, actions, task"
    target = "FILE.jsonl"

    def fits(self, source: str) -> bool:
        return Path(source).suffix.lower() in (".jsonl", ".json")

    suits = fits

    def world(self, source: str) -> str | None:
        with one_sentence(f"cannot read {source}"), existing(source).open("rb") as file:
            line = next((line for line in file if line.strip()), b"{}")
        try:
            said = json.loads(line)
        except (ValueError, RecursionError):
            return None  # whoever reads it will say what is wrong
        return str(said["world"]) if isinstance(said, dict) and "world" in said else None

    def read(self, source: str, options: Options) -> Iterator[Recording]:
        path, wanted = existing(source), dtype_named(options.dtype)
        first: _Kinds | None = None
        with one_sentence(f"cannot read {path}"), path.open("rb") as file:
            for where, line in ((f"{path}, line {number}", line) for number, line in enumerate(file, 1)):
                if not line.strip():
                    continue
                record = _record(line, where)
                states = _array(record["states"], f"{where}: 'states'")
                actions = record["actions"]
                actions = None if actions is None else _array(actions, f"{where}: 'actions'")
                kinds = _named(record, where)
                if kinds is None:
                    kinds = first = first or (wanted or states.dtype, None if actions is None else actions.dtype)
                if actions is not None:
                    actions = lossless(actions, kinds[1], f"{where}: action", "write those of all lines alike")
                states = lossless(states, kinds[0], f"{where}: state")
                yield Recording(where, states, actions, record["task"], record["setting"])

    def write(self, store: Store, target: str, options: Options) -> None:
        path = check_free(target)
        survey_each(store)
        with replacing(path) as part, part.open("w", encoding="utf-8") as file:
            for number, demo in enumerate(store):
                file.write(_line(store, number, demo) + "\n")


def survey_each(store: Store) -> None:
    """An error if JSON has no word for something in a store, whatever kinds of states and actions are mixed in it."""
    if not len(store):
        survey(store, "JSON")  # says so
    for number, demo in enumerate(store):
        for values in (demo.states, demo.actions):
            if values is None:
                continue
            if values.dtype.itemsize > 8:
                raise StoreError(f"JSON cannot hold {values.dtype}, which {store.folder}, episode {number} has")
            if not np.isfinite(values).all():
                raise StoreError(f"JSON cannot hold NaN or infinity, which {store.folder}, episode {number} has")


def _line(store: Store, number: int, demo: Demonstration) -> str:
    """A demonstration as one line."""
    done = demo.actions
    dtypes = {"states": str(demo.states.dtype), "actions": None if done is None else str(done.dtype)}
    record = {
        **({"world": store.manifest.world} if number == 0 else {}),
        "task": demo.task,
        "setting": demo.setting,
        "dtypes": dtypes,
        "states": demo.states.tolist(),
        "actions": None if done is None else done.tolist(),
    }
    return json.dumps(record)


def _record(line: bytes, where: str) -> dict[str, Any]:
    """The object on a line, checked to have what it needs."""
    try:
        record = json.loads(line.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise StoreError(f"{where} is not JSON: {first_line(error)}; write one demonstration in each line") from None
    if not isinstance(record, dict) or not record.keys() >= {"states", "actions", "task"}:
        found = (
            f"the keys {', '.join(record) or '(none)'}" if isinstance(record, dict) else f"a {type(record).__name__}"
        )
        raise StoreError(f"{where} must be an object with the keys states, actions and task, it is {found}")
    record.setdefault("setting", "")
    for key in ("task", "setting"):
        if not isinstance(record[key], str):
            raise StoreError(f"{where}: '{key}' must be text, not {json.dumps(record[key])[:40]}")
    return record


def _named(record: dict[str, Any], where: str) -> _Kinds | None:
    """The dtypes that a line names."""
    said = record.get("dtypes")
    if said is None:
        return None
    if not isinstance(said, dict) or not all(isinstance(one, str | None) for one in said.values()):
        raise StoreError(f"{where}: 'dtypes' must name that of states and of actions, not {json.dumps(said)[:40]}")
    try:
        return dtype_named(said.get("states")), dtype_named(said.get("actions"))
    except StoreError as error:
        raise StoreError(f"{where}: {error}") from None


def _array(value: ArrayLike, what: str) -> Array:
    try:
        array = np.array(value)
        large = array.dtype.kind == "f" and (np.abs(array) > _EXACT).any()
        if large and all(type(one) is int for one in np.array(value, dtype=object).flat):
            array = np.array(value, dtype=np.uint64)  # which NumPy would have rounded
    except OverflowError:
        raise StoreError(f"{what} holds whole numbers that no dtype can hold together") from None
    except ValueError:
        raise StoreError(f"{what} has rows of different lengths") from None
    if array.dtype.kind not in "biuf" or array.ndim == 0:
        raise StoreError(f"{what} must be a list of numbers, or of lists of numbers")
    return array
