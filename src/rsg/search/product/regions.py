"""The search over regions: toward a goal, by way of subgoals that nobody has put in order."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rsg.core.arrays import Array, Bools, Ints, grown
from rsg.core.compiled import inner, pasted, specialised
from rsg.core.errors import RsgError
from rsg.search.driving import Limits, drive
from rsg.search.product import region_kernels as kernels
from rsg.search.product import serving
from rsg.search.product.explored import Explored
from rsg.search.product.kernels import RANK
from rsg.search.product.novelty import for_more, new_novelty
from rsg.search.product.serving import KernelSearch

Rank = Callable[[Bools, Sequence[tuple[int, ...]]], Array]
"""Judges new regions: from the terms that hold in each `[N, T]`, and the terms that were achieved on the way, in order,
to a rank `[N]`; the least is searched first."""


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
    """

    actions: Ints | None
    states: Array | None
    holds: Bools | None
    cost: float
    expansions: int
    ended: str
    first: Bools
    seen: Bools
    regions: int


class RegionSearch(KernelSearch[kernels.Memory]):
    """One search from a state to a state in which a term comes true; `run` may be called again to go on.

    Args:
        explored: the states, and the classifiers of the terms.
        goal: the number of the term that is wanted; it must come true, so it does not count where it holds at first.
        rank: judges regions.
        threshold: a subgoal holds where G is at least this.
        blind: whether regions of the same rank are alike, so that the cheapest state comes first; otherwise those
            come first that fewer regions lie behind.
        novel: whether of the same rank those states come first that show something new, see `novelty`.
    """

    def __init__(
        self,
        explored: Explored,
        goal: int,
        rank: Rank,
        threshold: float = 0.5,
        blind: bool = False,
        novel: bool = False,
    ) -> None:
        if not 0 < threshold < 1:
            raise RsgError(f"threshold lies between 0 and 1, not {threshold}")
        self._threshold = float(np.log(threshold))
        self._rank, self._paths = rank, list[tuple[int, ...]]()
        self._ranks = dict[float, int]()  # those that were given, numbered
        terms, actions = explored.known.value.shape[1], len(explored.costs)
        room = len(explored.known.pool)  # also for regions: there are no more of them than states
        memory = kernels.Memory(
            known=explored.known,
            labels=np.empty(room, dtype=kernels.LABEL),
            regions=np.empty(room, dtype=kernels.REGION),
            holds=np.empty((room, terms), dtype=np.bool_),
            row=np.empty(terms, dtype=np.bool_),
            heaps=np.empty((1, serving.FIRST_ROOM + actions), dtype=kernels.OPEN),
            sizes=np.zeros(1, dtype=np.int64),
            waiting=np.zeros(actions, dtype=np.int64),
            run=np.zeros(1, dtype=kernels.RUN),
            novelty=new_novelty(explored.known.table, room, explored.column),
        )
        look = specialised(kernels.look, inner, goal=explored.forms.goal)
        expand = specialised(kernels.expand, pasted, look=look)
        kernel = specialised(kernels.search, find_out=explored.forms.find_out, expand=expand, look=look)
        asked = kernels.Asked(goal, self._threshold, int(not blind), novel)
        super().__init__(explored, kernel, memory, asked, spread=actions)

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
        )

    def serve(self, status: int) -> None:
        """Give the kernel what it stopped for: perhaps the rank of regions."""
        if status == RANK:
            self._judge()
        super().serve(status)

    def _judge(self) -> None:
        """Rank the regions that have been entered since the last time."""
        start, end = len(self._paths), int(self.memory.run[0].regions)
        holds, regions = self.memory.holds, self.memory.regions
        for region in range(start, end):
            origin = int(regions[region].before)
            gained = np.flatnonzero(holds[region] & ~holds[origin]).tolist() if origin >= 0 else []
            self._paths.append((*(self._paths[origin] if origin >= 0 else ()), *gained))
        ranks = self._rank(holds[start:end], self._paths[start:end])
        regions["rank"][start:end] = ranks
        regions["like"][start:end] = [self._ranks.setdefault(float(rank), len(self._ranks)) for rank in ranks]

    def keep_up(self) -> None:
        """Labels, and regions, for as many states as there is room for."""
        super().keep_up()
        regions, holds, room = self.memory.regions, self.memory.holds, len(self.memory.labels)
        novelty = for_more(self.memory.novelty, room)
        self.memory = self.memory._replace(regions=grown(regions, room), holds=grown(holds, room), novelty=novelty)

    def _trace(self) -> tuple[Ints, Array, Bools, float]:
        """The way to the goal, followed back from its end."""
        run, labels = self.memory.run[0], self.memory.labels
        state, action = int(run.reached), int(run.last)
        cost = float(labels[state].cost + self.explored.price(state, action))
        actions, numbers = [action], [int(self.memory.known.after[state, action]), state]
        while labels[state].came_from >= 0:
            actions.append(int(labels[state].by))
            state = int(labels[state].came_from)
            numbers.append(state)
        order = np.array(numbers[::-1])
        way = self.explored.unroll(np.array(actions[::-1], dtype=np.int64), self.explored.rows(order))
        holds = self.memory.holds[labels["region"][order]]
        if len(way.states) > len(order):  # macros lead through states that were not searched
            holds = self.explored.values(way.states)[..., 0] >= self._threshold
        return way.actions, way.states, holds, cost
