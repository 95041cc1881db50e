"""`rsg deps`: which subgoals help which, as the demonstrations show it."""

from pathlib import Path

from rich.markup import escape

from rsg.cli.command import Said, command, option
from rsg.cli.options import Home, RunFolder, picture
from rsg.core.words import quantity
from rsg.domain import find
from rsg.evaluation.dependency_pictures import draw_dependencies
from rsg.evaluation.dependency_words import sentences
from rsg.evaluation.named import dependencies_of

TOP = 15  # links that a person is told


@command
def deps(
    folder: RunFolder,
    demos: Path | None = option(None, "Look in these demonstrations, not in those of training.", metavar="DIR"),
    top: int | None = option(None, f"So many of the strongest links; {TOP}, and all with --json.", metavar="N", min=0),
    png: Path | None = picture(": both matrices as a heat map"),
    world: Home = None,
) -> Said:
    """Say which subgoals help which, as the demonstrations of a run show it.

    A [bold]prerequisite[/bold] of a subgoal nearly always held just before it came true;
    these lead [bold]rsg plan --goal[/bold]. A [bold]link[/bold] is an entry of the paper's matrix d
    (eq. 6): how often one subgoal was achieved before another. Both are read
    off the demonstrations, as the run's own classifiers see them, and kept in
    its folder for the next time.

    For example:
    [bold]rsg deps out/run --png deps.png[/bold]
    [bold]rsg plan {world} --goal {goal} --subgoals out/run[/bold]
    """
    found = dependencies_of(folder, demos, find(world) if world else None)
    shown = quantity(found.demonstrations, "demonstration")
    if png:
        draw_dependencies(png, found, f"What comes before what: {folder.resolve().name}, {shown}")
    matrices = {"matrix": found.matrix.tolist(), "conditional": found.conditional.tolist()}
    values = {"run": str(folder), **found.plain(), **matrices, "links": found.links()[:top]}
    title = f"[bold]{escape(str(folder))}, {quantity(len(found.terms), 'subgoal')}, {shown}[/bold]\n"
    return Said(values, [title, *sentences(found, TOP if top is None else top)], written=[png])
