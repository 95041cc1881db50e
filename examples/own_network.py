"""A network of one's own: a torch module that turns what a world shows into features, in the place of formulas."""

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

import rsg

Rows = NDArray[np.int64]


class Dial:
    """A dial with 24 positions that is turned by one or three. What it shows are blurred lights around it."""

    actions = ("back", "on", "far on")
    turns = np.array([-1, 1, 3])

    def step(self, states: Rows, actions: Rows) -> Rows:
        return np.asarray((states + self.turns[actions][:, None]) % 24)

    def encode(self, states: Rows) -> NDArray[np.float32]:
        away = np.abs(states - np.arange(24))
        return np.asarray(np.exp(-(np.minimum(away, 24 - away) ** 2) / 2), dtype=np.float32)


class Ring(nn.Module):
    """Weights that slide around the dial: neighbours are seen alike, wherever they are."""

    def __init__(self) -> None:
        super().__init__()
        self.slide = nn.Conv1d(1, 8, 5, padding=2, padding_mode="circular")
        self.join = nn.Linear(8 * 24, 32)

    def forward(self, seen: Tensor) -> Tensor:
        """Features `[N, 32]` of what the dial shows, `[N, 24]`."""
        return torch.relu(self.join(torch.relu(self.slide(seen[:, None])).flatten(1)))


def turned(task: str, start: int, *targets: int) -> rsg.Demonstration:
    """The shortest way to one position after the other, by steps of one and three."""
    states, actions = [start], []
    for target in targets:
        while (left := (target - states[-1]) % 24) > 0:
            actions.append(0 if left > 20 else 2 if left >= 3 else 1)
            states.append((states[-1] + int(Dial.turns[actions[-1]])) % 24)
    return rsg.Demonstration(np.array(states)[:, None], np.array(actions), task)


dial = Dial()
demonstrations = [turned("find-news", start, 6) for start in range(24) if start != 6]
demonstrations += [turned("find-music", start, 17) for start in range(24) if start != 17]
subgoals = rsg.learn(demonstrations, dial, settings={"steps": 120, "curriculum": 0}, encoder=Ring)
plan = subgoals.plan(dial, np.array([0]), "find-music then find-news")  # never shown together
print(subgoals.progress.done, f"after {subgoals.progress.step} steps; by way of", *plan.states[:, 0])
