import json
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from rsg.core.version import __version__
from rsg.evaluation import installation


def shell(command):
    words = ["bash", "-c", f"{sys.executable} -m rsg {command}"]
    return subprocess.run(words, capture_output=True, text=True)


def test_a_terminal_that_cannot_show_everything():
    done = subprocess.run(
        [sys.executable, "-m", "rsg", "task", "a", "--ltlf"],
        env={"PYTHONIOENCODING": "ascii"},
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "F(a ? last)" in done.stdout


def test_help_and_version(rsg):
    code, out, err = rsg("--help")
    assert (code, err) == (0, "")
    assert "rsg demo" in out
    assert rsg("--version") == (0, f"rsg {__version__}\n", "")
    assert rsg()[0] == 2


def test_task_for_a_person(rsg):
    code, out, err = rsg("task", "grab-axe then mine-wood and mine-coal")
    assert (code, err) == (0, "")
    assert "7 nodes, 7 edges, 3 terms" in out
    assert "2. grab-axe > mine-coal > mine-wood" in out
    assert "\x1b" not in out


def test_task_lists_the_first_ten_instructions(rsg):
    code, out, _ = rsg("task", "a and b and c and d", "--ltlf")
    assert code == 0
    assert "24 linear instructions" in out
    assert "10. " in out
    assert "11. " not in out
    assert "and 14 more" in out
    assert "LTLf" in out


def test_task_for_a_machine(rsg, tmp_path):
    drawing = tmp_path / "machine.svg"
    code, out, err = rsg("task", "a or b", "--json", "--draw", str(drawing), "--ltlf")
    assert (code, err) == (0, "")
    assert json.loads(out) == {
        "task": "a or b",
        "nodes": 4,
        "edges": 4,
        "instructions": 2,
        "terms": ["a", "b"],
        "ltlf": "(¬a ∧ F(a ∧ last)) ∨ (¬b ∧ F(b ∧ last))",
        "drawing": str(drawing),
    }
    assert drawing.exists()


def test_task_says_where_it_drew(rsg, tmp_path):
    code, out, _ = rsg("task", "a", "--draw", str(tmp_path / "machine.png"))
    assert code == 0
    assert f"Drawn in {tmp_path / 'machine.png'}" in out


@pytest.mark.parametrize("text", ["(A", "A B", "a then", ""])
def test_a_wrong_task_is_one_message(rsg, text):
    code, out, err = rsg("task", text)
    assert (code, out) == (2, "")
    assert err.startswith("error: expected ")
    assert err.count("error") == 1
    code, out, err = rsg("task", text, "--json")
    assert (code, err) == (2, "")
    assert json.loads(out)["error"]["type"] == "ParseError"
    assert json.loads(out)["error"]["position"] == len(text) - text.endswith("B")


def test_a_wrong_command_line(rsg):
    code, out, err = rsg("tusk")
    assert (code, out) == (2, "")
    assert "No such command 'tusk'" in err
    code, out, err = rsg("task", "--json")
    assert (code, err) == (2, "")
    assert "Missing argument" in json.loads(out)["error"]["message"]


def test_an_exact_count_of_any_length(rsg):
    code, out, _ = rsg("task", ">".join(["(a|b)"] * 15_000), "--json")
    assert code == 0
    start = out.index('"instructions": ') + len('"instructions": ')
    assert len(out[start:].split(",")[0]) > 4500


def test_demo(rsg, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = ("demo", "--quick", "--per-task", "2")
    code, out, err = rsg(*words)
    assert (code, err) == (0, "")
    assert "104 of 52 tasks" in out
    assert "RSG, paper 99.6 % 97.8 %" in " ".join(out.split())
    assert "The report: out/demo/report.html" in out
    assert "rsg eval crafting --subgoals out/demo/run" in out
    assert "\x1b" not in out
    first = (tmp_path / "out/demo/report.html").read_text()
    assert "rsg demo --quick --per-task 2" in first
    code, out, err = rsg(*words, "--json")
    assert (code, err) == (0, "")
    values = json.loads(out)
    assert values["report"] == "out/demo/report.html"
    assert values["demonstrations"] == {"folder": "out/demo/demonstrations-2", "episodes": 104}
    assert values["results"]["rsg"]["novel"]["episodes"] == 24
    assert values["paper"]["novel"] == 0.978


def test_the_demo_removes_nothing_that_is_not_its_own(rsg, tmp_path):
    from rsg.training import Run

    Run.create(tmp_path / "run", {"method": "rsg", "source": {"world": "crafting"}})
    code, _, err = rsg("demo", "--out", str(tmp_path))
    assert code == 2
    assert "did not make" in err
    assert [file.name for file in tmp_path.iterdir()] == ["run"]
    assert rsg("demo", "--per-task", "0")[0] == 2


def test_the_demo_leaves_a_folder_of_that_name_alone(rsg, tmp_path):
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "mine.txt").write_text("mine")
    code, _, err = rsg("demo", "--quick", "--out", str(tmp_path))
    assert code == 2
    assert "is not empty" in err
    assert [path.name for path in tmp_path.rglob("*")] == ["run", "mine.txt"]


def test_doctor(rsg):
    code, out, err = rsg("doctor")
    assert (code, err) == (0, "")
    assert "The core works." in out
    code, out, _ = rsg("doctor", "--json")
    assert code == 0
    assert json.loads(out)["packages"]["torch"]["version"].startswith("2.")
    assert json.loads(out)["extras"]["pddl"]["install"] == "pip install -c constraints.txt -e '.[pddl]'"


def test_doctor_offers_only_extras_that_there_are(rsg, monkeypatch):
    values = json.loads(rsg("doctor", "--json")[1])
    there = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
    assert set(values["extras"]) == set(there["optional-dependencies"])
    monkeypatch.setattr("rsg.cli.reproduce.HOLDS", Path("no-such-folder"))  # as where only the package is installed
    code, out, _ = rsg("doctor")
    assert code == 0
    assert "extras" not in out


def test_a_thorough_doctor_imports_everything(rsg, tmp_path, monkeypatch):
    (tmp_path / "broken_package.py").write_text("raise ImportError('no such symbol')")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(installation, "PACKAGES", ("numpy", "broken_package"))
    assert rsg("doctor")[0] == 0
    code, out, _ = rsg("doctor", "--thorough")
    assert code == 1
    assert "ImportError: no such symbol" in out


def test_doctor_finds_what_is_broken(rsg, monkeypatch):
    monkeypatch.setattr(installation, "PACKAGES", ("numpy", "no_such_package"))
    code, out, _ = rsg("doctor")
    assert code == 1
    assert "ModuleNotFoundError" in out
    assert "The core does not work." in out
    monkeypatch.setattr("rsg.evaluation.installation.satisfies", lambda trace, task: False)
    code, out, _ = rsg("doctor", "--json")
    assert code == 1
    assert "wrong answer" in json.loads(out)["checks"]["task language"]


def test_a_reader_that_leaves_and_a_full_disk():
    done = shell("task 'a and b and c and d and e and f and g and h' | head -n 1")
    assert done.stdout.startswith("task")
    assert done.stderr == ""
    assert shell("task 'a and b and c and d and e and f and g' | head -n 1; exit ${PIPESTATUS[0]}").returncode == 0
    assert shell("task a >&-").returncode == 0
    done = shell("task a > /dev/full")
    assert done.returncode == 2
    assert done.stderr == "error: cannot write the output: No space left on device\n"


def test_control_c(rsg, monkeypatch):
    def interrupted(text):
        raise KeyboardInterrupt

    monkeypatch.setattr("rsg.cli.task.parse", interrupted)
    code, _, err = rsg("task", "a")
    assert code == 130
    assert "interrupted" in err
