"""Beam graphs by their kernel against the same graphs by dictionary, and what is in them."""

from math import inf

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.reference.search import ByteWorld, NumberWorld, TableWorld, read_number

from rsg.core.compiled import compiled
from rsg.core.errors import RsgError
from rsg.core.random import stream
from rsg.language import Machine, parse
from rsg.search import beam_graph as beams
from rsg.search import cost_to_go, local_graph
from rsg.search.beam_graph import beam_graph
from rsg.worlds.crafting.maps import KINDS, sample_map

pytestmark = [
    pytest.mark.kernels,
    pytest.mark.filterwarnings("ignore:overflow encountered in scalar"),  # hashes, uncompiled
]
SLOW = bool(numba.config.DISABLE_JIT)
ARRAYS = ["states", "edge_start", "edge_end", "edge_action", "edge_cost", "path"]
TASKS = ["a", "a then b", "a or b then c", "a and b then c"]


class Batched:
    """A world without its compiled step."""

    def __init__(self, world):
        self.actions, self.costs, self.successors = world.actions, world.costs, world.successors


class TableValues:
    """Values given by a table `[S, V]`, with a compiled form where the world has one."""

    def __init__(self, world, table):
        self.world, self.table = world, table
        if isinstance(world, ByteWorld):
            self.compiled = (byte_value, (table, world.width))
        elif isinstance(world, NumberWorld):
            self.compiled = (number_value, (table,))

    def __call__(self, states):
        return self.table[self.world.numbers(states)]


@compiled
def byte_value(tables, states, i, v):
    table, width = tables
    return table[read_number(states, i, width), v]


@compiled
def number_value(tables, states, i, v):
    (table,) = tables
    return table[np.int64(states[i, 0]), v]


def machine_of(text):
    return Machine.of(parse(text))


def random_walk(world, state, rng, steps):
    """The states `[steps + 1, W]` of a random trajectory."""
    states = [state]
    for action in rng.integers(len(world.actions), size=steps):
        states.append(world.step(states[-1][None], np.array([action]))[0])
    return np.stack(states)


def random_table(rng, make_world, count=200, actions=4):
    return make_world(rng.integers(count, size=(count, actions)), rng.random(actions) + 0.1)


def assert_same(one, other):
    for name in ARRAYS:
        left, right = getattr(one, name), getattr(other, name)
        assert left.dtype == right.dtype, name
        assert left.shape == right.shape, name
        assert left.tobytes() == right.tobytes(), name


def rows(states):
    return {row.tobytes() for row in states}


def compare(world, states, machine, values, layers, seed=0):
    """The kernel against the dictionary; gives the graph."""
    graph = beam_graph(world, states, machine, values, layers, stream(seed, "beams"))
    by_rows = None if values is None else lambda states: values(states)
    assert_same(graph, beam_graph(Batched(world), states, machine, by_rows, layers, stream(seed, "beams")))
    return graph


# Both ways.


@settings(max_examples=5 if SLOW else 25, deadline=None)
@given(st.integers(0, 2**32), st.sampled_from(sorted(KINDS)), st.integers(1, 3), st.integers(0, 8), st.integers(1, 12))
def test_both_ways_give_the_same_graph_of_a_map(seed, kind, full, narrow, beam):
    rng = stream(seed, "beams on a map")
    world, state = sample_map(kind, rng)
    states = random_walk(world, state, rng, int(rng.integers(8)))
    graph = compare(world, states, machine_of(TASKS[seed % len(TASKS)]), None, (full, narrow, beam), seed)
    assert np.array_equal(graph.states[graph.path], states)
    assert len(rows(graph.states)) == len(graph.states)


@pytest.mark.parametrize("make_world", [ByteWorld, NumberWorld])
def test_both_ways_give_the_same_graph_with_values(make_world):
    rng = stream(0, "beams with values", make_world.__name__)
    for case in range(6 if SLOW else 60):
        world = random_table(rng, make_world)
        machine = machine_of(TASKS[case % len(TASKS)])
        table = rng.integers(5, size=(len(world.rows), machine.nodes)).astype(np.float64)  # many are equal
        states = world.rows[rng.integers(len(world.rows), size=rng.integers(1, 5))]
        layers = (int(rng.integers(1, 3)), int(rng.integers(6)), int(rng.integers(1, 8)))
        compare(world, states, machine, TableValues(world, table), layers, case)


def test_values_without_a_compiled_form_are_asked_by_rows():
    rng = stream(0, "asked by rows")
    world, machine = random_table(rng, ByteWorld), machine_of("a then b")
    values = TableValues(world, rng.random((200, machine.nodes)))
    expected = beam_graph(world, world.rows[:2], machine, values, (1, 4, 3), stream(0, "x"))
    assert_same(beam_graph(world, world.rows[:2], machine, values.__call__, (1, 4, 3), stream(0, "x")), expected)


def test_a_pool_that_outgrows_its_first_room_many_times():
    rng = stream(0, "growing")
    world = random_table(rng, ByteWorld, 4000, 5)
    graph = compare(world, world.rows[:1], machine_of("a and b and c"), None, (2, 20 if SLOW else 60, 30))
    assert len(graph.states) > 1000


# What is in it.


def test_the_full_layers_are_those_of_the_local_graph():
    rng = stream(0, "full layers")
    world, state = sample_map("garden", rng)
    states = random_walk(world, state, rng, 5)
    for full in (1, 2, 3):
        local = local_graph(world, states, full)
        assert_same(compare(world, states, machine_of("a then b"), None, (full, 0, 1)), local)
        graph = compare(world, states, machine_of("a then b"), None, (full, 4, 5))
        assert np.array_equal(graph.states[: len(local.states)], local.states)
        assert np.array_equal(graph.path, local.path)


def test_every_state_of_the_demonstration_has_all_its_actions():
    rng = stream(0, "all actions")
    world = random_table(rng, ByteWorld)
    graph = compare(world, random_walk(world, world.rows[0], rng, 6), machine_of("a then b"), None, (1, 5, 2))
    for s in graph.path:
        edges = slice(graph.edge_start[s], graph.edge_start[s + 1])
        assert graph.edge_action[edges].tolist() == [0, 1, 2, 3]


def test_all_edges_among_the_states_and_no_others():
    rng = stream(0, "all edges")
    world = random_table(rng, ByteWorld)
    graph = compare(world, world.rows[:2], machine_of("a and b"), None, (1, 6, 3))
    inside = {int(number): s for s, number in enumerate(world.numbers(graph.states))}
    expected = [
        (s, action, inside[int(end)])
        for number, s in inside.items()
        for action, end in enumerate(world.after[number])
        if int(end) in inside
    ]
    source = np.repeat(np.arange(len(graph.states)), np.diff(graph.edge_start))
    assert sorted(zip(source, graph.edge_action, graph.edge_end, strict=True)) == sorted(expected)
    assert np.array_equal(graph.edge_cost, world.costs[graph.edge_action])


def test_a_beam_keeps_the_best_of_each_layer():
    """A tree: state s leads to 2 s + 1 and 2 s + 2. Its value at node 1 is its number, at node 2 minus that."""
    count = 2**9 - 1
    after = np.minimum(2 * np.arange(count)[:, None] + [1, 2], count - 1)
    world, machine = ByteWorld(after, [1.0, 1.0]), machine_of("a then b")
    numbers = np.arange(float(count))
    values = TableValues(world, np.stack([0 * numbers, numbers, 1000 - numbers, 0 * numbers], axis=1))
    graph = compare(world, world.rows[:1], machine, values, (1, 3, 2))
    first, second = [3, 4, 7, 8, 15, 16], [6, 5, 14, 13, 30, 29]
    assert world.numbers(graph.states).tolist() == [0, 1, 2, *first, *second]


def test_a_beam_is_no_wider_than_it_may_be():
    rng = stream(0, "width")
    world = random_table(rng, ByteWorld, 4000, 5)
    full = len(local_graph(world, world.rows[:1], 2).states)
    for text, nodes in [("a", 1), ("a then b", 2), ("a and b", 4)]:
        found = len(compare(world, world.rows[:1], machine_of(text), None, (2, 6, 7)).states)
        assert full + 6 * 7 <= found <= full + nodes * 6 * 7


def test_wide_beams_find_all_that_can_be_reached_and_the_same_costs():
    rng = stream(0, "wide")
    for case in range(4 if SLOW else 20):
        world, machine = random_table(rng, ByteWorld, 40, 3), machine_of(TASKS[case % len(TASKS)])
        states = random_walk(world, world.rows[0], rng, 3)
        wide = compare(world, states, machine, None, (1, 40, 10_000))
        everything = local_graph(world, states, 100)
        assert rows(wide.states) == rows(everything.states)
        tables = np.log(rng.uniform(0.01, 1, size=(2, 40, len(machine.terms))))
        costs = [
            cost_to_go(graph, machine, *tables[:, world.numbers(graph.states)]).cost[graph.path]
            for graph in (wide, everything)
        ]
        np.testing.assert_allclose(*costs, rtol=1e-12)


def test_costs_are_never_below_those_of_a_larger_graph():
    rng = stream(0, "upper bound")
    above = 0
    for case in range(4 if SLOW else 20):
        world, machine = random_table(rng, ByteWorld, 300, 3), machine_of(TASKS[case % len(TASKS)])
        states = random_walk(world, world.rows[0], rng, 3)
        narrow = compare(world, states, machine, None, (1, 4, 3))
        large = local_graph(world, states, 5)
        assert rows(narrow.states) <= rows(large.states)
        tables = np.log(rng.uniform(0.01, 1, size=(2, 300, len(machine.terms))))
        upper, lower = (
            cost_to_go(graph, machine, *tables[:, world.numbers(graph.states)]).cost[graph.path]
            for graph in (narrow, large)
        )
        reachable = np.isfinite(lower)
        assert (upper[reachable] >= lower[reachable] - 1e-12).all()
        assert (upper[~reachable] == inf).all()
        above += (upper[reachable] > lower[reachable] + 1e-9).any()
    assert above > 0


# Chance.


def test_the_same_seed_gives_the_same_graph_and_another_one_another():
    rng = stream(0, "seeds")
    world, state = sample_map("garden", rng)
    states, machine = random_walk(world, state, rng, 5), machine_of("a then b")
    one, again, other = (
        beam_graph(world, states, machine, None, (1, 8, 3), stream(seed, "beams")) for seed in (1, 1, 2)
    )
    assert_same(one, again)
    assert rows(one.states) != rows(other.states)


def test_chance_is_fair_between_equals():
    """From one state to 20 others, of which 5 are kept: each about as often as any other."""
    after = np.concatenate([np.ones((1, 20)), np.arange(2, 22)[None], np.repeat(np.arange(2, 22)[:, None], 20, axis=1)])
    world, machine = ByteWorld(after.astype(np.int64), np.ones(20)), machine_of("a")
    tries = 40 if SLOW else 800
    counts = np.zeros(22)
    for seed in range(tries):
        graph = beam_graph(world, world.rows[:1], machine, None, (1, 1, 5), stream(seed, "fair"))
        assert len(graph.states) == 7
        counts[world.numbers(graph.states)] += 1
    expected = tries / 4
    assert (((counts[2:] - expected) ** 2).sum() / (expected * 0.75)) < 50  # 19 degrees of freedom: one in 10,000


# What is refused.


def test_layers_that_make_no_sense():
    world, machine = TableWorld([[0]], [1.0]), machine_of("a")
    for layers in [(0, 1, 1), (1, -1, 1), (1, 1, 0)]:
        with pytest.raises(RsgError, match="at least 1 full layer"):
            beam_graph(world, world.rows, machine, None, layers, stream(0, "x"))
    with pytest.raises(RsgError, match="states \\[N, W\\]"):
        beam_graph(world, world.rows[:0], machine, None, (1, 1, 1), stream(0, "x"))


def test_too_many_states():
    world = random_table(stream(0, "many"), ByteWorld)
    for each in (world, Batched(world)):
        with pytest.raises(RsgError, match="more than 10 states within 3 actions; choose fewer full layers"):
            beam_graph(each, world.rows[:1], machine_of("a"), None, (3, 1, 1), stream(0, "x"), max_states=10)


def test_states_of_another_world_are_refused():
    world, state = sample_map("garden", stream(0, "refused"))
    with pytest.raises(RsgError, match="Crafting World"):
        beam_graph(world, state[None, :-1], machine_of("a"), None, (1, 1, 1), stream(0, "x"))


@pytest.mark.parametrize("wrong", [np.zeros((1, 3)), np.full((7, 3), np.nan)])
def test_values_that_are_none(wrong):
    with pytest.raises(RsgError, match="values must be costs of shape"):
        beams._worth(lambda states: wrong, np.zeros((7, 1)), machine_of("a"))
