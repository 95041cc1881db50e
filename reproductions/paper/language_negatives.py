"""Tasks to compare with, drawn from the whole task language instead of from the descriptions (paper, eq. 5)."""

from __future__ import annotations

import numpy as np

from rsg.demos import Demonstration
from rsg.language import Machine, machine_of, sample_task
from rsg.subgoals import RationalSubgoals
from rsg.subgoals.learning import spelled


class LanguageNegatives(RationalSubgoals):
    """RSG with random tasks as negatives."""

    def candidates(self, demo: Demonstration, rng: np.random.Generator) -> list[Machine]:
        """The machine of the demonstration's own task, then those of random ones."""
        drawn = (sample_task(self.module.terms, seed=rng) for _ in range(self.settings.negatives))
        others = (Machine.of(task) for task in drawn if str(task) != spelled(demo.task))
        return [machine_of(demo.task), *others]
