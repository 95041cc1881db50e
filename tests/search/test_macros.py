"""Macros beside actions: fewer expansions, the same costs, and plans that are actions alone."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.planning.test_execution import House, meant, truth

import rsg
from rsg.core.errors import RsgError
from rsg.search import Auto, SearchSettings
from rsg.worlds.corridor import Corridor
from rsg.worlds.macros import WithMacros


def towards(x, y):
    def controller(world, state):
        across, down = x - state[0], y - state[1]
        return [3 if across > 0 else 2] * abs(across) + ["down" if down > 0 else "up"] * abs(down)

    return controller


def batched(world, states):
    return [towards(4, 4)(world, state) for state in states]


batched.batched = True


class Quick(House):
    macros = {"go-to-key": towards(0, 4), "go-to-door": batched, "hop": ["up", "up"], "use-twice": [4, 4]}  # noqa: RUF012


class Priced(Quick):
    costs = np.array([1.0, 2.0, 3.0, 0.5, 1.5])


@settings(max_examples=100, deadline=None)
@given(
    st.sampled_from([Quick, Priced]),
    st.sampled_from(["take-key then open-door", "take-key and be-right then leave", "leave then be-right"]),
    st.integers(0, 4),
    st.integers(0, 4),
    st.sampled_from(["optimal", "deepest", "balanced", "anytime"]),
)
def test_plans_with_macros(kind, task, x, y, order):
    start, search = np.array([x, y, 0, 0]), SearchSettings(Auto(order), budget=None)
    bare = type("Bare", (kind,), {"macros": {}})
    quick, slow = (rsg.plan(kind(), start, task, meant, search), rsg.plan(bare(), start, task, meant, search))
    assert quick.found == slow.found
    if not quick.found:
        return
    assert rsg.validate(kind(), quick, task, truth).ok
    assert (quick.actions < 5).all()
    assert len(quick.nodes) == len(quick.actions) == len(quick.states) - 1 == len(quick.terms)
    costs = getattr(kind, "costs", np.full(5, 0.1))
    assert quick.cost == pytest.approx(costs[quick.actions].sum())
    if order == "optimal":
        assert quick.cost == pytest.approx(slow.cost)


class Handy(House):
    macros = {  # noqa: RUF012
        "fetch-key": lambda world, state: [*towards(0, 4)(world, state), "use"],
        "unlock": lambda world, state: [*towards(4, 4)(world, state), "use"],
    }


def test_those_that_end_in_a_subgoal_save_expansions():
    start, task = np.array([4, 0, 0, 0]), "take-key then open-door"
    quick, slow = rsg.plan(Handy(), start, task, meant), rsg.plan(House(), start, task, meant)
    assert quick.expansions < slow.expansions / 3
    assert len(quick.actions) == len(slow.actions)


def test_goals_are_planned_for_with_macros():
    class Lamps(Corridor):
        macros = {"light": lambda world, state: ["left"] * int(state[0]) + [2], "read": [*[1] * 8, 2]}  # noqa: RUF012

    subgoals = rsg.learn([rsg.Demonstration(*walk) for walk in Corridor().walks()], Lamps())
    made = subgoals.plan_goal(Lamps(), np.array([5, 0, 0]), "read-book")
    bare = subgoals.plan_goal(Corridor(), np.array([5, 0, 0]), "read-book")
    assert made.actions.tolist() == bare.actions.tolist() == [0] * 5 + [2] + [1] * 8 + [2]
    assert [part.term for part in made.parts] == ["light-lamp", "read-book"]
    assert made.cost == pytest.approx(bare.cost)
    assert made.expansions < bare.expansions
    assert (made.states == bare.states).all()


def test_learning_knows_nothing_of_macros():
    class Lamps(Corridor):
        macros = {"to-book": [1] * 8}  # noqa: RUF012

    shown = [rsg.Demonstration(*walk) for walk in Corridor().walks()]
    assert rsg.search.local_graph(Lamps(), shown[0].states, 3).edge_action.max() == 2


def changing():
    tries = []

    def controller(world, state):
        tries.append(state)
        return [0] * (1 + len(tries) % 3)

    return controller


@pytest.mark.parametrize(
    ("macros", "problem"),
    [
        ({"up": ["down"]}, "the macro 'up' has the name of an action"),
        ({"go": ["dwn"]}, "there is no action in the macro 'go' 'dwn'; did you mean down?"),
        ({"go": [7]}, "there is no action in the macro 'go' '7'; there are: up"),
        ({"go": []}, r"the macro 'go' is a sequence of actions, or a controller, not \[\]"),
        ({"go": "up"}, "or a controller, not 'up'"),
        ({"go": lambda world, state: ["dwn"]}, "did you mean down"),
    ],
)
def test_slips_are_sentences(macros, problem):
    world = type("Wrong", (House,), {"macros": macros})()
    with pytest.raises(RsgError, match=problem):
        rsg.plan(world, np.array([2, 2, 0, 0]), "take-key", meant)


def test_a_macro_leads_to_the_same_state_each_time():
    class Moody(House):
        macros = {"wander": changing()}  # noqa: RUF012

    both = WithMacros(Moody())
    states = np.array([[2, 4, 0, 0], [2, 2, 0, 0]])
    with pytest.raises(RsgError, match="the macro 'wander' does not lead to the same state each time"):
        [both.unroll(np.array([5]), states) for _ in range(4)]


def test_what_cannot_be_done_here():
    class Careful(House):
        macros = {"rest": lambda world, state: []}  # noqa: RUF012

    after, costs = WithMacros(Careful()).priced(np.array([[2, 2, 0, 0]]))
    assert after[0, 5].tolist() == [2, 2, 0, 0]
    assert costs[0, 5] == np.inf
    assert rsg.plan(Careful(), np.array([2, 2, 0, 0]), "take-key", meant).found
