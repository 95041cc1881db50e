"""How a search over states goes on: a kernel searches in slices, and stops when it needs what only Python can give."""

from typing import Any, Generic, TypeVar

from rsg.core.arrays import grown
from rsg.core.compiled import Kernel
from rsg.search.product import kernels, region_kernels
from rsg.search.product.explored import Explored
from rsg.search.product.kernels import EXHAUSTED, FOUND, GROW, NEED, PAUSED
from rsg.search.product.novelty import wider

SLICE = 50_000  # expansions between two looks at the clock
FIRST_ROOM = 1024  # entries in a heap; grows fourfold when it is full
_Memory = TypeVar("_Memory", kernels.Memory, region_kernels.Memory)


class KernelSearch(Generic[_Memory]):
    """What all searches over states have in common.

    Args:
        explored: the states.
        kernel: searches on, up to a number of expansions; see `kernels.search`.
        memory: all that it remembers, with `labels` of the states and `heaps` of what waits.
        asked: what is asked for.
        spread: how many entries one expansion adds to a heap at most.
    """

    def __init__(self, explored: Explored, kernel: Kernel, memory: _Memory, asked: Any, spread: int) -> None:
        self.explored = explored
        self.memory: _Memory = memory
        self._kernel, self.asked, self._spread = kernel, asked, spread

    @property
    def expansions(self) -> int:
        """How many so far."""
        return int(self.memory.run["expansions"][0])  # a record would take its time

    def advance(self, budget: int | None) -> str:
        """Search on for a while; says how it ended, or nothing if it has not."""
        stop = self._stop = self.expansions + SLICE if budget is None else min(self.expansions + SLICE, budget)
        forms = self.explored.forms
        status = self._kernel(forms.tables, forms.goals, self.memory, self.asked, stop)
        if status == PAUSED and budget is not None and self.expansions >= budget:
            return "budget"
        self.serve(status)
        return {FOUND: "found", EXHAUSTED: "exhausted"}.get(status, "")

    def serve(self, status: int) -> None:
        """Give the kernel what it stopped for."""
        if status == GROW:
            self.grow()
        elif status == NEED:  # successors of the state that it wants, and of those that it may want next
            heaps, sizes = self.memory.heaps, self.memory.sizes
            soon = [heap["state"][:size] for heap, size in zip(heaps, sizes, strict=True)]
            self.explored.provide(int(self.memory.run["wanted"][0]), soon)
            self.keep_up()

    def grow(self, entries: int = 0, facts: int = 0) -> None:
        """Four times the room for what has too little: what waits, facts, states, or several of them.

        entries, facts: how many more of these there will be than one expansion adds.
        """
        while self.memory.run["fullest"][0] + self._spread + entries >= self.memory.heaps.shape[1]:
            heaps = self.memory.heaps
            self.memory = self.memory._replace(heaps=grown(heaps, 4 * heaps.shape[1], axis=1))
        while 4 * (self.memory.run["facts"][0] + facts) > len(self.memory.novelty.seen):
            novelty = self.memory.novelty
            self.memory = self.memory._replace(novelty=novelty._replace(seen=wider(novelty.seen)))
        if self.explored.full:
            self.explored.grow()
            self.keep_up()

    def keep_up(self) -> None:
        """Labels for as many states as there is room for."""
        known = self.explored.known
        self.memory = self.memory._replace(known=known, labels=grown(self.memory.labels, len(known.pool)))
