"""A new run from what was shown here: beside the others once it is whole, and nothing of it before."""

import time
from collections.abc import Iterator, Mapping
from itertools import chain
from shutil import rmtree
from typing import Any

from rsg.baselines.jobs import RSG, Asked, Job
from rsg.core.errors import RsgError
from rsg.core.random import stream
from rsg.demos import Demonstration, Store
from rsg.demos.corrections import corrected
from rsg.demos.demonstration import met
from rsg.studio.desk import Desk
from rsg.studio.shelf import Shelf
from rsg.subgoals import load
from rsg.subgoals.building import network_for
from rsg.subgoals.dependencies import training_demonstrations
from rsg.training import Progress, Run
from rsg.training.origin import origin

POINTS = 300  # of a curve that are told


def train(desk: Desk, asked: Mapping[str, Any], tell: Any) -> dict[str, Any]:
    """Learn from all demonstrations of the store as they were corrected, and if wanted from those of a run, too."""
    name, begun, shelf = asked["name"], time.perf_counter(), desk.shelf
    if name in shelf.all_runs():
        raise RsgError(f"there is a run '{name}' already; choose another name")
    part, demos = shelf.trained / f".{name}.part", shelf.folder / "shown" / name
    for left in (part, demos):  # of a training of that name that was cut off
        rmtree(left, ignore_errors=True)
    store = Store.create(demos, desk.domain.name)
    store.append(chain(_together(desk, asked["with_run"]), _by_expert(desk, asked["expert"], tell)), all_or_none=True)
    if not len(store):
        raise RsgError("there is nothing to learn from: show something and keep it, or learn from a run's, too")
    domain = desk.domain.within(store[0].setting) if store[0].setting else desk.domain
    encoder = network_for(domain.world(store[0].setting), store[0].states) if asked["network"] else None
    job = Job(
        domain,
        RSG,
        Asked(encoder=encoder).settings(domain),
        store,
        None,
        {**origin(domain, store), "made_by": "rsg studio"},
    )
    told = {"steps": job.settings.steps, "demonstrations": len(store)}
    curve: list[tuple[int, float | None, float | None]] = []

    def follow(progress: Progress, figures: Mapping[str, float]) -> None:
        curve.append((progress.step, figures.get("loss"), figures.get("held_out")))
        some = curve[:: -(-len(curve) // POINTS)]
        if tell({**told, "step": progress.step, "loss": curve[-1][1], "held_out": progress.best, "curve": some}):
            raise RsgError("cancelled")

    tell({**told, "step": 0, "loss": None, "held_out": None, "curve": []})
    try:
        job.fit(part, tracker=follow, tensorboard=False)
    except RsgError:  # cancelled, say; what is left when the studio ends was cut off, and the page says so
        rmtree(part, ignore_errors=True)
        raise
    learned = load(part, domain)
    learned.discover(store)  # now, while it is known where wrapped environments were
    shelf.trained.mkdir(exist_ok=True, parents=True)
    part.rename(shelf.trained / name)
    return {
        "run": name,
        "terms": list(learned.terms),
        "steps": Run(shelf.trained / name).load("last").notes["step"],
        "demonstrations": len(store),
        "seconds": time.perf_counter() - begun,
    }


def _together(desk: Desk, run: str | None) -> Iterator[Demonstration]:
    """The demonstrations of the store, then those of a run."""
    here = (desk.shelf.demos / "manifest.json").exists()
    if here:
        for demo in desk.store:  # parts of a recording are found where the whole one was
            met(desk.domain.world(demo.setting), demo)
    return chain(corrected(desk.store) if here else (), training_demonstrations(Run(desk.run(run))) if run else ())


def _by_expert(desk: Desk, per_task: int, tell: Any) -> Iterator[Demonstration]:
    """Demonstrations of the domain's tasks to train on."""
    if not per_task:
        return
    desk.domain.check_expert()
    tasks = len(desk.domain.tasks("train"))
    for task in range(tasks):
        for number in range(per_task):
            if tell({"shown": task * per_task + number, "of": tasks * per_task}):
                raise RsgError("cancelled")
            yield desk.domain.demonstrate("train", task, stream(0, "demonstrations", "train", task, number))[0]


def cut_off(shelf: Shelf) -> list[str]:
    """The names of runs whose training was cut off."""
    left = shelf.trained.glob(".*.part") if shelf.trained.is_dir() else ()
    return sorted(one.name[1:].removesuffix(".part") for one in left)
