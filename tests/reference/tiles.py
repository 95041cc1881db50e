"""Pictures cut into tiles once more, slow and plain: which cut leaves most tiles empty, and what networks see then."""

import numpy as np


def cut(picture, side, top, left):
    """The whole tiles of a picture `[H, W, 3]`, `[n, side, side, 3]`, from that corner on."""
    height, width = picture.shape[:2]
    rows, columns = range(top, height - side + 1, side), range(left, width - side + 1, side)
    return np.array([picture[y : y + side, x : x + side] for y in rows for x in columns])


def grid(picture, side):
    """The first corner from which the fewest tiles, those at the border among them, have anything in them."""
    padded = np.pad(picture, ((side, side), (side, side), (0, 0)))
    counts = {
        (top, left): cut(padded, side, top, left).any(axis=(1, 2, 3)).sum()
        for top in range(side)
        for left in range(side)
    }
    return min(counts, key=counts.get)


def groups(picture, side):
    """The tiles on the usual ground, and those on another: none of their corners is zero."""
    all_tiles = cut(picture, side, *grid(picture, side))
    usual = [any(not tile[y, x].any() for y in (0, -1) for x in (0, -1)) for tile in all_tiles]
    return all_tiles[np.array(usual)], all_tiles[~np.array(usual)]


def pixels(tile, size):
    """A tile as a vector: what differs from its own ground, about as strong as any other."""
    differs = tile.reshape(-1, 3).astype(float)
    differs = differs - np.median(differs, axis=0)
    return size * differs.ravel() / (np.linalg.norm(differs) + 50)


def log_odds(picture, side, size, filters, bias, head, offset, faint):
    """Of one network: a layer with ReLU on each tile, the maximum of each group, a weighted sum."""
    total = offset
    for tiles, weights, scale in zip(groups(picture, side), head, (faint, 1.0), strict=True):
        seen = [np.maximum(filters @ pixels(tile, size) + bias, 0) for tile in tiles]
        if seen:
            total += scale * weights @ np.max(seen, axis=0)
    return total
