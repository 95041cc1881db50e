"""Every way of deciding whether a trace does a task gives the same answer."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.reference.automaton import automaton, reads
from tests.reference.ltlf import evaluate

from reproductions.paper.random_tasks import sample_task
from rsg.language import Machine, parse, satisfies, to_ltlf

pytestmark = pytest.mark.no_cover  # many times what other tests run: watched, it takes twice as long


def batches(usual, long):
    """The usual seeds, and more of them for `make test-slow`."""
    return [*range(usual), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(usual, long))]


def random_trace(rng, task, max_steps=8):
    """Truth values `[steps, terms]`; each term keeps its value for a while, so that tasks are often done."""
    terms = len(task.terms())
    flips = rng.random((rng.integers(1, max_steps + 1), terms)) < 0.4
    flips[0] = rng.random(terms) < 0.2
    return np.logical_xor.accumulate(flips, axis=0)


@pytest.mark.parametrize("batch", batches(10, 100))
def test_machine_definition_and_formula_agree(batch):
    rng = np.random.default_rng(batch)
    answers = []
    for _ in range(1000):
        task = sample_task("abcd", depth=int(rng.integers(4)), seed=rng, max_parts=3)
        trace = random_trace(rng, task)
        answer = satisfies(trace, task)
        assert Machine.of(task).accepts(trace) == answer, (str(task), trace.astype(int))
        assert evaluate(to_ltlf(task), trace, task) == answer, (str(task), trace.astype(int))
        answers.append(answer)
    assert 0.1 < np.mean(answers) < 0.9  # neither answer is rare


@pytest.mark.parametrize("batch", batches(2, 20))
def test_machine_and_an_independent_automaton_agree(batch):
    rng = np.random.default_rng(99 + batch)
    answers = []
    for _ in range(100):
        task = sample_task("abc", depth=2, seed=rng, max_parts=3)
        machine, other = Machine.of(task), automaton(task)
        for _ in range(10):
            trace = random_trace(rng, task)
            answers.append(machine.accepts(trace))
            assert answers[-1] == reads(other, trace), (str(task), trace.astype(int))
    assert 0.1 < np.mean(answers) < 0.9


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_a_linear_instruction_of_the_machine_is_one_of_the_task(data):
    """A trace in which just one subgoal holds at a time does the task if and only if its order is a path."""
    task = sample_task("abcd", depth=3, seed=data.draw(st.integers(0, 2**32)))
    terms = task.terms()
    order = data.draw(st.lists(st.sampled_from(terms), min_size=1, max_size=5))
    trace = np.zeros((2 * len(order), len(terms)), dtype=bool)
    for i, term in enumerate(order):
        trace[2 * i + 1, terms.index(term)] = True
    machine = Machine.of(task)
    assert (tuple(order) in set(machine.paths())) <= satisfies(trace, task) or _repeats(order)


def _repeats(order):
    """A subgoal twice in a row must turn false in the very state in which it was true: impossible."""
    return any(x == y for x, y in pairwise(order))


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 2**32))
def test_the_count_of_instructions_is_the_number_of_paths(seed):
    machine = Machine.of(sample_task("abc", depth=3, seed=seed))
    if machine.count_instructions() <= 5000:
        paths = list(machine.paths())
        assert len(paths) == len(set(paths)) == machine.count_instructions()


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 2**32))
def test_associativity(seed):
    rng = np.random.default_rng(seed)
    x, y, z = (sample_task("abc", depth=1, seed=rng) for _ in range(3))
    for word in ("then", "or"):
        left, right = parse(f"(({x}) {word} ({y})) {word} ({z})"), parse(f"({x}) {word} (({y}) {word} ({z}))")
        assert left == right
