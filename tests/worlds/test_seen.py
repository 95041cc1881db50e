"""What is seen: kinds of parts, names of columns and values, facts of grids and things, compiled where that can be."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.reference.facts import part_facts

from rsg.core.errors import RsgError
from rsg.core.random import stream
from rsg.worlds.facts import fact_names, facts_of, say
from rsg.worlds.seen import kinds_of, layouts, parts_of, side_by_side

THINGS = {"thing": ["floor", "lamp", "box"], "state": {"off": 0, "on": 1}}


class Board:
    """A walker on a grid of lamps and boxes; a state is (row, column, the grid). What it shows lies in its states."""

    actions = ("press",)
    columns = {"board": THINGS, "walker": ("row", "column")}  # noqa: RUF012

    def encode(self, states):
        return {"walker": states[:, :2], "board": states[:, 2:].reshape(-1, 3, 4, 2)}


class Copied(Board):
    """It shows copies, in other numbers."""

    def encode(self, states):
        return {name: part.astype(np.int16) for name, part in super().encode(states).items()}


class Bag:
    """Things in a row, of a type, a colour and a place; 0 is none."""

    actions = ("press",)
    columns = {"bag": {"kind": None, "colour": ["red", "blue", "green"]}}  # noqa: RUF012

    def encode(self, states):
        return {"bag": states.reshape(len(states), -1, 3)}


def boards(seed, count=60, dtype=np.uint8):
    rng = stream(seed, "boards")
    grid = rng.integers([3, 2], size=(count, 12, 2)).reshape(count, -1)
    return np.concatenate([rng.integers([3, 4], size=(count, 2)), grid], axis=1).astype(dtype)


def told(world, states):
    return [
        part_facts({name: part[i].tolist() for name, part in world.encode(states).items()}, named(world))
        for i in range(len(states))
    ]


def named(world):
    """With values in order."""
    columns = dict(world.columns)
    for part, one in columns.items():
        if isinstance(one, dict):
            columns[part] = {name: list(values) if values else None for name, values in one.items()}
    return columns


@pytest.mark.parametrize("world", [Board(), Copied()], ids=["the state", "copies"])
@settings(deadline=None)
@given(seed=st.integers(0, 2**20))
def test_facts_are_what_a_reader_would_say(world, seed):
    states = boards(seed, 12)
    names = [name for name in fact_names(world, states) if name != "walker[row]=walker[column]"]
    expected = [[name in some for name in names] for some in told(world, states)]
    assert np.array_equal(facts_of(world, names).ask(states), expected)


def test_facts_of_a_grid_are_things_their_conditions_and_where_somebody_stands():
    names = fact_names(Board(), boards(1))
    assert {"some board=lamp", "some board=lamp&[state]=on"} <= set(names)
    assert any(name.startswith("walker[row,column] on board=") for name in names)


@pytest.mark.kernels
@pytest.mark.parametrize("dtype", [np.uint8, np.int64, np.float32], ids=lambda one: one.__name__)
def test_what_lies_in_the_state_is_compiled(dtype):
    states = boards(1, dtype=dtype)
    names = fact_names(Board(), states)
    facts = facts_of(Board(), names, states[0])
    kernel, tables = facts.compiled
    long = np.concatenate([states, states[:, :5]], axis=1)  # as searches keep them
    said = [[kernel(tables, long, i, n) for n in range(len(names))] for i in range(len(states))]
    assert np.array_equal(said, facts.ask(states))
    assert facts_of(Copied(), names, states[0]).compiled is None


@pytest.mark.kernels
def test_things_have_types_and_conditions_one_or_two():
    states = stream(2, "bag").integers([3, 3, 40], size=(200, 4, 3)).reshape(200, -1)
    names = fact_names(Bag(), states)
    assert "some bag=2&[colour]=blue" in names
    assert not any("[2]" in name for name in names)  # so many values are no condition
    expected = [[name in some for name in names] for some in told(Bag(), states)]
    assert np.array_equal(facts_of(Bag(), names, states[0]).ask(states), expected)


def test_a_smaller_world_has_fewer_facts():
    names = ["board(9,9)=box", "some other=box", "walker[speed]=1", "some board=lamp&[state]=broken", "some board=box"]
    holds = facts_of(Board(), names, boards(0)[0]).ask(boards(0))
    assert not holds[:, :4].any()
    assert holds[:, 4].any()


def test_sentences_use_the_names():
    assert say({}, "some board=lamp&[state]=on") == "a lamp is on"
    assert say({}, "some board=lamp&[colour]=red&[state]=on", holds=False) == "no lamp is red and on"
    assert say({}, "some board=lamp&[2]=3") == "a lamp is of 2 3"
    assert say({}, "not some board=box") == "no box is there"
    assert say({}, "walker[row]=2", holds=False) == "walker row is not 2"
    assert say({}, "walker[row]=walker[column]") == "walker row is walker column"
    assert say({}, "board(1,2)=lamp") == "a lamp is at 1, 2"
    assert say({}, "some board=3&[2]=1") == "some board=3&[2]=1"


def test_kinds_follow_from_what_is_shown_or_are_said():
    parts = {
        "map": np.ones((2, 5, 5, 3), np.uint8),
        "photo": np.full((2, 5, 5, 3), 200, np.uint8),
        "heights": np.zeros((2, 5, 5, 1), np.float32),
        "bag": np.ones((2, 4, 3)),
        "speeds": np.full((2, 4, 3), 0.5),
        "dial": np.arange(2),
    }
    kinds = kinds_of(None, parts_of(parts))
    assert list(kinds.values()) == ["symbols", "picture", "picture", "things", "numbers", "numbers"]

    class Said(Board):
        spaces = {"bag": "symbols", "map": "picture"}  # noqa: RUF012

    assert kinds_of(Said(), parts_of(parts)) == {**kinds, "bag": "symbols", "map": "picture"}


@pytest.mark.parametrize(
    ("spaces", "sentence"),
    [({"board": "sybmols"}, "symbols"), ({"walker": "picture"}, r"'walker' is picture, .* gives \(60, 2\)")],
)
def test_what_does_not_fit_is_told(spaces, sentence):
    class Wrong(Board):
        pass

    Wrong.spaces = spaces
    with pytest.raises(RsgError, match=sentence):
        fact_names(Wrong(), boards(0))


def test_too_many_names_are_told():
    class Wrong(Board):
        columns = {"walker": ("row", "column", "direction")}  # noqa: RUF012

    with pytest.raises(RsgError, match="names 3 columns of 'walker', which has 2"):
        fact_names(Wrong(), boards(0))


def test_a_world_that_shows_a_picture_is_not_asked_for_its_state():
    class Shown(Board):
        def encode(self, states):
            return np.repeat(states[:, None, :, None], 3, axis=3).astype(np.uint8) * 50

    assert fact_names(Shown(), boards(0)) == ()


def test_where_parts_lie():
    state = boards(0)[0]
    found = layouts(Board(), state)
    assert found["walker"] == (0, (2,), (1,))
    assert found["board"] == (2, (3, 4, 2), (8, 2, 1))
    assert layouts(Copied(), state) == {}
    rows, places = side_by_side(Board().encode(boards(0)))
    assert np.array_equal(rows, boards(0))
    assert places == found
