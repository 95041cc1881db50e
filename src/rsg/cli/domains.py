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
    name: Annotated[
        str | None, typer.Argument(metavar="WORLD", help="One of them: its terms, tasks and places.")
    ] = None,
) -> Said:
    """List the worlds that are installed, and which parts each has; or tell the terms, tasks and places of one.

    A package tells of its worlds by entry points of the group rsg.domains. A
    world need not be installed: every command takes path/to/file.py:name, too.
    """
    if name is not None:
        domain = find(name)
        known = {
            **_about(domain),
            "terms": list(domain.vocabulary),
            "tasks": {split: domain.tasks(split) for split in domain.splits},
            "places": dict(domain.places),
        }
        return Said(known, _show_one(domain))
    found = {name: _about(name) for name in installed()}
    return Said(found, _show(found))


def _about(domain: str | Domain) -> dict[str, object]:
    """What is known of one; one that cannot be loaded says why."""
    entry = installed().get(domain if isinstance(domain, str) else domain.name)
    told: dict[str, object] = {"package": entry.dist.name if entry and entry.dist else None}
    try:
        domain = find(domain) if isinstance(domain, str) else domain
        sizes = {split: len(tasks) for split, tasks in domain.splits.items()}
        return {**told, "title": domain.title, "parts": domain.parts(), "splits": sizes}
    except RsgError as error:
        return {**told, "error": str(error)}


def _show(found: dict[str, dict[str, object]]) -> Iterator[str]:
    for name, one in found.items():
        if "error" in one:
            yield f"[bold]{name}[/bold]  [red]{escape(str(one['error']))}[/red]"
            continue
        yield f"[bold]{name}[/bold]  {one['title']}, by {one['package']}"
        yield from _parts(find(name))
        if sizes := {split: len(tasks) for split, tasks in find(name).splits.items()}:
            yield f"    tasks  {', '.join(f'{split} {count}' for split, count in sizes.items())}"
    example = next(iter(found), "path/to/file.py:name")
    yield f"\n[bright_black]Terms, tasks and places: rsg domains {example}[/bright_black]"
    yield "[bright_black]One of your own: rsg world path/to/file.py:name[/bright_black]"


def _parts(domain: Domain) -> Iterator[str]:
    parts = domain.parts()
    yield f"    has    {', '.join(['world', *(part for part, there in parts.items() if there)])}"
    if lacks := [part for part, there in parts.items() if not there]:
        yield f"    lacks  {', '.join(lacks)}"


def _show_one(domain: Domain) -> Iterator[str]:
    """The words that a world understands, in full."""
    yield f"[bold]{domain.name}[/bold]  {domain.title}"
    yield from _parts(domain)
    if domain.vocabulary:
        yield f"\n[bold]{quantity(len(domain.vocabulary), 'term')}[/bold]"
        yield folded(", ".join(domain.vocabulary), 4)
    for split in domain.splits:
        tasks = domain.tasks(split)
        yield f"\n[bold]{split}[/bold], {quantity(len(tasks), 'task')}"
        yield from (folded(task, 4) for task in tasks)
    if domain.places:
        names = f" ({domain.place_option.names[0]})" if domain.place_option else ""
        yield f"\n[bold]{quantity(len(domain.places), 'place')}[/bold]{names}"
        yield from (folded(f"{name}: {about}", 4) for name, about in domain.places.items())
