"""What was tried of an environment, for those who look for causes."""

from dataclasses import dataclass
from typing import Any

from rsg.worlds.wrapping.face import Face, Moment
from rsg.worlds.wrapping.outside import Outside


@dataclass(eq=False)
class Step:
    """What an action led to; `walk` and `time` say when, in a walk that was gone without restoring; else -1."""

    before: Moment
    action: int
    after: Moment
    walk: int
    time: int


class Experience:
    """What is known of an environment from trying it.

    Attributes:
        face: the environment; names, values: of its actions; seed: of the first walk.
        walks: the seed of each, and the actions that were taken.
        prints: what was saved, as bytes, when it was.
        outside: what it may remember elsewhere.
    """

    def __init__(self, face: Face, actions: tuple[tuple[str, ...], list[Any]], seed: int) -> None:
        self.face, (self.names, self.values), self.seed = face, actions, seed
        self.walks: list[tuple[int, list[int]]] = []
        self.prints: dict[Moment, bytes] = {}
        self.outside = Outside(face)
