"""Instructions that may lead to a goal, the most promising first (paper, eq. 7 and Algorithm 2)."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence

import numpy as np

from rsg.core.errors import RsgError
from rsg.planning.dependencies import Floats

LENGTH_LIMIT = 6
LENGTH_BIAS = 0.9  # the paper calls it λ, as it does the weight of transitions


def priority(matrix: Floats, instruction: Sequence[int], bias: float = LENGTH_BIAS) -> float:
    """How promising `o_1 then ... then o_k` is (eq. 7): each step should help one of those after it.

    >>> round(priority(np.array([[0.0, 1.0], [0.0, 0.0]]), [1, 0]), 3)
    0.81
    """
    value = bias ** len(instruction)
    for i, term in enumerate(instruction[:-1]):
        value *= 1 - np.prod([1 - matrix[later, term] for later in instruction[i + 1 :]])
    return float(value)


def candidates(
    matrix: Floats, goal: int, length_limit: int = LENGTH_LIMIT, bias: float = LENGTH_BIAS
) -> Iterator[tuple[float, tuple[int, ...]]]:
    """Priorities and instructions that end in the goal, in falling order; made one at a time.

    An instruction is made longer at its front, by a term that is not in it and that helps one in it. That never raises
    its priority, so the first in the queue is the best of all that are still to come.

    Args:
        matrix: `[T, T]` d(o1, o2).
        goal: the last term.
        length_limit: the most terms of an instruction.
        bias: below 1, shorter ones are preferred.
    """
    if length_limit < 1 or not 0 < bias <= 1:
        raise RsgError(f"the length limit is at least 1 and the bias in (0, 1], not {length_limit} and {bias}")
    tick = 0
    queue: list[tuple[float, int, tuple[int, ...], Floats]] = [(-bias, tick, (goal,), 1 - matrix[goal])]
    while queue:
        best, _, instruction, useless = heapq.heappop(queue)  # useless: the chance that a term helps none of it
        yield -best, instruction
        if len(instruction) < length_limit:
            for term in np.flatnonzero(useless < 1).tolist():
                if term not in instruction:
                    tick += 1
                    value = best * bias * (1 - useless[term])
                    heapq.heappush(queue, (value, tick, (term, *instruction), useless * (1 - matrix[term])))
