"""`rsg recognise`: which task a trajectory did, and where each step ended."""

from __future__ import annotations

import time
from collections.abc import Sequence
from math import isfinite
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rsg.cli.output import AsJson, console, emit
from rsg.cli.worlds import face_named
from rsg.core.errors import ParseError, RsgError
from rsg.core.words import quantity

if TYPE_CHECKING:
    from rsg.demos import Benchmark, Demonstration
    from rsg.language import Task
    from rsg.subgoals import Classifiers, Recognised, RsgSettings, Segmentation
    from rsg.worlds import World

WIDTH = 80  # columns of a terminal
BAR = 20  # of them for a probability of 1


def recognise(
    folder: Annotated[Path, typer.Argument(metavar="RUN", help="The folder of a run.")],
    demos: Annotated[Path, typer.Option("--demos", metavar="DIR", help="A store with the trajectory.")],
    episode: Annotated[int, typer.Option(help="The number of the episode, from 0.")] = 0,
    candidates: Annotated[
        str | None,
        typer.Option(
            metavar="FILE|SPLIT",
            help="One description per line (# begins a comment), or a split such as train; else they are proposed.",
        ),
    ] = None,
    first: Annotated[
        int | None, typer.Option(metavar="K", help="Look at the first K steps only: what are they doing now?")
    ] = None,
    top: Annotated[int, typer.Option(help="How many descriptions to show.")] = 5,
    png: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the timeline as a picture, with maps or the floor plan.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Say which task a trajectory did, and which step served which subgoal. Its own description is not looked at.

    Exit code 0 if a candidate explains the trajectory, 1 if none does. For example:
    [bold]rsg recognise out/run --demos train --episode 7 --candidates train --png steps.png[/bold]
    """
    if top < 1:
        raise RsgError(f"top must be at least 1, not {top}")
    if png is not None and png.suffix.lower() != ".png":
        raise RsgError(f"cannot write a picture to {png}: the name must end in .png")
    from rsg.evaluation.trained import check_usable, is_baseline
    from rsg.subgoals import Recogniser, segment

    if is_baseline(folder):
        if candidates is None or first is not None or png is not None:
            raise RsgError(
                f"{folder} is a run of a baseline, which ranks descriptions of whole trajectories and finds no "
                "subgoals in them; give --candidates, and leave out --first and --png"
            )
        _rank_only(folder, demos, episode, candidates, top, as_json)
        return
    subgoals, settings, trained_in = _opened(folder)
    source, demo = _episode(demos, episode, trained_in)
    _check_first(first, len(demo), episode)
    world, prefix = source.world(demo.setting), first is not None
    check_usable(folder, source.name, world)
    steps = len(demo) if first is None else first
    states, actions = demo.states[: steps + 1], demo.actions[:steps]
    begun = time.perf_counter()
    tasks = _tasks(candidates, source, subgoals, world, states, prefix)
    ranking = Recogniser(subgoals, tasks, settings).rank(world, states, actions, prefix)
    found = segment(subgoals, world, states, actions, ranking[0].task, prefix, settings)
    seconds = time.perf_counter() - begun
    if png and found.terms:
        face_named(source.name).draw_steps(png, world, states, actions, found, _note(demo, ranking))
    if as_json:
        asked = {"run": str(folder), "demos": str(demos), "episode": episode, "first": first}
        emit({**asked, **_values(demo, ranking, top), **_alignment(found, world, actions)})
    else:
        _show(demo, first, ranking, top)
        _show_alignment(found, world, actions)
        if seconds > 2:
            console().print(f"\n({seconds:.1f} s; the first use compiles kernels)", style="bright_black")
        if png and found.terms:
            console().print(f"\nwritten to {png}", markup=False)
    if not found.terms:
        raise typer.Exit(1)


def _rank_only(folder: Path, demos: Path, episode: int, candidates: str, top: int, as_json: bool) -> None:
    """What a baseline says of a trajectory: the ranking, without an alignment."""
    from rsg.baselines import load_baseline
    from rsg.evaluation.trained import check_usable
    from rsg.training import Run

    source, demo = _episode(demos, episode, Run(folder).about.get("source", {}).get("world"))
    world, baseline = source.world(demo.setting), load_baseline(folder)
    check_usable(folder, source.name, world)
    tasks = {str(task): task for task in _read(candidates, source, baseline.terms)}
    ranking = baseline.rank(world, demo, list(tasks.values()))
    if as_json:
        emit({"run": str(folder), "demos": str(demos), "episode": episode, **_values(demo, ranking, top)})
    else:
        _show(demo, None, ranking, top)
    if not isfinite(ranking[0].score):
        raise typer.Exit(1)


# What is asked.


def _opened(folder: Path) -> tuple[Classifiers, RsgSettings, str | None]:
    """What a run learned, how, and in which world if it says so."""
    from rsg.subgoals import load_subgoals
    from rsg.subgoals.runs import rebuilt
    from rsg.training import Run

    run = Run(folder)
    return load_subgoals(folder), rebuilt(run)[0], run.about.get("source", {}).get("world")


def _episode(folder: Path, episode: int, trained_in: str | None) -> tuple[Benchmark, Demonstration]:
    from rsg.demos import Store, benchmark

    store = Store(folder)
    name = store.manifest.world
    if trained_in not in (None, name):
        raise RsgError(f"{folder} holds trajectories of '{name}', the run was trained in '{trained_in}'")
    return benchmark(name), store[episode]


def _check_first(first: int | None, steps: int, episode: int) -> None:
    if first is not None and not 1 <= first <= steps:
        has = quantity(steps, "step")
        raise RsgError(f"episode {episode} has {has}, so --first takes 1 to {steps}, not {first}")


def _tasks(
    candidates: str | None, source: Benchmark, subgoals: Classifiers, world: World, states: Any, prefix: bool
) -> list[Task]:
    """The candidates, each once."""
    from rsg.subgoals import propose

    if candidates is not None:
        found = _read(candidates, source, subgoals.terms)
    else:
        found = propose(subgoals, world, states, prefix)
    return list({str(task): task for task in found}.values())


def _read(candidates: str, source: Benchmark, terms: Sequence[str]) -> list[Task]:
    """Descriptions from a file, or those of a split."""
    path = Path(candidates)
    if path.is_file():
        try:
            lines = path.read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            raise RsgError(f"cannot read {path}: {getattr(error, 'strerror', None) or 'it is not text'}") from None
        places = [(f"{path}, line {number}", line.partition("#")[0]) for number, line in enumerate(lines, start=1)]
        found = [_parsed(text.strip(), place, terms) for place, text in places if text.strip()]
        if not found:
            raise RsgError(f"{path} holds no descriptions; write one per line")
        return found
    if candidates not in source.splits:
        splits = ", ".join(source.splits)
        raise RsgError(f"there is no file {candidates}, and no split of that name; splits are: {splits}")
    return [_parsed(text, f"split {candidates}", terms) for text in source.tasks(candidates)]


def _parsed(text: str, place: str, terms: Sequence[str]) -> Task:
    """A description that can be used; else an error that names the place."""
    from rsg.language import Machine, parse

    try:
        return Machine.of(parse(text, terms)).task
    except ParseError as error:
        raise ParseError(f"{place}: {error.problem}", error.text, error.position, error.suggestion) from None
    except RsgError as error:
        raise RsgError(f"{place}: {error}") from None


# What is answered.


def _among(ranking: Sequence[Recognised]) -> str:
    return quantity(len(ranking), "candidate")


def _same(task: Task, text: str) -> bool:
    """Whether a description says this task; one that rsg cannot read says none."""
    from rsg.language import parse

    try:
        return str(parse(text)) == str(task)
    except RsgError:
        return False


def _note(demo: Demonstration, ranking: Sequence[Recognised]) -> str:
    """What a picture says below the task."""
    best = ranking[0]
    told = "it was described so" if _same(best.task, demo.task) else f"it was described as “{demo.task}”"
    return f"{best.probability:.0%} among {_among(ranking)}; {told}"


def _values(demo: Demonstration, ranking: Sequence[Recognised], top: int) -> dict[str, Any]:
    shown = [
        {"task": str(one.task), "score": one.score if isfinite(one.score) else None, "probability": one.probability}
        for one in ranking[:top]
    ]
    return {"described": demo.task, "steps": len(demo), "candidates": len(ranking), "ranking": shown}


def _alignment(found: Segmentation, world: World, actions: Any) -> dict[str, Any]:
    return {
        "task": str(found.task) if found.terms else None,
        "actions": [world.actions[action] for action in actions] if hasattr(world, "actions") else actions.tolist(),
        "terms": list(found.terms),
        "ends": [{"term": term, "step": step} for term, step in found.ends],
        "now": found.now,
    }


def _show(demo: Demonstration, first: int | None, ranking: Sequence[Recognised], top: int) -> None:
    """The description that came with the trajectory, then the candidates with their probabilities."""
    out = console()
    steps = quantity(len(demo), "step") if first is None else f"the first {first} of {quantity(len(demo), 'step')}"
    out.print("[bold]described as[/bold]  ", end="")
    out.print(f"\n{'':14}".join(_folded(demo.task, WIDTH - 14)), markup=False)
    out.print(f"{steps}, {_among(ranking)}\n")
    for one in ranking[:top]:
        if not isfinite(one.score):
            break
        bar = "█" * round(BAR * one.probability) or "▏"
        chance = f"{one.probability:.1%}" if one.probability >= 0.0005 else "<0.1%"
        lines = _folded(f"{one.task}{'  (as described)' if _same(one.task, demo.task) else ''}", WIDTH - BAR - 12)
        out.print(f"  {chance:>6}  [cyan]{bar:{BAR}}[/cyan]  " + f"\n{'':{BAR + 12}}".join(lines))
    if not isfinite(ranking[0].score):
        out.print("[yellow]no candidate explains this trajectory: each takes more steps than it has[/yellow]")


def _folded(text: str, width: int) -> list[str]:
    return wrap(text, width, break_on_hyphens=False) or [""]


def _show_alignment(found: Segmentation, world: World, actions: Any) -> None:
    """The timeline, and what its signs mean."""
    if not found.terms:
        return
    from rsg.evaluation.timeline import ENDED, signs, timeline_text

    marks, meanings = signs(world, actions)
    out = console()
    out.print()
    out.print(timeline_text(found, marks))
    for line in _folded(f"{ENDED} came true; {', '.join(meanings)}", WIDTH - 2):
        out.print(f"  {line}", style="bright_black", markup=False)
    if found.now:
        out.print(f"\n[bold]now[/bold]  {found.now}")
