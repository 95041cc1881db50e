"""What can be asked of states: of Crafting World, and of any world that shows something discrete."""

from typing import NamedTuple

import numpy as np
import pytest
from tests.reference import crafting as reference
from tests.reference.facts import crafting_facts

from rsg.core.errors import RsgError
from rsg.core.random import stream
from rsg.domains.crafting import CraftingWorld
from rsg.worlds import check
from rsg.worlds.facts import fact_names, facts_of, family, say


class Rows:
    """A world whose states are rows of whole numbers."""

    def encode(self, states):
        return states.astype(np.float32) / 7


class Things(NamedTuple):
    agent: np.ndarray
    objects: np.ndarray


class Named(Rows):
    """It shows the agent's place, and things with a type, a place and a condition."""

    def encode(self, states):
        return Things(states[:, :2], states[:, 2:].reshape(len(states), -1, 3))


def rows(seed, count=200, low=0, high=4, width=5):
    return stream(seed, "facts").integers(low, high, size=(count, width))


@pytest.mark.kernels
@pytest.mark.parametrize("size", [(1, 1, 1), (3, 7, 2), (6, 6, 6)], ids=str)
def test_the_facts_of_crafting_world_are_what_a_reader_of_its_states_would_say(size):
    world = CraftingWorld(*size)
    states = world.sample(stream(0, "facts", *size), 100)
    holds = world.facts(states)
    for state, row in zip(states, holds, strict=True):
        said = {name for name, one in zip(world.fact_names, row, strict=True) if one}
        assert said == crafting_facts(reference.to_plain(world, state))
    assert check(world) == []


@pytest.mark.kernels
def test_kernels_see_the_facts_in_rows_that_are_longer_than_a_state():
    world = CraftingWorld(3, 4, 2)
    states = world.sample(stream(1, "facts"), 50)
    long = np.concatenate([states, np.full((50, 9), 4, dtype=np.uint8)], axis=1)
    kernel, tables = world.compiled_facts
    said = [[kernel(tables, long, i, n) for n in range(len(world.fact_names))] for i in range(50)]
    assert np.array_equal(said, world.facts(states))


def test_columns_of_whole_numbers_have_values_and_agree():
    states = rows(0)
    states[:, 3] = states[:, 3] > 1
    names = fact_names(Rows(), states)
    assert {"state[0]=0", "state[0]=3", "state[3]=1", "state[0]=state[1]", "some state=2"} <= set(names)
    assert "state[3]=0" not in names  # what is not 1 is 0
    facts = facts_of(Rows(), names)
    holds = facts.ask(states)
    for name, column in zip(names, holds.T, strict=True):
        left, right = name.removeprefix("some ").split("=")
        value = states[:, int(right[6])] if right.startswith("state") else int(right)
        wanted = (states == value).any(axis=1) if name.startswith("some") else states[:, int(left[6])] == value
        assert np.array_equal(column, wanted), name


@pytest.mark.kernels
def test_compiled_facts_say_the_same():
    states = rows(1)
    names = fact_names(Rows(), states)
    facts = facts_of(Rows(), names, states[0])
    kernel, tables = facts.compiled
    said = [[kernel(tables, states, i, number) for number in facts.numbers] for i in range(len(states))]
    assert np.array_equal(said, facts.ask(states))


def test_named_parts_come_first_and_things_have_types_and_conditions():
    states = rows(2, high=3, width=8)
    names = fact_names(Named(), states)
    assert {"agent[0]=1", "some objects=2", "some objects=1&[2]=1"} <= set(names)
    assert not any(name.startswith("state") for name in names)
    facts = facts_of(Named(), names)
    shown = states[:, 2:].reshape(len(states), 2, 3)
    wanted = ((shown[..., 0] == 1) & (shown[..., 2] == 1)).any(axis=1)
    assert np.array_equal(facts.ask(states)[:, names.index("some objects=1&[2]=1")], wanted)
    assert facts.compiled is None


@pytest.mark.parametrize("name", ["hand.held", "achieved goal", "left-arm"])
def test_parts_may_be_called_anything(name):
    class Odd(Rows):
        def encode(self, states):
            return {name: states[:, :2], "map": states[:, 2:].reshape(len(states), 2, 3)}

    states = rows(3, high=3, width=8)
    names = fact_names(Odd(), states)
    assert {f"{name}[0]=1", "some map=1"} <= set(names)
    assert np.array_equal(facts_of(Odd(), names).ask(states)[:, names.index(f"{name}[0]=1")], states[:, 0] == 1)


def test_a_state_of_broken_numbers_shows_what_encode_makes_discrete_of_it():
    class Lamp:
        def encode(self, states):
            return np.stack([states[:, 0], states[:, 1] > 0.5], axis=1)

    states = stream(3, "facts").random((300, 2))
    assert fact_names(Lamp(), states) == ("seen[1]=1",)
    assert np.array_equal(facts_of(Lamp(), ["seen[1]=1"]).ask(states)[:, 0], states[:, 1] > 0.5)


def test_numbers_alone_are_no_facts():
    class Place:
        def encode(self, states):
            return states

    assert fact_names(Place(), stream(4, "facts").random((300, 2))) == ()


def test_a_fact_that_a_world_does_not_have_never_holds_there():
    small, large = CraftingWorld(2, 2), CraftingWorld(4, 4)
    states = small.sample(stream(5, "facts"), 20)
    facts = facts_of(small, ["at(3,3)", "at(0,0)"])
    assert not facts.ask(states)[:, 0].any()
    assert facts.ask(states)[:, 1].tolist() == [not state[:2].any() for state in states]
    assert "at(3,3)" in large.fact_names
    assert not facts_of(Rows(), ["state[9]=1"]).ask(rows(6)).any()


def test_a_name_that_is_none_is_an_error():
    with pytest.raises(RsgError, match=r"no fact 'held\(axe\)'"):
        facts_of(Rows(), ["held(axe)"])


def test_facts_are_said_in_words():
    phrases = CraftingWorld.fact_phrases
    assert say(phrases, "open(door)", holds=False) == "no door is open"
    assert say(phrases, "at(2,13)") == "the agent is at row 2, column 13"
    assert say({}, "state[1]=2", holds=False) == "not state[1]=2"
    assert {family(name) for name in CraftingWorld().fact_names} == set(phrases)


class Liar(CraftingWorld):
    """One of its facts is compiled otherwise."""

    def facts(self, states):
        holds = super().facts(states)
        holds[:, 3] ^= True
        return holds


class Twins(CraftingWorld):
    @property
    def fact_names(self):
        return ("same",) * len(CraftingWorld().fact_names)


def test_the_check_of_worlds_looks_at_facts():
    assert any("`compiled_facts` says something else" in told for told in check(Liar()))
    assert any("Two facts have the same name" in told for told in check(Twins()))
