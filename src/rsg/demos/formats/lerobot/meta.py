"""What a LeRobot folder says of itself: its version, its features, its tasks and its episodes."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from rsg.core.arrays import Array
from rsg.core.errors import StoreError
from rsg.demos.formats.format import Part, first_line, one_sentence, text_of

OURS = "rsg.json"  # in meta/, what LeRobot has no word for; the next two are columns of meta/episodes
FINAL = "rsg/final_state"  # a frame has the state before its action: what came after the last one is here
SETTING = "rsg/setting"

STATE, ACTION, TASK = "observation.state", "action", "task_index"
EPISODE, FRAME = "episode_index", "frame_index"
CLOCK = ("timestamp", FRAME, EPISODE, "index", TASK)
_VERSIONS = ("v3.", "v2.1", "v2.0")
_INDEX = "__index_level_0__"  # how older converters name the column of texts


class Info(NamedTuple):
    """`meta/info.json`: the file, the version, how many episodes there should be, and the arrays of a frame.

    `others` are features without numbers, by name: their dtypes.
    """

    path: Path
    version: str
    episodes: int | None
    parts: dict[str, Part]
    others: dict[str, str]


class Ours(NamedTuple):
    """What we note of a store: its world, and the dtypes and the shape that a frame does not tell."""

    world: str
    states: str
    actions: str | None
    shape: list[int]


class Episode(NamedTuple):
    """A row of meta/episodes: its number, its frames, and what we noted: the last state and the setting."""

    number: int
    length: int
    final: Array | None = None
    setting: str = ""


def info_of(folder: Path) -> Info:
    """What kind of dataset a folder is."""
    path = folder / "meta" / "info.json"
    said = _object(path)
    version = said.get("codebase_version")
    if not isinstance(version, str) or not version.startswith(_VERSIONS):
        convert = "lerobot's own scripts convert older ones" if str(version) < "v3" else "update rsg to read it"
        raise StoreError(f"{path} says codebase_version {version!r}; v3.0 and v2.1 are read, {convert}")
    features = said.get("features")
    if not isinstance(features, dict) or not features:
        raise StoreError(f"{path} names no features; it is damaged, or not of LeRobot")
    parts, others = {}, {}
    for name, feature in features.items():
        if not isinstance(feature, dict) or not isinstance(feature.get("dtype"), str):
            raise StoreError(f"{path}: the feature '{name}' has no dtype")
        part = _part(feature)
        if part is None:
            others[name] = feature["dtype"]
        else:
            parts[name] = part
    total = said.get("total_episodes")
    if total is not None and (not isinstance(total, int) or total < 0):
        raise StoreError(f"{path}: total_episodes must be a number of episodes, not {total!r}")
    return Info(path, version, total, parts, others)


def _part(feature: dict[str, Any]) -> Part | None:
    """A feature as an array of numbers; None if it is none."""
    shape = feature.get("shape")
    try:
        dtype = np.dtype(feature["dtype"])
    except TypeError:
        return None
    if dtype.kind not in "biuf" or not isinstance(shape, list) or not all(isinstance(n, int) and n >= 0 for n in shape):
        return None
    return Part(dtype, tuple(shape))


def ours_of(folder: Path) -> Ours | None:
    """What we noted, if the dataset is one of ours."""
    path = folder / "meta" / OURS
    if not path.is_file():
        return None
    said = _object(path)
    with one_sentence(f"{path} is damaged; remove it to read the folder as one of LeRobot's own"):
        ours = Ours(str(said["world"]), said["states"], said["actions"], list(said["shape"]))
        for name in (ours.states, ours.actions):
            np.dtype(name)
        return ours


def tasks_of(folder: Path) -> dict[int, str]:
    """The texts by their numbers."""
    path = folder / "meta" / "tasks.parquet"
    if not path.is_file():
        older = folder / "meta" / "tasks.jsonl"
        if not older.is_file():
            raise StoreError(f"{folder} has no {path.relative_to(folder)}, where the tasks are")
        return _numbered(older, (line_of(older, record, "task_index", "task") for record in _lines(older)))
    with one_sentence(f"cannot read {path}"):
        table = pq.read_table(path)
        column = next((name for name in ("task", _INDEX) if name in table.column_names), None)
        if column is None or TASK not in table.column_names:
            raise StoreError(f"{path} has the columns {', '.join(table.column_names)}; it needs task and {TASK}")
        numbers, texts = table[TASK].to_pylist(), table[column].to_pylist()
    pairs = list(zip(numbers, texts, strict=True))
    for row, (number, text) in enumerate(pairs):
        if number != row:
            raise StoreError(f"{path}, row {row}: its {TASK} is {number}; LeRobot finds tasks by their rows")
        text_of(text, f"{path}, row {row}: its task")
    return dict(pairs)


def _numbered(path: Path, pairs: Iterator[tuple[Any, Any]]) -> dict[int, str]:
    found: dict[int, str] = {}
    for number, text in pairs:
        if number in found:
            raise StoreError(f"{path}: two tasks have the number {number}")
        found[number] = text_of(text, f"{path}: the task {number}")
    return found


def episodes_of(info: Info, folder: Path, ours: bool) -> Iterator[Episode]:
    """The episodes in order, checked to be numbered from 0 on."""
    count = 0
    for path, episode in _older_episodes(folder) if info.version.startswith("v2") else _episodes(folder, ours):
        if episode.number != count:
            raise StoreError(f"{path}: episode {episode.number} stands where episode {count} should be")
        count += 1
        yield episode
    if info.episodes is not None and count != info.episodes:
        raise StoreError(f"{info.path} says that there are {info.episodes} episodes, meta has {count}")


def _episodes(folder: Path, ours: bool) -> Iterator[tuple[Path, Episode]]:
    paths = sorted((folder / "meta" / "episodes").glob("*/*.parquet"))
    if not paths:
        raise StoreError(f"{folder} has no meta/episodes/*/*.parquet, where its episodes are listed")
    columns = [EPISODE, "length", *((FINAL, SETTING) if ours else ())]
    for path in paths:
        with one_sentence(f"cannot read {path}"), opened(path) as file:
            check_columns(path, file.schema_arrow, columns)
            for batch in file.iter_batches(4096, columns=columns):
                numbers, lengths = (batch.column(name).to_pylist() for name in columns[:2])
                for row, (number, length) in enumerate(zip(numbers, lengths, strict=True)):
                    _check_whole(path, row, number, length)
                    if not ours:
                        yield path, Episode(number, length)
                        continue
                    final, setting = batch.column(FINAL)[row], batch.column(SETTING)[row].as_py()
                    if not final.is_valid or not isinstance(setting, str):
                        raise StoreError(f"{path}: episode {number} has no {FINAL} or no {SETTING}")
                    values = final.values.to_numpy(zero_copy_only=False)
                    yield path, Episode(number, length, values, setting)


def _older_episodes(folder: Path) -> Iterator[tuple[Path, Episode]]:
    path = folder / "meta" / "episodes.jsonl"
    if not path.is_file():
        raise StoreError(f"{folder} has no meta/episodes.jsonl, where its episodes are listed")
    for row, record in enumerate(_lines(path)):
        number, length = line_of(path, record, EPISODE, "length")
        _check_whole(path, row, number, length)
        yield path, Episode(number, length)


def _check_whole(path: Path, row: int, *values: object) -> None:
    if not all(isinstance(value, int) and value >= 0 for value in values):
        raise StoreError(f"{path}, row {row}: {EPISODE} and length must be whole numbers, not {values}")


def opened(path: Path) -> Any:
    """A parquet file, to be read in pieces; where its pages have checksums, those are compared."""
    return pq.ParquetFile(path, page_checksum_verification=True)


def check_columns(path: Path, schema: pa.Schema, columns: list[str]) -> None:
    """An error if a file lacks a column."""
    if missing := [name for name in columns if name not in schema.names]:
        raise StoreError(f"{path} has no column '{missing[0]}'; it has {', '.join(schema.names)}")


def _object(path: Path) -> dict[str, Any]:
    """A JSON file with an object."""
    try:
        said = json.loads(path.read_bytes().decode("utf-8"))
    except OSError as error:
        raise StoreError(f"cannot read {path}: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        raise StoreError(f"{path} is not JSON: {first_line(error)}") from None
    if not isinstance(said, dict):
        raise StoreError(f"{path} must hold an object, not a {type(said).__name__}")
    return said


def _lines(path: Path) -> Iterator[tuple[int, Any]]:
    """The JSON values of a file, by the numbers of their lines."""
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            if line.strip():
                try:
                    yield number, json.loads(line.decode("utf-8"))
                except (ValueError, RecursionError) as error:
                    raise StoreError(f"{path}, line {number} is not JSON: {first_line(error)}") from None


def line_of(path: Path, record: tuple[int, Any], *keys: str) -> tuple[Any, Any]:
    """Two values of an object on a line."""
    line, said = record
    if not isinstance(said, dict) or not said.keys() >= set(keys):
        raise StoreError(f"{path}, line {line} must be an object with the keys {' and '.join(keys)}")
    return said[keys[0]], said[keys[1]]


def text_table(texts: list[str], number: str, text: str) -> pa.Table:
    """Texts as pandas writes a frame with the texts as its index: so LeRobot finds them by their rows."""
    described = {
        "index_columns": [text],
        "column_indexes": [],
        "columns": [
            {"name": number, "field_name": number, "pandas_type": "int64", "numpy_type": "int64", "metadata": None},
            {"name": text, "field_name": text, "pandas_type": "unicode", "numpy_type": "object", "metadata": None},
        ],
        "creator": {"library": "pyarrow", "version": pa.__version__},
        "pandas_version": "2.2.0",
    }
    table = pa.table({number: pa.array(range(len(texts)), pa.int64()), text: pa.array(texts, pa.string())})
    return table.replace_schema_metadata({"pandas": json.dumps(described)})


def write_json(path: Path, value: object) -> None:
    """Write a file as LeRobot has it."""
    path.write_text(json.dumps(value, indent=4) + "\n", encoding="utf-8")
