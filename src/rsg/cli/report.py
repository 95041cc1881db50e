"""`rsg report`: a page that shows what a run learned and how well it plans."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rsg.cli.output import AsJson, console, emit
from rsg.cli.world import Seed
from rsg.core.errors import RsgError
from rsg.core.progress import progress


def report(
    folder: Annotated[Path, typer.Argument(metavar="RUN", help="The folder of a run.")],
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="FILE", help="The page; else report.html in the run's folder."),
    ] = None,
    per_task: Annotated[int, typer.Option(help="Starts of each task.")] = 50,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Plan for both splits with what a run learned, and write one HTML page: figures, curves, examples, settings."""
    if per_task < 1:
        raise RsgError(f"per-task must be at least 1, not {per_task}")
    if out is not None and out.suffix.lower() not in (".html", ".htm"):
        raise RsgError(f"cannot write a page to {out}: the name must end in .html")
    from rsg.evaluation.report import SPLITS, Sizes, measure, open_run, percent, write_report

    run = open_run(folder)
    sizes = Sizes(per_task, per_task, min(per_task, Sizes.untrained))
    with progress("planning", sizes.plans(run.source), "plans", shown=not as_json) as advance:
        results = measure(run.source, run.subgoals, sizes, seed, advance)
    command = f"rsg report {folder} --per-task {per_task} --seed {seed}"
    path = write_report(out or folder / "report.html", run, results, command)
    if as_json:
        emit({"report": str(path), "run": str(folder), "results": results})
        return
    for split in SPLITS:
        console().print(f"{split:14} {percent(results['rsg'][split]['success'])}")
    console().print(f"\nthe report is in {path}", markup=False)
