"""What else cuts recordings: equal parts, change points of a given number, a hidden Markov model of a given order."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rsg.core.arrays import Array, Floats, Ints

PHASES = 3  # states of the hidden Markov model for each term
ROUNDS = 15  # of its training
FLOOR = 0.02  # what is added to each variance, of numbers whose spread is 1


def equal_parts(states: Array, terms: Sequence[str]) -> list[int]:
    """The inner ends, if each term takes as long as the others."""
    return [round(len(states) * (n + 1) / len(terms)) for n in range(len(terms) - 1)]


def change_points(states: Array, terms: Sequence[str], kernel: str) -> list[int]:
    """The inner ends by `ruptures`: the best cut into so many parts, exactly, by what is alike within each."""
    import ruptures

    found = ruptures.KernelCPD(kernel=kernel, min_size=1).fit(states).predict(n_bkps=len(terms) - 1)
    return [int(end) for end in found[:-1]]


def with_changes(states: Array) -> Floats:
    """Each state and how it differs from the one before."""
    return np.concatenate([states, np.diff(states, axis=0, prepend=states[:1])], axis=1)


@dataclass
class Markov:
    """A hidden Markov model: each term is some phases, one after the other, each a normal distribution."""

    means: dict[str, Floats]  # `[PHASES, D]` of each term
    precisions: dict[str, Floats]  # `[PHASES, D, D]`
    offsets: dict[str, Floats]  # `[PHASES]` the logarithm of each density at its mean

    @classmethod
    def learned(cls, shown: Sequence[tuple[Array, Sequence[str]]]) -> "Markov":
        """From recordings and the terms of each, in order: at first all phases take equally long (Viterbi training)."""
        labels = [(np.arange(len(states)) * PHASES * len(terms)) // len(states) for states, terms in shown]
        model = cls._fitted(shown, labels)
        for _ in range(ROUNDS):
            after = [model.labelled(states, terms) for states, terms in shown]
            if all(np.array_equal(one, other) for one, other in zip(after, labels, strict=True)):
                break
            labels, model = after, cls._fitted(shown, after)
        return model

    @classmethod
    def _fitted(cls, shown: Sequence[tuple[Array, Sequence[str]]], labels: Sequence[Ints]) -> "Markov":
        rows: dict[tuple[str, int], list[Any]] = {}
        for (states, terms), label in zip(shown, labels, strict=True):
            for number in np.unique(label).tolist():
                rows.setdefault((terms[number // PHASES], number % PHASES), []).append(states[label == number])
        every = np.concatenate([states for states, _ in shown])
        usual = np.cov(every.T)
        found = cls({}, {}, {})
        for term in {term for _, terms in shown for term in terms}:
            means, precisions, offsets = list[Any](), list[Any](), list[float]()
            for phase in range(PHASES):
                mine = np.concatenate(rows.get((term, phase), [every]))
                trust = len(mine) / (len(mine) + every.shape[1])
                spread = trust * np.cov(mine.T, bias=True) + (1 - trust) * usual + FLOOR * np.eye(every.shape[1])
                means.append(mine.mean(axis=0))
                precisions.append(np.linalg.inv(spread))
                offsets.append(-0.5 * float(np.linalg.slogdet(spread)[1]))
            found.means[term], found.precisions[term] = np.array(means), np.array(precisions)
            found.offsets[term] = np.array(offsets)
        return found

    def labelled(self, states: Array, terms: Sequence[str]) -> Ints:
        """The likeliest phase of each state `[T + 1]`, counted through all terms; each takes at least one."""
        columns = []
        for term in terms:
            away = states[:, None] - self.means[term]
            columns.append(self.offsets[term] - 0.5 * np.einsum("npd,pde,npe->np", away, self.precisions[term], away))
        likely = np.concatenate(columns, axis=1)
        best, came = np.full(likely.shape, -np.inf), np.zeros(likely.shape, dtype=bool)
        best[0, 0] = likely[0, 0]
        for n in range(1, len(states)):
            before = np.concatenate([[-np.inf], best[n - 1, :-1]])
            came[n] = before > best[n - 1]
            best[n] = likely[n] + np.maximum(before, best[n - 1])
        label = np.empty(len(states), dtype=np.int64)
        at = likely.shape[1] - 1
        for n in range(len(states) - 1, -1, -1):
            label[n] = at
            at -= int(came[n, at])
        return label

    def ends(self, states: Array, terms: Sequence[str]) -> list[int]:
        """The inner ends: where the first phase of the next term begins."""
        label = self.labelled(states, terms)
        return [int(np.argmax(label >= PHASES * (n + 1))) for n in range(len(terms) - 1)]
