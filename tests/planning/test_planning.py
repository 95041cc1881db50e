from functools import partial

import numpy as np
import pytest

from rsg.core.errors import ParseError, RsgError
from rsg.core.random import stream
from rsg.domains.crafting import ACTIONS, CraftingWorld, truth
from rsg.domains.crafting.domain import Crafting
from rsg.domains.crafting.text import read_map
from rsg.domains.crafting.truth import TrueGoals
from rsg.language import Machine, parse, satisfies
from rsg.planning import Dependencies, plan, plan_goal, validate
from rsg.planning.validation import does_leniently
from rsg.search import ORDERS, Auto, Product, SearchSettings
from rsg.subgoals import Formula, Literal, Reading, Readings

source = Crafting()
oracle = source.true_goals


def only_batched(world, terms, state):
    """The same truth without its compiled form."""
    return lambda states: TrueGoals(world, terms)(states)


def verdict_of(world, made, task):
    return validate(world, made, task, partial(truth, world))


@pytest.mark.parametrize("order", ORDERS)
def test_every_plan_with_true_classifiers_is_valid(order):
    """No order ever returns a plan that the independent replay rejects; budgets hold; the same seed, the same plan."""
    found = 0
    for split in ("compositional", "novel"):
        for task in range(0, len(source.tasks(split)), 3):
            demo, _ = source.demonstrate(split, task, stream(1, split, task))
            world = source.world(demo.setting)
            settings = SearchSettings(Auto(order), budget=3000, seed=task)
            made = plan(world, demo.states[0], demo.task, oracle, settings)
            assert made.expansions <= 3000
            if made.found:
                found += 1
                verdict = verdict_of(world, made, demo.task)
                assert verdict.ok, verdict.reason
                assert verdict.lenient
                assert made.cost == pytest.approx(0.1 * len(made.actions))
                terms = [str(term) for term in parse(demo.task).terms()]
                assert satisfies(truth(world, made.states, terms), parse(demo.task), terms)
            else:
                assert made.ended in ("budget", "exhausted")
            again = plan(world, demo.states[0], demo.task, only_batched, settings)
            assert (again.actions.tolist(), again.expansions) == (made.actions.tolist(), made.expansions)
    assert found >= 9


def test_optimal_plans_are_never_longer():
    for task in (5, 8, 12):
        demo, _ = source.demonstrate("compositional", task, stream(2, task))
        world = source.world(demo.setting)
        costs = {
            order: plan(world, demo.states[0], demo.task, oracle, SearchSettings(Product(order), budget=None)).cost
            for order in ("optimal", "anytime", "deepest", "balanced")
        }
        assert costs["optimal"] == pytest.approx(costs["anytime"])
        assert costs["optimal"] <= min(costs.values()) + 1e-9
        assert costs["optimal"] <= 0.1 * len(demo) + 1e-9


INTERLEAVING = """
; The gold lies beyond the tree and the work station; the boat station is beside the gold.
inventory: axe, pickaxe
map:
.T1...
@....G
.....5
"""


def test_whole_task_plans_prepare_later_subgoals_on_the_way():
    """The paper's interleaving figure: wood is collected on the way to the gold."""
    world, state = read_map(INTERLEAVING)
    task = "mine-gold-ore then craft-boat"
    settings = SearchSettings(Product("optimal"), budget=None)
    whole, first = (plan(world, state, one, oracle, settings) for one in (task, "mine-gold-ore"))
    assert verdict_of(world, whole, task).ok
    stitched = first.cost + plan(world, first.states[-1], "craft-boat", oracle, settings).cost
    assert whole.cost < stitched - 0.1
    serving_gold = [i for i, term in enumerate(whole.terms) if term == "mine-gold-ore"]
    assert "wood-plank" in world.inventory(whole.states[serving_gold[-1] + 1])  # ready before the gold is mined


def test_the_papers_worked_example():
    """`(mine-wood or mine-coal) then mine-gold-ore`: the branch with the smaller total is taken."""
    world, state = read_map("inventory: axe, pickaxe\nmap:\n..T...\n@.....\n..C..G\n")
    made = plan(world, state, "(mine-wood or mine-coal) then mine-gold-ore", oracle, SearchSettings(Product("optimal")))
    names = [ACTIONS[action] for action in made.actions]
    assert sorted(names[:3]) == ["down", "right", "right"]
    assert names[3:] == ["toggle", "right", "right", "right", "toggle"]
    assert made.terms == ("mine-coal",) * 4 + ("mine-gold-ore",) * 4
    assert made.nodes.tolist() == [2] * 4 + [3] * 4
    assert made.cost == pytest.approx(0.8)


def test_what_is_impossible_is_said():
    world, state = read_map("map:\n@.~a\n..~.\n")
    made = plan(world, state, "grab-axe then mine-wood", oracle)
    assert not made.found
    assert made.missed == ("grab-axe",)
    assert made.reason == "no plan: grab-axe could not be reached; everything that can be reached was tried"
    assert verdict_of(world, made, "grab-axe then mine-wood").reason == made.reason
    world, state = read_map("map:\n@ak\n")
    made = plan(world, state, "grab-key then grab-axe then mine-wood", oracle, SearchSettings(budget=4))
    assert made.ended == "budget"
    assert "the budget of 4 expansions ended" in made.reason
    world, state = read_map("inventory: axe\nmap:\n@\n")
    made = plan(world, state, "grab-axe", oracle)
    assert "already true" in made.reason


def test_the_reason_names_what_was_reached():
    world, state = read_map("map:\n@k~a\n")
    made = plan(world, state, "grab-key then grab-axe", oracle)
    assert (made.reached, made.missed) == (("grab-key",), ("grab-axe",))


@pytest.mark.parametrize(
    ("task", "state", "problem"),
    [
        ("(A", None, "expected 'then'"),
        ("fly-away", None, "no subgoal 'fly-away'"),
        ("grab-axe", np.zeros((2, 44), np.uint8), r"one state \[W\], got shape \(2, 44\)"),
        ("grab-axe", np.zeros(7, np.uint8), "not states of a 6×6 Crafting World"),
    ],
)
def test_bad_input(task, state, problem):
    world = CraftingWorld()
    with pytest.raises((RsgError, ParseError), match=problem):
        plan(world, world.state({}) if state is None else state, task, only_batched)


def test_validation_believes_nothing():
    world, state = read_map("map:\n@a.T\n")
    task = "grab-axe then mine-wood"
    made = plan(world, state, task, oracle)
    assert verdict_of(world, made, task).ok
    states = made.states.copy()
    states[-1, 0] = 200
    lie = type(made)(**{**vars(made), "states": states})
    assert "the world does not lead to the state that the plan claims" in verdict_of(world, lie, task).reason
    short = type(made)(**{**vars(made), "actions": made.actions[:-1], "states": made.states[:-1]})
    assert verdict_of(world, short, task).reason == "it got as far as mine-wood, which was never done"
    wait = np.concatenate([made.states, world.step(made.states[-1:], [2])])
    after = world.step(wait[-1:], [2])
    longer = type(made)(
        **{**vars(made), "actions": np.append(made.actions, [2, 2]), "states": np.concatenate([wait, after])}
    )
    assert verdict_of(world, longer, task).ok  # it still holds at the end
    begun = world.state({(0, 3): "tree"}, inventory=["axe"])
    idle = type(made)(**{**vars(made), "actions": np.array([0]), "states": np.stack([begun, begun])})
    assert "true from the start" in verdict_of(world, idle, "grab-axe").reason


def test_lenient_and_strict_differ_as_they_should():
    machine = Machine.of(parse("a then b"))
    both_at_once = np.array([[0, 0], [1, 1]], dtype=bool)
    assert does_leniently(machine, both_at_once)
    assert not machine.accepts(both_at_once)
    assert does_leniently(machine, np.array([[1, 0], [0, 1]], dtype=bool))
    assert not does_leniently(machine, np.array([[0, 1], [1, 0]], dtype=bool))


def test_costs_of_actions_count():
    class Hilly(CraftingWorld):
        """Going right is dear."""

        costs = np.array([0.1, 0.1, 0.1, 1.0, 0.1])

    world = Hilly(2, 3)
    state = world.state({(0, 2): "axe", (1, 0): "axe"}, agent=(0, 0))
    made = plan(world, state, "grab-axe", oracle, SearchSettings(Product("optimal")))
    assert [ACTIONS[a] for a in made.actions] == ["down", "toggle"]
    assert made.cost == pytest.approx(0.2)


def axes_and(second, least=0.03):
    """A world with an axe, and another or none; and somebody who is not quite sure whether all of them are meant."""
    world = CraftingWorld(3, 7)
    walls = {(row, 5): "water" for row in range(3)}
    state = world.state({(0, 2): "axe", **walls, **({second: "axe"} if second else {})}, (0, 0))
    formulas = ((Formula.of(Literal("held(axe)")), 1 - least), (Formula.of(Literal("lies(axe)", holds=False)), least))
    return world, state, Readings({"grab-axe": Reading(formulas, 2, 2)}, certainty=5.0)


def left_over(made, world):
    return int((world.plain[made.states[-1][-world.height * world.width :]] == world.rules.code("axe")).sum())


def test_plans_see_to_what_is_less_likely_if_there_is_a_way():
    settings = SearchSettings(Product("optimal"))
    made = {}
    for second in (None, (2, 4), (0, 6)):  # the last one cannot be reached
        world, state, unsure = axes_and(second)
        sure = axes_and(second, 1e-9)[2]
        none = np.zeros((1, 1), dtype=np.int64)
        links = Dependencies(("grab-axe",), none, none, none[0], none, (((),),), np.array([0.5]))
        for name, plans in (
            ("task", [plan(world, state, "grab-axe", one.goals, settings) for one in (unsure, sure)]),
            ("goal", [plan_goal(world, state, "grab-axe", one.goals, links) for one in (unsure, sure)]),
        ):
            assert all(one.found and not one.bold for one in plans)
            assert verdict_of(world, plans[0], "grab-axe").ok
            made[name, second] = [(left_over(one, world), one.expansions) for one in plans]
    for name in ("task", "goal"):
        assert made[name, None][0] == made[name, None][1]  # seen to already: nothing else was searched
        assert [axes for axes, _ in made[name, (2, 4)]] == [0, 1]
        assert [axes for axes, _ in made[name, (0, 6)]] == [1, 1]
