"""Short names for the types of arrays, and arrays of records."""

from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

Array = NDArray[Any]
Bytes = NDArray[np.uint8]
Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]
Indices = NDArray[np.int32]
Floats = NDArray[np.float64]


def record(**fields: DTypeLike) -> np.dtype[Any]:
    """The type of records with these fields and their types, for kernels that say `labels[s, v].cost`."""
    return np.dtype((np.record, np.dtype(list(fields.items()), align=True)))


def grown(array: Array, room: int, axis: int = 0) -> Array:
    """The same array with room for so many along an axis, if that is more than it has."""
    if room <= array.shape[axis]:
        return array
    more = np.empty((*array.shape[:axis], room, *array.shape[axis + 1 :]), dtype=array.dtype)
    whole = np.dtype((np.void, array.itemsize))  # copied as they are: record by record, not field by field
    more.view(whole)[tuple(map(slice, array.shape))] = array.view(whole)
    return more
