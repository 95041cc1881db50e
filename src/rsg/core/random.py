"""Random streams: one generator per call, derived from the user's seed and a name; never global state."""

from zlib import crc32

import numpy as np

from rsg.core.errors import RsgError


def stream(seed: int, *names: str | int) -> np.random.Generator:
    """A generator of its own for (seed, names): same arguments, same numbers, in any process and on any machine.

    >>> stream(0, "maps", 3).integers(100) == stream(0, "maps", 3).integers(100)
    np.True_
    """
    if seed < 0 or any(isinstance(name, int) and name < 0 for name in names):
        raise RsgError(f"a seed is a whole number from 0 up, not {seed}")
    keys = [name if isinstance(name, int) else crc32(name.encode()) for name in names]
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=keys))
