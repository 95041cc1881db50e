"""Progress bars on long work: for a person at a terminal; silent in a pipe."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol

NARROW = 84  # columns that it takes to show everything
_HUSHED = ContextVar("hushed", default=False)

Advance = Callable[[int], None]
"""Called with how much more has been done."""


class Bar(Protocol):
    """An `Advance` that also takes a note to show beside the bar."""

    def __call__(self, amount: int, note: str = "") -> None:
        """So much more has been done."""


@contextmanager
def hushed(wanted: bool = True) -> Iterator[None]:
    """No bars in here: what is printed is for a machine."""
    before = _HUSHED.set(wanted)
    try:
        yield
    finally:
        _HUSHED.reset(before)


def is_hushed() -> bool:
    """Whether nothing but the answer is to be printed."""
    return _HUSHED.get()


def say(sentence: str) -> None:
    """Tell a person something on stderr, unless nothing but the answer is to be printed."""
    if not is_hushed():
        print(sentence, file=sys.stderr)


@contextmanager
def progress(label: str, total: int, unit: str, shown: bool = True, done: int = 0) -> Iterator[Bar]:
    """A bar with rate and time left on stderr; gives the function that moves it on.

    >>> with progress("counting", 3, "sheep") as advance:
    ...     advance(3)
    """
    if is_hushed() or not (shown and sys.stderr.isatty()):
        yield lambda amount, note="": None  # noqa: ARG005
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    terminal = Console(stderr=True)
    narrow = terminal.width < NARROW  # then the figures count, and the bar is what is cut
    columns = (
        TextColumn("{task.description}"),
        BarColumn(4 if narrow else min(40, terminal.width - NARROW + 4)),
        MofNCompleteColumn(),
        *([] if narrow else [TextColumn("{task.fields[rate]}")]),
        TextColumn("{task.fields[note]}"),
        TimeRemainingColumn(compact=True),
    )
    with Progress(*columns, console=terminal) as bars:
        bar = bars.add_task(label, total=total, completed=done, rate="", note="")

        def advance(amount: int, note: str = "") -> None:
            speed = bars.tasks[bar].speed
            bars.update(bar, advance=amount, rate=f"{speed:,.0f} {unit}/s" if speed else "", note=note)

        yield advance
