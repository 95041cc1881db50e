"""The encoder `relative`, for Playroom: how the robot sees each thing."""

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import softsign

from rsg.core.arrays import Array, Floats
from rsg.core.compiled import fast, inlined
from rsg.core.errors import RsgError
from rsg.core.random import stream
from rsg.domain import Network
from rsg.domains.playroom.world import PlayroomWorld
from rsg.subgoals.encoders import EncodedClassifiers
from rsg.training.loop import one_thread
from rsg.worlds import EitherWorld

Small = NDArray[np.float32]
UNIT = 0.1  # of half the room: places that are nearer than this are told exactly


class Relative(nn.Module):
    """Each thing as the robot sees it, each through the same two layers.

    A thing's place is told from the robot, as it stands and is turned. Far away it is told less exactly: as asinh of
    the distance in tenths of half the room, so that near things are told best; which of them matter, and where, is
    learned. The features of the things lie side by side, so that a subgoal can be about one of them.

    inputs: how many numbers a state shows: x, y, cosine and sine of the robot; x and y of each thing. hidden: the width
    of the first layer; the second is half as wide.
    """

    def __init__(self, inputs: int, hidden: int = 32, seed: int = 0) -> None:
        super().__init__()
        half, rng = max(1, hidden // 2), stream(seed, "relative")
        self.inputs, self.things = inputs, (inputs - 4) // 2
        self.features = self.things * half

        def drawn(spread: float, *shape: int) -> nn.Parameter:
            return nn.Parameter(torch.as_tensor(spread * rng.standard_normal(shape), dtype=torch.float32))

        self.first, self.first_bias = drawn(1.0, 4, hidden), drawn(1.0, hidden)
        self.second, self.second_bias = drawn(hidden**-0.5, hidden, half), drawn(0.1, half)

    def check(self, inputs: int) -> None:
        """An error if a world shows another number of things."""
        if inputs != self.inputs:
            things = (inputs - 4) // 2
            raise RsgError(f"these subgoals learned in a room with {self.things} effectors, this one has {things}")

    def forward(self, seen: Tensor) -> Tensor:
        """Features `[N, things · hidden / 2]`."""
        numbers = torch.as_tensor(seen).to(next(self.parameters()))
        self.check(numbers.shape[1])
        x, y, cos, sin = (column[:, None] for column in numbers[:, :4].T)
        right, up = numbers[:, 4::2] - x, numbers[:, 5::2] - y
        ahead, beside = cos * right + sin * up, cos * up - sin * right
        angle = [part.expand_as(right) for part in (cos, sin)]
        places = [torch.asinh(part / UNIT) for part in (ahead, beside)]
        rows = torch.stack([*places, *angle], dim=-1)  # [N, things, 4]
        layer = softsign(rows @ self.first + self.first_bias)
        return softsign(layer @ self.second + self.second_bias).flatten(1)


class RelativeClassifiers(EncodedClassifiers):
    """The encoder `relative` with its linear layers; on a CPU most of it is compiled for those who only ask."""

    encoder: Relative

    def __init__(self, inputs: int, hidden: int = 32, single: bool = False, seed: int = 0) -> None:
        encoder = Relative(inputs, hidden, seed)
        super().__init__(encoder, encoder.features, single)
        self.small = True

    def evaluate(self, world: EitherWorld, states: Array, numbers: Sequence[int]) -> Floats:
        """Log-odds `[N, terms, 2]` of states, without a gradient."""
        if self.heads.device.type != "cpu" or self.heads.dtype != torch.float32:
            return super().evaluate(world, states, numbers)
        seen, seer, chosen = np.asarray(world.encode(states)), self.encoder, list(numbers)
        seer.check(seen.shape[1])
        with torch.inference_mode(), one_thread(self.small):
            layer = first_layer(np.ascontiguousarray(seen, dtype=np.float32), *_arrays(seer.first, seer.first_bias))
            sums = (torch.from_numpy(layer) @ seer.second).numpy()
            odds = summed(sums, *_arrays(seer.second_bias, self.heads[chosen], self.offsets[chosen]))
        return np.concatenate([odds, -odds], axis=-1) if self.single else odds


def _arrays(*tensors: Tensor) -> list[Small]:
    return [np.ascontiguousarray(one.detach().numpy()) for one in tensors]


@fast
def first_layer(seen: Small, weights: Small, bias: Small) -> Small:
    """The first layer for each thing of each state, `[N · things, hidden]`."""
    things, hidden = (seen.shape[1] - 4) // 2, len(bias)
    layer = np.empty((len(seen) * things, hidden), dtype=np.float32)
    turned = np.empty(hidden, dtype=np.float32)
    for i in range(len(seen)):
        cos, sin = seen[i, 2], seen[i, 3]
        for h in range(hidden):
            turned[h] = bias[h] + cos * weights[2, h] + sin * weights[3, h]
        for thing in range(things):
            right, up = seen[i, 4 + 2 * thing] - seen[i, 0], seen[i, 5 + 2 * thing] - seen[i, 1]
            ahead, beside = asinh((cos * right + sin * up) / UNIT), asinh((cos * up - sin * right) / UNIT)
            row = i * things + thing
            for h in range(hidden):
                x = turned[h] + ahead * weights[0, h] + beside * weights[1, h]
                layer[row, h] = x / (np.float32(1) + abs(x))
    return layer


@inlined
def asinh(x: float) -> np.float32:
    """As numpy's, in half the digits."""
    return np.float32(np.copysign(np.log(abs(x) + np.sqrt(x * x + 1)), x))


@fast
def summed(sums: Small, bias: Small, heads: Small, offsets: Small) -> Floats:
    """Log-odds `[N, terms, networks]` from the sums of the second layer `[N · things, features]`."""
    terms, networks = offsets.shape
    features, things = len(bias), heads.shape[2] // len(bias)
    odds = np.empty((len(sums) // things, terms, networks))
    feature = np.empty(features, dtype=np.float32)
    for i in range(len(odds)):
        odds[i] = offsets
        for thing in range(things):
            for f in range(features):
                x = sums[i * things + thing, f] + bias[f]
                feature[f] = x / (np.float32(1) + abs(x))
            for term in range(terms):
                for network in range(networks):
                    total = np.float32(0)
                    for f in range(features):
                        total += feature[f] * heads[term, network, thing * features + f]
                    odds[i, term, network] += total
    return odds


def _room(seen: Array, world: EitherWorld) -> dict[str, int]:
    if not isinstance(world, PlayroomWorld):
        raise RsgError("the encoder 'relative' sees a robot among things, as in Playroom; use --encoder seen")
    return {"inputs": int(seen.shape[1])}


NETWORKS = {
    "relative": Network(
        lambda how, shape: RelativeClassifiers(shape["inputs"], how.hidden, how.single, how.seed),
        _room,
        {
            **{"depth": 2, "held_out": 64, "check_every": 50, "steps": 250, "curriculum": 100},
            **{"rate": 0.01, "rate_end": 1e-3, "hidden": 64},
        },
    )
}
"""The networks for subgoals in Playroom, by name."""
