"""What is written as PDDL is the same world: read by another interpreter, the same states are as many steps away."""

import re
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.domains.crafting.test_rulebooks import VOLCANO

from reproductions.pddl import main, to_actions, to_pddl
from reproductions.tests import pddl_reference as reference
from rsg.core.errors import RsgError
from rsg.core.random import stream
from rsg.domains.crafting import STANDARD, VOCABULARY, CraftingWorld, Rule, Rulebook, Thing, truth
from rsg.domains.crafting.rules import BARRIER, DOOR, ITEM, PLACE, SWITCH
from rsg.domains.crafting.text import read_map
from rsg.domains.crafting.truth import TrueGoals
from rsg.planning import plan
from rsg.search import Product, SearchSettings

ODD = Rulebook(  # tools that are used up, rules that hide each other, free what is full, give what they use
    things=(
        *(Thing(name, "item", name[0]) for name in ("apple", "berry", "cherry")),
        *(Thing(name, "place", name[0].upper()) for name in ("Mill", "oven")),
        Thing("gate", "door", "+", key="berry"),
        Thing("fence", "door", "=", key="apple"),
        *(Thing(name, "switch", name[0]) for name in ("lever", "handle")),
        Thing("pond", "barrier", "~", key="cherry"),
    ),
    rules=(
        Rule("apple", "Mill", tools=("berry",), uses=("berry", "berry")),
        Rule("apple", "Mill"),
        Rule("berry", "Mill", uses=("apple", "cherry")),
        Rule("berry", "Mill", uses=("apple",)),
        Rule("berry", "Mill", uses=("apple",)),
        Rule("cherry", "oven", tools=("apple", "berry")),
        Rule("cherry", "oven", uses=("cherry", "apple")),
        Rule("berry", "oven", uses=("apple", "apple", "apple")),
        Rule("berry", "oven", uses=("apple",)),
    ),
)
ODD_TERMS = ("grab-cherry", "grab-berry", "grab-apple")
RULEBOOKS = {"standard": STANDARD, "volcano": VOLCANO, "odd": ODD}


def small(book, seed):
    """A small world in which much is possible, and a state."""
    rng = stream(seed, "pddl", book)
    rules = RULEBOOKS[book]
    world = CraftingWorld(int(rng.integers(1, 4)), int(rng.integers(1, 4)), int(rng.integers(1, 5)), rules=rules)
    state = world.sample(rng, 1)[0]
    cells, codes = world.cells(state), np.arange(1, len(rules.names))
    if rng.random() < 0.7:  # few kinds, so that they have to do with each other
        rule = rules.rules[rng.integers(len(rules.rules))]
        some = [rules.code(name) for name in {rule.at, *rule.tools, *rule.uses, rule.gives}]
        some += [code for code in codes if rules.kinds[code] in (DOOR, SWITCH)]
        cells[:] = rng.choice(some, size=cells.shape)
        held = [code for code in some if rules.kinds[code] == ITEM]
        count = rng.integers(world.capacity + 1)
        state[2 : 2 + world.capacity] = 0
        state[2 : 2 + count] = np.sort(rng.choice(held, size=count))[::-1]
    cells[rng.random(cells.shape) < 0.3] = 0
    walls = [code for code in codes if rules.kinds[code] == BARRIER]
    cells[np.isin(cells, walls) & (rng.random(cells.shape) < 0.5)] = 0
    return world, state


def terms_of(world):
    words = {"item": "grab", "switch": "toggle"}
    return [f"{words[thing.kind]}-{thing.name}" for thing in world.rules.things if thing.kind in words]


def row(world, first, facts):
    """The state of the world that PDDL facts speak of; `first` is the one at the start."""
    told = {name: [fact[1:] for fact in facts if fact[0] == name] for name in ("at", "held", "room", "lies", "on")}
    ((doors,),) = [fact[1:] for fact in facts if fact[0] == "doors-are"]
    place = {f"c-{y}-{x}": (y, x) for y in range(world.height) for x in range(world.width)}
    lies, on = {place[c]: item for item, c in told["lies"]}, {place[c] for (c,) in told["on"]}
    objects = {}
    for (y, x), code in np.ndenumerate(world.cells(first)):
        kind, name = world.rules.kinds[code], world.rules.names[world.plain[code]]
        if kind == ITEM and (y, x) in lies:
            objects[y, x] = lies[y, x]
        elif kind == SWITCH:
            objects[y, x] = f"{name}-on" if (y, x) in on else name
        elif kind == DOOR:
            as_found = world.rules.names[code]
            objects[y, x] = {"open": f"{name}-open", "shut": name, "mixed": as_found}[doors]
        elif kind in (BARRIER, PLACE):
            objects[y, x] = name
    held = [item for item, level in told["held"] for _ in range(int(level[1:]))]
    ((agent,),), ((room,),) = told["at"], told["room"]
    assert len(held) + int(room[1:]) == world.capacity
    assert sorted(item for item, _ in told["held"]) == sorted(t.name for t in world.rules.things if t.kind == "item")
    return world.state(objects, place[agent], held).tobytes()


def distances(world, first, depth):
    """How many steps each state of the world is away, up to `depth`."""
    away, frontier = {first.tobytes(): 0}, first[None]
    for steps in range(1, depth + 1):
        after = np.unique(world.successors(frontier).reshape(-1, world.state_width), axis=0)
        frontier = after[[one.tobytes() not in away for one in after]]
        away |= {one.tobytes(): steps for one in frontier}
    return away


@pytest.mark.parametrize("book", RULEBOOKS)
def test_the_same_states_are_as_many_steps_away(book):
    seen = Counter()

    @settings(max_examples=40, deadline=None, derandomize=True)
    @given(st.integers(0, 2**32))
    def compare(seed):
        world, first = small(book, seed)
        term = a_goal(world, first, seed)
        if term is None:
            return
        task = reference.read(*to_pddl(world, first, term))
        facts = reference.distances(task, states=150)
        depth = max(facts.values())
        there = {}
        for state, steps in facts.items():
            key = row(world, first, state)
            there[key] = min(there.get(key, steps), steps)
        assert there == distances(world, first, depth)
        ends = [steps for state, steps in facts.items() if reference.holds(task.goal, state)]
        true = [steps for key, steps in there.items() if truth(world, _state(key)[None], [term])[0, 0]]
        assert min(ends, default=None) == min(true, default=None)
        seen.update({"examples": 1, "reached": bool(ends), "deep": depth >= 5})

    compare()
    assert seen["examples"] >= 15
    assert seen["reached"] >= 8
    assert seen["deep"] >= 8


def a_goal(world, first, seed):
    """A term that is not true yet, if possible one that can come true soon."""
    unmet = [term for term in terms_of(world) if not truth(world, first[None], [term])[0, 0]]
    unmet = [term for term in unmet if not term.startswith("toggle") or _there(world, first, term)]
    states = np.stack([_state(key) for key in distances(world, first, 5)])
    soon = [term for term in unmet if truth(world, states, [term]).any()]
    return (soon or unmet)[seed % len(soon or unmet)] if unmet else None


def _there(world, state, term):
    return (world.cells(state) == world.rules.code(term.partition("-")[2])).any()


def _state(key):
    return np.frombuffer(key, dtype=np.uint8).copy()


MAPS = {  # for each term a map on which the cheapest way is not plain to see, and its steps
    "craft-paper": ("inventory: wood, sugar-cane\nmap:\n1.T\n@..\n", 4),  # wood and planks come first there
    "craft-cooked-potato": ("capacity: 3\ninventory: coal, coal, iron-ore\nmap:\n@P6\n", 7),  # an ingot makes room
    "grab-axe": ("capacity: 2\ninventory: stick, feather\nmap:\n@a2\n", 5),  # an arrow makes room
    "mine-wood": ("inventory: axe\nmap:\n@.!\n##+\nT+.\n", 8),
    "grab-key": ("map:\n@~~k\n....\n.##+\n!...\n", 6),
    "toggle-switch": ("inventory: key\nmap:\n@+.!\n####\n!...\n", 4),
    "craft-sword": ("inventory: stick, stick, iron-ore, coal, feather\nmap:\n@62\n", 5),  # an arrow comes first
    "craft-bed": ("inventory: wool\nmap:\n@.4\n", None),
}


@pytest.mark.parametrize("term", MAPS)
def test_the_cheapest_plan_has_as_many_steps(term):
    text, steps = MAPS[term]
    world, state = read_map(text)
    task = reference.read(*to_pddl(world, state, term))
    facts = reference.distances(task, states=2000)
    assert min((steps for one, steps in facts.items() if reference.holds(task.goal, one)), default=None) == steps
    ours = plan(world, state, term, lambda w, terms, _: TrueGoals(w, terms), SearchSettings(Product("optimal"), None))
    assert (len(ours.actions) if ours.found else None) == steps


@pytest.mark.parametrize(
    ("inventory", "agent", "after"),
    [
        ("berry berry", "Mill", "apple"),  # what is a tool and an ingredient is needed as often as it is used
        ("berry apple", "Mill", "apple apple berry"),
        ("apple cherry cherry cherry", "Mill", "berry cherry cherry"),  # full: the rule that needs room is passed over
        ("apple apple apple cherry", "oven", "apple apple cherry"),
        ("apple apple apple", "oven", "berry"),
        ("apple apple", "oven", "apple berry"),
        ("apple berry berry", "oven", "apple berry berry cherry"),
    ],
)
def test_rules_of_all_sorts(inventory, agent, after):
    world = CraftingWorld(1, 1, 4, rules=ODD)
    state = world.state({(0, 0): agent}, inventory=inventory.split())
    task = reference.read(
        *to_pddl(world, state, next(t for t in ODD_TERMS if not truth(world, state[None], [t])[0, 0]))
    )
    ((_, facts),) = reference.successors(task, task.start)
    there = world.step(state[None], [4])[0]
    assert sorted(world.inventory(there)) == after.split()
    assert row(world, state, facts) == there.tobytes()


def test_steps_are_actions():
    world, first = read_map(MAPS["mine-wood"][0])
    task = reference.read(*to_pddl(world, first, "mine-wood"))
    state, facts = first, task.start
    rng = stream(0, "steps")
    for _ in range(50):
        choices = reference.successors(task, facts)
        step, facts = choices[rng.integers(len(choices))]
        state = world.step(state[None], to_actions([step]))[0]
        assert row(world, first, facts) == state.tobytes()


def test_what_the_text_is_like():
    world, state = read_map("inventory: coal, coal\nmap:\n@.6\n")
    domain, problem = to_pddl(world, state, "craft-iron-ingot")
    assert "(held coal n2)" in problem
    assert "(room n4)" in problem
    assert "or (" not in domain  # no planner has to know more than the basics
    assert "(not (" not in re.sub(r":effect.*?(?=\(:action|\Z)", "", domain, flags=re.DOTALL)
    assert domain.count("(:action make-") == len(STANDARD.rules)
    assert max(map(len, domain.splitlines())) < 500


@pytest.mark.parametrize(
    ("text", "term", "words"),
    [
        ("inventory: axe\nmap:\n@.\n", "grab-axe", "grab-axe holds in that state already"),
        ("map:\n@.\n", "toggle-switch", "the map has no switch that could be toggled"),
        ("map:\n@.\n", "grab-moon", "Crafting World has no subgoal 'grab-moon'"),
    ],
)
def test_what_cannot_be_written(text, term, words):
    with pytest.raises(RsgError, match=words):
        to_pddl(*read_map(text), term)


@pytest.mark.parametrize("name", ["at", "n3", "c-0-1", "2nd", "Häuser", "up", "a b"])
def test_names_that_pddl_cannot_have(name):
    book = Rulebook((Thing(name, "item", "a"), Thing("berry", "item", "b")), ())
    world = CraftingWorld(1, 2, rules=book)
    with pytest.raises(RsgError, match="cannot be a name in PDDL"):
        to_pddl(world, world.state({(0, 1): "berry"}), "grab-berry")


def test_every_term_can_be_a_goal():
    world = CraftingWorld(2, 2)
    for term in VOCABULARY:
        assert "(:goal (" in to_pddl(world, world.state({(0, 1): "switch"}), term).problem


def test_the_command_writes_both_files(tmp_path):
    main("river", "mine-potato", str(tmp_path / "out"))
    domain, problem = ((tmp_path / "out" / name).read_text() for name in ("domain.pddl", "problem.pddl"))
    assert reference.read(domain, problem).goal
