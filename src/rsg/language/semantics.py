"""When a trajectory does a task: the paper's definition, word for word, as the oracle for everything else."""

from collections.abc import Sequence
from functools import cache
from itertools import permutations

import numpy as np
from numpy.typing import ArrayLike

from rsg.core.arrays import Bools
from rsg.core.errors import TaskError
from rsg.language.tree import And, Or, Task, Term, Then


def satisfies(trace: ArrayLike, task: Task, vocabulary: Sequence[str | Term] | None = None) -> bool:
    """Whether the trace does the task (paper, section 2: s̄ ⊨ t).

    Args:
        trace: truth values `[steps, terms]`: does the subgoal hold in the state?
        task: what was asked.
        vocabulary: the term of each column; by default `task.terms()`, the order of first appearance.

    >>> from rsg.language import parse
    >>> satisfies([[0, 0], [1, 0], [1, 1]], parse("mine-wood then craft-boat"))
    True
    >>> satisfies([[0, 0], [0, 1], [1, 1]], parse("mine-wood then craft-boat"))
    False
    """
    true, column = read_trace(trace, task, vocabulary)

    @cache
    def holds(task: Task, first: int, last: int) -> bool:
        if isinstance(task, Term):  # false in the first state, true in the last: so there are at least two
            return not true[first, column[task]] and bool(true[last, column[task]])
        if isinstance(task, Or):
            return any(holds(part, first, last) for part in task.parts)
        if isinstance(task, And):  # some order of all parts
            return any(holds(Then(order), first, last) for order in permutations(task.parts))
        assert isinstance(task, Then)  # the parts meet in shared states
        ends = {first}
        for part in task.parts:
            ends = {end for start in ends for end in range(start + 1, last + 1) if holds(part, start, end)}
        return last in ends

    return len(true) > 0 and holds(task, 0, len(true) - 1)


def read_trace(trace: ArrayLike, task: Task, vocabulary: Sequence[str | Term] | None) -> tuple[Bools, dict[Term, int]]:
    """The trace as an array `[steps, terms]` and the column of each term of the task."""
    if not isinstance(task, Task):
        raise TaskError(f"a trace is judged by a task, not by {type(task).__name__}; use rsg.parse on a text")
    names = [str(term) for term in (task.terms() if vocabulary is None else vocabulary)]
    true = np.asarray(trace, dtype=bool)
    if true.ndim != 2 or true.shape[1] != len(names):
        raise TaskError(f"a trace is a table [steps, {len(names)}] of truth values, this one has shape {true.shape}")
    missing = [str(term) for term in task.terms() if str(term) not in names]
    if missing:
        raise TaskError(f"the trace has no column for {missing[0]}; its columns are {', '.join(names)}")
    return true, {term: names.index(str(term)) for term in task.terms()}
