"""One file of demonstrations: an `.npz` of flat arrays, read without pickle, with a checksum for each episode."""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rsg.core.errors import RsgError, StoreError
from rsg.demos.demonstration import Demonstration

# states, actions: all episodes one after the other, flat. Per episode [E]: steps, width of a state, width of an action
# (0: a single number), which text is its task and its setting, how many starts were drawn for it, and its checksum.
_PER_EPISODE = ("steps", "width", "action_width", "task", "setting", "draws", "crc")


def pack(demonstrations: Sequence[Demonstration], draws: Sequence[int] | None = None) -> bytes:
    """The bytes of a shard; the same demonstrations give the same bytes."""
    kinds = {(demo.states.dtype, demo.actions.dtype) for demo in demonstrations}
    if len(kinds) != 1:
        raise StoreError(f"the demonstrations of a shard must share their dtypes, got {sorted(map(str, kinds))}")
    tasks = list(dict.fromkeys(demo.task for demo in demonstrations))
    settings = list(dict.fromkeys(demo.setting for demo in demonstrations))
    arrays: dict[str, NDArray[Any]] = {
        "states": np.concatenate([demo.states.ravel() for demo in demonstrations]),
        "actions": np.concatenate([demo.actions.ravel() for demo in demonstrations]),
        "tasks": np.array(tasks, dtype=np.str_),
        "settings": np.array(settings, dtype=np.str_),
        "steps": np.array([len(demo) for demo in demonstrations], dtype=np.int64),
        "width": np.array([demo.states.shape[1] for demo in demonstrations], dtype=np.int64),
        "action_width": np.array(
            [demo.actions.shape[1] if demo.actions.ndim == 2 else 0 for demo in demonstrations], dtype=np.int64
        ),
        "task": np.array([tasks.index(demo.task) for demo in demonstrations], dtype=np.int64),
        "setting": np.array([settings.index(demo.setting) for demo in demonstrations], dtype=np.int64),
        "draws": np.array(draws if draws is not None else [1] * len(demonstrations), dtype=np.int64),
        "crc": np.array([checksum(demo) for demo in demonstrations], dtype=np.uint32),
    }
    buffer = io.BytesIO()
    np.savez(buffer, allow_pickle=False, **arrays)
    return buffer.getvalue()


def unpack(data: bytes, path: Path) -> tuple[list[Demonstration], list[int]]:
    """The demonstrations of a shard and how many starts were drawn for each."""
    arrays = _arrays(data, path)
    demos = [episode for episode in _episodes(arrays) if episode is not None]
    if len(demos) != len(arrays["steps"]):
        raise StoreError(f"{path} is damaged: {len(arrays['steps']) - len(demos)} of its episodes cannot be read")
    return demos, arrays["draws"].tolist()


def salvage(data: bytes, path: Path) -> list[Demonstration]:
    """The episodes of a damaged shard that still match their checksums."""
    try:
        arrays = _arrays(data, path)
        episodes = _episodes(arrays)
        marks = arrays["crc"].tolist()
        return [demo for demo, mark in zip(episodes, marks, strict=True) if demo and checksum(demo) == mark]
    except Exception:  # whatever the damage does to the reader, nothing more is to be had
        return []


def checksum(demo: Demonstration) -> int:
    """A CRC over everything that a demonstration says."""
    crc = zlib.crc32(f"{demo.task}\0{demo.setting}\0{demo.states.shape}{demo.actions.shape}".encode())
    return zlib.crc32(demo.actions.tobytes(), zlib.crc32(demo.states.tobytes(), crc))


def _arrays(data: bytes, path: Path) -> dict[str, NDArray[Any]]:
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as file:
            return {name: file[name] for name in ("states", "actions", "tasks", "settings", *_PER_EPISODE)}
    except (ValueError, KeyError, OSError, EOFError, zipfile.BadZipFile, zlib.error, NotImplementedError) as error:
        raise StoreError(f"{path} is not a readable shard of demonstrations: {error}") from None


def _episodes(arrays: dict[str, NDArray[Any]]) -> list[Demonstration | None]:
    """Each episode, or None where its figures do not fit the arrays."""
    found: list[Demonstration | None] = []
    state, action = 0, 0
    columns = (arrays[name].tolist() for name in _PER_EPISODE[:5])
    for steps, width, action_width, task, setting in zip(*columns, strict=True):
        states = arrays["states"][state : state + (steps + 1) * width]
        actions = arrays["actions"][action : action + steps * max(action_width, 1)]
        state, action = state + (steps + 1) * width, action + steps * max(action_width, 1)
        try:
            found.append(
                Demonstration(
                    states.reshape(steps + 1, width),
                    actions.reshape(steps, action_width) if action_width else actions,
                    str(arrays["tasks"][task]),
                    str(arrays["settings"][setting]),
                )
            )
        except (ValueError, IndexError, RsgError):
            found.append(None)
    return found
