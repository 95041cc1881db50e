"""What each rule of Crafting World does, case by case. All of it runs once more without compilation."""

from itertools import combinations_with_replacement, pairwise

import numpy as np
import pytest
from tests.reference import crafting as reference

from rsg.core.errors import RsgError
from rsg.core.random import stream
from rsg.domains.crafting import ACTIONS, STANDARD, VOCABULARY, CraftingWorld, truth

pytestmark = pytest.mark.kernels

UP, DOWN, LEFT, RIGHT, TOGGLE = range(5)
RULES = [(item, place, tools, []) for item, place, tools in reference.MINING]
RULES += [(item, place, [], uses) for item, place, uses in reference.CRAFTING]


def toggled(place, inventory, capacity=6):
    """What the agent holds after one toggle at a place, sorted; the place itself must stay."""
    world = CraftingWorld(1, 1, capacity)
    after = world.step(world.state({(0, 0): place}, inventory=inventory)[None], [TOGGLE])[0]
    assert world.rules.names[world.cells(after)[0, 0]] == place
    return sorted(world.inventory(after))


def walk(world, state, actions):
    """The state after some actions, named as in `right right toggle`."""
    for action in actions.split():
        state = world.step(state[None], [ACTIONS.index(action)])[0]
    return state


def place_of(state):
    return int(state[0]), int(state[1])


# One rule at a time


def test_there_are_26_rules_and_47_types():
    assert len(RULES) == len(STANDARD.rules) == 26
    types = [*reference.STRUCTURES, *reference.RESOURCES, *reference.STATIONS, *reference.ITEMS]
    assert [thing.name for thing in STANDARD.things] == types
    assert len(types) == 47
    assert list(STANDARD.names) == ["floor", *types, *reference.CHANGED]


@pytest.mark.parametrize(("item", "place", "tools", "uses"), RULES)
def test_a_rule_fires_keeps_tools_and_uses_up_ingredients(item, place, tools, uses):
    assert toggled(place, [*tools, *uses]) == sorted([*tools, item])


@pytest.mark.parametrize(("item", "place", "tools", "uses"), RULES)
def test_a_rule_leaves_everything_else_alone(item, place, tools, uses):
    bystanders = ["arrow", "bed", "paper"]  # nothing is made of these
    world = CraftingWorld(2, 2)
    around = {(0, 1): "door", (1, 0): "sheep", (1, 1): "key"}
    state = world.state({(0, 0): place, **around}, inventory=[*tools, *uses, *bystanders])
    after = world.step(state[None], [TOGGLE])[0]
    assert np.array_equal(after, world.state({(0, 0): place, **around}, inventory=[*tools, item, *bystanders]))


@pytest.mark.parametrize(("item", "place", "tools", "uses"), RULES)
def test_a_rule_does_not_fire_when_one_thing_is_missing(item, place, tools, uses):
    for missing in [*tools, *uses]:
        rest = sorted(name for name in [*tools, *uses] if name != missing)
        assert toggled(place, rest) == rest


@pytest.mark.parametrize(("item", "place", "tools", "uses"), RULES)
def test_a_rule_fires_only_at_its_own_place(item, place, tools, uses):
    held = sorted([*tools, *uses])
    for other in [*reference.RESOURCES, *reference.STATIONS]:
        if other not in {at for _, at, tools_there, uses_there in RULES if {*tools_there, *uses_there} <= {*held}}:
            assert toggled(other, held) == held


def test_every_thing_with_every_pair_of_items():
    world = CraftingWorld(1, 1, capacity=3)
    hands = [hand for count in range(3) for hand in combinations_with_replacement(reference.ITEMS, count)]
    for name in STANDARD.names[1:]:
        states = np.stack([world.state({(0, 0): name}, inventory=hand) for hand in hands])
        after = world.step(states, np.full(len(states), TOGGLE))
        plain = [reference.step(reference.to_plain(world, state), "toggle") for state in states]
        assert np.array_equal(after, np.stack([reference.to_row(world, state) for state in plain])), name


# Which rule comes first


@pytest.mark.parametrize(
    ("place", "hands"),
    [
        (
            "work-station",
            [
                "wood wood-plank sugar-cane",
                "wood-plank wood-plank sugar-cane",
                "stick wood-plank sugar-cane",
                "stick stick sugar-cane",
                "stick stick paper",
                "stick stick paper",
            ],
        ),
        (
            "furnace",
            [
                "potato gold-ore iron-ore coal coal coal",
                "potato gold-ore iron-ingot coal coal",
                "potato gold-ingot iron-ingot coal",
                "cooked-potato gold-ingot iron-ingot",
                "cooked-potato gold-ingot iron-ingot",
            ],
        ),
        (
            "weapon-station",
            ["iron-ingot feather stick stick", "iron-ingot arrow stick", "sword arrow", "sword arrow"],
        ),
        ("tool-station", ["gold-ingot iron-ingot", "gold-ingot shears", "shears shears", "shears shears"]),
        (
            "food-station",
            [
                "beetroot bowl iron-ingot wood-plank",
                "beetroot bowl iron-ingot bowl",
                "beetroot bowl bowl bowl",
                "beetroot-soup bowl bowl",
                "beetroot-soup bowl bowl",
            ],
        ),
        ("sheep", ["sword", "sword wool", "sword wool wool"]),
        ("sheep", ["shears", "shears wool", "shears wool wool"]),
        ("sheep", ["shears sword", "shears sword wool", "shears sword wool wool"]),
    ],
)
def test_the_first_rule_that_applies_fires(place, hands):
    for before, after in pairwise(hands):
        assert toggled(place, before.split()) == sorted(after.split())


# A full inventory


@pytest.mark.parametrize("capacity", [1, 2, 6])
@pytest.mark.parametrize(("item", "place", "tools", "uses"), RULES[:11])
def test_mining_needs_room(item, place, tools, uses, capacity):
    full = sorted([*tools, *["key"] * (capacity - len(tools))])
    assert toggled(place, full, capacity) == full


@pytest.mark.parametrize(("item", "place", "tools", "uses"), RULES[11:])
def test_crafting_needs_no_room(item, place, tools, uses):
    assert toggled(place, uses, capacity=len(uses)) == [item]
    assert toggled(place, [*uses, "key"], capacity=len(uses) + 1) == sorted([item, "key"])


@pytest.mark.parametrize("item", reference.ITEMS)
def test_items_are_picked_up_if_there_is_room(item):
    world = CraftingWorld(1, 2, capacity=2)
    state = world.state({(0, 0): item, (0, 1): item}, inventory=["axe"])
    once = walk(world, state, "toggle")
    assert sorted(world.inventory(once)) == sorted(["axe", item])
    assert world.cells(once).tolist() == [[0, STANDARD.code(item)]]
    assert np.array_equal(walk(world, once, "toggle"), once)  # bare floor by now
    assert np.array_equal(walk(world, once, "right toggle left"), once)  # no room


# What the agent may hold twice


def test_one_of_two_equal_ingredients_is_used():
    assert toggled("work-station", ["wood", "wood"]) == ["wood", "wood-plank"]
    assert toggled("furnace", ["coal", "iron-ore", "coal"]) == ["coal", "iron-ingot"]
    assert toggled("potato-plant", ["potato"]) == ["potato", "potato"]
    world = CraftingWorld(1, 2)
    state = walk(world, world.state({(0, 0): "key", (0, 1): "key"}), "toggle right toggle")
    assert world.inventory(state) == ("key", "key")


def test_the_order_of_picking_up_leaves_no_trace():
    """Equal inventories have equal bytes."""
    world = CraftingWorld(1, 4)
    things = {(0, 0): "axe", (0, 1): "key", (0, 2): "wool", (0, 3): "axe"}
    there = walk(world, world.state(things), "toggle right toggle right toggle right toggle")
    back = walk(
        world, world.state(things, agent=(0, 3)), "toggle left toggle left toggle left toggle right right right"
    )
    assert there.tobytes() == back.tobytes()


# Doors, switches, water, walls


def test_a_door_is_closed_without_a_key():
    world = CraftingWorld(1, 3)
    state = world.state({(0, 1): "door"})
    assert np.array_equal(walk(world, state, "right"), state)


def test_a_key_leads_through_a_door_and_is_kept():
    world = CraftingWorld(1, 3)
    state = world.state({(0, 1): "door"}, inventory=["key"])
    assert place_of(walk(world, state, "right right")) == (0, 2)
    assert np.array_equal(walk(world, state, "right right left left"), state)  # the door stays closed, the key is kept


def test_a_switch_opens_all_doors_and_closes_them_again():
    world = CraftingWorld(2, 3)
    state = world.state({(0, 0): "switch", (0, 1): "door", (1, 2): "door", (1, 0): "wall"})
    opened = walk(world, state, "toggle")
    assert np.array_equal(
        opened, world.state({(0, 0): "switch-on", (0, 1): "door-open", (1, 2): "door-open", (1, 0): "wall"})
    )
    assert place_of(walk(world, opened, "right right down")) == (1, 2)
    closed = walk(world, opened, "toggle")
    assert np.array_equal(closed, state)
    assert np.array_equal(walk(world, closed, "right"), state)


def test_doors_follow_the_switch_that_was_toggled_last():
    world = CraftingWorld(1, 3)
    both_off = world.state({(0, 0): "switch", (0, 1): "switch", (0, 2): "door"})
    first_on = walk(world, both_off, "toggle")
    both_on = walk(world, first_on, "right toggle")
    assert [STANDARD.names[code] for code in world.cells(both_on)[0]] == ["switch-on", "switch-on", "door-open"]
    first_off = walk(world, both_on, "left toggle")
    assert [STANDARD.names[code] for code in world.cells(first_off)[0]] == ["switch", "switch-on", "door"]


def test_a_switch_without_doors_and_a_full_inventory():
    world = CraftingWorld(1, 1, capacity=1)
    state = world.state({(0, 0): "switch"}, inventory=["key"])
    assert np.array_equal(walk(world, state, "toggle"), world.state({(0, 0): "switch-on"}, inventory=["key"]))
    assert np.array_equal(walk(world, state, "toggle toggle"), state)


def test_water_takes_a_boat():
    world = CraftingWorld(1, 3)
    without = world.state({(0, 1): "water"}, inventory=["key", "wood-plank"])
    assert np.array_equal(walk(world, without, "right"), without)
    with_boat = world.state({(0, 1): "water"}, inventory=["boat"])
    assert place_of(walk(world, with_boat, "right right")) == (0, 2)
    assert np.array_equal(walk(world, with_boat, "right right left left"), with_boat)


def test_nothing_leads_through_a_wall():
    world = CraftingWorld(1, 2, capacity=len(reference.ITEMS))
    state = world.state({(0, 1): "wall"}, inventory=reference.ITEMS)
    assert np.array_equal(walk(world, state, "right"), state)


@pytest.mark.parametrize("name", [*reference.RESOURCES, *reference.STATIONS, *reference.ITEMS, "switch", "switch-on"])
def test_everything_else_can_be_walked_on(name):
    world = CraftingWorld(1, 2)
    assert place_of(walk(world, world.state({(0, 1): name}), "right")) == (0, 1)


@pytest.mark.parametrize(("height", "width"), [(1, 1), (1, 4), (3, 1), (3, 4), (20, 255)])
def test_the_border_holds(height, width):
    world = CraftingWorld(height, width)
    corners = {(0, 0): "up left", (height - 1, width - 1): "down right", (0, width - 1): "up right"}
    for corner, outward in corners.items():
        state = world.state({}, agent=corner)
        assert np.array_equal(walk(world, state, outward), state)


def test_the_four_ways():
    world = CraftingWorld(3, 3)
    state = world.state({}, agent=(1, 1))
    assert {name: place_of(walk(world, state, name)) for name in ACTIONS} == {
        "up": (0, 1),
        "down": (2, 1),
        "left": (1, 0),
        "right": (1, 2),
        "toggle": (1, 1),
    }


@pytest.mark.parametrize("name", ["floor", "wall", "door", "door-open", "water"])
def test_toggle_does_nothing_on_floor_walls_doors_and_water(name):
    world = CraftingWorld(1, 2)
    state = world.state({(0, 0): name, (0, 1): "switch"}, inventory=["key", "boat", "pickaxe", "axe"])
    assert np.array_equal(walk(world, state, "toggle"), state)


# What a world is asked


def test_costs_and_actions():
    world = CraftingWorld()
    assert world.actions == ("up", "down", "left", "right", "toggle")
    assert world.costs.tolist() == [0.1] * 5
    assert (world.height, world.width, world.capacity, world.objects, world.state_width) == (6, 6, 6, 36, 44)


def test_a_step_leaves_its_input_and_any_layout_will_do():
    world = CraftingWorld(3, 4)
    states = world.sample(stream(0, "layout"), 20)
    actions = np.arange(20) % 5
    expected = world.step(states, actions)
    before = states.copy()
    assert np.array_equal(world.step(states, actions.tolist()), expected)
    states.setflags(write=False)
    assert np.array_equal(world.step(states[::2], actions[::2].astype(np.uint8)), expected[::2])
    assert np.array_equal(states, before)


def test_no_states_at_all():
    world = CraftingWorld()
    none = world.sample(stream(0), 0)
    assert world.step(none, np.zeros(0, dtype=int)).shape == (0, 44)
    assert world.successors(none).shape == (0, 5, 44)
    assert world.encode(none).objects.shape == (0, 36, 5)
    assert truth(world, none).shape == (0, 26)


@pytest.mark.parametrize(
    ("actions", "problem"),
    [
        ([5, 0], "action 5 of state 0 is out of range: actions are 0 to 4"),
        ([0, -1], "action -1 of state 1 is out of range"),
        ([0], r"2 states need as many whole-numbered actions, got int64 \(1,\)"),
        ([0.0, 1.0], "whole-numbered actions, got float64"),
        (["up", "down"], "whole-numbered actions, got <U4"),
    ],
)
def test_wrong_actions_are_one_sentence(actions, problem):
    world = CraftingWorld()
    with pytest.raises(RsgError, match=problem):
        world.step(world.sample(stream(0), 2), actions)


@pytest.mark.parametrize("call", ["step", "successors", "encode", "truth", "render"])
def test_states_of_another_world_are_refused(call):
    world, other = CraftingWorld(), CraftingWorld(5, 5)
    states = other.sample(stream(0), 2)
    calls = {
        "step": lambda: world.step(states, [0, 0]),
        "successors": lambda: world.successors(states),
        "encode": lambda: world.encode(states.astype(np.int64)),
        "truth": lambda: truth(world, states[0]),
        "render": lambda: world.render(states[0]),
    }
    with pytest.raises(RsgError, match=r"not states of a 6×6 Crafting World with 6 slots: expected uint8 \[N, 44\]"):
        calls[call]()


@pytest.mark.parametrize(("column", "value"), [(0, 6), (1, 6), (0, 255), (2, 50), (7, 255), (8, 50), (43, 255)])
def test_rows_that_cannot_be_states_are_refused(column, value):
    """The kernels would read beyond their tables."""
    world = CraftingWorld()
    states = np.zeros((3, world.state_width), dtype=np.uint8)
    states[1, column] = value - 1 if value < 255 else 0
    assert world.checked(states) is states
    states[1, column] = value
    with pytest.raises(
        RsgError, match="state 1 is not of a 6×6 Crafting World: the agent is off the map, or an object"
    ):
        world.successors(states)


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (({}, (6, 0)), "the agent cannot be at row 6, column 0 of a 6×6 map"),
        (({(0, -1): "tree"},), "tree cannot be at row 0, column -1"),
        (({(0, 0): "treee"},), "there is no object 'treee' in this world; it has: wall, door"),
        (({}, (0, 0), ["key"] * 7), "7 items do not fit into an inventory of 6"),
        (({}, (0, 0), ["tree"]), "a tree cannot be held"),
        (({}, (0, 0), ["floor"]), "a floor cannot be held"),
    ],
)
def test_impossible_states_are_one_sentence(arguments, problem):
    with pytest.raises(RsgError, match=problem):
        CraftingWorld().state(*arguments)


@pytest.mark.parametrize("sizes", [(0, 1), (1, 256), (1, 1, 0), (1, 1, 256), (1, 1, 1, -1)])
def test_impossible_worlds_are_one_sentence(sizes):
    with pytest.raises(RsgError, match=r"1 to 255 rows, columns and inventory slots|cannot hold -1 objects"):
        CraftingWorld(*sizes)


# What is true


def test_truth_by_hand():
    world = CraftingWorld(1, 2)
    states = np.stack(
        [
            world.state({(0, 0): "switch", (0, 1): "key"}),
            world.state({(0, 0): "switch-on"}, inventory=["key", "wood"]),
            world.state({(0, 0): "switch", (0, 1): "switch-on"}, inventory=["shears"]),
        ]
    )
    terms = ["grab-key", "mine-wood", "craft-wood-plank", "craft-shears", "toggle-switch"]
    assert truth(world, states, terms).astype(int).tolist() == [[0, 0, 0, 0, 0], [1, 1, 0, 0, 1], [0, 0, 0, 1, 1]]
    assert len(VOCABULARY) == len(set(VOCABULARY)) == truth(world, states).shape[1] == 26


@pytest.mark.parametrize(
    ("term", "problem"),
    [
        ("mine-wod", "no subgoal 'mine-wod'; did you mean mine-wood"),
        ("grab-door", "no subgoal 'grab-door'"),
        ("toggle-key", "no subgoal 'toggle-key'; did you mean toggle-switch"),
        ("xyz", "no subgoal 'xyz'; there are: "),
    ],
)
def test_unknown_subgoals_are_one_sentence(term, problem):
    world = CraftingWorld()
    with pytest.raises(RsgError, match=problem):
        truth(world, world.state({})[None], [term])
