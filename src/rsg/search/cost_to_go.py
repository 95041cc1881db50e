"""J: the least cost from every state and machine node to the end of the task (paper, eq. 4, corrected), and its slopes.

J(s, v) = min over paths from s of action costs plus the cost of leaving v where the path ends, and
leaving v at s costs -λ log G_v(s) plus 0 if v may finish, or plus -λ log I_w(s) + (what follows at w).
Entering w is followed by an action: what follows is min_a c(a) + J(T(s, a), w).
On a graph that is cut at some depth, J is an upper bound.

Forward: `sweep` goes through the nodes, last first: leave a node, reach its exits, enter it. `sweep_back` goes the same
way back, first node first, with the *slopes* of a score: how much it changes with each J, each log G and each log I.
"""

from typing import NamedTuple

import numpy as np

from rsg.core.arrays import Array, Bools, Floats, Indices, record
from rsg.core.compiled import compiled, inlined, inner, pasted
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


class Case(NamedTuple):
    """A task on a graph: what actions cost, what is to be served, what classifiers say, λ, what is still to be paid."""

    edges: Edges
    nodes: Nodes
    logs: Logs
    weight: float
    togo: CostToGo


class Slopes(NamedTuple):
    """The gradient of a score: of log G and log I `[S, terms]`, of J (moved) and of J (entered) `[S, V]`."""

    g: Floats
    i: Floats
    cost: Floats
    entry: Floats


class Room(NamedTuple):
    """For `reach_exits` to work in: a heap `[1, ·]` of states that wait, and which were looked at, `[S]`."""

    waiting: Array
    done: Bools


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
    return _cost_to_go(graph.arrays, machine.arrays, Logs(*map(np.ascontiguousarray, logs)), float(weight))


@compiled
def _cost_to_go(edges: Edges, nodes: Nodes, logs: Logs, weight: float) -> CostToGo:
    togo = nothing_known(len(logs.g), len(nodes.term))
    sweep(Case(edges, nodes, logs, weight, togo))
    return togo


@pasted
def nothing_known(states: int, nodes: int) -> CostToGo:
    """Tables to be filled by `sweep`."""
    size = (states, nodes)
    exits, then = np.full(size, -1, dtype=np.int32), np.full(size, -1, dtype=np.int32)
    return CostToGo(np.full(size, np.inf), np.full(size, np.inf), exits, then, np.full(size, np.inf))


@pasted
def no_slopes(case: Case) -> Slopes:
    """Slopes to add to."""
    terms, nodes = case.logs.g.shape, case.togo.cost.shape
    return Slopes(np.zeros(terms), np.zeros(terms), np.zeros(nodes), np.zeros(nodes))


@pasted
def sweep(case: Case) -> None:
    """Fill the tables, last node first."""
    room = room_for(case)
    for v in range(len(case.nodes.term) - 2, 0, -1):
        leave_node(case, v)
        reach_exits(case, v, room)
        enter_node(case, v)
    leave_node(case, 0)  # no action serves v_0
    for s in range(len(case.togo.cost)):  # not all at once: that takes numba seconds to compile
        case.togo.entry[s, 0] = case.togo.cost[s, 0]


@pasted
def sweep_back(case: Case, slopes: Slopes) -> None:
    """The slopes of J (eq. 4), exact by the envelope theorem: those of the exits on the best path, first node first."""
    for v in range(1, len(case.nodes.term) - 1):
        enter_node_back(case, v, slopes)
        reach_exits_back(case, v, slopes)


@inner
def leave_node(case: Case, v: int) -> None:
    """What it costs to leave v in each state, there and then: -λ log G_v(s) + min_w (-λ log I_w(s) + what follows)."""
    nodes, logs, weight, togo = case.nodes, case.logs, case.weight, case.togo
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


@inner
def leave_node_back(case: Case, s: int, v: int, w: int, share: float, slopes: Slopes) -> None:
    """Add the slopes of share · (what it costs to leave v at state s, for w)."""
    nodes, weight = case.nodes, case.weight
    slopes.g[s, nodes.term[v]] -= weight * share
    if w < len(nodes.term) - 1:
        slopes.i[s, nodes.term[w]] -= weight * share
        slopes.entry[s, w] += share


@inlined
def cheaper(one: np.record, other: np.record) -> bool:
    """Which entry of the heap comes first."""
    return one.cost < other.cost  # type: ignore[no-any-return]


@pasted
def room_for(case: Case) -> Room:
    """Room for all states and edges."""
    states, edges = len(case.togo.cost), len(case.edges.back_from)
    return Room(np.empty((1, edges + states + 2), dtype=WAITING), np.empty(states, dtype=np.bool_))


@pasted
def reach_exits(case: Case, v: int, room: Room) -> None:
    """J of v: one Dijkstra from all states in which v can be left, along edges turned around."""
    (waiting, done), cost, exits = room, case.togo.cost, case.togo.exit
    back_start, back_from, back_cost = case.edges.back_start, case.edges.back_from, case.edges.back_cost
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


@pasted
def reach_exits_back(case: Case, v: int, slopes: Slopes) -> None:
    """From J of v to log G and log I where the best path leaves v, and to J where it then enters another node."""
    togo = case.togo
    leave = np.zeros(len(togo.cost))
    for s in range(len(leave)):
        if slopes.cost[s, v] != 0.0 and togo.exit[s, v] >= 0:
            leave[togo.exit[s, v]] += slopes.cost[s, v]
    for s in range(len(leave)):
        if leave[s] != 0.0:
            leave_node_back(case, s, v, togo.then[s, v], leave[s], slopes)


@pasted
def enter_node(case: Case, v: int) -> None:
    """What follows where v is entered: min_a c(a) + J(T(s, a), v)."""
    edges, togo = case.edges, case.togo
    for s in range(len(togo.cost)):
        for edge in range(edges.start[s], edges.start[s + 1]):
            togo.entry[s, v] = min(togo.entry[s, v], edges.cost[edge] + togo.cost[edges.end[edge], v])


@pasted
def enter_node_back(case: Case, v: int, slopes: Slopes) -> None:
    """From J where v is entered to J after the best action there."""
    edges, cost = case.edges, case.togo.cost
    for s in range(len(cost)):
        if slopes.entry[s, v] == 0.0:
            continue
        best, after = np.inf, s
        for edge in range(edges.start[s], edges.start[s + 1]):
            total = edges.cost[edge] + cost[edges.end[edge], v]
            if total < best:
                best, after = total, edges.end[edge]
        slopes.cost[after, v] += slopes.entry[s, v]
