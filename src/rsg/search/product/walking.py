"""How a search walks: what it knows of poses, and what it does with that where it stops for it."""

from collections.abc import Callable

import numpy as np

from rsg.core.arrays import Array, Ints
from rsg.core.compiled import specialised
from rsg.search.product import walks
from rsg.search.product.explored import Explored
from rsg.search.product.kernels import Memory
from rsg.search.product.novelty import SETTLED
from rsg.search.product.serving import KernelSearch

EARLY = 256  # expansions after which walks are worth their while


class Walking:
    """Walks of one search.

    Args:
        explored: the states.
        sights: gives for states `[N, W]` what there is in their poses, `[N]`, 0: nothing.
    """

    def __init__(self, explored: Explored, sights: Callable[[Array], Ints]) -> None:
        self._explored, self._sights = explored, sights
        self._walks: walks.Walks | None = None
        self._told = 0  # of how many poses the sights are known
        self._first: dict[int, tuple[int, int]] = {}  # where walks began first at each node; how much was tried then
        self._prove = specialised(walks.prove, find_out=explored.forms.find_out)

    def serve(self, search: KernelSearch[Memory], stop: int) -> int:
        """Look where to walk from the label that a search wants, or whether the walks to it can be done.

        Says what else the search needs, GROW or NEED.
        """
        memory = search.memory
        s, v = int(memory.run["wanted"][0]), int(memory.run["wanted_node"][0])
        if memory.labels["unsure"][s, v]:
            return int(self._prove(self._explored.forms.tables, memory, search.asked, self._survey(memory), stop))
        again = bool(memory.labels["root"][s, v] > 1)
        memory.labels["root"][s, v] = 0
        if memory.run["changes"][0] >= SETTLED and memory.novelty.pose.any():
            first, tried = self._first.get(v, (s, 0))
            if tried < memory.run["tried"][0] and first != s:  # what was found meanwhile is looked at from there, first
                self._look_around(search, first, v, again=False)
            self._first[v] = first, int(memory.run["tried"][0])
            self._look_around(search, s, v, again)
        return walks.DONE

    def _look_around(self, search: KernelSearch[Memory], s: int, v: int, again: bool) -> None:
        """Open what there is to see from state s at node v."""
        known, found = self._survey(search.memory), np.empty((search.explored.count, 2), dtype=np.int32)
        search.grow(facts=2 * int(known.size[0]))
        found = found[: walks.aims(search.memory, known, s, v, again, found)]
        search.grow(entries=len(found))
        states = self._explored.take(walks.made_up(search.memory.known, known, s, found[:, 0]))
        search.keep_up()
        walks.open_aims(search.memory, search.asked, known, s, v, found, states)

    def _survey(self, memory: Memory) -> walks.Walks:
        """What is known of poses by now."""
        room = len(memory.labels)
        if self._walks is None:
            self._walks = walks.new_walks(memory.novelty.pose, memory.known.after.shape[1], room)
        self._walks = known = walks.with_room(self._walks, room)
        walks.survey(memory, known)
        more = slice(self._told, int(known.size[0]))
        if more.start < more.stop:
            known.poses["sight"][more] = self._sights(self._explored.rows(known.poses["shown"][more]))
            self._told = more.stop
        return known
