import numpy as np
import pytest
import torch

from rsg.core.errors import RsgError
from rsg.subgoals import SetClassifiers, untrained
from rsg.worlds.crafting import CraftingWorld


def test_classifiers_give_log_probabilities():
    world = CraftingWorld()
    states = world.sample(np.random.default_rng(0), 7)
    goals = untrained().goals(world, ["mine-wood", "craft-boat"], states[0])
    log_g, log_i = goals(states)
    assert log_g.shape == log_i.shape == (7, 2)
    assert (log_g <= 0).all()
    assert (log_i <= 0).all()
    assert not np.allclose(log_i, np.log1p(-np.exp(log_g)))  # I has networks of its own


def test_empty_places_do_not_matter():
    """More room for objects, or none there, changes nothing: padding is invisible."""
    small, large = CraftingWorld(objects=5), CraftingWorld(objects=36)
    state = small.state({(2, 3): "tree", (0, 0): "axe"}, inventory=["key"])[None]
    model = untrained()
    first = model.goals(small, ["mine-wood"], state[0])(state)
    second = model.goals(large, ["mine-wood"], state[0])(state)
    assert np.allclose(first, second)
    assert np.isfinite(model.goals(small, ["mine-wood"], state[0])(small.state({})[None])).all()


def test_a_term_never_learned():
    with pytest.raises(RsgError, match="never learned the term 'mine-wood'"):
        SetClassifiers(["craft-boat"]).goals(CraftingWorld(), ["mine-wood"], np.zeros(44))


def test_the_seed_decides_and_global_randomness_is_untouched():
    before = torch.get_rng_state()
    assert torch.equal(untrained(1).head, untrained(1).head)
    assert not torch.equal(untrained(1).head, untrained(2).head)
    assert torch.equal(before, torch.get_rng_state())
