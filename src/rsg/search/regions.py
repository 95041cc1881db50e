"""The search over regions: toward a goal, by way of subgoals that nobody has put in order."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rsg.core.compiled import specialised
from rsg.core.errors import RsgError
from rsg.search import core
from rsg.search import region_kernels as kernels
from rsg.search.goals import Goals
from rsg.search.pool import StatePool
from rsg.worlds import World

_SLICE = 50_000  # expansions between two looks at the clock
_FIRST_REGIONS = 64

Bools = NDArray[np.bool_]
Rank = Callable[[Bools, Sequence[tuple[int, ...]]], tuple[NDArray[Any], NDArray[Any]]]
"""Judges new regions: from the terms that hold in each `[N, T]`, and the terms that were achieved on the way, in order,
to a rank `[N]` (the least is searched first) and whether the goal may be reached from there `[N]`."""


@dataclass(frozen=True, eq=False)
class Reached:
    """What a search over regions found.

    Attributes:
        actions: `[T]`, states: `[T + 1, W]` the way to the goal; None: there is none.
        holds: `[T + 1, terms]` which terms hold on the way.
        cost: of the actions.
        expansions: of states; each state is expanded at most once.
        ended: `found`, `exhausted`, `budget`, `time` or `cancelled`.
        seen: `[terms]` the terms that came true in some state that was reached.
        regions: how many different sets of terms were met.
        doubtful: whether the goal came true somewhere in a way that was not believed.
    """

    actions: NDArray[np.int64] | None
    states: NDArray[Any] | None
    holds: Bools | None
    cost: float
    expansions: int
    ended: str
    seen: Bools
    regions: int
    doubtful: bool


class RegionSearch(StatePool):
    """One search from a state to a state in which a term comes true.

    Args:
        world: where.
        state: `[W]` where it starts.
        goals: the classifiers of the terms.
        terms: how many.
        goal: the number of the term that is wanted; it must come true, so it does not count where it holds at first.
        rank: judges regions.
        budget: expansions.
        threshold: a subgoal holds where G is at least this.
        spread: each so-manieth expansion takes the cheapest open state, whatever its rank; 0: none, 1: all (blind).
    """

    def __init__(
        self,
        world: World,
        state: NDArray[Any],
        goals: Goals,
        terms: int,
        goal: int,
        rank: Rank,
        budget: int = 25_000,
        threshold: float = 0.5,
        spread: int = 8,
    ) -> None:
        super().__init__(world, state, goals, nodes=1)
        if budget < 1 or spread < 0 or not 0 < threshold < 1:
            raise RsgError("budget must be at least 1, spread not negative, threshold between 0 and 1")
        self._terms, self._rank = terms, rank
        self._costs = np.asarray(world.costs, dtype=np.float64)
        options = np.array([budget, _SLICE, spread, goal], dtype=np.int64)
        waiting = np.zeros(self._actions, dtype=np.int64)
        self._fixed = (waiting, np.zeros(15, dtype=np.int64), np.array([np.log(threshold)]), options)
        self._paths: list[tuple[int, ...]] = []
        self._regions = self._room_for_regions(max(_FIRST_REGIONS, self._actions))
        begin, self._search, self._tables = self._choose_kernels()
        self._begin(state)
        begin(self._tables[1], self.arrays, self._regions)
        self._judge()

    def _choose_kernels(self) -> tuple[Any, Any, tuple[Any, Any]]:
        learn, goal, *tables = self._forms()
        look = specialised(kernels.look, goal=goal)
        expand = specialised(kernels.expand, look=look)
        search = specialised(kernels.search, learn=learn, expand=expand)
        return specialised(kernels.begin, look=look), search, (tables[0], tables[1])

    def _allocate(self, capacity: int) -> None:
        """Room for so many states."""
        room = (2, 2 * capacity + self._actions)
        self.arrays = kernels.Arrays(
            *self._room_for_states(capacity, self._terms),
            np.empty((capacity, 1, 3)),
            np.empty((capacity, 3), dtype=np.int32),
            np.empty(room),
            np.empty(room, dtype=np.int64),
            np.zeros(2, dtype=np.int64),
            *self._fixed,
        )

    def _room_for_regions(self, capacity: int) -> kernels.Regions:
        return kernels.Regions(
            np.empty((capacity, self._terms), dtype=np.bool_),
            np.empty(self._terms, dtype=np.bool_),
            np.empty(capacity),
            np.empty(capacity, dtype=np.bool_),
            *(np.empty(capacity, dtype=np.int64) for _ in range(3)),
        )

    def _grow(self) -> None:
        """More room for regions or for states, whichever is full."""
        count = int(self.arrays.counters[kernels.REGIONS])
        if count + self._actions <= len(self._regions.rank):
            super()._grow()
            return
        old, self._regions = self._regions, self._room_for_regions(4 * len(self._regions.rank))
        for name in ("holds", "rank", "ready", "steps", "before", "expanded"):
            getattr(self._regions, name)[:count] = getattr(old, name)[:count]

    def _judge(self) -> None:
        """Rank the regions that have been entered since the last time."""
        start, end = len(self._paths), int(self.arrays.counters[kernels.REGIONS])
        holds, before = self._regions.holds, self._regions.before
        for region in range(start, end):
            origin = before[region]
            gained = np.flatnonzero(holds[region] & ~holds[origin]).tolist() if origin >= 0 else []
            self._paths.append((*(self._paths[origin] if origin >= 0 else ()), *gained))
        ranks, ready = self._rank(holds[start:end], self._paths[start:end])
        self._regions.rank[start:end], self._regions.ready[start:end] = ranks, ready

    @property
    def first_holds(self) -> Bools:
        """Which terms hold in the first state, `[terms]`."""
        return np.array(self._regions.holds[0])

    def run(
        self,
        progress: Callable[[int], None] | None = None,
        cancelled: Callable[[], bool] | None = None,
        time_limit: float | None = None,
    ) -> Reached:
        """Search until the goal is reached, a limit ends it, or nothing is left."""
        start = time.perf_counter()
        while True:
            status = int(self._search(*self._tables, self.arrays, self._regions, self._costs))
            if status == kernels.RANK:
                self._judge()
            elif status == core.GROW:
                self._grow()
            elif status == core.NEED:
                self._provide(int(self.arrays.counters[core.WANTED]))
            elif status != core.PAUSED:
                return self._result({core.EXHAUSTED: "exhausted", core.BUDGET: "budget"}.get(status, "found"))
            if progress:
                progress(int(self.arrays.counters[core.EXPANSIONS]))
            if cancelled and cancelled():
                return self._result("cancelled")
            if time_limit is not None and time.perf_counter() - start > time_limit:
                return self._result("time")

    def _result(self, ended: str) -> Reached:
        counters, holds = self.arrays.counters, self._regions.holds
        regions = int(counters[kernels.REGIONS])
        came = holds[:regions] & ~holds[0]
        way: tuple[Any, Any, Any, float] = (None, None, None, np.inf) if ended != "found" else self._trace()
        expansions, doubtful = int(counters[core.EXPANSIONS]), bool(counters[kernels.DOUBTFUL])
        return Reached(*way, expansions, ended, came.any(axis=0), regions, doubtful)

    def _trace(self) -> tuple[NDArray[np.int64], NDArray[Any], Bools, float]:
        """The way to the goal, followed back from its end."""
        link, counters = self.arrays.link, self.arrays.counters
        state, action = int(counters[kernels.REACHED]), int(counters[kernels.LAST])
        cost = float(self.arrays.cost[state, 0, core.FRESH] + self._costs[action])
        actions, numbers = [action], [int(self.arrays.after[state, action]), state]
        while link[state, kernels.CAME_FROM] >= 0:
            actions.append(int(link[state, kernels.BY]))
            state = int(link[state, kernels.CAME_FROM])
            numbers.append(state)
        order = np.array(numbers[::-1])
        holds = self._regions.holds[link[order, kernels.REGION]]
        return np.array(actions[::-1], dtype=np.int64), self._rows(order), holds, cost
