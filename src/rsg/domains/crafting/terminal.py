"""Crafting World in a terminal: the map in colour, what its symbols mean, what the agent holds."""

from textwrap import wrap

from rich.text import Text

from rsg.domains.crafting.rules import BARRIER, DOOR, FLOOR, ITEM, PLACE, SWITCH
from rsg.domains.crafting.text import legend, symbols
from rsg.domains.crafting.world import CraftingWorld, States

_STYLES = {
    FLOOR: "bright_black",
    BARRIER: "white on grey42",
    DOOR: "bold white on dark_orange4",
    SWITCH: "bold bright_red",
    PLACE: "bold green",
    ITEM: "bold yellow",
}
_AGENT = "bold white on dark_magenta"


def terminal_view(world: CraftingWorld, state: States) -> Text:
    """The state as rich text, three columns a cell; plain letters when colours are off."""
    by_name = {name: symbol for symbol, name in symbols(world.rules).items()} | {"floor": "·"}
    text = Text()
    for y, row in enumerate(world.cells(state)):
        text.append("  ")
        for x, code in enumerate(row):
            name = world.rules.names[code]
            style = "bold white on blue" if name == "water" else _STYLES[int(world.rules.kinds[code])]
            if (y, x) == (state[0], state[1]):
                text.append(f"@{by_name[name] if code else ' '} ", style=_AGENT)
            else:
                text.append(f" {by_name[name]} ", style=style)
        text.append("\n")
    held = ", ".join(world.inventory(state)) or "nothing"
    text.append("\n  holds  ", style="bold").append(f"{held}  ({len(world.inventory(state))} of {world.capacity})\n")
    things = ["@ agent", *(f"{symbol} {name}" for symbol, name in legend(world, state).items())]
    lines = wrap("  ".join(one.replace(" ", "_") for one in things), 70, break_on_hyphens=False)
    return text.append("  map    ", style="bold").append("\n         ".join(lines).replace("_", " "))
