"""The product search: from a state and a machine to a plan, by any order of expansion."""

import time
from functools import lru_cache
from typing import Any

import numpy as np

from rsg.core.arrays import Array, Bools, Floats, Ints, grown
from rsg.core.compiled import Kernel, pasted, specialised
from rsg.language import Machine
from rsg.search.driving import Limits, drive
from rsg.search.goals import Goals
from rsg.search.product import kernels, serving
from rsg.search.product.explored import Explored
from rsg.search.product.novelty import new_novelty
from rsg.search.product.serving import KernelSearch
from rsg.search.product.settings import ORDER, ORDERS, Found, Product, Soft
from rsg.search.product.walking import EARLY, Walking
from rsg.worlds import World
from rsg.worlds.macros import with_macros

EVERY = {"balanced": 1, "novel": 16}
"""After how many expansions a random node has its turn; else 2."""


class LabelSearch(KernelSearch[kernels.Memory]):
    """One search over states × machine; `run` may be called again to go on with a larger budget.

    Args:
        explored: the states, of a world or of a graph.
        machine: of the task.
        ahead: `[1, V]` or `[cap, V]`, a lower bound on the cost ahead of each label.
        how: to search.
        seed: where chance comes from.
    """

    def __init__(self, explored: Explored, machine: Machine, ahead: Array, how: Product, seed: int) -> None:
        self.machine, self.how = machine, how
        order, transitions = how.order or ORDER, how.transitions
        soft = isinstance(transitions, Soft)
        sights = explored.sights if order == "novel" and not soft else None
        walks = sights is not None
        likely = (3 if walks else 2 if order == "novel" else 1) * machine.nodes
        heaps = 1 if order == "optimal" else likely + (machine.nodes if soft else int(walks))
        # One expansion adds at most so many labels to a heap: for every action the moved one and one per edge of the
        # machine, or, if each node has its own heap, one per edge to that node.
        spread = len(explored.costs) * (machine.edges + 1 if heaps == 1 else machine.nodes)
        asked = kernels.Asked(
            nodes=machine.arrays,
            ahead=ahead,
            order=ORDERS.index(order),
            hard=not soft,
            threshold=float(np.log(transitions.threshold)),
            not_yet=float(np.log1p(-transitions.threshold)),
            weight=float(transitions.weight) if isinstance(transitions, Soft) else 0.0,
            likely=likely,
            every=EVERY.get(order, 2),
            walks=EARLY if walks else kernels.NEVER,
        )
        memory = kernels.Memory(
            known=explored.known,
            labels=np.empty((len(explored.known.pool), machine.nodes), dtype=kernels.LABEL),
            heaps=np.empty((heaps, serving.FIRST_ROOM + spread), dtype=kernels.OPEN),
            sizes=np.zeros(heaps, dtype=np.int64),
            run=np.zeros(1, dtype=kernels.RUN),
            novelty=new_novelty(explored.known.table, machine.nodes, explored.column),
            tried=np.empty(len(explored.known.pool), dtype=np.int32),
            is_tried=np.empty(len(explored.known.pool), dtype=np.bool_),
        )
        super().__init__(explored, specialised_search(kernels.search, explored), memory, asked, spread)
        self._walking = Walking(explored, sights) if sights else None
        self._begin((seed * 2654435761 + 97) & 0x7FFFFFFF)

    def _begin(self, dice: int) -> None:
        """One label is open: the first state, at `v_0`."""
        labels, heaps, run = self.memory.labels, self.memory.heaps, self.memory.run
        labels[0] = (np.inf, np.inf, np.inf, 0, 0, 0, 0, 0, 0)
        labels["fresh"][0, 0] = 0.0
        heaps[0, 0] = (0.0, 0, 0, 0)
        self.memory.sizes[0] = 1
        run["best"], run["chosen"], run["dice"] = np.inf, -1, dice
        self.memory.is_tried[0] = False
        run["tick"] = run["fullest"] = run["labelled"] = 1

    def run(self, limits: Limits | None = None) -> Found:
        """Search until there is a plan, a limit, or nothing left; for `anytime`, until the next better plan."""
        start = time.perf_counter()
        ended = drive(self, limits or Limits())
        best = self.memory.run["best"]
        plan: tuple[Any, Any, Any] = self._trace() if best[0] < np.inf else (None, None, None)
        return Found(*plan, float(best[0]), self.expansions, ended, time.perf_counter() - start)

    def serve(self, status: int) -> None:
        """Give the kernel what it stopped for: perhaps walks."""
        if status == kernels.WALK and self._walking is not None:
            status = self._walking.serve(self, self._stop)
        super().serve(status)

    def keep_up(self) -> None:
        """Labels for as many states as there is room for."""
        super().keep_up()
        memory, room = self.memory, len(self.memory.labels)
        self.memory = memory._replace(tried=grown(memory.tried, room), is_tried=grown(memory.is_tried, room))

    def _trace(self) -> tuple[Ints, Array, Ints]:
        """The best plan, followed back from its end. A label on its way may have become cheaper: so does the plan."""
        run, labels = self.memory.run, self.memory.labels
        s, v, moved = int(run["best_state"][0]), int(run["best_node"][0]), True
        cost = self._transition_cost(s, v, self.machine.nodes - 1)
        actions, nodes, numbers = [], [], [s]
        while v != 0:
            *_, entered_from, came_from, by, was_moved, _, _ = labels[s, v].item()
            if moved:
                actions.append(by)
                nodes.append(v)
                numbers.append(came_from)
                cost += self.explored.price(came_from, by)
                s, moved = came_from, bool(was_moved)
            else:
                cost += self._transition_cost(s, entered_from, v)
                v, moved = entered_from, True
        run["best"] = min(run["best"][0], cost)
        states = self.explored.rows(np.array(numbers[::-1]))
        way = self.explored.unroll(np.array(actions[::-1], dtype=np.int64), states)
        return way.actions, way.states, np.repeat(np.array(nodes[::-1], dtype=np.int64), way.counts)

    def _transition_cost(self, s: int, v: int, w: int) -> float:
        """What it costs to go from node v to node w in state s, where that is allowed."""
        term_of, value = self.machine.term_of, self.memory.known.value
        transitions = self.how.transitions
        if not isinstance(transitions, Soft):
            return 0.0
        leaving = value[s, term_of[v], 0] if v > 0 else 0.0
        entering = value[s, term_of[w], 1] if w < self.machine.nodes - 1 else 0.0
        return float(-transitions.weight * (leaving + entering))

    def reached(self) -> tuple[Bools, Bools]:
        """Which nodes were entered, and which of these were left, `[V]` each: why there is no plan."""
        run = self.memory.run
        labels = self.memory.labels[: run["labelled"][0], 1:]
        fresh = np.isfinite(labels["fresh"])
        left = np.zeros(self.machine.nodes, dtype=bool)
        left[labels["entered_from"][fresh]] = True
        if run["best"][0] < np.inf:
            left[run["best_node"][0]] = True
        return np.concatenate([[False], fresh.any(axis=0)]), left


def specialised_search(template: Kernel, explored: Explored) -> Kernel:
    """A kernel of these states and their goals."""
    leave = specialised(kernels.leave, pasted, goal=explored.forms.goal)
    expand = specialised(kernels.expand, pasted, leave=leave)
    return specialised(template, find_out=explored.forms.find_out, expand=expand)


class ProductSearch(LabelSearch):
    """The search over world × machine.

    Args:
        world: with only a batched `successors` it is asked for whole frontiers; a compiled step is used if there. Its
            macros are searched beside its actions.
        state: `[W]` where it starts.
        machine: of the task.
        goals: the classifiers of the machine's terms.
        how: to search.
        seed: where chance comes from.
    """

    def __init__(self, world: World, state: Array, machine: Machine, goals: Goals, how: Product, seed: int = 0) -> None:
        explored = Explored(with_macros(world), state, goals, len(machine.terms))
        super().__init__(explored, machine, _ahead(machine, float(explored.costs.min())), how, seed)


@lru_cache(maxsize=256)
def _ahead(machine: Machine, price: float) -> Array:
    """For each node, the least cost that lies ahead in any world, `[1, V]`; made once."""
    return nodes_ahead(machine)[None] * price


def nodes_ahead(machine: Machine) -> Floats:
    """How many nodes must still be served from each node on, itself included: each takes at least one action `[V]`.

    >>> from rsg.language import parse
    >>> nodes_ahead(Machine.of(parse("a then (b or (c then d))"))).tolist()
    [2.0, 2.0, 1.0, 2.0, 1.0, 0.0]
    """
    ahead = np.zeros(machine.nodes)
    for node in range(machine.nodes - 2, -1, -1):
        ahead[node] = (node > 0) + min(ahead[after] for after in machine.successors(node))
    return ahead
