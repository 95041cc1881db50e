"""The compiled form of the encoder `sets` for Crafting World: forward, sparse backward, and a kernel for the search.

An object's vector is a sum of two rows of a table: one for its code, one for its cell. States around a demonstration
share few inventories and maps, and so do those of a search, where only the agent moves between most of them: what each
inventory and each map gives is found out once and remembered.
"""

from typing import Any, NamedTuple

import numpy as np

from rsg.core.arrays import Array, Bytes, Ints
from rsg.core.compiled import bare, compiled, fast, inlined
from rsg.domains.crafting.kernels import HEAD

LATEST = 64  # inventories and maps that are remembered
HANDS, MAP = 0, 1  # parts of a state
SCRATCH = 4  # rows of `pooled` to work in
TOLD = np.dtype((np.record, np.dtype([("part", np.float32), ("known", np.uint8)], align=True)))


class Tables(NamedTuple):
    """Parameters for maps of one size: N networks, H the hidden width, C codes, P cells."""

    # `[N·B, H]` a block of B rows for each network: C for items held by their code, C for objects on the map by their
    # code, P for what their cell adds, 1 for what the agent on it adds; then the weights of both maxima, of items and
    # of objects, in the log-odds
    vectors: Array
    base: Array  # `[N, P + 1]` log-odds from the agent's cell, and from each item held
    codes: int  # C
    cells: int  # P
    width: int  # of the map
    capacity: int  # how many items can be held


class Memory(NamedTuple):
    """Which networks are asked, and what they said of the latest inventories and maps, in a number of ways."""

    each: int
    wanted: Ints  # `[Q]` the networks that are asked, `each` of them for one term after the other
    seen: Bytes  # `[ways, W]` an inventory and a map, each where a state has it; they need not be of the same state
    turns: Ints  # `[2, 2]` for inventories and for maps: the way that was used last, and the one to be replaced next
    told: Array  # `[2, ways, Q]` the part of the log-odds, if it is known; of maps, while the agent stands on no object
    # `[ways·Q·2 + 4, H]` the maximum over the objects on the map, after the ReLU, and the second-best; then rows to
    # work in
    pooled: Array


class Asked(NamedTuple):
    """What `goal` is given: parameters, and what is remembered of those that are asked."""

    tables: Tables
    memory: Memory


class Where(NamedTuple):
    """A state: the agent's cell, the code of what lies there, how many items are held; the ways of both its parts."""

    at: int
    code: int
    held: int
    hands: int
    map: int


def empty_memory(wanted: Array, width: int, hidden: int, ways: int = LATEST) -> Memory:
    """A memory for networks `[terms, each]` and states of some width; quick to make, as many searches are short."""
    return Memory(
        each=wanted.shape[1],
        wanted=wanted.ravel(),
        seen=np.zeros((ways, width), dtype=np.uint8),
        turns=np.zeros((2, 2), dtype=np.int64),
        told=np.zeros((2, ways, wanted.size), dtype=TOLD),
        pooled=np.empty((ways * wanted.size * 2 + SCRATCH, hidden), dtype=np.float32),
    )


@bare
def forward(tables: Tables, memory: Memory, states: Array, out: Array) -> None:
    """Log-odds of G and I, `[N, terms, 2]`."""
    for i in range(len(states)):
        where = look(tables, memory, states, i)
        for k in range(out.shape[1]):
            for n in range(memory.each):
                agent, items, things = ask(tables, memory, states, i, where, k * memory.each + n)
                out[i, k, n] = np.float64(agent) + np.float64(items) + np.float64(things)
            if memory.each == 1:
                out[i, k, 1] = -out[i, k, 0]


@bare
def goal(asked: Asked, states: Array, i: int, k: int) -> tuple[float, float]:
    """log G and log I of wanted term k in state i, for searches; I is 1 - G where only the network of G is wanted."""
    tables, memory = asked
    where = look(tables, memory, states, i)
    log_g, log_i = 0.0, 0.0
    for n in range(memory.each):
        agent, items, things = ask(tables, memory, states, i, where, k * memory.each + n)
        odds = float(agent + items + things)
        if n == 0:
            log_g = min(odds, 0.0) - np.log1p(np.exp(-abs(odds)))
            odds = -odds
        log_i = min(odds, 0.0) - np.log1p(np.exp(-abs(odds)))
    return log_g, log_i


@inlined
def look(tables: Tables, memory: Memory, states: Array, i: int) -> Where:
    """What networks have to know of state i."""
    first = HEAD + tables.capacity
    at = int(states[i, 0]) * tables.width + int(states[i, 1])
    held = 0
    for slot in range(HEAD, first):
        held += min(states[i, slot], 1)
    hands = recall(memory, HANDS, states, i, HEAD, first)
    place = recall(memory, MAP, states, i, first, first + tables.cells)
    return Where(at, states[i, first + at], held, hands, place)


@inlined
def recall(memory: Memory, part: int, states: Array, i: int, start: int, end: int) -> int:
    """The way that holds some columns of state i; if there is none yet, the oldest one is overwritten."""
    seen, turns, told = memory.seen, memory.turns, memory.told
    way, missing = turns[part, 0], 1
    for _ in range(len(seen)):
        missing = 0
        for column in range(start, end):
            if seen[way, column] != states[i, column]:
                missing = 1
                break
        if missing == 0:
            break
        way = way - 1 if way > 0 else len(seen) - 1
    if missing:
        way = turns[part, 1]
        turns[part, 1] = way + 1 if way + 1 < len(seen) else 0
        for column in range(start, end):
            seen[way, column] = states[i, column]
        for one in range(told.shape[2]):
            told[part, way, one].known = 0
    turns[part, 0] = way
    return way  # type: ignore[no-any-return]


@inlined
def ask(tables: Tables, memory: Memory, states: Array, i: int, where: Where, one: int) -> Any:
    """What the agent, the items held and the objects on the map add to the log-odds, in the eyes of one network."""
    vectors, told, pooled, base = tables.vectors, memory.told, memory.pooled, tables.base
    network = memory.wanted[one]
    block = network * (2 * tables.codes + tables.cells + 3)
    head = block + 2 * tables.codes + tables.cells + 1
    row, work = 2 * (where.map * told.shape[2] + one), len(pooled) - SCRATCH
    if not told[HANDS, where.hands, one].known:
        most = pool_items(vectors, block, states, i, where.held, pooled)
        told[HANDS, where.hands, one].part = weighted(pooled, most, vectors, head)
        told[HANDS, where.hands, one].known = 1
    if not told[MAP, where.map, one].known:
        pool_things(tables, block, states, i, pooled, row)
        told[MAP, where.map, one].part = weighted(pooled, row, vectors, head + 1)
        told[MAP, where.map, one].known = 1
    things = told[MAP, where.map, one].part
    if where.code != 0:
        stand_on(tables, block, where, pooled, row)
        things = weighted(pooled, work, vectors, head + 1)
    agent = base[network, where.at] + np.float32(where.held) * base[network, tables.cells]
    return agent, told[HANDS, where.hands, one].part, things


@fast
def weighted(pooled: Array, most: int, vectors: Array, head: int) -> Any:
    """A maximum times its weights."""
    total = np.float32(0.0)
    for h in range(pooled.shape[1]):
        total += pooled[most, h] * vectors[head, h]
    return total


@inlined
def pool_items(vectors: Array, block: int, states: Array, i: int, held: int, pooled: Array) -> int:
    """The maximum over the items held, after the ReLU; gives the row of `pooled` that holds it.

    It is written into another row than it was read from: into the same one would be slower.
    """
    now, new = len(pooled) - SCRATCH, len(pooled) - SCRATCH + 1
    for h in range(pooled.shape[1]):
        pooled[now, h] = np.float32(0.0)
    for slot in range(HEAD, HEAD + held):
        row = block + states[i, slot]
        for h in range(pooled.shape[1]):
            x, y = vectors[row, h], pooled[now, h]
            pooled[new, h] = x if x > y else y
        now, new = new, now
    return now


@inlined
def pool_things(tables: Tables, block: int, states: Array, i: int, pooled: Array, row: int) -> None:
    """The maximum over objects on the map, after the ReLU, into a row of `pooled`, the second-best into the next."""
    vectors, first = tables.vectors, HEAD + tables.capacity
    now, new = len(pooled) - SCRATCH, len(pooled) - SCRATCH + 2
    for h in range(pooled.shape[1]):
        pooled[now, h] = np.float32(0.0)
        pooled[now + 1, h] = np.float32(0.0)
    for cell in range(tables.cells):
        if states[i, first + cell] != 0:
            thing, place = block + tables.codes + states[i, first + cell], block + 2 * tables.codes + cell
            for h in range(pooled.shape[1]):
                x, best, second = vectors[thing, h] + vectors[place, h], pooled[now, h], pooled[now + 1, h]
                lower = x if x < best else best
                pooled[new, h] = x if x > best else best
                pooled[new + 1, h] = lower if lower > second else second
            now, new = new, now
    for h in range(pooled.shape[1]):
        pooled[row, h] = pooled[now, h]
        pooled[row + 1, h] = pooled[now + 1, h]


@inlined
def stand_on(tables: Tables, block: int, where: Where, pooled: Array, row: int) -> None:
    """The maximum when the agent stands on an object: it looks different, the others give what they gave."""
    vectors, work = tables.vectors, len(pooled) - SCRATCH
    thing, place = block + tables.codes + where.code, block + 2 * tables.codes + where.at
    here = block + 2 * tables.codes + tables.cells
    for h in range(pooled.shape[1]):
        x = vectors[thing, h] + vectors[place, h]
        others = pooled[row + 1, h] if x == pooled[row, h] else pooled[row, h]
        x += vectors[here, h]
        pooled[work, h] = x if x > others else others


class Slopes(NamedTuple):
    """The gradient of a score, as far as it depends on `vectors` and `base` of `Tables`."""

    vectors: Array
    base: Array


class Given(NamedTuple):
    """The slope of one of the log-odds: in which state, of which of the networks that are asked, and how much.

    down: `[2, H]` to work in: what is left of it for each hidden unit, and the share of it that an object gets.
    """

    where: Where
    one: int
    slope: np.float32
    down: Array


@compiled
def backward(tables: Tables, memory: Memory, states: Array, slope: Array, slopes: Slopes) -> None:
    """Add to the slopes of the tables, given that of the log-odds `[N, terms, 2]`; zeros are passed over."""
    down = np.empty((2, memory.pooled.shape[1]), dtype=np.float32)
    for i in range(len(states)):
        if slope[i].any():
            where = look(tables, memory, states, i)
            for k in range(slope.shape[1]):
                for n in range(memory.each):
                    one = np.float32(slope[i, k, n] - (slope[i, k, 1] if memory.each == 1 else 0.0))
                    if one != 0:
                        ask_back(tables, memory, states, i, Given(where, k * memory.each + n, one, down), slopes)


@bare
def ask_back(tables: Tables, memory: Memory, states: Array, i: int, what: Given, slopes: Slopes) -> None:
    """One of the log-odds, back: each hidden unit that is on passes its slope to the object that gave the maximum."""
    vectors, pooled, where, down = tables.vectors, memory.pooled, what.where, what.down
    network = memory.wanted[what.one]
    block = network * (2 * tables.codes + tables.cells + 3)
    here = block + 2 * tables.codes + tables.cells
    ask(tables, memory, states, i, where, what.one)  # now what the map gives is in its row
    slopes.base[network, where.at] += what.slope
    slopes.base[network, tables.cells] += what.slope * where.held
    most = pool_items(vectors, block, states, i, where.held, pooled)
    switch_on(vectors, pooled, most, here + 1, what, slopes.vectors)
    for slot in range(HEAD, HEAD + where.held):
        item = block + states[i, slot]
        for h in range(down.shape[1]):
            down[1, h] = down[0, h] if vectors[item, h] == pooled[most, h] else np.float32(0.0)
            down[0, h] -= down[1, h]
        give(down, slopes.vectors, item)
    most = 2 * (where.map * memory.told.shape[2] + what.one)
    if where.code != 0:
        stand_on(tables, block, where, pooled, most)
        most = len(pooled) - SCRATCH
    switch_on(vectors, pooled, most, here + 2, what, slopes.vectors)
    for cell in range(tables.cells):
        code = states[i, HEAD + tables.capacity + cell]
        thing, place = block + tables.codes + code, block + 2 * tables.codes + cell
        if code != 0 and cell == where.at:
            for h in range(down.shape[1]):
                x = vectors[thing, h] + vectors[place, h] + vectors[here, h]
                down[1, h] = down[0, h] if x == pooled[most, h] else np.float32(0.0)
                down[0, h] -= down[1, h]
            give(down, slopes.vectors, here)
        elif code != 0:
            for h in range(down.shape[1]):
                x = vectors[thing, h] + vectors[place, h]
                down[1, h] = down[0, h] if x == pooled[most, h] else np.float32(0.0)
                down[0, h] -= down[1, h]
        if code != 0:
            give(down, slopes.vectors, thing)
            give(down, slopes.vectors, place)


@inlined
def give(down: Array, slopes: Array, row: int) -> None:
    """Add an object's share to its slopes. A loop of its own: one that writes to many places is not vectorised."""
    for h in range(down.shape[1]):
        slopes[row, h] += down[1, h]


@inlined
def switch_on(vectors: Array, pooled: Array, most: int, head: int, what: Given, slopes: Array) -> None:
    """The slopes of the weights, and those of the maxima into `down`: none where a unit is off."""
    slope, down = what.slope, what.down
    for h in range(down.shape[1]):
        on = np.float32(1.0) if pooled[most, h] > 0 else np.float32(0.0)
        slopes[head, h] += slope * on * pooled[most, h]
        down[0, h] = slope * on * vectors[head, h]
