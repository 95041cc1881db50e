"""How to learn subgoals."""

from dataclasses import dataclass
from typing import ClassVar

from rsg.core.settings import default
from rsg.subgoals.rationality import Rationality
from rsg.training.settings import TrainingSettings

BY_FACTS = ("auto", "facts")
"""Encoders that are none: terms are read as formulas over facts."""


@dataclass(frozen=True)
class RsgSettings(TrainingSettings):
    """What RSG adds to the settings of every method; values are the paper's where it gives one, but for `single`.

    >>> RsgSettings(encoder="seen", steps=50).hidden
    128
    """

    GONE: ClassVar = {
        **TrainingSettings.GONE,
        **{"one_action": True, "alignment": "max", "negatives_from": "descriptions", "context": False},
        **{"scheme": "exact", "full_layers": 3, "beam_layers": 15, "beam": 10, "actions": "edges", "samples": 20},
        **{"compiled": True, "poses": 2000},
        **dict.fromkeys(("prompt", "sure", "doubt", "unmentioned", "unmentioned_steps"), ...),
    }

    steps: int = 300
    encoder: str = default(
        "auto",
        "facts (formulas over what can be asked of a state), or a network: seen, pictures, sets, image, relative, or "
        "the name of a module that is given in their place; auto is facts, and a network for what they do not explain",
    )
    hidden: int = default(128, "the width of its layers", least=1)
    single: bool = default(True, "whether I is 1 - G instead of a classifier of its own (the paper's)")
    alpha: float = default(1.0, "α, inverse rationality", above=0)
    weight: float = default(1.0, "λ, what a transition's log-probabilities cost beside actions", above=0)
    beta: float = default(1.0, "β, how sharply the contrastive term compares scores", above=0)
    gamma: float = default(0.1, "γ, its weight", least=0)
    negatives: int = default(5, "how many other tasks each demonstration is compared with", least=0)
    depth: int = default(4, "how many steps around a demonstration the exact graph reaches", least=1)

    at_once: bool = default(
        False, "whether a subgoal ends when it comes true, as who labels means it; the paper's may also end later"
    )

    @property
    def rationality(self) -> Rationality:
        """The part that scores depend on."""
        return Rationality(float(self.alpha), float(self.weight), at_once=self.at_once)
