"""Things that belong to worlds, gathered so that each world is asked once."""

from collections.abc import Iterable
from typing import Any, TypeVar

T = TypeVar("T")


def by_world(items: Iterable[tuple[Any, T]]) -> list[tuple[Any, list[T]]]:
    """Each world (the same object) with all that came with it, in the order of first appearance.

    >>> first, second = object(), object()
    >>> [things for _, things in by_world([(first, "a"), (second, "b"), (first, "c")])]
    [['a', 'c'], ['b']]
    """
    found: dict[int, tuple[Any, list[T]]] = {}  # the world itself too: the id of one that is gone is reused
    for world, thing in items:
        found.setdefault(id(world), (world, []))[1].append(thing)
    return list(found.values())
