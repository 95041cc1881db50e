import json

import numpy as np
import pytest

from rsg.search import goals_from


def test_plan_for_a_person_and_a_machine(rsg, tmp_path):
    words = ["plan", "crafting", "grab-axe then mine-wood then craft-wood-plank", "--seed", "2"]
    code, out, err = rsg(*words, "--gif", str(tmp_path / "plan.gif"))
    assert (code, err) == (0, "")
    assert "replayed: it does the task" in out
    assert (tmp_path / "plan.gif").exists()
    code, out, err = rsg(*words, "--json", "--order", "optimal")
    assert (code, err) == (0, "")
    values = json.loads(out)
    assert values["found"]
    assert values["valid"]
    assert values["cost"] == pytest.approx(0.1 * len(values["actions"]))


def test_no_plan_is_exit_code_1_and_a_reason(rsg, tmp_path):
    (tmp_path / "my.txt").write_text("map:\n@k~a\n")
    words = ["plan", "crafting", "grab-key then grab-axe", "--map", str(tmp_path / "my.txt")]
    code, out, _ = rsg(*words)
    assert code == 1
    assert "grab-axe could not be reached; everything that can be reached was tried" in out
    assert "reached: grab-key" in out
    code, out, _ = rsg(*words, "--json", "--gif", str(tmp_path / "none.gif"))
    assert code == 1
    assert json.loads(out)["cost"] is None
    assert not (tmp_path / "none.gif").exists()


def test_a_goal_for_a_person(rsg, tmp_path):
    code, out, err = rsg("plan", "crafting", "--goal", "Craft_Boat", "--gif", str(tmp_path / "boat.gif"))
    assert (code, err) == (0, "")
    assert out.startswith("goal   craft-boat\n")
    assert "subgoals on the way: grab-axe then mine-wood then craft-wood-plank then craft-boat\n" in out
    assert "; replayed: craft-boat comes true\n" in out
    assert "(what needs what was read off 1,040 fresh demonstrations in " in out
    assert (tmp_path / "boat.gif").exists()


def test_a_goal_for_a_machine(rsg, tmp_path):
    (tmp_path / "my.txt").write_text("map:\n@a.T1\n")
    words = ["--goal", "craft-wood-plank", "--map", str(tmp_path / "my.txt"), "--json"]
    code, out, err = rsg("plan", "crafting", *words)
    assert (code, err) == (0, "")
    values = json.loads(out)
    assert (values["task"], values["goal"]) == ("craft-wood-plank", "craft-wood-plank")
    assert values["valid"]
    assert values["instruction"].endswith("craft-wood-plank")
    assert values["actions"] == ["right", "toggle", "right", "right", "toggle", "right", "toggle"]
    assert set(json.loads(rsg("plan", "crafting", "grab-axe", "--json")[1])) < set(values)


def test_a_goal_that_cannot_be_reached(rsg, tmp_path):
    (tmp_path / "my.txt").write_text("map:\n@a.T1\n")
    words = ["plan", "crafting", "--goal", "craft-boat", "--map", str(tmp_path / "my.txt")]
    code, out, err = rsg(*words)
    assert (code, err) == (1, "")
    assert "no plan: craft-boat was never reached; everything that can be reached was tried\n" in out
    assert "\nreached: grab-axe, craft-wood-plank, mine-wood\n" in out
    code, out, _ = rsg(*words, "--json", "--budget", "2")
    values = json.loads(out)
    assert (code, values["found"], values["expansions"], values["cost"]) == (1, False, 2, None)
    assert (values["instruction"], values["ended"]) == (None, "budget")
    assert "craft-boat" in values["missed"]


def test_a_goal_that_holds_already(rsg, tmp_path, monkeypatch):
    (tmp_path / "my.txt").write_text("inventory: boat\nmap:\n@..\n")
    words = ["plan", "crafting", "--map", str(tmp_path / "my.txt"), "--goal"]
    code, out, err = rsg(*words, "craft-boat")
    assert (code, err) == (0, "")
    assert "\ncraft-boat is already true at the start: there is nothing to do\n" in out
    code, out, _ = rsg(*words, "craft-boat", "--json")
    values = json.loads(out)
    assert (code, values["found"], values["valid"], values["actions"]) == (0, True, True, [])
    assert (values["ended"], values["instruction"]) == ("already true", None)

    def yes(world, terms, state):
        return goals_from(lambda states: np.ones((len(states), len(terms))))

    monkeypatch.setattr("rsg.cli.plan.goal_fn_named", lambda *_: yes)
    code, out, _ = rsg(*words, "craft-bed")
    assert code == 1
    assert "so the subgoals say; in truth craft-bed is not true at the start\n" in out


def test_a_plan_that_fails_its_replay_is_exit_code_1(rsg, monkeypatch):
    def wrong(world, terms, state):
        return goals_from(lambda states: np.any(states != state, axis=1)[:, None] * np.ones(len(terms)))

    words = ["plan", "crafting", "grab-axe"]
    assert rsg(*words)[0] == 0
    monkeypatch.setattr("rsg.cli.plan.goal_fn_named", lambda *_: wrong)
    code, out, _ = rsg(*words)
    assert code == 1
    assert "replayed: it got as far as grab-axe, which was never done" in out
    code, out, _ = rsg(*words, "--json")
    assert (code, json.loads(out)["found"], json.loads(out)["valid"]) == (1, True, False)


def test_a_goal_with_subgoals_that_learned_nothing(rsg):
    code, out, _ = rsg("plan", "crafting", "--goal", "craft-boat", "--subgoals", "untrained", "--budget", "500")
    assert code == 1
    assert "craft-boat was never reached; the budget of 500 expansions ended" in " ".join(out.split())


def test_eval(rsg):
    code, out, err = rsg("eval", "crafting", "--per-task", "1")
    assert (code, err) == (0, "")
    assert "12 plans: 100.00%" in out
    code, out, _ = rsg("eval", "crafting", "--per-task", "1", "--json")
    values = json.loads(out)
    assert values["success"] == 1.0
    wanted = {"success_lenient", "episodes", "expansions_mean", "expansions_median", "plan_ms_median", "tasks"}
    assert wanted <= set(values)


def test_soft_plans_give_the_cheapest_end_within_the_budget(rsg):
    words = ["eval", "crafting", "--per-task", "1", "--json", "--soft"]
    values = json.loads(rsg(*words)[1])
    assert (values["success"], values["transitions"], values["order"]) == (1.0, "soft", "novel")
    hard = json.loads(rsg(*(word for word in words if word != "--soft"))[1])
    assert (hard["success"], hard["transitions"]) == (1.0, "hard")
    assert values["cost_mean"] <= hard["cost_mean"]
    assert values["expansions_mean"] > hard["expansions_mean"]
    code, out, _ = rsg("plan", "crafting", "grab-axe then mine-wood", "--soft", "--seed", "2")
    assert code == 0
    assert "replayed: it does the task" in out


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["plan", "crafting", "--goal", "craft-boat", "--soft"], "--soft is for TASK"),
        (["plan", "playroom", "ring-bell", "--planner", "rrt", "--soft"], "the planner 'rrt' has no soft transitions"),
        (["plan", "crafting", "mine-wod"], "did you mean mine-wood?"),
        (["plan", "crafting"], "say what to do: TASK, such as 'grab-axe then mine-wood', or only the end: --goal"),
        (["plan", "crafting", "grab-axe", "--goal", "grab-axe"], "give either TASK or --goal, not both"),
        (["plan", "crafting", "--goal", "craft-bota"], "did you mean craft-boat?"),
        (["plan", "crafting", "--goal", "grab-axe then mine-wood"], 'rsg plan crafting "grab-axe then mine-wood"'),
        (["plan", "crafting", "--goal", "craft-boat", "--order", "optimal"], "--order is for TASK"),
        (["plan", "crafting", "--goal", "craft-boat", "--budget", "0"], "budget must be at least 1, not 0"),
        (["plan", "crafting", "--goal", "craft-boat", "--subgoals", "dreams"], "there are no subgoals 'dreams'"),
        (["plan", "crafting", "--goal", "craft-boat", "--map", "iland"], "did you mean islands?"),
        (["plan", "crafting", "grab-axe", "--budget", "0"], "budget must be at least 1"),
        (
            ["plan", "crafting", "grab-axe", "--order", "sideways"],
            "order is optimal, anytime, balanced, deepest or novel, not 'sideways'",
        ),
        (["plan", "crafting", "grab-axe", "--subgoals", "dreams"], "there are no subgoals 'dreams'"),
        (["plan", "mars", "grab-axe"], "there is no world 'mars'"),
        (["plan", "crafting", "grab-axe", "--map", "iland"], "did you mean islands?"),
        (["eval", "crafting", "--split", "tset"], "there is no split 'tset'"),
        (["eval", "crafting", "--per-task", "0"], "Invalid value for '--per-task'"),
    ],
)
def test_bad_input_is_one_sentence(rsg, words, problem):
    code, out, err = rsg(*words)
    assert (code, out) == (2, "")
    assert problem in err
