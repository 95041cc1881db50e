"""Short names for the types of arrays, and arrays of records."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Bytes = NDArray[np.uint8]
Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


def record(**fields: Any) -> np.dtype[Any]:
    """The type of records with these fields and their types, for kernels that say `labels[s, v].cost`.

    >>> np.zeros(2, record(cost=np.float64, state=np.int32))[1].state
    np.int32(0)
    """
    return np.dtype((np.record, np.dtype(list(fields.items()), align=True)))
