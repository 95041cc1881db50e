"""What the kernel of a search remembers: it gives the same as without a memory, whatever it was asked before."""

import numba
import numpy as np
import pytest
import torch

from rsg.core.random import stream
from rsg.domains.crafting import CraftingWorld, set_kernels
from rsg.domains.crafting.kernels import TOGGLE
from rsg.domains.crafting.sets import SetClassifiers
from rsg.subgoals.classifiers import log_sigmoid

pytestmark = pytest.mark.kernels
SLOW = bool(numba.config.DISABLE_JIT)
STEPS, HIDDEN = (30, 3) if SLOW else (400, 21)
TERMS = ["mine-wood", "craft-boat", "grab-axe"]
WORLDS = [(7, 7, 6), (3, 4, 1), (2, 5, 3), (1, 1, 2)]  # height, width, capacity
SIZES = pytest.mark.parametrize("size", WORLDS, ids=str)


def classifiers(rng, whole=False, single=False):
    """Random ones; of whole numbers, which are often equal and always exact."""
    model = SetClassifiers(HIDDEN, single=single).grow(TERMS)
    with torch.no_grad():
        for parameter in model.parameters():
            drawn = torch.as_tensor(rng.normal(0, 0.7, tuple(parameter.shape)))
            parameter.copy_(drawn.round() if whole else drawn)
    return model


def walk(world, rng, steps=STEPS):
    """States of walks that begin anywhere, with many toggles; inventories empty and full, maps empty and crowded."""
    starts = [world.state({}), world.state({}, inventory=["axe"] * world.capacity), *world.sample(rng, 6)]
    state = starts[0]
    for _ in range(steps):
        yield state
        if rng.random() < 0.05:
            state = starts[rng.integers(len(starts))].copy()
        elif rng.random() < 0.1:  # a door opens, a thing appears or goes, anywhere
            area = world.height * world.width
            state = state.copy()
            state[-1 - rng.integers(area)] = rng.integers(len(world.plain))
        else:
            action = TOGGLE if rng.random() < 0.4 else rng.integers(TOGGLE)
            state = world.successors(state[None])[0, action]


def fresh(tables, world, each, ways=set_kernels.LATEST):
    """The same tables with another memory, that knows nothing yet."""
    wanted = tables[1].wanted.reshape(-1, each)
    return tables[0], set_kernels.empty_memory(wanted, world.state_width, HIDDEN, ways)


@SIZES
@pytest.mark.parametrize("ways", [1, 2, set_kernels.LATEST])
@pytest.mark.parametrize("separate", [False, True], ids=["1 - G", "I"])
def test_it_gives_the_same_along_walks(size, ways, separate):
    """A row of the pool may hold another state the next time; not all terms are asked everywhere."""
    rng = stream(0, "memory", *size, ways, int(separate))
    world = CraftingWorld(*size)
    kernel, tables = classifiers(rng).compiled(world, [2, 0, 1, 2], separate)
    tables = fresh(tables, world, 1 + separate, ways)
    pool = rng.integers(256, size=(3, world.state_width + 3)).astype(np.uint8)
    for state in walk(world, rng):
        i = int(rng.integers(len(pool)))
        pool[i, : world.state_width] = state
        for k in np.flatnonzero(rng.random(4) < 0.8).tolist():
            assert kernel(tables, pool, i, k) == kernel(fresh(tables, world, 1 + separate), pool, i, k)


@SIZES
def test_equal_objects(size):
    """Where several objects give the maximum, the agent on one of them leaves it to the others."""
    rng = stream(0, "equal", *size)
    world = CraftingWorld(*size)
    model = classifiers(rng, whole=True)
    with torch.no_grad():
        model.places[:, :, :2] = 0  # wherever it is, an object looks the same
    kernel, tables = model.compiled(world, [0, 1, 2], separate=True)
    model.fast = False
    for state in walk(world, rng):
        states = state[None]
        expected = log_sigmoid(model.evaluate(world, states, [0, 1, 2])[0])
        for k in range(3):
            np.testing.assert_allclose(kernel(tables, states, 0, k), expected[k], rtol=1e-6)


def test_it_remembers():
    """What was found out about an inventory and a map is used again: other parameters come too late."""
    rng = stream(0, "used again")
    world = CraftingWorld(3, 4)
    kernel, tables = classifiers(rng).compiled(world, [0, 1], separate=False)
    states = np.stack([world.state({(0, 0): "tree"}, (1, column), ["axe"]) for column in range(3)])
    before = kernel(tables, states, 0, 0)
    tables[0].vectors[:] = 0.0
    assert kernel(tables, states, 0, 0) == before
    assert kernel(tables, states, 1, 0) != pytest.approx(kernel(fresh(tables, world, 1), states, 1, 0))
    assert kernel(tables, states, 0, 1) == kernel(fresh(tables, world, 1), states, 0, 1)  # was not asked before


def test_a_search_begins_without_memories():
    model = classifiers(stream(0, "fresh"))
    world = CraftingWorld(3, 4)
    one, other = (model.compiled(world, [0], separate=False)[1][1] for _ in range(2))
    assert not one.told["known"].any()
    assert not any(np.shares_memory(mine, its) for mine, its in zip(one[1:], other[1:], strict=True))
