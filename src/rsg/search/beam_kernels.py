"""The inner loop of beam graphs: a template for `rsg.core.compiled.specialised`, in the manner of `graph_kernels`."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rsg.core.compiled import compiled, inlined
from rsg.search.graph_kernels import edges_of, room_for, slot_of, take_in

Array = NDArray[Any]
Ints = NDArray[np.int32]
NUMBER, EXPANDED, KEPT_BY, LISTED, VALUED = range(5)  # what is noted of a state, -1 at first


class Pool(NamedTuple):
    """All states that were come across, whether they are kept or not. N is the room.

    Attributes:
        words: `[N, words]` states as whole words, rows: the same as the world sees them.
        after: `[N, A]` where the actions lead, slots: the hash table.
        notes: `[N, 5]` the state's number in the graph, whether `after` is known, the last node that kept it, the last
            layer that listed it, the last node that it was valued for.
        worth: `[N]` its value for that node.
    """

    words: Any
    rows: Any
    after: Any
    slots: Any
    notes: Any
    worth: Any


def step(tables: Any, states: Array, i: int, action: int, out: Array, j: int) -> None:
    """Hook: the world's compiled step."""


def value(tables: Any, states: Array, i: int, v: int) -> float:
    """Hook: the value of state i for node v, less is better."""
    raise NotImplementedError


@compiled
def no_value(tables: Any, states: Array, i: int, v: int) -> float:  # noqa: ARG001
    """The hook of tasks without a value function: h = 0."""
    return 0.0


@inlined
def lot(words: Array, n: int, salt: Any) -> Any:
    """A number for state n that is as good as random, and the same wherever the state and the salt are the same."""
    odd, half = np.uint64(0xD1342543DE82EF95), np.uint64(32)
    key = salt * odd
    for w in range(words.shape[1]):
        key = (key ^ key >> half ^ words[n, w]) * odd
    return (key ^ key >> half) * odd


@compiled
def lots(words: Array, salt: Any) -> Array:
    """`lot` of all states `[N]`."""
    out = np.empty(len(words), dtype=np.uint64)
    for n in range(len(words)):
        out[n] = lot(words, n, salt)
    return out


@compiled
def larger(pool: Pool, count: int, like: Array) -> Pool:
    """A pool with about twice the room, with the first `count` states in it."""
    words, after, slots = room_for(2 * (count + pool.after.shape[1]), pool.words, pool.after, count)
    notes = np.full((len(words), 5), -1, dtype=np.int32)
    worth = np.empty(len(words))
    notes[:count] = pool.notes[:count]
    worth[:count] = pool.worth[:count]
    return Pool(words, words.view(like.dtype), after, slots, notes, worth)


@compiled
def new_pool(given: Array, actions: int) -> Pool:
    """A pool without states and with room for some more than are given."""
    words, after, slots = room_for(
        2 * len(given) + 512,
        np.empty((0, (given.shape[1] * given.itemsize + 7) // 8), dtype=np.uint64),
        np.empty((0, actions), dtype=np.int32),
        0,
    )
    notes = np.full((len(words), 5), -1, dtype=np.int32)
    return Pool(words, words.view(given.dtype), after, slots, notes, np.empty(len(words)))


def expand(tables: Any, pool: Pool, s: int, count: int) -> int:
    """Find out where the actions in state s lead and add what is new; gives the new count of states."""
    for a in range(pool.after.shape[1]):
        step(tables, pool.rows, s, a, pool.rows, count)
        slot = slot_of(pool.words, pool.slots, count)
        if pool.slots[slot] < 0:
            pool.slots[slot] = count
            count += 1
        pool.after[s, a] = pool.slots[slot]
    pool.notes[s, EXPANDED] = 1
    return count


def ends(tables: Any, pool: Pool, states: Array, count: int) -> Ints:
    """Where the actions lead in the graph of these states, `[S, A]`, -1 if out of it; nothing is added."""
    after = np.empty((len(states), pool.after.shape[1]), dtype=np.int32)
    for n in range(len(states)):
        for a in range(after.shape[1]):
            if pool.notes[states[n], EXPANDED] >= 0:
                found = pool.after[states[n], a]
            else:
                step(tables, pool.rows, states[n], a, pool.rows, count)
                found = pool.slots[slot_of(pool.words, pool.slots, count)]
            after[n, a] = pool.notes[found, NUMBER] if found >= 0 else -1
    return after


@compiled
def kept_states(pool: Pool, count: int, kept: int) -> Array:
    """Which states of the pool are in the graph, by their number there."""
    states = np.empty(kept, dtype=np.int64)
    for s in range(count):
        if pool.notes[s, NUMBER] >= 0:
            states[pool.notes[s, NUMBER]] = s
    return states


def choose(values: Any, pool: Pool, found: Array, v: int, beam: int, salt: Any) -> Array:
    """The `beam` best of the states `found` for node v, best first; chance decides between equals."""
    keys, chance = np.empty(len(found)), np.empty(len(found), dtype=np.uint64)
    best = np.empty(beam, dtype=np.int64)
    size = 0
    for i in range(len(found)):
        s = found[i]
        if pool.notes[s, VALUED] != v:
            pool.worth[s] = value(values, pool.rows, s, v)
            pool.notes[s, VALUED] = v
        keys[i], chance[i] = pool.worth[s], lot(pool.words, s, salt)
        j = size
        while j > 0:
            other = best[j - 1]
            if keys[other] < keys[i] or (keys[other] == keys[i] and chance[other] <= chance[i]):
                break
            if j < beam:
                best[j] = other
            j -= 1
        if j < beam:
            best[j] = i
            size = min(size + 1, beam)
    return found[best[:size]]


def surround(tables: Any, given: Array, actions: int, full: int, most: int) -> tuple[Pool, int, int, Ints]:
    """The states within `full` actions of the given ones; stops where there are more than `most`.

    Gives the pool, where the last layer begins and ends, and which states the given ones are.
    """
    pool = new_pool(given, actions)
    count, path = take_in(given, pool.rows, pool.words, pool.slots)
    done = 0
    for _ in range(full):
        layer_end = count
        for s in range(done, layer_end):
            if count + actions >= len(pool.words):
                pool = larger(pool, count, given)
            count = expand(tables, pool, s, count)
            if count > most:
                return pool, done, count, path
        done = layer_end
    return pool, done, count, path


def narrow_down(
    tables: Any, values: Any, like: Array, pool: Pool, frontier: Array, first: int, v: int, beam: int, stamp: int,
    salt: Any, count: int,
) -> tuple[Pool, Array, int]:  # fmt: skip
    """One layer of the beam of node v: the best of the states after those of the frontier that it has not kept yet.

    Args:
        first: how many states the full layers have.
        stamp: the number of the layer, another one for each node.
    """
    actions = pool.after.shape[1]
    found = np.empty(len(frontier) * actions, dtype=np.int64)
    size = 0
    for s in frontier:
        if pool.notes[s, EXPANDED] < 0:
            if count + actions >= len(pool.words):
                pool = larger(pool, count, like)
            count = expand(tables, pool, s, count)
        for a in range(actions):
            t = pool.after[s, a]
            if t >= first and pool.notes[t, KEPT_BY] != v and pool.notes[t, LISTED] != stamp:
                pool.notes[t, LISTED] = stamp
                found[size] = t
                size += 1
    if size <= beam:
        return pool, found[:size], count
    return pool, choose(values, pool, found[:size], v, beam, salt + np.uint64(stamp)), count


def beams(
    tables: Any, values: Any, given: Array, actions: int, nodes: int, layers: tuple[int, int, int], salt: Any, most: int
) -> tuple[bool, Array, tuple[Ints, Ints, Ints], Ints]:
    """Full layers around the given states `[T + 1, W]`, then for each machine node layers of its best states.

    Gives whether the full layers have at most `most` states; if so, the states, their edges and which states the given
    ones are, as `graph_kernels.explore`.
    """
    full, narrow, beam = layers
    pool, done, count, path = surround(tables, given, actions, full, most)
    if count > most:
        return False, given[:0].copy(), edges_of(pool.after, 0), path
    first = kept = count
    for s in range(first):
        pool.notes[s, NUMBER] = s
    for v in range(1, nodes - 1):
        frontier = np.arange(done, first)
        for layer in range(narrow):
            stamp = v * narrow + layer
            pool, frontier, count = narrow_down(
                tables, values, given, pool, frontier, first, v, beam, stamp, salt, count
            )
            for t in frontier:
                pool.notes[t, KEPT_BY] = v
                if pool.notes[t, NUMBER] < 0:
                    pool.notes[t, NUMBER] = kept
                    kept += 1
    if count + 1 >= len(pool.words):
        pool = larger(pool, count, given)
    states = kept_states(pool, count, kept)
    distinct = np.empty((kept, given.shape[1]), dtype=given.dtype)
    for n in range(kept):
        for w in range(given.shape[1]):
            distinct[n, w] = pool.rows[states[n], w]
    return True, distinct, edges_of(ends(tables, pool, states, count), kept), path
