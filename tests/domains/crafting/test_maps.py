"""Random maps keep what their kind promises; map texts are read and written, and a wrong one is told where."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.reference import crafting as reference

from rsg.core.errors import RsgError
from rsg.core.random import stream
from rsg.domains.crafting import STANDARD, VOCABULARY, CraftingWorld
from rsg.domains.crafting.maps import KINDS, kind_named, objects_for, sample_map
from rsg.domains.crafting.text import MapError, legend, load_map, read_map, symbols, write_map

SEEDS = 200
OPEN = [kind for kind, plan in KINDS.items() if set("".join(plan.template)) == {"."}]
BUILT = [kind for kind in KINDS if kind not in OPEN]


def things_on(world, state):
    return [STANDARD.names[code] for code in world.cells(state).ravel() if code]


def held_in_regions(plan):
    """What every variant of the kind holds, and what only some do."""
    variants = [{name for names in variant.values() for name in names} for variant in plan.regions]
    return set.intersection(*variants), set.union(*variants) - set.intersection(*variants)


def things_that_fit(kind):
    """What a task may need on maps of a kind. What only some variants hold is left out: it stands for alternatives."""
    always, sometimes = held_in_regions(KINDS[kind])
    return sorted((always | set(KINDS[kind].scattered)) - sometimes)


# Random maps


@pytest.mark.parametrize("kind", KINDS)
def test_maps_keep_the_limit_and_have_one_agent_on_bare_floor(kind):
    plan = KINDS[kind]
    for seed in range(SEEDS):
        world, state = sample_map(kind, stream(seed, "maps", kind))
        assert (world.height, world.width) == (len(plan.template), len(plan.template[0]))
        assert world.capacity == 6
        assert world.inventory(state) == ()
        assert len(things_on(world, state)) <= plan.limit == world.objects
        assert world.cells(state)[state[0], state[1]] == 0
        assert not {"door-open", "switch-on"} & set(things_on(world, state))
        assert world.encode(state[None]).objects.shape == (1, plan.limit, 5)  # what is on the map fits


@pytest.mark.parametrize("kind", KINDS)
def test_what_a_task_needs_is_on_the_map(kind):
    rng = stream(1, "maps", kind)
    fitting = things_that_fit(kind)
    for _ in range(SEEDS):
        needs = rng.choice(fitting, size=rng.integers(1, min(6, len(fitting)) + 1)).tolist()  # now and then one twice
        world, state = sample_map(kind, rng, needs)
        assert set(needs) <= set(things_on(world, state)), needs
        assert len(things_on(world, state)) <= KINDS[kind].limit


@pytest.mark.parametrize("kind", KINDS)
def test_groups_come_whole_or_not_at_all(kind):
    rng = stream(2, "maps", kind)
    fitting = things_that_fit(kind)
    for _ in range(SEEDS):
        needs = rng.choice(fitting, size=rng.integers(min(4, len(fitting)))).tolist()
        found = things_on(*sample_map(kind, rng, needs))
        for group in KINDS[kind].together:
            assert {found.count(name) for name in group} in ({0}, {1}), (needs, found)
    for group in KINDS[kind].together:
        for name in group:
            assert set(group) <= set(things_on(*sample_map(kind, rng, [name])))


@pytest.mark.parametrize("kind", KINDS)
def test_the_stream_decides(kind):
    def draw(seed):
        return sample_map(kind, stream(seed, "maps"), inventory=["key"])[1].tobytes()

    assert [draw(seed) for seed in range(20)] == [draw(seed) for seed in range(20)]
    assert len({draw(seed) for seed in range(20)}) == 20


@pytest.mark.parametrize("kind", OPEN)
def test_open_fields_hold_only_what_is_scattered_and_sometimes_all_of_it(kind):
    plan = KINDS[kind]
    found = [things_on(*sample_map(kind, stream(seed, "field", kind))) for seed in range(SEEDS)]
    for things in found:
        assert all(things.count(name) <= plan.scattered.count(name) for name in things)
    assert {name for things in found for name in things} == set(plan.scattered)
    assert max(len(things) for things in found) == min(plan.limit, len(plan.scattered))


@pytest.mark.parametrize(("kind", "low", "high"), [("smithy", 0.55, 0.65), ("large-field", 1, 1)])
def test_chances(kind, low, high):
    """In 1,000 maps, each thing is there about as often as its chance says."""
    found = [set(things_on(*sample_map(kind, stream(seed, "chance")))) for seed in range(1000)]
    for name in KINDS[kind].scattered:
        assert low <= np.mean([name in things for things in found]) <= high


@pytest.mark.parametrize("kind", ["smithy", "field"])
def test_the_agent_and_things_may_be_anywhere_on_an_open_field(kind):
    agents, objects = np.zeros((6, 6)), np.zeros((6, 6))
    for seed in range(1000):
        world, state = sample_map(kind, stream(seed, "anywhere"))
        agents[state[0], state[1]] += 1
        objects += world.cells(state) > 0
    assert agents.min() > 0
    assert objects.min() > 0.5 * objects.mean()


@pytest.mark.parametrize("kind", [kind for kind in BUILT if KINDS[kind].turned])
def test_built_maps_come_in_all_eight_ways(kind):
    """The fence and the river lie each way round; regions hold what they should wherever they are turned."""
    layouts = set()
    for seed in range(SEEDS):
        world, state = sample_map(kind, stream(seed, "turned", kind))
        names = np.array(STANDARD.names)[world.cells(state)]
        layouts.add(np.isin(names, ["wall", "water", "door"]).tobytes())
    plan = np.isin(np.array([list(row) for row in KINDS[kind].template]), ["=", "~"])
    turned = {np.rot90(grid, turns).tobytes() for grid in (plan, plan[:, ::-1]) for turns in range(4)}
    assert layouts == turned


def test_bands_lie_below_each_other():
    for seed in range(SEEDS):
        world, state = sample_map("bands", stream(seed, "bands"))
        assert state[0] == 0
        rows = [int(np.argwhere(world.cells(state) == STANDARD.code(name))[0, 0]) for name in (
            "pickaxe", "coal-ore-vein", "iron-ore-vein", "furnace", "tool-station"
        )]  # fmt: skip
        assert rows == sorted(set(rows))
        assert rows[:4] == [1, 2, 3, 4]


@pytest.mark.parametrize("kind", ["key-door", "switch-door", "river", "river-and-room", "key-or-boat"])
def test_a_need_that_no_region_holds_lies_beyond_the_obstacle(kind):
    for seed in range(50):
        world, state = sample_map(kind, stream(seed, "beyond", kind), ["bed"])
        place = tuple(np.argwhere(world.cells(state) == STANDARD.code("bed"))[0].tolist())
        assert place not in walking_distance(world, state)
        assert things_on(world, state).count("bed") == 1


def test_inventory_size_and_limit_can_be_chosen():
    world, state = sample_map("field", stream(0), inventory=["axe", "axe"], size=(9, 9), limit=3)
    assert (world.height, world.width, world.objects) == (9, 9, 3)
    assert world.inventory(state) == ("axe", "axe")
    assert 0 < len(things_on(world, state)) <= 3
    assert things_on(*sample_map("smithy", stream(0), limit=0)) == []
    world, state = sample_map("large-field", stream(0), size=(12, 12), limit=100)
    assert len(things_on(world, state)) == 30


@pytest.mark.parametrize("size", [(3, 7), (30, 1)], ids=str)
def test_a_field_has_the_height_and_width_that_were_asked_for(size):
    for seed in range(20):
        world, _ = sample_map("field", stream(seed, "size"), size=size)
        assert (world.height, world.width) == size


def test_a_full_map_still_has_room_for_the_agent():
    for seed in range(50):
        world, state = sample_map("large-field", stream(seed, "full"), size=(3, 3))
        assert len(things_on(world, state)) <= 8
        assert world.cells(state)[state[0], state[1]] == 0


@pytest.mark.parametrize("size", [(0, 3), (3, 0), (-1, 3), (300, 300)])
def test_impossible_sizes_are_one_sentence(size):
    with pytest.raises(RsgError):
        sample_map("smithy", stream(0), size=size)


@pytest.mark.parametrize("kind", BUILT)
def test_built_maps_have_one_size(kind):
    own = len(KINDS[kind].template)
    with pytest.raises(RsgError, match=f"a map of kind {kind} has one size, {own}×{own}; open fields have any"):
        sample_map(kind, stream(0), size=(8, 8))


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({"kind": "smithy", "needs": ["furnace", "pickaxe"], "limit": 1}, "map and task need 2 objects together"),
        ({"kind": "garden", "needs": ["door"], "limit": 1}, "map and task need 2 objects together"),
        ({"kind": "smithy", "needs": ["tree", "pickaxe", "axe"]}, "cannot hold what the task needs: tree, axe"),
        ({"kind": "field", "needs": ["switch"]}, "cannot hold what the task needs: switch"),
        ({"kind": "field", "needs": ["nonsense"]}, "cannot hold what the task needs: nonsense"),
        ({"kind": "river", "needs": ["nonsense"]}, "no object 'nonsense'"),
        ({"kind": "river", "limit": 3}, "limit"),
        ({"kind": "river", "needs": reference.ITEMS[3:16]}, "no free cell left for shears on a map of 6×6"),
        ({"kind": "islands", "needs": ["bed-station"]}, "limit"),
        ({"kind": "field", "inventory": ["tree"]}, "a tree cannot be held"),
        ({"kind": "field", "inventory": ["key"] * 7}, "7 items do not fit"),
    ],
)
def test_maps_that_cannot_be_are_one_sentence(arguments, problem):
    kind = arguments.pop("kind")
    with pytest.raises(RsgError, match=problem):
        sample_map(kind, stream(0), **arguments)


def test_an_unknown_kind_gets_a_suggestion():
    with pytest.raises(RsgError, match="no kind of map 'rivers'; did you mean river"):
        sample_map("rivers", stream(0))
    with pytest.raises(RsgError, match=r"no kind of map 'xyz'; there are: smithy, .*bands"):
        kind_named("xyz")
    assert kind_named("river") is KINDS["river"]


@pytest.mark.parametrize(
    ("terms", "objects"),
    [
        ([], ()),
        (["grab-key", "grab-key"], ("key",)),
        (["toggle-switch"], ("switch",)),
        (["mine-wool"], ("sheep",)),
        (["craft-shears", "craft-bowl"], ("tool-station", "food-station")),
        (["mine-iron-ore", "mine-coal", "craft-iron-ingot", "craft-gold-ingot"],
         ("iron-ore-vein", "coal-ore-vein", "furnace")),
    ],
)  # fmt: skip
def test_what_terms_need_on_a_map(terms, objects):
    assert objects_for(terms) == objects


def test_every_term_of_the_paper_fits_on_a_large_field():
    needs = objects_for(VOCABULARY)
    assert set(needs) <= set(KINDS["large-field"].scattered)
    for term in VOCABULARY:
        assert set(objects_for([term])) <= set(things_on(*sample_map("large-field", stream(0), objects_for([term]))))


# Obstacles are real: what lies behind them cannot be had in any other way


def without(world, state, *names):
    """The state with some things taken off the map."""
    plain = reference.to_plain(world, state)
    return reference.to_row(
        world, plain._replace(cells={place: name for place, name in plain.cells.items() if name not in names})
    )


def walking_distance(world, state, *inventory):
    """Everywhere the agent can walk to without a toggle, with these items in the hands."""
    plain = reference.to_plain(world, state)._replace(inventory=list(inventory))
    found, edge = {plain.agent}, [plain]
    while edge:
        after = [reference.step(here, move) for here in edge for move in reference.MOVES]
        edge = [there for there in {there.agent: there for there in after}.values() if there.agent not in found]
        found |= {there.agent for there in edge}
    return found


def everywhere(world, state):
    """All places that any actions at all lead to."""
    found, edge = {state.tobytes()}, state[None]
    places = set()
    while len(edge):
        places |= {(int(y), int(x)) for y, x in edge[:, :2]}
        after = np.unique(world.successors(edge).reshape(-1, world.state_width), axis=0)
        edge = after[[row.tobytes() not in found for row in after]]
        found |= {row.tobytes() for row in edge}
    return places


def in_small_hands(world, state):
    """The same map with an inventory of three, enough for a boat, so that not too many states can be reached."""
    small = CraftingWorld(world.height, world.width, 3)
    return small, reference.to_row(small, reference.to_plain(world, state))


def place_of(world, state, name):
    return tuple(np.argwhere(world.cells(state) == STANDARD.code(name))[0].tolist())


def ground(world, state):
    return {tuple(place) for place in np.argwhere(world.cells(state) != STANDARD.code("wall")).tolist()}


def maps_of(kind, count=20):
    return [in_small_hands(*sample_map(kind, stream(seed, "obstacle", kind))) for seed in range(count)]


@pytest.mark.parametrize(
    ("kind", "opener", "goal"), [("key-door", "key", "axe"), ("switch-door", "switch", "beetroot-crop")]
)
def test_a_wall_stops_whoever_does_not_open_the_door(kind, opener, goal):
    for world, state in maps_of(kind):
        shut = everywhere(world, without(world, state, opener))
        assert place_of(world, state, goal) not in shut
        assert len(shut) == 12
        assert place_of(world, state, opener) in walking_distance(world, state)
        assert everywhere(world, state) == ground(world, state)


@pytest.mark.parametrize("missing", ["axe", "tree", "work-station", "boat-station"])
def test_a_river_stops_whoever_has_no_boat(missing):
    for world, state in maps_of("river"):
        assert place_of(world, state, "sugar-cane-plant") not in walking_distance(world, state)
        assert len(walking_distance(world, state)) == 18
        assert walking_distance(world, state, "boat") == ground(world, state)
        assert len(everywhere(world, without(world, state, missing))) == 18


def test_all_that_a_boat_takes_is_on_the_near_side():
    for kind in ("river", "islands"):
        for world, state in maps_of(kind):
            near = walking_distance(world, state)
            assert {place_of(world, state, name) for name in ("axe", "tree", "work-station", "boat-station")} <= near


def test_the_axe_for_the_boat_is_behind_a_locked_door():
    for world, state in maps_of("river-and-room"):
        axe, goal = place_of(world, state, "axe"), place_of(world, state, "potato-plant")
        shut = everywhere(world, without(world, state, "key"))
        assert axe not in shut
        assert goal not in shut
        assert axe not in walking_distance(world, state, "boat")
        near = walking_distance(world, state)
        assert {place_of(world, state, name) for name in ("key", "tree", "work-station", "boat-station")} <= near
        assert axe in walking_distance(world, state, "key")
        assert goal not in walking_distance(world, state, "key")
        assert goal not in everywhere(world, without(world, state, "axe"))
        assert walking_distance(world, state, "key", "boat") == ground(world, state)


def test_either_a_key_or_a_boat_leads_to_the_gold():
    ways = set()
    for world, state in maps_of("key-or-boat"):
        gold, pickaxe = place_of(world, state, "gold-ore-vein"), place_of(world, state, "pickaxe")
        things = set(things_on(world, state))
        ways.add(("key" in things, "axe" in things))
        if "axe" in things:
            assert {"tree", "work-station", "boat-station"} <= things
        assert not {gold, pickaxe} & everywhere(world, without(world, state, "key", "axe"))
        assert not {gold, pickaxe} & walking_distance(world, state)
        for item in ("key", "boat"):
            assert {gold, pickaxe} <= walking_distance(world, state, item)
    assert ways == {(True, False), (False, True), (True, True)}


def test_islands_take_a_boat_and_then_a_key_or_a_switch():
    openers = set()
    for world, state in maps_of("islands"):
        opener = "key" if "key" in things_on(world, state) else "switch"
        openers.add(opener)
        room = {place_of(world, state, "pickaxe"), place_of(world, state, "furnace")}
        ore = {place_of(world, state, "iron-ore-vein"), place_of(world, state, "coal-ore-vein")}
        start = walking_distance(world, state)
        assert len(start) == 6
        assert not start & (room | ore | {place_of(world, state, opener)})
        assert not everywhere(world, without(world, state, "boat-station")) & (room | ore)
        by_boat = walking_distance(world, state, "boat")
        assert ore | {place_of(world, state, opener)} <= by_boat
        assert not room & by_boat
        assert not room & everywhere(world, without(world, state, opener))
        assert room <= walking_distance(world, state, "boat", "key")
        on_three = [walking_distance(world, _standing_on(world, state, name)) for name in
                    ("iron-ore-vein", "coal-ore-vein", opener)]  # fmt: skip
        assert not any(here & there for i, here in enumerate(on_three) for there in on_three[:i])
    assert openers == {"key", "switch"}


def _standing_on(world, state, name):
    return reference.to_row(world, reference.to_plain(world, state)._replace(agent=place_of(world, state, name)))


# Map texts


EXAMPLE = """\
; A river with a wood behind it.
capacity: 8
Inventory: axe, Wood_Plank,
map:

@.T~#
..1+!
; the door is closed
k...I
"""


def test_reading_by_hand():
    world, state = read_map(EXAMPLE)
    assert (world.height, world.width, world.capacity) == (3, 5, 8)
    objects = {(0, 2): "tree", (0, 3): "water", (0, 4): "wall", (1, 2): "work-station", (1, 3): "door"}
    objects |= {(1, 4): "switch", (2, 0): "key", (2, 4): "iron-ore-vein"}
    assert np.array_equal(state, world.state(objects, (0, 0), ["axe", "wood-plank"]))


def test_writing_by_hand():
    world = CraftingWorld(2, 3, 2)
    state = world.state({(0, 0): "switch-on", (0, 2): "door-open", (1, 1): "tree"}, (1, 1), ["axe", "key"])
    assert write_map(world, state) == "capacity: 2\ninventory: axe, key\nagent: 1 1\nmap:\n*.'\n.T.\n"
    plain = CraftingWorld(1, 2)
    assert write_map(plain, plain.state({}, (0, 1))) == "map:\n.@\n"


@pytest.mark.parametrize("kind", KINDS)
def test_random_maps_come_back_from_their_text(kind):
    for seed in range(50):
        rng = stream(seed, "text", kind)
        world, state = sample_map(kind, rng, inventory=rng.choice(reference.ITEMS, size=rng.integers(7)).tolist())
        same, again = read_map(write_map(world, state))
        assert np.array_equal(again, state)
        assert (same.height, same.width, same.capacity) == (world.height, world.width, world.capacity)


@pytest.mark.no_cover
@settings(max_examples=300, deadline=None)
@given(st.integers(0, 2**32), st.integers(1, 9), st.integers(1, 9), st.integers(1, 10))
def test_every_state_comes_back_from_its_text(seed, height, width, capacity):
    """Also with the agent on top of things, doors open, switches on, and any size and capacity."""
    world = CraftingWorld(height, width, capacity)
    (state,) = world.sample(stream(seed), 1)
    same, again = read_map(write_map(world, state))
    assert same == world
    assert np.array_equal(again, state)


SETTINGS = [
    *["", "; note", "agent: 0 0", "agent: 0 1", "agent: 7 7", "agent: x", "agent: 0, 2", "agent:", "boat: 1"],
    *["capacity: 1", "capacity: 0", "capacity: 256", "capacity: 1.5", "capacity: ٣", "capacity"],
    *["inventory: axe", "inventory: axe, key,", "inventory: tree", "inventory: ,", "Inventory : Wood_Plank"],
]
ROWS = ["@..", "...", "..T", "k+'", "*~#", "@", "..?", "@@.", "", "; note", "map:"]


@pytest.mark.no_cover
@settings(max_examples=500, deadline=None)
@given(
    st.lists(st.sampled_from(SETTINGS), max_size=3),
    st.sampled_from(["map:", "map:", "MAP: ", ""]),
    st.lists(st.sampled_from(ROWS), max_size=3),
)
def test_any_text_is_a_map_or_one_sentence(head, middle, rows):
    try:
        world, state = read_map("\n".join([*head, middle, *rows]))
    except MapError:
        return
    assert np.array_equal(read_map(write_map(world, state))[1], state)


WRONG = {
    "unknown symbol": ("map:\n@.\n.?\n", 3, 2, r"no object has the symbol '\?'"),
    "unknown symbol after a comment": ("; hello\n\nmap:\n@.é\n", 4, 3, "no object has the symbol 'é'"),
    "row too short": ("map:\n@..\n..\n...\n", 3, 3, "this row has 2 cells, the first has 3"),
    "row too long": ("map:\n@..\n....\n", 3, 4, "this row has 4 cells, the first has 3"),
    "no agent": ("map:\n..\n..\n", 3, 1, r"a map has one agent \(@\), this one has 0"),
    "agent twice over": ("agent: 0 0\nmap:\n@.\n", 1, 1, r"the agent is on the map \(@\) already"),
    "nothing at all": ("", 1, 1, "there is no map: write 'map:' and its rows below"),
    "no rows": ("inventory: axe\nmap:\n\n; nothing\n", 4, 1, "there is no map"),
    "unknown key": ("invetory: axe\nmap:\n@\n", 1, 1, "expected 'inventory:', .* or 'map:', not 'invetory: axe'"),
    "no key": ("\n@..\n", 2, 1, "expected 'inventory:', 'capacity:', 'agent:' or 'map:', not '@..'"),
    "capacity in words": ("; a\ncapacity: six\nmap:\n@\n", 2, 10, "'capacity:' takes 1 whole number, not 'six'"),
    "negative capacity": ("capacity: -1\nmap:\n@\n", 1, 10, "'capacity:' takes 1 whole number, not '-1'"),
    "two capacities": ("capacity: 1 2\nmap:\n@\n", 1, 10, "'capacity:' takes 1 whole number, not '1 2'"),
    "half a place": ("agent: 1\nmap:\n..\n", 1, 7, "'agent:' takes 2 whole numbers, not '1'"),
    "unknown item": ("capacity: 3\ninventory: hammer\nmap:\n@\n", 2, None, "there is no object 'hammer'"),
    "no item": ("inventory: tree\nmap:\n@\n", 1, None, "a tree cannot be held"),
    "too many items": ("capacity: 1\ninventory: axe, key\nmap:\n@\n", 2, None, "2 items do not fit into an inventory"),
    "agent outside": ("; a\nagent: 1 0\nmap:\n..\n", 2, None, "the agent cannot be at row 1, column 0 of a 1×2 map"),
}  # fmt: skip


@pytest.mark.parametrize(("text", "line", "column", "problem"), WRONG.values(), ids=WRONG)
def test_a_wrong_text_is_told_where(text, line, column, problem):
    with pytest.raises(MapError, match=rf"^lake\.txt, line {line}, column {column or '[0-9]+'}: {problem}"):
        read_map(text, source="lake.txt")


ELSEWHERE = {
    "two agents": ("map:\n@..\n.@.\n...\n...\n", 3, 2, r"a map has one agent \(@\), this one has 2"),
    "no capacity": ("; a\ncapacity: 0\nmap:\n@\n", 2, None, ".*1 to 255"),
    "too much capacity": ("capacity: 256\nmap:\n@\n", 1, None, ".*1 to 255"),
    "too wide": ("map:\n@" + "." * 300 + "\n", 2, None, ".*1 to 255"),
    "agent outside, with items": ("inventory: axe\nagent: 5 5\nmap:\n..\n", 2, None, "the agent cannot be at row 5"),
    "second item": ("inventory: axe, hammer\nmap:\n@\n", 1, 17, "there is no object 'hammer'"),
}


@pytest.mark.parametrize(("text", "line", "column", "problem"), ELSEWHERE.values(), ids=ELSEWHERE)
def test_a_wrong_text_is_told_the_very_place(text, line, column, problem):
    with pytest.raises(MapError, match=rf"^map, line {line}, column {column or '[0-9]+'}: {problem}"):
        read_map(text)


def test_every_code_has_a_symbol():
    table = symbols(STANDARD)
    assert len(table) == 49
    assert set(table.values()) == set(STANDARD.names[1:])
    assert (table["'"], table["*"], table["#"], table["~"]) == ("door-open", "switch-on", "wall", "water")
    assert not {".", "@", " ", ";"} & set(table)
    assert all(len(symbol) == 1 for symbol in table)


def test_the_legend_has_what_is_on_the_map():
    world = CraftingWorld(2, 2)
    assert legend(world, world.state({})) == {}
    state = world.state({(0, 0): "tree", (0, 1): "tree", (1, 0): "door-open", (1, 1): "axe"}, inventory=["key"])
    assert legend(world, state) == {"T": "tree", "a": "axe", "'": "door-open"}


def test_map_files(tmp_path):
    path = tmp_path / "lake.map"
    path.write_text(EXAMPLE)
    assert np.array_equal(load_map(path)[1], read_map(EXAMPLE)[1])
    path.write_text("map:\n@?\n")
    with pytest.raises(MapError, match=r"lake\.map, line 2, column 2"):
        load_map(str(path))
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(RsgError, match=r"cannot read the map .*lake\.map: it is not a text file"):
        load_map(path)
    with pytest.raises(RsgError, match=r"cannot read the map .*: No such file"):
        load_map(tmp_path / "none.map")
