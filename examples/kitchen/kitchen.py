"""A small kitchen: fetch the pan and an egg, light the stove, fry, serve. A world of one's own for rsg, to copy."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rsg import RsgError
from rsg.domain import Domain, PlaceOption

Array = NDArray[Any]

COOK, HOOK, FRIDGE, STOVE, TABLE, PAN, LIT, EGG = range(8)  # columns of a state: five cells, then three conditions
IN_FRIDGE, HELD, FRIED, SERVED = range(4)  # what an egg goes through
UP, DOWN, LEFT, RIGHT, USE = range(5)
FLOOR, CELL = 230, 16  # how bright the floor is, and how many pixels a cell is wide
COLOURS = np.array([(120, 120, 140), (120, 190, 250), (250, 90, 40), (250, 210, 60)])  # hook, fridge, stove, table

SIZES = {"small": (3, 3), "large": (5, 7)}
ABOUT = {name: f"{height} by {width} cells" for name, (height, width) in SIZES.items()}
MEANING = {
    "fetch-pan": "held(pan)",
    "fetch-egg": "held(egg)",
    "light-stove": "lit(stove)",
    "fry-egg": "fried(egg)",
    "serve-egg": "served(egg)",
}
TASKS = {
    "train": [*MEANING, "fetch-pan or light-stove", "fetch-pan and fetch-egg", "light-stove then fetch-egg"],
    "compositional": ["light-stove then fetch-pan", "fetch-egg or fetch-pan then light-stove"],
    "novel": ["fetch-pan and fetch-egg and light-stove then fry-egg then serve-egg"],
}
PHRASES = {
    "at": ("the cook is at the {x}", "the cook is away from the {x}"),
    **{word: (f"the {{x}} is {word}", f"the {{x}} is not {word}") for word in ("held", "lit", "fried", "served")},
}


class KitchenWorld:
    """A floor of cells, numbered row by row. Four things stand there; a cook walks about and uses them."""

    actions = ("up", "down", "left", "right", "use")
    fact_names = ("at(hook)", "at(fridge)", "at(stove)", "at(table)", *MEANING.values())
    fact_phrases = PHRASES

    def __init__(self, height: int, width: int) -> None:
        self.height, self.width = height, width

    def step(self, states: Array, actions: Array) -> Array:
        """Walk, or use what is here: take the pan, take an egg, light the stove, fry on it, serve."""
        after = states.copy()
        rows, columns = divmod(states[:, COOK], self.width)
        rows = np.clip(rows + (actions == DOWN) - (actions == UP), 0, self.height - 1)
        columns = np.clip(columns + (actions == RIGHT) - (actions == LEFT), 0, self.width - 1)
        after[:, COOK] = rows * self.width + columns
        used = (states[:, :1] == states[:, :PAN]) & (actions == USE)[:, None]
        pan, lit, egg = states[:, PAN:].T
        after[:, PAN] |= used[:, HOOK]
        after[:, LIT] |= used[:, STOVE]
        after[:, EGG] += used[:, FRIDGE] & (egg == IN_FRIDGE)
        after[:, EGG] += used[:, STOVE] & (egg == HELD) & (pan == 1) & (lit == 1)
        after[:, EGG] += used[:, TABLE] & (egg == FRIED)
        return after

    def encode(self, states: Array) -> Array:
        """What a network sees: how far away everything is, and the three conditions."""
        rows, columns = divmod(states[:, :PAN], self.width)
        seen = [rows[:, 1:] - rows[:, :1], columns[:, 1:] - columns[:, :1], states[:, PAN:]]
        return np.concatenate(seen, axis=1).astype(np.float32)

    def facts(self, states: Array) -> Array:
        """What can be asked of a state, in the order of `fact_names`."""
        here = states[:, :1] == states[:, HOOK:PAN]
        pan, lit, egg = states[:, PAN:].T
        things = [pan == 1, egg == HELD, lit == 1, egg == FRIED, egg == SERVED]
        return np.concatenate([here, np.stack(things, axis=1)], axis=1)

    def render(self, state: Array) -> NDArray[np.uint8]:
        """A picture: things grow bright once they were used, and the cook is a dark square."""
        pan, lit, egg = state[PAN:]
        used = np.array([pan == 1, egg > IN_FRIDGE, lit == 1, egg == SERVED])
        cells = np.full((self.height * self.width, 3), FLOOR, dtype=np.uint8)
        cells[state[HOOK:PAN]] = np.where(used[:, None], COLOURS, COLOURS // 2)
        picture = cells.reshape(self.height, self.width, 3).repeat(CELL, axis=0).repeat(CELL, axis=1)
        row, column = CELL * np.array(divmod(state[COOK], self.width))
        picture[row + 4 : row + CELL - 4, column + 4 : column + CELL - 4] = 0
        return picture

    def view(self, state: Array) -> str:
        """The same for a terminal."""
        cells = np.full(self.height * self.width, ".")
        cells[state[HOOK:PAN]] = list("HFST")
        cells[state[COOK]] = "@"
        rows = [f"  {' '.join(row)}\n" for row in cells.reshape(self.height, self.width)]
        return "".join([*rows, "  @ cook  H hook  F fridge  S stove  T table"])

    def sample(self, rng: np.random.Generator, count: int) -> Array:
        """Kitchens that nobody has used: everything stands somewhere else, nothing is done."""
        cells = [rng.permutation(self.height * self.width)[:PAN] for _ in range(count)]
        return np.concatenate([np.array(cells), np.zeros((count, 3), dtype=np.int64)], axis=1)


class Kitchen(Domain):
    """Kitchens of two sizes."""

    name = "kitchen"
    splits = TASKS
    places = ABOUT
    example_place = "large"
    place_option = PlaceOption(("--size",), "SIZE", "How large the kitchen is: small (the usual one) or large.")

    def world(self, setting: str = "") -> KitchenWorld:
        """A kitchen of that size."""
        size = setting or "small"
        if size not in SIZES:
            raise RsgError(f"there is no kitchen '{size}'; there are: {', '.join(SIZES)}")
        return KitchenWorld(*SIZES[size])

    def setting_of(self, world: Any) -> str:
        """Its size, by name."""
        return next(name for name, size in SIZES.items() if size == (world.height, world.width))

    def within(self, setting: str) -> Domain:
        """Where demonstrations were made, there what was learned from them is tried."""
        return self.at(setting)

    def start(self, terms: Sequence[str], rng: np.random.Generator, goal: bool = False) -> tuple[KitchenWorld, Array]:
        """A kitchen that nobody has used."""
        del terms, goal  # nothing is done there yet, and everything can be
        world = self.world(self.place or "")
        return world, world.sample(rng, 1)[0]

    def truth(self, world: Any, states: Array, terms: Sequence[str]) -> Array:
        """What the terms mean: for experts and judges, never for a learner."""
        return np.asarray(world.facts(states)[:, [world.fact_names.index(MEANING[term]) for term in terms]])
