"""Rationality over sampled actions (paper, eq. 3, where actions are continuous).

The denominator of eq. 3 is an integral over all actions. Here it is a Monte-Carlo sum: at each step the action that was
taken, and some random ones, each standing for its share of the volume of free actions. The package sums over the edges
of a roadmap instead. What the random actions lead to is on the roadmap too, so that what follows is known.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rsg.core.random import stream
from rsg.demos import Demonstration, actions_of
from rsg.search import StateGraph, attach, roadmap
from rsg.subgoals import RationalSubgoals
from rsg.subgoals.ground import Ground, check_steps, edges_to_next
from rsg.subgoals.rationality import Walk

Floats = NDArray[np.float64]
POSES = 2000  # of the roadmap
SAMPLES = 20  # actions at each step
TRIES = 20  # actions to look at for each free one that is wanted
LEAST = 1e-3  # of the volume of free actions: one was free, it was taken


class SampledActions(RationalSubgoals):
    """RSG in a continuous world with a sum over sampled actions."""

    samples = SAMPLES

    def around(self, demo: Demonstration) -> Ground:
        """The demonstration, what else could have been done at each step, and the roadmap around all that."""
        sizes = (self.settings.depth, POSES, self.samples)
        return sampled_ground(self.world_of(demo), demo.states, actions_of(demo), sizes)


def sampled_ground(world: Any, states: NDArray[Any], actions: NDArray[Any], sizes: tuple[int, int, int]) -> Ground:
    """The same trajectory gives the same actions. sizes: depth around it, poses of the roadmap, samples per step."""
    depth, poses, samples = sizes
    states = np.asarray(states, dtype=np.float64)
    check_steps(world, states, np.asarray(actions, dtype=np.float64))
    rng = stream(int.from_bytes(hashlib.sha256(states.tobytes()).digest()[:7], "big"), "actions")
    reach = np.asarray(world.reach, dtype=np.float64)
    options, volume = [], []
    for state in states[:-1]:
        tries = rng.uniform(-reach, reach, (TRIES * samples, len(reach)))
        after = np.asarray(world.step(np.repeat(state[None], len(tries), axis=0), tries))
        free = np.flatnonzero((after != state).any(axis=1))
        options.append(after[free[:samples]])
        volume.append(2.0 ** len(reach) * len(free) / len(tries))  # of all free actions, in units of the world's reach
    graph = with_options(world, states, options, depth, poses)
    count = np.diff(graph.edge_start)[graph.path[:-1]]
    return Ground(world, graph, Walk(graph.path, edges_to_next(graph), np.maximum(volume, LEAST) / count))


def with_options(world: Any, states: Floats, options: Sequence[Floats], depth: int, poses: int) -> StateGraph:
    """The trajectory on a roadmap; the only edges from each of its states are to the next one and to its options."""
    roads = roadmap(world, states[0], poses)
    if any(len(some) for some in options):
        wider = attach(world, roads, np.concatenate(options), trajectory=False)
        width = roads.states.shape[1]
        roads = replace(wider, states=np.ascontiguousarray(wider.states[:, :width]), path=wider.path[:0])
    graph = attach(world, roads, states)
    owner = np.full(len(graph.states), -1)  # of each state the one of the trajectory that it is an option of
    first = int(graph.path.max()) + 1
    owners = np.repeat(graph.path[:-1], [len(some) for some in options])
    owner[first : first + len(owners)] = owners
    follows = set(zip(graph.path[:-1].tolist(), graph.path[1:].tolist(), strict=True))
    steps = np.array(
        [pair in follows for pair in zip(graph.edge_source.tolist(), graph.edge_end.tolist(), strict=True)]
    )
    kept = ~np.isin(graph.edge_source, graph.path[:-1]) | (owner[graph.edge_end] == graph.edge_source) | steps
    edges = graph.edge_source[kept], graph.edge_end[kept], graph.edge_cost[kept]
    graph = StateGraph.of(graph.states, *edges, graph.path)
    away = graph.steps_from(graph.path.astype(np.int64))
    return graph.sub(np.flatnonzero((away >= 0) & (away <= depth)))
