"""`rsg domains`: which worlds there are, and what is known of each."""

from collections.abc import Iterator
from typing import Annotated

import typer
from rich.markup import escape

from rsg.cli.command import Said, command
from rsg.cli.output import folded
from rsg.core.errors import RsgError
from rsg.core.words import quantity
from rsg.domain import Domain, find, installed


@command
def domains(
    name: Annotated[str | None, typer.Argument(metavar="WORLD", help="One of them: its terms, tasks, places.")] = None,
) -> Said:
    """List the worlds that are installed, and which parts each has; or tell the terms, tasks and places of one.

    A package tells of its worlds by entry points of the group rsg.domains. A
    world need not be installed: every command takes path/to/file.py:name, too.
    """
    if name is None:
        return Said({name: _about(name) for name in installed()}, _show())
    domain = find(name)
    tasks = {split: domain.tasks(split) for split in domain.splits}
    more = {"terms": list(domain.vocabulary), "tasks": tasks, "places": dict(domain.places)}
    return Said({**_about(name), **more}, _show_one(domain, tasks))


def _about(name: str) -> dict[str, object]:
    """What is known of one; one that cannot be loaded says why."""
    package = installed()[name].dist if name in installed() else None
    told: dict[str, object] = {"package": package.name if package else None}
    try:
        domain = find(name)
        sizes = {split: len(tasks) for split, tasks in domain.splits.items()}
        return {**told, "title": domain.title, "parts": domain.parts(), "splits": sizes}
    except RsgError as error:
        return {**told, "error": str(error)}


def _show() -> Iterator[str]:
    for name, entry in installed().items():
        try:
            domain = find(name)
        except RsgError as error:
            yield f"[bold]{name}[/bold]  [red]{escape(str(error))}[/red]"
            continue
        yield f"[bold]{name}[/bold]  {domain.title}, by {entry.dist.name if entry.dist else None}"
        yield from _parts(domain)
        if domain.splits:
            yield f"    tasks  {', '.join(f'{split} {len(tasks)}' for split, tasks in domain.splits.items())}"
    yield "\n[bright_black]Terms, tasks and places of one: rsg domains NAME[/bright_black]"
    yield "[bright_black]One of your own: rsg world path/to/file.py:name[/bright_black]"


def _parts(domain: Domain) -> Iterator[str]:
    parts = domain.parts()
    yield f"    has    {', '.join(['world', *(part for part, there in parts.items() if there)])}"
    if lacks := [part for part, there in parts.items() if not there]:
        yield f"    lacks  {', '.join(lacks)}"


def _show_one(domain: Domain, tasks: dict[str, list[str]]) -> Iterator[str]:
    """The words that a world understands, in full."""
    yield f"[bold]{domain.name}[/bold]  {domain.title}"
    yield from _parts(domain)
    option = f" ({domain.place_option.names[0]})" if domain.place_option else ""
    places = [f"{name}: {about}" for name, about in domain.places.items()]
    for what, words in (
        (f"[bold]{quantity(len(domain.vocabulary), 'term')}[/bold]", [", ".join(domain.vocabulary)]),
        *((f"[bold]{split}[/bold], {quantity(len(some), 'task')}", some) for split, some in tasks.items()),
        (f"[bold]{quantity(len(places), 'place')}[/bold]{option}", places),
    ):
        yield "\n".join([f"\n{what}", *(folded(one, 4) for one in words)])
