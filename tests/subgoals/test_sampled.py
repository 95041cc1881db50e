"""Values of tasks, and learning on beam graphs: gradients, determinism, resuming, and against the exact graph."""

from math import inf

import numba
import numpy as np
import pytest
import torch
from tests.reference import learning as reference
from tests.reference.learning import Question
from tests.reference.search import TableGoals, TableWorld
from tests.subgoals.test_objective import OPTIONS, ask, differences, randomised, relative_error, value_at
from tests.training.examples import outcome, quick, small_demos, world_of

from rsg.core.random import stream
from rsg.demos import Demonstration
from rsg.language import Machine, machine_of, parse
from rsg.planning import plan
from rsg.search import SearchSettings
from rsg.search.beam_graph import beam_graph
from rsg.subgoals import RationalSubgoals, SetClassifiers
from rsg.subgoals.classifiers import log_sigmoid
from rsg.subgoals.learning import figures_of
from rsg.subgoals.objective import taken_edges
from rsg.subgoals.runs import build
from rsg.subgoals.sampled import SampledSubgoals, build_values, classifier_weights, load_values
from rsg.subgoals.values import Example, ValueNetworks
from rsg.training import Run, TrainingData, fit
from rsg.worlds.crafting import CraftingWorld

pytestmark = [
    pytest.mark.kernels,
    pytest.mark.filterwarnings("ignore:overflow encountered in scalar"),  # hashes, uncompiled
]
SLOW = bool(numba.config.DISABLE_JIT)
TASKS = ["grab-axe", "grab-axe then mine-wood", "mine-wood or mine-coal then craft-boat"]
LAYERS = (2, 4, 5)


@pytest.fixture(autouse=True)
def _one_thread():
    """Small tensors are slower on several."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def machine(text):
    return Machine.of(parse(text))


def values_of(tasks=TASKS, hidden=8, seed=0, **options):
    """Values with random weights."""
    made = ValueNetworks(tasks, lambda names: SetClassifiers(names, True, hidden, **options))
    return randomised(made, stream(seed, "values"))


def crafting_demo(number=0):
    demo = small_demos()[number]
    return world_of(demo), demo


def examples(rng, count=3):
    """Random costs at the states of demonstrations."""
    made = []
    for number in range(count):
        world, demo = crafting_demo(6 * number)
        task = machine(TASKS[number % len(TASKS)])
        made.append(Example(world, task, demo.states, rng.uniform(0, 5, (len(demo.states), task.nodes))))
    return made


# Values.


def test_values_know_their_tasks_however_they_are_written():
    values = values_of()
    assert values.tasks == tuple(TASKS)
    assert (
        values.numbers(machine("grab_axe > Mine-Wood")) == values.numbers(machine("grab-axe then mine-wood")) == [1, 2]
    )
    assert values.numbers(machine("mine-wood then grab-axe")) is None
    world, _ = crafting_demo()
    assert values.heuristic(world, machine("mine-wood")) is None


def test_values_are_costs():
    world, demo = crafting_demo()
    for task in TASKS:
        found = values_of().heuristic(world, machine(task))(demo.states)
        assert found.shape == (len(demo.states), machine(task).nodes)
        assert (found[:, 1:-1] > 0).all()
        assert not found[:, [0, -1]].any()


def test_the_compiled_value_is_the_value():
    world, demo = crafting_demo()
    padded = np.zeros((len(demo.states), demo.states.shape[1] + 4), dtype=np.uint8)
    padded[:, :-4] = demo.states
    for task in TASKS:
        heuristic = values_of().heuristic(world, machine(task))
        kernel, tables = heuristic.compiled
        found = [[kernel(tables, padded, i, v) for v in range(1, machine(task).nodes - 1)] for i in range(len(padded))]
        np.testing.assert_allclose(found, heuristic(demo.states)[:, 1:-1], rtol=1e-5)
    assert not hasattr(values_of(fast=False).heuristic(world, machine(TASKS[0])), "compiled")


def test_beams_follow_a_network_the_same_way_compiled_or_not():
    world, demo = crafting_demo()
    for seed, task in enumerate(TASKS):
        heuristic = values_of(seed=seed).heuristic(world, machine(task))
        compiled, by_rows = (
            beam_graph(world, demo.states, machine(task), values, LAYERS, stream(0, "x"))
            for values in (heuristic, heuristic.__call__)
        )
        assert np.array_equal(compiled.states, by_rows.states)


def test_the_gradient_of_the_regression():
    rng = stream(0, "regression")
    values, given = values_of(fast=False).double(), examples(rng)
    given[1].costs[2, 1] = inf  # nothing to learn there
    values.regress(given)
    kept = [parameter.grad.numpy().ravel().copy() for parameter in values.parameters()]  # each call adds to them
    found, expected = [], []
    for parameter, slopes in zip(values.parameters(), kept, strict=True):
        entries = np.unique(rng.choice(np.flatnonzero(slopes), 1 if SLOW else 6))
        content = parameter.data.numpy().reshape(-1)

        def error(x, content=content):
            content[:] = x
            return values.regress(given)

        before = content.copy()
        differs, smooth = differences(error, content, entries)
        content[:] = before
        found += slopes[entries][smooth].tolist()
        expected += differs[smooth].tolist()
    assert len(found) >= (5 if SLOW else 25)
    assert relative_error(np.array(found), np.array(expected)) <= 1e-6


def test_both_forms_give_the_same_gradient():
    given = examples(stream(0, "forms"))
    fast, plain = values_of(), values_of(fast=False)
    assert fast.regress(given) == pytest.approx(plain.regress(given), rel=1e-5)
    for one, other in zip(fast.parameters(), plain.parameters(), strict=True):
        torch.testing.assert_close(one.grad, other.grad, rtol=1e-3, atol=1e-6)


@pytest.mark.parametrize("encoder", ["sets", "flat"])
def test_the_regression_learns_what_it_is_shown(encoder):
    settings = quick(encoder=encoder)
    world, demo = crafting_demo()
    seen = world.encode(demo.states[:1])
    values = build_values(settings, TASKS, {"types": 47, "inputs": sum(part[0].size for part in seen)})
    given = examples(stream(0, "learns"))
    optimizer = torch.optim.Adam(values.parameters(), lr=0.01)
    errors = []
    for _ in range(3 if SLOW else 60):
        optimizer.zero_grad()
        errors.append(values.regress(given))
        optimizer.step()
    assert errors[-1] < (1 if SLOW else 0.5) * errors[0]


def test_tasks_without_a_value_are_passed_over():
    values, (world, demo) = values_of(), crafting_demo()
    unknown = Example(world, machine("mine-wood"), demo.states, np.ones((len(demo.states), 3)))
    assert values.regress([unknown]) == values.regress([]) == 0.0
    assert all(parameter.grad is None for parameter in values.parameters())
    nothing = unknown._replace(machine=machine("grab-axe"), costs=np.full((len(demo.states), 3), inf))
    assert values.regress([nothing]) == 0.0


def test_a_value_guides_the_planner():
    """In a row of 60 cells the goal is at the far end; a value that knows it expands only what lies on the way."""
    after = np.stack([np.maximum(np.arange(60) - 1, 0), np.minimum(np.arange(60) + 1, 59)], axis=1)
    world = TableWorld(after, [0.1, 0.1])
    log_g = np.log(np.where(np.arange(60)[:, None] == 59, 0.99, 0.01))
    goals = TableGoals(world, log_g, np.log1p(-np.exp(log_g)))
    values = build_values(quick(encoder="flat"), ["a"], {"inputs": 1})
    states, costs = world.rows, np.zeros((60, 3))
    costs[:, 1] = 0.1 * np.arange(59, -1, -1)
    optimizer = torch.optim.Adam(values.parameters(), lr=0.01)
    for _ in range(300):
        optimizer.zero_grad()
        values.regress([Example(world, machine("a"), states, costs)])
        optimizer.step()
    start, expanded = world.rows[30], {}
    for name, heuristic in [("none", "none"), ("learned", values.heuristic(world, machine("a")))]:
        found = plan(world, start, "a", lambda *_: goals, SearchSettings(order="optimal", heuristic=heuristic))
        assert found.found
        assert len(found.actions) == 29
        expanded[name] = found.expansions
    assert expanded["learned"] < expanded["none"] - 10


# Scores on beam graphs.


def random_question(rng, one_action):
    """A random walk in a random world, on a graph of beams."""
    world = TableWorld(rng.integers(12, size=(12, 3)), rng.uniform(0.05, 1.0, size=3))
    walk, actions = [int(rng.integers(12))], rng.integers(3, size=rng.integers(2, 5))
    for action in actions:
        walk.append(int(world.after[walk[-1], action]))
    task = machine(["a", "a then b", "a or b then c", "a and b"][int(rng.integers(4))])
    values = rng.random((12, task.nodes))
    graph = beam_graph(
        world, world.rows[walk], task, lambda states: values[world.numbers(states)], (1, 2, 1), stream(0, "x")
    )
    log_g, log_i = log_sigmoid(rng.normal(0, 2, (2, len(graph.states), len(task.terms))))
    numbers = (rng.uniform(0.3, 3.0), rng.uniform(0.3, 2.0))
    return Question(graph, taken_edges(graph, actions), task, log_g, log_i, *numbers, one_action)


@pytest.mark.parametrize(("one_action", "alignment"), OPTIONS)
def test_scores_on_beam_graphs_and_their_gradients(one_action, alignment):
    rng = stream(0, "scores", int(one_action), alignment)
    wanted, checked, kinks = 2 if SLOW else 20, 0, 0
    while checked < wanted:
        q = random_question(rng, one_action)
        found, scores = ask(q, alignment), reference.all_scores(q)
        kinds = {"max": reference.best_score, "sum": reference.marginal_score}
        expected = kinds[alignment](scores) if alignment in kinds else reference.expected_score(q)
        assert found.value == pytest.approx(expected, rel=1e-10)
        values = np.stack([q.log_g, q.log_i])
        entries = [tuple(entry) for entry in np.ndindex(values.shape)]
        slopes, smooth = differences(lambda x, q=q: value_at(q, alignment, x), values, entries)
        if found.value == -inf or not smooth.all():
            kinks += 1
            continue
        assert relative_error(np.stack([found.slope_g, found.slope_i]).ravel(), slopes) <= 1e-6
        checked += 1
    assert kinks <= wanted


# The method.


def make(settings=None, layers=LAYERS, demos=None, value_hidden=8, **options):
    """The method, with classifiers and values that have learned nothing."""
    settings = settings or quick(**options)
    data = TrainingData(small_demos() if demos is None else demos, settings)
    terms = [str(term) for text in data.descriptions for term in machine_of(text).terms]
    classifiers = build(settings, list(dict.fromkeys(terms)), {"types": 47})
    values = build_values(settings, data.descriptions, classifiers.shape, hidden=value_hidden)
    return SampledSubgoals(classifiers, settings, world_of, data.descriptions, values, layers), data


def tiny_demos():
    """Two tasks in a world of few states."""
    world = CraftingWorld(2, 3, capacity=2)
    states = [world.state({(0, 1): "axe", (1, 2): "tree"})]
    actions = np.array([3, 4, 1, 3, 4])
    for action in actions:
        states.append(world.step(states[-1][None], [action])[0])
    whole = Demonstration(np.stack(states), actions, "grab-axe then mine-wood")
    return world, [whole, Demonstration(whole.states[:3], actions[:2], "grab-axe")]


@pytest.mark.parametrize("single", [False, True])
def test_on_all_that_can_be_reached_it_is_the_exact_method(single):
    world, demos = tiny_demos()
    settings = quick(depth=50, single=single)
    sampled, data = make(settings, (1, 60, 100_000), demos)
    sampled._world_of = lambda _: world
    randomised(sampled.module, stream(0, "weights"))
    classifiers = sampled.module.classifiers
    exact = RationalSubgoals(classifiers, settings, lambda _: world, data.descriptions)
    for demo in demos:
        tasks = [machine_of(text) for text in [demo.task, *(text for text in data.descriptions if text != demo.task)]]
        one, other = sampled.explain(demo, tasks), exact.explain(demo, tasks)
        assert one.compared == pytest.approx(other.compared, rel=1e-9)
        assert [each.value for each in one.scores] == pytest.approx([each.value for each in other.scores], rel=1e-9)
        gradients = []
        for parts in (one.parts, [(other.ground.graph.states, other.numbers, other.slope)]):
            classifiers.zero_grad()
            classifiers.backward(world, parts)
            gradients.append(torch.cat([parameter.grad.flatten() for parameter in classifiers.parameters()]))
        assert gradients[0].any()
        torch.testing.assert_close(*gradients, rtol=1e-3, atol=1e-5)


def test_the_gradient_of_the_loss():
    """The beams depend on the values, not on the classifiers, so the loss is smooth in these."""
    world, demos = tiny_demos()
    method, _ = make(quick(compiled=False, hidden=8, gamma=0.3), (1, 2, 2), demos)
    method._world_of = lambda _: world
    rng = stream(0, "loss")
    classifiers = randomised(method.module.double(), rng).classifiers
    method.gradients(demos, stream(0, "chance"), 0)
    assert all(parameter.grad.any() for parameter in method.values.parameters())
    kept = [parameter.grad.numpy().ravel().copy() for parameter in classifiers.parameters()]
    found, expected = [], []
    for parameter, slopes in zip(classifiers.parameters(), kept, strict=True):
        entries = np.unique(rng.choice(np.flatnonzero(slopes), 1 if SLOW else 5))
        content = parameter.data.numpy().reshape(-1)

        def loss(x, content=content):
            content[:] = x
            chance = stream(0, "chance")
            explained = [method.explain(demo, method._candidates(demo, chance), 0.01, chance) for demo in demos]
            return figures_of(explained, 0.3, 0.01)["loss"]

        before = content.copy()
        differs, smooth = differences(loss, content, entries)
        content[:] = before
        found += slopes[entries][smooth].tolist()
        expected += differs[smooth].tolist()
    assert len(found) >= (5 if SLOW else 25)
    assert relative_error(np.array(found), np.array(expected)) <= 1e-6


def test_the_same_seed_gives_the_same_gradients():
    gradients = []
    for seed in (1, 1, 2):
        method, data = make()
        figures = method.gradients(data.batch(0)[:2], stream(seed, "step"), 0)
        gradients.append((figures, [parameter.grad.numpy().tobytes() for parameter in method.module.parameters()]))
    assert gradients[0] == gradients[1] != gradients[2]


def test_the_held_out_score_is_the_same_at_each_look():
    method, data = make()
    batch = data.held_out_batches()[0][:2]
    scores = [method.held_out_score(batch, stream(0, "look")) for _ in range(2)]
    assert scores[0] == scores[1]
    assert all(parameter.grad is None for parameter in method.module.parameters())


def test_negatives_from_the_language_have_no_value():
    method, data = make(negatives_from="language")
    assert np.isfinite(method.gradients(data.batch(0)[:2], stream(0, "step"), 0)["loss"])


@pytest.mark.skipif(SLOW, reason="trains a network")
def test_a_short_training_lowers_the_loss(tmp_path):
    settings = quick(steps=30, curriculum=30, hidden=32, check_every=30)
    method, data = make(settings, (3, 15, 10))
    simple = [demo for demo in small_demos() if "then" not in demo.task][::6]
    figures = []
    before = method.held_out_score(simple, stream(0, "look"))
    progress = fit(method, data, tmp_path / "run", lambda _, each: figures.append(each), tensorboard=False)
    assert progress.done == "all steps were done"
    assert method.held_out_score(simple, stream(0, "look")) > before + 0.5
    first, last = (np.mean([each["recognised"] for each in part]) for part in (figures[:5], figures[-5:]))
    assert last > first


@pytest.mark.skipif(SLOW, reason="trains a network")
def test_a_run_that_was_interrupted_goes_on_bit_for_bit(tmp_path):
    settings = quick(steps=8)
    method, data = make(settings)
    fit(method, data, tmp_path / "whole", tensorboard=False)

    class Stopped(Exception):
        pass

    def stop(progress, _):
        if progress.step == 5:
            raise Stopped

    method, data = make(settings)
    with pytest.raises(Stopped):
        fit(method, data, tmp_path / "parts", stop, tensorboard=False)
    method, data = make(settings)
    fit(method, data, tmp_path / "parts", tensorboard=False)
    assert outcome(tmp_path / "whole") == outcome(tmp_path / "parts")


@pytest.mark.skipif(SLOW, reason="trains a network")
def test_what_was_saved_comes_back_in_parts(tmp_path):
    method, data = make(value_hidden=32)
    fit(method, data, tmp_path / "run", tensorboard=False)
    run = Run(tmp_path / "run")
    saved = run.load("last")
    classifiers = build(method.settings, run.about["terms"], run.about["shape"])
    classifiers.load_state_dict(classifier_weights(saved))
    values = load_values(tmp_path / "run", "last")
    world, demo = crafting_demo()
    assert np.array_equal(
        classifiers.evaluate(world, demo.states, [0, 1]), method.module.evaluate(world, demo.states, [0, 1])
    )
    task = machine_of(demo.task)
    assert np.array_equal(values.heuristic(world, task)(demo.states), method.values.heuristic(world, task)(demo.states))


def test_weights_of_a_run_without_values(tmp_path):
    settings = quick(steps=1, held_out=0, batch=1)
    classifiers = build(settings, ["grab-axe"], {"types": 47})
    demos = [demo for demo in small_demos() if demo.task == "grab-axe"]
    method = RationalSubgoals(classifiers, settings, world_of, ["grab-axe"])
    fit(method, TrainingData(demos, settings), tmp_path / "run", tensorboard=False)
    found = classifier_weights(Run(tmp_path / "run").load("last"))
    assert set(found) == set(dict(classifiers.named_parameters()))
    assert load_values(tmp_path / "run", "last") is None


def test_plans_and_new_terms_go_through_to_the_classifiers():
    method, _ = make()
    world, demo = crafting_demo()
    module = method.module
    for ask_for in ("goals", "goals_with_i"):
        one, other = (
            getattr(each, ask_for)(world, module.terms[:2], demo.states[0]) for each in (module, module.classifiers)
        )
        assert hasattr(one, "compiled")
        assert np.array_equal(one(demo.states), other(demo.states))
    module.grow(["new-term"], 0)
    assert module.terms[-1] == module.classifiers.terms[-1] == "new-term"
    seen = module.see(world, demo.states)
    assert torch.equal(module(seen, [0]), module.classifiers(seen, [0]))
