"""Where a demonstration took place: the graph of states around it, whatever kind of world it is in."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rsg.core.arrays import Array, Floats
from rsg.core.compiled import compiled
from rsg.core.errors import RsgError
from rsg.search import StateGraph, chain, local_graph, local_roadmap
from rsg.search.graph import Edges
from rsg.search.motion.space import differences, space_of
from rsg.subgoals.rationality import Walk
from rsg.worlds import (
    ContinuousWorld,
    EitherWorld,
    World,
    chance_in,
    is_continuous,
    is_recorded,
    require,
    unit_of,
    varying,
)

_CLOSE = 1e-6  # in actions: how far a step may lead from where the demonstration went on


@dataclass(frozen=True, eq=False)
class Ground:
    """A demonstration's world, the graph around it, and the demonstration on that graph."""

    world: EitherWorld
    graph: StateGraph
    walk: Walk

    @property
    def size_bytes(self) -> int:
        """Its memory, about: the graph, with its edges turned around, and the demonstration."""
        return 3 * self.graph.size_bytes + 1000


def ground(world: EitherWorld, states: NDArray[Any], actions: NDArray[Any], depth: int, poses: int = 2000) -> Ground:
    """The graph of what is within `depth` actions of a trajectory; steps that its world denies are an error.

    Its costs are in the unit of the paper, whatever unit those of the world are in (`rsg.worlds.unit_of`).

    Actions are `[T]`, or `[T, D]` in a continuous world, where the graph is a part of a roadmap of so many poses.
    """
    require(world, states)
    if is_recorded(world):
        graph = chain(states)
        taken = edges_to_next(graph)
    elif is_continuous(world):
        states, actions = np.asarray(states, dtype=np.float64), np.asarray(actions, dtype=np.float64)
        check_steps(world, states, actions)
        graph = local_roadmap(world, states, depth, poses)
        taken = edges_to_next(graph)
    else:
        graph = local_graph(world, states, depth)
        taken = _taken_in(world, graph, states, np.asarray(actions))
    if (unit := unit_of(world)) != 1.0:
        graph = replace(graph, edge_cost=graph.edge_cost / unit)
    return Ground(world, graph, Walk(graph.path, taken, np.ones(len(taken))))


def _taken_in(world: World, graph: StateGraph, states: Array, actions: Array) -> NDArray[np.int32]:
    """The edges that a demonstration took; if it took others, was that chance, or is this another world?"""
    try:
        taken = taken_edges(graph, actions)
    except RsgError as error:
        known = actions.ndim == 1 and np.isin(actions, np.arange(len(world.actions)))
        wrong = next((n for n in np.flatnonzero(known).tolist() if chance_in(world, states[n], actions[n])), None)
        if wrong is None:
            raise RsgError(f"{error}; it is another world, or a stochastic one") from None
        raise _by_chance(wrong, world.actions[actions[wrong]]) from None
    if not hasattr(world, "compiled_step") and (wrong := varying(world, states, actions)) is not None:
        raise _by_chance(wrong, world.actions[actions[wrong]])
    return taken


def _by_chance(step: int, name: str) -> RsgError:
    return RsgError(
        f"step {step} of the demonstration, '{name}', leads elsewhere when it is taken again: the world is stochastic, "
        "and rsg learns in deterministic ones"
    )


def check_steps(world: ContinuousWorld, states: Floats, actions: Floats) -> None:
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


def taken_edges(graph: StateGraph, actions: NDArray[Any]) -> NDArray[np.int32]:
    """The edges `[T]` of a graph that a demonstration took; an error if its actions do not lead where it went."""
    actions = np.asarray(actions)
    if actions.shape != (len(graph.path) - 1,) or actions.dtype.kind not in "iu":
        raise RsgError(f"actions are whole numbers [T] in this world, not {actions.dtype} {list(actions.shape)}")
    taken = _taken(graph.arrays, graph.path, graph.edge_action, actions.astype(np.int64))
    if (taken < 0).any():
        step, most = int(taken.argmin()), int(graph.edge_action.max(initial=0))
        why = "leads elsewhere" if 0 <= actions[step] <= most else f"is none; actions are numbers from 0 to {most}"
        raise RsgError(f"step {step} of the demonstration is not one of this world: action {actions[step]} {why}")
    return taken


def edges_to_next(graph: StateGraph) -> NDArray[np.int32]:
    """The edges `[T]` from each state of the trajectory to the one after it, whatever their actions are."""
    taken = _taken(graph.arrays, graph.path, graph.edge_action, np.empty(0, dtype=np.int64))
    if (taken < 0).any():
        raise RsgError(f"step {int(taken.argmin())} of the trajectory is no edge of the graph")
    return taken


@compiled
def _taken(edges: Edges, path: Array, edge_action: Array, actions: Array) -> NDArray[np.int32]:
    """The last edge of each step, -1 if there is none; with actions, the last that is one of its action."""
    taken = np.full(len(path) - 1, -1, dtype=np.int32)
    for i in range(len(taken)):
        for edge in range(edges.start[path[i]], edges.start[path[i] + 1]):
            if edges.end[edge] == path[i + 1] and (len(actions) == 0 or edge_action[edge] == actions[i]):
                taken[i] = edge
    return taken
