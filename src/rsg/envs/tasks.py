"""A world with a task as Gymnasium environments: one copy, and many copies that step in one call."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from rsg.core.arrays import Array, Bools, Floats
from rsg.core.errors import RsgError
from rsg.envs.progress import BatchProgress
from rsg.language import Machine, Task, Term, parse
from rsg.worlds.protocol import States

Observation = Any


@dataclass(frozen=True)
class Setting:
    """What one copy and many copies share: where episodes start, what is asked, what is seen.

    Attributes:
        world: in which episodes take place.
        machine: that of the task, if there is one.
        sample: gives a first state `[W]`.
        truth: says which terms of the task hold in states `[N, W]`.
        observe: what is seen of states: an array, or a dict of arrays, with N rows.
        space, actions: the observations and the actions of one copy.
    """

    world: Any
    machine: Machine | None
    sample: Callable[[np.random.Generator], States]
    truth: Callable[[States], Bools]
    observe: Callable[[States], Observation]
    space: gymnasium.Space[Any]
    actions: gymnasium.Space[Any]


def machine_for(task: str | Task | None, vocabulary: Sequence[str]) -> Machine | None:
    """The machine of what is to be done, if anything is."""
    asked = parse(task, vocabulary) if isinstance(task, str) else task
    return Machine.of(asked) if asked else None


class TaskEnv(gymnasium.Env[Observation, Any]):
    """One copy. When the trajectory has done the task, the reward is 1 and the episode ends.

    Without a task there is no reward and no end. `info["state"]` is the state itself;
    `reset(options={"state": row})` starts from a given one.

    Args:
        given, options: what the world's `setting` takes.
        render_mode: one of the `render_modes` in `metadata`; `human` prints each state to the terminal.
    """

    setting: ClassVar[Callable[..., Setting]]

    def __init__(self, *given: Any, render_mode: str | None = None, **options: Any) -> None:
        check_render_mode(render_mode, self.metadata["render_modes"])
        self._setting = self.setting(*given, **options)
        self.world = self._setting.world
        self.machine = self._setting.machine
        self.observation_space = self._setting.space
        self.action_space = self._setting.actions
        self.render_mode = render_mode
        self._entered: frozenset[int] = frozenset()

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Start an episode in a new state."""
        super().reset(seed=seed)
        given = (options or {}).get("state")
        state = self.sample(self.np_random) if given is None else self.world.checked_start(np.array(given))
        self._states = state[None]
        if self.machine:
            self._entered, _ = self.machine.advance(Machine.START, self._setting.truth(self._states)[0].tolist())
        self._show()
        return self._observe(), {"state": self._states[0]}

    def step(self, action: Any) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Act, and see what follows."""
        self._states = self.world.step(self._states, np.asarray(action)[None])
        done = False
        if self.machine:
            holds = self._setting.truth(self._states)[0].tolist()
            self._entered, done = self.machine.advance(self._entered, holds)
        self._show()
        return self._observe(), float(done), done, False, {"state": self._states[0]}

    def render(self) -> Any:
        """The current state in the render mode; `human` has printed it already."""
        if self.render_mode == "rgb_array":
            return self.world.render(self._states[0])
        if self.render_mode == "ansi":
            return self.world.view(self._states[0]).plain
        return None

    def sample(self, rng: np.random.Generator) -> States:
        """A state `[W]` that an episode may start in."""
        return self._setting.sample(rng)

    def frontier(self) -> tuple[Term, ...]:
        """The subgoals of the task that the trajectory is at."""
        return self.machine.frontier(self._entered) if self.machine else ()

    def _observe(self) -> Observation:
        seen = self._setting.observe(self._states)
        return {name: rows[0] for name, rows in seen.items()} if isinstance(seen, dict) else seen[0]

    def _show(self) -> None:
        if self.render_mode == "human":
            from rich.console import Console

            Console(highlight=False).print(self.world.view(self._states[0]), "\n")


class TaskVectorEnv(VectorEnv[Observation, Array, Array]):
    """Many copies that step in one call. One that has ended starts anew at the next step (Gymnasium's `NEXT_STEP`)."""

    metadata: dict[str, Any] = {
        "render_modes": ["rgb_array"],
        "render_fps": 4,
        "autoreset_mode": AutoresetMode.NEXT_STEP,
    }

    single: ClassVar[type[TaskEnv]]

    def __init__(
        self,
        num_envs: int = 1,
        *given: Any,
        render_mode: str | None = None,
        max_episode_steps: int | None = None,
        **options: Any,
    ) -> None:
        check_render_mode(render_mode, self.single.metadata["render_modes"])
        self._setting = self.single.setting(*given, **options)
        self.world = self._setting.world
        self.num_envs = num_envs
        self._copies = range(num_envs)
        self.render_mode = render_mode
        self.single_observation_space = self._setting.space
        self.single_action_space = self._setting.actions
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._limit = max_episode_steps
        machine = self._setting.machine
        self._progress = BatchProgress(machine, num_envs) if machine else None
        self._steps = np.zeros(num_envs, dtype=np.int64)
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
        self._states = np.array([self._setting.sample(rng) for rng in self._rngs])
        self._steps[:] = 0
        self._ended = self._done(np.ones(self.num_envs, dtype=bool))
        return self._setting.observe(self._states), {"state": self._states}

    def step(self, actions: Array) -> tuple[Observation, Floats, Bools, Bools, dict[str, Any]]:
        """Act in every copy; one that ended in the last step starts anew instead, with reward 0."""
        fresh = self._ended
        self._states = self.world.step(self._states, actions)
        self._steps += 1
        for i in np.flatnonzero(fresh):
            self._states[i] = self._setting.sample(self._rngs[i])
        self._steps[fresh] = 0
        done = self._done(fresh)
        truncated = ~done & (self._steps >= (self._limit or np.inf))
        self._ended = done | truncated
        return self._setting.observe(self._states), done.astype(np.float64), done, truncated, {"state": self._states}

    def render(self) -> Any:
        """All copies as pictures."""
        return tuple(map(self.world.render, self._states)) if self.render_mode == "rgb_array" else None

    def _done(self, first: Bools) -> Bools:
        """Which trajectories have done the task; `first` says which are in their first state."""
        if self._progress is None:
            return np.zeros(self.num_envs, dtype=bool)
        return self._progress.advance(self._setting.truth(self._states), first)


def check_render_mode(mode: str | None, known: Sequence[str]) -> None:
    """An error for a render mode that there is not."""
    if mode is not None and mode not in known:
        raise RsgError(f"render_mode must be one of {', '.join(known)}, not {mode!r}")
