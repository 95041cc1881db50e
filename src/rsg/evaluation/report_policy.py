"""The report of a baseline's run: what it does, as one HTML file like that of RSG."""

from __future__ import annotations

from dataclasses import dataclass
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


@dataclass(frozen=True, eq=False)
class Measured:
    """How a policy did from some starts.

    Attributes:
        splits: what `evaluate_policy` gave for each split.
        examples: a good and a failed episode, if there were such.
        seed: of the starts.
    """

    splits: dict[str, dict[str, Any]]
    examples: dict[str, Any]
    seed: int


def opened(folder: Path) -> tuple[Benchmark, Policy]:
    """The benchmark of a baseline's run, and its policy; an error if it does not act."""
    source = source_of(Run(folder))
    world, _ = source.start("novel", 0, stream(0, "world"))
    return source, policy_for(folder, source.name, world)


def measure_policy(
    source: Benchmark, policy: Policy, per_task: int, seed: int, advance: Advance | None = None
) -> Measured:
    """Let a policy act from some starts of each task of both splits."""
    kept, splits = Examples(source), {}
    for split in SPLITS:
        see = kept.see if split == "compositional" else None
        splits[split] = evaluate_policy(source, Starts(split, per_task, seed), policy, advance=advance, see=see)
    return Measured(splits, kept.found, seed)


def write_policy_report(path: Path, folder: Path, source: Benchmark, found: Measured, command: str = "") -> Path:
    """Write the report of a baseline's run."""
    run, tasks = Run(folder), source.tasks("compositional")
    settings, notes, method = settings_of_run(run), run.load("last").notes, run.about["method"]
    films = [(kind, tasks[one["task"]], episode_film(source, one, found.seed)) for kind, one in found.examples.items()]
    values = {
        **history(notes, settings),
        **origin(folder, run.about, settings, command),
        **beside_the_paper(source.name, method, found.splits),
        "films": films,
    }
    return write_page(path, "policy.html", values)
