"""Gymnasium's spaces for our arrays."""

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from gymnasium.spaces import Box


def box(dtype: np.dtype[Any], shape: tuple[int, ...]) -> "Box":
    """The space of all arrays of a dtype and a shape."""
    from gymnasium.spaces import Box

    if dtype.kind == "f":
        return Box(-np.inf, np.inf, shape, dtype)
    low, high = (0, 1) if dtype.kind == "b" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
    return Box(low, high, shape, dtype)
