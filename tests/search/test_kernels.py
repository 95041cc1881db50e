"""The heap and the table of distinct states against Python's own."""

import heapq
from itertools import count

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rsg.core.compiled import compiled, inlined
from rsg.core.random import stream
from rsg.search.kernels import heap
from rsg.search.kernels.table import add, larger, table_for

pytestmark = [
    pytest.mark.kernels,
    pytest.mark.filterwarnings("ignore:overflow encountered in scalar multiply"),  # the hash, uncompiled
]
ENTRY = np.dtype((np.record, [("key", np.float64), ("tick", np.int64)]))


@inlined
def oldest_first(a, b):
    return a.key < b.key or (a.key == b.key and a.tick < b.tick)


@inlined
def any_first(a, b):
    return a.key < b.key


@compiled
def push(heaps, h, size, key, tick):
    entry = heap.new(heaps, h)
    entry.key = key
    entry.tick = tick
    heap.push(heaps, h, size, oldest_first)


@compiled
def pop(heaps, h, size):
    heap.pop(heaps, h, size, oldest_first)


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, 1), st.one_of(st.none(), st.integers(0, 5))), max_size=60))
def test_two_heaps_give_their_entries_as_pythons_do(asked):
    heaps, sizes = np.zeros((2, len(asked) + 2), dtype=ENTRY), [0, 0]
    expected = [[], []]
    ticks = count()
    for h, key in asked:
        if key is not None:
            tick = next(ticks)
            push(heaps, h, sizes[h], float(key), tick)
            heapq.heappush(expected[h], (float(key), tick))
            sizes[h] += 1
        elif sizes[h] > 0:
            assert (heaps[h, 0].key, heaps[h, 0].tick) == heapq.heappop(expected[h])
            sizes[h] -= 1
            pop(heaps, h, sizes[h])


@compiled
def in_order(keys):
    heaps, out = np.zeros((1, len(keys) + 1), dtype=ENTRY), np.empty(len(keys))
    for i in range(len(keys)):
        heap.new(heaps, 0).key = keys[i]
        heap.push(heaps, 0, i, any_first)
    for i in range(len(keys)):
        out[i] = heaps[0, 0].key
        heap.pop(heaps, 0, len(keys) - 1 - i, any_first)
    return out


@settings(deadline=None)
@given(st.lists(st.floats(allow_nan=False), max_size=40))
def test_an_order_of_keys_alone_sorts_them(keys):
    keys = np.array(keys, dtype=np.float64)
    np.testing.assert_array_equal(in_order(keys), np.sort(keys))


@compiled
def numbered(rows):
    table, known = table_for(2, rows.shape[1]), 0
    numbers = np.empty(len(rows), dtype=np.int64)
    for i in range(len(rows)):
        if known == len(table.words) - 1:
            table = larger(table, known, 2 * len(table.words))
        table.words[known] = rows[i]
        numbers[i] = add(table.words, table.slots, known)
        known = max(known, numbers[i] + 1)
    return table.words[:known], numbers


@settings(deadline=None)
@given(st.lists(st.tuples(*[st.sampled_from([0, 1, 2**32, 2**63, 2**64 - 1])] * 3), max_size=80))
def test_states_are_numbered_as_they_come(rows):
    index = {}
    expected = [index.setdefault(row, len(index)) for row in rows]
    distinct, numbers = numbered(np.array(rows, dtype=np.uint64).reshape(len(rows), 3))
    assert numbers.tolist() == expected
    assert [tuple(row) for row in distinct.tolist()] == list(index)


def test_a_full_table_finds_rows_beyond_its_last_slot_at_the_first_one():
    rows = stream(0, "rows").integers(2**63, size=(300, 1)).astype(np.uint64)
    _, numbers = numbered(np.concatenate([rows, rows]))
    assert numbers.tolist() == [*range(300), *range(300)]
