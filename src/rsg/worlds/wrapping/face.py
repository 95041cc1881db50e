"""The one place where an environment is stepped, saved, restored and looked at."""

import copy
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rsg.core.arrays import Array
from rsg.core.errors import RsgError
from rsg.worlds.wrapping.layers import Happened, Played, chain, theirs
from rsg.worlds.wrapping.objects import Objects, Strange
from rsg.worlds.wrapping.saving import Saving, digits, spelled
from rsg.worlds.wrapping.seeing import parts_of

Function = Callable[[Any], Any]


@dataclass(eq=False)
class Moment:
    """Where an environment was.

    Attributes:
        row: `[W]` what makes it the same as others; name: its bytes.
        snapshot: what brings it back.
        seen: what it showed, by part.
        ended: whether the environment said that it is over; reward: what it gave on the way here.
        home: the way of saving that the snapshot is of.
    """

    row: Array
    name: bytes
    snapshot: Any
    seen: Mapping[str, Array]
    ended: bool
    reward: float
    home: Saving


class Face:
    """An environment, how it is saved, what makes two of its states the same and what is seen of them.

    Args:
        played: the environment; saving: how it is saved, given what is played.
        key, observe: as for `wrap`.
    """

    def __init__(
        self, played: Played, saving: Callable[[Played], Saving], key: Function | None, observe: Function | None
    ) -> None:
        self.played, self.saving, self._way = played, saving(played), saving
        self._key, self._observe = key, observe
        self._row_kind: tuple[int, np.dtype[Any]] | None = None
        self._shapes: dict[str, tuple[int, ...]] | None = None
        self._inside: Objects | None = None
        self.has_key = key is not None

    def reset(self, seed: int) -> Moment:
        """The beginning of an episode."""
        return self._here(self.played.reset(seed))

    def step(self, action: Any, known: Callable[[bytes], bool] | None = None) -> Moment:
        """What follows of where it is now; with observe= a state that is known is not looked at again."""
        happened = self.played.step(action)
        if known is not None and self._observe is not None:
            row = self._row(None if self.has_key else self.saving.take(), happened.ended)
            if known(row.tobytes()):
                self.saving.moved()
                return Moment(row, row.tobytes(), None, {}, happened.ended, happened.reward, self.saving)
        return self._here(happened)

    def put(self, moment: Moment) -> None:
        """Back to where it was."""
        self.saving = moment.home
        theirs("restoring a state", self.saving.put, moment.snapshot)
        self.played.env = self.saving.env

    def now(self, ended: bool) -> Array:
        """The row of where it is."""
        return self._row(self.saving.take(), ended)

    def look(self, happened: Happened) -> dict[str, Array]:
        """What is seen, by part."""
        if self._observe is None:
            shown = happened.seen
        else:
            shown = theirs("observe=", self._observe, self.played.state)
            self.saving.moved()  # it may do what it likes
        parts = parts_of(shown)
        shapes = {name: part.shape for name, part in parts.items()}
        self._shapes = self._shapes or shapes
        if not parts:
            raise RsgError("nothing is seen of the environment but text; give observe=, a function that gives numbers")
        if shapes != self._shapes:
            name = next(one for one in {**shapes, **self._shapes} if shapes.get(one) != self._shapes.get(one))
            raise RsgError(
                f"what is seen must have one shape in all states, but `{name}` had {self._shapes.get(name)} and then "
                f"{shapes.get(name)}; give observe=, a function that gives numbers of one shape"
            )
        return parts

    def moment_of(self, row: Array) -> Moment | None:
        """A state that was never met, if its row is enough to bring it back and to see it; else None."""
        kind = self._row_kind
        if self.has_key or kind is None or row.shape != (kind[0] + 1,) or row.dtype != kind[1]:
            return None
        if (snapshot := self.saving.snapshot(row[:-1])) is None:
            return None
        ended = bool(row[-1])
        moment = Moment(row.copy(), row.tobytes(), snapshot, {}, ended, 0.0, self.saving)
        self.put(moment)
        self.saving.moved()
        shown = self.played.shown() if self._observe is None else None
        if self._observe is None and shown is None:
            return None
        seen = self.look(Happened(shown, 0.0, ended))
        return replace(moment, seen=seen) if self.now(ended).tobytes() == moment.name else None

    def read(self, env: Any, ended: bool, seen: Any, known: Callable[[bytes], bool]) -> Moment:
        """The state of another environment of the kind; it is copied only if nobody knows the state."""
        own, bare = (getattr(one, "unwrapped", one) for one in (self.played.env, env))
        if not isinstance(bare, type(own)):
            raise RsgError(f"this is another environment than the one that was wrapped, a {type(bare).__name__}")
        if any(vars(layer).get("_has_reset") is False for layer in chain(env)):
            raise RsgError("the environment is in no state yet: env.reset(seed=...) comes first")
        other = Face(self.played.like(env), self._way, self._key, self._observe)
        other._row_kind, other._shapes = self._row_kind, self._shapes
        row = other.now(ended)
        moment = Moment(row, row.tobytes(), None, {}, ended, 0.0, self.saving)
        if known(moment.name):
            return moment
        if not self.saving.own:
            other.played.env = theirs(
                "copying it, since no save= and restore= are given,", copy.deepcopy, other.played.env
            )
            other.saving = self._way(other.played)
        snapshot, shown = other.saving.take(), seen if seen is not None or self._observe else other.played.shown()
        if self._observe is None and shown is None:
            raise RsgError(
                "nobody knows what the environment shows in this state without a step: give observe= to wrap, or what "
                "it showed last, read(env, seen=...)"
            )
        parts, home = other.look(Happened(shown, 0.0, ended)), self.saving if self.saving.own else other.saving
        return replace(moment, snapshot=snapshot, seen=parts, home=home)

    def chance(self) -> list[Any]:
        """The generators of random numbers that the environment holds now."""
        if self._inside is None or self._inside.root is not self.played.env:
            self._inside = Objects(self.played.env)
        self._inside.chance.clear()
        with suppress(Strange):
            self._inside.take()
        return list(self._inside.chance.values())

    def _here(self, happened: Happened) -> Moment:
        seen = self.look(happened)
        snapshot = self.saving.take()
        row = self._row(snapshot, happened.ended)
        return Moment(row, row.tobytes(), snapshot, seen, happened.ended, happened.reward, self.saving)

    def _row(self, snapshot: Any, ended: bool) -> Array:
        if self._key is None:
            numbers = self.saving.numbers(snapshot)
        else:
            numbers = self._of_key(theirs("key=", self._key, self.played.state))
        kind = self._row_kind = self._row_kind or (len(numbers), numbers.dtype)
        if len(numbers) != kind[0]:
            who = "key=" if self.has_key else "what saves a state"
            raise RsgError(
                f"{who} must give the same number of values for every state, but gave {kind[0]} and then {len(numbers)}"
                f"{'' if self.has_key else '; give key=, a function from the environment to what makes a state'}"
            )
        return np.append(numbers.astype(kind[1]), kind[1].type(ended))

    def _of_key(self, given: Any) -> Array:
        """What the key gives, one row of numbers; for text and bytes stands a digest."""
        if isinstance(given, str | bytes):
            return digits(spelled(given))
        try:
            parts = (
                [np.ravel(part) for part in given] if isinstance(given, tuple | list) and given else [np.ravel(given)]
            )
            numbers = np.concatenate(parts)
        except ValueError:
            numbers = np.array([])
        if numbers.dtype.kind not in "biuf" or not len(numbers):
            raise RsgError(
                f"key= must give numbers that say which state it is, such as (row, column), or text, not {given!r:.60}"
            )
        if numbers.dtype.kind == "f" and not np.isfinite(numbers).all():
            raise RsgError("key= gave a number that is not finite: equal states would not be told apart from others")
        return numbers.astype(np.float64) + 0.0 if numbers.dtype.kind == "f" else numbers.astype(np.int64)
