"""Where a demonstration took place: the graph of states around it, whatever kind of world it is in."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rsg.core.errors import RsgError
from rsg.core.random import stream
from rsg.search import StateGraph, is_continuous, local_graph, local_roadmap
from rsg.search.motion import differences, space_of
from rsg.subgoals.objective import edges_to_next, taken_edges

Floats = NDArray[np.float64]

_CLOSE = 1e-6  # in actions: how far a step may lead from where the demonstration went on
_TRIES = 20  # actions to look at for each free one that is wanted
_LEAST = 1e-3  # of the volume of free actions: one was free, it was taken


@dataclass(frozen=True, eq=False)
class Ground:
    """A demonstration's world, the graph around it, and the edges it took.

    Attributes:
        world: where it took place.
        graph: of the states around it.
        taken: `[T]` the edges that it took.
        each: `[T]` what an action counts in the sum over all actions at each step: 1, or its share of an integral.
    """

    world: Any
    graph: StateGraph
    taken: NDArray[np.int32]
    each: Floats

    @property
    def size_bytes(self) -> int:
        """Its memory, about: the graph, with its edges turned around, and the demonstration."""
        return 3 * self.graph.size_bytes + 1000


def ground(
    world: Any, states: NDArray[Any], actions: NDArray[Any], depth: int, poses: int = 2000, samples: int = 0
) -> Ground:
    """The graph of what is within `depth` actions of a trajectory; steps that its world denies are an error.

    Args:
        world: where it took place.
        states: `[T + 1, W]`, actions: `[T]`, or `[T, D]` in a continuous world.
        depth: how far around it the graph reaches.
        poses: in a continuous world the graph is a part of a roadmap of so many poses.
        samples: there, what else one could have done at a step: as many random actions; 0: the edges of the roadmap.
    """
    if not is_continuous(world):
        graph = local_graph(world, states, depth)
        return Ground(world, graph, taken_edges(graph, actions), np.ones(len(actions)))
    states, actions = np.asarray(states, dtype=np.float64), np.asarray(actions, dtype=np.float64)
    _check_steps(world, states, actions)
    if samples == 0:
        graph = local_roadmap(world, states, depth, poses)
        return Ground(world, graph, edges_to_next(graph), np.ones(len(actions)))
    return _sampled(world, states, depth, poses, samples)


def _sampled(world: Any, states: Floats, depth: int, poses: int, samples: int) -> Ground:
    """One could have taken the action that was taken, or one of some random ones: a Monte-Carlo sum (paper, eq. 3).

    The same trajectory gives the same actions. What they lead to is on the roadmap too, so that what follows is known.
    """
    digest = hashlib.sha256(states.tobytes()).digest()
    rng = stream(int.from_bytes(digest[:7], "big"), "actions")
    reach = np.asarray(world.reach, dtype=np.float64)
    options, volume = [], []
    for state in states[:-1]:
        tries = rng.uniform(-reach, reach, (_TRIES * samples, len(reach)))
        after = np.asarray(world.step(np.repeat(state[None], len(tries), axis=0), tries))
        free = np.flatnonzero((after != state).any(axis=1))
        options.append(after[free[:samples]])
        volume.append(2.0 ** len(reach) * len(free) / len(tries))  # of all free actions, in units of the world's reach
    graph = local_roadmap(world, states, depth, poses, options)
    count = np.diff(graph.edge_start)[graph.path[:-1]]
    return Ground(world, graph, edges_to_next(graph), np.maximum(volume, _LEAST) / count)


def _check_steps(world: Any, states: Floats, actions: Floats) -> None:
    """An error if the actions `[T, D]` do not lead where the demonstration went, rounding aside."""
    size = len(world.low)
    if actions.shape != (len(states) - 1, size):
        raise RsgError(
            f"{len(states)} states have actions [{len(states) - 1}, {size}] between them, not {list(actions.shape)}"
        )
    after = np.asarray(world.step(states[:-1], actions))
    away = np.abs(differences(space_of(world), after[:, :size], states[1:, :size])).max(axis=1, initial=0.0)
    rest = np.abs(after[:, size:] - states[1:, size:]).max(axis=1, initial=0.0)
    wrong = np.flatnonzero(~(np.maximum(away, rest) <= _CLOSE))
    if len(wrong):
        told = ", ".join(f"{number:g}" for number in actions[wrong[0]])
        raise RsgError(
            f"step {wrong[0]} of the demonstration is not one of this world: action ({told}) leads elsewhere"
        )
