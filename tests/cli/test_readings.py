"""`rsg readings`, and all other commands with a run whose terms are formulas."""

import json
import re
import shutil
import subprocess
import sys

import pytest
from tests.training.examples import as_words, fingerprint, outcome, small_demos, small_store

from rsg.subgoals import load
from rsg.training import Run

OPEN = "toggle-switch may mean that a door is open or a switch is on; the plan sees to all of that"
FIRST, MORE = ("grab-axe", "grab-key", "mine-wood"), ("grab-axe", "mine-wood", "mine-coal", "grab-pickaxe")


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """A folder with `run`, whose terms are all formulas, and `network`, a run of a network."""
    from rsg.cli.main import main

    home = tmp_path_factory.mktemp("readings")
    for name, tasks in (("first", FIRST), ("more", MORE)):
        small_store(home / name, [demo for demo in small_demos() if demo.task in tasks])
    network = ["--out", str(home / "network"), "--demos", str(home / "first"), *as_words(steps=1)]
    for words in (["--out", str(home / "run"), "--per-task", "1"], network):
        with pytest.raises(SystemExit) as stop:
            main(["train", "crafting", "--json", *words])
        assert stop.value.code == 0
    return home


@pytest.fixture
def run(home):
    return str(home / "run")


def refused(rsg, watched, *words):
    """The one sentence of a command that refuses, and changes nothing."""
    before = fingerprint(watched)
    code, out, err = rsg(*map(str, words))
    assert (code, out) == (2, "")
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    assert fingerprint(watched) == before
    return err


# ---- what is told


def test_for_a_person(rsg, run):
    code, out, err = rsg("readings", run)
    assert (code, err) == (0, "")
    assert out.count(" holds where ") == 26
    assert "\ncraft-bed holds where a bed is held\n    " in out
    assert "\ntoggle-switch holds where " in out
    opened = [line for line in out.splitlines() if line.startswith("    open: ")]
    assert len(opened) == 1
    assert opened[0].endswith(". To settle it, show toggle-switch where only one of the two comes true")
    assert "so far always while the agent stands on a bed-station; to see whether that matters, show craft-bed" in out
    assert "\nOf the demonstrators: α is about " in out
    assert out.endswith("1 term with something open; each demonstration asked for settles one of them.\n")


def test_for_a_machine(rsg, run):
    code, out, err = rsg("readings", run, "--json")
    assert (code, err) == (0, "")
    values = json.loads(out)
    assert (values["run"], len(values["terms"])) == (run, 26)
    bed, switch = values["terms"]["craft-bed"], values["terms"]["toggle-switch"]
    assert (bed["means"], bed["open"]) == ("craft-bed holds where a bed is held", [])
    assert bed["sure"] > 0.9
    assert bed["seen"] == bed["explained"] == 2
    assert len(switch["open"]) == 1
    assert switch["settle"][0] == "toggle-switch where only one of the two comes true"
    assert switch["sure"] == pytest.approx(0.5, abs=0.01)
    assert values["alpha"][1] <= values["alpha"][0] <= values["alpha"][2]
    assert 0 < values["doubt"] < 0.1
    assert values["doubted"] == []


def test_of_a_network(rsg, home):
    code, out, err = rsg("readings", str(home / "network"))
    assert (code, err) == (0, "")
    told = out.splitlines()
    assert len(told) == len(FIRST)
    assert all(line.startswith(f"{term} is known to a network") for term, line in zip(FIRST, sorted(told), strict=True))
    values = json.loads(rsg("readings", str(home / "network"), "--json")[1])
    assert set(values) == {"run", "terms"}
    assert {values["terms"][term]["sure"] for term in FIRST} == {None}


def test_what_is_no_run(rsg, home, tmp_path):
    assert "there is no folder of that name" in refused(rsg, home, "readings", tmp_path / "none")
    assert "is a store of demonstrations" in refused(rsg, home, "readings", home / "first")
    code, out, err = rsg("readings", str(tmp_path / "none"), "--json")
    assert (code, err) == (2, "")
    assert "there is no folder" in json.loads(out)["error"]["message"]


def test_a_reader_that_leaves(run):
    words = f"{sys.executable} -m rsg readings {run} | head -n 1; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", words], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "grab-pickaxe holds where a pickaxe is held\n"


# ---- training


def test_training_says_how_terms_were_read(rsg, home, tmp_path):
    words = ["--out", str(tmp_path / "run"), "--demos", str(home / "run-demos")]
    code, out, err = rsg("train", "crafting", *words)
    assert (code, err) == (0, "")
    first, second, *rest = out.splitlines()
    assert first == "26 of 26 terms were read as formulas over facts; open: toggle-switch"
    assert second.startswith("0 steps, there was nothing to fit; ")
    assert f"  rsg readings {tmp_path / 'run'}" in rest
    assert load(tmp_path / "run").classifiers.readings == load(home / "run").classifiers.readings


def test_going_on_changes_nothing(rsg, home, tmp_path):
    copy = shutil.copytree(home / "run", tmp_path / "run")
    before = fingerprint(copy)
    words = ["train", "crafting", "--out", str(copy), "--resume"]
    code, out, _ = rsg(*words, "--json")
    values = json.loads(out)
    assert (code, values["step"], values["ended"]) == (0, 0, "there was nothing to fit")
    assert values["cpu_seconds"] == round(Run(copy).load("last").notes["seconds"], 3)
    assert {name: value for name, value in fingerprint(copy).items() if name in before} == before
    assert "was trained on other demonstrations" in refused(rsg, home, *words, "--demos", home / "first")


def test_new_terms_are_added_to_what_was_read(rsg, home, tmp_path):
    for name, words in (("old", ["--demos", "first"]), ("new", ["--demos", "more", "--from", str(tmp_path / "old")])):
        words[1] = str(home / words[1])
        assert rsg("train", "crafting", "--out", str(tmp_path / name), "--json", *words)[0] == 0
    old, new = load(tmp_path / "old").classifiers, load(tmp_path / "new").classifiers
    assert new.terms[:3] == old.terms
    assert set(new.terms) == {*FIRST, *MORE}
    assert {term: new.readings[term] for term in old.terms} == old.readings
    assert str(new.readings["mine-coal"].formula) == "held(coal)"
    assert "begun with what" in rsg("info", str(tmp_path / "new"))[1]
    before = outcome(tmp_path / "new")
    shutil.rmtree(tmp_path / "old")
    assert rsg("train", "crafting", "--out", str(tmp_path / "new"), "--resume", "--json")[0] == 0
    assert outcome(tmp_path / "new") == before


@pytest.mark.parametrize(("begin", "encoder"), [("run", "sets"), ("network", "auto"), ("network", "facts")])
def test_formulas_and_networks_do_not_begin_with_each_other(rsg, home, tmp_path, begin, encoder):
    words = ["train", "crafting", "--out", tmp_path / "run", "--demos", home / "more", "--from", home / begin]
    told = refused(rsg, home, *words, "--encoder", encoder)
    assert "the subgoals to begin with do not fit the settings; encoder, hidden and single must be theirs" in told
    assert not (tmp_path / "run").exists()


def test_where_there_are_no_facts(rsg, tmp_path):
    words = ["train", "playroom", "--out", tmp_path / "run", "--per-task", "1", "--encoder", "facts"]
    assert "there are no facts; use another encoder" in refused(rsg, tmp_path, *words)
    assert list(tmp_path.iterdir()) == []  # nor were demonstrations made


# ---- what is read is used


def test_a_plan_says_what_it_rests_on(rsg, run):
    words = ["plan", "crafting", "toggle-switch", "--subgoals", run]
    code, out, err = rsg(*words)
    assert (code, err) == (0, "")
    told, other = OPEN, OPEN.replace("a door is open or a switch is on", "a switch is on or a door is open")
    assert out.endswith((f"\n{told}\n", f"\n{other}\n"))
    code, out, _ = rsg(*words, "--json")
    values = json.loads(out)
    assert (code, values["valid"]) == (0, True)
    assert values["open"] in ([told], [other])


def test_a_plan_that_rests_on_nothing_open(rsg, run):
    for words in (["grab-axe then mine-wood"], ["--goal", "craft-bed"]):
        code, out, _ = rsg("plan", "crafting", *words, "--subgoals", run, "--json")
        values = json.loads(out)
        assert (code, values["valid"], values["open"]) == (0, True, [])
    assert "may mean" not in rsg("plan", "crafting", "grab-axe", "--subgoals", run)[1]
    assert json.loads(rsg("plan", "crafting", "toggle-switch", "--json")[1])["open"] == []


def test_eval(rsg, run):
    code, out, _ = rsg("eval", "crafting", "--subgoals", run, "--per-task", "1", "--json")
    values = json.loads(out)
    assert (code, values["episodes"], values["success"]) == (0, 12, 1.0)


def test_deps(rsg, home, tmp_path):
    copy = shutil.copytree(home / "run", tmp_path / "run")
    code, out, _ = rsg("deps", str(copy), "--json")
    assert code == 0
    assert json.loads(out)["demonstrations"] == 52
    assert "mine-wood" in rsg("deps", str(copy))[1]


def test_export(rsg, home, run, tmp_path):
    pytest.importorskip("onnxruntime")
    words = ["--onnx", str(tmp_path / "net.onnx")]
    assert refused(rsg, home, "export", run, *words).startswith("error: all terms are formulas")
    assert "must end in .onnx" in refused(rsg, home, "export", run, "--onnx", tmp_path / "net.pt")
    assert not list(tmp_path.iterdir())
    code, out, err = rsg("export", str(home / "network"), *words)
    assert (code, err) == (0, "")
    assert re.match(
        r"in   overall  float32\[N, 5\]\nin   inventory  uint8\[N, 6\]\nin   objects  uint8\[N, \d+, 5\]\nout", out
    )
    assert out.endswith(f"off\n\nwritten to {tmp_path / 'net.onnx'}\n")
    values = json.loads(rsg("export", str(home / "network"), *words, "--demos", str(home / "more"), "--json")[1])
    assert set(values["terms"]) == set(FIRST)
    assert values["off"] < 1e-3
    assert values["inputs"]["objects"]["columns"][0]["values"]["0"] == "nothing"


def test_info(rsg, run):
    code, out, err = rsg("info", run)
    assert (code, err) == (0, "")
    assert "step 0 of 300 (there was nothing to fit)" in out
    assert "encoder          auto\n" in out
    assert "history" not in out
    values = json.loads(rsg("info", run, "--json")[1])
    assert len(values["shape"]["readings"]) == 26
    assert values["checkpoints"]["best"]["best"] is None


def test_recognise(rsg, home, run):
    words = ["recognise", run, "--demos", str(home / "run-demos"), "--candidates", "train", "--json"]
    code, out, _ = rsg(*words)
    assert code == 0
    values = json.loads(out)
    assert values["ranking"][0]["task"] == values["described"]


def test_report(rsg, run, tmp_path):
    code, _, err = rsg("report", run, "--out", str(tmp_path / "page.html"), "--per-task", "1")
    assert code == 0, err
    page = (tmp_path / "page.html").read_text()
    assert page.rstrip().endswith("</html>")
    assert "nan" not in page.lower().split("<body")[1].split("base64")[0]
