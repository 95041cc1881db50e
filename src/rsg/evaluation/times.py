"""`rsg reproduce times`: the paper's table of times, every method in every world, from jobs that are there already."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from rsg.evaluation import image
from rsg.evaluation.baselines_section import EPOCH, PAPER_TIMES
from rsg.evaluation.jobs import Job, Plain
from rsg.evaluation.reproduce import Experiment, Extent, Results, Section
from rsg.evaluation.statistics import mean_of
from rsg.evaluation.table_1 import BASELINES, COLUMNS, RSG, SPLITS, Cell, Column, found_in, jobs_of, of_cell
from rsg.evaluation.tables import NONE, number, table

NAMES = {RSG: "rsg", **BASELINES, "LSTM": "lstm"}


def cells_of(column: Column) -> dict[str, Cell]:
    """Those of the main table; the LSTM, which only recognises tasks, is trained too."""
    lstm = {"LSTM": Cell("baselines", f"{column.world}-lstm")} if column.timed else {}
    return {**column.cells, **lstm}


def jobs(extent: Extent) -> list[Job]:
    """The jobs of other experiments whose times are told."""
    return jobs_of(extent, [cell for column in COLUMNS for cell in cells_of(column).values()])


def section(extent: Extent, results: Results) -> Section:
    """What each method costs in each world, beside the paper's figures."""
    del extent
    parts = [
        f"Training in seconds of processor time, per epoch ({EPOCH} batches, as in the paper) and in total, and the "
        "time of one plan or episode of both splits, mean over seeds with the range over seeds in brackets; in front "
        "the paper's figure, whose hardware is not stated. Jobs run side by side, one thread each."
    ]
    summary: Plain = {}
    for column in COLUMNS:
        costs = {method: _costs(results, cell) for method, cell in cells_of(column).items() if of_cell(results, cell)}
        summary[column.label] = costs
        parts += [f"### {column.label}", _times_table(column, costs)]
    return Section("Times of all methods", "\n\n".join(parts), {"costs": summary, "paper": PAPER_TIMES})


def _costs(results: Results, cell: Cell) -> Plain:
    training = [
        one["training"] for one in of_cell(results, cell) if "training" in one and cell.among != image.UNTRAINED
    ]
    acts = all("evaluations" in one for one in of_cell(results, cell))
    by_split = [[one["plan_ms_mean"] for one in found_in(results, cell, split)] for split in SPLITS if acts]
    return {
        "epoch_seconds": [EPOCH * one["cpu_seconds"] / one["steps"] for one in training],
        "training_seconds": [one["cpu_seconds"] for one in training],
        "plan_ms": [sum(of_seed) / len(of_seed) for of_seed in zip(*by_split, strict=True)],
    }


def _times_table(column: Column, costs: Mapping[str, Plain]) -> str:
    rows = []
    for method, cost in costs.items():
        known = PAPER_TIMES[column.world].get(NAMES.get(method, "")) if column.timed else None
        epochs, minutes, seconds = known or (0, 0.0, None)
        rows.append(
            [
                method,
                *_pair(f"{60 * minutes:,.0f} s" if epochs else NONE, cost["epoch_seconds"], 2, "s"),
                *_pair(f"{60 * epochs * minutes:,.0f} s" if epochs else NONE, cost["training_seconds"], 0, "s"),
                *_pair(f"{1000 * seconds:,.0f} ms" if seconds else NONE, cost["plan_ms"], 1, "ms"),
            ]
        )
    head = (f"{what}, {whose}" for what in ("epoch", "training", "plan") for whose in ("paper", "ours"))
    return table(["method", *head], rows)


def _pair(paper: str, values: Sequence[float], digits: int, unit: str) -> Iterator[str]:
    yield paper
    yield number(mean_of(values), digits, unit) if values else NONE


EXPERIMENT = Experiment("times", 5, 1, jobs, section)
