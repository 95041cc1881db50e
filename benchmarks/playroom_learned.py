"""Plans with subgoals learned in Playroom, judged on shapely: `python -m benchmarks.playroom_learned [work folder]`.

Takes the runs that `rsg reproduce playroom` left in its work folder and the very starts of its evaluation. Each plan is
judged twice: by a replay with the world's own truth, as `rsg eval` does, and by `tests/reference/playroom.py`. They are
made one after the other, so on an idle machine this is also the place to see how long they take.
"""

import json
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from tests.reference.playroom import judge_plan

from benchmarks.harness import keep
from reproductions.harness.trials import BUDGET, EVALUATION_SEED
from reproductions.points import points
from rsg.domain import find
from rsg.evaluation import Starts
from rsg.planning import plan, validate
from rsg.search import SearchSettings
from rsg.subgoals import load

STARTS = 100  # of each task
METHODS = {"relative-400": None, "point-400": points}  # and the encoder that is not the package's
TIMES = ("ms", "cpu_ms")  # of each plan, in the end their median
NOTHING: dict[str, Any] = {"plans": 0, "replay": 0, "judge": 0, "differ": [], "ms": [], "cpu_ms": []}


def run(work: str = "out/reproduce") -> dict[str, Any]:
    """For each network and split: how many plans the replay accepts, how many the judge, and where they differ."""
    figures: dict[str, Any] = {"starts of each task": STARTS, "judge's resolution": 0.01}
    for method, encoder in METHODS.items():
        for folder in sorted(Path(work, "playroom").glob(f"{method}-seed*/run")):
            seed = int(folder.parent.name.rpartition("seed")[2])
            for split in ("compositional", "novel"):
                found = _judged(load(folder, encoder=encoder), Starts(split, STARTS, EVALUATION_SEED + seed))
                total = figures.setdefault(f"{method} {split}", {"seeds": 0, **NOTHING})
                figures[f"{method} {split}"] = {key: total[key] + value for key, value in {"seeds": 1, **found}.items()}
                told = {key: value for key, value in found.items() if key not in TIMES}
                print(f"{folder}: {split} {told}, median {np.median(found['ms']):.1f} ms", flush=True)
    for row in figures.values():
        if isinstance(row, dict):
            row.update({key: round(float(np.median(row[key])), 2) for key in TIMES})
    return figures


def _judged(subgoals: Any, starts: Starts) -> dict[str, Any]:
    source: Any = find("playroom")
    found: dict[str, Any] = {key: type(value)() for key, value in NOTHING.items()}
    seed = starts.seed
    for number, task in enumerate(source.tasks(starts.split)):
        for i in range(starts.per_task):
            demo = starts.draw(source, number, i)
            world = source.world(demo.setting)
            used = time.process_time()
            made = plan(world, demo.states[0], task, subgoals, SearchSettings(budget=BUDGET, seed=seed))
            found["cpu_ms"].append(1000 * (time.process_time() - used))
            found["ms"].append(1000 * made.seconds)
            replay = validate(world, made, task, partial(source.truth, world)).ok
            objection = judge_plan(world.layout, made.states, made.actions, task) if made.found else made.reason
            found["plans"] += 1
            found["replay"] += replay
            found["judge"] += not objection
            if replay == bool(objection):
                found["differ"].append(f"seed {seed}, {task}, start {i}: replay {replay}, judge '{objection}'")
    return found


if __name__ == "__main__":
    figures = run(*sys.argv[1:])
    print(json.dumps(figures, indent=2))
    print(f"kept in {keep('playroom_learned', figures, 'python -m benchmarks.playroom_learned')}", flush=True)
