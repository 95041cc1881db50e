import json

import pytest

from rsg.demos import benchmark
from rsg.evaluation import evaluate_planning, wilson
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
    result = evaluate_planning(source, "novel", untrained().goals, per_task=1)
    assert result["success"] < 0.3


def test_stitching_is_no_cheaper():
    whole = evaluate_planning(source, "compositional", source.true_goals, 1, seed=3)
    stitched = evaluate_planning(source, "compositional", source.true_goals, 1, seed=3, stitched=True)
    assert stitched["success"] > 0.8
    assert whole["success"] == 1.0


def test_wilson():
    assert wilson(0, 0) == (0.0, 1.0)
    low, high = wilson(5, 10)
    assert low < 0.5 < high
    assert wilson(10, 10)[1] == 1.0
