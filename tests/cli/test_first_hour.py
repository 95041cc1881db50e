"""What a new user meets in the first hour: slips, narrow terminals, folders that cannot be written."""

import os
import pty
import re
import sys
import termios
from contextlib import suppress

import pytest

from rsg.cli.main import main
from rsg.demos import Store


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


def on_a_terminal(words, columns, rows=24):
    """What a command writes to a terminal of that size, without colours."""
    child, terminal = pty.fork()
    if child == 0:
        os.environ |= {"TERM": "xterm", "COLUMNS": str(columns), "LINES": str(rows)}
        os.execv(sys.executable, [sys.executable, "-m", "rsg", *words])
    termios.tcsetwinsize(terminal, (rows, columns))
    written = b""
    with suppress(OSError):  # how the end of the other side shows
        while part := os.read(terminal, 4096):
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
