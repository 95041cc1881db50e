"""The encoder `point`: a subgoal is true where the robot is near enough to a point that follows from what is there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from rsg.core.errors import RsgError
from rsg.core.random import stream
from rsg.subgoals.classifiers import Classifiers

REACH = 10.0  # places are told in tenths of half a room
RADIUS, SLOPE = 3.0, 1.0  # the first ones
DRAWN = 0.01  # how much the first weights of things differ


class PointClassifiers(Classifiers):
    """Log-odds of G: slope · (radius² - distance²), all three learned; those of I are the contrary.

    The distance is that between the robot and a point: a weighted sum of the places of all things, and a constant; and
    the robot is a point of its body. All in tenths of half the room.

    Args:
        terms: the terms.
        inputs: how many numbers a state shows: x, y, cosine and sine of the robot; x and y of each thing.
        seed: of the first weights.
    """

    weights: Tensor
    constant: Tensor
    body: Tensor
    log_radius: Tensor
    log_slope: Tensor

    def __init__(self, terms: Sequence[str], inputs: int, seed: int = 0) -> None:
        super().__init__((), single=True)
        self.small = True
        self.inputs, self.things = inputs, (inputs - 4) // 2
        shapes = {"weights": (self.things,), "constant": (2,), "body": (2,), "log_radius": (), "log_slope": ()}
        for name, shape in shapes.items():
            self.register_parameter(name, nn.Parameter(torch.zeros(0, *shape)))
        self.grow(terms, seed)

    def grow(self, terms: Sequence[str], seed: int) -> None:
        """A point for each new term, at first in the midst of all things."""
        new = [term for term in dict.fromkeys(terms) if term not in self.terms]
        first = {"weights": 1 / self.things, "log_radius": np.log(RADIUS), "log_slope": np.log(SLOPE)}
        for name, old in list(self.named_parameters()):
            shape = tuple(old.shape[1:])
            spread = DRAWN if name == "weights" else 0.0
            drawn = [first.get(name, 0.0) + spread * stream(seed, "term", t, name).standard_normal(shape) for t in new]
            if new:
                grown = torch.cat([old.detach(), torch.as_tensor(np.stack(drawn)).to(old)])
                self.register_parameter(name, nn.Parameter(grown))
        self.terms += tuple(new)

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
