"""The kernels of Crafting World and the plain interpreter of its rules agree, on 200,000 random steps and more."""

import numpy as np
import pytest
from tests.reference import crafting as reference

from rsg.core.errors import RsgError
from rsg.core.random import stream
from rsg.domains.crafting import ACTIONS, VOCABULARY, CraftingWorld, truth
from rsg.domains.crafting.maps import KINDS, sample_map

SIZES = [(1, 1), (1, 5), (3, 7), (12, 9), (20, 20)]
CAPACITIES = [1, 2, 6, 10]


def compare_walks(world, states, rng, steps):
    """Random walks from the states, in bytes and in names; gives the share of steps that changed something."""
    plain = [reference.to_plain(world, state) for state in states]
    changed = []
    for _ in range(steps):
        actions = np.where(rng.random(len(states)) < 0.4, ACTIONS.index("toggle"), rng.integers(4, size=len(states)))
        after = world.step(states, actions)
        plain = [reference.step(state, ACTIONS[action]) for state, action in zip(plain, actions, strict=True)]
        expected = np.stack([reference.to_row(world, state) for state in plain])
        for i in np.flatnonzero((after != expected).any(axis=1)):
            pytest.fail(f"{ACTIONS[actions[i]]} in {reference.to_plain(world, states[i])} gave {after[i]}")
        changed.append((after != states).any(axis=1).mean())
        states = after
    return np.mean(changed)


@pytest.mark.parametrize("kind", KINDS)
def test_10_000_steps_on_random_maps(kind):
    rng = stream(0, "agreement", kind)
    worlds, states = zip(*(sample_map(kind, rng, inventory=_some_items(rng)) for _ in range(200)), strict=True)
    assert len(set(worlds)) == 1
    assert compare_walks(worlds[0], np.stack(states), rng, steps=50) > 0.4


def _some_items(rng):
    return rng.choice(reference.ITEMS, size=rng.integers(7)).tolist()


@pytest.mark.parametrize("capacity", CAPACITIES)
@pytest.mark.parametrize("size", SIZES, ids=str)
def test_3_000_steps_from_random_states(size, capacity):
    world = CraftingWorld(*size, capacity)
    rng = stream(1, "agreement", *size, capacity)
    changed = compare_walks(world, world.sample(rng, 150), rng, steps=20)
    assert changed > (0.2 if size != (1, 1) else 0)


@pytest.mark.kernels
@pytest.mark.parametrize("size", [(1, 1), (3, 4), (6, 6), (9, 2)], ids=str)
def test_500_steps_from_random_states(size):
    world = CraftingWorld(*size)
    rng = stream(2, "agreement", *size)
    compare_walks(world, world.sample(rng, 25), rng, steps=20)


@pytest.mark.kernels
@pytest.mark.parametrize("capacity", CAPACITIES)
@pytest.mark.parametrize("size", SIZES, ids=str)
def test_successors_and_the_compiled_step_are_step(size, capacity):
    world = CraftingWorld(*size, capacity)
    states = world.sample(stream(3, "agreement", *size, capacity), 25)
    kernel, tables = world.compiled_step
    successors = world.successors(states)
    assert successors.dtype == np.uint8
    out = np.full((len(states) + 1, world.state_width), 99, dtype=np.uint8)
    for action in range(len(ACTIONS)):
        after = world.step(states, np.full(len(states), action))
        assert np.array_equal(successors[:, action], after)
        for i in range(len(states)):
            kernel(tables, states, i, action, out, i + 1)
        assert np.array_equal(out[1:], after)
        assert (out[0] == 99).all()


@pytest.mark.kernels
@pytest.mark.parametrize("capacity", CAPACITIES)
@pytest.mark.parametrize("size", SIZES, ids=str)
def test_truth_is_what_the_reference_says(size, capacity):
    world = CraftingWorld(*size, capacity)
    states = world.sample(stream(4, "agreement", *size, capacity), 40)
    plain = [reference.to_plain(world, state) for state in states]
    assert truth(world, states).tolist() == [[reference.truth(state, term) for term in VOCABULARY] for state in plain]


def test_all_26_terms_are_sometimes_true_and_sometimes_false():
    world = CraftingWorld()
    found = truth(world, world.sample(stream(5, "agreement"), 500))
    assert ((found.mean(axis=0) > 0.02) & (found.mean(axis=0) < 0.6)).all()


@pytest.mark.parametrize("capacity", CAPACITIES)
@pytest.mark.parametrize("size", SIZES, ids=str)
def test_names_and_bytes_are_inverse(size, capacity):
    world = CraftingWorld(*size, capacity)
    for state in world.sample(stream(6, "agreement", *size, capacity), 20):
        assert np.array_equal(reference.to_row(world, reference.to_plain(world, state)), state)


# What classifiers see


@pytest.mark.kernels
@pytest.mark.parametrize("capacity", CAPACITIES)
@pytest.mark.parametrize("size", SIZES, ids=str)
def test_encodings_hold_what_is_in_the_state(size, capacity):
    world = CraftingWorld(*size, capacity)
    states = world.sample(stream(7, "agreement", *size, capacity), 15)
    sets = world.encode(states)
    n, cells = len(states), size[0] * size[1]
    assert [(part.shape, part.dtype) for part in sets] == [
        ((n, 5), np.float32),
        ((n, capacity), np.uint8),
        ((n, cells, 5), np.uint8),
    ]
    for overall, inventory, objects, state in zip(*sets, states, strict=True):
        plain = reference.to_plain(world, state)
        assert overall.tolist() == [*size, *plain.agent, len(plain.inventory)]
        assert sorted(_type_name(world, t) for t in inventory if t) == plain.inventory
        assert (inventory == 0).sum() == capacity - len(plain.inventory)
        rows = [row.tolist() for row in objects if row[0]]
        assert sorted((_type_name(world, t), *rest) for t, *rest in rows) == sorted(_seen(plain))
        assert objects[len(rows) :].max(initial=0) == 0  # padding comes last


def _type_name(world, number):
    return world.rules.things[number - 1].name


def _seen(plain):
    """Type, row, column, status and whether the agent stands on it, of each object."""
    for place, name in plain.cells.items():
        changed = name in reference.CHANGED
        yield name.rsplit("-", 1)[0] if changed else name, *place, int(changed), int(place == plain.agent)


@pytest.mark.kernels
def test_encodings_have_the_room_that_was_asked_for():
    world = CraftingWorld(2, 2, objects=3)
    three = {(0, 0): "tree", (0, 1): "key", (1, 1): "wall"}
    states = np.stack([world.state({}), world.state(three)])
    assert world.encode(states).objects.shape == (2, 3, 5)
    assert (world.encode(states).objects[0] == 0).all()
    full = world.state(three | {(1, 0): "axe"})
    with pytest.raises(RsgError, match="state 2 has more than 3 objects; make the world with more room"):
        world.encode(np.stack([*states, full]))
    wide = CraftingWorld(2, 2, objects=7)
    assert (wide.encode(full[None]).objects[0, :, 0] != 0).sum() == 4


def test_sights_are_what_lies_where_the_agent_stands():
    world = CraftingWorld(5, 7)
    states = world.sample(stream(0, "sights"), 100)
    here = [world.cells(state)[state[0], state[1]] for state in states]
    assert world.sights(states).tolist() == [int(code) for code in here]
    assert len(set(here)) > 10
