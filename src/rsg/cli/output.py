"""How every command speaks: rich text for people, one JSON value for machines, errors in one place."""

import json
import os
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from textwrap import wrap
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from rsg.core.errors import RsgError
from rsg.core.files import check_writable

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON value on stdout and nothing else.")]


@cache
def console() -> Console:
    """The terminal: coloured for a person, plain and as wide as it takes in a pipe."""
    narrow = sys.stdout.isatty() or os.environ.get("COLUMNS", "").isdigit()
    return Console(highlight=False, soft_wrap=True, width=None if narrow else 200)


def say(part: object) -> None:
    """Print text as it is, and what has columns so that it fits: cells are folded, nothing is cut."""
    console().print(part, soft_wrap=isinstance(part, (str, Text)))


def columns() -> int:
    """How many there are to fill."""
    return min(80, console().width)


def folded(text: str, indent: int, first: str | None = None) -> str:
    """A text in lines that begin so far to the right; first: what stands before the first line instead."""
    lines = wrap(text, max(20, columns() - indent), break_on_hyphens=False, break_long_words=False)
    return (" " * indent if first is None else first) + f"\n{'':{indent}}".join(lines)


def table(*titles: str) -> Table:
    """A table to fill: the first column is text, the others are figures."""
    grid = Table(box=None, header_style="bold", padding=(0, 2 if console().width >= 72 else 1, 0, 0))
    for title in titles:
        grid.add_column(title, justify="left" if title == titles[0] else "right", overflow="fold")
    return grid


def emit(value: object) -> None:
    """Print a value as JSON."""
    print(json.dumps(value, indent=2, ensure_ascii=False))


def complain(error: RsgError, as_json: bool) -> None:
    """Say what is wrong: on stderr for a person, as JSON on stdout for a machine."""
    if as_json:
        emit({"error": error.details()})
    else:
        print(f"error: {error}", file=sys.stderr)


def to_write(*suffixes: str) -> Callable[[Path | None], Path | None]:
    """A check, before any work, of a file that is to be written, for `typer.Option(callback=...)`."""

    def check(path: Path | None) -> Path | None:
        if path is not None and suffixes and path.suffix.lower() not in suffixes:
            raise RsgError(f"cannot write to {path}: the name must end in {suffixes[0]}")
        if path is not None:
            check_writable(path)
        return path

    return check


def to_fill(folder: Path | None) -> Path | None:
    """The same for a folder."""
    if folder is not None:
        check_writable(folder, folder=True)
    return folder
