"""How long a search may go on, and who may look at it on the way."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

Between = Callable[[int], Any]
"""Called now and then with the number of expansions so far; the search stops if it gives something true."""


def after(spent: int, between: Between | None) -> Between | None:
    """The same for a search that follows others, which have spent so many expansions."""
    return None if between is None else lambda count: between(spent + count)


@dataclass(frozen=True)
class Limits:
    """What ends a search that has not come to an end by itself; None: no limit."""

    budget: int | None = None  # expansions in total, those of earlier calls included
    seconds: float | None = None  # of this call
    between: Between | None = None  # shows the progress of a search, or cancels it


class Driven(Protocol):
    """A search in slices."""

    @property
    def expansions(self) -> int:
        """How many so far."""

    def advance(self, budget: int | None) -> str:
        """Go on for a while; says how the search ended, or nothing if it has not."""


def drive(search: Driven, limits: Limits) -> str:
    """Let a search go on until it ends; says how: as `advance` does, or `time` or `cancelled`."""
    start = time.perf_counter()
    while not (ended := search.advance(limits.budget)):
        if limits.between is not None and limits.between(search.expansions):
            return "cancelled"
        if limits.seconds is not None and time.perf_counter() - start > limits.seconds:
            return "time"
    return ended
