"""How to search, and what a search finds."""

from dataclasses import dataclass, replace
from typing import Protocol

from rsg.core.arrays import Array, Ints
from rsg.core.errors import RsgError
from rsg.search.driving import Between, Limits

ORDERS = ("optimal", "anytime", "balanced", "deepest")
PLANNERS = ("auto", "product", "roadmap", "rrt")


@dataclass(frozen=True)
class SearchSettings:
    """How to search.

    Attributes:
        order: `deepest` alternates the deepest open node with a random one; `balanced` takes a random node each time
            (the paper's); `optimal` the globally cheapest label, so that the plan costs the least; `anytime` improves
            the plan until nothing open can better it; `auto` is `deepest`, on a roadmap `optimal` for a plan that may
            cost a fifth more than the cheapest.
        budget: expansions in total; None: no limit.
        time_limit: seconds; None: no limit.
        threshold: a subgoal holds where G is at least this, and not yet where I is more than 1 minus this; None:
            transitions have soft costs, -λ (log G + log I).
        weight: λ.
        seed: where chance comes from.
        planner: `product` for worlds with finitely many actions; `roadmap` (a product search on a roadmap) or `rrt` (a
            random tree for each machine node) for continuous ones; `auto` is `product`, or `roadmap` and where that
            finds nothing `rrt`.
        poses: of a roadmap.

    >>> SearchSettings(order="optimal", budget=None).planner
    'auto'
    """

    order: str = "auto"
    budget: int | None = 5000
    time_limit: float | None = None
    threshold: float | None = 0.5
    weight: float = 1.0
    seed: int = 0
    planner: str = "auto"
    poses: int = 2000

    def __post_init__(self) -> None:
        if self.order not in ("auto", *ORDERS):
            raise RsgError(f"there is no order '{self.order}'; orders are: {', '.join(ORDERS)}")
        if self.planner not in PLANNERS:
            raise RsgError(f"there is no planner '{self.planner}'; planners are: {', '.join(PLANNERS)}")
        for name in ("budget", "poses"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise RsgError(f"{name} must be at least 1, not {value}")
        if self.threshold is not None and not 0 < self.threshold < 1:
            raise RsgError(f"threshold lies between 0 and 1, not {self.threshold}")
        if self.time_limit is not None and self.time_limit <= 0:
            raise RsgError(f"the time limit must be positive, not {self.time_limit}")
        if not self.weight > 0:
            raise RsgError(f"weight must be positive, not {self.weight}")

    def limits(self, between: Between | None = None) -> Limits:
        """The limits of one search."""
        return Limits(self.budget, self.time_limit, between)


@dataclass(frozen=True, eq=False)
class Found:
    """What a search found: the best plan so far, if any, and how the search ended.

    Attributes:
        actions: `[T]`, or `[T, D]` in a continuous world; states: `[T + 1, W]`; nodes: `[T]` the machine node that
            each action serves; None: no plan.
        cost: of actions and transitions together.
        expansions: labels expanded so far.
        ended: `found`, `exhausted` (all that can be reached was tried), `budget` (of expansions), `roadmap` (all that
            can be reached on it was tried), `time` or `cancelled`.
        seconds: spent so far.
    """

    actions: Array | None
    states: Array | None
    nodes: Ints | None
    cost: float
    expansions: int
    ended: str
    seconds: float


class Searching(Protocol):
    """A search for plans."""

    settings: SearchSettings

    def run(self, limits: Limits | None = None) -> Found:
        """Search until there is a plan, or a better one."""


def best(search: Searching, limits: Limits | None = None) -> Found:
    """What a search finds; if its order is `anytime`, it goes on as long as that gives a better plan."""
    found = search.run(limits)
    while search.settings.order == "anytime" and found.ended == "found":
        better = search.run(limits)
        if better.cost >= found.cost:
            return replace(found, expansions=better.expansions, ended=better.ended)
        found = better
    return found
