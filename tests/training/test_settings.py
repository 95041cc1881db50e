"""Settings: what is accepted, and what is said about the rest."""

from dataclasses import FrozenInstanceError, asdict, fields, replace

import pytest

from rsg.core.errors import RsgError
from rsg.subgoals import RsgSettings
from rsg.training import TrainingSettings, changed
from rsg.training.settings import restored


def test_changes_are_read_as_what_they_are():
    words = ["steps=10", " rate = 0.5", "single=yes", "save-every=7", "alignment=sum", "device=cpu", "compiled=OFF"]
    settings = changed(RsgSettings(), words)
    assert (settings.steps, settings.rate, settings.single, settings.save_every) == (10, 0.5, True, 7)
    assert (settings.alignment, settings.device, settings.compiled) == ("sum", "cpu", False)
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
        ("cache_mb=0", "cache_mb must be at least 1"),
        ("seed=-1", "seed must not be negative, not -1"),
        ("curriculum=-1", "curriculum must not be negative"),
        ("held_out=-1", "held_out must not be negative"),
        ("budget_seconds=-1", "budget_seconds must not be negative"),
        ("rate=0", "the rate falls from rate to rate_end, both positive; got 0.0 and"),
        ("rate_end=5", "the rate falls from rate to rate_end"),
        ("alignment=mean", "alignment is max, sum or expectation, not 'mean'"),
        ("negatives_from=dreams", "negatives come from descriptions or language, not 'dreams'"),
        ("depth=0", "depth, poses, samples and hidden must be at least 1"),
        ("hidden=0", "depth, poses, samples and hidden must be at least 1"),
        ("negatives=-1", "negatives must not be negative"),
        ("alpha=0", "alpha, weight and beta must be positive"),
        ("gamma=-0.1", "gamma must not be negative"),
        ("unmentioned=-0.1", "unmentioned, unmentioned_steps and prompt must not be negative"),
        ("scheme=sampled prompt=1", "the scheme 'sampled' knows neither prompt nor sure"),
        ("alignment=sum prompt=1", "prompt asks about the one best alignment"),
    ],
)
def test_a_wrong_setting_is_one_sentence(change, problem):
    with pytest.raises(RsgError) as caught:
        changed(RsgSettings(), change.split())
    assert problem in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("value", ["nan", "inf"])
@pytest.mark.parametrize("key", ["rate", "budget_seconds", "alpha", "weight", "beta", "gamma"])
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


@pytest.mark.parametrize("kind", [TrainingSettings, RsgSettings])
def test_every_setting_is_told_of(kind):
    """In the docstring of the class that adds it."""
    inherited = {field.name for field in fields(TrainingSettings)} if kind is RsgSettings else set()
    for field in fields(kind):
        if field.name not in inherited:
            assert field.name in kind.__doc__, field.name
    assert replace(kind(), seed=1) != kind()
