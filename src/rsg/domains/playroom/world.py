"""Playroom: a robot that moves and turns in a room with walls, among things that it can touch."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rsg.core.arrays import Bools, Bytes, Floats
from rsg.core.errors import RsgError
from rsg.core.random import stream
from rsg.domains.playroom import geometry
from rsg.domains.playroom.layout import Layout, LayoutError, check_places, numbers
from rsg.domains.playroom.layout_files import load_layout

POSE = 3  # x, y, angle

_BLOCKS = 1000  # how often new random places are drawn before giving up
_BLOCK = 64


def _constant(*values: float) -> Floats:
    array = np.array(values, dtype=np.float64)
    array.setflags(write=False)
    return array


@dataclass(frozen=True)
class PlayroomWorld:
    """One room. Its states are rows `[3 + 2·effectors]`: x, y and angle of the robot, then x and y of each effector.

    >>> world = PlayroomWorld()
    >>> start = world.state((5, 5, 0), {"ball": (7.5, 5)})
    >>> world.step(start[None], [[0.8, 0, 0.5]])[0, :3]
    array([5.8, 5. , 0.5])
    >>> world.free(start[None])
    array([ True])
    """

    network: ClassVar = "relative"
    visions: ClassVar = {"state": "effectors"}

    # the walls, the robot and the effectors; by default those of the paper
    layout: Layout = field(default_factory=lambda: load_layout("paper"), repr=False)
    low: ClassVar = _constant(0, 0, -np.pi)  # the least x, y and angle
    period: ClassVar = _constant(0, 0, 2 * np.pi)  # the angle comes round again after 2π
    reach: ClassVar = _constant(1, 1, 1)  # one action moves by at most 1 in x and y and turns by at most 1
    cost: ClassVar = 0.1  # of an action

    @cached_property
    def high(self) -> Floats:
        """The largest x, y and angle."""
        return _constant(*self.layout.size, np.pi)

    @property
    def state_width(self) -> int:
        """How many numbers a state has."""
        return POSE + 2 * len(self.layout.effectors)

    @property
    def compiled_motion(self) -> tuple[Callable[..., bool], geometry.Shapes]:
        """`(kernel, tables)`: `kernel(tables, start, end)` says whether the motion between two poses is free."""
        return geometry.motion_free, self.layout.shapes

    def step(self, states: Floats, actions: ArrayLike) -> Floats:
        """The states after `actions` `[N, 3]`; a move into a wall or out of the room leaves the state as it is."""
        states = self.checked(states)
        moves = np.ascontiguousarray(actions, dtype=np.float64)
        if moves.shape != (len(states), POSE):
            raise RsgError(f"{len(states)} states need actions [{len(states)}, 3], got {list(moves.shape)}")
        wrong = ~(np.abs(moves) <= self.reach * (1 + 1e-9)).all(axis=1)  # NaN is wrong too; rounding is not
        if wrong.any():
            i = int(np.argmax(wrong))
            raise RsgError(f"action {i} is {moves[i].tolist()}; each of its numbers must be from -1 to 1")
        after = states.copy()
        geometry.step_rows(self.layout.shapes, states, moves, after)
        return after

    def free(self, states: Floats) -> Bools:
        """Whether the robot is in the room and touches no wall, nor a side of the room."""
        states = self.checked(states)
        out = np.empty(len(states), dtype=bool)
        geometry.free_rows(self.layout.shapes, states, out)
        return out

    def clear(self, states: Floats, ends: ArrayLike) -> Bools:
        """Whether the straight motion from each state to the pose `ends` `[N, 3]` is free along its whole length."""
        states, poses = self.checked(states), np.ascontiguousarray(ends, dtype=np.float64)
        if poses.shape != (len(states), POSE):
            raise RsgError(f"{len(states)} states need ends [{len(states)}, 3], got {list(poses.shape)}")
        out = np.empty(len(states), dtype=bool)
        geometry.clear_rows(self.layout.shapes, states, poses, out)
        return out

    def encode(self, states: Floats) -> NDArray[np.float32]:
        """What classifiers see, `[N, 4 + 2·effectors]`: x, y, cosine and sine of the angle; x and y of each effector.

        All are in [-1, 1]: places are told from the middle of the room, in units of half its longer side.
        """
        states = self.checked(states)
        places = (states - self._middle) * (2 / max(self.layout.size))
        seen = np.empty((len(states), self.state_width + 1), dtype=np.float32)
        seen[:, :2], seen[:, 4:] = places[:, :2], places[:, POSE:]
        seen[:, 2], seen[:, 3] = np.cos(states[:, 2]), np.sin(states[:, 2])
        return seen

    @property
    def columns(self) -> dict[str, tuple[str, ...]]:
        """What the numbers of `encode` are called."""
        things = (f"{name} {axis}" for name in [one.name for one in self.layout.effectors] for axis in "xy")
        return {"seen": ("robot x", "robot y", "robot cosine", "robot sine", *things)}

    def render(self, state: Floats, pixels: int = 480) -> Bytes:
        """One state as a picture, its longer side so many pixels long."""
        from rsg.domains.playroom.pictures import picture

        return picture(self, state, pixels)

    def sample(self, rng: np.random.Generator, count: int) -> Floats:
        """Typical states: effectors in random places, and a random free pose of the robot."""
        return np.array([self._draw(rng, start=False) for _ in range(count)]).reshape(count, self.state_width)

    def start(self, rng: np.random.Generator) -> Floats:
        """A random first state `[W]`: effectors free of walls and of each other, the robot free of all."""
        return self._draw(rng, start=True)

    def state(
        self, pose: Sequence[float], places: Mapping[str, Sequence[float]] | None = None, seed: int = 0
    ) -> Floats:
        """A state `[W]` from the pose (x, y, angle) and the places of effectors by name; the others go anywhere.

        It is an error if the robot or an effector is where it cannot be.
        """
        rows = self._fixed_places()
        names = [effector.name for effector in self.layout.effectors]
        for name, place in (places or {}).items():
            if name not in names:
                raise RsgError(f"there is no effector '{name}'; there are: {', '.join(names)}")
            rows[names.index(name)] = numbers(place, 2, f"the place of the {name}")
        state = np.empty(self.state_width)
        state[:POSE] = numbers(pose, POSE, "the pose of the robot")
        state[POSE:] = self._scattered(rows, stream(seed, "playroom")).ravel()
        return self.checked_start(state)

    def checked_start(self, state: Floats) -> Floats:
        """The state if one can begin in it; else a sentence that says why not."""
        state = self.checked(np.asarray(state)[None])[0]
        places = state[POSE:].reshape(-1, 2)
        check_places(self.layout, places)
        if not self.free(state[None])[0]:
            x, y, angle = state[:POSE]
            raise LayoutError(
                f"the robot starts in collision: at ({x:g}, {y:g}, {angle:g}) it touches a wall or a side of the room"
            )
        return state

    def told(self, state: Floats) -> dict[str, Any]:
        """A state as plain values: the pose, and the place of each effector by its name."""
        places = state[POSE:].reshape(-1, 2).tolist()
        names = [effector.name for effector in self.layout.effectors]
        return {"pose": state[:POSE].tolist(), "places": dict(zip(names, places, strict=True))}

    def layout_at(self, state: Floats) -> Layout:
        """The layout in which everything always starts where it is in this state."""
        places = self.checked(np.asarray(state)[None])[0][POSE:].reshape(-1, 2).tolist()
        effectors = zip(self.layout.effectors, places, strict=True)
        fixed = tuple(replace(effector, position=tuple(place)) for effector, place in effectors)
        return replace(self.layout, effectors=fixed, start=tuple(state[:POSE].tolist()))

    def checked(self, states: Floats) -> Floats:
        """The states if they can be of this world; else a sentence that says why not."""
        states = np.ascontiguousarray(states)
        if states.ndim != 2 or states.shape[1] != self.state_width or states.dtype != np.float64:
            raise RsgError(
                f"these are not states of a Playroom with {len(self.layout.effectors)} effectors: "
                f"expected float64 [N, {self.state_width}], got {states.dtype} {list(states.shape)}"
            )
        if not np.isfinite(states).all():
            i, k = np.argwhere(~np.isfinite(states))[0]
            what = ("x", "y", "the angle")[k] if k < POSE else f"the place of effector {(k - POSE) // 2 + 1}"
            raise RsgError(f"state {i} is not of a Playroom: {what} is {states[i, k]}")
        return states

    @cached_property
    def _middle(self) -> Floats:
        """A state in which everything is in the middle of the room."""
        x, y = np.array(self.layout.size) / 2
        return _constant(x, y, 0, *[x, y] * len(self.layout.effectors))

    def _draw(self, rng: np.random.Generator, start: bool) -> Floats:
        states = np.empty((_BLOCK, self.state_width))
        for _ in range(_BLOCKS):
            states[:, POSE:] = self._scattered(self._fixed_places(), rng).ravel()
            if start and self.layout.start is not None:
                states[:, :POSE] = self.layout.start
            else:
                dice = rng.random((_BLOCK, POSE))
                states[:, 0], states[:, 1] = dice[:, 0] * self.layout.size[0], dice[:, 1] * self.layout.size[1]
                states[:, 2] = (2 * dice[:, 2] - 1) * np.pi
            fit: Floats = states[self.free(states)]
            if start:
                fit = fit[~self._touching(fit)]
            if len(fit):
                return np.array(fit[0])
        raise LayoutError(
            "no free place for the robot was found; make the room larger, or the walls or effectors fewer"
        )

    def _touching(self, states: Floats) -> Bools:
        """Whether the robot touches some effector, `[N]`."""
        effectors = np.arange(len(self.layout.effectors))
        touched = np.empty((len(states), len(effectors)), dtype=np.bool_)
        geometry.touch_rows(self.layout.shapes, states, effectors, touched)
        return np.asarray(touched.any(axis=1))

    def _fixed_places(self) -> Floats:
        """The places of the effectors `[E, 2]`, NaN where chance decides."""
        return np.array([effector.position or (np.nan, np.nan) for effector in self.layout.effectors])

    def _scattered(self, places: Floats, rng: np.random.Generator) -> Floats:
        """Random places for the effectors at NaN."""
        if not np.isnan(places).any():
            return places
        for _ in range(_BLOCKS):
            rows = places.copy()
            if geometry.scatter(self.layout.shapes, rows, rng.random((_BLOCK * len(rows), 2))):
                return rows
        raise LayoutError("no free places for the effectors were found; make the room larger, or them fewer or smaller")
