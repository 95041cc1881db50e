"""Training prefers classifiers that look at few things: the proximal step, and what it comes to."""

import numpy as np
import pytest
import torch
from tests.reference.proximal import shrunk
from tests.training.examples import quick, small_demos, world_of
from torch import nn

from rsg.core.random import stream
from rsg.domains.crafting.images import ImageClassifiers
from rsg.domains.crafting.sets import SetClassifiers
from rsg.domains.playroom import PlayroomWorld, load_layout
from rsg.subgoals import RationalSubgoals, learn
from rsg.subgoals.classifiers import Classifiers, Weights
from rsg.subgoals.encoders import EncodedClassifiers
from rsg.subgoals.learning import THING

TERMS = ["grab-axe", "mine-wood", "craft-boat"]


class Own(Classifiers):
    """Two linear layers, of which the first is about three things and the second about two others."""

    def __init__(self, single):
        networks = 1 if single else 2
        weights = {"first": Weights((networks, 3, 5)), "second": Weights((networks, 2, 4)), "rest": Weights((2,))}
        super().__init__(single, weights)

    def groups(self):
        return [self.first, self.second]


def untouched():
    """Classifiers that do not say what their weights are about."""
    return EncodedClassifiers(nn.Linear(6, 128), 128, single=True).grow(TERMS)


KINDS = {
    "sets": lambda single: SetClassifiers(6, single=single),
    "image": lambda single: ImageClassifiers(single, looks=9),
    "one's own": Own,
}


def module_of(kind, single=True, seed=0):
    """Random weights, those of some things small or none."""
    module, rng = KINDS[kind](single).grow(TERMS).double(), stream(seed, "few things")
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.copy_(torch.as_tensor(rng.normal(0, 0.5, tuple(parameter.shape))))
        for rows in module.groups():
            rows.mul_(torch.as_tensor(rng.choice([0.0, 0.1, 1.0], (*rows.shape[:-1], 1), p=[0.2, 0.3, 0.5])))
    return module


@pytest.mark.parametrize("choosy", [False, True], ids=["alike", "choosy"])
@pytest.mark.parametrize("single", [False, True], ids=["separate", "single"])
@pytest.mark.parametrize("kind", KINDS)
def test_the_step_is_that_of_the_reference(kind, single, choosy):
    module = module_of(kind, single)
    before = [rows.detach().numpy().copy() for rows in module.groups()]
    rest = {name: one.detach().clone() for name, one in module.named_parameters()}
    module.shrink(0.1, choosy)
    after = [rows.detach().numpy() for rows in module.groups()]
    for found, expected in zip(after, shrunk(before, 0.1, choosy), strict=True):
        np.testing.assert_allclose(found, expected, atol=1e-12)
    assert sum(map(np.count_nonzero, after)) < sum(map(np.count_nonzero, before))
    owned = {rows.data_ptr() for rows in module.groups()}
    for name, one in module.named_parameters():
        assert torch.equal(one, rest[name]) == (one.data_ptr() not in owned), name


def test_it_minimises_distance_and_size():
    """What a proximal step is: no other weights have less of half their squared distance + amount · size."""
    rng = stream(0, "proximal")
    for _ in range(20):
        row = rng.normal(size=4)
        (found,) = shrunk([row[None, None, None]], 0.6, False)

        def cost(weights, row=row):
            return ((weights - row) ** 2).sum() / 2 + 0.6 * 2 * np.linalg.norm(weights)

        for other in found.ravel() + rng.normal(size=(200, 4)) * rng.choice([1e-3, 0.1, 1.0], size=(200, 1)):
            assert cost(found.ravel()) <= cost(other) + 1e-12


def test_the_choosy_keep_the_strongest():
    """Of two things that are pulled alike, the weaker one vanishes, and the stronger one hardly suffers."""
    module = module_of("sets")
    with torch.no_grad():
        for rows in module.groups():
            rows.zero_()
        module.inventory[:, :, 3], module.inventory[:, :, 4] = 1.0, 0.8
    kind = module.inventory[0, 0]
    for _ in range(40):
        module.shrink(0.015, choosy=True)
    assert kind[4].norm() == 0
    assert kind[3].norm() > 0.3 * 6**0.5
    assert module.things_seen() == 1


def test_things_and_what_they_are_called():
    world, module = world_of(small_demos()[0]), module_of("sets")
    with torch.no_grad():
        for rows in module.groups():
            rows.zero_()
        names = [thing.name for thing in world.rules.things]
        module.inventory[0, 0, names.index("axe") + 1], module.objects[0, 0, names.index("tree") + 1] = 3.0, 1.0
        module.overall[0, 0, 2] = 6**0.5
    assert module.looks_at("grab-axe", world) == [
        ("axe held", pytest.approx(0.6)),
        ("tree on the map", pytest.approx(0.2)),
        ("the agent's row", pytest.approx(0.2)),
    ]
    assert module.looks_at("mine-wood", world) == []
    assert module.things_seen() == 1  # three, one and none
    assert module.looks_at("grab-axe", PlayroomWorld(load_layout("paper"))) == []
    assert untouched().looks_at("grab-axe", world) == []


def test_few_demonstrations_are_enough_to_lean_on_few_things():
    """Six of each task: in the end terms look at the thing that they are named after, and at little else."""
    tasks = ("grab-axe", "mine-wood", "craft-wood-plank", "mine-wood then craft-wood-plank")
    demos = [demo for demo in small_demos() if demo.task in tasks]
    settings = quick(steps=150, curriculum=50, check_every=50, rate=0.03, negatives=2)
    learned = learn(demos, world_of, None, settings)
    assert learned.progress.history[0]["things"] > 10 * learned.progress.history[-1]["things"]
    for term, thing in (("grab-axe", "axe"), ("mine-wood", "wood"), ("craft-wood-plank", "wood-plank")):
        (first, share), *others = learned.classifiers.looks_at(term, world_of(demos[0]))
        assert first == f"{thing} held"
        assert share > 0.6
        assert len(others) <= 1


def test_a_thing_has_its_price_in_the_held_out_score():
    """Weights that nothing depends on make no difference but for that."""
    demos = [demo for demo in small_demos() if demo.task in ("grab-axe", "mine-wood")]
    module = module_of("sets")
    method = RationalSubgoals(module, quick(depth=1), world_of, ["grab-axe", "mine-wood"])
    module.shrink(100.0, choosy=False)
    none = method.held_out_score(demos, stream(0, "negatives"))
    with torch.no_grad():
        module.inventory[:, :, 0] = 1.0  # of no type: empty hands show none
    assert method.held_out_score(demos, stream(0, "negatives")) == pytest.approx(none - THING, abs=1e-9)


def test_without_groups_nothing_shrinks():
    module = untouched()
    before = {name: one.clone() for name, one in module.state_dict().items()}
    module.shrink(0.5, choosy=True)
    assert all(torch.equal(one, before[name]) for name, one in module.state_dict().items())
    assert module.things_seen() == 0
