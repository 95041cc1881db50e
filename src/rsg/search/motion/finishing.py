"""From a rough path through world × machine to a plan: shorter, and as the world itself walks it."""

import numpy as np

from rsg.core.arrays import Floats, Ints
from rsg.core.errors import RsgError
from rsg.search.motion.query import Query
from rsg.search.motion.shortening import shorten_parts
from rsg.search.motion.space import differences, space_of, walked

_ROUNDS = 2  # of shortening each subgoal's part, and then doing each subgoal as soon as the path allows
_TRIES = 40  # shortcuts for each part, in each round
_CLOSE = 1e-6  # in actions: how far a replay may be from the poses it was to go through


def finished(query: Query, poses: Floats, nodes: Ints, rng: np.random.Generator) -> tuple[Floats, Floats, Ints]:
    """The actions `[T, D]`, states `[T + 1, W]` and nodes `[T]` of a plan along a path, or along a shorter one.

    poses: `[T + 1, D]` the path, one action after the other; nodes: `[T]` the machine node that each action serves;
    where it changes, a subgoal is done.
    """
    for way, serving in (_shortened(query, poses, nodes, rng), (poses, nodes)):
        actions, states = _replayed(query, way)
        served = _served(query, states, serving) if query.hard else serving
        if len(states) == len(way) and served is not None:
            return actions[: len(served)], states[: len(served) + 1], served
    raise RsgError("the world's step stops where its clear saw nothing in the way; rsg.worlds.check may say more")


def _shortened(query: Query, poses: Floats, nodes: Ints, rng: np.random.Generator) -> tuple[Floats, Ints]:
    """Shorter ways between the poses at which subgoals are done, then each is done as soon as it can be, once more."""
    for _ in range(_ROUNDS):
        bounds = np.concatenate([[0], np.flatnonzero(np.diff(nodes)) + 1, [len(nodes)]])
        order = nodes[bounds[:-1]]
        poses, bounds = shorten_parts(query.world, query.state, poses, bounds, rng, _TRIES)
        nodes = np.repeat(order, np.diff(bounds))
        if query.hard and (served := _served(query, query.rows(poses), nodes)) is not None:
            poses, nodes = poses[: len(served) + 1], served
    return poses, nodes


def _served(query: Query, states: Floats, nodes: Ints) -> Ints | None:
    """The node that each action serves if each node of a plan is left as soon as it can be; None if one never can.

    What comes after the last node was left is not told.
    """
    holds, may_enter = query.holding(states)
    order = nodes[np.flatnonzero(np.diff(nodes, prepend=-1))]
    terms = query.machine.term_of[order]
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


def _replayed(query: Query, poses: Floats) -> tuple[Floats, Floats]:
    """The actions from pose to pose, and the states that the world says they lead to, as far as it follows."""
    world, space, size = query.world, space_of(query.world), poses.shape[1]
    actions = np.clip(differences(space, poses[:-1], poses[1:]), -space["reach"], space["reach"])
    path = poses.copy()
    walked(space, actions, path)
    states = query.rows(path)
    if not np.array_equal(world.step(states[:-1], actions), states[1:]):  # it adds up in another way: one by one
        for i, action in enumerate(actions):
            states[i + 1] = np.asarray(world.step(states[i][None], action[None]))[0]
    away = np.abs(differences(space, states[:, :size], poses)) / space["reach"]
    far = np.flatnonzero((away > _CLOSE).any(axis=1))
    end = int(far[0]) if len(far) else len(poses)
    return actions[: end - 1], states[:end]
