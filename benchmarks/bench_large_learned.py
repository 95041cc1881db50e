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
SPLITS = ("compositional", "novel")
MAPS = 5  # of each instruction and size


def run() -> dict[str, Any]:
    """Success for each kind of subgoals and each size of map."""
    pieces = {f"{kind}/{seed}": partial(_found, *how, seed) for kind, how in KINDS.items() for seed in SEEDS}
    figures: dict[str, Any] = {}
    for kind, by_seed in in_pieces("large_learned", pieces).items():
        for group in (*map(str, SIZES), *SPLITS):
            large = _joined([found[group] for found in by_seed.values()])
            small = _joined([found.get(f"{group} {SMALL}", found[group]) for found in by_seed.values()])
            figures[f"{kind} {group}"] = {str(SMALL): within(small, SMALL), str(LARGE): within(large, LARGE)}
    return figures


def _joined(some: list[dict[str, list[Any]]]) -> dict[str, list[Any]]:
    return {key: [value for rows in some for value in rows[key]] for key in some[0]}


def _found(encoder: str, per_task: int, seed: int) -> dict[str, Any]:
    """What plans with the subgoals of one training seed give, for each size of map and each split.

    What takes more than the small budget is planned for once more, with that budget alone: where it is open what a term
    means, half of a budget goes into plans that see to all of it.
    """
    goals = rsg.learn(_shown(seed, per_task), "crafting", settings={"encoder": encoder, "seed": seed})
    groups = {str(size): list(long_instructions(size, MAPS, [seed])) for size in SIZES}
    groups |= {split: list(of_split(split, MAPS, [seed])) for split in SPLITS}
    figures = {group: kept(cases, NOVEL, LARGE, goals) for group, cases in groups.items()}
    over = [group for group, rows in figures.items() if max(rows["expansions"]) > SMALL]
    return figures | {f"{group} {SMALL}": kept(groups[group], NOVEL, SMALL, goals) for group in over}


def _shown(seed: int, per_task: int) -> list[Demonstration]:
    """Demonstrations of each training task."""
    count = len(SOURCE.tasks("train"))
    return [
        SOURCE.demonstrate("train", task, stream(seed, "large", "shown", task, number))[0]
        for task in range(count)
        for number in range(per_task)
    ]
