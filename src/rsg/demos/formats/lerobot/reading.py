"""The episodes of a LeRobot folder, one after the other: its files are read in pieces."""

from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from rsg.core.arrays import Array
from rsg.core.errors import StoreError, meant
from rsg.demos.formats.format import Options, Part, Recording, as_rows, chosen, lossless, one_sentence
from rsg.demos.formats.lerobot.meta import (
    ACTION,
    CLOCK,
    EPISODE,
    FRAME,
    STATE,
    TASK,
    Episode,
    Info,
    Ours,
    check_columns,
    episodes_of,
    info_of,
    opened,
    ours_of,
    tasks_of,
)

_ROWS = 4096  # frames that are read at once


class Frames(NamedTuple):
    """The frames of one episode: the file that they begin in, the number, and each column."""

    path: Path
    number: int
    columns: dict[str, Array]

    @property
    def where(self) -> str:
        """What to call them in messages."""
        return f"{self.path}, episode {self.number}"


def read(folder: Path, options: Options) -> Iterator[Recording]:
    """The recordings of a folder. One of ours has all states; of others the last action leads nowhere that was seen."""
    info, ours = info_of(folder), None if options.state_keys else ours_of(folder)
    keys = [STATE] if ours else _state_keys(info, options)
    acted = next((name for name in (ACTION, "actions") if name in info.parts), None)
    if not ours:
        last = "the last action of each episode is left out: no state is recorded after it"
        options.note(last if acted else f"{info.path} has no feature '{ACTION}': the recordings have no actions")
    text_of = _Texts(folder, info, options)
    columns = dict.fromkeys([EPISODE, FRAME, *keys, *([acted] if acted else []), *text_of.columns])
    listed = episodes_of(info, folder, ours is not None)
    held = _by_episode(_batches(folder, info, list(columns)))
    for episode, frames in zip_longest(listed, held):
        _check_same(folder, episode, frames)
        states = as_rows({key: frames.columns[key] for key in keys}, frames.where)
        actions = frames.columns[acted] if acted else None
        text = text_of(frames)
        if ours:
            yield _ours(frames, ours, episode, (states, actions), text)
            continue
        if len(states) < 2:
            raise StoreError(f"{frames.where} has one frame; a recording needs two states")
        taken = None if actions is None else actions[:-1]
        yield Recording(frames.where, states, _flat(taken), text)
    text_of.tell()


def _ours(frames: Frames, ours: Ours, episode: Episode, seen: tuple[Array, Array | None], text: str) -> Recording:
    """A recording as our own export has it: with its last state, and without what was padded."""
    states, actions = seen
    assert episode.final is not None
    if not len(episode.final) <= states.shape[1]:
        raise StoreError(f"{frames.where}: its last state has {len(episode.final)} numbers, not {states.shape[1]}")
    final = episode.final.astype(states.dtype)[None]
    states = np.concatenate([states[:, : len(episode.final)], final])
    if actions is not None:
        shape = (len(actions), *ours.shape)
        actions = actions[:, :0].reshape(shape) if 0 in shape else actions.reshape(shape)
    return Recording(frames.where, states, actions, text, episode.setting)


def _flat(actions: Array | None) -> Array | None:
    """Actions `[T]` where each is one whole number, else `[T, D]`."""
    if actions is None:
        return None
    flat = actions.reshape(len(actions), -1)
    return flat[:, 0] if flat.shape[1] == 1 and flat.dtype.kind in "iu" else flat


def _state_keys(info: Info, options: Options) -> list[str]:
    """Which features make up a state: those that were asked for, or all that are observed."""
    seen = [name for name in info.parts if name.startswith("observation.")]
    said = {name: info.parts[name] for name in (seen or filter(_may_be_seen, info.parts))}
    said |= {name: info.parts[name] for name in options.state_keys if name in info.parts}
    if missing := [key for key in options.state_keys if key not in info.parts]:
        if missing[0] in info.others:
            raise StoreError(f"{info.path}: '{missing[0]}' is {info.others[missing[0]]}, which makes no state")
        raise StoreError(f"{info.path} has no feature '{missing[0]}' for --state-keys; {meant(missing[0], info.parts)}")
    others = ", ".join(f"{name} ({dtype})" for name, dtype in info.others.items())
    return chosen(said, str(info.path), options, others)


def _may_be_seen(name: str) -> bool:
    """Whether a feature of any name may be a part of a state: it is no clock, no action and nothing that is told."""
    told = ("action", "next.", "annotation.", "reward", "done")
    return name not in CLOCK and not name.startswith(told) and not name.endswith("_index")


class _Texts:
    """The text of an episode: from the table of tasks, or from a column of its own."""

    def __init__(self, folder: Path, info: Info, options: Options) -> None:
        key = options.task_key or TASK
        if options.task_key and key not in {**info.parts, **info.others}:
            known = [name for name, dtype in info.others.items() if dtype == "string"] + [TASK]
            raise StoreError(f"{info.path} has no feature '{key}' for --task-key; {meant(key, known)}")
        self._key, self._note, self._changed = key, options.note, 0
        self._direct = info.others.get(key) == "string"
        has = key in info.parts or self._direct
        self.columns = [key] if has else []
        self._tasks = tasks_of(folder) if has and not self._direct else {}

    def __call__(self, frames: Frames) -> str:
        """What was to be done, as the first frame has it."""
        if not self.columns:
            return ""
        column = frames.columns[self._key].reshape(-1)
        self._changed += bool((column != column[0]).any())
        if self._direct:
            return str(column[0])
        number = int(column[0])
        if number not in self._tasks:
            raise StoreError(f"{frames.where}: its {self._key} is {number}, there are {len(self._tasks)} tasks")
        return self._tasks[number]

    def tell(self) -> None:
        """Say what was passed over."""
        if self._changed:
            self._note(f"the text changes within {self._changed:,} episodes: the first one counts")


def _check_same(folder: Path, episode: Episode | None, frames: Frames | None) -> None:
    """Whether the frames are those of the episode that is listed next."""
    if frames is None or (episode is not None and frames.number > episode.number):
        raise StoreError(f"{folder}, episode {episode.number if episode else 0}: data has no frames of it")
    if episode is None or frames.number != episode.number:
        raise StoreError(f"{frames.where}: meta does not list this episode, or not here")
    if (length := len(frames.columns[FRAME])) != episode.length:
        raise StoreError(f"{frames.where} has {length} frames, meta says {episode.length}")


def _by_episode(batches: Iterator[tuple[Path, dict[str, Array]]]) -> Iterator[Frames]:
    """Frames episode by episode, wherever the pieces end; they are numbered from 0 in each."""
    begun: tuple[Path, int] | None = None
    pieces: list[dict[str, Array]] = []
    for path, columns in batches:
        numbers = columns[EPISODE].reshape(-1)
        ends = [*(np.flatnonzero(np.diff(numbers)) + 1).tolist(), len(numbers)]
        for start, end in zip([0, *ends], ends, strict=False):
            number = int(numbers[start])
            if begun is not None and begun[1] != number:
                yield _joined(*begun, pieces)
                begun, pieces = None, []
            begun = begun or (path, number)
            pieces.append({name: column[start:end] for name, column in columns.items()})
    if begun is not None:
        yield _joined(*begun, pieces)


def _joined(path: Path, number: int, pieces: list[dict[str, Array]]) -> Frames:
    columns = {name: np.concatenate([piece[name] for piece in pieces]) for name in pieces[0]}
    order = columns[FRAME].reshape(-1)
    if len(wrong := np.flatnonzero(order != np.arange(len(order)))):
        raise StoreError(f"{path}, episode {number}: frame {order[wrong[0]]} stands where frame {wrong[0]} should be")
    return Frames(path, number, columns)


def _batches(folder: Path, info: Info, columns: list[str]) -> Iterator[tuple[Path, dict[str, Array]]]:
    """The columns of all files, a few thousand frames at a time."""
    paths = sorted((folder / "data").glob("*/*.parquet"))
    if not paths:
        raise StoreError(f"{folder} has no data/*/*.parquet, where its frames are")
    for path in paths:
        with one_sentence(f"cannot read {path}"), opened(path) as file:
            check_columns(path, file.schema_arrow, columns)
            for batch in file.iter_batches(_ROWS, columns=columns):
                if batch.num_rows:
                    numbers = _numbers(batch.column(EPISODE), info.parts.get(EPISODE), f"{path}: {EPISODE}")
                    yield path, {name: _column(batch, name, info, path, numbers) for name in columns}


def _column(batch: pa.RecordBatch, name: str, info: Info, path: Path, numbers: Array) -> Array:
    """One column of a piece; an error names the episode of the first frame that is wrong."""
    column = batch.column(name)
    if (bad := _bad_row(column)) is not None:
        row, problem = bad
        raise StoreError(f"{path}, episode {int(numbers.reshape(-1)[row])}: '{name}' {problem}")
    if info.others.get(name) == "string":
        return np.array(column.to_pylist(), dtype=object)
    return _numbers(column, info.parts.get(name), f"{path}, episode {int(numbers.reshape(-1)[0])} on: '{name}'")


def _bad_row(column: pa.Array) -> tuple[int, str] | None:
    """The first row that is missing or has another length than the first, and what is wrong with it."""
    if column.null_count:
        return int(np.argmax(column.is_null().to_numpy(zero_copy_only=False))), "is missing (null) in a frame"
    if pa.types.is_list(column.type) or pa.types.is_large_list(column.type):
        lengths = np.diff(column.offsets.to_numpy())
        if len(lengths) and (lengths != lengths[0]).any():
            row = int(np.argmax(lengths != lengths[0]))
            return row, f"has {lengths[row]} numbers in one frame and {lengths[0]} in another"
    return None


def _numbers(column: Any, part: Part | None, what: str) -> Array:
    """Numbers `[N, ...]` of the declared kind, however the file has them."""
    if column.null_count:
        raise StoreError(f"{what} is missing (null) in a frame")
    count, flat = len(column), _storage(column)
    while pa.types.is_nested(flat.type) and hasattr(flat.type, "value_type"):
        if (bad := _bad_row(flat)) is not None:
            raise StoreError(f"{what} {bad[1]}")
        flat = _storage(flat.flatten())
    kind = flat.type
    if not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind)):
        raise StoreError(f"{what} holds {kind}, not numbers")
    if flat.null_count:
        raise StoreError(f"{what} holds a null where a number should be")
    values: Array = flat.to_numpy(zero_copy_only=False)
    if part is None:
        raise StoreError(f"{what} is not among the features of meta/info.json")
    size = int(np.prod(part.shape, dtype=np.int64)) or 1
    if len(values) != count * size:
        has = len(values) // max(1, count)
        raise StoreError(f"{what} has {has} numbers in each frame, meta/info.json says {size}")
    if values.dtype.kind == part.dtype.kind == "f":  # LeRobot itself reads them as what is declared
        values = values.astype(part.dtype)
    values = lossless(values, part.dtype, f"{what}: number", "meta/info.json says otherwise")
    return values.reshape(count, *(part.shape or (1,)))


def _storage(column: Any) -> Any:
    """The array itself, where a library has put a type of its own around it."""
    return column.storage if isinstance(column, pa.ExtensionArray) else column
