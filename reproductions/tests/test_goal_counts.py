"""States stepped, by hand and in Crafting World: the same unit for every method."""

import numpy as np
import pytest
from tests.planning.test_goal_only import Toy, oracle
from tests.reference.search import ByteWorld, TableWorld

from reproductions.goal_counts import counting
from reproductions.goal_guides import method_of
from rsg.core.random import stream
from rsg.domains.crafting import VOCABULARY
from rsg.domains.crafting.starts import start_for
from rsg.planning import Dependencies, GoalProblem, planned

pytestmark = pytest.mark.filterwarnings("ignore:overflow encountered in scalar multiply")  # the hash, uncompiled


def ring(held, make_world=ByteWorld):
    """Four states, each leads to the next; `a` comes before `b`."""
    return Toy([[1], [2], [3], [0]], held, (((),), ((0,),)), make_world=make_world)


def uncompiled(after, costs):
    """The same world without a compiled step."""
    return TableWorld(after, costs, np.arange(len(after))[:, None])


NEVER = ring([[0, 0], [1, 0], [0, 0], [0, 0]])  # `a` in state 1, `b` nowhere
LAST = ring([[0, 0], [1, 0], [0, 0], [0, 1]])  # `b` in state 3, three actions away


def counted(toy, method, goal="b", **more):
    """How it ended, expansions, states stepped, and different ones."""
    world, asked = counting(toy.world, 100)
    problem = GoalProblem(world, world.rows[0], goal, toy.goal_fn, toy.dependencies)
    made = planned(problem, method_of({"method": method, "seed": 0, **more}))
    return made.ended, made.expansions, asked.stepped, asked.different


@pytest.mark.parametrize("method", ["regions", "blind"])
def test_a_search_over_states_steps_each_once(method):
    assert counted(NEVER, method) == ("exhausted", 4, 4, 4)
    assert counted(LAST, method) == ("found", 3, 3, 3)


def test_algorithm_2_steps_a_state_once_for_each_candidate():
    """The candidates are `b` and `a then b`; the latter has a node more, so each state is expanded twice."""
    assert counted(LAST, "paper") == ("found", 3, 3, 3)
    assert counted(NEVER, "paper") == ("exhausted", 4 + 8, 4 + 4, 4)
    assert counted(NEVER, "paper", length_limit=1) == ("exhausted", 4, 4, 4)


def test_a_world_without_a_compiled_step_counts_too():
    assert counted(ring(NEVER.held, uncompiled), "blind") == ("exhausted", 4, 4, 4)
    assert counted(ring(LAST.held, uncompiled), "blind") == ("found", 3, 3, 3)


@pytest.mark.parametrize("method", ["regions", "blind", "paper"])
def test_a_world_that_counts_is_the_same_world(method):
    world, state = start_for("mine-wood", 5, stream(0, "counts"))
    size = len(VOCABULARY)
    counts = np.zeros((size, size), dtype=np.int64)
    counts[VOCABULARY.index("mine-wood"), VOCABULARY.index("grab-axe")] = 1
    needs = tuple(((VOCABULARY.index("grab-axe"),),) if term == "mine-wood" else ((),) for term in VOCABULARY)
    known = Dependencies(VOCABULARY, counts, counts, counts.sum(axis=1), counts, needs, np.full(size, 0.5))
    asks = {"method": method, "seed": 0, **({"each": 60} if method == "paper" else {})}
    twin, asked = counting(world, 25_000)
    assert isinstance(twin, type(world))
    assert twin.compiled_step[0] is counting(world, 9)[0].compiled_step[0]  # compiled once
    one, other = (
        planned(GoalProblem(place, state, "mine-wood", oracle, known), method_of(asks)) for place in (world, twin)
    )
    assert one.actions.tolist() == other.actions.tolist()
    assert one.expansions == other.expansions
    assert 0 < asked.different <= asked.stepped <= other.expansions
    assert (asked.different == other.expansions) == (method != "paper")  # where 60 are not enough, two candidates
