"""Crafting World once more, slow and plain: an interpreter written from the description of the rules.

Nothing here looks at the rulebook or the kernels. Only `to_plain` and `to_row` touch a world, to change between its
rows of bytes and names.
"""

from typing import NamedTuple

RESOURCES = [
    *["iron-ore-vein", "coal-ore-vein", "gold-ore-vein", "cobblestone-stash", "tree"],
    *["chicken", "sheep", "potato-plant", "beetroot-crop", "sugar-cane-plant"],
]
STATIONS = ["work-station", "weapon-station", "tool-station", "bed-station", "boat-station", "furnace", "food-station"]
ITEMS = [
    *["key", "pickaxe", "axe", "iron-ore", "iron-ingot", "coal", "gold-ore", "gold-ingot", "cobblestone", "wood"],
    *["wood-plank", "stick", "sword", "feather", "arrow", "shears", "wool", "bed", "boat", "sugar-cane", "paper"],
    *["bowl", "potato", "cooked-potato", "beetroot", "beetroot-soup"],
]
STRUCTURES = ["wall", "door", "water", "switch"]
CHANGED = ["door-open", "switch-on"]  # how a state shows a door that is open and a switch that is on

MINING = [  # what it gives, where, and the tool that must be held
    ("iron-ore", "iron-ore-vein", ["pickaxe"]),
    ("coal", "coal-ore-vein", ["pickaxe"]),
    ("cobblestone", "cobblestone-stash", ["pickaxe"]),
    ("wood", "tree", ["axe"]),
    ("feather", "chicken", ["sword"]),
    ("wool", "sheep", ["shears"]),
    ("wool", "sheep", ["sword"]),
    ("potato", "potato-plant", []),
    ("beetroot", "beetroot-crop", []),
    ("gold-ore", "gold-ore-vein", ["pickaxe"]),
    ("sugar-cane", "sugar-cane-plant", []),
]
CRAFTING = [  # what it gives, where, and the ingredients that are used up
    ("wood-plank", "work-station", ["wood"]),
    ("stick", "work-station", ["wood-plank"]),
    ("arrow", "weapon-station", ["stick", "feather"]),
    ("sword", "weapon-station", ["stick", "iron-ingot"]),
    ("shears", "tool-station", ["iron-ingot"]),
    ("shears", "tool-station", ["gold-ingot"]),
    ("iron-ingot", "furnace", ["iron-ore", "coal"]),
    ("gold-ingot", "furnace", ["gold-ore", "coal"]),
    ("bed", "bed-station", ["wood-plank", "wool"]),
    ("boat", "boat-station", ["wood-plank"]),
    ("bowl", "food-station", ["wood-plank"]),
    ("bowl", "food-station", ["iron-ingot"]),
    ("cooked-potato", "furnace", ["potato", "coal"]),
    ("beetroot-soup", "food-station", ["beetroot", "bowl"]),
    ("paper", "work-station", ["sugar-cane"]),
]
MOVES = {"up": (-1, 0), "down": (1, 0), "left": (0, -1), "right": (0, 1)}
ACTIONS = [*MOVES, "toggle"]


class Plain(NamedTuple):
    """A state in names: `cells` has the objects by (row, column), `inventory` is sorted."""

    height: int
    width: int
    capacity: int
    cells: dict[tuple[int, int], str]
    agent: tuple[int, int]
    inventory: list[str]


def step(state: Plain, action: str) -> Plain:
    """The state after an action."""
    if action == "toggle":
        return toggle(state)
    y, x = state.agent[0] + MOVES[action][0], state.agent[1] + MOVES[action][1]
    inside = 0 <= y < state.height and 0 <= x < state.width
    return state._replace(agent=(y, x)) if inside and walkable(state, (y, x)) else state


def walkable(state: Plain, place: tuple[int, int]) -> bool:
    """Whether the agent may go to a place on the grid."""
    name = state.cells.get(place)
    if name == "wall":
        return False
    if name == "door":
        return "key" in state.inventory
    if name == "water":
        return "boat" in state.inventory
    return True


def toggle(state: Plain) -> Plain:
    """The state after acting on the object in the agent's own cell."""
    here = state.cells.get(state.agent)
    room = len(state.inventory) < state.capacity
    if here in ITEMS and room:
        cells = {place: name for place, name in state.cells.items() if place != state.agent}
        return state._replace(cells=cells, inventory=sorted([*state.inventory, here]))
    if here in ("switch", "switch-on"):
        switch, door = ("switch-on", "door-open") if here == "switch" else ("switch", "door")
        cells = {place: door if name in ("door", "door-open") else name for place, name in state.cells.items()}
        return state._replace(cells=cells | {state.agent: switch})
    for item, place, tools in MINING:
        if here == place and room and all(tool in state.inventory for tool in tools):
            return state._replace(inventory=sorted([*state.inventory, item]))
    for item, place, ingredients in CRAFTING:
        if here == place and all(ingredient in state.inventory for ingredient in ingredients):
            left = list(state.inventory)
            for ingredient in ingredients:
                left.remove(ingredient)
            return state._replace(inventory=sorted([*left, item]))
    return state


def truth(state: Plain, term: str) -> bool:
    """Whether a subgoal holds."""
    verb, name = term.split("-", 1)
    return "switch-on" in state.cells.values() if verb == "toggle" else name in state.inventory


def to_plain(world, row) -> Plain:
    """A row of the world in names."""
    cells = {
        (y, x): world.rules.names[code]
        for y, codes in enumerate(world.cells(row).tolist())
        for x, code in enumerate(codes)
        if code
    }
    agent = (int(row[0]), int(row[1]))
    return Plain(world.height, world.width, world.capacity, cells, agent, sorted(world.inventory(row)))


def to_row(world, plain: Plain):
    """The row of the world that shows a plain state."""
    return world.state(plain.cells, plain.agent, plain.inventory)
