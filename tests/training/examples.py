"""Small demonstrations of both worlds, settings for quick runs, and what two runs are compared by."""

from functools import cache
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory

from rsg.demos import Recipe, Store
from rsg.domain import find, make_demonstrations
from rsg.subgoals import RsgSettings, learn
from rsg.training import Run

SOURCE = find("crafting")
QUICK = {
    "steps": 12,
    "batch": 8,
    "rate": 0.01,
    "rate_end": 0.001,
    "curriculum": 4,
    "held_out": 16,
    "check_every": 4,
    "save_every": 3,
    "hidden": 16,
}


@cache
def small_demos():
    """A few demonstrations of each training task."""
    with TemporaryDirectory() as folder:
        return tuple(make_demonstrations(Recipe("crafting", "train", 6), folder))


def small_store(folder, demos=None, world="crafting"):
    """The same, or others, on disk."""
    store = Store.create(folder, world)
    store.append(small_demos() if demos is None else demos)
    return store


def quick(**changes):
    """Settings of a run that takes a moment."""
    return RsgSettings(**{"encoder": "sets", **QUICK, **changes})


def as_words(**changes):
    """The same for the command line."""
    return ["--encoder", "sets", *settings_in_words(**changes)]


def settings_in_words(**changes):
    """Only the settings that every method has."""
    return [word for key, value in {**QUICK, **changes}.items() for word in ("--set", f"{key}={value}")]


def world_of(demo):
    """The Crafting World of a demonstration."""
    return SOURCE.world(demo.setting)


ROOM = find("playroom")
ROOM_QUICK = {"encoder": "relative", "hidden": 8, "depth": 1}


@cache
def room_demos():
    """A few demonstrations of each training task in Playroom."""
    with TemporaryDirectory() as folder:
        return tuple(make_demonstrations(Recipe("playroom", "train", 3), folder))


def room_quick(**changes):
    """Settings of a run in Playroom that takes a moment."""
    return quick(**{**ROOM_QUICK, **changes})


def room_of(demo):
    """The Playroom of a demonstration."""
    return ROOM.world(demo.setting)


def train(out=None, demos=None, **changes):
    """A quick run on the small demonstrations."""
    return learn(small_demos() if demos is None else demos, world_of, out, quick(**changes), tensorboard=False)


def bits(tensors):
    """Tensors to the bit."""
    return {name: (str(t.dtype), tuple(t.shape), t.contiguous().numpy().tobytes()) for name, t in tensors.items()}


def outcome(folder):
    """Everything that must be the same in two runs: all tensors, and all notes but the time that was spent."""
    run = Run(folder)
    loaded = {which: run.load(which) for which in sorted(run.steps)}
    return {
        which: (bits(saved.tensors), {key: value for key, value in saved.notes.items() if key != "seconds"})
        for which, saved in loaded.items()
    }


def fingerprint(folder):
    """All files below a folder, with a hash of each."""
    files = sorted(path for path in Path(folder).rglob("*") if path.is_file() and path.name != ".lock")
    return {str(path.relative_to(folder)): sha256(path.read_bytes()).hexdigest() for path in files}
