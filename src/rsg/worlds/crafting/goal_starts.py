"""Starts for any goal of Crafting World: open maps with all that it can need within a walk.

What needs what is read off the rule table; a learner sees nothing of it.
"""

from collections.abc import Sequence
from functools import cache

import numpy as np

from rsg.core.errors import RsgError
from rsg.worlds.crafting import STANDARD, VOCABULARY, CraftingWorld, Rule, kernels, truth
from rsg.worlds.crafting.maps import objects_for, sample_map
from rsg.worlds.crafting.world import States

KIND = "large-field"
MAX_DRAWS = 1000
MOVES = 4  # the first actions are those that only move


def rules_for(term: str) -> list[Rule]:
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
    found = [frozenset(makers[item] for item in (*rule.tools, *rule.uses)) for rule in rules_for(term)]
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


def start_for(term: str, size: int, rng: np.random.Generator, held: Sequence[str] = ()) -> tuple[CraftingWorld, States]:
    """A square map of that size and its first state `[W]`, in which the term is false.

    Args:
        term: what is to come true. All objects that can help lie where one can walk without a key or a boat.
        size: rows and columns.
        rng: where chance comes from.
        held: what is in the hands.
    """
    needs = objects_for(leading_to(term))
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
