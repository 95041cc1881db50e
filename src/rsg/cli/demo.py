"""`rsg demo`: the main job from beginning to end: demonstrations, training, planning, a report."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from shutil import rmtree, which
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rsg.cli.output import AsJson, console, emit
from rsg.core.cores import cores
from rsg.core.errors import RsgError, RunError
from rsg.core.progress import progress
from rsg.core.words import quantity

if TYPE_CHECKING:
    from rsg.demos import Store
    from rsg.evaluation.report import Reported, Results, Sizes
    from rsg.subgoals import RsgSettings
    from rsg.training import Progress

WORLD, PER_TASK, QUICK_PER_TASK = "crafting", 400, 20
MADE_BY = "rsg demo"
QUICK = ("steps=60", "rate=0.02", "curriculum=30", "check_every=15", "held_out=32")
EXAMPLE = "grab-axe then mine-wood then craft-wood-plank then craft-boat"


def demo(
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="Where everything goes.")] = Path("out/demo"),
    per_task: Annotated[int | None, typer.Option(help=f"Demonstrations of each task, usually {PER_TASK}.")] = None,
    quick: Annotated[bool, typer.Option("--quick", help="A small version, only to see that all of it works.")] = False,
    as_json: AsJson = False,
) -> None:
    """Make demonstrations, learn subgoals from them, plan for both splits of the paper, and write a report page.

    Takes about a minute. What it makes is in the folder: demonstrations, run, report.html.
    """
    if per_task is None:
        per_task = QUICK_PER_TASK if quick else PER_TASK
    if per_task < 1:
        raise RsgError(f"per-task must be at least 1, not {per_task}")
    run = out / "run"
    _check_own(run)
    begun = time.perf_counter()
    show = _Parts(shown=not as_json)
    show.say("[bold]rsg[/bold] learns what the words of a task mean from demonstrations, then plans with them.")
    show.say("[bright_black](The first use compiles kernels: about a minute more, once.)[/bright_black]\n")
    with show.part("1. Demonstrations"):
        store = _demonstrate(out, per_task, show)
    with _planning_compiled() as compiled:
        with show.part("Kernels", unless_shorter_than=8):
            _compile_learning(store)
            show.words = "ready: compiled at first use, then kept on disk"
        with show.part("2. Training"):
            trained, losses = _train(store, run, quick, show)
        with show.part("3. Planning"):
            compiled()
            opened, results = _plan(run, quick, show)
    with show.part("4. Report"):
        from rsg.evaluation.report import write_report

        flags = f"{' --quick' if quick else ''} --per-task {per_task} --out {out}"
        report = write_report(out / "report.html", opened, results, MADE_BY + flags, losses)
        show.words = f"{report.stat().st_size / 1e6:.1f} MB in one file"
    seconds = time.perf_counter() - begun
    if as_json:
        emit(_values(report, store, opened, results, seconds))
    else:
        _conclude(report, run, trained, results, seconds)


class _Parts:
    """Says what each part of the job did and how long it took."""

    def __init__(self, shown: bool) -> None:
        self.shown, self.words = shown, ""

    def say(self, text: str) -> None:
        if self.shown:
            console().print(text)

    @contextmanager
    def part(self, title: str, unless_shorter_than: float = 0) -> Iterator[None]:
        begun = time.perf_counter()
        yield
        took = time.perf_counter() - begun
        if took >= unless_shorter_than:
            self.say(f"[bold]{title:18}[/bold] {self.words:58} {took:6.1f} s")


def _check_own(run: Path) -> None:
    """The demo removes the run that it made before; one that it did not make stays."""
    from rsg.training.checkpoint import Run, check_new

    if not (run / "run.json").exists():
        check_new(run)
    elif Run(run).about.get("source", {}).get("made_by") != MADE_BY:
        raise RunError(f"{run} holds a run that rsg demo did not make; choose another folder with --out")


def _demonstrate(out: Path, per_task: int, show: _Parts) -> Store:
    """Demonstrations of all training tasks; those that are there already are used."""
    from rsg.demos import Recipe, make_demonstrations

    recipe = Recipe(WORLD, "train", per_task)
    folder = out / ("demonstrations" if per_task == PER_TASK else f"demonstrations-{per_task}")
    with progress("demonstrating", recipe.episodes(), "episodes", show.shown) as advance:
        store = make_demonstrations(recipe, folder, workers=cores(), advance=advance)
    show.words = f"{len(store):,} of {len(store) // per_task} tasks, each with the words for it"
    return store


@contextmanager
def _planning_compiled() -> Iterator[Callable[[], object]]:
    """Compile what planning needs on another core meanwhile; gives the function that waits for it."""
    words = [sys.executable, "-P", "-c", "from rsg.cli.demo import compile_planning; compile_planning()"]
    with subprocess.Popen(
        words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    ) as helper:
        try:
            yield helper.wait
        finally:
            helper.kill()


def compile_planning() -> None:
    """One plan: its kernels are then on disk."""
    from rsg.demos import benchmark
    from rsg.evaluation import evaluate_planning
    from rsg.subgoals import untrained

    source = benchmark(WORLD)
    evaluate_planning(source, "novel", untrained(source.vocabulary).goals, per_task=1)


def _compile_learning(store: Store) -> None:
    """One step of learning that is thrown away, so that the time of training is that of training."""
    from rsg.demos import benchmark
    from rsg.subgoals import RsgSettings, learn

    source = benchmark(WORLD)
    demos = [store[0], store[len(store) - 1]]
    learn(demos, lambda demo: source.world(demo.setting), settings=RsgSettings(steps=1, batch=2))


def _train(store: Store, run: Path, quick: bool, show: _Parts) -> tuple[Progress, list[float]]:
    """A new run in the place of the last one; gives the loss of every step too."""
    from rsg.demos import benchmark
    from rsg.subgoals import RsgSettings, learn
    from rsg.training import changed

    settings: RsgSettings = changed(RsgSettings(), QUICK if quick else ())
    if (run / "run.json").exists():  # the last demo's, as was checked
        rmtree(run)
    source = benchmark(WORLD)
    losses: list[float] = []
    with progress("training", settings.steps, "steps", show.shown) as advance:

        def watch(now: Progress, figures: Mapping[str, float]) -> None:
            best = f"held-out {now.best:.3f}" if now.best is not None else ""
            losses.append(figures["loss"])
            advance(1, f"loss {figures['loss']:.3f}  {best}")

        origin = {"world": WORLD, "demos": str(store.folder.resolve()), "made_by": MADE_BY}
        learned = learn(
            store, lambda demo: source.world(demo.setting), run, settings, watch=watch, tensorboard=False, source=origin
        )
    if not learned.progress.done:  # Ctrl-C ends training only
        raise KeyboardInterrupt
    terms = len(learned.subgoals.terms)
    show.words = f"{learned.progress.step} steps, {quantity(terms, 'subgoal')}, without seeing when one holds"
    return learned.progress, losses


def _plan(run: Path, quick: bool, show: _Parts) -> tuple[Reported, Results]:
    """Plans for both splits with what is on disk."""
    from rsg.evaluation.report import Sizes, measure, open_run

    sizes: Sizes = Sizes(2, 2, 1) if quick else Sizes()
    opened = open_run(run)
    total = sizes.plans(opened.source)
    with progress("planning", total, "plans", show.shown) as advance:
        results = measure(opened.source, opened.subgoals, sizes, advance=advance)
    show.words = f"{total:,} plans, each replayed and judged by the truth"
    return opened, results


def _values(report: Path, store: Store, opened: Reported, results: Results, seconds: float) -> dict[str, Any]:
    from rsg.evaluation.report import Paper

    return {
        "report": str(report),
        "run": str(opened.folder),
        "demonstrations": {"folder": str(store.folder), "episodes": len(store)},
        "training": {"steps": opened.notes["step"], "cpu_seconds": round(opened.notes["seconds"], 3)},
        "results": results,
        "paper": asdict(Paper()),
        "seconds": round(seconds, 3),
    }


def _conclude(report: Path, run: Path, trained: Progress, results: Results, seconds: float) -> None:
    from rich.table import Table

    from rsg.evaluation.report import SPLITS, Paper, duration, percent

    out, paper = console(), Paper()
    grid = Table(box=None, header_style="bold", padding=(0, 3, 0, 0))
    for title in ("success", *SPLITS):
        grid.add_column(title, justify="left" if title == "success" else "right")
    rates = {name: [percent(results[name][split]["success"]) for split in SPLITS] for name in results}
    grid.add_row("RSG, this run", *(f"[bold green]{rate}[/bold green]" for rate in rates["rsg"]))
    grid.add_row("RSG, paper", percent(paper.compositional), percent(paper.novel))
    grid.add_row("untrained model", *rates["untrained"])
    out.print()
    out.print(grid)
    took = duration(results["rsg"]["novel"]["plan_ms_median"] / 1000)
    out.print(
        f"\ntraining {duration(trained.seconds)} of processor time (paper: {duration(paper.training)}); "
        f"a novel plan {took}, median (paper: {duration(paper.plan)}); {seconds:.0f} s in all"
    )
    out.print(f"\n[bold]The report:[/bold] {report}  (one file; open it in a browser)")
    out.print("\n[bold]Try next[/bold]")
    rsg = _command()
    for words in (
        f"plan {WORLD} '{EXAMPLE}' --subgoals {run}",
        f"plan {WORLD} --goal craft-bed --subgoals {run}",
        f"deps {run}",
        f"eval {WORLD} --subgoals {run} --split novel --per-task 100",
        f"info {run}",
        "train --help",
        f"play {WORLD} --task 'grab-axe then mine-wood'",
    ):
        out.print(f"  {rsg} {words}", markup=False)


def _command() -> str:
    """How the user can call rsg again: by its name if the shell finds it, else as it was called."""
    called = sys.argv[0]
    if which("rsg") is not None or Path(called).name != "rsg":
        return "rsg"
    near = os.path.relpath(called)
    return called if near.startswith("..") else near
