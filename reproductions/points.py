"""Subgoals as points: one is true where the robot is near enough to a point. For `learn(encoder=...)` in Playroom."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from rsg.core.errors import RsgError
from rsg.subgoals.classifiers import Classifiers, Weights

REACH = 10.0  # places are told in tenths of half a room
RADIUS, SLOPE = 3.0, 1.0  # the first ones
DRAWN = 0.01  # how much the first weights of things differ
INPUTS = 16  # numbers that the paper's room shows
PRESET = {
    **{"depth": 2, "held_out": 64, "check_every": 50, "steps": 300, "curriculum": 150},
    **{"rate": 0.05, "rate_end": 5e-3},
}


class PointClassifiers(Classifiers):
    """Log-odds of G: slope · (radius² - distance²), all three learned; those of I are the contrary.

    The distance is that between the robot and a point: a weighted sum of the places of all things, and a constant; and
    the robot is a point of its body. All in tenths of half the room.

    Args:
        inputs: how many numbers a state shows: x, y, cosine and sine of the robot; x and y of each thing.
    """

    weights: Tensor
    constant: Tensor
    body: Tensor
    log_radius: Tensor
    log_slope: Tensor

    def __init__(self, inputs: int) -> None:
        self.inputs, self.things = inputs, (inputs - 4) // 2
        super().__init__(
            True,
            {
                "weights": Weights((self.things,), DRAWN, 1 / self.things),  # at first in the midst of all things
                "constant": Weights((2,), first=0.0),
                "body": Weights((2,), first=0.0),
                "log_radius": Weights((), first=np.log(RADIUS)),
                "log_slope": Weights((), first=np.log(SLOPE)),
            },
        )
        self.small = True

    def odds(self, seen: Any, numbers: Sequence[int]) -> Tensor:
        """Log-odds `[N, terms, 1]`."""
        rows, chosen = torch.as_tensor(seen).to(self.weights), list(numbers)
        if rows.shape[1] != self.inputs:
            count = (rows.shape[1] - 4) // 2
            raise RsgError(f"these subgoals learned in a room with {self.things} effectors, this one has {count}")
        cos, sin, body = rows[:, 2:3], rows[:, 3:4], self.body[chosen]
        turned = torch.stack([cos * body[:, 0] - sin * body[:, 1], sin * body[:, 0] + cos * body[:, 1]], dim=-1)
        robot = REACH * rows[:, None, :2] + turned  # [N, terms, 2]
        things = REACH * rows[:, 4:].reshape(len(rows), self.things, 2)
        point = torch.einsum("nkd,tk->ntd", things, self.weights[chosen]) + self.constant[chosen]
        distance = ((point - robot) ** 2).sum(dim=-1)
        return (self.log_slope[chosen].exp() * ((2 * self.log_radius[chosen]).exp() - distance))[..., None]


def points() -> PointClassifiers:
    """What `learn` takes as an encoder in the paper's room."""
    return PointClassifiers(INPUTS)
