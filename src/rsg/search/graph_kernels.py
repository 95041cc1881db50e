"""The inner loops of state graphs: templates for `rsg.core.compiled.specialised`, and the edges turned around."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rsg.core.compiled import compiled, inlined

Array = NDArray[Any]
Ints = NDArray[np.int32]
Floats = NDArray[np.float64]


def step(tables: Any, states: Array, i: int, action: int, out: Array, j: int) -> None:
    """Hook: the world's compiled step."""


@inlined
def slot_of(words: Array, slots: Ints, n: int) -> int:
    """Where the hash table has state n: the slot of a state with the same bytes, or the empty slot to put it into."""
    key, odd, half = np.uint64(0), np.uint64(0x9E3779B97F4A7C15), np.uint64(32)
    for w in range(words.shape[1]):
        word = words[n, w]
        key = (key ^ word ^ word >> half) * odd  # floats differ in their high bits, products hand on the low ones
    key = (key ^ key >> half) * odd
    mask = len(slots) - 1
    slot = np.int64(key >> half) & mask
    while slots[slot] >= 0:
        same = True
        for w in range(words.shape[1]):
            if words[slots[slot], w] != words[n, w]:
                same = False
                break
        if same:
            break
        slot = (slot + 1) & mask
    return slot  # type: ignore[return-value]


@compiled
def room_for(capacity: int, words: Array, after: Ints, count: int) -> tuple[Array, Ints, Ints]:
    """Room for so many states, with the first `count` of `words` and `after` in it: words, after and a hash table."""
    more = np.zeros((capacity, words.shape[1]), dtype=np.uint64)
    links = np.empty((capacity, after.shape[1]), dtype=np.int32)
    size = 1
    while size < 2 * capacity:
        size *= 2
    slots = np.full(size, -1, dtype=np.int32)
    for n in range(count):
        for w in range(words.shape[1]):
            more[n, w] = words[n, w]
        for a in range(after.shape[1]):
            links[n, a] = after[n, a]
        slots[slot_of(more, slots, n)] = n
    return more, links, slots


@compiled
def edges_of(after: Ints, count: int) -> tuple[Ints, Ints, Ints]:
    """Where the edges of each state begin, `[count + 1]`, where they lead and by which action `[E]`."""
    start = np.empty(count + 1, dtype=np.int32)
    end = np.empty(count * after.shape[1], dtype=np.int32)
    action = np.empty(count * after.shape[1], dtype=np.int32)
    edges = 0
    for s in range(count):
        start[s] = edges
        for a in range(after.shape[1]):
            if after[s, a] >= 0:
                end[edges] = after[s, a]
                action[edges] = a
                edges += 1
    start[count] = edges
    return start, end[:edges].copy(), action[:edges].copy()


@compiled
def take_in(given: Array, pool: Array, words: Array, slots: Ints) -> tuple[int, Ints]:
    """The given states into an empty pool: how many are distinct, and which they are `[T + 1]`."""
    path = np.empty(len(given), dtype=np.int32)
    count = 0
    for i in range(len(given)):
        for w in range(given.shape[1]):
            pool[count, w] = given[i, w]
        slot = slot_of(words, slots, count)
        if slots[slot] < 0:
            slots[slot] = count
            count += 1
        path[i] = slots[slot]
    return count, path


def follow(tables: Any, pool: Array, words: Array, slots: Ints, after: Ints, s: int, count: int, add: bool) -> int:
    """Find out where the actions in state s lead, and add what is new if so wanted; gives the new count of states.

    The state to be looked up stands behind the last one: there must be room for one more than can be added.
    """
    for a in range(after.shape[1]):
        step(tables, pool, s, a, pool, count)
        slot = slot_of(words, slots, count)
        if slots[slot] < 0 and add:
            slots[slot] = count
            count += 1
        after[s, a] = slots[slot]
    return count


def explore(
    tables: Any, given: Array, actions: int, depth: int, max_states: int
) -> tuple[bool, Array, tuple[Ints, Ints, Ints], Ints]:
    """Number the states within `depth` actions of the given ones `[T + 1, W]`, breadth-first.

    Gives whether there are at most `max_states`; if so, the distinct states, their edges as in `edges_of`, and which
    states the given ones are. Rows are padded with zeros to whole words.
    """
    width = given.shape[1]
    blank = np.empty((0, (width * given.itemsize + 7) // 8), dtype=np.uint64)
    words, after, slots = room_for(2 * len(given) + 128, blank, np.empty((0, actions), dtype=np.int32), 0)
    pool = words.view(given.dtype)
    count, path = take_in(given, pool, words, slots)
    done, layer = 0, 0
    while done < count <= max_states:
        layer_end = count
        for s in range(done, layer_end):
            if count + actions >= len(words):
                words, after, slots = room_for(2 * (count + actions), words, after, count)
                pool = words.view(given.dtype)
            count = follow(tables, pool, words, slots, after, s, count, layer < depth)  # the last layer adds nothing
            if count > max_states:
                break
        done = layer_end
        layer += 1
    if count > max_states:
        return False, pool[:0, :width].copy(), edges_of(after, 0), path
    return True, pool[:count, :width].copy(), edges_of(after, count), path


@compiled
def turned_around(edge_start: Ints, edge_end: Ints, edge_cost: Floats) -> tuple[Ints, Ints, Floats]:
    """The edges by the state that they lead to, in their old order: where each state's begin, from where, the cost."""
    start = np.zeros(len(edge_start), dtype=np.int32)
    source = np.empty(len(edge_end), dtype=np.int32)
    cost = np.empty(len(edge_end), dtype=np.float64)
    for edge in range(len(edge_end)):
        start[edge_end[edge] + 1] += 1
    for s in range(len(start) - 1):
        start[s + 1] += start[s]
    place = start.copy()
    for s in range(len(start) - 1):
        for edge in range(edge_start[s], edge_start[s + 1]):
            end = edge_end[edge]
            source[place[end]] = s
            cost[place[end]] = edge_cost[edge]
            place[end] += 1
    return start, source, cost
