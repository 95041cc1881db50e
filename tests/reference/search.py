"""Worlds given by a table, and the search over world × machine once more: slow and plain.

Nothing here looks at `rsg.search` but for the shape of a graph.
"""

import itertools
from heapq import heappop, heappush
from math import inf, log

import numpy as np

from rsg.core.compiled import inlined


class TableWorld:
    """A world of S states: `after[s, a]` is the number of the state after action a in state number s.

    Args:
        after: `[S, A]`.
        costs: `[A]`.
        rows: `[S, W]` what the states look like; by default their numbers, `[S, 1]`.
    """

    def __init__(self, after, costs, rows=None):
        self.after, self.costs = np.asarray(after), np.asarray(costs, dtype=np.float64)
        self.rows = np.arange(len(self.after))[:, None] if rows is None else np.ascontiguousarray(rows)
        self.actions = [f"action {a}" for a in range(len(self.costs))]
        self._number = {row.tobytes(): s for s, row in enumerate(self.rows)}
        assert len(self._number) == len(self.after)

    def numbers(self, states):
        return np.array([self._number[row.tobytes()] for row in states], dtype=np.int64)

    def step(self, states, actions):
        return self.rows[self.after[self.numbers(states), actions]]

    def successors(self, states):
        return self.rows[self.after[self.numbers(states)]]

    def encode(self, states):
        return np.asarray(states, dtype=np.float64)

    def render(self, state):
        return np.full((1, 1, 3), self.numbers(state[None])[0] % 256, dtype=np.uint8)

    def sample(self, rng, count):
        return self.rows[rng.integers(len(self.rows), size=count)]


class ByteWorld(TableWorld):
    """A world with a compiled step: a state is its number in base 256, lowest byte first."""

    def __init__(self, after, costs, width=2):
        numbers = np.arange(len(after))
        super().__init__(after, costs, np.stack([numbers >> 8 * w & 255 for w in range(width)], axis=-1).astype("u1"))
        self.width = width

    @property
    def compiled_step(self):
        return byte_step, (self.after, self.width)


class NumberWorld(TableWorld):
    """A world with a compiled step whose states are not bytes: a state is its number, a float."""

    def __init__(self, after, costs):
        super().__init__(after, costs, np.arange(len(after), dtype=np.float32)[:, None])

    @property
    def compiled_step(self):
        return number_step, (self.after,)


class TableGoals:
    """Classifiers given by tables `[S, terms]`, with a compiled form where the world has one."""

    def __init__(self, world, log_g, log_i):
        self.world, self.log_g, self.log_i = world, log_g, log_i
        if isinstance(world, ByteWorld):
            self.compiled = (byte_goal, (log_g, log_i, world.width))
        elif isinstance(world, NumberWorld):
            self.compiled = (number_goal, (log_g, log_i))

    def __call__(self, states):
        numbers = self.world.numbers(states)
        return self.log_g[numbers], self.log_i[numbers]


@inlined
def read_number(states, i, width):
    number = np.int64(0)
    for column in range(width - 1, -1, -1):
        number = number * 256 + np.int64(states[i, column])
    return number


@inlined
def byte_step(tables, states, i, action, out, j):
    after, width = tables
    number = after[read_number(states, i, width), action]
    for column in range(width):
        out[j, column] = number >> 8 * column & 255


@inlined
def byte_goal(tables, states, i, k):
    log_g, log_i, width = tables
    number = read_number(states, i, width)
    return log_g[number, k], log_i[number, k]


@inlined
def number_step(tables, states, i, action, out, j):
    (after,) = tables
    out[j, 0] = after[np.int64(states[i, 0]), action]


@inlined
def number_goal(tables, states, i, k):
    log_g, log_i = tables
    return log_g[np.int64(states[i, 0]), k], log_i[np.int64(states[i, 0]), k]


def transition_cost(machine, log_g, log_i, v, w, weight=1.0, threshold=None):
    """What it costs to go from node v to node w in a state with these values `[terms]`; infinite if not allowed."""
    last = machine.nodes - 1
    leaving = 0.0 if v == 0 else log_g[machine.term_of[v]]
    if threshold is not None:
        already = w != last and log_i[machine.term_of[w]] <= log(1 - threshold)
        return inf if (leaving < log(threshold) and v != 0) or already else 0.0
    entering = 0.0 if w == last else log_i[machine.term_of[w]]
    return -weight * (leaving + entering)


def best_plan_cost(world, state, machine, log_g, log_i, weight=1.0, threshold=None) -> float:
    """The least cost of a plan by Dijkstra's algorithm over labels (state, node, moved?); infinite if there is none.

    Args:
        world: a TableWorld.
        state: the number of the first state.
        log_g, log_i: `[S, terms]`.
    """
    last = machine.nodes - 1
    best = {}
    queue = [(0.0, state, 0, True)]
    while queue:
        cost, s, v, moved = heappop(queue)
        if (s, v, moved) in best:
            continue
        best[s, v, moved] = cost
        if v == last:
            return cost
        if v > 0:
            for a, price in enumerate(world.costs):
                heappush(queue, (cost + price, int(world.after[s, a]), v, True))
        if moved:
            for w in machine.successors(v).tolist():
                price = transition_cost(machine, log_g[s], log_i[s], v, w, weight, threshold)
                if price < inf:
                    heappush(queue, (cost + price, s, w, False))
    return inf


def plan_cost(world, machine, log_g, log_i, found, weight=1.0, threshold=None):
    """What a plan costs by its actions, states and nodes; infinite if they do not fit together."""
    numbers = world.numbers(found.states)
    served = [0, *found.nodes.tolist(), machine.nodes - 1]
    total = sum(world.costs[action] for action in found.actions.tolist())
    for t, (v, w) in enumerate(itertools.pairwise(served)):
        s = numbers[t]
        if v != w:
            follows = w in machine.successors(v).tolist()
            total += transition_cost(machine, log_g[s], log_i[s], v, w, weight, threshold) if follows else inf
        if t < len(found.actions) and world.after[s, found.actions[t]] != numbers[t + 1]:
            return inf
    return total


def bellman(graph, machine, log_g, log_i, weight=1.0, one_action=True):
    """J of moved and of fresh labels, `[S, V]` each, by value iteration until nothing changes."""
    count, last = len(graph.states), machine.nodes - 1
    moved, fresh = np.full((count, last + 1), inf), np.full((count, last + 1), inf)
    while True:
        before = moved.copy(), fresh.copy()
        for s in range(count):
            edges = range(graph.edge_start[s], graph.edge_start[s + 1])
            for v in range(last - 1, -1, -1):
                go = inf
                if v > 0:
                    go = min((graph.edge_cost[e] + moved[graph.edge_end[e], v] for e in edges), default=inf)
                exits = [
                    transition_cost(machine, log_g[s], log_i[s], v, w, weight) + (0.0 if w == last else fresh[s, w])
                    for w in machine.successors(v).tolist()
                ]
                moved[s, v] = min(go, *exits)
                fresh[s, v] = go if one_action and v > 0 else moved[s, v]
        if np.array_equal(before[0], moved) and np.array_equal(before[1], fresh):
            return moved, fresh
