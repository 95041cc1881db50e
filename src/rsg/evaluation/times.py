"""`rsg reproduce times`: the paper's table of times, every method in every world, from the jobs of `table-1`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from rsg.evaluation import image
from rsg.evaluation.baselines_section import EPOCH, PAPER_TIMES
from rsg.evaluation.jobs import Plain
from rsg.evaluation.reproduce import Experiment, Extent, Results, Section
from rsg.evaluation.statistics import mean_of
from rsg.evaluation.table_1 import BASELINES, COLUMNS, RSG, SPLITS, Cell, Column, found_in, jobs, of_cell
from rsg.evaluation.tables import NONE, number, table


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
        costs = {method: _costs(results, cell) for method, cell in column.cells.items() if of_cell(results, cell)}
        summary[column.label] = costs
        parts += [f"### {column.label}", _times_table(column, costs)]
    return Section("Times of all methods", "\n\n".join(parts), {"costs": summary, "paper": PAPER_TIMES})


def _costs(results: Results, cell: Cell) -> Plain:
    training = [
        one["training"] for one in of_cell(results, cell) if "training" in one and cell.among != image.UNTRAINED
    ]
    by_split = [[one["plan_ms_mean"] for one in found_in(results, cell, split)] for split in SPLITS]
    return {
        "epoch_seconds": [EPOCH * one["cpu_seconds"] / one["steps"] for one in training],
        "training_seconds": [one["cpu_seconds"] for one in training],
        "plan_ms": [sum(of_seed) / len(of_seed) for of_seed in zip(*by_split, strict=True)],
    }


def _times_table(column: Column, costs: Mapping[str, Plain]) -> str:
    rows = []
    for method, cost in costs.items():
        name = {RSG: "rsg", **BASELINES}.get(method, "")
        known = PAPER_TIMES[column.world].get(name) if column.timed else None
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
