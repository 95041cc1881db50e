"""The expert in Playroom: from subgoal to subgoal by bidirectional trees and shortened paths."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from rsg.language import Machine
from rsg.search.motion import connect
from rsg.search.motion.shortening import shorten
from rsg.worlds.playroom import PlayroomWorld, truth
from rsg.worlds.playroom.truth import effectors_of
from rsg.worlds.playroom.world import POSE, Floats

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
    limit = MAX_STEPS if not noise else int(2 * MAX_STEPS / (1 - noise))
    walks: dict[tuple[str, ...], Walk | None] = {(): (state[None].copy(), np.empty((0, POSE)))}
    terms = tuple(map(str, machine.terms))
    best: Walk | None = None
    for path in islice(machine.paths(), MAX_PATHS):
        names = tuple(map(str, path))
        walk = walks[()]
        for end in range(1, len(names) + 1):
            if names[:end] not in walks:
                assert walk is not None
                walks[names[:end]] = _extended(world, walk, names[end - 1], terms, rng, noise, limit, budget)
            walk = walks[names[:end]]
            if walk is None or (best is not None and len(walk[1]) >= len(best[1])):
                break
        else:
            if walk is not None and machine.accepts(truth(world, walk[0], terms), terms):
                best = walk
    return best


def _extended(
    world: PlayroomWorld,
    walk: Walk,
    term: str,
    terms: Sequence[str],
    rng: np.random.Generator,
    noise: float,
    limit: int,
    budget: int,
) -> Walk | None:
    """The walk, and on to where a term holds and no other one of the task: each must be false where its part begins."""
    states, actions = list(walk[0]), list(walk[1])
    others = [other for other in terms if other != term]
    if truth(world, states[-1][None], [term])[0, 0]:
        return None
    while not _arrived(world, states[-1][None], term, others)[0]:
        poses = _way(world, states[-1], term, others, rng, budget)
        if poses is None or len(actions) + len(poses) - 1 > limit:
            return None
        for pose in poses[1:]:
            slip = noise > 0 and rng.random() < noise
            action = rng.uniform(-world.reach, world.reach) if slip else _action(world, states[-1], pose)
            states.append(world.step(states[-1][None], action[None])[0])
            actions.append(action)
            if slip or (states[-1] == states[-2]).all():  # or rounding made a way that was free one that is not
                break
    return np.array(states), np.array(actions)


def _arrived(world: PlayroomWorld, states: Floats, term: str, others: Sequence[str]) -> NDArray[np.bool_]:
    holds = truth(world, states, [term, *others])
    return np.asarray(holds[:, 0] & ~holds[:, 1:].any(axis=1))


def _action(world: PlayroomWorld, state: Floats, pose: Floats) -> Floats:
    """The action from a state to a pose that it can reach."""
    return np.clip(_change(state[:POSE], pose), -world.reach, world.reach)


def _change(start: Floats, end: Floats) -> Floats:
    """From pose to pose `[..., 3]`, the shorter way round."""
    change = end - start
    change[..., 2] = (change[..., 2] + np.pi) % (2 * np.pi) - np.pi
    return change


def _way(
    world: PlayroomWorld, state: Floats, term: str, others: Sequence[str], rng: np.random.Generator, budget: int
) -> Floats | None:
    """The shortest of several ways to where a term holds, as poses `[T + 1, 3]`."""
    best: Floats | None = None
    left = budget
    for goal in _goals(world, state, term, others, rng):
        if left <= 0:
            break
        motion = connect(world, state, goal, rng, min(left, budget // 2))
        left -= motion.samples
        if not motion.found:
            continue
        poses = shorten(world, state, motion.poses, rng)
        rows = np.repeat(state[None], len(poses), axis=0)
        rows[:, :POSE] = poses
        there = np.flatnonzero(_arrived(world, rows[1:], term, others))
        if len(there) and (best is None or there[0] + 2 < len(best)):
            best = poses[: there[0] + 2]
    return best


def _goals(world: PlayroomWorld, state: Floats, term: str, others: Sequence[str], rng: np.random.Generator) -> Floats:
    """Free poses `[G, 3]` at which only the term holds, the nearest of some random ones."""
    effector = int(effectors_of(world, [term])[0])
    place = state[POSE + 2 * effector : POSE + 2 * effector + 2]
    shapes = world.layout.shapes
    start, end = shapes.effectors.start[effector : effector + 2]
    corners = shapes.effectors.corners[start:end]
    spread = shapes.radius + np.hypot(corners["x"], corners["y"]).max()
    rows = np.repeat(state[None], CANDIDATES, axis=0)
    rows[:, :2] = place + rng.uniform(-spread, spread, (CANDIDATES, 2))
    rows[:, 2] = rng.uniform(-np.pi, np.pi, CANDIDATES)
    rows = rows[_arrived(world, rows, term, others) & world.free(rows)]
    steps = np.abs(_change(state[:POSE], rows[:, :POSE]) / world.reach).max(axis=1)
    near = np.argsort(steps, kind="stable")
    return rows[near[:WAYS], :POSE]
