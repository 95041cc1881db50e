"""Worlds that are made of recordings: what is known of them, what is refused."""

import numpy as np
import pytest

import rsg
from rsg.core.errors import RsgError
from rsg.demos import Demonstration
from rsg.domain import find
from rsg.search import chain
from rsg.worlds import Recorded, is_recorded, recorded
from rsg.worlds.corridor import Corridor
from rsg.worlds.recorded import named, of_name

WALKS = [Demonstration(*walk) for walk in Corridor().walks()]
BOTH = "light-lamp then read-book"


def both():
    """Recordings of both, which nobody learns from."""
    corridor, demos = Corridor(), []
    for place in range(9):
        states = [np.array([place, 0, 0])]
        for action in [0] * place + [2] + [1] * 8 + [2]:
            states.append(corridor.step(states[-1][None], np.array([action]))[0])
        demos.append(Demonstration(np.array(states), None, BOTH))
    return demos


def test_a_chain_has_the_steps_of_a_recording_and_no_others():
    states = np.array([[0, 0], [1, 0], [1, 0], [0, 0], [2, 0]])
    graph = chain(states)
    assert np.array_equal(graph.states[graph.path], states)
    steps = {
        (tuple(graph.states[graph.edge_source[edge]].tolist()), tuple(graph.states[graph.edge_end[edge]].tolist()))
        for edge in range(len(graph.edge_end))
    }
    assert steps == {((0, 0), (1, 0)), ((1, 0), (1, 0)), ((1, 0), (0, 0)), ((0, 0), (2, 0))}
    assert set(graph.edge_cost.tolist()) == {0.1}


@pytest.mark.parametrize("with_actions", [True, False])
def test_recordings_alone_teach_what_terms_mean(with_actions):
    shown = WALKS if with_actions else [Demonstration(demo.states, None, demo.task) for demo in WALKS]
    world = recorded({"place": 1, "lamp": 1, "book": 1})
    subgoals = rsg.learn(shown * 3, world)
    assert subgoals.settings.at_once
    for place, demo in enumerate(both()):
        found = subgoals.segment(demo, world=world)
        assert found.ends == (("light-lamp", place + 1), ("read-book", place + 10))
        assert min(found.sure) > 0.5


def test_planning_is_refused_in_a_sentence():
    world = Recorded()
    subgoals = rsg.learn(WALKS * 3, world)
    for ask in (subgoals.plan, subgoals.plan_goal):
        with pytest.raises(RsgError, match=r"made of recordings, .* nothing can be planned in it without a model"):
            ask(world, np.array([3, 0, 0]), "read-book")
    with pytest.raises(RsgError, match="nothing can be planned"):
        find("recorded").start((), np.random.default_rng(0))


def test_a_name_says_what_the_numbers_are():
    name = "recorded/agent:3,grid:8x8x3"
    world = find(name).world()
    assert is_recorded(world)
    assert not is_recorded(Corridor())
    assert world.parts == {"agent": (3,), "grid": (8, 8, 3)}
    assert named(world.parts) == name
    assert of_name("recorded").parts == {}
    assert named({"gripper": ()}) == "recorded/gripper:1"
    with pytest.raises(RsgError, match="'agent' is no part of a state; write recorded/NAME:SIZE"):
        find("recorded/agent")
    with pytest.raises(RsgError, match=r"states have 4 numbers, recorded/hand:3,cup:2 has 5"):
        of_name("recorded/hand:3,cup:2").encode(np.zeros((2, 4)))
