"""An experiment that is quick and remembers how often its jobs were begun. Its jobs go on where they were killed."""

import json
import os
import signal
import time

from reproductions.harness.figures import curves
from reproductions.harness.jobs import Job
from reproductions.harness.reproduce import Experiment, Section
from reproductions.harness.trials import Size
from rsg.core.errors import RsgError
from rsg.core.files import replacing
from rsg.core.random import stream
from rsg.demos import Recipe
from rsg.domain import domain_of

RECIPE = Recipe("crafting", "goal-only", 1)
STEPS = 12


def jobs(size):
    steps = int(os.environ.get("TOY_STEPS", STEPS))
    wait = float(os.environ.get("TOY_WAIT", 0))
    listed = []
    for seed in range(size.seeds):
        trouble = json.loads(os.environ.get("TOY_TROUBLE", "{}")).get(str(seed), "")
        parameters = {"seed": seed, "steps": steps, "wait": wait, "trouble": trouble}
        listed.append(Job("toy", f"walk-seed{seed}", walk, parameters, 0.5, (RECIPE,) if seed == 0 else ()))
    return listed


def walk(parameters, place):
    """A random walk whose every step is saved."""
    with (place.work / f"begun-{parameters['seed']}").open("a") as log:
        log.write("x")
    cause_trouble(parameters["trouble"])
    saved = place.folder / "walk.json"
    path = json.loads(saved.read_text()) if saved.exists() else [0]
    for step in range(len(path) - 1, parameters["steps"]):
        path.append(path[-1] + int(stream(parameters["seed"], "walk", step).integers(-9, 10)))
        with replacing(saved) as part:
            part.write_text(json.dumps(path))
        time.sleep(parameters["wait"])
    if parameters["seed"] == 0:
        assert len(place.store(RECIPE)) == RECIPE.episodes(domain_of(RECIPE))
    return {"path": path}


def cause_trouble(kind):
    if kind == "user":
        raise RsgError("the walker has no shoes; buy some")
    if kind == "bug":
        raise KeyError("shoes")
    if kind == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    if kind == "exit":
        raise SystemExit(3)


def section(size, results):
    ends = {name: one["path"][-1] for name, one in results.items()}
    lines = {name: [list(enumerate(one["path"]))] for name, one in results.items()}
    picture = curves("Walks", {"walks": lines}, "step", "place")
    return Section("A toy", f"Ends: {json.dumps(ends)}", {"ends": ends}, {"walks": picture})


EXPERIMENT = Experiment("toy", Size(seeds=4), Size(), jobs, section)


def begun(work, seed):
    """How often a job was begun."""
    path = work / f"begun-{seed}"
    return len(path.read_text()) if path.exists() else 0
