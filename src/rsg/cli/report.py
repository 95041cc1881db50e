"""`rsg report`: a page that shows what a run learned and how well it plans."""

from pathlib import Path

from rsg.baselines import baseline_of
from rsg.cli.command import Said, command, option
from rsg.cli.options import Home, PerTask, RunFolder, Seed
from rsg.cli.output import to_write
from rsg.core.progress import progress
from rsg.domain import find
from rsg.evaluation.policies import Examples
from rsg.evaluation.report import Reported, measure_policy, open_run, write_report
from rsg.evaluation.report_results import Results, Sizes, measure, percent

PAGE = to_write(".html", ".htm")


@command
def report(
    folder: RunFolder,
    out: Path | None = option(None, "The page; else report.html in the run's folder.", metavar="FILE", callback=PAGE),
    per_task: PerTask = 50,
    seed: Seed = 0,
    world: Home = None,
) -> Said:
    """Plan with what a run learned, and write one HTML page: figures, curves, examples, settings.

    A baseline's run acts from the same starts.
    """
    words = f"rsg report {folder} --per-task {per_task} --seed {seed}"
    path, run = PAGE(out or folder / "report.html") or folder, open_run(folder, find(world) if world else None)
    if not run.source.has("truth"):
        raise run.source.lacks("truth", "plans cannot be judged without it")
    if not run.source.reported:
        raise run.source.lacks("tasks", "there is nothing to plan for")
    kept: Examples | None = None
    if baseline_of(folder):
        starts = per_task * sum(len(run.source.tasks(split)) for split in run.source.reported)
        with progress("acting", starts, "episodes") as advance:
            results, kept = measure_policy(run, per_task, seed, advance)
    else:
        results = planned(run, Sizes(per_task, per_task, min(per_task, Sizes.untrained)), seed)
    write_report(path, run, results, words, kept)
    splits = results[run.about["method"]]
    told = [f"{split:14} {percent(found['success'])}" for split, found in splits.items()]
    values = {"report": str(path), "run": str(folder), "results": results}
    return Said(values, "\n".join([*told, f"\nthe report is in {path}"]))


def planned(run: Reported, sizes: Sizes, seed: int = 0) -> Results:
    """How well plans with what a run learned do; a bar shows how far it is."""
    with progress("planning", sizes.plans(run.source), "plans") as advance:
        return measure(run.source, run.learned, sizes, seed, advance)
