"""`rsg deps`: which subgoals help which, as the demonstrations show it."""

import sys
from collections.abc import Iterator
from pathlib import Path

from rich.markup import escape

from rsg.cli.command import Said, command, option
from rsg.cli.options import Home, RunFolder, check_world, picture
from rsg.core.errors import RunError
from rsg.core.progress import is_hushed, progress
from rsg.core.words import quantity
from rsg.demos import Store
from rsg.domain import Domain, find
from rsg.evaluation.dependency_pictures import draw_dependencies
from rsg.planning import Dependencies
from rsg.subgoals import kept_dependencies, load
from rsg.subgoals.dependencies import training_demonstrations
from rsg.training import Run
from rsg.training.origin import home

TOP = 15  # links that a person is told
MANY = 5  # prerequisites of one subgoal that a person is told


@command
def deps(
    folder: RunFolder,
    demos: Path | None = option(None, "Look in these demonstrations, not in those of training.", metavar="DIR"),
    top: int | None = option(None, f"So many of the strongest links; {TOP}, and all with --json.", metavar="N", min=0),
    png: Path | None = picture("Write both matrices as a heat map."),
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
    title = f"{folder}, {quantity(len(found.terms), 'subgoal')}, {shown}"
    return Said(values, _show(found, title, TOP if top is None else top), written=[png])


def dependencies_of(folder: Path, demos: Path | None = None, domain: Domain | None = None) -> Dependencies:
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
        check_world(store, run.about.get("source", {}).get("world", store.manifest.world))
    if not is_hushed():
        told = f"discovering what needs what in {quantity(len(shown), 'demonstration')}; it is kept in {folder}"
        print(told, file=sys.stderr)
    with progress("discovering", len(shown), "demonstrations") as advance:
        return load(folder, home(run, domain)).discover(shown, advance)


def _show(found: Dependencies, title: str, top: int) -> Iterator[str]:
    """Prerequisites, then links, as sentences."""
    yield f"[bold]{escape(title)}[/bold]\n"
    yield "[bold]Prerequisites[/bold]: what nearly always held just before a subgoal came true"
    free: dict[bool, list[str]] = {True: [], False: []}  # by whether they ever came true
    for number, (term, alternatives) in enumerate(zip(found.terms, found.prerequisites, strict=True)):
        if alternatives == ((),):
            free[bool(found.achieved[number])].append(term)
        else:
            yield f"  {_sentence(found, number)}"
    for seen, told in ((True, "need nothing that has a name"), (False, "never came true in a demonstration")):
        if free[seen]:
            yield f"  {told}: {', '.join(free[seen])}"
    links = found.links()
    yield "\n[bold]Links[/bold] of the paper's matrix d: what was achieved before what, the strongest first"
    for link in links[:top]:
        both = f"{link['together']:,} demonstrations that show both"
        times = f"all {both}" if link["before"] == link["together"] else f"{link['before']:,} of the {both}"
        pair = f"[green]{link['first']}[/green] came before [bold]{link['then']}[/bold]"
        yield f"  {pair} in {times}; d = {link['d']:.2f}"
    if len(links) > top:
        yield f"  [bright_black]({len(links) - top:,} more: --top {len(links)})[/bright_black]"
    if not links:
        yield "  none: no two subgoals were achieved one after the other in a demonstration that mentions both"


def _sentence(found: Dependencies, number: int) -> str:
    """How often a subgoal came true, and how often while its prerequisites held."""
    times, held = int(found.achieved[number]), found.held[number]
    names = [f"[green]{term}[/green]" for term in found.terms]
    text = f"[bold]{found.terms[number]}[/bold] came true {quantity(times, 'time')}, "
    needs, *others = found.prerequisites[number]
    if others:
        ways = [_several([f"{names[need]} ({held[need]:,})" for need in one]) for one in (needs, *others)]
        covered = int(found.covered[number])
        return f"{text}{'each time' if covered == times else f'{covered:,} of them'} while {' or '.join(ways)} held"
    always = [names[need] for need in needs if held[need] == times]
    rest = [need for need in sorted(needs, key=lambda need: -held[need]) if held[need] < times]
    told = [f"each time while {_several(always)} held"] if always else []
    told += [f"{held[n]:,}{' of them' if n == rest[0] else ''} while {names[n]} held" for n in rest]
    return text + _several(told)


def _several(parts: list[str]) -> str:
    """A list in words; a long one is cut."""
    if len(parts) > MANY:
        parts = [*parts[: MANY - 1], f"{len(parts) - MANY + 1} more"]
    return " and ".join(filter(None, (", ".join(parts[:-1]), parts[-1])))
