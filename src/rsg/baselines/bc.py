"""Behaviour cloning (BC): an LSTM over the states so far and the task's encoding give the next action, or the stop.

The paper joins task and history in one last linear layer, in which neither can change what the other means. Here each
state is read with the task in mind.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import logsigmoid

from rsg.baselines.common import Baseline, BaselineSettings, Batch
from rsg.baselines.encoders import Shape
from rsg.baselines.networks import History
from rsg.core.arrays import Array, Bools
from rsg.subgoals.encoders import SeenTensors
from rsg.worlds import EitherWorld


@dataclass(frozen=True)
class BcSettings(BaselineSettings):
    """BC adds nothing."""

    GONE: ClassVar = {**BaselineSettings.GONE, "task_at": "state"}


class BcNetwork(History):
    """Gives, for each state of a history, what `Actions` reads, and the log-odds of stopping."""

    def __init__(self, settings: BcSettings, shape: Shape, terms: Sequence[str], outputs: int) -> None:
        super().__init__(shape, terms, settings.hidden, settings.layers)
        self.head = nn.Linear(2 * settings.hidden + self.tasks.features, outputs + 1)

    def read(self, seen: SeenTensors, tasks: Tensor) -> Tensor:
        """Features of N states `[N, hidden]`, given the task of each `[N, condition]`."""
        return self.states(seen, tasks)  # type: ignore[no-any-return]

    def decide(self, read: Tensor, history: Tensor, tasks: Tensor) -> tuple[Tensor, Tensor]:
        """Outputs `[N, outputs]` for actions and log-odds `[N]` of stopping."""
        given = self.head(torch.cat([read, history, tasks], dim=-1))
        return given[:, :-1], given[:, -1]

    def forward(self, batch: Batch, texts: Sequence[str], apart: bool = False) -> tuple[Tensor, Tensor]:
        """The same for all states of a batch, with a task for each demonstration.

        With `apart` the log-odds train the last layer only.
        """
        tasks = self.tasks(texts)[batch.owner]
        read = self.read(batch.seen, tasks)
        history = batch.unpadded(self.history(batch.padded(read))[0])
        given, odds = self.decide(read, history, tasks)
        return given, self.decide(read.detach(), history.detach(), tasks.detach())[1] if apart else odds

    def step(self, seen: SeenTensors, tasks: Tensor, memory: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """The same for one more state of N histories, with the memory `[2, 1, N, hidden]` before and after it."""
        read = self.read(seen, tasks)
        history, after = self.history(read[:, None], (memory[0], memory[1]))
        return *self.decide(read, history[:, 0], tasks), torch.stack(after)


class BehaviourCloning(Baseline):
    """BC as a method, a policy, and a judge of how well a task explains a trajectory."""

    name = "bc"
    kind = BcSettings
    network = BcNetwork
    module: BcNetwork

    def score(self, batch: Batch, texts: Sequence[str]) -> Tensor:
        """`[B]` the log-probability of each demonstration's actions, and of stopping at its end only, for a task."""
        given, odds = self.module(batch, texts)
        steps = logsigmoid(torch.where(batch.moving, -odds, odds))
        acts = self.actions.log_probability(given[batch.moving], batch.actions)
        return batch.per_demonstration(steps.masked_scatter(batch.moving, steps[batch.moving] + acts))

    def act(self, world: EitherWorld, states: Array, memory: Any) -> tuple[Array, Bools, Any]:
        """The most likely action or the mean move; where actions are discrete it may stop, as in the paper."""
        task, before, rng = memory
        with torch.inference_mode():
            given, odds, after = self.module.step(self.see(world, states), task, before)
            stops = self.actions.stops(given, odds) if self.actions.discrete else np.zeros(len(states), dtype=bool)
            return self.choose(world, states, given, rng), stops, (task, after, rng)
