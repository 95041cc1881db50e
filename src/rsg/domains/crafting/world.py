"""Crafting World: a grid, an agent, an inventory, and rules."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rsg.core.arrays import Bools, Bytes, Floats, Ints
from rsg.core.errors import RsgError
from rsg.domains.crafting import facts, kernels
from rsg.domains.crafting.rules import ITEM, STANDARD, Rulebook

ACTIONS = ("up", "down", "left", "right", "toggle")
COST = 0.1
MOST_OBJECTS = 255 * 255  # one on each cell of the largest map

States = Bytes


class Sets(NamedTuple):
    """What classifiers see of N states (paper, appendix "State representation"): sets of objects, padded with zeros.

    A type t is `rules.things[t - 1]`; classifiers take it as one-hot.
    """

    # `[N, 5]` height and width of the map, row and column of the agent, number of items held
    overall: NDArray[np.float32]
    inventory: Bytes  # `[N, capacity]` the type of each item held, 0 for none
    objects: Bytes  # `[N, objects, 5]` type, row, column, status (1: open or on), whether the agent stands on it


@dataclass(frozen=True)
class CraftingWorld:
    """One size of Crafting World. Its states are rows of bytes `[2 + capacity + height·width]`, see `kernels`.

    >>> world = CraftingWorld()
    >>> state = world.state({(0, 2): "tree"}, agent=(0, 1), inventory=["axe"])
    >>> after = world.step(world.step(state[None], [3]), [4])
    >>> world.inventory(after[0])
    ('wood', 'axe')
    """

    network: ClassVar = "sets"
    visions: ClassVar = {"state": "types", "image": "tile"}

    height: int = 6  # cells
    width: int = 6
    capacity: int = 6  # how many items the agent can hold
    objects: int = 0  # how many objects `encode` has room for; by default one per cell
    rules: Rulebook = field(default=STANDARD, repr=False)  # the types of objects and what they do

    def __post_init__(self) -> None:
        if not (1 <= self.height <= 255 and 1 <= self.width <= 255 and 1 <= self.capacity <= 255):
            sizes = f"{self.height}×{self.width}, capacity {self.capacity}"
            raise RsgError(f"a map has 1 to 255 rows, columns and inventory slots, not {sizes}")
        if not 0 <= self.objects <= MOST_OBJECTS:
            raise RsgError(f"a map cannot hold {self.objects} objects")
        if self.objects == 0:
            object.__setattr__(self, "objects", self.height * self.width)

    @property
    def actions(self) -> tuple[str, ...]:
        """`up`, `down`, `left`, `right`, `toggle`."""
        return ACTIONS

    @cached_property
    def costs(self) -> Floats:
        """0.1 for every action."""
        return np.full(len(ACTIONS), COST)

    @property
    def state_width(self) -> int:
        """How many bytes a state has."""
        return kernels.HEAD + self.capacity + self.height * self.width

    @cached_property
    def tables(self) -> kernels.Tables:
        """What the kernels need to know."""
        return kernels.Tables(self.height, self.width, self.capacity, self.rules.table, self.rules.recipes)

    @property
    def compiled_step(self) -> tuple[Callable[..., None], kernels.Tables]:
        """`(kernel, tables)`: `kernel(tables, states, i, action, out, j)` writes what follows `states[i]`."""
        return kernels.step_row, self.tables

    def step(self, states: States, actions: ArrayLike) -> States:
        """The states `[N, W]` after `actions` `[N]`; a move that is not possible leaves the state as it is."""
        states = self.checked(states)
        moves = np.asarray(actions) if len(states) else np.empty(0, dtype=np.int64)
        if moves.shape != (len(states),) or moves.dtype.kind not in "iu":
            raise RsgError(f"{len(states)} states need as many whole-numbered actions, got {moves.dtype} {moves.shape}")
        out = np.empty_like(states)
        wrong = kernels.step_rows(self.tables, states, moves.astype(np.int64, copy=False), out)
        if wrong >= 0:
            which = f"action {moves[wrong]}" + (f" of state {wrong}" if len(states) > 1 else "")
            raise RsgError(f"{which} is out of range: actions are 0 to {len(ACTIONS) - 1}")
        return out

    def successors(self, states: States) -> States:
        """The states `[N, 5, W]` after each action."""
        states = self.checked(states)
        out = np.empty((len(states) * len(ACTIONS), self.state_width), dtype=np.uint8)
        kernels.successor_rows(self.tables, states, len(ACTIONS), out)
        return out.reshape(len(states), len(ACTIONS), self.state_width)

    def encode(self, states: States) -> Sets:
        """What classifiers see."""
        states = self.checked(states)
        n = len(states)
        sets = Sets(
            np.empty((n, 5), dtype=np.float32),
            np.empty((n, self.capacity), dtype=np.uint8),
            np.zeros((n, self.objects, 5), dtype=np.uint8),
        )
        full = kernels.encode_rows(self.tables, self.plain, states, sets)
        if full >= 0:
            raise RsgError(f"state {full} has more than {self.objects} objects; make the world with more room")
        return sets

    @cached_property
    def columns(self) -> dict[str, Any]:
        """What the numbers of `encode` are called; see `rsg.worlds.seen`."""
        types = ["nothing", *(thing.name for thing in self.rules.things)]
        return {
            "overall": ("height", "width", "agent row", "agent column", "items held"),
            "inventory": {f"slot {number}": types for number in range(self.capacity)},
            "objects": {"type": types, "row": None, "column": None, "status": None, "agent here": None},
        }

    fact_phrases = facts.PHRASES

    @cached_property
    def fact_names(self) -> tuple[str, ...]:
        """What can be asked of a state, such as `held(axe)`."""
        return facts.named_facts(self.rules, self.height, self.width)[0]

    @cached_property
    def compiled_facts(self) -> tuple[Callable[..., bool], facts.FactTables]:
        """`(kernel, tables)`: `kernel(tables, states, i, number)` says whether a fact holds in `states[i]`."""
        rows = facts.named_facts(self.rules, self.height, self.width)[1]
        return facts.fact, facts.FactTables(self.height, self.width, self.capacity, rows)

    def facts(self, states: States) -> Bools:
        """Which facts hold in states, `[N, F]`."""
        out = np.empty((len(states), len(self.fact_names)), dtype=np.bool_)
        facts.fact_rows(self.compiled_facts[1], self.checked(states), out)
        return out

    def sights(self, states: States) -> Ints:
        """What lies where the agent stands, `[N]`, 0: nothing."""
        cells = kernels.HEAD + self.capacity + states[:, 0].astype(np.int64) * self.width + states[:, 1]
        return np.asarray(states[np.arange(len(states)), cells], dtype=np.int64)

    def render(self, state: States, cell: int = 32) -> Bytes:
        """One state as a picture: the map, and the inventory below it."""
        from rsg.domains.crafting.pictures import images

        picture: Bytes = images(self, self.checked(state[None]), cell)[0]
        return picture

    def sample(self, rng: np.random.Generator, count: int) -> States:
        """Typical states: random objects in random places, random items in the hands."""
        codes = len(self.rules.names)
        items = np.flatnonzero(self.rules.kinds == ITEM)
        states = np.zeros((count, self.state_width), dtype=np.uint8)
        cells = kernels.HEAD + self.capacity
        for state in states:
            state[0], state[1] = rng.integers(self.height), rng.integers(self.width)
            held = rng.choice(items, size=rng.integers(self.capacity + 1))
            state[kernels.HEAD : kernels.HEAD + len(held)] = np.sort(held)[::-1]
            places = rng.permutation(self.height * self.width)[: rng.integers(self.objects + 1)]
            state[cells + places] = rng.integers(1, codes, size=len(places))
        return states

    def state(
        self,
        objects: dict[tuple[int, int], str],
        agent: tuple[int, int] = (0, 0),
        inventory: Sequence[str] = (),
    ) -> States:
        """A state `[W]` from the names of objects by (row, column), the agent's place and the items held."""
        state = np.zeros(self.state_width, dtype=np.uint8)
        for what, (y, x) in [("the agent", agent), *((name, place) for place, name in objects.items())]:
            if not (0 <= y < self.height and 0 <= x < self.width):
                raise RsgError(f"{what} cannot be at row {y}, column {x} of a {self.height}×{self.width} map")
        if len(inventory) > self.capacity:
            raise RsgError(f"{len(inventory)} items do not fit into an inventory of {self.capacity}")
        state[:2] = agent
        held = [self.rules.code(name) for name in inventory]
        for name, code in zip(inventory, held, strict=True):
            if self.rules.kinds[code] != ITEM:
                raise RsgError(f"a {name} cannot be held: it is not an item")
        state[kernels.HEAD : kernels.HEAD + len(held)] = sorted(held, reverse=True)
        for (y, x), name in objects.items():
            state[kernels.HEAD + self.capacity + y * self.width + x] = self.rules.code(name)
        return state

    def inventory(self, state: States) -> tuple[str, ...]:
        """The names of the items held."""
        held = state[kernels.HEAD : kernels.HEAD + self.capacity]
        return tuple(self.rules.names[code] for code in held if code)

    def cells(self, states: States) -> States:
        """The codes on the map, `[..., height, width]`, a view."""
        return states[..., kernels.HEAD + self.capacity :].reshape(*states.shape[:-1], self.height, self.width)

    @cached_property
    def plain(self) -> NDArray[np.int16]:
        """For each code the type it shows as: an open door is a door."""
        codes = np.arange(len(self.rules.names), dtype=np.int16)
        changed = codes > len(self.rules.things)
        codes[changed] = self.rules.table[changed, 2]
        return codes

    @cached_property
    def _largest(self) -> States:
        """The largest value of each byte of a state."""
        codes = [len(self.rules.names) - 1] * (self.state_width - kernels.HEAD)
        return np.array([self.height - 1, self.width - 1, *codes], dtype=np.uint8)

    def checked(self, states: States) -> States:
        """The states if they can be of this world; else a sentence that says why not."""
        states = np.ascontiguousarray(states)
        if states.ndim != 2 or states.shape[1] != self.state_width or states.dtype != np.uint8:
            raise RsgError(
                f"these are not states of a {self.height}×{self.width} Crafting World with {self.capacity} slots: "
                f"expected uint8 [N, {self.state_width}], got {states.dtype} {list(states.shape)}"
            )
        if (states.max(axis=0, initial=0) > self._largest).any():  # kernels would read memory that is not theirs
            wrong = int(np.argmax((states > self._largest).any(axis=1)))
            raise RsgError(
                f"state {wrong} is not of a {self.height}×{self.width} Crafting World: "
                "the agent is off the map, or an object is unknown"
            )
        return states

    def checked_start(self, state: States) -> States:
        """The state `[W]` if one can begin in it; else a sentence that says why not."""
        return np.asarray(self.checked(state[None])[0])
