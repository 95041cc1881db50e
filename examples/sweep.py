"""A sweep: how many demonstrations does it take, with formulas over facts and with a network?"""

from pathlib import Path

import numpy as np

import rsg
from rsg.domain import find
from rsg.evaluation import Starts, evaluate_planning

kitchen = find(f"{Path(__file__).parent / 'kitchen' / 'kitchen.py'}:Kitchen")
TASKS, SEEDS = range(len(kitchen.tasks("train"))), range(2)


def success(encoder: str, per_task: int, seed: int) -> float:
    """The share of plans for tasks that nobody showed that are right, learned from so many demonstrations of each."""
    rng = np.random.default_rng(seed)
    shown = [kitchen.demonstrate("train", task, rng)[0] for task in TASKS for _ in range(per_task)]
    subgoals = rsg.learn(shown, kitchen, settings={"encoder": encoder, "seed": seed, "steps": 60})
    return float(evaluate_planning(kitchen, Starts("novel", per_task=10, seed=seed), subgoals)["success"])


print("of each task", *(f"seed {seed}" for seed in SEEDS), sep="\t")
for encoder in ("facts", "seen"):
    for per_task in (1, 4):
        found = [success(encoder, per_task, seed) for seed in SEEDS]
        print(f"{per_task:2} {encoder:9}", *(f"{one:.0%}" for one in found), sep="\t")
