import json

import pytest

from rsg.domain import find
from rsg.domains.crafting import CraftingWorld
from rsg.evaluation import Starts, evaluate_planning, planning, wilson
from rsg.planning import Verdict
from rsg.subgoals import untrained

source = find("crafting")


@pytest.mark.parametrize(("split", "mean"), [("compositional", 150), ("novel", 550)])
def test_planning_with_true_subgoals(split, mean):
    result = evaluate_planning(source, Starts(split, 5), source.true_goals)
    assert result["success"] == result["success_lenient"] == 1.0
    assert result["expansions_mean"] <= mean
    assert result["episodes"] == 5 * len(result["tasks"])
    json.dumps(result)


def test_an_untrained_model_is_bad():
    result = evaluate_planning(source, Starts("novel", 1), untrained(source.vocabulary, CraftingWorld()).goals)
    assert result["success"] < 0.3


def test_success_is_strict_and_the_lenient_figure_stands_beside_it(monkeypatch):
    monkeypatch.setattr(planning, "validate", lambda *_: Verdict(ok=False, lenient=True))
    result = evaluate_planning(source, Starts("novel", 1), source.true_goals)
    assert (result["success"], result["success_lenient"]) == (0.0, 1.0)


def test_only_what_succeeded_has_a_cost():
    episodes = [
        planning.Episode(success, lenient, 10, 1.0, cost)
        for success, lenient, cost in [(True, True, 2.0), (False, True, 5.0), (False, False, float("inf"))]
    ]
    assert planning.summary(episodes)["cost_mean"] == 2.0
    assert planning.summary(episodes[1:])["cost_mean"] is None


def test_wilson():
    assert wilson(0, 0) == (0.0, 1.0)
    low, high = wilson(5, 10)
    assert low < 0.5 < high
    assert wilson(10, 10)[1] == 1.0
