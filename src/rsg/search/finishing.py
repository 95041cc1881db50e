"""From a rough path through world × machine to a plan: shorter, and as the world itself walks it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rsg.core.errors import RsgError
from rsg.language import Machine
from rsg.search import motion_kernels as kernels
from rsg.search.goals import Goals
from rsg.search.likely import asked
from rsg.search.motion import differences, rows_of, space_of
from rsg.search.product import SearchSettings
from rsg.search.shortening import shorten_parts
from rsg.worlds.continuous import ContinuousWorld

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_ROUNDS = 2  # of shortening each subgoal's part, and then doing each subgoal as soon as the path allows
_TRIES = 40  # shortcuts for each part, in each round
_CLOSE = 1e-6  # in actions: how far a replay may be from the poses it was to go through


class Problem(NamedTuple):
    """What a plan is for: the task's machine and classifiers in a continuous world, from a state `[W]` on."""

    world: ContinuousWorld
    state: Floats
    machine: Machine
    goals: Goals
    settings: SearchSettings

    @property
    def hard(self) -> bool:
        """Whether subgoals hold or not, and each takes an action: then they may be judged anew along a path."""
        return self.settings.threshold is not None and self.settings.one_action

    def holding(self, states: Floats) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Which terms hold, and which may be entered, in states `[N, W]`: `[N, terms]` each."""
        threshold = self.settings.threshold or 0.5
        log_g, log_i = asked(self.goals, states, len(self.machine.terms))
        return log_g >= np.log(threshold), (log_i > np.log1p(-threshold)) | (not self.settings.not_yet)


def finished(problem: Problem, poses: Floats, nodes: Ints, rng: np.random.Generator) -> tuple[Floats, Floats, Ints]:
    """The actions `[T, D]`, states `[T + 1, W]` and nodes `[T]` of a plan along a path, or along a shorter one.

    Args:
        problem: what it is for.
        poses: `[T + 1, D]` the path, one action after the other.
        nodes: `[T]` the machine node that each action serves; where it changes, a subgoal is done.
        rng: where chance comes from.
    """
    for way, serving in (_shortened(problem, poses, nodes, rng), (poses, nodes)):
        actions, states = _replayed(problem, way)
        served = _served(problem, states, serving) if problem.hard else serving
        if len(states) == len(way) and served is not None:
            return actions[: len(served)], states[: len(served) + 1], served
    raise RsgError("the world's step stops where its clear saw nothing in the way; rsg.worlds.check may say more")


def _shortened(problem: Problem, poses: Floats, nodes: Ints, rng: np.random.Generator) -> tuple[Floats, Ints]:
    """Shorter ways between the poses at which subgoals are done, then each is done as soon as it can be, once more."""
    for _ in range(_ROUNDS):
        bounds = np.concatenate([[0], np.flatnonzero(np.diff(nodes)) + 1, [len(nodes)]])
        order = nodes[bounds[:-1]]
        poses, bounds = shorten_parts(problem.world, problem.state, poses, bounds, rng, _TRIES)
        nodes = np.repeat(order, np.diff(bounds))
        if problem.hard and (served := _served(problem, rows_of(poses, problem.state), nodes)) is not None:
            poses, nodes = poses[: len(served) + 1], served
    return poses, nodes


def _served(problem: Problem, states: Floats, nodes: Ints) -> Ints | None:
    """The node that each action serves if each node of a plan is left as soon as it can be; None if one never can.

    What comes after the last node was left is not told.
    """
    holds, may_enter = problem.holding(states)
    order = nodes[np.flatnonzero(np.diff(nodes, prepend=-1))]
    terms = problem.machine.term_of[order]
    now, lengths = 0, []
    for i, term in enumerate(terms):
        leave = holds[now + 1 :, term]
        if i + 1 < len(terms):
            leave = leave & may_enter[now + 1 :, terms[i + 1]]
        if not leave.any():
            return None
        lengths.append(int(np.argmax(leave)) + 1)
        now += lengths[-1]
    return np.repeat(order, lengths)


def _replayed(problem: Problem, poses: Floats) -> tuple[Floats, Floats]:
    """The actions from pose to pose, and the states that the world says they lead to, as far as it follows."""
    world, space, size = problem.world, space_of(problem.world), poses.shape[1]
    actions = np.clip(differences(space, poses[:-1], poses[1:]), -space.reach, space.reach)
    walked = poses.copy()
    kernels.walked(space, actions, walked)
    states = rows_of(walked, problem.state)
    if not np.array_equal(world.step(states[:-1], actions), states[1:]):  # it adds up in another way: one by one
        for i, action in enumerate(actions):
            states[i + 1] = np.asarray(world.step(states[i][None], action[None]))[0]
    away = np.abs(differences(space, states[:, :size], poses)) / space.reach
    far = np.flatnonzero((away > _CLOSE).any(axis=1))
    end = int(far[0]) if len(far) else len(poses)
    return actions[: end - 1], states[:end]
