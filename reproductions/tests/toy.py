"""An experiment that is quick and remembers how often its jobs were begun. Its jobs go on where they were killed."""

import json
import os

from reproductions.harness.figures import curves
from reproductions.harness.jobs import Job
from reproductions.harness.reproduce import Experiment, Section
from reproductions.harness.trials import Size
from reproductions.tests.toy_jobs import RECIPE, walk

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
