"""Behaviour cloning (BC): an LSTM over the states so far and the task's encoding give the next action, or the stop.

The paper joins task and history in one last linear layer, in which neither can change what the other means. Here each
state is read with the task in mind.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import logsigmoid

from rsg.baselines.batches import Batch
from rsg.baselines.encoders import Shape, state_encoder
from rsg.baselines.method import Baseline, BaselineSettings
from rsg.baselines.networks import TaskEncoder, at_first
from rsg.language import Machine


@dataclass(frozen=True)
class BcSettings(BaselineSettings):
    """BC adds nothing."""

    GONE: ClassVar = {**BaselineSettings.GONE, "task_at": "state"}


class BcNetwork(nn.Module):
    """Gives, for each state of a history, what `Actions` reads, and the log-odds of stopping."""

    def __init__(self, settings: BcSettings, shape: Shape, terms: Sequence[str], outputs: int) -> None:
        super().__init__()
        hidden = settings.hidden
        self.tasks = TaskEncoder(terms, hidden)
        condition = self.tasks.features
        self.states = state_encoder(shape, hidden, condition, settings.layers)
        self.history = nn.LSTM(hidden, hidden, batch_first=True)
        self.head = nn.Linear(2 * hidden + condition, outputs + 1)

    def read(self, seen: Any, tasks: Tensor) -> Tensor:
        """Features of N states `[N, hidden]`, given the task of each `[N, condition]`."""
        return self.states(seen, tasks)  # type: ignore[no-any-return]

    def decide(self, read: Tensor, history: Tensor, tasks: Tensor) -> tuple[Tensor, Tensor]:
        """Outputs `[N, outputs]` for actions and log-odds `[N]` of stopping."""
        given = self.head(torch.cat([read, history, tasks], dim=-1))
        return given[:, :-1], given[:, -1]


class BehaviourCloning(Baseline):
    """BC as a method, a policy, and a judge of how well a task explains a trajectory."""

    name = "bc"
    kind = BcSettings
    module: BcNetwork

    def build(self) -> nn.Module:
        """The network."""
        return BcNetwork(self.settings, self.shape, self.terms, self.actions.outputs)

    def scores(self, batch: Batch, candidates: Sequence[Sequence[str]]) -> Tensor:
        """`[B, tasks]` how well several tasks explain each demonstration."""
        return torch.stack([self._score(batch, texts) for texts in zip(*candidates, strict=True)], dim=1)

    def _score(self, batch: Batch, texts: Sequence[str]) -> Tensor:
        """`[B]` the log-probability of each demonstration's actions, and of stopping at its end only, for a task."""
        tasks = self.module.tasks(texts)[batch.owner]
        read = self.module.read(batch.seen, tasks)
        history = batch.unpadded(self.module.history(batch.padded(read))[0])
        given, odds = self.module.decide(read, history, tasks)
        steps = logsigmoid(torch.where(batch.moving, -odds, odds))
        acts = self.actions.log_probability(given[batch.moving], batch.actions)
        return batch.per_demonstration(steps.masked_scatter(batch.moving, steps[batch.moving] + acts))

    def begin(self, world: Any, states: NDArray[Any], machine: Machine) -> Any:
        """The task, and an LSTM that has seen nothing."""
        del world
        task, nothing = at_first(self.module.tasks, machine, len(states))
        return task, tuple(nothing), self.chance()

    def act(self, world: Any, states: NDArray[Any], memory: Any) -> tuple[NDArray[Any], NDArray[np.bool_], Any]:
        """The most likely action or the mean move; where actions are discrete it may stop, as in the paper."""
        task, before, rng = memory
        with torch.inference_mode():
            read = self.module.read(self.see(world, states), task)
            history, after = self.module.history(read[:, None], before)
            given, odds = self.module.decide(read, history[:, 0], task)
            stops = self.actions.stops(given, odds) if self.actions.discrete else np.zeros(len(states), dtype=bool)
            return self.choose(world, states, given, rng), stops, (task, after, rng)
