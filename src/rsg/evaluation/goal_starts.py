"""Starts for any goal of Crafting World: open maps with all that it can need within a walk, or all but one thing.

What needs what is read off the rule table; a learner sees nothing of it.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import cache
from typing import NamedTuple

import numpy as np

from rsg.core.errors import RsgError
from rsg.worlds.crafting import STANDARD, VOCABULARY, CraftingWorld, Rule, kernels, truth
from rsg.worlds.crafting.maps import objects_for, sample_map
from rsg.worlds.crafting.world import States

KIND = "large-field"
HANDS = ("primitive", "tools", "empty")
MAX_DRAWS = 1000
MOVES = 4  # the first actions are those that only move


def _rules(term: str) -> list[Rule]:
    """The rules by which a term can come true; none for what is grabbed or toggled."""
    verb, _, item = term.partition("-")
    return [rule for rule in STANDARD.rules if rule.gives == item] if verb in ("mine", "craft") else []


@cache
def ways(term: str) -> tuple[frozenset[str], ...]:
    """What a term needs: alternatives, each a set of terms, tools and ingredients alike.

    >>> [sorted(way) for way in ways("mine-wool")], [sorted(way) for way in ways("grab-axe")]
    ([['craft-shears'], ['craft-sword']], [[]])
    """
    makers = {name.partition("-")[2]: name for name in VOCABULARY}
    found = [frozenset(makers[item] for item in (*rule.tools, *rule.uses)) for rule in _rules(term)]
    return tuple(found) or (frozenset(),)


@cache
def leading_to(term: str) -> tuple[str, ...]:
    """The term, and all terms from which a way leads to it.

    >>> leading_to("craft-boat")
    ('craft-boat', 'craft-wood-plank', 'mine-wood', 'grab-axe')
    """
    found = [term]
    for one in found:  # grows meanwhile
        found += [need for way in ways(one) for need in sorted(way) if need not in found]
    return tuple(dict.fromkeys(found))


def possible(objects: Collection[str]) -> set[str]:
    """The terms that can come true from empty hands where these objects are within reach.

    >>> sorted(possible({"axe", "tree", "boat-station"}))
    ['grab-axe', 'mine-wood']
    """
    found: set[str] = set()
    there = [term for term in VOCABULARY if set(objects_for([term])) <= set(objects)]
    while True:
        more = {term for term in there if term not in found and any(way <= found for way in ways(term))}
        if not more:
            return found
        found |= more


def start_for(term: str, hands: str, size: int, rng: np.random.Generator) -> tuple[CraftingWorld, States]:
    """A square map of that size and its first state `[W]`, in which the term is false.

    Args:
        term: what is to come true. All objects that can help lie where one can walk without a key or a boat.
        hands: `primitive`: tools and ingredients of one of the term's rules; `tools`: only its tools; `empty`.
        size: rows and columns.
        rng: where chance comes from.
    """
    needs = objects_for(leading_to(term))
    rules = _rules(term)
    held: tuple[str, ...] = ()
    if rules and hands != "empty":
        rule = rules[rng.integers(len(rules))]
        held = (*rule.tools, *rule.uses) if hands == "primitive" else rule.tools
    for _ in range(MAX_DRAWS):
        world, state = sample_map(KIND, rng, needs, held, (size, size))
        if set(needs) <= within_walk(world, state) and not truth(world, state[None], [term])[0, 0]:
            return world, state
    raise RsgError(f"no {size}×{size} map was found on which all that {term} needs is within a walk; take a larger one")


def within_walk(world: CraftingWorld, state: States) -> set[str]:
    """The names of the objects that can be walked to with empty hands."""
    first = state.copy()
    first[kernels.HEAD : kernels.HEAD + world.capacity] = 0
    seen, frontier = {first.tobytes()}, first[None]
    names = set[str]()
    while len(frontier):
        places = world.cells(frontier)[np.arange(len(frontier)), frontier[:, 0], frontier[:, 1]]
        names |= {world.rules.names[code] for code in places.tolist()}
        after = np.unique(world.successors(frontier)[:, :MOVES].reshape(-1, world.state_width), axis=0)
        frontier = after[[row.tobytes() not in seen for row in after]]
        seen |= {row.tobytes() for row in frontier}
    return names - {"floor"}


class NoWay(NamedTuple):
    """A start from which a goal cannot be reached.

    Attributes:
        world, state: where it starts, with empty hands.
        goal: what cannot come true.
        removed: the object that the map lacks.
        first: the subgoals that lack nothing but this object; all others that are impossible come after them.
        possible: the subgoals on the way to the goal that can be reached all the same.
    """

    world: CraftingWorld
    state: States
    goal: str
    removed: str
    first: frozenset[str]
    possible: frozenset[str]


def start_without(size: int, rng: np.random.Generator) -> NoWay:
    """A start that lacks one object without which a goal, drawn by chance, is impossible."""
    goals = [term for term in VOCABULARY if any(ways(term))]
    goal = goals[rng.integers(len(goals))]
    needs = objects_for(leading_to(goal))
    vital = [name for name in needs if goal not in possible(set(needs) - {name})]
    removed = vital[rng.integers(len(vital))]
    world, state = start_for(goal, "empty", size, rng)
    cells = world.cells(state)
    cells[cells == world.rules.code(removed)] = 0
    able = possible(set(needs) - {removed})
    on_the_way = frozenset(leading_to(goal))
    first = frozenset(term for term in on_the_way - able if any(way <= able for way in ways(term)))
    return NoWay(world, state, goal, removed, first, on_the_way & able)
