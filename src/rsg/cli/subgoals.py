"""The subgoals that a command was told to use; torch takes seconds to load, and the truth does without."""

from pathlib import Path
from typing import Any

from rsg.core.errors import RsgError
from rsg.search import GoalFn

GIVEN = ("oracle", "untrained")
"""Subgoals that are no run's."""


def goal_fn_named(name: str, source: Any, world: Any) -> GoalFn:
    """The classifiers that were asked for, to be used in a world of the benchmark."""
    found: GoalFn = source.true_goals if name == "oracle" else classifiers_named(name, source, world).goals
    return found


def classifiers_named(name: str, source: Any, world: Any) -> Any:
    """Learned or untrained classifiers."""
    from rsg.evaluation.trained import check_usable, untrained_for
    from rsg.subgoals import load_subgoals

    if name == "untrained":
        return untrained_for(source, world)
    if not Path(name).exists():
        raise RsgError(f"there are no subgoals '{name}'; give the folder of a run, oracle or untrained")
    found = load_subgoals(name)
    check_usable(name, source.name, world)
    return found
