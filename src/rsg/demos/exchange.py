"""Demonstrations from elsewhere: `.npz` and `.jsonl` files; Minari datasets are in `minari_sets`.

Episodes stream, nothing is unpickled, and a number that would change on the way is an error.
"""

import json
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from rsg.core.arrays import Array
from rsg.core.errors import ParseError, RsgError, StoreError
from rsg.demos.demonstration import Demonstration
from rsg.language import parse


def import_npz(path: str | Path, dtype: str | None = None) -> Iterator[Demonstration]:
    """The demonstrations in a file that `numpy.savez` wrote.

    Its arrays: `states` `[S, W]` and `actions` `[A]` or `[A, D]`, all episodes one after the other; `lengths` `[E]`,
    the number of actions of each episode (it has one state more); `tasks` `[E]` and, if there are any, `settings` `[E]`
    as text.
    """
    path, wanted = _existing(path), dtype_named(dtype)
    arrays = _npz_arrays(path)
    ends = np.cumsum(arrays["lengths"]).tolist()

    def episodes() -> Iterator[Demonstration]:
        for number, (start, end) in enumerate(zip([0, *ends[:-1]], ends, strict=True)):
            states = arrays["states"][start + number : end + number + 1]
            texts = str(arrays["tasks"][number]), str(arrays["settings"][number]) if "settings" in arrays else ""
            yield checked_demonstration(
                states, arrays["actions"][start:end], *texts, f"{path}, episode {number}", wanted
            )

    return episodes()


def import_jsonl(path: str | Path, dtype: str | None = None) -> Iterator[Demonstration]:
    """The demonstrations in a text file, one JSON object a line: `states`, `actions`, `task`, and `setting` if any.

    Whole numbers become int64 and others float64, as the first line has them; `dtype` says otherwise for the states.
    """
    path, wanted = _existing(path), dtype_named(dtype)

    def episodes() -> Iterator[Demonstration]:
        kinds: list[np.dtype[Any]] = []
        with one_sentence(f"cannot read {path}"), path.open("rb") as file:
            for where, line in ((f"{path}, line {number}", line) for number, line in enumerate(file, 1)):
                if not line.strip():
                    continue
                record = _record(line, where)
                states, actions = (_json_array(record[key], f"{where}: '{key}'") for key in ("states", "actions"))
                kinds = kinds or [wanted or states.dtype, actions.dtype]
                actions = _lossless(actions, kinds[1], f"{where}: action", "write those of all lines alike")
                yield checked_demonstration(states, actions, record["task"], record["setting"], where, kinds[0])
        if not kinds:
            raise StoreError(f"{path} holds no demonstrations: all its lines are blank")

    return episodes()


def _npz_arrays(path: Path) -> dict[str, Array]:
    """The arrays of the file, checked to fit together."""
    numbers, texts = ("biuf", "numbers"), ("U", "texts")
    wanted = {"states": ((2,), *numbers), "actions": ((1, 2), *numbers), "lengths": ((1,), "iu", "whole numbers")}
    wanted |= {"tasks": ((1,), *texts), "settings": ((1,), *texts)}
    try:
        with path.open("rb") as raw, np.load(raw, allow_pickle=False) as file:  # np.load alone may leave it open
            arrays = {name: file[name] for name in wanted if name in file}
    except (ValueError, OSError, EOFError, TypeError, zipfile.BadZipFile, zlib.error, NotImplementedError) as error:
        raise StoreError(f"{path} is not a readable .npz file of numbers and texts: {first_line(error)}") from None
    for name, (dimensions, kinds, what) in wanted.items():
        if name not in arrays and name != "settings":
            raise StoreError(f"{path} has no array '{name}'; it needs states, actions, lengths and tasks")
        array = arrays.get(name)
        if array is not None and (array.ndim not in dimensions or array.dtype.kind not in kinds):
            shape = " or ".join(map(str, dimensions))
            found = f"{array.dtype} of shape {list(array.shape)}"
            raise StoreError(f"{path}: '{name}' must be {what} in {shape} dimensions, not {found}")
    _check_counts(arrays, path)
    return arrays


def _check_counts(arrays: dict[str, Array], path: Path) -> None:
    lengths = arrays["lengths"].astype(np.int64)
    if not len(lengths):
        raise StoreError(f"{path} holds no demonstrations: 'lengths' is empty")
    if (lengths < 1).any():
        number = int(np.argmax(lengths < 1))
        raise StoreError(f"{path}, episode {number}: its length is {lengths[number]}, it needs at least one action")
    needs = {"actions": lengths, "states": lengths + 1, "tasks": lengths * 0 + 1, "settings": lengths * 0 + 1}
    for name in (name for name in needs if name in arrays):
        ends, there = np.cumsum(needs[name]), len(arrays[name])
        if there != ends[-1]:
            number = min(int(np.searchsorted(ends, there, side="right")), len(ends) - 1)
            problem = (
                f"'{name}' ends before it is whole" if there < ends[-1] else f"'{name}' goes on after this last one"
            )
            counts = f"'lengths' asks for {ends[-1]} {name} in all and there are {there}"
            raise StoreError(
                f"{path}, episode {number}: {problem}; {counts} (n actions go with n + 1 states and one task)"
            )


def _record(line: bytes, where: str) -> dict[str, Any]:
    try:
        record = json.loads(line)
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


def _json_array(value: ArrayLike, what: str) -> Array:
    try:
        array = np.array(value)
    except ValueError:
        raise StoreError(f"{what} has rows of different lengths") from None
    if array.dtype.kind not in "biuf" or array.ndim == 0:
        raise StoreError(f"{what} must be a list of numbers, or of lists of numbers")
    return array


def checked_demonstration(
    states: Array, actions: Array, task: str, setting: str, where: str, dtype: np.dtype[Any] | None
) -> Demonstration:
    """A demonstration whose task can be read and whose states fit the dtype; `where` names it in messages."""
    try:
        parse(task)
        return Demonstration(_lossless(states, dtype, "state", "choose another dtype"), actions, task, setting)
    except ParseError as error:
        raise StoreError(f"{where}: the task is not understood: {error}") from None
    except RsgError as error:
        raise StoreError(f"{where}: {error}") from None


def _lossless(array: Array, dtype: np.dtype[Any] | None, what: str, advice: str) -> Array:
    """The array in another dtype, if that changes no number."""
    if dtype is None or array.dtype == dtype:
        return array
    with np.errstate(all="ignore"):
        new = array.astype(dtype)
        same = (new == array) & (new.astype(array.dtype) == array)  # -1 in uint64 passes one test, 2**53 + 1 the other
    same |= np.not_equal(array, array) & np.not_equal(new, new)  # not a number, before and after
    if not same.all():
        place = tuple(np.argwhere(~same)[0])
        raise StoreError(f"{what} {place[0]} has {array[place]}, which {dtype} cannot hold exactly; {advice}")
    return new


def dtype_named(name: str | None) -> np.dtype[Any] | None:
    """The dtype of that name, or an error that says which there are."""
    try:
        dtype = None if name is None else np.dtype(name)
    except TypeError:
        dtype = np.dtype(object)
    if dtype is not None and dtype.kind not in "biuf":
        raise StoreError(f"'{name}' is not a dtype for states; use for example uint8, int64 or float32")
    return dtype


def _existing(path: str | Path) -> Path:
    if not Path(path).is_file():
        raise StoreError(f"there is no file {path}")
    return Path(path)


@contextmanager
def one_sentence(problem: str) -> Iterator[None]:
    """Minari, HDF5 and Gymnasium raise errors of any type when a dataset is not as they like it."""
    try:
        yield
    except RsgError:
        raise
    except Exception as error:
        raise StoreError(f"{problem}: {first_line(error)}") from error


def first_line(error: Exception) -> str:
    """What an error says, in one line."""
    return next(iter(str(error).splitlines()), type(error).__name__)
