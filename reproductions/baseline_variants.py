"""Baselines as the paper has them, or without one thing that the package's own do: what each of these is worth."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from rsg.baselines import BcFsm, BehaviourCloning, Gail, Irl
from rsg.baselines.bc import BcNetwork
from rsg.baselines.common import Baseline, Batch
from rsg.baselines.encoders import Shape, state_encoder
from rsg.baselines.networks import TaskEncoder


class AnyAction(Baseline):
    """A policy that takes the likeliest action, also one without effect, as the paper's."""

    def choose(self, world: Any, states: NDArray[Any], given: Tensor, rng: np.random.Generator) -> NDArray[Any]:
        """The likeliest actions `[N]`, or mean moves `[N, D]`."""
        del world, states, rng
        return self.actions.best(given)


class BcAnyAction(AnyAction, BehaviourCloning):
    """BC that may take actions without effect."""


class BcFsmAnyAction(AnyAction, BcFsm):
    """BC-FSM that may take actions without effect."""


class LateNetwork(BcNetwork):
    """The paper's network of BC: history and task meet in the last layer, and states are read without the task."""

    def __init__(self, settings: Any, shape: Shape, terms: Sequence[str], outputs: int) -> None:
        nn.Module.__init__(self)
        hidden = settings.hidden
        self.tasks = TaskEncoder(terms, hidden)
        self.states = state_encoder(shape, hidden, 0, settings.layers)
        self.history = nn.LSTM(hidden, hidden, batch_first=True)
        self.head = nn.Linear(hidden + self.tasks.features, outputs + 1)

    def read(self, seen: Any, tasks: Tensor) -> Tensor:
        """Features of N states `[N, hidden]`."""
        del tasks
        return self.states(seen, None)  # type: ignore[no-any-return]

    def decide(self, read: Tensor, history: Tensor, tasks: Tensor) -> tuple[Tensor, Tensor]:
        """Outputs `[N, outputs]` for actions and log-odds `[N]` of stopping."""
        del read
        given = self.head(torch.cat([history, tasks], dim=-1))
        return given[:, :-1], given[:, -1]


class BcTaskAtEnd(BehaviourCloning):
    """BC that reads the task after the state."""

    def build(self) -> nn.Module:
        """The network."""
        return LateNetwork(self.settings, self.shape, self.terms, self.actions.outputs)


class IrlBestAction(Irl):
    """IRL that takes the best action where actions are few, as the paper's."""

    def pick(self, q: Tensor, rng: np.random.Generator) -> NDArray[np.int64]:
        """The best actions `[N]`."""
        del rng
        return q.argmax(dim=1).cpu().numpy()


class IrlUniformMoves(Irl):
    """IRL that tries any move within reach, as the paper's."""

    def moves(self, world: Any, known: NDArray[Any], rng: np.random.Generator, count: int) -> NDArray[Any]:
        """Random moves `[count, D]`."""
        del known
        reach = np.asarray(world.reach)
        return rng.uniform(-reach, reach, size=(count, len(reach)))


class GailNoCloning(Gail):
    """GAIL that stops cloning when PPO begins."""

    def cloned(self, shown: Batch) -> Tensor:
        """Nothing."""
        return shown.owner.new_zeros((), dtype=torch.float32)


VARIANTS: dict[str, type[Baseline]] = {
    "bc-any-action": BcAnyAction,
    "bc-task-at-end": BcTaskAtEnd,
    "bc-fsm-any-action": BcFsmAnyAction,
    "irl-best-action": IrlBestAction,
    "irl-uniform-moves": IrlUniformMoves,
    "gail-no-cloning": GailNoCloning,
}
