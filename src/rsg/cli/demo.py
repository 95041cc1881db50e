"""`rsg demo`: the main job from beginning to end: demonstrations, training, planning, a report."""

import os
import sys
import time
from functools import partial
from pathlib import Path
from shutil import rmtree, which

from rsg.cli.command import Said, command, option
from rsg.cli.demos import demonstrate
from rsg.cli.output import console, table
from rsg.cli.report import planned
from rsg.cli.train import training_bar
from rsg.core.compiled import compiling
from rsg.core.errors import RunError
from rsg.core.progress import is_hushed
from rsg.core.words import quantity
from rsg.demos import Recipe, Store, benchmark
from rsg.evaluation.paper import SOURCE, Printed
from rsg.evaluation.report import open_run, write_report
from rsg.evaluation.report_results import SPLITS, Results, Sizes, duration, percent
from rsg.subgoals import RsgSettings, learn, tell
from rsg.subgoals.runs import Beside
from rsg.training import Progress, Run
from rsg.training.checkpoint import FOLDER

WORLD, PER_TASK = "crafting", 1
TOLD = 5  # terms of which is said what they mean
MADE_BY = "rsg demo"
EXAMPLE = "grab-axe then mine-wood then craft-wood-plank then craft-boat"


@command
def demo(
    out: Path = option(Path("out/demo"), "Where everything goes.", metavar="DIR"),
    per_task: int = option(PER_TASK, "Demonstrations of each task.", min=1),
    quick: bool = option(False, "A small version, only to see that all of it works.", "--quick"),
) -> Said:
    """Make demonstrations, learn what their words mean, plan for both splits of the paper, and write a report page.

    Takes about a minute, most of it for plans. What it makes is in the folder: demonstrations, run, report.html.
    """
    run, begun = out / "run", time.perf_counter()
    _check_own(run)
    _say("[bold]rsg[/bold] learns what the words of a task mean from demonstrations, then plans with them.")
    _say("[bright_black](The first use compiles kernels: about a minute more, once.)[/bright_black]\n")
    folder = out / ("demonstrations" if per_task == PER_TASK else f"demonstrations-{per_task}")
    store = demonstrate(Recipe(WORLD, "train", per_task), folder)
    words = f"{len(store):,} of {len(store) // per_task} tasks, each with the words for it"
    _say_part("1. Demonstrations", words, begun)
    at = time.perf_counter()
    with compiling() as kernels:
        trained = _train(store, run, RsgSettings())
    opened = open_run(run)
    words = f"what {quantity(len(opened.learned.terms), 'term')} mean, without seeing when one holds"
    _say_part("2. Learning", words, at)
    for one in tell(opened.learned, opened.source.world(store[0].setting))[:TOLD]:
        _say(f"{'':18} [bright_black]{'; '.join([one.means, *one.open])}[/bright_black]")
    if kernels() > 2:
        words = f"{kernels():.0f} s of these went into compiling kernels; that happens once"
        _say(f"{'':18} [bright_black]{words}[/bright_black]")
    at, sizes = time.perf_counter(), Sizes(2, 2, 1) if quick else Sizes()
    results = planned(opened, sizes)
    _say_part("3. Planning", f"{sizes.plans(opened.source):,} plans, each replayed and judged by the truth", at)
    at, flags = time.perf_counter(), f"{' --quick' if quick else ''} --per-task {per_task} --out {out}"
    report = write_report(out / "report.html", opened, results, MADE_BY + flags)
    _say_part("4. Report", f"{report.stat().st_size / 1e6:.1f} MB in one file", at)
    seconds = time.perf_counter() - begun
    values = {
        "report": str(report),
        "run": str(run),
        "demonstrations": {"folder": str(store.folder), "episodes": len(store)},
        "training": {"steps": opened.notes["step"], "cpu_seconds": round(opened.notes["seconds"], 3)},
        "results": results,
        "paper": {**Printed.of(WORLD)._asdict(), "source": SOURCE},
        "seconds": round(seconds, 3),
    }
    return Said(values, partial(_conclude, report, run, trained, results, seconds))


def _say(text: str) -> None:
    if not is_hushed():
        console().print(text)


def _say_part(title: str, words: str, begun: float) -> None:
    """What a part of the job did and how long it took."""
    _say(f"[bold]{title:18}[/bold] {words:58} {time.perf_counter() - begun:6.1f} s")


def _check_own(run: Path) -> None:
    """The demo removes the run that it made before; one that it did not make stays."""
    if not (run / "run.json").exists():
        FOLDER.check_new(run)
    elif Run(run).about.get("source", {}).get("made_by") != MADE_BY:
        raise RunError(f"{run} holds a run that rsg demo did not make; choose another folder with --out")


def _train(store: Store, run: Path, settings: RsgSettings) -> Progress:
    """A new run in the place of the last one."""
    if (run / "run.json").exists():  # the last demo's, as was checked
        rmtree(run)
    source = benchmark(WORLD)
    about = {"world": WORLD, "demos": str(store.folder.resolve()), "made_by": MADE_BY}
    with training_bar(settings, lines=False) as watch:
        beside: Beside = {"watch": watch, "tensorboard": False, "source": about}
        learned = learn(store, lambda demo: source.world(demo.setting), run, settings, **beside)
    if not learned.progress.done:  # Ctrl-C ends training only
        raise KeyboardInterrupt
    return learned.progress


def _conclude(report: Path, run: Path, trained: Progress, results: Results, seconds: float) -> None:
    """The figures beside the paper's, and what to try next."""
    out, paper = console(), Printed.of(WORLD)
    grid = table("success", *SPLITS)
    rates = {name: [percent(results[name][split]["success"]) for split in SPLITS] for name in results}
    grid.add_row("RSG, this run", *(f"[bold green]{rate}[/bold green]" for rate in rates["rsg"]))
    grid.add_row("RSG, paper", percent(paper.compositional), percent(paper.novel))
    grid.add_row("untrained model", *rates["untrained"])
    out.print()
    out.print(grid)
    took = duration(results["rsg"]["novel"]["plan_ms_median"] / 1000)
    out.print(
        f"\nlearning {duration(trained.seconds)} of processor time (paper: {duration(paper.training)}); "
        f"a novel plan {took}, median (paper: {duration(paper.plan)}); {seconds:.0f} s in all"
    )
    out.print(f"\n[bold]The report:[/bold] {report}  (one file; open it in a browser)")
    out.print("\n[bold]Try next[/bold]")
    for words in (
        f"plan {WORLD} '{EXAMPLE}' --subgoals {run}",
        f"plan {WORLD} --goal craft-bed --subgoals {run}",
        f"readings {run}",
        f"deps {run}",
        f"eval {WORLD} --subgoals {run} --split novel --per-task 100",
        f"info {run}",
        "train --help",
        f"play {WORLD} --task 'grab-axe then mine-wood'",
    ):
        out.print(f"  {_called()} {words}", markup=False)


def _called() -> str:
    """How the user can call rsg again: by its name if the shell finds it, else as it was called."""
    called = sys.argv[0]
    if which("rsg") is not None or Path(called).name != "rsg":
        return "rsg"
    near = os.path.relpath(called)
    return called if near.startswith("..") else near
