"""Free poses of a continuous world: spread evenly over it, and in its narrow passages."""

import itertools

import numpy as np

from rsg.core.arrays import Floats
from rsg.search.motion.space import free_at, space_of, uniform, wrapped
from rsg.worlds.protocol import ContinuousWorld

TRIES = 20  # poses to look at for each that is wanted
_BRIDGES = 200  # poses to look at for each that is wanted in a narrow passage


def spread(world: ContinuousWorld, state: Floats, rng: np.random.Generator, count: int) -> Floats:
    """So many free poses, spread evenly over the world."""
    space = space_of(world)
    shift = rng.random(len(space))
    found: list[Floats] = [np.empty((0, len(space)))]
    batch = 2 * count
    for begin in range(0, TRIES * count, batch):
        parts = (halton(begin, begin + batch, len(space)) + shift) % 1.0
        poses = space["low"] + parts * (space["high"] - space["low"])
        found.append(poses[free_at(world, state, poses)])
        if sum(map(len, found)) >= count:
            break
    return np.concatenate(found)[:count]


def halton(begin: int, end: int, size: int) -> Floats:
    """Points `[end - begin, size]` of Halton's sequence, which fill the unit cube evenly.

    >>> halton(1, 4, 2).round(3).tolist()
    [[0.5, 0.333], [0.25, 0.667], [0.75, 0.111]]
    """
    points = np.zeros((end - begin, size))
    primes = (number for number in itertools.count(2) if all(number % other for other in range(2, number)))
    for d, base in zip(range(size), primes, strict=False):
        rest, unit = np.arange(begin, end), 1.0
        while rest.any():
            unit /= base
            points[:, d] += unit * (rest % base)
            rest //= base
    return points


def in_passages(world: ContinuousWorld, state: Floats, rng: np.random.Generator, count: int) -> Floats:
    """Free poses half-way between two that are not, about an action apart: most lie in narrow passages."""
    space = space_of(world)
    poses = uniform(space, rng, _BRIDGES * count)
    ones = poses[~free_at(world, state, poses)]
    way = rng.normal(size=ones.shape) * space["reach"]
    bridged = ~free_at(world, state, wrapped(space, ones + way))
    middle = wrapped(space, ones[bridged] + way[bridged] / 2)
    return middle[free_at(world, state, middle)][:count]
