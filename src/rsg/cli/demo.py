"""`rsg demo`: the main job from beginning to end: demonstrations, training, planning, a report."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer
from rich.console import RenderableType
from rich.markup import escape

from rsg.baselines.jobs import begun_again, check_own
from rsg.cli.command import Said, command, option
from rsg.cli.options import new_folder
from rsg.cli.output import console, table
from rsg.core.compiled import compiling
from rsg.core.progress import is_hushed
from rsg.core.words import quantity
from rsg.demos import Recipe
from rsg.demos.making import fill_with_bar
from rsg.domain import Domain, Printed, find, usual
from rsg.evaluation.report import SOURCE, Reported, measured, open_run, write_report
from rsg.evaluation.report_results import Results, Sizes, duration, percent
from rsg.evaluation.run_words import tour
from rsg.training.showing import training_bar

PER_TASK = 1
TOLD = 5  # terms of which is said what they mean
MADE_BY = "rsg demo"


@command
def demo(
    name: Annotated[str | None, typer.Argument(metavar="WORLD", help="Another world than the usual one.")] = None,
    out: Path = new_folder(Path("out/demo"), "Where everything goes."),
    per_task: int = option(PER_TASK, "Demonstrations of each task.", min=1),
    quick: bool = option(False, "A small version, only to see that all of it works.", "--quick"),
) -> Said:
    """Make demonstrations, learn what their words mean, plan with that, and write a report page.

    Takes some ten seconds; the first time kernels are compiled, which takes longer.
    What it makes is in the folder: demonstrations, run, report.html.
    """
    domain, run, begun = find(name) if name else usual(), out / "run", time.perf_counter()
    check_own(run, MADE_BY)
    _say("[bold]rsg[/bold] learns what the words of a task mean from demonstrations, then plans with them.")
    _say("[bright_black](The first use compiles kernels: some twenty seconds more, once.)[/bright_black]\n")
    folder = out / ("demonstrations" if per_task == PER_TASK else f"demonstrations-{per_task}")
    domain.check_expert()
    store = fill_with_bar(domain, Recipe(domain.name, "train", per_task), folder)
    words = f"{len(store):,} of {len(store) // per_task} tasks, each with the words for it"
    at = _say_part("1. Demonstrations", words, begun)
    job = begun_again(domain, run, store, MADE_BY)
    with compiling() as kernels, training_bar(job.settings, lines=False) as track:
        if not job.fit(run, tracker=track, tensorboard=False).done:  # Ctrl-C ends training only
            raise KeyboardInterrupt
    opened = open_run(run, domain)
    words = f"what {quantity(len(opened.learned.terms), 'term')} mean, without seeing when one holds"
    at = _say_part("2. Learning", words, at)
    told = opened.learned.tell(opened.source.world(store[0].setting))
    more = ["; ".join([one.means, *one.open]) for one in told[:TOLD]]
    if kernels() > 2:
        more.append(f"{kernels():.0f} s of these went into compiling kernels; that happens once")
    for words in more:
        _say(f"{'':18} [bright_black]{words}[/bright_black]")
    sizes = Sizes(2, 2, 1) if quick else Sizes()
    results, _ = measured(opened, sizes)
    at = _say_part("3. Planning", f"{sizes.plans(opened.source):,} plans, each replayed and judged by the truth", at)
    words = f"{MADE_BY}{' --quick' if quick else ''} --per-task {per_task} --out {out}"
    report = write_report(out / "report.html", opened, results, words)
    _say_part("4. Report", f"{report.stat().st_size / 1e6:.1f} MB in one file", at)
    values = {
        "report": str(report),
        "run": str(run),
        "demonstrations": {"folder": str(store.folder), "episodes": len(store)},
        "training": {"steps": opened.notes["step"], "cpu_seconds": round(opened.notes["seconds"], 3)},
        "results": results,
        "paper": {**domain.published["rsg"]._asdict(), "source": SOURCE} if domain.published else None,
        "seconds": round(time.perf_counter() - begun, 3),
    }
    return Said(values, _conclude(domain, opened, report, results))


def _say(text: str) -> None:
    if not is_hushed():
        console().print(text)


def _say_part(title: str, words: str, begun: float) -> float:
    """What a part of the job did and how long it took; gives the time at which the next one begins."""
    now = time.perf_counter()
    _say(f"[bold]{title:18}[/bold] {words:58} {now - begun:6.1f} s")
    return now


def _conclude(domain: Domain, opened: Reported, report: Path, results: Results) -> Iterator[RenderableType]:
    """The figures, beside the paper's if there are any, and what to try next."""
    paper, splits = domain.published.get("rsg"), list(results["rsg"])
    grid = table("success", *splits)
    rates = {name: [percent(results[name][split]["success"]) for split in splits] for name in results}
    grid.add_row("RSG, this run", *(f"[bold green]{rate}[/bold green]" for rate in rates["rsg"]))
    if paper:
        grid.add_row("RSG, paper", *(percent(getattr(paper, split)) for split in splits))
    grid.add_row("untrained model", *rates["untrained"])
    yield ""
    yield grid
    learning, planning = (f" (paper: {duration(one)})" if paper else "" for one in (paper or Printed())[2:])
    learning = f"learning {duration(opened.notes['seconds'])} of processor time{learning}"
    took = duration(results["rsg"][splits[-1]]["plan_ms_median"] / 1000)
    yield f"\n{learning}; a {splits[-1]} plan {took}, median{planning}"
    yield f"\n[bold]The report:[/bold] {report}  (one file; open it in a browser)"
    yield "\n[bold]Try next[/bold]"
    yield from (escape(f"  {words}") for words in tour(domain, opened.folder, splits[-1]))
