"""Behaviour cloning with a machine (BC-FSM): for each subgoal a policy and a stop, aligned by RSG's dynamic programme.

A task is its machine. While node v is served, the policy of its subgoal acts; when it stops, the machine goes on.
Which subgoal a demonstrator served at which step nobody has said: the best alignment is found anew in each step.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, ClassVar, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import logsigmoid

from rsg.baselines.common import Baseline, BaselineSettings, Batch
from rsg.baselines.encoders import Shape, state_encoder
from rsg.baselines.networks import place_of
from rsg.baselines.policies import MAX_STEPS
from rsg.core.arrays import Array, Bools, Floats, Ints
from rsg.core.compiled import compiled
from rsg.language import Machine, Nodes, machine_of
from rsg.search.cost_to_go import Logs
from rsg.subgoals.alignment import Along, align, crossings_back, nothing_shared, trace
from rsg.subgoals.classifiers import mapped
from rsg.subgoals.encoders import SeenTensors
from rsg.worlds import EitherWorld

MOST_PATHS = 64  # linear instructions of a task that are tried in thought


@dataclass(frozen=True)
class BcFsmSettings(BaselineSettings):
    """What BC-FSM changes."""

    GONE: ClassVar = {**BaselineSettings.GONE, "alignment": "max", "one_action": True}

    curriculum: int = 300


class BcFsmNetwork(nn.Module):
    """Reads a state with a subgoal in mind: gives what `Actions` reads, and the log-odds of stopping."""

    def __init__(self, settings: BcFsmSettings, shape: Shape, terms: Sequence[str], outputs: int) -> None:
        super().__init__()
        hidden = settings.hidden
        self.terms = nn.Embedding(len(terms), hidden)
        self.states = state_encoder(shape, hidden, hidden, settings.layers)
        self.head = nn.Linear(2 * hidden, outputs + 1)

    def forward(self, seen: SeenTensors, terms: Tensor) -> tuple[Tensor, Tensor]:
        """Outputs `[N, outputs]` and log-odds `[N]` of N states, each with the number of a term `[N]`."""
        asked = self.terms(terms)
        given = self.head(torch.cat([self.states(seen, asked), asked], dim=-1))
        return given[:, :-1], given[:, -1]


class BcFsm(Baseline):
    """BC-FSM as a method, a policy, and a judge of how well a task explains a trajectory."""

    name = "bc-fsm"
    kind = BcFsmSettings
    network = BcFsmNetwork

    def scores(self, batch: Batch, candidates: Sequence[Sequence[str]]) -> Tensor:
        """`[B, tasks]` how well several tasks explain each demonstration; minus infinity if one cannot."""
        machines = [[machine_of(text) for text in texts] for texts in candidates]
        names = [list(dict.fromkeys(name for machine in some for name in machine.names)) for some in machines]
        rows = []
        for some, known, (act, stop) in zip(machines, names, self._tables(batch, names), strict=True):
            nodes = [machine.among({name: column for column, name in enumerate(known)}) for machine in some]
            rows.append(torch.stack([score_of(one, act, stop) for one in nodes]))
        return torch.stack(rows)

    def _numbers(self, names: Iterable[str]) -> list[int]:
        """The numbers of terms."""
        return [place_of(name, self.terms) for name in names]

    def _tables(self, batch: Batch, names: Sequence[Sequence[str]]) -> Iterator[tuple[Tensor, Tensor]]:
        """For each demonstration, with some terms, log π(a|s)·(1 - stop) `[T, terms]` and log stop `[T + 1, terms]`."""
        owners, known = batch.owner.tolist(), [self._numbers(some) for some in names]
        counts = [len(known[owner]) for owner in owners]
        rows = torch.as_tensor(np.repeat(np.arange(len(owners)), counts)).to(batch.owner)
        terms = torch.as_tensor(np.concatenate([known[owner] for owner in owners])).to(batch.owner)
        given, odds = self.module(mapped(lambda part: part[rows], batch.seen), terms)
        followed = batch.actions.new_zeros(len(owners), *batch.actions.shape[1:])
        followed[batch.moving] = batch.actions
        acts = self.actions.log_probability(given, followed[rows]) + logsigmoid(-odds)
        sizes = np.bincount(owners, counts).astype(int).tolist()
        for some, act, stop in zip(known, torch.split(acts, sizes), torch.split(logsigmoid(odds), sizes), strict=True):
            yield act.view(-1, len(some))[:-1], stop.view(-1, len(some))  # nothing is done at the last state

    def begin(self, world: EitherWorld, states: Array, machine: Machine) -> "Memory":
        """Each linear instruction of the task is tried in thought; the best that comes to its end is followed."""
        paths = [self._numbers(map(str, path)) for path in islice(machine.paths(), MOST_PATHS)]
        if len(paths) == 1:
            return Memory.of(np.tile(paths[0], (len(states), 1)), self.chance())
        longest = max(map(len, paths))
        table = np.array([path + [-1] * (longest - len(path)) for path in paths])
        ways = np.tile(table, (len(states), 1))
        score, ended = self._thought(world, np.repeat(states, len(paths), axis=0), Memory.of(ways, self.chance()))
        worth = np.where(ended, score, score - 1e6).reshape(len(states), -1)
        return Memory.of(table[worth.argmax(axis=1)], self.chance())

    def _thought(self, world: EitherWorld, states: Array, memory: "Memory") -> tuple[Array, Bools]:
        """How likely what would be done is, `[N]` logarithms, and whether it would come to an end, `[N]`."""
        score, ended = np.zeros(len(states)), np.zeros(len(states), dtype=bool)
        for _ in range(MAX_STEPS):
            actions, finished, memory, logs = self._decide(world, states, memory)
            score += np.where(ended, 0.0, logs)
            ended |= finished
            if ended.all():
                break
            states = np.where(ended[:, None], states, world.step(states, actions))
        return score, ended

    def act(self, world: EitherWorld, states: Array, memory: Any) -> tuple[Array, Bools, Any]:
        """What the policy of the present subgoal does; where actions are discrete the last subgoal may stop."""
        actions, finished, memory, _ = self._decide(world, states, memory)
        return actions, finished if self.actions.discrete else np.zeros_like(finished), memory

    def _decide(self, world: EitherWorld, states: Array, memory: "Memory") -> "tuple[Any, Any, Memory, Any]":
        """Actions, whether the last subgoal stops, the memory from here on, and the log-probability of all this."""
        seen, device = self.see(world, states), self.settings.device
        with torch.inference_mode():
            given, odds = self.module(seen, torch.as_tensor(memory.terms, device=device))
            stops = self.actions.stops(given, odds) & memory.served
            finished = stops & memory.is_last
            onward = memory.after(stops & ~finished)
            logs = torch.where(torch.as_tensor(stops, device=device), logsigmoid(odds), 0.0)
            given, odds = self.module(seen, torch.as_tensor(onward.terms, device=device))
            best = self.choose(world, states, given, memory.rng)
            taken = self.actions.log_probability(given, self.actions.read(best).to(device)) + logsigmoid(-odds)
            logs = logs + torch.where(torch.as_tensor(finished, device=device), 0.0, taken)
        return best, finished, onward._replace(served=np.ones_like(stops)), logs.double().cpu().numpy()


def score_of(nodes: Nodes, act: Tensor, stop: Tensor) -> Tensor:
    """The score of one demonstration for one machine; its gradient is that of the alignment that was found."""
    value, for_act, for_stop = aligned(nodes, *(table.detach().double().cpu().numpy() for table in (act, stop)))
    shares = zip((act, stop), (for_act, for_stop), strict=True)
    found = torch.stack([(torch.as_tensor(share).to(table) * table).sum() for table, share in shares]).sum()
    return found + float(value) - found.detach()


class Memory(NamedTuple):
    """Where N copies are, each in its own linear instruction."""

    ways: Ints  # `[N, longest]` the numbers of terms, -1 beyond the end
    at: Ints  # `[N]` the place in it
    served: Bools  # `[N]` whether an action has been taken for the present subgoal
    rng: np.random.Generator  # where chance comes from

    @staticmethod
    def of(ways: Ints, rng: np.random.Generator) -> "Memory":
        """At the beginning."""
        return Memory(ways, np.zeros(len(ways), dtype=np.int64), np.zeros(len(ways), dtype=bool), rng)

    @property
    def terms(self) -> Ints:
        """The present subgoals."""
        return self.ways[np.arange(len(self.ways)), self.at]

    @property
    def is_last(self) -> Bools:
        """Whether no other subgoal follows."""
        return np.asarray(self.at + 1 == (self.ways >= 0).sum(axis=1))

    def after(self, leaving: Bools) -> "Memory":
        """Some copies go on to their next subgoal."""
        return self._replace(at=self.at + leaving, served=self.served & ~leaving)


@compiled
def aligned(nodes: Nodes, act: Floats, stop: Floats) -> tuple[float, Floats, Floats]:
    """The score of the best alignment of a demonstration with a machine, and its gradient.

    act: `[T, terms]` log π(a|s)·(1 - stop) of the action that was taken; stop: `[T + 1, terms]` log stop(s).

    This is RSG's alignment with `stop` for G, nothing for I, and the policy for rationality.
    """
    steps, size = len(act), len(nodes.term)
    rat = np.zeros((steps, size, 2))
    for i in range(steps):
        for v in range(1, size - 1):
            rat[i, v, :] = act[i, nodes.term[v]]
    along = Along(
        np.arange(steps + 1).astype(np.int32), Logs(stop, np.zeros(stop.shape)), nodes, rat, False, np.empty(0)
    )
    best = np.empty((steps + 1, size, 2))
    value = align(along, best)
    for_act, for_stop = np.zeros(act.shape), np.zeros(stop.shape)
    if value > -np.inf:
        shares = nothing_shared(along)
        trace(along, best, shares)
        crossings_back(along.path, nodes, shares, Logs(for_stop, np.zeros(stop.shape)))
        for i in range(steps):
            for v in range(1, size - 1):
                for_act[i, nodes.term[v]] += shares.acts[i, v, 0] + shares.acts[i, v, 1]
    return value, for_act, for_stop
