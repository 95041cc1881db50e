"""Formulas over facts: what they say, where they hold, and the same inside of search loops."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.reference.facts import formula_holds

from rsg.core.random import stream
from rsg.domains.crafting import CraftingWorld
from rsg.subgoals import Formula, Literal, Reading, Readings
from rsg.subgoals.formulas import where

WORLD = CraftingWorld(3, 3, 3)
NAMES = ("held(axe)", "lies(tree)", "on(switch)", "open(door)", "here(tree)", "at(1,1)", "at(7,7)")
LITERALS = st.builds(Literal, st.sampled_from(NAMES), st.booleans(), st.booleans())
FORMULAS = st.lists(LITERALS, min_size=1, max_size=4).map(lambda some: Formula.of(*some))


@given(st.lists(FORMULAS, max_size=5), st.integers(0, 99))
@settings(max_examples=60, deadline=None)
def test_formulas_hold_where_a_reader_says(formulas, seed):
    holds = stream(seed, "formulas").random((20, len(NAMES))) < 0.5
    found = where(formulas, holds, {name: number for number, name in enumerate(NAMES)})
    for row, formula in zip(found, formulas, strict=True):
        facts = [{name for name, one in zip(NAMES, line, strict=True) if one} for line in holds]
        assert row.tolist() == [formula_holds(formula, some) for some in facts]


@given(st.lists(LITERALS, min_size=2, max_size=3), st.booleans())
@settings(max_examples=40, deadline=None)
def test_the_same_literals_in_another_order_are_the_same_formula(literals, also):
    literals = [one._replace(also=also) for one in literals]
    assert Formula.of(*literals) == Formula.of(*literals[::-1])


def test_formulas_in_words():
    formula = Formula.of(Literal("held(axe)"), Literal("on(switch)", holds=False), Literal("here(tree)", also=False))
    assert str(formula) == "(held(axe) and not on(switch)) or here(tree)"
    assert formula.said(WORLD.fact_phrases) == "(an axe is held and no switch is on) or the agent stands on a tree"
    assert str(Formula()) == "never"


@given(
    st.lists(st.lists(st.tuples(FORMULAS, st.floats(0.1, 1.0)), min_size=1, max_size=3), min_size=1, max_size=3),
    st.integers(0, 99),
)
@pytest.mark.kernels
@settings(max_examples=25, deadline=None)
def test_search_loops_see_what_planners_ask(meant, seed):
    readings = {
        f"term-{number}": Reading(tuple(sorted(dict(some).items(), key=lambda one: -one[1])), 5, 5)
        for number, some in enumerate(meant)
    }
    subgoals = Readings(readings, certainty=5.0)
    states = WORLD.sample(stream(seed, "states"), 30)
    goals = subgoals.goals(WORLD, subgoals.terms, states[0])
    kernel, tables = goals.compiled
    log_g, log_i = goals(states)
    for i in range(len(states)):
        for k in range(len(readings)):
            assert np.allclose(kernel(tables, states, i, k), (log_g[i, k], log_i[i, k]))


@pytest.mark.kernels
def test_what_only_some_readings_say_is_neither_true_nor_not_yet_true():
    reading = Reading(((Formula.of(Literal("open(door)")), 0.5), (Formula.of(Literal("on(switch)")), 0.5)), 2, 2)
    subgoals = Readings({"toggle": reading}, certainty=5.0)
    states = np.stack(
        [
            WORLD.state({(0, 0): "switch-on", (1, 1): "door-open"}),
            WORLD.state({(0, 0): "switch", (1, 1): "door"}),
            WORLD.state({(0, 0): "switch-on"}),
        ]
    )
    log_g, log_i = subgoals.goals(WORLD, ["toggle"], states[0])(states)
    assert (log_g[:, 0] > np.log(0.5)).tolist() == [True, False, False]
    assert (log_i[:, 0] > np.log(0.5)).tolist() == [False, True, False]
    bold = subgoals.goals(WORLD, ["toggle"], states[0]).bold
    assert (bold(states)[0][:, 0] > np.log(0.5)).tolist() == [True, False, False]
    odds = subgoals.evaluate(WORLD, states, [0])[:, 0, 0]
    assert odds[0] == 5.0
    assert odds[1] == -5.0
    assert abs(odds[2]) < 1e-9


def test_what_is_less_likely_is_seen_to_by_careful_goals():
    held, gone, there = (Formula.of(Literal(*one)) for one in (("held(axe)",), ("lies(axe)", False), ("here(axe)",)))
    subgoals = Readings({"get": Reading(((held, 0.97), (gone, 0.028), (there, 0.002)), 2, 2)}, certainty=5.0)
    first = subgoals.goals(WORLD, ["get"], WORLD.state({}))
    meant = [[one for one, _ in goals.meant["get"]] for goals in (first, first.careful, first.careful.careful)]
    assert meant == [[held], [held, gone], [held, gone, there]]
    assert not hasattr(first, "bold")
    assert not hasattr(first.careful.careful, "careful")
    sure = Readings({"get": Reading(((held, 1.0), (gone, 1e-9)), 2, 2)}, certainty=5.0)
    assert not hasattr(sure.goals(WORLD, ["get"], WORLD.state({})), "careful")
