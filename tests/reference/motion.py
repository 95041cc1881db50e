"""Paths among poses once more: slow and plain. Nothing here looks at `rsg.search`."""

from __future__ import annotations

import numpy as np


def differences(world, starts, ends):
    """From poses to poses `[N, D]`, the shorter way round."""
    way = np.asarray(ends) - np.asarray(starts)
    turning = world.period > 0
    way[..., turning] -= world.period[turning] * np.round(way[..., turning] / world.period[turning])
    return way


def actions_apart(world, starts, ends):
    """How many actions lie between poses, not rounded, `[N]`."""
    return np.max(np.abs(differences(world, starts, ends)) / world.reach, axis=-1)


def length(world, poses):
    """The length of a path: all differences together, in actions."""
    ways = differences(world, poses[:-1], poses[1:]) / world.reach
    return float(np.sqrt((ways**2).sum(axis=1)).sum())


def what_is_wrong(world, state, poses):
    """Replay a path from the state, action by action; says what is wrong with it, or nothing."""
    size = len(world.low)
    if not np.array_equal(poses[0], state[:size]):
        return "it begins elsewhere"
    row = np.array(state)
    for number, pose in enumerate(poses[1:], start=1):
        action = differences(world, row[:size], pose)
        if (np.abs(action) > world.reach * (1 + 1e-8)).any():
            return f"action {number} is too long: {action}"
        row = world.step(row[None], action[None])[0]
        if actions_apart(world, row[:size], pose) > 1e-6:
            return f"action {number} is blocked"
        if not np.array_equal(row[size:], state[size:]):
            return f"action {number} changed more than the pose"
    return ""
