"""How to act: plans for instructions, plans for a goal only, and an independent check of every plan."""

from rsg.planning.dependencies import Dependencies as Dependencies, Rules as Rules
from rsg.planning.execution import (
    Execution as Execution,
    Happened as Happened,
    carry_out as carry_out,
    execute as execute,
    reader as reader,
)
from rsg.planning.goal_only import (
    Goal as Goal,
    GoalProblem as GoalProblem,
    Method as Method,
    by_regions as by_regions,
    plan_goal as plan_goal,
    planned as planned,
)
from rsg.planning.plan import Part as Part, Plan as Plan, plan as plan
from rsg.planning.validation import Verdict as Verdict, validate as validate
