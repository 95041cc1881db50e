"""The inner loops of the encoder `image`: pictures in some light, cut into tiles, each distinct tile kept once."""

import numpy as np
from numpy.typing import NDArray

from rsg.core.arrays import Bytes, Floats, Indices, Ints
from rsg.core.compiled import bare, compiled, inlined
from rsg.search.kernels.table import add, larger, table_for

Contrasts = NDArray[np.int8]
"""Pictures as `contrasts` gives them, zero where there is only ground."""

_FAINTEST = 50.0  # in percent of contrast: tiles that differ by less from their ground count less


@compiled
def expose(pictures: Bytes, corners: Ints, light: Floats, out: Bytes) -> None:
    """Put each picture at its corner, on its most frequent colour, in its light (a factor and an offset)."""
    levels = np.empty(256, dtype=np.uint8)
    for i in range(len(pictures)):
        for level in range(256):
            levels[level] = min(max(np.rint(level * light[i, 0] + light[i, 1]), 0.0), 255.0)
        usual = usual_levels(pictures[i])
        for y in range(out.shape[1]):
            for x in range(out.shape[2]):
                for channel in range(3):
                    out[i, y, x, channel] = levels[usual[channel]]
        top, left = corners[i]
        for y in range(pictures.shape[1]):
            for x in range(pictures.shape[2]):
                for channel in range(3):
                    out[i, top + y, left + x, channel] = levels[pictures[i, y, x, channel]]


@compiled
def usual_levels(picture: Bytes) -> Ints:
    """The most frequent level of each channel `[3]`: that of the ground."""
    counts = np.zeros((3, 256), dtype=np.int64)
    for y in range(picture.shape[0]):
        for x in range(picture.shape[1]):
            for channel in range(3):
                counts[channel, picture[y, x, channel]] += 1
    usual = np.empty(3, dtype=np.int64)
    for channel in range(3):
        usual[channel] = np.argmax(counts[channel])
    return usual


@compiled
def contrasts(pictures: Bytes, out: Contrasts) -> None:
    """How much lighter or darker a pixel is than usual in its picture and channel, in percent, at most 127."""
    shown = np.empty((3, 256), dtype=np.int8)
    for i in range(len(pictures)):
        usual = usual_levels(pictures[i])
        for channel in range(3):
            for level in range(256):
                shown[channel, level] = min(np.rint(100.0 * level / max(usual[channel], 1)) - 100, 127)
        for y in range(pictures.shape[1]):
            for x in range(pictures.shape[2]):
                for channel in range(3):
                    out[i, y, x, channel] = shown[channel, pictures[i, y, x, channel]]


@compiled
def grid(picture: Contrasts, side: int) -> tuple[int, int]:
    """Where the first row and column of whole tiles begin: so that as few tiles as possible have anything in them.

    picture: `[H, W, 3]`, zero where there is only ground.
    """
    height, width = picture.shape[:2]
    sums = np.zeros((height + 1, width + 1), dtype=np.int32)  # of the pixels above and to the left that are not ground
    for y in range(height):
        row = 0
        for x in range(width):
            row += picture[y, x, 0] != 0 or picture[y, x, 1] != 0 or picture[y, x, 2] != 0
            sums[y + 1, x + 1] = sums[y, x + 1] + row
    fewest, found = height * width, (0, 0)
    for top in range(side):
        for left in range(side):
            count = 0
            for y in range(top - side, height, side):
                above, below = max(y, 0), min(y + side, height)
                for x in range(left - side, width, side):
                    start, end = max(x, 0), min(x + side, width)
                    inside = sums[below, end] - sums[above, end] - sums[below, start] + sums[above, start]
                    count += inside > 0
            if count < fewest:
                fewest, found = count, (top, left)
    return found


@bare
def on_usual_ground(picture: Contrasts, top: int, left: int, side: int) -> bool:
    """Whether any corner of a tile shows the ground of the picture."""
    for y in (top, top + side - 1):
        for x in (left, left + side - 1):
            if picture[y, x, 0] == 0 and picture[y, x, 1] == 0 and picture[y, x, 2] == 0:
                return True
    return False


@compiled
def tiles(pictures: Contrasts, side: int) -> tuple[Ints, Indices]:
    """The distinct tiles of pictures `[N, H, W, 3]`.

    Gives `[U, 3]` a picture, row and column where each can be seen, and `[M, 2]` pairs of a picture and a tile in it.
    """
    n, height, width = pictures.shape[:3]
    most = n * (height // side) * (width // side)
    table = table_for(1 << 8, (3 * side * side + 7) // 8)
    rows = table.words.view(np.uint8)
    corners, pairs = np.empty((most, 3), dtype=np.int64), np.empty((most, 2), dtype=np.int32)
    stamps = np.full(most, -1, dtype=np.int32)
    count = total = 0
    for i in range(n):
        top, left = grid(pictures[i], side)
        for y in range(top, height - side + 1, side):
            for x in range(left, width - side + 1, side):
                write_tile(pictures[i], y, x, side, rows[count])
                k = add(table.words, table.slots, count)
                if k == count:
                    corners[k, 0], corners[k, 1], corners[k, 2] = i, y, x
                    count += 1
                    if count == len(table.words):
                        table = larger(table, count, 4 * count)
                        rows = table.words.view(np.uint8)
                if stamps[k] != i:
                    stamps[k], pairs[total, 0], pairs[total, 1] = i, i, k
                    total += 1
    return corners[:count].copy(), pairs[:total].copy()


@inlined
def write_tile(picture: Contrasts, top: int, left: int, side: int, row: Bytes) -> None:
    """A tile's bytes, one after the other."""
    for y in range(side):
        for x in range(side):
            for channel in range(3):
                row[3 * (side * y + x) + channel] = np.uint8(picture[top + y, left + x, channel])


@compiled
def cut(pictures: Contrasts, corners: Ints, side: int, out: NDArray[np.float32]) -> None:
    """Write tiles `[U, side · side · 3 + 1]`: what differs from the tile's own ground, all of them about as strong.

    The last number is 0 for a tile on the ground that is usual in the picture, 1 for one on another.
    """
    levels = np.empty(side * side, dtype=np.float64)
    for k in range(len(corners)):
        i, top, left = corners[k]
        total = 0.0
        for channel in range(3):
            for j in range(side * side):
                levels[j] = pictures[i, top + j // side, left + j % side, channel]
            ground = np.median(levels)
            for j in range(side * side):
                out[k, 3 * j + channel] = levels[j] - ground
                total += (levels[j] - ground) ** 2
        out[k, :-1] /= np.sqrt(total) + _FAINTEST
        out[k, -1] = 0.0 if on_usual_ground(pictures[i], top, left, side) else 1.0
