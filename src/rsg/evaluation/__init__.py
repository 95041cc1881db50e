"""How well it does: success against the truth, with intervals, for every split of a benchmark."""

from rsg.evaluation.planning import evaluate_planning
from rsg.evaluation.policies import evaluate_policy, evaluate_run
from rsg.evaluation.statistics import wilson

__all__ = ["evaluate_planning", "evaluate_policy", "evaluate_run", "wilson"]
