"""The learned object: it plans, recognises, segments, is saved and loaded; what is given wrongly is one sentence."""

import re
from dataclasses import replace

import numpy as np
import pytest
import torch
from tests.subgoals.test_encoders import LENGTH, Corridor, demonstrations
from tests.training.examples import SOURCE, small_demos, small_store
from torch import nn

import rsg
from rsg.core.errors import RsgError, RunError
from rsg.core.settings import in_file
from rsg.domains.playroom import PlayroomWorld
from rsg.subgoals.learning import RsgSettings
from rsg.worlds.corridor import Corridor as Hall

WORLD = Corridor()


@pytest.fixture(scope="module")
def subgoals():
    return rsg.learn(demonstrations(), WORLD)


def walked(task):
    return next(demo for demo in demonstrations() if demo.task == task)


def test_it_plans(subgoals):
    start = demonstrations()[0].states[0]
    plan = subgoals.plan(WORLD, start, "take-key then open-door")
    assert plan.found
    assert rsg.plan(WORLD, start, "take-key then open-door", subgoals).actions.tolist() == plan.actions.tolist()


def test_it_plans_for_a_goal_with_what_it_saw(subgoals):
    start = demonstrations()[0].states[0]
    plan = subgoals.plan_goal(WORLD, start, "open-door")
    assert plan.found
    assert rsg.plan_goal(WORLD, start, "open-door", subgoals).actions.tolist() == plan.actions.tolist()
    assert subgoals.dependencies.terms == subgoals.terms
    assert subgoals.dependencies is subgoals.dependencies  # found once


def test_it_recognises_and_segments(subgoals):
    demo = demonstrations()[-1]
    first = subgoals.recognise(demo)[0]
    assert str(first.task) == demo.task
    assert [str(one.task) for one in rsg.recognise(WORLD, demo, None, subgoals)] == [
        str(one.task) for one in subgoals.recognise(demo)
    ]
    found = subgoals.segment(demo)
    assert found.ends[-1][1] == len(demo)
    assert found.ends == rsg.segment(WORLD, demo, demo.task, subgoals).ends
    begun = subgoals.segment(demo.first(1), demo.task, prefix=True)
    assert begun.now is not None


def test_it_is_saved_and_loaded(subgoals, tmp_path):
    needed = subgoals.dependencies.plain()
    subgoals.save(tmp_path / "run")
    again = rsg.load(tmp_path / "run", WORLD)
    assert (again.terms, again.settings, again.progress) == (subgoals.terms, subgoals.settings, subgoals.progress)
    assert again.readings == subgoals.readings
    assert again.dependencies.plain() == needed
    demo = demonstrations()[-1]
    assert again.segment(demo).ends == subgoals.segment(demo).ends
    again.save(tmp_path / "run")  # it is there already
    with pytest.raises(RunError):
        subgoals.save(tmp_path / "run")


def test_a_run_whose_world_is_not_installed_asks_for_it(subgoals, tmp_path):
    subgoals.save(tmp_path / "run")
    again, demo = rsg.load(tmp_path / "run"), demonstrations()[-1]
    assert again.plan(WORLD, demo.states[0], demo.task).found
    with pytest.raises(RsgError, match="these subgoals do not know their world; name it"):
        again.segment(demo)
    assert again.segment(demo, world=WORLD).ends == subgoals.segment(demo).ends
    with pytest.raises(RunError, match="does not say where its demonstrations are"):
        rsg.load(tmp_path / "run", WORLD).discover()


def test_networks_are_saved_too(tmp_path):
    learned = rsg.learn(demonstrations(), WORLD, settings={"encoder": "seen", "hidden": 8, "steps": 2})
    learned.save(tmp_path / "run")
    again = rsg.load(tmp_path / "run")
    for name, value in learned.classifiers.state_dict().items():
        assert torch.equal(value, again.classifiers.state_dict()[name])


def test_a_domain_is_a_world_and_is_remembered(tmp_path):
    store = small_store(tmp_path / "store", [demo for demo in small_demos() if "grab-axe" in demo.task][:18])
    for world in (SOURCE, "crafting"):
        learned = rsg.learn(tmp_path / "store", world, settings={"seed": 3})
        assert learned.segment(store[0]).ends
        learned.save(tmp_path / str(world == SOURCE))
        again = rsg.load(tmp_path / str(world == SOURCE))
        assert again.segment(store[0]).ends == learned.segment(store[0]).ends
        assert again.dependencies.plain() == learned.dependencies.plain()


def test_what_is_not_named_follows_from_the_world_and_is_said(capsys):
    assert rsg.learn(demonstrations(), WORLD).settings.encoder == "auto"
    assert "each term is read as a formula over facts" in capsys.readouterr().err
    flat = rsg.learn(demonstrations(), WORLD, settings={"encoder": "seen", "steps": 1}).settings
    assert (flat.encoder, flat.steps, flat.batch) == ("seen", 1, RsgSettings().batch)
    assert capsys.readouterr().err == ""  # it was named


def test_settings_in_a_file(tmp_path):
    (tmp_path / "mine.toml").write_text('encoder = "seen"\nsteps = 1\nrate = 1\n')
    settings = rsg.learn(demonstrations(), WORLD, settings=tmp_path / "mine.toml").settings
    assert (settings.encoder, settings.steps, settings.rate) == ("seen", 1, 1.0)
    with pytest.raises(RsgError, match="No such file"):
        in_file(RsgSettings, tmp_path / "none.toml")
    (tmp_path / "bad.toml").write_text("steps = = 1")
    with pytest.raises(RsgError, match="is no TOML file"):
        in_file(RsgSettings, tmp_path / "bad.toml")


def test_a_module_of_ones_own_is_used_without_naming_it():
    learned = rsg.learn(demonstrations(), WORLD, encoder=lambda: nn.Linear(LENGTH + 2, 4), settings={"steps": 1})
    assert isinstance(learned.classifiers.encoder, nn.Linear)


DEMOS = demonstrations()
SLIPS = {
    "a world class": (lambda: rsg.learn(DEMOS, Corridor), r"a world is wanted, not a class: make one, Corridor\(...\)"),
    "no world": (lambda: rsg.learn(DEMOS, 3), "this is neither a world nor a function"),
    "an unknown world": (lambda: rsg.learn(DEMOS, "craftin"), "did you mean crafting?"),
    "one demonstration": (lambda: rsg.learn(DEMOS[0], WORLD), "put it in a list"),
    "no demonstrations": (lambda: rsg.learn([], WORLD), "there are no demonstrations"),
    "a number of them": (lambda: rsg.learn(5, WORLD), "demonstrations are a list, a store, or where one is, not a int"),
    "tuples": (lambda: rsg.learn([(1, 2)], WORLD), "demonstration 0 is a tuple; make each rsg.Demonstration"),
    "a file that is none": (lambda: rsg.learn("nowhere.npz", WORLD), "nowhere.npz"),
    "a setting": (lambda: rsg.learn(DEMOS, WORLD, settings={"stepps": 1}), "did you mean steps?"),
    "a value": (lambda: rsg.learn(DEMOS, WORLD, settings={"steps": "many"}), "steps is a whole number, not 'many'"),
    "a settings class": (lambda: rsg.learn(DEMOS, WORLD, settings=RsgSettings), "settings are wanted, not a class"),
    "a module": (lambda: rsg.learn(DEMOS, WORLD, encoder=nn.Linear(2, 3)), "encoder= takes what makes a module"),
    "classifiers to begin with": (
        lambda: rsg.learn(DEMOS, WORLD, start=rsg.learn(DEMOS, WORLD).classifiers),
        "start= takes subgoals",
    ),
    "steps that no action explains": (
        lambda: rsg.learn([rsg.Demonstration(DEMOS[0].states[[0, -1]], None, "a")], WORLD),
        "no action",
    ),
    "a device": (lambda: rsg.learn(DEMOS, WORLD, settings={"device": "toaster"}), "torch cannot use the device"),
    "a classifier": (
        lambda: rsg.plan(WORLD, DEMOS[0].states[0], "take-key", rsg.learn(DEMOS, WORLD).classifiers),
        "give the Subgoals that hold it",
    ),
    "a class": (lambda: rsg.plan(WORLD, DEMOS[0].states[0], "take-key", rsg.Subgoals), "this is the class Subgoals"),
    "nothing known": (
        lambda: rsg.plan_goal(WORLD, DEMOS[0].states[0], "take-key", lambda *_: None),
        "say which subgoals help which",
    ),
    "many states": (lambda: rsg.learn(DEMOS, WORLD).plan(WORLD, DEMOS[0].states, "take-key"), "starts in one state"),
    "a term": (
        lambda: rsg.learn(DEMOS, WORLD).plan(WORLD, DEMOS[0].states[0], "take-kee"),
        "did you mean take-key?",
    ),
    "a goal": (
        lambda: rsg.learn(DEMOS, WORLD).plan_goal(WORLD, DEMOS[0].states[0], "open-dor"),
        "did you mean open-door?",
    ),
    "a setting as an argument": (
        lambda: rsg.learn(DEMOS, WORLD, steps=3),
        "'steps' is a setting: settings={'steps': ...}",
    ),
    "an argument": (lambda: rsg.learn(DEMOS, WORLD, perr_task=3), "did you mean per_task?"),
    "settings as a folder": (lambda: rsg.learn(DEMOS, WORLD, {"steps": 3}), "out is the folder of the run"),
    "a number of settings": (lambda: rsg.learn(DEMOS, WORLD, settings=3), "a mapping of names to values"),
    "no folder": (lambda: rsg.load(3), "a run is a folder, not 3"),
    "no task": (lambda: rsg.Demonstration(DEMOS[0].states, DEMOS[0].actions, None), "are text, not None"),
    "names of actions": (lambda: rsg.Demonstration([[0], [1]], ["left"], "a"), "an action is its place in the world's"),
    "an action that is none": (
        lambda: rsg.learn([rsg.Demonstration(DEMOS[0].states, DEMOS[0].actions + 9, DEMOS[0].task)], WORLD),
        "actions are numbers from 0 to",
    ),
    "states to recognise": (lambda: rsg.learn(DEMOS, WORLD).recognise(DEMOS[0].states), "not a ndarray"),
    "one candidate": (lambda: rsg.learn(DEMOS, WORLD).recognise(DEMOS[0], "take-key"), "candidates are a list"),
    "nothing said": (
        lambda: rsg.learn(DEMOS, WORLD).segment(rsg.Demonstration(DEMOS[0].states, DEMOS[0].actions, "")),
        "say what was done: segment(demonstration, task)",
    ),
    "how to search": (
        lambda: rsg.learn(DEMOS, WORLD).plan(WORLD, DEMOS[0].states[0], "take-key", {"buget": 3}),
        "did you mean budget?",
    ),
    "a task for a goal": (
        lambda: rsg.learn(DEMOS, WORLD).plan_goal(WORLD, DEMOS[0].states[0], "take-key then open-door"),
        "that is a task: give it to plan",
    ),
    "another world": (lambda: rsg.learn(DEMOS, PlayroomWorld()), "these are not states of a Playroom with 6 effectors"),
}


@pytest.mark.parametrize("slip", SLIPS)
def test_a_slip_is_one_sentence(slip):
    what, told = SLIPS[slip]
    with pytest.raises(RsgError, match=told if "\\" in told else re.escape(told)) as error:
        what()
    assert "\n" not in str(error.value)


def test_names_that_are_gone_say_what_to_use():
    for name, instead in {
        "load_subgoals": "rsg.load",
        "load_dependencies": ".dependencies",
        "discover": "discover(",
    }.items():
        with pytest.raises(AttributeError, match=re.escape(instead)):
            getattr(rsg, name)


def test_small_demonstrations_as_lists():
    demo = rsg.Demonstration([[0, 0], [1, 0]], [1], "a")
    assert demo.states.dtype.kind == "i"
    assert np.array_equal(demo.first(1).states, demo.states)
    assert small_demos()[0].first(1).task == small_demos()[0].task


def test_a_word_that_is_nearly_a_term_is_told(capsys):
    demo = small_demos()[0]
    misspelt = rsg.Demonstration(demo.states, demo.actions, demo.task.replace("grab", "garb"), demo.setting)
    rsg.learn([demo, misspelt], SOURCE)
    word = misspelt.task.split()[0]
    assert f"'{word}' is no term of crafting; did you mean {word.replace('garb', 'grab')}?" in capsys.readouterr().err


def test_a_task_may_be_said_in_words():
    from rsg.worlds.corridor import Corridor

    subgoals = rsg.learn([rsg.Demonstration(*walk) for walk in Corridor().walks()], Corridor())
    made = subgoals.plan(Corridor(), [4, 0, 0], "light the lamp, then read a book")
    assert str(made.task) == "light-lamp then read-book"
    assert made.found
    with pytest.raises(RsgError, match="unknown words 'close the book'"):
        subgoals.plan(Corridor(), [4, 0, 0], "light the lamp then close the book")


def test_descriptions_may_be_in_words():
    shown = [rsg.Demonstration(*walk) for walk in Hall().walks()]
    said = {
        "light-lamp": "light the lamp",
        "read-book": "read the book",
        "light-lamp then read-book": "light the lamp, then read the book",
    }
    told = [replace(demo, task=said.get(demo.task, demo.task)) for demo in shown]
    with pytest.raises(rsg.RsgError, match="light the lamp"):
        rsg.learn(told, Hall())
    subgoals = rsg.learn(told, Hall(), words=["light-lamp", "read-book"])
    assert [one.means for one in subgoals.tell()] == [one.means for one in rsg.learn(shown, Hall()).tell()]
