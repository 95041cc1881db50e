"""The tasks of Crafting World (paper, appendix): descriptions, maps, and what the agent holds at the start."""

from dataclasses import dataclass

from rsg.domains.crafting import VOCABULARY
from rsg.domains.crafting.starts import rules_for
from rsg.domains.splits import paper_tasks

Items = tuple[str, ...]

TRAINING_MAPS = ("smithy", "garden", "field", "switch-field")
FULL_MAPS = ("full-field", "full-switch-field")


@dataclass(frozen=True)
class TaskSpec:
    """One task of a benchmark."""

    text: str  # the description
    # kinds of maps; one that can hold what the task needs is drawn for each episode. Or one map file.
    maps: tuple[str, ...] = TRAINING_MAPS
    given: tuple[Items, ...] = ((),)  # what the agent holds at the start: one of these, before random items are added

    def __str__(self) -> str:
        return self.text


def _primitive(term: str) -> TaskSpec:
    """A single subgoal with all that one of its rules needs in the hands."""
    return TaskSpec(term, given=tuple((*rule.tools, *rule.uses) for rule in rules_for(term)) or ((),))


PRIMITIVE = tuple(_primitive(term) for term in VOCABULARY)


def _listed(split: str) -> tuple[TaskSpec, ...]:
    """The tasks of a split; what they are given is what the subgoals need and the task does not itself provide."""
    return tuple(
        TaskSpec(row["task"], tuple(row.get("maps", TRAINING_MAPS)), (tuple(row.get("given", ())),))
        for row in paper_tasks(__package__)[split]
    )


COMPOSITIONAL, NOVEL, GOAL_ONLY = map(_listed, ("compositional", "novel", "goal-only"))
