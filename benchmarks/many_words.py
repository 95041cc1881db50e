"""Many words in a world of many things: what it takes to learn them, and to plan with what was learned.

A world has at most 255 kinds of things, so a thing has several words: that it is held, that it is gone from the map.
"""

import time
from collections.abc import Iterator
from functools import partial

import numpy as np

import rsg
from benchmarks.harness import peak_mb
from benchmarks.made_up import SYMBOLS
from reproductions.invented import Book, Formula, Literal
from rsg.core.errors import RsgError
from rsg.core.random import stream
from rsg.demos import Demonstration
from rsg.domains.crafting import CraftingWorld, Rule, Rulebook, Thing
from rsg.planning import validate

SEED = 300
SHOWN = 4  # demonstrations of each word
TRIES = 30  # starts, until a word can be shown
ASKED, TERMS = 40, 3  # instructions that are planned for, and their words


def learned_words(words: int) -> dict[str, float]:
    """CPU seconds and megabytes for learning so many words, the share that is right, and what plans take then."""
    book, shown = taught(words, stream(SEED, "words", words))
    few = [demo for demo in shown if demo.task in book.vocabulary[:4]]
    warm = rsg.learn(few, book)  # compiles
    warm.plan(book.world(), few[0].states[0], few[0].task)
    begun = time.process_time()
    subgoals = rsg.learn(shown, book)
    figures = {"learn_s": time.process_time() - begun, "learn_mb": peak_mb()}
    world, states = book.world(), np.unique(np.concatenate([demo.states for demo in shown]), axis=0)[::5]
    names = book.vocabulary
    holds = subgoals.classifiers.evaluate(world, states, subgoals.classifiers.numbers(names))[:, :, 0] > 0
    figures["right"] = float((holds == book.truth(world, states, names)).all(axis=0).mean())
    rows = list(_plans(book, subgoals))
    for number, name in enumerate(("success", "expansions_mean", "plan_ms")):
        column = [row[number] for row in rows]
        figures[name] = float(np.median(column) if name == "plan_ms" else np.mean(column))
    return {name: round(figure, 4) for name, figure in figures.items()}


def _plans(book: Book, subgoals: rsg.Subgoals) -> Iterator[tuple[bool, int, float]]:
    """Whether plans do what is asked, by what the words mean; their expansions and CPU milliseconds."""
    rng = stream(SEED, "words", "asked", len(book.vocabulary))
    done = 0
    while done < ASKED:
        names = rng.permutation(book.vocabulary)[:TERMS].tolist()
        text = " then ".join(names)
        try:
            world, state = book.start(names, rng, draws=TRIES)
        except RsgError:  # they do not go together
            continue
        if book.expert(world, state, text, rng) is None:
            continue
        begun = time.process_time()
        made = subgoals.plan(world, state, text)
        spent = 1000 * (time.process_time() - begun)
        done += 1
        yield bool(validate(world, made, text, partial(book.truth, world)).ok), made.expansions, spent


def taught(words: int, rng: np.random.Generator) -> tuple[Book, list[Demonstration]]:
    """A book of so many words, and demonstrations of each."""
    book = Book(CraftingWorld(8, 8, 8, rules=_rules(min(10 + int(0.45 * words), 235), rng)))
    shown: list[Demonstration] = []
    for formula in _formulas(book.world().rules, words, rng):
        word = f"word{len(book.means)}"
        book.means[word] = formula
        if ways := _shown(book, word, rng):
            shown += ways
        else:
            del book.means[word]
        if len(book.means) == words:
            return book, shown
    raise RsgError(f"there are not {words} words that can be shown")


def _shown(book: Book, word: str, rng: np.random.Generator) -> list[Demonstration]:
    """Demonstrations of a word, none if that is hard."""
    found: list[Demonstration] = []
    for _ in range(TRIES):
        try:
            world, state = book.start([word], rng, draws=TRIES)
        except RsgError:
            return []
        if way := book.expert(world, state, word, rng):
            found.append(Demonstration(*way, word))
        if len(found) == SHOWN:
            return found
    return []


def _rules(things: int, rng: np.random.Generator) -> Rulebook:
    """Half of two thirds of the things are found, the other half is made of one or two of these at a place."""
    items = [f"item{number}" for number in range(2 * things // 3)]
    places = [f"place{number}" for number in range(things - len(items) - 4)]
    found, made = items[: len(items) // 2], items[len(items) // 2 :]
    rules = []
    for name in made:
        parts = rng.permutation(found)[: rng.integers(1, 3)].tolist()
        rules.append(Rule(name, str(rng.choice(places)), tuple(parts[1:]), (parts[0],)))
    kinds = {"item": items, "place": places, "switch": ["lever", "button"], "door": ["gate"], "barrier": ["wall"]}
    named = [(name, kind) for kind, names in kinds.items() for name in names]
    return Rulebook(
        tuple(Thing(*thing, symbol) for thing, symbol in zip(named, SYMBOLS, strict=False)),  # type: ignore[arg-type]
        tuple(rules),
    )


def _formulas(rules: Rulebook, words: int, rng: np.random.Generator) -> Iterator[Formula]:
    """What words may mean, in a random order: three of four are facts of one thing, the others that two are held."""
    made = {rule.gives for rule in rules.rules}
    items = [thing.name for thing in rules.things if thing.kind == "item"]
    found = [name for name in items if name not in made]
    single = [Literal("held", name) for name in items] + [Literal("lies", name, False) for name in found]
    single += [Literal("held", name, False) for name in sorted({one for rule in rules.rules for one in rule.uses})]
    single += [Literal("here", thing.name) for thing in rules.things if thing.kind == "place"]
    single += [Literal("on", thing.name) for thing in rules.things if thing.kind == "switch"]
    some = [Formula((single[number],)) for number in rng.permutation(len(single))]
    both = [(one, other) for one in found for other in found if one < other]
    pairs = [Formula(tuple(Literal("held", one) for one in both[number])) for number in rng.permutation(len(both))]
    yield from some[: -(-3 * words // 4)]
    yield from pairs[: words // 4]
    yield from some[-(-3 * words // 4) :]
    yield from pairs[words // 4 :]
