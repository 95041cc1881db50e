"""The encoder `sets`: its compiled form against the module, and what it promises of its terms."""

from copy import deepcopy
from dataclasses import replace

import numba
import numpy as np
import pytest
import torch

from rsg.core.errors import RsgError
from rsg.core.random import stream
from rsg.domains.crafting import STANDARD, CraftingWorld, Rulebook, Thing
from rsg.domains.crafting.sets import SetClassifiers
from rsg.subgoals.classifiers import log_sigmoid

pytestmark = pytest.mark.kernels
SLOW = bool(numba.config.DISABLE_JIT)
STATES, HIDDEN = (3, 4) if SLOW else (25, 24)
TERMS = ["mine-wood", "craft-boat", "grab-axe", "mine-coal"]
WORLDS = [(3, 4, 1), (6, 6, 6), (9, 5, 3), (1, 1, 2)]  # height, width, capacity
KINDS = pytest.mark.parametrize("single", [False, True], ids=["separate", "single"])
SIZES = pytest.mark.parametrize("size", WORLDS, ids=str)


def models(rng, terms=TERMS, **arguments):
    """The same random classifiers twice: with the compiled form, and as a module of double precision."""
    fast = randomised(SetClassifiers(HIDDEN, **arguments).grow(terms), rng)
    plain = SetClassifiers(HIDDEN, **arguments).grow(terms).double()
    plain.fast = False
    plain.load_state_dict(fast.state_dict())
    return fast, plain


def randomised(model, rng):
    """All parameters, also those that begin at zero."""
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(torch.as_tensor(rng.normal(0, 0.5, tuple(parameter.shape))))
    return model


def some_states(world, rng, count=STATES):
    """Random ones, with open doors and switches that are on, and a few that are special."""
    objects = {(y, x): "door-open" for y in range(world.height) for x in range(world.width)}
    corner = (world.height - 1, world.width - 1)
    special = [
        world.state({}),
        world.state({}, corner, ["axe"] * world.capacity),
        world.state({(0, 0): "switch-on"}, (0, 0)),
        world.state({(0, 0): "switch"}, corner),
        world.state(objects, corner),
    ]
    return np.concatenate([world.sample(rng, count), np.stack(special)])


def assert_close(found, expected, tolerance=1e-5):
    """To single precision, relative to the largest number."""
    assert found.shape == expected.shape
    assert np.abs(found - expected).max() <= tolerance * max(1.0, np.abs(expected).max())


# The compiled form.


@KINDS
@SIZES
def test_the_compiled_form_gives_the_same_log_odds(size, single):
    rng = stream(0, "log-odds", *size, int(single))
    world = CraftingWorld(*size)
    fast, plain = models(rng, single=single)
    states = some_states(world, rng)
    for numbers in ([0, 1, 2, 3], [2], [3, 0, 3]):
        found = fast.evaluate(world, states, numbers)
        assert found.dtype == np.float64
        assert found.shape == (len(states), len(numbers), 2)
        assert_close(found, plain.evaluate(world, states, numbers))
    if single:
        assert np.array_equal(found[..., 1], -found[..., 0])
    else:
        assert not np.allclose(found[..., 1], -found[..., 0], atol=0.1)  # I has networks of its own
    assert (
        fast.evaluate(world, states[:0], [0, 1]).shape == plain.evaluate(world, states[:0], [0, 1]).shape == (0, 2, 2)
    )


@KINDS
@SIZES
def test_the_compiled_form_gives_the_same_gradients(size, single):
    rng = stream(1, "gradients", *size, int(single))
    world = CraftingWorld(*size)
    fast, plain = models(rng, single=single)
    parts = []
    for numbers in ([0, 2], [3, 2]):  # no part asks for term 1
        states = some_states(world, rng)
        gradient = rng.normal(size=(len(states), len(numbers), 2))
        parts.append((states, numbers, np.where(rng.random(gradient.shape) < 0.7, 0.0, gradient)))
    for _ in range(2):  # the second time adds to the first
        for model in (fast, plain):
            model.backward(world, parts)
    for (name, one), other in zip(fast.named_parameters(), plain.parameters(), strict=True):
        found, expected = one.grad.double(), other.grad
        assert torch.linalg.norm(found - expected) <= 1e-5 * torch.linalg.norm(expected), name
        assert expected[[0, 2, 3]].any()
        assert not found[1].any()


def test_an_entry_without_a_gradient_is_passed_over():
    world = CraftingWorld(3, 4)
    rng = stream(0, "no gradient")
    for model in models(rng):
        states = some_states(world, rng)
        model.backward(world, [(states, [0, 1], np.zeros((len(states), 2, 2)))])
        assert all(parameter.grad is None or not parameter.grad.any() for parameter in model.parameters())


@KINDS
@pytest.mark.parametrize("separate", [False, True], ids=["1 - G", "I"])
def test_the_kernel_of_the_search_gives_the_same(single, separate):
    rng = stream(0, "kernel", int(single), int(separate))
    world = CraftingWorld(3, 4, capacity=2)
    fast, plain = models(rng, single=single)
    states = some_states(world, rng)
    terms = [TERMS[2], TERMS[0]]
    fast_goals, plain_goals = (
        (model.goals_with_i if separate else model.goals)(world, terms, states[0]) for model in (fast, plain)
    )
    kernel, tables = fast_goals.compiled
    wide = np.concatenate([states, rng.integers(256, size=(len(states), 5)).astype(np.uint8)], axis=1)
    found = np.array([[kernel(tables, wide, i, k) for k in range(2)] for i in range(len(states))])
    log_g, log_i = fast_goals(states)
    np.testing.assert_allclose(found[..., 0], log_g, rtol=1e-6)
    np.testing.assert_allclose(found[..., 1], log_i, rtol=1e-6)
    for one, other in zip((log_g, log_i), plain_goals(states), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5)
        assert (one < 0).all()
    assert not hasattr(plain_goals, "compiled")
    from_g_alone = np.log1p(-np.exp(log_g))
    assert np.allclose(log_i, from_g_alone, rtol=1e-3, atol=1e-3) == (single or not separate)


def test_log_sigmoid_is_never_infinite():
    odds = np.array([-1e4, -800.0, -1.0, 0.0, 1.0, 40.0, 1e4])
    with np.errstate(all="raise", under="ignore"):
        found = log_sigmoid(odds)
    assert found.tolist() == pytest.approx([-1e4, -800.0, -np.log1p(np.e), -np.log(2), -np.log1p(np.exp(-1)), 0, 0])


def test_another_rulebook():
    rng = stream(0, "another rulebook")
    rules = Rulebook(
        (Thing("lever", "switch", "!"), Thing("needle", "item", "n"), Thing("hatch", "door", "+", key="needle")), ()
    )
    world = CraftingWorld(3, 4, rules=rules)
    fast, plain = models(rng)
    states = world.sample(rng, STATES)
    assert_close(fast.evaluate(world, states, [0, 1]), plain.evaluate(world, states, [0, 1]))


def test_worlds_in_turn():
    """The tables of one world do not serve another one, whatever they have in common."""
    rng = stream(0, "in turn")
    key, gate = Thing("key", "item", "k"), Thing("gate", "door", "+", key="key")
    things = [
        (key, gate, Thing("lever", "switch", "!")),
        (key, gate, Thing("rock", "barrier", "#"), Thing("b", "place", "b")),
    ]
    books = [STANDARD, *(Rulebook(each, ()) for each in things)]
    assert len(books[1].names) == len(books[2].names)
    worlds = [CraftingWorld(*size, 2, rules=rules) for size in ((3, 4), (4, 3), (6, 2)) for rules in books]
    fast, plain = models(rng)
    for world in [*worlds, *worlds[::-1]]:
        states = world.sample(rng, 4)
        assert_close(fast.evaluate(world, states, [1]), plain.evaluate(world, states, [1]))


@pytest.mark.parametrize("fast", [False, True])
def test_a_world_with_more_types_of_objects(fast):
    things = (*STANDARD.things, Thing("unicorn", "place", "ü"))
    world = CraftingWorld(3, 3, rules=replace(STANDARD, things=things))
    state = world.state({(1, 1): "unicorn"})[None]
    model, more = SetClassifiers(4).grow(TERMS), SetClassifiers(4, types=48).grow(TERMS)
    model.fast = more.fast = fast
    for ask in (
        lambda: model.evaluate(world, state, [0]),
        lambda: model.backward(world, [(state, [0], np.ones((1, 1, 2)))]),
        lambda: model.goals(world, TERMS, state[0])(state),
    ):
        with pytest.raises(RsgError, match="know 47 types of objects, the world has 48"):
            ask()
    assert np.isfinite(more.evaluate(world, state, [0])).all()


@KINDS
def test_tables_follow_the_parameters(single):
    rng = stream(0, "refreshed", int(single))
    world = CraftingWorld(3, 4)
    fast, plain = models(rng, single=single)
    states = some_states(world, rng)
    gradient = rng.normal(size=(len(states), 4, 2))
    optimisers = [torch.optim.SGD(model.parameters(), lr=0.01) for model in (fast, plain)]
    before = fast.evaluate(world, states, range(4))
    for _ in range(3):
        for model, optimiser in zip((fast, plain), optimisers, strict=True):
            optimiser.zero_grad()
            model.backward(world, [(states, range(4), gradient)])
            optimiser.step()
        after = fast.evaluate(world, states, range(4))
        assert (after != before).all()
        assert_close(after, plain.evaluate(world, states, range(4)))
        before = after
    fresh = SetClassifiers(HIDDEN, single=single).grow(TERMS, 3)
    fast.load_state_dict(fresh.state_dict())
    assert np.array_equal(fast.evaluate(world, states, [1]), fresh.evaluate(world, states, [1]))


def test_the_kernel_of_a_search_keeps_its_parameters():
    """Learning may go on beside it: it must not see some parameters from before a step and some from after it."""
    rng = stream(0, "beside")
    world = CraftingWorld(3, 4)
    model, _ = models(rng)
    states = some_states(world, rng)
    kernel, tables = model.compiled(world, [0], separate=True)
    before = [kernel(tables, states, i, 0) for i in range(len(states))]
    randomised(model, rng)
    assert [kernel(tables, states, i, 0) for i in range(len(states))] == before


def test_empty_places_do_not_matter():
    """More room for objects changes nothing."""
    small, large = CraftingWorld(objects=5), CraftingWorld(objects=36)
    state = small.state({(2, 3): "tree", (0, 0): "axe"}, inventory=["key"])[None]
    for model in models(stream(0, "room")):
        assert_close(model.evaluate(small, state, [0]), model.evaluate(large, state, [0]), 1e-12)


# Terms.


@KINDS
@pytest.mark.parametrize("fast", [False, True])
def test_growing_leaves_the_old_terms_as_they_are(single, fast):
    world = CraftingWorld(3, 4)
    rng = stream(0, "growing")
    states = some_states(world, rng)
    model = randomised(SetClassifiers(HIDDEN, single=single).grow(TERMS[:2]), rng)
    model.fast = fast
    before, parameters = model.evaluate(world, states, [0, 1]), [p.detach().clone() for p in model.parameters()]
    model.grow([TERMS[1], TERMS[3], TERMS[3]], seed=5)
    model.grow([TERMS[2]], seed=5)
    assert model.terms == (TERMS[0], TERMS[1], TERMS[3], TERMS[2])
    assert np.array_equal(model.evaluate(world, states, [0, 1]), before)
    for old, new in zip(parameters, model.parameters(), strict=True):
        assert torch.equal(new[:2], old)
        assert new.shape[0] == 4
        assert new.requires_grad
    assert np.isfinite(model.evaluate(world, states, [2, 3])).all()
    model.grow(TERMS, seed=9)
    assert np.array_equal(model.evaluate(world, states, [0, 1]), before)
    assert len(model.terms) == 4


def test_first_weights_depend_on_the_seed_and_the_term_alone():
    before = torch.get_rng_state()
    world = CraftingWorld(3, 4)
    states = some_states(world, stream(0, "first weights"))
    states = states[states[:, 2:].any(axis=1)]  # where there is nothing at all, all first weights say the same
    together = SetClassifiers(HIDDEN).grow(TERMS, 7)
    turned = SetClassifiers(HIDDEN).grow(TERMS[::-1], 7)
    grown = SetClassifiers(HIDDEN).grow(TERMS[3:], 7)
    grown.grow([TERMS[1]], seed=7)
    grown.grow([TERMS[2], TERMS[0]], seed=7)
    other = SetClassifiers(HIDDEN).grow(TERMS, 8)
    values = [model.evaluate(world, states, model.numbers(TERMS)) for model in (together, turned, grown, other)]
    assert np.array_equal(values[0], values[1])
    assert np.array_equal(values[0], values[2])
    assert (values[0] != values[3]).mean() > 0.9
    for i, j in [(0, 1), (1, 2), (2, 3)]:
        assert (values[0][:, i] != values[0][:, j]).mean() > 0.9
    assert torch.equal(before, torch.get_rng_state())


def test_a_term_never_learned():
    world = CraftingWorld(3, 4)
    model = SetClassifiers(4).grow(["mine-wood", "craft-boat"])
    assert model.numbers(["craft-boat", "mine-wood"]) == [1, 0]
    for ask in (model.goals, model.goals_with_i):
        with pytest.raises(RsgError, match=r"never learned the term 'mine-wodo'; did you mean mine-wood\?"):
            ask(world, ["craft-boat", "mine-wodo"], world.state({}))
    with pytest.raises(RsgError, match="never learned the term 'x'; there are: mine-wood, craft-boat"):
        model.numbers(["x"])


def test_states_of_another_world_are_refused():
    model = SetClassifiers(HIDDEN).grow(TERMS)
    for states in (np.zeros((2, 6), np.uint8), np.full((1, 44), 120, np.uint8), np.zeros((2, 44))):
        with pytest.raises(RsgError, match="Crafting World"):
            model.evaluate(CraftingWorld(), states, [0])


def test_a_copy_is_a_module_of_its_own():
    rng = stream(0, "copy")
    world = CraftingWorld(3, 4)
    model, _ = models(rng)
    states = some_states(world, rng)
    before = model.evaluate(world, states, [0, 1])
    copy = deepcopy(model)
    with torch.no_grad():
        copy.head.zero_()
    assert np.array_equal(model.evaluate(world, states, [0, 1]), before)
    assert not np.array_equal(copy.evaluate(world, states, [0, 1]), before)


def test_without_the_compiled_form_the_module_decides():
    world = CraftingWorld(3, 4)
    rng = stream(0, "context")
    model = randomised(SetClassifiers(HIDDEN).grow(TERMS), rng)
    model.fast = False
    states = some_states(world, rng)
    seen = model.see(world, states)
    with torch.no_grad():
        expected = model(seen, [0, 1]).double().numpy()
    assert np.array_equal(model.evaluate(world, states, [0, 1]), expected)
    assert not hasattr(model.goals(world, TERMS[:1], states[0]), "compiled")


def test_more_maps_than_are_remembered():
    world = CraftingWorld(3, 4)
    rng = stream(0, "many maps")
    fast, plain = models(rng)
    states = world.sample(rng, 20 if SLOW else 400)
    assert_close(fast.evaluate(world, states, [1]), plain.evaluate(world, states, [1]))
