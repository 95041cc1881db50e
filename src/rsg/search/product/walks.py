"""Walks: ways through poses that were seen already are not searched again for every node of the machine.

What was expanded tells how actions lead from *pose* to pose (see `novelty`), and the world tells what there is in each,
a *sight*. Where a node is entered, the search takes for granted that one can still walk like that: it looks first at
poses whose sights the node has not seen, and at those where nobody has been. These states are made up: the pose is
changed, and nothing else. Where one ends a part of the task, the walk to it is stepped in the world; each of its steps
counts as an expansion. What does not lead where it should is learned, and another walk is looked for. Nothing is cut
off: all other poses are searched as before, but last.
"""

from typing import NamedTuple

import numpy as np

from rsg.core.arrays import Array, Ints, grown, record
from rsg.core.compiled import bare, compiled, inlined
from rsg.search.kernels.table import Table, add, larger, new_table
from rsg.search.product.explored import Known
from rsg.search.product.kernels import GROW, NEED, Asked, Memory, find_out, label_states, open_label, wait
from rsg.search.product.novelty import mixed, remember

UNKNOWN, ELSEWHERE = -1, -2  # where an action leads: nobody knows, or more than the pose changes
DONE = 0  # how a call of `prove` ends, beside GROW and NEED

POSE = record(
    sight=np.int64,  # what there is, 0: nothing
    shown=np.int32,  # a state in that pose
    tried=np.int32,  # whether one was expanded
    cost=np.float64,  # from where walks begin, and the pose and the action before
    came_from=np.int32,
    by=np.int32,
    waits=np.int32,  # whether it is in the queue
)


class Walks(NamedTuple):
    """What is known of poses, in order of discovery.

    Attributes:
        bits: `[words]` of a row that are the pose; which: the words that have some.
        table: the poses, as words.
        after: `[cap, A]` the pose after each action, UNKNOWN or ELSEWHERE.
        poses: `[cap]` of POSE.
        queue: `[cap]` scratch.
        size: `[2]` how many poses, and how many of the states that were tried they come from.
    """

    bits: Array
    which: Array
    table: Table
    after: Array
    poses: Array
    queue: Array
    size: Array


def new_walks(bits: Array, actions: int, room: int) -> Walks:
    """No pose is known.

    Args:
        bits: of a row that are the pose.
        actions: how many.
        room: for so many poses.
    """
    which = np.flatnonzero(bits)
    after, poses = np.empty((room, actions), dtype=np.int32), np.empty(room, dtype=POSE)
    queue = np.empty(room, dtype=np.int32)
    return Walks(bits.copy(), which, new_table(room, len(which)), after, poses, queue, np.zeros(2, dtype=np.int64))


def with_room(walks: Walks, room: int) -> Walks:
    """The same with room for so many poses."""
    if room <= len(walks.poses):
        return walks
    return walks._replace(
        table=larger(walks.table, int(walks.size[0]), room),
        after=grown(walks.after, room),
        poses=grown(walks.poses, room),
        queue=grown(walks.queue, room),
    )


@inlined
def number_of(walks: Walks, words: Array, s: int) -> int:
    """The pose of state s; perhaps a new one."""
    keys, slots = walks.table
    n = walks.size[0]
    for k in range(len(walks.which)):
        w = walks.which[k]
        keys[n, k] = words[s, w] & walks.bits[w]
    p = add(keys, slots, n)
    if p == n:
        walks.size[0] = n + 1
        pose = walks.poses[n]
        pose.sight = 0
        pose.shown = s
        pose.tried = 0
        for a in range(walks.after.shape[1]):
            walks.after[n, a] = UNKNOWN
    return p


@inlined
def pose_alone(walks: Walks, words: Array, s: int, t: int) -> bool:
    """Whether two states differ in their pose at most."""
    for w in range(len(walks.bits)):  # noqa: SIM110, numba has no generators
        if (words[s, w] ^ words[t, w]) & ~walks.bits[w] != 0:
            return False
    return True


@bare
def survey(memory: Memory, walks: Walks) -> None:
    """Take in what was expanded since the last time."""
    known, run = memory.known, memory.run[0]
    words = known.table.words
    for i in range(walks.size[1], run.tried):
        s = memory.tried[i]
        p = number_of(walks, words, s)
        walks.poses[p].tried = 1
        for a in range(walks.after.shape[1]):
            t = known.after[s, a]
            walks.after[p, a] = number_of(walks, words, t) if pose_alone(walks, words, s, t) else ELSEWHERE
    walks.size[1] = run.tried


@inlined
def measure(walks: Walks, price: Array, start: int) -> None:
    """What it costs to walk from a pose to each other one."""
    poses, queue, count, after = walks.poses, walks.queue, walks.size[0], walks.after
    for p in range(count):
        poses[p].cost = np.inf
        poses[p].waits = 0
    poses[start].cost = 0.0
    queue[0] = start
    first, length = 0, 1
    while length > 0:
        p = queue[first]
        first = first + 1 if first + 1 < count else 0
        length -= 1
        poses[p].waits = 0
        for a in range(after.shape[1]):
            q = after[p, a]
            if q >= 0 and poses[p].cost + price[0, a] < poses[q].cost:
                poses[q].cost = poses[p].cost + price[0, a]
                poses[q].came_from = p
                poses[q].by = a
                if poses[q].waits == 0:
                    poses[q].waits = 1
                    queue[(first + length) % count] = q
                    length += 1


@inlined
def as_fact(walks: Walks, p: int, v: int) -> np.uint64:
    """That node v is in a pose, as `novelty.of_pose` says it of a state in it, whose row may be long."""
    fact = mixed(np.uint64(v + 1))
    for k in range(len(walks.which)):
        w = walks.which[k]
        fact = mixed(mixed(fact ^ walks.bits[w] ^ mixed(np.uint64(w))) ^ walks.table.words[p, k])
    return fact


@bare
def aims(memory: Memory, walks: Walks, s: int, v: int, again: bool, found: Array) -> int:
    """Where to walk from state s at node v; all that has nothing to see counts as seen.

    Args:
        memory, walks: what is known.
        s, v: the label.
        again: whether sights that the node has seen are worth another look, because something has changed.
        found: `[cap, 2]` for poses and what to think of each, 0: new, 1: the same was seen elsewhere.
    """
    poses, run, seen, count = walks.poses, memory.run[0], memory.novelty.seen, 0
    start = number_of(walks, memory.known.table.words, s)
    measure(walks, memory.known.price, start)
    for p in range(walks.size[0]):
        pose = poses[p]
        if p == start or pose.cost == np.inf:
            continue
        new, dull = remember(seen, run, as_fact(walks, p, v)), 0
        if pose.tried:
            if pose.sight == 0 or not (new or again):
                continue
            dull = 1 - remember(seen, run, mixed(mixed(np.uint64(v + 1)) + np.uint64(pose.sight)))
        elif not new:
            continue
        found[count, 0] = p
        found[count, 1] = dull
        count += 1
    return count


@compiled
def made_up(known: Known, walks: Walks, s: int, aims: Array) -> Array:
    """The states in which the pose of s is another one."""
    words, bits = known.table.words, walks.bits
    rows = np.empty((len(aims), len(bits)), dtype=np.uint64)
    for i in range(len(aims)):
        shown = walks.poses[aims[i]].shown
        for w in range(len(bits)):
            rows[i, w] = words[s, w] & ~bits[w] | words[shown, w] & bits[w]
    return rows


@bare
def open_aims(memory: Memory, asked: Asked, walks: Walks, s: int, v: int, found: Array, states: Ints) -> None:
    """Let what is at the ends of walks wait."""
    label_states(memory)
    labels = memory.labels
    here = labels[s, v]
    moved = here.moved <= here.fresh
    base = here.moved if moved else here.fresh
    for i in range(len(states)):
        t, total = states[i], base + walks.poses[found[i, 0]].cost
        label = labels[t, v]
        if total >= min(label.moved, label.fresh):
            continue
        label.moved = total
        label.came_from = s
        label.by = walks.after.shape[1]
        label.was_moved = moved
        label.unsure = 1
        wait(memory, v + found[i, 1] * labels.shape[1], t, v, total + asked.ahead[0, v])


@inlined
def first_walk(memory: Memory, s: int, v: int, walked: int) -> int:
    """The end of the first walk that nobody has stepped on the way to (s, v); -1: there is none."""
    end, moved, labels = -1, True, memory.labels
    while moved:
        label = labels[s, v]
        if label.unsure and label.by == walked:
            end = s
        moved = label.was_moved
        s = label.came_from
    return end


@inlined
def settle(memory: Memory, s: int, v: int) -> None:
    """All on the way to (s, v) was stepped: that is sure, and costs what it costs."""
    labels, price = memory.labels, memory.known.price
    while labels[s, v].unsure:  # from the one nearest to where it began on; ways are short
        t = s
        while labels[t, v].was_moved and labels[labels[t, v].came_from, v].unsure:
            t = labels[t, v].came_from
        label = labels[t, v]
        before = labels[label.came_from, v]
        label.moved = (before.moved if label.was_moved else before.fresh) + price[0, label.by]
        label.unsure = 0


def prove(tables: object, memory: Memory, asked: Asked, walks: Walks, stop: int) -> int:
    """Step all walks that lead to the label that the search wants, or say that one cannot walk there.

    DONE: that is known, or there were too many expansions; GROW, NEED: as a search, which comes back.
    """
    known, labels, run, after = memory.known, memory.labels, memory.run[0], memory.known.after
    words, price, actions = known.table.words, known.price, known.after.shape[1]
    s, v = run.wanted, run.wanted_node
    label_states(memory)
    while True:
        end = first_walk(memory, s, v, actions)
        if end < 0:
            settle(memory, s, v)
            return DONE
        goal, at, moved = number_of(walks, words, end), labels[end, v].came_from, labels[end, v].was_moved
        start = number_of(walks, words, at)
        measure(walks, price, start)
        if labels[end, v].moved == np.inf or walks.poses[goal].cost == np.inf:
            labels[end, v].moved = np.inf
            labels[s, v].moved = np.inf
            return DONE
        count, p = 0, goal
        while p != start:
            walks.queue[count] = walks.poses[p].by
            p = walks.poses[p].came_from
            count += 1
        for i in range(count - 1, -1, -1):
            a = walks.queue[i]
            if after[at, 0] < 0:
                if known.size[0] + actions >= len(labels):
                    return GROW
                if not find_out(tables, known, at):
                    run.wanted = at
                    return NEED
                label_states(memory)
            t = after[at, a]
            alone = pose_alone(walks, words, at, t)
            q = number_of(walks, words, t) if alone else ELSEWHERE
            if q != walks.after[p, a]:
                walks.after[p, a] = q
                break
            before, label = labels[at, v], labels[t, v]
            total = (before.moved if moved else before.fresh) + price[0, a]
            if label.unsure or total < label.moved:
                if run.expansions >= stop:
                    return DONE
                run.expansions += 1
                label.moved = total
                label.came_from = at
                label.by = a
                label.was_moved = moved
                label.unsure = 0
                open_label(memory, asked, t, v, total, True, at)
            at, p, moved = t, q, True
