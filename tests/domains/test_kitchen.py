"""A world of somebody else: the example, installed and as a file, and what can be wrong with such a world."""

import io
import json
import os
import runpy
import shutil
import subprocess
import sys
import sysconfig
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from rsg import worlds

EXAMPLE = Path(__file__).parents[2] / "examples" / "kitchen"
TERMS = {
    "fetch-pan": "the pan is held",
    "fetch-egg": "the egg is held",
    "light-stove": "the stove is lit",
    "fry-egg": "the egg is fried",
    "serve-egg": "the egg is served",
}
SERVER = """
import contextlib, io, json, sys
from rsg.cli.main import main
asked, answers = sys.stdin, sys.stdout
for line in asked:
    words, typed = json.loads(line)
    sys.stdin = io.StringIO(typed)
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()) as err:
        try:
            main(words)
        except SystemExit as end:
            code = end.code
    print(json.dumps([code, out.getvalue(), err.getvalue()]), file=answers, flush=True)
"""


@contextmanager
def commands(python, folder):
    """Runs commands in a process of its own, one after the other; each gives code, stdout, stderr."""
    process = subprocess.Popen(
        [python, "-c", SERVER],
        cwd=folder,
        env={**os.environ, "MINARI_DATASETS_PATH": str(folder / "minari")},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )

    def run(*words, typed=""):
        process.stdin.write(json.dumps([words, typed]) + "\n")
        process.stdin.flush()
        return json.loads(process.stdout.readline())

    run.folder = folder
    with process:
        yield run
        process.stdin.close()


# Installed.


def new_environment(folder):
    """A fresh environment with all that this one has, and the example installed, without a network."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    python = folder / "bin" / "python"
    paths = {"base": str(folder), "platbase": str(folder)}
    site = Path(sysconfig.get_path("purelib", vars=paths))
    (site / "here.pth").write_text(f"import site; site.addsitedir({sysconfig.get_path('purelib')!r})\n")
    source = shutil.copytree(EXAMPLE, folder / "source")  # building leaves files there
    pip = [sys.executable, "-m", "pip", "--python", python, "--disable-pip-version-check", "install", "--quiet"]
    subprocess.run([*pip, "--no-deps", "--no-index", "--no-build-isolation", source], check=True)
    broken = site / "broken-1.0.dist-info"  # another package, which cannot be imported
    broken.mkdir()
    (broken / "METADATA").write_text("Metadata-Version: 2.1\nName: broken\nVersion: 1.0\n")
    (broken / "entry_points.txt").write_text("[rsg.domains]\nbroken = no_such_module:Broken\n")
    return python


@pytest.fixture(scope="module")
def kitchen(tmp_path_factory):
    """Run a command where the example is installed, beside a package that is broken; gives code, stdout, stderr."""
    folder = tmp_path_factory.mktemp("kitchen")
    with commands(new_environment(folder / "environment"), folder) as run:
        yield run


@pytest.fixture(scope="module")
def run(kitchen):
    """A run of the installed example."""
    code, out, _ = kitchen("train", "kitchen", "--per-task", "3", "--out", "run")
    assert code == 0
    assert "5 of 5 terms were read as formulas over facts" in out
    assert "rsg eval kitchen" in out
    return "run"


@pytest.fixture(scope="module")
def demos(kitchen):
    """Demonstrations in the large kitchen."""
    words = ["--size", "large", "--split", "train", "--per-task", "2", "--out", "demos", "--json"]
    code, out, _ = kitchen("demos", "make", "kitchen", *words)
    assert (code, json.loads(out)["episodes"]) == (0, 16)
    return "demos"


def values(answer, code=0):
    """What a command said as JSON."""
    assert answer[0] == code, answer
    return json.loads(answer[1])


def test_the_world_keeps_its_promises():
    for size in ("small", "large"):
        assert worlds.check(runpy.run_path(EXAMPLE / "kitchen.py")["Kitchen"]().world(size)) == []


def test_it_is_listed_beside_one_that_is_broken(kitchen):
    listed = values(kitchen("domains", "--json"))
    assert listed["kitchen"]["package"] == "rsg-kitchen"
    assert listed["kitchen"]["splits"] == {"train": 8, "compositional": 2, "novel": 1}
    lacking = {part for part, there in listed["kitchen"]["parts"].items() if not there}
    assert lacking == {"networks", "settings"}
    cause = "the domain 'broken' cannot be loaded: ModuleNotFoundError: No module named 'no_such_module'"
    assert listed["broken"]["error"] == cause
    assert f"broken  {cause}" in kitchen("domains")[1]
    assert kitchen("world", "broken") == [2, "", f"error: {cause}\n"]
    assert list(listed)[:2] == ["crafting", "playroom"]
    assert kitchen("world", "crafting")[0] == 0


def test_it_is_there_for_the_command_itself(kitchen):
    python = kitchen.folder / "environment" / "bin" / "python"
    done = subprocess.run([python, "-m", "rsg", "world", "kitchen", "--list"], text=True, capture_output=True)
    assert (done.returncode, done.stdout.split()[:2]) == (0, ["small", "3"])


def test_world(kitchen):
    code, out, _ = kitchen("world", "kitchen", "--size", "large", "--seed", "3", "--png", "start.png")
    assert code == 0
    assert len(out.split("\n\n")[0].splitlines()) == 6
    assert "@ cook" in out
    with Image.open(kitchen.folder / "start.png") as picture:
        assert picture.size == (7 * 16, 5 * 16)
    assert values(kitchen("world", "kitchen", "--json")) == values(kitchen("world", "kitchen", "--json"))
    assert "--size" in kitchen("world", "kitchen", "--help")[1]
    assert "there is no place 'huge'; there are: small, large" in kitchen("world", "kitchen", "--size", "huge")[2]


def test_readings(kitchen, run):
    terms = values(kitchen("readings", run, "--json"))["terms"]
    assert {term: one["means"] for term, one in terms.items()} == {
        term: f"{term} holds where {meaning}" for term, meaning in TERMS.items()
    }
    assert "fry-egg holds where the egg is fried" in kitchen("readings", run)[1]


@pytest.mark.parametrize("size", ["small", "large"])
def test_eval(kitchen, run, size):
    for split in ("train", "compositional", "novel"):
        words = ["--subgoals", run, "--size", size, "--split", split, "--per-task", "5", "--json"]
        result = values(kitchen("eval", "kitchen", *words))
        assert (result["success"], result["place"]) == (1.0, size)


def test_plan(kitchen, run):
    task = "light-stove then fetch-egg and fetch-pan then fry-egg"
    found = values(kitchen("plan", "kitchen", task, "--subgoals", run, "--gif", "plan.gif", "--json"))
    assert (found["found"], found["valid"], found["terms"][0], found["terms"][-1]) == (
        *(True, True),
        *("light-stove", "fry-egg"),
    )
    assert (kitchen.folder / "plan.gif").read_bytes().startswith(b"GIF")
    goal = values(kitchen("plan", "kitchen", "--goal", "serve-egg", "--subgoals", run, "--json"))
    assert goal["valid"]
    assert goal["instruction"].endswith("light-stove then fry-egg then serve-egg")
    assert "did you mean fry-egg?" in kitchen("plan", "kitchen", "fri-egg")[2]


def test_recognise(kitchen, run, demos):
    found = values(kitchen("recognise", run, "--demos", demos, "--episode", "15", "--candidates", "train", "--json"))
    assert found["described"] == found["ranking"][0]["task"] == "light-stove then fetch-egg"
    assert [one["term"] for one in found["ends"]] == ["light-stove", "fetch-egg"]
    assert kitchen("recognise", run, "--demos", demos, "--png", "steps.png")[0] == 0
    assert (kitchen.folder / "steps.png").exists()


def test_deps(kitchen, run):
    code, out, _ = kitchen("deps", run)
    assert (code, "5 subgoals, 24 demonstrations" in out) == (0, True)
    assert "each time while fetch-pan, fetch-egg and light-stove held" in out


def test_demonstrations(kitchen, demos):
    told = values(kitchen("demos", "info", demos, "--json"))
    assert (told["world"], told["recipe"]["map"], len(told["tasks"])) == ("kitchen", "large", 8)
    code, out, _ = kitchen("demos", "show", demos, "--episode", "8")
    assert (code, "serve-egg\n" in out, "@ cook" in out) == (0, True, True)
    assert "16 episodes" in kitchen("demos", "check", demos)[1]
    assert "verified, replayed and judged: all is well" in kitchen("demos", "check", demos)[1]
    assert kitchen("demos", "export", demos, "minari:kitchen/large-v0")[0] == 0
    assert (
        values(kitchen("demos", "import", "minari:kitchen/large-v0", "--out", "back", "--json"))["world"] == "kitchen"
    )
    assert "judged: all is well" in kitchen("demos", "check", "back")[1]
    words = ["--task", "fetch-egg then fetch-pan", "--per-task", "2", "--out", "own", "--json"]
    assert values(kitchen("demos", "make", "kitchen", *words))["episodes"] == 2
    noisy = ["--noise", ".3", "--per-task", "2", "--out", "x", "--json"]
    assert values(kitchen("demos", "make", "kitchen", *noisy))["episodes"] == 16
    assert "judged: all is well" in kitchen("demos", "check", "x")[1]


def test_an_import_says_where_it_comes_from(kitchen):
    state = [0, 0, 1, 2, 3, 0, 0, 0]
    episode = {"states": [state, [*state[:5], 1, 0, 0]], "actions": [4], "task": "fetch-pan"}
    for setting, problem in (("small", None), ("huge", "there is no kitchen 'huge'; there are: small, large")):
        (kitchen.folder / f"{setting}.jsonl").write_text(json.dumps({**episode, "setting": setting}))
        code, _, err = kitchen("demos", "import", f"{setting}.jsonl", "--world", "kitchen", "--out", setting)
        assert (code, problem in err if problem else err) == ((2, True) if problem else (0, ""))
    assert "1 episodes, 1 steps verified, replayed and judged: all is well" in kitchen("demos", "check", "small")[1]


def test_play(kitchen):
    state = values(kitchen("world", "kitchen", "--json"))["state"]
    (row, column), (to_row, to_column) = divmod(state[0], 3), divmod(state[1], 3)
    keys = "s" * (to_row - row) + "w" * (row - to_row) + "d" * (to_column - column) + "a" * (column - to_column)
    code, out, _ = kitchen("play", "kitchen", "--task", "fetch-pan", typed=f"{keys}1")
    assert (code, "done   in" in out, "true   fetch-pan" in out) == (0, True, True)
    assert "1 use" in out


def test_report(kitchen, run):
    results = values(kitchen("report", run, "--per-task", "1", "--out", "report.html", "--json"))["results"]["rsg"]
    assert [results[split]["success"] for split in ("compositional", "novel")] == [1.0, 1.0]
    page = (kitchen.folder / "report.html").read_text()
    assert "<td>fry-egg</td><td> holds where the egg is fried</td>" in page


def test_info(kitchen, run):
    code, out, _ = kitchen("info", run)
    assert (code, "terms  5: fetch-pan" in out, "(default" in out) == (0, True, False)


def test_demo(kitchen):
    code, out, _ = kitchen("demo", "kitchen", "--quick", "--out", "demo")
    assert (code, (kitchen.folder / "demo" / "report.html").exists()) == (0, True)
    assert "serve-egg holds where the egg is served" in out
    assert "rsg plan kitchen --goal serve-egg --subgoals demo/run" in out


# As a file.


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    """Run a command in a folder with the example as a file, which leaves a mark when it is run, and a run of it."""
    folder = tmp_path_factory.mktemp("file")
    text = (EXAMPLE / "kitchen.py").read_text().replace('"kitchen"', '"pantry"')
    (folder / "kitchen.py").write_text(f"{text}\nfrom pathlib import Path\nPath(__file__).with_name('ran').touch()\n")
    with commands(sys.executable, folder) as run:
        for words in (["demos", "make"], ["train"]):
            code, _, err = run(*words, "kitchen.py:Kitchen", "--out", words[-1], "--per-task", "2")
            assert code == 0, err
        yield run


BY_FOLDER = {  # commands that are given a run or a store alone
    "recognise": ["recognise", "train", "--demos", "make"],
    "deps": ["deps", "train", "--demos", "make"],
    "report": ["report", "train", "--per-task", "1"],
    "readings": ["readings", "train"],
    "show": ["demos", "show", "make"],
    "check": ["demos", "check", "make"],
}


@pytest.mark.parametrize("name", BY_FOLDER)
def test_what_is_loaded_runs_no_file(name, file, rsg, monkeypatch):
    """In a process that was never told of the file: a sentence, or what can be said without the world."""
    monkeypatch.chdir(file.folder)
    mark = file.folder / "ran"
    mark.unlink(missing_ok=True)
    code, out, err = rsg(*BY_FOLDER[name])
    said = {
        "readings": "fetch-pan holds where held(pan)",
        "show": "--world FILE.py:NAME shows them",
        "check": "an unknown world: not replayed",
    }
    if name in said:
        assert (code, said[name] in out) == (0, True)
    else:
        assert (code, out) == (2, "")
        assert "the world 'pantry' is not installed here; if a file describes it, name that: --world" in err
    assert not mark.exists()


@pytest.mark.parametrize("name", BY_FOLDER)
def test_the_file_is_named(name, file):
    code, out, _ = file(*BY_FOLDER[name], "--world", "kitchen.py:Kitchen")
    said = {
        "recognise": "fetch-pan  (as described)",
        "deps": "light-stove came before fetch-egg",
        "report": "novel          100.0 %",
        "readings": "fetch-pan holds where the pan is held",
        "show": "@ cook",
        "check": "verified, replayed and judged: all is well",
    }
    assert (code, said[name] in out) == (0, True)


def test_a_file_in_the_place_of_a_name(file):
    world = "kitchen.py:Kitchen"
    assert file("world", world, "--size", "large")[0] == 0
    assert values(file("eval", world, "--subgoals", "train", "--per-task", "3", "--json"))["success"] == 1
    assert "serve-egg comes true" in file("plan", world, "--goal", "serve-egg", "--subgoals", "train")[1]
    assert "fetch-pan" in file("info", "train")[1]
    code, out, _ = file("demos", "make", world, "--per-task", "60", "--workers", "2", "--out", "many")
    assert (code, "480 demonstrations" in out) == (0, True)  # two files, made by processes that find it again


# With less, and with less still.

CORRIDOR = '''
import numpy as np

class Corridor:
    """Nine places. A state is (place, lamp touched, book touched)."""

    actions = ("left", "right", "touch")
    costs = np.array([0.1, 0.1, 0.1])

    def step(self, states, actions):
        after = states.copy()
        after[:, 0] = np.clip(states[:, 0] + (actions == 1) - (actions == 0), 0, 8)
        after[:, 1] |= (actions == 2) & (states[:, 0] == 0)
        after[:, 2] |= (actions == 2) & (states[:, 0] == 8)
        return after

    def successors(self, states):
        return np.stack([self.step(states, np.full(len(states), a)) for a in range(3)], axis=1)

    def encode(self, states):
        return states.astype(np.float32)

class Sampled(Corridor):
    def sample(self, rng, count):
        return np.stack([rng.integers(1, 8, count), np.zeros(count, int), np.zeros(count, int)], axis=1)

class Bare:
    def world(self, setting=""):
        return Corridor()

class Starts:
    def world(self, setting=""):
        return Sampled()

plain, sampled = Corridor(), Sampled()
'''


def walks():
    """Demonstrations of the corridor, as lines of JSON."""
    for place in range(1, 8):
        left, right, touch, all_right = [0] * place, [1] * (8 - place), [2], [1] * 8
        tasks = {"light-lamp": left + touch, "read-book": right + touch}
        tasks["light-lamp then read-book"] = left + touch + all_right + touch
        for task, actions in tasks.items():
            states = [[place, 0, 0]]
            for action in actions:
                here, lamp, book = states[-1]
                lamp, book = int(lamp or (action == 2 and here == 0)), int(book or (action == 2 and here == 8))
                states.append([here + (action == 1) - (action == 0), lamp, book])
            yield json.dumps({"states": states, "actions": actions, "task": task})


@pytest.fixture
def corridor(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("corridor.py").write_text(CORRIDOR)
    Path("walks.jsonl").write_text("\n".join(walks()))


@pytest.mark.parametrize("name", ["Starts", "sampled"])
@pytest.mark.usefixtures("corridor")
def test_a_world_and_demonstrations_are_enough(rsg, monkeypatch, name):
    world, named = f"corridor.py:{name}", ["--world", f"corridor.py:{name}"]
    assert rsg("demos", "import", "walks.jsonl", "--out", "shown", *named)[0] == 0
    assert "verified and replayed (no truth to judge them by): all is well" in rsg("demos", "check", "shown", *named)[1]
    assert "2 of 2 terms were read" in rsg("train", world, "--demos", "shown", "--out", "run")[1]
    assert "read-book holds where state[2]=1" in rsg("readings", "run", *named)[1]
    assert "(as described)" in rsg("recognise", "run", "--demos", "shown", "--episode", "2", *named)[1]
    assert "light-lamp came before read-book" in rsg("deps", "run", *named)[1]
    code, out, _ = rsg("plan", world, "read-book then light-lamp", "--subgoals", "run")
    assert (code, f"not judged: {name} has no truth" in out) == (0, True)
    assert "state  [" in rsg("world", world)[1]
    monkeypatch.setattr("sys.stdin", io.StringIO("a1"))
    assert "1 touch" in rsg("play", world)[1]


@pytest.mark.parametrize("name", ["Bare", "plain"])
@pytest.mark.usefixtures("corridor")
def test_what_is_missing_is_one_sentence(rsg, name):
    world, named = f"corridor.py:{name}", ["--world", f"corridor.py:{name}"]
    rsg("demos", "import", "walks.jsonl", "--out", "shown", *named)
    assert rsg("train", world, "--demos", "shown", "--out", "run")[0] == 0
    assert "read-book holds where state[2]=1" in rsg("readings", "run", *named)[1]
    task, learned, draw = ["plan", world, "read-book"], ["--subgoals", "run"], ["--gif", "x.gif"]
    starts, expert, truth = "has no starts; write a method start", "has no expert; give --demos", "has no truth; "
    for words, problem in (
        (["world", world], starts),
        ([*task, *learned], starts),
        (["play", world], starts),
        (["train", world, "--out", "new"], expert),
        (["demos", "make", world, "--out", "new"], expert),
        (["demos", "make", world, "--task", "read-book", "--out", "new"], expert),
        (["demo", world, "--out", "new"], expert),
        (["train", world, "--demos", "shown", "--out", "new", "--watch", "1"], f"{truth}leave out --watch"),
        (["eval", world, *learned], f"{truth}plans cannot be judged"),
        (["report", "run", *named], f"{truth}plans cannot be judged"),
        (["world", world, "--subgoals", "run"], "has no picture of subgoals"),
        ([*task, *learned, "--png", "x.png"], "has no picture of a whole plan"),
        (["demos", "show", "shown", *named, *draw], "has no picture; its world has no method render(state)"),
        (["recognise", "run", "--demos", "shown", "--candidates", "novel", *named], "splits are: none"),
    ):
        code, _, err = rsg(*words)
        assert (code, err.count("\n"), f"error: {name} {problem}" in err or problem in err) == (2, 1, True), (
            words,
            err,
        )
    assert not Path("new").exists()


# With faults.


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("import no_such_module", "ModuleNotFoundError: No module named 'no_such_module' ({file}, line 1)"),
        ("x = (", "SyntaxError: '(' was never closed (own.py, line 1)"),
        ("\nraise SystemExit(3)", "SystemExit: 3 ({file}, line 2)"),
        (
            "class Own:\n    def __init__(self):\n        raise ValueError('no\\nway')",
            "ValueError: no way ({file}, line 3)",
        ),
        ("class Own:\n    def __init__(self, size): ...", "missing 1 required positional argument: 'size'"),
        (
            "class Own:\n    __slots__ = ()\n    def world(self): ...",
            "cannot be loaded: TypeError: __class__ assignment",
        ),
        ("class Own: ...", "{file}:Own is no domain: it has no method world(self, setting)"),
        ("Own = 3", "{file}:Own is no domain: it has no method world(self, setting)"),
        ("own = 3", "{file} has nothing of the name 'Own'"),
        (None, "there is no file {file}"),
    ],
)
def test_a_file_with_faults_is_one_sentence(rsg, tmp_path, text, problem):
    file = tmp_path / "own.py"
    if text is not None:
        file.write_text(text)
    for words in (["world"], ["train", "--out", str(tmp_path / "run")], ["world", "--help"]):
        code, out, err = rsg(words[0], f"{file}:Own", *words[1:])
        if "--help" in words:
            assert code == 0
            continue
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert problem.format(file=file) in err


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("crafing", "there is no world 'crafing'; did you mean crafting?\n"),
        ("mars", "there is no world 'mars'; there are: crafting, playroom; or name a file: path/to/file.py:name\n"),
        ("own.py", "there is no world 'own.py'; there are: crafting, playroom; or name a file: path/to/file.py:name\n"),
        ("no.such:thing", "the domain 'no.such:thing' cannot be loaded: ModuleNotFoundError: No module named 'no'\n"),
        ("json:loads", "json:loads is no domain: it has no method world(self, setting)\n"),
        ("json:lods", "json has nothing of the name 'lods'\n"),
    ],
)
def test_a_name_that_nothing_has(rsg, name, problem):
    assert rsg("world", name) == (2, "", f"error: {problem}")


def test_what_a_world_shows_is_shown_as_it_is(rsg, tmp_path):
    """A view with brackets, which rich would take for colours."""
    (tmp_path / "own.py").write_text(
        f"{CORRIDOR}\nclass Shown(Sampled):\n    def view(self, state): return '[red] [x]'\n"
    )
    assert rsg("world", f"{tmp_path}/own.py:Shown") == (0, "[red] [x]\n", "")


def test_a_module_is_named_too(rsg, monkeypatch, tmp_path):
    (tmp_path / "corridors.py").write_text(CORRIDOR)
    monkeypatch.syspath_prepend(tmp_path)
    assert np.asarray(json.loads(rsg("world", "corridors:Starts", "--json")[1])["state"])[1:].tolist() == [0, 0]
