"""All states within some actions of a trajectory, and the actions between them."""

from __future__ import annotations

import numpy as np

from rsg.core.arrays import Array
from rsg.core.errors import RsgError
from rsg.search.graph import StateGraph
from rsg.search.product.explored import Explored
from rsg.worlds import World


def local_graph(world: World, states: Array, depth: int, max_states: int = 1_000_000) -> StateGraph:
    """All states within `depth` actions of the given ones `[T + 1, W]`, breadth-first, and every edge among them.

    Actions that change nothing are self-loops. A graph that would be larger than `max_states` is an error. The world's
    compiled step is used if there; otherwise it is asked for the successors of whole layers.
    """
    if states.ndim != 2 or len(states) == 0:
        raise RsgError(f"a graph grows from states [N, W], got {states.shape}")
    if depth < 0:
        raise RsgError(f"depth must be at least 0, not {depth}")
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
