"""Each baseline learns a trivial world nearly perfectly: a low score elsewhere is the task's difficulty, not a bug."""

from functools import cache

import pytest
from tests.baselines.tiny import Corridor, Track, demonstrations

from rsg.baselines import METHODS, train_baseline
from rsg.demos import Recipe, benchmark, make_demonstrations
from rsg.evaluation.baselines import evaluate_policy, evaluate_recognition

QUICK = {"hidden": 32, "batch": 32, "rate": 5e-3, "rate_end": 1e-4, "held_out": 16, "check_every": 50, "layers": 1}

TASKS = ["grab-axe", "grab-axe then mine-wood"]
MAP = "map:\n@..\n..a\nT..\n"


@cache
def trained(method, world, steps, **changes):
    source, demos = demonstrations(world())
    settings = METHODS[method].kind(**{**QUICK, "curriculum": 20, "steps": steps, **changes})
    return source, train_baseline(method, demos, lambda demo: source.world(""), None, settings).method


@pytest.mark.parametrize("method", ["bc", "bc-fsm"])
def test_a_walk_in_cells(method):
    source, learned = trained(method, Corridor, 200)
    result = evaluate_policy(source, "train", learned, 30, max_steps=30)
    assert result["success"] >= 0.95
    assert result["expansions_mean"] < 10  # it goes straight there


@pytest.mark.parametrize(("method", "steps"), [("bc", 500), ("bc-fsm", 400)])
def test_a_walk_in_any_steps(method, steps):
    source, learned = trained(method, Track, steps)
    assert evaluate_policy(source, "train", learned, 30, max_steps=30)["success"] >= 0.95


@pytest.mark.parametrize("method", ["bc", "bc-fsm", "lstm"])
def test_what_was_done_is_recognised(method):
    source, learned = trained(method, Corridor, 200)
    assert evaluate_recognition(source, "train", learned, 20)["recognised"] >= 0.95


@pytest.mark.parametrize(
    ("method", "steps", "observation"), [("bc", 200, "state"), ("bc-fsm", 150, "state"), ("bc-fsm", 150, "image")]
)
def test_a_small_map(tmp_path, method, steps, observation):
    place = tmp_path / "map.txt"
    place.write_text(MAP)
    source = benchmark("crafting", TASKS, str(place))
    recipe = Recipe("crafting", "custom", 30, tasks=tuple(TASKS), map=str(place))
    demos = make_demonstrations(recipe, tmp_path / "demos")
    settings = METHODS[method].kind(**{**QUICK, "curriculum": 20, "steps": steps, "observation": observation})
    learned = train_baseline(method, demos, lambda demo: source.world(demo.setting), None, settings).method
    assert evaluate_policy(source, "custom", learned, 20, max_steps=30)["success"] >= 0.95
