"""Minari datasets (HDF5) in and out: each episode keeps its task in its metadata."""

import os
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np

from rsg.core.errors import StoreError
from rsg.demos.demonstration import Demonstration
from rsg.demos.exchange import checked_demonstration, dtype_named, one_sentence
from rsg.demos.store import Store

if TYPE_CHECKING:
    from gymnasium.spaces import Box

TASK_KEYS = ("task", "mission", "instruction")
"""Where a Minari dataset may keep an episode's task: in its metadata, its reset options or its infos."""

_OURS = "rsg"  # the key of a Minari dataset's metadata that only we write
_MIN_ACTIONS = 5


def import_minari(dataset_id: str, dtype: str | None = None) -> Iterator[Demonstration]:
    """The demonstrations of a local Minari dataset; each observation becomes one flat row."""
    wanted, storage = dtype_named(dtype), _open_minari(dataset_id)
    _check_arrays(storage.observation_space, f"the observations of Minari dataset '{dataset_id}'")
    _check_arrays(storage.action_space, f"the actions of Minari dataset '{dataset_id}'")
    numbers = range(storage.total_episodes)
    if not numbers:
        raise StoreError(f"Minari dataset '{dataset_id}' holds no episodes")
    ours = _OURS in storage.metadata

    def episodes() -> Iterator[Demonstration]:
        with (
            one_sentence(f"cannot read Minari dataset '{dataset_id}'"),
            closing(each for each in storage.get_episode_metadata(numbers)) as about,  # left open, they lock the file
            closing(each for each in storage.get_episodes(numbers)) as held,
        ):
            for number, metadata, episode in zip(numbers, about, held, strict=True):
                where = f"Minari dataset '{dataset_id}', episode {number}"
                task = _task_text(metadata, episode["infos"])
                if task is None:
                    raise StoreError(
                        f"{where} has no task text; set the key 'task' of every episode with "
                        "dataset.storage.update_episode_metadata([{'task': '...'}, ...])"
                    )
                states = episode["observations"].reshape(len(episode["observations"]), -1)
                if ours:  # take off what was padded
                    states = np.ascontiguousarray(states[:, : int(metadata["state_width"])])
                setting = str(metadata.get("setting", ""))
                yield checked_demonstration(states, episode["actions"], task, setting, where, wanted)

    return episodes()


def minari_world(dataset_id: str) -> str | None:
    """The world that a Minari dataset was exported from; None if it does not come from here."""
    ours = _open_minari(dataset_id).metadata.get(_OURS)
    return str(ours["world"]) if isinstance(ours, dict) and "world" in ours else None


def export_minari(store: Store, dataset_id: str) -> int:
    """Write a store as a new dataset among Minari's own, which opens with Minari alone; gives the number of episodes.

    The task, the setting and the width of a state are in each episode's metadata; narrow states are padded with zeros.
    The dataset gets its name once it is whole.
    """
    with one_sentence(f"cannot write Minari dataset '{dataset_id}'"):
        from minari import __version__
        from minari.dataset.minari_storage import MinariStorage
        from minari.namespace import create_namespace, list_local_namespaces
        from minari.storage import get_dataset_path

        namespace, folder = _minari_place(dataset_id)
        if folder.exists():
            delete = f"`minari delete {dataset_id}`"
            raise StoreError(
                f"Minari dataset '{dataset_id}' exists already; choose another id or delete it with {delete}"
            )
        observations, actions = _spaces(store)
        world, first = store.manifest.world, store[0]
        about = {
            "dataset_id": dataset_id,
            "minari_version": __version__,
            "author": {"rsg"},
            "algorithm_name": "demonstrations",
            "description": f"{len(store):,} demonstrations in {world}, each with its task as text.",
            _OURS: {"world": world, "state_dtype": str(first.states.dtype), "action_dtype": str(first.actions.dtype)},
        }
        with TemporaryDirectory(dir=get_dataset_path(), prefix=".rsg-") as staging:  # Minari looks past hidden folders
            data = Path(staging, "dataset", "data")
            data.mkdir(parents=True)
            storage = MinariStorage.new(data, observation_space=observations, action_space=actions)
            storage.update_metadata(about)
            for shard in store.manifest.shards:
                _add_episodes(storage, store.read_shard(shard)[0], store.first_episode(shard))
            for file in data.iterdir():
                with file.open("rb") as written:
                    os.fsync(written.fileno())
            if namespace and namespace not in list_local_namespaces():
                create_namespace(namespace)
            data.parent.rename(folder)
    return len(store)


def _add_episodes(storage: Any, demos: list[Demonstration], first: int) -> None:
    """Append demonstrations to a Minari storage, and then what is said about each."""
    from minari.data_collector import EpisodeBuffer

    width = storage.observation_space.shape[0]
    ends = [np.arange(1, len(demo) + 1) == len(demo) for demo in demos]
    storage.update_episodes(
        EpisodeBuffer(
            observations=np.pad(demo.states, ((0, 0), (0, width - demo.states.shape[1]))),
            actions=demo.actions,
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


def _spaces(store: Store) -> tuple[Any, Any]:
    """The observation and the action space that hold all of a store, found in a first pass over it."""
    from gymnasium.spaces import Discrete

    kinds, width, low, high = set(), 1, 0, _MIN_ACTIONS - 1
    for demo in store:
        kinds.add((demo.states.dtype, demo.actions.dtype, demo.actions.shape[1:]))
        width = max(width, demo.states.shape[1])
        if demo.actions.dtype.kind in "iu":
            low, high = min(low, int(demo.actions.min())), max(high, int(demo.actions.max()))
    if not kinds:
        raise StoreError(f"{store.folder} holds no demonstrations to export")
    if len(kinds) > 1:
        listed = " and ".join(
            sorted(f"{states} states with {actions} actions {shape}" for states, actions, shape in kinds)
        )
        raise StoreError(f"a Minari dataset has one kind of states and actions, {store.folder} has {listed}")
    ((states, actions, shape),) = kinds
    discrete = actions.kind in "iu" and not shape
    return box(states, (width,)), Discrete(high - low + 1, start=low) if discrete else box(actions, shape)


def box(dtype: np.dtype[Any], shape: tuple[int, ...]) -> "Box":
    """The space of all arrays of a dtype and a shape."""
    from gymnasium.spaces import Box

    if dtype.kind == "f":
        return Box(-np.inf, np.inf, shape, dtype)
    low, high = (0, 1) if dtype.kind == "b" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
    return Box(low, high, shape, dtype)


def _minari_place(dataset_id: str) -> tuple[str | None, Path]:
    """The namespace of a dataset and the folder where Minari keeps it."""
    from minari.dataset.minari_dataset import parse_dataset_id
    from minari.storage import get_dataset_path

    try:
        namespace, _, _ = parse_dataset_id(dataset_id)
    except (ValueError, TypeError):
        raise StoreError(f"'{dataset_id}' is not a Minari id; write it like name-v0 or group/name-v0") from None
    return namespace, get_dataset_path(dataset_id)


def _open_minari(dataset_id: str) -> Any:
    with one_sentence(f"cannot open Minari dataset '{dataset_id}'"):
        from minari import load_dataset

        _, folder = _minari_place(dataset_id)
        if not (folder / "data").is_dir():
            get = f"`minari list local` shows what there is, `minari download {dataset_id}` fetches a public one"
            raise StoreError(f"there is no Minari dataset '{dataset_id}' in {folder}; {get}")
        return load_dataset(dataset_id).storage


def _check_arrays(space: object, what: str) -> None:
    from gymnasium import spaces

    if not isinstance(space, spaces.Box | spaces.Discrete | spaces.MultiDiscrete | spaces.MultiBinary):
        parts = f" with the keys {', '.join(map(str, space))}" if isinstance(space, spaces.Dict) else ""
        instead = "write what makes the state into a .npz or .jsonl file and import that"
        raise StoreError(f"{what} must be plain arrays, not {type(space).__name__}{parts}; {instead}")


def _task_text(metadata: dict[str, Any], infos: dict[str, Any] | None) -> str | None:
    for place in (metadata, metadata.get("options") or {}, infos or {}):
        for key in TASK_KEYS:
            value = place.get(key)
            if isinstance(value, np.ndarray) and value.size:  # a text for each step; the first came with the reset
                value = value.flat[0]
            if isinstance(value, str | bytes):
                return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
    return None
