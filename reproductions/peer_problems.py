"""Problems for our planners and for others': a state of Crafting World and a term that is to come true."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from rsg.core.errors import RsgError
from rsg.core.random import stream
from rsg.demos import benchmark
from rsg.planning import Plan, plan
from rsg.search import SearchSettings
from rsg.worlds.crafting import VOCABULARY, CraftingWorld, truth
from rsg.worlds.crafting.goal_starts import HANDS, leading_to, start_for
from rsg.worlds.crafting.maps import objects_for, sample_map
from rsg.worlds.crafting.rules import ITEM
from rsg.worlds.crafting.world import States

OBSTACLES = ("key-door", "switch-door", "river", "river-and-room", "islands", "key-or-boat")
NO_PLAN_EACH = 10  # of so many problems, one has no plan
EXPANSIONS = 100_000  # within which ours knows the answer to a problem that is drawn for both
MAX_DRAWS = 2000
LEAST = 5  # steps of a plan, if there is to be one
_SIZES = (4, 5, 6, 7)


class Problem(NamedTuple):
    """Where it starts, what is to come true, and what it is called."""

    name: str
    world: CraftingWorld
    state: States
    term: str


@dataclass(frozen=True)
class Draw:
    """How a problem is drawn: on an open field or one with an obstacle, with a plan or without."""

    seed: int
    number: int
    expansions: int = EXPANSIONS

    @property
    def solvable(self) -> bool:
        """Whether there is to be a plan."""
        return self.number % NO_PLAN_EACH != NO_PLAN_EACH - 1

    def problem(self) -> tuple[Problem, Plan]:
        """The problem, and the cheapest plan (or that there is none) as our search finds it."""
        for attempt in range(MAX_DRAWS):
            drawn = self._drawn(stream(self.seed, "peers", self.number, attempt))
            if drawn is None:
                continue
            made = cheapest(drawn, self.expansions)
            if (made.found and len(made.actions) >= LEAST) if self.solvable else made.ended == "exhausted":
                return drawn, made
        raise RsgError(f"no problem {self.number} was found in {MAX_DRAWS} draws; take another seed")

    def _drawn(self, rng: np.random.Generator) -> Problem | None:
        """One try: a map, then another capacity, more items on the ground and in the hands."""
        term = VOCABULARY[rng.integers(len(VOCABULARY))]
        on_open_field = (self.number + self.number // NO_PLAN_EACH) % 2 == 0
        kind = "open" if on_open_field else OBSTACLES[rng.integers(len(OBSTACLES))]
        needs = objects_for(leading_to(term))
        try:
            if kind == "open":
                size = int(rng.choice(_SIZES))
                world, state = start_for(term, HANDS[rng.integers(len(HANDS))], size, rng)
            else:
                world, state = sample_map(kind, rng, needs)
        except RsgError:  # it does not fit onto the map
            return None
        if not self.solvable:
            cells = world.cells(state)  # one thing that may be needed is not there
            cells[cells == world.rules.code(needs[rng.integers(len(needs))])] = 0
        world, state = _varied(world, state, rng)
        no_switch = not (world.cells(state) == world.rules.code("switch")).any()
        if truth(world, state[None], [term])[0, 0] or (term == "toggle-switch" and no_switch):
            return None  # a switch that is not there cannot be a goal in PDDL
        size_text = f"{world.height}x{world.width}"
        return Problem(f"{self.number:03d} {term} on {kind} {size_text}, capacity {world.capacity}", world, state, term)


def _varied(world: CraftingWorld, state: States, rng: np.random.Generator) -> tuple[CraftingWorld, States]:
    """The same map with another capacity, more items on the ground, several of a kind among them, and in the hands."""
    names, codes = world.rules.names, world.cells(state)
    items = [names[code] for code in np.flatnonzero(world.rules.kinds == ITEM)]
    few = rng.choice(items, size=3)
    objects = {(int(y), int(x)): names[codes[y, x]] for y, x in np.argwhere(codes)}
    ground = [(int(y), int(x)) for y, x in np.argwhere(codes == 0)]
    for place in rng.permutation(len(ground))[: rng.integers(4)]:
        objects[ground[place]] = str(rng.choice(few))
    held = list(world.inventory(state))
    capacity = max(int(rng.integers(2, 7)), len(held))
    held += [str(rng.choice(few)) for _ in range(rng.integers(capacity - len(held) + 1))]
    other = CraftingWorld(world.height, world.width, capacity)
    return other, other.state(objects, (int(state[0]), int(state[1])), held)


def open_field(term: str, size: int, seed: int) -> Problem:
    """A map on which all that can help is within a walk; the hands are empty."""
    world, state = start_for(term, "empty", size, stream(seed, "peers", size, term))
    return Problem(f"{term} on {size}x{size}, map {seed}", world, state, term)


def cheapest(problem: Problem, budget: int | None = None, time_limit: float | None = None) -> Plan:
    """The plan with the least cost, by our search."""
    settings = SearchSettings(order="optimal", budget=budget, time_limit=time_limit)
    return plan(problem.world, problem.state, problem.term, benchmark("crafting").true_goals, settings)
