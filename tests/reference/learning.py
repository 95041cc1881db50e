"""The score of a demonstration once more, slow and plain: every alignment is looked at, one after the other.

Nothing here looks at `rsg.subgoals`. An alignment is a list of (node, how many actions serve it), in order. It ends
with v_T, which no action serves, unless the demonstration is over before the task is.
"""

from math import inf
from typing import Any, NamedTuple

import numpy as np
from tests.reference.search import bellman, transition_cost


class Question(NamedTuple):
    """What is asked: how well a machine explains the edges `taken` of a graph, with log G and log I `[S, terms]`."""

    graph: Any
    taken: Any
    machine: Any
    log_g: Any
    log_i: Any
    alpha: float = 1.0
    weight: float = 1.0
    one_action: bool = True
    open_end: bool = False
    at_once: bool = False  # who goes on serving a node says that it is not true yet
    each: Any = None  # `[T]` what an action counts in the sum over all of them; 1 if None


def machine_paths(machine, v=0):
    """All ways from node v to any other node, as tuples of the nodes after v."""
    for w in machine.successors(v).tolist():
        yield (w,)
        yield from ((w, *rest) for rest in machine_paths(machine, w))


def splits(total, parts, least):
    """All ways to write `total` as a sum of so many whole numbers, each of them at least `least`."""
    if parts == 0:
        yield from [()] if total == 0 else []
        return
    for first in range(least, total + 1):
        yield from ((first, *rest) for rest in splits(total - first, parts - 1, least))


def alignments(machine, steps, one_action, open_end=False):
    """All of them. With the one-action rule each node that is left serves at least one action, else it may serve none.

    With an open end, the one node that is never left may serve any number of actions.
    """
    for nodes in machine_paths(machine):
        done = nodes[-1] == machine.nodes - 1
        for last in [0] if done else range(steps + 1) if open_end else []:
            for counts in splits(steps - last, len(nodes) - 1, 1 if one_action else 0):
                yield list(zip(nodes, (*counts, last), strict=True))


def events(alignment):
    """What happens: the crossings (state, from, to), and the actions (action, node, whether the node is fresh)."""
    crossings, acts, i, v = [], [], 0, 0
    for w, count in alignment:
        crossings.append((i, v, w))
        acts += [(i + k, w, k == 0) for k in range(count)]
        i, v = i + count, w
    return crossings, acts


def log_share_of_first(values, counts):
    """log of the first of several exp(values) against all of them, each counted so many times."""
    if values[0] == -inf:
        return -inf
    most = max(values)
    return values[0] - most - np.log(sum(c * np.exp(value - most) for value, c in zip(values, counts, strict=True)))


def log_rat(q, costs, i, v, fresh):
    """log Rat of action i at node v: its -α J against that of the other actions and of the open transitions."""
    graph, machine = q.graph, q.machine
    moved, entered = costs
    s = graph.path[i]
    others = [e for e in range(graph.edge_start[s], graph.edge_start[s + 1]) if e != q.taken[i]]
    j = [graph.edge_cost[e] + moved[graph.edge_end[e], v] for e in [q.taken[i], *others]]
    counts = [1.0 if q.each is None else q.each[i]] * len(j)
    if not (q.one_action and fresh):
        for w in machine.successors(v).tolist():
            after = 0.0 if w == machine.nodes - 1 else entered[s, w]
            j.append(transition_cost(machine, q.log_g[s], q.log_i[s], v, w, q.weight) + after)
            counts.append(1.0)
    return log_share_of_first([-q.alpha * cost for cost in j], counts)


def all_scores(q):
    """Every alignment with its score: Σ log Rat of the actions + Σ (log G + log I) at the crossings."""
    costs = bellman(q.graph, q.machine, q.log_g, q.log_i, q.weight, q.one_action)
    rat = {}
    found = []
    for alignment in alignments(q.machine, len(q.taken), q.one_action, q.open_end):
        crossings, acts = events(alignment)
        total = 0.0
        for i, v, w in crossings:
            s = q.graph.path[i]
            total -= transition_cost(q.machine, q.log_g[s], q.log_i[s], v, w)
        for act in acts:
            if act not in rat:
                rat[act] = log_rat(q, costs, *act)
            total += rat[act]
            i, v, fresh = act
            if q.at_once and not fresh:
                total += q.log_i[q.graph.path[i]][q.machine.term_of[v]]
        node, served = alignment[-1]
        if node < q.machine.nodes - 1 and (served or not q.one_action):  # it stops where its subgoal is not true yet
            total += q.log_i[q.graph.path[-1]][q.machine.term_of[node]]
        found.append((alignment, total))
    return found


def best_score(scores):
    """Of the best alignment."""
    return max((value for _, value in scores), default=-inf)


def marginal_score(scores):
    """The logarithm of the sum over all alignments."""
    most = best_score(scores)
    return most if most == -inf else most + np.log(sum(np.exp(value - most) for _, value in scores))


def expected_score(q):
    """What is expected if chance leaves node v at s with probability G_v(s), where it can stay and leave; an adventure
    in which the best of several ways on is chosen."""
    costs = bellman(q.graph, q.machine, q.log_g, q.log_i, q.weight, q.one_action)
    last, steps = q.machine.nodes - 1, len(q.taken)

    def leave(i, v):
        s, ways = q.graph.path[i], [-inf]
        for w in q.machine.successors(v).tolist():
            if w == last and i < steps:
                continue  # the task is done at the last state only
            ways.append(-transition_cost(q.machine, q.log_g[s], q.log_i[s], v, w) + (w != last and at(i, w, True)))
        return max(ways)

    def stay(i, v, fresh):
        if i < steps:
            return log_rat(q, costs, i, v, fresh) + at(i + 1, v, False)
        stops = 0.0 if fresh and q.one_action else q.log_i[q.graph.path[i]][q.machine.term_of[v]]
        return stops if q.open_end else -inf

    def at(i, v, fresh):
        stays = stay(i, v, fresh)
        leaves = -inf if fresh and q.one_action else leave(i, v)
        if -inf in (stays, leaves) or (fresh and q.one_action):
            return max(stays, leaves)
        g = np.exp(q.log_g[q.graph.path[i]][q.machine.term_of[v]])
        return g * leaves + (1 - g) * stays

    return leave(0, 0)


def as_arrays(machine, alignment, steps):
    """An alignment as zeros and ones: acts `[T, V]` and crossings `[T + 1, E]`."""
    acts, crossings = np.zeros((steps, machine.nodes)), np.zeros((steps + 1, machine.edges))
    crossed, acted = events(alignment)
    for i, v, _ in acted:
        acts[i, v] = 1
    for i, v, w in crossed:
        crossings[i, machine.next_start[v] + machine.successors(v).tolist().index(w)] = 1
    return acts, crossings


def posterior(q, scores):
    """The probability of each act and crossing, if alignments are as likely as their scores say."""
    total, steps = marginal_score(scores), len(q.taken)
    acts, crossings = np.zeros((steps, q.machine.nodes)), np.zeros((steps + 1, q.machine.edges))
    for alignment, value in scores:
        parts = as_arrays(q.machine, alignment, steps)
        acts += np.exp(value - total) * parts[0]
        crossings += np.exp(value - total) * parts[1]
    return acts, crossings
