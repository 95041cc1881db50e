"""The expert in Playroom: from subgoal to subgoal by bidirectional trees and shortened paths."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np

from rsg.core.arrays import Bools, Floats
from rsg.domains.playroom import PlayroomWorld, truth
from rsg.domains.playroom.truth import effectors_of
from rsg.domains.playroom.world import POSE
from rsg.language import Machine
from rsg.search import connect
from rsg.search.motion.shortening import shorten

MAX_STEPS = 100
MAX_PATHS = 200  # linear instructions that the expert tries
WAYS = 12  # ways to a subgoal that are tried; the shortest is kept
CANDIDATES = 64  # poses around an effector, of which those that touch it are goals
BUDGET = 8000  # random poses for the search of all ways to a subgoal; one way may take half of them

Walk = tuple[Floats, Floats]
"""States `[T + 1, W]` and actions `[T, 3]`."""


def expert(
    world: PlayroomWorld,
    state: Floats,
    machine: Machine,
    rng: np.random.Generator,
    noise: float = 0.0,
    budget: int = BUDGET,
) -> Walk | None:
    """Follow the linear instructions of a task, subgoal by subgoal, and keep the shortest walk that does the task.

    Instructions that begin alike share the walk up to where they part; one that is already too long is left.
    With noise, that share of the actions is random, and the way is found anew after each of them.
    The search for all ways to a subgoal may draw `budget` random poses.

    Returns:
        None if no instruction can be followed in 100 steps (with noise: in more, the more actions are random).
    """
    walker = _Walker(world, machine.names, rng, noise, budget)
    walks: dict[tuple[str, ...], Walk | None] = {(): (state[None].copy(), np.empty((0, POSE)))}
    best: Walk | None = None
    for path in islice(machine.paths(), MAX_PATHS):
        names = tuple(map(str, path))
        walk = walks[()]
        for end in range(1, len(names) + 1):
            if names[:end] not in walks:
                assert walk is not None
                walks[names[:end]] = walker.extended(walk, names[end - 1])
            walk = walks[names[:end]]
            if walk is None or (best is not None and len(walk[1]) >= len(best[1])):
                break
        else:
            if walk is not None and machine.accepts(truth(world, walk[0], machine.names), machine.names):
                best = walk
    return best


@dataclass(frozen=True)
class _Walker:
    """How the expert goes from subgoal to subgoal of a task with these terms; see `expert`."""

    world: PlayroomWorld
    terms: Sequence[str]
    rng: np.random.Generator
    noise: float
    budget: int

    def extended(self, walk: Walk, term: str) -> Walk | None:
        """The walk, and on to where a term holds and no other of the task: each must be false where its part begins."""
        world, rng = self.world, self.rng
        limit = MAX_STEPS if not self.noise else int(2 * MAX_STEPS / (1 - self.noise))
        states, actions = list(walk[0]), list(walk[1])
        if truth(world, states[-1][None], [term])[0, 0]:
            return None
        while not self._arrived(states[-1][None], term)[0]:
            poses = self._way(states[-1], term)
            if poses is None or len(actions) + len(poses) - 1 > limit:
                return None
            for pose in poses[1:]:
                slip = self.noise > 0 and rng.random() < self.noise
                change = rng.uniform(-world.reach, world.reach) if slip else _change(states[-1][:POSE], pose)
                action = np.clip(change, -world.reach, world.reach)
                states.append(world.step(states[-1][None], action[None])[0])
                actions.append(action)
                if slip or (states[-1] == states[-2]).all():  # or rounding made a way that was free one that is not
                    break
        return np.array(states), np.array(actions)

    def _arrived(self, states: Floats, term: str) -> Bools:
        """Where a term holds, and no other one of the task."""
        holds = truth(self.world, states, [term, *(other for other in self.terms if other != term)])
        return np.asarray(holds[:, 0] & ~holds[:, 1:].any(axis=1))

    def _way(self, state: Floats, term: str) -> Floats | None:
        """The shortest of several ways to where a term holds, as poses `[T + 1, 3]`."""
        best: Floats | None = None
        left = self.budget
        for goal in self._goals(state, term):
            if left <= 0:
                break
            motion = connect(self.world, state, goal, self.rng, min(left, self.budget // 2))
            left -= motion.samples
            if not motion.found:
                continue
            poses = shorten(self.world, state, motion.poses, self.rng)
            rows = np.repeat(state[None], len(poses), axis=0)
            rows[:, :POSE] = poses
            there = np.flatnonzero(self._arrived(rows[1:], term))
            if len(there) and (best is None or there[0] + 2 < len(best)):
                best = poses[: there[0] + 2]
        return best

    def _goals(self, state: Floats, term: str) -> Floats:
        """Free poses `[G, 3]` at which only the term holds, the nearest of some random ones."""
        world, rng = self.world, self.rng
        effector = int(effectors_of(world, [term])[0])
        place = state[POSE + 2 * effector : POSE + 2 * effector + 2]
        shapes = world.layout.shapes
        start, end = shapes.effectors.start[effector : effector + 2]
        corners = shapes.effectors.corners[start:end]
        spread = shapes.radius + np.hypot(corners["x"], corners["y"]).max()
        rows = np.repeat(state[None], CANDIDATES, axis=0)
        rows[:, :2] = place + rng.uniform(-spread, spread, (CANDIDATES, 2))
        rows[:, 2] = rng.uniform(-np.pi, np.pi, CANDIDATES)
        rows = rows[self._arrived(rows, term) & world.free(rows)]
        steps = np.abs(_change(state[:POSE], rows[:, :POSE]) / world.reach).max(axis=1)
        near = np.argsort(steps, kind="stable")
        return rows[near[:WAYS], :POSE]


def _change(start: Floats, end: Floats) -> Floats:
    """From pose to pose `[..., 3]`, the shorter way round."""
    change = end - start
    change[..., 2] = (change[..., 2] + np.pi) % (2 * np.pi) - np.pi
    return change
