"""Inverse reinforcement learning (IRL): a reward under which the demonstrator is a max-entropy planner, and its Q.

Reward and Q see the task, the states so far (an LSTM), and where a choice leads. As in the paper, values are iterated
on the states of demonstrations, and the Q network stands in for all others. Three things differ:

- The world can be asked what every action leads to, so each state of a demonstration is compared with all that could
  have been done there, in place of one explored trajectory and a replay of earlier ones. In a continuous world these
  are moves that demonstrators made elsewhere, drawn anew in each step: from uniform ones a move of a demonstrator could
  be told by its length alone.
- The gradient of a choice goes to the rewards of the choices at that state; the values behind them are held fixed.
  Since only the demonstrated choice has a known future, its rewards would else grow without end.
- Where actions are few they are drawn from the max-entropy policy, softmax(Q); the paper takes the best one.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import smooth_l1_loss

from rsg.baselines.common import Baseline, BaselineSettings, backward, stacked
from rsg.baselines.encoders import Shape, look
from rsg.baselines.networks import History
from rsg.core.arrays import Array, Bools, Floats, Ints
from rsg.core.errors import DemonstrationError, RsgError
from rsg.core.settings import default
from rsg.demos import Demonstration, actions_of
from rsg.subgoals.classifiers import mapped, tensors
from rsg.worlds import EitherWorld, is_continuous, successors_of

_Numbers = TypeVar("_Numbers", Array, Tensor)
KEPT = 1000  # moves of the last batch that are remembered, some of them more than once
NEVER = -1e9  # the Q of what is no choice


@dataclass(frozen=True)
class IrlSettings(BaselineSettings):
    """What IRL adds."""

    GONE: ClassVar = {**BaselineSettings.GONE, "moves": "demonstrated", "flow": False}

    steps: int = 800
    batch: int = 32
    patience: int = 100
    discount: float = default(0.5, "γ, of values to come", least=0, most=1)
    warm_up: float = default(0.0, "the share of steps, at the start, in which γ is 0", least=0, most=1)
    tried: int = default(
        4, "random moves that each move of a demonstration is compared with, in a continuous world", least=1
    )
    sampled: int = default(20, "random moves that the policy chooses from, in a continuous world", least=1)
    small: float = default(0.01, "what large rewards cost, which settles their level")
    level: float = default(0.1, "the weight of the level of Q beside the policy that follows from it")


class Histories(NamedTuple, Generic[_Numbers]):
    """S nodes with N distinct states around B demonstrations of T actions: what else could have been done.

    A node is a history: a demonstration up to one of its states, or up to there and then one other choice.
    """

    seen: Any  # what the worlds show of the N states
    whose: _Numbers  # `[N]` the demonstration of each
    state: _Numbers  # `[S]` the state of each node
    owner: _Numbers  # `[S]` its demonstration
    after: _Numbers  # `[S, A]` the node that each choice leads to, -1 for none; nodes off the path have no choices
    since: _Numbers  # `[S]` how many states of the demonstration come before the node's own in its history
    path: _Numbers  # `[T + B]` the nodes of the demonstrations
    chosen: _Numbers  # `[T + B]` the choice there, -1 at the last one


Draw = Callable[[int], Array]
"""Gives that many random moves `[N, D]` of a continuous world."""


def surroundings(
    world: EitherWorld, demo: Demonstration, tried: int, draw: Draw, see: Callable[..., Any]
) -> Histories[Array]:
    """The nodes of a demonstration, and around each of them the other choices, as arrays; `see` is shown the states.

    Choices are all actions, or in a continuous world `tried` moves that are drawn; a move that is blocked is none.
    """
    discrete, count = not is_continuous(world), len(demo.states)
    choices = 1 + tried if is_continuous(world) else len(world.actions)
    begin = np.repeat(demo.states, choices, axis=0)
    try:
        world.step(demo.states[:-1], actions_of(demo))  # says so if they do not fit
        if is_continuous(world):
            ends = world.step(begin, draw(len(begin)))
        else:
            ends = np.concatenate(successors_of(world, demo.states))
    except RsgError as error:
        raise DemonstrationError(str(error), demo) from None
    possible = np.full((count, choices), discrete)
    if not discrete:  # the first choice is left to the demonstration
        possible[:, 1:] = (ends != begin).any(axis=1).reshape(count, choices)[:, 1:]
    off_path = count + np.arange(count * choices).reshape(count, choices)
    after = np.full((count * (1 + choices), choices), -1)
    after[:count] = np.where(possible, off_path, -1)
    path, chosen = np.arange(count), np.full(count, -1)
    chosen[:-1] = actions_of(demo) if discrete else 0
    after[path[:-1], chosen[:-1]] = path[1:]
    since = np.concatenate([path, np.repeat(path + 1, choices)])
    states, state = np.unique(np.concatenate([demo.states, ends]), axis=0, return_inverse=True)
    whose, owner = np.zeros(len(states), dtype=np.int64), np.zeros(len(after), dtype=np.int64)
    return Histories(see(states), whose, state.reshape(-1), owner, after, since, path, chosen)


def joined(parts: Sequence[Histories[Array]], device: str = "cpu") -> Histories[Tensor]:
    """The nodes of several demonstrations one after the other, as tensors."""
    moved, states, nodes = [], 0, 0
    for number, part in enumerate(parts):
        after = np.where(part.after >= 0, part.after + nodes, -1)
        numbers = {"whose": part.whose + number, "owner": part.owner + number, "path": part.path + nodes}
        moved.append(part._replace(state=part.state + states, after=after, **numbers))
        states, nodes = states + len(part.whose), nodes + len(part.state)
    seen = mapped(stacked, *(part.seen for part in parts))
    rest = zip(*(part[1:] for part in moved), strict=True)
    whole: Histories[Tensor] = tensors(Histories(seen, *map(np.concatenate, rest)), device)
    return whole


def soft_values(reward: Tensor, after: Tensor, beyond: Tensor, fixed: Tensor, discount: float, sweeps: int) -> Tensor:
    """V `[S]` of the max-entropy policy by soft value iteration: Q(s, a) = r(s') + γ V(s'), V = log mean exp Q.

    The mean in place of the sum is a lower reward by the log of the number of choices. So with γ = 1 and A choices
    everywhere, `V + n log A` after n sweeps is the log partition function of the paths of n steps.

    reward `[S]` is that of coming to each node, after `[S, A]` where choices lead, -1 for none; values begin with
    `beyond` `[S]`, and stay so where `fixed` `[S]`.
    """
    values, choices = beyond, (after >= 0).sum(dim=1).clamp(min=1).log()
    for _ in range(sweeps):
        q = by_choice(reward + discount * values, after)
        values = torch.where(fixed, beyond, q.logsumexp(dim=1) - choices)
    return values


def by_choice(worth: Tensor, after: Tensor) -> Tensor:
    """Q `[S, A]` from what it is worth `[S]` to come to each node; `after` `[S, A]` says where choices lead."""
    return worth[after.clamp(min=0)].masked_fill(after < 0, NEVER)


class IrlNetwork(History):
    """Reward, and Q of each action; in a continuous world Q of the move that led here, and the value.

    moves: `[K, D]` moves of demonstrations, in a continuous world.
    """

    moves: Tensor

    def __init__(self, settings: IrlSettings, shape: Shape, terms: Sequence[str]) -> None:
        super().__init__(shape, terms, settings.hidden, settings.layers)
        inputs = 2 * settings.hidden + self.tasks.features
        self.reward = _two_layers(inputs, settings.hidden, 1)
        self.q = _two_layers(inputs, settings.hidden, shape.get("actions", 2))
        if "reach" in shape:
            self.register_buffer("moves", torch.zeros(KEPT, len(shape["reach"]), dtype=torch.float64))

    def features(self, nodes: Histories[Tensor], texts: Sequence[str]) -> Tensor:
        """What is known of each node `[S, features]`: its state, the memory of those before, the task."""
        tasks = self.tasks(texts)
        read = self.states(nodes.seen, tasks[nodes.whose])[nodes.state]
        who, place = nodes.owner[nodes.path], nodes.since[nodes.path]
        table = read.new_zeros(len(texts), int(place.max()) + 1, read.shape[1])
        memory = self.history(table.index_put((who, place), read[nodes.path]))[0]
        memory = torch.cat([torch.zeros_like(memory[:, :1]), memory], dim=1)  # before the first state there is none
        return torch.cat([read, memory[nodes.owner, nodes.since], tasks[nodes.owner]], dim=1)


def _two_layers(inputs: int, hidden: int, outputs: int) -> nn.Sequential:
    return nn.Sequential(nn.Linear(inputs, hidden), nn.ReLU(), nn.Linear(hidden, outputs))


class Irl(Baseline):
    """Max-entropy IRL as a method and a policy."""

    name = "irl"
    kind = IrlSettings
    module: IrlNetwork

    def build(self) -> nn.Module:
        """The networks."""
        return IrlNetwork(self.settings, self.shape, self.terms)

    def gradients(self, demos: Sequence[Demonstration], rng: np.random.Generator, step: int) -> Mapping[str, float]:
        """Of the likelihood of demonstrations under the planner, and of Q's distance from the plan."""
        if not self.actions.discrete:
            moves = np.concatenate([actions_of(one) for one in demos])
            self.module.moves.copy_(torch.as_tensor(rng.choice(moves, KEPT)))
        moves = self._kept()
        warm = step < self.settings.warm_up * self.settings.steps
        figures = self.figures(demos, rng, 0.0 if warm else self.settings.discount, moves, blurred=True)
        return backward(figures, self.module)

    def held_out_score(self, demos: Sequence[Demonstration], rng: np.random.Generator) -> float:
        """The log-probability of demonstrated choices under softmax(Q)."""
        moves = np.concatenate([actions_of(demo) for demo in demos])  # not those of a batch: scores are compared
        with torch.inference_mode():
            return float(self.figures(demos, rng, self.settings.discount, moves)["likelihood_q"])

    def figures(
        self,
        demos: Sequence[Demonstration],
        rng: np.random.Generator,
        discount: float,
        moves: Array,
        blurred: bool = False,
    ) -> dict[str, Tensor]:
        """Losses of a batch, whose choices are compared with all others, or with some of the moves `[K, D]`."""
        s = self.settings
        nodes = joined([self._around(self.world_of(demo), demo, moves, rng) for demo in demos], s.device)
        if blurred:
            nodes = nodes._replace(seen=self.blurred(nodes.seen, rng))
        features = self.module.features(nodes, [demo.task for demo in demos])
        reward, (q, values) = self.module.reward(features)[:, 0], self._q(features, nodes.after)
        ends = torch.zeros(len(features), dtype=torch.bool, device=features.device)
        ends[nodes.path[nodes.chosen < 0]] = True  # what comes after a demonstration is worth nothing
        open_ = (nodes.after >= 0) & ~ends[:, None]
        left = open_.any(dim=1)
        sweeps = int(nodes.since.max()) if discount else 1
        beyond = values.detach().masked_fill(ends, 0.0)
        ahead = soft_values(reward.detach(), nodes.after, beyond, ~left, discount, sweeps - 1)
        plan = by_choice(reward + discount * ahead, nodes.after)
        target, guess = plan.detach()[left], q.masked_fill(~open_, NEVER)[left]
        chance = target.softmax(dim=1)
        away = (chance * (target.log_softmax(dim=1) - guess.log_softmax(dim=1))).sum(dim=1).mean()
        mean = target.logsumexp(dim=1) - open_[left].sum(dim=1).log()
        level = smooth_l1_loss(guess[open_[left]], target[open_[left]]) + smooth_l1_loss(values[left], mean)
        likelihood, likelihood_q = (_log_chances(one, nodes).mean() for one in (plan, q))
        loss = -likelihood + away + s.level * level + s.small * (reward**2).mean()
        return {"loss": loss, "likelihood": likelihood, "likelihood_q": likelihood_q, "away": away, "level": level}

    def _around(
        self, world: EitherWorld, demo: Demonstration, moves: Array, rng: np.random.Generator
    ) -> Histories[Array]:
        draw, see = partial(self.moves, world, moves, rng), partial(look, world, shape=self.shape)
        return surroundings(world, demo, self.settings.tried, draw, see)

    def _kept(self) -> Array:
        """Demonstrated moves `[K, D]`; none where actions are few."""
        return np.empty((0, 0)) if self.actions.discrete else self.module.moves.cpu().numpy()

    def moves(self, world: EitherWorld, known: Array, rng: np.random.Generator, count: int) -> Array:
        """Random moves `[count, D]`: some of those known."""
        del world
        return rng.choice(known, count)

    def explain(self, world: EitherWorld, demo: Demonstration, texts: Sequence[str]) -> Floats:
        """`[tasks]` the log-probability of what was done, under softmax(Q), for each description."""
        part = self._around(world, demo, self._kept(), self.chance())
        with torch.inference_mode():
            nodes = joined([part] * len(texts), self.settings.device)
            features = self.module.features(nodes, texts)
            chances = _log_chances(self._q(features, nodes.after)[0], nodes)
            return chances.reshape(len(texts), -1).sum(dim=1).double().cpu().numpy()

    def _q(self, features: Tensor, after: Tensor) -> tuple[Tensor, Tensor]:
        """What the network says of each choice `[S, A]`, and of the value of each node `[S]`."""
        given = self.module.q(features)
        if self.actions.discrete:
            return given, given.logsumexp(dim=1) - math.log(given.shape[1])
        return by_choice(given[:, 0], after), given[:, 1]

    def act(self, world: EitherWorld, states: Array, memory: Any) -> tuple[Array, Bools, Any]:
        """An action drawn from softmax(Q); in a continuous world the best of random moves. It never stops."""
        task, before, rng = memory
        net = self.module
        with torch.inference_mode():
            read = net.states(self.see(world, states), task)
            after = torch.stack(net.history(read[:, None], (before[0], before[1]))[1])
            if not is_continuous(world):
                q = net.q(torch.cat([read, before[0][0], task], dim=1))
                actions = self.pick(self.having_effect(world, states, q), rng)
            else:
                actions = self._move(world, states, task, after[0][0], rng)
        return actions, np.zeros(len(states), dtype=bool), (task, after, rng)

    def pick(self, q: Tensor, rng: np.random.Generator) -> Ints:
        """Actions `[N]` drawn from softmax(Q)."""
        return self.actions.drawn(q, rng)

    def _move(self, world: EitherWorld, states: Array, task: Tensor, memory: Tensor, rng: np.random.Generator) -> Array:
        """One of several random moves `[N, D]`, by the Q of where they lead."""
        count, tries = len(states), self.settings.sampled
        moves = self.moves(world, self._kept(), rng, count * tries)
        begin = np.repeat(states, tries, axis=0)
        ends = world.step(begin, moves)
        blocked = torch.as_tensor((ends == begin).all(axis=1), device=task.device)
        task, memory = task.repeat_interleave(tries, dim=0), memory.repeat_interleave(tries, dim=0)
        read = self.module.states(self.see(world, ends), task)
        q = self.module.q(torch.cat([read, memory, task], dim=1))[:, 0].masked_fill(blocked, NEVER)
        picked = q.reshape(count, tries).argmax(dim=1).cpu().numpy()
        return np.asarray(moves.reshape(count, tries, -1)[np.arange(count), picked])


def _log_chances(q: Tensor, nodes: Histories[Tensor]) -> Tensor:
    """`[T]` the log-probability of each demonstrated choice under softmax(Q)."""
    moving = nodes.chosen >= 0
    return q[nodes.path[moving]].log_softmax(dim=1).gather(1, nodes.chosen[moving, None])[:, 0]
