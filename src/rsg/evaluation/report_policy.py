"""The report of a baseline's run: what it does, as one HTML file like that of RSG."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from rsg.baselines import Policy, settings_of_run
from rsg.core.progress import Advance
from rsg.core.random import stream
from rsg.demos import Benchmark
from rsg.evaluation.paper import LABELS, PAPER, PAPER_TIMES
from rsg.evaluation.planning import Starts
from rsg.evaluation.policies import Examples, draw_episode, evaluate_policy
from rsg.evaluation.report import WORLDS, history, origin, write_page
from rsg.evaluation.report_results import SPLITS, duration, percent
from rsg.evaluation.trained import policy_for, source_of
from rsg.training import Run

NONE = "–"


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
    run = Run(folder)
    settings, notes, method = settings_of_run(run), run.load("last").notes, run.about["method"]
    values = {
        **history(notes, settings),
        **origin(folder, run.about, settings, command),
        "label": LABELS[method],
        "place": WORLDS[source.name],
        "tiles": _tiles(method, source.name, found.splits, notes["seconds"]),
        "splits": found.splits,
        "films": _films(source, found),
    }
    return write_page(path, "policy.html", values)


def _tiles(method: str, world: str, found: dict[str, dict[str, Any]], seconds: float) -> list[tuple[str, str, str]]:
    """Figures for the head of the page, beside the paper's."""
    paper = PAPER[world].get(method)
    epochs, minutes, episode = PAPER_TIMES[world].get(method, (0, 0.0, None))
    figures = [percent(rate / 100) for rate in paper] if paper else [NONE, NONE]
    took = found["novel"]["plan_ms_mean"] / 1000
    return [
        (percent(found["compositional"]["success"]), "compositional tasks", figures[0]),
        (percent(found["novel"]["success"]), "novel tasks", figures[1]),
        (duration(seconds), "training", duration(60 * epochs * minutes) if epochs else NONE),
        (duration(took), "an episode of a novel task", duration(episode) if episode else NONE),
    ]


def _films(source: Benchmark, found: Measured) -> list[tuple[str, str, bytes]]:
    """A good and a failed episode: the kind, the task, and the animation."""
    films, tasks = [], source.tasks("compositional")
    with TemporaryDirectory() as folder:
        for kind, one in found.examples.items():
            film = Path(folder) / f"{kind}.gif"
            draw_episode(film, source, one, found.seed)
            films.append((kind, tasks[one["task"]], film.read_bytes()))
    return films
