"""`rsg report`: a page that shows what a run learned and how well it plans."""

from pathlib import Path

from rsg.cli.command import Said, command, option
from rsg.cli.options import Home, PerTask, RunFolder, Seed
from rsg.cli.output import to_write
from rsg.domain import find
from rsg.evaluation.report import measured, open_run, write_report
from rsg.evaluation.report_results import Sizes, percent

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
    results, kept = measured(run, Sizes(per_task, per_task, min(per_task, Sizes.untrained)), seed)
    write_report(path, run, results, words, kept)
    splits = results[run.about["method"]]
    told = [f"{split:14} {percent(found['success'])}" for split, found in splits.items()]
    values = {"report": str(path), "run": str(folder), "results": results}
    return Said(values, "\n".join([*told, f"\nthe report is in {path}"]))
