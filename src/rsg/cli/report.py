"""`rsg report`: a page that shows what a run learned and how well it plans."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rsg.cli.command import Said, command, option
from rsg.cli.options import PerTask, RunFolder, Seed
from rsg.cli.output import ends_in
from rsg.core.progress import progress
from rsg.evaluation.report import Reported, open_run, write_report
from rsg.evaluation.report_policy import measure_policy, opened, write_policy_report
from rsg.evaluation.report_results import SPLITS, Results, Sizes, measure, percent
from rsg.evaluation.trained import baseline_of

PAGE = ends_in(".html", ".htm")


@command
def report(
    folder: RunFolder,
    out: Path | None = option(None, "The page; else report.html in the run's folder.", metavar="FILE", callback=PAGE),
    per_task: PerTask = 50,
    seed: Seed = 0,
) -> Said:
    """Plan for both splits with what a run learned, and write one HTML page: figures, curves, examples, settings.

    A baseline's run acts from the same starts.
    """
    words = f"rsg report {folder} --per-task {per_task} --seed {seed}"
    path = out or folder / "report.html"
    if method := baseline_of(folder):
        splits = _policy_report(folder, path, per_task, seed, words)
        results = {method: splits}
    else:
        results = _subgoals_report(folder, path, per_task, seed, words)
        splits = results["rsg"]
    told = [f"{split:14} {percent(found['success'])}" for split, found in splits.items()]
    values = {"report": str(path), "run": str(folder), "results": results}
    return Said(values, "\n".join([*told, f"\nthe report is in {path}"]))


def _subgoals_report(folder: Path, path: Path, per_task: int, seed: int, words: str) -> dict[str, Any]:
    """Write the page of a run of RSG; gives all that was measured."""
    run = open_run(folder)
    results = planned(run, Sizes(per_task, per_task, min(per_task, Sizes.untrained)), seed)
    write_report(path, run, results, words)
    return results


def planned(run: Reported, sizes: Sizes, seed: int = 0) -> Results:
    """How well plans with what a run learned do; a bar shows how far it is."""
    with progress("planning", sizes.plans(run.source), "plans") as advance:
        return measure(run.source, run.subgoals, sizes, seed, advance)


def _policy_report(folder: Path, path: Path, per_task: int, seed: int, words: str) -> dict[str, Any]:
    """Write the page of a baseline's run; gives the figures of each split."""
    source, policy = opened(folder)
    with progress("acting", per_task * sum(len(source.tasks(split)) for split in SPLITS), "episodes") as advance:
        splits, kept = measure_policy(source, policy, per_task, seed, advance)
    write_policy_report(path, folder, source, splits, kept, words)
    return splits
