"""Graphs of distinct states with the actions between them: what cost-to-go is computed on."""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from rsg.core.arrays import Array, Floats, Indices, Ints
from rsg.core.compiled import compiled
from rsg.core.errors import RsgError
from rsg.search.product.explored import Explored
from rsg.worlds import World


class Edges(NamedTuple):
    """The edges of a graph as kernels want them: by the state that they come from, and by the one that they lead to.

    Attributes:
        start: `[S + 1]` where the edges from each state begin; end, cost: `[E]` where they lead, and their cost.
        back_start: `[S + 1]` where the edges to each state begin; back_from, back_cost: `[E]` where they come from, and
            their cost.
    """

    start: Indices
    end: Indices
    cost: Floats
    back_start: Indices
    back_from: Indices
    back_cost: Floats


@dataclass(frozen=True, eq=False)
class StateGraph:
    """Distinct states and the edges between them, in CSR form.

    Attributes:
        states: `[S, W]`.
        edge_start: `[S + 1]` where the edges of each state begin.
        edge_end: `[E]` the state that an edge leads to.
        edge_action: `[E]` the action, edge_cost: `[E]` its cost.
        path: `[T + 1]` where the trajectory, or the start, lies on the graph.
    """

    states: Array
    edge_start: Indices
    edge_end: Indices
    edge_action: Indices
    edge_cost: Floats
    path: Indices

    @classmethod
    def of(cls, states: Array, source: Indices, target: Indices, cost: Floats, path: Indices) -> "StateGraph":
        """The graph of edges `[E]` in any order; the action of each is its number among those of its state."""
        start, end, ordered = in_order(source, target, cost, len(states))
        action = np.arange(len(end), dtype=np.int32) - np.repeat(start[:-1], np.diff(start))
        return cls(states, start, end, action, ordered, path)

    @cached_property
    def edge_source(self) -> Indices:
        """`[E]` the state that an edge comes from."""
        return np.repeat(np.arange(len(self.states), dtype=np.int32), np.diff(self.edge_start))

    @cached_property
    def arrays(self) -> Edges:
        """The edges both ways; those to a state are in the order of where they come from."""
        back = in_order(self.edge_end, self.edge_source, self.edge_cost, len(self.states))
        return Edges(self.edge_start, self.edge_end, self.edge_cost, *back)

    @cached_property
    def size_bytes(self) -> int:
        """The memory of its arrays, `arrays` not counted."""
        edges = (self.edge_start, self.edge_end, self.edge_action, self.edge_cost)
        return sum(array.nbytes for array in (self.states, *edges, self.path))

    def sub(self, kept: Ints) -> "StateGraph":
        """The graph of some of its states `[K]`, all of its path among them; states and actions are numbered anew."""
        place = np.full(len(self.states), -1, dtype=np.int32)
        place[kept] = np.arange(len(kept), dtype=np.int32)
        source, target = place[self.edge_source], place[self.edge_end]
        among = (source >= 0) & (target >= 0)
        return StateGraph.of(self.states[kept], source[among], target[among], self.edge_cost[among], place[self.path])

    def steps_from(self, sources: Ints) -> Indices:
        """The fewest edges from one of the sources `[N]` to each state, `[S]`; -1 where no way leads."""
        return steps_from(self.edge_start, self.edge_end, sources)

    def parts(self) -> Indices:
        """The number of the connected part that each state is in, `[S]`; if all edges lead both ways."""
        part = np.full(len(self.states), -1, dtype=np.int32)
        count = 0
        for root in range(len(part)):
            if part[root] < 0:
                part[self.steps_from(np.array([root])) >= 0] = count
                count += 1
        return part


def check_growth(states: Array, depth: int) -> None:
    """Whether a graph can grow from these states; else a sentence that says why not."""
    if states.ndim != 2 or len(states) == 0:
        raise RsgError(f"a graph grows from states [N, W], got {states.shape}")
    if depth < 0:
        raise RsgError(f"depth must be at least 0, not {depth}")


def local_graph(world: World, states: Array, depth: int, max_states: int = 1_000_000) -> StateGraph:
    """All states within `depth` actions of the given ones `[T + 1, W]`, breadth-first, and every edge among them.

    Actions that change nothing are self-loops. A graph that would be larger than `max_states` is an error. The world's
    compiled step is used if there; otherwise it is asked for the successors of whole layers.
    """
    check_growth(states, depth)
    if hasattr(world, "compiled_step"):
        world.step(states, np.zeros(len(states), dtype=np.int64))  # so that it may object: a kernel takes any bytes
    explored = Explored(world, states[0])
    path = explored.add(states).astype(np.int32)
    end = layers = 0
    while end < explored.count <= max_states and layers <= depth:
        begin, end = end, explored.count
        explored.follow(begin, max_states + 1 if layers < depth else end)
        layers += 1
    if explored.count > max_states:
        raise RsgError(f"more than {max_states:,} states within {depth} actions; choose a smaller depth")
    after = explored.known.after[:end].copy()
    source, action = np.nonzero(after >= 0)
    start = np.concatenate([[0], np.cumsum(np.count_nonzero(after >= 0, axis=1))]).astype(np.int32)
    distinct = explored.rows(np.arange(end))
    return StateGraph(distinct, start, after[source, action], action.astype(np.int32), explored.costs[action], path)


def chain(states: Array, cost: float) -> StateGraph:
    """The states of a trajectory `[T + 1, W]` alone, each once: from each one goes on as it did, or loses a step."""
    distinct, place = np.unique(states, axis=0, return_inverse=True)
    path, every = place.ravel().astype(np.int32), np.arange(len(distinct), dtype=np.int32)
    on = np.unique(np.stack([path[:-1], path[1:]]), axis=1)
    source, target = np.concatenate([on[0], every]), np.concatenate([on[1], every])
    return StateGraph.of(distinct, source, target, np.full(len(source), cost), path)


@compiled
def in_order(one: Indices, other: Indices, cost: Floats, count: int) -> tuple[Indices, Indices, Floats]:
    """Edges `[E]` in the order of the states at one of their ends, of which there are `count`; equal ones keep theirs.

    Gives where the edges of each state begin, `[count + 1]`, and in that order their other ends and their costs.
    """
    start = np.zeros(count + 1, dtype=np.int32)
    for s in one:
        start[s + 1] += 1
    for s in range(count):
        start[s + 1] += start[s]
    place, ends, costs = start.copy(), np.empty_like(other), np.empty_like(cost)
    for edge in range(len(one)):
        ends[place[one[edge]]], costs[place[one[edge]]] = other[edge], cost[edge]
        place[one[edge]] += 1
    return start, ends, costs


@compiled
def steps_from(start: Indices, end: Indices, sources: Ints) -> Indices:
    """The fewest edges from one of the sources to each state, breadth-first; -1 where no way leads."""
    steps = np.full(len(start) - 1, -1, dtype=np.int32)
    queue = np.empty(len(steps), dtype=np.int32)
    head, tail = 0, 0
    for s in sources:
        if steps[s] < 0:
            steps[s] = 0
            queue[tail] = s
            tail += 1
    while head < tail:
        s = queue[head]
        head += 1
        for edge in range(start[s], start[s + 1]):
            if steps[end[edge]] < 0:
                steps[end[edge]] = steps[s] + 1
                queue[tail] = end[edge]
                tail += 1
    return steps
