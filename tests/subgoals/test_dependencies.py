"""What comes before what: the counts against the paper's words, thresholds, prerequisites, and what a run keeps."""

import errno
import json
from functools import cache
from pathlib import Path
from shutil import copytree
from tempfile import TemporaryDirectory

import numba
import numpy as np
import pytest
from tests.reference import goal_only as reference
from tests.reference.search import TableWorld
from tests.training.examples import SOURCE, quick, small_store, world_of

from rsg.core.errors import RsgError, RunError
from rsg.core.random import stream
from rsg.demos import Demonstration, Recipe, Store
from rsg.domain import make_demonstrations
from rsg.domains.crafting import STANDARD, VOCABULARY
from rsg.planning import Dependencies
from rsg.subgoals import dependencies as module
from rsg.subgoals import learn, load
from rsg.subgoals.dependencies import (
    FILE,
    count_before,
    discover,
    kept_dependencies,
    last_rises,
    prerequisites_of,
)
from rsg.training import Run
from rsg.training.checkpoint import FOLDER

SLOW = bool(numba.config.DISABLE_JIT)
TERMS = ("a", "b", "c")


def same(one, other):
    """Whether two are equal in all that they say."""
    return one.plain() == other.plain()


# The counts.


def random_holds(rng, terms, demonstrations):
    """Demonstrations as (sets of terms that hold in each state, terms that are mentioned), and the same as arrays."""
    plain, rows, shown = [], [], np.zeros((demonstrations, terms), dtype=bool)
    for d in range(demonstrations):
        holds = rng.random((int(rng.integers(2, 9)), terms)) < rng.choice([0.1, 0.4, 0.8])
        shown[d] = rng.random(terms) < 0.6
        plain.append(([set(np.flatnonzero(row).tolist()) for row in holds], set(np.flatnonzero(shown[d]).tolist())))
        rows.append(holds)
    return plain, np.concatenate(rows), np.cumsum([0, *map(len, rows)]), shown


@pytest.mark.kernels
def test_counts_are_the_papers():
    rng = stream(0, "bcount")
    for _ in range(20 if SLOW else 60):
        terms = int(rng.integers(1, 6))
        plain, holds, starts, shown = random_holds(rng, terms, int(rng.integers(1, 12)))
        before, together = count_before(holds, starts, shown)
        assert (before.tolist(), together.tolist()) == reference.count_before(plain, terms)
        rises = last_rises(holds, starts, shown)
        for d, (states, mentioned) in enumerate(plain):
            for term in range(terms):
                rise = reference.last_rise(states, term) if term in mentioned else -1
                assert rises[d, term] == (starts[d] + rise if rise >= 0 else -1)


def test_the_matrix_is_the_counts_as_shares():
    before = np.array([[0, 3, 1], [0, 0, 0], [2, 2, 0]])
    together = np.array([[0, 4, 1], [4, 0, 2], [8, 2, 0]])
    counts = Dependencies(TERMS, before, together, np.zeros(3), before, (((),),) * 3, np.full(3, 0.5))
    assert counts.matrix.tolist() == [[0, 0.75, 0.25], [0, 0, 0], [0.5, 0.5, 0]]
    assert counts.conditional.tolist() == [[0, 0.75, 1], [0, 0, 0], [0.25, 1, 0]]
    assert counts.number("c") == 2
    with pytest.raises(RsgError, match="nothing is known of the term 'd'; there are: a, b, c"):
        counts.number("d")


# Thresholds.


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def chain(text, stages):
    """A demonstration in a row of numbered states: `a` holds from 2 on, `b` from 4 on, `c` from 6 on."""
    states = np.arange(stages)[:, None].astype(np.uint8)
    return Demonstration(states, np.zeros(stages - 1, dtype=np.int64), text)


ROW = TableWorld(np.minimum(np.arange(8) + 1, 7)[:, None], [1.0], np.arange(8, dtype=np.uint8)[:, None])
CHAINS = [chain("a", 3), chain("b", 5), chain("a then b", 5), chain("a then b then c", 7), chain("c", 7)]
RIGHT = [[0, 0, 0], [2, 0, 0], [1, 1, 0]]


def stages(low, high, tiny=0.0):
    """Classifiers whose log-odds are around `low` where a term does not hold, and around `high` where it does."""

    def goal_fn(world, terms, state):
        def goals(states):
            held = states >= [2 * TERMS.index(term) + 2 for term in terms]
            odds = np.where(held, high + 0.1 * states, low + 0.01 * states - tiny * (states == 0))
            return -np.logaddexp(0, -odds), -np.logaddexp(0, odds)

        return goals

    return goal_fn


def found_before(goal_fn, demos=CHAINS, **asked):
    return discover(goal_fn, TERMS, demos, lambda _: ROW, **asked)


@pytest.mark.parametrize("asked", [{}, {"cut": lambda odds: (odds.min() + odds.max()) / 2}], ids=["half", "another"])
def test_all_cuts_agree_where_classifiers_are_sure(asked):
    even = found_before(stages(-30.0, 30.0), **asked)
    assert even.before.tolist() == RIGHT
    assert even.together.tolist() == [[0, 2, 1], [2, 0, 1], [1, 1, 0]]
    assert even.achieved.tolist() == [3, 3, 2]
    assert even.held.tolist() == [[0, 0, 0], [3, 0, 0], [2, 2, 0]]
    assert even.prerequisites == (((),), ((0,),), ((0, 1),))
    assert even.covered.tolist() == [3, 3, 2]
    assert even.demonstrations == 5


@pytest.mark.parametrize(("low", "high"), [(-9.0, -3.0), (3.0, 9.0), (-7.0, -6.5)])
def test_another_cut_for_what_came_before_what(low, high):
    """Classifiers that tell all states apart, but around another probability."""
    skewed = stages(low, high)
    asked = []
    found = found_before(skewed, cut=lambda odds: asked.append(odds) or (low + high) / 2)
    assert [len(odds) for odds in asked] == [sum(len(demo.states) for demo in CHAINS)] * 3
    assert found.before.tolist() == RIGHT
    assert found_before(skewed).before.tolist() != RIGHT
    assert found.prerequisites == (((),),) * 3  # asked as planners do, G ≥ 1/2
    np.testing.assert_allclose(found.thresholds, sigmoid((low + high) / 2))
    assert (found_before(skewed).thresholds == 0.5).all()


# Discovery.


def test_chunks_worlds_and_progress_change_nothing(monkeypatch):
    whole = found_before(stages(-9.0, 3.0))
    other = TableWorld(ROW.after, [1.0], ROW.rows)
    told, asked = [], []

    def goal_fn(world, terms, state):
        asked.append(world)
        return stages(-9.0, 3.0)(world, terms, state)

    monkeypatch.setattr(module, "CHUNK", 2)
    found = discover(goal_fn, TERMS, iter(CHAINS), lambda demo: ROW if "a" in demo.task else other, advance=told.append)
    assert same(found, whole)
    assert told == [2, 2, 1]
    assert {id(world) for world in asked} == {id(ROW), id(other)}


def test_a_new_world_for_each_question():
    """Each world is made when it is asked for; two of them differ in how wide their states are."""

    def make(demo):
        return TableWorld(ROW.after, [1.0], np.repeat(ROW.rows, demo.states.shape[1], axis=1))

    def goal_fn(world, terms, state):
        assert state.shape == world.rows[0].shape
        return lambda states: stages(-9.0, 3.0)(world, terms, state)(states[:, :1])

    wide = [
        Demonstration(np.repeat(demo.states, 2, axis=1), demo.actions, demo.task) if number % 2 else demo
        for number, demo in enumerate(CHAINS)
    ]
    found = discover(goal_fn, TERMS, wide, make)
    assert same(found, found_before(stages(-9.0, 3.0)))


def test_terms_that_are_never_shown():
    found = found_before(stages(-30.0, 30.0), [chain("a", 3)])
    assert found.achieved.tolist() == [1, 0, 0]
    assert not found.before.any()
    assert found.prerequisites == (((),), ((),), ((),))


def test_what_cannot_be_discovered():
    with pytest.raises(RsgError, match="there are no demonstrations to discover dependencies in"):
        found_before(stages(-1.0, 1.0), [])


@cache
def twenty_of_each():
    with TemporaryDirectory() as folder:
        return tuple(make_demonstrations(Recipe("crafting", "train", 20), folder))


def test_with_the_truth_prerequisites_are_the_rules_of_crafting_world():
    found = discover(SOURCE.true_goals, VOCABULARY, twenty_of_each(), world_of)
    expected = reference.by_the_rules(STANDARD.rules, VOCABULARY)
    for term, one, other in zip(VOCABULARY, found.prerequisites, expected, strict=True):
        assert (term, sorted(one)) == (term, sorted(other))
    assert (found.thresholds == 0.5).all()
    assert (found.achieved >= 40).all()


def test_with_the_truth_what_the_rules_ask_for_always_comes_first():
    found = discover(SOURCE.true_goals, VOCABULARY, twenty_of_each(), world_of)
    seen = 0
    for own, alternatives in enumerate(reference.by_the_rules(STANDARD.rules, VOCABULARY)):
        for need in {need for one in alternatives for need in one}:
            assert found.before[own, need] == found.together[own, need]
            assert found.before[need, own] == 0
            seen += found.before[own, need] > 0
    assert seen > 20
    sums = found.matrix.sum(axis=1)
    assert np.all(np.isclose(sums, 1) | (sums == 0))


# Prerequisites.

NEVER = np.zeros(4)


def occasions(*rows):
    """Which terms held each time that `a` was about to come true, `[N, T]`."""
    return np.array([[name in row for name in "abcd"] for row in rows])


def test_what_nearly_always_held_is_necessary():
    assert prerequisites_of(occasions(*["bc"] * 19, "b"), 0, NEVER) == ((1, 2),)
    assert prerequisites_of(occasions(*["bc"] * 17, *["b"] * 3), 0, NEVER) == ((1, 2),)
    assert prerequisites_of(occasions(*["bc"] * 16, *["b"] * 4), 0, NEVER) == ((1,),)


def test_what_holds_of_itself_is_no_prerequisite():
    assert prerequisites_of(occasions(*["ab"] * 9), 0, NEVER) == ((1,),)
    assert prerequisites_of(occasions(*["a"] * 9), 0, NEVER) == ((),)


def test_one_of_several_alternatives():
    assert prerequisites_of(occasions(*["b"] * 6, *["c"] * 4), 0, NEVER) == ((1,), (2,))
    assert prerequisites_of(occasions(*["bd"] * 6, *["c"] * 4), 0, NEVER) == ((1, 3), (2,))
    assert prerequisites_of(occasions(*["b"] * 12, *["c"] * 7, ""), 0, NEVER) == ((1,), (2,))  # nearly always


def test_exactly_nine_of_ten():
    assert prerequisites_of(occasions(*["b"] * 6, *["c"] * 3, ""), 0, NEVER) == ((1,), (2,))


def test_nothing_that_has_a_name():
    assert prerequisites_of(np.zeros((0, 4), dtype=bool), 0, NEVER) == ((),)
    assert prerequisites_of(occasions("", "", ""), 0, NEVER) == ((),)
    assert prerequisites_of(occasions(*["b"] * 5, *[""] * 5), 0, NEVER) == ((),)  # too often without
    assert prerequisites_of(occasions("b", "c", "d", "", ""), 0, NEVER) == ((),)  # none is common


def test_what_holds_just_as_often_anyway_is_no_alternative():
    rows = occasions(*["b"] * 6, *["c"] * 4)
    assert prerequisites_of(rows, 0, np.array([0, 0.25, 0.1, 0])) == ((1,), (2,))
    assert prerequisites_of(rows, 0, np.array([0, 0.35, 0.1, 0])) == ((),)
    assert prerequisites_of(occasions(*["b"] * 9), 0, np.ones(4)) == ((1,),)  # but what always held is necessary


def test_no_more_alternatives_than_are_sensible():
    """Each must explain half of what is left."""
    rows = np.eye(12, dtype=bool)[np.repeat(np.arange(1, 6), [8, 4, 2, 1, 1])]
    assert prerequisites_of(rows, 0, np.zeros(12)) == ((1,), (2,), (3,), (4,))
    even = np.eye(12, dtype=bool)[np.repeat(np.arange(1, 7), 4)]
    assert prerequisites_of(even, 0, np.zeros(12)) == ((),)


# As JSON.


def example():
    rng = stream(0, "example")
    counts = [rng.integers(9, size=(3, 3)) for _ in range(3)]
    needs = (((),), ((0,), (0, 2)), ((1,),))
    several, shares = rng.integers(9, size=(2, 3)), rng.random(3)
    return Dependencies(TERMS, counts[0], counts[1], several[0], counts[2], needs, shares, several[1], 40)


def test_there_and_back_again():
    one = example()
    text = json.dumps(one.plain())
    other = Dependencies.restored(json.loads(text))
    assert same(one, other)
    assert (other.terms, other.prerequisites) == (one.terms, one.prerequisites)
    assert other.demonstrations == 40
    for name in ("before", "together", "achieved", "held", "thresholds", "covered"):
        assert np.array_equal(getattr(other, name), getattr(one, name))
    assert np.array_equal(other.matrix, one.matrix)
    assert np.array_equal(other.rules.needs, one.rules.needs)


def damaged(**changes):
    return {**example().plain(), **changes}


@pytest.mark.parametrize(
    "content",
    [
        {},
        [],
        None,
        "dependencies",
        {key: value for key, value in example().plain().items() if key != "held"},
        damaged(before=[[1, 2], [3, 4]]),
        damaged(achieved=[1, 2]),
        damaged(thresholds=[0.5, "much", 0.5]),
        damaged(thresholds=None),
        damaged(together="many"),
        damaged(prerequisites=[[[]], [[0]]]),
        damaged(prerequisites=[[[]], [[0]], [[3]]]),
        damaged(prerequisites=[[[]], [[0]], [[-1]]]),
        damaged(prerequisites=[[[]], [["b"]], [[0]]]),
        damaged(prerequisites=[1, 2, 3]),
        damaged(terms=["a", "b"]),
        damaged(terms=5),
        damaged(achieved=[10**30, 1, 1]),
        damaged(demonstrations="many"),
        damaged(covered=[1, 2]),
    ],
    ids=range(20),
)
def test_what_is_damaged_is_refused(content):
    with pytest.raises(RsgError, match="these are not dependencies as rsg writes them"):
        Dependencies.restored(content)


# What a run keeps.


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A quick run that knows where its demonstrations are, and what is found in them."""
    folder = tmp_path_factory.mktemp("dependencies")
    store = small_store(folder / "demos")
    source = {"world": "crafting", "demos": str(folder / "demos"), "per_task": None}
    learn(store, world_of, folder / "run", quick(encoder="auto"), tensorboard=False, source=source)
    return folder / "run", load(folder / "run").dependencies


@pytest.fixture
def run(trained, tmp_path):
    """A copy to play with."""
    return Path(copytree(trained[0], tmp_path / "run"))


def forbid(monkeypatch):
    monkeypatch.setattr("rsg.subgoals.subgoals.discover", lambda *_: pytest.fail("found anew"))


def test_what_is_kept_is_used(trained, run, monkeypatch):
    assert trained[1].terms == tuple(Run(run).about["terms"])
    assert trained[1].together.any()
    content = json.loads((run / FILE).read_text())
    assert (content["format"], content["weights"]) == ("rsg-dependencies", Run(run).digest("best"))
    forbid(monkeypatch)
    assert same(load(run).dependencies, trained[1])
    assert same(load(str(run)).dependencies, trained[1])
    assert same(kept_dependencies(run), trained[1])


def test_what_earlier_versions_kept_is_used(trained, run, monkeypatch):
    """They kept one for each of several thresholds, and took the calibrated one."""
    content = json.loads((run / FILE).read_text())
    (found,) = content["by_threshold"].values()
    forbid(monkeypatch)
    for kept in ({"calibrated": found}, {"paper": {}, "calibrated": {}, "half": found}):
        (run / FILE).write_text(json.dumps({**content, "by_threshold": kept}))
        assert same(load(run).dependencies, trained[1])
    (run / FILE).write_text(json.dumps({**content, "by_threshold": {"paper": found}}))
    assert kept_dependencies(run) is None


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: "",
        lambda text: text[: len(text) // 2],
        lambda text: "[]",
        lambda text: "null",
        lambda text: text.replace('"version": 1', '"version": 2'),
        lambda text: text.replace("rsg-dependencies", "another"),
        lambda text: text.replace('"achieved"', '"arrived"'),
        lambda text: text.replace('"held": [[', '"held": [[7, '),
        lambda text: json.dumps({**json.loads(text), "by_threshold": [1, 2]}),
        lambda text: json.dumps({**json.loads(text), "weights": "0" * 64}),  # of another training
        lambda text: json.dumps({**json.loads(text), "weights": None}),
    ],
    ids=["empty", "half", "list", "null", "version", "format", "key", "shape", "no names", "stale", "no weights"],
)
def test_what_is_damaged_or_stale_is_found_anew(trained, run, damage):
    good = (run / FILE).read_text()
    assert damage(good) != good
    (run / FILE).write_text(damage(good))
    assert kept_dependencies(run) is None
    assert same(load(run).dependencies, trained[1])
    assert (run / FILE).read_text() == good


def test_bytes_that_are_no_text(trained, run):
    (run / FILE).write_bytes(b"\xff\xfe\x00\x81")
    assert same(load(run).dependencies, trained[1])
    (run / FILE).unlink()
    (run / FILE).mkdir()
    assert same(load(run).dependencies, trained[1])  # nor does a folder in its place do harm


def sentence(error):
    text = str(error.value)
    assert "\n" not in text
    return text


def from_elsewhere(run, **source):
    """The run says that its demonstrations come from elsewhere, and nothing is kept."""
    (run / FILE).unlink(missing_ok=True)
    content = FOLDER.read(run, dict)
    content["about"]["source"] = {"world": "crafting", **source}
    FOLDER.write(run, {key: content[key] for key in ("about", "checkpoints")})
    return run


def test_demonstrations_that_are_gone(run):
    with pytest.raises(RunError) as error:
        load(from_elsewhere(run, demos="/nowhere/demos")).discover()
    assert sentence(error) == f"the demonstrations of {run} are no longer in /nowhere/demos; give them"
    with pytest.raises(RunError) as error:
        load(from_elsewhere(run)).discover()
    assert sentence(error) == f"{run} does not say where its demonstrations are; give them"
    assert not (run / FILE).exists()


def test_demonstrations_that_are_given(trained, run):
    demos = list(Store(trained[0].parent / "demos"))
    assert same(load(from_elsewhere(run)).discover(demos), trained[1])
    assert same(load(run).dependencies, trained[1])  # they are kept
    told = []
    few = load(run).discover(demos[:40], told.append)
    assert sum(told) == 40
    assert few.together.sum() < trained[1].together.sum()


def test_only_so_many_of_each_as_it_was_trained_on(trained, run):
    store = Store(trained[0].parent / "demos")
    demos = module.training_demonstrations(Run(from_elsewhere(run, demos=str(store.folder), per_task=2)))
    tasks = [demo.task for demo in demos]
    assert {tasks.count(task) for task in tasks} == {2}
    assert set(tasks) == set(SOURCE.tasks("train"))
    for task in tasks[:3]:
        assert [demo for demo in store if demo.task == task][:2] == [demo for demo in demos if demo.task == task]


def test_a_folder_that_cannot_be_written_to_is_read_all_the_same(trained, run, monkeypatch):
    (run / FILE).unlink()

    def full(*_, **__):
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr("rsg.core.files.NamedTemporaryFile", full)
    assert same(load(run).dependencies, trained[1])
    assert not (run / FILE).exists()


def test_a_run_that_is_none(tmp_path):
    with pytest.raises(RunError):
        load(tmp_path / "nothing")
