"""Generative adversarial imitation learning (GAIL): a judge and a policy that wants to be taken for a demonstrator.

The judge learns to tell the histories of the policy's episodes from demonstrated ones, both with their tasks. Its
log-odds are the reward from which the policy learns by proximal policy optimisation (PPO).

Each step begins its own episodes where the demonstrations of its batch begin, with their tasks and as long as they are,
so that all of a run follows from seed, step and weights. They are drawn, in all copies at once, by a copy of the policy
that is renewed every few steps, PPO's epochs; each epoch sees fresh episodes, since the worlds step in batches.
The paper does not say how its policy began. Here it is cloned at first, and a little all along, which is stronger.
"""

from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import mse_loss, softplus

from rsg.baselines.bc import BcNetwork, BcSettings
from rsg.baselines.common import Baseline, Batch, backward
from rsg.baselines.encoders import Shape
from rsg.core.arrays import Array, Bools
from rsg.core.settings import default
from rsg.demos import Demonstration
from rsg.demos.demonstration import by_world
from rsg.language import Machine
from rsg.subgoals.encoders import flat
from rsg.worlds import EitherWorld, is_continuous

MOST = 5.0  # a reward, log-odds of the judge, is never larger: it may be far too sure of itself at first


@dataclass(frozen=True)
class GailSettings(BcSettings):
    """What GAIL adds."""

    GONE: ClassVar = {**BcSettings.GONE, "keep": 1.0, "draw": True}

    steps: int = 600
    patience: int = 100
    cloning: float = default(
        0.5,
        "the share of steps, at the start, in which the policy is cloned from the demonstrations",
        least=0,
        most=1,
    )
    epochs: int = default(4, "steps until the copy of the policy that draws episodes is renewed", least=1)
    clip: float = default(0.2, "how far PPO lets a probability go from that copy's, as a ratio", above=0)
    discount: float = default(0.95, "γ of rewards to come", least=0, most=1)
    trace: float = default(0.95, "λ of generalised advantages", least=0, most=1)
    entropy: float = default(0.01, "the weight of the policy's entropy", least=0)


class GailNetwork(nn.Module):
    """The policy, whose extra number is the value of a history; its copy; and the judge, which has that number only."""

    def __init__(self, settings: GailSettings, shape: Shape, terms: Sequence[str], outputs: int) -> None:
        super().__init__()
        self.policy = BcNetwork(settings, shape, terms, outputs)
        self.judge = BcNetwork(settings, shape, terms, 0)
        self.copy = deepcopy(self.policy).requires_grad_(False)

    def begin(self, machine: Machine, count: int) -> tuple[Tensor, Tensor]:
        """What the policy begins with."""
        return self.policy.begin(machine, count)


def telling_apart(shown: Tensor, made: Tensor) -> Tensor:
    """The judge's loss for log-odds of histories that were shown and of such that the policy made.

    It is least where the log-odds are the log ratio of the two densities.
    """
    return softplus(-shown).mean() + softplus(made).mean()


def advantages(rewards: Tensor, values: Tensor, moving: Tensor, discount: float, trace: float) -> Tensor:
    """Generalised advantages `[B, T]` of actions, from rewards `[B, T]` and values `[B, T]` of where they begin.

    `moving` `[B, T]` says where an action was taken; nothing comes after the last.
    """
    out = torch.zeros_like(rewards)
    ahead, value = torch.zeros(len(rewards)), torch.zeros(len(rewards))
    for t in reversed(range(rewards.shape[1])):
        surprise = rewards[:, t] + discount * value - values[:, t]
        ahead = torch.where(moving[:, t], surprise + discount * trace * ahead, 0.0)
        value = torch.where(moving[:, t], values[:, t], 0.0)
        out[:, t] = ahead
    return out


def proximal(now: Tensor, then: Tensor, gain: Tensor, clip: float) -> Tensor:
    """PPO's loss, from the log-probabilities of actions now and when they were drawn, and their advantages."""
    ratio = (now - then).exp()
    return -torch.minimum(ratio * gain, ratio.clamp(1 - clip, 1 + clip) * gain).mean()


class Gail(Baseline):
    """GAIL as a method and a policy."""

    name = "gail"
    kind = GailSettings
    network = GailNetwork
    module: GailNetwork

    def gradients(self, demos: Sequence[Demonstration], rng: np.random.Generator, step: int) -> Mapping[str, float]:
        """Of cloning at first, then of the judge and of PPO."""
        shown, first = self.batch(demos), int(self.settings.cloning * self.settings.steps)
        if step < first:
            figures = {"loss": -self.likelihood(replace(shown, seen=self.blurred(shown.seen, rng)))}
        else:
            if (step - first) % self.settings.epochs == 0:
                self.module.copy.load_state_dict(self.module.policy.state_dict())
            figures = self.adversarial(shown, *self.episodes(demos, self.module.copy, rng))
        return backward(figures, self.module.policy, self.module.judge)

    def score(self, batch: Batch, texts: Sequence[str]) -> Tensor:
        """`[B]` the log-probability of each demonstration's actions, for a task."""
        logs = self.log_probabilities(batch, texts)
        return batch.per_demonstration(logs.new_zeros(len(batch.owner)).masked_scatter(batch.moving, logs))

    def likelihood(self, batch: Batch) -> Tensor:
        """The mean log-probability of demonstrated actions."""
        return self.log_probabilities(batch, batch.texts).mean()

    def log_probabilities(self, batch: Batch, texts: Sequence[str]) -> Tensor:
        """`[T]` of all actions of a batch, with a task for each demonstration."""
        given, _ = self.module.policy(batch, texts)
        return self.actions.log_probability(given[batch.moving], batch.actions)

    def adversarial(self, shown: Batch, made: Batch, then: Tensor) -> dict[str, Tensor]:
        """The losses of judge, policy and values; `then` are the log-probabilities of the actions when drawn."""
        s, told, taken = self.settings, self.judged(shown), self.judged(made)
        given, values = self.module.policy(made, made.texts, apart=True)
        given, values = given[made.moving], values[made.moving]
        gain = self.gains(made, self.rewards(made, taken.detach()), values.detach())
        now = self.actions.log_probability(given, made.actions)
        figures = {
            "judge": telling_apart(told, taken),
            "policy": proximal(now, then, (gain - gain.mean()) / (gain.std() + 1e-6), s.clip),
            "value": mse_loss(values, gain + values.detach()),
            "entropy": self.actions.entropy(given).mean(),
            "told_apart": ((told > 0).float().mean() + (taken < 0).float().mean()) / 2,
        }
        loss = figures["judge"] + figures["policy"] + 0.5 * figures["value"] - s.entropy * figures["entropy"]
        return {"loss": loss - self.cloned(shown), **figures}

    def cloned(self, shown: Batch) -> Tensor:
        """What cloning adds beside PPO: the policy goes on being likened to the demonstrations."""
        return self.likelihood(shown)

    def gains(self, made: Batch, rewards: Tensor, values: Tensor) -> Tensor:
        """`[T]` the advantages of all actions of a batch, from rewards and values `[T]`."""

        def table(numbers: Tensor) -> Tensor:
            spread = torch.zeros_like(made.owner, dtype=numbers.dtype).masked_scatter(made.moving, numbers)
            return made.padded(spread[:, None])[..., 0]

        moving = table(torch.ones_like(values)) > 0
        gain = advantages(table(rewards), table(values), moving, self.settings.discount, self.settings.trace)
        return made.unpadded(gain[..., None])[made.moving, 0]

    def judged(self, batch: Batch) -> Tensor:
        """The judge's log-odds of having been shown, of the history after each action."""
        odds: Tensor = self.module.judge(batch, batch.texts)[1]
        return odds[batch.place > 0]

    def rewards(self, made: Batch, odds: Tensor) -> Tensor:
        """Of the actions of episodes, from the judge's log-odds of what they led to."""
        del made
        return odds.clamp(-MOST, MOST)

    def episodes(
        self, demos: Sequence[Demonstration], policy: BcNetwork, rng: np.random.Generator
    ) -> tuple[Batch, Tensor]:
        """Episodes as long as the demonstrations, from where they begin, and the log-probabilities of actions."""
        groups = by_world((self.world_of(demo), number) for number, demo in enumerate(demos))
        states: list[list[Any]] = [[demo.states[0]] for demo in demos]
        taken: list[list[Any]] = [[] for _ in demos]
        chances: list[list[Tensor]] = [[] for _ in demos]
        with torch.no_grad():
            tasks = policy.tasks([demo.task for demo in demos])
            memory = tasks.new_zeros(2, 1, len(demos), self.settings.hidden)
            for time, (world, numbers) in product(range(max(map(len, demos))), groups):
                rows = [number for number in numbers if len(demos[number]) > time]
                if not rows:
                    continue
                here = np.stack([states[i][-1] for i in rows])
                seen = self.see(world, here)
                given, _, memory[:, :, rows] = policy.step(seen, tasks[rows], memory[:, :, rows])
                actions = self.actions.drawn(given, rng)
                logs = self.actions.log_probability(given, self.actions.read(actions).to(given.device))
                for i, after, action, log in zip(rows, world.step(here, actions), actions, logs, strict=True):
                    states[i].append(after)
                    taken[i].append(action)
                    chances[i].append(log)
        rest = zip(demos, states, taken, strict=True)
        made = [replace(demo, states=np.stack(some), actions=np.stack(did)) for demo, some, did in rest]
        return self.batch(made), torch.stack([log for logs in chances for log in logs])

    def held_out_score(self, demos: Sequence[Demonstration], rng: np.random.Generator) -> float:
        """Minus how far from the demonstration's, as it is seen, the last state of an episode is."""
        made, _ = self.episodes(demos, self.module.policy, rng)
        shown = self.batch(demos)
        away = flat(shown.seen)[~shown.moving] - flat(made.seen)[~made.moving]
        return -float(away.abs().sum(dim=1).clamp(max=MOST).mean())

    def act(self, world: EitherWorld, states: Array, memory: Any) -> tuple[Array, Bools, Any]:
        """An action drawn from the policy. It never stops by itself."""
        task, before, rng = memory
        with torch.inference_mode():
            given, _, after = self.module.policy.step(self.see(world, states), task, before)
        if not is_continuous(world):
            given = self.having_effect(world, states, given)
        return self.actions.drawn(given, rng), np.zeros(len(states), dtype=bool), (task, after, rng)
