"""A baseline that was interrupted goes on bit for bit."""

import pytest
from tests.baselines.tiny import Corridor, Track, demonstrations
from tests.training.examples import outcome

from rsg.baselines import METHODS, load_baseline, train_baseline
from rsg.baselines.policies import rollout
from rsg.language import machine_of

QUICK = {"steps": 10, "hidden": 8, "batch": 4, "held_out": 4, "check_every": 5, "save_every": 2, "curriculum": 3}


class Interrupted(Exception):
    pass


def run(method, world, folder, until=None, **changes):
    source, demos = demonstrations(world, 4)

    def watch(progress, figures):
        if progress.step == until:
            raise Interrupted

    settings = METHODS[method].kind(**{**QUICK, **changes})
    return train_baseline(method, demos, lambda _: source.world(""), folder, settings, tracker=watch, tensorboard=False)


@pytest.mark.parametrize("world", [Corridor, Track])
@pytest.mark.parametrize("method", list(METHODS))
def test_a_run_goes_on_bit_for_bit(tmp_path, method, world):
    run(method, world(), tmp_path / "whole", gamma=0.5)
    for until in (3, 7):
        with pytest.raises(Interrupted):
            run(method, world(), tmp_path / "parts", until, gamma=0.5)
    assert run(method, world(), tmp_path / "parts", gamma=0.5).progress.done
    assert outcome(tmp_path / "parts") == outcome(tmp_path / "whole")


@pytest.mark.parametrize(("method", "world"), [("bc", Corridor), ("bc-fsm", Corridor), ("irl", Track)])
def test_a_loaded_policy_acts_as_the_trained_one(tmp_path, method, world):
    trained = run(method, world(), tmp_path / "run").method
    loaded = load_baseline(tmp_path / "run")
    source, demos = demonstrations(world(), 3)
    states = [demo.states[0] for demo in demos]
    acted = [rollout(one, source.world(""), states, machine_of("left and right"), 12) for one in (trained, loaded)]
    assert (acted[0].states == acted[1].states).all()
    assert (acted[0].steps == acted[1].steps).all()


@pytest.mark.parametrize("method", list(METHODS))
def test_another_seed_gives_other_weights(tmp_path, method):
    run(method, Corridor(), tmp_path / "a", steps=2)
    run(method, Corridor(), tmp_path / "b", steps=2, seed=1)
    assert outcome(tmp_path / "a") != outcome(tmp_path / "b")
