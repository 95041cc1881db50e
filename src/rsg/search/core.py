"""The inner loop of the product search over (state, machine node), as templates for `rsg.core.compiled.specialised`.

A *label* (s, v) says: the agent is in state s and serves node v. It is *fresh* when v has just been entered at s, and
*moved* when a primitive action led to s. Only a moved label may leave its node: an atom needs two states. Leaving is
decided when a moved label is made; what waits in the heaps is labels whose primitive actions are still to be tried.

Helpers take plain arrays and are copied into their callers: passing named tuples around costs more than the work.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rsg.core.compiled import compiled, inlined

Array = NDArray[Any]

OPTIMAL, ANYTIME, BALANCED, DEEPEST, LAYERED = range(5)
FOUND, IMPROVED, EXHAUSTED, BUDGET, PAUSED, GROW, NEED = range(7)

FRESH, MOVED, EXPANDED = range(3)  # costs of a label: the least as fresh, as moved, and when last expanded
ENTERED_FROM, CAME_FROM, BY, WAS_MOVED = range(4)  # links: node left when it became fresh; state and action before
STATES, EXPANSIONS, DICE, TICK, FULLEST, WANTED, PENDING, BEST_STATE, BEST_NODE, CUT = range(10)  # counters
BEST, WEIGHT, THRESHOLD, NOT_YET_ABOVE = range(4)  # numbers
ORDER, MAX_EXPANSIONS, MAX_PER_NODE, SLICE, HARD, NOT_YET, ONE_ACTION, SPREAD = range(8)


class Arrays(NamedTuple):
    """All that a search knows and remembers.

    Attributes:
        pool: `[cap, ·]` distinct states, padded with zeros to whole words; words: the same memory, `[cap, B / 8]`.
        slots: `[2^k]` a hash table of state numbers, -1 where empty.
        after: `[cap, A]` the state after each action, -1 where not known yet.
        value: `[cap, K, 2]` log G and log I of the machine's terms, NaN where not known yet.
        cost: `[cap, V, 3]` costs of labels, infinite if none; link: `[cap, V, 4]` where they come from.
        keys, items: `[H, ·]` heaps of open labels, one per node or one for all; sizes: `[H]`.
        per_node: `[V]` expansions of each node.
        counters, numbers, options: see the names above; CUT counts open labels that a limit other than the total
            budget kept from being expanded.
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
    per_node: Array
    counters: Array
    numbers: Array
    options: Array


class Task(NamedTuple):
    """The machine and the actions.

    Attributes:
        term_of, next_start, next_node: as in `rsg.language.Machine`.
        ahead: `[1, V]` a lower bound on the cost that still lies ahead of a label at the node, or `[cap, V]` if it also
            depends on the state.
        touched: `[V]` scratch.
        costs: `[A]` costs of actions.
    """

    term_of: Array
    next_start: Array
    next_node: Array
    ahead: Array
    touched: Array
    costs: Array


def step(tables: Any, states: Array, i: int, action: int, out: Array, j: int) -> None:
    """Hook: the world's compiled step."""


def goal(tables: Any, states: Array, i: int, k: int) -> tuple[float, float]:  # noqa: ARG001
    """Hook: log G and log I of term k in state i."""
    return 0.0, 0.0


@inlined
def push(keys: Array, items: Array, sizes: Array, counters: Array, h: int, key: float, label: int) -> None:
    """Add an open label; among equal keys the oldest comes first."""
    item = counters[TICK] << 32 | label
    counters[TICK] += 1
    i = sizes[h]
    sizes[h] += 1
    counters[FULLEST] = max(counters[FULLEST], i + 1)
    while i > 0:
        parent = (i - 1) >> 1
        if keys[h, parent] < key or (keys[h, parent] == key and items[h, parent] < item):
            break
        keys[h, i] = keys[h, parent]
        items[h, i] = items[h, parent]
        i = parent
    keys[h, i] = key
    items[h, i] = item


@inlined
def pop(keys: Array, items: Array, sizes: Array, h: int) -> None:
    """Remove the open label with the least key."""
    sizes[h] -= 1
    n = sizes[h]
    key, item = keys[h, n], items[h, n]
    i = 0
    while 2 * i + 1 < n:
        child = 2 * i + 1
        right = child + 1
        if right < n and (
            keys[h, right] < keys[h, child] or (keys[h, right] == keys[h, child] and items[h, right] < items[h, child])
        ):
            child = right
        if key < keys[h, child] or (key == keys[h, child] and item < items[h, child]):
            break
        keys[h, i] = keys[h, child]
        items[h, i] = items[h, child]
        i = child
    keys[h, i] = key
    items[h, i] = item


@inlined
def hashed(words: Array, n: int) -> int:
    """A hash of state n, not negative."""
    key = np.uint64(1469598103934665603)
    for w in range(words.shape[1]):
        key = (key ^ words[n, w]) * np.uint64(1099511628211)
        key ^= key >> np.uint64(29)
    return np.int64(key >> np.uint64(1))  # type: ignore[return-value]


@inlined
def find_or_add(words: Array, slots: Array, after: Array, value: Array, cost: Array, counters: Array) -> int:
    """The number of the state that has been written behind the last one: its own if it is new."""
    n = counters[STATES]
    mask = len(slots) - 1
    slot = hashed(words, n) & mask
    found = -1
    while found < 0 and slots[slot] >= 0:
        found = slots[slot]
        for w in range(words.shape[1]):
            if words[found, w] != words[n, w]:
                found = -1
                break
        slot = (slot + 1) & mask
    if found < 0:
        found = n
        slots[slot] = n
        counters[STATES] += 1
        after[n, 0] = -1
        for k in range(value.shape[1]):
            value[n, k, 0] = np.nan
        for v in range(cost.shape[1]):
            cost[n, v, FRESH] = np.inf
            cost[n, v, MOVED] = np.inf
            cost[n, v, EXPANDED] = np.inf
    return found


def leave(
    goals: Any,
    task: Task,
    pool: Array,
    value: Array,
    cost: Array,
    link: Array,
    keys: Array,
    items: Array,
    sizes: Array,
    counters: Array,
    numbers: Array,
    options: Array,
    s: int,
    v: int,
    total: float,
) -> None:
    """From a moved label (s, v) of that cost, enter the nodes after v, or finish. `v_0` is left freely.

    A transition costs -λ (log G_v(s) + log I_w(s)); with a threshold it is free where G_v holds and G_w does not yet.
    """
    term_of, next_start, next_node, ahead, touched, _ = task
    last = len(term_of) - 1
    hard, not_yet, loose = options[HARD] != 0, options[NOT_YET] != 0, options[ONE_ACTION] == 0
    weight, threshold = numbers[WEIGHT], numbers[THRESHOLD]
    stateful = len(ahead) > 1
    while v < last:
        if v > 0:
            k = term_of[v]
            if np.isnan(value[s, k, 0]):
                value[s, k, 0], value[s, k, 1] = goal(goals, pool, s, k)
            if not hard:
                total -= weight * value[s, k, 0]
            elif value[s, k, 0] < threshold:
                total = np.inf
        if total < numbers[BEST]:
            for edge in range(next_start[v], next_start[v + 1]):
                w = next_node[edge]
                if w == last:
                    if total < numbers[BEST]:
                        numbers[BEST] = total
                        counters[BEST_STATE] = s
                        counters[BEST_NODE] = v
                    continue
                entry = total
                if not_yet:
                    k = term_of[w]
                    if np.isnan(value[s, k, 0]):
                        value[s, k, 0], value[s, k, 1] = goal(goals, pool, s, k)
                    if not hard:
                        entry -= weight * value[s, k, 1]
                    elif value[s, k, 1] <= numbers[NOT_YET_ABOVE]:
                        continue
                if entry >= cost[s, w, FRESH]:
                    continue
                cost[s, w, FRESH] = entry
                link[s, w, ENTERED_FROM] = v
                if entry < cost[s, w, MOVED]:
                    key = entry + ahead[s if stateful else 0, w]
                    if key < numbers[BEST]:
                        push(keys, items, sizes, counters, w if len(sizes) > 1 else 0, key, s * (last + 1) + w)
                    if loose:  # what is entered here may be left here
                        cost[s, w, MOVED] = entry
                        link[s, w, CAME_FROM] = -1
                        touched[w] = True
        v = last if not loose else v + 1
        while v < last and not touched[v]:
            v += 1
        if v < last:
            touched[v] = False
            total = cost[s, v, MOVED]


def learn(
    tables: Any,
    pool: Array,
    words: Array,
    slots: Array,
    after: Array,
    value: Array,
    cost: Array,
    counters: Array,
    s: int,
) -> bool:
    """Find out where the actions in state s lead."""
    for a in range(after.shape[1]):
        step(tables, pool, s, a, pool, counters[STATES])
        after[s, a] = find_or_add(words, slots, after, value, cost, counters)
    return True


@inlined
def ask(tables, pool, words, slots, after, value, cost, counters, s):  # type: ignore[no-untyped-def]  # noqa: ARG001
    """In place of `learn` where the world has no compiled step: the caller must find out."""
    return False


@inlined
def unknown(goals: Any, states: Array, i: int, k: int) -> tuple[float, float]:  # noqa: ARG001
    """In place of a compiled goal where values are always computed beforehand."""
    return np.nan, np.nan


def expand(
    goals: Any,
    task: Task,
    pool: Array,
    after: Array,
    value: Array,
    cost: Array,
    link: Array,
    keys: Array,
    items: Array,
    sizes: Array,
    counters: Array,
    numbers: Array,
    options: Array,
    s: int,
    v: int,
) -> None:
    """Try every primitive action from the label (s, v)."""
    ahead, costs = task.ahead, task.costs
    nodes = cost.shape[1]
    stateful = len(ahead) > 1
    moved = cost[s, v, MOVED] <= cost[s, v, FRESH]
    base = cost[s, v, MOVED] if moved else cost[s, v, FRESH]
    cost[s, v, EXPANDED] = base
    counters[EXPANSIONS] += 1
    for a in range(after.shape[1]):
        t = after[s, a]
        total = base + costs[a]
        if total < cost[t, v, MOVED]:
            cost[t, v, MOVED] = total
            link[t, v, CAME_FROM] = s
            link[t, v, BY] = a
            link[t, v, WAS_MOVED] = moved
            key = total + ahead[t if stateful else 0, v]
            if total < cost[t, v, FRESH] and key < numbers[BEST]:
                push(keys, items, sizes, counters, v if len(sizes) > 1 else 0, key, t * nodes + v)
            leave(goals, task, pool, value, cost, link, keys, items, sizes, counters, numbers, options, t, v, total)


@inlined
def choose(sizes: Array, counters: Array, order: int) -> int:
    """The heap to take the next label from; -1 if all are empty."""
    count = 0
    deepest = -1
    for h in range(len(sizes)):
        if sizes[h] > 0:
            count += 1
            deepest = h
    if count <= 1 or (order != BALANCED and counters[EXPANSIONS] & 1 == 0):
        return deepest
    counters[DICE] = (counters[DICE] * 1103515245 + 12345) & 0x7FFFFFFF
    turn = (counters[DICE] >> 8) % count
    chosen = -1
    for h in range(len(sizes)):
        if sizes[h] > 0:
            if turn == 0:
                chosen = h
            turn -= 1
    return chosen


def search(tables: Any, goals: Any, arrays: Arrays, task: Task) -> int:
    """Expand labels in the chosen order until a plan is found or something stops it; may be called again to go on."""
    (pool, words, slots, after, value, cost, link) = arrays[:7]
    (keys, items, sizes, per_node, counters, numbers, options) = arrays[7:]
    nodes = cost.shape[1]
    order = options[ORDER]
    stop = counters[EXPANSIONS] + options[SLICE]
    if counters[EXPANSIONS] == 0 and numbers[BEST] < np.inf and order in (BALANCED, DEEPEST):
        return FOUND  # with the looser rule a task may be done where it begins
    while True:
        if counters[FULLEST] + options[SPREAD] > keys.shape[1] or counters[STATES] + after.shape[1] >= len(pool):
            return GROW
        h = counters[PENDING] - 1  # chosen already, before the last call stopped
        if h < 0:
            h = choose(sizes, counters, order)
        if h < 0:
            if numbers[BEST] < np.inf:
                return FOUND
            return BUDGET if counters[CUT] else EXHAUSTED
        counters[PENDING] = 0
        key, label = keys[h, 0], items[h, 0] & 0xFFFFFFFF
        s, v = label // nodes, label % nodes
        if key >= numbers[BEST] and order == OPTIMAL:  # nothing as dear as the best plan can better it
            return FOUND
        stale = cost[s, v, EXPANDED] <= min(cost[s, v, FRESH], cost[s, v, MOVED])
        if stale or key >= numbers[BEST] or per_node[v] >= options[MAX_PER_NODE]:
            counters[CUT] += not stale and key < numbers[BEST]
            pop(keys, items, sizes, h)
            continue
        counters[PENDING] = h + 1
        if counters[EXPANSIONS] >= options[MAX_EXPANSIONS]:
            return BUDGET
        if counters[EXPANSIONS] >= stop:
            return PAUSED
        if after[s, 0] < 0 and not learn(tables, pool, words, slots, after, value, cost, counters, s):
            counters[WANTED] = s
            return NEED
        counters[PENDING] = 0
        pop(keys, items, sizes, h)
        per_node[v] += 1
        before = numbers[BEST]
        expand(goals, task, pool, after, value, cost, link, keys, items, sizes, counters, numbers, options, s, v)
        if numbers[BEST] < before and order != OPTIMAL:
            return IMPROVED if order == ANYTIME else FOUND


def expand_layer(tables: Any, goals: Any, arrays: Arrays, task: Task, layer: Array, v: int) -> int:
    """Expand the labels (s, v) of a layer of states, from number PENDING on; may be called again to go on."""
    (pool, words, slots, after, value, cost, link) = arrays[:7]
    (keys, items, sizes, per_node, counters, numbers, options) = arrays[7:]
    while counters[PENDING] < len(layer):
        s = layer[counters[PENDING]]
        if counters[FULLEST] + options[SPREAD] > keys.shape[1] or counters[STATES] + after.shape[1] >= len(pool):
            return GROW
        if counters[EXPANSIONS] >= options[MAX_EXPANSIONS]:
            return BUDGET
        if after[s, 0] < 0 and not learn(tables, pool, words, slots, after, value, cost, counters, s):
            counters[WANTED] = s
            return NEED
        if per_node[v] < options[MAX_PER_NODE]:
            per_node[v] += 1
            expand(goals, task, pool, after, value, cost, link, keys, items, sizes, counters, numbers, options, s, v)
        else:
            counters[CUT] += 1
        counters[PENDING] += 1
    counters[PENDING] = 0
    return EXHAUSTED


def begin(goals: Any, arrays: Arrays, task: Task) -> None:
    """Enter the first nodes at the first state, which stands in row 0 of the pool."""
    (pool, _, _, _, value, cost, link) = arrays[:7]
    (keys, items, sizes, _, counters, numbers, options) = arrays[7:]
    leave(goals, task, pool, value, cost, link, keys, items, sizes, counters, numbers, options, 0, 0, 0.0)


@compiled
def add_rows(
    words: Array, slots: Array, after: Array, value: Array, cost: Array, counters: Array, rows: Array, found: Array
) -> None:
    """Take in states `[N, B / 8]` that were computed elsewhere; `found` `[N]` says which states they are."""
    for i in range(len(rows)):
        for w in range(rows.shape[1]):
            words[counters[STATES], w] = rows[i, w]
        found[i] = find_or_add(words, slots, after, value, cost, counters)


@compiled
def rehash(words: Array, slots: Array, count: int) -> None:
    """Fill a new hash table."""
    mask = len(slots) - 1
    for n in range(count):
        slot = hashed(words, n) & mask
        while slots[slot] >= 0:
            slot = (slot + 1) & mask
        slots[slot] = n
