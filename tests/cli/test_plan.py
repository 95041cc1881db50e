import json

import pytest


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


def test_eval(rsg):
    code, out, err = rsg("eval", "crafting", "--per-task", "1")
    assert (code, err) == (0, "")
    assert "12 plans: 100.00%" in out
    code, out, _ = rsg("eval", "crafting", "--per-task", "1", "--per-node", "5000", "--json")
    values = json.loads(out)
    assert values["success"] == 1.0
    wanted = {"success_lenient", "episodes", "expansions_mean", "expansions_median", "plan_ms_median", "tasks"}
    assert wanted <= set(values)


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["plan", "crafting", "mine-wod"], "did you mean mine-wood?"),
        (["plan", "crafting", "grab-axe", "--budget", "0"], "budget must be at least 1"),
        (["plan", "crafting", "grab-axe", "--order", "sideways"], "there is no order 'sideways'"),
        (["plan", "crafting", "grab-axe", "--subgoals", "dreams"], "there are no subgoals 'dreams'"),
        (["plan", "mars", "grab-axe"], "there is no world 'mars'"),
        (["plan", "crafting", "grab-axe", "--map", "iland"], "did you mean islands?"),
        (["eval", "crafting", "--split", "tset"], "there is no split 'tset'"),
        (["eval", "crafting", "--per-task", "0"], "per-task must be at least 1"),
    ],
)
def test_bad_input_is_one_sentence(rsg, words, problem):
    code, out, err = rsg(*words)
    assert (code, out) == (2, "")
    assert problem in err
