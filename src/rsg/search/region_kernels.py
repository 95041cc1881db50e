"""The inner loop of the search over regions, as templates for `rsg.core.compiled.specialised`.

Subgoals divide the states: a *region* is the set of all states in which the same subgoals hold. Each state is expanded
at most once. Two heaps hold the open states: one by the rank of their region, then by how many regions lie behind, then
by cost; the other by cost alone, so that a bad rank cannot keep a state waiting for ever.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rsg.core.compiled import compiled, inlined
from rsg.search.core import (
    BUDGET,
    EXHAUSTED,
    EXPANDED,
    EXPANSIONS,
    FOUND,
    FRESH,
    FULLEST,
    GROW,
    NEED,
    PAUSED,
    STATES,
    WANTED,
    learn,
    pop,
    push,
)

Array = NDArray[Any]

RANK = 7  # the search has stopped: new regions need a rank
CAME_FROM, BY, REGION = range(3)  # links: the state and the action before, the state's region
REGIONS, WAITING, REACHED, LAST, DOUBTFUL = range(10, 15)  # counters, after those of `core`
MAX_EXPANSIONS, SLICE, SPREAD, GOAL = range(4)  # options
BY_RANK, BY_COST = range(2)  # heaps
A_RANK, A_REGION = (
    1e6,
    1e3,
)  # in a key, one rank counts for more regions than there are, one region for more than a walk


class Arrays(NamedTuple):
    """All that a search knows and remembers; the first ones as in `core.Arrays`.

    Attributes:
        value: `[cap, T, 2]` log G and log I of the terms, NaN where not known yet.
        cost: `[cap, 1, 3]` of a state from the first one, and when it was expanded; link: `[cap, 3]`.
        keys, items: `[2, ·]` the heaps; sizes: `[2]`.
        waiting: `[A]` states in regions without a rank.
        counters, options: see the names above; LAST is the action by which the goal came true in the state REACHED,
            DOUBTFUL whether it came true where the region could not lead there.
        threshold: `[1]` log G from which on a subgoal holds.
    """

    pool: Array
    words: Array
    slots: Array
    after: Array
    value: Array
    cost: Array
    link: Array
    keys: Array
    items: Array
    sizes: Array
    waiting: Array
    counters: Array
    threshold: Array
    options: Array


class Regions(NamedTuple):
    """What is known of the regions that were entered.

    Attributes:
        holds: `[R, T]` which terms hold there; row is scratch `[T]`.
        rank: `[R]` the least first, NaN where not known yet; ready: `[R]` whether the goal may be reached from there.
        steps: `[R]` how many regions lie before it; before: `[R]` the one that it was entered from.
        expanded: `[R]` how many of its states were expanded.
    """

    holds: Array
    row: Array
    rank: Array
    ready: Array
    steps: Array
    before: Array
    expanded: Array


def goal(tables: Any, states: Array, i: int, k: int) -> tuple[float, float]:  # noqa: ARG001
    """Hook: log G and log I of term k in state i."""
    return 0.0, 0.0


def look(goals: Any, arrays: Arrays, regions: Regions, s: int, near: int) -> int:
    """The region of state s, which was reached from a state of the region `near`; it may be a new one."""
    value, counters = arrays.value, arrays.counters
    row, holds = regions.row, regions.holds
    for k in range(len(row)):
        if np.isnan(value[s, k, 0]):
            value[s, k, 0], value[s, k, 1] = goal(goals, arrays.pool, s, k)
        row[k] = value[s, k, 0] >= arrays.threshold[0]
    if near >= 0 and same(holds, near, row):
        return near
    for r in range(counters[REGIONS]):
        if same(holds, r, row):
            return r
    new = counters[REGIONS]
    counters[REGIONS] += 1
    for k in range(len(row)):
        holds[new, k] = row[k]
    regions.rank[new] = np.nan
    regions.steps[new] = regions.steps[near] + 1 if near >= 0 else 0
    regions.before[new] = near
    regions.expanded[new] = 0
    return new  # type: ignore[no-any-return]


@inlined
def same(holds: Array, r: int, row: Array) -> bool:
    """Whether the terms of a row are those that hold in region r."""
    k = 0
    while k < len(row) and holds[r, k] == row[k]:
        k += 1
    return k == len(row)


@compiled
def open_state(arrays: Arrays, regions: Regions, s: int) -> None:
    """Put a state into both heaps."""
    r, total = arrays.link[s, REGION], arrays.cost[s, 0, FRESH]
    keys, items, sizes, counters = arrays.keys, arrays.items, arrays.sizes, arrays.counters
    push(keys, items, sizes, counters, BY_RANK, regions.rank[r] * A_RANK + regions.steps[r] * A_REGION + total, s)
    push(keys, items, sizes, counters, BY_COST, total, s)


def expand(goals: Any, arrays: Arrays, regions: Regions, costs: Array, s: int) -> bool:
    """Try every action in state s; says whether the goal was reached."""
    after, cost, link, counters = arrays.after, arrays.cost, arrays.link, arrays.counters
    r, base, target = link[s, REGION], cost[s, 0, FRESH], arrays.options[GOAL]
    cost[s, 0, EXPANDED] = base
    counters[EXPANSIONS] += 1
    regions.expanded[r] += 1
    for a in range(after.shape[1]):
        t = after[s, a]
        total = base + costs[a]
        if cost[t, 0, FRESH] == np.inf:
            link[t, REGION] = look(goals, arrays, regions, t, r)
        q = link[t, REGION]
        if regions.holds[q, target] and not regions.holds[r, target]:  # also where one has been before
            if regions.ready[r]:
                counters[REACHED] = s
                counters[LAST] = a
                return True
            counters[DOUBTFUL] = 1
        if total >= cost[t, 0, FRESH] or cost[t, 0, EXPANDED] < np.inf:
            continue
        cost[t, 0, FRESH] = total
        link[t, CAME_FROM] = s
        link[t, BY] = a
        if np.isnan(regions.rank[q]):
            arrays.waiting[counters[WAITING]] = t
            counters[WAITING] += 1
        else:
            open_state(arrays, regions, t)
    return False


def search(tables: Any, goals: Any, arrays: Arrays, regions: Regions, costs: Array) -> int:
    """Expand states until the goal is reached or something stops it; may be called again to go on."""
    (pool, words, slots, after, value, cost, _, keys, items, sizes, waiting, counters, _, options) = arrays
    stop = counters[EXPANSIONS] + options[SLICE]
    actions = after.shape[1]
    while True:
        for i in range(counters[WAITING]):
            open_state(arrays, regions, waiting[i])
        counters[WAITING] = 0
        full = counters[FULLEST] + actions > keys.shape[1] or counters[STATES] + actions >= len(pool)
        if full or counters[REGIONS] + actions > len(regions.rank):
            return GROW
        spread = options[SPREAD]
        h = BY_COST if spread > 0 and counters[EXPANSIONS] % spread == spread - 1 else BY_RANK
        if sizes[h] == 0:
            return EXHAUSTED
        s = items[h, 0] & 0xFFFFFFFF
        if cost[s, 0, EXPANDED] < np.inf:
            pop(keys, items, sizes, h)
            continue
        if counters[EXPANSIONS] >= options[MAX_EXPANSIONS]:
            return BUDGET
        if counters[EXPANSIONS] >= stop:
            return PAUSED
        if after[s, 0] < 0 and not learn(tables, pool, words, slots, after, value, cost, counters, s):
            counters[WANTED] = s
            return NEED
        pop(keys, items, sizes, h)
        if expand(goals, arrays, regions, costs, s):
            return FOUND
        if counters[WAITING] > 0:
            return RANK


def begin(goals: Any, arrays: Arrays, regions: Regions) -> None:
    """Reach the first state, which stands in row 0 of the pool."""
    arrays.cost[0, 0, FRESH] = 0.0
    arrays.link[0, CAME_FROM] = -1
    arrays.link[0, REGION] = look(goals, arrays, regions, 0, -1)
    arrays.waiting[0] = 0
    arrays.counters[WAITING] = 1
