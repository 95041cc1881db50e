"""The compiled form of the encoder `sets` for Crafting World: forward, sparse backward, and a kernel for the search.

An object's vector is a sum of two rows of tables: one for its code, one for its cell. States around a demonstration
share few inventories and maps, so the part of the log-odds that each of these gives is computed once; so do the states
of a search, where only the agent moves between most of them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rsg.core.compiled import compiled, fast, inlined
from rsg.worlds.crafting.kernels import HEAD

Array = NDArray[Any]
LATEST = 64  # inventories or maps that are looked through for one that is the same


class Tables(NamedTuple):
    """Parameters for maps of one size. T terms, M networks each, H the hidden width, C codes, P cells.

    Attributes:
        items: `[T·M·C, H]` of an item held, by its code, bias included.
        things: `[T·M·C, H]` of an object on the map, by its code, bias included.
        cells: `[T·M·P, H]` what its cell adds, here: `[T·M, H]` what the agent on it adds.
        head: `[T·M·2, H]` the weights of both maxima, of items (0) and of objects (1), in the log-odds.
        base: `[T·M, P]` log-odds from the agent's cell, more: `[T·M, 1]` from each item held.
    """

    items: Any
    things: Any
    cells: Any
    here: Any
    head: Any
    base: Any
    more: Any


class Memory(NamedTuple):
    """What `goal` remembers of the inventories (0) and the maps (1) of one search, in a number of ways.

    It finds out about each of them network by network, when it is asked.

    Attributes:
        seen: `[ways, W]` an inventory and a map, each where a state has it; they need not be of the same state.
        turns: `[2, 2]` the way that was used last, and the one to be replaced next.
        known: `[2, ways, networks]` 1 where the network was asked.
        parts: `[2, ways, networks]` of the log-odds; of maps, while the agent stands on no object.
        pooled: `[ways·networks·2, H]` the maximum over the objects on the map, after the ReLU, and the second-best.
    """

    seen: Any
    turns: Any
    known: Any
    parts: Any
    pooled: Any


def empty_memory(width: int, networks: int, hidden: int, ways: int = LATEST) -> Memory:
    """A memory for states of some width; it is quick to make, as many searches are short."""
    return Memory(
        seen=np.zeros((ways, width), dtype=np.uint8),
        turns=np.zeros((2, 2), dtype=np.int64),
        known=np.zeros((2, ways, networks), dtype=np.uint8),
        parts=np.empty((2, ways, networks), dtype=np.float32),
        pooled=np.empty((ways * networks * 2, hidden), dtype=np.float32),
    )


@compiled
def most_items(items: Array, codes: int, states: Array, i: int, capacity: int, scratch: Array) -> int:
    """The maximum over the items held, before the ReLU; gives the row of `scratch` that holds it, -1 for no items.

    It is written into another row than it was read from: into the same one would be slower.
    """
    now, new = -1, 0
    for slot in range(HEAD, HEAD + capacity):
        if states[i, slot] == 0:
            break
        row = codes + states[i, slot]
        if now < 0:
            for h in range(scratch.shape[1]):
                scratch[new, h] = items[row, h]
        else:
            for h in range(scratch.shape[1]):
                x, y = items[row, h], scratch[now, h]
                scratch[new, h] = x if x > y else y
        now, new = new, 1 - new
    return now


@compiled
def most_things(
    things: Array, cells: Array, here: Array, network: int, codes: int, states: Array, i: int, capacity: int, at: int,
    scratch: Array,
) -> int:  # fmt: skip
    """The maximum over the objects on the map, before the ReLU; gives the row of `scratch` or -1, as `most_items`."""
    area, first = len(cells) // len(here), HEAD + capacity
    now, new = -1, 0
    for cell in range(area):
        code = states[i, first + cell]
        if code == 0:
            continue
        row, where = codes + code, network * area + cell
        if cell == at:
            for h in range(scratch.shape[1]):
                x = things[row, h] + cells[where, h] + here[network, h]
                scratch[new, h] = x if now < 0 or x > scratch[now, h] else scratch[now, h]
        elif now < 0:
            for h in range(scratch.shape[1]):
                scratch[new, h] = things[row, h] + cells[where, h]
        else:
            for h in range(scratch.shape[1]):
                x, y = things[row, h] + cells[where, h], scratch[now, h]
                scratch[new, h] = x if x > y else y
        now, new = new, 1 - new
    return now


@fast
def weighted(scratch: Array, most: int, head: Array, row: int) -> Any:
    """A maximum through ReLU, times the weights; 0 if there is nothing."""
    total = np.float32(0.0)
    if most >= 0:
        for h in range(scratch.shape[1]):
            x = scratch[most, h]
            total += (x if x > 0 else np.float32(0.0)) * head[row, h]
    return total


@compiled
def from_items(tables: Any, network: int, states: Array, i: int, capacity: int, scratch: Array) -> Any:
    """The part of the log-odds that the items held give."""
    items, here, head = tables[0], tables[3], tables[4]
    codes = network * (len(items) // len(here))
    return weighted(scratch, most_items(items, codes, states, i, capacity, scratch), head, 2 * network)


@compiled
def from_things(tables: Any, network: int, states: Array, i: int, capacity: int, at: int, scratch: Array) -> Any:
    """The part of the log-odds that the objects on the map give; `at` is the agent's cell, -1 if it does not matter."""
    things, cells, here, head = tables[1], tables[2], tables[3], tables[4]
    codes = network * (len(things) // len(here))
    most = most_things(things, cells, here, network, codes, states, i, capacity, at, scratch)
    return weighted(scratch, most, head, 2 * network + 1)


@compiled
def from_agent(tables: Any, network: int, states: Array, i: int, at: int, capacity: int) -> Any:
    """The part of the log-odds that the overall features give."""
    held = 0
    while held < capacity and states[i, HEAD + held] != 0:
        held += 1
    return tables[5][network, at] + np.float32(held) * tables[6][network, 0]


@compiled
def numbered(states: Array, start: int, end: int, numbers: Array) -> int:
    """Number the contents of some columns; gives how many numbers there are. `numbers[1, n]` is the first row of n.

    Only the latest numbers are looked through, so that time grows with the states alone: one may come twice.
    """
    count = 0
    for i in range(len(states)):
        numbers[0, i] = -1
        for n in range(count - 1, max(-1, count - 1 - LATEST), -1):
            same = True
            for column in range(start, end):
                if states[i, column] != states[numbers[1, n], column]:
                    same = False
                    break
            if same:
                numbers[0, i] = n
                break
        if numbers[0, i] < 0:
            numbers[0, i] = count
            numbers[1, count] = i
            count += 1
    return count


@compiled
def forward(sizes: Array, tables: Any, states: Array, wanted: Array, out: Array) -> None:
    """Log-odds of G and I, `[N, terms, 2]`; `wanted` `[terms, M]` numbers the networks of each term."""
    scratch = np.empty((2, tables[0].shape[1]), dtype=np.float32)
    networks = wanted.shape[1]
    first, width, capacity = HEAD + sizes[2], sizes[1], sizes[2]
    hands = np.empty((2, len(states)), dtype=np.int64)
    maps = np.empty((2, len(states)), dtype=np.int64)
    inventories = numbered(states, HEAD, first, hands)
    grounds = numbered(states, first, first + sizes[0] * width, maps)
    of_hands, of_map = np.empty(inventories), np.empty(grounds)
    for k in range(len(wanted)):
        for n in range(networks):
            network = wanted[k, n]
            for one in range(inventories):
                of_hands[one] = from_items(tables, network, states, hands[1, one], capacity, scratch)
            for one in range(grounds):
                of_map[one] = from_things(tables, network, states, maps[1, one], capacity, -1, scratch)
            for i in range(len(states)):
                at = states[i, 0] * width + states[i, 1]
                odds = from_agent(tables, network, states, i, at, capacity) + of_hands[hands[0, i]]
                if states[i, first + at] == 0:
                    odds += of_map[maps[0, i]]
                else:  # the agent stands on an object, which looks different then
                    odds += from_things(tables, network, states, i, capacity, at, scratch)
                out[i, k, n] = odds
        if networks == 1:
            for i in range(len(states)):
                out[i, k, 1] = -out[i, k, 0]


@compiled
def backward(sizes: Array, tables: Any, states: Array, wanted: Array, gradient: Array, out: Any) -> None:
    """Add to the gradients of the tables, given that of the log-odds; entries without a gradient are passed over."""
    size = tables[0].shape[1]
    scratch = np.empty((2, size), dtype=np.float32)
    down = np.empty(size, dtype=np.float32)
    networks = wanted.shape[1]
    for k in range(len(wanted)):
        for n in range(networks):
            for i in range(len(states)):
                slope = gradient[i, k, n] - (gradient[i, k, 1] if networks == 1 else 0.0)
                if slope != 0.0:
                    pull(sizes, tables, wanted[k, n], states, i, np.float32(slope), out, scratch, down)


@compiled
def pull(
    sizes: Array, tables: Any, network: int, states: Array, i: int, slope: Any, out: Any, scratch: Array, down: Array
) -> None:
    """The gradient of one log-odds: each hidden unit that is on passes it to the one object that gave the maximum."""
    items, things, cells, here, head, _, _ = tables
    d_items, d_things, d_cells, d_here, d_head, d_base, d_more = out
    capacity, area, size = sizes[2], sizes[0] * sizes[1], scratch.shape[1]
    first = HEAD + capacity
    at = states[i, 0] * sizes[1] + states[i, 1]
    codes = network * (len(items) // len(here))
    most = most_items(items, codes, states, i, capacity, scratch)
    switch_on(scratch, most, head, d_head, 2 * network, slope, down)
    held = 0
    while held < capacity and states[i, HEAD + held] != 0:
        row = codes + states[i, HEAD + held]
        for h in range(size):
            share = down[h] if items[row, h] == scratch[most, h] else np.float32(0.0)
            d_items[row, h] += share
            down[h] -= share
        held += 1
    d_base[network, at] += slope
    d_more[network, 0] += slope * held
    most = most_things(things, cells, here, network, codes, states, i, capacity, at, scratch)
    switch_on(scratch, most, head, d_head, 2 * network + 1, slope, down)
    for cell in range(area):
        code = states[i, first + cell]
        if code == 0:
            continue
        row, where = codes + code, network * area + cell
        if cell == at:
            for h in range(size):
                x = things[row, h] + cells[where, h] + here[network, h]
                share = down[h] if x == scratch[most, h] else np.float32(0.0)
                d_things[row, h] += share
                d_cells[where, h] += share
                d_here[network, h] += share
                down[h] -= share
        else:
            for h in range(size):
                x = things[row, h] + cells[where, h]
                share = down[h] if x == scratch[most, h] else np.float32(0.0)
                d_things[row, h] += share
                d_cells[where, h] += share
                down[h] -= share


@compiled
def switch_on(scratch: Array, most: int, head: Array, d_head: Array, row: int, slope: Any, down: Array) -> None:
    """The gradient of the maxima `[H]`: none where the unit is off; and that of the weights."""
    if most < 0:
        return
    for h in range(scratch.shape[1]):
        x = scratch[most, h]
        on = np.float32(1.0) if x > 0 else np.float32(0.0)
        d_head[row, h] += slope * on * x
        down[h] = slope * on * head[row, h]


@compiled
def goal(tables: Any, states: Array, i: int, k: int) -> tuple[float, float]:
    """log G and log I of wanted term k in state i, for searches; I is 1 - G where only the network of G is wanted.

    What is done once or not at all stands in a `for`. Where an `if` is the last to use an array, or where something may
    fail, as a division by zero does, numba counts references: this would take as long as all the rest.
    """
    sizes, parameters, wanted, memory, scratch = tables
    items, things, cells, here, head, base, more = parameters
    seen, turns, known, parts, pooled = memory
    first, area = HEAD + sizes[2], sizes[0] * sizes[1]
    at = states[i, 0] * sizes[1] + states[i, 1]
    code = states[i, first + at]
    held = 0
    for slot in range(HEAD, first):
        held += min(states[i, slot], 1)
    hands = recall(seen, turns, known, 0, states, i, HEAD, first)
    ground = recall(seen, turns, known, 1, states, i, first, first + area)
    log_g, log_i = 0.0, 0.0
    for n in range(wanted.shape[1]):
        network, one = wanted[k, n], k * wanted.shape[1] + n
        codes, row = network * (len(things) // max(len(here), 1)), 2 * (ground * known.shape[2] + one)
        for _ in range(1 - known[0, hands, one]):
            most = pool_items(items, codes, states, i, held, scratch)
            parts[0, hands, one] = weighted(scratch, most, head, 2 * network)
            known[0, hands, one] = 1
        for _ in range(1 - known[1, ground, one]):
            pool_things(things, cells, codes, network * area, states, i, first, area, scratch, pooled, row)
            parts[1, ground, one] = weighted(pooled, row, head, 2 * network + 1)
            known[1, ground, one] = 1
        objects = parts[1, ground, one]
        for _ in range(min(code, 1)):
            stand_on(things, codes + code, cells, network * area + at, here, network, pooled, row, scratch)
            objects = weighted(scratch, 0, head, 2 * network + 1)
        odds = float(base[network, at] + np.float32(held) * more[network, 0] + parts[0, hands, one] + objects)
        if n == 0:
            log_g = min(odds, 0.0) - np.log1p(np.exp(-abs(odds)))
            odds = -odds
        log_i = min(odds, 0.0) - np.log1p(np.exp(-abs(odds)))
    return log_g, log_i


@inlined
def recall(seen: Array, turns: Array, known: Array, part: int, states: Array, i: int, start: int, end: int) -> int:
    """The way that holds some columns of state i; if there is none yet, the oldest one is overwritten."""
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
    for _ in range(missing):
        way = turns[part, 1]
        turns[part, 1] = way + 1 if way + 1 < len(seen) else 0
        for column in range(start, end):
            seen[way, column] = states[i, column]
        for one in range(known.shape[2]):
            known[part, way, one] = 0
    turns[part, 0] = way
    return way  # type: ignore[no-any-return]


@inlined
def pool_items(items: Array, codes: int, states: Array, i: int, held: int, scratch: Array) -> int:
    """The maximum over the items held, after the ReLU; gives the row of `scratch` that holds it."""
    now, new = 0, 1
    for h in range(scratch.shape[1]):
        scratch[now, h] = np.float32(0.0)
    for slot in range(HEAD, HEAD + held):
        row = codes + states[i, slot]
        for h in range(scratch.shape[1]):
            x, y = items[row, h], scratch[now, h]
            scratch[new, h] = x if x > y else y
        now, new = new, now
    return now


@inlined
def pool_things(
    things: Array, cells: Array, codes: int, where: int, states: Array, i: int, first: int, area: int, scratch: Array,
    pooled: Array, row: int,
) -> None:  # fmt: skip
    """The maximum over the objects on the map, after the ReLU, into one row; the second-best into the next one."""
    now, new = 0, 2
    for h in range(scratch.shape[1]):
        scratch[now, h] = np.float32(0.0)
        scratch[now + 1, h] = np.float32(0.0)
    for cell in range(area):
        if states[i, first + cell] != 0:
            thing = codes + states[i, first + cell]
            for h in range(scratch.shape[1]):
                x, best, second = things[thing, h] + cells[where + cell, h], scratch[now, h], scratch[now + 1, h]
                lower = x if x < best else best
                scratch[new, h] = x if x > best else best
                scratch[new + 1, h] = lower if lower > second else second
            now, new = new, now
    for h in range(scratch.shape[1]):
        pooled[row, h] = scratch[now, h]
        pooled[row + 1, h] = scratch[now + 1, h]


@inlined
def stand_on(
    things: Array, thing: int, cells: Array, cell: int, here: Array, network: int, pooled: Array, row: int,
    scratch: Array,
) -> None:  # fmt: skip
    """The maximum, into row 0, when the agent stands on an object: it looks different, others give what they gave."""
    for h in range(scratch.shape[1]):
        x = things[thing, h] + cells[cell, h]
        others = pooled[row + 1, h] if x == pooled[row, h] else pooled[row, h]
        x += here[network, h]
        scratch[0, h] = x if x > others else others


@compiled
def log_odds(sizes: Array, tables: Any, network: int, states: Array, i: int, scratch: Array) -> float:
    """Log-odds of one network in state i."""
    at = states[i, 0] * sizes[1] + states[i, 1]
    agent = from_agent(tables, network, states, i, at, sizes[2])
    hands = from_items(tables, network, states, i, sizes[2], scratch)
    return float(agent + hands + from_things(tables, network, states, i, sizes[2], at, scratch))
