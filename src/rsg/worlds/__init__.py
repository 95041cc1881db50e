"""Where it happens: what a world is, what follows of it, and a check that says in plain words what one lacks."""

from rsg.worlds.conformance import check, require
from rsg.worlds.defaults import costs_of, successors_of, unit_of
from rsg.worlds.determinism import chance_in, check_again, varying
from rsg.worlds.protocol import ContinuousWorld, EitherWorld, Seen, States, World, is_continuous
from rsg.worlds.recorded import Recorded, is_recorded, recorded
from rsg.worlds.wrapping import Wrapped, wrap

__all__ = [
    "ContinuousWorld",
    "EitherWorld",
    "Recorded",
    "Seen",
    "States",
    "World",
    "Wrapped",
    "chance_in",
    "check",
    "check_again",
    "costs_of",
    "is_continuous",
    "is_recorded",
    "recorded",
    "require",
    "successors_of",
    "unit_of",
    "varying",
    "wrap",
]
