"""An environment that keeps what is done in it: demonstrations, by a person or a policy, in an ordinary loop."""

import copy
import json
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np

from rsg.core.arrays import Array
from rsg.core.errors import ParseError, RsgError
from rsg.core.progress import say
from rsg.demos import Store
from rsg.demos.recording import Recording
from rsg.language import parse
from rsg.language.words import Words
from rsg.planning import reader
from rsg.worlds import Wrapped, wrap


class Recorder(gymnasium.Wrapper[Any, Any, Any, Any]):
    """Adds each episode to a store: when it has ended, when the next one begins, or when the recorder is closed.

    Every step is on disk before the next one, so neither an exception nor a kill loses any: what was cut off is added
    when somebody records into the store again.

    Args:
        env: of Gymnasium.
        store: to add to, or its folder; if there is none it is made.
        world: the model of which states are kept: it reads them, `world.read(env)`; by default the environment itself,
            wrapped (`rsg.worlds.wrap`).
        state: gives the state `[W]` that the environment is in, in the place of `world.read`.
        task: the description of each episode; or a key of the observations that have it, such as "mission"; or a
            function of the first observation. Else `describe` says it.
        words: all terms, so that descriptions may be said in words; see `rsg.parse`.

    >>> from tempfile import TemporaryDirectory
    >>> env = gymnasium.make("CliffWalking-v1")
    >>> with TemporaryDirectory() as folder, Recorder(env, folder) as recorder:
    ...     _ = recorder.reset(seed=0)
    ...     recorder.describe("go-up")
    ...     _ = recorder.step(0)
    ...     recorder.close()
    ...     [(demo.task, demo.actions.tolist(), demo.setting) for demo in recorder.store]
    [('go-up', [0], '{"seed": 0}')]
    """

    def __init__(
        self,
        env: Any,
        store: Store | str | Path,
        world: Any = None,
        *,
        state: Callable[[Any], Array] | None = None,
        task: str | Callable[[Any], str] | None = None,
        words: Words | None = None,
    ) -> None:
        if not isinstance(env, gymnasium.Env):
            raise RsgError(f"a recorder takes an environment of Gymnasium, not a {type(env).__name__}")
        super().__init__(env)
        self.world = _wrapped(env) if world is None and state is None else world
        self._look = reader(self.world, state)
        self._task, self._words = task, words
        spec = getattr(env, "spec", None)
        self._recording = Recording(store, getattr(spec, "id", None) or type(env.unwrapped).__name__)
        self._next, self._ended = "", True
        self._finish = weakref.finalize(self, _finish, self._recording)

    @property
    def store(self) -> Store:
        """What was recorded so far, episodes that have ended."""
        return self._recording.store

    def describe(self, task: str) -> None:
        """Say what is done: in the episode that is running, or, where that is described and under way, in the next."""
        said = str(self._read(task))
        here = self._recording
        if here.running and (not here.task or not here.steps):
            here.describe(said)
            self._end_if_told()
        else:
            self._next = said

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begin an episode."""
        if not self._finish.alive:
            raise RsgError("this recorder was closed; make another one, it adds to the same store")
        again = isinstance(self.world, Wrapped)
        if again and seed is None:
            raise RsgError("an episode is found again by its seed: reset(seed=...); without one it cannot be recorded")
        if again and options:
            raise RsgError("an episode is found again by its seed, so one that began with options cannot be recorded")
        self._end()
        seen, info = self.env.reset(seed=seed, options=options)
        told, self._next = self._next or self._told(seen), ""
        start = self.world.start(seed) if again else None
        self._last = np.array(self._look(self.env, False, seen))
        self._recording.begin(self._last, told, json.dumps({"seed": int(seed)}) if again and seed is not None else "")
        self._ended = False
        if start is not None and not np.array_equal(self._last, start):
            self._lose(f"with seed {seed} the environment began elsewhere than its model")
        return seen, info

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """Act."""
        if not hasattr(self, "_last"):
            raise RsgError("an episode begins with reset(seed=...), and none has begun")
        told = self.env.step(action)
        if not self._recording.running:
            return told
        number = self.world.number(action) if isinstance(self.world, Wrapped) else action
        expected = self.world.after(self._last, [number])[1] if isinstance(self.world, Wrapped) else None
        self._last = np.array(self._look(self.env, bool(told[2]), told[0]))
        self._recording.add(number, self._last)
        self._ended = bool(told[2] or told[3])
        if expected is not None and not np.array_equal(expected, self._last):
            where = f"in step {self._recording.steps} of '{self._recording.task}'"
            self._lose(f"{where} the environment did not do what its model does")
        self._end_if_told()
        return told

    def close(self) -> None:
        """Keep what was done, and close the environment."""
        self._end()
        self._recording.close()
        self._finish.detach()
        super().close()

    def _told(self, seen: Any) -> str:
        """What the first observation says, or whoever made the recorder."""
        if self._task is None:
            return ""
        if isinstance(self._task, str):
            has = isinstance(seen, dict) and isinstance(seen.get(self._task), str)
            return str(self._read(seen[self._task] if has else self._task))
        return str(self._read(self._task(seen)))

    def _read(self, task: str) -> Any:
        try:
            return parse(task, words=self._words)
        except ParseError as error:
            if self._words is None:
                error.pointer = "give the terms, words=[...], if descriptions are in words"
            raise

    def _end_if_told(self) -> None:
        """An episode that has ended is kept once it has a description."""
        if self._ended and self._recording.task:
            self._end()

    def _lose(self, why: str) -> None:
        """The episode cannot be kept."""
        say(f"an episode is not kept: {why}, so nobody could find its states again")
        self._recording.drop()

    def _end(self) -> None:
        here, self._ended = self._recording, True
        if here.running and here.steps and not here.task:
            say("an episode is kept without a description, since nobody gave one: recorder.describe('...')")
        here.end()


def _wrapped(env: Any) -> Any:
    """A copy of it as a world."""
    try:
        other = copy.deepcopy(env)
    except Exception as error:
        raise RsgError(
            f"this environment cannot be copied ({type(error).__name__}: {error}), so make another one for its model: "
            "Recorder(env, store, world=rsg.worlds.wrap(gymnasium.make(...)))"
        ) from None
    return wrap(other)


def _finish(recording: Recording) -> None:
    """Python ends, or nobody needs the recorder any more."""
    recording.close()
