"""Each baseline learns a trivial world nearly perfectly: a low score elsewhere is the task's difficulty, not a bug."""

from functools import cache

import pytest
from tests.baselines.tiny import Corridor, Track, demonstrations

from reproductions.baseline_variants import IrlBestAction
from reproductions.recognition import evaluate_recognition
from rsg.baselines import METHODS, train_baseline
from rsg.demos import Recipe
from rsg.domain import find, make_demonstrations
from rsg.evaluation.planning import Starts
from rsg.evaluation.policies import evaluate_policy

QUICK = {"hidden": 24, "batch": 16, "rate": 0.01, "rate_end": 1e-3, "held_out": 16, "check_every": 50, "layers": 1}
CELLS = {
    "bc": {"steps": 120},
    "bc-fsm": {"steps": 100},
    "irl": {"steps": 150, "rate": 0.02},
    "gail": {"steps": 200, "cloning": 0.8},
    "lstm": {"steps": 150, "hidden": 32, "batch": 32, "rate": 5e-3},
}
MOVES = {
    "bc": {"steps": 250},
    "bc-fsm": {"steps": 200, "curriculum": 60},
    "irl": {"steps": 150, "tried": 6},
    "gail": {"steps": 300, "cloning": 0.8},
}
TASKS = ["grab-axe", "grab-axe then mine-wood"]
MAP = "map:\n@..\n..a\nT..\n"


@cache
def trained(method, world):
    source, demos = demonstrations(world(), 20)
    changes = (CELLS if world is Corridor else MOVES)[method]
    settings = METHODS[method].kind(**{**QUICK, "curriculum": 20, **changes})
    kind = IrlBestAction if method == "irl" else method  # what is learned, without the chance of the max-entropy policy
    return source, train_baseline(kind, demos, lambda demo: source.world(""), None, settings).method


@pytest.mark.parametrize("world", [Corridor, Track])
@pytest.mark.parametrize("method", ["bc", "bc-fsm", "irl", "gail"])
def test_a_walk(method, world):
    source, learned = trained(method, world)
    result = evaluate_policy(source, Starts("train", 30), learned, max_steps=30)
    assert result["success"] >= 0.95
    assert result["expansions_mean"] < 10  # it goes straight there


@pytest.mark.parametrize("method", ["bc", "bc-fsm", "lstm"])
def test_what_was_done_is_recognised(method):
    source, learned = trained(method, Corridor)
    found = evaluate_recognition(source, Starts("train", 10), learned.rank)
    assert found["right"] >= 0.95 * found["trajectories"] > 0


@pytest.fixture(scope="module")
def small_map(tmp_path_factory):
    folder = tmp_path_factory.mktemp("small")
    (folder / "map.txt").write_text(MAP)
    source = find("crafting").at(str(folder / "map.txt"), TASKS)
    recipe = Recipe("crafting", "custom", 15, tasks=tuple(TASKS), map=str(folder / "map.txt"))
    return source, make_demonstrations(recipe, folder / "demos")


PICTURES = {"steps": 150, "observation": "image", "batch": 24, "rate": 5e-3, "hidden": 32}


@pytest.mark.parametrize(
    ("method", "changes"), [("bc", {"steps": 120}), ("bc-fsm", {"steps": 100}), ("bc-fsm", PICTURES)]
)
def test_a_small_map(small_map, method, changes):
    source, demos = small_map
    settings = METHODS[method].kind(**{**QUICK, "curriculum": 20, **changes})
    learned = train_baseline(method, demos, lambda demo: source.world(demo.setting), None, settings).method
    assert evaluate_policy(source, Starts("custom", 10), learned, max_steps=30)["success"] >= 0.95
