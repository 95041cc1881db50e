"""The search that the paper's appendix describes ("FSM-A*"): machine node after machine node, layer after layer.

At each node, in topological order, the first b layers of actions are breadth-first, so that every path of b actions is
tried. Of each of the c layers that follow only the k best states are kept, by their cost so far plus a heuristic: for
tasks of the training set the learned value V_t, for unseen tasks h ≡ 0. A state that satisfies the node's subgoal goes
on to the nodes after it, at the cost of the transition. The plan of least cost that ends at v_T is given.

With soft transitions every state goes on to the nodes after it, though at a cost, and the b full layers there begin
with all of them: what is tried multiplies from node to node. Two limits help, one that the appendix has besides (5,000
steps at each node) and one that it does not have (only the cheapest states enter a node).
"""

import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rsg.language import Machine
from rsg.planning import Plan
from rsg.search import GoalFn, Goals, Hard, Product, ProductSearch, SearchSettings, Soft
from rsg.search.product.kernels import GROW, NEED, PAUSED, expand, find_out, label_states
from rsg.search.product.search import specialised_search
from rsg.worlds import World

if TYPE_CHECKING:
    from reproductions.paper.sampled_scheme import Values


class Layers(NamedTuple):
    """How far a node is searched.

    Attributes:
        full: b layers with all states.
        narrow: c layers of a beam.
        beam: k states of it.
        value: the heuristic: for states `[N, W]` what still lies ahead at each node, `[N, V]`.
        each: expansions at each node at most.
        enter: states with which a node is begun at most, the cheapest ones.
    """

    full: int = 4
    narrow: int = 25
    beam: int = 10
    value: Callable[[NDArray[Any]], NDArray[Any]] | None = None
    each: int | None = None
    enter: int | None = None


def expand_label(tables: Any, goals: Any, memory: Any, asked: Any, s: int, v: int) -> int:
    """Expand the label (s, v) if there is room and its successors are known: a kernel, as `rsg.search.product` has."""
    known, actions = memory.known, memory.known.after.shape[1]
    room = memory.heaps.shape[1] - 1 - actions * memory.labels.shape[1]
    if memory.run[0].fullest > room or known.size[0] + actions >= len(memory.labels):
        return GROW
    if known.after[s, 0] < 0 and not find_out(tables, known, s):
        memory.run[0].wanted = s
        return NEED
    label_states(memory)
    expand(goals, memory, asked, s, v, True, False)
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
        self._node, self._depth, self._cut, self._before = 0, 0, False, 0
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
            status = self._kernel(forms.tables, forms.goals, self.memory, self.asked, *label)
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
        full, narrow, beam, _, each, enter = self.layers
        left = np.inf if each is None else each - (self.expansions - self._before)
        if self._depth == full + narrow or left <= 0 or (self._node == 0 and self._depth == 1):
            self._cut |= len(self._open_states()) > 0
            self._node, self._depth, self._before = self._node + 1, 0, self.expansions
            left = np.inf if each is None else each
        if self._node == self.machine.nodes - 1 or full + narrow == 0:
            return []
        self._depth += 1
        states = self._open_states()
        kept = states if self._depth <= full or self._node == 0 else states[:beam]
        kept = kept[:enter] if self._depth == 1 else kept
        kept = kept if left == np.inf else kept[: int(left)]
        self._cut |= len(kept) < len(states)
        return [int(state) for state in kept]

    def _open_states(self) -> NDArray[np.int64]:
        """The states of the node's open labels, best first; its heap is emptied."""
        memory, node = self.memory, self._node
        heaps = range(node, len(memory.sizes), self.machine.nodes)
        entries = np.concatenate([memory.heaps[heap, : memory.sizes[heap]] for heap in heaps])
        entries = np.sort(entries, order=("key", "tick"))
        memory.sizes[heaps] = 0
        states = entries["state"][np.sort(np.unique(entries["state"], return_index=True)[1])]
        labels = memory.labels[states, node]
        cost = np.minimum(labels["fresh"], labels["moved"])
        still_open = labels["expanded"] > cost
        states, cost = states[still_open].astype(np.int64), cost[still_open]
        if self.layers.value is not None and len(states):
            cost = cost + self.layers.value(self.explored.rows(states))[:, node]
            return np.asarray(states[np.argsort(cost, kind="stable")])
        return np.asarray(states)


def by_layers(layers: Layers = Layers(), values: "Values | None" = None) -> Callable[..., Plan]:  # noqa: B008
    """A planner like `rsg.plan` that searches by layers; values: of the tasks of the training set, as its heuristic."""

    def plan(world: World, state: NDArray[Any], machine: Machine, goal_fn: GoalFn, settings: SearchSettings) -> Plan:
        begun = time.perf_counter()
        goals = goal_fn(world, machine.names, state)
        search = LayeredSearch(world, state, machine, goals, settings.planner.transitions)
        ahead = values.goals(world, machine, state) if values else None
        search.layers = layers if ahead is None else layers._replace(value=partial(_ahead, ahead))
        found = search.run(settings.limits())
        made = Plan(task=machine.task, states=state[None], expansions=found.expansions, ended=found.ended)
        if found.actions is not None and found.states is not None and found.nodes is not None:
            terms = tuple(machine.names[machine.term_of[v]] for v in found.nodes)
            way: Any = {"states": found.states, "actions": found.actions, "nodes": found.nodes, "terms": terms}
            made = replace(made, cost=found.cost, **way)
        return replace(made, seconds=time.perf_counter() - begun)

    return plan


def _ahead(values: Callable[..., Any], states: NDArray[Any]) -> NDArray[Any]:
    """V_t of states at each node, with 0 for v_0 and v_T."""
    return np.pad(-values(states)[1], ((0, 0), (1, 1)))
