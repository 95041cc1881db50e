"""`rsg deps`: which subgoals help which, as the demonstrations show it."""

import sys
from functools import partial
from pathlib import Path
from typing import Any

from rsg.cli.command import Said, command, option
from rsg.cli.options import RunFolder, picture
from rsg.cli.output import console
from rsg.core.errors import RsgError, RunError
from rsg.core.progress import is_hushed, progress
from rsg.core.words import quantity
from rsg.demos import Store
from rsg.evaluation.dependency_pictures import draw_dependencies
from rsg.planning import Dependencies
from rsg.subgoals import kept_dependencies, load_dependencies
from rsg.subgoals.dependencies import training_demonstrations
from rsg.training import Run

TOP = 15  # links that a person is told
MANY = 5  # prerequisites of one subgoal that a person is told


@command
def deps(
    folder: RunFolder,
    demos: Path | None = option(
        None,
        "Look in these demonstrations instead of those that the run was trained on. What is found is kept in the run's "
        "folder and used by rsg plan --goal.",
        metavar="DIR",
    ),
    top: int | None = option(None, f"So many of the strongest links; {TOP}, and all with --json.", metavar="N", min=0),
    png: Path | None = picture("Write both matrices as a heat map."),
) -> Said:
    """Say which subgoals help which, as the demonstrations of a run show it.

    A [bold]prerequisite[/bold] of a subgoal nearly always held just before it came true;
    these lead [bold]rsg plan --goal[/bold]. A [bold]link[/bold] is an entry of the paper's matrix d
    (eq. 6): how often one subgoal was achieved before another. Both are read
    off the demonstrations, as the run's own classifiers see them, and kept in
    its folder for the next time.

    For example:
    [bold]rsg deps out/run --png deps.png[/bold]
    [bold]rsg plan crafting --goal craft-boat --subgoals out/run[/bold]
    """
    found = dependencies_of(folder, demos)
    shown = quantity(found.demonstrations, "demonstration")
    if png:
        draw_dependencies(png, found, f"What comes before what: {folder.resolve().name}, {shown}")
    matrices = {"matrix": found.matrix.tolist(), "conditional": found.conditional.tolist()}
    values = {"run": str(folder), **found.plain(), **matrices, "links": found.links()[:top]}
    title = f"{folder}, {quantity(len(found.terms), 'subgoal')}, {shown}"
    return Said(values, partial(_show, found, title, TOP if top is None else top), written=[png])


def dependencies_of(folder: Path, demos: Path | None = None) -> Dependencies:
    """The dependencies of a run; if they must be discovered first, that is said and shown."""
    run = Run(folder)
    if demos is None and (kept := kept_dependencies(folder)) is not None:
        return kept
    if demos is None:
        try:
            shown = training_demonstrations(run)
        except RunError as error:
            raise RunError(f"{error}: rsg deps {folder} --demos DIR") from None
    else:
        shown = store = Store(demos)
        world = run.about.get("source", {}).get("world", store.manifest.world)
        if store.manifest.world != world:
            raise RsgError(f"{demos} holds demonstrations of '{store.manifest.world}', not of '{world}'")
    if not is_hushed():
        told = f"discovering what needs what in {quantity(len(shown), 'demonstration')}; it is kept in {folder}"
        print(told, file=sys.stderr)
    with progress("discovering", len(shown), "demonstrations") as advance:
        return load_dependencies(folder, shown, advance=advance)


def _show(found: Dependencies, title: str, top: int) -> None:
    """Prerequisites, then links, as sentences."""
    out = console()
    out.print(title, style="bold", markup=False)
    out.print()
    out.print("[bold]Prerequisites[/bold]: what nearly always held just before a subgoal came true")
    needing = [number for number, alternatives in enumerate(found.prerequisites) if alternatives != ((),)]
    for number in needing:
        out.print(f"  {_sentence(found, number)}")
    free = [number for number in range(len(found.terms)) if number not in needing]
    for told, seen in (("need nothing that has a name", True), ("never came true in a demonstration", False)):
        some = [found.terms[number] for number in free if (found.achieved[number] > 0) == seen]
        if some:
            out.print(f"  {told}: {', '.join(some)}")
    every = found.links()
    some_links = every[:top]
    out.print("\n[bold]Links[/bold] of the paper's matrix d: what was achieved before what, the strongest first")
    for link in some_links:
        out.print(f"  {_link(link)}")
    if len(every) > len(some_links):
        out.print(f"  ({len(every) - len(some_links):,} more: --top {len(every)})", style="bright_black")
    if not every:
        out.print("  none: no two subgoals were achieved one after the other in a demonstration that mentions both")


def _link(link: dict[str, Any]) -> str:
    pair = f"[green]{link['first']}[/green] came before [bold]{link['then']}[/bold]"
    both = f"{link['together']:,} demonstrations that show both"
    times = f"all {both}" if link["before"] == link["together"] else f"{link['before']:,} of the {both}"
    return f"{pair} in {times}; d = {link['d']:.2f}"


def _sentence(found: Dependencies, number: int) -> str:
    """How often a subgoal came true, and how often while its prerequisites held."""
    times, held = int(found.achieved[number]), found.held[number]
    alternatives = found.prerequisites[number]
    text = f"[bold]{found.terms[number]}[/bold] came true {quantity(times, 'time')}, "
    if len(alternatives) > 1:
        ways = [_several([f"{_name(found, need)} ({held[need]:,})" for need in one]) for one in alternatives]
        covered = int(found.covered[number])
        return f"{text}{'each time' if covered == times else f'{covered:,} of them'} while {' or '.join(ways)} held"
    always = [_name(found, need) for need in alternatives[0] if held[need] == times]
    rest = [need for need in sorted(alternatives[0], key=lambda need: -held[need]) if held[need] < times]
    mostly = [f"{held[n]:,}{' of them' if n == rest[0] else ''} while {_name(found, n)} held" for n in rest]
    first = [f"each time while {_several(always)} held"] if always else []
    return text + _several([*first, *mostly])


def _several(parts: list[str]) -> str:
    """A list in words; a long one is cut."""
    if len(parts) > MANY:
        parts = [*parts[: MANY - 1], f"{len(parts) - MANY + 1} more"]
    return " and ".join(filter(None, (", ".join(parts[:-1]), parts[-1])))


def _name(found: Dependencies, number: int) -> str:
    return f"[green]{found.terms[number]}[/green]"
