import json
import sys
from dataclasses import replace

import pytest

from reproductions import instructions, registry
from reproductions.harness import extras
from reproductions.harness.trials import Size
from reproductions.tests import toy
from rsg.cli import reproduce


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.setitem(registry.REGISTRY, "toy", "a toy")
    monkeypatch.setitem(sys.modules, "reproductions.toy", toy)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_without_a_name_all_are_listed(rsg):
    code, out, err = rsg("reproduce")
    assert (code, err) == (0, "")
    assert "instructions      plans for instructions" in out
    assert "exact-or-sampled  the exact" in out
    code, out, _ = rsg("reproduce", "--json")
    assert list(json.loads(out)) == list(registry.REGISTRY)


def test_a_run_and_its_report(rsg, here):
    code, out, err = rsg("reproduce", "toy", "--seeds", "2", "--workers", "2")
    assert code == 0
    assert out == "toy written to docs/RESULTS.md, figures and plots to docs/results\n"
    first, *rest = err.splitlines()
    assert first == "2 jobs, 0 done; about 1 minute on 2 workers"
    assert sorted(rest) == ["toy/walk-seed0 done", "toy/walk-seed1 done"]
    text = (here / "docs" / "RESULTS.md").read_text()
    (here / "docs" / "RESULTS.md").unlink()
    code, out, err = rsg("reproduce", "toy", "--seeds", "2", "--report-only", "--json")
    assert (code, err) == (0, "")
    assert json.loads(out)["jobs"] == 2
    assert (here / "docs" / "RESULTS.md").read_text() == text
    assert toy.begun(here / "out" / "reproduce", 0) == 1


def test_all_of_them(rsg, here, monkeypatch):
    """One after the other; one that cannot be done does not keep the others from it."""
    monkeypatch.setattr(registry, "REGISTRY", {"toy": "a toy", "again": "the same"})
    monkeypatch.setitem(sys.modules, "reproductions.again", toy)
    code, out, err = rsg("reproduce", "all", "--seeds", "2", "--workers", "2")
    assert (code, out.count("toy written to docs/RESULTS.md")) == (0, 2)
    assert err.splitlines()[:2] == ["2 jobs, 0 done; about 1 minute on 2 workers", "toy: " + err.splitlines()[0]]
    code, out, _ = rsg("reproduce", "all", "--seeds", "2", "--report-only", "--json")
    assert [one["experiment"] for one in json.loads(out)] == ["toy", "toy"]
    monkeypatch.setenv("TOY_TROUBLE", json.dumps({"2": "user"}))
    code, out, err = rsg("reproduce", "all", "--seeds", "3", "--workers", "2")
    assert code == 2
    assert "2 of 2 experiments are not done; toy: 1 of 3 jobs failed" in err


def test_what_cannot_run_is_told_before_hours_of_work(rsg, here, monkeypatch):
    monkeypatch.setattr(registry, "REGISTRY", {"toy": "a toy"})
    monkeypatch.setattr(toy, "EXPERIMENT", replace(toy.EXPERIMENT, extras=("pddl",)))
    monkeypatch.setattr(extras, "installed", lambda name: False)
    code, _, err = rsg("reproduce", "all", "--seeds", "1")
    assert code == 2
    sentence = "Fast Downward is not installed; install with: pip install -c constraints.txt -e '.[pddl]'"
    assert err.splitlines()[1] == f"toy will not run: {sentence}"
    assert not (here / "out").exists()
    assert f"1 of 1 experiments are not done; toy: {sentence}" in err


def test_a_quick_run_keeps_to_itself(rsg, here):
    code, out, _ = rsg("reproduce", "toy", "--quick", "--seeds", "1", "--json")
    assert code == 0
    assert json.loads(out)["figures"] == "out/reproduce-quick/results/toy.json"
    assert sorted(path.name for path in here.iterdir()) == ["out"]
    assert [path.name for path in (here / "out").iterdir()] == ["reproduce-quick"]


def test_other_folders(rsg, here):
    code, _, _ = rsg("reproduce", "toy", "--quick", "--seeds", "1", "--out", "there/R.md", "--work", "w")
    assert code == 0
    assert (here / "there" / "results" / "toy.json").exists()
    assert (here / "w" / "toy" / "walk-seed0.json").exists()


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["instuctions"], "did you mean instructions?"),
        (["toy", "--seeds", "0"], "seeds must be at least 1"),
        (["toy", "--workers", "-1"], "workers must be 0 (one per core) or more"),
        (["toy", "--report-only"], "no job of toy is finished in out/reproduce"),
    ],
)
def test_bad_input_is_one_sentence(rsg, words, problem):
    code, out, err = rsg("reproduce", *words)
    assert (code, out) == (2, "")
    assert problem in err


@pytest.mark.slow
def test_instructions_from_end_to_end(rsg, here, monkeypatch):
    tiny = Size(2, {"compositional": 1, "novel": 1, "untrained": 1}, 0.1, {"steps": 4, "check_every": 2})
    monkeypatch.setattr(instructions, "EXPERIMENT", replace(instructions.EXPERIMENT, quick=tiny))
    code, out, _ = rsg("reproduce", "instructions", "--quick", "--seeds", "1", "--json")
    assert code == 0
    made = json.loads(out)
    assert made["jobs"] == 4  # one to each method
    assert made["summary"]["success"]["oracle (the truth), strict"]["compositional"]["episodes"] == 26
    text = (here / "out" / "reproduce-quick" / "RESULTS.md").read_text()
    assert "## Plans for instructions, Crafting World (quick run)" in text
    assert "sha256 `" in text
    assert (here / "out" / "reproduce-quick" / "results" / "instructions-held-out.png").exists()


def test_elsewhere_one_sentence_says_where_experiments_are(rsg, here, monkeypatch):
    monkeypatch.setattr(reproduce, "__file__", str(here / "lib" / "python" / "rsg" / "cli" / "reproduce.py"))
    code, out, err = rsg("reproduce", "table-1", "--quick")
    assert (code, out) == (2, "")
    assert err == (
        "error: experiments are not part of the installed package: run this in a checkout of the repository, "
        "which has the folder reproductions/\n"
    )


def test_a_checkout_is_found_from_within(here, monkeypatch):
    monkeypatch.setattr(reproduce, "__file__", str(here / "lib" / "python" / "rsg" / "cli" / "reproduce.py"))
    (here / "checkout" / "reproductions" / "harness").mkdir(parents=True)
    (here / "checkout" / "reproductions" / "harness" / "command.py").touch()
    (here / "checkout" / "docs").mkdir()
    monkeypatch.chdir(here / "checkout" / "docs")
    assert reproduce.checkout() == here / "checkout"
