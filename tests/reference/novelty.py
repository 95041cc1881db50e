"""Worlds whose rows have columns, and the search over world × machine in the order `novel` once more: slow and plain.

Nothing here looks at `rsg.search`. Subgoals hold or they do not.
"""

from math import inf

import numpy as np
from tests.reference.search import TableGoals, TableWorld, transition_cost

from rsg.core.compiled import inlined


class DigitWorld(TableWorld):
    """A world whose states are numbers, digit for digit: one column for each, the lowest first."""

    def __init__(self, after, costs, base=4, dtype="u1"):
        numbers, width = np.arange(len(after)), 1
        while base**width < len(after):
            width += 1
        digits = np.stack([numbers // base**column % base for column in range(width)], axis=1)
        super().__init__(after, costs, digits.astype(dtype))
        self.base = base

    @property
    def compiled_step(self):
        return digit_step, (self.after, self.base)


class DigitGoals(TableGoals):
    """Classifiers of such a world, compiled too."""

    def __init__(self, world, log_g, log_i):
        super().__init__(world, log_g, log_i)
        self.compiled = (digit_goal, (log_g, log_i, world.base, world.rows.shape[1]))


@inlined
def read_digits(states, i, base, width):
    number = 0
    for column in range(width - 1, -1, -1):
        number = number * base + int(states[i, column])
    return number


@inlined
def digit_step(tables, states, i, action, out, j):
    after, base = tables
    width = 1
    while base**width < len(after):
        width += 1
    number = after[read_digits(states, i, base, width), action]
    for column in range(width):
        out[j, column] = number % base
        number //= base


@inlined
def digit_goal(tables, states, i, k):
    log_g, log_i, base, width = tables
    number = read_digits(states, i, base, width)
    return log_g[number, k], log_i[number, k]


class Seen:
    """What each node has seen, in plain sets.

    A fact is a value in a column, if it differs from the first state of the node, or the values of all columns of the
    pose: those that change alone in at least every sixteenth of the first changes.
    """

    def __init__(self, rows):
        self.rows, self.facts, self.first = rows, set(), {}
        self.pose, self.changes, self.alone = (), 0, [0] * rows.shape[1]

    def news(self, s, v, before):
        row = self.rows[s]
        usual = self.rows[self.first.setdefault(v, s)]
        changed = np.flatnonzero(row != (usual if before is None else self.rows[before])).tolist()
        shown = {(v, c, row[c]) for c in changed if c not in self.pose and row[c] != usual[c]}
        if before is None or set(changed) & set(self.pose):
            shown.add((v, self.pose, tuple(row[list(self.pose)])))
        fresh = not shown <= self.facts
        self.facts |= shown
        if before is not None and self.changes < 64:
            self.changes += 1
            if len(changed) == 1:
                self.alone[changed[0]] += 1
            if self.changes in (1, 2, 4, 8, 16, 32, 64):
                self.pose = tuple(c for c, times in enumerate(self.alone) if 16 * times >= self.changes)
        return fresh


class NovelSearch:
    """Until there is a plan, or so many labels were expanded.

    Args:
        world: whose rows have columns.
        start: the number of the first state.
        machine: of the task.
        values: log G and log I, `[S, terms]` each; threshold: of G.
        ahead: `[V]` a lower bound on what lies ahead.
        seed: of the dice.

    Attributes:
        expanded: the labels (state, node) in their order.
        cost: of the plan, infinite without one.
    """

    def __init__(self, world, start, machine, values, threshold, ahead, seed=0):
        self.world, self.machine, self.values, self.threshold, self.ahead = world, machine, values, threshold, ahead
        self.seen, self.dice = Seen(world.rows), (seed * 2654435761 + 97) & 0x7FFFFFFF
        self.fresh, self.moved, self.last, self.waiting = {}, {}, {}, {}
        self.expanded, self.cost, self.tick, self.start = [], inf, 1, start

    def run(self, budget):
        self.leave(self.start, 0, 0.0)
        while self.cost == inf and (place := self.choose()) is not None:
            entry = min(self.waiting[place])
            s, v = entry[2:]
            total = min(self.fresh.get((s, v), inf), self.moved.get((s, v), inf))
            stale = self.last.get((s, v), inf) <= total
            if not stale and len(self.expanded) >= budget:
                break
            self.waiting[place].remove(entry)
            if not stale:
                self.expand(s, v, total)
        return self

    def choose(self):
        """The group (0: of what shows something new, 1: of the rest) and the node to be served next."""
        for group in (0, 1):
            nodes = sorted(v for (g, v), some in self.waiting.items() if g == group and some)
            if len(nodes) > 1 and len(self.expanded) % 4 == 3:
                self.dice = (self.dice * 1103515245 + 12345) & 0x7FFFFFFF
                return group, nodes[(self.dice >> 8) % len(nodes)]
            if nodes:
                return group, nodes[-1]
        return None

    def open(self, s, v, total, before):
        if total + self.ahead[v] < self.cost:
            place = (0 if self.seen.news(s, v, before) else 1, v)
            self.waiting.setdefault(place, []).append((total + self.ahead[v], self.tick, s, v))
            self.tick += 1

    def expand(self, s, v, total):
        self.expanded.append((s, v))
        self.last[s, v] = total
        for a, price in enumerate(self.world.costs):
            t = int(self.world.after[s, a])
            if total + price < self.moved.get((t, v), inf):
                self.moved[t, v] = total + price
                if total + price < self.fresh.get((t, v), inf):
                    self.open(t, v, total + price, s)
                self.leave(t, v, total + price)

    def leave(self, s, v, total):
        log_g, log_i = self.values
        for w in self.machine.successors(v).tolist():
            allowed = transition_cost(self.machine, log_g[s], log_i[s], v, w, threshold=self.threshold) < inf
            if not allowed or total >= self.cost:
                continue
            if w == self.machine.nodes - 1:
                self.cost = total
            elif total < self.fresh.get((s, w), inf):
                self.fresh[s, w] = total
                if total < self.moved.get((s, w), inf):
                    self.open(s, w, total, None)
