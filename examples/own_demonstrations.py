"""Demonstrations of one's own: a log that a simulator or a person left, some of its descriptions wrong."""

import json
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

import rsg
from rsg.demos import actions_of
from rsg.demos.importing import import_from
from rsg.domain import find

KITCHEN = Path(__file__).parent / "kitchen" / "kitchen.py"
kitchen = find(f"{KITCHEN}:Kitchen")  # where it happened; `own_world.py` shows how one is written


def log(file: Path, wrong: int) -> None:
    """What somebody recorded: one episode per line, states and actions as they were, and what was said."""
    tasks = kitchen.tasks("train")
    with file.open("w") as lines:
        for number in range(5 * len(tasks)):
            task, rng = number % len(tasks), np.random.default_rng(number)
            done = kitchen.demonstrate("train", task, rng)[0]
            said = tasks[task] if number >= wrong else tasks[(task + 3) % len(tasks)]
            episode = {"states": done.states.tolist(), "actions": actions_of(done).tolist(), "task": said}
            lines.write(json.dumps({**episode, "setting": done.setting}) + "\n")


with TemporaryDirectory() as folder:
    file = Path(folder) / "log.jsonl"
    log(file, wrong=3)
    subgoals = rsg.learn(file, kitchen)  # a store, a Minari dataset (`minari:ID`) or a list would do as well
    mine = rsg.Store.create(Path(folder) / "store", world="kitchen")  # to keep: every changed bit is noticed
    mine.append(import_from(file))

    for told in subgoals.tell(kitchen.world()):
        print(f"{told.means}  ({told.sure:.0%} sure, {told.explained} of {told.seen} descriptions explained)")

    for number, demo in enumerate(mine):  # which description does not fit what was done?
        best, *_ = subgoals.recognise(demo, kitchen.tasks("train"))
        if str(best.task) != demo.task and best.probability > 0.9:
            print(f"episode {number} says '{demo.task}', but it looks like '{best.task}'")
