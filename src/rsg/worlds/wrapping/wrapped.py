"""A wrapped environment: a world like any other, whose states are those that the environment was met in."""

import json
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from rsg.core.arrays import Array, Bools, Bytes, Floats
from rsg.core.errors import RsgError
from rsg.worlds.protocol import States
from rsg.worlds.wrapping.chance import kept, stir
from rsg.worlds.wrapping.face import Face, Moment
from rsg.worlds.wrapping.layers import theirs
from rsg.worlds.wrapping.seeing import unlike

Test = Callable[[Any], bool]
"""Whether something is so, given the environment in a state, or with step= the state."""


class Shown(Protocol):
    """A demonstration: what was gone through, what was done, and where it began."""

    states: Array
    actions: Array
    setting: str


@dataclass
class Met:
    """A state that the environment was met in.

    Attributes:
        moment: when it first was.
        setting: how it was reset, if this is a first state.
        after: by action, the name of the state that follows, and the reward.
        holds: what tests said of it.
    """

    moment: Moment
    setting: str = ""
    after: dict[int, tuple[bytes, float]] = field(default_factory=dict)
    holds: dict[Test, bool] = field(default_factory=dict)


class Wrapped:
    """An environment as a world. `rsg.worlds.wrap` makes it.

    A state is a row: what the key, or the way of saving, gives as numbers; the last number says whether the
    environment ended the episode there, and then it stays as it is.

    Attributes:
        actions: the names of what can be done.
        how: how states are saved, in a sentence.
        speed: steps per second that it reaches.
        columns: what the columns of the parts that are seen are called.
    """

    spaces: Mapping[str, str] = {}
    batch = 0  # states that a search asks for ahead: there is nothing to gain from several at once

    def __init__(
        self,
        face: Face,
        actions: tuple[tuple[str, ...], list[Any]],
        columns: Mapping[str, Any],
        tried: tuple[int, float],
    ) -> None:
        self._face = face
        self.actions, self._values = actions
        self.columns = columns
        self._met: dict[bytes, Met] = {}
        self._at: bytes | None = None  # the state that the environment is in, if it is known
        self._steps, self._seconds = tried
        if getattr(face.played.env, "render_mode", None) == "rgb_array":
            self.render = self._render
        if getattr(face.played.env, "render_mode", None) == "ansi":
            self.view = self._view

    @property
    def env(self) -> Any:
        """The environment itself, in whatever state it was left."""
        return self._face.played.env

    @property
    def how(self) -> str:
        """How states are saved."""
        return self._face.saving.how

    @property
    def speed(self) -> float:
        """Steps per second, of those that the environment really took."""
        return self._steps / self._seconds if self._seconds else 0.0

    def __repr__(self) -> str:
        return f"{self._face.played.env}: {self.how}; {self.speed:,.0f} steps per second"

    # Where episodes begin.

    def start(self, seed: int = 0) -> Array:
        """The first state `[W]` of the episode with that seed."""
        met = self._arrive(self._face.reset(int(seed)))
        met.setting = met.setting or json.dumps({"seed": int(seed)})
        return met.moment.row.copy()

    def sample(self, rng: np.random.Generator, count: int) -> States:
        """First states `[count, W]` of episodes with fresh seeds."""
        return np.stack([self.start(int(seed)) for seed in rng.integers(0, 2**31 - 1, count)])

    def setting(self, row: Array) -> str:
        """How an episode that begins in a state was reset, as demonstrations have it; empty if none did."""
        return self._known(row).setting

    def meet(self, demo: Shown) -> None:
        """Find the states of a demonstration again: reset as it says and do what it did."""
        rows = np.asarray(demo.states)
        if all(row.tobytes() in self._met for row in rows):
            return
        try:
            seed = int(json.loads(demo.setting)["seed"])
        except (ValueError, TypeError, KeyError):
            raise RsgError(
                "a demonstration in a wrapped environment says how that was reset, setting='{\"seed\": 3}', but this "
                f"one says {demo.setting!r}"
            ) from None
        row = self.start(seed)
        for step, wanted in enumerate(rows):
            if row.shape != wanted.shape or row.tobytes() != wanted.astype(row.dtype).tobytes():
                where = "after the reset" if step == 0 else f"after step {step - 1}"
                raise RsgError(
                    f"the demonstration with {demo.setting} is not one of this environment: {where} it is in another "
                    "state than was recorded"
                )
            if step < len(demo.actions):
                row = self.after(row, demo.actions[step : step + 1])[1]

    def read(self, env: Any, ended: bool = False, seen: Any = None) -> Array:
        """The state `[W]` that another environment of the kind is in, from which this world can go on.

        ended, seen: what its last step said: whether the episode is over, and the observation.
        """
        moment = self._face.read(env, ended, seen, self._met.__contains__)
        if moment.name not in self._met:
            self._met[moment.name] = Met(moment)
        return moment.row

    def act(self, action: int) -> Any:
        """What `step` of the environment takes for an action."""
        return self._values[int(action)]

    def number(self, action: Any) -> int:
        """The number of what `step` of the environment takes."""
        for number, value in enumerate(self._values):
            if np.array_equal(value, action):
                return number
        raise RsgError(f"the environment has no action {action!r}")

    # What happens.

    def step(self, states: States, actions: Array) -> States:
        """The next states `[N, W]`."""
        taken = zip(np.ascontiguousarray(states), np.asarray(actions).tolist(), strict=True)
        return np.stack([self._row_after(row, action) for row, action in taken]) if len(states) else states.copy()

    def successors(self, states: States) -> States:
        """The next states `[N, A, W]` for every action."""
        count = len(self.actions)
        every = self.step(np.repeat(states, count, axis=0), np.tile(np.arange(count), len(states)))
        return every.reshape(len(states), count, states.shape[1])

    def after(self, row: Array, actions: Iterable[int]) -> States:
        """All states `[T + 1, W]` that actions lead through."""
        rows = [np.array(row)]
        for action in actions:
            rows.append(self._row_after(rows[-1], int(action)))
        return np.stack(rows)

    def ended(self, states: States) -> Bools:
        """Whether the environment said that the episode is over, `[N]`."""
        return np.asarray(np.asarray(states)[:, -1] != 0)

    def reward(self, states: States, actions: Array) -> Floats:
        """What the environment gives for actions in states, `[N]`."""
        self.step(states, actions)
        pairs = zip(np.ascontiguousarray(states), np.asarray(actions).tolist(), strict=True)
        return np.array([self._met[row.tobytes()].after[action][1] for row, action in pairs])

    # What is seen.

    def encode(self, states: States) -> dict[str, Array]:
        """What the environment shows of states: an array `[N, ...]` for each part of its observations."""
        seen = [self._known(row).moment.seen for row in np.ascontiguousarray(states)]
        some = seen or [next(iter(self._met.values())).moment.seen]
        return {name: np.stack([one[name] for one in some])[: len(seen)] for name in some[0]}

    def restore(self, row: Array) -> Any:
        """Put the environment in a state; gives the environment, or with step= the state."""
        known = self._known(row)
        self._go(known.moment)
        self._at = None  # whoever asked may go on with it
        self._face.saving.moved()
        return self._face.played.state

    def truth(self, tests: Mapping[str, Test]) -> Callable[[Any, States, Sequence[str]], Bools]:
        """Which terms hold in states, judged by a function of the environment for each; for experts and judges.

        What it gives takes a world, states `[N, W]` and terms, as `Domain.truth` does.
        """

        if not isinstance(tests, Mapping) or not all(map(callable, tests.values())):
            raise RsgError(f"truth takes a function of the environment for each term, in a mapping, not {tests!r}")

        def holds(_: Any, states: States, terms: Sequence[str]) -> Bools:
            for term in terms:
                if term not in tests:
                    raise RsgError(f"nothing tells what '{term}' is in truth; there are: {', '.join(tests)}")
            told = np.zeros((len(states), len(terms)), dtype=np.bool_)
            for place, row in enumerate(np.ascontiguousarray(states)):
                known = self._known(row).holds
                for term in [term for term in terms if tests[term] not in known]:
                    told_of_it = theirs(f"the truth of '{term}'", tests[term], self.restore(row))
                    known[tests[term]] = theirs(f"the truth of '{term}'", bool, told_of_it)
                told[place] = [known[tests[term]] for term in terms]
            return told

        return holds

    def _render(self, row: Array) -> Bytes:
        """A picture, as the environment draws it."""
        self.restore(row)
        return np.asarray(self._face.played.env.render(), dtype=np.uint8)

    def _view(self, row: Array) -> str:
        """What the environment says of it in a terminal."""
        self.restore(row)
        return str(self._face.played.env.render()).rstrip("\n")

    # One state at a time.

    def again(self, states: States, actions: Array) -> States:
        """What follows of each state, stepped anew and with other random numbers, whatever is remembered: `[N, W]`."""
        rng, rows = np.random.default_rng(), list[Array]()
        self._at = None
        here: bytes | None = None  # where a step led, if the next one goes on from there, as one who acts would
        with kept():
            for row, action in zip(np.ascontiguousarray(states), np.asarray(actions).tolist(), strict=True):
                moment = self._known(row).moment
                if moment.ended:
                    rows.append(moment.row)
                    continue
                if here != moment.name:
                    self._face.put(moment)
                stir(self._face.chance(), rng)
                after = self._face.step(self._values[action])
                rows.append(after.row)
                here = after.name
        return np.stack(rows) if rows else np.asarray(states).copy()

    def _row_after(self, row: Array, action: int) -> Array:
        known = self._known(row)
        if action not in known.after:
            known.after[action] = self._take(known, action)
        return self._met[known.after[action][0]].moment.row

    def _take(self, known: Met, action: int) -> tuple[bytes, float]:
        """Do it."""
        if known.moment.ended:
            return known.moment.name, 0.0
        if not 0 <= action < len(self._values):
            raise RsgError(f"there is no action {action}: actions are numbers from 0 to {len(self._values) - 1}")
        begun = time.perf_counter()
        self._go(known.moment)
        moment = self._face.step(self._values[action], self._met.__contains__)
        self._arrive(moment)
        self._steps, self._seconds = self._steps + 1, self._seconds + time.perf_counter() - begun
        return moment.name, moment.reward

    def _go(self, moment: Moment) -> None:
        if self._at != moment.name:
            self._at = None
            self._face.put(moment)
            self._at = moment.name

    def _arrive(self, moment: Moment) -> Met:
        """Take down where the environment is now."""
        self._at = moment.name
        known = self._met.get(moment.name)
        if known is None:
            known = self._met[moment.name] = Met(moment)
        elif moment.seen and (part := unlike(known.moment.seen, moment.seen)):
            raise RsgError(
                f"the observation is not a function of the state: `{part}` of one state looked different at another "
                "time; what it depends on must be in key="
            )
        return known

    def _known(self, row: Array) -> Met:
        """What is known of a state."""
        name = np.ascontiguousarray(row).tobytes()
        found = self._met.get(name)
        if found is None:
            moment = self._face.moment_of(row)
            if moment is None:
                raise RsgError(
                    "a wrapped environment knows the states that it was in, and this is none of them: take states "
                    "from world.start(seed) and world.step, or meet those of a demonstration: world.meet(demonstration)"
                )
            self._at = None
            found = self._met[name] = Met(moment)
        return found
