"""What the jobs of the toy experiment do; apart, so that a process that does one has little to import."""

import json
import os
import signal
import time

from rsg.core.errors import RsgError
from rsg.core.files import replacing
from rsg.core.random import stream
from rsg.demos import Recipe
from rsg.domain import domain_of

RECIPE = Recipe("crafting", "goal-only", 1)


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
