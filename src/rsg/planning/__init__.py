"""How to act: plans for instructions, plans for a goal only, and an independent check of every plan."""

from rsg.planning.candidates import candidates, priority
from rsg.planning.dependencies import Dependencies, Rules
from rsg.planning.goal_only import Goal, GoalSettings, plan_goal
from rsg.planning.plan import Plan, plan, stitched_plan
from rsg.planning.validation import Verdict, validate

__all__ = [
    "Dependencies",
    "Goal",
    "GoalSettings",
    "Plan",
    "Rules",
    "Verdict",
    "candidates",
    "plan",
    "plan_goal",
    "priority",
    "stitched_plan",
    "validate",
]
