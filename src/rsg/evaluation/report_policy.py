"""The report of a baseline's run: what it does, as one HTML file like that of RSG."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from rsg.baselines import Policy, settings_of_run
from rsg.core.progress import Advance
from rsg.core.random import stream
from rsg.demos import Benchmark
from rsg.evaluation.baselines import Examples
from rsg.evaluation.baselines_section import LABELS, PAPER, PAPER_TIMES, draw_episode
from rsg.evaluation.policies import evaluate_policy
from rsg.evaluation.report import (
    WORLDS,
    details,
    figure,
    gif,
    html_table,
    interval,
    page_section,
    task_tables,
    tile,
    training,
    write_page,
)
from rsg.evaluation.report_results import SPLITS, duration, percent
from rsg.evaluation.tables import NONE
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
        splits[split] = evaluate_policy(source, split, policy, per_task, seed, advance=advance, see=see)
    return Measured(splits, kept.found, seed)


def write_policy_report(path: Path, folder: Path, source: Benchmark, found: Measured, command: str = "") -> Path:
    """Write the report of a baseline's run."""
    run = Run(folder)
    settings, notes = settings_of_run(run), run.load("last").notes
    sections = [
        _headline(folder, run.about["method"], source.name, found.splits, notes["seconds"]),
        training(notes, settings),
        _films(source, found),
        details(folder, run.about, settings, command),
    ]
    return write_page(path, sections)


def _headline(folder: Path, method: str, world: str, found: dict[str, dict[str, Any]], seconds: float) -> str:
    paper = PAPER[world].get(method)
    epochs, minutes, episode = PAPER_TIMES[world].get(method, (0, 0.0, None))
    figures = [percent(rate / 100) for rate in paper] if paper else [NONE, NONE]
    took = found["novel"]["plan_ms_mean"] / 1000
    tiles = [
        tile(percent(found["compositional"]["success"]), "compositional tasks", figures[0]),
        tile(percent(found["novel"]["success"]), "novel tasks", figures[1]),
        tile(duration(seconds), "training", duration(60 * epochs * minutes) if epochs else NONE),
        tile(duration(took), "an episode of a novel task", duration(episode) if episode else NONE),
    ]
    rows = [
        [
            split,
            f"<b>{percent(one['success'])}</b> {interval(one)}",
            percent(one["success_lenient"]),
            f"{one['episodes']:,}",
            f"{one['expansions_mean']:.1f}",
        ]
        for split, one in found.items()
    ]
    text = (
        f"<h1>{LABELS[method]} in {WORLDS[world]}</h1>"
        f"<p class='lead'>What the run <code>{escape(folder.name)}</code>, a baseline, learned from demonstrations and "
        "their descriptions, and how often it does what was asked.</p>"
        f"<div class='tiles'>{''.join(tiles)}</div>"
        f"{html_table(['', 'strict', 'lenient', 'episodes', 'steps, mean'], rows, 'figures')}"
        "<p class='note'>An episode ends when the task is done, when the policy stops, or after 100 steps, and is "
        "judged by the true meaning of the terms. Strict: each subgoal is false where its part begins and true where "
        "it ends. Lenient: each is true somewhere, in order. In brackets the 95 % interval.</p>"
    )
    return page_section("", text + task_tables(found, "steps"))


def _films(source: Benchmark, found: Measured) -> str:
    """A good and a failed episode."""
    films, tasks = [], source.tasks("compositional")
    with TemporaryDirectory() as folder:
        for kind, one in found.examples.items():
            film = Path(folder) / f"{kind}.gif"
            draw_episode(film, source, one, found.seed)
            caption = f"{kind}: <code>{escape(tasks[one['task']])}</code>"
            films.append(figure(gif(film.read_bytes(), f"a {kind} episode"), caption))
    text = "<p>The first good and the first failed episode of several subgoals; a long one is cut.</p>"
    return page_section("What it does", f"{text}<div class='row plan'>{''.join(films)}</div>")
