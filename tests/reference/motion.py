"""Paths among poses, and plans on graphs, once more: slow and plain. Nothing here looks at `rsg.search`."""

from heapq import heappop, heappush
from itertools import pairwise
from math import inf

import numpy as np
from tests.reference.search import transition_cost


def differences(world, starts, ends):
    """From poses to poses `[N, D]`, the shorter way round."""
    way = np.asarray(ends) - np.asarray(starts)
    turning = world.period > 0
    way[..., turning] -= world.period[turning] * np.round(way[..., turning] / world.period[turning])
    return way


def actions_apart(world, starts, ends):
    """How many actions lie between poses, not rounded, `[N]`."""
    return np.max(np.abs(differences(world, starts, ends)) / world.reach, axis=-1)


def length(world, poses):
    """The length of a path: all differences together, in actions."""
    ways = differences(world, poses[:-1], poses[1:]) / world.reach
    return float(np.sqrt((ways**2).sum(axis=1)).sum())


def what_is_wrong(world, state, poses):
    """Replay a path from the state, action by action; says what is wrong with it, or nothing."""
    size = len(world.low)
    if not np.array_equal(poses[0], state[:size]):
        return "it begins elsewhere"
    row = np.array(state)
    for number, pose in enumerate(poses[1:], start=1):
        action = differences(world, row[:size], pose)
        if (np.abs(action) > world.reach * (1 + 1e-8)).any():
            return f"action {number} is too long: {action}"
        row = world.step(row[None], action[None])[0]
        if actions_apart(world, row[:size], pose) > 1e-6:
            return f"action {number} is blocked"
        if not np.array_equal(row[size:], state[size:]):
            return f"action {number} changed more than the pose"
    return ""


def tree_size(world, start, targets, longest):
    """How many poses a tree from the start has that grew towards one target after the other, so many actions each."""
    poses = [start]
    for target in targets:
        near = poses[int(np.argmin(actions_apart(world, np.array(poses), target)))]
        total = int(np.ceil(actions_apart(world, near, target) - 1e-9))
        way = near + differences(world, near, target) * (np.arange(total + 1)[:, None] / max(total, 1))
        turning = world.period > 0
        way[:, turning] = world.low[turning] + (way - world.low)[:, turning] % world.period[turning]
        for before, after in pairwise(way[: longest + 1]):
            if not world.clear(before[None], after[None])[0]:
                break
            poses.append(after)
    return len(poses)


def cheapest(graph, machine, log_g, log_i, **rules):
    """The least cost of a plan from the first state of a graph, by Dijkstra's algorithm over (state, node, moved?).

    `rules` are those of `tests.reference.search.transition_cost`.
    """
    last, queue, seen = machine.nodes - 1, [(0.0, 0, 0, True)], set()
    while queue:
        cost, s, v, moved = heappop(queue)
        if (s, v, moved) in seen:
            continue
        seen.add((s, v, moved))
        if v == last:
            return cost
        if v > 0:
            for edge in range(graph.edge_start[s], graph.edge_start[s + 1]):
                heappush(queue, (cost + graph.edge_cost[edge], int(graph.edge_end[edge]), v, True))
        if moved:
            for w in machine.successors(v).tolist():
                price = transition_cost(machine, log_g[s], log_i[s], v, w, **rules)
                if price < inf:
                    heappush(queue, (cost + price, s, w, False))
    return inf


def steps_between(graph, targets):
    """The fewest edges from each state to one of the targets; infinite where there is no way. Edges lead both ways."""
    steps = dict.fromkeys(targets, 0)
    queue = list(targets)
    for s in queue:
        for t in graph.edge_end[graph.edge_start[s] : graph.edge_start[s + 1]].tolist():
            if t not in steps:
                steps[t] = steps[s] + 1
                queue.append(t)
    return np.array([steps.get(s, inf) for s in range(len(graph.states))])
