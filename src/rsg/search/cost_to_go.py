"""J: the least cost from every state and machine node to the end of the task (paper, eq. 4, corrected).

J(s, v) = min over paths from s of action costs plus the cost of leaving v where the path ends, and
leaving v at s costs -λ log G_v(s) plus 0 if v may finish, or plus -λ log I_w(s) + (what follows at w).
Entering w is followed by an action: what follows is min_a c(a) + J(T(s, a), w).
On a graph that is cut at some depth, J is an upper bound.
"""

from typing import NamedTuple

import numpy as np

from rsg.core.arrays import Array, Bools, Floats, Indices, record
from rsg.core.compiled import bare, compiled, inlined
from rsg.core.errors import RsgError
from rsg.language import Machine, Nodes
from rsg.search.graph import Edges, StateGraph
from rsg.search.kernels import heap

WAITING = record(cost=np.float64, state=np.int64)  # a state still to be looked at


class Logs(NamedTuple):
    """What classifiers say of states: log G and log I, `[S, terms]` each."""

    g: Floats
    i: Floats


class CostToGo(NamedTuple):
    """Costs to the end of the task, and how they come about.

    Attributes:
        cost: `[S, V]` J(s, v) of a moved label: it may be left at s. Infinite where the end cannot be reached.
        entry: `[S, V]` J of a fresh label: an action comes first.
        exit: `[S, V]` the state at which the best path leaves v, -1 if there is none.
        then: `[S, V]` the node entered when v is left at s in the best way, -1 if it cannot be left.
        leave: `[S, V]` the cost of leaving v at s in the best way and going on to the end.
    """

    cost: Floats
    entry: Floats
    exit: Indices
    then: Indices
    leave: Floats


def cost_to_go(graph: StateGraph, machine: Machine, logs: Logs, weight: float = 1.0) -> CostToGo:
    """Shortest paths for each node in reverse topological order.

    Args:
        graph: of states.
        machine: of the task.
        logs: log G and log I of the machine's terms.
        weight: λ.
    """
    shape = (len(graph.states), len(machine.terms))
    if logs.g.shape != shape or logs.i.shape != shape:
        raise RsgError(f"log G and log I must have shape {shape}, got {logs.g.shape} and {logs.i.shape}")
    togo = nothing_known(shape[0], machine.nodes)
    sweep(graph.arrays, machine.arrays, Logs(*map(np.ascontiguousarray, logs)), float(weight), togo)
    return togo


@compiled
def nothing_known(states: int, nodes: int) -> CostToGo:
    """Tables to be filled by `sweep`."""
    size = (states, nodes)
    exits, then = np.full(size, -1, dtype=np.int32), np.full(size, -1, dtype=np.int32)
    return CostToGo(np.full(size, np.inf), np.full(size, np.inf), exits, then, np.full(size, np.inf))


@compiled
def sweep(edges: Edges, nodes: Nodes, logs: Logs, weight: float, togo: CostToGo) -> None:
    """Fill the tables, last node first."""
    room = room_for(edges, len(togo.cost))
    for v in range(len(nodes.term) - 2, 0, -1):
        leave_node(nodes, logs, weight, togo, v)
        reach_exits(edges, togo, v, room)
        enter_node(edges, togo, v)
    leave_node(nodes, logs, weight, togo, 0)  # no action serves v_0
    togo.entry[:, 0] = togo.cost[:, 0]


@bare
def leave_node(nodes: Nodes, logs: Logs, weight: float, togo: CostToGo, v: int) -> None:
    """What it costs to leave v in each state, there and then: -λ log G_v(s) + min_w (-λ log I_w(s) + what follows)."""
    last = len(nodes.term) - 1
    for s in range(len(togo.cost)):
        best, then = np.inf, -1
        for edge in range(nodes.start[v], nodes.start[v + 1]):
            w = nodes.after[edge]
            total = 0.0 if w == last else togo.entry[s, w] - weight * logs.i[s, nodes.term[w]]
            if total < best:
                best, then = total, w
        if v > 0:
            best -= weight * logs.g[s, nodes.term[v]]
        togo.leave[s, v] = togo.cost[s, v] = best
        togo.then[s, v] = then if best < np.inf else -1
        togo.exit[s, v] = s if best < np.inf else -1


@inlined
def cheaper(one: np.record, other: np.record) -> bool:
    """Which entry of the heap comes first."""
    return one.cost < other.cost  # type: ignore[no-any-return]


@compiled
def room_for(edges: Edges, states: int) -> tuple[Array, Bools]:
    """A heap of states that wait, and which of them were looked at: for `reach_exits` to work in."""
    return np.empty((1, len(edges.back_from) + states + 2), dtype=WAITING), np.empty(states, dtype=np.bool_)


@bare
def reach_exits(edges: Edges, togo: CostToGo, v: int, room: tuple[Array, Bools]) -> None:
    """J of v: one Dijkstra from all states in which v can be left, along edges turned around."""
    (waiting, done), cost, exits = room, togo.cost, togo.exit
    back_start, back_from, back_cost = edges.back_start, edges.back_from, edges.back_cost
    size = 0
    for s in range(len(cost)):
        done[s] = False
        if cost[s, v] < np.inf:
            entry = heap.new(waiting, 0)
            entry.cost, entry.state = cost[s, v], s
            heap.push(waiting, 0, size, cheaper)
            size += 1
    while size > 0:
        s = waiting[0, 0].state
        size -= 1
        heap.pop(waiting, 0, size, cheaper)
        if done[s]:
            continue
        done[s] = True
        for edge in range(back_start[s], back_start[s + 1]):
            before = back_from[edge]
            total = cost[s, v] + back_cost[edge]
            if total < cost[before, v]:
                cost[before, v] = total
                exits[before, v] = exits[s, v]
                entry = heap.new(waiting, 0)
                entry.cost, entry.state = total, before
                heap.push(waiting, 0, size, cheaper)
                size += 1


@bare
def enter_node(edges: Edges, togo: CostToGo, v: int) -> None:
    """What follows where v is entered: min_a c(a) + J(T(s, a), v)."""
    for s in range(len(togo.cost)):
        for edge in range(edges.start[s], edges.start[s + 1]):
            togo.entry[s, v] = min(togo.entry[s, v], edges.cost[edge] + togo.cost[edges.end[edge], v])
