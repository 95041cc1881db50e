"""Where episodes start: on a map of one's own, a random one, or one with all that a goal can need within a walk.

What needs what is read off the rule table; a learner sees nothing of it.
"""

from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np

from rsg.core.errors import RsgError
from rsg.domains.crafting import STANDARD, VOCABULARY, CraftingWorld, Rule, kernels, truth
from rsg.domains.crafting.maps import KINDS, objects_for, sample_map
from rsg.domains.crafting.text import load_map
from rsg.domains.crafting.world import States

Start = tuple[CraftingWorld, States]
KIND = "large-field"
MAX_DRAWS = 1000
MOVES = 4  # the first actions are those that only move
_needed = cache(objects_for)
_OPEN = ("field", "switch-field", "full-field", "full-switch-field", KIND)  # tried in this order for a task


def start_on(
    map: str | Path | Start | None,  # noqa: A002, the word users know
    terms: Sequence[str],
    rng: np.random.Generator,
    inventory: Sequence[str] = (),
    size: tuple[int, int] | None = None,
) -> Start:
    """A world and a first state `[W]`; always the same world for the same arguments.

    map: a kind of map (a name in `KINDS`), a map file, or what is to be given; by default an open field that holds what
    the terms need. On a random map, the agent holds the inventory, and an open field has that size.
    """
    needs = _needed(tuple(terms))
    if map is None:
        map = next((kind for kind in _OPEN if set(needs) <= {*KINDS[kind].scattered}), _OPEN[-1])  # noqa: A001
    if isinstance(map, str) and not names_a_file(map):
        return sample_map(map, rng, needs, tuple(inventory), size)
    if inventory or size:
        raise RsgError("inventory and size are for random maps; a map file says its own")
    world, state = map if isinstance(map, tuple) else load_map(map)
    return world, state.copy()


def names_a_file(map: str | Path) -> bool:  # noqa: A002
    """Whether that is the name of a map file, not of a kind of map."""
    return isinstance(map, Path) or (map not in KINDS and (Path(map).exists() or "/" in map or "." in map))


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


def start_for(term: str, size: int, rng: np.random.Generator, held: Sequence[str] = ()) -> Start:
    """A square map of that size and its first state `[W]`, in which the term is false.

    All objects that can help lie where one can walk without a key or a boat. held: what is in the hands.
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
