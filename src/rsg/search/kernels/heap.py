"""The binary heap of all searches: rows of records, and a function that says which of two entries comes earlier.

A heap is row h of an array of records `[H, cap]`; its owner keeps its size. The last place of the row is where a new
entry is written before it is pushed: there must be room for one more than are ever in it.
"""

from collections.abc import Callable
from typing import Any

from rsg.core.arrays import Array
from rsg.core.compiled import inlined

Records = Array
Earlier = Callable[[Any, Any], bool]
"""Whether an entry comes before another one. Inlined; if it is False both ways, what the heap looks like decides."""


@inlined
def new(heaps: Records, h: int) -> Any:
    """The entry to write before `push`."""
    return heaps[h, heaps.shape[1] - 1]


@inlined
def push(heaps: Records, h: int, size: int, earlier: Earlier) -> None:
    """Add the new entry to heap h, which has `size` ones without it."""
    entry = heaps[h, heaps.shape[1] - 1]
    i = size
    while i > 0 and earlier(entry, heaps[h, (i - 1) >> 1]):
        heaps[h, i] = heaps[h, (i - 1) >> 1]
        i = (i - 1) >> 1
    heaps[h, i] = entry


@inlined
def pop(heaps: Records, h: int, size: int, earlier: Earlier) -> None:
    """Remove the first entry of heap h, `heaps[h, 0]`; `size` ones are left."""
    entry = heaps[h, size]
    i = 0
    while 2 * i + 1 < size:
        child = 2 * i + 1
        if child + 1 < size and earlier(heaps[h, child + 1], heaps[h, child]):
            child += 1
        if not earlier(heaps[h, child], entry):
            break
        heaps[h, i] = heaps[h, child]
        i = child
    heaps[h, i] = entry
