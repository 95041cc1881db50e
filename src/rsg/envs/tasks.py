"""A domain with a task as Gymnasium environments: one copy, and many copies that step in one call."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from rsg.core.arrays import Array, Bools, Bytes, Floats
from rsg.core.errors import RsgError
from rsg.core.random import stream
from rsg.core.spaces import box
from rsg.domain import Domain
from rsg.envs.progress import BatchProgress
from rsg.language import Machine, Task, Term
from rsg.search import Goals
from rsg.worlds import EitherWorld, States, require


def machine_for(task: str | Task | None, domain: Domain) -> Machine | None:
    """The machine of what is to be done, if anything is."""
    asked = domain.read(task) if isinstance(task, str) else task
    return Machine.of(asked) if asked else None


class TaskEnv(gymnasium.Env[Any, Any]):
    """One copy. When the trajectory has done the task, the reward is 1 and the episode ends.

    Without a task there is no reward and no end. `info["state"]` is the state itself;
    `reset(options={"state": row})` starts from a given one.

    Args:
        domain: in which episodes take place; place: where there.
        task: over the domain's terms.
        observation: one of the domain's `observations`; by default the first.
        render_mode: `ansi` gives text, `rgb_array` pixels, `human` prints each state to the terminal.

    >>> from rsg.worlds.corridor import Corridor
    >>> class Study(Domain):
    ...     splits = {"train": ["light-lamp"]}
    ...
    ...     def world(self, setting=""):
    ...         return Corridor()
    ...
    ...     def truth(self, world, states, terms):
    ...         return states[:, 1:2] == 1
    >>> env = TaskEnv(Study(), task="light-lamp")
    >>> _, info = env.reset(options={"state": [0, 0, 0]})
    >>> env.step(2)[1:3]
    (1.0, True)
    """

    metadata: ClassVar[dict[str, Any]] = {"render_modes": ["ansi", "rgb_array", "human"], "render_fps": 4}  # type: ignore[misc]

    def __init__(
        self,
        domain: Domain,
        place: str | None = None,
        task: str | Task | None = None,
        observation: str | None = None,
        render_mode: str | None = None,
    ) -> None:
        modes = self.metadata["render_modes"]
        if render_mode is not None and render_mode not in modes:
            raise RsgError(f"render_mode must be one of {', '.join(modes)}, not {render_mode!r}")
        self.domain = domain if place is None else domain.at(place)
        self.machine = machine_for(task, self.domain)
        self.world, state = self.domain.start(self._terms, stream(0, "starts"))
        require(self.world, state[None])
        if self.machine:
            self.truth = _truth_of(self.domain.true_goals(self.world, self._terms, state))
        known = observations(self.domain, self.world)
        observation = observation or next(iter(known))
        if observation not in known:
            raise RsgError(f"observation must be {' or '.join(map(repr, known))}, not {observation!r}")
        self._look, space = known[observation]
        self.observation_space = space or _space_of(_first(self.observe(state[None])))
        self.action_space = _actions_of(self.world)
        self.render_mode = render_mode

    @property
    def _terms(self) -> Sequence[str]:
        return self.machine.names if self.machine else ()

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Start an episode in a new state."""
        super().reset(seed=seed)
        given = (options or {}).get("state")
        if given is None:
            state = self.sample(self.np_random)
        else:
            state = getattr(self.world, "checked_start", np.asarray)(np.array(given))
        self._entered = Machine.START
        self._come_to(state[None])
        return _first(self.observe(self._states)), {"state": self._states[0]}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Act, and see what follows."""
        done = self._come_to(self.world.step(self._states, np.asarray(action)[None]))
        return _first(self.observe(self._states)), float(done), done, False, {"state": self._states[0]}

    def _come_to(self, states: States) -> bool:
        """The next state `[1, W]`, and whether it does the task."""
        self._states, done = states, False
        if self.machine:
            self._entered, done = self.machine.advance(self._entered, self.truth(states)[0].tolist())
        if self.render_mode == "human":
            from rich.console import Console

            Console(highlight=False).print(self.domain.view(self.world, states[0]), "\n")
        return done

    def render(self) -> Any:
        """The current state in the render mode; `human` has printed it already."""
        if self.render_mode == "rgb_array":
            return self.domain.picture(self.world, self._states[0])
        if self.render_mode == "ansi":
            return str(self.domain.view(self.world, self._states[0], colours=False))
        return None

    def frontier(self) -> tuple[Term, ...]:
        """The subgoals of the task that the trajectory is at."""
        return self.machine.frontier(self._entered) if self.machine else ()

    def sample(self, rng: np.random.Generator) -> States:
        """A state `[W]` that an episode may start in."""
        world, state = self.domain.start(self._terms, rng)
        if world != self.world and self.domain.setting_of(world) != self.domain.setting_of(self.world):
            raise RsgError(f"an environment is one world, and episodes of {self.domain.name} start in several")
        return state

    def observe(self, states: States) -> Any:
        """What is seen of states `[N, W]`: an array, or a dict of arrays, with N rows."""
        seen = self._look(states)
        return seen._asdict() if hasattr(seen, "_asdict") else seen


def _truth_of(goals: Goals) -> Callable[[States], Bools]:
    """Which terms of a task hold in states `[N, W]`, given the truth as classifiers."""
    found: Callable[[States], Bools] = getattr(goals, "holds", None) or (lambda states: goals(states)[0] == 0)
    return found


def observations(domain: Domain, world: EitherWorld) -> Mapping[str, tuple[Callable[[States], Any], Any]]:
    """What can be shown of states `[N, W]`, by name, the usual one first, and its space; None: all of its dtype.

    A domain may have its own: a method `observations(world)`.
    """
    if hasattr(domain, "observations"):
        own: Mapping[str, Any] = domain.observations(world)
        return own

    def pictures(states: States) -> Bytes:
        return np.stack([domain.picture(world, state) for state in states])

    return {"state": (world.encode, None), "image": (pictures, None)}


def _first(seen: Any) -> Any:
    """What is seen of the first of some states."""
    return {name: rows[0] for name, rows in seen.items()} if isinstance(seen, dict) else seen[0]


def _space_of(seen: Any) -> gymnasium.Space[Any]:
    """All that may be seen, as far as dtypes tell."""
    if isinstance(seen, dict):
        return spaces.Dict({name: _space_of(part) for name, part in seen.items()})
    return box(seen.dtype, seen.shape)


def _actions_of(world: EitherWorld) -> gymnasium.Space[Any]:
    if hasattr(world, "actions"):
        return spaces.Discrete(len(world.actions))
    reach = np.asarray(world.reach, dtype=np.float32)
    return spaces.Box(-reach, reach)


class TaskVectorEnv(VectorEnv[Any, Array, Array]):
    """Many copies that step in one call. One that has ended starts anew at the next step (Gymnasium's `NEXT_STEP`).

    Args:
        num_envs: how many.
        domain, options: what `TaskEnv` takes.
        max_episode_steps: after how many steps an episode is cut.

    >>> from rsg.domain import find
    >>> envs = TaskVectorEnv(4, find("rsg.worlds.corridor:Corridor"))
    >>> envs.reset(seed=0)[1]["state"].shape
    (4, 3)
    """

    metadata: ClassVar[dict[str, Any]] = {  # type: ignore[misc]
        "render_modes": ["rgb_array"],
        "render_fps": 4,
        "autoreset_mode": AutoresetMode.NEXT_STEP,
    }

    def __init__(self, num_envs: int, domain: Domain, *, max_episode_steps: int | None = None, **options: Any) -> None:
        self._single = single = TaskEnv(domain, **options)
        self.world = single.world
        self.num_envs = num_envs
        self._copies = range(num_envs)
        self.render_mode = single.render_mode
        self.single_observation_space = single.observation_space
        self.single_action_space = single.action_space
        self.observation_space = batch_space(single.observation_space, num_envs)
        self.action_space = batch_space(single.action_space, num_envs)
        self._limit = max_episode_steps
        self._progress = BatchProgress(single.machine, num_envs) if single.machine else None
        self._steps = np.zeros(num_envs, dtype=np.int64)
        self._rngs: list[np.random.Generator] = []

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Start all copies anew; copy i has its own random stream, from seed + i or from `seed[i]`."""
        del options
        if seed is not None or not self._rngs:
            own = (
                list(seed) if isinstance(seed, Sequence) else [None if seed is None else seed + i for i in self._copies]
            )
            self._rngs = [np.random.default_rng(one) for one in own]
        self._states = np.array([self._single.sample(rng) for rng in self._rngs])
        self._steps[:] = 0
        self._ended = self._done(np.ones(self.num_envs, dtype=bool))
        return self._single.observe(self._states), {"state": self._states}

    def step(self, actions: Array) -> tuple[Any, Floats, Bools, Bools, dict[str, Any]]:
        """Act in every copy; one that ended in the last step starts anew instead, with reward 0."""
        fresh = self._ended
        self._states = self.world.step(self._states, actions)
        self._steps += 1
        for i in np.flatnonzero(fresh):
            self._states[i] = self._single.sample(self._rngs[i])
        self._steps[fresh] = 0
        done = self._done(fresh)
        truncated = ~done & (self._steps >= (self._limit or np.inf))
        self._ended = done | truncated
        return self._single.observe(self._states), done.astype(np.float64), done, truncated, {"state": self._states}

    def render(self) -> Any:
        """All copies as pictures."""
        if self.render_mode != "rgb_array":
            return None
        return tuple(self._single.domain.picture(self.world, state) for state in self._states)

    def _done(self, first: Bools) -> Bools:
        """Which trajectories have done the task; `first` says which are in their first state."""
        if self._progress is None:
            return np.zeros(self.num_envs, dtype=bool)
        return self._progress.advance(self._single.truth(self._states), first)
