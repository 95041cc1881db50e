"""The threshold by which the paper discovers dependencies (appendix): √(min G · max G), each over all states.

It calls nearly all states true where the least G is tiny; the package takes G ≥ 1/2, as planners do.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray


def geometric_mean(odds: NDArray[Any]) -> float:
    """For `rsg.subgoals.discover(..., cut=geometric_mean)`: from the log-odds `[N]` of all states to those of the cut.

    >>> odds = np.log([1 / 99, 9.0])  # G of 0.01 and 0.9; their geometric mean is 0.0949
    >>> round(float(1 / (1 + np.exp(-geometric_mean(odds)))), 4)
    0.0949
    """
    low, high = (-np.logaddexp(0.0, -float(edge)) for edge in (odds.min(), odds.max()))
    middle = (low + high) / 2
    if low < -1e29:  # the least G is 0, and so is the mean
        return -np.inf
    return float(middle - np.log(-np.expm1(min(middle, -1e-12))))
