"""The score of a demonstration against every alignment, one by one, and its gradient against finite differences."""

from math import inf

import numba
import numpy as np
import pytest
from tests.reference import learning as reference
from tests.reference.boxes import BoxWorld
from tests.reference.learning import Question
from tests.reference.search import TableWorld

from reproductions.paper.random_tasks import sample_task
from rsg.core.errors import RsgError
from rsg.core.random import stream
from rsg.domains.crafting import CraftingWorld
from rsg.domains.crafting.sets import SetClassifiers
from rsg.language import Machine, parse
from rsg.search import local_graph
from rsg.search.cost_to_go import Logs
from rsg.subgoals import Rationality, score
from rsg.subgoals.classifiers import log_sigmoid
from rsg.subgoals.ground import Ground, ground, taken_edges
from rsg.subgoals.objective import View, contrast
from rsg.subgoals.rationality import Walk

pytestmark = [
    pytest.mark.kernels,
    pytest.mark.filterwarnings("ignore:overflow encountered in scalar multiply"),  # the hash, uncompiled
]
SLOW = bool(numba.config.DISABLE_JIT)
H = 1e-5  # the step of finite differences


def table_ground(rng, steps, states):
    """A random walk in a random world of few states."""
    count, actions = int(rng.integers(states[0], states[1] + 1)), int(rng.integers(2, 4))
    world = TableWorld(rng.integers(count, size=(count, actions)), rng.uniform(0.05, 1.0, size=actions))
    walk, done = [int(rng.integers(count))], rng.integers(actions, size=rng.integers(steps[0], steps[1] + 1))
    for action in done:
        walk.append(int(world.after[walk[-1], action]))
    return ground(world, world.rows[walk], done, depth=int(rng.integers(4)))


def road_ground(rng, steps, make=ground):
    """A random walk of a point in a box, some steps of which end at a wall, on a tiny roadmap."""
    world, count = BoxWorld([2.0, 2.0], [[[0.9, 0.0], [1.1, 1.2]]]), int(rng.integers(steps[0], steps[1] + 1))
    walk, done = [np.array([0.5, rng.uniform(0, 2), 7.0])], rng.uniform(-1, 1, (count, 2))
    for action in done:
        walk.append(world.step(walk[-1][None], action[None])[0])
    return make(world, np.array(walk), done, int(rng.integers(3)), int(rng.integers(2, 8)))


def random_question(rng, impossible, steps=(1, 5), states=(3, 8), open_end=False, make_ground=None):
    """A random walk in a random world of few states, or where `make_ground(rng, steps)` says, and a task of few nodes.

    Args:
        impossible: the share of log G and log I that is minus infinity.
    """
    there = make_ground(rng, steps) if make_ground else table_ground(rng, steps, states)
    graph = there.graph
    machine = Machine.of(sample_task("abc", int(rng.integers(3)), rng))
    while machine.nodes > 8:
        machine = Machine.of(sample_task("abc", int(rng.integers(3)), rng))
    shape = (len(graph.states), len(machine.terms))
    log_g, log_i = (
        np.where(rng.random(shape) < impossible, -inf, log_sigmoid(rng.normal(0, 2, shape))) for _ in range(2)
    )
    alpha, weight = rng.uniform(0.3, 3.0), rng.uniform(0.3, 2.0)
    how = {"alpha": alpha, "weight": weight, "open_end": open_end, "each": there.walk.each}
    return Question(graph, there.walk.taken, machine, log_g, log_i, **how)


def parts_of(q):
    """What scores are made of: the ground, the machine, log G and log I, the rationality."""
    each = np.ones(len(q.taken)) if q.each is None else q.each
    there = Ground(None, q.graph, Walk(q.graph.path, q.taken, each))
    return there, q.machine.arrays, Logs(q.log_g, q.log_i), Rationality(q.alpha, q.weight, q.open_end)


def ask(q):
    return score(*parts_of(q))


# The score and its alignment.


def compare_with_all_alignments(q, ask=ask):
    scores = reference.all_scores(q)
    expected, found = reference.best_score(scores), ask(q)
    if expected == -inf:
        assert found.value == -inf
        assert not any(part.any() for part in (found.slope_g, found.slope_i, found.acts, found.crossings))
        return found.value
    assert found.value == pytest.approx(expected, rel=1e-10, abs=1e-10)
    np.testing.assert_allclose(found.acts.sum(axis=1), 1, rtol=1e-10)
    entered = [int(q.machine.next_node[edge]) for _, edge in np.argwhere(found.crossings)]
    alignment = [(v, int(found.acts[:, v].sum())) for v in entered]
    for part, alone in zip(
        (found.acts, found.crossings), reference.as_arrays(q.machine, alignment, len(q.taken)), strict=True
    ):
        assert np.array_equal(part, alone)
    assert {tuple(one): value for one, value in scores}[tuple(alignment)] == pytest.approx(expected, abs=1e-10)
    return found.value


@pytest.mark.parametrize(("make_ground", "batch"), [*((None, batch) for batch in range(4)), (road_ground, 0)])
def test_the_score_is_that_of_all_alignments_on_100_random_cases(make_ground, batch):
    rng = stream(batch, "alignments")
    impossible = 0
    for case in range(8 if SLOW else 100):
        q = random_question(rng, impossible=[0.0, 0.1][case % 2], make_ground=make_ground)
        impossible += compare_with_all_alignments(q) == -inf
    assert SLOW or 5 <= impossible <= 60


@pytest.mark.parametrize("batch", range(2))
def test_the_score_of_an_unfinished_demonstration_is_that_of_all_alignments_on_100_random_cases(batch):
    rng = stream(batch, "unfinished")
    unfinished = 0
    for case in range(8 if SLOW else 100):
        q = random_question(rng, [0.0, 0.1][case % 2], steps=(0, 5), open_end=True)
        found, closed = compare_with_all_alignments(q), ask(q._replace(open_end=False)).value
        assert found >= closed  # what may end anywhere may also end at the end
        unfinished += found > closed
    assert unfinished >= (4 if SLOW else 60)


@pytest.mark.parametrize("batch", range(2))
def test_the_score_of_who_goes_on_when_done_is_the_best_of_all_that_stop_somewhere_on_100_random_cases(batch):
    rng = stream(batch, "late")
    late_ones = 0
    for case in range(8 if SLOW else 100):
        there, nodes, logs, how = parts_of(random_question(rng, [0.0, 0.1][case % 2]))
        steps, walk = len(there.walk.taken), there.walk
        late = np.where(rng.random(steps + 1) < 0.2, -inf, rng.normal(-1, 1, steps + 1))
        found = score(Ground(None, there.graph, walk._replace(late=late)), nodes, logs, how)
        stopped = [
            score(Ground(None, there.graph, Walk(walk.path[: n + 1], walk.taken[:n], walk.each[:n])), nodes, logs, how)
            for n in range(steps + 1)
        ]
        values = np.array([one.value for one in stopped]) + late
        assert found.value == pytest.approx(values.max(), rel=1e-10, abs=1e-10)
        if found.value > -inf:
            best = int(values.argmax())
            late_ones += best < steps
            np.testing.assert_allclose(found.acts.sum(axis=1), np.arange(steps) < best)
            np.testing.assert_allclose(found.slope_g, stopped[best].slope_g)
    assert SLOW or late_ones >= 20


def chain(rng, open_end=False):
    """A question with one step and two subgoals."""
    q = random_question(rng, 0.0, steps=(1, 1), open_end=open_end)
    log_g, log_i = log_sigmoid(rng.normal(size=(2, len(q.graph.states), 2)))
    return q._replace(machine=Machine.of(parse("a then b")), log_g=log_g, log_i=log_i)


def test_fewer_steps_than_subgoals():
    assert compare_with_all_alignments(chain(stream(0, "too short"))) == -inf


def test_an_unfinished_demonstration_may_be_shorter_than_the_task():
    assert compare_with_all_alignments(chain(stream(0, "too short"), open_end=True)) > -inf


def test_a_demonstration_without_a_step():
    q = random_question(stream(0, "no step"), 0.0, steps=(0, 0))
    for open_end in (False, True):
        compare_with_all_alignments(q._replace(open_end=open_end))


def test_scores_alone_are_those_of_score():
    """Several machines over one table of terms, with or without an open end."""
    rng = stream(0, "scores alone")
    for case in range(3 if SLOW else 30):
        q = random_question(rng, 0.0, open_end=case % 3 == 0)
        there, _, _, how = parts_of(q)
        odds = rng.normal(0, 2, (2, len(q.graph.states), 3))
        logs = Logs(*log_sigmoid(odds))
        view = View(there, {"a": 0, "b": 1, "c": 2}, [0, 1, 2], np.moveaxis(odds, 0, -1), logs)
        for _ in range(6):
            machine = Machine.of(sample_task("abc", int(rng.integers(3)), rng))
            place = ["abc".index(name) for name in machine.names]
            value = score(there, machine.arrays, Logs(logs.g[:, place], logs.i[:, place]), how).value
            assert view.align(machine, how).value == value


def test_tables_that_do_not_fit_are_refused():
    there, nodes, logs, how = parts_of(chain(stream(0, "refused")))
    with pytest.raises(RsgError, match="log G and log I must be"):
        score(there, nodes, Logs(logs.g[1:], logs.i[1:]), how)
    with pytest.raises(RsgError, match="the machine has 2 terms, log G and log I have 1"):
        score(there, nodes, Logs(logs.g[:, :1], logs.i[:, :1]), how)


def small_example():
    """0 → 1, and 1 stays. One action, taken for a, which is left for the end in 1."""
    world = TableWorld([[1], [1]], [0.5])
    graph = local_graph(world, world.rows[[0, 1]], depth=0)
    log_g, log_i = np.log([[0.1], [0.8]]), np.log([[0.9], [0.3]])
    return Question(graph, taken_edges(graph, [0]), Machine.of(parse("a")), log_g, log_i)


def test_a_small_example_by_hand():
    found = ask(small_example())
    assert found.value == pytest.approx(np.log(0.9) + np.log(0.8))  # one way to act while a is fresh: log Rat is 0
    assert found.acts.tolist() == [[0, 1, 0]]
    assert found.crossings.tolist() == [[1, 0], [0, 1]]
    assert found.cost[:, 1].tolist() == pytest.approx([0.5 - np.log(0.8), -np.log(0.8)])


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


def check_gradients(rng, wanted, ask=ask, **asked):
    """The gradient of the score in so many random cases; a few of them have a kink."""
    kinks, checked = 0, 0
    sizes = {"steps": (1, 3), "states": (3, 4)} if SLOW else {}
    while checked < wanted:
        q = random_question(rng, [0.0, 0.2][checked % 2], **sizes, **asked)
        found = ask(q)
        if found.value == -inf:
            continue
        values = np.stack([q.log_g, q.log_i])
        slopes = np.stack([found.slope_g, found.slope_i])
        assert not slopes[values == -inf].any()
        entries = [tuple(entry) for entry in np.argwhere(values > -inf)]
        value_at = lambda x, q=q: ask(q._replace(log_g=x[0], log_i=x[1])).value  # noqa: E731
        expected, smooth = differences(value_at, values, entries)
        if not smooth.all():
            kinks += 1
            continue
        assert relative_error(slopes[values > -inf], expected) <= 1e-6
        checked += 1
    assert kinks <= 3


@pytest.mark.parametrize("open_end", [False, True])
def test_gradients_of_the_score(open_end):
    check_gradients(stream(0, "gradients", int(open_end)), 4 if SLOW else 60, open_end=open_end)


def test_gradients_of_the_score_on_a_roadmap():
    check_gradients(stream(0, "gradients"), 2 if SLOW else 10, make_ground=road_ground)


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
    return ground(world, np.stack(states), np.array(actions), depth=1)


def randomised(model, rng):
    """All parameters, also those that begin at zero."""
    for parameter in model.parameters():
        parameter.data = parameter.data.new_tensor(rng.normal(0, 0.5, tuple(parameter.shape)))
    return model


def whole_objective(model, there, beta=0.7, gamma=0.3):
    """Score + γ · contrast (eq. 5), and its gradient with respect to the log-odds `[S, terms, 2]`."""
    odds = model.evaluate(there.world, there.graph.states, range(len(TERMS)))
    logs = Logs(log_sigmoid(odds[..., 0]), log_sigmoid(odds[..., 1]))
    columns = {term: number for number, term in enumerate(TERMS)}
    scores = [score(there, Machine.of(parse(task)).among(columns), logs, Rationality()) for task in TASKS]
    contrasted, slope = contrast([each.value for each in scores], beta)
    gradient = np.zeros_like(odds)
    for each, weight in zip(scores, np.eye(1, len(TASKS))[0] + gamma * slope, strict=True):
        gradient += weight * np.stack([each.slope_g, each.slope_i], axis=-1)
    return scores[0].value + gamma * contrasted, gradient / (1 + np.exp(odds))


@pytest.mark.parametrize("single", [False, True])
def test_the_gradient_of_the_whole_objective_through_the_network(single):
    rng = stream(1, "whole", int(single))
    there = demonstration()
    model = randomised(SetClassifiers(8, single=single).grow(TERMS).double(), rng)
    model.fast = False
    odds = model.evaluate(there.world, there.graph.states, [0])
    assert (odds != odds.astype(np.float32)).any()  # nothing on the way is of single precision
    _, gradient = whole_objective(model, there)
    model.backward(there.world, [(there.graph.states, range(len(TERMS)), gradient)])

    found, expected = [], []
    for parameter in model.parameters():
        slopes = parameter.grad.numpy().ravel()
        entries = rng.choice(np.flatnonzero(slopes), 1 if SLOW else 11, replace=True)
        entries = np.unique([*entries, rng.integers(len(slopes))])  # the last one often has no gradient
        values = parameter.data.numpy().reshape(-1)

        def objective(x, values=values):
            values[:] = x
            return whole_objective(model, there)[0]

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
