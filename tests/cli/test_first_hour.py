"""What a new user meets in the first hour: slips, narrow terminals, folders that cannot be written."""

import pytest


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
