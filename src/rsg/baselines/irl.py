"""Max-entropy inverse reinforcement learning."""

from __future__ import annotations

from collections.abc import Sequence
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import logsigmoid, smooth_l1_loss

from rsg.baselines.batches import joined
from rsg.baselines.method import LONGEST_GRADIENT, Baseline, BaselineSettings
from rsg.baselines.networks import Shape, TaskEncoder, state_encoder
from rsg.baselines.surroundings import surroundings, together
from rsg.core.random import stream
from rsg.demos import Demonstration
from rsg.language import Machine
from rsg.subgoals.classifiers import tensors

NOTHING = -1e9


@dataclass(frozen=True)
class IrlSettings(BaselineSettings):
    steps: int = 1500
    batch: int = 32
    patience: int = 100
    tried: int = 10
    discount: float = 0.5
    warm_up: float = 0.0
    level: float = 0.1
    cloning: float = 0.0
    activation: str = "none"
    act: str = "draw"
    small: float = 0.01
    flow: bool = False
    samples: int = 20


def soft_values(reward: Tensor, after: Tensor, beyond: Tensor, fixed: Tensor, discount: float, sweeps: int, flow: bool = True) -> Tensor:
    known, there = after >= 0, after.clamp(min=0)
    values = beyond
    for _ in range(sweeps):
        q = (reward + discount * values)[there].masked_fill(~known, NOTHING)
        values = torch.where(fixed, beyond, q.logsumexp(dim=1) - known.sum(1).clamp(min=1).log())
        if not flow:
            values = values.detach()
    return q


class IrlNetwork(nn.Module):
    def __init__(self, settings: Any, shape: Shape, terms: Sequence[str]) -> None:
        super().__init__()
        hidden = settings.hidden
        self.tasks = TaskEncoder(terms, hidden)
        condition = self.tasks.features
        self.states = state_encoder(shape, hidden, condition, settings.layers)
        self.history = nn.LSTM(hidden, hidden, batch_first=True)
        width = hidden * 2 + condition
        self.reward = nn.Sequential(nn.Linear(width, hidden), nn.ReLU(), nn.Linear(hidden, 1))
        self.q = nn.Sequential(nn.Linear(width, hidden), nn.ReLU(), nn.Linear(hidden, shape.get("actions", 2)))


class Irl(Baseline):
    name = "irl"
    kind = IrlSettings
    module: IrlNetwork

    def build(self) -> nn.Module:
        return IrlNetwork(self.settings, self.shape, self.terms)

    def gradients(self, demos, rng, step):
        figures = self.figures(demos, rng, step)
        figures["loss"].backward()
        nn.utils.clip_grad_norm_(self.module.parameters(), LONGEST_GRADIENT)
        return {key: float(value.detach()) for key, value in figures.items()}

    def held_out_score(self, demos, rng):
        with torch.inference_mode():
            return -float(self.figures(demos, rng, 10**9)["cloned"])

    def figures(self, demos, rng, step):
        s, net = self.settings, self.module
        discrete = "actions" in self.shape
        worlds = [self._world_of(demo) for demo in demos]
        parts = [surroundings(world, demo, s.tried, rng) for world, demo in zip(worlds, demos)]
        seen = tensors(joined([world.encode(part.states[0]) for world, part in zip(worlds, parts)]), s.device)
        ground = together(parts)
        own = torch.as_tensor(np.repeat(np.arange(len(parts)), [len(p.states[0]) for p in parts]))
        owner = torch.as_tensor(np.repeat(np.arange(len(parts)), [len(p.state) for p in parts]))
        state, since, after, path = (torch.as_tensor(x) for x in (ground.state, ground.since, ground.after, ground.path))
        task = net.tasks([demo.task for demo in demos])
        read = net.states(seen, task[own])[state]
        ends = np.cumsum([len(part.path) for part in parts]) - 1
        moving = np.ones(ends[-1] + 1, dtype=bool); moving[ends] = False
        who = owner[path]
        place = since[path]
        longest = int(place.max()) + 1
        padded = read.new_zeros(len(demos), longest, s.hidden).index_put((who, place), read[path])
        memory = net.history(padded)[0]
        memory = torch.cat([memory.new_zeros(len(demos), 1, s.hidden), memory], dim=1)[owner, since]
        features = torch.cat([read, memory, task[owner]], dim=1)
        reward = net.reward(features)[:, 0]
        if s.activation == "logsigmoid":
            reward = logsigmoid(reward)
        given = net.q(features)
        known = after >= 0
        end = torch.zeros(len(after), dtype=torch.bool); end[path[torch.as_tensor(~moving)]] = True
        if not discrete:
            value = given[:, 1]
            given = given[:, 0][after.clamp(min=0)].masked_fill(~known, NOTHING)
            leaf = value.detach()
        else:
            leaf = given.detach().logsumexp(1) - math.log(given.shape[1])
        discount = s.discount if step >= s.warm_up * s.steps else 0.0
        fixed = ~known.any(1) | end
        planned = soft_values(reward, after, torch.where(end, 0.0, leaf), fixed, discount, longest if discount else 1, s.flow)
        known = known & ~end[:, None]
        here, chosen = path[torch.as_tensor(moving)], torch.as_tensor(ground.chosen)
        likelihood = planned[here].log_softmax(1).gather(1, chosen[:, None])[:, 0]
        some = known.any(1)
        target = planned.detach().masked_fill(~known, NOTHING)
        chance = target.softmax(1)
        guess = given.masked_fill(~known, NOTHING)
        kl = (chance * (target.log_softmax(1) - guess.log_softmax(1))).sum(1)[some].mean()
        level = smooth_l1_loss(given[known], planned.detach()[known])
        if not discrete:
            level = level + smooth_l1_loss(value[some], (planned.detach().logsumexp(1) - known.sum(1).clamp(min=1).log())[some])
        cloned = -guess[here].log_softmax(1).gather(1, chosen[:, None]).mean()
        loss = s.small * (reward**2).mean() - likelihood.mean() + kl + s.level * level + s.cloning * cloned
        return {"loss": loss, "likelihood": likelihood.mean(), "kl": kl, "cloned": cloned, "reward": reward.mean(), "level": level}

    def begin(self, world: Any, states: NDArray[Any], machine: Machine) -> Any:
        with torch.inference_mode():
            task = self.module.tasks([str(machine.task)]).expand(len(states), -1)
            none = task.new_zeros(1, len(states), self.settings.hidden)
        return task, (none, none), stream(self.settings.seed, "act")

    def act(self, world, states, memory):
        task, before, rng = memory
        s, net = self.settings, self.module
        with torch.inference_mode():
            read = net.states(self.see(world, states), task)
            after = net.history(read[:, None], before)[1]
            if "actions" in self.shape:
                given = net.q(torch.cat([read, before[0][0], task], 1))
                actions = self.actions.drawn(given, rng) if s.act == "draw" else self.actions.best(given)
            else:
                n, k = len(states), s.samples
                reach = np.asarray(world.reach)
                moves = rng.uniform(-reach, reach, size=(n * k, len(reach)))
                ahead = world.step(np.repeat(states, k, 0), moves)
                free = (ahead != np.repeat(states, k, 0)).any(1).reshape(n, k)
                t = task.repeat_interleave(k, 0)
                parts = [net.states(self.see(world, ahead), t), after[0][0].repeat_interleave(k, 0), t]
                u = net.q(torch.cat(parts, 1))[:, 0].reshape(n, k).masked_fill(~torch.as_tensor(free), NOTHING)
                if s.act == "draw":
                    u = u + torch.as_tensor(rng.gumbel(size=tuple(u.shape))).to(u)
                actions = moves.reshape(n, k, -1)[np.arange(n), u.argmax(1).numpy()]
            return actions, np.zeros(len(states), bool), (task, after, rng)
