"""Large maps with learned subgoals: formulas and networks, several training seeds, judged by a replay."""

from functools import partial
from typing import Any

import rsg
from benchmarks.bench_large import LARGE, NOVEL, SIZES, SMALL, SOURCE, kept, long_instructions, of_split, within
from benchmarks.harness import in_pieces
from rsg.core.random import stream
from rsg.demos import Demonstration

SEEDS = (331, 332, 333)  # of training; instructions and maps are those of the same seeds. Nothing was chosen by them
KINDS = {"formulas": ("auto", 20), "networks": ("sets", 100)}  # the encoder, and demonstrations of each task
MAPS = 5  # of each instruction and size


def run() -> dict[str, Any]:
    """Success for each kind of subgoals and each size of map."""
    pieces = {f"{kind}/{seed}": partial(_found, *how, seed) for kind, how in KINDS.items() for seed in SEEDS}
    figures: dict[str, Any] = {}
    for kind, by_seed in in_pieces("large_learned", pieces).items():
        for group in by_seed[str(SEEDS[0])]:
            some = [found[group] for found in by_seed.values()]
            rows = {key: [value for one in some for value in one[key]] for key in some[0]}
            figures[f"{kind} {group}"] = {str(budget): within(rows, budget) for budget in (SMALL, LARGE)}
    return figures


def _found(encoder: str, per_task: int, seed: int) -> dict[str, Any]:
    """What plans with the subgoals of one training seed give, for each size of map and each split."""
    goals = rsg.learn(_shown(seed, per_task), "crafting", settings={"encoder": encoder, "seed": seed})
    cases = {str(size): list(long_instructions(size, MAPS, [seed])) for size in SIZES}
    cases |= {split: list(of_split(split, MAPS, [seed])) for split in ("compositional", "novel")}
    return {group: kept(some, NOVEL, LARGE, goals) for group, some in cases.items()}


def _shown(seed: int, per_task: int) -> list[Demonstration]:
    """Demonstrations of each training task."""
    count = len(SOURCE.tasks("train"))
    return [
        SOURCE.demonstrate("train", task, stream(seed, "large", "shown", task, number))[0]
        for task in range(count)
        for number in range(per_task)
    ]
