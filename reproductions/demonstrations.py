"""`rsg reproduce demonstrations`: success against the number of demonstrations of each task, RSG beside BC-FSM.

The jobs are those of the baselines with fewer demonstrations; with all of them they are shared.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from reproductions import baselines
from reproductions.baselines import WORLDS
from reproductions.harness.figures import Line, draw_lines
from reproductions.harness.jobs import Job
from reproductions.harness.reproduce import Experiment, Extent, Picture, Section
from reproductions.harness.results import Rates, Results, plain_rates, stem
from reproductions.harness.tables import percent, table
from reproductions.harness.trials import SPLITS

NAME = "demonstrations"
METHODS = {"rsg": "RSG", "bc-fsm": "BC-FSM"}
FULL = replace(baselines.FULL, counts={**baselines.FULL.counts, "fewer": (5, 20, 100)})
QUICK = replace(baselines.QUICK, counts={**baselines.QUICK.counts, "fewer": (5,)})


def jobs(extent: Extent) -> list[Job]:
    """Each method in each world with all demonstrations, as the baselines have it, and with fewer."""
    wanted = {f"{world}-{method}" for world in WORLDS for method in METHODS}
    with_all = [job for job in baselines.jobs(extent) if stem(job.name) in wanted]
    return [*with_all, *(_with(job, few) for few in extent.size["fewer"] for job in with_all)]


def _with(job: Job, few: int) -> Job:
    """The same job with fewer demonstrations of each task; it only plans or acts."""
    parameters = {**job.parameters, "per_task": few, "recognised": 0, "examples": False}
    name = f"{stem(job.name)}-{few}-seed{job.parameters['settings']['seed']}"
    return replace(job, experiment=NAME, name=name, parameters=parameters)


def section(extent: Extent, results: Results) -> Section:
    """A table and a panel to each world and split."""
    every = extent.size.demonstrations
    rates = {
        world: {
            method: {
                **{few: results.rates(f"{world}-{method}-{few}") for few in extent.size["fewer"]},
                every: results.rates(f"{baselines.NAME}/{world}-{method}"),
            }
            for method in METHODS
        }
        for world in WORLDS
    }
    text = [
        "Strict success in percent with fewer demonstrations of each task, mean over seeds with the 95 % interval of "
        "the mean: RSG, and BC-FSM, the strongest baseline. With fewer, each is trained with the same settings on the "
        "first demonstrations of each task of the same store; the starts are those of the baselines."
    ]
    for world, found in rates.items():
        for split in SPLITS:
            rows = [
                [METHODS[method], *(percent(row[split]) for row in counts.values())] for method, counts in found.items()
            ]
            head = ["demonstrations of each task", *map(str, extent.size["fewer"]), str(every)]
            text += [f"*{WORLDS[world]}, {split}*", table(head, rows)]
    summary = {
        "success": {
            world: {
                method: plain_rates({str(count): row for count, row in counts.items()})
                for method, counts in found.items()
            }
            for world, found in rates.items()
        }
    }
    lines = {
        f"{WORLDS[world]}, {split}": {METHODS[method]: [_line(counts, split)] for method, counts in found.items()}
        for world, found in rates.items()
        for split in SPLITS
    }
    drawn = partial(draw_lines, groups=lines, across="demonstrations of each task", up="success in %")
    drawn = partial(drawn, logarithmic="x", limits=(0.0, 104.0))
    pictures = {"success": Picture("Success against demonstrations of each task", drawn)}
    return Section("Fewer demonstrations", "\n\n".join(text), summary, pictures)


def _line(counts: Mapping[int, Rates], split: str) -> Line:
    return [(count, 100 * one.over_seeds.mean) for count, row in counts.items() if (one := row[split])]


EXPERIMENT = Experiment(NAME, 2, FULL, QUICK, jobs, section)
