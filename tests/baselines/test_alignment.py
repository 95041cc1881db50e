"""BC-FSM's alignment against every alignment, looked at one after the other."""

from math import inf

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.reference.learning import alignments, events

from rsg.baselines.bc_fsm import aligned
from rsg.language import Machine, parse

TASKS = [
    "a",
    "a then b",
    "a or b",
    "a and b",
    "a then (b or c)",
    "(a or b) then c",
    "a and b then c",
    "a then b then a",
]


def brute_force(machine, act, stop):
    """The score of each alignment, with the actions that each node serves and where it stops."""
    found = []
    for alignment in alignments(machine, len(act), one_action=True):
        crossings, acts = events(alignment)
        served = [(i, machine.term_of[v]) for i, v, _ in acts]
        left = [(i, machine.term_of[v]) for i, v, _ in crossings if v > 0]
        found.append((sum(act[one] for one in served) + sum(stop[one] for one in left), served, left))
    return found


@pytest.mark.kernels
@given(task=st.sampled_from(TASKS), steps=st.integers(1, 5), seed=st.integers(0, 2**16))
@settings(max_examples=80, deadline=None)
def test_alignment_is_that_of_brute_force(task, steps, seed):
    machine = Machine.of(parse(task))
    rng = np.random.default_rng(seed)
    act = -rng.exponential(size=(steps, len(machine.terms)))
    stop = -rng.exponential(size=(steps + 1, len(machine.terms)))
    value, for_act, for_stop = aligned(machine.arrays, act, stop)
    ways = brute_force(machine, act, stop)
    if not ways:
        assert value == -inf
        assert not for_act.any()
        assert not for_stop.any()
        return
    scores = np.array([score for score, _, _ in ways])
    weights = scores == scores.max()
    assert value == pytest.approx(scores.max())
    if weights.sum() > 1.5:  # two alignments of a machine with copies of a node may be one
        weights = weights / weights.sum()
    wanted_act, wanted_stop = np.zeros_like(act), np.zeros_like(stop)
    for weight, (_, served, left) in zip(weights, ways, strict=True):
        for one in served:
            wanted_act[one] += weight
        for one in left:
            wanted_stop[one] += weight
    assert for_act == pytest.approx(wanted_act)
    assert for_stop == pytest.approx(wanted_stop)
