"""State graphs against the world they come from, and cost-to-go against Bellman iteration and the product search."""

from math import inf

import numpy as np
import pytest
from tests.reference.search import ByteWorld, TableGoals, TableWorld, bellman, transition_cost

from reproductions.paper.random_tasks import sample_task
from rsg.core.errors import RsgError
from rsg.core.random import stream
from rsg.domains.crafting.maps import sample_map
from rsg.language import Machine, parse
from rsg.search import Logs, Product, ProductSearch, Soft, StateGraph, cost_to_go, local_graph

pytestmark = pytest.mark.filterwarnings("ignore:overflow encountered in scalar multiply")  # the hash, uncompiled


def random_graph(rng, states=(1, 12)):
    """Any edges at all: none, several between the same states, self-loops, states that nothing leads to."""
    count = int(rng.integers(states[0], states[1] + 1))
    degrees = rng.integers(0, 5, size=count)
    edges = int(degrees.sum())
    return StateGraph(
        states=np.arange(count)[:, None],
        edge_start=np.concatenate([[0], np.cumsum(degrees)]).astype(np.int32),
        edge_end=rng.integers(count, size=edges).astype(np.int32),
        edge_action=rng.integers(5, size=edges).astype(np.int32),
        edge_cost=rng.choice([0.1, 0.25, 0.5, 1.0], size=edges),
        path=np.zeros(1, dtype=np.int32),
    )


def random_values(rng, graph, machine, impossible=0.3):
    """log G and log I; some are minus infinity."""
    shape = (len(graph.states), len(machine.terms))
    return [np.where(rng.random(shape) < impossible, -inf, np.log(rng.random(shape))) for _ in range(2)]


def distances(graph):
    """From every state to every other one, by Floyd and Warshall."""
    count = len(graph.states)
    far = np.where(np.eye(count, dtype=bool), 0.0, inf)
    for s in range(count):
        for edge in range(graph.edge_start[s], graph.edge_start[s + 1]):
            far[s, graph.edge_end[edge]] = min(far[s, graph.edge_end[edge]], graph.edge_cost[edge])
    for middle in range(count):
        far = np.minimum(far, far[:, [middle]] + far[[middle]])
    return far


def check_bookkeeping(graph, machine, log_g, log_i, weight, result):
    """Following `exit` and `then` gives the costs that are claimed."""
    far, last = distances(graph), machine.nodes - 1
    for s, v in np.ndindex(len(graph.states), last):
        leave, then = result.leave[s, v], result.then[s, v]
        assert (then >= 0) == (leave < inf)
        if then >= 0:
            assert then in machine.successors(v)
            onward = 0.0 if then == last else result.entry[s, then]
            assert leave == pytest.approx(transition_cost(machine, log_g[s], log_i[s], v, then, weight) + onward)
        cost, where = result.cost[s, v], result.exit[s, v]
        assert (where >= 0) == (cost < inf)
        if where >= 0:
            assert cost == pytest.approx(far[s, where] + result.leave[where, v])
            assert v > 0 or where == s
    assert np.isinf(result.cost[:, last]).all()
    assert (result.exit[:, last] == -1).all()
    assert (result.then[:, last] == -1).all()


def compare_with_bellman(rng):
    graph, machine = random_graph(rng), Machine.of(sample_task("abcd", int(rng.integers(3)), rng))
    log_g, log_i = random_values(rng, graph, machine)
    weight = float(rng.choice([0.3, 1.0, 2.0]))
    result = cost_to_go(graph, machine, Logs(log_g, log_i), weight)
    moved, fresh = bellman(graph, machine, log_g, log_i, weight)
    np.testing.assert_allclose(result.cost, moved, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(result.entry, fresh, rtol=1e-12, atol=1e-12)
    check_bookkeeping(graph, machine, log_g, log_i, weight, result)
    return np.isfinite(result.cost[:, 0]).mean()


@pytest.mark.parametrize("batch", range(10))
def test_bellman_iteration_agrees_on_50_random_graphs(batch):
    rng = stream(batch, "bellman")
    shares = [compare_with_bellman(rng) for _ in range(50)]
    assert 0.1 < np.mean(shares) < 0.9


@pytest.mark.kernels
def test_bellman_iteration_agrees_on_a_few_random_graphs():
    rng = stream(0, "a few graphs")
    for _ in range(20):
        compare_with_bellman(rng)


@pytest.mark.kernels
def test_a_small_example():
    """0 → 1 → 2, and 2 stays; a holds in 1, b in 2."""
    world = TableWorld([[1], [2], [2]], [0.5])
    graph = local_graph(world, world.rows[:1], depth=5)
    machine = Machine.of(parse("a then b"))
    holds = np.array([[False, False], [True, False], [False, True]])
    log_g, log_i = np.where(holds, 0.0, -inf), np.where(holds, -inf, 0.0)
    result = cost_to_go(graph, machine, Logs(log_g, log_i))
    assert result.cost.tolist() == [[1.0, 1.0, 1.0, inf], [inf, 0.5, 0.5, inf], [inf, inf, 0.0, inf]]
    assert result.entry.tolist() == [[1.0, 1.0, 1.0, inf], [inf, inf, 0.5, inf], [inf, inf, 0.5, inf]]
    assert result.exit.tolist() == [[0, 1, 2, -1], [-1, 1, 2, -1], [-1, -1, 2, -1]]
    assert result.then.tolist() == [[1, -1, -1, -1], [-1, 2, -1, -1], [-1, -1, 3, -1]]


def test_nothing_can_be_left_or_everything_costs_nothing():
    rng = stream(0, "extremes")
    graph, machine = random_graph(rng, states=(8, 8)), Machine.of(parse("a and b then c"))
    never, always = np.full((8, 3), -inf), np.zeros((8, 3))
    for values in [(never, always), (always, never), (never, never)]:
        result = cost_to_go(graph, machine, Logs(*values))
        assert np.isinf(result.cost[:, 0]).all()
        assert (result.exit[:, 0] == -1).all()
    found = cost_to_go(graph, machine, Logs(always, always))
    assert not found.cost[:, -2].any()  # c is left at once; what comes before it costs the actions that b and c need
    assert (found.cost[:, :-2] > 0).all()


def test_lists_of_states_that_lie_elsewhere_in_memory():
    rng = stream(1, "layout")
    graph, machine = random_graph(rng, states=(9, 9)), Machine.of(parse("a or b then c"))
    log_g, log_i = random_values(rng, graph, machine)
    turned = cost_to_go(graph, machine, Logs(np.asfortranarray(log_g), log_i[::-1][::-1]))
    assert np.array_equal(turned.cost, cost_to_go(graph, machine, Logs(log_g, log_i)).cost)


@pytest.mark.parametrize("shapes", [((3, 1), (4, 1)), ((4, 1), (3, 1)), ((4, 2), (4, 2)), ((4,), (4,))], ids=str)
def test_values_that_do_not_fit(shapes):
    graph = random_graph(stream(0, "misfit"), states=(4, 4))
    with pytest.raises(RsgError, match=r"log G and log I must have shape \(4, 1\), got"):
        cost_to_go(graph, Machine.of(parse("a")), Logs(*map(np.zeros, shapes)))


def random_world(rng, states=(3, 15), make_world=TableWorld):
    count, actions = int(rng.integers(states[0], states[1] + 1)), int(rng.integers(2, 5))
    return make_world(rng.integers(count, size=(count, actions)), rng.choice([0.1, 0.3, 1.0], size=actions))


@pytest.mark.kernels
def test_the_product_search_finds_the_same_least_cost():
    rng = stream(0, "both", 1)
    finite = 0
    for _ in range(25):
        world, machine = random_world(rng, make_world=ByteWorld), Machine.of(sample_task("abc", 1, rng))
        everything = local_graph(world, world.rows[:1], depth=100)
        table = random_values(rng, StateGraph(world.rows, *[np.empty(0)] * 5), machine)
        log_g, log_i = (values[world.numbers(everything.states)] for values in table)
        cost = cost_to_go(everything, machine, Logs(log_g, log_i), 0.7).cost
        how = Product("optimal", Soft(0.7))
        for s, state in enumerate(everything.states):
            found = ProductSearch(world, state, machine, TableGoals(world, *table), how).run()
            assert found.cost == pytest.approx(cost[s, 0])
            finite += found.cost < inf
    assert finite > 50


# Graphs.


def layers_of(world, numbers, depth):
    """The numbers of the states within so many actions, a set for each depth."""
    layers = [set(numbers)]
    for _ in range(depth):
        layers.append(layers[-1] | {int(t) for s in layers[-1] for t in world.after[s]})
    return layers


def edges_of(graph):
    """All edges as (from, action, to, cost)."""
    source = np.repeat(np.arange(len(graph.states)), np.diff(graph.edge_start))
    return list(
        zip(source.tolist(), graph.edge_action.tolist(), graph.edge_end.tolist(), graph.edge_cost.tolist(), strict=True)
    )


@pytest.mark.parametrize("depth", [0, 1, 2, 3, 20])
def test_a_graph_holds_the_states_within_its_depth_and_all_edges_among_them(depth):
    rng = stream(depth, "graphs")
    for _ in range(30):
        world = random_world(rng, states=(1, 60))
        walk = [int(rng.integers(len(world.rows)))]
        for action in rng.integers(len(world.actions), size=rng.integers(12)):
            walk.append(int(world.after[walk[-1], action]))
        graph = local_graph(world, world.rows[walk], depth)
        numbers = world.numbers(graph.states).tolist()
        assert len(set(numbers)) == len(numbers) == len(graph.states)
        assert set(numbers) == layers_of(world, walk, depth)[-1]
        for inner in layers_of(world, walk, depth):  # breadth first: nearer states come first
            assert set(numbers[: len(inner)]) == inner
        assert np.array_equal(graph.states[graph.path], world.rows[walk])
        expected = [
            (s, a, numbers.index(world.after[number, a]), world.costs[a])
            for s, number in enumerate(numbers)
            for a in range(len(world.actions))
            if world.after[number, a] in numbers
        ]
        assert edges_of(graph) == expected
        assert len(graph.edge_end) == len(expected)


def test_a_graph_of_crafting_world():
    rng = stream(0, "graph of crafting world")
    world, state = sample_map("garden", rng)
    states = [state]
    for action in rng.integers(5, size=15):
        states.append(world.step(states[-1][None], [action])[0])
    graph = local_graph(world, np.stack(states), depth=3)
    assert len(np.unique(graph.states, axis=0)) == len(graph.states)
    source, action, end, cost = map(np.array, zip(*edges_of(graph), strict=True))
    assert np.array_equal(world.step(graph.states[source], action), graph.states[end])
    assert (cost == 0.1).all()
    assert (source == end).any()
    assert len(set(zip(source.tolist(), action.tolist(), strict=True))) == len(graph.edge_end)


def test_states_that_repeat_and_actions_that_change_nothing():
    world = TableWorld([[0, 1], [1, 0], [2, 2]], [1.0, 2.0])
    graph = local_graph(world, world.rows[[1, 0, 1, 1]], depth=0)
    assert graph.states.tolist() == [[1], [0]]
    assert graph.path.tolist() == [0, 1, 0, 0]
    assert edges_of(graph) == [(0, 0, 0, 1.0), (0, 1, 1, 2.0), (1, 0, 1, 1.0), (1, 1, 0, 2.0)]
    alone = local_graph(world, world.rows[[2]], depth=3)
    assert edges_of(alone) == [(0, 0, 0, 1.0), (0, 1, 0, 2.0)]


def test_a_graph_is_never_larger_than_allowed():
    world = TableWorld((np.arange(20)[:, None] + [1, 2]) % 20, [1.0, 1.0])
    assert len(local_graph(world, world.rows[:1], depth=4, max_states=9).states) == 9
    with pytest.raises(RsgError, match="more than 8 states within 4 actions; choose a smaller depth"):
        local_graph(world, world.rows[:1], depth=4, max_states=8)
    with pytest.raises(RsgError, match="more than 1 states"):
        local_graph(world, world.rows[:2], depth=0, max_states=1)


@pytest.mark.parametrize(
    ("states", "depth", "problem"),
    [
        (np.zeros(3), 1, r"a graph grows from states \[N, W\], got \(3,\)"),
        (np.zeros((0, 1)), 1, r"a graph grows from states \[N, W\], got \(0, 1\)"),
        (np.zeros((1, 1)), -1, "depth must be at least 0, not -1"),
    ],
)
def test_a_graph_from_nothing(states, depth, problem):
    with pytest.raises(RsgError, match=problem):
        local_graph(TableWorld([[0]], [1.0]), states, depth)
