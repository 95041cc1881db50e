"""The scripts for environments that are wrapped and nothing else, run small."""

from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[3] / "examples"


@pytest.mark.parametrize(("rides", "least"), [pytest.param(20, 1.0, marks=pytest.mark.slow), (5, 0.8)])
def test_taxi_is_learned_from_a_few_rides(monkeypatch, capsys, rides, least):
    monkeypatch.syspath_prepend(EXAMPLES)
    from taxi import run

    assert run(rides, seed=0, tests=10)["success"] >= least
    assert "pick-up holds where" in capsys.readouterr().out


@pytest.mark.slow
def test_overcooked_is_learned_and_soups_are_paid_for(monkeypatch, capsys):
    pytest.importorskip("overcooked_ai_py")
    monkeypatch.syspath_prepend(EXAMPLES)
    from overcooked import run

    assert run(seed=0, starts=2, count=10) == 1.0
    assert "serve holds where coins paid is 20" in capsys.readouterr().out
