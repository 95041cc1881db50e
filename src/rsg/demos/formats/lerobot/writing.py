"""A store as a LeRobot dataset v3.0."""

from collections.abc import Sequence
from pathlib import Path
from shutil import copytree
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from rsg.core.arrays import Array
from rsg.core.errors import StoreError
from rsg.core.files import new_folder
from rsg.demos.demonstration import Demonstration
from rsg.demos.formats.format import Options, Survey, check_free, one_sentence, padded, survey
from rsg.demos.formats.lerobot.meta import (
    ACTION,
    CLOCK,
    EPISODE,
    FINAL,
    OURS,
    SETTING,
    STATE,
    TASK,
    Ours,
    text_table,
    write_json,
)
from rsg.demos.formats.lerobot.stats import KEPT, Stats, of_episode
from rsg.demos.store import Store

VERSION = "v3.0"
_FILES = 1000  # in a folder
MEGABYTES = 100  # after so many a new file begins
_PLACES = ("data/chunk_index", "data/file_index", "meta/episodes/chunk_index", "meta/episodes/file_index")


def write(store: Store, target: str, options: Options) -> None:
    """Write the folder. What LeRobot has no place for is in columns and in a file of ours, which others pass over."""
    path, found = check_free(target), survey(store, "a LeRobot dataset")
    if options.fps < 1:
        raise StoreError(f"a LeRobot dataset has at least one frame a second, not {options.fps}")
    with one_sentence(f"cannot write {target}"), new_folder(path) as folder:
        if options.copied:
            copytree(options.copied, folder, dirs_exist_ok=True)
        else:
            writer = _Writer(folder, found, options.fps)
            for shard in store.manifest.shards:
                writer.add(store.read_shard(shard)[0])
            writer.finish(store.manifest.world)
        if options.labels is not None:
            from rsg.demos.formats.lerobot.labels import add_labels

            add_labels(folder, options)


class _Writer:
    """The files of a dataset, filled shard by shard."""

    def __init__(self, folder: Path, found: Survey, fps: int) -> None:
        self._folder, self._found, self._fps = folder, found, fps
        self._features = _features(found)
        arrow = {name: _arrow_type(one) for name, one in self._features.items()}
        self._data = _Files(folder / "data", pa.schema(list(arrow.items())))
        self._episodes = _Files(folder / "meta" / "episodes", _episode_schema(self._features, found))
        self._tasks: dict[str, int] = {}
        self._frames = self._count = 0
        self._stats = Stats(list(self._features))

    def add(self, demos: Sequence[Demonstration]) -> None:
        """Write demonstrations, as many as fit into memory."""
        places = (*self._data.make_room(), *self._episodes.make_room())
        frames: list[dict[str, Array]] = []
        rows: list[dict[str, Any]] = []
        for demo in demos:
            columns = self._columns(demo)
            stats = of_episode(columns)
            self._stats.add(stats)
            frames.append(columns)
            rows.append(
                {
                    EPISODE: self._count,
                    "tasks": [demo.task],
                    "length": len(demo),
                    **dict(zip(_PLACES, places, strict=True)),
                    "dataset_from_index": self._frames,
                    "dataset_to_index": self._frames + len(demo),
                    **{f"stats/{name}/{kind}": values for name, one in stats.items() for kind, values in one.items()},
                    FINAL: demo.states[-1],
                    SETTING: demo.setting,
                }
            )
            self._count, self._frames = self._count + 1, self._frames + len(demo)
        joined = {name: np.concatenate([one[name] for one in frames]) for name in self._features}
        self._data.write([_arrow(joined[name]) for name in self._features])
        schema = self._episodes.schema
        self._episodes.write([pa.array([row[one.name] for row in rows], one.type) for one in schema])

    def _columns(self, demo: Demonstration) -> dict[str, Array]:
        """What is in each frame `[T, ...]`."""
        count, found = len(demo), self._found
        frames = np.arange(count)
        columns = {STATE: padded(demo.states[:-1], found.width or 1)}
        if demo.actions is not None:
            done = demo.actions.reshape(count, -1)
            columns[ACTION] = padded(done, max(1, done.shape[1]))
        task = self._tasks.setdefault(demo.task, len(self._tasks))
        number, time = np.full(count, self._count), (frames / self._fps).astype(np.float32)
        clock: tuple[Array, ...] = (time, frames, number, frames + self._frames, np.full(count, task))
        return columns | {name: values[:, None] for name, values in zip(CLOCK, clock, strict=True)}

    def finish(self, world: str) -> None:
        """Write what is only known at the end."""
        self._data.close()
        self._episodes.close()
        found, meta = self._found, self._folder / "meta"
        pq.write_table(text_table(list(self._tasks), TASK, "task"), meta / "tasks.parquet")
        ours = Ours(world, str(found.states), None if found.actions is None else str(found.actions), list(found.shape))
        write_json(meta / OURS, ours._asdict())
        write_json(meta / "stats.json", self._stats.plain())
        write_json(
            meta / "info.json",
            {
                "codebase_version": VERSION,
                "robot_type": None,
                "total_episodes": self._count,
                "total_frames": self._frames,
                "total_tasks": len(self._tasks),
                "chunks_size": _FILES,
                "data_files_size_in_mb": MEGABYTES,
                "video_files_size_in_mb": 200,
                "fps": self._fps,
                "splits": {"train": f"0:{self._count}"},
                "data_path": "data/chunk-{chunk_index:03d}/file-{file_index:03d}.parquet",
                "video_path": None,
                "features": self._features,
            },
        )


class _Files:
    """Parquet files in numbered folders: a new one begins when the last is large."""

    def __init__(self, folder: Path, schema: pa.Schema) -> None:
        self._folder, self.schema = folder, schema
        self._number, self._path = -1, folder
        self._writer: Any = None

    def make_room(self) -> tuple[int, int]:
        """The numbers of the folder and of the file that is written to next."""
        if self._writer is None or self._path.stat().st_size >= MEGABYTES << 20:
            self.close()
            self._number += 1
            chunk, file = divmod(self._number, _FILES)
            self._path = self._folder / f"chunk-{chunk:03d}" / f"file-{file:03d}.parquet"
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._writer = pq.ParquetWriter(self._path, self.schema, compression="snappy", write_page_checksum=True)
        return divmod(self._number, _FILES)

    def write(self, columns: list[Any]) -> None:
        """Add rows."""
        assert self._writer is not None
        self._writer.write_table(pa.Table.from_arrays(columns, schema=self.schema))

    def close(self) -> None:
        """No more rows."""
        if self._writer is not None:
            self._writer.close()
            self._writer = None


def _features(found: Survey) -> dict[str, dict[str, Any]]:
    """What a frame holds."""
    clock = ("float32", "int64", "int64", "int64", "int64")
    features = {STATE: (str(found.states), found.width or 1)}
    if found.actions is not None:
        features[ACTION] = (str(found.actions), (found.shape or (1,))[0] or 1)
    features |= {name: (dtype, 1) for name, dtype in zip(CLOCK, clock, strict=True)}
    return {name: {"dtype": dtype, "shape": [size], "names": None} for name, (dtype, size) in features.items()}


def _arrow_type(feature: dict[str, Any]) -> pa.DataType:
    """One number is a scalar, several are a list."""
    kind, (size,) = pa.from_numpy_dtype(np.dtype(feature["dtype"])), feature["shape"]
    return kind if size == 1 else pa.list_(kind, size)


def _arrow(rows: Array) -> Any:
    """Rows `[N, W]` as a column."""
    flat = pa.array(np.ascontiguousarray(rows).reshape(-1))
    return flat if rows.shape[1] == 1 else pa.FixedSizeListArray.from_arrays(flat, rows.shape[1])


def _episode_schema(features: dict[str, dict[str, Any]], found: Survey) -> pa.Schema:
    whole, many = pa.int64(), pa.list_(pa.float64())
    fields = {EPISODE: whole, "tasks": pa.list_(pa.string()), "length": whole}
    fields |= dict.fromkeys((*_PLACES[:2], "dataset_from_index", "dataset_to_index"), whole)
    for name in features:
        fields |= {f"stats/{name}/{kind}": pa.list_(whole) if kind == "count" else many for kind in KEPT}
    fields |= dict.fromkeys(_PLACES[2:], whole)
    fields |= {FINAL: pa.list_(pa.from_numpy_dtype(found.states)), SETTING: pa.string()}
    return pa.schema(list(fields.items()))
