"""Progress bars on long work: for a person at a terminal; silent in a pipe."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Advance = Callable[[int], None]
"""Called with how much more has been done."""


@contextmanager
def progress(label: str, total: int, unit: str, shown: bool = True, done: int = 0) -> Iterator[Advance]:
    """A bar with rate and time left on stderr; gives the function that moves it on.

    >>> with progress("counting", 3, "sheep") as advance:
    ...     advance(3)
    """
    if not (shown and sys.stderr.isatty()):
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(compact=True),
    )
    with Progress(*columns, console=Console(stderr=True)) as bars:
        bar = bars.add_task(label, total=total, completed=done, rate="")

        def advance(amount: int) -> None:
            speed = bars.tasks[bar].speed
            bars.update(bar, advance=amount, rate=f"{speed:,.0f} {unit}/s" if speed else "")

        yield advance
