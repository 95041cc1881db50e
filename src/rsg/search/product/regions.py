"""The search over regions: toward a goal, by way of subgoals that nobody has put in order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rsg.core.compiled import specialised
from rsg.core.errors import RsgError
from rsg.search.driving import Limits, drive
from rsg.search.product import region_kernels as kernels
from rsg.search.product.explored import Explored, grown
from rsg.search.product.kernels import EXHAUSTED, GROW, NEED, PAUSED

SLICE = 50_000  # expansions between two looks at the clock
FIRST_REGIONS = 64
FIRST_ROOM = 1024  # states in the heap

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
        first: `[terms]` the terms that hold in the first state; seen: `[terms]` those that came true in some state
            that was reached.
        regions: how many different sets of terms were met.
        doubtful: whether the goal came true somewhere in a way that was not believed.
    """

    actions: NDArray[np.int64] | None
    states: NDArray[Any] | None
    holds: Bools | None
    cost: float
    expansions: int
    ended: str
    first: Bools
    seen: Bools
    regions: int
    doubtful: bool


class RegionSearch:
    """One search from a state to a state in which a term comes true; `run` may be called again to go on.

    Args:
        explored: the states, and the classifiers of the terms.
        goal: the number of the term that is wanted; it must come true, so it does not count where it holds at first.
        rank: judges regions.
        threshold: a subgoal holds where G is at least this.
        blind: whether regions of the same rank are alike, so that the cheapest state comes first; otherwise those
            come first that fewer regions lie behind.
    """

    def __init__(self, explored: Explored, goal: int, rank: Rank, threshold: float = 0.5, blind: bool = False) -> None:
        if not 0 < threshold < 1:
            raise RsgError(f"threshold lies between 0 and 1, not {threshold}")
        self.explored, self._rank, self._paths = explored, rank, list[tuple[int, ...]]()
        terms, actions = explored.known.value.shape[1], len(explored.costs)
        self._asked = kernels.Asked(goal, explored.costs, float(np.log(threshold)), int(not blind))
        self.memory = kernels.Memory(
            known=explored.known,
            places=np.empty(len(explored.known.pool), dtype=kernels.PLACE),
            regions=np.empty(max(FIRST_REGIONS, actions), dtype=kernels.REGION),
            holds=np.empty((max(FIRST_REGIONS, actions), terms), dtype=np.bool_),
            row=np.empty(terms, dtype=np.bool_),
            heaps=np.empty((1, FIRST_ROOM + actions), dtype=kernels.OPEN),
            waiting=np.zeros(actions, dtype=np.int64),
            run=np.zeros(1, dtype=kernels.RUN),
        )
        look = specialised(kernels.look, goal=explored.forms.goal)
        expand = specialised(kernels.expand, look=look)
        self._kernel = specialised(kernels.search, learn=explored.forms.learn, expand=expand, look=look)

    @property
    def expansions(self) -> int:
        """States expanded so far."""
        return int(self.memory.run[0].expansions)

    def run(self, limits: Limits | None = None) -> Reached:
        """Search until the goal is reached, a limit ends it, or nothing is left."""
        ended = drive(self, limits or Limits())
        run, holds = self.memory.run[0], self.memory.holds
        way: tuple[Any, Any, Any, float] = (None, None, None, np.inf) if ended != "found" else self._trace()
        return Reached(
            *way,
            expansions=self.expansions,
            ended=ended,
            first=holds[0].copy(),
            seen=(holds[: run.regions] & ~holds[0]).any(axis=0),
            regions=int(run.regions),
            doubtful=bool(run.doubtful),
        )

    def advance(self, budget: int | None) -> str:
        """Search on for a while; says how it ended, or nothing if it has not."""
        stop = self.expansions + SLICE if budget is None else min(self.expansions + SLICE, budget)
        forms = self.explored.forms
        status = self._kernel(forms.tables, forms.goals, self.memory, self._asked, stop)
        if status == kernels.RANK:
            self._judge()
        elif status == GROW:
            self._grow()
        elif status == NEED:
            run = self.memory.run[0]
            self.explored.provide(int(run.wanted), [self.memory.heaps[0, : run.open]["state"]])
            self._keep_up()
        elif status != PAUSED:
            return "exhausted" if status == EXHAUSTED else "found"
        elif budget is not None and self.expansions >= budget:
            return "budget"
        return ""

    def _judge(self) -> None:
        """Rank the regions that have been entered since the last time."""
        start, end = len(self._paths), int(self.memory.run[0].regions)
        holds, regions = self.memory.holds, self.memory.regions
        for region in range(start, end):
            origin = int(regions[region].before)
            gained = np.flatnonzero(holds[region] & ~holds[origin]).tolist() if origin >= 0 else []
            self._paths.append((*(self._paths[origin] if origin >= 0 else ()), *gained))
        regions["rank"][start:end], regions["ready"][start:end] = self._rank(holds[start:end], self._paths[start:end])

    def _grow(self) -> None:
        """Four times the room for regions, for open states, for all states: for whatever is full."""
        memory, run, actions = self.memory, self.memory.run[0], len(self.explored.costs)
        if run.regions + actions > len(memory.regions):
            self.memory = memory._replace(
                regions=grown(memory.regions, 4 * len(memory.regions)), holds=grown(memory.holds, 4 * len(memory.holds))
            )
        elif run.open + actions >= memory.heaps.shape[1]:
            self.memory = memory._replace(heaps=grown(memory.heaps[0], 4 * memory.heaps.shape[1])[None])
        else:
            self.explored.grow()
            self._keep_up()

    def _keep_up(self) -> None:
        """Places for as many states as there is room for."""
        known = self.explored.known
        self.memory = self.memory._replace(known=known, places=grown(self.memory.places, len(known.pool)))

    def _trace(self) -> tuple[NDArray[np.int64], NDArray[Any], Bools, float]:
        """The way to the goal, followed back from its end."""
        run, places = self.memory.run[0], self.memory.places
        state, action = int(run.reached), int(run.last)
        cost = float(places[state].cost + self.explored.costs[action])
        actions, numbers = [action], [int(self.memory.known.after[state, action]), state]
        while places[state].came_from >= 0:
            actions.append(int(places[state].by))
            state = int(places[state].came_from)
            numbers.append(state)
        order = np.array(numbers[::-1])
        holds = self.memory.holds[places["region"][order]]
        return np.array(actions[::-1], dtype=np.int64), self.explored.rows(order), holds, cost
