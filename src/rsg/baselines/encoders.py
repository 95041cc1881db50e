"""What a world shows as vectors: a network for plain numbers, and how those of domains are found.

Each may read a state with a condition in mind, the features of a task or of a subgoal.
"""

from typing import Any

import torch
from torch import Tensor, nn

from rsg.core.arrays import Array
from rsg.core.errors import RsgError
from rsg.domain import Network, offered
from rsg.subgoals.encoders import SeenTensors, dense, flat
from rsg.worlds import EitherWorld

Shape = dict[str, Any]
"""What a network must know of a world: what it shows (`vision`, and what that needs), what is done (`actions`,
`reach`).
"""


class NumberEncoder(nn.Module):
    """Layers over all the numbers that a world shows.

    condition: how many features of the task are read with them; 0: none.
    """

    def __init__(self, inputs: int, hidden: int, condition: int = 0, layers: int = 2) -> None:
        super().__init__()
        self.layers = dense(inputs + condition, hidden, layers)

    def forward(self, seen: SeenTensors, condition: Tensor | None = None) -> Tensor:
        """Features `[N, hidden]`."""
        numbers = flat(seen)
        return self.layers(numbers if condition is None else torch.cat([numbers, condition], dim=-1))  # type: ignore[no-any-return]


NUMBERS = "inputs"
VISION = Network(NumberEncoder, lambda seen, _: {NUMBERS: int(flat(seen).shape[1])})
OLD = ("tile", "types", "effectors", NUMBERS)
"""What runs tell that do not name their vision; the first counts."""


def shape_of(world: EitherWorld, states: Array, observation: str = "state") -> Shape:
    """The shape of a world with such states, seen as its state or as an `image`."""
    visions = getattr(world, "visions", {})
    if observation not in ("state", *visions):
        raise RsgError(f"this world is not read as {observation}; use observation=state")
    name = visions.get(observation, NUMBERS)
    shown = {"vision": name, **_vision(name).shape(world.encode(states[:1]), world)}
    if hasattr(world, "actions"):
        return {**shown, "actions": len(world.actions)}
    return {**shown, "reach": [float(most) for most in world.reach]}


def _named(shape: Shape) -> str:
    return str(shape.get("vision") or next(key for key in OLD if key in shape))


def _vision(name: str) -> Network:
    found: Network | None = VISION if name == NUMBERS else offered("visions", name)
    if found is None:
        raise RsgError(f"no domain that is installed here reads states as '{name}'")
    return found


def look(world: EitherWorld, states: Array, shape: Shape) -> Any:
    """What a network of that shape sees of states: what the world shows, unless it looks in a way of its own."""
    own = _vision(_named(shape)).look
    return own(world, states, shape) if own else world.encode(states)


def state_encoder(shape: Shape, hidden: int, condition: int = 0, layers: int = 2) -> nn.Module:
    """The encoder for what a world of that shape shows."""
    name = _named(shape)
    made: nn.Module = _vision(name).build(shape[name], hidden, condition, layers)
    return made
