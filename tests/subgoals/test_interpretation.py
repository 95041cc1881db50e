"""What terms mean: found from one demonstration of each task, from noisy ones, from wrong descriptions."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from tests.training.examples import SOURCE, small_demos, world_of

import rsg
from rsg.core.errors import RsgError
from rsg.core.random import stream
from rsg.demos import Demonstration
from rsg.domains.crafting import CraftingWorld
from rsg.domains.crafting.sets import SetClassifiers
from rsg.language import machine_of
from rsg.search import Product, SearchSettings
from rsg.search.cost_to_go import Logs
from rsg.subgoals import Formula, Literal, Rationality, Readings, Subgoals, learn, load, score, tell
from rsg.subgoals.ground import ground
from rsg.subgoals.interpretation import interpret, scores_of
from rsg.subgoals.objective import Given
from rsg.subgoals.shown import enough, prepared
from rsg.training.data import least_steps


@cache
def shown(seed, per_task=1, noise=0.0):
    """Demonstrations of all training tasks."""
    made = []
    for task in range(len(SOURCE.tasks("train"))):
        for number in range(per_task):
            made.append(SOURCE.demonstrate("train", task, stream(seed, "shown", task, number), noise)[0])
    return tuple(made)


def rule_book(term):
    """What a term of Crafting World truly means."""
    verb, _, thing = term.partition("-")
    return f"on({thing})" if verb == "toggle" else f"held({thing})"


def meanings(subgoals):
    """All that each term may mean: the likeliest, and what else is open."""
    return {term: {str(one) for one in (reading.formula, *reading.open)} for term, reading in subgoals.readings.items()}


def wrongly_described(demos, share, seed):
    """The same with the description of another task for some; gives their numbers too."""
    rng, texts, out, wrong = stream(seed, "wrong"), sorted({demo.task for demo in demos}), [], []
    for number, demo in enumerate(demos):
        others = [text for text in texts if text != demo.task and least_steps(machine_of(text)) <= len(demo)]
        if rng.random() < share:
            demo = replace(demo, task=others[rng.integers(len(others))])
            wrong.append(number)
        out.append(demo)
    return out, wrong


@pytest.mark.parametrize("seed", [51, 52])
def test_one_demonstration_of_each_task_tells_what_all_terms_mean(seed):
    subgoals = learn(shown(seed), world_of).classifiers
    assert len(subgoals.readings) == 26
    for term, some in meanings(subgoals).items():
        assert rule_book(term) in some
        assert len(some) == 1 or term == "toggle-switch"


def test_descriptions_of_several_terms_alone_are_enough():
    subgoals = learn([demo for demo in shown(53) if " " in demo.task], world_of).classifiers
    assert all(some == {rule_book(term)} for term, some in meanings(subgoals).items())
    assert len(subgoals.readings) == 24


def test_demonstrators_who_err_are_found_out():
    sober, drunk = (learn(shown(54, 2, noise), world_of).classifiers for noise in (0.0, 0.4))
    assert all(rule_book(term) in some for term, some in meanings(drunk).items())
    assert drunk.shape["alpha"][2] < sober.shape["alpha"][1]  # the intervals do not even overlap


def test_wrong_descriptions_are_named():
    demos, wrong = wrongly_described(shown(55, 3), 0.15, 1)
    subgoals = learn(demos, world_of).classifiers
    assert all(rule_book(term) in some for term, some in meanings(subgoals).items())
    doubted = set(subgoals.shape["doubted"])
    assert len(doubted & set(wrong)) >= 0.8 * len(wrong)
    assert len(doubted - set(wrong)) <= 2
    assert abs(subgoals.shape["doubt"] - 0.15) < 0.08


@pytest.mark.kernels
@pytest.mark.filterwarnings("ignore:overflow encountered in scalar multiply")  # the hash, uncompiled
def test_scores_are_those_of_the_objective():
    demo = small_demos()[200]
    there = ground(world_of(demo), demo.states, demo.actions, 2)
    machine, how, rng = machine_of(demo.task), Rationality(3.0, 1.0), stream(0, "scores")
    holds = rng.random((5, len(there.graph.states))) < 0.3
    odds = rng.normal(0, 3, (len(there.graph.states), len(machine.names)))
    given = Given(there.graph.arrays, there.walk, machine.arrays)
    for k in range(len(machine.names)):
        logs = Logs(-np.logaddexp(0, -odds), -np.logaddexp(0, odds))
        found = scores_of(given, logs, k, holds, 4.0, how)
        for value, where in zip(found, holds, strict=True):
            mine = odds.copy()
            mine[:, k] = np.where(where, 4.0, -4.0)
            mine = Logs(-np.logaddexp(0, -mine), -np.logaddexp(0, mine))
            assert value == pytest.approx(score(there, machine.arrays, mine, how).value, abs=1e-9)


class Kitchen:
    """Somebody's own small world: a cook on a line of nine places, a pan, a stove that may be on, an egg."""

    actions = ("left", "right", "use")
    costs = np.full(3, 0.1)
    PAN, STOVE, EGGS = 1, 5, 8

    def step(self, states, actions):
        out = states.copy()
        for row, action in zip(out, actions, strict=True):
            place, pan, stove, _ = row.tolist()
            if action < 2:
                row[0] = np.clip(place + (1 if action else -1), 0, 8)
            elif place == self.PAN:
                row[1] = 1 - pan
            elif place == self.STOVE:
                row[2] = 1 - stove
            elif place == self.EGGS:
                row[3] = 1
        return out

    def successors(self, states):
        return np.stack([self.step(states, np.full(len(states), a)) for a in range(3)], axis=1)

    def encode(self, states):
        return states.astype(np.float32)

    def render(self, state):
        return np.zeros((1, 9, 3), dtype=np.uint8)


KITCHEN = Kitchen()
TRUE = {
    "take-pan": lambda s: s[:, 1] == 1,
    "be-ready": lambda s: (s[:, 1] == 1) & (s[:, 2] == 1),
    "find-something": lambda s: (s[:, 1] == 1) | (s[:, 3] == 1),
    "switch-off": lambda s: s[:, 2] == 0,
}


def true_goals(world, terms, state):
    """The truth of the kitchen as planners ask for it."""
    del world, state

    def goals(states):
        holds = np.stack([TRUE[term](states) for term in terms], axis=1)
        return np.where(holds, 0.0, -np.inf), np.where(holds, -np.inf, 0.0)

    return goals


def cooked(count, seed=0):
    """Demonstrations of the kitchen."""
    rng, made = stream(seed, "kitchen"), []
    tasks = [*TRUE, "take-pan then be-ready", "find-something then be-ready", "be-ready then switch-off"]
    while len(made) < count:
        task = tasks[len(made) % len(tasks)]
        state = np.array([rng.integers(9), *rng.integers(2, size=3)])
        plan = rsg.plan(KITCHEN, state, task, true_goals, SearchSettings(Product("optimal")))
        if plan.found:
            made.append(Demonstration(plan.states, plan.actions, task))
    return made


def test_conjunctions_disjunctions_and_negations_in_a_world_of_ones_own():
    subgoals = learn(cooked(70), KITCHEN).classifiers
    every = np.array([[p, a, b, c] for p in range(9) for a in (0, 1) for b in (0, 1) for c in (0, 1)])
    for term, truth in TRUE.items():
        odds = subgoals.evaluate(KITCHEN, every, subgoals.numbers([term]))[:, 0, 0]
        assert np.array_equal(odds > 0, truth(every)), (term, str(subgoals.readings[term].formula))
    assert len(subgoals.readings["be-ready"].formula.literals) == 2
    assert not subgoals.readings["find-something"].formula.literals[1].also


class Corridor(Kitchen):
    """A corridor of 25 places with a lamp and, far away, a book."""

    LAMP, BOOK = 4, 20
    fact_names = ("lamp", "book")

    def facts(self, states):
        return states[:, 1:3] == 1

    def step(self, states, actions):
        out = states.copy()
        for row, action in zip(out, actions, strict=True):
            if action < 2:
                row[0] = np.clip(row[0] + (1 if action else -1), 0, 24)
            elif row[0] in (self.LAMP, self.BOOK):
                row[1 if row[0] == self.LAMP else 2] = 1
        return out


def test_what_actions_cost_in_another_unit_is_read_alike():
    class Dear(Kitchen):
        costs = np.full(len(KITCHEN.actions), 1.6)

    one, other = (learn(cooked(40), world) for world in (KITCHEN, Dear()))
    assert {term: reading.formulas[0][0] for term, reading in one.readings.items()} == {
        term: reading.formulas[0][0] for term, reading in other.readings.items()
    }
    assert one.classifiers.shape["alpha"] == other.classifiers.shape["alpha"]


def test_a_shorter_way_that_nobody_took_tells_what_else_is_meant():
    """Who wants the book alone goes there at once; the graphs around demonstrations do not reach so far."""
    world, demos = Corridor(), []
    for start in (9, 10, 11, 12):
        lamp = [0] * (start - Corridor.LAMP) + [2]
        book = [1] * (Corridor.BOOK - Corridor.LAMP) + [2]
        for task, actions in (("light", lamp), ("get-ready", lamp + book)):
            states = [np.array([start, 0, 0])]
            for action in actions:
                states.append(world.step(states[-1][None], np.array([action]))[0])
            demos.append(Demonstration(np.stack(states), np.array(actions), task))
    told = []
    readings = learn(demos, world, tracker=lambda progress, figures: told.append((progress.step, *figures))).readings
    assert told == [(0, "cpu_seconds")]  # there are no steps to tell of
    assert str(readings["light"].formula) == "lamp"
    assert str(readings["get-ready"].formula) == "book and lamp"


def field(axe, agent, **things):
    """A map with an axe, and perhaps other things."""
    world = CraftingWorld(4, 4)
    return world, world.state({axe: "axe", **{place: name for name, place in things.items()}}, agent)


def walked(world, state, task):
    """A shortest demonstration."""
    plan = rsg.plan(world, state, task, SOURCE.true_goals, SearchSettings(Product("optimal")))
    return Demonstration(plan.states, plan.actions, task)


def test_a_door_that_only_the_switch_opens_leaves_it_open_which_is_meant():
    world = CraftingWorld(4, 4)
    starts = [world.state({(0, 3): "switch", (3, 3): "door"}, agent) for agent in ((0, 0), (2, 1), (3, 0), (1, 2))]
    demos = [walked(world, state, "toggle-switch") for state in starts]
    (told,) = tell(learn(demos, world).classifiers, world)
    assert "a door is open" in told.means + told.open[0]
    assert "a switch is on" in told.means + told.open[0]
    assert told.settle[0] == "toggle-switch where only one of the two comes true"
    asked = walked(world, world.state({(2, 2): "switch"}, (0, 0)), "toggle-switch")
    (told,) = tell(learn([*demos, asked], world).classifiers, world)
    assert told.means == "toggle-switch holds where a switch is on"
    assert not told.open


def test_an_axe_that_always_lies_in_the_same_place_leaves_it_open_whether_that_matters():
    world = CraftingWorld(4, 4)
    agents = ((0, 0), (3, 3), (0, 3), (3, 0), (1, 0))
    demos = [walked(world, world.state({(2, 2): "axe"}, agent), "grab-axe") for agent in agents]
    (told,) = tell(learn(demos, world).classifiers, world)
    assert told.means == "grab-axe holds where an axe is held"
    assert "the agent is at row 2, column 2" in told.never_varied
    assert "grab-axe where the agent is not at row 2, column 2" in told.settle
    asked = walked(world, world.state({(1, 3): "axe"}, (0, 0)), "grab-axe")
    (told,) = tell(learn([*demos, asked], world).classifiers, world)
    assert not any("row 2" in one for one in told.never_varied + told.settle)


def test_two_terms_that_nothing_tells_apart_are_named():
    demos = [
        replace(demo, task=demo.task.replace("grab-axe", name))
        for name in ("grab-axe", "take-axe")
        for demo in shown(56)
        if demo.task == "grab-axe"
    ]
    told = {one.term: one for one in tell(learn(demos, world_of).classifiers, CraftingWorld())}
    assert "it is read as take-axe is: no demonstration tells the two apart" in told["grab-axe"].open


def test_what_no_formula_explains_has_a_network_and_both_are_one(tmp_path):
    """A term that is about a sum of two numbers, modulo nine: no small formula says that."""

    class Sums(Kitchen):
        def step(self, states, actions):
            out = states.copy()
            for row, action in zip(out, actions, strict=True):
                row[0] = np.clip(row[0] + (1 if action == 1 else -1 if action == 0 else 0), 0, 8)
                row[1] = (row[1] + (action == 2)) % 9
            return out

    world, rng, demos = Sums(), stream(3, "sums"), []
    meaning = {"sum": lambda s: (4 * s[:, 0] + 3 * s[:, 1]) % 9 == 5, "left": lambda s: s[:, 0] == 0}

    def goals(world, terms, state):
        def of(states):
            holds = np.stack([meaning[term](states) for term in terms], axis=1)
            return np.where(holds, 0.0, -np.inf), np.where(holds, -np.inf, 0.0)

        return of

    while len(demos) < 80:
        state = np.array([rng.integers(9), rng.integers(9), 0, 0])
        task = ("sum", "left")[len(demos) % 2]
        plan = rsg.plan(world, state, task, goals, SearchSettings(Product("optimal")))
        if plan.found and len(plan.actions) > 1:
            demos.append(Demonstration(plan.states, plan.actions, task))
    settings = rsg.RsgSettings(hidden=16, steps=12, batch=8, curriculum=4, check_every=4)
    subgoals = learn(demos, world, tmp_path / "run", settings, tensorboard=False).classifiers
    assert set(subgoals.readings) == {"left"}
    assert subgoals.network.terms == ("sum",)
    again = load(tmp_path / "run").classifiers
    states = np.stack([demo.states[0] for demo in demos])
    numbers = subgoals.numbers(["sum", "left"])
    assert np.array_equal(
        again.evaluate(world, states, again.numbers(["sum", "left"])), subgoals.evaluate(world, states, numbers)
    )
    goals_there = subgoals.goals(world, ["sum", "left"], states[0])
    assert np.allclose(goals_there(states)[0], -np.logaddexp(0, -subgoals.evaluate(world, states, numbers)[..., 0]))
    among = Readings(subgoals.readings, 5.0, SetClassifiers(hidden=4).grow(["sum"]))
    assert among.things_seen() == among.network.things_seen() > 1  # so it will prefer few things, as every network
    barely = replace(settings, steps=1, rate=1e-12, rate_end=1e-12)
    rest = [demo for demo in demos if demo.task == "left"]  # in which nobody speaks of sums
    grown = learn(rest, world, tmp_path / "grown", barely, start=Subgoals(again), tensorboard=False).classifiers
    assert grown.readings == subgoals.readings
    known = again.evaluate(world, states, again.numbers(["sum"]))
    assert np.allclose(grown.evaluate(world, states, grown.numbers(["sum"])), known, rtol=0, atol=1e-6)
    last = load(tmp_path / "grown").classifiers
    assert np.array_equal(last.evaluate(world, states, numbers), grown.evaluate(world, states, numbers))
    with pytest.raises(RsgError, match="do not fit the settings"):
        learn(rest, world, settings=replace(barely, encoder="facts"), start=Subgoals(again))


def test_what_is_known_stays_and_new_terms_are_added(tmp_path):
    first = [demo for demo in shown(57) if "switch" not in demo.task and "key" not in demo.task]
    start = learn(first, world_of, tmp_path / "run", tensorboard=False).classifiers
    grown = learn(
        [demo for demo in shown(57) if demo.task in ("grab-key", "grab-axe")], world_of, start=Subgoals(start)
    ).classifiers
    assert str(grown.readings["grab-key"].formula) == "held(key)"
    assert grown.readings["mine-wood"] == start.readings["mine-wood"]
    assert load(tmp_path / "run").classifiers.readings == start.readings


def test_what_is_known_may_be_about_what_new_demonstrations_never_show():
    start = learn(cooked(70), KITCHEN).classifiers
    far_off = Demonstration(np.array([[8, 0, 0, 0], [7, 0, 0, 0]]), np.array([0]), "take-pan or go-left")
    grown = learn([far_off] * 3, KITCHEN, start=Subgoals(start)).classifiers
    assert {term: grown.readings[term] for term in start.readings} == start.readings
    assert "go-left" in grown.terms


def test_nothing_discrete_nothing_to_read():
    class Blurred(Kitchen):
        def step(self, states, actions):
            return super().step(states.astype(int), actions) + 0.0

        def encode(self, states):
            return np.sin(states[:, :1] * 1.7).astype(np.float32)

    demos = [Demonstration(demo.states + 0.0, demo.actions, demo.task) for demo in cooked(7)]
    with pytest.raises(RsgError, match="there are no facts"):
        learn(demos, Blurred(), settings=rsg.RsgSettings(encoder="facts"))
    chosen = learn(demos, Blurred(), settings=rsg.RsgSettings(steps=2, hidden=4, curriculum=0, batch=2))
    assert not hasattr(chosen.classifiers, "readings")


def test_enough_is_taken_of_each_description_by_turns():
    tasks = ["a"] * 500 + ["a then b"] * 3 + ["c"]
    chosen = enough(tasks)
    assert {"a then b", "c"} <= {tasks[n] for n in chosen}
    assert len(chosen) < 100
    assert {500, 501, 502, 503} <= set(chosen)


def test_interpretation_prefers_what_other_terms_are_about():
    """Grabbing an axe takes it off the map as well: both explain, but all other terms are about what is held."""
    demos = [demo for demo in shown(58) if demo.task in ("grab-axe", "grab-pickaxe", "grab-key", "mine-wood")]
    data = prepared(demos, lambda demo: ground(world_of(demo), demo.states, demo.actions, 4))
    found = interpret(data).terms["grab-axe"]
    assert found.formulas[0] == Formula.of(Literal("held(axe)"))
    assert Formula.of(Literal("lies(axe)", holds=False)) in found.formulas[1:3]
