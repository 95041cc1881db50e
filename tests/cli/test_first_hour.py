"""What a new user meets in the first hour: slips, narrow terminals, folders that cannot be written."""

import json
import os
import pty
import re
import shutil
import subprocess
import sys
import termios
from collections import defaultdict
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageSequence

from rsg.cli.main import main
from rsg.cli.output import console
from rsg.demos import Store
from rsg.domain import find
from rsg.training import Run


def refused(rsg, words, *parts):
    """A slip is one sentence on stderr and exit code 2."""
    code, out, err = rsg(*map(str, words))
    assert (code, out) == (2, "")
    assert err.startswith("error: ")
    assert "Traceback" not in err
    for part in parts:
        assert str(part) in err


@pytest.fixture
def nothing_done(monkeypatch):
    """Work that would take minutes is not begun."""
    for name in ("rsg.baselines.jobs.fill_with_bar", "rsg.cli.demos.fill_with_bar", "rsg.cli.demo.fill_with_bar"):
        monkeypatch.setattr(name, lambda *_, **__: pytest.fail("it began to work"))
    monkeypatch.setattr("rsg.cli.report.open_run", lambda *_, **__: pytest.fail("it began to work"))


@pytest.mark.usefixtures("nothing_done")
@pytest.mark.parametrize(
    "words",
    [
        ["demo", "--out", "file/run"],
        ["demo", "--out", "file"],
        ["train", "crafting", "--out", "file/run"],
        ["demos", "make", "crafting", "--out", "file/demos"],
        ["demos", "make", "crafting", "--out", "/proc/demos"],
        ["demos", "import", "mine.npz", "--out", "file/demos"],
        ["report", "run", "--out", "file/report.html"],
        ["report", "file"],
        ["plan", "crafting", "grab-axe", "--gif", "file/plan.gif"],
        ["plan", "playroom", "put-next(a,b)", "--png", "folder.png"],
        ["recognise", "run", "--demos", "demos", "--png", "file/steps.png"],
        ["deps", "run", "--png", "/proc/deps.png"],
        ["world", "crafting", "--save", "file/start.txt"],
        ["world", "crafting", "--png", "file/start.png"],
        ["task", "a then b", "--draw", "file/task.svg"],
    ],
    ids=lambda words: " ".join(words),
)
def test_what_cannot_be_written_is_noticed_before_any_work(rsg, tmp_path, monkeypatch, words):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("mine")
    (tmp_path / "folder.png").mkdir()
    refused(rsg, words, "cannot write ")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "folder.png"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Demonstrations and a run, as `rsg demo` makes them."""
    folder = tmp_path_factory.mktemp("first-hour")
    with pytest.raises(SystemExit) as stop:
        main(["demo", "--quick", "--out", str(folder), "--json"])
    assert stop.value.code == 0
    return folder


def on_a_terminal(words, columns, rows=24, typed=b""):
    """What a command writes to a terminal of that size, without colours, and what it answers.

    It runs in a copy of this process, in which all is loaded.
    """
    child, terminal = pty.fork()
    if child == 0:
        code = 1
        try:
            os.environ |= {"TERM": "xterm", "COLUMNS": str(columns), "LINES": str(rows)}
            sys.stdin, sys.stdout, sys.stderr = os.fdopen(0), os.fdopen(1, "w"), os.fdopen(2, "w")
            console.cache_clear()
            if torch := sys.modules.get("torch"):
                torch.set_num_threads(1)  # its other threads are not there
            main(list(words))
        except SystemExit as stop:
            code = stop.code
        finally:
            sys.stdout.flush()
            os._exit(code)
    termios.tcsetwinsize(terminal, (rows, columns))
    written = b""
    with suppress(OSError):  # how the end of the other side shows
        while part := os.read(terminal, 4096):
            if not written:
                os.write(terminal, typed)
            written += part
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return code, re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", written.decode()).replace("\r\n", "\n")


@pytest.mark.parametrize(
    ("words", "parts"),
    [
        (["eval", "crafting", "--per-task", "1"], ["100.0%", "median"]),
        (["demos", "info", "{}/demonstrations"], ["redrawn", "craft-beetroot-soup"]),
        (["recognise", "{}/run", "--demos", "{}/demonstrations", "--episode", "30"], ["candidates", "came true"]),
        (["doctor", "--thorough"], ["The core works."]),
        (["domains", "crafting"], ["goal-only, 8 tasks", "islands"]),
        (["report", "{}/run", "--per-task", "1", "--out", "{}/page.html"], ["compositional", "novel"]),
        (["plan", "crafting", "grab-axe then mine-wood", "--seed", "2"], ["replayed: it does the task"]),
        (["train", "--help"], ["--per-task", "--encoder", "--resume", "--set"]),
    ],
    ids=lambda one: one[0],
)
def test_nothing_is_cut_in_a_narrow_terminal(folder, words, parts):
    code, shown = on_a_terminal([word.format(folder) for word in words], columns=60)
    assert code == 0
    assert "…" not in shown
    for part in parts:
        assert part in shown or part.replace("-", "-\n") in shown
    if words[1] == "info":  # every task is there, in whole words if they fit
        tasks = {demo.task for demo in Store(folder / "demonstrations")}
        letters = "".join(shown.split())
        assert all(word in letters for task in tasks for word in task.split())


@pytest.mark.parametrize(
    ("words", "parts"),
    [
        (
            ["plan", "crafting", "grab-axe", "then", "mine-wood"],
            ['in quotes: rsg plan crafting "grab-axe then mine-wood"'],
        ),
        (["play", "crafting", "--task", "grab-axe", "or", "grab-key"], ['--task "grab-axe or grab-key"']),
        (["task", "a", "--ltlf", "then", "b"], ["put a task of several words in quotes"]),
        (["plan", "crafting", "Grab an axe, mine wood"], ['did you mean "grab-axe then mine-wood"?']),
        (["plan", "crafting", "fly"], ["unknown term 'fly' (rsg domains crafting lists its terms)"]),
        (["plan", "crafting", "--goal", "fly"], ["rsg domains crafting lists its terms"]),
        (["play", "playroom", "--task", "fly"], ["rsg domains playroom lists its terms"]),
        (["demos", "make", "crafting", "--task", "fly", "--out", "x"], ["rsg domains crafting lists its terms"]),
        (["world", "--list"], ["say which world: crafting, playroom", "for example: rsg world crafting --list"]),
        (["plan"], ["say which world: crafting, playroom or path/to/file.py:name"]),
        (["demos", "make"], ["say which world", "for example: rsg demos make crafting"]),
        (["domains", "mars"], ["there is no world 'mars'"]),
        (["info"], ["say which folder: that of a run"]),
        (["demos", "info"], ["say which folder: that of demonstrations"]),
        (["tran", "crafting"], ["Did you mean 'train'?"]),
        (["demos", "mak"], ["Did you mean 'make'?"]),
        (["train", "crafting", "--sed", "3"], ["No such option: --sed; did you mean --seed?"]),
        (["plan", "crafting", "grab-axe", "--layout", "paper"], ["--layout is for playroom, not for crafting"]),
        (
            ["plan", "crafting", "grab-axe", "--subgoals", "{}/demonstrations"],
            ["is a store of demonstrations", "not a run"],
        ),
        (["info", "{}/demonstrations"], ["is a store of demonstrations", "not a run"]),
        (["demos", "info", "{}/run"], ["is a run (it has a run.json), not a store of demonstrations"]),
        (["recognise", "{}/run", "--demos", "{}/run"], ["is a run", "not a store of demonstrations"]),
        (["train", "crafting", "--out", "x", "--demos", "minari:no/such-v0"], ["no/such-v0"]),
        (["recognise", "{}/run", "--demos", "{}/demonstrations", "--episode", "70"], ["52 episodes", "0 to 51"]),
        (["recognise", "{}/run", "--demos", "{}/demonstrations", "--first", "99"], ["so --first takes 1 to "]),
        (["info", "nowhere"], ["there is no folder of that name; give the folder of a run"]),
        (["report", "nowhere"], ["there is no folder of that name; give the folder of a run"]),
    ],
    ids=lambda one: " ".join(one),
)
def test_a_slip_is_one_sentence_that_says_what_to_do(rsg, folder, tmp_path, monkeypatch, words, parts):
    monkeypatch.chdir(tmp_path)
    refused(rsg, [word.format(folder) for word in words], *parts)
    assert list(tmp_path.iterdir()) == []


def test_the_terms_and_tasks_of_a_world_are_listed(rsg):
    code, out, _ = rsg("domains", "crafting")
    assert code == 0
    for part in ("26 terms\n", "craft-boat, ", "novel, 12 tasks\n", "places (--map)", "islands: "):
        assert part in out
    values = json.loads(rsg("domains", "crafting", "--json")[1])
    domain = find("crafting")
    assert values["terms"] == list(domain.vocabulary)
    assert values["tasks"] == {split: domain.tasks(split) for split in domain.splits}
    assert set(values["places"]) == set(domain.places)


def test_a_minari_set_is_opened_where_demonstrations_are_wanted(rsg, folder, tmp_path, monkeypatch):
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path / "minari"))
    assert rsg("demos", "export", str(folder / "demonstrations"), "minari:crafting/train-v0")[0] == 0
    values = json.loads(rsg("demos", "info", "minari:crafting/train-v0", "--json")[1])
    assert (values["world"], values["episodes"]) == ("crafting", 52)
    words = ["--demos", "minari:crafting/train-v0", "--json"]
    assert rsg("recognise", str(folder / "run"), *words)[0] == 0
    assert rsg("train", "crafting", "--out", str(tmp_path / "run"), *words)[0] == 0
    assert len(Store(tmp_path / "run-demos")) == 52
    assert Run(tmp_path / "run").about["source"]["demos"] == str(tmp_path / "run-demos")


BROKEN = """
import numpy as np
from rsg.domain import Domain

class Line:
    actions, costs = ("left", "right"), np.ones(2)

    def step(self, states, actions):
        return states + (2 * actions[:, None] - 1)

    def successors(self, states):
        return np.stack([self.step(states, np.full(len(states), a)) for a in range(2)], axis=1)

    def encode(self, states):
        return states.astype(np.float32)

    def sample(self, rng, count):
        return rng.integers(-1, 1, (count, 1))

class Mine(Domain):
    splits = {"train": ["far then near"], "novel": ["near then far"]}

    def world(self, setting=""):
        return Line()

    def truth(self, world, states, terms):
        return np.concatenate([states > 2 if term == "far" else states == 1 for term in terms], axis=1)
"""


@pytest.mark.parametrize(
    ("line", "method", "command"),
    [
        ("return states + (2 * actions[:, None] - 1)", "Line.step", ["plan", "far"]),
        ("return states.astype(np.float32)", "Line.encode", ["train", "--out", "run", "--per-task", "2"]),
        ("return Line()", "Mine.world", ["plan", "far"]),
        ("return np.concatenate", "Mine.truth", ["eval", "--per-task", "1"]),
        (
            "return np.concatenate",
            "Mine.truth",
            ["demos make", "--out", "demos", "--per-task", "300", "--workers", "2"],
        ),
        ("return rng.integers", "Line.sample", ["world"]),
    ],
)
def test_a_mistake_in_somebodys_world_names_the_method_and_the_line(rsg, tmp_path, monkeypatch, line, method, command):
    monkeypatch.chdir(tmp_path)
    name = f"broken_{method.replace('.', '_')}_{command[0].replace(' ', '_')}.py"
    Path(name).write_text(BROKEN.replace(line, f"{{}}['key']; {line}"))
    number = 1 + next(n for n, text in enumerate(Path(name).read_text().splitlines()) if "{}['key']" in text)
    words, told = (
        [*command[0].split(), f"{name}:Mine", *command[1:]],
        f"KeyError: 'key' ({tmp_path / name}, line {number})",
    )
    code, out, err = rsg(*words)
    assert (code, out) == (2, "")
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    assert method.split(".")[1] in err or "Line.successors failed" in err
    assert told in err
    Path("demos").exists() and shutil.rmtree("demos")
    monkeypatch.setenv("RSG_TRACEBACK", "1")
    assert "Traceback (most recent call last)" in rsg(*words)[2]


def test_a_mistake_of_rsg_itself_asks_to_be_reported(rsg, monkeypatch):
    monkeypatch.setattr("rsg.cli.task.parse", lambda text: {}[text])
    code, out, err = rsg("task", "a")
    assert (code, out) == (2, "")
    found = re.fullmatch(
        r"error: rsg itself made a mistake \(KeyError: 'a'\); please report it with what is in (\S+\.txt)(; .*)?\n", err
    )
    kept = Path(found[1])
    assert "Traceback (most recent call last)" in kept.read_text()
    kept.unlink()
    message = json.loads(rsg("task", "a", "--json")[1])["error"]["message"]
    Path(re.search(r"what is in (\S+\.txt)", message)[1]).unlink()


@pytest.mark.parametrize(("world", "task"), [("playroom", "turn-on-light then ring-bell"), ("crafting", "craft-boat")])
def test_a_game_fits_the_smallest_terminal(world, task):
    """24 rows of 80 columns: the whole screen is there at once, the task above and the keys below."""
    code, shown = on_a_terminal(["play", world, "--task", task], columns=80, typed=b"q")
    screen = shown.split("q quit")[0].splitlines()
    assert code == 0
    assert screen[0].startswith("  task   ")
    assert len(screen) < 24
    assert max(map(len, screen)) <= 80


@pytest.mark.parametrize(
    ("words", "changes"),
    [
        (["plan", "crafting", "grab-axe then mine-wood", "--seed", "2"], True),
        (["demos", "show", "{}/demonstrations", "--episode", "30"], True),
        (["plan", "playroom", "ring-bell"], False),
    ],
    ids=lambda one: str(one),
)
def test_animated_pictures_say_which_subgoal_they_are_about(rsg, folder, tmp_path, words, changes):
    path = tmp_path / "film.gif"
    code, out, _ = rsg(*(word.format(folder) for word in words), "--gif", str(path))
    assert code == 0
    assert f"written to {path}" in out
    with Image.open(path) as film:
        frames = [np.asarray(frame.convert("RGB")) for frame in ImageSequence.Iterator(film)]
        rests = [frame.info["duration"] for frame in ImageSequence.Iterator(film)]
    captions = [frame[-26:] for frame in frames]
    assert all(len(np.unique(caption.reshape(-1, 3), axis=0)) > 1 for caption in captions)  # there is something written
    assert (900 in rests) == changes  # where a subgoal is done
    assert (captions[0] != captions[-1]).any()


COMMANDS = [
    *(["world"], ["play"], ["plan"], ["eval"], ["train"], ["demos", "make"], ["recognise"], ["deps"], ["report"]),
    *(["demos", "show"], ["demos", "import"], ["demo"], ["readings"], ["info"]),
]


def test_an_option_means_one_thing_in_all_commands(rsg, monkeypatch):
    monkeypatch.setenv("COLUMNS", "400")
    monkeypatch.setenv("TERMINAL_WIDTH", "400")
    meanings = defaultdict(set)
    for words in COMMANDS:
        for world in ("crafting", "playroom"):
            code, out, _ = rsg(*words, world, "--help")
            assert code == 0
            assert "rsg world --list" not in out  # which needs a world
            for line in out.splitlines():
                if found := re.match(r"│ +(?:\* +)?(--\S+) +(?:\S+ +)?(\S.*?) +│", line):
                    for name in found[1].split(","):
                        meanings[name].add(re.split(r"[:,.;] ?", found[2])[0])
    for name in ("--map", "--kind", "--layout", "--png", "--gif", "--method", "--subgoals", "--planner", "--order"):
        assert len(meanings[name]) == 1, (name, meanings[name])
    assert meanings["--map"] == meanings["--kind"]


@pytest.mark.parametrize("words", [["doctor"], ["info", "{}/run"], ["domains"], ["plan", "crafting", "grab-axe"]])
def test_what_needs_no_network_does_not_wait_for_torch(folder, words):
    code = (
        "import sys; from rsg.cli.main import main\ntry: main(sys.argv[1:])\nfinally: assert 'torch' not in sys.modules"
    )
    words = [word.format(folder) for word in words]
    done = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
