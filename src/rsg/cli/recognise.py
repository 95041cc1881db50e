"""`rsg recognise`: which task a trajectory did, and where each step ended."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from math import isfinite
from pathlib import Path
from textwrap import wrap
from typing import Any

from rsg.baselines import load_baseline
from rsg.cli.command import Said, command, option
from rsg.cli.options import RunFolder, picture
from rsg.cli.output import console
from rsg.cli.worlds import action_values
from rsg.core.errors import ParseError, RsgError
from rsg.core.words import quantity
from rsg.demos import Benchmark, Demonstration, Store, benchmark
from rsg.evaluation.playroom_pictures import draw_segmentation
from rsg.evaluation.timeline import ENDED, draw_timeline, signs, timeline_text
from rsg.evaluation.trained import baseline_of, check_usable
from rsg.language import Machine, Task, parse
from rsg.search import is_continuous
from rsg.subgoals import Recognised, Recogniser, Segmentation, load_subgoals, propose
from rsg.subgoals.runs import rebuilt
from rsg.training import Run
from rsg.worlds import World

WIDTH = 80  # columns of a terminal
BAR = 20  # of them for a probability of 1


@dataclass(frozen=True)
class Shown:
    """The trajectory."""

    demos: Path = option(..., "A store with the trajectory.", metavar="DIR")
    episode: int = option(0, "The number of the episode, from 0.")
    first: int | None = option(None, "Look at the first K steps only: what are they doing now?", metavar="K")

    def read(self, trained_in: str | None) -> tuple[Benchmark, Demonstration]:
        """The episode and its benchmark, which must be that of the run."""
        store = Store(self.demos)
        name = store.manifest.world
        if trained_in not in (None, name):
            raise RsgError(f"{self.demos} holds trajectories of '{name}', the run was trained in '{trained_in}'")
        source, demo = benchmark(name), store[self.episode]
        if self.first is not None and not 1 <= self.first <= len(demo):
            has = quantity(len(demo), "step")
            raise RsgError(f"episode {self.episode} has {has}, so --first takes 1 to {len(demo)}, not {self.first}")
        return source, demo


@command
def recognise(
    folder: RunFolder,
    shown: Shown,
    candidates: str | None = option(
        None,
        "One description per line (# begins a comment), or a split such as train; else they are proposed.",
        metavar="FILE|SPLIT",
    ),
    top: int = option(5, "How many descriptions to show.", min=1),
    png: Path | None = picture("Write the timeline as a picture, with maps or the floor plan."),
) -> Said:
    """Say which task a trajectory did, and which step served which subgoal. Its own description is not looked at.

    Exit code 0 if a candidate explains the trajectory, 1 if none does. For example:
    [bold]rsg recognise out/run --demos train --episode 7 --candidates train --png steps.png[/bold]
    """
    method, prefix = baseline_of(folder), shown.first is not None
    if method and (candidates is None or prefix or png is not None):
        raise RsgError(
            f"{folder} is a run of a baseline, which ranks descriptions of whole trajectories and finds no subgoals "
            "in them; give --candidates, and leave out --first and --png"
        )
    run = Run(folder)
    judge: Any = load_baseline(folder) if method else load_subgoals(folder)
    source, demo = shown.read(run.about.get("source", {}).get("world"))
    world = source.world(demo.setting)
    check_usable(folder, source.name, world)
    states, actions = demo.states[: (shown.first or len(demo)) + 1], demo.actions[: shown.first]
    begun = time.perf_counter()
    tasks = _read(candidates, source, judge.terms) if candidates is not None else propose(judge, world, states, prefix)
    tasks = list({str(task): task for task in tasks}.values())
    values: dict[str, Any] = {"run": str(folder), "demos": str(shown.demos), "episode": shown.episode}
    if method:
        ranking = judge.rank(world, demo, tasks)
        values |= _values(demo, ranking, top)
        return Said(values, partial(_show, demo, None, ranking, top), 0 if isfinite(ranking[0].score) else 1)
    recogniser = Recogniser(judge, tasks, rebuilt(run)[0])
    ranking = recogniser.rank(world, states, actions, prefix)
    found = recogniser.segment(world, states, actions, ranking[0].task, prefix)
    seconds = time.perf_counter() - begun
    if png and found.terms:
        draw = draw_segmentation if is_continuous(world) else draw_timeline
        draw(png, world, states, actions, found, _note(demo, ranking))

    def show() -> None:
        _show(demo, shown.first, ranking, top)
        if found.terms:
            _show_alignment(found, world, actions)
        if seconds > 2:
            console().print(f"\n({seconds:.1f} s; the first use compiles kernels)", style="bright_black")

    values |= {"first": shown.first, **_values(demo, ranking, top), **_alignment(found, world, actions)}
    return Said(values, show, 0 if found.terms else 1, [png if found.terms else None])


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
    try:
        return Machine.of(parse(text, terms)).task
    except ParseError as error:
        raise ParseError(f"{place}: {error.problem}", error.text, error.position, error.suggestion) from None
    except RsgError as error:
        raise RsgError(f"{place}: {error}") from None


def _among(ranking: Sequence[Recognised]) -> str:
    return quantity(len(ranking), "candidate")


def _same(task: Task, text: str) -> bool:
    """Whether a description says this task; one that rsg cannot read says none."""
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
        "actions": action_values(world, actions),
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
    marks, meanings = signs(world, actions)
    out = console()
    out.print()
    out.print(timeline_text(found, marks))
    for line in _folded(f"{ENDED} came true; {', '.join(meanings)}", WIDTH - 2):
        out.print(f"  {line}", style="bright_black", markup=False)
    if found.now:
        out.print(f"\n[bold]now[/bold]  {found.now}")
