"""One file of demonstrations: an `.npz` of flat arrays, read without pickle, with a checksum for each episode."""

import io
import math
import zipfile
import zlib
from collections.abc import Sequence
from itertools import accumulate
from pathlib import Path

import numpy as np

from rsg.core.arrays import Array
from rsg.core.errors import RsgError, StoreError
from rsg.demos.demonstration import Demonstration

# Per episode [E]: where its states and actions begin in the flat arrays, steps, width of a state, width of an action
# (-1: a single number, -2: there are none), which text is its task and its setting, how many starts were drawn for it,
# and its checksum. So no episode needs another one to be found, and the large arrays are last: a file cut short keeps
# what came before.
_PER_EPISODE = ("state", "action", "steps", "width", "action_width", "task", "setting", "draws", "crc")
_ARRAYS = (*_PER_EPISODE, "tasks", "settings", "actions", "states")

_NO_ACTIONS = -2
_UNREADABLE = (ValueError, LookupError, TypeError, OSError, EOFError, RuntimeError, zipfile.BadZipFile, zlib.error)


def pack(demonstrations: Sequence[Demonstration], draws: Sequence[int] | None = None) -> bytes:
    """The bytes of a shard; the same demonstrations give the same bytes."""
    draws = draws if draws is not None else [1] * len(demonstrations)
    seen = {demo.states.dtype for demo in demonstrations}
    done = {demo.actions.dtype for demo in demonstrations if demo.actions is not None}
    if len(seen) != 1 or len(done) > 1:
        kinds = sorted({str((demo.states.dtype, getattr(demo.actions, "dtype", None))) for demo in demonstrations})
        raise StoreError(f"the demonstrations of a shard must share their dtypes, got {kinds}")
    tasks = list(dict.fromkeys(demo.task for demo in demonstrations))
    settings = list(dict.fromkeys(demo.setting for demo in demonstrations))
    states = [demo.states.ravel() for demo in demonstrations]
    none = np.empty(0, next(iter(done), np.dtype(np.int64)))
    actions = [none if demo.actions is None else demo.actions.ravel() for demo in demonstrations]
    columns = {
        "state": [0, *accumulate(map(len, states))][:-1],
        "action": [0, *accumulate(map(len, actions))][:-1],
        "steps": [len(demo) for demo in demonstrations],
        "width": [demo.states.shape[1] for demo in demonstrations],
        "action_width": [_width(demo.actions) for demo in demonstrations],
        "task": [tasks.index(demo.task) for demo in demonstrations],
        "setting": [settings.index(demo.setting) for demo in demonstrations],
        "draws": draws,
        "crc": [checksum(demo, drawn) for demo, drawn in zip(demonstrations, draws, strict=True)],
    }
    arrays: dict[str, Array] = {name: np.array(column, dtype="<i8") for name, column in columns.items()}
    arrays |= {"tasks": np.array(tasks, dtype="<U"), "settings": np.array(settings, dtype="<U")}
    arrays |= {"actions": np.concatenate(actions), "states": np.concatenate(states)}
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as file:  # as `np.savez` does, whose bytes depend on the version of NumPy
        for name in _ARRAYS:
            with file.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, arrays[name], version=(1, 0), allow_pickle=False)
    return buffer.getvalue()


def _width(actions: Array | None) -> int:
    if actions is None:
        return _NO_ACTIONS
    return int(actions.shape[1]) if actions.ndim == 2 else -1


def unpack(data: bytes, path: Path) -> tuple[list[Demonstration], list[int]]:
    """The demonstrations of a shard and how many starts were drawn for each."""
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as file:
            arrays = {name: file[name] for name in _ARRAYS}
        demos = [demo for demo in _episodes(arrays) if demo is not None]
        unread = len(arrays["crc"]) - len(demos)
    except _UNREADABLE as error:
        raise StoreError(f"{path} is not a readable shard of demonstrations: {error}") from None
    if unread:
        raise StoreError(f"{path} is damaged: {unread} of its episodes cannot be read")
    return demos, arrays["draws"].tolist()


def salvage(data: bytes) -> tuple[list[Demonstration], list[int], int]:
    """The episodes of a damaged shard that still match their checksums, their draws, and how many episodes it held."""
    try:
        arrays = _found_arrays(data)
        episodes = _episodes(arrays)
        rows = list(zip(episodes, arrays["draws"].tolist(), arrays["crc"].tolist(), strict=False))
        kept = [(demo, drawn) for demo, drawn, crc in rows if demo is not None and checksum(demo, drawn) == crc]
        return [demo for demo, _ in kept], [drawn for _, drawn in kept], len(episodes)
    except Exception:  # whatever the damage does to the reader, nothing more is to be had
        return [], [], 0


def checksum(demo: Demonstration, drawn: int) -> int:
    """A CRC over everything that a shard says of a demonstration."""
    kinds = [None if one is None else (one.dtype.str, one.shape) for one in (demo.states, demo.actions)]
    crc = zlib.crc32(f"{demo.task}\0{demo.setting}\0{kinds}{drawn}".encode("utf-8", "surrogatepass"))
    crc = zlib.crc32(demo.states.tobytes(), crc)
    return crc if demo.actions is None else zlib.crc32(demo.actions.tobytes(), crc)


def _found_arrays(data: bytes) -> dict[str, Array]:
    """The arrays, found by their own headers: the zip around them may be damaged, and the end may be missing."""
    arrays: dict[str, Array] = {}
    file = io.BytesIO(data)
    for name in _ARRAYS:
        file.seek(data.index(np.lib.format.MAGIC_PREFIX, file.tell()))
        np.lib.format.read_magic(file)
        shape, _, dtype = np.lib.format.read_array_header_1_0(file)
        there = min(math.prod(shape), (len(data) - file.tell()) // dtype.itemsize)
        arrays[name] = np.frombuffer(data, dtype, there, file.tell())
    return arrays


def _episodes(arrays: dict[str, Array]) -> list[Demonstration | None]:
    """Each episode, or None where its figures do not fit the arrays."""
    found: list[Demonstration | None] = []
    columns = (arrays[name].tolist() for name in _PER_EPISODE[:7])
    for state, action, steps, width, action_width, task, setting in zip(*columns, strict=False):
        try:
            states = arrays["states"][state : state + (steps + 1) * width]
            actions = arrays["actions"][action : action + steps * abs(action_width)]
            shaped = actions.reshape(steps, action_width) if action_width >= 0 else actions
            found.append(
                Demonstration(
                    states.reshape(steps + 1, width),
                    None if action_width == _NO_ACTIONS else shaped,
                    str(arrays["tasks"][task]),
                    str(arrays["settings"][setting]),
                )
            )
        except (ValueError, IndexError, OverflowError, RsgError):
            found.append(None)
    return found
