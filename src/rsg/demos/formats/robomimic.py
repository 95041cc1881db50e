"""robomimic's HDF5 files in and out, and with them those of RoboCasa and LIBERO, which say what was to be done."""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from shutil import copyfile
from typing import Any

import numpy as np

from rsg.core.arrays import Array
from rsg.core.errors import StoreError
from rsg.core.files import replacing
from rsg.demos.demonstration import Demonstration
from rsg.demos.formats.format import (
    Options,
    Part,
    Recording,
    as_rows,
    check_free,
    chosen,
    existing,
    first_line,
    one_sentence,
    survey,
    text_of,
)
from rsg.demos.labels import Labelled, named_apart
from rsg.demos.store import Store

_OURS = "rsg"  # the attribute of `data` that only we write
_SIGNALS = "subtask_term_signals"
_STATE = "state"  # what we call a row among the observations
_SAID = (("ep_meta", "lang"), ("problem_info", "language_instruction"))  # attributes with JSON, and where the text is
_PLAIN = ("language_instruction", "task", "lang")  # attributes that are the text


class Robomimic:
    """A file of episodes in groups: observations, actions and attributes."""

    name = "robomimic"
    about = "HDF5 as robomimic, RoboCasa and LIBERO write it"
    target = "FILE.hdf5"

    def fits(self, source: str) -> bool:
        return Path(source).suffix.lower() in (".hdf5", ".h5")

    suits = fits

    def world(self, source: str) -> str | None:
        with one_sentence(f"cannot read {source}"), _opened(source) as file:
            ours = _ours(_data(file, source), source)
        return str(ours["world"]) if ours else None

    def read(self, source: str, options: Options) -> Iterator[Recording]:
        with one_sentence(f"cannot read {source}"), _opened(source) as file:
            data = _data(file, source)
            names = _names(data, source)
            ours = _ours(data, source)
            keys = (
                [_STATE] if ours and not options.state_keys else _keys(data[names[0]], f"{source}, {names[0]}", options)
            )
            cut = 0
            for name in names:
                where, episode = f"{source}, {name}", data[name]
                _check_group(episode, where)
                states, whole = _states(episode, keys, where)
                actions = _actions(episode, len(states) - whole, where)
                if not whole and actions is not None:
                    actions, cut = actions[:-1], cut + 1
                if ours:
                    actions = None if actions is None else actions.reshape(len(actions), *ours["action_shape"])
                text, setting = _text(episode, data, options.task_key, where), episode.attrs.get("setting", "")
                yield Recording(where, states, actions, text, text_of(setting, f"{where}: its setting"))
            if cut:
                options.note("the last action of each episode is left out: no state is recorded after it")

    def write(self, store: Store, target: str, options: Options) -> None:
        path, found = check_free(target), survey(store, "a robomimic file")
        world = store.manifest.world
        with one_sentence(f"cannot write {target}"), replacing(path) as part:
            from h5py import File

            if options.copied:
                copyfile(options.copied, part)
            with File(part, "r+" if options.copied else "w", libver="latest") as file:
                data = file["data"] if options.copied else file.create_group("data")
                if not options.copied:
                    data.attrs["total"] = store.steps
                    data.attrs["env_args"] = json.dumps({"env_name": world, "type": 2, "env_kwargs": {}})
                    data.attrs[_OURS] = json.dumps({"world": world, "action_shape": list(found.shape)})
                    for number, demo in enumerate(store):
                        _add(data.create_group(f"demo_{number}"), demo)
                if options.labels is not None:
                    for name, one in zip(_names(data, target), options.labels, strict=True):
                        _label(data[name], one, f"{target}, {name}")


def _add(group: Any, demo: Demonstration) -> None:
    """Write an episode."""
    count = len(demo)
    group.attrs["num_samples"] = count
    group.attrs["ep_meta"] = json.dumps({"lang": demo.task}, ensure_ascii=False)
    group.attrs["setting"] = demo.setting
    if demo.actions is not None:
        group["actions"] = demo.actions if demo.actions.ndim == 2 else demo.actions[:, None]
    group[f"obs/{_STATE}"] = demo.states[:-1]
    group[f"next_obs/{_STATE}"] = demo.states[1:]
    group["dones"] = (np.arange(1, count + 1) == count).astype(np.int64)
    group["rewards"] = group["dones"][:].astype(np.float64)


def _label(episode: Any, one: Labelled, where: str) -> None:
    """MimicGen's signals: for each subgoal but the last one a 0 for each step, and a 1 from the state where it is true.

    They say no order; the attribute `subtasks` says it, and how sure each end is.
    """
    arrays = [episode[key] for key in ("actions", "states") if key in episode] or [*episode["obs"].values()]
    count = len(arrays[0])
    one.frames(count, where)
    names = named_apart(one.segments)
    if (there := f"datagen_info/{_SIGNALS}") in episode:
        del episode[there]
    for name, segment in zip(names[:-1], one.segments[:-1], strict=True):
        episode[f"{there}/{name}"] = (np.arange(count) >= segment.end).astype(np.int64)
    told = [[name, segment.end, segment.sure] for name, segment in zip(names, one.segments, strict=True)]
    episode.attrs["subtasks"] = json.dumps(told)


def _opened(source: str) -> Any:
    """The file."""
    path = existing(source)
    with one_sentence(f"{path} is not a readable HDF5 file"):
        from h5py import File

        return File(path, "r")


def _data(file: Any, source: str) -> Any:
    data = file.get("data")
    if data is None or not hasattr(data, "keys"):
        raise StoreError(f"{source} has no group 'data' with episodes; it has {', '.join(file) or 'nothing'}")
    return data


def _names(data: Any, source: str) -> list[str]:
    """The episodes, in the order of their numbers, which need not begin at 0 nor be without gaps."""
    names = list(data)
    if wrong := [name for name in names if not re.fullmatch(r"demo_\d+", name)]:
        raise StoreError(f"{source}: data/{wrong[0]} is no episode; those are named demo_0, demo_1 and so on")
    if not names:
        raise StoreError(f"{source} holds no episodes")
    return sorted(names, key=lambda name: int(name[5:]))


def _ours(data: Any, source: str) -> dict[str, Any] | None:
    """What we noted of a store, if it is one of ours."""
    if _OURS not in data.attrs:
        return None
    said = _json(data.attrs[_OURS], f"{source}: the attribute '{_OURS}' of data")
    if not isinstance(said.get("action_shape"), list):
        raise StoreError(f"{source}: the attribute '{_OURS}' of data names no action_shape; it is damaged")
    return said


def _json(value: object, what: str) -> dict[str, Any]:
    try:
        said = json.loads(text_of(value, what))
    except (ValueError, RecursionError) as error:
        raise StoreError(f"{what} is not JSON: {first_line(error)}") from None
    if not isinstance(said, dict):
        raise StoreError(f"{what} must be an object, not a {type(said).__name__}")
    return said


def _parts(episode: Any) -> tuple[dict[str, Part], list[str]]:
    """The arrays of numbers of an episode by their names, and what else is observed."""
    parts, others = {}, []
    observed = episode.get("obs")
    for name in observed if hasattr(observed, "keys") else ():
        one = observed[name]
        if hasattr(one, "dtype") and one.dtype.kind in "biuf" and one.ndim:
            parts[name] = Part(one.dtype, tuple(one.shape[1:]))
        else:
            others.append(name)
    return parts, others


def _keys(episode: Any, where: str, options: Options) -> list[str]:
    """What makes up a state: what was asked for, or all observed vectors; without observations, `states`."""
    parts, others = _parts(episode)
    states = episode.get("states")
    if hasattr(states, "dtype") and (not parts or "states" in options.state_keys):
        parts["states"] = Part(states.dtype, tuple(states.shape[1:]))
    return chosen(parts, where, options, ", ".join(others))


def _check_group(episode: Any, where: str) -> None:
    if not hasattr(episode, "keys"):
        raise StoreError(f"{where} must be a group, not one array")


def _states(episode: Any, keys: list[str], where: str) -> tuple[Array, bool]:
    """The states of an episode, and whether the one after the last action is among them: `next_obs` has it."""
    held = {key: _array(episode, "states" if key == "states" else f"obs/{key}", where) for key in keys}
    states = as_rows(held, where)
    after = episode.get("next_obs")
    if not hasattr(after, "keys") or not all(key in after for key in keys):
        if len(states) < 2:
            raise StoreError(f"{where} has one state; a recording needs two")
        return states, False
    last = {key: _array(episode, f"next_obs/{key}", where)[-1:] for key in keys}
    for key in keys:
        if (count := len(episode[f"next_obs/{key}"])) != len(states):
            raise StoreError(f"{where}: next_obs/{key} has {count} steps, obs/{key} has {len(states)}")
        if last[key].shape[1:] != held[key].shape[1:]:
            raise StoreError(f"{where}: next_obs/{key} and obs/{key} have different shapes")
    end = as_rows(last, where)
    return np.concatenate([states, end.astype(states.dtype)]), True


def _actions(episode: Any, count: int, where: str) -> Array | None:
    """Actions `[T, D]`, or `[T]` where each is one whole number; None if there are none."""
    if "actions" not in episode:
        return None
    actions = _array(episode, "actions", where)
    if actions.ndim not in (1, 2):
        raise StoreError(f"{where}: actions must be [T, D], not {list(actions.shape)}")
    if len(actions) != count:
        raise StoreError(f"{where}: there are {len(actions)} actions, and {count} observations to take them at")
    alone = actions.ndim == 2 and actions.shape[1] == 1 and actions.dtype.kind in "iu"
    return actions[:, 0] if alone else actions


def _array(episode: Any, path: str, where: str) -> Array:
    """A dataset of numbers, a row for each step."""
    found = episode.get(path)
    if found is None or not hasattr(found, "dtype"):
        raise StoreError(f"{where} has no dataset '{path}', which others have")
    if found.dtype.kind not in "biuf" or not found.ndim:
        raise StoreError(f"{where}: {path} must be numbers with a row for each step, not {found.dtype} {found.shape}")
    if not len(found):
        raise StoreError(f"{where}: {path} is empty")
    array: Array = found[()]
    return array.astype(array.dtype.newbyteorder("="), copy=False)


def _text(episode: Any, data: Any, key: str | None, where: str) -> str:
    """What was to be done: under the attribute that was named, or where RoboCasa, LIBERO or we put it; or nothing."""
    if key:
        name, _, inner = key.partition("/")
        for attributes in (episode.attrs, data.attrs):
            if name in attributes:
                what = f"{where}: the attribute '{name}'"
                value = _json(attributes[name], what).get(inner) if inner else attributes[name]
                return text_of(value, f"{what}, {inner}" if inner else what)
        raise StoreError(f"{where} has no attribute '{name}' for --task-key, nor has data")
    for attributes in (episode.attrs, data.attrs):
        if (found := _usual(attributes, where)) is not None:
            return found
    return ""


def _usual(attributes: Mapping[str, Any], where: str) -> str | None:
    for name, inner in _SAID:
        if name in attributes:
            said = _json(attributes[name], f"{where}: the attribute '{name}'")
            if inner in said:
                return text_of(said[inner], f"{where}: the text in '{name}'")
    return next((text_of(attributes[name], f"{where}: '{name}'") for name in _PLAIN if name in attributes), None)
