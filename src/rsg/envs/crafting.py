"""Crafting World as Gymnasium environments: one copy, and many copies that step in one call."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from rsg.core.errors import RsgError
from rsg.envs.progress import BatchProgress
from rsg.language import Machine, Task, Term, parse
from rsg.worlds.crafting import ACTIONS, VOCABULARY, CraftingWorld, kernels
from rsg.worlds.crafting.pictures import image_shape, images
from rsg.worlds.crafting.starts import Starts
from rsg.worlds.crafting.terminal import terminal_view
from rsg.worlds.crafting.truth import goals
from rsg.worlds.crafting.world import States

RENDER_MODES = ("ansi", "rgb_array", "human")
Observation = Any
Map = str | Path | tuple[CraftingWorld, States]


class _Setting:
    """What both environments share: where episodes start, what is asked, what is seen."""

    def __init__(
        self,
        map: Map | None,  # noqa: A002
        task: str | Task | None,
        observation: str,
        cell: int,
        inventory: Sequence[str],
        size: tuple[int, int] | None,
        render_mode: str | None,
    ) -> None:
        if observation not in ("sets", "image"):
            raise RsgError(f"observation must be 'sets' or 'image', not {observation!r}")
        if render_mode is not None and render_mode not in RENDER_MODES:
            raise RsgError(f"render_mode must be one of {', '.join(RENDER_MODES)}, not {render_mode!r}")
        asked = parse(task, VOCABULARY) if isinstance(task, str) else task
        terms = [str(term) for term in asked.terms()] if asked else []
        self.starts = Starts(map, terms, inventory, size)
        self.world = self.starts.world
        self.machine = Machine.of(asked) if asked else None
        self.goals = goals(self.world, terms)
        self.observe = self._sets if observation == "sets" else partial(images, self.world, cell=cell)
        self.space = self._space(observation, cell)
        self.actions = gymnasium.spaces.Discrete(len(ACTIONS))

    def _sets(self, states: States) -> dict[str, NDArray[Any]]:
        return self.world.encode(states)._asdict()

    def _space(self, observation: str, cell: int) -> gymnasium.Space[Any]:
        world, spaces = self.world, gymnasium.spaces
        if observation == "image":
            return spaces.Box(0, 255, image_shape(world, cell), np.uint8)
        types = len(world.rules.things)
        place = [max(world.height - 1, 1), max(world.width - 1, 1)]  # Gymnasium frowns on a range of one value
        high = np.array([types, *place, 1, 1], dtype=np.uint8)
        size = np.array([world.height, world.width, *place, world.capacity], np.float32)
        return spaces.Dict(
            {
                "overall": spaces.Box(np.zeros(5, np.float32), size, dtype=np.float32),
                "inventory": spaces.Box(0, types, (world.capacity,), np.uint8),
                "objects": spaces.Box(0, np.tile(high, (world.objects, 1)), dtype=np.uint8),
            }
        )

    def truth(self, states: States) -> NDArray[np.bool_]:
        """Which terms of the task hold, `[N, terms]`."""
        out = np.empty((len(states), len(self.goals)), dtype=bool)
        kernels.truth_rows(self.world.capacity, self.goals, states, out)
        return out


class CraftingEnv(gymnasium.Env[Observation, Any]):
    """One copy of Crafting World: `gymnasium.make("rsg/CraftingWorld-v0", map="river", task="...")`.

    Args:
        map: a kind of map, a map file, or a pair (world, state); by default a field that holds what the task needs.
        task: a task over the paper's terms. When the trajectory has done it, the reward is 1 and the episode ends.
            Without a task there is no reward and no end.
        observation: `sets` (see `rsg.worlds.crafting.Sets`) or `image`.
        cell: pixels per cell of an image observation.
        inventory, size: see `rsg.worlds.crafting.starts.Starts`.
        render_mode: `ansi` gives text, `rgb_array` pixels, `human` prints each state to the terminal.

    `info["state"]` is the state itself. `reset(options={"state": row})` starts from a given one.
    """

    metadata: dict[str, Any] = {"render_modes": list(RENDER_MODES), "render_fps": 4}

    def __init__(
        self,
        map: Map | None = None,  # noqa: A002
        task: str | Task | None = None,
        observation: str = "sets",
        cell: int = 16,
        inventory: Sequence[str] = (),
        size: tuple[int, int] | None = None,
        render_mode: str | None = None,
    ) -> None:
        self._setting = _Setting(map, task, observation, cell, inventory, size, render_mode)
        self.world = self._setting.world
        self.starts = self._setting.starts
        self.machine = self._setting.machine
        self.observation_space = self._setting.space
        self.action_space = self._setting.actions
        self.render_mode = render_mode
        self._states = np.zeros((1, self.world.state_width), dtype=np.uint8)
        self._entered = 0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Start an episode on a new map."""
        super().reset(seed=seed)
        given = (options or {}).get("state")
        state = self._setting.starts.sample(self.np_random) if given is None else np.array(given)
        self._states = self.world.checked(state[None])
        if self.machine:
            self._entered, _ = self.machine.begin(self._setting.truth(self._states)[0].tolist())
        self._show()
        return self._observe(), {"state": self._states[0]}

    def step(self, action: int) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Act: 0 up, 1 down, 2 left, 3 right, 4 toggle."""
        if action not in range(len(ACTIONS)):
            raise RsgError(f"action {action} is out of range: actions are 0 to {len(ACTIONS) - 1}")
        after = np.empty_like(self._states)
        kernels.step_rows(*self.world.tables, self._states, np.array([action]), after)
        self._states = after
        done = False
        if self.machine:
            self._entered, done = self.machine.advance(self._entered, self._setting.truth(after)[0].tolist())
        self._show()
        return self._observe(), float(done), done, False, {"state": after[0]}

    def render(self) -> Any:
        """The current state in the render mode; `human` has printed it already."""
        if self.render_mode == "rgb_array":
            return self.world.render(self._states[0])
        if self.render_mode == "ansi":
            return terminal_view(self.world, self._states[0]).plain
        return None

    def frontier(self) -> tuple[Term, ...]:
        """The subgoals of the task that the trajectory is at."""
        return self.machine.frontier(self._entered) if self.machine else ()

    def _observe(self) -> Observation:
        seen = self._setting.observe(self._states)
        return {name: rows[0] for name, rows in seen.items()} if isinstance(seen, dict) else seen[0]

    def _show(self) -> None:
        if self.render_mode == "human":
            from rich.console import Console

            Console(highlight=False).print(terminal_view(self.world, self._states[0]), "\n")


class CraftingVectorEnv(VectorEnv[Observation, NDArray[Any], NDArray[Any]]):
    """Many copies that step in one call: `gymnasium.make_vec("rsg/CraftingWorld-v0", num_envs=1000, ...)`.

    Takes what `CraftingEnv` takes. A copy that has ended starts anew at the next step (`AutoresetMode.NEXT_STEP`).
    """

    metadata: dict[str, Any] = {
        "render_modes": ["rgb_array"],
        "render_fps": 4,
        "autoreset_mode": AutoresetMode.NEXT_STEP,
    }

    def __init__(
        self,
        num_envs: int = 1,
        map: Map | None = None,  # noqa: A002
        task: str | Task | None = None,
        observation: str = "sets",
        cell: int = 16,
        inventory: Sequence[str] = (),
        size: tuple[int, int] | None = None,
        render_mode: str | None = None,
        max_episode_steps: int | None = None,
    ) -> None:
        self._setting = _Setting(map, task, observation, cell, inventory, size, render_mode)
        self.world = self._setting.world
        self.num_envs = num_envs
        self._copies = range(num_envs)
        self.render_mode = render_mode
        self.single_observation_space = self._setting.space
        self.single_action_space = self._setting.actions
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._limit = max_episode_steps
        self._progress = BatchProgress(self._setting.machine, num_envs) if self._setting.machine else None
        self._states = np.zeros((num_envs, self.world.state_width), dtype=np.uint8)
        self._steps = np.zeros(num_envs, dtype=np.int64)
        self._ended = np.zeros(num_envs, dtype=bool)
        self._rngs: list[np.random.Generator] = []

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Start all copies anew; copy i has its own random stream, from seed + i or from `seed[i]`."""
        del options
        if seed is not None or not self._rngs:
            own = (
                list(seed) if isinstance(seed, Sequence) else [None if seed is None else seed + i for i in self._copies]
            )
            self._rngs = [np.random.default_rng(one) for one in own]
        every = np.ones(self.num_envs, dtype=bool)
        self._states = np.empty_like(self._states)
        self._begin(every)
        self._ended = self._done(every)
        return self._setting.observe(self._states), {"state": self._states}

    def step(
        self, actions: NDArray[Any]
    ) -> tuple[Observation, NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        """Act in every copy; one that ended in the last step starts anew instead, with reward 0."""
        fresh = self._ended
        self._states = self.world.step(self._states, actions)
        self._steps += 1
        self._begin(fresh)
        done = self._done(fresh)
        truncated = ~done & (self._steps >= (self._limit or np.inf))
        self._ended = done | truncated
        return self._setting.observe(self._states), done.astype(np.float64), done, truncated, {"state": self._states}

    def render(self) -> Any:
        """All copies as pictures."""
        return tuple(images(self.world, self._states)) if self.render_mode == "rgb_array" else None

    def _begin(self, which: NDArray[np.bool_]) -> None:
        """Put first states into these copies."""
        for i in np.flatnonzero(which):
            self._states[i] = self._setting.starts.sample(self._rngs[i])
        self._steps[which] = 0

    def _done(self, first: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Which trajectories have done the task; `first` says which are in their first state."""
        if self._progress is None:
            return np.zeros(self.num_envs, dtype=bool)
        return self._progress.advance(self._setting.truth(self._states), first)
