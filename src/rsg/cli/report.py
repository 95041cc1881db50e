"""`rsg report`: a page that shows what a run learned and how well it plans."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

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
    """Plan for both splits with what a run learned, and write one HTML page: figures, curves, examples, settings.

    A baseline's run acts from the same starts.
    """
    if per_task < 1:
        raise RsgError(f"per-task must be at least 1, not {per_task}")
    if out is not None and out.suffix.lower() not in (".html", ".htm"):
        raise RsgError(f"cannot write a page to {out}: the name must end in .html")
    from rsg.evaluation.trained import is_baseline

    command = f"rsg report {folder} --per-task {per_task} --seed {seed}"
    make = _policy_report if is_baseline(folder) else _subgoals_report
    path, splits, results = make(folder, out or folder / "report.html", per_task, seed, command, not as_json)
    if as_json:
        emit({"report": str(path), "run": str(folder), "results": results})
        return
    from rsg.evaluation.report_results import percent

    for split, found in splits.items():
        console().print(f"{split:14} {percent(found['success'])}")
    console().print(f"\nthe report is in {path}", markup=False)


_Made = tuple[Path, dict[str, dict[str, Any]], dict[str, Any]]
"""Where the page is, the figures of each split, and all that was measured."""


def _subgoals_report(folder: Path, path: Path, per_task: int, seed: int, command: str, shown: bool) -> _Made:
    from rsg.evaluation.report import Sizes, measure, open_run, write_report

    run = open_run(folder)
    sizes = Sizes(per_task, per_task, min(per_task, Sizes.untrained))
    with progress("planning", sizes.plans(run.source), "plans", shown) as advance:
        results = measure(run.source, run.subgoals, sizes, seed, advance)
    return write_report(path, run, results, command), results["rsg"], results


def _policy_report(folder: Path, path: Path, per_task: int, seed: int, command: str, shown: bool) -> _Made:
    from rsg.evaluation.report_policy import measure_policy, opened, write_policy_report
    from rsg.evaluation.report_results import SPLITS
    from rsg.training import Run

    source, policy = opened(folder)
    episodes = per_task * sum(len(source.tasks(split)) for split in SPLITS)
    with progress("acting", episodes, "episodes", shown) as advance:
        found = measure_policy(source, policy, per_task, seed, advance)
    written = write_policy_report(path, folder, source, found, command)
    return written, found.splits, {Run(folder).about["method"]: found.splits}
