"""Settings of a search: what can be written in Python, and the same by name."""

import pytest

from rsg.core.errors import RsgError
from rsg.search import PLANNERS, Auto, Hard, Product, Roadmap, SearchSettings, Soft, Trees, search_settings


@pytest.mark.parametrize(
    ("make", "problem"),
    [
        (lambda: Product("random"), "order is optimal, anytime, balanced, deepest or novel, not 'random'"),
        (lambda: Trees("optimal"), "order is deepest, balanced or anytime, not 'optimal'"),
        (lambda: Hard(0.0), "threshold lies between 0 and 1, not 0.0"),
        (lambda: Hard(1.0), "threshold lies between 0 and 1, not 1.0"),
        (lambda: Hard(float("nan")), "threshold must be a finite number, not nan"),
        (lambda: Soft(0.0), "weight must be positive, not 0.0"),
        (lambda: Soft(-1.0), "weight must be positive, not -1.0"),
        (lambda: Roadmap(poses=0), "poses must be at least 1, not 0"),
        (lambda: Product(transitions=0.5), "transitions is Hard(...) or Soft(...), not 0.5"),
        (lambda: Product(transitions=None), "transitions is Hard(...) or Soft(...), not None"),
        (lambda: Trees(transitions=Soft()), "transitions is Hard(...), not Soft(weight=1.0)"),
        (
            lambda: SearchSettings("roadmap"),
            "planner is Auto(...), Product(...), Roadmap(...) or Trees(...), not 'roadmap'",
        ),
        (
            lambda: SearchSettings(Roadmap),
            "planner is Auto(...), Product(...), Roadmap(...) or Trees(...), not <class 'rsg.search.product."
            "settings.Roadmap'>",
        ),
        (lambda: SearchSettings(budget=0), "budget must be at least 1, not 0"),
        (lambda: SearchSettings(time_limit=0.0), "time_limit must be positive, not 0.0"),
        (
            lambda: SearchSettings(Trees(), budget=None),
            "random trees need a budget or a time limit: they would never know that there is no plan",
        ),
    ],
)
def test_what_makes_no_sense_is_an_error(make, problem):
    with pytest.raises(RsgError) as caught:
        make()
    assert str(caught.value) == problem


@pytest.mark.parametrize(
    ("values", "settings"),
    [
        ({}, SearchSettings()),
        ({"order": "optimal"}, SearchSettings(Auto("optimal"))),
        ({"order": "auto", "soft": False}, SearchSettings()),
        ({"planner": "product", "threshold": 0.7}, SearchSettings(Product(transitions=Hard(0.7)))),
        ({"planner": "rrt", "order": "anytime", "soft": False}, SearchSettings(Trees("anytime"))),
        ({"poses": 500, "seed": 3, "time_limit": 2}, SearchSettings(Auto(poses=500), seed=3, time_limit=2.0)),
        (
            {"budget": 100, "planner": "roadmap", "poses": 500, "soft": True, "weight": 2},
            SearchSettings(Roadmap(poses=500, transitions=Soft(2.0)), budget=100),
        ),
        ({"budget": None, "soft": "yes"}, SearchSettings(Auto(transitions=Soft()), budget=None)),
    ],
    ids=str,
)
def test_settings_by_name(values, settings):
    found = search_settings(values)
    assert found == settings
    assert type(found.planner) is type(settings.planner) is PLANNERS[values.get("planner", "auto")]


@pytest.mark.parametrize(
    ("values", "problem"),
    [
        ({"planner": "prm"}, "there is no planner 'prm'; there are: auto, product, roadmap, rrt"),
        ({"ordre": "optimal"}, "there is no setting 'ordre'; did you mean order?"),
        ({"transitions": "soft"}, "there is no setting 'transitions'; there are: planner, soft, budget, time_limit, "),
        (
            {"planner": "rrt", "poses": 500},
            "poses means nothing to the planner 'rrt' with hard transitions; "
            "there are: budget, time_limit, seed, order, threshold",
        ),
        ({"planner": "product", "poses": 500}, "poses means nothing to the planner 'product' with hard transitions; "),
        ({"weight": 2.0}, "weight means nothing to the planner 'auto' with hard transitions; "),
        ({"soft": True, "threshold": 0.5}, "threshold means nothing to the planner 'auto' with soft transitions; "),
        (
            {"planner": "rrt", "soft": True},
            "the planner 'rrt' has no soft transitions: there subgoals hold or they do not",
        ),
        (
            {"planner": "rrt", "order": "optimal"},
            "for the planner 'rrt' order is deepest, balanced or anytime, not 'optimal'",
        ),
        ({"budget": "many"}, "budget is a whole number, not 'many'"),
        ({"soft": 2.0}, "soft is on or off, not '2.0'"),
        ({"threshold": 3}, "threshold lies between 0 and 1, not 3.0"),
        ({"planner": "rrt", "budget": None}, "random trees need a budget or a time limit"),
    ],
    ids=str,
)
def test_names_that_make_no_sense_are_one_sentence(values, problem):
    with pytest.raises(RsgError) as caught:
        search_settings(values)
    assert str(caught.value).startswith(problem)
