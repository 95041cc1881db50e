"""Is every step of a novel task's instruction needed on the maps made for it?

For each novel task, 20 starts, and each term that all linear instructions of the task contain: search breadth-first in
the true world without ever entering a state in which that term holds. If the last term of the task cannot be reached,
the term is needed. Where there are too many states to search them all, a relaxation proves the same: in it nothing is
ever used up and hands never get full, so whatever it cannot reach the true world cannot reach either.
"""

from typing import Any

import numpy as np

from rsg.core.compiled import compiled
from rsg.core.random import stream
from rsg.domains.crafting import CraftingWorld, truth
from rsg.domains.crafting.domain import Crafting
from rsg.domains.crafting.kernels import goal_holds, step_row
from rsg.domains.crafting.truth import goals
from rsg.language import Machine, parse

MAPS = 20
MAX_STATES = 3_000_000
PROVEN_STATES = 100_000  # where the relaxation has proven it already, a shorter search will do
NOT_REACHED, REACHED, TOO_MANY = range(3)


@compiled
def search(tables: Any, pool: Any, slots: Any, banned: int, final: int) -> int:
    """Breadth-first from `pool[0]` over states in which `banned` does not hold, until `final` does."""
    capacity = tables.capacity
    mask = len(slots) - 1
    count = 1
    head = 0
    while head < count:
        for action in range(5):
            step_row(tables, pool, head, action, pool, count)
            if goal_holds(pool, count, capacity, banned):
                continue
            if goal_holds(pool, count, capacity, final):
                return REACHED
            key = 7
            for column in range(pool.shape[1]):
                key = (key * 1_000_003 + pool[count, column]) & 0xFFFFFFFFFF
            slot = (key ^ key >> 17) & mask
            while slots[slot] >= 0:
                same = True
                for column in range(pool.shape[1]):
                    if pool[slots[slot], column] != pool[count, column]:
                        same = False
                        break
                if same:
                    break
                slot = (slot + 1) & mask
            else:
                slots[slot] = count
                count += 1
                if count == len(pool):
                    return TOO_MANY
        head += 1
    return NOT_REACHED


def relaxed(world: CraftingWorld, state: Any, banned: str, final: str) -> bool:
    """Whether `final` can be reached without `banned` if nothing is used up, hands hold all, and doors stay open."""
    rules = world.rules
    barred = banned.partition("-")[2]
    items = set(world.inventory(state))
    cells = {(y, x): rules.names[code] for (y, x), code in np.ndenumerate(world.cells(state))}
    keys = {thing.name: thing.key for thing in rules.things if thing.kind in ("barrier", "door")}
    switched = False
    while True:
        before = (len(items), switched)
        reached, stack = set(), [(int(state[0]), int(state[1]))]
        while stack:
            y, x = stack.pop()
            if (y, x) in reached:
                continue
            reached.add((y, x))
            for place in ((y - 1, x), (y + 1, x), (y, x - 1), (y, x + 1)):
                name = cells.get(place)
                if name is not None and (name not in keys or keys[name] in items or (name == "door" and switched)):
                    stack.append(place)
        here = {cells[place] for place in reached}
        items |= {name for name in here if any(t.name == name and t.kind == "item" for t in rules.things)} - {barred}
        for rule in rules.rules:
            if rule.at in here and {*rule.tools, *rule.uses} <= items and rule.gives != barred:
                items.add(rule.gives)
        switched |= "switch" in here and banned != "toggle-switch"
        if final.partition("-")[2] in items or (final == "toggle-switch" and switched):
            return True
        if (len(items), switched) == before:
            return False


def needed(world: CraftingWorld, state: Any, banned: str, final: str, pool: Any) -> tuple[bool, str]:
    """Whether the term is needed, and how that was found."""
    proof = "" if relaxed(world, state, banned, final) else "relaxation"
    pool = pool[: PROVEN_STATES if proof else MAX_STATES, : world.state_width]
    pool[0] = state
    slots = np.full(4 * 2 ** int(np.ceil(np.log2(len(pool)))), -1, dtype=np.int64)
    outcome = search(
        world.tables,
        pool,
        slots,
        *goals(world, [banned, final]),
    )
    if outcome == REACHED:
        assert not proof, "the relaxation must not deny what the true world allows"
        return False, "search"
    if outcome == NOT_REACHED:
        return True, "search"
    return bool(proof), proof or "open"


def run(maps: int = MAPS) -> dict[str, Any]:
    """Per task and term: on how many maps the term is needed, and how that was shown."""
    source = Crafting()
    figures: dict[str, Any] = {"maps": maps, "max_states": MAX_STATES}
    pool = np.empty((MAX_STATES, CraftingWorld().state_width), dtype=np.uint8)
    for number, text in enumerate(source.tasks("novel")):
        machine = Machine.of(parse(text))
        common = set.intersection(*(set(map(str, path)) for path in machine.paths()))
        final = str(next(machine.paths())[-1])
        rows: dict[str, Any] = {}
        for term in (str(t) for t in machine.terms if str(t) in common and str(t) != final):
            row = {"needed": 0, "by_search": 0, "by_relaxation": 0, "not_needed": 0, "open": 0, "shortcut_items": {}}
            for i in range(maps):
                rng = stream(i, "necessity", number)
                demo, _ = source.demonstrate("novel", number, rng)
                world, state = source.world(demo.setting), demo.states[0]
                assert not truth(world, state[None], [term, final]).any()
                yes, how = needed(world, state, term, final, pool)
                row["needed"] += yes
                row["by_search"] += yes and how == "search"
                row["by_relaxation"] += yes and how == "relaxation"
                row["not_needed"] += not yes and how == "search"
                row["open"] += how == "open"
                if not yes and how == "search":
                    for item in set(world.inventory(state)):
                        row["shortcut_items"][item] = row["shortcut_items"].get(item, 0) + 1
            row["shortcut_items"] = dict(sorted(row["shortcut_items"].items(), key=lambda pair: -pair[1])[:4])
            rows[term] = row
        figures[text] = rows
    return figures
