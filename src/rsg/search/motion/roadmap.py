"""A roadmap: free poses all over a continuous world, and the single actions between them.

It is made once for the obstacles of a world; where a query or a demonstration starts and what else is in its states
comes later, by `attach`.
"""

from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from rsg.core.arrays import Floats, Indices
from rsg.core.compiled import compiled
from rsg.core.errors import RsgError
from rsg.core.random import stream
from rsg.search.graph import StateGraph, check_growth
from rsg.search.motion.sampling import TRIES, in_passages, spread
from rsg.search.motion.space import ROUNDING, Space, difference, differences, rows_of, space_of
from rsg.search.motion.trees import connect, nearest
from rsg.worlds.protocol import ContinuousWorld

STATES = 2000  # of a roadmap, unless said otherwise
_IN_PASSAGES = 0.1  # share of the poses that are looked for in narrow passages
_PARTS = 64  # unconnected parts that are looked at, the largest one among them
_LARGE = 0.01  # share of all poses from which on a part is a large one
_JOINING, _JOINING_FEW = 20_000, 500  # samples for a way from a large part to the largest one, and from another part
_KEPT = 16  # roadmaps and the like in memory
_Made = TypeVar("_Made")
_made: OrderedDict[tuple[object, ...], tuple[ContinuousWorld, Any]] = OrderedDict()


def roadmap(world: ContinuousWorld, state: Floats, size: int = STATES, seed: int = 0) -> StateGraph:
    """Free poses `[S, D]` of the world and the actions between them; made once and kept in memory.

    state: `[W]` any state: what else is in it, which a world without `compiled_motion` may look at.

    An edge is an action both ways; its number is that among the edges of its state.
    """
    return _kept("roadmap", world, state, lambda row: _make(world, row, size, seed), size, seed)


def passages(world: ContinuousWorld, state: Floats, size: int = 200, seed: int = 0) -> Floats:
    """Up to so many free poses `[N, D]`, most of them in narrow passages; made once and kept in memory."""
    rng = stream(seed, "passages")
    return _kept("passages", world, state, lambda row: in_passages(world, row, rng, size), size, seed)


def _kept(kind: str, world: ContinuousWorld, state: Floats, make: Callable[[Floats], _Made], *how: int) -> _Made:
    """What was made for a world with the same obstacles, or what is made now."""
    key = (kind, *_obstacles(world, state), *how)
    if key not in _made:
        _made[key] = world, make(np.asarray(state, dtype=np.float64))  # with the world: another one may get its id
        while len(_made) > _KEPT:
            _made.popitem(last=False)
    _made.move_to_end(key)
    made: _Made = _made[key][1]
    return made


def _obstacles(world: ContinuousWorld, state: Floats) -> tuple[object, ...]:
    """What tells worlds apart that need roadmaps of their own."""
    space = space_of(world).tobytes()
    if hasattr(world, "compiled_motion"):
        kernel, tables = world.compiled_motion
        return (kernel, space, world.cost, *_contents(tables))
    return (id(world), space, world.cost, np.asarray(state)[len(world.low) :].tobytes())


def _contents(tables: ArrayLike | tuple[ArrayLike, ...]) -> Iterator[object]:
    """The numbers in tables, whatever they are made of."""
    if isinstance(tables, (tuple, list)):
        for part in tables:
            yield from _contents(part)
    else:
        yield (np.shape(tables), np.asarray(tables).tobytes())


def _make(world: ContinuousWorld, state: Floats, size: int, seed: int) -> StateGraph:
    rng = stream(seed, "roadmap")
    narrow = in_passages(world, state, rng, round(_IN_PASSAGES * size))
    poses = np.concatenate([spread(world, state, rng, size - len(narrow)), narrow])
    if len(poses) == 0:
        raise RsgError(f"no free pose was found among {TRIES * size:,}; is there room for the robot?")
    pairs = _clear(world, state, poses, near_pairs(space_of(world), poses, poses, True))
    roads = _graph(world, poses, [pairs.T, pairs.T[::-1]], np.empty(0, dtype=np.int32))
    return _joined(world, state, roads, rng)


def _joined(world: ContinuousWorld, state: Floats, roads: StateGraph, rng: np.random.Generator) -> StateGraph:
    """The roadmap with ways, if they can be found, from its unconnected parts to the largest one."""
    space, poses = space_of(world), roads.states
    part = roads.parts()
    sizes = np.bincount(part)
    largest, *others = np.argsort(-sizes, kind="stable")[:_PARTS]
    main = poses[part == largest]
    for other in others:
        lost = poses[part == other]
        i, j = _closest(space, lost, main)
        budget = _JOINING if len(lost) >= _LARGE * len(part) else _JOINING_FEW
        way = connect(world, rows_of(lost[i : i + 1], state)[0], main[j], rng, budget)
        if len(way.poses) > 2:  # its ends are on the roadmap already
            roads = _poses_of(attach(world, roads, rows_of(way.poses[1:-1], state)), poses.shape[1])
    return roads


def _closest(space: Space, ones: Floats, others: Floats) -> tuple[int, int]:
    """The two poses, one of `ones` and one of `others`, with the fewest actions between them."""
    near = [nearest(space, others, len(others), one) for one in ones]
    away = (np.abs(differences(space, ones, others[near])) / space["reach"]).max(axis=1)
    first = int(np.argmin(away))
    return first, near[first]


def _clear(world: ContinuousWorld, state: Floats, poses: Floats, pairs: Indices) -> Indices:
    """Those of the pairs `[N, 2]` of poses between which both ways are free."""
    one, other = poses[pairs[:, 0]], poses[pairs[:, 1]]
    there = np.asarray(world.clear(rows_of(one, state), other), dtype=np.bool_)
    there[there] = world.clear(rows_of(other[there], state), one[there])
    return pairs[there]


def _graph(world: ContinuousWorld, states: Floats, edges: Sequence[Indices], path: Indices) -> StateGraph:
    """The graph with these edges, `[2, N]` each: from one state to another. Those of a state stay in this order."""
    source, target = np.concatenate(edges, axis=1)
    return StateGraph.of(states, source, target, np.full(len(source), float(world.cost)), path)


def attach(world: ContinuousWorld, roads: StateGraph, states: Floats, trajectory: bool = True) -> StateGraph:
    """The roadmap with given states `[T + 1, W]` on it; these come first.

    Each of them is linked with all poses that are a free action away, the roadmap's and those of other given ones, and
    with the one that follows it if they are a trajectory. What else is in the first one is in all states.
    """
    given, path = _distinct(np.ascontiguousarray(states, dtype=np.float64))
    links = _links(world, given, roads.states).T
    edges = [links, links[::-1]]
    if trajectory:
        known = {(a, b) for pairs in edges for a, b in pairs.T.tolist()}
        steps = [step for step in dict.fromkeys(pairwise(path.tolist())) if step not in known]
        edges.append(np.array(steps, dtype=np.int32).reshape(-1, 2).T)
    edges.append(np.stack([roads.edge_source, roads.edge_end]) + np.int32(len(given)))
    return _graph(world, np.concatenate([given, rows_of(roads.states, given[0])]), edges, path)


def local_roadmap(world: ContinuousWorld, states: Floats, depth: int, size: int = STATES) -> StateGraph:
    """A trajectory `[T + 1, W]` on a roadmap, and of that all that is within `depth` actions of it.

    It is for continuous worlds what `local_graph` is for others.

    The trajectory comes first among the states; size: poses of the roadmap.
    """
    check_growth(states, depth)
    whole = attach(world, roadmap(world, states[0], size), states)
    steps = whole.steps_from(whole.path.astype(np.int64))
    return whole.sub(np.flatnonzero((steps >= 0) & (steps <= depth)))


def _poses_of(graph: StateGraph, size: int) -> StateGraph:
    """A roadmap of a graph of states."""
    return replace(graph, states=np.ascontiguousarray(graph.states[:, :size]), path=graph.path[:0])


def _distinct(states: Floats) -> tuple[Floats, Indices]:
    """States without those that come again, in their order, and which of them each of the given ones is."""
    number: dict[bytes, int] = {}
    path = np.array([number.setdefault(row.tobytes(), len(number)) for row in states], dtype=np.int32)
    return states[np.unique(path, return_index=True)[1]], path


def _links(world: ContinuousWorld, given: Floats, poses: Floats) -> Indices:
    """Pairs `[N, 2]` of states that are a free action apart, both ways: one of those given, and another one or a pose.

    They are numbered as in the graph: the given ones, then the poses.
    """
    space, own = space_of(world), np.ascontiguousarray(given[:, : poses.shape[1]])
    beyond = near_pairs(space, own, poses, False) + np.array([0, len(given)], dtype=np.int32)
    pairs = np.concatenate([near_pairs(space, own, own, True), beyond])
    return _clear(world, given[0], np.concatenate([own, poses]), pairs)


@compiled
def near_pairs(space: Space, ones: Floats, others: Floats, within: bool) -> Indices:
    """The pairs `[N, 2]` of poses that are at most one action apart: one of `ones`, and one of `others`.

    within: both are the same poses, and each pair is told once, the lower number first.
    """
    pairs = np.empty((64, 2), dtype=np.int32)
    count = 0
    for i in range(len(ones)):
        for j in range(i + 1 if within else 0, len(others)):
            near = True
            for d in range(len(space)):
                if abs(difference(space, ones[i], others[j], d)) > space[d].reach * (1 + ROUNDING):
                    near = False
                    break
            if not near:
                continue
            if count == len(pairs):
                more = np.empty((4 * count, 2), dtype=np.int32)
                for k in range(count):
                    more[k, 0], more[k, 1] = pairs[k, 0], pairs[k, 1]
                pairs = more
            pairs[count, 0], pairs[count, 1] = i, j
            count += 1
    return pairs[:count].copy()
