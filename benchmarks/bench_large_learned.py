"""Large maps with learned subgoals: formulas and networks, several training seeds, judged by a replay."""

from typing import Any

import rsg
from benchmarks.bench_large import LARGE, NOVEL, SIZES, SMALL, SOURCE, kept, long_instructions, of_split, within
from rsg.core.random import stream
from rsg.demos import Demonstration

SEEDS = (31, 32, 33)  # of training; instructions and maps are those of the same seeds
KINDS = {"formulas": ("auto", 20), "networks": ("sets", 100)}  # the encoder, and demonstrations of each task


def run() -> dict[str, Any]:
    """Success for each kind of subgoals and each size of map."""
    figures: dict[str, Any] = {}
    for kind, (encoder, per_task) in KINDS.items():
        found: dict[str, list[dict[str, list[Any]]]] = {}
        for seed in SEEDS:
            goals = rsg.learn(_shown(seed, per_task), "crafting", settings={"encoder": encoder, "seed": seed})
            for size in SIZES:
                cases = list(long_instructions(size, maps=1, seeds=[seed]))
                found.setdefault(str(size), []).append(kept(cases, NOVEL, LARGE, goals))
            for split in ("compositional", "novel"):
                found.setdefault(split, []).append(kept(list(of_split(split, 5, [seed])), NOVEL, LARGE, goals))
        for group, some in found.items():
            rows = {key: [value for one in some for value in one[key]] for key in some[0]}
            figures[f"{kind} {group}"] = {str(SMALL): within(rows, SMALL), str(LARGE): within(rows, LARGE)}
    return figures


def _shown(seed: int, per_task: int) -> list[Demonstration]:
    """Demonstrations of each training task."""
    count = len(SOURCE.tasks("train"))
    return [
        SOURCE.demonstrate("train", task, stream(seed, "large", "shown", task, number))[0]
        for task in range(count)
        for number in range(per_task)
    ]
