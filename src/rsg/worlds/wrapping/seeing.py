"""What an environment shows, as arrays by name, whatever its observations are made of."""

from collections.abc import Mapping
from enum import Enum
from typing import Any

import numpy as np

from rsg.core.arrays import Array
from rsg.core.errors import RsgError

SEEN = "seen"  # the name of an observation that is one array


def parts_of(shown: object, name: str = "") -> dict[str, Array]:
    """The parts of an observation by name; text is left out.

    >>> {name: part.tolist() for name, part in parts_of({"place": (1, 2), "mission": "go"}).items()}
    {'place': [1, 2]}
    """
    if hasattr(shown, "_asdict"):
        shown = shown._asdict()
    if isinstance(shown, str | bytes):
        return {}
    if isinstance(shown, tuple | list) and any(_nested(one) for one in shown):
        shown = dict(enumerate(shown))
    if isinstance(shown, Mapping):
        inner = [(f"{name}.{key}" if name else str(key), value) for key, value in shown.items()]
        return {key: part for inside, value in inner for key, part in parts_of(value, inside).items()}
    array = np.atleast_1d(np.asarray(shown.value if isinstance(shown, Enum) else shown))
    if array.dtype.kind not in "biuf":
        raise RsgError(
            f"what is seen must be numbers, but {f'`{name}`' if name else 'it'} is {type(shown).__name__}; "
            "give observe=, a function from the environment to numbers"
        )
    return {name or SEEN: array.copy()}


def _nested(value: Any) -> bool:
    return isinstance(value, Mapping | str) or hasattr(value, "_asdict") or np.ndim(value) > 0


def unlike(one: Mapping[str, Array], other: Mapping[str, Array]) -> str | None:
    """The first part in which two observations differ; None if they are the same to the byte."""
    for name in {**one, **other}:
        a, b = one.get(name), other.get(name)
        if a is None or b is None or a.shape != b.shape or a.dtype != b.dtype or a.tobytes() != b.tobytes():
            return name
    return None
