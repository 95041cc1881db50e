"""Where it happens: what a world is, and a check that says in plain words what one lacks."""

from rsg.worlds.conformance import check
from rsg.worlds.protocol import AnyWorld, ContinuousWorld, World

__all__ = ["AnyWorld", "ContinuousWorld", "World", "check"]
