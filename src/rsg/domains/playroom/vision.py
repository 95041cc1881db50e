"""What baselines see of Playroom."""

import torch
from torch import Tensor, nn

from rsg.domain import Network
from rsg.subgoals.encoders import dense

ROBOT, NEAR = 4, 5.0  # numbers that tell the robot's pose; how much larger distances to it are than places


class PlaceEncoder(nn.Module):
    """What Playroom shows, read as a set: each effector through small layers, then the maximum over effectors.

    The numbers before the places of so many effectors are those of the robot. condition: how many features of the task
    each effector is seen with; 0: none. layers: per effector.
    """

    def __init__(self, effectors: int, hidden: int, condition: int = 0, layers: int = 2) -> None:
        super().__init__()
        self.names = nn.Parameter(torch.randn(effectors, hidden))
        self.places = nn.Linear(4, hidden, bias=False)
        self.context = nn.Linear(ROBOT + condition, hidden)
        self.more = dense(hidden, hidden, layers - 1)
        self.out = dense(hidden + ROBOT + condition, hidden, 2)

    def forward(self, seen: Tensor, condition: Tensor | None = None) -> Tensor:
        """Features `[N, hidden]`."""
        robot, places = seen[:, :ROBOT], seen[:, ROBOT:].reshape(len(seen), -1, 2)
        context = robot if condition is None else torch.cat([robot, condition], dim=-1)
        away = NEAR * (places - robot[:, None, :2])
        things = self.names + self.places(torch.cat([places, away], dim=-1)) + self.context(context)[:, None]
        pooled = self.more(torch.relu(things)).amax(dim=1)
        return self.out(torch.cat([pooled, context], dim=-1))  # type: ignore[no-any-return]


VISIONS = {
    "effectors": Network(
        PlaceEncoder,
        lambda seen, world: {"inputs": int(seen.shape[1]), "effectors": len(world.layout.effectors)},
    )
}
