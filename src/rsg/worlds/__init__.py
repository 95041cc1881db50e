"""Where it happens: what a world is, and a check that says in plain words what one lacks."""

from rsg.worlds.conformance import check
from rsg.worlds.protocol import ContinuousWorld, World

__all__ = ["ContinuousWorld", "World", "check"]
