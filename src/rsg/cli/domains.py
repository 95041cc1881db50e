"""`rsg domains`: which worlds there are, and what is known of each."""

from collections.abc import Iterator
from typing import Any

from rich.markup import escape

from rsg.cli.command import Said, command
from rsg.core.errors import RsgError
from rsg.domain import find, installed


@command
def domains() -> Said:
    """List the worlds that are installed, and which parts each has.

    A package tells of its worlds by entry points of the group rsg.domains. A
    world need not be installed: every command takes path/to/file.py:name, too.
    """
    found = {name: _about(name) for name in installed()}
    return Said(found, _show(found))


def _about(name: str) -> dict[str, Any]:
    """What is known of one; one that cannot be loaded says why."""
    package = installed()[name].dist
    told: dict[str, Any] = {"package": package.name if package else None}
    try:
        domain = find(name)
        sizes = {split: len(tasks) for split, tasks in domain.splits.items()}
        return {**told, "title": domain.title, "parts": domain.parts(), "splits": sizes}
    except RsgError as error:
        return {**told, "error": str(error)}


def _show(found: dict[str, dict[str, Any]]) -> Iterator[str]:
    for name, one in found.items():
        if "error" in one:
            yield f"[bold]{name}[/bold]  [red]{escape(one['error'])}[/red]"
            continue
        lacks = [part for part, there in one["parts"].items() if not there]
        yield f"[bold]{name}[/bold]  {one['title']}, by {one['package']}"
        yield f"    has    {', '.join(['world', *(part for part in one['parts'] if part not in lacks)])}"
        if lacks:
            yield f"    lacks  {', '.join(lacks)}"
        if one["splits"]:
            yield f"    tasks  {', '.join(f'{split} {count}' for split, count in one['splits'].items())}"
    yield "\n[bright_black]One of your own: rsg world path/to/file.py:name[/bright_black]"
