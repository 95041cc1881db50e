"""The kinds of RSG that experiments train: as it is, and as the paper prints it."""

from __future__ import annotations

from reproductions.paper.expectation import Expectation
from reproductions.paper.language_negatives import LanguageNegatives
from reproductions.paper.printed_score import PrintedScore
from reproductions.paper.sampled_actions import SampledActions
from reproductions.paper.sampled_scheme import SampledScheme
from rsg.subgoals import RationalSubgoals


class PrintedSampledScheme(PrintedScore, SampledScheme):
    """Both: the printed score, on the states that the paper's search comes across."""


METHODS: dict[str, type[RationalSubgoals]] = {
    "rsg": RationalSubgoals,
    "expectation": Expectation,
    "language": LanguageNegatives,
    "printed": PrintedScore,
    "printed-sampled": PrintedSampledScheme,
    "sampled": SampledScheme,
    "sampled-actions": SampledActions,
}
"""Kinds of RSG that experiments train, by name."""
