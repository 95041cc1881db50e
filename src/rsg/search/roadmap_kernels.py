"""The inner loops of roadmaps: which poses are one action apart, and edges in CSR form."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rsg.core.compiled import compiled
from rsg.search.motion_kernels import ROUNDING, Space, apart, difference, nearest

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]


@compiled
def near_pairs(space: Space, ones: Floats, others: Floats, within: bool) -> tuple[Ints, Ints]:
    """All pairs of poses that are at most one action apart: one of `ones` `[M, D]`, and one of `others` `[N, D]`.

    within: both are the same poses, and each pair is told once, the lower number first.
    """
    room = 64
    first, second = np.empty(room, dtype=np.int32), np.empty(room, dtype=np.int32)
    count = 0
    for i in range(len(ones)):
        for j in range(i + 1 if within else 0, len(others)):
            near = True
            for d in range(len(space.reach)):
                if abs(difference(space, ones[i], others[j], d)) > space.reach[d] * (1 + ROUNDING):
                    near = False
                    break
            if not near:
                continue
            if count == room:
                room *= 4
                more_first, more_second = np.empty(room, dtype=np.int32), np.empty(room, dtype=np.int32)
                for k in range(count):
                    more_first[k], more_second[k] = first[k], second[k]
                first, second = more_first, more_second
            first[count], second[count] = i, j
            count += 1
    return first[:count].copy(), second[:count].copy()


@compiled
def with_links(old_start: Ints, old_end: Ints, shift: int, source: Ints, target: Ints) -> tuple[Ints, Ints]:
    """A graph with `shift` states put before its own, and edges from `source` to `target` `[N]` in the new numbers.

    Gives where the edges of each state begin, and where they lead: the new ones first.
    """
    count = len(old_start) - 1 + shift
    start = np.zeros(count + 1, dtype=np.int32)
    end = np.empty(len(old_end) + len(source), dtype=np.int32)
    for edge in range(len(source)):
        start[source[edge] + 1] += 1
    for s in range(count):
        old = old_start[s - shift + 1] - old_start[s - shift] if s >= shift else 0
        start[s + 1] += start[s] + old
    place = start[:count].copy()
    for edge in range(len(source)):
        end[place[source[edge]]] = target[edge]
        place[source[edge]] += 1
    for s in range(shift, count):
        for edge in range(old_start[s - shift], old_start[s - shift + 1]):
            end[place[s]] = old_end[edge] + shift
            place[s] += 1
    return start, end


@compiled
def numbers_within(start: Ints) -> Ints:
    """The number of each edge among those of its state, `[E]`."""
    number = np.empty(start[-1], dtype=np.int32)
    for s in range(len(start) - 1):
        for edge in range(start[s], start[s + 1]):
            number[edge] = edge - start[s]
    return number


@compiled
def components(start: Ints, end: Ints) -> Ints:
    """The number of the connected part that each state is in, `[S]`; edges lead both ways."""
    part = np.full(len(start) - 1, -1, dtype=np.int32)
    stack = np.empty(len(part), dtype=np.int32)
    parts = 0
    for root in range(len(part)):
        if part[root] >= 0:
            continue
        part[root] = parts
        stack[0] = root
        size = 1
        while size > 0:
            size -= 1
            s = stack[size]
            for edge in range(start[s], start[s + 1]):
                if part[end[edge]] < 0:
                    part[end[edge]] = parts
                    stack[size] = end[edge]
                    size += 1
        parts += 1
    return part


@compiled
def within(start: Ints, end: Ints, sources: Ints, depth: int) -> Ints:
    """The states at most `depth` edges after one of the sources, in the order of their numbers."""
    count = len(start) - 1
    steps = np.full(count, -1, dtype=np.int32)
    queue = np.empty(count, dtype=np.int32)
    head, tail = 0, 0
    for s in sources:
        if steps[s] < 0:
            steps[s] = 0
            queue[tail] = s
            tail += 1
    while head < tail:
        s = queue[head]
        head += 1
        for edge in range(start[s], start[s + 1] if steps[s] < depth else start[s]):
            if steps[end[edge]] < 0:
                steps[end[edge]] = steps[s] + 1
                queue[tail] = end[edge]
                tail += 1
    return np.sort(queue[:tail])


@compiled
def among(start: Ints, end: Ints, kept: Ints) -> tuple[Ints, Ints]:
    """The edges of a graph among some of its states `[K]`, which are numbered anew in the order given."""
    place = np.full(len(start) - 1, -1, dtype=np.int32)
    for i in range(len(kept)):
        place[kept[i]] = i
    new_start, new_end = np.zeros(len(kept) + 1, dtype=np.int32), np.empty(len(end), dtype=np.int32)
    count = 0
    for i in range(len(kept)):
        for edge in range(start[kept[i]], start[kept[i] + 1]):
            if place[end[edge]] >= 0:
                new_end[count] = place[end[edge]]
                count += 1
        new_start[i + 1] = count
    return new_start, new_end[:count].copy()


@compiled
def closest(space: Space, ones: Floats, others: Floats) -> tuple[int, int]:
    """The two poses, one of `ones` and one of `others`, with the fewest actions between them."""
    best, first, second = np.inf, 0, 0
    for i in range(len(ones)):
        j = nearest(space, others, len(others), ones[i])
        away = apart(space, ones[i], others[j])
        if away < best:
            best, first, second = away, i, j
    return first, second


@compiled
def write_ends(start: Ints, end: Ints, after: Ints) -> None:
    """The edges as a table: where each leads, `[S, A]`; a state with fewer than A has its last one several times."""
    for s in range(len(start) - 1):
        degree = start[s + 1] - start[s]
        for a in range(after.shape[1]):
            after[s, a] = end[start[s] + min(a, degree - 1)] if degree > 0 else s


@compiled
def steps_to(start: Ints, end: Ints, holds: NDArray[np.bool_]) -> Ints:
    """The fewest edges from each state to one where a term holds, `[terms, S]`, -1 if none; edges lead both ways."""
    count, terms = holds.shape
    all_steps = np.full((terms, count), -1, dtype=np.int32)
    queue = np.empty(count, dtype=np.int32)
    for term in range(terms):
        steps = all_steps[term]
        head, tail = 0, 0
        for s in range(count):
            if holds[s, term]:
                steps[s] = 0
                queue[tail] = s
                tail += 1
        while head < tail:
            s = queue[head]
            head += 1
            for edge in range(start[s], start[s + 1]):
                after = end[edge]
                if steps[after] < 0:
                    steps[after] = steps[s] + 1
                    queue[tail] = after
                    tail += 1
    return all_steps
