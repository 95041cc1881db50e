"""State graphs, of worlds with a compiled step and without, against plain ones, and what a graph knows of itself."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.reference import graph as plain
from tests.reference.search import ByteWorld, NumberWorld, TableWorld

from rsg.core.compiled import inlined
from rsg.core.errors import RsgError
from rsg.core.random import stream
from rsg.domains.crafting import CraftingWorld
from rsg.domains.crafting.maps import KINDS, sample_map
from rsg.search import StateGraph, local_graph

pytestmark = [
    pytest.mark.kernels,
    pytest.mark.filterwarnings("ignore:overflow encountered in scalar multiply"),  # the hash, uncompiled
]
ARRAYS = ["states", "edge_start", "edge_end", "edge_action", "edge_cost", "path"]


class Batched:
    """A world without its compiled step."""

    def __init__(self, world):
        self.actions, self.costs, self.successors = world.actions, world.costs, world.successors


class WideNumberWorld(TableWorld):
    """Like `NumberWorld`, with float64."""

    def __init__(self, after, costs):
        super().__init__(after, costs, np.arange(len(after), dtype=np.float64)[:, None] - len(after) // 2)

    @property
    def compiled_step(self):
        return shifted_step, (self.after, len(self.after) // 2)


@inlined
def shifted_step(tables, states, i, action, out, j):
    after, middle = tables
    out[j, 0] = after[np.int64(states[i, 0]) + middle, action] - middle


def random_walk(world, state, rng, steps):
    """The states `[steps + 1, W]` of a random trajectory."""
    states = [state]
    for action in rng.integers(len(world.actions), size=steps):
        states.append(world.step(states[-1][None], np.array([action]))[0])
    return np.stack(states)


def random_table(rng, make_world, states=(1, 40), **arguments):
    count, actions = int(rng.integers(states[0], states[1] + 1)), int(rng.integers(1, 6))
    return make_world(rng.integers(count, size=(count, actions)), rng.random(actions) + 0.1, **arguments)


def grown(world, *arguments):
    """The graph, or the error in words."""
    try:
        return local_graph(world, *arguments)
    except RsgError as error:
        return str(error)


def assert_same(one, other):
    assert type(one) is type(other)
    if isinstance(one, str):
        assert one == other
        return
    for name in ARRAYS:
        left, right = getattr(one, name), getattr(other, name)
        assert left.dtype == right.dtype, name
        assert left.shape == right.shape, name
        assert left.tobytes() == right.tobytes(), name


def compare(world, states, depth, *limit):
    """With the compiled step, with whole layers, and the plain graph; gives the graph."""
    graph = grown(world, states, depth, *limit)
    assert_same(graph, grown(Batched(world), states, depth, *limit))
    if isinstance(graph, StateGraph):
        rows, edges, path = plain.around(world, states, depth)
        assert graph.states.tobytes() == rows.tobytes()
        assert graph.path.tolist() == path
        assert [len(some) for some in edges] == np.diff(graph.edge_start).tolist()
        found = list(zip(graph.edge_action.tolist(), graph.edge_end.tolist(), strict=True))
        assert found == [edge for some in edges for edge in some]
        assert np.array_equal(graph.edge_cost, world.costs[graph.edge_action])
    return graph


def reversed_by_sorting(graph):
    source = np.repeat(np.arange(len(graph.states), dtype=np.int32), np.diff(graph.edge_start))
    order = np.argsort(graph.edge_end, kind="stable")
    start = np.searchsorted(graph.edge_end[order], np.arange(len(graph.states) + 1)).astype(np.int32)
    return start, source[order], graph.edge_cost[order]


def assert_reversed(graph):
    for found, expected in zip(graph.arrays[3:], reversed_by_sorting(graph), strict=True):
        assert found.dtype == expected.dtype
        assert np.array_equal(found, expected)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32), st.sampled_from(sorted(KINDS)), st.integers(0, 4), st.integers(0, 12))
def test_both_ways_give_the_same_graph_of_a_map(seed, kind, depth, steps):
    rng = stream(seed, "graph of a map")
    world, state = sample_map(kind, rng)
    states = random_walk(world, state, rng, steps)
    graph = compare(world, states, depth)
    assert np.array_equal(graph.states[graph.path], states)
    assert_reversed(graph)
    size = len(graph.states)
    assert_same(compare(world, states, depth, size), graph)
    few = int(rng.integers(size))
    assert (
        compare(world, states, depth, few) == f"more than {few} states within {depth} actions; choose a smaller depth"
    )


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 2**32), st.integers(1, 4), st.integers(1, 4), st.integers(1, 9), st.integers(0, 4))
def test_both_ways_give_the_same_graph_for_any_size_of_map(seed, height, width, capacity, depth):
    rng = stream(seed, "graph of any size")
    world = CraftingWorld(height, width, capacity)
    compare(world, random_walk(world, world.sample(rng, 1)[0], rng, 3), depth)


WORLDS = {
    **{f"{width} bytes": (ByteWorld, {"width": width}) for width in (1, 3, 7, 8)},
    "float32": (NumberWorld, {}),
    "float64": (WideNumberWorld, {}),
}


@pytest.mark.parametrize("name", WORLDS)
def test_both_ways_give_the_same_graph_whatever_a_state_is_made_of(name):
    make_world, arguments = WORLDS[name]
    rng = stream(0, "widths", name)
    for depth in (0, 1, 2, 3, 4, 50, 2**70):
        world = random_table(rng, make_world, **arguments)
        states = world.rows[rng.integers(len(world.rows), size=rng.integers(1, 12))]
        assert_reversed(compare(world, states, depth))
        compare(world, states, depth, int(rng.integers(len(world.rows))))


def test_a_graph_that_outgrows_its_first_room_many_times():
    rng = stream(0, "growing")
    world = random_table(rng, ByteWorld, states=(2000, 2000))
    world.after[:, 0] = (np.arange(2000) + 1) % 2000
    assert len(compare(world, world.rows[:1], 2000).states) == 2000
    assert len(compare(world, world.rows[::-1], 0).states) == 2000


def test_a_world_without_a_compiled_step():
    after = [[1, 0], [2, 0], [2, 1], [3, 3]]
    world = TableWorld(after, [0.5, 1.0], np.array([[0.1, -0.0], [0.1, 0.0], [np.nan, 1e300], [7.0, 7.0]]))
    graph = local_graph(world, world.rows[[1, 1]], depth=1)
    assert world.numbers(graph.states).tolist() == [1, 2, 0]
    assert graph.states.dtype == np.float64
    assert graph.path.tolist() == [0, 0]
    assert graph.edge_start.tolist() == [0, 2, 4, 6]
    assert graph.edge_end.tolist() == [1, 2, 1, 0, 0, 2]
    assert graph.edge_action.tolist() == [0, 1] * 3
    assert graph.edge_cost.tolist() == [0.5, 1.0] * 3
    assert_reversed(graph)


def test_the_last_layer_has_only_edges_to_known_states():
    world = ByteWorld([[1, 0], [2, 0], [3, 1], [3, 3]], [0.5, 1.0])
    graph = compare(world, world.rows[:1], 1)
    assert graph.edge_start.tolist() == [0, 2, 3]
    assert graph.edge_end.tolist() == [1, 0, 0]
    assert graph.edge_action.tolist() == [0, 1, 1]


def test_states_that_lie_elsewhere_in_memory_stay_as_they_are():
    rng = stream(0, "elsewhere")
    world, state = sample_map("garden", rng)
    states = random_walk(world, state, rng, 5)
    expected = local_graph(world, states, 2)
    frozen = np.asfortranarray(states)
    frozen.flags.writeable = False
    assert_same(local_graph(world, frozen, 2), expected)
    assert np.array_equal(frozen, states)
    expected.states[:] = 0
    assert np.array_equal(frozen, states)


def test_states_of_another_world_are_refused():
    world, state = sample_map("garden", stream(0, "refused"))
    off_the_map = state.copy()
    off_the_map[0] = 200
    for wrong in (state.astype(np.int64), state[:-1], off_the_map):
        with pytest.raises(RsgError, match="Crafting World"):
            local_graph(world, wrong[None], 2)


def test_several_threads_at_once():
    rng = stream(0, "threads")
    worlds = [sample_map(kind, rng) for kind in sorted(KINDS)[:4] for _ in range(3)]
    cases = [(world, random_walk(world, state, rng, 6), 3) for world, state in worlds]
    expected = [local_graph(*case) for case in cases]
    with ThreadPoolExecutor(4) as pool:
        for graph, alone in zip(pool.map(lambda case: local_graph(*case), cases * 4), expected * 4, strict=True):
            assert_same(graph, alone)


def random_graph(rng):
    """Any edges in any order, and that order."""
    count = int(rng.integers(1, 30))
    source, target = rng.integers(count, size=(2, int(rng.integers(0, 60)))).astype(np.int32)
    path = rng.integers(count, size=3).astype(np.int32)
    return StateGraph.of(np.arange(count)[:, None], source, target, rng.random(len(source)), path), source, target


@pytest.mark.parametrize("seed", range(20))
def test_a_graph_of_edges_in_any_order(seed):
    graph, source, target = random_graph(stream(seed, "any order"))
    assert_reversed(graph)
    assert graph.arrays is graph.arrays
    for s in range(len(graph.states)):
        mine = slice(graph.edge_start[s], graph.edge_start[s + 1])
        assert graph.edge_end[mine].tolist() == target[source == s].tolist()
        assert graph.edge_action[mine].tolist() == list(range(np.sum(source == s)))
        assert (graph.edge_source[mine] == s).all()


@pytest.mark.parametrize("seed", range(20))
def test_a_part_of_a_graph_has_the_edges_among_its_states(seed):
    rng = stream(seed, "part")
    graph, _, _ = random_graph(rng)
    kept = np.union1d(graph.path, np.flatnonzero(rng.random(len(graph.states)) < 0.6))
    part = graph.sub(kept)
    assert np.array_equal(part.states, graph.states[kept])
    assert np.array_equal(part.states[part.path], graph.states[graph.path])
    among = np.isin(graph.edge_source, kept) & np.isin(graph.edge_end, kept)
    assert np.array_equal(kept[part.edge_source], graph.edge_source[among])
    assert np.array_equal(kept[part.edge_end], graph.edge_end[among])
    assert np.array_equal(part.edge_cost, graph.edge_cost[among])


@pytest.mark.parametrize("seed", range(20))
def test_steps_and_connected_parts_are_those_of_plain_counting(seed):
    rng = stream(seed, "steps")
    one_way, source, target = random_graph(rng)
    sources = rng.integers(len(one_way.states), size=2)
    steps = np.where(np.isin(np.arange(len(one_way.states)), sources), 0, -1)
    for distance in range(len(steps)):
        after = one_way.edge_end[steps[one_way.edge_source] == distance]
        steps[after] = np.where(steps[after] < 0, distance + 1, steps[after])
    assert one_way.steps_from(sources).tolist() == steps.tolist()
    ends = np.concatenate([source, target]), np.concatenate([target, source])
    graph = StateGraph.of(one_way.states, *ends, np.ones(len(ends[0])), one_way.path)
    parts = graph.parts()
    for s in range(len(parts)):
        assert np.array_equal(parts == parts[s], graph.steps_from(np.array([s])) >= 0)
    assert list(dict.fromkeys(parts.tolist())) == list(range(parts.max() + 1))


def test_the_memory_of_a_graph():
    world = ByteWorld([[1, 0], [0, 1]], [0.5, 1.0], width=3)
    graph = local_graph(world, world.rows, 0)
    assert graph.size_bytes == 2 * 3 + 3 * 4 + 4 * (4 + 4 + 8) + 2 * 4
    assert graph.size_bytes == sum(getattr(graph, name).nbytes for name in ARRAYS)
