"""The encoder `seen` without torch: log-odds of one classifier in one row of numbers, for search loops."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rsg.core.arrays import Array, Floats, Ints, record
from rsg.core.compiled import bare, inlined
from rsg.worlds.seen import Kind, Layout

Small = NDArray[np.float32]
SET = record(
    first=np.int64, rows=np.int64, columns=np.int64, down=np.int64, right=np.int64, deep=np.int64,
    count=np.int64, offset=np.int64, gaps=np.bool_,
)  # fmt: skip
"""Where things or symbols lie in a row, how many columns each has, the row of weights that is added to all of them, and
whether those of type 0 are none."""
COLUMN = record(begin=np.int64, end=np.int64, weights=np.int64, mean=np.float64, spread=np.float64)
"""Of things: where its values are among all values, its first row of weights, and what it is less and divided by if it
has no values."""


class Tables(NamedTuple):
    """All that kernels know."""

    places: Ints  # `[D]` the columns of numbers in a row
    means: Floats  # `[D]` what they are less
    spreads: Floats  # `[D]` and what they are divided by
    sets: Array  # `SET`
    columns: Array  # `COLUMN`, those of all sets, one after the other
    values: Floats  # of all coded columns
    first: Small  # `[K, M, D, H]` the first layer of numbers
    bias: Small  # `[K, M, H]`
    second: Small  # `[K, M, H, S]` the second one
    second_bias: Small  # `[K, M, S]`
    head: Small  # `[K, M, S]` and what it counts
    things: Small  # `[K, M, R, H]` the layers of things
    pooled: Small  # `[K, M, S, H]` and what they count
    offset: Small  # `[K, M]`
    scratch: Small  # `[2, H]` room, or as wide as the second layer


def of_set(kind: Kind, layout: Layout, count: int, offset: int) -> tuple[int | bool, ...]:
    """A row of `SET`."""
    first, shape, apart = layout
    if kind == "things":
        return first, 1, shape[0], 0, *apart, count, offset, True
    down, right, deep = (*apart, 1)[:3]
    return first, *shape[:2], down, right, deep, count, offset, False


@bare
def odds(tables: Tables, rows: Array, i: int, k: int, m: int) -> float:
    """Log-odds of network m of term k in row i."""
    total = float(tables.offset[k, m])
    if len(tables.places):
        total += of_numbers(tables, rows, i, k, m)
    column = 0
    for s in range(len(tables.sets)):
        total += of_things(tables, rows, i, k, m, s, column)
        column += tables.sets[s].count
    return total


@inlined
def of_numbers(tables: Tables, rows: Array, i: int, k: int, m: int) -> float:
    """What the layer of numbers adds."""
    layer, last, first, bias = tables.scratch[0], tables.scratch[1], tables.first[k, m], tables.bias[k, m]
    second, head = tables.second[k, m], tables.head[k, m]
    for h in range(len(bias)):
        layer[h] = bias[h]
    for d in range(len(tables.places)):
        x = np.float32((rows[i, tables.places[d]] - tables.means[d]) / tables.spreads[d])
        for h in range(len(bias)):
            layer[h] += x * first[d, h]
    for n in range(len(head)):
        last[n] = tables.second_bias[k, m, n]
    for h in range(len(bias)):
        if layer[h] > 0:
            for n in range(len(head)):
                last[n] += layer[h] * second[h, n]
    total = np.float32(0)
    for n in range(len(head)):
        total += max(last[n], np.float32(0)) * head[n]
    return float(total)


@inlined
def of_things(tables: Tables, rows: Array, i: int, k: int, m: int, s: int, column: int) -> float:
    """What the things of a set add, whose columns begin with that number."""
    best, layer, one = tables.scratch[0], tables.scratch[1], tables.sets[s]
    things, pooled = tables.things[k, m], tables.pooled[k, m, s]
    for h in range(len(pooled)):
        best[h] = 0
    for row in range(one.rows):
        for place in range(one.columns):
            cell = one.first + row * one.down + place * one.right
            if (one.gaps and rows[i, cell] == 0) or (place > 0 and alike(rows, i, cell, cell - one.right, one)):
                continue
            for h in range(len(pooled)):
                layer[h] = things[one.offset, h]
            for c in range(one.count):
                add_column(tables, float(rows[i, cell + c * one.deep]), column + c, things, layer)
            for h in range(len(pooled)):
                best[h] = max(best[h], layer[h])
    total = np.float32(0)
    for h in range(len(pooled)):
        total += best[h] * pooled[h]
    return float(total)


@inlined
def alike(rows: Array, i: int, cell: int, other: int, one: Any) -> bool:
    """Whether two cells show the same."""
    same = True
    for c in range(one.count):
        same = same and rows[i, cell + c * one.deep] == rows[i, other + c * one.deep]
    return same


@inlined
def add_column(tables: Tables, value: float, column: int, things: Small, layer: Small) -> None:
    """Add the weights of a column: those of its value, or all of them as often as it says."""
    one = tables.columns[column]
    row, size = one.weights, np.float32(1)
    if one.end == one.begin:
        size = np.float32((value - one.mean) / one.spread)
    else:
        place = one.begin
        while place < one.end and tables.values[place] != value:
            place += 1
        if place == one.end:  # it was never met
            return
        row += place - one.begin
    for h in range(things.shape[1]):
        layer[h] += size * things[row, h]


@bare
def forward(tables: Tables, rows: Array, out: Floats) -> None:
    """Log-odds `[N, K, M]` of rows."""
    for i in range(out.shape[0]):
        for k in range(out.shape[1]):
            for m in range(out.shape[2]):
                out[i, k, m] = odds(tables, rows, i, k, m)


@bare
def goal(tables: Tables, rows: Array, i: int, k: int) -> tuple[float, float]:
    """log G and log I of term k in row i; I has a network of its own if there are two."""
    g = odds(tables, rows, i, k, 0)
    not_yet = odds(tables, rows, i, k, 1) if tables.offset.shape[1] > 1 else -g
    return log_sigmoid(g), log_sigmoid(not_yet)


@inlined
def log_sigmoid(x: float) -> float:
    """The logarithm of the probability that has these log-odds."""
    return float(min(x, 0.0) - np.log1p(np.exp(-abs(x))))
