"""Another rulebook is another world, by the same code."""

from dataclasses import replace

import numpy as np
import pytest

from rsg.core.errors import RsgError
from rsg.core.random import stream
from rsg.domains.crafting import ACTIONS, STANDARD, CraftingWorld, Rule, Rulebook, Thing, truth
from rsg.domains.crafting.maps import objects_for
from rsg.domains.crafting.text import legend, read_map, write_map
from rsg.worlds import check

VOLCANO = Rulebook(
    things=(
        Thing("cloth", "item", "c"),
        Thing("loom", "place", "L"),
        Thing("lava", "barrier", "%", key="fire-suit"),
        Thing("rock", "barrier", "#"),
        Thing("lever", "switch", "!"),
        Thing("hatch", "door", "+"),  # no key opens it
        Thing("needle", "item", "n"),
        Thing("ruler", "item", "r"),
        Thing("fire-suit", "item", "f"),
        Thing("bin", "place", "B"),
    ),
    rules=(
        Rule("cloth", "bin"),
        Rule("fire-suit", "loom", tools=("needle", "ruler"), uses=("cloth", "cloth")),
        Rule(
            "needle", "bin", uses=("ruler",)
        ),  # never: the first rule at the bin always comes first while there is room
        Rule("cloth", "loom", uses=("ruler", "ruler", "ruler")),
    ),
)


def run(text, actions):
    """The inventory and the map after some actions, from a map text."""
    world, state = read_map(text, VOLCANO)
    for action in actions.split():
        state = world.step(state[None], [ACTIONS.index(action)])[0]
    return sorted(world.inventory(state)), write_map(world, state).split("map:\n")[1]


@pytest.mark.kernels
@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("needle ruler cloth cloth", "fire-suit needle ruler"),
        ("needle ruler cloth cloth cloth", "cloth fire-suit needle ruler"),
        ("needle ruler cloth", "needle ruler cloth"),  # one of two equal ingredients is missing
        ("needle cloth cloth", "needle cloth cloth"),
        ("ruler cloth cloth", "ruler cloth cloth"),
        ("ruler ruler ruler", "cloth"),
        ("needle ruler ruler ruler cloth cloth", "fire-suit needle ruler ruler ruler"),
        ("needle ruler ruler ruler cloth", "cloth cloth needle"),
        ("ruler ruler cloth", "ruler ruler cloth"),
    ],
)
def test_two_tools_and_equal_ingredients(before, after):
    held, _ = run(f"inventory: {', '.join(before.split())}\nagent: 0 0\nmap:\nL\n", "toggle")
    assert held == sorted(after.split())


@pytest.mark.kernels
def test_a_rule_that_fails_half_way_leaves_no_trace():
    """The first ingredient is there, the second is not: the inventory keeps its bytes."""
    world = CraftingWorld(1, 1, rules=VOLCANO)
    state = world.state({(0, 0): "loom"}, inventory=["needle", "ruler", "fire-suit", "cloth"])
    assert world.step(state[None], [4]).tobytes() == state.tobytes()


@pytest.mark.kernels
def test_the_whole_little_world():
    held, drawn = run("inventory: needle, ruler\nmap:\n@BL%r\n", "right toggle toggle right toggle right right toggle")
    assert (held, drawn) == (["fire-suit", "needle", "ruler", "ruler"], ".BL%@\n")
    assert run("inventory: needle\nmap:\n@%#\n", "right")[1] == "@%#\n"
    assert run("inventory: fire-suit\nmap:\n@#\n", "right")[1] == "@#\n"
    assert run("agent: 0 0\nmap:\n!+c\n", "right toggle right right toggle") == (["cloth"], "*'@\n")
    assert run("inventory: needle\nmap:\n@+\n", "right")[1] == "@+\n"
    assert run("inventory: ruler\nagent: 0 0\nmap:\nB\n", "toggle")[0] == ["cloth", "ruler"]


@pytest.mark.kernels
def test_everything_else_works_as_well():
    world = CraftingWorld(3, 4, 3, rules=VOLCANO)
    assert check(world) == []
    states = np.stack([world.state({(0, 0): "lever"}), world.state({(0, 0): "lever-on"}, inventory=["fire-suit"])])
    assert truth(world, states, ["craft-fire-suit", "toggle-lever"]).tolist() == [[False, False], [True, True]]
    with pytest.raises(RsgError, match="no subgoal 'toggle-switch'"):
        truth(world, states, ["toggle-switch"])
    seen = world.encode(states).objects[:, 0]
    assert [(VOLCANO.things[t - 1].name, on) for t, _, _, on, _ in seen] == [("lever", 0), ("lever", 1)]
    assert objects_for(["craft-cloth", "toggle-lever", "grab-ruler"], VOLCANO) == ("bin", "loom", "lever", "ruler")
    for state in world.sample(stream(0), 50):
        same, again = read_map(write_map(world, state), VOLCANO)
        assert np.array_equal(again, state)
        assert (same.capacity, same.rules) == (3, VOLCANO)


def test_rules_at_one_place_need_not_stand_together():
    assert VOLCANO.places_of("cloth") == ("bin", "loom")
    assert VOLCANO.places_of("fire-suit") == ("loom",)
    assert VOLCANO.places_of("ruler") == ()
    assert VOLCANO.recipes.shape == (4, 1 + 2 * 3)


def test_a_world_without_rules():
    world = CraftingWorld(2, 2, 2, rules=Rulebook((Thing("pebble", "item", "p"),), ()))
    assert check(world) == []


@pytest.mark.parametrize(
    ("things", "rules", "problem"),
    [
        ([Thing("key", "place", "K")], [], "two things have the same name: key"),
        ([Thing("lock", "place", "k")], [], "two things have the same symbol: k"),
        ([], [Rule("soup", "oven")], "speaks of the item 'soup', but there is no such item"),
        ([], [Rule("key", "stove")], "speaks of the place 'stove', but there is no such place"),
        ([], [Rule("key", "key")], "speaks of the place 'key', but there is no such place"),
        ([], [Rule("oven", "oven")], "speaks of the item 'oven', but there is no such item"),
        ([], [Rule("key", "oven", tools=("file",))], "speaks of the item 'file', but there is no such item"),
        ([], [Rule("key", "oven", uses=("iron",))], "speaks of the item 'iron', but there is no such item"),
        ([Thing("door", "door", "+", key="oven")], [], "speaks of the item 'oven', but there is no such item"),
        ([Thing("sea", "barrier", "~", key="ship")], [], "speaks of the item 'ship', but there is no such item"),
    ],
)
def test_wrong_rulebooks_are_one_sentence(things, rules, problem):
    with pytest.raises(RsgError, match=problem):
        Rulebook((Thing("key", "item", "k"), Thing("oven", "place", "O"), *things), tuple(rules))


# Two kinds of doors and switches in one book


TWO_DOORS = Rulebook(
    things=(
        *(Thing("gate", "door", "g"), Thing("hatch", "door", "h")),
        *(Thing("lever", "switch", "l"), Thing("button", "switch", "b")),
    ),
    rules=(),
)


@pytest.mark.kernels
def test_a_switch_of_any_kind_opens_doors_of_every_kind():
    world = CraftingWorld(1, 4, rules=TWO_DOORS)
    state = world.state({(0, 0): "button", (0, 1): "gate", (0, 2): "hatch", (0, 3): "lever"})
    opened = world.state({(0, 0): "button-on", (0, 1): "gate-open", (0, 2): "hatch-open", (0, 3): "lever"})
    assert np.array_equal(world.step(state[None], [4])[0], opened)
    assert np.array_equal(world.step(opened[None], [4])[0], state)


def test_maps_with_two_kinds_of_open_doors_can_be_written_and_read():
    world = CraftingWorld(1, 5, rules=TWO_DOORS)
    state = world.state({(0, 0): "button-on", (0, 1): "gate-open", (0, 2): "hatch-open", (0, 3): "lever-on"}, (0, 4))
    assert np.array_equal(read_map(write_map(world, state), TWO_DOORS)[1], state)
    assert set(legend(world, state).values()) == {"button-on", "gate-open", "hatch-open", "lever-on"}


@pytest.mark.parametrize("symbol", [".", "@", " ", ";", "'", "*", "", "ab"])
def test_symbols_that_a_map_file_cannot_carry_are_refused(symbol):
    """These stand for floor, the agent, a comment, an open door, a switch that is on; or are not one letter."""
    with pytest.raises(RsgError, match="symbol"):
        replace(STANDARD, things=(*STANDARD.things, Thing("pond", "place", symbol)))


@pytest.mark.parametrize("name", ["floor", "door-open", "switch-on"])
def test_names_that_mean_something_else_already_are_refused(name):
    with pytest.raises(RsgError, match=name):
        replace(STANDARD, things=(*STANDARD.things, Thing(name, "place", "?")))


def test_more_things_than_a_byte_can_number_are_refused():
    things = tuple(Thing(f"thing-{i}", "item", chr(0x4E00 + i)) for i in range(256))
    assert len(Rulebook(things[:255], ()).names) == 256
    with pytest.raises(RsgError, match="255"):
        Rulebook(things, ())
