"""Plans for a goal when nobody says which subgoals lead to it."""

import time
from dataclasses import replace
from functools import partial

import numpy as np

from rsg.core.arrays import Array
from rsg.planning.algorithm_2 import Candidates, algorithm_2
from rsg.planning.by_regions import blind, by_regions
from rsg.planning.dependencies import Dependencies
from rsg.planning.plan import Plan
from rsg.planning.problem import Goal, GoalProblem, GoalSettings, Method
from rsg.search import Between, GoalFn, after, bolder
from rsg.worlds import World

_METHODS: dict[str, Method] = {
    "regions": by_regions,
    "blind": partial(by_regions, guide=blind),
    "paper": algorithm_2,
    "uniform": partial(algorithm_2, how=Candidates(uniform=True)),
}


def plan_goal(
    world: World,
    state: Array,
    goal: Goal,
    goal_fn: GoalFn,
    dependencies: Dependencies,
    settings: GoalSettings | None = None,
    between: Between | None = None,
) -> Plan:
    """A plan that makes the goal true, with the subgoals on the way as its task.

    Args:
        world: where.
        state: `[W]` the first state.
        goal: what to reach. It must come true: where it holds already, it would have to become false first.
        goal_fn: gives the classifiers of terms.
        dependencies: what is known of the terms; see `rsg.subgoals.discover`.
        settings: how to search.
        between: called now and then with the number of expansions; the search stops if it gives something true.
    """
    start = time.perf_counter()
    settings = settings or GoalSettings()
    problem = GoalProblem(world, np.asarray(state), goal, goal_fn, dependencies)
    method = _METHODS[settings.method] if isinstance(settings.method, str) else settings.method
    bold, spent = False, 0
    while True:
        unsure = hasattr(problem.goals(world, [problem.name], problem.state), "bold")
        left = replace(settings, budget=-(-settings.budget // 2)) if unsure else settings
        made = method(problem, left, after(spent, between))
        spent += made.expansions
        if made.found or not unsure or made.expansions >= settings.budget:
            break
        settings, goal_fn, bold = replace(settings, budget=settings.budget - made.expansions), bolder(goal_fn), True
        problem = GoalProblem(world, problem.state, goal, goal_fn, dependencies)
    return replace(made, expansions=spent, bold=made.found and bold, seconds=time.perf_counter() - start)
