"""The sampled scheme: beam graphs by their kernel against the same by dictionary, values, and learning on them."""

from math import inf

import numba
import numpy as np
import pytest
import torch
from tests.reference.search import ByteWorld, read_number
from tests.subgoals.test_learning import assert_slopes
from tests.subgoals.test_objective import differences, randomised, relative_error
from tests.training.examples import outcome, quick, small_demos, world_of

from reproductions.paper.beams import lot
from reproductions.paper.methods import PrintedSampledScheme
from reproductions.paper.sampled_scheme import Example, SampledScheme, Values, beam_graph
from rsg.core.compiled import compiled
from rsg.core.errors import RsgError
from rsg.core.random import stream
from rsg.domains.crafting.maps import KINDS, sample_map
from rsg.domains.crafting.sets import SetClassifiers
from rsg.language import machine_of
from rsg.search import Logs, cost_to_go, local_graph
from rsg.subgoals import learn
from rsg.subgoals.learning import figures_of

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore:overflow encountered in scalar"),  # hashes, uncompiled
]
SLOW = bool(numba.config.DISABLE_JIT)
TASKS = ["a", "a then b", "a or b then c", "a and b then c"]
MINED = ["grab-axe", "grab-axe then mine-wood", "mine-wood or mine-coal then craft-boat"]
DEMOS = small_demos()


class TableValues:
    """Values of states given by a table `[S, V]`, as goals: -log I is the value."""

    def __init__(self, world, table):
        self.world, self.table = world, table
        self.compiled = (byte_guide, (table, world.width))

    def __call__(self, states):
        found = self.table[self.world.numbers(states)][:, 1:-1]
        return np.zeros_like(found), -found


@compiled
def byte_guide(tables, states, i, k):
    table, width = tables
    return 0.0, -table[read_number(states, i, width), k + 1]


def words(rows):
    """States as whole words, padded with zeros."""
    content = np.ascontiguousarray(rows).view(np.uint8).reshape(len(rows), -1)
    padded = np.zeros((len(rows), -(-content.shape[1] // 8)), dtype=np.uint64)
    padded.view(np.uint8)[:, : content.shape[1]] = content
    return padded


def by_dictionary(world, states, machine, values, layers, salt):
    """The same states, slow and plain: the set of the full layers, then a beam for each node, with one dictionary."""
    full, narrow, beam = layers
    rows, path = list[np.ndarray](), []
    number = {}

    def known(row):
        if number.setdefault(row.tobytes(), len(rows)) == len(rows):
            rows.append(row)
        return number[row.tobytes()]

    def after(s):
        return [known(row) for row in world.successors(rows[s][None])[0]]

    path = [known(row) for row in states]
    done = 0
    for _ in range(full):
        layer, done = range(done, len(rows)), len(rows)
        for s in layer:
            after(s)
    first = len(rows)
    kept = dict.fromkeys(range(first))
    for v in range(1, machine.nodes - 1):
        frontier, visited = range(done, first), set(range(first))
        for layer in range(v * narrow, (v + 1) * narrow):
            found = [t for t in dict.fromkeys(t for s in frontier for t in after(s)) if t not in visited]
            if len(found) > beam:
                some = np.stack([rows[t] for t in found])
                content = words(some)
                chance = [lot(content, n, np.uint64((salt + layer) % 2**64)) for n in range(len(found))]
                worth = (
                    0 * np.array(found) if values is None else -values(np.stack([rows[t] for t in found]))[1][:, v - 1]
                )
                found = [found[i] for i in np.lexsort((chance, worth))[:beam]]
            frontier = found
            visited.update(found)
            kept.update(dict.fromkeys(found))
    place = {s: n for n, s in enumerate(kept)}
    edges = [(place[s], a, place[t]) for s in list(kept) for a, t in enumerate(after(s)) if t in place]
    return np.stack([rows[s] for s in kept]), edges, path


def compare(world, states, machine, values, layers, seed=0):
    """The kernel against the dictionary; gives the graph."""
    graph = beam_graph(world, states, machine, values, layers, stream(seed, "beams"))
    salt = int(stream(seed, "beams").integers(2**63))
    rows, edges, path = by_dictionary(world, states, machine, values, layers, salt)
    assert np.array_equal(graph.states, rows)
    assert graph.path.tolist() == path
    assert list(zip(graph.edge_source, graph.edge_action, graph.edge_end, strict=True)) == edges
    assert np.array_equal(graph.edge_cost, np.asarray(world.costs)[graph.edge_action])
    return graph


def random_walk(world, state, rng, steps):
    """The states `[steps + 1, W]` of a random trajectory."""
    states = [state]
    for action in rng.integers(len(world.actions), size=steps):
        states.append(world.step(states[-1][None], np.array([action]))[0])
    return np.stack(states)


def random_table(rng, count=200, actions=4):
    return ByteWorld(rng.integers(count, size=(count, actions)), rng.random(actions) + 0.1)


def rows_of(states):
    return {row.tobytes() for row in states}


# Beam graphs.


def test_both_ways_give_the_same_graph_of_a_map():
    rng = stream(0, "beams on a map")
    for case in range(3 if SLOW else 15):
        world, state = sample_map(sorted(KINDS)[case % len(KINDS)], rng)
        states = random_walk(world, state, rng, int(rng.integers(8)))
        layers = (int(rng.integers(1, 4)), int(rng.integers(9)), int(rng.integers(1, 13)))
        graph = compare(world, states, machine_of(TASKS[case % len(TASKS)]), None, layers, case)
        assert np.array_equal(graph.states[graph.path], states)


def test_both_ways_give_the_same_graph_with_values():
    rng = stream(0, "beams with values")
    for case in range(4 if SLOW else 40):
        world, machine = random_table(rng), machine_of(TASKS[case % len(TASKS)])
        table = rng.integers(5, size=(len(world.rows), machine.nodes)).astype(np.float64)  # many are equal
        states = world.rows[rng.integers(len(world.rows), size=rng.integers(1, 5))]
        layers = (int(rng.integers(1, 3)), int(rng.integers(6)), int(rng.integers(1, 8)))
        compare(world, states, machine, TableValues(world, table), layers, case)


def test_a_pool_that_outgrows_its_first_room_many_times():
    world = random_table(stream(0, "growing"), 4000, 5)
    graph = compare(world, world.rows[:1], machine_of("a and b and c"), None, (2, 10 if SLOW else 60, 30))
    assert SLOW or len(graph.states) > 1000


def test_the_full_layers_are_those_of_the_local_graph():
    rng = stream(0, "full layers")
    world, state = sample_map("garden", rng)
    states = random_walk(world, state, rng, 5)
    for full in (1, 2, 3):
        local = local_graph(world, states, full)
        graph = compare(world, states, machine_of("a then b"), None, (full, 0, 1))
        for name in ("states", "edge_start", "edge_end", "edge_action", "edge_cost", "path"):
            assert np.array_equal(getattr(graph, name), getattr(local, name)), name


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


def test_costs_are_never_below_those_of_a_larger_graph():
    """And the same where beams are so wide that they find all that can be reached."""
    rng = stream(0, "upper bound")
    above = 0
    for case in range(2 if SLOW else 12):
        world, machine = random_table(rng, 300, 3), machine_of(TASKS[case % len(TASKS)])
        states = random_walk(world, world.rows[0], rng, 3)
        tables = np.log(rng.uniform(0.01, 1, size=(2, 300, len(machine.terms))))
        graphs = [
            compare(world, states, machine, None, (1, 4, 3)),
            local_graph(world, states, 300),
            compare(world, states, machine, None, (1, 300, 10_000)),
        ]
        assert rows_of(graphs[0].states) <= rows_of(graphs[1].states) == rows_of(graphs[2].states)
        upper, lower, same = (
            cost_to_go(graph, machine, Logs(*tables[:, world.numbers(graph.states)])).cost[graph.path]
            for graph in graphs
        )
        assert (upper >= lower - 1e-12).all()
        np.testing.assert_allclose(same, lower, rtol=1e-12)
        above += (upper[np.isfinite(lower)] > lower[np.isfinite(lower)] + 1e-9).any()
    assert SLOW or above > 0


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


def test_layers_that_make_no_sense():
    world = random_table(stream(0, "layers"))
    for layers in [(0, 1, 1), (1, -1, 1), (1, 1, 0)]:
        with pytest.raises(RsgError, match="at least 1 full layer"):
            beam_graph(world, world.rows, machine_of("a"), None, layers, stream(0, "x"))


# Values.


def values_of(seed=0):
    """Values with random weights."""
    return randomised(Values(MINED, 47, 0, hidden=8), stream(seed, "values"))


def test_values_know_their_tasks_however_they_are_written():
    values, demo = values_of(), DEMOS[0]
    world, state = world_of(demo), demo.states[0]
    one, other = (values.goals(world, machine_of(text), state) for text in ("grab_axe > Mine-Wood", MINED[1]))
    assert np.array_equal(one(demo.states)[1], other(demo.states)[1])
    assert one(demo.states)[1].shape == (len(demo.states), 2)
    assert (one(demo.states)[1] < 0).all()
    assert values.goals(world, machine_of("mine-wood then grab-axe"), state) is None


def test_beams_follow_a_network():
    demo = DEMOS[0]
    for seed, task in enumerate(MINED):
        values = values_of(seed).goals(world_of(demo), machine_of(task), demo.states[0])
        compare(world_of(demo), demo.states, machine_of(task), values, (1, 4, 5))


def test_the_gradient_of_the_regression():
    rng = stream(0, "regression")
    values = values_of().double()
    values.networks.fast = False
    given = []
    for number, text in enumerate(MINED):
        demo, machine = DEMOS[6 * number], machine_of(text)
        given.append(
            Example(world_of(demo), machine, demo.states, rng.uniform(0, 5, (len(demo.states), machine.nodes)))
        )
    given[1].costs[2, 1] = inf  # nothing to learn there
    stranger = given[0]._replace(machine=machine_of("mine-wood"))
    values.regress([*given, stranger])
    kept = [parameter.grad.numpy().ravel().copy() for parameter in values.parameters()]  # each call adds to them
    found, expected = [], []
    for parameter, slopes in zip(values.parameters(), kept, strict=True):
        content = parameter.data.numpy().reshape(-1)
        entries = np.unique(rng.choice(np.flatnonzero(slopes), 1 if SLOW else 6))

        def error(x, content=content):
            content[:] = x
            return values.regress(given)

        before = content.copy()
        differs, smooth = differences(error, content, entries)
        content[:] = before
        found += slopes[entries][smooth].tolist()
        expected += differs[smooth].tolist()
    assert relative_error(np.array(found), np.array(expected)) <= 1e-6
    assert values.regress([stranger]) == 0.0

    optimizer = torch.optim.Adam(values.parameters(), lr=0.01)
    errors = []
    for _ in range(40):
        optimizer.zero_grad()
        errors.append(values.regress(given))
        optimizer.step()
    assert errors[-1] < errors[0]


# Learning.


def test_the_gradient_of_the_loss():
    demos = [min((demo for demo in DEMOS if demo.task == task), key=len) for task in ("grab-axe", "mine-wood")]
    settings, rng = quick(depth=1, gamma=0.3), stream(0, "sampled loss")
    terms = ("grab-axe", "mine-wood", "craft-wood-plank")
    module = randomised(SetClassifiers(8, single=True).grow(terms).double(), rng)
    module.shape = {"types": 47}
    module.fast = False
    method = SampledScheme(module, settings, world_of, terms)
    own = [parameter for name, parameter in module.named_parameters() if not name.startswith("values")]

    class Own:
        def parameters(self):
            return own

    def loss():
        negatives = stream(0, "negatives")
        found = [method.explain(demo, method.candidates(demo, negatives)) for demo in demos]
        return figures_of(found, 0.3)["loss"]

    method.layers = (2, 0, 1)  # without beams the graph does not depend on chance
    figures = method.gradients(demos, stream(0, "negatives"), 0)
    assert figures["loss"] == pytest.approx(loss(), abs=1e-9)
    assert figures["value_error"] > 0
    assert_slopes(Own(), loss, rng, 5)


@pytest.mark.parametrize("method", [SampledScheme, PrintedSampledScheme])
def test_it_learns_and_goes_on_bit_for_bit(tmp_path, method):
    class Small(method):
        layers = (2, 4, 5)

    def stop(progress, figures):
        if progress.step == 5:
            raise ZeroDivisionError

    demos, settings = [demo for demo in DEMOS if demo.task in ("grab-axe", "mine-wood")], quick(steps=12, rate=0.02)
    errors = []
    note = lambda progress, figures: errors.append(figures["value_error"])  # noqa: E731
    whole = learn(demos, world_of, tmp_path / "whole", settings, method=Small, tracker=note, tensorboard=False)
    with pytest.raises(ZeroDivisionError):
        learn(demos, world_of, tmp_path / "run", settings, method=Small, tracker=stop, tensorboard=False)
    learn(demos, world_of, tmp_path / "run", settings, method=Small, tensorboard=False)
    assert outcome(tmp_path / "run") == outcome(tmp_path / "whole")
    history = whole.progress.history
    assert history[-1]["held_out"] > history[0]["held_out"]
    assert max(errors[4:]) < 0.7 * errors[0]  # what the values learn from goes on changing: they follow
    assert min(errors) > 0
