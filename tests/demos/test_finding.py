"""Actions found with the world's model: they lead where the recording went, and what cannot be explained is named."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rsg.core.errors import RsgError
from rsg.demos import Demonstration, Store, actions_of, with_actions
from rsg.domain import find
from rsg.worlds.corridor import Corridor


def walked(start, actions):
    states = [np.array(start)]
    for action in actions:
        states.append(Corridor().step(states[-1][None], np.array([action]))[0])
    return np.array(states)


def leads(world, demo):
    return np.array_equal(world.step(demo.states[:-1], demo.actions), demo.states[1:])


@given(st.integers(0, 8), st.lists(st.integers(0, 2), min_size=1, max_size=30))
def test_actions_that_are_found_lead_where_the_recording_went(place, actions):
    seen = Demonstration(walked([place, 0, 0], actions), None, "light-lamp", "here")
    found = with_actions(Corridor(), seen)
    assert np.array_equal(found.states, seen.states)
    assert (found.task, found.setting) == ("light-lamp", "here")
    assert leads(Corridor(), found)
    assert with_actions(Corridor(), found) is found


@given(st.integers(0, 8), st.lists(st.integers(0, 2), min_size=2, max_size=20), st.integers(2, 4), st.data())
def test_gaps_are_bridged_by_the_fewest_actions(place, actions, bridge, data):
    whole = walked([place, 0, 0], actions)
    kept = [0]
    while kept[-1] < len(whole) - 1:
        kept.append(min(len(whole) - 1, kept[-1] + data.draw(st.integers(1, bridge))))
    found = with_actions(Corridor(), Demonstration(whole[kept], None, "a"), bridge)
    assert leads(Corridor(), found)
    assert len(found) <= len(actions)
    rows = found.states.tolist()  # what was recorded comes by in its order
    for state in whole[kept].tolist():
        rows = rows[rows.index(state) :]


def test_a_step_that_nothing_explains_is_named():
    seen = Demonstration(np.array([[4, 0, 0], [3, 0, 0], [0, 0, 0], [0, 1, 0]]), None, "light-lamp")
    with pytest.raises(RsgError, match=r"^step 1: no action leads from state 1 to state 2, and no bridge"):
        with_actions(Corridor(), seen)
    with pytest.raises(RsgError, match=r"^step 1: no action leads from state 1 to state 2, not even 2 one after"):
        with_actions(Corridor(), seen, bridge=2)
    assert actions_of(with_actions(Corridor(), seen, bridge=3)).tolist() == [0, 0, 0, 0, 2]
    with pytest.raises(RsgError, match="a bridge has 0 actions or more, not -1"):
        with_actions(Corridor(), seen, bridge=-1)


def test_a_state_recorded_twice_is_left_out_where_nothing_leaves_it_so():
    """In a corridor whose ends are far, no action stands still."""

    class Endless(Corridor):
        actions = ("left", "right")

        def step(self, states, actions):
            return states + np.where(np.asarray(actions) == 1, 1, -1)[:, None] * np.array([1, 0, 0])

    seen = Demonstration(np.array([[4, 0, 0], [4, 0, 0], [5, 0, 0]]), None, "a")
    with pytest.raises(RsgError, match="step 0: no action leads"):
        with_actions(Endless(), seen)
    assert with_actions(Endless(), seen, bridge=1) == Demonstration(seen.states[1:], np.array([1]), "a")
    with pytest.raises(RsgError, match="nothing happens in it"):
        with_actions(Endless(), Demonstration(seen.states[:2], None, "a"), bridge=1)


def test_moves_are_found_in_a_continuous_world():
    domain = find("playroom")
    shown = (domain.demonstrate("train", 0, np.random.default_rng(seed))[0] for seed in range(100))
    demo = next(demo for demo in shown if len(demo) > 2)
    world = domain.world(demo.setting)
    found = with_actions(world, Demonstration(demo.states, None, demo.task, demo.setting))
    assert np.allclose(found.actions, demo.actions)
    every_second = Demonstration(demo.states[:3:2], None, demo.task, demo.setting)
    with pytest.raises(RsgError, match="step 0: no action leads"):
        with_actions(world, every_second)
    bridged = with_actions(world, every_second, bridge=2)
    assert len(bridged) == 2
    assert np.allclose(world.step(bridged.states[:-1], bridged.actions), bridged.states[1:])
    away = demo.states[:2].copy()
    away[1, -1] += 0.5  # what no action changes
    with pytest.raises(RsgError, match="step 0: no action leads"):
        with_actions(world, Demonstration(away, None, demo.task))


def test_learning_finds_actions_that_are_missing_and_asks_for_descriptions():
    import rsg

    shown = [Demonstration(*walk) for walk in Corridor().walks()]
    silent = [Demonstration(shown[0].states, None, shown[0].task), *shown[1:]]
    learned = rsg.learn(silent, Corridor())
    assert learned.tell() == rsg.learn(shown, Corridor()).tell()
    terms = ["light-lamp", "read-book"]
    found, known = (learned.recognise(demo, terms) for demo in (silent[0], shown[0]))
    assert [(one.task, one.score) for one in found] == [(one.task, one.score) for one in known]
    wordless = [*shown[:2], Demonstration(shown[2].states, shown[2].actions, "")]
    with pytest.raises(RsgError, match="episode 2 has no description"):
        rsg.learn(wordless, Corridor())


def test_recordings_without_actions_are_kept(tmp_path):
    seen = [Demonstration(np.arange(6).reshape(3, 2), None, "", f"{number}") for number in range(3)]
    done = Demonstration(np.arange(6).reshape(3, 2), np.array([0.5, 1.5], np.float32), "a")
    store = Store.create(tmp_path / "store", "own")
    store.append([*seen, done, *seen])
    store.append(seen)
    back = list(Store(tmp_path / "store"))
    assert back == [*seen, done, *seen, *seen]
    assert [len(demo) for demo in back] == [2] * 10
    assert back[0] != done
    assert hash(back[0]) != hash(done)
    assert back[0].first(1).actions is None
