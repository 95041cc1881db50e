"""`.npz`: arrays that `numpy.savez` wrote, all episodes one after the other.

Its arrays: `states` `[S, W]` and `actions` `[A]` or `[A, D]`; `lengths` `[E]`, the number of actions of each episode,
which has one state more; `tasks` `[E]` as text. There may be `settings` `[E]`, `widths` `[E]` where states are padded
with zeros, and `world`. Without `actions` the recordings have none.
"""

import math
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import numpy as np

from rsg.core.arrays import Array, Ints
from rsg.core.errors import StoreError
from rsg.core.files import replacing
from rsg.demos.formats.format import Options, Recording, Survey, check_free, existing, one_sentence, padded, survey
from rsg.demos.store import Store

_NUMBERS, _WHOLE, _TEXTS = ("biuf", "numbers"), ("iu", "whole numbers"), ("U", "texts")
_ARRAYS = {
    "states": ((2,), *_NUMBERS),
    "actions": ((1, 2), *_NUMBERS),
    "lengths": ((1,), *_WHOLE),
    "tasks": ((1,), *_TEXTS),
    "settings": ((1,), *_TEXTS),
    "widths": ((1,), *_WHOLE),
    "world": ((0,), *_TEXTS),
}
_NEEDED = ("states", "lengths", "tasks")


class Npz:
    """Arrays in a file of NumPy's."""

    name = "npz"
    about = "arrays states, actions, lengths and tasks, as numpy.savez writes them"
    target = "FILE.npz"

    def fits(self, source: str) -> bool:
        return Path(source).suffix.lower() == ".npz"

    suits = fits

    def world(self, source: str) -> str | None:
        path = existing(source)
        with one_sentence(_unreadable(path)), zipfile.ZipFile(path) as file:
            if "world.npy" not in file.namelist():
                return None
            with closing(_Rows(file, "world")) as rows:
                return str(rows.rest().reshape(()))

    def read(self, source: str, options: Options) -> Iterator[Recording]:
        path = existing(source)
        with one_sentence(_unreadable(path)), zipfile.ZipFile(path) as file, ExitStack() as stack:
            rows = _opened(file, path, stack)
            lengths = rows["lengths"].rest().astype(np.int64)
            _check_counts(rows, lengths, path)
            if "actions" not in rows:
                options.note(f"{path} has no array 'actions': its recordings have none")
            for number, length in enumerate(lengths.tolist()):
                where = f"{path}, episode {number}"
                states = rows["states"].take(length + 1)
                actions = rows["actions"].take(length) if "actions" in rows else None
                texts = [str(rows[name].take(1)[0]) if name in rows else "" for name in ("tasks", "settings")]
                if "widths" in rows:
                    states = _cut(states, int(rows["widths"].take(1)[0]), where)
                yield Recording(where, states, actions, *texts)
            for one in rows.values():
                one.check_end()

    def write(self, store: Store, target: str, options: Options) -> None:
        path, found = check_free(target), survey(store, "an .npz file", 16)
        with replacing(path) as part, zipfile.ZipFile(part, "w") as file:
            for name, dtype, shape, values in _columns(store, found):
                with file.open(f"{name}.npy", "w", force_zip64=True) as member:
                    header = {"descr": np.lib.format.dtype_to_descr(dtype), "fortran_order": False, "shape": shape}
                    np.lib.format.write_array_header_1_0(member, header)
                    for value in values:
                        member.write(np.ascontiguousarray(value, dtype=dtype).tobytes())


def _columns(store: Store, found: Survey) -> Iterator[tuple[str, np.dtype[Any], tuple[int, ...], Iterable[Any]]]:
    """Each array to write: its name, its dtype, its shape, and its values piece by piece."""
    whole, task, setting = np.dtype(np.int64), *(np.dtype(f"<U{max(1, size)}") for size in found.texts)
    each = (found.episodes,)
    yield "lengths", whole, each, (len(demo) for demo in store)
    yield "tasks", task, each, (demo.task for demo in store)
    yield "settings", setting, each, (demo.setting for demo in store)
    yield "world", np.dtype(f"<U{max(1, len(store.manifest.world))}"), (), [store.manifest.world]
    if found.widths:
        yield "widths", whole, each, (demo.states.shape[1] for demo in store)
    rows = (padded(demo.states, found.width) for demo in store)
    yield "states", found.states, (found.steps + found.episodes, found.width), rows
    if found.actions is not None:
        yield "actions", found.actions, (found.steps, *found.shape), (demo.actions for demo in store)


class _Rows:
    """An array in an `.npz` file, read row by row."""

    def __init__(self, file: zipfile.ZipFile, name: str) -> None:
        self._stream = file.open(f"{name}.npy")
        try:
            self.shape, turned, self.dtype = _header(self._stream)
            if self.dtype.hasobject:
                raise ValueError(f"'{name}' holds Python objects, which would need pickle")
            self._left = 0 if not self.shape else self.shape[0]
            self._whole = self._all(turned) if turned and len(self.shape) > 1 else None
        except BaseException:
            self.close()
            raise

    def _all(self, turned: bool) -> Array:
        data = self._read(math.prod(self.shape))
        return data.reshape(self.shape, order="F" if turned else "C")

    def _read(self, count: int) -> Array:
        data = bytearray(self._stream.read(count * self.dtype.itemsize))
        if len(data) < count * self.dtype.itemsize:
            raise EOFError("it ends before it is whole")
        array = np.frombuffer(data, self.dtype) if self.dtype.itemsize else np.zeros(count, self.dtype)
        return array.astype(self.dtype.newbyteorder("="), copy=False)

    def take(self, count: int) -> Array:
        """The next rows."""
        self._left -= count
        if self._whole is not None:
            end = self.shape[0] - self._left
            return self._whole[end - count : end]
        return self._read(count * math.prod(self.shape[1:])).reshape(count, *self.shape[1:])

    def rest(self) -> Array:
        """All of it."""
        return self._all(False) if self._whole is None else self._whole

    def check_end(self) -> None:
        """Read to the end, where the checksum is compared."""
        self._stream.read(1)

    def close(self) -> None:
        """No more rows."""
        self._stream.close()


def _header(stream: Any) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """The shape, whether columns come first, and the dtype."""
    if np.lib.format.read_magic(stream) == (1, 0):
        return np.lib.format.read_array_header_1_0(stream)
    return np.lib.format.read_array_header_2_0(stream)


def _opened(file: zipfile.ZipFile, path: Path, stack: ExitStack) -> dict[str, _Rows]:
    """The arrays of the file by name, each of the kind that it must be."""
    names = set(file.namelist())
    rows = {name: stack.enter_context(closing(_Rows(file, name))) for name in _ARRAYS if f"{name}.npy" in names}
    for name, (dimensions, kinds, what) in _ARRAYS.items():
        if name not in rows and name in _NEEDED:
            raise StoreError(f"{path} has no array '{name}'; it needs states, actions, lengths and tasks")
        one = rows.get(name)
        if one is not None and (len(one.shape) not in dimensions or one.dtype.kind not in kinds):
            shape = " or ".join(map(str, dimensions))
            found = f"{one.dtype} of shape {list(one.shape)}"
            raise StoreError(f"{path}: '{name}' must be {what} in {shape} dimensions, not {found}")
    return rows


def _check_counts(rows: dict[str, _Rows], lengths: Ints, path: Path) -> None:
    if not len(lengths):
        raise StoreError(f"{path} holds no demonstrations: 'lengths' is empty")
    if (lengths < 1).any():
        number = int(np.argmax(lengths < 1))
        raise StoreError(f"{path}, episode {number}: its length is {lengths[number]}, it needs at least one action")
    one = np.ones_like(lengths)
    needs = {"actions": lengths, "states": lengths + 1, "tasks": one, "settings": one, "widths": one}
    for name in (name for name in needs if name in rows):
        ends, there = np.cumsum(needs[name]), rows[name].shape[0]
        if there != ends[-1]:
            number = min(int(np.searchsorted(ends, there, side="right")), len(ends) - 1)
            problem = "ends before it is whole" if there < ends[-1] else "goes on after this last one"
            counts = f"'lengths' asks for {ends[-1]} {name} in all and there are {there}"
            raise StoreError(
                f"{path}, episode {number}: '{name}' {problem}; {counts} (n actions go with n + 1 states and one task)"
            )


def _cut(states: Array, width: int, where: str) -> Array:
    """Rows without what was padded."""
    if not 0 <= width <= states.shape[1]:
        raise StoreError(f"{where}: 'widths' says {width}, its states have {states.shape[1]} numbers")
    return np.ascontiguousarray(states[:, :width])


def _unreadable(path: Path) -> str:
    return f"{path} is not a readable .npz file of numbers and texts"
