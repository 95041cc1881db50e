"""`rsg reproduce demonstrations`: success against the number of demonstrations of each task, RSG beside BC-FSM.

The jobs are those of the baselines with fewer demonstrations; with all of them they are shared.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from rsg.evaluation import baselines
from rsg.evaluation.baselines import WORLDS
from rsg.evaluation.figures import COLORS, panels
from rsg.evaluation.jobs import Job
from rsg.evaluation.reproduce import Experiment, Extent, Picture, Results, Section
from rsg.evaluation.table_1 import SPLITS, Cell, found_in, stem
from rsg.evaluation.tables import NONE, Rate, percent, table
from rsg.evaluation.trials import rate

NAME = "demonstrations"
METHODS = {"rsg": "RSG", "bc-fsm": "BC-FSM"}
FEWER, QUICK_FEWER = (5, 20, 100), (5,)

Rates = Mapping[str, Mapping[int, Mapping[str, Rate]]]
"""Success in a world, by method, demonstrations of each task, and split."""


def jobs(extent: Extent) -> list[Job]:
    """Each method in each world with all demonstrations, as the baselines have it, and with fewer."""
    wanted = {f"{world}-{method}" for world in WORLDS for method in METHODS}
    with_all = [job for job in baselines.jobs(extent) if stem(job.name) in wanted]
    return [*with_all, *(_with(job, few) for few in _fewer(extent) for job in with_all)]


def _fewer(extent: Extent) -> tuple[int, ...]:
    return QUICK_FEWER if extent.quick else FEWER


def _all(extent: Extent) -> int:
    return (baselines.QUICK if extent.quick else baselines.FULL).demonstrations


def _with(job: Job, few: int) -> Job:
    """The same job with fewer demonstrations of each task; it only plans or acts."""
    parameters = {**job.parameters, "per_task": few, "recognised": 0, "examples": False}
    name = f"{stem(job.name)}-{few}-seed{job.parameters['settings']['seed']}"
    return replace(job, experiment=NAME, name=name, parameters=parameters)


def section(extent: Extent, results: Results) -> Section:
    """A table and a panel to each world and split."""
    named = {name if "/" in name else f"{NAME}/{name}": one for name, one in results.items()}
    rates = {world: _rates(extent, named, world) for world in WORLDS}
    parts = [
        "Strict success in percent with fewer demonstrations of each task, mean over seeds with the 95 % interval of "
        "the mean: RSG, and BC-FSM, the strongest baseline. With fewer, each is trained with the same settings on the "
        "first demonstrations of each task of the same store; the starts are those of the baselines."
    ]
    for world, of_world in rates.items():
        counts = [*_fewer(extent), _all(extent)]
        for split in SPLITS:
            rows = [
                [METHODS[method], *(percent(found[count][split]) if count in found else NONE for count in counts)]
                for method, found in of_world.items()
            ]
            parts += [f"*{WORLDS[world]}, {split}*", table(["demonstrations of each task", *map(str, counts)], rows)]
    summary = {
        "success": {
            world: {
                method: {str(count): {split: one.plain() for split, one in row.items()} for count, row in found.items()}
                for method, found in of_world.items()
            }
            for world, of_world in rates.items()
        }
    }
    drawn = Picture("Success against demonstrations of each task", partial(draw, rates=rates))
    return Section("Fewer demonstrations", "\n\n".join(parts), summary, {"success": drawn})


def _rates(extent: Extent, results: Results, world: str) -> Rates:
    rates: dict[str, dict[int, dict[str, Rate]]] = {}
    for method in METHODS:
        cells = {few: Cell(NAME, f"{world}-{method}-{few}") for few in _fewer(extent)}
        cells[_all(extent)] = Cell(baselines.NAME, f"{world}-{method}")
        for count, cell in cells.items():
            row = {split: rate(found_in(results, cell, split)) for split in SPLITS}
            if all(row.values()):
                rates.setdefault(method, {})[count] = {split: one for split, one in row.items() if one}
    return rates


def draw(path: Path, rates: Mapping[str, Rates]) -> None:
    """A panel to each world and split; a line to each method, a dot to each seed."""
    places = [(world, split) for world in rates for split in SPLITS]
    with panels(path, [f"{WORLDS[world]}, {split}" for world, split in places], width=2.9, height=3.2) as axes:
        for one, (world, split) in zip(axes, places, strict=True):
            for color, (method, label) in zip(COLORS, METHODS.items(), strict=False):
                _line(one, rates[world].get(method, {}), split, color, label)
            one.set_xscale("log")
            counts = sorted({count for found in rates[world].values() for count in found})
            one.set_xticks(counts, [str(count) for count in counts])
            one.minorticks_off()
            one.set_ylim(0, 104)
            one.set_xlabel("demonstrations of each task")
        axes[0].set_ylabel("success in %")
        axes[-1].legend(loc="center right", fontsize=8)


def _line(axes: Any, found: Mapping[int, Mapping[str, Rate]], split: str, color: str, label: str) -> None:
    means = [100 * row[split].over_seeds.mean for row in found.values()]
    axes.plot(list(found), means, color=color, marker="o", markersize=4, linewidth=1.8, label=label)
    for count, row in found.items():
        each = [100 * done / of for done, of in zip(row[split].successes, row[split].trials, strict=True)]
        axes.plot([count] * len(each), each, ".", color=color, markersize=3, alpha=0.6)


EXPERIMENT = Experiment(NAME, 2, 1, jobs, section)
