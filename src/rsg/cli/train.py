"""`rsg train`: learn subgoals, or train a baseline."""

import sys
import time
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from rsg.baselines.jobs import USUAL, Asked, begun, resumed, without_model
from rsg.cli.command import Place, Said, command, option
from rsg.cli.options import new_folder, settings_file
from rsg.core.errors import RsgError
from rsg.core.settings import meanings
from rsg.domain import Domain, find
from rsg.evaluation.policies import success_now
from rsg.evaluation.run_words import how_read, next_commands
from rsg.training import Run
from rsg.training.origin import home
from rsg.training.showing import named_tracker, training_bar

INTERRUPTED = 130


@dataclass(frozen=True)
class How(Asked):
    """What is trained, on what, and how."""

    demos: Path | None = option(None, "A store of demonstrations; without it one is made first.", metavar="DIR")
    per_task: int | None = option(None, f"Demonstrations of each task; {USUAL} are made unless you say otherwise.")
    method: str | None = option(
        None,
        "rsg (subgoals to plan with; the default) or what it is compared with: bc (actions are cloned), bc-fsm (cloned "
        "for each subgoal), irl (a reward is learned), gail (episodes that pass for demonstrations) or lstm "
        "(recognises tasks, does not act).",
    )
    seed: int | None = option(None, "Where chance comes from.")
    encoder: str | None = option(
        None,
        "auto (the default where a state has facts: each term is read as a formula over facts, and has a network if no "
        "formula explains it), facts (formulas alone), or a network: seen (whatever is shown), pictures, or one that "
        "the world offers: sets (objects as sets, the paper's), image (pixels), relative (things seen by a robot).",
    )
    begin: Path | None = option(None, "Begin with what another run learned.", "--from", metavar="RUN")
    file: Path | None = settings_file("train")
    changes: list[str] | None = option(None, "Change a setting; --set help lists them.", "--set", metavar="KEY=VALUE")


def _where(name: str | None, place: str | None, how: How, out: Path | None, resume: bool) -> tuple[Domain, How]:
    """The domain that was named; else one that is made of recordings, with the store that has them."""
    if name is not None:
        return find(name, place), how
    if how.changes == ["help"]:
        return Domain(), how
    if out is not None and resume:
        return home(Run(out)), how
    if how.demos is None or out is None:
        raise RsgError("name a world (see rsg domains), or give recordings to make one of: --demos DIR --out RUN")
    domain, store = without_model(how.demos, out)
    return domain, replace(how, demos=store)


@command
def train(
    place: Place,
    how: How,
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="[WORLD]", help="A name (see rsg domains), or path/to/file.py:name; none: it is made of --demos."
        ),
    ] = None,
    out: Path | None = new_folder(None, "The folder of the run.", "RUN"),
    resume: bool = option(False, "Go on with a run that was interrupted.", "--resume"),
    tracker: str | None = option(
        None, "A function of a file, which gets the figures as they come, beside TensorBoard.", metavar="FILE.py:NAME"
    ),
    watch: int = option(0, "Plans per task at each look, only to report true success; 0: none.", min=0),
) -> Said:
    """Learn what the terms of the descriptions mean, from demonstrations; or train a baseline on them.

    Training stops when the score of held-out demonstrations no longer rises; it never sees the truth. Ctrl-C saves.
    Without a WORLD it is made of the recordings that you give: no model is needed, and no actions. For example:
    [bold]rsg train {world} --out out/run --per-task 5[/bold]
    [bold]rsg train {world} --out out/bc --method bc[/bold]
    [bold]rsg train --demos recordings --out out/seen[/bold]
    [bold]rsg train {world} --set help[/bold]
    """
    mine = named_tracker(tracker) if tracker else None
    domain, how = _where(name, place, how, out, resume)
    if how.changes == ["help"]:
        settings = replace(how, changes=None).settings(domain)
        listed = [f"{key:16} {value!s:12} {meaning}" for key, value, meaning in meanings(settings)]
        return Said(vars(settings), "\n".join(listed))
    if out is None:
        raise RsgError("say where the run goes: --out RUN")
    if place is not None and how.demos is not None:
        raise RsgError(f"demonstrations know their place; leave out --demos, or{domain.place_words}")
    if watch and not (domain.has("truth") and domain.reported):
        raise domain.lacks("tasks" if domain.has("truth") else "truth", "leave out --watch")
    if resume and (replace(how, demos=None, changes=how.changes or None) != How() or place):
        raise RsgError("a run goes on with what it was begun with: with --resume give only --out and --demos")
    job = resumed(domain, out, how.demos) if resume else begun(domain, out, how, how.demos, how.per_task)
    started = time.perf_counter()
    with training_bar(job.settings, tracker=mine) as track:
        done = job.fit(out, tracker=track, reports=[partial(success_now, job.domain, watch)] if watch else [])
    seconds = time.perf_counter() - started
    values = {
        "run": str(out),
        "step": done.step,
        "best_step": done.best_step,
        "held_out": done.best,
        "cpu_seconds": round(done.seconds, 3),
        "seconds": round(seconds, 3),
        "ended": done.done or "interrupted",
    }
    if not done.done:
        again = f"rsg train {name or ''} --out {out} --resume".replace("  ", " ")
        print(f"interrupted at step {done.step}; all is saved. To go on: {again}", file=sys.stderr)
        return Said(values, (), INTERRUPTED)
    best = f"; best held-out score {done.best:.4f} at step {done.best_step}" if done.best is not None else ""
    took = f"{done.seconds:.1f} s of processor time, {seconds:.1f} s in all"
    fitted = f"{how_read(out)}{done.step} steps, {done.done}{best}; {took}"
    return Said(
        values, "\n  ".join([f"{fitted}\nsaved in {out}. Try next:", *next_commands(job, out, name or domain.name)])
    )
