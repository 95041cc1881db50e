"""J: the least cost from every state and machine node to the end of the task (paper, eq. 4, corrected).

J(s, v) = min over paths from s of action costs plus the cost of leaving v where the path ends, and
leaving v at s costs -λ log G_v(s) plus 0 if v may finish, or plus -λ log I_w(s) + (what follows at w).
With the one-action rule, entering w is followed by an action: what follows is min_a c(a) + J(T(s, a), w).
On a graph that is cut at some depth, J is an upper bound.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rsg.core.compiled import compiled
from rsg.core.errors import RsgError
from rsg.language import Machine
from rsg.search.graph import StateGraph

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class CostToGo:
    """Costs to the end of the task, and how they come about.

    Attributes:
        cost: `[S, V]` J(s, v) of a moved label: it may be left at s. Infinite where the end cannot be reached.
        entry: `[S, V]` J of a fresh label: an action comes first. Equal to `cost` under the looser rule.
        exit: `[S, V]` the state at which the best path leaves v, -1 if there is none.
        then: `[S, V]` the node entered when v is left at s in the best way, -1 if it cannot be left.
        leave: `[S, V]` the cost of leaving v at s in the best way and going on to the end.
    """

    cost: Floats
    entry: Floats
    exit: Ints
    then: Ints
    leave: Floats


def cost_to_go(
    graph: StateGraph, machine: Machine, log_g: Floats, log_i: Floats, weight: float = 1.0, one_action: bool = True
) -> CostToGo:
    """Shortest paths for each node in reverse topological order.

    Args:
        graph: of states.
        machine: of the task.
        log_g, log_i: `[S, terms]` of the machine's terms.
        weight: λ.
        one_action: whether a node that was entered must be served by an action before it is left.
    """
    shape = (len(graph.states), len(machine.terms))
    if log_g.shape != shape or log_i.shape != shape:
        raise RsgError(f"log G and log I must have shape {shape}, got {log_g.shape} and {log_i.shape}")
    size = (shape[0], machine.nodes)
    costs = [np.full(size, np.inf) for _ in range(3)]
    nodes = [np.full(size, -1, dtype=np.int32) for _ in range(2)]
    result = CostToGo(cost=costs[0], entry=costs[1], exit=nodes[0], then=nodes[1], leave=costs[2])
    edges = (graph.edge_start, graph.edge_end, graph.edge_cost, *graph.reverse)
    order = (machine.term_of, machine.next_start, machine.next_node)
    values = (np.ascontiguousarray(log_g), np.ascontiguousarray(log_i))
    tables = (result.cost, result.entry, result.exit, result.then, result.leave)
    sweep(edges, order, values, weight, one_action, tables)
    return result


@compiled
def sweep(edges: Any, order: Any, values: Any, weight: float, one_action: bool, tables: Any) -> None:
    """Fill the tables, last node first. Each node is one Dijkstra from all states at once, with a binary heap."""
    edge_start, edge_end, edge_cost, back_start, back_from, back_cost = edges
    term_of, next_start, next_node = order
    log_g, log_i = values
    cost, entry, exit_, then, leave = tables
    count, last = len(cost), len(term_of) - 1
    keys = np.empty(len(edge_end) + count + 1)
    items = np.empty(len(edge_end) + count + 1, dtype=np.int64)
    done = np.empty(count, dtype=np.bool_)
    for v in range(last - 1, -1, -1):
        size = 0
        for s in range(count):
            best, best_node = np.inf, -1
            for edge in range(next_start[v], next_start[v + 1]):
                w = next_node[edge]
                total = 0.0 if w == last else entry[s, w] - weight * log_i[s, term_of[w]]
                if total < best:
                    best, best_node = total, w
            if v > 0:
                best -= weight * log_g[s, term_of[v]]
            leave[s, v] = best
            then[s, v] = best_node if best < np.inf else -1
            cost[s, v] = best
            exit_[s, v] = s if best < np.inf else -1
            done[s] = False
            if best < np.inf and v > 0:
                size = _push(keys, items, size, best, s)
        if v == 0:  # no action serves v_0
            for s in range(count):
                entry[s, 0] = cost[s, 0]
            return
        while size > 0:
            s = items[0]
            size = _pop(keys, items, size)
            if done[s]:
                continue
            done[s] = True
            for edge in range(back_start[s], back_start[s + 1]):
                before = back_from[edge]
                total = cost[s, v] + back_cost[edge]
                if total < cost[before, v]:
                    cost[before, v] = total
                    exit_[before, v] = exit_[s, v]
                    size = _push(keys, items, size, total, before)
        for s in range(count):
            if one_action:
                for edge in range(edge_start[s], edge_start[s + 1]):
                    entry[s, v] = min(entry[s, v], edge_cost[edge] + cost[edge_end[edge], v])
            else:
                entry[s, v] = cost[s, v]


@compiled
def _push(keys: Floats, items: NDArray[np.int64], size: int, key: float, item: int) -> int:
    i = size
    while i > 0 and keys[(i - 1) >> 1] > key:
        keys[i], items[i] = keys[(i - 1) >> 1], items[(i - 1) >> 1]
        i = (i - 1) >> 1
    keys[i], items[i] = key, item
    return size + 1


@compiled
def _pop(keys: Floats, items: NDArray[np.int64], size: int) -> int:
    size -= 1
    key, item = keys[size], items[size]
    i = 0
    while 2 * i + 1 < size:
        child = 2 * i + 1
        if child + 1 < size and keys[child + 1] < keys[child]:
            child += 1
        if key <= keys[child]:
            break
        keys[i], items[i] = keys[child], items[child]
        i = child
    keys[i], items[i] = key, item
    return size
