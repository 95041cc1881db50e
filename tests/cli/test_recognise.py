"""`rsg recognise`: most of it with classifiers that know the truth, so that the answers are known."""

import json

import pytest
from PIL import Image
from tests.subgoals.oracle import CRAFTING, TrueClassifiers
from tests.training.examples import small_demos, small_store, train

from rsg.core.random import stream
from rsg.demos import Demonstration, Store
from rsg.subgoals import Subgoals, load

DEMOS = small_demos()
TASK = "mine-potato and mine-coal then craft-cooked-potato"
CHAIN = "grab-axe then mine-wood"
LONGEST = max(CRAFTING.tasks("novel"), key=len)


def number(task):
    """The first episode of a task."""
    return str([demo.task for demo in DEMOS].index(task))


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """A folder with a store, one of long trajectories, and a run that has learned nearly nothing."""
    home = tmp_path_factory.mktemp("recognise")
    small_store(home / "store")
    long, _ = CRAFTING.demonstrate("novel", CRAFTING.tasks("novel").index(LONGEST), stream(0, "long"))
    small_store(home / "long", [long])
    train(home / "run", [demo for demo in DEMOS if demo.task == "grab-axe"], steps=2, curriculum=0)
    train(home / "all", steps=1, curriculum=0)
    return home


@pytest.fixture
def ask(rsg, home, monkeypatch):
    """The command with the truth in the place of what the run learned: gives exit code, stdout, stderr."""

    def run(*words, store="store"):
        monkeypatch.setattr("rsg.cli.recognise.load", lambda folder: Subgoals(TrueClassifiers()))
        return rsg("recognise", str(home / "all"), "--demos", str(home / store), *map(str, words))

    return run


def test_for_a_person(ask, tmp_path):
    code, out, err = ask("--episode", number(TASK), "--candidates", "train", "--png", tmp_path / "timeline.png")
    assert (code, err) == (0, "")
    lines = out.splitlines()
    steps = len(DEMOS[int(number(TASK))])
    assert lines[:2] == [f"described as  {TASK}", f"{steps} steps, 48 candidates"]
    best = " ".join(" ".join(lines[3:5]).split())
    assert best.endswith(f"{TASK} (as described)")
    assert "%" in best
    assert max(len(line) for line in lines if not line.startswith("written to")) <= 80
    ended = [line.split()[0] for line in lines if "█◆" in line]
    assert sorted(ended[:2]) == ["mine-coal", "mine-potato"]
    assert ended[2:] == ["craft-cooked-potato"]
    assert "◆ came true; u up, d down, l left, r right, t toggle" in out
    assert f"written to {tmp_path / 'timeline.png'}" in out
    with Image.open(tmp_path / "timeline.png") as picture:
        assert picture.size == (1920, 1080)


def test_for_a_machine(ask):
    demo = DEMOS[int(number(CHAIN))]
    code, out, err = ask("--episode", number(CHAIN), "--candidates", "train", "--top", "3", "--json")
    assert (code, err) == (0, "")
    values = json.loads(out)
    assert values["described"] == values["task"] == values["ranking"][0]["task"] == CHAIN
    assert (values["steps"], values["candidates"], values["first"], values["now"]) == (len(demo), 48, None, None)
    assert len(values["ranking"]) == 3
    assert values["ranking"][0]["probability"] > 0.5
    assert values["actions"] == [CRAFTING.world(demo.setting).actions[action] for action in demo.actions]
    assert [end["term"] for end in values["ends"]] == ["grab-axe", "mine-wood"]
    assert values["ends"][-1]["step"] == len(demo)
    first = values["ends"][0]["step"]
    assert values["terms"] == ["grab-axe"] * first + ["mine-wood"] * (len(demo) - first)


def test_a_long_trajectory_is_folded(ask):
    code, out, _ = ask("--candidates", "novel", store="long")
    assert code == 0
    lines = out.splitlines()
    assert max(map(len, lines)) <= 80
    numbers = [int(word) for line in lines if line.startswith("  step ") for word in line.split()[1:]]
    assert numbers == list(range(1, numbers[-1] + 1))
    assert numbers[-1] > 40


def test_without_candidates_they_are_proposed(ask):
    code, out, _ = ask("--episode", number(CHAIN), "--json", "--top", "100")
    assert code == 0
    values = json.loads(out)
    assert values["task"] == CHAIN
    assert len(values["ranking"]) == values["candidates"] <= 8
    assert sum(one["probability"] for one in values["ranking"]) == pytest.approx(1)


def test_candidates_of_ones_own(ask, tmp_path):
    mine = tmp_path / "mine.txt"
    mine.write_text(f"# what it may be\n\n  {CHAIN.upper()}   # the axe\ngrab-axe > mine-wood\nmine-wood\n")
    code, out, _ = ask("--episode", number(CHAIN), "--candidates", mine, "--json")
    assert code == 0
    assert [one["task"] for one in json.loads(out)["ranking"]] == [CHAIN, "mine-wood"]


@pytest.mark.parametrize("words", [[], ["--candidates", "train"]])
def test_what_are_they_doing_now(ask, tmp_path, words):
    code, out, _ = ask("--episode", number(TASK), "--candidates", "train", "--json")
    ends = [end["step"] for end in json.loads(out)["ends"]]
    terms = json.loads(out)["terms"]
    k = ends[0] + 1
    code, out, _ = ask("--episode", number(TASK), "--first", k, *words, "--json")
    values = json.loads(out)
    assert code == 0
    assert values["first"] == k
    assert len(values["terms"]) == len(values["actions"]) == k
    assert values["terms"][: ends[0]] == terms[: ends[0]]
    assert values["now"] == values["terms"][-1] != terms[0]
    picture = tmp_path / "now.png"
    code, out, _ = ask("--episode", number(TASK), "--first", k, *words, "--png", picture)
    assert f"the first {k} of {len(terms)} steps" in out
    assert out.count("◆") == 2  # of the subgoal that ended, and in the key
    assert f"now  {values['now']}" in out
    assert picture.exists()


def test_before_anything_came_true_every_subgoal_is_a_candidate(ask):
    code, out, _ = ask("--episode", number(TASK), "--first", "1", "--json")
    assert code == 0
    assert json.loads(out)["candidates"] == len(CRAFTING.vocabulary)


def test_no_candidate_explains_it(ask, tmp_path):
    (tmp_path / "long.txt").write_text(" then ".join(["grab-axe"] * 60))
    words = ["--candidates", tmp_path / "long.txt", "--png", tmp_path / "none.png"]
    code, out, err = ask(*words)
    assert (code, err) == (1, "")
    assert "no candidate explains this trajectory: each takes more steps than it has" in out
    assert "%" not in out
    code, out, _ = ask(*words, "--json")
    values = json.loads(out, parse_constant=pytest.fail)
    assert code == 1
    assert (values["task"], values["terms"], values["ends"]) == (None, [], [])
    assert values["ranking"][0]["score"] is None
    assert not (tmp_path / "none.png").exists()


def test_a_description_that_rsg_cannot_read(ask, home):
    demo = DEMOS[int(number(CHAIN))]
    if not (home / "odd").exists():
        small_store(home / "odd", [Demonstration(demo.states, demo.actions, "fetch [bold]wood!", demo.setting)])
    code, out, err = ask("--candidates", "train", store="odd")
    assert (code, err) == (0, "")
    assert "described as  fetch [bold]wood!" in out
    assert "(as described)" not in out


def test_with_what_a_run_learned(rsg, home):
    code, out, err = rsg(
        "recognise", str(home / "all"), "--demos", str(home / "store"), "--candidates", "train", "--json"
    )
    assert (code, err) == (0, "")
    values = json.loads(out)
    same = in_python(home / "all", DEMOS[0])
    assert [one["task"] for one in values["ranking"]] == [str(one.task) for one in same[:5]]
    assert [one["probability"] for one in values["ranking"]] == pytest.approx([one.probability for one in same[:5]])


def in_python(folder, demo):
    """The same answer from the functions themselves, with the run's settings."""
    texts = list(dict.fromkeys(CRAFTING.tasks("train")))
    return load(folder, CRAFTING).recognise(demo, texts)


# Mistakes.


def complaint(rsg, *words):
    """The one message of a command that refuses."""
    code, out, err = rsg("recognise", *map(str, words))
    assert (code, out) == (2, "")
    assert err.startswith("error: ")
    assert "Traceback" not in err
    return err


def test_mistakes_are_one_sentence(rsg, home, tmp_path):
    run, store = home / "run", home / "store"
    (tmp_path / "empty.txt").write_text("# nothing\n\n")
    (tmp_path / "bytes.txt").write_bytes(b"\xff\xfe")
    steps = len(DEMOS[0])
    for words, problem in [
        ([tmp_path / "none", "--demos", store], f"{tmp_path / 'none'} is not a run: there is no folder of that name"),
        ([store, "--demos", store], "run"),
        ([run, "--demos", tmp_path / "none"], "is not a store of demonstrations"),
        ([run, "--demos", store, "--episode", "9999"], "there is no episode 9999"),
        ([run, "--demos", store, "--first", "0"], f"so --first takes 1 to {steps}, not 0"),
        ([run, "--demos", store, "--first", steps + 1], f"has {steps} steps, so --first takes 1 to {steps}"),
        ([run, "--demos", store, "--top", "0"], "Invalid value for '--top'"),
        ([run, "--demos", store, "--png", "x.gif"], "the name must end in .png"),
        ([run, "--demos", store, "--candidates", "tset"], "there is no file tset, and no split of that name"),
        ([run, "--demos", store, "--candidates", tmp_path / "empty.txt"], "holds no descriptions; write one per line"),
        ([run, "--demos", store, "--candidates", tmp_path / "bytes.txt"], "bytes.txt: it is not text"),
    ]:
        err = complaint(rsg, *words)
        assert problem in err
        assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("grab-ax", "line 3: unknown term 'grab-ax'; did you mean grab-axe?"),
        ("grab-axe then", "line 3: expected a term or '(', but the text ends"),
        (" and ".join(["grab-axe"] * 40), "line 3: "),
    ],
)
def test_a_wrong_candidate_is_named_by_file_and_line(rsg, home, tmp_path, line, problem):
    mine = tmp_path / "mine.txt"
    mine.write_text(f"# mine\ngrab-axe\n{line}\n")
    words = [home / "run", "--demos", home / "store", "--candidates", mine]
    assert f"error: {mine}, {problem}" in complaint(rsg, *words)
    code, out, _ = rsg("recognise", *map(str, words), "--json")
    assert code == 2
    assert json.loads(out)["error"]["message"].startswith(f"{mine}, line 3: ")


def test_a_split_with_terms_that_the_run_never_learned(rsg, home):
    err = complaint(rsg, home / "run", "--demos", home / "store", "--candidates", "train")
    assert "split train: unknown term" in err


def test_trajectories_of_another_world(rsg, home, tmp_path):
    Store.create(tmp_path / "mars", "mars").append(DEMOS[:1])
    assert "the world 'mars' is not installed here" in complaint(rsg, home / "run", "--demos", tmp_path / "mars")
