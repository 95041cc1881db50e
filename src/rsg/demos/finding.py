"""What was done, where a recording only has what was seen: actions found with the world's model."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

import numpy as np

from rsg.core.arrays import Array, Floats
from rsg.core.errors import RsgError
from rsg.demos.demonstration import Demonstration
from rsg.worlds import ContinuousWorld, EitherWorld, Recorded, World, costs_of, is_continuous, require, successors_of

_AT_ONCE = 1024  # states whose successors are asked for together
_MOST = 200_000  # states that a search for a bridge may meet
_CLOSE = 1e-6  # in actions: how far a step may lead from where the recording went on

Bridge = tuple[Array, Array]
"""Actions `[K]` or `[K, D]`, and the states `[K, W]` that they lead to."""


def with_actions(world: EitherWorld, demo: Demonstration, bridge: int = 0) -> Demonstration:
    """The same with the actions that its states tell of; one that has actions stays as it is.

    Of several actions that explain a step, the one that costs least is taken, and then the first. A step that none
    explains is an error that names it.

    Args:
        world: where it happened.
        demo: a recording without actions.
        bridge: if not 0, such a step is bridged by at most so many actions, the fewest that lead on, and the states
            between are added; a state that was only recorded twice is left out.

    >>> from rsg.worlds.corridor import Corridor
    >>> seen = np.array([[2, 0, 0], [1, 0, 0], [0, 0, 0], [0, 1, 0]])
    >>> with_actions(Corridor(), Demonstration(seen, None, "light-lamp")).actions.tolist()
    [0, 0, 2]
    >>> with_actions(Corridor(), Demonstration(seen[[0, 3]], None, "light-lamp"), bridge=3).actions.tolist()
    [0, 0, 2]
    """
    if demo.actions is not None:
        return demo
    if isinstance(world, Recorded):  # where all that anybody does is to go on
        return replace(demo, actions=np.zeros(len(demo), dtype=np.int64))
    if bridge < 0:
        raise RsgError(f"a bridge has 0 actions or more, not {bridge}")
    require(world, demo.states)
    parts = _moves(world, demo.states, bridge) if is_continuous(world) else _steps(world, demo.states, bridge)
    states, actions = [demo.states[:1]], []
    for step, part in enumerate(parts):
        if part is None:
            tried = f"not even {bridge} one after the other" if bridge else "and no bridge was asked for"
            raise RsgError(f"step {step}: no action leads from state {step} to state {step + 1}, {tried}")
        actions.append(part[0])
        states.append(part[1])
    done = np.concatenate(actions)
    if not len(done):
        raise RsgError("nothing happens in it: all its states are the same, and no action leaves them so")
    return replace(demo, states=np.concatenate(states), actions=done)


def _steps(world: World, states: Array, bridge: int) -> Iterator[Bridge | None]:
    """Each step's actions where actions are few; None where there are none."""
    cheapest = np.argsort(costs_of(world), kind="stable")
    for first in range(0, len(states) - 1, _AT_ONCE):
        here, there = states[first : first + _AT_ONCE][: len(states) - 1 - first], states[first + 1 :][:_AT_ONCE]
        leads = (successors_of(world, here)[:, cheapest] == there[:, None]).all(axis=2)
        for row in range(len(here)):
            if leads[row].any():
                yield cheapest[leads[row].argmax()][None].astype(np.int64), there[row][None]
            elif bridge and (here[row] == there[row]).all():
                yield np.empty(0, dtype=np.int64), there[:0]
            else:
                yield _search(world, here[row], there[row], bridge)


def _search(world: World, start: Array, end: Array, bridge: int) -> Bridge | None:
    """The fewest actions from a state to another, breadth first: at most so many; None if there are none."""
    count, goal = len(world.actions), end.tobytes()
    met = {start.tobytes()}
    layers = [(start[None], np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64))]  # states, from which, by which
    for _ in range(bridge):
        after = successors_of(world, layers[-1][0]).reshape(-1, len(start))
        new = []
        for place, row in enumerate(after):
            key = row.tobytes()
            if key not in met:
                met.add(key)
                new.append(place)
            if key == goal:
                break
        places = np.array(new, dtype=np.int64)
        layers.append((after[places], places // count, places % count))
        if goal in met:
            return _traced(layers)
        if not len(places) or len(met) > _MOST:
            return None
    return None


def _traced(layers: list[tuple[Array, Array, Array]]) -> Bridge:
    """The way to the last state of the last layer."""
    actions, states, place = [], [], len(layers[-1][0]) - 1
    for rows, parents, taken in reversed(layers[1:]):
        actions.append(taken[place])
        states.append(rows[place])
        place = parents[place]
    return np.array(actions[::-1], dtype=np.int64), np.array(states[::-1])


def _moves(world: ContinuousWorld, states: Array, bridge: int) -> Iterator[Bridge | None]:
    """Each step's action in a continuous world: the way of the pose, in equal parts if it is too far for one."""
    reach, size = np.asarray(world.reach, dtype=np.float64), len(world.reach)
    period, turning = np.asarray(world.period), np.asarray(world.period) > 0

    def way(start: Floats, end: Floats) -> Floats:
        """From a pose to a pose, the shorter way round."""
        found = end - start
        found[turning] -= period[turning] * np.round(found[turning] / period[turning])
        return found

    def close(state: Array, wanted: Array) -> bool:
        apart = np.abs([*way(state[:size], wanted[:size]), *(state[size:] - wanted[size:])])
        return bool((apart <= _CLOSE).all())

    for here, there in pairwise(states):
        whole = way(here[:size], there[:size])
        parts = max(1, int(np.ceil((np.abs(whole) / reach).max() - _CLOSE)))
        if parts > max(1, bridge):
            yield None
            continue
        moves = np.repeat(whole[None] / parts, parts, axis=0).clip(-reach, reach)
        led, passed = here[None], []
        for move in moves:
            led = np.asarray(world.step(led, move[None]))
            passed.append(led[0])
        passed[-1] = there  # as it was recorded, rounding aside
        yield (moves, np.array(passed)) if close(led[0], there) else None
