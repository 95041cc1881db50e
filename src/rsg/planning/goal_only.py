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
    unsure = hasattr(problem.goals(world, [problem.name], problem.state), "bold")
    careful = replace(settings, budget=-(-settings.budget // 2)) if unsure else settings
    made = method(problem, careful, between)
    if unsure and not made.found and made.expansions < settings.budget:
        problem = GoalProblem(world, problem.state, goal, bolder(goal_fn), dependencies)
        spent = made.expansions
        made = method(problem, replace(settings, budget=settings.budget - spent), after(spent, between))
        made = replace(made, expansions=spent + made.expansions, bold=made.found)
    return replace(made, seconds=time.perf_counter() - start)
