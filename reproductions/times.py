"""`rsg reproduce times`: the paper's table of times, every method in every world, from jobs that are there already."""

from collections.abc import Mapping

from reproductions import image
from reproductions.harness.jobs import Job, Plain
from reproductions.harness.printed import EPOCH, PAPER_TIMES
from reproductions.harness.reproduce import Experiment, Section
from reproductions.harness.results import Results, mean_or_none
from reproductions.harness.tables import NONE, number, page, table
from reproductions.harness.trials import SPLITS, Size
from reproductions.table_1 import COLUMNS, Cell, Column, jobs_of
from rsg.evaluation.report import LABELS


def cells_of(column: Column) -> dict[str, Cell]:
    """Those of the main table; the LSTM, which only recognises tasks, is trained too."""
    lstm = {"LSTM": Cell(f"baselines/{column.world}-lstm")} if column.timed else {}
    return {**column.cells, **lstm}


def jobs(size: Size) -> list[Job]:
    """The jobs of other experiments whose times are told."""
    return jobs_of(size, {cell.jobs for column in COLUMNS for cell in cells_of(column).values()})


def section(size: Size, results: Results) -> Section:
    """What each method costs in each world, beside the paper's figures."""
    del size
    summary: Plain = {}
    for column in COLUMNS:
        cells = {method: cell for method, cell in cells_of(column).items() if results.of(cell.jobs)}
        summary[column.label] = {method: _costs(results, cell) for method, cell in cells.items()}
    worlds = {column.label: _times_table(column, summary[column.label]) for column in COLUMNS}
    text = page("times", epoch=EPOCH, worlds=worlds)
    return Section("Times of all methods", text, {"costs": summary, "paper": PAPER_TIMES})


def _costs(results: Results, cell: Cell) -> Plain:
    trained = cell.more != f"-{image.UNTRAINED}"
    by_split = [results.plans(cell.jobs, split + cell.more, "plan_ms_mean") for split in SPLITS]
    return {
        "epoch_seconds": results.epochs(cell.jobs) if trained else [],
        "training_seconds": results.training(cell.jobs, "cpu_seconds") if trained else [],
        "plan_ms": [sum(of_seed) / len(of_seed) for of_seed in zip(*by_split, strict=True)],
    }


def _times_table(column: Column, costs: Mapping[str, Plain]) -> str:
    paper = {LABELS[name]: told for name, told in PAPER_TIMES[column.world].items()} if column.timed else {}
    rows = []
    for method, cost in costs.items():
        epochs, minutes, plan = paper.get(method, (0, 0.0, None))
        told = [f"{60 * minutes:,.0f} s", f"{60 * epochs * minutes:,.0f} s"] if epochs else [NONE, NONE]
        told.append(f"{1000 * plan:,.0f} ms" if plan else NONE)
        epoch, training, ours = map(mean_or_none, cost.values())
        own = [number(epoch, 2, "s"), number(training, 0, "s"), number(ours, 1, "ms")]
        rows.append([method, *(cell for both in zip(told, own, strict=True) for cell in both)])
    head = (f"{what}, {whose}" for what in ("epoch", "training", "plan") for whose in ("paper", "ours"))
    return table(["method", *head], rows)


EXPERIMENT = Experiment("times", Size(seeds=5), Size(), jobs, section)
