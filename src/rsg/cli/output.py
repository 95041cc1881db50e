"""How every command speaks: rich text for people, one JSON value for machines, errors in one place."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rsg.core.errors import RsgError

if TYPE_CHECKING:
    from rich.console import Console

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON value on stdout and nothing else.")]


@cache
def console() -> Console:
    """The terminal: coloured for a person, plain and as wide as it takes in a pipe."""
    from rich.console import Console

    return Console(highlight=False, soft_wrap=True, width=None if sys.stdout.isatty() else 200)


def emit(value: object) -> None:
    """Print a value as JSON."""
    print(json.dumps(value, indent=2, ensure_ascii=False))


def complain(error: RsgError, as_json: bool) -> None:
    """Say what is wrong: on stderr for a person, as JSON on stdout for a machine."""
    if as_json:
        emit({"error": error.details()})
    else:
        print(f"error: {error}", file=sys.stderr)


def write_png(draw: Callable[[], Any], path: Path) -> None:
    """Write the picture `[height, width, 3]` that a function draws."""
    from PIL import Image

    from rsg.core.files import replacing

    if path.suffix.lower() != ".png":
        raise RsgError(f"cannot write a picture to {path}: the name must end in .png")
    picture = draw()
    with replacing(path) as part:
        Image.fromarray(picture).save(part, format="PNG")
