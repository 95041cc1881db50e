"""How to act: plans for instructions, plans for a goal only, and an independent check of every plan."""

from rsg.planning.algorithm_2 import (
    Candidates as Candidates,
    algorithm_2 as algorithm_2,
    candidates as candidates,
    priority as priority,
)
from rsg.planning.by_regions import Guide as Guide, by_regions as by_regions
from rsg.planning.dependencies import Dependencies as Dependencies, Rules as Rules
from rsg.planning.goal_only import plan_goal as plan_goal
from rsg.planning.plan import Part as Part, Plan as Plan, plan as plan
from rsg.planning.problem import Goal as Goal, GoalProblem as GoalProblem, GoalSettings as GoalSettings
from rsg.planning.validation import Verdict as Verdict, validate as validate
