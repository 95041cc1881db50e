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
        new = shown - self.facts
        self.facts |= shown
        if before is not None and self.changes < 64:
            self.changes += 1
            if len(changed) == 1:
                self.alone[changed[0]] += 1
            if self.changes in (1, 2, 4, 8, 16, 32, 64):
                self.pose = tuple(c for c, times in enumerate(self.alone) if 16 * times >= self.changes)
        return 0 if not new else 2 if any(type(fact[1]) is int for fact in new) else 1


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
        self.expanded, self.cost, self.tick, self.start, self.count = [], inf, 1, start, 0

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
        """The group, the first one of which something waits, and the node to be served next."""
        for group in (0, 1, 2):
            nodes = sorted(v for (g, v), some in self.waiting.items() if g == group and some)
            if len(nodes) > 1 and self.count % 16 == 15:
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
        self.count += 1
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


class WalkingSearch(NovelSearch):
    """The same where the world tells what there is in each pose, and walks are taken for granted; see `walks`.

    Args:
        sights: `[S]` what there is, 0: nothing.
        early: expansions after which walks begin.

    Attributes:
        count: expansions, steps of walks among them.
    """

    def __init__(self, *given, sights, early, **named):
        super().__init__(*given, **named)
        self.sights, self.early, self.numbers = sights, early, {row.tobytes(): s for s, row in enumerate(given[0].rows)}
        self.before, self.tried, self.surveyed = 0, [], 0
        self.came, self.unsure, self.roots, self.promises, self.begun = {}, set(), {}, [], {}
        self.poses, self.after, self.shown, self.was_tried = {}, [], [], set()

    def run(self, budget):
        self.leave(self.start, 0, 0.0)
        while self.cost == inf:
            group = self.promises or self.waiting[self.choose()] if self.promises or self.choose_again() else None
            if group is None:
                break
            entry = min(group)
            s, v = entry[2:]
            label, promised = (s, v), group is self.promises
            total = min(self.fresh.get(label, inf), self.moved.get(label, inf))
            stale = self.moved[label] == inf if promised else self.last.get(label, inf) <= total
            if not stale:
                if self.count >= budget:
                    break
                if self.count < self.early:
                    self.before = max(self.before, v)
                if label in self.unsure if promised else self.roots.get(label) and v > self.before:
                    self.prove(s, v, budget) if label in self.unsure else self.look(s, v)
                    continue
            group.remove(entry)
            self.chosen = None
            if not stale and promised:
                self.leave(s, v, self.moved[label])
            elif not stale:
                self.expand(s, v, total)
        return self

    chosen = None

    def choose_again(self):
        """The same group as before until something was taken from it: no dice are thrown twice."""
        if self.chosen is None:
            self.chosen = super().choose()
        return self.chosen

    def choose(self):
        return self.choose_again()

    def open(self, s, v, total, before):
        if total + self.ahead[v] < self.cost:
            news = self.seen.news(s, v, before)
            self.roots[s, v] = 2 if news == 2 else int(before is None and news > 0)
            self.wait(0 if news else 2, s, v, total + self.ahead[v])

    def wait(self, group, s, v, key):
        self.waiting.setdefault((group, v), []).append((key, self.tick, s, v))
        self.tick += 1

    def expand(self, s, v, total):
        moved = self.moved.get((s, v), inf) <= self.fresh.get((s, v), inf)
        unsure = moved and (s, v) in self.unsure
        self.expanded.append((s, v))
        self.last[s, v] = total
        self.count += 1
        if s not in self.tried:
            self.tried.append(s)
        if unsure and self.came[s, v][1] is None:
            self.leave(s, v, total)
        for a, price in enumerate(self.world.costs):
            t = int(self.world.after[s, a])
            if total + price < self.moved.get((t, v), inf):
                self.arrive(t, v, total + price, (s, a, moved), unsure)
                if total + price < self.fresh.get((t, v), inf):
                    self.open(t, v, total + price, s)
                self.leave(t, v, total + price)

    def arrive(self, t, v, total, came, unsure):
        self.moved[t, v], self.came[t, v] = total, came
        (self.unsure.add if unsure else self.unsure.discard)((t, v))

    def leave(self, s, v, total):
        if v > 0 and (s, v) in self.unsure:
            if self.values[0][s][self.machine.term_of[v]] >= np.log(self.threshold):
                self.promises.append((total, self.tick, s, v))
                self.tick += 1
            return
        super().leave(s, v, total)

    def pose(self, s):
        """The number of its pose."""
        key = tuple(self.world.rows[s][list(self.seen.pose)])
        if key not in self.poses:
            self.poses[key] = len(self.poses)
            self.after.append({})
            self.shown.append(s)
        return self.poses[key]

    def alone(self, s, t):
        return set(np.flatnonzero(self.world.rows[s] != self.world.rows[t])) <= set(self.seen.pose)

    def survey(self):
        for s in self.tried[self.surveyed :]:
            p = self.pose(s)
            self.was_tried.add(p)
            for a, t in enumerate(self.world.after[s].tolist()):
                self.after[p][a] = self.pose(t) if self.alone(s, t) else None
        self.surveyed = len(self.tried)

    def measured(self, start):
        """The cost to each pose, and the pose and action before."""
        cost, way, queue = {start: 0.0}, {}, [start]
        while queue:
            p = queue.pop(0)
            for a, q in self.after[p].items():
                total = cost[p] + self.world.costs[a]
                if q is not None and total < cost.get(q, inf):
                    cost[q], way[q] = total, (p, a)
                    queue += [] if q in queue else [q]
        return cost, way

    def look(self, s, v):
        again = self.roots.pop((s, v)) == 2
        if self.seen.changes < 64 or not self.seen.pose:
            return
        first, tried = self.begun.get(v, (s, 0))
        if tried < len(self.tried) and first != s:
            self.look_around(first, v, False)
        self.begun[v] = first, len(self.tried)
        self.look_around(s, v, again)

    def look_around(self, s, v, again):
        self.survey()
        start = self.pose(s)
        cost, _ = self.measured(start)
        moved = self.moved.get((s, v), inf) <= self.fresh.get((s, v), inf)
        found = []
        for p in range(len(self.poses)):
            if p == start or p not in cost:
                continue
            fact = v, self.seen.pose, tuple(self.world.rows[self.shown[p]][list(self.seen.pose)])
            new, sight, dull = fact not in self.seen.facts, self.sights[self.shown[p]], False
            self.seen.facts.add(fact)
            if p in self.was_tried:
                if not sight or not (new or again):
                    continue
                dull = (v, "sight", sight) in self.seen.facts
                self.seen.facts.add((v, "sight", sight))
            elif not new:
                continue
            found.append((p, dull))
        for p, dull in found:
            row = self.world.rows[s].copy()
            row[list(self.seen.pose)] = self.world.rows[self.shown[p]][list(self.seen.pose)]
            t, total = (
                self.numbers[row.tobytes()],
                min(self.moved.get((s, v), inf), self.fresh.get((s, v), inf)) + cost[p],
            )
            if total < min(self.moved.get((t, v), inf), self.fresh.get((t, v), inf)):
                self.arrive(t, v, total, (s, None, moved), True)
                self.wait(int(dull), t, v, total + self.ahead[v])

    def prove(self, s, v, budget):
        self.survey()
        while True:
            way, moved = [s], True
            while moved:  # back to where the node was entered
                before, _, moved = self.came[way[-1], v]
                way.append(before)
            walks = [t for t in way[:-1] if (t, v) in self.unsure and self.came[t, v][1] is None]
            if not walks:
                for t in way[-2::-1]:
                    before, a, moved = self.came[t, v]
                    if (t, v) in self.unsure:
                        total = (self.moved if moved else self.fresh)[before, v] + self.world.costs[a]
                        self.arrive(t, v, total, self.came[t, v], False)
                return
            end = walks[-1]
            at, _, moved = self.came[end, v]
            goal, start = self.pose(end), self.pose(at)
            cost, steps = self.measured(start)
            if self.moved[end, v] == inf or goal not in cost:
                self.moved[end, v] = self.moved[s, v] = inf
                return
            actions, p = [], goal
            while p != start:
                p, a = steps[p]
                actions.append(a)
            for a in actions[::-1]:
                t = int(self.world.after[at, a])
                q = self.pose(t) if self.alone(at, t) else None
                if q != self.after[p][a]:
                    self.after[p][a] = q
                    break
                total = (self.moved if moved else self.fresh)[at, v] + self.world.costs[a]
                if (t, v) in self.unsure or total < self.moved.get((t, v), inf):
                    if self.count >= budget:
                        return
                    self.count += 1
                    self.arrive(t, v, total, (at, a, moved), False)
                    self.open(t, v, total, at)
                at, p, moved = t, q, True
