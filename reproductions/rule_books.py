"""`rsg reproduce rule-books`: words of other meanings in worlds of other rules: not tuned to one rule book."""

from collections.abc import Iterator

import numpy as np

from reproductions.harness.jobs import Job, Place, Plain
from reproductions.harness.reproduce import Experiment, Section
from reproductions.harness.results import Results, mean_or_none, plain, seed_of
from reproductions.harness.tables import number, page, rates_table, table
from reproductions.harness.trials import SPLITS, Size, planned, settings_of
from reproductions.invented import SHAPES, Book, rule_book
from rsg.core.random import stream
from rsg.demos import Demonstration
from rsg.domains.crafting.world import States
from rsg.evaluation.statistics import hundredths
from rsg.subgoals import Classifiers, RsgSettings, learn
from rsg.training.settings import restored

NAME, BOOK = "rule-books", "book"
TRUTH = "-truth"  # added to the names of evaluations that plan with it
WALK = 30  # random steps
EVALUATED = 25_000  # expansions: words are judged here, not the search
FULL = Size(2, {"first": 500, "compositional": 10, "novel": 10, "walks": 10}, 1.0, seeds=20)  # others were looked at
QUICK = Size(2, {"first": 0, "compositional": 1, "novel": 1, "walks": 1}, 0.5, {"steps": 60, "curriculum": 20}, seeds=2)


def jobs(size: Size) -> Iterator[Job]:
    """Each seed is a rule book of its own."""
    for seed in range(size["first"], size["first"] + size.seeds):
        parameters = {
            "seed": seed,
            "per_task": size.demonstrations,
            "settings": settings_of(seed, encoder="auto", **size.changes),
            "evaluations": size.evaluations(seed, budget=EVALUATED),
            "walks": size["walks"],
        }
        yield Job(NAME, f"{BOOK}-seed{seed}", run, parameters, size.minutes)


def run(parameters: Plain, place: Place) -> Plain:
    """Learn from demonstrations of a book, plan, and compare each word with what it means."""
    book = rule_book(parameters["seed"])
    demos = demonstrations(book, parameters["per_task"], parameters["seed"])
    settings = restored(RsgSettings, parameters["settings"])
    found = learn(demos, book.world(), place.run, settings, tensorboard=False)
    truth = {f"{name}{TRUTH}": one for name, one in planned(book, book.true_goals, parameters).items()}
    states = fresh_states(book, parameters["walks"], parameters["seed"])
    return {
        "training": {"cpu_seconds": found.progress.seconds, "steps": found.progress.step},
        "evaluations": {**planned(book, found.classifiers, parameters), **truth},
        "terms": judged(book, found.classifiers, states),
    }


def demonstrations(book: Book, per_task: int, seed: int) -> list[Demonstration]:
    """So many of each training task."""
    return [
        demonstration(book, task, number, seed)
        for task in range(len(book.tasks("train")))
        for number in range(per_task)
    ]


def demonstration(book: Book, task: int, number: int, seed: int) -> Demonstration:
    """One of them; of a word that means several things, each is shown in its turn: what never varies, nobody learns.

    Of this or that, it is the one that comes true; of this and that, the one that was still lacking.
    """
    formula, rng = book.means.get(book.tasks("train")[task]), stream(seed, "demonstrations", task, number)
    while True:
        demo = book.demonstrate("train", task, rng)[0]
        if formula is None:
            return demo
        shown = formula.literals[number % len(formula.literals)]
        first, last = shown.holds(book.world(), demo.states[[0, -1]])
        if last and not first:
            return demo


def fresh_states(book: Book, per_task: int, seed: int) -> States:
    """The states of demonstrations that nobody learned from, and of random walks from random states on their way."""
    world, rng, every = book.world(), stream(seed, "walks"), []
    for task in range(len(book.tasks("train"))):
        for _ in range(per_task):
            seen = book.demonstrate("train", task, rng)[0].states
            state = seen[rng.integers(len(seen))][None]
            every += [
                seen,
                *(state := world.step(state, rng.integers(len(world.actions), size=1)) for _ in range(WALK)),
            ]
    return np.unique(np.concatenate(every), axis=0)


def judged(book: Book, subgoals: Classifiers, states: States) -> list[Plain]:
    """For each word: what it means, and in which share of states it was learned otherwise, and whether it is open."""
    world, words = book.world(), book.vocabulary
    learned = subgoals.evaluate(world, states, subgoals.numbers(words))[:, :, 0] > 0
    wrong = (learned != book.truth(world, states, words)).mean(axis=0)
    readings = getattr(subgoals, "readings", {})  # networks have none
    named = {word for word, reading in readings.items() if reading.open}
    return [
        {"term": word, "means": str(formula), "kind": formula.kind, "wrong": float(share), "open": word in named}
        for (word, formula), share in zip(book.means.items(), wrong, strict=True)
    ]


def section(size: Size, results: Results) -> Section:
    """Success in the mean and book by book, and how many words are right, by book and by what they mean."""
    books = {seed_of(job): one for job, one in results.items()}
    rates = {split: {more: results.rate(BOOK, split + more) for more in ("", TRUTH)} for split in SPLITS}
    words = [word for one in books.values() for word in one["terms"]]
    kinds = {kind: [word for word in words if word["kind"] == kind] for kind in dict.fromkeys(w["kind"] for w in words)}
    evaluations = [split + more for split in SPLITS for more in ("", TRUTH)]
    success = {
        seed: [hundredths(one["evaluations"][name]["success"]) for name in evaluations] for seed, one in books.items()
    }
    text = page(
        NAME,
        per_task=size.demonstrations,
        tasks=len(SHAPES["compositional"].split()),
        budget=f"{EVALUATED:,}",
        books=len(books),
        success=rates_table("split", ["learned", "with the truth"], rates),
        by_book=table(
            ["book", *COUNTED, *(name.replace(TRUTH, ", truth") for name in evaluations)],
            [[str(seed), *_counted(one["terms"]), *success[seed]] for seed, one in books.items()],
        ),
        by_kind=table(
            ["meaning", *COUNTED], [[kind, *_counted(some)] for kind, some in [*kinds.items(), ("all", words)]]
        ),
        seconds=number(mean_or_none(results.training(BOOK, "cpu_seconds")), 1, "s"),
    )
    return Section("Other rule books", text, {"success": plain(rates), "words": words})


COUNTED = ("words", "right", "open", "wrong and not said to be open")


def _counted(words: list[Plain]) -> list[str]:
    right, named = sum(word["wrong"] == 0 for word in words), sum(word["open"] for word in words)
    return [*map(str, (len(words), right, named, sum(word["wrong"] > 0 and not word["open"] for word in words)))]


EXPERIMENT = Experiment(NAME, FULL, QUICK, jobs, section)
