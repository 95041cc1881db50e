"""Where a run was trained, and whether what it learned can be used in another world or room."""

from pathlib import Path
from typing import Any

from rsg.baselines import METHODS, Policy, load_baseline
from rsg.core.errors import RsgError, RunError
from rsg.core.words import quantity
from rsg.demos import Benchmark, Store, benchmark
from rsg.search import is_continuous
from rsg.subgoals import Classifiers
from rsg.subgoals import untrained as untrained_terms
from rsg.training import Run
from rsg.worlds.playroom import PlayroomWorld


def room_of(store: Store) -> dict[str, str]:
    """What a run keeps of the room that its demonstrations were made in; maps of Crafting World differ each time."""
    return {"setting": store[0].setting} if store.manifest.world == "playroom" and len(store) else {}


def source_of(run: Run) -> Benchmark:
    """The benchmark that a run was trained for, in the same room."""
    origin = run.about.get("source", {})
    if not origin.get("world"):
        raise RunError(f"{run.folder} does not say which world it is of; only runs of 'rsg train' do")
    return source_in(origin["world"], origin)


def source_in(name: str, origin: dict[str, Any]) -> Benchmark:
    """A benchmark in the room that the origin of a run names, if it names one."""
    found = benchmark(name)
    if "setting" not in origin:
        return found
    from rsg.demos.playroom import PlayroomBenchmark

    return PlayroomBenchmark(found.world(origin["setting"]).layout)


def check_usable(folder: str | Path, name: str, world: Any) -> None:
    """An error if what a run learned cannot be used in a world of that name."""
    origin = Run(folder).about.get("source", {})
    if origin.get("world", name) != name:
        raise RsgError(f"{folder} was trained in '{origin['world']}' and cannot be used in '{name}'")
    if isinstance(world, PlayroomWorld) and "setting" in origin:
        learned, here = (_things(room) for room in (benchmark(name).world(origin["setting"]), world))
        if learned != here:
            raise RsgError(
                f"{folder} was trained in a room with {learned}, this one has {here}; subgoals know effectors by their "
                "order, so use it where there are the same ones (--layout), or train another run"
            )


def baseline_of(folder: str | Path) -> str | None:
    """The method of a baseline's run; None if that is the folder of something else."""
    method = Run(folder).about.get("method") if (Path(folder) / "run.json").exists() else None
    return method if method in METHODS else None


def policy_for(folder: str | Path, name: str, world: Any) -> Policy:
    """What a baseline learned to do, if it can be used in a world of that name."""
    found = load_baseline(folder)
    if not hasattr(found, "act"):
        raise RunError(f"{folder} is a run of '{found.name}', which recognises tasks but does not act")
    check_usable(folder, name, world)
    policy: Policy = found
    return policy


def untrained_for(source: Benchmark, world: Any) -> Classifiers:
    """Classifiers as they are before any training, in a world of a benchmark."""
    return untrained_terms(source.vocabulary, world=world if is_continuous(world) else None)


def _things(world: Any) -> str:
    names = [effector.name for effector in world.layout.effectors]
    return f"{quantity(len(names), 'effector')} ({', '.join(names)})"
