"""Rule books that nobody wrote: other things and recipes for Crafting World, and words that mean small formulas.

A book is a domain like those of the package: a vocabulary, tasks in splits, random starts, an expert. What a word
means is a formula over facts of a state, and is shown to experts and judges only.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from itertools import chain, combinations, count, repeat
from typing import Any, NamedTuple

import numpy as np

from rsg.core.arrays import Array, Bools
from rsg.core.errors import RsgError
from rsg.core.random import stream
from rsg.domain import Domain
from rsg.domains.crafting import CraftingWorld, Rule, Rulebook, Thing, kernels
from rsg.domains.crafting.world import States
from rsg.language import machine_of
from rsg.planning import plan, validate
from rsg.search import Product, SearchSettings

POOLS = {  # names of things, by kind
    "item": "rope clay brick flour bread lamp oil cart coin ring seed herb potion cloth flag ink book nail glass net",
    "place": "oven forge loom mill well kiln market garden quarry altar",
    "switch": "lever button pedal crank",
    "door": "gate hatch curtain",
    "barrier": "wall hedge pond cliff",
}
WORDS = "blicket dax wug toma fep zup kiki lorp mib nerp pim quop"
KINDS = ("raw", "made", "spent", "gone", "on", "and", "or", "and")  # of formulas: what every book has
SHAPES = {  # the tasks of each split, with a word to each letter
    "compositional": "a>b a>b a>b a>b a|b a|b a|b a&b a&b a&b a>b>c a>b>c (a|b)>c a>(b|c) a>(b&c)",
    "novel": "a>b a>b a|b a&b a>b>c a>b>c (a|b)>c (a&b)>c a>(b|c) (a|b)>(c|d)",
}
EXPERT = SearchSettings(Product("optimal"), budget=30_000)
FEW, MAX_DRAWS = 30, 1000  # of starts
ALSO = 0.4  # the chance of what a start may have besides
Things = list[str]


class Literal(NamedTuple):
    """A fact of a thing, or that it is not so: `held`, `lies` on the map, `on` (open, for a door), the agent is `here`.

    >>> print(Literal("lies", "rope", False))
    not lies(rope)
    """

    fact: str
    thing: str
    positive: bool = True

    def __str__(self) -> str:
        return f"{'' if self.positive else 'not '}{self.fact}({self.thing})"

    def holds(self, world: CraftingWorld, states: States) -> Bools:
        """In which states it is so, `[N]`."""
        code = world.rules.code(self.thing)
        slots, cells = np.split(states[:, kernels.HEAD :], [world.capacity], axis=1)
        is_so: Bools
        if self.fact == "held":
            is_so = (slots == code).any(axis=1)
        elif self.fact == "lies":
            is_so = (world.plain[cells] == code).any(axis=1)
        elif self.fact == "on":
            is_so = (cells == world.rules.table[code, 2]).any(axis=1)
        else:
            here = states[:, 0].astype(np.int64) * world.width + states[:, 1]
            is_so = world.plain[cells[np.arange(len(states)), here]] == code
        return is_so if self.positive else ~is_so


@dataclass(frozen=True)
class Formula:
    """Literals, all of which must hold, or any.

    >>> print(Formula((Literal("held", "rope"), Literal("on", "lever")), "and"))
    held(rope) and on(lever)
    """

    literals: tuple[Literal, ...]
    joined: str = "and"

    def __str__(self) -> str:
        return f" {self.joined} ".join(map(str, self.literals))

    @property
    def kind(self) -> str:
        """In a word: what sort of goal that is."""
        if len(self.literals) > 1:
            return "conjunction" if self.joined == "and" else "disjunction"
        return self.literals[0].fact if self.literals[0].positive else "negation"

    @property
    def things(self) -> set[str]:
        """What it speaks of."""
        return {literal.thing for literal in self.literals}

    def holds(self, world: CraftingWorld, states: States) -> Bools:
        """In which states it is true, `[N]`."""
        parts = np.stack([literal.holds(world, states) for literal in self.literals])
        every, some = np.bitwise_and, np.bitwise_or
        return np.asarray((every if self.joined == "and" else some).reduce(parts))


@dataclass
class Scene:
    """A start under way: what lies on the map, what is held, which switches are on already."""

    lying: Things = field(default_factory=list)
    hands: Things = field(default_factory=list)
    on: set[str] = field(default_factory=set)


class Book(Domain):
    """One rule book with its words; see `rule_book`.

    Attributes:
        means: the formula of each word.
    """

    name = "rule-book"
    title = "a rule book"

    splits: dict[str, list[str]]

    def __init__(self, world: CraftingWorld) -> None:
        self._world, self.means, self.splits = world, dict[str, Formula](), {}
        self._kinds = {thing.name: thing.kind for thing in world.rules.things}

    @property
    def vocabulary(self) -> tuple[str, ...]:
        """All words."""
        return tuple(self.means)

    def world(self, setting: str = "") -> CraftingWorld:
        """The one world of the book."""
        del setting
        return self._world

    def truth(self, world: Any, states: States, terms: Sequence[str]) -> Bools:
        """Which subgoals really hold, `[N, terms]`."""
        return np.stack([self.means[term].holds(world, states) for term in terms], axis=1)

    def start(
        self, terms: Sequence[str], rng: np.random.Generator, goal: bool = False, draws: int = MAX_DRAWS
    ) -> tuple[CraftingWorld, States]:
        """A random map and random hands with what the terms take; an error if so many draws give none."""
        del goal
        for _ in range(draws):
            state = self._drawn(terms, rng)
            if state is not None and not self.truth(self._world, state[None], terms).any():
                return self._world, state
        raise RsgError(f"no start was found for {' and '.join(terms)}; some of it may be true whatever is done")

    def expert(
        self, world: Any, state: Array, task: str, rng: np.random.Generator, noise: float = 0.0
    ) -> tuple[Array, Array] | None:
        """A shortest way to do the task, if there is one, judged once more by what really happens."""
        del rng
        assert not noise
        found = plan(world, state, task, self.true_goals, EXPERT)
        right = validate(world, found, task, partial(self.truth, world)).ok
        return (found.states, found.actions) if right else None

    def _drawn(self, terms: Sequence[str], rng: np.random.Generator) -> States | None:
        """A random state with what the terms take, None if it has no room for that."""
        scene, world = Scene(), self._world
        for formula in map(self.means.__getitem__, terms):
            needed = rng.integers(len(formula.literals))
            for number, literal in enumerate(formula.literals):
                if formula.joined == "and" or number == needed or not literal.positive or rng.random() < ALSO:
                    self._arrange(scene, literal, rng)
        others = [name for name in self._scattered if rng.random() < rng.uniform(0.1, 0.6)]
        lying = [*dict.fromkeys(name for name in scene.lying if self._kinds[name] != "item")]
        lying += [name for name in scene.lying if self._kinds[name] == "item"]
        room = world.height * world.width // 3
        lying += [name for name in rng.permutation(others) if name not in lying or self._kinds[name] == "item"]
        items = self._of_kind("item")
        while len(scene.hands) < world.capacity - 3 and rng.random() < 1 - ALSO:
            scene.hands.append(items[rng.integers(len(items))])
        if len(scene.hands) > world.capacity or len(scene.lying) > room:
            return None
        return self._laid_out(lying[:room], scene, rng)

    def _arrange(self, scene: Scene, literal: Literal, rng: np.random.Generator) -> None:
        """Make a scene in which a literal is not true but can be made so.

        What usually comes true with it is true already in some scenes, or does not come true: an item that is to be
        gone from the map is held already, one that is to be had lies there twice, and so on.
        """
        fact, thing, positive = literal
        also = rng.random() < ALSO
        if fact == "held" and positive:
            self._provide(scene, thing, rng)
        elif fact == "held":
            using = [rule for rule in self._world.rules.rules if thing in rule.uses]
            rule = using[rng.integers(len(using))]
            scene.hands += [thing, rule.gives] if also else [thing]
            self._supply(scene, rule, rng, without=thing)
        else:
            scene.lying += [thing] * int(rng.integers(1, 3))
            scene.hands += [thing] if also and fact == "lies" else []
            if self._kinds[thing] == "door":
                switches = self._of_kind("switch")
                scene.lying.append(switches[rng.integers(len(switches))])
            if fact == "on" and not positive:
                scene.on.add(thing)

    def _provide(self, scene: Scene, item: str, rng: np.random.Generator) -> None:
        """Let an item be had: it lies there, once or twice, or what makes it."""
        making = [rule for rule in self._world.rules.rules if rule.gives == item]
        if making:
            self._supply(scene, making[rng.integers(len(making))], rng)
        else:
            scene.lying += [item] * int(rng.integers(1, 3))

    def _supply(self, scene: Scene, rule: Rule, rng: np.random.Generator, without: str = "") -> None:
        """Let a rule be followed: its place, and each item in the hands, once or twice, or to be had."""
        scene.lying.append(rule.at)
        for item in (*rule.tools, *rule.uses):
            if item != without and rng.random() < ALSO:
                scene.hands += [item] * int(rng.integers(1, 3))
            elif item != without:
                self._provide(scene, item, rng)

    def _laid_out(self, lying: Sequence[str], scene: Scene, rng: np.random.Generator) -> States:
        """Things in random cells, sometimes with a fence between two parts of the map; the agent on free ground."""
        world, names = self._world, self._world.rules.names
        grid = np.full((world.height, world.width), "floor", dtype=object)
        if rng.random() < ALSO / 2:
            fence, middle = grid if rng.random() < 0.5 else grid.T, int(rng.integers(1, min(grid.shape) - 1))
            fence[middle] = rng.choice(self._of_kind("barrier"))
            fence[middle, rng.integers(fence.shape[1])] = rng.choice(self._of_kind("door"))
        free = [tuple(cell) for cell in rng.permutation(np.argwhere(grid == "floor")).tolist()]
        for name in lying:
            grid[free.pop()] = name
        on = {name for name in self._of_kind("switch") if name in scene.on or rng.random() < 0.2}
        on &= set(lying)
        on |= set(self._of_kind("door")) if on else set()  # a switch that is on has opened them
        changed = {name: names[world.rules.table[world.rules.code(name), 2]] for name in on}
        objects = {cell: changed.get(name, name) for cell, name in np.ndenumerate(grid) if name != "floor"}
        ground = [cell for cell, name in np.ndenumerate(grid) if self._kinds.get(name) not in ("barrier", "door")]
        return world.state(objects, ground[rng.integers(len(ground))], scene.hands)

    def _of_kind(self, kind: str) -> list[str]:
        return [name for name, one in self._kinds.items() if one == kind]

    @property
    def _scattered(self) -> list[str]:
        """What may lie anywhere: all but what is made by rules only."""
        made = {rule.gives for rule in self._world.rules.rules}
        return [name for name in self._kinds if name not in made]


@cache
def rule_book(seed: int) -> Book:
    """The rule book of that number: its world, 8 to 12 words, and tasks that can be done.

    >>> book = rule_book(0)
    >>> print(book.means["quop"])
    not held(flag) and on(crank)
    >>> book.tasks("novel")[6]
    'lorp or zup then blicket'
    """
    rng = stream(seed, "rule-book")
    height, width, capacity = rng.integers(6, 9, size=3).tolist()
    book = Book(CraftingWorld(height, width, capacity, rules=_rules(rng)))
    words = rng.permutation(WORDS.split())[: rng.integers(8, 13)].tolist()
    for word, kind in zip(words, chain(KINDS, repeat("any")), strict=False):
        _give_meaning(book, word, kind, rng)
    often = Counter[str]()
    book.splits = {"primitive": words}
    for split, shapes in SHAPES.items():
        book.splits[split] = []
        for shape in shapes.split():
            book.splits[split].append(_task(book, shape, often, rng))
    book.splits["train"] = [*words, *book.splits["compositional"]]
    return book


def _rules(rng: np.random.Generator) -> Rulebook:
    """Random things, and recipes in which what is made later may use what is made earlier."""
    sizes = {"item": rng.integers(10, 15), "place": rng.integers(5, 8), "switch": 2, "door": rng.integers(1, 3)}
    sizes["barrier"] = rng.integers(1, 4)
    names = {kind: rng.permutation(pool.split())[: sizes[kind]].tolist() for kind, pool in POOLS.items()}
    items, raw = names["item"], len(names["item"]) // 2
    rules = []
    for number in range(raw, len(items)):
        parts = rng.permutation(items[:number])[: rng.integers(1, 4)].tolist()
        tools = int(rng.integers(len(parts)))  # something is used up
        rules.append(Rule(items[number], str(rng.choice(names["place"])), tuple(parts[:tools]), tuple(parts[tools:])))
    keys = {name: str(rng.choice(items[:raw])) for kind in ("door", "barrier") for name in names[kind]}
    keys[names["barrier"][0]] = ""  # nothing lets the agent pass
    things = [(name, kind) for kind, some in names.items() for name in some]
    symbols = (chr(code) for code in range(ord("A"), 127) if chr(code).isalnum())
    made = (Thing(name, kind, next(symbols), keys.get(name) or None) for name, kind in things)  # type: ignore[arg-type]
    return Rulebook(tuple(made), tuple(rules))


def _give_meaning(book: Book, word: str, kind: str, rng: np.random.Generator) -> None:
    """A meaning that no other word has, and that can be made true from most starts."""
    others = set(book.means.values())
    while True:
        book.means[word] = _formula(book.world().rules, kind, rng)
        if book.means[word] not in others and _can_be_done(book, word, rng):
            return


def _formula(rules: Rulebook, kind: str, rng: np.random.Generator) -> Formula:
    """A random formula of one of the `KINDS`, or of any."""
    names = {kind: [thing.name for thing in rules.things if thing.kind == kind] for kind in POOLS}
    made = sorted({rule.gives for rule in rules.rules})
    raw = [name for name in names["item"] if name not in made]
    literals = {
        "raw": [Literal("held", name) for name in raw],
        "made": [Literal("held", name) for name in made],
        "spent": [
            Literal("held", name, False) for name in sorted({name for rule in rules.rules for name in rule.uses})
        ],
        "gone": [Literal("lies", name, False) for name in raw],
        "here": [Literal("here", name) for name in names["place"]],
        "on": [Literal("on", name) for name in (*names["switch"], *names["door"])],
        "off": [Literal("on", name, False) for name in names["switch"]],
    }
    if kind == "any":
        kind = str(rng.choice([*literals, "and", "or", "and", "or"]))
    if kind in literals:
        return Formula((literals[kind][rng.integers(len(literals[kind]))],))
    # Things that have to do with each other are left out: one literal may follow from the other.
    together = [{rule.gives, rule.at, *rule.tools, *rule.uses} for rule in rules.rules]
    together += [{*names["switch"], *names["door"]}, *({thing.name} for thing in rules.things)]
    while True:
        some = [literals[one] for one in rng.choice([*literals], size=2)]
        pair = tuple(sorted(one[rng.integers(len(one))] for one in some))
        if not any({literal.thing for literal in pair} <= group for group in together):
            return Formula(pair, kind)


def _task(book: Book, shape: str, often: Counter[str], rng: np.random.Generator) -> str:
    """A new task of a shape that can be done from most starts, of words that came up less often than others."""
    known = {text for some in book.splits.values() for text in some}
    letters = sorted(set(shape) & set("abcd"))
    for attempt in count():
        noise = dict(zip(book.vocabulary, rng.random(len(book.vocabulary)) * (1 + attempt / 8), strict=True))
        words = sorted(noise, key=lambda word: often[word] + noise[word])[: len(letters)]
        text = str(machine_of("".join(dict(zip(letters, words, strict=True)).get(sign, sign) for sign in shape)).task)
        apart = not any(book.means[one].things & book.means[other].things for one, other in combinations(words, 2))
        if apart and text not in known and _can_be_done(book, text, rng):
            often.update(words)
            return text
    raise AssertionError


def _can_be_done(book: Book, text: str, rng: np.random.Generator) -> bool:
    """Whether starts are easy to find, and the expert does the task from at least half of some."""
    try:
        terms = machine_of(text).names
        return sum(bool(book.expert(*book.start(terms, rng, draws=FEW), text, rng)) for _ in range(6)) >= 3
    except RsgError:  # there is no start
        return False
