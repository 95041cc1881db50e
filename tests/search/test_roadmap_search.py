"""The product search on a known graph against plain Dijkstra, and the bounds that guide it."""

from itertools import pairwise
from math import inf

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.reference import motion as plain

from reproductions.paper.random_tasks import sample_task
from rsg.core.random import stream
from rsg.language import Machine, parse
from rsg.search import ORDERS, GraphSearch, Hard, Limits, Product, Soft, StateGraph, best
from rsg.search.product.on_graph import steps_ahead

pytestmark = [
    pytest.mark.kernels,
    pytest.mark.filterwarnings("ignore:overflow encountered in scalar multiply"),  # the hash, uncompiled
]
SEEDS = st.integers(0, 2**32 - 1)


def random_graph(rng, cost=0.1):
    """A ring with chords, sometimes cut in two; edges lead both ways."""
    count = int(rng.integers(3, 25))
    pairs = {(i, (i + 1) % count) for i in range(count)} | {
        tuple(rng.integers(count, size=2)) for _ in range(count // 2)
    }
    if rng.integers(3) == 0:
        pairs = {(int(a), int(b)) for a, b in pairs if (a < count // 2) == (b < count // 2)}
    edges = np.array(sorted({(a, b) for a, b in pairs if a != b} | {(b, a) for a, b in pairs if a != b}))
    start = np.searchsorted(edges[:, 0], np.arange(count + 1)).astype(np.int32)
    states, numbers = rng.random((count, 3)), np.arange(len(edges), dtype=np.int32) - start[edges[:, 0]]
    end, prices = edges[:, 1].astype(np.int32), np.full(len(edges), cost)
    return StateGraph(states, start, end, numbers, prices, np.zeros(1, dtype=np.int32))


def random_case(rng):
    graph = random_graph(rng)
    machine = Machine.of(sample_task("abcd", int(rng.integers(1, 3)), rng))
    shape = (len(graph.states), len(machine.terms))
    return graph, machine, np.log(rng.random(shape) ** 2), np.log(rng.random(shape))


def search(graph, machine, log_g, log_i, order=None, threshold=0.5):
    how = Product(order, Soft() if threshold is None else Hard(threshold))
    return GraphSearch(graph, machine, lambda states: (log_g, log_i), how)


def what_is_wrong(graph, machine, log_g, log_i, found, threshold):
    """Follow a plan on the graph: its edges, its nodes, and subgoals where it goes from one to the next."""
    numbers = [int(np.flatnonzero((graph.states == state).all(axis=1))[0]) for state in found.states]
    nodes = [0, *found.nodes.tolist(), machine.nodes - 1]
    for s, t in pairwise(numbers):
        if t not in graph.edge_end[graph.edge_start[s] : graph.edge_start[s + 1]]:
            return f"there is no edge from {s} to {t}"
    for s, v, w in zip(numbers, nodes, nodes[1:], strict=False):
        if v != w and w not in machine.successors(v):
            return f"node {w} does not follow {v}"
        if v != w and plain.transition_cost(machine, log_g[s], log_i[s], v, w, 1.0, threshold) == inf:
            return f"from node {v} to {w} in state {s} is not allowed"
    return ""


@given(SEEDS)
@example(8866)  # no edge leads from the start
@settings(deadline=None, max_examples=60)
def test_the_cheapest_plan_costs_what_dijkstra_says(seed):
    """And the usual one at most a fifth more."""
    rng = stream(seed, "dijkstra")
    case = random_case(rng)
    threshold = float(rng.uniform(0.1, 0.9)) if rng.integers(3) else None
    expected = plain.cheapest(*case, threshold=threshold)
    for order in (None, "optimal", "anytime"):
        found = best(search(*case, order=order, threshold=threshold))
        assert expected - 1e-9 <= found.cost <= (1.0 if order else 1.2) * expected + 1e-9
        assert (found.actions is None) == (expected == inf)
        assert found.ended == ("found" if expected < inf else "exhausted")


@given(SEEDS)
@settings(deadline=None, max_examples=40)
def test_every_order_gives_plans_that_can_be_followed(seed):
    rng = stream(seed, "orders")
    case = random_case(rng)
    possible = plain.cheapest(*case, threshold=0.5) < inf
    for order in ORDERS:
        found = search(*case, order=order, threshold=0.5).run()
        if found.actions is not None:
            assert what_is_wrong(*case, found, 0.5) == ""
            assert found.cost == pytest.approx(0.1 * len(found.actions))
        assert (found.actions is not None) == possible
        short = search(*case, order=order, threshold=0.5).run(Limits(3))
        assert short.expansions <= 3


@given(SEEDS)
@settings(deadline=None, max_examples=40)
def test_bounds_are_never_too_high_and_never_less_than_the_next_subgoal(seed):
    """To the nearest goal exactly as plain counting says; in all at most half an action above what is really needed."""
    rng = stream(seed, "bounds")
    graph, machine, log_g, log_i = random_case(rng)
    holds = log_g >= np.log(0.5)
    steps = np.stack([graph.steps_from(np.flatnonzero(term)) for term in holds.T], axis=1)
    steps = np.where(steps < 0, inf, steps)
    for k in range(len(machine.terms)):
        assert np.array_equal(steps[:, k], plain.steps_between(graph, np.flatnonzero(holds[:, k]).tolist()))
    ahead = steps_ahead(machine, steps, holds)
    for s in range(len(graph.states)):
        moved = StateGraph(graph.states, *_begun_at(graph, s), graph.path)
        real = plain.cheapest(moved, machine, _swapped(log_g, s), _swapped(log_i, s), threshold=0.5)
        first = [w for w in machine.successors(0).tolist() if log_i[s, machine.term_of[w]] > np.log(0.5)]
        bound = min((ahead[s, w] for w in first), default=inf)
        assert bound <= real / 0.1 + 0.51
        for v in range(1, machine.nodes - 1):
            assert ahead[s, v] >= steps[s, machine.term_of[v]]


def _begun_at(graph, s):
    """The edges of the graph, as arrays, with state s and its first state in each other's places."""
    order = np.arange(len(graph.states))
    order[[0, s]] = [s, 0]
    ends = [order[graph.edge_end[graph.edge_start[t] : graph.edge_start[t + 1]]] for t in order]
    start = np.concatenate([[0], np.cumsum([len(some) for some in ends])]).astype(np.int32)
    return start, np.concatenate(ends).astype(np.int32), graph.edge_action, graph.edge_cost


def _swapped(values, s):
    values = values.copy()
    values[[0, s]] = values[[s, 0]]
    return values


def test_bounds_save_expansions_and_a_search_goes_on_where_it_stopped():
    """A long corridor with a goal at its end, and another one back at its beginning."""
    count = 300
    pairs = [(i, j) for i in range(count) for j in (i - 1, i + 1) if 0 <= j < count]
    start = np.searchsorted([a for a, _ in pairs], np.arange(count + 1)).astype(np.int32)
    end, cost = np.array([b for _, b in pairs], dtype=np.int32), np.full(len(pairs), 0.1)
    graph = StateGraph(np.zeros((count, 1)), start, end, end, cost, end[:0])
    machine = Machine.of(parse("far then near"))
    log_g = np.full((count, 2), -inf)
    log_g[100, 0] = log_g[0, 1] = 0.0
    log_i = np.where(log_g == 0, -inf, 0.0)
    guided = search(graph, machine, log_g, log_i).run()
    assert guided.cost == pytest.approx(20.0)
    assert guided.expansions <= 205  # without bounds it would have been all 300 states, and more
    looking = search(graph, machine, log_g, log_i)
    assert (looking.run(Limits(50)).ended, looking.run(Limits(50)).expansions) == ("budget", 50)
    entered, left = looking.reached()
    assert (entered.tolist(), left.tolist()) == ([False, True, False, False], [True, False, False, False])
    again = looking.run(Limits(1000))
    assert (again.ended, again.cost) == ("found", pytest.approx(20.0))
