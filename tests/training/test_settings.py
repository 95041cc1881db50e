"""Settings: what is accepted, and what is said about the rest."""

from dataclasses import FrozenInstanceError, asdict, dataclass
from typing import ClassVar

import pytest

from rsg.baselines import METHODS
from rsg.core.errors import RsgError
from rsg.core.settings import meanings
from rsg.subgoals import RsgSettings
from rsg.training import TrainingSettings, changed
from rsg.training.settings import restored


def test_changes_are_read_as_what_they_are():
    words = ["steps=10", " rate = 0.5", "single=OFF", "save-every=7", "encoder=seen", "device=cpu"]
    settings = changed(RsgSettings(), words)
    assert (settings.steps, settings.rate, settings.single, settings.save_every) == (10, 0.5, False, 7)
    assert (settings.encoder, settings.device) == ("seen", "cpu")
    assert changed(settings, []) == settings
    assert changed(settings, ["steps=1", "steps=2"]).steps == 2


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ("stepz=10", "there is no setting 'stepz'; did you mean steps?"),
        ("qqqq=1", "there is no setting 'qqqq'; there are: seed, steps, batch"),
        ("steps", "a setting is written key=value, not 'steps'"),
        ("=3", "there is no setting ''"),
        ("steps=ten", "steps is a whole number, not 'ten'"),
        ("steps=1.5", "steps is a whole number, not '1.5'"),
        ("rate=quick", "rate is a number, not 'quick'"),
        ("rate=", "rate is a number, not ''"),
        ("single=perhaps", "single is on or off, not 'perhaps'"),
        ("steps=0", "steps must be at least 1, not 0"),
        ("batch=-1", "batch must be at least 1, not -1"),
        ("check_every=0", "check_every must be at least 1"),
        ("patience=0", "patience must be at least 1"),
        ("save_every=0", "save_every must be at least 1"),
        ("seed=-1", "seed must not be negative, not -1"),
        ("curriculum=-1", "curriculum must not be negative"),
        ("held_out=-1", "held_out must not be negative"),
        ("rate=0", "rate must be positive, not 0.0"),
        ("rate_end=5", "the rate falls from rate to rate_end"),
        ("depth=0", "depth must be at least 1, not 0"),
        ("hidden=0", "hidden must be at least 1, not 0"),
        ("negatives=-1", "negatives must not be negative"),
        ("alpha=0", "alpha must be positive, not 0.0"),
        ("gamma=-0.1", "gamma must not be negative"),
        ("gamma=-0.1", "gamma must not be negative, not -0.1"),
    ],
)
def test_a_wrong_setting_is_one_sentence(change, problem):
    with pytest.raises(RsgError) as caught:
        changed(RsgSettings(), change.split())
    assert problem in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("value", ["nan", "inf"])
@pytest.mark.parametrize("key", ["rate", "alpha", "weight", "beta", "gamma"])
def test_settings_are_finite_numbers(key, value):
    """They are kept as JSON, which knows no others."""
    with pytest.raises(RsgError):
        changed(RsgSettings(), [f"{key}={value}"])


def test_settings_are_frozen_and_come_back():
    settings = RsgSettings(seed=3, hidden=7, single=True)
    with pytest.raises(FrozenInstanceError):
        settings.seed = 4
    assert restored(RsgSettings, asdict(settings)) == settings
    older = {key: value for key, value in asdict(settings).items() if key != "context"}
    assert restored(RsgSettings, older) == settings
    with pytest.raises(RsgError, match="a setting 'warmth' that this rsg does not know; update rsg"):
        restored(RsgSettings, {**asdict(settings), "warmth": 1})
    with pytest.raises(RsgError, match="a setting 'encoder'"):
        restored(TrainingSettings, asdict(settings))


def test_a_run_of_an_older_version_opens_if_what_is_gone_had_its_usual_value():
    @dataclass(frozen=True)
    class Fewer(TrainingSettings):
        GONE: ClassVar = {"warmth": 1, "mood": ...}

    assert restored(Fewer, {"steps": 3, "warmth": 1}) == Fewer(steps=3)
    assert restored(Fewer, {"steps": 3, "mood": "any"}) == Fewer(steps=3)
    with pytest.raises(RsgError, match="the run has warmth=2, which this rsg no longer knows; an older one is needed"):
        restored(Fewer, {"warmth": 2})


@pytest.mark.parametrize("kind", [TrainingSettings, RsgSettings, *(method.kind for method in METHODS.values())])
def test_every_setting_is_told_of(kind):
    """Also those whose default a method changes."""
    assert [name for name, _, meaning in meanings(kind()) if not meaning] == []
    assert {name: value for name, value, _ in meanings(kind())} == asdict(kind())


def test_a_changed_default_keeps_its_limits():
    with pytest.raises(RsgError, match="steps must be at least 1, not 0"):
        METHODS["bc"].kind(steps=0)
