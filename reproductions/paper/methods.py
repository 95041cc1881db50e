"""The kinds of RSG that experiments train: as it is, and as the paper prints it."""

from typing import Any

import numpy as np
from torch import nn

from reproductions.paper.expectation import Expectation
from reproductions.paper.printed_score import PrintedScore
from reproductions.paper.random_tasks import sample_task
from reproductions.paper.sampled_actions import SampledActions
from reproductions.paper.sampled_scheme import SampledScheme
from rsg.demos import Demonstration
from rsg.language import Machine, machine_of
from rsg.subgoals import RationalSubgoals
from rsg.subgoals.learning import spelled


class LanguageNegatives(RationalSubgoals):
    """RSG that compares with tasks drawn from the whole task language (eq. 5), not with other descriptions."""

    def candidates(self, demo: Demonstration, rng: np.random.Generator) -> list[Machine]:
        """The machine of the demonstration's own task, then those of random ones."""
        drawn = (sample_task(self.module.terms, seed=rng) for _ in range(self.settings.negatives))
        others = (Machine.of(task) for task in drawn if str(task) != spelled(demo.task))
        return [machine_of(demo.task), *others]


class AnyThings(RationalSubgoals):
    """RSG whose classifiers may look at as many things as they like."""

    def after_step(self, rate: float, share: float) -> None:
        """Nothing."""


class NoDoubt(RationalSubgoals):
    """RSG whose classifiers, those of `sets`, begin at even odds."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        nn.init.zeros_(self.module.get_parameter("offset"))


class Neither(AnyThings, NoDoubt):
    """Neither doubt nor a preference for few things."""


class PaperObjective(Neither, PrintedScore):
    """The objective as the paper prints it."""


class PrintedSampledScheme(PrintedScore, SampledScheme):
    """Both: the printed score, on the states that the paper's search comes across."""


class PaperSampled(Neither, PrintedSampledScheme):
    """The objective as the paper prints it, on these states."""


METHODS: dict[str, type[RationalSubgoals]] = {
    "rsg": RationalSubgoals,
    "any-things": AnyThings,
    "no-doubt": NoDoubt,
    "neither": Neither,
    "paper": PaperObjective,
    "paper-sampled": PaperSampled,
    "expectation": Expectation,
    "language": LanguageNegatives,
    "printed": PrintedScore,
    "printed-sampled": PrintedSampledScheme,
    "sampled": SampledScheme,
    "sampled-actions": SampledActions,
}
"""Kinds of RSG that experiments train, by name."""
