"""The encoder `relative`: what is compiled says the same as torch, and things are told from the robot."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rsg.core.errors import RsgError
from rsg.core.random import stream
from rsg.domains.playroom import PlayroomWorld, load_layout
from rsg.domains.playroom.relative import RelativeClassifiers
from rsg.subgoals.encoders import EncodedClassifiers

PAPER, TWELVE = PlayroomWorld(), PlayroomWorld(load_layout("twelve"))
TERMS = ("a", "b", "c")


def inputs(world):
    return world.state_width + 1


@pytest.mark.kernels
@settings(max_examples=20, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    hidden=st.sampled_from([1, 2, 7, 64]),
    single=st.booleans(),
    world=st.sampled_from([PAPER, TWELVE]),
    chosen=st.lists(st.integers(0, 2), min_size=1, max_size=3, unique=True),
)
def test_the_compiled_form_is_that_of_torch(seed, hidden, single, world, chosen):
    subgoals = RelativeClassifiers(inputs(world), hidden, single, seed).grow(TERMS, seed)
    states = world.sample(stream(seed, "states"), 5)
    expected = EncodedClassifiers.evaluate(subgoals, world, states, chosen)
    np.testing.assert_allclose(subgoals.evaluate(world, states, chosen), expected, rtol=0, atol=2e-5)


def test_no_states():
    assert RelativeClassifiers(inputs(PAPER)).grow(TERMS).evaluate(
        PAPER, np.empty((0, PAPER.state_width)), [0]
    ).shape == (
        0,
        1,
        2,
    )


def test_where_the_room_is_does_not_matter():
    """All moved by the same way looks the same to the robot."""
    subgoals = RelativeClassifiers(inputs(PAPER), 16).grow(TERMS)
    state = PAPER.sample(stream(0), 1)
    moved = state.copy()
    moved[:, [0, *range(3, 15, 2)]] += 0.5
    first, second = (subgoals.evaluate(PAPER, states, [0, 1, 2]) for states in (state, moved))
    np.testing.assert_allclose(first, second, atol=1e-4)
    moved[:, 3] += 0.5
    assert np.abs(subgoals.evaluate(PAPER, moved, [0, 1, 2]) - first).max() > 1e-3


def test_a_room_with_other_things_is_refused():
    subgoals = RelativeClassifiers(inputs(PAPER)).grow(TERMS)
    with pytest.raises(RsgError, match="learned in a room with 6 effectors, this one has 12"):
        subgoals.evaluate(TWELVE, TWELVE.sample(stream(0), 1), [0])
