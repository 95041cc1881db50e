"""IRL and GAIL learn a trivial world nearly perfectly, and go on bit for bit (with all others, in `test_resume`)."""

import pytest
from tests.baselines.tiny import Corridor, Track, demonstrations

from rsg.baselines import METHODS, train_baseline
from rsg.evaluation.baselines import evaluate_policy

QUICK = {"hidden": 32, "batch": 32, "rate": 5e-3, "rate_end": 1e-4, "held_out": 16, "check_every": 50, "layers": 1}
TRIALS = [
    ("irl", Corridor, {"steps": 250}),
    ("irl", Track, {"steps": 300, "tried": 6, "rate": 0.01}),
    ("gail", Corridor, {"steps": 250, "cloning": 0.8, "keep": 1.0}),
    ("gail", Track, {"steps": 400, "cloning": 0.8, "keep": 1.0}),
]


@pytest.mark.parametrize(("method", "world", "changes"), TRIALS)
def test_a_walk(method, world, changes):
    source, demos = demonstrations(world())
    settings = METHODS[method].kind(**{**QUICK, "curriculum": 20, "draw": False, **changes})
    learned = train_baseline(method, demos, lambda demo: source.world(""), None, settings).method
    result = evaluate_policy(source, "train", learned, 30, max_steps=30)
    assert result["success"] >= 0.95
    assert result["expansions_mean"] < 10  # it goes straight there
