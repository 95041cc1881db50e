"""`rsg reproduce times`: the paper's table of times, every method in every world, from jobs that are there already."""

from __future__ import annotations

from collections.abc import Mapping

from reproductions import image
from reproductions.harness.jobs import Job, Plain
from reproductions.harness.reproduce import Experiment, Extent, Section
from reproductions.harness.results import Results, mean_or_none
from reproductions.harness.tables import NONE, number, table
from reproductions.harness.trials import SPLITS, Size
from reproductions.table_1 import BASELINES, COLUMNS, RSG, Cell, Column, jobs_of
from rsg.evaluation.paper import EPOCH, PAPER_TIMES

NAMES = {RSG: "rsg", **BASELINES, "LSTM": "lstm"}


def cells_of(column: Column) -> dict[str, Cell]:
    """Those of the main table; the LSTM, which only recognises tasks, is trained too."""
    lstm = {"LSTM": Cell(f"baselines/{column.world}-lstm")} if column.timed else {}
    return {**column.cells, **lstm}


def jobs(extent: Extent) -> list[Job]:
    """The jobs of other experiments whose times are told."""
    return jobs_of(extent, {cell.jobs for column in COLUMNS for cell in cells_of(column).values()})


def section(extent: Extent, results: Results) -> Section:
    """What each method costs in each world, beside the paper's figures."""
    del extent
    text = [
        f"Training in seconds of processor time, per epoch ({EPOCH} batches, as in the paper) and in total, and the "
        "time of one plan or episode of both splits, mean over seeds with the range over seeds in brackets; in front "
        "the paper's figure, whose hardware is not stated. Jobs run side by side, one thread each."
    ]
    summary: Plain = {}
    for column in COLUMNS:
        cells = {method: cell for method, cell in cells_of(column).items() if results.of(cell.jobs)}
        summary[column.label] = {method: _costs(results, cell) for method, cell in cells.items()}
        text += [f"### {column.label}", _times_table(column, summary[column.label])]
    return Section("Times of all methods", "\n\n".join(text), {"costs": summary, "paper": PAPER_TIMES})


def _costs(results: Results, cell: Cell) -> Plain:
    trained = cell.more != f"-{image.UNTRAINED}"
    seconds, steps = (results.training(cell.jobs, key) if trained else [] for key in ("cpu_seconds", "steps"))
    by_split = [[one["plan_ms_mean"] for one in results.evaluations(cell.jobs, split + cell.more)] for split in SPLITS]
    return {
        "epoch_seconds": [EPOCH * one / count for one, count in zip(seconds, steps, strict=True)],
        "training_seconds": seconds,
        "plan_ms": [sum(of_seed) / len(of_seed) for of_seed in zip(*by_split, strict=True)],
    }


def _times_table(column: Column, costs: Mapping[str, Plain]) -> str:
    rows = []
    for method, cost in costs.items():
        known = PAPER_TIMES[column.world].get(NAMES.get(method, "")) if column.timed else None
        epochs, minutes, seconds = known or (0, 0.0, None)
        ours = {key: mean_or_none(values) for key, values in cost.items()}
        rows.append(
            [
                method,
                f"{60 * minutes:,.0f} s" if epochs else NONE,
                number(ours["epoch_seconds"], 2, "s"),
                f"{60 * epochs * minutes:,.0f} s" if epochs else NONE,
                number(ours["training_seconds"], 0, "s"),
                f"{1000 * seconds:,.0f} ms" if seconds else NONE,
                number(ours["plan_ms"], 1, "ms"),
            ]
        )
    head = (f"{what}, {whose}" for what in ("epoch", "training", "plan") for whose in ("paper", "ours"))
    return table(["method", *head], rows)


EXPERIMENT = Experiment("times", 5, Size(), Size(), jobs, section)
