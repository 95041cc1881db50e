"""The subgoals that a command was told to use."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from rsg.core.errors import RsgError
from rsg.search import GoalFn

if TYPE_CHECKING:  # torch takes seconds to load, and the truth does without
    from rsg.subgoals import Classifiers

GIVEN = ("oracle", "untrained")
"""Subgoals that are no run's."""


def goal_fn_named(name: str, source: Any, world: Any) -> GoalFn:
    """The classifiers that were asked for, to be used in a world of the benchmark."""
    if name == "oracle":
        fn: GoalFn = source.true_goals
        return fn
    return classifiers_named(name, source, world).goals


def classifiers_named(name: str, source: Any, world: Any) -> Classifiers:
    """Learned or untrained classifiers."""
    from rsg.evaluation.trained import subgoals_for, untrained_for

    if name == "untrained":
        return untrained_for(source, world)
    if not Path(name).exists():
        raise RsgError(f"there are no subgoals '{name}'; give the folder of a run, oracle or untrained")
    return subgoals_for(name, source.name, world)
