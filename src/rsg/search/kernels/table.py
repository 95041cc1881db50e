"""The table of distinct states: each is stored once, as a row of whole words, and found again by its bytes."""

from typing import NamedTuple

import numpy as np

from rsg.core.arrays import Array
from rsg.core.compiled import compiled, inlined

ANY = np.iinfo(np.int64).max  # number of rows


class Table(NamedTuple):
    """Rows that differ, and where to find them. Its owner keeps their count, and room for one row more than that."""

    words: Array  # `[cap, B / 8]` the rows as unsigned words, padded with zeros
    slots: Array  # `[2^k]` a hash table of their numbers, -1 where empty; at most half of it is filled


def new_table(capacity: int, width: int) -> Table:
    """An empty table with room for so many rows of `width` words."""
    size = 1
    while size < 2 * capacity:
        size *= 2
    return Table(np.zeros((capacity, width), dtype=np.uint64), np.full(size, -1, dtype=np.int32))


table_for = compiled(new_table)  # the same in kernels; called from Python, it would be compiled for nothing


@inlined
def slot_of(words: Array, slots: Array, n: int) -> int:
    """Where the hash table has row n: the slot of a row with the same bytes, or the empty slot to put it into."""
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


@inlined
def add(words: Array, slots: Array, n: int, most: int = ANY) -> int:
    """The number of the row that has been written behind the n known ones: n if it is new; -1 if n are the most."""
    slot = slot_of(words, slots, n)
    if slots[slot] < 0 and n < most:
        slots[slot] = n
    return slots[slot]  # type: ignore[no-any-return]


@compiled
def larger(table: Table, count: int, capacity: int) -> Table:
    """Room for so many rows, with the first `count` of a table in it."""
    more = table_for(capacity, table.words.shape[1])
    for n in range(count):
        for w in range(table.words.shape[1]):
            more.words[n, w] = table.words[n, w]
        more.slots[slot_of(more.words, more.slots, n)] = n
    return more
