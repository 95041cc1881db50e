"""`rsg reproduce table-1`: the paper's main table, every method in every world.

It is made of jobs of other experiments and shares them: what one command has finished, another one finds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from rsg.demos import benchmark
from rsg.evaluation import baselines, image, instructions, playroom
from rsg.evaluation.baselines_section import PAPER as PAPER_STATES
from rsg.evaluation.figures import COLORS, panels
from rsg.evaluation.image import PAPER as PAPER_PICTURES
from rsg.evaluation.jobs import Job, Plain
from rsg.evaluation.reproduce import Experiment, Extent, Picture, Results, Section
from rsg.evaluation.tables import NONE, Rate, hundredths, percent, table
from rsg.evaluation.trials import rate

SPLITS = ("compositional", "novel")
UNSEEN = "novel, not trained on"
RSG, UNTRAINED, ORACLE = "RSG", "RSG, untrained", "oracle (the truth)"
_SHORT = {UNTRAINED: "un-\ntrained", ORACLE: "oracle"}


Rates = Mapping[str, Mapping[str, Rate | None]]
"""Success by method and split."""


class Cell(NamedTuple):
    """Where a method's figures come from: an experiment, its jobs without their seeds, which of their evaluations."""

    experiment: str
    jobs: str
    among: str = ""


class Column(NamedTuple):
    """A world of the table: its name, that of its benchmark, its cells by method, and the paper's figures."""

    label: str
    world: str
    cells: Mapping[str, Cell]
    paper: Mapping[str, tuple[float, float]]
    timed: bool = True  # whether the paper's times are for it


BASELINES = {"IRL": "irl", "GAIL": "gail", "BC": "bc", "BC-FSM": "bc-fsm"}


def _column(label: str, world: str, experiment: str, ours: str) -> Column:
    cells = {label: Cell("baselines", f"{world}-{method}") for label, method in BASELINES.items()}
    cells |= {RSG: Cell(experiment, ours)}
    cells |= {UNTRAINED: Cell(experiment, "untrained"), ORACLE: Cell(experiment, "oracle")}
    told = PAPER_STATES[world]
    names = {RSG: "rsg", **BASELINES}
    return Column(label, world, cells, {label: told[name] for label, name in names.items() if name in told})


COLUMNS = (
    _column("Crafting World", "crafting", "instructions", "rsg"),
    Column(
        "Crafting World, pictures",
        "crafting",
        {
            "BC-FSM": Cell("baselines", "crafting-bc-fsm-image"),
            RSG: Cell("image", "", "as in training"),
            UNTRAINED: Cell("image", "", image.UNTRAINED),
        },
        {
            "BC-FSM": PAPER_STATES["crafting"][baselines.PICTURES],
            RSG: (PAPER_PICTURES["compositional"], PAPER_PICTURES["novel"]),
        },
        timed=False,
    ),
    _column("Playroom", "playroom", "playroom", playroom.MAIN),
)
METHODS = tuple(dict.fromkeys(method for column in COLUMNS for method in column.cells))
_EXPERIMENTS = {one.EXPERIMENT.name: one.EXPERIMENT for one in (instructions, image, playroom, baselines)}


def jobs(extent: Extent) -> list[Job]:
    """The jobs of other experiments that the cells are made of."""
    return jobs_of(extent, [cell for column in COLUMNS for cell in column.cells.values()])


def jobs_of(extent: Extent, cells: Sequence[Cell]) -> list[Job]:
    """The jobs that cells are made of; no more seeds of each experiment than it has."""
    wanted = {cell[:2] for cell in cells}
    listed = []
    for name, one in _EXPERIMENTS.items():
        part = one.jobs(Extent(min(extent.seeds, one.seeds), extent.quick))
        listed += [job for job in part if (name, stem(job.name)) in wanted]
    return listed


def stem(job: str) -> str:
    """The name of a job without its seed.

    >>> stem("crafting-irl-seed2"), stem("seed0")
    ('crafting-irl', '')
    """
    return job.rpartition("seed")[0].removesuffix("-")


def of_cell(results: Results, cell: Cell) -> list[Plain]:
    """The results of a cell, a seed to each."""
    names = [(*name.partition("/")[::2], one) for name, one in results.items()]
    return [one for experiment, job, one in names if (experiment, stem(job)) == cell[:2]]


def found_in(results: Results, cell: Cell, split: str) -> list[Plain]:
    """The evaluations of a cell, a seed to each."""
    every = [one["evaluations"] for one in of_cell(results, cell)]
    return [(one[cell.among] if cell.among else one)[split] for one in every]


def rates_of(results: Results, column: Column, check: str = "success") -> dict[str, dict[str, Rate | None]]:
    """Success of each method in each split, and in the novel tasks without those that are trained on too."""
    source = benchmark(column.world)
    trained = set(source.tasks("train"))
    seen_too = bool(trained & set(source.tasks("novel")))
    rows = {}
    for method, cell in column.cells.items():
        found = {split: found_in(results, cell, split) for split in SPLITS}
        row = {split: rate(found[split], check) for split in SPLITS}
        rows[method] = row | ({UNSEEN: rate(found["novel"], check, without=trained)} if seen_too else {})
    return rows


def section(extent: Extent, results: Results) -> Section:
    """All of the table at a glance, then each world with intervals."""
    del extent
    strict = {column.label: rates_of(results, column) for column in COLUMNS}
    lenient = {column.label: rates_of(results, column, "success_lenient") for column in COLUMNS}
    parts = [
        "Success in percent, strict, mean over seeds; in brackets the paper's figure. The best of those that learn is "
        "bold. Which plans count and what each method may see is told in the sections of the single experiments, whose "
        "jobs these are. Baselines start from other states than RSG, drawn in the same way; their own section compares "
        "both from the very same ones.",
        _glance(strict),
    ]
    for column in COLUMNS:
        parts += [f"### {column.label}", *_details(strict[column.label], lenient[column.label])]
    summary = {
        "strict": {world: _plain(rows) for world, rows in strict.items()},
        "lenient": {world: _plain(rows) for world, rows in lenient.items()},
        "paper": {column.label: dict(column.paper) for column in COLUMNS},
    }
    drawn = Picture("Success by method and split, the paper's as lines", partial(draw_table, rates=strict))
    return Section("The paper's main table", "\n\n".join(parts), summary, {"success": drawn})


def _plain(rows: Rates) -> Plain:
    return {name: {split: one.plain() for split, one in row.items() if one} for name, row in rows.items()}


def _glance(rates: Mapping[str, Rates]) -> str:
    places = [(column, split) for column in COLUMNS for split in SPLITS]
    learned = [method for method in METHODS if method not in (UNTRAINED, ORACLE)]
    best = {(c.label, s): max(_mean(rates[c.label].get(m, {}).get(s)) for m in learned) for c, s in places}
    rows = []
    for method in METHODS:
        row = [method]
        for column, split in places:
            one = rates[column.label].get(method, {}).get(split)
            cell = hundredths(_mean(one)) if one else NONE
            if one and method in learned and _mean(one) == best[column.label, split]:
                cell = f"**{cell}**"
            paper = column.paper.get(method)
            row.append(f"{cell} ({paper[SPLITS.index(split)]:.1f})" if paper else cell)
        rows.append(row)
    return table(["method", *(f"{column.label}, {split}" for column, split in places)], rows)


def _mean(one: Rate | None) -> float:
    return one.over_seeds.mean if one else -1.0


def _details(strict: Rates, lenient: Rates) -> list[str]:
    splits = [*SPLITS, UNSEEN] if any(UNSEEN in row for row in strict.values()) else [*SPLITS]
    rows = []
    for method, row in strict.items():
        first = row[SPLITS[0]]
        sizes = [str(len(first.trials)), f"{sum(first.trials):,}"] if first else [NONE, NONE]
        rows.append(
            [method, *(percent(row[split]) for split in splits), *(percent(lenient[method][s]) for s in SPLITS), *sizes]
        )
    head = ["method", *splits, *(f"{split}, lenient" for split in SPLITS), "seeds", "episodes, compositional"]
    return ["With 95 % intervals of the mean over seeds:", table(head, rows)]


def draw_table(path: Path, rates: Mapping[str, Rates]) -> None:
    """A panel to each world; two bars to each method, with the paper's figure as a line across each."""
    with panels(path, list(rates), width=4.4, height=3.4) as axes:
        for one, column in zip(axes, COLUMNS, strict=True):
            there = {m: row for m, row in rates[column.label].items() if any(row.values())}
            for place, (method, row) in enumerate(there.items()):
                for side, split in enumerate(SPLITS):
                    _bar(one, place + 0.4 * side - 0.2, row[split], column.paper.get(method), side)
            one.set_xticks(range(len(there)), [_SHORT.get(method, method) for method in there], fontsize=8)
            one.set_ylim(0, 112)
            one.set_yticks(range(0, 101, 20))
            one.grid(axis="x", visible=False)
        axes[0].set_ylabel("success in %")
        for side, split in enumerate(SPLITS):
            axes[1].bar(0, 0, color=COLORS[side], label=split)
        axes[1].plot([], [], color="black", label="the paper")
        axes[1].legend(loc="center right", fontsize=8)


def _bar(axes: Any, place: float, one: Rate | None, paper: tuple[float, float] | None, side: int) -> None:
    if one is not None:
        value = 100 * _mean(one)
        axes.bar(place, value, width=0.38, color=COLORS[side], alpha=0.8)
        shown = f"{value:.0f}" if not 99.5 <= value < 100 else hundredths(_mean(one))
        axes.annotate(shown, (place, value), (0, 2), textcoords="offset points", ha="center", fontsize=7)
    if paper is not None:
        axes.plot([place - 0.19, place + 0.19], [paper[side]] * 2, color="black", linewidth=1.2)


EXPERIMENT = Experiment("table-1", 5, 1, jobs, section)
