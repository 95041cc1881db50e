"""Baselines by the commands of RSG: train, eval, recognise."""

import json
import re
from contextlib import suppress

import pytest
from tests.training.examples import outcome, settings_in_words, small_demos, small_store

from rsg.baselines import METHODS, load_baseline
from rsg.cli.main import main
from rsg.demos import Store
from rsg.domain import find
from rsg.evaluation.planning import Starts
from rsg.evaluation.policies import evaluate_policy
from rsg.training import Run

SIMPLE = [demo for demo in small_demos() if demo.task in ("grab-axe", "mine-wood", "grab-axe then mine-wood")]


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return small_store(tmp_path_factory.mktemp("baselines") / "store", SIMPLE).folder


@pytest.mark.parametrize("method", list(METHODS))
def test_a_baseline_is_trained_and_told_about(rsg, store, tmp_path, method):
    run = tmp_path / "run"
    words = ["--out", str(run), "--demos", str(store), "--seed", "3"]
    code, out, _ = rsg("train", "crafting", "--method", method, *words, *settings_in_words())
    assert code == 0
    assert "12 steps, all steps were done" in out
    assert (f"rsg eval crafting --subgoals {run}" in out) == (method != "lstm")
    assert "rsg deps" not in out
    assert load_baseline(run).name == method
    code, out, _ = rsg("info", str(run))
    assert code == 0
    assert f"method {method}" in out
    assert "hidden           16   (default 128)" in out
    assert "seed             3   (default 0)" in out


def test_a_baseline_goes_on_where_it_stopped(rsg, store, tmp_path):
    words = ["--method", "bc-fsm", "--demos", str(store), "--json", *settings_in_words()]
    assert rsg("train", "crafting", "--out", str(tmp_path / "whole"), *words)[0] == 0
    assert rsg("train", "crafting", "--out", str(tmp_path / "run"), *words)[0] == 0
    code, out, _ = rsg("train", "crafting", "--out", str(tmp_path / "run"), "--resume", "--json")
    assert code == 0
    assert json.loads(out)["step"] == 12
    assert outcome(tmp_path / "run") == outcome(tmp_path / "whole")


def test_success_is_reported_while_it_trains(rsg, store, tmp_path):
    words = ["--demos", str(store), "--watch", "1", "--json", *settings_in_words(steps=4)]
    code, _, _ = rsg("train", "crafting", "--out", str(tmp_path / "lstm"), "--method", "lstm", *words)
    assert code == 0
    assert "success_compositional" not in Run(tmp_path / "lstm").load("last").notes["history"][0]
    code, out, err = rsg("train", "crafting", "--out", str(tmp_path / "bc"), "--method", "bc", *words)
    assert code == 2
    assert "never learned the term" in out + err


def test_settings_of_a_method_are_listed(rsg):
    code, out, _ = rsg("train", "crafting", "--out", "x", "--method", "bc", "--set", "help")
    assert code == 0
    for part in ("layers", "blur", "steps", "negatives"):
        assert f"\n{part}" in f"\n{out}"
    assert "alpha" not in out


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["--method", "bcfsm"], "there is no method 'bcfsm'; did you mean bc-fsm?"),
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


def test_help_says_what_there_is(rsg):
    code, out, _ = rsg("train", "--help")
    assert code == 0
    told = re.sub(r"[│\s]+", " ", out)
    assert all(f" {method} (" in told for method in ("rsg", *METHODS))


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """Runs that have learned nearly nothing: of a policy and of the LSTM, and one of a policy in a room."""
    home = tmp_path_factory.mktemp("runs")
    small_store(home / "demos")
    for method in ("bc-fsm", "lstm"):
        words = ["--out", str(home / method), "--demos", str(home / "demos"), *settings_in_words(steps=1)]
        with suppress(SystemExit):
            main(["train", "crafting", "--method", method, *words])
    with suppress(SystemExit):
        words = ["--out", str(home / "room"), "--per-task", "1", *settings_in_words(steps=1, held_out=4)]
        main(["train", "playroom", "--method", "bc", *words])
    return home


@pytest.mark.parametrize(("world", "run", "method"), [("crafting", "bc-fsm", "bc-fsm"), ("playroom", "room", "bc")])
def test_a_policy_is_evaluated_from_the_starts_of_plans(rsg, home, world, run, method):
    words = ["eval", world, "--subgoals", str(home / run), "--split", "primitive", "--per-task", "1", "--seed", "5"]
    code, out, _ = rsg(*words, "--json")
    values = json.loads(out)
    assert (code, values["method"], values["seed"]) == (0, method, 5)
    wanted = evaluate_policy(find(world), Starts("primitive", 1, 5), load_baseline(home / run))
    assert values["success_lenient"] == wanted["success_lenient"]
    assert [row["expansions_mean"] for row in values["tasks"]] == [row["expansions_mean"] for row in wanted["tasks"]]
    code, out, _ = rsg(*words)
    assert code == 0
    assert f"primitive, {method}: {home / run}" in out
    assert f"{values['episodes']} episodes: " in out


def test_a_run_of_a_room_knows_it(rsg, home):
    assert json.loads(Run(home / "room").about["source"]["setting"])["layout"] == "paper"
    code, _, err = rsg("eval", "playroom", "--layout", "twelve", "--subgoals", str(home / "room"), "--per-task", "1")
    assert code == 2
    assert "was trained in a room with 6 effectors" in err


def test_a_report_of_a_policy(rsg, home, tmp_path):
    page = tmp_path / "page.html"
    code, out, _ = rsg("report", str(home / "room"), "--out", str(page), "--per-task", "1")
    text = page.read_text()
    assert code == 0
    assert f"the report is in {page}" in out
    assert "<h1>BC in Playroom</h1>" in text
    assert "paper 15.8 %" in text  # beside ours
    assert "data:image/gif;base64," in text
    assert "://" not in text


@pytest.mark.parametrize("method", ["bc-fsm", "lstm"])
def test_descriptions_are_ranked(rsg, home, method):
    words = ["recognise", str(home / method), "--demos", str(home / "demos"), "--candidates", "novel"]
    code, out, _ = rsg(*words, "--episode", "200", "--json")
    values = json.loads(out)
    assert code == 0
    assert values["candidates"] == len(find("crafting").tasks("novel"))
    demo = Store(home / "demos")[200]
    world = find("crafting").world(demo.setting)
    scores = load_baseline(home / method).explain(world, demo, find("crafting").tasks("novel"))
    assert values["ranking"][0]["score"] == pytest.approx(scores.max())
    assert "candidates" in rsg(*words)[1]


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["eval", "crafting", "--subgoals", "{lstm}"], "recognises tasks but does not act"),
        (
            ["eval", "crafting", "--subgoals", "{bc-fsm}", "--order", "optimal"],
            "acts without a search; leave out --order",
        ),
        (["eval", "crafting", "--subgoals", "{bc-fsm}", "--soft"], "acts without a search; leave out --soft"),
        (["eval", "playroom", "--subgoals", "{bc-fsm}"], "was trained in 'crafting' and cannot be used in 'playroom'"),
        (["plan", "crafting", "grab-axe", "--subgoals", "{bc-fsm}"], "which learns no subgoals"),
        (["report", "{lstm}"], "recognises tasks but does not act"),
        (["recognise", "{lstm}", "--demos", "{demos}"], "give --candidates"),
        (["recognise", "{lstm}", "--demos", "{demos}", "--candidates", "train", "--first", "2"], "leave out --first"),
    ],
)
def test_what_a_baseline_cannot_do_is_one_sentence(rsg, home, words, problem):
    code, out, err = rsg(*(str(home / word[1:-1]) if word.startswith("{") else word for word in words))
    assert (code, out) == (2, "")
    assert problem in err
