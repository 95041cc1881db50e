"""The search that the paper's appendix describes ("FSM-A*"): machine node after machine node, layer after layer.

At each node, in topological order, the first b layers of actions are breadth-first, so that every path of b actions is
tried. Of each of the c layers that follow only the k best states are kept, by their cost so far plus a heuristic: while
training the learned value V_t of the task, for unseen tasks h ≡ 0. A state that satisfies the node's subgoal goes on
to the nodes after it, at the cost of the transition. The plan of least cost that ends at v_T is given.
"""

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rsg.language import Machine
from rsg.planning import Plan
from rsg.search import GoalFn, Goals, Hard, Product, ProductSearch, SearchSettings, Soft
from rsg.search.product.kernels import GROW, NEED, PAUSED, expand, find_out, label_states
from rsg.search.product.search import specialised_search
from rsg.worlds import World


class Layers(NamedTuple):
    """How far a node is searched: b full layers, c narrow ones of a beam of k states; and the heuristic.

    `value` gives for states `[N, W]` what still lies ahead at each node, `[N, V]`.
    """

    full: int = 4
    narrow: int = 25
    beam: int = 10
    value: Callable[[NDArray[Any]], NDArray[Any]] | None = None


def expand_label(tables: Any, goals: Any, memory: Any, asked: Any, s: int, v: int) -> int:
    """Expand the label (s, v) if there is room and its successors are known: a kernel, as `rsg.search.product` has."""
    known, actions = memory.known, len(asked.costs)
    room = memory.heaps.shape[1] - 1 - actions * memory.labels.shape[1]
    if memory.run[0].fullest > room or known.size[0] + actions >= len(memory.labels):
        return GROW
    if known.after[s, 0] < 0 and not find_out(tables, known, s):
        memory.run[0].wanted = s
        return NEED
    label_states(memory)
    expand(goals, memory, asked, s, v)
    return PAUSED


class LayeredSearch(ProductSearch):
    """One search by layers; it ends with `budget` if a layer, the beam or the budget left something out.

    Args:
        world, state, machine, goals: as for `ProductSearch`.
        transitions: what it takes to go from one node of the machine to the next.

    Attributes:
        layers: b, c, k and the heuristic; may be set before `run`.
    """

    def __init__(
        self, world: World, state: NDArray[Any], machine: Machine, goals: Goals, transitions: Hard | Soft
    ) -> None:
        super().__init__(world, state, machine, goals, Product("balanced", transitions))
        self.layers = Layers()
        self._kernel = specialised_search(expand_label, self.explored)
        self._node, self._depth, self._cut = 0, 0, False
        self._layer: list[int] = []

    def advance(self, budget: int | None) -> str:
        """Expand one layer."""
        if not self._layer:
            self._layer = self._next_layer()
        forms = self.explored.forms
        while self._layer:
            if budget is not None and self.expansions >= budget:
                return "budget"
            label = self._layer[0], self._node
            status = self._kernel(forms.tables, forms.goals, self.memory, self._asked, *label)
            self.serve(status)
            if status == PAUSED:
                del self._layer[0]
        if self._node < self.machine.nodes - 1:
            return ""
        if self.memory.run[0].best < np.inf:
            return "found"
        return "budget" if self._cut else "exhausted"

    def _next_layer(self) -> list[int]:
        """The states of the next layer of this node or, after its last layer, of the next one."""
        full, narrow, beam, _ = self.layers
        if self._depth == full + narrow or (self._node == 0 and self._depth == 1):
            self._cut |= len(self._open_states()) > 0
            self._node, self._depth = self._node + 1, 0
        if self._node == self.machine.nodes - 1 or full + narrow == 0:
            return []
        self._depth += 1
        states = self._open_states()
        kept = states if self._depth <= full or self._node == 0 else states[:beam]
        self._cut |= len(kept) < len(states)
        return [int(state) for state in kept]

    def _open_states(self) -> NDArray[np.int64]:
        """The states of the node's open labels, best first; its heap is emptied."""
        memory, node = self.memory, self._node
        entries = np.sort(memory.heaps[node, : memory.sizes[node]], order=("key", "tick"))
        memory.sizes[node] = 0
        states = entries["state"][np.sort(np.unique(entries["state"], return_index=True)[1])]
        labels = memory.labels[states, node]
        cost = np.minimum(labels["fresh"], labels["moved"])
        still_open = labels["expanded"] > cost
        states, cost = states[still_open].astype(np.int64), cost[still_open]
        if self.layers.value is not None and len(states):
            cost = cost + self.layers.value(self.explored.rows(states))[:, node]
            return np.asarray(states[np.argsort(cost, kind="stable")])
        return np.asarray(states)


def plan_by_layers(
    world: World, state: NDArray[Any], machine: Machine, goal_fn: GoalFn, settings: SearchSettings
) -> Plan:
    """As `rsg.plan`, by this search."""
    begun = time.perf_counter()
    goals = goal_fn(world, machine.names, state)
    found = LayeredSearch(world, state, machine, goals, settings.planner.transitions).run(settings.limits())
    made = Plan(task=machine.task, states=state[None], expansions=found.expansions, ended=found.ended)
    if found.actions is not None and found.states is not None and found.nodes is not None:
        terms = tuple(machine.names[machine.term_of[v]] for v in found.nodes)
        way: Any = {"states": found.states, "actions": found.actions, "nodes": found.nodes, "terms": terms}
        made = replace(made, cost=found.cost, **way)
    return replace(made, seconds=time.perf_counter() - begun)
