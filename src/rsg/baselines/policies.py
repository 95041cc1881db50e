"""Policies: what a baseline does in a world, in many copies at once."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from rsg.core.arrays import Array, Bools, Ints
from rsg.envs.progress import BatchProgress
from rsg.language import Machine
from rsg.worlds import EitherWorld

MAX_STEPS = 100  # of an episode, as in the registered environments


class Policy(Protocol):
    """Acts for a task, state by state. All that it has to remember is in a memory, which it alone understands."""

    def begin(self, world: EitherWorld, states: Array, machine: Machine) -> Any:
        """The memory of N copies that start in `states` `[N, W]`, all with the same task."""
        ...

    def act(self, world: EitherWorld, states: Array, memory: Any) -> tuple[Array, Bools, Any]:
        """Actions `[N]` (or moves `[N, D]`), which copies stop here instead `[N]`, and the memory from here on."""
        ...


@dataclass(frozen=True, eq=False)
class Rollout:
    """What N copies did."""

    states: Array  # `[N, T + 1, W]`
    actions: Array  # `[N, T]` or `[N, T, D]`. Of copy i the first `steps[i]` actions count.
    steps: Ints  # `[N]` how many actions each has taken
    done: Bools  # `[N]` whether the task was done; all False without the truth
    stopped: Bools  # `[N]` whether the policy stopped by itself


def rollout(
    policy: Policy,
    world: EitherWorld,
    states: Array,
    machine: Machine,
    max_steps: int = MAX_STEPS,
    truth: Callable[[Array], Bools] | None = None,
) -> Rollout:
    """Let a policy act from states `[N, W]` until it stops, or for `max_steps`.

    With the truth of the machine's terms (states → `[N, terms]`) an episode also ends when it has done the task, which
    is the rule of the environments. The policy never hears of it.
    """
    count = len(states)
    now = np.array(states)
    visited: list[Array] = [now]
    taken: list[Array] = []
    active, stopped = np.ones(count, dtype=bool), np.zeros(count, dtype=bool)
    done, steps = np.zeros(count, dtype=bool), np.zeros(count, dtype=np.int64)
    progress = BatchProgress(machine, count)
    if truth:
        progress.advance(truth(now), np.ones(count, dtype=bool))
    memory = policy.begin(world, now, machine)
    while active.any() and len(taken) < max_steps:
        actions, stops, memory = policy.act(world, now, memory)
        stopped |= active & stops
        active &= ~stops
        after = np.asarray(world.step(now, actions))
        now = np.where(active[:, None], after, now)
        steps += active
        visited.append(now)
        taken.append(actions)
        if truth:
            done |= active & progress.advance(truth(now), np.zeros(count, dtype=bool))
            active &= ~done
    actions = np.stack(taken, axis=1) if taken else np.empty((count, 0), dtype=np.int64)
    return Rollout(np.stack(visited, axis=1), actions, steps, done, stopped)
