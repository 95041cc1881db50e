"""Subgoals that are asked for by a word: those of a run, the truth, or untrained ones; and what needs what by them."""

import sys
import time
from pathlib import Path

from rsg.core.errors import RsgError, RunError
from rsg.core.progress import is_hushed, progress
from rsg.core.random import stream
from rsg.core.words import quantity
from rsg.demos.importing import open_store
from rsg.domain import Domain, find, installed
from rsg.planning import Dependencies
from rsg.search import GoalFn
from rsg.subgoals import Subgoals, discover, kept_dependencies, load, untrained
from rsg.subgoals.dependencies import training_demonstrations
from rsg.training import Run
from rsg.training.origin import check_usable, home
from rsg.worlds import EitherWorld

FRESH = 20  # demonstrations of each training task, for classifiers that come without


def subgoals_named(name: str, domain: Domain, world: EitherWorld) -> Subgoals:
    """Learned or untrained subgoals, to be used in a world of the domain."""
    if name == "untrained":
        if not domain.vocabulary:
            raise domain.lacks("tasks", "nobody knows which terms untrained subgoals are of")
        state = None if hasattr(world, "sample") else domain.start((), stream(0, "untrained"))[1]
        return Subgoals(untrained(domain.vocabulary, world, state=state))
    if not Path(name).exists():
        raise RsgError(f"there are no subgoals '{name}'; give the folder of a run, oracle or untrained")
    found = load(name, domain)
    check_usable(name, domain, world)
    return found


def world_of_run(run: Run, named: str | None) -> EitherWorld | None:
    """A world that a run was trained in, if it can be found: it says facts in words; named: how the user named it."""
    source = run.about.get("source", {})
    if not (named or "recorded" in source or source.get("world") in installed()):
        return None
    domain = home(run, find(named) if named else None)
    found: EitherWorld = (
        domain.world(source["setting"]) if "setting" in source else domain.start((), stream(0, "readings"))[0]
    )
    return found


def dependencies_of(folder: Path, demos: Path | None = None, domain: Domain | None = None) -> Dependencies:
    """The dependencies of a run; if they must be discovered first, that is said and shown."""
    run = Run(folder)
    if demos is None and (kept := kept_dependencies(folder)) is not None:
        return kept
    if demos is None:
        try:
            shown = training_demonstrations(run)
        except RunError as error:
            raise RunError(f"{error}: rsg deps {folder} --demos DIR") from None
    else:
        world = run.about.get("source", {}).get("world")
        shown = store = open_store(demos, world or "own")
        store.check_world(world or store.manifest.world)
    if not is_hushed():
        told = f"discovering what needs what in {quantity(len(shown), 'demonstration')}; it is kept in {folder}"
        print(told, file=sys.stderr)
    with progress("discovering", len(shown), "demonstrations") as advance:
        return load(folder, home(run, domain)).discover(shown, advance)


def fresh_dependencies(domain: Domain, goal_fn: GoalFn) -> tuple[Dependencies, str]:
    """What needs what as classifiers see it in a few fresh demonstrations, and a sentence about that."""
    begun, demos = time.perf_counter(), []
    tasks = [number for number in range(len(domain.tasks("train"))) for _ in range(FRESH)]
    with progress("demonstrating", len(tasks), "demonstrations") as advance:
        for count, number in enumerate(tasks):
            demos.append(domain.demonstrate("train", number, stream(0, "dependencies", number, count))[0])
            advance(1)
    found = discover(goal_fn, domain.vocabulary, demos, lambda demo: domain.world(demo.setting))
    seconds = time.perf_counter() - begun
    return found, f"(what needs what was read off {len(demos):,} fresh demonstrations in {seconds:.1f} s)"
