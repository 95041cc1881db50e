"""Rule books that nobody wrote: what their words mean, tasks, starts, demonstrations, and what is judged right."""

from collections import Counter
from types import SimpleNamespace

import numpy as np
import pytest

from reproductions import rule_books
from reproductions.harness.jobs import Place
from reproductions.harness.results import Results
from reproductions.invented import KINDS, Formula, Literal, rule_book
from reproductions.rule_books import QUICK, demonstrations, fresh_states, judged
from rsg.domains.crafting import CraftingWorld, Rule, Rulebook, Thing
from rsg.language import machine_of, parse, satisfies

TABLE = Rulebook(
    (
        Thing("rope", "item", "r"),
        Thing("oven", "place", "o"),
        Thing("lever", "switch", "l"),
        Thing("gate", "door", "g"),
    ),
    (Rule("rope", "oven"),),
)


class Meant:
    """As learned classifiers are asked: formulas in the place of networks."""

    def __init__(self, means, readings):
        self.means, self.readings = means, readings

    def numbers(self, terms):
        return [[*self.means].index(term) for term in terms]

    def evaluate(self, world, states, numbers):
        means = [*self.means.values()]
        holds = np.stack([means[number].holds(world, states) for number in numbers], axis=1)
        odds = np.where(holds, 5.0, -5.0)
        return np.stack([odds, -odds], axis=-1)


@pytest.fixture(scope="module")
def book():
    return rule_book(100)


@pytest.fixture(scope="module")
def demos(book):
    return demonstrations(book, 1, 0)


def test_facts_of_a_state():
    world = CraftingWorld(2, 2, rules=TABLE)
    kept = world.state({(0, 0): "oven", (1, 1): "lever-on"}, agent=(0, 0), inventory=["rope"])
    other = world.state({(0, 0): "oven", (0, 1): "rope", (1, 1): "gate"}, agent=(0, 1))
    states = np.stack([kept, other])
    expected = {
        ("held", "rope"): [True, False],
        ("lies", "rope"): [False, True],
        ("lies", "lever"): [True, False],
        ("lies", "gate"): [False, True],
        ("on", "lever"): [True, False],
        ("on", "gate"): [False, False],
        ("here", "oven"): [True, False],
        ("here", "rope"): [False, True],
    }
    for (fact, thing), holds in expected.items():
        assert Literal(fact, thing).holds(world, states).tolist() == holds, (fact, thing)
        assert Literal(fact, thing, False).holds(world, states).tolist() == [not one for one in holds]
    both = (Literal("held", "rope"), Literal("here", "rope"))
    assert Formula(both, "and").holds(world, states).tolist() == [False, False]
    assert Formula(both, "or").holds(world, states).tolist() == [True, True]


@pytest.mark.parametrize("seed", [100, 101, 102])
def test_a_book_has_words_of_all_kinds_and_no_task_twice(seed):
    book = rule_book(seed)
    means = list(book.means.values())
    assert len(KINDS) <= len(means) == len(set(means)) <= 12
    assert {formula.kind for formula in means} >= {"held", "negation", "on", "conjunction", "disjunction"}
    tasks = [text for split in ("primitive", "compositional", "novel") for text in book.tasks(split)]
    assert len(tasks) == len(set(tasks)) == len(means) + 15 + 10
    assert book.tasks("train") == book.tasks("primitive") + book.tasks("compositional")
    often = Counter(name for text in book.tasks("compositional") for name in machine_of(text).names)
    assert min(often[word] for word in book.vocabulary) >= 2


def test_books_and_demonstrations_follow_from_the_seed(book, demos):
    again = rule_book.__wrapped__(100)
    assert again.means == book.means
    assert again.world() == book.world()
    assert again.splits == book.splits
    assert demonstrations(again, 1, 0) == demos
    assert demonstrations(book, 1, 1) != demos
    assert rule_book(101).means != book.means


def test_every_demonstration_does_its_task_and_begins_with_nothing_done(book, demos):
    world = book.world()
    assert [demo.task for demo in demos] == book.tasks("train")
    for demo in demos:
        assert np.array_equal(world.step(demo.states[:-1], demo.actions), demo.states[1:])
        terms = machine_of(demo.task).names
        holds = book.truth(world, demo.states, terms)
        assert not holds[0].any()
        assert satisfies(holds, parse(demo.task), terms)


def test_an_expert_takes_no_step_in_vain(book, demos):
    """No single word's goal is true before the end."""
    for demo in demos[: len(book.vocabulary)]:
        holds = book.truth(book.world(), demo.states, [demo.task])[:, 0]
        assert holds.tolist() == [False] * len(demo) + [True]


def test_either_way_to_a_disjunction_is_shown(book):
    for word, formula in book.means.items():
        if formula.joined == "or":
            ends = np.stack([demo.states[-1] for demo in demonstrations(book, 2, 0) if demo.task == word])
            assert all(literal.holds(book.world(), ends).any() for literal in formula.literals)


def test_words_differ_in_what_was_shown(book):
    shown = np.concatenate([demo.states for demo in demonstrations(book, 2, 0)])
    holds = book.truth(book.world(), shown, book.vocabulary)
    assert len({column.tobytes() for column in holds.T}) == len(book.vocabulary)
    assert (holds.any(axis=0) & ~holds.all(axis=0)).all()


def test_only_the_truth_is_judged_right(book):
    states = fresh_states(book, 1, 0)
    settled = dict.fromkeys(book.vocabulary, SimpleNamespace(open=()))
    right = judged(book, Meant(book.means, settled), states)
    assert [row["term"] for row in right] == list(book.vocabulary)
    assert all(row["wrong"] == 0 and not row["open"] for row in right)
    shifted = dict(zip(book.means, [*book.means.values()][1:] + [*book.means.values()][:1], strict=True))
    assert all(row["wrong"] > 0 for row in judged(book, Meant(shifted, settled), states))
    one_open = settled | {book.vocabulary[1]: SimpleNamespace(open=("something else",))}
    said = judged(book, Meant(book.means, one_open), states)
    assert [row["open"] for row in said] == [i == 1 for i in range(len(said))]


def test_a_job_and_its_section(tmp_path):
    (first, second) = rule_books.jobs(QUICK)
    result = first.run(first.parameters, Place(tmp_path, tmp_path / "job"))
    assert {"compositional", "novel", "compositional-truth", "novel-truth"} == set(result["evaluations"])
    assert result["evaluations"]["novel-truth"]["success"] == 1.0
    other = {**result, "terms": [{**row, "wrong": 0.5, "open": False} for row in result["terms"]]}
    section = rule_books.section(QUICK, Results({first.name: result, second.name: other}))
    assert f"| 1 | {len(other['terms'])} | 0 | 0 | {len(other['terms'])} |" in section.text
    assert section.summary["success"]["novel"]["-truth"]["mean"] == 1.0
    assert len(section.summary["words"]) == 2 * len(result["terms"])
