"""`rsg deps`: sentences, JSON and a picture of what needs what."""

import json
import shutil

import numpy as np
import pytest
from tests.training.examples import as_words, small_demos, small_store

from rsg.planning import Dependencies
from rsg.training import Run

SIMPLE = [demo for demo in small_demos() if demo.task in ("grab-axe", "mine-wood", "grab-axe then mine-wood")]


def counts(*rows):
    return np.array(rows, dtype=np.int64)


HAND_MADE = Dependencies(
    terms=("axe", "saw", "wood", "plank", "boat", "song"),
    before=counts([0] * 6, [0] * 6, [30, 10, 0, 0, 0, 0], [0, 0, 40, 0, 0, 0], [0, 0, 5, 5, 0, 0], [0] * 6),
    together=counts([0] * 6, [0] * 6, [30, 20, 0, 0, 0, 0], [0, 0, 40, 0, 0, 0], [0, 0, 6, 5, 0, 0], [0] * 6),
    achieved=counts(60, 30, 1200, 800, 50, 0),
    held=counts([0] * 6, [0] * 6, [700, 480, 0, 0, 0, 0], [0, 0, 800, 0, 0, 0], [0, 0, 49, 50, 0, 0], [0] * 6),
    prerequisites=(((),), ((),), ((0,), (1,)), ((2,),), ((2, 3),), ((),)),
    thresholds=np.full(6, 0.5),
    covered=counts(60, 30, 1176, 800, 49, 0),
    demonstrations=2500,
)


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """A store of a few demonstrations, and a run that saw them for a moment."""
    from rsg.cli.main import main

    home = tmp_path_factory.mktemp("deps")
    small_store(home / "store", SIMPLE)
    with pytest.raises(SystemExit) as stop:
        main(["train", "crafting", "--out", str(home / "run"), "--demos", str(home / "store"), "--json", *as_words()])
    assert stop.value.code == 0
    return home


@pytest.fixture
def run(home, tmp_path):
    """A copy of the run, in which nothing has been discovered yet."""
    return shutil.copytree(home / "run", tmp_path / "run")


@pytest.fixture
def known(tmp_path, monkeypatch):
    """A run of which everything is known, though it learned nothing."""
    Run.create(tmp_path / "known", {"method": "rsg", "settings": {"seed": 3}, "source": {"world": "crafting"}})
    monkeypatch.setattr("rsg.evaluation.named.kept_dependencies", lambda *_: HAND_MADE)
    return tmp_path / "known"


# ---- what is told


def test_sentences(rsg, known):
    code, out, err = rsg("deps", str(known))
    assert (code, err) == (0, "")
    assert out.splitlines() == [
        f"{known}, 6 subgoals, 2,500 demonstrations",
        "",
        "Prerequisites: what nearly always held just before a subgoal came true",
        "  wood came true 1,200 times, 1,176 of them while axe (700) or saw (480) held",
        "  plank came true 800 times, each time while wood held",
        "  boat came true 50 times, each time while plank held and 49 of them while wood held",
        "  need nothing that has a name: axe, saw",
        "  never came true in a demonstration: song",
        "",
        "Links of the paper's matrix d: what was achieved before what, the strongest first",
        "  wood came before plank in all 40 demonstrations that show both; d = 1.00",
        "  axe came before wood in all 30 demonstrations that show both; d = 0.75",
        "  plank came before boat in all 5 demonstrations that show both; d = 0.50",
        "  wood came before boat in 5 of the 6 demonstrations that show both; d = 0.50",
        "  saw came before wood in 10 of the 20 demonstrations that show both; d = 0.25",
    ]


def test_a_few_links(rsg, known):
    code, out, _ = rsg("deps", str(known), "--top", "2")
    assert code == 0
    assert out.count("came before") == 2
    assert out.endswith("  (3 more: --top 5)\n")


def test_long_lists_are_cut(rsg, known, monkeypatch):
    """Thresholds that call nearly everything true make nearly everything a prerequisite."""
    size = 9
    held = np.full((size, size), 7, dtype=np.int64)
    none = np.zeros((size, size), dtype=np.int64)
    needs = ((tuple(range(1, size))),), *(((),) for _ in range(size - 1))
    terms = tuple(f"term-{k}" for k in range(size))
    crowd = Dependencies(terms, none, none, np.full(size, 8), held, needs, np.full(size, 0.5))
    monkeypatch.setattr("rsg.evaluation.named.kept_dependencies", lambda *_: crowd)
    code, out, _ = rsg("deps", str(known))
    assert code == 0
    assert "  term-0 came true 8 times, 7 of them while term-1 held, 7 while term-2 held, 7 while term-3 held" in out
    assert " 7 while term-4 held and 4 more\n" in out
    assert "none: no two subgoals were achieved one after the other" in out


def test_for_a_machine(rsg, known):
    code, out, err = rsg("deps", str(known), "--json")
    assert (code, err) == (0, "")
    values = json.loads(out)
    assert {key: values[key] for key in HAND_MADE.plain()} == HAND_MADE.plain()
    assert values["matrix"] == HAND_MADE.matrix.tolist()
    assert values["conditional"] == HAND_MADE.conditional.tolist()
    assert (values["run"], len(values["links"])) == (str(known), 5)
    first = {"first": "wood", "then": "plank", "before": 40, "together": 40, "d": 1.0, "conditional": 1.0}
    assert values["links"][0] == first
    assert len(json.loads(rsg("deps", str(known), "--json", "--top", "2")[1])["links"]) == 2


def test_a_picture(rsg, known, tmp_path):
    code, out, err = rsg("deps", str(known), "--png", str(tmp_path / "deps.png"))
    assert (code, err) == (0, "")
    assert out.endswith(f"\nwritten to {tmp_path / 'deps.png'}\n")
    assert (tmp_path / "deps.png").read_bytes().startswith(b"\x89PNG")


# ---- where it comes from


def test_discovered_once_and_kept(rsg, run):
    code, out, err = rsg("deps", str(run))
    assert code == 0
    assert err == f"discovering what needs what in {len(SIMPLE)} demonstrations; it is kept in {run}\n"
    assert f"{run}, 2 subgoals, {len(SIMPLE)} demonstrations" in out
    assert rsg("deps", str(run)) == (0, out, "")
    code, out, err = rsg("deps", str(run), "--json")
    assert (code, err) == (0, "")
    assert json.loads(out)["thresholds"] == [0.5, 0.5]


def test_other_demonstrations(rsg, run, tmp_path):
    small_store(tmp_path / "few", SIMPLE[:7])
    code, out, err = rsg("deps", str(run), "--demos", str(tmp_path / "few"))
    assert code == 0
    assert "7 demonstrations; it is kept in" in err
    assert "2 subgoals, 7 demonstrations\n" in out


def test_when_the_demonstrations_are_gone(rsg, home, tmp_path):
    small_store(tmp_path / "store", SIMPLE)
    words = ["--out", str(tmp_path / "run"), "--demos", str(tmp_path / "store"), "--json", *as_words(steps=1)]
    assert rsg("train", "crafting", *words)[0] == 0
    (tmp_path / "store").rename(tmp_path / "moved")
    run = str(tmp_path / "run")
    hint = f"are no longer in {tmp_path / 'store'}; give them: rsg deps {run} --demos DIR\n"
    for words in (["deps", run], ["plan", "crafting", "--goal", "mine-wood", "--subgoals", run]):
        code, out, err = rsg(*words)
        assert (code, out) == (2, "")
        assert err.endswith(hint)
    assert rsg("deps", run, "--demos", str(tmp_path / "moved"))[0] == 0
    assert rsg("deps", run)[0] == 0
    assert rsg("plan", "crafting", "--goal", "mine-wood", "--subgoals", run, "--budget", "200")[0] in (0, 1)


def test_only_some_of_each_task(rsg, home, tmp_path):
    words = ["--out", str(tmp_path / "run"), "--demos", str(home / "store"), "--per-task", "2"]
    assert rsg("train", "crafting", *words, "--json", *as_words(steps=1))[0] == 0
    code, out, _ = rsg("deps", str(tmp_path / "run"))
    assert code == 0
    assert ", 6 demonstrations\n" in out  # two of each of three tasks


def test_control_c(rsg, run, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("rsg.subgoals.subgoals.discover", interrupted)
    code, out, err = rsg("deps", str(run))
    assert (code, out) == (130, "")
    assert "interrupted" in err
    assert not (run / "dependencies.json").exists()


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["nowhere"], "nowhere is not a run: there is no folder of that name"),
        (["STORE"], "is a store of demonstrations"),
        (["RUN", "--demos", "nowhere"], "nowhere is not a store of demonstrations"),
        (["RUN", "--demos", "RUN"], "is a run (it has a run.json), not a store of demonstrations"),
        (["RUN", "--demos", "KITCHEN"], "holds demonstrations of 'kitchen', not of 'crafting'"),
        (["RUN", "--top", "-1"], "Invalid value for '--top'"),
        (["RUN", "--png", "deps.pdf"], "cannot write to deps.pdf: the name must end in .png"),
        (["RUN", "--png", "STORE/manifest.json/deps.png"], "cannot write "),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_bad_input_is_one_sentence(rsg, home, run, tmp_path, words, problem):
    small_store(tmp_path / "kitchen", SIMPLE[:2], world="kitchen")
    places = {"RUN": str(run), "STORE": str(home / "store"), "KITCHEN": str(tmp_path / "kitchen")}
    for name, place in places.items():
        words = [word.replace(name, place) for word in words]
    code, out, err = rsg("deps", *words)
    assert (code, out) == (2, "")
    told = err.splitlines()[-1]
    assert told.startswith("error: ")
    assert problem in told
