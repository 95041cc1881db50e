"""The inner loop of the product search over (state, machine node), as templates for `rsg.core.compiled.specialised`.

A *label* (s, v) says: the agent is in state s and serves node v. It is *fresh* when v has just been entered at s, and
*moved* when a primitive action led to s. Only a moved label may leave its node: an atom needs two states. Leaving is
decided when a moved label is made; what waits in the heaps is labels whose primitive actions are still to be tried.

All that a search remembers is passed whole, as a named tuple of record arrays. What is called for every label is copied
into its caller, because a call costs more than its body.
"""

from typing import NamedTuple

import numpy as np

from rsg.core.arrays import Array, record
from rsg.core.compiled import inlined, pasted
from rsg.language.machine import Nodes
from rsg.search.kernels import heap
from rsg.search.product.explored import Known
from rsg.search.product.novelty import Novelty, shows_new

OPTIMAL, ANYTIME, BALANCED, DEEPEST, NOVEL = range(5)
FOUND, EXHAUSTED, PAUSED, GROW, NEED, RANK, WALK = range(7)  # how a call of `search` ends
NEVER = np.iinfo(np.int64).max

LABEL = record(
    fresh=np.float64,  # the least cost as fresh, as moved, and when it was last expanded
    moved=np.float64,
    expanded=np.float64,
    entered_from=np.int32,  # the node that was left when it became fresh
    came_from=np.int32,  # the state and the action before it moved, and whether it had moved before
    by=np.int32,
    was_moved=np.int32,
    unsure=np.int32,  # whether a walk that nobody has stepped yet led to it, see `walks`
    root=np.int32,  # whether walks may begin here
)
OPEN = record(key=np.float64, tick=np.int64, state=np.int32, node=np.int32)
RUN = record(
    best=np.float64,  # the cost of the best plan, and the label at its end
    best_state=np.int64,
    best_node=np.int64,
    expansions=np.int64,
    dice=np.int64,
    tick=np.int64,  # labels opened so far
    fullest=np.int64,  # the most entries that a heap ever had
    labelled=np.int64,  # states whose labels are ready to be used
    chosen=np.int64,  # the heap of the label to be expanded next, -1 if it is not chosen yet
    wanted=np.int64,  # the state whose successors must be found out
    wanted_node=np.int64,  # and the node, where walks are wanted from there or to there
    tried=np.int64,  # how many states were expanded
    before_walks=np.int64,  # the last node that was searched without walks
    facts=np.int64,  # how many were seen, and how many changes of states were looked at for them
    changes=np.int64,
)


class Memory(NamedTuple):
    """All that a search remembers.

    Attributes:
        known: the states.
        labels: `[cap, V]` of LABEL.
        heaps: `[H, ·]` of OPEN, labels that wait; sizes: `[H]`. One heap for all, or one per node; where novelty
            counts, then another one per node for labels that show nothing new; where transitions are soft, then
            another one for labels that came to it by a transition that is not likely.
        run: `[1]` of RUN.
        novelty: what nodes have seen.
        tried: `[cap]` the states that were expanded, in order; is_tried: `[cap]` whether a state is one of them.
    """

    known: Known
    labels: Array
    heaps: Array
    sizes: Array
    run: Array
    novelty: Novelty
    tried: Array
    is_tried: Array


class Asked(NamedTuple):
    """What is asked for.

    Attributes:
        nodes: the machine.
        ahead: `[1, V]` a lower bound on the cost that still lies ahead of a label at the node, or `[cap, V]` if it also
            depends on the state.
        order: of expansions, one of those above.
        hard: whether subgoals hold or not; threshold, not_yet: by these limits of log G and log I. Where they do not, a
            transition within these limits is likely.
        weight: λ of the soft costs of transitions.
        likely: how many heaps, of the first ones, are for labels that came by likely transitions.
        every: after how many expansions a random node is chosen, not the deepest.
        walks: from how many expansions on there are walks; NEVER: there are none.
    """

    nodes: Nodes
    ahead: Array
    order: int
    hard: bool
    threshold: float
    not_yet: float
    weight: float
    likely: int
    every: int
    walks: int


def goal(tables: object, states: Array, i: int, k: int) -> tuple[float, float]:  # noqa: ARG001
    """Hook: log G and log I of term k in state i."""
    return 0.0, 0.0


def find_out(tables: object, known: Known, s: int) -> bool:  # noqa: ARG001
    """Hook: find out where the actions in state s lead; False if the caller has to."""
    return False


@inlined
def oldest_first(a: np.record, b: np.record) -> bool:
    """The order of the heaps."""
    return a.key < b.key or (a.key == b.key and a.tick < b.tick)  # type: ignore[no-any-return]


@inlined
def wait(memory: Memory, h: int, s: int, v: int, key: float) -> None:
    """Let a label wait in heap h."""
    heaps, sizes, run = memory.heaps, memory.sizes, memory.run[0]
    entry = heap.new(heaps, h)
    entry.key = key
    entry.tick = run.tick
    entry.state = s
    entry.node = v
    heap.push(heaps, h, sizes[h], oldest_first)
    sizes[h] += 1
    run.tick += 1
    run.fullest = max(run.fullest, sizes[h])


@inlined
def open_label(memory: Memory, asked: Asked, s: int, v: int, total: float, likely: bool, before: int) -> None:
    """Let a label of that cost wait for its expansion, if it can still become a better plan.

    before: the state that it came from, -1: another node.
    """
    sizes, run, ahead = memory.sizes, memory.run[0], asked.ahead
    key = total + ahead[s if len(ahead) > 1 else 0, v]
    if key < run.best:
        h = (v if likely else v + asked.likely) if len(sizes) > 1 else 0
        if likely and asked.order == NOVEL:
            news = shows_new(memory.novelty, memory.known.table.words, run, s, v, before)
            memory.labels[s, v].root = 2 * (news > 1) or (before < 0 and news > 0)
            h += 0 if news > 0 else asked.likely - memory.labels.shape[1]
        wait(memory, h, s, v, key)


def leave(goals: object, memory: Memory, asked: Asked, s: int, v: int, total: float, likely: bool) -> None:
    """From a moved label (s, v) of that cost, enter the nodes after v, or finish. `v_0` is left freely.

    A transition costs -λ (log G_v(s) + log I_w(s)); with a threshold it is free where G_v holds and G_w does not yet.
    likely: whether the label came to v by likely transitions alone.
    """
    pool, value, run = memory.known.pool, memory.known.value, memory.run[0]
    term, start, after = asked.nodes
    if v > 0:
        k = term[v]
        if np.isnan(value[s, k, 0]):
            value[s, k, 0], value[s, k, 1] = goal(goals, pool, s, k)
        holds = value[s, k, 0] >= asked.threshold
        if not asked.hard:
            total -= asked.weight * value[s, k, 0]
            likely = likely and holds
        elif not holds:
            return
        elif memory.labels[s, v].unsure:
            wait(memory, len(memory.sizes) - 1, s, v, total)  # if these walks can be done
            return
    if total >= run.best:
        return
    for edge in range(start[v], start[v + 1]):
        w = after[edge]
        if w == len(term) - 1:
            run.best = min(run.best, total)
            run.best_state = s
            run.best_node = v
            continue
        k = term[w]
        if np.isnan(value[s, k, 0]):
            value[s, k, 0], value[s, k, 1] = goal(goals, pool, s, k)
        entry = total if asked.hard else total - asked.weight * value[s, k, 1]
        not_yet = value[s, k, 1] > asked.not_yet
        label = memory.labels[s, w]
        if entry < label.fresh and (not_yet or not asked.hard):
            label.fresh = entry
            label.entered_from = v
            if entry < label.moved:
                open_label(memory, asked, s, w, entry, likely and not_yet, -1)


def expand(goals: object, memory: Memory, asked: Asked, s: int, v: int, likely: bool, promised: bool) -> None:
    """Try every primitive action from the label (s, v). No action serves `v_0`: it is left where the search begins.

    promised: only leave the node, for what was promised holds.
    """
    labels, run, after, price = memory.labels, memory.run[0], memory.known.after, memory.known.price
    here, row = labels[s, v], s if len(price) > 1 else 0
    moved = here.moved <= here.fresh
    base = here.moved if moved else here.fresh
    if not promised:
        here.expanded = base
        run.expansions += v > 0
        if v > 0 and not memory.is_tried[s]:
            memory.is_tried[s] = True
            memory.tried[run.tried] = s
            run.tried += 1
    walked = moved and here.unsure and here.by == price.shape[1]  # nobody has asked yet whether the node can be left
    for a in range(-1 if promised or walked else 0, 0 if promised else price.shape[1] if v > 0 else 1):
        stays = v == 0 or a < 0
        t = s if stays else after[s, a]
        total = base if stays else base + price[row, a]
        label = labels[t, v]
        if a < 0:
            leave(goals, memory, asked, t, v, total, likely)
        elif total < label.moved:
            label.moved = total
            label.came_from = s
            label.by = a
            label.was_moved = moved
            label.unsure = moved and here.unsure
            if total < label.fresh:
                open_label(memory, asked, t, v, total, likely, s)
            leave(goals, memory, asked, t, v, total, likely)


@pasted
def choose(memory: Memory, asked: Asked) -> int:
    """The heap to take the next label from; -1 if all are empty.

    Of those that came by likely transitions, and that show something new if there are such, the deepest or a random
    node's; each fourth, the cheapest of the others.
    """
    heaps, sizes, run, nodes = memory.heaps, memory.sizes, memory.run[0], memory.labels.shape[1]
    likely = min(asked.likely, len(sizes))
    if asked.walks < NEVER and sizes[likely] > 0:
        return likely
    start = end = count = 0
    deepest = -1
    while count == 0 and end < likely:
        start, end = end, min(end + nodes, likely)
        for h in range(start, end):
            if sizes[h] > 0:
                count += 1
                deepest = h
    if not asked.hard and (count == 0 or run.expansions & 3 == 3):
        cheapest = -1
        for h in range(likely, len(sizes)):
            if sizes[h] > 0 and (cheapest < 0 or oldest_first(heaps[h, 0], heaps[cheapest, 0])):
                cheapest = h
        if cheapest >= 0:
            return cheapest
    if count <= 1 or run.expansions % asked.every != asked.every - 1:
        return deepest
    dice = (run.dice * 1103515245 + 12345) & 0x7FFFFFFF
    run.dice = dice
    turn = (dice >> 8) % count
    chosen = -1
    for h in range(start, end):
        if sizes[h] > 0:
            if turn == 0:
                chosen = h
            turn -= 1
    return chosen


@inlined
def label_states(memory: Memory) -> None:
    """Labels for the states that have become known: nobody has been there yet."""
    labels, run, count = memory.labels, memory.run[0], memory.known.size[0]
    for n in range(run.labelled, count):
        memory.is_tried[n] = False
        for v in range(labels.shape[1]):
            label = labels[n, v]
            label.fresh = np.inf
            label.moved = np.inf
            label.expanded = np.inf
            label.unsure = 0
            label.root = 0
    run.labelled = count


def search(tables: object, goals: object, memory: Memory, asked: Asked, stop: int) -> int:
    """Expand labels until a plan is found, or so many were expanded, or nothing is left; may be called again to go on.

    Where transitions are soft the first plan may be a bad one: then until nothing left can become a cheaper one.
    Or until it needs help: GROW if there may be no room for what the next expansion finds, NEED if the successors of
    the state `wanted` must be found out elsewhere; WALK if walks from it are wanted, or the ones that led to it unsure.
    """
    known, labels, heaps, sizes, runs, novelty, _, _ = memory
    run = runs[0]
    actions, order = known.after.shape[1], asked.order
    room = heaps.shape[1] - 1 - actions * (len(asked.nodes.after) + 1 if len(sizes) == 1 else labels.shape[1])
    label_states(memory)
    while True:
        if run.fullest > room or known.size[0] + actions >= len(labels) or 4 * run.facts > len(novelty.seen):
            return GROW
        if run.chosen < 0:
            run.chosen = choose(memory, asked)
        h = run.chosen
        if h < 0:
            return FOUND if run.best < np.inf else EXHAUSTED
        first = heaps[h, 0]
        key, s, v = first.key, first.state, first.node
        if key >= run.best and order == OPTIMAL:  # nothing as dear as the best plan can better it
            return FOUND
        label = labels[s, v]
        promised = asked.walks < NEVER and h == asked.likely
        stale = label.moved == np.inf if promised else label.expanded <= min(label.fresh, label.moved)
        if not stale and key < run.best:
            if run.expansions >= stop:
                return PAUSED
            if run.expansions < asked.walks:
                run.before_walks = max(run.before_walks, v)
            if label.unsure if promised else label.root and v > run.before_walks:
                run.wanted = s
                run.wanted_node = v
                return WALK
            if known.after[s, 0] < 0:
                if not find_out(tables, known, s):
                    run.wanted = s
                    return NEED
                label_states(memory)
        run.chosen = -1
        sizes[h] -= 1
        heap.pop(heaps, h, sizes[h], oldest_first)
        if not stale and key < run.best:
            before = run.best
            expand(goals, memory, asked, s, v, h < asked.likely or asked.hard, promised)
            if run.best < before and order != OPTIMAL and asked.hard:
                return FOUND
