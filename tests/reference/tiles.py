"""Pictures cut into tiles once more, slow and plain: which cut leaves most tiles empty, and which looks are there."""

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


def tiles(picture, side):
    """The tiles of a picture, in its own grid."""
    return cut(picture, side, *grid(picture, side))


def numbers(tile):
    """A tile as a vector: what differs from its own ground, about as strong as any other; then which ground it is.

    That is 0 for the ground that is usual in the picture, which some corner shows, and 1 for another.
    """
    differs = tile.reshape(-1, 3).astype(float)
    differs = differs - np.median(differs, axis=0)
    usual = any(not tile[y, x].any() for y in (0, -1) for x in (0, -1))
    return np.append(differs.ravel() / (np.linalg.norm(differs) + 50), 0.0 if usual else 1.0)


def look(vector, looks):
    """The number of the look that a tile has; None: none that is known.

    It is the nearest one, if it is not further than half the way from there to the next look or to another ground.
    """
    distances = np.linalg.norm(looks - vector, axis=1)
    nearest = int(distances.argmin())
    others = [np.linalg.norm(one - looks[nearest]) for k, one in enumerate(looks) if k != nearest]
    return nearest if distances[nearest] <= min([1.0, *others]) / 2 else None


def log_odds(picture, side, looks, weights, offset):
    """Of one classifier: the weights of the looks that are there, each counted once, on the usual ground a fifth."""
    there = {look(numbers(tile), looks) for tile in tiles(picture, side)} - {None}
    return offset + sum(weights[k] * (1.0 if looks[k][-1] else 0.2) for k in there)
