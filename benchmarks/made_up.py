"""Rule books that a generator makes: chains of things that are made from each other, and as many words as one likes."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from rsg.core.random import stream
from rsg.domains.crafting import CraftingWorld, Rule, Rulebook, Thing
from rsg.domains.crafting.world import States
from rsg.planning import Dependencies

SYMBOLS = [chr(code) for code in range(ord("A"), ord("A") + 400) if chr(code).isalpha()]


def dependencies(terms: Sequence[str], needs: Sequence[Sequence[Sequence[str]]]) -> Dependencies:
    """What each term needs, in alternatives, as if demonstrations had shown it."""
    ways = tuple(tuple(tuple(terms.index(one) for one in way) for way in some) for some in needs)
    nothing, none = np.zeros((len(terms), len(terms)), dtype=np.int64), np.zeros(len(terms), dtype=np.int64)
    return Dependencies(tuple(terms), nothing, nothing, none, nothing, ways, np.full(len(terms), 0.5))


class Chain(NamedTuple):
    """A rule book in which the last of some terms takes all others."""

    rules: Rulebook
    known: Dependencies
    objects: tuple[str, ...]  # what must lie on the map

    @property
    def goal(self) -> str:
        """The last term."""
        return self.known.terms[-1]

    def start(self, side: int, objects: int, rng: np.random.Generator) -> tuple[CraftingWorld, States]:
        """A map on which everything lies once, and as many useless things as there is room for; empty hands."""
        useless = [thing.name for thing in self.rules.things if thing.name.startswith("useless")]
        lying = [*self.objects, *rng.choice(useless, size=objects - len(self.objects)).tolist()]
        agent, *places = (divmod(cell, side) for cell in rng.permutation(side * side)[: objects + 1].tolist())
        world = CraftingWorld(side, side, capacity=len(self.known.terms) + 2, objects=objects, rules=self.rules)
        return world, world.state(dict(zip(places, lying, strict=True)), agent)


def chain(length: int, rng: np.random.Generator, useless: int = 6) -> Chain:
    """Things one after the other, each found or made of earlier ones at a place of its own.

    What is used up is used once, and tools are never used up: so the last one can always be made.
    """
    names = [f"thing{number}" for number in range(length)]
    tools = {name for name in names if rng.random() < 0.5}
    rules: dict[str, Rule] = {}
    spare: list[str] = []  # what nothing is made of yet
    for number, name in enumerate(names):
        last = number == length - 1
        if number and (last or rng.random() < 2 / 3):
            spare = rng.permutation(spare).tolist()
            parts, spare = (spare, []) if last else (spare[:2], spare[2:])
            again = [one for one in names[:number] if one in tools and one not in parts and rng.random() < 1 / number]
            with_tools = [one for one in (*parts, *again) if one in tools]
            rules[name] = Rule(
                name, f"place{number}", tuple(with_tools), tuple(one for one in parts if one not in tools)
            )
        spare.append(name)
    things = [(name, "item") for name in names] + [(rule.at, "place") for rule in rules.values()]
    things += [(f"useless{number}", "item") for number in range(useless)]
    book = Rulebook(
        tuple(Thing(*thing, symbol) for thing, symbol in zip(things, SYMBOLS, strict=False)),  # type: ignore[arg-type]
        tuple(rules.values()),
    )
    terms = {name: f"craft-{name}" if name in rules else f"grab-{name}" for name in names}
    needs = [
        [[terms[one] for one in (*rules[name].tools, *rules[name].uses)]] if name in rules else [[]] for name in names
    ]
    objects = tuple(name for name in names if name not in rules) + tuple(rule.at for rule in rules.values())
    return Chain(book, dependencies(list(terms.values()), needs), objects)


def chains(length: int, seeds: Sequence[int]) -> Iterator[tuple[int, Chain]]:
    """A rule book of each seed."""
    for seed in seeds:
        yield seed, chain(length, stream(seed, "chain", length))
