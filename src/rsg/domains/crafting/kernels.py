"""The inner loops of Crafting World. They trust their states: `CraftingWorld.checked` has looked at them.

A state is a row of bytes: the agent's row and column, `capacity` slots of the inventory (codes, largest first, then
zeros, so that equal inventories have equal bytes), then one code per cell of the map, row by row.
"""

from typing import Any, NamedTuple

import numpy as np

from rsg.core.arrays import Array
from rsg.core.compiled import bare, compiled, inlined
from rsg.domains.crafting.rules import DOOR, ITEM, SWITCH

HEAD = 2  # the agent's place comes first
TOGGLE = 4


class Tables(NamedTuple):
    """All that the kernels know of a world: its sizes, and `table` and `recipes` of its rules."""

    height: int
    width: int
    capacity: int
    things: Array
    recipes: Array


@inlined
def holds(states: Array, i: int, capacity: int, code: int) -> bool:
    """Whether an item is in the inventory of state i."""
    for slot in range(HEAD, HEAD + capacity):  # noqa: SIM110, numba has no generators
        if states[i, slot] == code:
            return True
    return False


@inlined
def put(states: Array, i: int, capacity: int, code: int) -> None:
    """Add an item to an inventory that has room, keeping its order."""
    slot = HEAD + capacity - 1
    while slot > HEAD and states[i, slot - 1] < code:
        states[i, slot] = states[i, slot - 1]
        slot -= 1
    states[i, slot] = code


@inlined
def take(states: Array, i: int, capacity: int, code: int) -> bool:
    """Remove one such item from the inventory, keeping its order; False if there is none."""
    for slot in range(HEAD, HEAD + capacity):
        if states[i, slot] == code:
            for later in range(slot, HEAD + capacity - 1):
                states[i, later] = states[i, later + 1]
            states[i, HEAD + capacity - 1] = 0
            return True
    return False


@inlined
def follow(tables: Tables, rule: int, states: Array, i: int, out: Array, j: int) -> bool:
    """Try one rule on row j of `out`, a copy of state i; on failure it is that copy again."""
    recipes, capacity = tables.recipes, tables.capacity
    k = (recipes.shape[1] - 1) // 2
    for tool in range(1, 1 + k):
        if recipes[rule, tool] != 0 and not holds(states, i, capacity, recipes[rule, tool]):
            return False
    for ingredient in range(1 + k, 1 + 2 * k):
        if recipes[rule, ingredient] != 0 and not take(out, j, capacity, recipes[rule, ingredient]):
            break
    else:
        if out[j, HEAD + capacity - 1] == 0:  # room for what the rule gives
            put(out, j, capacity, recipes[rule, 0])
            return True
    for slot in range(HEAD, HEAD + capacity):
        out[j, slot] = states[i, slot]
    return False


@inlined
def toggle(tables: Tables, states: Array, i: int, out: Array, j: int) -> None:
    """Act on the object in the agent's cell; row j of `out` is a copy of state i."""
    table, cells = tables.things, HEAD + tables.capacity
    here = cells + int(states[i, 0]) * tables.width + int(states[i, 1])
    code = states[i, here]
    kind = table[code, 0]
    if kind == ITEM:
        if states[i, cells - 1] == 0:  # room in the inventory
            put(out, j, tables.capacity, code)
            out[j, here] = 0
    elif kind == SWITCH:
        out[j, here] = table[code, 2]
        opened = table[code, 2] > code  # the code of a changed thing comes after all plain ones
        for cell in range(cells, states.shape[1]):
            other = states[i, cell]
            if table[other, 0] == DOOR and (table[other, 2] > other) == opened:
                out[j, cell] = table[other, 2]
    else:
        for rule in range(table[code, 3], table[code, 4]):
            if follow(tables, rule, states, i, out, j):
                break


@inlined
def can_enter(tables: Tables, states: Array, i: int, y: int, x: int) -> bool:
    """Whether a cell is on the map and nothing bars it to the agent of state i."""
    if y < 0 or y >= tables.height or x < 0 or x >= tables.width:
        return False
    key = tables.things[states[i, HEAD + tables.capacity + y * tables.width + x], 1]
    return bool(key == 0 or (key > 0 and holds(states, i, tables.capacity, key)))


@bare
def step_row(tables: Tables, states: Array, i: int, action: int, out: Array, j: int) -> None:
    """Write the state after one action in state i into row j of `out`."""
    for column in range(states.shape[1]):
        out[j, column] = states[i, column]
    if action == TOGGLE:
        toggle(tables, states, i, out, j)
        return
    y = int(states[i, 0]) + (action == 1) - (action == 0)
    x = int(states[i, 1]) + (action == 3) - (action == 2)
    if can_enter(tables, states, i, y, x):
        out[j, 0] = y
        out[j, 1] = x


@bare
def step_rows(tables: Tables, states: Array, actions: Array, out: Array) -> int:
    """Each state after its own action; gives -1, or the first row whose action is not one."""
    for i in range(len(states)):
        if actions[i] < 0 or actions[i] > TOGGLE:
            return i
        step_row(tables, states, i, actions[i], out, i)
    return -1


@bare
def successor_rows(tables: Tables, states: Array, actions: int, out: Array) -> None:
    """Each state after every action; `out` is `[N·A, W]`."""
    for i in range(len(states)):
        for action in range(actions):
            step_row(tables, states, i, action, out, i * actions + action)


@bare
def encode_rows(tables: Tables, plain: Array, states: Array, sets: Any) -> int:
    """Fill the sets that classifiers see, given as zeros; gives -1, or the first row with more objects than fit."""
    height, width, capacity = tables.height, tables.width, tables.capacity
    overall, inventory, objects = sets
    for i in range(len(states)):
        y, x = states[i, 0], states[i, 1]
        held = 0
        for slot in range(capacity):
            code = states[i, HEAD + slot]
            inventory[i, slot] = code
            held += code != 0
        overall[i, 0], overall[i, 1] = height, width
        overall[i, 2], overall[i, 3], overall[i, 4] = y, x, held
        found = 0
        for row in range(height):
            for column in range(width):
                code = states[i, HEAD + capacity + row * width + column]
                if code == 0:
                    continue
                if found == objects.shape[1]:
                    return i
                objects[i, found, 0] = plain[code]
                objects[i, found, 1], objects[i, found, 2] = row, column
                objects[i, found, 3] = plain[code] != code
                objects[i, found, 4] = row == y and column == x
                found += 1
    return -1


@bare
def goal_holds(states: Array, i: int, capacity: int, goal: int) -> bool:
    """Whether a goal holds in state i: an item code is in the inventory, a negative code -c is on the map."""
    if goal > 0:
        return holds(states, i, capacity, goal)
    for cell in range(HEAD + capacity, states.shape[1]):  # noqa: SIM110, numba has no generators
        if states[i, cell] == -goal:
            return True
    return False


@bare
def truth_rows(capacity: int, goals: Array, states: Array, out: Array) -> None:
    """Whether each goal holds in each state, `[N, goals]`."""
    for i in range(len(states)):
        for j in range(len(goals)):
            out[i, j] = goal_holds(states, i, capacity, goals[j])


@bare
def replay_rows(tables: Tables, states: Array, actions: Array) -> None:
    """Fill `states` `[T + 1, W]` from its first row on by taking the actions one after the other."""
    for t in range(len(actions)):
        step_row(tables, states, t, actions[t], states, t + 1)


@compiled
def achieve(tables: Tables, state: Array, goal: int, dice: Array, scratch: Array, actions: Array) -> int:
    """The shortest walk after which one `toggle` makes the goal true; gives its length, or -1 if there is none.

    Args:
        state: `[1, W]` where the agent is now.
        goal: as in `truth_rows`.
        dice: random numbers that break ties, one for the place and one for each step of the walk.
        scratch: `[2, W]` rows to try things in.
        actions: room for the answer, `[height·width + 1]` at least.
    """
    height, width, capacity = tables.height, tables.width, tables.capacity
    distance = np.full(height * width, -1)
    queue = np.empty(height * width, dtype=np.int64)
    places = np.empty(height * width, dtype=np.int64)  # the nearest cells in which the goal can be had
    for column in range(state.shape[1]):
        scratch[0, column] = state[0, column]
    queue[0] = state[0, 0] * width + state[0, 1]
    distance[queue[0]] = 0
    head, tail, found = 0, 1, 0
    while head < tail:
        cell = queue[head]
        head += 1
        if found > 0 and distance[cell] > distance[places[0]]:
            break
        y, x = cell // width, cell % width
        scratch[0, 0], scratch[0, 1] = y, x
        step_row(tables, scratch, 0, TOGGLE, scratch, 1)
        if goal_holds(scratch, 1, capacity, goal):
            places[found] = cell
            found += 1
        for move in range(4):
            ny, nx = y + (move == 1) - (move == 0), x + (move == 3) - (move == 2)
            if can_enter(tables, state, 0, ny, nx) and distance[ny * width + nx] < 0:
                distance[ny * width + nx] = distance[cell] + 1
                queue[tail] = ny * width + nx
                tail += 1
    if found == 0:
        return -1
    cell = places[dice[0] % found]
    length = int(distance[cell])
    actions[length] = TOGGLE
    for step in range(length - 1, -1, -1):  # back to the start, over a random one of the cells one step nearer
        y, x = cell // width, cell % width
        turn = dice[1 + step] % 4
        for shift in range(4):
            move = (turn + shift) % 4
            py, px = y - (move == 1) + (move == 0), x - (move == 3) + (move == 2)
            if 0 <= py < height and 0 <= px < width and distance[py * width + px] == step:
                actions[step] = move
                cell = py * width + px
                break
    return length + 1
