"""The score of a demonstration against every alignment, one by one, and its gradient against finite differences."""

from functools import partial
from itertools import product
from math import inf

import numba
import numpy as np
import pytest
from tests.reference import learning as reference
from tests.reference.boxes import BoxWorld
from tests.reference.learning import Question
from tests.reference.search import TableWorld

from rsg.core.errors import RsgError
from rsg.core.random import stream
from rsg.language import Machine, parse, sample_task
from rsg.search import local_graph
from rsg.subgoals import SetClassifiers
from rsg.subgoals.classifiers import log_sigmoid
from rsg.subgoals.ground import ground
from rsg.subgoals.objective import Rationality, contrast, score, score_values, taken_edges
from rsg.worlds.crafting import CraftingWorld

pytestmark = [
    pytest.mark.kernels,
    pytest.mark.filterwarnings("ignore:overflow encountered in scalar multiply"),  # the hash, uncompiled
]
SLOW = bool(numba.config.DISABLE_JIT)
OPTIONS = list(product([True, False], ["max", "sum", "expectation"]))  # one_action, alignment
H = 1e-5  # the step of finite differences


def table_ground(rng, steps, states):
    """A random walk in a random world of few states."""
    count, actions = int(rng.integers(states[0], states[1] + 1)), int(rng.integers(2, 4))
    world = TableWorld(rng.integers(count, size=(count, actions)), rng.uniform(0.05, 1.0, size=actions))
    walk, done = [int(rng.integers(count))], rng.integers(actions, size=rng.integers(steps[0], steps[1] + 1))
    for action in done:
        walk.append(int(world.after[walk[-1], action]))
    return ground(world, world.rows[walk], done, depth=int(rng.integers(4)))


def road_ground(rng, steps, samples=0):
    """A random walk of a point in a box, some steps of which end at a wall, on a tiny roadmap."""
    world, count = BoxWorld([2.0, 2.0], [[[0.9, 0.0], [1.1, 1.2]]]), int(rng.integers(steps[0], steps[1] + 1))
    walk, done = [np.array([0.5, rng.uniform(0, 2), 7.0])], rng.uniform(-1, 1, (count, 2))
    for action in done:
        walk.append(world.step(walk[-1][None], action[None])[0])
    return ground(world, np.array(walk), done, int(rng.integers(3)), poses=int(rng.integers(2, 8)), samples=samples)


def random_question(rng, one_action, impossible, steps=(1, 5), states=(3, 8), open_end=False, kind="table"):
    """A random walk in a world of a kind, and a random task of few nodes.

    Args:
        impossible: the share of log G and log I that is minus infinity.
    """
    if kind == "table":
        there = table_ground(rng, steps, states)
    else:
        there = road_ground(rng, steps, 2 if kind == "sampled" else 0)
    graph = there.graph
    machine = Machine.of(sample_task("abc", int(rng.integers(3)), rng))
    while machine.nodes > 8:
        machine = Machine.of(sample_task("abc", int(rng.integers(3)), rng))
    shape = (len(graph.states), len(machine.terms))
    log_g, log_i = (
        np.where(rng.random(shape) < impossible, -inf, log_sigmoid(rng.normal(0, 2, shape))) for _ in range(2)
    )
    alpha, weight = rng.uniform(0.3, 3.0), rng.uniform(0.3, 2.0)
    how = (alpha, weight, one_action, open_end, there.each)
    return Question(graph, there.taken, machine, log_g, log_i, *how)


def ask(q, alignment):
    how = Rationality(q.alpha, q.weight, q.one_action, alignment, q.open_end)
    return score(q.graph, q.taken, q.machine, q.log_g, q.log_i, how, each=q.each)


def value_at(q, alignment, values):
    """The score with other log G and log I, `[2, S, terms]`."""
    return ask(q._replace(log_g=values[0], log_i=values[1]), alignment).value


# The score and its alignment.


def compare_with_all_alignments(q, alignment):
    scores = reference.all_scores(q)
    expected = {
        "max": lambda: reference.best_score(scores),
        "sum": lambda: reference.marginal_score(scores),
        "expectation": lambda: reference.expected_score(q),
    }[alignment]()
    found = ask(q, alignment)
    if expected == -inf:
        assert found.value == -inf
        assert not any(part.any() for part in (found.slope_g, found.slope_i, found.acts, found.crossings))
        return
    assert found.value == pytest.approx(expected, rel=1e-10, abs=1e-10)
    np.testing.assert_allclose(found.acts.sum(axis=1), 1, rtol=1e-10)
    if alignment == "expectation":
        return
    if alignment == "sum":
        for part, probability in zip((found.acts, found.crossings), reference.posterior(q, scores), strict=True):
            np.testing.assert_allclose(part, probability, rtol=1e-10, atol=1e-10)
        return
    entered = [int(q.machine.next_node[edge]) for _, edge in np.argwhere(found.crossings)]
    alignment = [(v, int(found.acts[:, v].sum())) for v in entered]
    for part, alone in zip(
        (found.acts, found.crossings), reference.as_arrays(q.machine, alignment, len(q.taken)), strict=True
    ):
        assert np.array_equal(part, alone)
    assert {tuple(one): value for one, value in scores}[tuple(alignment)] == pytest.approx(expected, abs=1e-10)


@pytest.mark.parametrize(("kind", "batch"), [*product(["table"], range(10)), ("roadmap", 0), ("sampled", 0)])
def test_the_score_is_that_of_all_alignments_on_100_random_cases(kind, batch):
    rng = stream(batch, "alignments")
    impossible = 0
    for case in range(8 if SLOW else 100):
        one_action, alignment = OPTIONS[case % 6]
        q = random_question(rng, one_action, impossible=[0.0, 0.1][case // 6 % 2], kind=kind)
        compare_with_all_alignments(q, alignment)
        impossible += ask(q, alignment).value == -inf
    assert SLOW or 5 <= impossible <= 60


@pytest.mark.parametrize("batch", range(4))
def test_the_score_of_an_unfinished_demonstration_is_that_of_all_alignments_on_100_random_cases(batch):
    rng = stream(batch, "unfinished")
    unfinished = 0
    for case in range(8 if SLOW else 100):
        one_action, alignment = OPTIONS[case % 6]
        q = random_question(rng, one_action, [0.0, 0.1][case // 6 % 2], steps=(0, 5), open_end=True)
        compare_with_all_alignments(q, alignment)
        closed, found = ask(q._replace(open_end=False), alignment).value, ask(q, alignment).value
        assert found >= closed or alignment == "expectation"  # what may end anywhere may also end at the end
        unfinished += found > closed
    assert unfinished >= (5 if SLOW else 60)


def test_an_unfinished_demonstration_may_be_shorter_than_the_task():
    q = random_question(stream(0, "too short"), True, 0.0, steps=(1, 1), open_end=True)
    chain = Machine.of(parse("a then b"))
    log_g, log_i = log_sigmoid(stream(1, "too short").normal(size=(2, len(q.graph.states), 2)))
    q = q._replace(machine=chain, log_g=log_g, log_i=log_i)
    for one_action, alignment in OPTIONS:
        compare_with_all_alignments(q._replace(one_action=one_action), alignment)
        assert ask(q._replace(one_action=one_action), alignment).value > -inf


def test_fewer_steps_than_subgoals():
    rng = stream(0, "too short")
    q = random_question(rng, True, 0.0, steps=(1, 1))
    chain = Machine.of(parse("a then b"))
    log_g, log_i = log_sigmoid(rng.normal(size=(2, len(q.graph.states), 2)))
    q = q._replace(machine=chain, log_g=log_g, log_i=log_i)
    for alignment in ("max", "sum", "expectation"):
        compare_with_all_alignments(q, alignment)
        assert ask(q, alignment).value == -inf
        assert ask(q._replace(one_action=False), alignment).value > -inf
        compare_with_all_alignments(q._replace(one_action=False), alignment)


def test_a_demonstration_without_a_step():
    q = random_question(stream(0, "no step"), False, 0.0, steps=(0, 0))
    for one_action, alignment in OPTIONS:
        for open_end in (False, True):
            compare_with_all_alignments(q._replace(one_action=one_action, open_end=open_end), alignment)


def test_scores_alone_are_those_of_score():
    """Several machines over one table of terms, with or without an open end."""
    rng = stream(0, "scores alone")
    for case in range(3 if SLOW else 60):
        one_action, alignment = OPTIONS[case % 6]
        q = random_question(rng, one_action, 0.0)
        tables = log_sigmoid(rng.normal(0, 2, (2, len(q.graph.states), 3)))
        machines = [Machine.of(sample_task("abc", int(rng.integers(3)), rng)) for _ in range(6)]
        places = [["abc".index(str(term)) for term in machine.terms] for machine in machines]
        columns = [np.array([*places[i], -1], dtype=np.int32)[machine.term_of] for i, machine in enumerate(machines)]
        how = Rationality(q.alpha, q.weight, one_action, alignment, case % 3 == 0)
        found = score_values(q.graph, q.taken, machines, *tables, how, columns)
        for machine, place, value in zip(machines, places, found, strict=True):
            assert value == score(q.graph, q.taken, machine, *tables[..., place], how).value


def test_a_small_example_by_hand():
    """0 → 1, and 1 stays. One action, taken for a, which is left for the end in 1."""
    world = TableWorld([[1], [1]], [0.5])
    graph = local_graph(world, world.rows[[0, 1]], depth=0)
    log_g, log_i = np.log([[0.1], [0.8]]), np.log([[0.9], [0.3]])
    found = score(graph, taken_edges(graph, [0]), Machine.of(parse("a")), log_g, log_i, Rationality())
    assert found.value == pytest.approx(np.log(0.9) + np.log(0.8))  # one way to act while a is fresh: log Rat is 0
    assert found.acts.tolist() == [[0, 1, 0]]
    assert found.crossings.tolist() == [[1, 0], [0, 1]]
    assert found.cost[:, 1].tolist() == pytest.approx([0.5 - np.log(0.8), -np.log(0.8)])
    loose = score(
        graph, taken_edges(graph, [0]), Machine.of(parse("a")), log_g, log_i, Rationality(one_action=False)
    ).value
    act, leave = np.exp(-(0.5 - np.log(0.8))), 0.1
    assert loose == pytest.approx(np.log(0.9) + np.log(0.8) + np.log(act / (act + leave)))


# Gradients.


def differences(function, x, entries):
    """Central differences of a function of an array, which it is called with, and where they can be trusted.

    A maximum or minimum may change hands within a step: there the function has a kink and no gradient. If it is smooth,
    the second difference shrinks with the square of the step. At a kink it shrinks with the step, or jumps.
    """
    x = x.copy()
    middle = function(x)
    slopes, curves = [], []
    for entry in entries:
        values = []
        for step in (H, H / 2, -H / 2, -H):
            old = x[entry]
            x[entry] = old + step
            values.append(function(x))
            x[entry] = old
        slopes.append((values[0] - values[3]) / (2 * H))
        outer, inner = values[0] - 2 * middle + values[3], values[1] - 2 * middle + values[2]
        curves.append(abs(outer - 4 * inner) / H)
    return np.array(slopes), np.array(curves) < 2e-7


def relative_error(found, expected):
    return np.linalg.norm(found - expected) / np.linalg.norm(expected)


@pytest.mark.parametrize(("kind", "open_end"), [("table", False), ("table", True), ("roadmap", 0), ("sampled", 0)])
@pytest.mark.parametrize(("one_action", "alignment"), OPTIONS)
def test_gradients_of_the_score(one_action, alignment, kind, open_end):
    rng = stream(0, "gradients", int(one_action), alignment, *(["open"] if open_end else []))
    wanted, kinks, checked = 2 if SLOW else 60 if kind == "table" else 10, 0, 0
    while checked < wanted:
        q = random_question(
            rng, one_action, [0.0, 0.2][checked % 2], (1, 3 if SLOW else 5), (3, 4 if SLOW else 8), kind=kind
        )
        q = q._replace(open_end=open_end)
        found = ask(q, alignment)
        if found.value == -inf:
            continue
        values = np.stack([q.log_g, q.log_i])
        slopes = np.stack([found.slope_g, found.slope_i])
        assert not slopes[values == -inf].any()
        entries = [tuple(entry) for entry in np.argwhere(values > -inf)]
        expected, smooth = differences(partial(value_at, q, alignment), values, entries)
        if not smooth.all():
            kinks += 1
            continue
        assert relative_error(slopes[values > -inf], expected) <= 1e-6
        checked += 1
    assert kinks <= 3


def test_contrast_and_its_gradient():
    rng = stream(0, "contrast")
    for count in (1, 2, 6):
        scores, beta = rng.normal(0, 3, count), rng.uniform(0.1, 3)
        value, slope = contrast(scores, beta)
        assert value == pytest.approx(np.log(np.exp(beta * scores[0]) / np.exp(beta * scores).sum()), abs=1e-12)
        expected, smooth = differences(lambda x, beta=beta: contrast(x, beta)[0], scores, range(count))
        assert smooth.all()
        np.testing.assert_allclose(slope, expected, atol=1e-8)
        assert contrast([*scores, -inf, -inf], beta)[0] == pytest.approx(value, abs=1e-12)
        assert contrast([*scores, -inf, -inf], beta)[1].tolist() == pytest.approx([*slope, 0, 0])


def test_contrast_of_scores_that_are_far_apart():
    assert contrast([-1000.0, 0.0], 1.0)[0] == -1000.0
    assert contrast([-1000.0, 0.0], 1.0)[1].tolist() == [1.0, -1.0]
    assert contrast([0.0, -1000.0], 1.0)[0] == 0.0


TERMS = ["grab-axe", "mine-wood", "craft-boat"]
TASKS = ["grab-axe then mine-wood", "mine-wood and craft-boat", "grab-axe or craft-boat"]


def demonstration():
    """Five steps on a small map."""
    world = CraftingWorld(2, 3, capacity=2)
    states = [world.state({(0, 1): "axe", (1, 2): "tree"})]
    actions = [3, 4, 1, 3, 4]
    for action in actions:
        states.append(world.step(states[-1][None], [action])[0])
    assert "wood" in world.inventory(states[-1])
    graph = local_graph(world, np.stack(states), depth=1)
    return world, graph, taken_edges(graph, actions)


def randomised(model, rng):
    """All parameters, also those that begin at zero."""
    for parameter in model.parameters():
        parameter.data = parameter.data.new_tensor(rng.normal(0, 0.5, tuple(parameter.shape)))
    return model


def whole_objective(model, world, graph, taken, how, beta=0.7, gamma=0.3):
    """Score + γ · contrast (eq. 5), and its gradient with respect to the log-odds `[S, terms, 2]`."""
    odds = model.evaluate(world, graph.states, range(len(TERMS)))
    log_g, log_i = log_sigmoid(odds[..., 0]), log_sigmoid(odds[..., 1])
    machines = [Machine.of(parse(task)) for task in TASKS]
    columns = [model.numbers([str(term) for term in machine.terms]) for machine in machines]
    scores = [
        score(graph, taken, machine, log_g[:, column].copy("C"), log_i[:, column].copy("C"), how)
        for machine, column in zip(machines, columns, strict=True)
    ]
    contrasted, slope = contrast([each.value for each in scores], beta)
    gradient = np.zeros_like(odds)
    for each, column, weight in zip(scores, columns, np.eye(1, len(TASKS))[0] + gamma * slope, strict=True):
        gradient[:, column, 0] += weight * each.slope_g
        gradient[:, column, 1] += weight * each.slope_i
    return scores[0].value + gamma * contrasted, gradient / (1 + np.exp(odds))


@pytest.mark.parametrize("single", [False, True])
@pytest.mark.parametrize(("one_action", "alignment"), OPTIONS)
def test_the_gradient_of_the_whole_objective_through_the_network(single, one_action, alignment):
    rng = stream(1, "whole", int(single), int(one_action), alignment)
    world, graph, taken = demonstration()
    model = randomised(SetClassifiers(TERMS, single, hidden=8, fast=False).double(), rng)
    how = Rationality(one_action=one_action, alignment=alignment)
    odds = model.evaluate(world, graph.states, [0])
    assert (odds != odds.astype(np.float32)).any()  # nothing on the way is of single precision
    _, gradient = whole_objective(model, world, graph, taken, how)
    model.backward(world, [(graph.states, range(len(TERMS)), gradient)])

    found, expected = [], []
    for parameter in model.parameters():
        slopes = parameter.grad.numpy().ravel()
        entries = rng.choice(np.flatnonzero(slopes), 1 if SLOW else 11, replace=True)
        entries = np.unique([*entries, rng.integers(len(slopes))])  # the last one often has no gradient
        values = parameter.data.numpy().reshape(-1)

        def objective(x, values=values):
            values[:] = x
            return whole_objective(model, world, graph, taken, how)[0]

        before = values.copy()
        differs, smooth = differences(objective, values, entries)
        values[:] = before
        found += slopes[entries][smooth].tolist()
        expected += differs[smooth].tolist()
    assert len(found) >= (8 if SLOW else 50)
    assert relative_error(np.array(found), np.array(expected)) <= 1e-6


# Demonstrations that do not fit.


def test_a_step_that_is_not_of_this_world():
    world = TableWorld([[1, 0], [0, 1]], [1.0, 1.0])
    graph = local_graph(world, world.rows[[0, 1, 1]], depth=0)
    taken = taken_edges(graph, np.array([0, 1]))
    assert graph.edge_action[taken].tolist() == [0, 1]
    assert graph.edge_end[taken].tolist() == [1, 1]
    with pytest.raises(
        RsgError, match="step 1 of the demonstration is not one of this world: action 0 leads elsewhere"
    ):
        taken_edges(graph, np.array([0, 0]))
    with pytest.raises(RsgError, match="step 0 of the demonstration is not one of this world: action 7"):
        taken_edges(graph, np.array([7, 1]))
