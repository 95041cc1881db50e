"""Where it happens: what a world is, and a check that says in plain words what one lacks."""

from rsg.worlds.conformance import check
from rsg.worlds.protocol import ContinuousWorld, EitherWorld, World

__all__ = ["ContinuousWorld", "EitherWorld", "World", "check"]
