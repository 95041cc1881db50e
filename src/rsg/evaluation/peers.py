"""`rsg reproduce peers`: our planners beside those of others, on the same problems in the same run."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from rsg.demos import Recipe, benchmark
from rsg.evaluation.fast_downward import CONFIGURATIONS
from rsg.evaluation.jobs import Job, Place, Plain
from rsg.evaluation.peer_problems import EXPANSIONS, Draw, Problem, cheapest, open_field
from rsg.evaluation.reproduce import Experiment, Extent, Results, Section
from rsg.language import Term
from rsg.planning import Dependencies, GoalSettings, Plan, plan_goal, validate
from rsg.subgoals import discover

NAME, WORLD = "peers", "crafting"
LIMIT = 60.0  # seconds of search
BUDGET = 1_000_000  # expansions of our default method, which has no limit of time
GOALS = ("mine-wood", "craft-boat", "craft-iron-ingot", "craft-bowl")
METHODS = {  # what is compared on growing maps
    "optimal": "ours, `optimal`",
    "regions": "ours, the default for a goal",
    "fd-optimal": "Fast Downward, A* with LM-cut",
    "fd-blind": "Fast Downward, A* without a heuristic",
    "fd-satisficing": "Fast Downward, LAMA's first plan",
}


@dataclass(frozen=True)
class Sizes:
    """How much is done.

    Attributes:
        problems: for the comparison of costs; parts: jobs that they are spread over.
        sizes: rows and columns of the growing maps; goals: what is to come true on them.
        queries: of motion planners.
        demonstrations: of each task, from which our default learns what needs what.
        limit: seconds of a search.
        minutes: of each kind of job, about: costs, growing maps, motions.
    """

    problems: int = 200
    parts: int = 8
    sizes: tuple[int, ...] = (7, 9, 11, 13, 15)
    goals: tuple[str, ...] = GOALS
    queries: int = 200
    demonstrations: int = 20
    limit: float = LIMIT
    minutes: tuple[float, float, float] = (1.2, 2.0, 0.5)


FULL = Sizes()
QUICK = Sizes(4, 1, (5, 6), ("mine-wood",), 5, 2, 10.0, (0.5, 0.5, 0.5))


def jobs(extent: Extent) -> list[Job]:
    """Problems for the comparison of costs, growing maps (a seed is one map of each size and goal), motions."""
    size = QUICK if extent.quick else FULL
    costs, growing, moving = size.minutes
    recipe = Recipe(WORLD, "train", size.demonstrations, 0)
    asked = {"limit": size.limit, "expansions": EXPANSIONS, "seed": 0, "configurations": _configurations("optimal")}
    listed = []
    for part in range(size.parts):
        numbers = list(range(part, size.problems, size.parts))
        listed.append(Job(NAME, f"costs-{part}", costs_job, {**asked, "numbers": numbers}, costs))
    for seed in range(extent.seeds):
        for cells in size.sizes:
            parameters = {
                "size": cells,
                "seed": seed,
                "goals": list(size.goals),
                "limit": size.limit,
                "budget": BUDGET,
                "demonstrations": size.demonstrations,
                "configurations": _configurations(*CONFIGURATIONS),
            }
            listed.append(Job(NAME, f"size-{cells}-seed{seed}", growing_job, parameters, growing, (recipe,)))
    listed.append(Job(NAME, "motions", motions_job, {"queries": size.queries}, moving))
    return listed


def _configurations(*names: str) -> Plain:
    return {f"fd-{name}": CONFIGURATIONS[name] for name in names}


def costs_job(parameters: Plain, place: Place) -> Plain:
    """The least cost of the same problems, by us and by Fast Downward."""
    del place
    from rsg.evaluation.fast_downward import versions

    rows = []
    for number in parameters["numbers"]:
        problem, _ = Draw(parameters["seed"], number, parameters["expansions"]).problem()
        ours = _ours(problem, partial(cheapest, problem))
        theirs = _asked(problem, parameters["configurations"], parameters["limit"])
        rows.append({"problem": problem.name, "optimal": ours, **theirs})
    return {"rows": rows, "versions": versions()}


def growing_job(parameters: Plain, place: Place) -> Plain:
    """Every method on maps of one size, a goal to each."""
    limit = parameters["limit"]
    dependencies = _dependencies(place, Recipe(WORLD, "train", parameters["demonstrations"], 0))
    settings = GoalSettings(budget=parameters["budget"])
    rows = []
    for term in parameters["goals"]:
        problem = open_field(term, parameters["size"], parameters["seed"])
        _goal_plan(problem, dependencies, GoalSettings(budget=1))  # compiles the kernels, or loads them
        cheapest(problem, budget=1)
        ours = {
            "optimal": _ours(problem, partial(cheapest, problem, time_limit=limit)),
            "regions": _ours(problem, partial(_goal_plan, problem, dependencies, settings)),
        }
        theirs = _asked(problem, parameters["configurations"], limit)
        rows.append({"problem": problem.name, **ours, **theirs})
    return {"size": parameters["size"], "rows": rows}


def motions_job(parameters: Plain, place: Place) -> Plain:
    """Our motion planners and OMPL's."""
    del place
    from importlib.metadata import version

    from rsg.evaluation.motion_peers import compare

    return {"figures": compare(parameters["queries"], shapely=False), "versions": {"ompl": version("ompl")}}


def _dependencies(place: Place, recipe: Recipe) -> Dependencies:
    """What needs what, as the truth sees it in the demonstrations."""
    source = benchmark(WORLD)
    return discover(source.true_goals, source.vocabulary, place.store(recipe), lambda demo: source.world(demo.setting))


def _goal_plan(problem: Problem, dependencies: Dependencies, settings: GoalSettings) -> Plan:
    true_goals = benchmark(WORLD).true_goals
    return plan_goal(problem.world, problem.state, problem.term, true_goals, dependencies, settings)


def _ours(problem: Problem, make: Callable[[], Plan]) -> Plain:
    """What a planner of ours does with a problem, and how long it takes."""
    begun, used = time.perf_counter(), time.process_time()
    made = make()
    seconds, cpu = time.perf_counter() - begun, time.process_time() - used
    return {
        "ended": made.ended,
        "steps": len(made.actions) if made.found else None,
        "right": _right(problem, made.actions.tolist()) if made.found else None,
        "expansions": made.expansions,
        "seconds": round(seconds, 5),
        "cpu_seconds": round(cpu, 5),
    }


def _asked(problem: Problem, configurations: Mapping[str, Mapping[str, str]], limit: float) -> Plain:
    """What Fast Downward says of a problem, in several configurations; it is read once."""
    from rsg.evaluation.fast_downward import ask, read
    from rsg.worlds.crafting.pddl import to_pddl

    reading = read(to_pddl(problem.world, problem.state, problem.term))
    found = {}
    for name, configuration in configurations.items():
        plain = ask(reading, configuration, limit).plain()
        steps, actions = plain.pop("cost"), plain.pop("actions")
        right = None if actions is None else len(actions) == steps and _right(problem, actions)
        found[name] = {**plain, "steps": steps, "right": right}
    return found


def _right(problem: Problem, actions: list[int]) -> bool:
    """Whether actions make the term come true, by the world's own rules."""
    states = [problem.state]
    for action in actions:
        states.append(problem.world.step(states[-1][None], np.array([action]))[0])
    size = len(actions)
    claimed = Plan(
        Term(problem.term),
        np.array(actions, dtype=np.int64),
        np.stack(states),
        np.ones(size, dtype=np.int64),
        (problem.term,) * size,
        size * float(problem.world.costs[0]),
        0,
        0.0,
    )
    source: Any = benchmark(WORLD)

    def truth(states: Any, terms: Any) -> Any:
        return source.truth(problem.world, states, terms)

    return validate(problem.world, claimed, Term(problem.term), truth).ok


def section(extent: Extent, results: Results) -> Section:
    """See `rsg.evaluation.peers_section`."""
    from rsg.evaluation.peers_section import section as written

    return written(QUICK if extent.quick else FULL, results)


EXPERIMENT = Experiment(NAME, 1, 1, jobs, section, ("pddl", "ompl"))
