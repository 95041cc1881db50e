"""Segments in LeRobot's conventions, of which no folder can hold all.

`subtask`, a text for each frame, is in every folder; a reader of any version has it. LeRobot 0.6 and later reads
`language_persistent`, where a row counts until the next one begins. Earlier ones know `subtask_index`, and SARM's
columns of the episodes, whose ends are inclusive; they cannot open a folder that has the other.
"""

import json
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from rsg.core.errors import StoreError
from rsg.demos.formats.format import Options, one_sentence
from rsg.demos.formats.lerobot.meta import EPISODE, FRAME, check_columns, info_of, text_table, write_json
from rsg.demos.labels import Labelled

TEXT, INDEX, PERSISTENT, EVENTS = "subtask", "subtask_index", "language_persistent", "language_events"
SARM = ("names", "start_times", "end_times", "start_frames", "end_frames")
ROWS = 20_000  # frames that are labelled at once
SCALE = "sparse"  # SARM's word for the coarser of its two annotations


def _rows(json_type: pa.DataType, clock: bool) -> pa.DataType:
    """The type of a list of what is said, as LeRobot declares it."""
    time = [pa.field("timestamp", pa.float32(), nullable=False)] if clock else []
    role, *texts = (pa.field(name, pa.string(), nullable=name != "role") for name in ("role", "content", "style"))
    more = [pa.field("camera", pa.string()), pa.field("tool_calls", pa.list_(json_type))]
    return pa.list_(pa.struct([role, *texts, *time, *more]))


def _repeated(rows: list[dict[str, Any]], count: int, clock: bool) -> Any:
    """The same rows for each frame."""
    one = pa.array([rows], _rows(pa.string(), clock))  # arrow makes none of the other type from Python
    return one.take(pa.array([0] * count)).cast(_rows(pa.json_(), clock))


def add_labels(folder: Path, options: Options) -> None:
    """Put the labels of `options` into a folder, which nobody reads yet."""
    info, newer = info_of(folder), options.lerobot >= "0.6"
    old = info.version.startswith("v2")
    kinds = [TEXT] if old else [TEXT, PERSISTENT, EVENTS] if newer else [TEXT, INDEX]
    if old:
        options.note(f"{info.path} is {info.version}: it gets the column '{TEXT}' alone, as others are of v3.0")
    labels, texts = iter(options.labels or ()), dict[str, int]()
    spans, fps = list[dict[str, Any]](), float(json.loads(info.path.read_bytes()).get("fps", 10))

    def labelled(table: pa.Table, path: Path) -> pa.Table:
        """Some episodes with what is told of them."""
        columns = dict[str, list[Any]]((kind, []) for kind in kinds)
        for number, times in _episodes(table):
            one = next(labels, None)
            if one is None or one.episode != number:
                raise StoreError(f"{path}: there are no labels of episode {number}")
            served = one.frames(len(times), f"{path}, episode {number}")
            for kind, column in _columns(one, served, times, texts, kinds).items():
                columns[kind].append(column)
            if INDEX in kinds:
                spans.append(_span(one, len(times), fps))
        for kind in kinds:
            table = table.drop_columns([kind]) if kind in table.column_names else table
            table = table.append_column(kind, pa.chunked_array(columns[kind]))
        said = {key: value for key, value in (table.schema.metadata or {}).items() if key != b"huggingface"}
        return table.replace_schema_metadata(said)

    for path in sorted((folder / "data").glob("*/*.parquet")):
        with one_sentence(f"cannot label {path}"):
            _rewrite(path, (labelled(table, path) for table in _pieces(path)))
    if next(labels, None) is not None:
        raise StoreError(f"{folder} has fewer episodes than there are labels")
    _declare(info.path, kinds)
    if INDEX in kinds:
        pq.write_table(text_table(list(texts), INDEX, TEXT), folder / "meta" / "subtasks.parquet")
        _tell_sarm(folder, spans)


def _pieces(path: Path) -> Iterator[pa.Table]:
    """A file in pieces of whole episodes, so that no more of it than needed is in memory."""
    with pq.ParquetFile(path) as file:
        check_columns(path, file.schema_arrow, [EPISODE, FRAME, "timestamp"])
        read = file.read_row_groups([])
        for group in range(file.num_row_groups):
            more = file.read_row_group(group)
            read = pa.concat_tables([read, more]) if read.num_rows else more
            while read.num_rows > ROWS:
                numbers = read[EPISODE].to_numpy().reshape(-1)
                ends = np.flatnonzero(np.diff(numbers)) + 1
                if not len(ends):  # an episode goes on in the next group
                    break
                end = int(ends[min(int(np.searchsorted(ends, ROWS)), len(ends) - 1)])
                yield read.slice(0, end)
                read = read.slice(end)
        if read.num_rows:
            yield read


def _rewrite(path: Path, tables: Iterator[pa.Table]) -> None:
    """Write a file anew, piece by piece."""
    first, part = next(tables, None), path.with_suffix(".part")
    if first is None:
        return
    with pq.ParquetWriter(part, first.schema, compression="snappy", write_page_checksum=True) as writer:
        for table in chain([first], tables):
            writer.write_table(table)
    part.replace(path)


def _episodes(table: pa.Table) -> Iterator[tuple[int, Any]]:
    """The number of each episode of a file, and the timestamps of its frames."""
    numbers = table[EPISODE].to_numpy().reshape(-1)
    times = table["timestamp"].to_numpy().reshape(-1)
    ends = [*(np.flatnonzero(np.diff(numbers)) + 1).tolist(), len(numbers)]
    for start, end in zip([0, *ends], ends, strict=False):
        if end > start:
            yield int(numbers[start]), times[start:end]


def _columns(one: Labelled, served: list[int], times: Any, texts: dict[str, int], kinds: list[str]) -> dict[str, Any]:
    """What the frames of an episode are told of it."""
    said = [one.segments[number].term for number in served] or [""] * len(times)
    found: dict[str, Any] = {TEXT: pa.array(said, pa.string())}
    if INDEX in kinds:
        found[INDEX] = pa.array([texts.setdefault(text, len(texts)) for text in said], pa.int64())
    if PERSISTENT in kinds:
        rows = [
            {"role": "assistant", "content": s.term, "style": "subtask", "timestamp": float(times[s.start])}
            for s in one.segments
        ]
        found[PERSISTENT], found[EVENTS] = _repeated(rows, len(times), True), _repeated([], len(times), False)
    return found


def _span(one: Labelled, frames: int, fps: float) -> dict[str, Any]:
    """An episode as SARM has it: the last frame of a segment is its end, and a time is cut to the frame before it."""
    first = [s.start for s in one.segments]
    last = [s.end - 1 for s in one.segments[:-1]] + [frames - 1] * bool(first)
    names = [s.term for s in one.segments]
    begun, ended = ([time_of(frame, fps) for frame in each] for each in (first, last))
    return dict(zip(SARM, (names, begun, ended, first, last), strict=True))


def time_of(frame: int, fps: float) -> float:
    """In seconds, from which int(time * fps) is the frame again."""
    time = frame / fps
    return time if int(time * fps) == frame else float(np.nextafter(time, np.inf))


def _declare(path: Path, kinds: list[str]) -> None:
    """Name the columns among the features: a reader refuses what is not there."""
    said = json.loads(path.read_bytes())
    dtypes = {TEXT: "string", INDEX: "int64", PERSISTENT: "language", EVENTS: "language"}
    features = {name: one for name, one in said["features"].items() if name not in dtypes}
    said["features"] = features | {kind: {"dtype": dtypes[kind], "shape": [1], "names": None} for kind in kinds}
    write_json(path, said)


def _tell_sarm(folder: Path, spans: list[dict[str, Any]]) -> None:
    """SARM's columns in `meta/episodes`, and how long each subgoal takes on the average."""
    lists = dict(zip(SARM, [pa.string(), pa.float64(), pa.float64(), pa.int64(), pa.int64()], strict=True))
    begun = 0
    for path in sorted((folder / "meta" / "episodes").glob("*/*.parquet")):
        table = pq.read_table(path)
        here = spans[begun : begun + table.num_rows]
        begun += table.num_rows
        for key, kind in lists.items():
            for prefix in (f"{SCALE}_", ""):
                name = f"{prefix}subtask_{key}"
                table = table.drop_columns([name]) if name in table.column_names else table
            name = f"{SCALE}_subtask_{key}"
            table = table.append_column(name, pa.array([span[key] for span in here], pa.list_(kind)))
        pq.write_table(table, path, compression="snappy", write_page_checksum=True)
    shares, starts = dict[str, float](), dict[str, list[int]]()
    cut = [span for span in spans if span["names"]]
    for span in cut:
        whole = span["end_frames"][-1] + 1
        for name, first, last in zip(span["names"], span["start_frames"], span["end_frames"], strict=True):
            shares[name] = shares.get(name, 0.0) + (last + 1 - first) / whole / len(cut)
        for name in dict.fromkeys(span["names"]):
            starts.setdefault(name, []).append(span["start_frames"][span["names"].index(name)])
    order = sorted(shares, key=lambda name: float(np.mean(starts[name])))
    write_json(folder / "meta" / f"temporal_proportions_{SCALE}.json", {name: shares[name] for name in order})
