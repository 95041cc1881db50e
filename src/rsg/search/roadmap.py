"""A roadmap: free poses all over a continuous world, and the single actions between them.

It is made once for the obstacles of a world; where a query or a demonstration starts and what else is in its states
comes later, by `attach`.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from rsg.core.errors import RsgError
from rsg.core.random import stream
from rsg.search import roadmap_kernels as kernels
from rsg.search.graph import StateGraph
from rsg.search.motion import connect, free_at, rows_of, space_of, uniform, wrapped
from rsg.search.motion_kernels import Space
from rsg.worlds.continuous import ContinuousWorld

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]

STATES = 2000  # of a roadmap, unless said otherwise
_IN_PASSAGES = 0.1  # share of the poses that are looked for in narrow passages
_TRIES = 20  # poses to look at for each that is wanted
_BRIDGES = 200  # poses to look at for each that is wanted in a narrow passage
_PARTS = 64  # unconnected parts that are looked at, the largest one among them
_LARGE = 0.01  # share of all poses from which on a part is a large one
_JOINING, _JOINING_FEW = 20_000, 500  # samples for a way from a large part to the largest one, and from another part
_KEPT = 16  # roadmaps and the like in memory
_Made = TypeVar("_Made")
_made: OrderedDict[tuple[Any, ...], tuple[Any, Any]] = OrderedDict()


def roadmap(world: ContinuousWorld, state: Floats, size: int = STATES, seed: int = 0) -> StateGraph:
    """Free poses `[S, D]` of the world and the actions between them; made once and kept in memory.

    Args:
        world: where.
        state: `[W]` any state: what else is in it, which a world without `compiled_motion` may look at.
        size: how many poses.
        seed: where chance comes from.

    An edge is an action both ways; its number is that among the edges of its state.
    """
    return _kept("roadmap", world, state, lambda row: _make(world, row, size, seed), size, seed)


def passages(world: ContinuousWorld, state: Floats, size: int = 200, seed: int = 0) -> Floats:
    """Up to so many free poses `[N, D]`, most of them in narrow passages; made once and kept in memory."""
    space, rng = space_of(world), stream(seed, "passages")
    return _kept("passages", world, state, lambda row: _in_passages(world, row, space, rng, size), size, seed)


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


def _obstacles(world: ContinuousWorld, state: Floats) -> tuple[Any, ...]:
    """What tells worlds apart that need roadmaps of their own."""
    space = tuple(part.tobytes() for part in space_of(world))
    if hasattr(world, "compiled_motion"):
        kernel, tables = world.compiled_motion
        return (kernel, *space, world.cost, *_contents(tables))
    return (id(world), *space, world.cost, np.asarray(state)[len(world.low) :].tobytes())


def _contents(tables: Any) -> Iterator[Any]:
    """The numbers in tables, whatever they are made of."""
    if isinstance(tables, (tuple, list)):
        for part in tables:
            yield from _contents(part)
    else:
        yield (np.shape(tables), np.asarray(tables).tobytes())


def _make(world: ContinuousWorld, state: Floats, size: int, seed: int) -> StateGraph:
    space, rng = space_of(world), stream(seed, "roadmap")
    narrow = _in_passages(world, state, space, rng, round(_IN_PASSAGES * size))
    spread = _spread(world, state, space, rng, size - len(narrow))
    poses = np.concatenate([spread, narrow])
    if len(poses) == 0:
        raise RsgError(f"no free pose was found among {_TRIES * size:,}; is there room for the robot?")
    one, other = kernels.near_pairs(space, poses, poses, True)
    passable = _clear_both_ways(world, state, poses[one], poses[other])
    one, other = one[passable], other[passable]
    nothing = np.zeros(len(poses) + 1, dtype=np.int32), np.empty(0, dtype=np.int32)
    ends = np.concatenate([one, other]), np.concatenate([other, one])
    return _joined(world, state, _graph(world, poses, kernels.with_links(*nothing, 0, *ends), nothing[1]), rng)


def _joined(world: ContinuousWorld, state: Floats, roads: StateGraph, rng: np.random.Generator) -> StateGraph:
    """The roadmap with ways, if they can be found, from its unconnected parts to the largest one."""
    space, poses = space_of(world), roads.states
    part = kernels.components(roads.edge_start, roads.edge_end)
    sizes = np.bincount(part)
    largest, *others = np.argsort(-sizes, kind="stable")[:_PARTS]
    main = poses[part == largest]
    for other in others:
        lost = poses[part == other]
        i, j = kernels.closest(space, lost, main)
        budget = _JOINING if len(lost) >= _LARGE * len(part) else _JOINING_FEW
        way = connect(world, rows_of(lost[i : i + 1], state)[0], main[j], rng, budget)
        if len(way.poses) > 2:  # its ends are on the roadmap already
            roads = _poses_of(attach(world, roads, rows_of(way.poses[1:-1], state)), poses.shape[1])
    return roads


def _spread(world: ContinuousWorld, state: Floats, space: Space, rng: np.random.Generator, count: int) -> Floats:
    """So many free poses, spread evenly over the world."""
    shift = rng.random(len(space.low))
    found: list[Floats] = [np.empty((0, len(space.low)))]
    batch = 2 * count
    for begin in range(0, _TRIES * count, batch):
        parts = (halton(begin, begin + batch, len(space.low)) + shift) % 1.0
        poses = space.low + parts * (space.high - space.low)
        found.append(poses[free_at(world, state, poses)])
        if sum(map(len, found)) >= count:
            break
    return np.concatenate(found)[:count]


def halton(begin: int, end: int, size: int) -> Floats:
    """Points `[end - begin, size]` of Halton's sequence, which fill the unit cube evenly.

    >>> halton(1, 4, 2).round(3).tolist()
    [[0.5, 0.333], [0.25, 0.667], [0.75, 0.111]]
    """
    points = np.zeros((end - begin, size))
    for d, base in enumerate(_primes(size)):
        rest, unit = np.arange(begin, end), 1.0
        while rest.any():
            unit /= base
            points[:, d] += unit * (rest % base)
            rest //= base
    return points


def _primes(count: int) -> list[int]:
    found: list[int] = []
    number = 2
    while len(found) < count:
        if all(number % prime for prime in found):
            found.append(number)
        number += 1
    return found


def _in_passages(world: ContinuousWorld, state: Floats, space: Space, rng: np.random.Generator, count: int) -> Floats:
    """Free poses half-way between two that are not, about an action apart: most lie in narrow passages."""
    poses = uniform(space, rng, _BRIDGES * count)
    ones = poses[~free_at(world, state, poses)]
    way = rng.normal(size=ones.shape) * space.reach
    bridged = ~free_at(world, state, wrapped(space, ones + way))
    middle = wrapped(space, ones[bridged] + way[bridged] / 2)
    return middle[free_at(world, state, middle)][:count]


def _clear_both_ways(world: ContinuousWorld, state: Floats, ones: Floats, others: Floats) -> NDArray[np.bool_]:
    there = np.asarray(world.clear(rows_of(ones, state), others), dtype=np.bool_)
    there[there] = world.clear(rows_of(others[there], state), ones[there])
    return there


def _graph(world: ContinuousWorld, states: Floats, edges: tuple[Ints, Ints], path: Ints) -> StateGraph:
    start, end = edges
    cost = np.full(len(end), float(world.cost))
    return StateGraph(states, start, end, kernels.numbers_within(start), cost, path)


def attach(world: ContinuousWorld, roads: StateGraph, states: Floats, trajectory: bool = True) -> StateGraph:
    """The roadmap with given states `[T + 1, W]` on it; these come first.

    Each of them is linked with all poses that are a free action away, the roadmap's and those of other given ones, and
    with the one that follows it if they are a trajectory. What else is in the first one is in all states.
    """
    given, path = _distinct(np.ascontiguousarray(states, dtype=np.float64))
    one, other = _links(world, given, roads.states)
    source, target = np.concatenate([one, other]), np.concatenate([other, one])
    if trajectory:
        known = set(zip(source.tolist(), target.tolist(), strict=True))
        steps = [step for step in dict.fromkeys(pairwise(path.tolist())) if step not in known]
        source, target = np.array(
            [[*source, *(a for a, _ in steps)], [*target, *(b for _, b in steps)]], dtype=np.int32
        )
    edges = kernels.with_links(roads.edge_start, roads.edge_end, len(given), source, target)
    return _graph(world, np.concatenate([given, rows_of(roads.states, given[0])]), edges, path)


def local_roadmap(
    world: ContinuousWorld,
    states: Floats,
    depth: int,
    size: int = STATES,
    options: Sequence[Floats] | None = None,
) -> StateGraph:
    """A trajectory `[T + 1, W]` on a roadmap, and of that all that is within `depth` actions of it.

    It is for continuous worlds what `local_graph` is for others.

    Args:
        world: where.
        states: the trajectory; its states come first.
        depth: how many actions around it the graph reaches.
        size: poses of the roadmap.
        options: for each step the states `[N, W]` that other actions would have led to; then the only edges from there
            are those to them and to the next state, instead of those to all poses that are an action away.
    """
    if states.ndim != 2 or len(states) == 0:
        raise RsgError(f"a graph grows from states [N, W], got {states.shape}")
    if depth < 0:
        raise RsgError(f"depth must be at least 0, not {depth}")
    roads = roadmap(world, states[0], size)
    if options is not None and any(len(some) for some in options):
        roads = _poses_of(attach(world, roads, np.concatenate(options), trajectory=False), roads.states.shape[1])
    whole = attach(world, roads, states)
    start, end = whole.edge_start, whole.edge_end
    if options is not None:
        start, end = _choices(whole, np.repeat(whole.path[:-1], [len(some) for some in options]))
    near = kernels.within(start, end, whole.path, depth)
    return _graph(world, whole.states[near], kernels.among(start, end, near), whole.path)


def _choices(graph: StateGraph, owners: Ints) -> tuple[Ints, Ints]:
    """The edges without those from states of the trajectory to others than the next one and their own options.

    owners: `[N]` of the N states that come after those of the trajectory the one that each is an option of.
    """
    source = np.repeat(np.arange(len(graph.states), dtype=np.int64), np.diff(graph.edge_start))
    end, count = graph.edge_end.astype(np.int64), int(graph.path.max()) + 1
    option = (end >= count) & (end < count + len(owners))
    own = np.zeros(len(end), dtype=np.bool_)
    own[option] = owners[end[option] - count] == source[option]
    steps = graph.path[:-1].astype(np.int64) * len(graph.states) + graph.path[1:]
    kept = ~np.isin(source, graph.path[:-1]) | own | np.isin(source * len(graph.states) + end, steps)
    start = np.searchsorted(source[kept], np.arange(len(graph.states) + 1)).astype(np.int32)
    return start, graph.edge_end[kept]


def _poses_of(graph: StateGraph, size: int) -> StateGraph:
    """A roadmap of a graph of states."""
    return replace(graph, states=np.ascontiguousarray(graph.states[:, :size]), path=graph.path[:0])


def _distinct(states: Floats) -> tuple[Floats, Ints]:
    """States without those that come again, in their order, and which of them each of the given ones is."""
    number: dict[bytes, int] = {}
    path = np.array([number.setdefault(row.tobytes(), len(number)) for row in states], dtype=np.int32)
    return states[np.unique(path, return_index=True)[1]], path


def _links(world: ContinuousWorld, given: Floats, poses: Floats) -> tuple[Ints, Ints]:
    """Pairs of states that are a free action apart, both ways: one of those given, and another one or a pose.

    They are numbered as in the graph: the given ones, then the poses.
    """
    space, own = space_of(world), np.ascontiguousarray(given[:, : poses.shape[1]])
    one, other = kernels.near_pairs(space, own, poses, False)
    among = kernels.near_pairs(space, own, own, True)
    one, other = np.concatenate([among[0], one]), np.concatenate([among[1], other + np.int32(len(given))])
    passable = _clear_both_ways(world, given[0], own[one], np.concatenate([own, poses])[other])
    return one[passable], other[passable]
