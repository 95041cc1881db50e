"""Subgoals as points: their gradient, their growth, and a run that goes on."""

import numpy as np
import pytest
import torch
from tests.subgoals.test_learning import bits, outcome, room_demos, room_of, room_quick

from reproductions.points import PointClassifiers, points
from rsg.core.errors import RsgError
from rsg.core.random import stream
from rsg.domains.playroom import PlayroomWorld, load_layout
from rsg.subgoals import learn, load


def test_a_run_goes_on_bit_for_bit(tmp_path):
    def stop(progress, figures):
        if progress.step == 5:
            raise ZeroDivisionError

    where, settings = (room_demos(), room_of), room_quick(encoder="point", rate=0.05, steps=8)
    whole = learn(*where, tmp_path / "whole", settings, tensorboard=False, encoder=points)
    with pytest.raises(ZeroDivisionError):
        learn(*where, tmp_path / "run", settings, tracker=stop, tensorboard=False, encoder=points)
    learn(*where, tmp_path / "run", settings, tensorboard=False, encoder=points)
    assert outcome(tmp_path / "run") == outcome(tmp_path / "whole")
    loaded = load(tmp_path / "run", encoder=points).classifiers
    assert bits(loaded.state_dict()) == bits(whole.classifiers.state_dict())
    with pytest.raises(RsgError, match="'point' is an encoder of your own"):
        load(tmp_path / "run")


def test_the_gradient():
    """Of the log-odds, for each parameter, against finite differences."""
    world = room_of(room_demos()[0])
    module = points().grow(["ring-bell", "touch-monkey"]).double()
    seen = torch.as_tensor(world.encode(world.sample(stream(0, "gradient"), 3))).double()
    for name, parameter in module.named_parameters():
        assert torch.autograd.gradcheck(
            lambda value, name=name: torch.func.functional_call(module, {name: value}, (seen, [0, 1])), parameter
        )


def test_new_terms_leave_old_ones_as_they_are():
    demo = room_demos()[-1]
    few, many = points().grow(["ring-bell"], 3), points().grow(["ring-bell", "touch-monkey"], 3)
    before = few.evaluate(room_of(demo), demo.states, [0])
    few.grow(["touch-monkey"], 3)
    assert np.array_equal(few.evaluate(room_of(demo), demo.states, [0]), before)
    assert bits(few.state_dict()) == bits(many.state_dict())
    assert torch.equal(PointClassifiers(16).grow(["touch-monkey"], 3).weights[0], few.weights[1])


def test_a_room_with_other_things_is_refused():
    other = PlayroomWorld(load_layout("twelve"))
    with pytest.raises(RsgError, match="learned in a room with 6 effectors, this one has 12"):
        points().grow(["ring-bell"]).evaluate(other, other.sample(stream(0, "small"), 1), [0])
