"""How to search, composed by meaning, and what a search finds.

`SearchSettings` has a planner, and the planner has what it can use, among that what transitions ask or cost.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, Protocol

from rsg.core.arrays import Array, Ints
from rsg.core.errors import RsgError, unknown
from rsg.core.settings import Settings, default, named, read_value, told
from rsg.search.driving import Between, Limits

ORDERS = ("optimal", "anytime", "balanced", "deepest", "novel")
ORDER = "novel"  # unless another one is named; on a roadmap `optimal`


@dataclass(frozen=True)
class Hard(Settings):
    """Subgoals hold or they do not: a node is left where its own does, and entered where it does not yet, for nothing.

    Attributes:
        threshold: a subgoal holds where G is at least this, and not yet where I is more than 1 minus this.

    >>> Hard(threshold=0.8)
    Hard(threshold=0.8)
    """

    name: ClassVar = "hard"
    threshold: float = default(0.5, "a subgoal holds where G is at least this")

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 < self.threshold < 1:
            raise RsgError(f"threshold lies between 0 and 1, not {self.threshold}")


@dataclass(frozen=True)
class Soft(Settings):
    """Nodes are left and entered anywhere, at the paper's costs, -λ (log G + log I).

    Attributes:
        weight: λ.

    >>> Soft(weight=2.0)
    Soft(weight=2.0)
    """

    name: ClassVar = "soft"
    threshold: ClassVar = 0.5  # where likely ends of a part are looked for
    weight: float = default(1.0, "λ, what a transition's log-probabilities cost beside actions", above=0)


@dataclass(frozen=True)
class Product(Settings):
    """The search over world × machine, for worlds with finitely many actions.

    Attributes:
        order: `deepest` alternates the deepest open node with a random one; `balanced` takes a random node each time
            (the paper's); `optimal` the globally cheapest label, so that the plan costs the least; `anytime` improves
            the plan until nothing open can better it; `novel` takes what shows a node something new before all else,
            the deepest node nearly always. None: `ORDER`, on a roadmap `optimal` for a plan that may cost a fifth more
            than the cheapest.
        transitions: what it takes to go from one node of the machine to the next.

    >>> Product("optimal", Soft(weight=2.0))
    Product(order='optimal', transitions=Soft(weight=2.0))
    """

    name: ClassVar = "product"
    order: str | None = default(None, "which label is expanded next", among=ORDERS)
    transitions: Hard | Soft = default(Hard(), "what it takes to go from node to node", among=(Hard, Soft))


@dataclass(frozen=True)
class Roadmap(Product):
    """The same search on a roadmap, for continuous worlds.

    Attributes:
        poses: of the roadmap.

    >>> Roadmap(poses=500)
    Roadmap(order=None, transitions=Hard(threshold=0.5), poses=500)
    """

    name: ClassVar = "roadmap"
    poses: int = default(2000, "of the roadmap", least=1)


@dataclass(frozen=True)
class Trees(Settings):
    """Random trees (RRT), one for each machine node, for continuous worlds. In a tree, subgoals hold or they do not.

    Attributes:
        order: as for `Product`; which tree grows next. None: `deepest`.
        transitions: when subgoals hold.

    >>> Trees("optimal")
    Traceback (most recent call last):
    rsg.core.errors.RsgError: order is deepest, balanced or anytime, not 'optimal'
    """

    name: ClassVar = "rrt"
    order: str | None = default(None, "which tree grows next", among=("deepest", "balanced", "anytime"))
    transitions: Hard = default(Hard(), "when subgoals hold", among=(Hard,))


@dataclass(frozen=True)
class Auto(Roadmap):
    """What suits the world: `Product`, or in a continuous one `Roadmap`, and where that finds nothing `Trees`.

    There are no trees where they could not do what is asked: for soft transitions, the order `optimal`, or no limits.

    >>> SearchSettings() == SearchSettings(Auto())
    True
    """

    name: ClassVar = "auto"


Planner = Auto | Product | Roadmap | Trees
PLANNERS: Mapping[str, type[Planner]] = {kind.name: kind for kind in (Auto, Product, Roadmap, Trees)}
"""Planners by name, as files and the command line have them."""


@dataclass(frozen=True)
class SearchSettings(Settings):
    """How to search, and for how long.

    Attributes:
        planner: `Auto`, `Product`, `Roadmap` or `Trees`, each with settings of its own.
        budget: expansions in total; None: no limit.
        time_limit: seconds; None: no limit.
        seed: where chance comes from.

    >>> SearchSettings(Product("optimal"), budget=1000).planner.order
    'optimal'
    >>> SearchSettings(Roadmap(poses=500, transitions=Soft(weight=2.0)), time_limit=1.5).budget
    5000
    """

    planner: Planner = default(Auto(), "how to search", among=(Auto, Product, Roadmap, Trees))
    budget: int | None = default(5000, "expansions in total", least=1)
    time_limit: float | None = default(None, "seconds", above=0)
    seed: int = default(0, "where chance comes from")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.endless and isinstance(self.planner, Trees):
            raise RsgError("random trees need a budget or a time limit: they would never know that there is no plan")

    @property
    def endless(self) -> bool:
        """Whether a search may go on for as long as it likes."""
        return self.budget is None and self.time_limit is None

    def limits(self, between: Between | None = None) -> Limits:
        """The limits of one search."""
        return Limits(self.budget, self.time_limit, between)


def search_settings(values: Mapping[str, object]) -> SearchSettings:
    """Settings by name, as a file or the command line has them, all in one row.

    `planner` is a name (see `PLANNERS`) and `soft` says which transitions; all others are fields of what these choose.

    >>> search_settings({"planner": "roadmap", "poses": 500, "soft": True, "weight": 2, "budget": 100}).planner
    Roadmap(order=None, transitions=Soft(weight=2.0), poses=500)
    """
    rest = {key: None if (key, value) == ("order", "auto") else value for key, value in values.items()}
    name, soft = str(rest.pop("planner", Auto.name)), read_value("soft", str(rest.pop("soft", False)), bool)
    if name not in PLANNERS:
        raise unknown("planner", name, PLANNERS)
    planner, transitions = PLANNERS[name], Soft if soft else Hard
    if transitions not in told(planner, "transitions")["among"]:
        raise RsgError(f"the planner '{name}' has no soft transitions: there subgoals hold or they do not")
    here, known = _names(SearchSettings, planner, transitions), _names(SearchSettings, *PLANNERS.values(), Hard, Soft)
    for key in rest:
        if key not in known:
            raise unknown("setting", key, ["planner", "soft", *known])
        if key not in here:
            chosen = f"the planner '{name}' with {'soft' if soft else 'hard'} transitions"
            raise RsgError(f"{key} means nothing to {chosen}; there are: {', '.join(here)}")
    some, own, crossing = (
        named(kind, {key: rest[key] for key in _names(kind) if key in rest})
        for kind in (SearchSettings, planner, transitions)
    )
    own["transitions"] = transitions(**crossing)
    try:
        how = planner(**own)
    except RsgError as error:
        raise RsgError(f"for the planner '{name}' {error}") from None
    return SearchSettings(how, **some)


def _names(*kinds: type[Any]) -> list[str]:
    """The settings of some kinds that are numbers or words, each once."""
    names = (field.name for kind in kinds for field in fields(kind))
    return [name for name in dict.fromkeys(names) if name not in ("planner", "transitions")]


@dataclass(frozen=True, eq=False)
class Found:
    """What a search found: the best plan so far, if any, and how the search ended."""

    actions: Array | None  # `[T]`, or `[T, D]` in a continuous world
    states: Array | None  # `[T + 1, W]`
    nodes: Ints | None  # `[T]` the machine node that each action serves; None: no plan
    cost: float  # of actions and transitions together
    expansions: int  # labels expanded so far
    # `found`, `exhausted` (all that can be reached was tried), `budget` (of expansions), `roadmap` (all that can be
    # reached on it was tried), `time` or `cancelled`
    ended: str
    seconds: float  # spent so far


class Searching(Protocol):
    """A search for plans."""

    @property
    def how(self) -> Product | Trees:
        """To search."""

    def run(self, limits: Limits) -> Found:
        """Search until there is a plan, or a better one."""


def best(search: Searching, limits: Limits | None = None) -> Found:
    """What a search finds; if its order is `anytime`, it goes on as long as that gives a better plan."""
    limits = limits or Limits()
    found = search.run(limits)
    while search.how.order == "anytime" and found.ended == "found":
        better = search.run(limits)
        if better.cost >= found.cost:
            return replace(found, expansions=better.expansions, ended=better.ended)
        found = better
    return found
