"""The scripts of `examples/` and the one of the README: short, typed, and they do what they say."""

import os
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SCRIPTS = {  # what each is for, by its last words
    "own_world.py": "fill-can then water-roses",
    "own_demonstrations.py": "episode 1 says 'serve-egg', but it looks like 'fetch-egg'",
    "own_network.py": "17 18 21 0 3 6",
    "robot.py": "moves to deliver then charge: right",
    "reading_a_run.py": "the plan is right",
    "sweep.py": "%",
    "tracking.py": "things held_out cpu_seconds",
    "record_and_execute.py": "3 of 3 doors are open, though 20% of the actions slipped; planned again 8 times",
}
ELSEWHERE = {  # scripts for worlds that others wrote: which tests run them, or what they call, small
    "doorkey_wrapped.py": "tests/browser/conftest.py",
    "unlock_pickup.py": "tests/subgoals/test_minigrid.py",
    "doorkey.py": "tests/subgoals/test_minigrid.py",
    "doorkey_pictures.py": "tests/subgoals/test_minigrid.py",
    "doorkey_readings.py": "tests/subgoals/test_minigrid.py",
    "recordings.py": "tests/subgoals/test_minigrid.py",
    "minigrid_model.py": "tests/subgoals/test_minigrid.py",
    "overcooked.py": "tests/worlds/wrapping/test_examples.py",
    "taxi.py": "tests/worlds/wrapping/test_examples.py",
}


def readme_script() -> str:
    """The first Python of the README: a world, demonstrations, and all that follows from them."""
    return (ROOT / "README.md").read_text().split("```python\n")[1].split("```\n")[0]


def test_there_is_nothing_else_and_all_are_short():
    found = {path.name: len(path.read_text().splitlines()) for path in (ROOT / "examples").glob("*.py")}
    assert set(found) == set(SCRIPTS) | set(ELSEWHERE)
    for name, test in ELSEWHERE.items():
        word = "UnlockPickup" if name == "unlock_pickup.py" else name.removesuffix(".py")
        assert word in (ROOT / test).read_text(), f"{test} does not run {name}"
    assert max(found.values()) <= 80
    assert len(readme_script().splitlines()) <= 40


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_does_what_it_says(name, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(ROOT / "examples")  # as Python does for a script
    monkeypatch.setattr(sys, "argv", [name])
    runpy.run_path(str(ROOT / "examples" / name), run_name="__main__")
    assert capsys.readouterr().out.rstrip().endswith(SCRIPTS[name])
    assert list(tmp_path.iterdir()) == []


def test_the_script_of_the_readme(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    exec(compile(readme_script(), "README.md", "exec"), {"__name__": "__main__"})
    assert capsys.readouterr().out.splitlines() == [
        "light-lamp holds where state[1]=1",
        "read-book holds where state[2]=1",
        "left left left left touch right right right right right right right right touch",
        "light-lamp then read-book",
        "light-lamp then read-book",
    ]


def test_a_strict_type_check_sees_signatures(tmp_path):
    """What a user's own check says of these scripts; it reads the types of rsg, and sees where one is given wrongly."""
    script, wrong = tmp_path / "readme.py", tmp_path / "wrong.py"
    script.write_text(readme_script())
    wrong.write_text("import rsg\n\nrsg.load(3)\nreveal_type(rsg.load('run').plan)\n")
    files = [str(one) for one in (script, wrong, *(ROOT / "examples").glob("*.py"))]
    command = [sys.executable, "-m", "mypy", *files]  # strict, by our settings: `make lint` goes on with what it read
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env={**os.environ, "MYPYPATH": "src"})
    said = [line for line in done.stdout.splitlines() if not line.startswith("Found")]
    assert len(said) == 2, done.stdout
    assert 'error: Argument 1 to "load" has incompatible type "int"' in said[0]
    assert 'note: Revealed type is "def (world: ' in said[1]
    assert "-> rsg.planning.plan.Plan" in said[1]
