"""`rsg reproduce`: measure again what the paper measured."""

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from reproductions import registry
from reproductions.harness.extras import lacking, require
from reproductions.harness.reproduce import Reproduction, outlook
from reproductions.harness.side_by_side import Ended
from rsg.cli.output import AsJson, console, emit
from rsg.core.errors import RsgError
from rsg.core.progress import progress
from rsg.core.workers import cores
from rsg.domain import domain_of

ALL = "all"


def command() -> Any:
    """The command, for `rsg` to call."""
    app = typer.Typer(
        add_completion=False, rich_markup_mode="rich", context_settings={"help_option_names": ["-h", "--help"]}
    )
    app.command()(reproduce)
    return typer.main.get_command(app)


def reproduce(
    name: Annotated[
        str | None,
        typer.Argument(metavar="NAME", help="The experiment, or all of them: 'all'; without a name, a list."),
    ] = None,
    seeds: Annotated[int | None, typer.Option(metavar="N", help="How many seeds; else each its own.")] = None,
    workers: Annotated[int, typer.Option(metavar="N", help="Jobs side by side; 0: one per core.")] = 0,
    quick: Annotated[bool, typer.Option("--quick", help="A small version, which only shows that all works.")] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="The results; docs/RESULTS.md, or with --quick out/reproduce-quick/RESULTS.md"
        ),
    ] = None,
    work: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Where finished jobs are kept; out/reproduce[-quick]")
    ] = None,
    report_only: Annotated[
        bool, typer.Option("--report-only", help="Run nothing: write the results of what is finished.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Run an experiment of the paper and write its section of the results, with figures and plots.

    Only what is missing is run; after Ctrl-C or a kill the same command goes on.
    For example: [bold]rsg reproduce table-1 --quick[/bold], or [bold]rsg reproduce all[/bold], which takes hours.
    """
    if name is None:
        _list(as_json)
        return
    if workers < 0:
        raise RsgError(f"workers must be 0 (one per core) or more, not {workers}")
    work = work or Path("out/reproduce-quick" if quick else "out/reproduce")
    out = out or (work / "RESULTS.md" if quick else Path("docs/RESULTS.md"))
    names = list(registry.REGISTRY) if name == ALL else [name]
    several = [Reproduction(one, one.size(seeds, quick), work) for one in map(registry.experiment, names)]
    if not report_only:
        print(outlook(several, workers or cores()), file=sys.stderr)
        for made in several:
            problem = lacking(*made.experiment.extras) if made.missing() else ""
            if problem and name == ALL:
                print(f"{made.experiment.name} will not run: {problem}", file=sys.stderr)
    told, failed = [], []
    for made in several:
        try:
            if not report_only:
                _run(made, workers or cores(), as_json, len(several) > 1)
            told.append(_written(made, out, as_json))
        except RsgError as error:
            if name != ALL:
                raise
            failed.append(f"{made.experiment.name}: {error}")
    if as_json:
        emit(told if name == ALL else told[0])
    if failed:
        raise RsgError(f"{len(failed)} of {len(several)} experiments are not done; {'; '.join(failed)}")


def _written(made: Reproduction, out: Path, quiet: bool) -> dict[str, Any]:
    """Write a section; gives what is told of it as JSON."""
    summary, name, folder = made.write(out, list(registry.REGISTRY)), made.experiment.name, out.parent / "results"
    if not quiet:
        console().print(f"{name} written to {out}, figures and plots to {folder}", markup=False)
    figures = str(folder / f"{name}.json")
    return {"experiment": name, "out": str(out), "figures": figures, "jobs": len(made.kept()), "summary": summary}


def _list(as_json: bool) -> None:
    if as_json:
        emit(registry.REGISTRY)
        return
    width = max(map(len, registry.REGISTRY))
    for name, about in registry.REGISTRY.items():
        console().print(f"[bold]{name:{width}}[/bold]  {about}")
    console().print("\nTry a small version first: rsg reproduce instructions --quick", markup=False)


def _run(made: Reproduction, workers: int, quiet: bool, named: bool) -> None:
    """Do what is missing, and say how far it is."""
    if made.missing():
        require(*made.experiment.extras)
    if named:
        print(f"{made.experiment.name}: {outlook([made], workers)}", file=sys.stderr)
    try:
        episodes = sum(recipe.episodes(domain_of(recipe)) for recipe in made.recipes())
        with progress("demonstrating", episodes, "episodes", shown=not quiet) as advance:
            made.demonstrate(workers, advance)
        jobs = len(made.jobs)
        with progress(made.experiment.name, jobs, "jobs", not quiet, jobs - len(made.missing())) as bar:

            def tell(ended: Ended) -> None:
                job, how = ended.job, "failed" if ended.problem else "done"
                bar(1, f"{job.name} {how}")
                if not (quiet or sys.stderr.isatty()):
                    print(f"{job.experiment}/{job.name} {how}", file=sys.stderr)

            made.run(workers, tell)
    except KeyboardInterrupt:
        kept, total = len(made.kept()), len(made.jobs)
        typer.echo(f"\n{kept} of {total} jobs are finished in {made.work}; the same command goes on.", err=True)
        raise
