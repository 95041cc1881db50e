"""`rsg recognise`: which task a trajectory did, and where each step ended."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import RenderableType
from rich.markup import escape

from rsg.baselines import baseline_of, load_baseline
from rsg.cli.command import Said, command, option
from rsg.cli.options import Home, RunFolder, picture
from rsg.cli.output import columns, folded
from rsg.core.errors import RsgError
from rsg.core.words import quantity
from rsg.demos import Demonstration, actions_of
from rsg.demos.demonstration import met
from rsg.demos.importing import open_store
from rsg.domain import action_values, find, remembered
from rsg.evaluation.candidates import candidates_named
from rsg.evaluation.timeline import ENDED, draw, says, signs, timeline_text
from rsg.subgoals import Recognised, Segmentation, load, propose
from rsg.training import Run
from rsg.training.origin import check_usable, home

BAR = 20  # columns for a probability of 1, at most a quarter of all


@command
def recognise(
    folder: RunFolder,
    demos: Path = option(..., "A store with the trajectory.", metavar="DIR"),
    episode: int = option(0, "The number of the episode, from 0."),
    first: int | None = option(None, "Look at the first K steps only: what are they doing now?", metavar="K"),
    world: Home = None,
    candidates: str | None = option(
        None, "One per line (# begins a comment), or a split such as train; else proposed.", metavar="FILE|SPLIT"
    ),
    top: int = option(5, "How many descriptions to show.", min=1),
    png: Path | None = picture(": the timeline, with maps or the floor plan"),
) -> Said:
    """Say which task a trajectory did, and which step served which subgoal. Its own description is not looked at.

    Exit code 0 if a candidate explains the trajectory, 1 if none does. For example:
    [bold]rsg recognise out/run --demos train --episode 7 --candidates train --png steps.png[/bold]
    """
    method, prefix = baseline_of(folder), first is not None
    if method and (candidates is None or prefix or png is not None):
        raise RsgError(
            f"{folder} is a run of a baseline, which ranks descriptions of whole trajectories and finds no subgoals "
            "in them; give --candidates, and leave out --first and --png"
        )
    run = Run(folder)
    judge: Any = load_baseline(folder) if method else load(folder)
    trained_in = run.about.get("source", {}).get("world")
    store = open_store(demos, trained_in or "own")
    if trained_in not in (None, held := store.manifest.world):
        raise RsgError(f"{demos} holds trajectories of '{held}', the run was trained in '{trained_in}'")
    alone = "recorded" in run.about.get("source", {})
    source = find(world) if world else home(run) if alone else remembered(store.manifest.world)
    demo = store[episode]
    if first is not None and not 1 <= first <= len(demo):
        has = quantity(len(demo), "step")
        raise RsgError(f"episode {episode} has {has}, so --first takes 1 to {len(demo)}, not {first}")
    shown = demo.first(first or len(demo))
    where = met(source.world(demo.setting), demo)
    check_usable(folder, source, where)
    if alone:  # where all that anybody does is to go on
        shown = replace(shown, actions=np.zeros(len(shown), dtype=np.int64))
    states, actions = shown.states, actions_of(shown)
    begun = time.perf_counter()
    if candidates is not None:
        tasks = candidates_named(candidates, source, judge.terms)
    else:
        tasks = propose(judge.classifiers, where, states, prefix)
    tasks = list({str(task): task for task in tasks}.values())
    values: dict[str, Any] = {"run": str(folder), "demos": str(demos), "episode": episode}
    if method:
        ranking = judge.rank(where, demo, tasks)
        values |= _values(demo, ranking, top)
        return Said(values, _show(demo, None, ranking, top), 0 if isfinite(ranking[0].score) else 1)
    ranking = judge.recognise(shown, tasks, prefix, where)
    found = judge.segment(shown, ranking[0].task, prefix, where)
    seconds = time.perf_counter() - begun
    if png and found.terms:
        draw(png, source, shown, found, ranking)
    values |= {
        "first": first,
        **_values(demo, ranking, top),
        "task": str(found.task) if found.terms else None,
        "actions": action_values(where, actions),
        "terms": list(found.terms),
        "ends": [{"term": term, "step": step} for term, step in found.ends],
        "now": found.now,
    }
    alignment = _show_alignment(found, *signs(where, actions)) if found.terms else ()
    slow = [f"\n[bright_black]({seconds:.1f} s; the first use compiles kernels)[/bright_black]"] if seconds > 2 else []
    show = chain(_show(demo, first, ranking, top), alignment, slow)
    return Said(values, show, 0 if found.terms else 1, [png if found.terms else None])


def _values(demo: Demonstration, ranking: Sequence[Recognised], top: int) -> dict[str, Any]:
    shown = [
        {"task": str(one.task), "score": one.score if isfinite(one.score) else None, "probability": one.probability}
        for one in ranking[:top]
    ]
    return {"described": demo.task, "steps": len(demo), "candidates": len(ranking), "ranking": shown}


def _show(demo: Demonstration, first: int | None, ranking: Sequence[Recognised], top: int) -> Iterator[str]:
    """The description that came with the trajectory, then the candidates with their probabilities."""
    steps = quantity(len(demo), "step") if first is None else f"the first {first} of {quantity(len(demo), 'step')}"
    yield f"[bold]described as[/bold]  {escape(folded(demo.task, 14, ''))}"
    yield f"{steps}, {quantity(len(ranking), 'candidate')}\n"
    room = min(BAR, columns() // 4)
    for one in ranking[:top]:
        if not isfinite(one.score):
            break
        bar = "█" * round(room * one.probability) or "▏"
        chance = f"{one.probability:.1%}" if one.probability >= 0.0005 else "<0.1%"
        told = f"{one.task}{'  (as described)' if says(one.task, demo.task) else ''}"
        yield f"  {chance:>6}  [cyan]{bar:{room}}[/cyan]  {folded(told, room + 12, '')}"
    if not isfinite(ranking[0].score):
        yield "[yellow]no candidate explains this trajectory: each takes more steps than it has[/yellow]"


def _show_alignment(found: Segmentation, marks: Sequence[str], meanings: Sequence[str]) -> Iterator[RenderableType]:
    """The timeline, and what its signs mean."""
    legend = f"{ENDED} came true; {', '.join(meanings)}"
    yield ""
    yield timeline_text(found, marks, columns())
    yield f"  [bright_black]{escape(folded(legend, 2, ''))}[/bright_black]"
    if found.now:
        yield f"\n[bold]now[/bold]  {found.now}"
