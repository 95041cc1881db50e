"""The true meaning of the 26 terms: for experts and success checks, never for a learner."""

from collections.abc import Sequence

import numpy as np

from rsg.core.arrays import Array, Bools, Floats, Ints
from rsg.core.compiled import bare
from rsg.core.errors import RsgError, meant
from rsg.domains.crafting import kernels
from rsg.domains.crafting.world import CraftingWorld, States

VOCABULARY = (
    *("grab-pickaxe", "grab-axe", "grab-key", "toggle-switch"),
    *("craft-wood-plank", "craft-stick", "craft-shears", "craft-bed", "craft-boat", "craft-sword", "craft-arrow"),
    *("craft-cooked-potato", "craft-iron-ingot", "craft-gold-ingot", "craft-bowl", "craft-beetroot-soup"),
    *("craft-paper", "mine-gold-ore", "mine-iron-ore", "mine-sugar-cane", "mine-coal", "mine-wood", "mine-feather"),
    *("mine-wool", "mine-potato", "mine-beetroot"),
)
"""The terms of the paper's tasks."""


def truth(world: CraftingWorld, states: States, terms: Sequence[str] = VOCABULARY) -> Bools:
    """Which subgoals hold in which states, `[N, terms]`.

    `grab-X`, `mine-X` and `craft-X` hold when X is in the inventory, `toggle-switch` when a switch is on.

    >>> world = CraftingWorld()
    >>> truth(world, world.state({}, inventory=["wood"])[None], ["mine-wood", "craft-boat"])
    array([[ True, False]])
    """
    return TrueGoals(world, terms).holds(states)


def goals(world: CraftingWorld, terms: Sequence[str]) -> Ints:
    """The goal of each term for `kernels.truth_rows`."""
    return np.array([_goal(world, term) for term in terms], dtype=np.int64)


def _goal(world: CraftingWorld, term: str) -> int:
    verb, _, name = term.partition("-")
    things = {thing.name: thing.kind for thing in world.rules.things}
    if verb in ("grab", "mine", "craft") and things.get(name) == "item":
        return world.rules.code(name)
    if verb == "toggle" and things.get(name) == "switch":
        return -world.rules.code(f"{name}-on")
    raise RsgError(f"Crafting World has no subgoal '{term}'; {meant(term, VOCABULARY)}")


@bare
def true_goal(tables: tuple[int, Ints], states: Array, i: int, k: int) -> tuple[float, float]:
    """log G and log I of goal k in state i: 0 for true, minus infinity for false."""
    capacity, codes = tables
    if kernels.goal_holds(states, i, capacity, codes[k]):
        return 0.0, -np.inf
    return -np.inf, 0.0


class TrueGoals:
    """The truth in the form of classifiers: for planning before anything is learned, and as an upper bound after."""

    def __init__(self, world: CraftingWorld, terms: Sequence[str]) -> None:
        self._world, self._goals = world, goals(world, terms)
        self.compiled = (true_goal, (world.capacity, self._goals))

    def holds(self, states: States) -> Bools:
        """Which goals hold in which states, `[N, terms]`."""
        states = self._world.checked(states)
        out = np.empty((len(states), len(self._goals)), dtype=bool)
        kernels.truth_rows(self._world.capacity, self._goals, states, out)
        return out

    def __call__(self, states: States) -> tuple[Floats, Floats]:
        """log G and log I, each `[N, terms]`."""
        holds = self.holds(states)
        return np.where(holds, 0.0, -np.inf), np.where(holds, -np.inf, 0.0)
