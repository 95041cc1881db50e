"""What comes after a task: how likely, and how that is learned."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

from rsg.subgoals.afterwards import Afterwards

share = some.floats(0.01, 0.99)
pair = some.tuples(share, share)


def obvious(known, moves, lost, end):
    """What follows if the task is done in state `end`, step by step, beside the same steps before it is done."""
    if end == len(moves):
        return np.log(known.at_once)
    total = np.log(1 - known.at_once) - np.log(len(moves))
    for step in range(end, len(moves)):
        was = int(step > 0 and moves[step - 1])
        after, before = known.after[was], known.before[was]
        total += np.log(after / before if moves[step] else (1 - after) / (1 - before)) + lost
    return total


@given(share, pair, pair, some.lists(some.booleans(), max_size=9), some.floats(-1, 0))
def test_what_follows_is_weighed_step_by_step(at_once, before, after, moves, lost):
    known = Afterwards(at_once, before, after)
    found = known.late(np.array(moves, dtype=bool), lost)
    np.testing.assert_allclose(found, [obvious(known, moves, lost, end) for end in range(len(moves) + 1)])


def test_it_is_learned_where_recordings_drift_on_and_where_they_do_not():
    rng = np.random.default_rng(0)
    drift = [np.concatenate([rng.random(9) < 0.7, rng.random(6) < 0.1]) for _ in range(200)]
    known = Afterwards.learned(drift, [9] * 200)
    assert known.at_once < 0.01
    assert known.before == pytest.approx((0.7, 0.7), abs=0.05)
    assert known.after == pytest.approx((0.1, 0.49), abs=0.05)  # no less than 0.7 twice
    assert Afterwards.learned(drift, [15] * 200).at_once > 0.99
