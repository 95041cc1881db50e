"""Random tasks, as negatives for learning; the package takes those from the descriptions of other demonstrations."""

from collections.abc import Sequence

import numpy as np

from rsg.core.errors import TaskError
from rsg.core.random import stream
from rsg.language import And, Or, Task, Term, Then, parse


def sample_task(
    vocabulary: Sequence[str | Term], depth: int = 2, seed: int | np.random.Generator = 0, max_parts: int = 3
) -> Task:
    """A random task: at most `depth` levels of connectives, each joining 2 to `max_parts` parts.

    >>> sample_task(["a", "b", "c"], depth=2, seed=1) == sample_task(["a", "b", "c"], depth=2, seed=1)
    True
    """
    if not vocabulary:
        raise TaskError("cannot sample a task from an empty vocabulary")
    if depth < 0 or max_parts < 2:
        raise TaskError(f"depth must be at least 0 and max_parts at least 2, got {depth} and {max_parts}")
    terms = [term if isinstance(term, Term) else _term(term) for term in vocabulary]
    rng = stream(seed, "sample-task") if isinstance(seed, int) else seed
    return _sample(terms, depth, rng, max_parts)


def _sample(terms: Sequence[Term], depth: int, rng: np.random.Generator, max_parts: int) -> Task:
    if depth == 0 or rng.random() < 1 / (depth + 2):
        return terms[int(rng.integers(len(terms)))]
    connective = (Then, Or, And)[rng.integers(3)]
    parts = (_sample(terms, depth - 1, rng, max_parts) for _ in range(rng.integers(2, max_parts + 1)))
    return connective(tuple(parts))


def _term(text: str) -> Term:
    task = parse(text)
    if not isinstance(task, Term):
        raise TaskError(f"a vocabulary holds terms, '{text}' is a longer task")
    return task
