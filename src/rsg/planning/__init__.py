"""How to act: plans for instructions, plans for a goal only, and an independent check of every plan."""

from rsg.planning.algorithm_2 import Candidates, algorithm_2, candidates, priority
from rsg.planning.by_regions import Guide, by_regions
from rsg.planning.dependencies import Dependencies, Rules
from rsg.planning.goal_only import plan_goal
from rsg.planning.plan import Part, Plan, plan
from rsg.planning.problem import Goal, GoalProblem, GoalSettings
from rsg.planning.validation import Verdict, validate

__all__ = [
    "Candidates",
    "Dependencies",
    "Goal",
    "GoalProblem",
    "GoalSettings",
    "Guide",
    "Part",
    "Plan",
    "Rules",
    "Verdict",
    "algorithm_2",
    "by_regions",
    "candidates",
    "plan",
    "plan_goal",
    "priority",
    "validate",
]
