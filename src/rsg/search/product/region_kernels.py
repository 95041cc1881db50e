"""The inner loop of the search over regions, as templates for `rsg.core.compiled.specialised`.

Subgoals divide the states: a *region* is the set of all states in which the same subgoals hold. Each state is expanded
at most once. Open states wait in one heap: by the rank of their region, then by how many regions lie behind it, then by
cost. Where novelty counts, those of the same rank come first that show what was not seen in any region of that rank.
"""

from typing import NamedTuple

import numpy as np

from rsg.core.arrays import Array, record
from rsg.core.compiled import inlined, inner, pasted
from rsg.search.kernels import heap
from rsg.search.product.explored import Known
from rsg.search.product.kernels import EXHAUSTED, FOUND, GROW, NEED, PAUSED, RANK, find_out, goal
from rsg.search.product.novelty import Novelty, shows_new

LABEL = record(  # of a state: its cost from the first one, the state and the action before, its region
    cost=np.float64,
    came_from=np.int32,
    by=np.int32,
    region=np.int32,
    expanded=np.int32,
)
REGION = record(
    rank=np.float64,  # the least first, NaN where not known yet
    steps=np.int64,  # how many regions lie before it
    before=np.int64,  # the one that it was entered from
    like=np.int64,  # the number of its rank
)
OPEN = record(
    rank=np.float64,
    dull=np.int64,  # 1: shows nothing new
    steps=np.int64,
    cost=np.float64,
    tick=np.int64,
    state=np.int64,
)
RUN = record(
    expansions=np.int64,
    tick=np.int64,  # states opened so far
    fullest=np.int64,  # the most entries that the heap ever had
    regions=np.int64,
    waiting=np.int64,  # states in regions without a rank
    labelled=np.int64,  # states whose labels are ready to be used
    wanted=np.int64,  # the state whose successors must be found out
    reached=np.int64,  # the state before the goal came true, and the action by which it did
    last=np.int64,
    facts=np.int64,  # as in `kernels.RUN`
    changes=np.int64,
)


class Memory(NamedTuple):
    """All that a search remembers.

    Attributes:
        known: the states.
        labels: `[cap]` of LABEL.
        regions: `[cap]` of REGION; holds: `[cap, T]` which terms hold there; row: `[T]` scratch.
        heaps: `[1, ·]` of OPEN, states that wait; sizes: `[1]`.
        waiting: `[A]` states in regions without a rank.
        run: `[1]` of RUN.
        novelty: what was seen in regions of each rank, in place of nodes.
    """

    known: Known
    labels: Array
    regions: Array
    holds: Array
    row: Array
    heaps: Array
    sizes: Array
    waiting: Array
    run: Array
    novelty: Novelty


class Asked(NamedTuple):
    """What is asked for.

    Attributes:
        goal: the number of the term.
        threshold: log G from which on a subgoal holds.
        step: what entering a region counts, 1; or 0, if regions do not matter.
        novel: whether novelty counts.
    """

    goal: int
    threshold: float
    step: int
    novel: bool


@inlined
def best_region_first(a: np.record, b: np.record) -> bool:
    """The order of the heap; of equals, the oldest comes first."""
    if a.rank != b.rank:
        return a.rank < b.rank  # type: ignore[no-any-return]
    if a.dull != b.dull:
        return a.dull < b.dull  # type: ignore[no-any-return]
    if a.steps != b.steps:
        return a.steps < b.steps  # type: ignore[no-any-return]
    return a.cost < b.cost or (a.cost == b.cost and a.tick < b.tick)  # type: ignore[no-any-return]


@pasted
def find_or_add(memory: Memory, near: int, step: int) -> int:
    """The region of the terms in `row`, entered from the region `near`; it may be a new one."""
    row, holds, run = memory.row, memory.holds, memory.run[0]
    for i in range(-1 if near >= 0 else 0, run.regions):  # mostly one stays in a region
        r = near if i < 0 else i
        k = 0
        while k < len(row) and holds[r, k] == row[k]:
            k += 1
        if k == len(row):
            return r
    new = run.regions
    run.regions += 1
    for k in range(len(row)):
        holds[new, k] = row[k]
    region = memory.regions[new]
    region.rank = np.nan
    region.steps = memory.regions[near].steps + step if near >= 0 else 0
    region.before = near
    return new  # type: ignore[no-any-return]


def look(goals: object, memory: Memory, asked: Asked, s: int, near: int) -> int:
    """The region of state s, which was reached from a state of the region `near`."""
    value = memory.known.value
    for k in range(len(memory.row)):
        if np.isnan(value[s, k, 0]):
            value[s, k, 0], value[s, k, 1] = goal(goals, memory.known.pool, s, k)
        memory.row[k] = value[s, k, 0] >= asked.threshold
    return find_or_add(memory, near, asked.step)


@pasted
def is_dull(memory: Memory, s: int, like: int) -> bool:
    """Whether a state of a region of that rank shows nothing new."""
    before, near = memory.labels[s].came_from, -1
    if before >= 0 and memory.regions[memory.labels[before].region].like == like:
        near = before
    return shows_new(memory.novelty, memory.known.table.words, memory.run[0], s, like, near) == 0


@inner
def open_state(memory: Memory, s: int, novel: bool) -> None:
    """Let a state wait for its expansion."""
    label, sizes, run = memory.labels[s], memory.sizes, memory.run[0]
    region, entry = memory.regions[label.region], heap.new(memory.heaps, 0)
    entry.rank = region.rank
    entry.dull = novel and is_dull(memory, s, region.like)
    entry.steps = region.steps
    entry.cost = label.cost
    entry.tick = run.tick
    entry.state = s
    heap.push(memory.heaps, 0, sizes[0], best_region_first)
    sizes[0] += 1
    run.tick += 1
    run.fullest = max(run.fullest, sizes[0])


def expand(goals: object, memory: Memory, asked: Asked, s: int) -> bool:
    """Try every action in state s; says whether the goal was reached."""
    here, run, wanted, price = memory.labels[s], memory.run[0], asked.goal, memory.known.price
    row = s if len(price) > 1 else 0
    here.expanded = 1
    run.expansions += 1
    for a in range(price.shape[1]):
        t = memory.known.after[s, a]
        label, total = memory.labels[t], here.cost + price[row, a]
        if label.cost == np.inf:
            label.region = look(goals, memory, asked, t, here.region)
        if memory.holds[label.region, wanted] and not memory.holds[here.region, wanted]:  # also where one has been
            run.reached = s
            run.last = a
            return True
        if total < label.cost and not label.expanded:
            label.cost = total
            label.came_from = s
            label.by = a
            if np.isnan(memory.regions[label.region].rank):
                memory.waiting[run.waiting] = t
                run.waiting += 1
            else:
                open_state(memory, t, asked.novel)
    return False


@inlined
def label_states(memory: Memory) -> None:
    """Labels for the states that have become known: nobody has been there yet."""
    run, count = memory.run[0], memory.known.size[0]
    for n in range(run.labelled, count):
        memory.labels[n].cost = np.inf
        memory.labels[n].expanded = 0
    run.labelled = count


def search(tables: object, goals: object, memory: Memory, asked: Asked, stop: int) -> int:
    """Expand states until the goal is reached, or so many were expanded, or nothing is left; as `kernels.search`."""
    known, run, heaps, sizes = memory.known, memory.run[0], memory.heaps, memory.sizes
    actions = known.after.shape[1]
    label_states(memory)
    if run.regions == 0:  # the first state
        label = memory.labels[0]
        label.cost = 0.0
        label.came_from = -1
        label.region = look(goals, memory, asked, 0, -1)
        memory.waiting[0] = 0
        run.waiting = 1
        return RANK
    for i in range(run.waiting):
        open_state(memory, memory.waiting[i], asked.novel)
    run.waiting = 0
    while True:
        if run.fullest + actions >= heaps.shape[1] or known.size[0] + actions >= len(memory.labels):
            return GROW
        if 4 * run.facts > len(memory.novelty.seen):
            return GROW
        if sizes[0] == 0:
            return EXHAUSTED
        s = heaps[0, 0].state
        fresh = memory.labels[s].expanded == 0
        if fresh:
            if run.expansions >= stop:
                return PAUSED
            if known.after[s, 0] < 0:
                if not find_out(tables, known, s):
                    run.wanted = s
                    return NEED
                label_states(memory)
        sizes[0] -= 1
        heap.pop(heaps, 0, sizes[0], best_region_first)
        if fresh:
            if expand(goals, memory, asked, s):
                return FOUND
            if run.waiting > 0:
                return RANK
