"""`rsg reproduce demonstrations`: success against the number of demonstrations of each task, RSG beside BC-FSM.

The jobs are those of the baselines with fewer demonstrations; with all of them they are shared.
"""

from collections.abc import Iterator
from dataclasses import replace

from reproductions import baselines
from reproductions.baselines import WORLDS
from reproductions.harness.figures import curves
from reproductions.harness.jobs import Job
from reproductions.harness.reproduce import Experiment, Section
from reproductions.harness.results import Results, line, plain, stem
from reproductions.harness.tables import page, rates_table
from reproductions.harness.trials import SPLITS, Size

NAME = "demonstrations"
METHODS = {"rsg": "RSG", "bc-fsm": "BC-FSM"}
FULL = replace(baselines.FULL, seeds=2, counts={**baselines.FULL.counts, "fewer": (5, 20, 100)})
QUICK = replace(baselines.QUICK, counts={**baselines.QUICK.counts, "fewer": (5,)})


def jobs(size: Size) -> Iterator[Job]:
    """Each method in each world with all demonstrations, as the baselines have it, and with fewer."""
    wanted = {f"{world}-{method}" for world in WORLDS for method in METHODS}
    with_all = [job for job in baselines.jobs(size) if stem(job.name) in wanted]
    yield from with_all
    for few in size["fewer"]:
        for job in with_all:  # with fewer, it only plans or acts
            name = f"{stem(job.name)}-{few}-seed{job.parameters['settings']['seed']}"
            parameters = {**job.parameters, "per_task": few, "recognised": 0, "examples": False}
            yield replace(job, experiment=NAME, name=name, parameters=parameters)


def section(size: Size, results: Results) -> Section:
    """A table and a panel to each world and split."""
    rates = {
        world: {
            method: {
                **{few: results.rates(f"{world}-{method}-{few}") for few in size["fewer"]},
                size.demonstrations: results.rates(f"{baselines.NAME}/{world}-{method}"),
            }
            for method in METHODS
        }
        for world in WORLDS
    }
    tables = {
        f"{WORLDS[world]}, {split}": rates_table(
            "demonstrations of each task",
            [*map(str, size["fewer"]), str(size.demonstrations)],
            {METHODS[name]: {count: row[split] for count, row in counts.items()} for name, counts in found.items()},
        )
        for world, found in rates.items()
        for split in SPLITS
    }
    lines = {
        f"{WORLDS[world]}, {split}": {METHODS[method]: [line(counts, split)] for method, counts in found.items()}
        for world, found in rates.items()
        for split in SPLITS
    }
    axes = ("demonstrations of each task", "success in %", "x", (0.0, 104.0))
    pictures = {"success": curves("Success against demonstrations of each task", lines, *axes)}
    return Section("Fewer demonstrations", page(NAME, tables=tables), {"success": plain(rates)}, pictures)


EXPERIMENT = Experiment(NAME, FULL, QUICK, jobs, section)
