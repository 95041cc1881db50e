"""MiniGrid (Apache-2.0) as a batched model: the agent, what it carries, and the grid, as MiniGrid encodes its objects."""

from typing import Any

import numpy as np
from minigrid.core.constants import COLOR_TO_IDX, OBJECT_TO_IDX, STATE_TO_IDX
from numpy.typing import NDArray

Rows = NDArray[Any]
EMPTY, DOOR, KEY, BOX, GOAL = (OBJECT_TO_IDX[name] for name in ("empty", "door", "key", "box", "goal"))
OPEN, CLOSED, LOCKED = range(3)
TAKEN = np.isin(np.arange(16), [OBJECT_TO_IDX[name] for name in ("key", "ball", "box")])
ENTERED = np.isin(np.arange(16), [OBJECT_TO_IDX[name] for name in ("empty", "goal", "floor")])
AHEAD = np.array([[1, 0], [0, 1], [-1, 0], [0, -1]])
HEAD = 6  # numbers before the grid: x, y, direction; object, colour and state of what is carried


class MiniGrid:
    """Every environment of MiniGrid in which nothing moves by itself and boxes are empty."""

    actions = ("left", "right", "forward", "pickup", "drop", "toggle")
    columns = {
        "agent": ("x", "y", "direction"),
        "carrying": {"object": OBJECT_TO_IDX, "colour": COLOR_TO_IDX},
        "grid": {"object": OBJECT_TO_IDX, "colour": COLOR_TO_IDX, "state": STATE_TO_IDX},
    }

    def __init__(self, env: Any) -> None:
        self.shape = (env.unwrapped.width, env.unwrapped.height, 3)

    def state(self, env: Any) -> Rows:
        """The environment as it is now."""
        held = env.unwrapped.carrying.encode() if env.unwrapped.carrying else (EMPTY, 0, 0)
        head = [*env.unwrapped.agent_pos, env.unwrapped.agent_dir, *held]
        return np.array([*head, *env.unwrapped.grid.encode().flat], dtype=np.uint8)

    def encode(self, states: Rows) -> dict[str, Rows]:
        return {"agent": states[:, :3], "carrying": states[:, 3:5], "grid": self.grid(states)}

    def grid(self, states: Rows) -> Rows:
        return states[:, HEAD:].reshape(-1, *self.shape)

    def step(self, states: Rows, actions: Rows) -> Rows:
        after, every, grid = states.copy(), np.arange(len(states)), self.grid(states)
        x, y = (states[:, :2] + AHEAD[states[:, 2]]).T  # the cell in front
        kind, colour, state = grid[every, x, y].T
        held, ahead = states[:, 3], HEAD + 3 * (x * self.shape[1] + y)[:, None] + np.arange(3)
        after[:, 2] = (states[:, 2] + (actions == 1) + 3 * (actions == 0)) % 4
        walk = (actions == 2) & (ENTERED[kind] | ((kind == DOOR) & (state == OPEN)))
        after[walk, :2] = np.stack([x, y], axis=1)[walk]
        take, put = (actions == 3) & TAKEN[kind] & (held == EMPTY), (actions == 4) & (kind == EMPTY) & (held != EMPTY)
        after[every[take, None], [3, 4, 5]], after[every[put, None], ahead[put]] = grid[every, x, y][take], states[put, 3:6]
        gone = take | ((actions == 5) & (kind == BOX))
        after[every[gone, None], ahead[gone]] = after[put, 3:6] = 0
        after[every[gone], ahead[gone, 0]] = after[put, 3] = EMPTY
        fits = (state != LOCKED) | ((held == KEY) & (states[:, 4] == colour))
        turn = (actions == 5) & (kind == DOOR) & fits
        after[every[turn], ahead[turn, 2]] = np.where(state[turn] == OPEN, CLOSED, OPEN)
        return after
