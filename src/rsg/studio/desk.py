"""What a process of the studio has at hand: one domain, the runs, the recordings; and the states that are asked about.

Requests come as plain values that `rsg.studio.asked` has checked; answers are plain values too.
"""

import json
from base64 import b64encode
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from rsg.core.arrays import Array, Bytes
from rsg.core.errors import RsgError, unknown
from rsg.demos import Demonstration, Store
from rsg.demos.demonstration import met
from rsg.demos.expert import setting_of
from rsg.domain import Domain, action_values
from rsg.studio.shelf import Shelf
from rsg.subgoals import Subgoals, load
from rsg.training.checkpoint import RUN
from rsg.worlds import EitherWorld, is_continuous, require

PIXELS = 48  # of a cell, or as large as a domain's usual picture


@dataclass(frozen=True, eq=False)
class Walk:
    """States that somebody went through: of a recording, or of a start and moves."""

    world: EitherWorld
    states: Array  # `[T + 1, W]`
    actions: Array | None  # `[T]` or `[T, D]`
    setting: str
    task: str = ""

    @property
    def steps(self) -> int:
        """How many moves."""
        return len(self.states) - 1

    def shown(self, task: str = "") -> Demonstration:
        """As a demonstration."""
        return Demonstration(self.states, self.actions, task or self.task, self.setting)


@dataclass(eq=False)
class Desk:
    """One process's view of a shelf."""

    shelf: Shelf
    stores: dict[Path, tuple[int, Store]] = field(default_factory=dict)

    @property
    def domain(self) -> Domain:
        """What it is all about."""
        return self.shelf.domain

    def warm(self) -> None:
        """Load what the first plan needs: what was learned, and kernels."""
        with suppress(RsgError):
            task, goal = self.domain.examples
            learned = self.subgoals(None)
            world, state = self.domain.start(learned.read(task).names, np.random.default_rng(0))
            learned.plan(world, state, task)
            if not is_continuous(world):
                learned.plan_goal(world, state, goal, budget=1)

    # Runs.

    def run(self, name: str | None) -> Path:
        """The folder of a run; the usual one if none is named."""
        every = self.shelf.all_runs()
        if not every:
            raise RsgError("there is no run yet: show something and train one")
        if name is not None and name not in every:
            raise unknown("run", name, every)
        return next(iter(every.values())) if name is None else every[name]

    def subgoals(self, name: str | None) -> Subgoals:
        """What a run learned."""
        folder = self.run(name)
        try:
            changed = (folder / RUN).stat().st_mtime_ns
        except OSError:
            changed = 0  # loading says what is wrong
        return _loaded(str(folder), self.domain, changed)

    # Recordings.

    @property
    def store(self) -> Store:
        """The recordings as they are now."""
        return self.opened(self.shelf.demos)

    def opened(self, folder: Path) -> Store:
        """A store; it is read again when it has changed."""
        try:
            changed = (folder / "manifest.json").stat().st_mtime_ns
        except OSError:
            raise RsgError("there are no recordings yet: show something and keep it") from None
        had = self.stores.get(folder)
        if had is None or had[0] != changed:
            self.stores[folder] = had = (changed, Store(folder))
        return had[1]

    # States.

    @cached_property
    def dtype(self) -> np.dtype[Any]:
        """Of states."""
        return (
            np.dtype(self.domain.dtype)
            if self.domain.dtype
            else self.domain.start((), np.random.default_rng(0))[1].dtype
        )

    def walk(self, asked: Mapping[str, Any]) -> Walk:
        """What is asked about."""
        if asked["episode"] is not None:
            demo = self.store[asked["episode"]]
            world = met(self.domain.world(demo.setting), demo)
            return Walk(world, demo.states, demo.actions, demo.setting, demo.task)
        world = self.domain.world(asked["setting"])
        state = self._first(world, asked["setting"], asked["start"])
        states, actions = [state], []
        for move in asked["actions"]:
            actions.append(self._action(world, move))
            state = np.asarray(world.step(state[None], np.asarray(actions[-1])[None]))[0]
            states.append(state)
        whole: Any = float if is_continuous(world) else np.int64
        return Walk(world, np.stack(states), np.array(actions, dtype=whole), asked["setting"])

    def _first(self, world: Any, setting: str, start: list[float]) -> Array:
        """The first state."""
        if hasattr(world, "meet"):  # a wrapped environment is brought into it by the seed of its episode
            try:
                return np.asarray(world.start(int(json.loads(setting)["seed"])))
            except (ValueError, TypeError, KeyError):
                raise RsgError(f"the setting of an episode is its seed, not {setting[:80]!r}") from None
        given = np.array(start, dtype=np.float64)
        state = given.astype(self.dtype)
        if not len(given) or (state != given).any():
            raise RsgError(f"a state is a row of {self.dtype} numbers, this is none: {str(start)[:80]}")
        require(world, state[None])
        return np.asarray(world.checked_start(state)) if hasattr(world, "checked_start") else state

    def _action(self, world: Any, move: str | list[float]) -> Any:
        """What the world is told for a move."""
        known = self.domain.controls(world).actions
        if isinstance(move, str):
            if move in known:
                return known[move]
            if not is_continuous(world) and move in world.actions:
                return world.actions.index(move)
            raise unknown("move", move, known)
        if not is_continuous(world):
            raise RsgError("a move has a name here: " + ", ".join(known))
        return move

    def scene(self, walk: Walk, state: Array | None = None) -> dict[str, Any]:
        """A state for the page: as a picture, and in words; by default the last one."""
        world, last = walk.world, walk.states[-1] if state is None else state
        ended = hasattr(world, "ended") and bool(world.ended(last[None])[0])
        done = [] if walk.actions is None else action_values(world, walk.actions)
        return {
            "setting": walk.setting,
            "start": walk.states[0].tolist(),
            "actions": [list(one) if isinstance(one, tuple) else one for one in done],
            "picture": self.picture(world, last),
            "view": str(self.domain.view(world, last, colours=False)),
            "ended": ended,
        }

    def picture(self, world: EitherWorld, state: Array, pixels: int | None = None) -> str | None:
        """A state as the address of a picture, which holds it; None if there is none."""
        if not (self.domain.has("picture") or hasattr(world, "render")):
            return None
        return address_of(self.domain.picture(world, state, pixels or self.domain.pixels.get("usual")))

    def setting(self, world: EitherWorld, state: Array) -> str:
        """What it takes to make a world again."""
        return self.domain.setting_of(world) or setting_of(world, state)


def address_of(drawn: Bytes) -> str:
    """A picture `[height, width, 3]` as an address that holds it."""
    data = BytesIO()
    Image.fromarray(np.asarray(drawn)).save(data, "PNG", compress_level=1)
    return f"data:image/png;base64,{b64encode(data.getvalue()).decode()}"


@lru_cache(maxsize=16)
def _loaded(run: str, domain: Domain, changed: int) -> Subgoals:  # noqa: ARG001 - what has changed is loaded anew
    return load(run, domain)
