"""`check(world)`: does a class keep the promises that search and learning rely on? It answers in plain sentences."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from rsg.core.random import stream
from rsg.worlds import continuous_promises
from rsg.worlds.promises import attempt, check_encoding, check_picture, check_states, check_step, same
from rsg.worlds.protocol import States

PARTS = ("actions", "costs", "step", "successors", "encode", "render")


def check(world: Any, states: States | None = None, seed: int = 0) -> list[str]:
    """What is wrong with the world, one sentence each; an empty list means that rsg can use it.

    A world with bounds, a reach or free motions is judged as a `ContinuousWorld`, any other as a `World`.

    Args:
        world: the world to look at.
        states: some states `[N, W]` to try it on; by default `world.sample(rng, 64)`.
        seed: which actions are tried.
    """
    continuous = continuous_promises.meant_by(world)
    parts, protocol = (continuous_promises.PARTS, "ContinuousWorld") if continuous else (PARTS, "World")
    lacking = [f"The world has no `{part}`; see rsg.worlds.{protocol}." for part in parts if not hasattr(world, part)]
    if lacking:
        return lacking
    rng = stream(seed, "conformance")
    if states is None and not hasattr(world, "sample"):
        return ["Give some states, check(world, states), or add a method sample(rng, count) that makes them."]
    problems: list[str] = []
    if continuous:
        attempt(problems, "bounds", lambda: continuous_promises.check_bounds(world))
    else:
        attempt(problems, "costs", lambda: _check_costs(world))
    try:
        rows = np.asarray(world.sample(rng, 64) if states is None else states)
    except Exception as error:  # whatever a stranger's world raises, the answer is a sentence
        return [*problems, f"sample: raised {type(error).__name__}: {error}"]
    attempt(problems, "states", lambda: check_states(rows))
    if problems:
        return problems
    _check_steps(world, rows, rng, continuous, problems)
    attempt(problems, "encode", lambda: check_encoding(world, rows))
    attempt(problems, "render", lambda: check_picture(world, rows))
    return problems


def _check_steps(world: Any, rows: States, rng: np.random.Generator, continuous: bool, problems: list[str]) -> None:
    """What an action does, and what else must fit to it; a wrong step would only be told twice."""
    if continuous:
        attempt(problems, "states", lambda: continuous_promises.check_poses(world, rows))
        if problems:
            return
        moves = rng.uniform(-1, 1, size=(len(rows), len(world.reach))) * world.reach
        attempt(problems, "step", lambda: check_step(world, rows, moves))
        if not problems:
            attempt(problems, "motion", lambda: continuous_promises.check_motion(world, rows, moves, rng))
        return
    actions = rng.integers(len(world.actions), size=len(rows))
    attempt(problems, "step", lambda: check_step(world, rows, actions))
    if not problems:
        attempt(problems, "successors", lambda: _check_successors(world, rows))


def _check_costs(world: Any) -> Iterator[str]:
    names = list(world.actions)
    costs = np.asarray(world.costs)
    if not names:
        yield "There are no actions: `actions` is empty."
    if costs.shape != (len(names),):
        yield f"`costs` has shape {costs.shape}, but there are {len(names)} actions: give one cost for each."
    elif not (np.isfinite(costs).all() and (costs > 0).all()):
        yield f"Every cost must be positive and finite, but `costs` is {costs.tolist()}."


def _check_successors(world: Any, states: States) -> Iterator[str]:
    count = len(world.actions)
    given = states.copy()
    after = np.asarray(world.successors(given))
    if not same(given, states):
        yield "`successors` changed the states it was given: it must be pure."
    if after.shape != (len(states), count, states.shape[1]):
        yield f"`successors` returned shape {after.shape}, not [N, A, W] = {(len(states), count, states.shape[1])}."
        return
    for action in range(count):
        expected = np.asarray(world.step(states.copy(), np.full(len(states), action)))
        if not same(after[:, action], expected):
            yield f"`successors` and `step` disagree on action '{list(world.actions)[action]}'."
