"""How well it does: success against the truth, with intervals, for every split of a benchmark."""

from rsg.evaluation.planning import Starts, evaluate_planning
from rsg.evaluation.statistics import wilson

__all__ = ["Starts", "evaluate_planning", "wilson"]
