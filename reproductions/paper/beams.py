"""The inner loop of the sampled scheme: full layers around a demonstration, then a beam for each machine node.

Templates for `rsg.core.compiled.specialised`: `step` is the world's compiled step, `guide` gives log G and log I of the
value networks of a task, as planners ask classifiers.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rsg.core.compiled import bare, compiled
from rsg.search.kernels.table import Table, add, larger, table_for

Array = NDArray[Any]
NOTES = np.dtype((np.record, [("number", np.int32), ("node", np.int32), ("layer", np.int32)]))
"""Of a state: its number in the graph, the last node whose beam kept it, the last layer that listed it; first -1."""


class Pool(NamedTuple):
    """All states that were come across, whether they are kept or not. N is the room.

    Attributes:
        table: `[N]` the states as whole words, rows: the same as the world sees them.
        after: `[N, A]` where the actions lead, -1 where nobody has asked.
        notes: `[N]` what is noted of each.
    """

    table: Table
    rows: Any
    after: Any
    notes: Any


def step(tables: Any, states: Array, i: int, action: int, out: Array, j: int) -> None:
    """Hook: the world's compiled step."""


def guide(tables: Any, states: Array, i: int, k: int) -> tuple[float, float]:
    """Hook: log G and log I of network k in state i."""
    raise NotImplementedError


@compiled
def no_guide(tables: Any, states: Array, i: int, k: int) -> tuple[float, float]:  # noqa: ARG001
    """The hook of tasks without values: h = 0."""
    return 0.0, 0.0


@bare
def lot(words: Array, n: int, salt: Any) -> Any:
    """A number for state n that is as good as random, and the same wherever the state and the salt are the same."""
    odd, half = np.uint64(0xD1342543DE82EF95), np.uint64(32)
    key = salt * odd
    for w in range(words.shape[1]):
        key = (key ^ key >> half ^ words[n, w]) * odd
    return (key ^ key >> half) * odd


@compiled
def pool_of(table: Table, like: Array, actions: int) -> Pool:
    """A pool that knows nothing of the states of a table."""
    notes = np.empty(len(table.words), dtype=NOTES)
    for n in range(len(notes)):
        notes[n].number = notes[n].node = notes[n].layer = -1
    after = np.full((len(table.words), actions), -1, dtype=np.int32)
    return Pool(table, table.words.view(like.dtype), after, notes)


@compiled
def with_room(pool: Pool, count: int, like: Array) -> Pool:
    """The pool itself, or one with twice the room if the actions of one more state might not fit."""
    actions = pool.after.shape[1]
    if count + actions < len(pool.notes):
        return pool
    more = pool_of(larger(pool.table, count, 2 * (count + actions)), like, actions)
    more.after[:count] = pool.after[:count]
    more.notes[:count] = pool.notes[:count]
    return more


def expand(tables: Any, pool: Pool, s: int, count: int) -> int:
    """Find out where the actions in state s lead and add what is new; gives the new count of states."""
    if pool.after[s, 0] >= 0:
        return count
    for a in range(pool.after.shape[1]):
        step(tables, pool.rows, s, a, pool.rows, count)
        pool.after[s, a] = add(pool.table.words, pool.table.slots, count)
        count = max(count, pool.after[s, a] + 1)
    return count


def surround(tables: Any, given: Array, actions: int, full: int) -> tuple[Pool, int, int, Array]:
    """The states within `full` actions of the given ones: the pool, its last layer, and which are the given ones."""
    blank = table_for(2 * len(given) + 512, (given.shape[1] * given.itemsize + 7) // 8)
    pool = pool_of(blank, given, actions)
    path = np.empty(len(given), dtype=np.int32)
    count = done = 0
    for i in range(len(given)):
        for w in range(given.shape[1]):
            pool.rows[count, w] = given[i, w]
        path[i] = add(pool.table.words, pool.table.slots, count)
        count = max(count, path[i] + 1)
    for _ in range(full):
        layer_end = count
        for s in range(done, layer_end):
            pool = with_room(pool, count, given)
            count = expand(tables, pool, s, count)
        done = layer_end
    return pool, done, count, path


def choose(values: Any, pool: Pool, found: Array, v: int, beam: int, salt: Any) -> Array:
    """The `beam` best of the states `found` for node v, best first; chance decides between equals."""
    worth, chance = np.empty(len(found)), np.empty(len(found), dtype=np.uint64)
    for i in range(len(found)):
        worth[i] = -guide(values, pool.rows, found[i], v - 1)[1]  # V = -log I = log(1 + exp(x)) of the network's x
        chance[i] = lot(pool.table.words, found[i], salt)
    for j in range(beam):
        best = j
        for i in range(j + 1, len(found)):
            if worth[i] < worth[best] or (worth[i] == worth[best] and chance[i] < chance[best]):
                best = i
        found[j], found[best] = found[best], found[j]
        worth[j], worth[best] = worth[best], worth[j]
        chance[j], chance[best] = chance[best], chance[j]
    return found[:beam]


def listed(tables: Any, pool: Pool, frontier: Array, first: int, v: int, layer: int, like: Array, count: int) -> Any:
    """What comes after the states of a frontier and was not kept for node v yet; `layer` is another one each time."""
    found = np.empty(len(frontier) * pool.after.shape[1], dtype=np.int64)
    size = 0
    for s in frontier:
        pool = with_room(pool, count, like)
        count = expand(tables, pool, s, count)
        for t in pool.after[s]:
            if t >= first and pool.notes[t].node != v and pool.notes[t].layer != layer:
                pool.notes[t].layer = layer
                found[size] = t
                size += 1
    return pool, count, found[:size]


def beams(
    tables: Any, values: Any, given: Array, actions: int, nodes: int, layers: tuple[int, int, int], salt: Any
) -> tuple[Array, Array, Array]:
    """b full layers around the given states `[T + 1, W]`, then for each machine node c layers of its k best states.

    Gives the states that were kept, where their actions lead `[S, A]`, -1 if out of them, and which are the given ones.
    """
    full, narrow, beam = layers
    pool, done, count, path = surround(tables, given, actions, full)
    kept = list(range(count))
    first = count
    for s in kept:
        pool.notes[s].number = s
    for v in range(1, nodes - 1):
        frontier = np.arange(done, first)
        for layer in range(v * narrow, (v + 1) * narrow):
            pool, count, found = listed(tables, pool, frontier, first, v, layer, given, count)
            frontier = choose(values, pool, found, v, beam, salt + np.uint64(layer)) if len(found) > beam else found
            for t in frontier:
                pool.notes[t].node = v
                if pool.notes[t].number < 0:
                    pool.notes[t].number = len(kept)
                    kept.append(int(t))
    states = np.empty((len(kept), given.shape[1]), dtype=given.dtype)
    after = np.empty((len(kept), actions), dtype=np.int32)
    for n in range(len(kept)):
        pool = with_room(pool, count, given)
        count = expand(tables, pool, kept[n], count)
        states[n] = pool.rows[kept[n], : given.shape[1]]
        for a in range(actions):
            after[n, a] = pool.notes[pool.after[kept[n], a]].number
    return states, after, path
