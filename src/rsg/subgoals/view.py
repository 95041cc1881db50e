"""A trajectory as classifiers see it: what they say of all states around it, and how well tasks explain it then."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from rsg.core.compiled import compiled
from rsg.language import Machine
from rsg.search.cost_to_go import Floats, Logs
from rsg.subgoals.classifiers import Classifiers
from rsg.subgoals.ground import Ground
from rsg.subgoals.objective import Score, score, score_alone
from rsg.subgoals.rationality import Rationality


@dataclass(frozen=True, eq=False)
class View:
    """A trajectory with the graph around it and what classifiers say there.

    Attributes:
        ground: the trajectory and the graph.
        columns: the column of each term in `odds` and `logs`.
        numbers: the terms' numbers among the classifiers.
        odds: `[S, terms, 2]` the log-odds of G and I.
        logs: log G and log I.
    """

    ground: Ground
    columns: dict[str, int]
    numbers: list[int]
    odds: Floats
    logs: Logs

    @staticmethod
    def of(classifiers: Classifiers, ground: Ground, terms: Iterable[str]) -> View:
        """What classifiers say of some terms; each is named once."""
        columns = {term: column for column, term in enumerate(dict.fromkeys(terms))}
        numbers = classifiers.numbers(list(columns))
        odds = classifiers.evaluate(ground.world, ground.graph.states, numbers)
        return View(ground, columns, numbers, odds, log_probabilities(odds))

    def score(self, machine: Machine, how: Rationality) -> Score:
        """How well a task explains the trajectory, with the gradient."""
        return score(self.ground, machine.among(self.columns), self.logs, how)

    def score_alone(self, machine: Machine, how: Rationality) -> float:
        """The score without its gradient."""
        return score_alone(self.ground, machine.among(self.columns), self.logs, how)


@compiled
def log_probabilities(odds: Floats) -> Logs:
    """log G and log I `[S, terms]` from log-odds `[S, terms, 2]`."""
    log_g, log_i = np.empty(odds.shape[:2]), np.empty(odds.shape[:2])
    for s in range(odds.shape[0]):
        for k in range(odds.shape[1]):
            log_g[s, k] = min(odds[s, k, 0], 0.0) - np.log1p(np.exp(-abs(odds[s, k, 0])))
            log_i[s, k] = min(odds[s, k, 1], 0.0) - np.log1p(np.exp(-abs(odds[s, k, 1])))
    return Logs(log_g, log_i)
