"""The report of a baseline's run: what it does, as one HTML file like that of RSG."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rsg.baselines import Policy, settings_of_run
from rsg.core.progress import Advance
from rsg.core.random import stream
from rsg.demos import Benchmark
from rsg.evaluation.planning import Starts
from rsg.evaluation.policies import Examples, episode_film, evaluate_policy
from rsg.evaluation.report import beside_the_paper, history, origin, write_page
from rsg.evaluation.report_results import SPLITS
from rsg.evaluation.trained import policy_for, source_of
from rsg.training import Run


def opened(folder: Path) -> tuple[Benchmark, Policy]:
    """The benchmark of a baseline's run, and its policy; an error if it does not act."""
    source = source_of(Run(folder))
    world, _ = source.start("novel", 0, stream(0, "world"))
    return source, policy_for(folder, source.name, world)


def measure_policy(
    source: Benchmark, policy: Policy, per_task: int, seed: int, advance: Advance | None = None
) -> tuple[dict[str, dict[str, Any]], Examples]:
    """Let a policy act from some starts of each task: the figures of both splits, and what was kept to be shown."""
    kept, splits = Examples(source), {}
    for split in SPLITS:
        see = kept.see if split == "compositional" else None
        splits[split] = evaluate_policy(source, Starts(split, per_task, seed), policy, advance=advance, see=see)
    return splits, kept


def write_policy_report(
    path: Path, folder: Path, source: Benchmark, splits: dict[str, Any], kept: Examples, command: str = ""
) -> Path:
    """Write the report of a baseline's run, of what `measure_policy` gave for it."""
    run, tasks, seed = Run(folder), source.tasks("compositional"), splits["compositional"]["seed"]
    settings, notes, method = settings_of_run(run), run.load("last").notes, run.about["method"]
    films = [(kind, tasks[one["task"]], episode_film(source, one, seed)) for kind, one in kept.found.items()]
    values = {
        **history(notes, settings),
        **origin(folder, run.about, settings, command),
        **beside_the_paper(source.name, method, splits),
        "films": films,
    }
    return write_page(path, "policy.html", values)
