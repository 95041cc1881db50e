"""The script for an environment that is wrapped and nothing else, run small."""

from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[3] / "examples"


@pytest.mark.parametrize(("rides", "least"), [(20, 1.0), (5, 0.8)])
def test_taxi_is_learned_from_a_few_rides(monkeypatch, capsys, rides, least):
    monkeypatch.syspath_prepend(EXAMPLES)
    from taxi import run

    assert run(rides, seed=0, tests=10)["success"] >= least
    assert "pick-up holds where" in capsys.readouterr().out
