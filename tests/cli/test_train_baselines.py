"""`rsg train --method`: baselines by the command of RSG."""

import json

import pytest
from tests.training.examples import as_words, outcome, small_demos, small_store

from rsg.baselines import METHODS, load_baseline
from rsg.training import Run

SIMPLE = [demo for demo in small_demos() if demo.task in ("grab-axe", "mine-wood", "grab-axe then mine-wood")]


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return small_store(tmp_path_factory.mktemp("baselines") / "store", SIMPLE).folder


@pytest.mark.parametrize("method", list(METHODS))
def test_a_baseline_is_trained_and_told_about(rsg, store, tmp_path, method):
    run = tmp_path / "run"
    words = ["--out", str(run), "--demos", str(store), "--seed", "3"]
    code, out, _ = rsg("train", "crafting", "--method", method, *words, *as_words())
    assert code == 0
    assert "12 steps, all steps were done" in out
    assert f"rsg eval crafting --subgoals {run}" in out
    assert "rsg deps" not in out
    assert load_baseline(run).name == method
    code, out, _ = rsg("info", str(run))
    assert code == 0
    assert f"method {method}" in out
    assert "hidden           16   (default 128)" in out
    assert "seed             3   (default 0)" in out


def test_a_baseline_goes_on_where_it_stopped(rsg, store, tmp_path):
    words = ["--method", "bc-fsm", "--demos", str(store), "--json", *as_words()]
    assert rsg("train", "crafting", "--out", str(tmp_path / "whole"), *words)[0] == 0
    assert rsg("train", "crafting", "--out", str(tmp_path / "run"), *words)[0] == 0
    code, out, _ = rsg("train", "crafting", "--out", str(tmp_path / "run"), "--resume", "--json")
    assert code == 0
    assert json.loads(out)["step"] == 12
    assert outcome(tmp_path / "run") == outcome(tmp_path / "whole")


def test_success_is_reported_while_it_trains(rsg, store, tmp_path):
    words = ["--demos", str(store), "--watch", "1", "--json", *as_words(steps=4)]
    code, _, _ = rsg("train", "crafting", "--out", str(tmp_path / "lstm"), "--method", "lstm", *words)
    assert code == 0
    assert "success_compositional" not in Run(tmp_path / "lstm").load("last").notes["history"][0]
    code, out, err = rsg("train", "crafting", "--out", str(tmp_path / "bc"), "--method", "bc", *words)
    assert code == 2
    assert "never learned the term" in out + err


def test_settings_of_a_method_are_listed(rsg):
    code, out, _ = rsg("train", "crafting", "--out", "x", "--method", "bc", "--set", "help")
    assert code == 0
    for part in ("task_at", "blur", "steps", "negatives"):
        assert f"\n{part}" in f"\n{out}"
    assert "alpha" not in out


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["--method", "bcfsm"], "there is no baseline 'bcfsm'; did you mean bc-fsm?"),
        (["--method", "bc", "--encoder", "flat"], "--encoder and --from are for rsg"),
        (["--method", "bc", "--set", "alpha=1"], "there is no setting 'alpha'"),
        (["--method", "bc", "--resume"], "give only --out and --demos"),
        (["--method", "bc", "--set", "device=abacus"], "cannot use the device"),
    ],
)
def test_bad_words_are_one_sentence(rsg, store, tmp_path, words, problem):
    code, out, err = rsg("train", "crafting", "--out", str(tmp_path / "run"), "--demos", str(store), *words)
    assert (code, out) == (2, "")
    assert problem in err
    assert not (tmp_path / "run").exists()
