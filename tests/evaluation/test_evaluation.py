import json

import pytest

from rsg.demos import benchmark
from rsg.evaluation import evaluate_planning, wilson
from rsg.search import SearchSettings
from rsg.subgoals import untrained

source = benchmark("crafting")


@pytest.mark.parametrize(("split", "mean"), [("compositional", 150), ("novel", 550)])
def test_planning_with_true_subgoals(split, mean):
    result = evaluate_planning(source, split, source.true_goals, per_task=5)
    assert result["success"] == result["success_lenient"] == 1.0
    assert result["expansions_mean"] <= mean
    assert result["episodes"] == 5 * len(result["tasks"])
    json.dumps(result)


def test_an_untrained_model_is_bad():
    result = evaluate_planning(source, "novel", untrained(source.vocabulary).goals, per_task=1)
    assert result["success"] < 0.3


def test_stitching_is_no_cheaper():
    settings = SearchSettings(order="optimal", budget=None)
    whole, stitched = (
        evaluate_planning(source, "compositional", source.true_goals, 1, seed=3, settings=settings, stitched=apart)
        for apart in (False, True)
    )
    pairs = [
        (one["cost_mean"], two["cost_mean"])
        for one, two in zip(whole["tasks"], stitched["tasks"], strict=True)
        if one["success"] == two["success"] == 1.0
    ]
    assert whole["success"] == 1.0
    assert len(pairs) > 20
    assert all(one <= two + 1e-9 for one, two in pairs)


def test_wilson():
    assert wilson(0, 0) == (0.0, 1.0)
    low, high = wilson(5, 10)
    assert low < 0.5 < high
    assert wilson(10, 10)[1] == 1.0
