"""Minari datasets in and out, by their ids: each episode keeps its task in its metadata."""

import json
import os
from collections.abc import Generator, Iterator, Mapping
from contextlib import closing
from itertools import groupby, islice
from pathlib import Path
from shutil import copytree
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from rsg.core.errors import StoreError
from rsg.core.spaces import box
from rsg.demos.demonstration import Demonstration
from rsg.demos.formats.format import (
    Options,
    Part,
    Recording,
    Survey,
    as_rows,
    chosen,
    one_sentence,
    padded,
    survey,
    text_of,
)
from rsg.demos.labels import Labels
from rsg.demos.store import Store

PREFIX = "minari:"
TASK_KEYS = ("task", "mission", "instruction")
"""Where an episode's text may be: in its metadata, its reset options, its infos or what is observed."""

_OURS = "rsg"  # the key of a Minari dataset's metadata that only we write
_MIN_ACTIONS, _MOST_ACTIONS = 5, 2**31  # of a space of numbered ones
_SAID = ("segments", "second")  # of labels, in each episode's metadata
_AT_ONCE = 100  # episodes for which a file is opened
_KEYS = "observations"  # the name of observations that are one array


class Minari:
    """Datasets that Minari keeps, found by their ids."""

    name = "minari"
    about = "a Minari dataset on this machine, by its id"
    target = "minari:ID"

    def fits(self, source: str) -> bool:
        return source.startswith(PREFIX)

    suits = fits

    def world(self, source: str) -> str | None:
        ours = _opened(source).metadata.get(_OURS)
        return str(ours["world"]) if isinstance(ours, dict) and "world" in ours else None

    def read(self, source: str, options: Options) -> Iterator[Recording]:
        storage, name = _opened(source), f"Minari dataset '{source.removeprefix(PREFIX)}'"
        parts, texts = _parts(storage.observation_space, name)
        _check_actions(storage.action_space, name)
        ours = storage.metadata.get(_OURS)
        if not storage.total_episodes:
            raise StoreError(f"{name} holds no episodes")
        keys = [_KEYS] if list(parts) == [_KEYS] and not options.state_keys else chosen(parts, name, options, texts)
        with one_sentence(f"cannot read {name}"), closing(_episodes(storage)) as episodes:
            for number, (metadata, episode) in enumerate(episodes):
                where = f"{name}, episode {number}"
                seen = {_KEYS: episode["observations"]}
                _flatten(episode["observations"], "", seen)
                states = as_rows({key: np.asarray(seen[key]) for key in keys}, where)
                actions = episode["actions"]
                if isinstance(ours, dict):  # take off what was padded
                    states = np.ascontiguousarray(states[:, : int(metadata["state_width"])])
                    actions = None if ours.get("action_dtype") is None else actions
                text = _text(options.task_key, (metadata, metadata.get("options"), episode["infos"], seen), where)
                yield Recording(where, states, actions, text, text_of(metadata.get("setting", ""), where))

    def check(self, target: str) -> None:
        """An error if a dataset cannot have that id."""
        with one_sentence(f"cannot write '{target}'"):
            _free(target.removeprefix(PREFIX))

    def write(self, store: Store, target: str, options: Options) -> None:
        """Write a new dataset among Minari's own, which opens with Minari alone; it gets its name once it is whole.

        The task, the setting and the width of a state are in each episode's metadata; narrow states are padded.
        """
        dataset = target.removeprefix(PREFIX)
        with one_sentence(f"cannot write Minari dataset '{dataset}'"):
            from minari.dataset.minari_storage import MinariStorage
            from minari.namespace import create_namespace, list_local_namespaces
            from minari.storage import get_dataset_path

            namespace, folder = _free(dataset)
            found = survey(store, "a Minari dataset")
            with TemporaryDirectory(dir=get_dataset_path(), prefix=".rsg-") as staging:  # Minari looks past hidden ones
                data = Path(staging, "dataset", "data")
                if options.copied:
                    storage = _copied(options.copied, data, dataset)
                else:
                    data.mkdir(parents=True)
                    observed, acted = box(found.states, (max(1, found.width),)), _action_space(found)
                    storage = MinariStorage.new(data, observation_space=observed, action_space=acted)
                    storage.update_metadata(_about(store, dataset, found))
                    for shard in store.manifest.shards:
                        _add_episodes(storage, store.read_shard(shard)[0], store.first_episode(shard))
                if options.labels is not None:
                    _label(storage, options.labels)
                for file in data.iterdir():
                    with file.open("rb") as written:
                        os.fsync(written.fileno())
                if namespace and namespace not in list_local_namespaces():
                    create_namespace(namespace)
                data.parent.rename(folder)


def _about(store: Store, dataset: str, found: Survey) -> dict[str, Any]:
    """What the metadata of a dataset of ours says."""
    from minari import __version__

    world = store.manifest.world
    dtypes = {"state_dtype": str(found.states), "action_dtype": None if found.actions is None else str(found.actions)}
    return {
        "dataset_id": dataset,
        "minari_version": __version__,
        "author": {"rsg"},
        "algorithm_name": "demonstrations",
        "description": f"{len(store):,} demonstrations in {world}, each with its task as text.",
        _OURS: {"world": world, **dtypes},
    }


def _add_episodes(storage: Any, demos: list[Demonstration], first: int) -> None:
    """Append demonstrations to a Minari storage, and then what is said about each."""
    from minari.data_collector import EpisodeBuffer

    width = storage.observation_space.shape[0]
    ends = [np.arange(1, len(demo) + 1) == len(demo) for demo in demos]
    storage.update_episodes(
        EpisodeBuffer(
            observations=padded(demo.states, width),
            actions=np.zeros(len(demo), dtype=np.int64) if demo.actions is None else demo.actions,
            rewards=end.astype(np.float64),
            terminations=end,
            truncations=np.zeros_like(end),
            infos={},  # without it, Minari cannot print the episode
        )
        for demo, end in zip(demos, ends, strict=True)
    )
    storage.update_episode_metadata(
        [{"task": demo.task, "setting": demo.setting, "state_width": demo.states.shape[1]} for demo in demos],
        range(first, first + len(demos)),
    )


def _copied(source: str, data: Path, dataset: str) -> Any:
    """A copy of a dataset under another id."""
    from minari.dataset.minari_storage import MinariStorage

    copytree(_place(source.removeprefix(PREFIX))[1] / "data", data)
    about = data / "metadata.json"
    about.write_text(json.dumps({**json.loads(about.read_bytes()), "dataset_id": dataset}), encoding="utf-8")
    return MinariStorage.read(data)


def _label(storage: Any, labels: Labels) -> None:
    """Tell each episode's metadata its `segments`, as JSON: steps from `start` up to, not including, `end`."""
    if (count := sum(1 for _ in labels)) != storage.total_episodes:
        raise StoreError(f"there are {storage.total_episodes} episodes and labels of {count}")
    lines = labels.lines()
    while few := list(islice(lines, _AT_ONCE)):  # each call opens the file and measures the folder
        told = [{key: json.dumps(one[key], ensure_ascii=False) for key in _SAID if key in one} for one in few]
        storage.update_episode_metadata(told, [one["episode"] for one in few])


def _action_space(found: Survey) -> Any:
    """The space that holds all actions of a store."""
    from gymnasium.spaces import Discrete

    high = max(found.high, _MIN_ACTIONS - 1)
    few = high - found.low < _MOST_ACTIONS
    if found.actions is None or (found.actions.kind in "iu" and not found.shape and few):
        return Discrete(high - found.low + 1, start=found.low)
    return box(found.actions, found.shape)


def _place(dataset: str) -> tuple[str | None, Path]:
    """The namespace of a dataset and the folder where Minari keeps it."""
    from minari.dataset.minari_dataset import parse_dataset_id
    from minari.storage import get_dataset_path

    try:
        namespace, _, _ = parse_dataset_id(dataset)
    except (ValueError, TypeError):
        raise StoreError(f"'{dataset}' is not a Minari id; write it like name-v0 or group/name-v0") from None
    return namespace, get_dataset_path(dataset)


def _free(dataset: str) -> tuple[str | None, Path]:
    """The same for one that is to be written: an error if it is there."""
    namespace, folder = _place(dataset)
    if folder.exists():
        delete = f"`minari delete {dataset}`"
        raise StoreError(f"Minari dataset '{dataset}' exists already; choose another id or delete it with {delete}")
    return namespace, folder


def _opened(source: str) -> Any:
    dataset = source.removeprefix(PREFIX)
    with one_sentence(f"cannot open Minari dataset '{dataset}'"):
        from minari import load_dataset

        _, folder = _place(dataset)
        if not (folder / "data").is_dir():
            get = f"`minari list local` shows what there is, `minari download {dataset}` fetches a public one"
            raise StoreError(f"there is no Minari dataset '{dataset}' in {folder}; {get}")
        return load_dataset(dataset).storage


def _episodes(storage: Any) -> Generator[tuple[dict[str, Any], dict[str, Any]]]:
    """What is said of each episode, and what it holds; a file that stays open for many takes ever longer."""
    for first in range(0, storage.total_episodes, _AT_ONCE):
        few = range(first, min(first + _AT_ONCE, storage.total_episodes))
        about = list(storage.get_episode_metadata(few))
        with closing(each for each in storage.get_episodes(few)) as held:  # left open, it locks the file
            yield from zip(about, held, strict=True)


def _parts(space: object, name: str) -> tuple[dict[str, Part], str]:
    """The arrays that are observed, by key, and in words what else is: a text in most cases."""
    leaves: dict[str, Any] = {_KEYS: space}
    _flatten(space, "", leaves)
    parts: dict[str, Part] = {}
    others = []
    for key, leaf in leaves.items():
        kind = type(leaf).__name__
        if kind in ("Box", "MultiDiscrete", "MultiBinary") and leaf.dtype.kind in "biuf":
            parts[key] = Part(leaf.dtype, tuple(leaf.shape))
        elif kind == "Discrete":
            parts[key] = Part(np.dtype(np.int64), ())
        elif kind not in ("Dict", "Tuple"):
            others.append((kind, key))
    words = [
        f"{', '.join(key for _, key in keys)} ({kind})" for kind, keys in groupby(sorted(others), lambda one: one[0])
    ]
    if not parts:
        raise StoreError(f"the observations of {name} are {type(space).__name__}, with no arrays of numbers")
    return parts, ", ".join(words)


def _flatten(value: object, path: str, found: dict[str, Any]) -> None:
    """The leaves of nested observations, or of their space, by their paths: `a/b`."""
    spaces = getattr(value, "spaces", value)
    if isinstance(spaces, Mapping):
        pairs = list(spaces.items())
    elif isinstance(spaces, tuple):
        pairs = [(str(number), one) for number, one in enumerate(spaces)]
    else:
        if path:
            found[path] = value
        return
    found.pop(_KEYS, None)
    for key, one in pairs:
        _flatten(one, f"{path}/{key}" if path else str(key), found)


def _check_actions(space: object, name: str) -> None:
    kind = type(space).__name__
    if kind not in ("Box", "Discrete", "MultiDiscrete", "MultiBinary"):
        instead = "write what was done into a .npz or .jsonl file and import that"
        raise StoreError(f"the actions of {name} must be plain arrays, not {kind}; {instead}")


def _text(key: str | None, places: tuple[Mapping[str, Any] | None, ...], where: str) -> str:
    """The text of an episode: where it was said to be, or under one of the usual keys; empty if there is none."""
    for place in places:
        for one in (key,) if key else TASK_KEYS:
            value = (place or {}).get(one)
            if isinstance(value, np.ndarray | list | tuple) and len(
                value
            ):  # for each step; the first came with the reset
                value = np.asarray(value, dtype=object).flat[0]
            if isinstance(value, str | bytes):
                return text_of(value, f"{where}: '{one}'")
    if key:
        raise StoreError(f"{where} has no text '{key}' in its metadata, options, infos or observations")
    return ""
