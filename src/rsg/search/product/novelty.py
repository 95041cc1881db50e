"""What each machine node has seen of the world: a label that shows nothing new there can wait.

A *fact* is a value in one column of a state's row. Columns that actions mostly change alone, such as where an agent is,
are its *pose*: they count together, as one fact. So an agent goes everywhere once for each node, and not once more for
each thing that it could have changed on the way.
"""

from typing import Any, NamedTuple

import numpy as np

from rsg.core.arrays import Array, grown
from rsg.core.compiled import compiled, inlined, inner
from rsg.search.kernels.table import Table

FIRST_FACTS = 1024  # places for facts; four times as many when a quarter is taken
SETTLED = 64  # changes that are looked at for the pose
RARE = 16  # a column is of the pose if at least one of so many changes is of that column alone


class Novelty(NamedTuple):
    """What has been seen.

    Attributes:
        seen: `[2^k]` a hash set of facts, each with its node; 0 where empty.
        first: `[V]` the state that each node was opened in first, -1: none yet. What it shows is no news.
        alone: `[columns]` how often each changed alone.
        pose: `[words]` the bits of a row that belong to the pose; none if there are no rows to look at.
        column: the bits of the first column in a word.
    """

    seen: Array
    first: Array
    alone: Array
    pose: Array
    column: np.uint64


def new_novelty(table: Table, nodes: int, size: int) -> Novelty:
    """Nothing was seen.

    Args:
        table: the states.
        nodes: of the machine.
        size: bytes of a column, 0: the table has no rows. Columns that do not fit into words count as words.
    """
    words, bits = table.words.shape[1] if size else 0, 8 * size if size in (1, 2, 4) else 64
    return Novelty(
        np.zeros(FIRST_FACTS, dtype=np.uint64),
        np.full(nodes, -1, dtype=np.int64),
        np.zeros(64 // bits * words, dtype=np.int64),
        np.zeros(words, dtype=np.uint64),
        np.uint64(2**bits - 1),
    )


def for_more(novelty: Novelty, nodes: int) -> Novelty:
    """The same for more nodes."""
    first = grown(novelty.first, nodes)
    first[len(novelty.first) :] = -1
    return novelty._replace(first=first)


@inlined
def mixed(key: np.uint64) -> np.uint64:
    """A number each bit of which depends on all bits of another one."""
    odd = np.uint64(0x9E3779B97F4A7C15)
    key = (key ^ key >> np.uint64(29)) * odd
    key = (key ^ key >> np.uint64(32)) * odd
    return key ^ key >> np.uint64(29)


@inlined
def place_of(seen: Array, fact: np.uint64) -> int:
    """Where a fact is, or the empty place for it."""
    mask = len(seen) - 1
    place = np.int64(fact >> np.uint64(32)) & mask
    while seen[place] != 0 and seen[place] != fact:
        place = (place + 1) & mask
    return place  # type: ignore[return-value]


@inlined
def remember(seen: Array, run: Any, key: np.uint64) -> bool:
    """Remember a fact; whether it is new."""
    fact = key | np.uint64(1)  # 0 is an empty place
    place = place_of(seen, fact)
    if seen[place] == fact:
        return False
    if 2 * run.facts < len(seen):  # always, but where one expansion shows hundreds
        seen[place] = fact
        run.facts += 1
    return True


@compiled
def wider(seen: Array) -> Array:
    """The same facts with four times the room."""
    more = np.zeros(4 * len(seen), dtype=np.uint64)
    for fact in seen:
        if fact != 0:
            more[place_of(more, fact)] = fact
    return more


@inlined
def of_pose(pose: Array, words: Array, s: int, v: int) -> np.uint64:
    """That node v is in the pose of state s, as a fact."""
    fact = mixed(np.uint64(v + 1))
    for w in range(len(pose)):
        if pose[w] != 0:
            fact = mixed(mixed(fact ^ pose[w] ^ mixed(np.uint64(w))) ^ words[s, w] & pose[w])
    return fact


@inner
def shows_new(novelty: Novelty, words: Array, run: Any, s: int, v: int, before: int) -> int:
    """Whether state s shows what node v has not seen: 0 if not, 1 if but a pose is new, 2 if more.

    Args:
        novelty: what it has seen.
        words: of the states, see `Table`.
        run: counts facts and changes.
        s, v: the label.
        before: the state that it came from at that node, all of which was seen there; -1: v is entered.
    """
    seen, first, alone, pose, column = novelty
    if len(pose) == 0:
        return 1
    if first[v] < 0:
        first[v] = s
    near, node, columns = before if before >= 0 else first[v], mixed(np.uint64(v + 1)), len(alone) // len(pose)
    new, moved, changed, last = 0, before < 0, 0, 0
    for w in range(len(pose)):
        if words[s, w] == words[near, w]:
            continue
        for c in range(columns):
            part = column << np.uint64(64 // columns * c)
            if (words[s, w] ^ words[near, w]) & part == 0:
                continue
            changed += 1
            last = columns * w + c
            if pose[w] & part != 0:
                moved = True
            elif (words[s, w] ^ words[first[v], w]) & part != 0:
                fact = mixed(node ^ mixed(words[s, w] & part ^ mixed(np.uint64(last + 1))))
                new = 2 if remember(seen, run, fact) else new
    if moved:
        new = max(new, remember(seen, run, of_pose(pose, words, s, v)))
    if before >= 0 and run.changes < SETTLED:
        alone[last] += changed == 1
        run.changes += 1
        if run.changes & (run.changes - 1) == 0:
            settle(novelty, run.changes)
    return new


@inner
def settle(novelty: Novelty, changes: int) -> None:
    """Which columns are of the pose, after so many changes."""
    _, _, alone, pose, column = novelty
    columns = len(alone) // len(pose)
    for w in range(len(pose)):
        pose[w] = 0
        for c in range(columns):
            if RARE * alone[columns * w + c] >= changes:
                pose[w] |= column << np.uint64(64 // columns * c)
