"""`rsg reproduce peers`: our planners beside those of others, on the same problems in the same run."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from statistics import median

import numpy as np

from reproductions.fast_downward import CONFIGURATIONS
from reproductions.harness.figures import Line, draw_lines
from reproductions.harness.jobs import Job, Place, Plain
from reproductions.harness.reproduce import Experiment, Extent, Picture, Section
from reproductions.harness.results import Results
from reproductions.harness.tables import NONE, table
from reproductions.harness.trials import Size
from reproductions.peer_problems import EXPANSIONS, LEAST, NO_PLAN_EACH, Draw, Problem, cheapest, open_field
from rsg.demos import Recipe, benchmark
from rsg.evaluation.statistics import hundredths
from rsg.language import Term
from rsg.planning import Dependencies, GoalSettings, Plan, plan_goal, validate
from rsg.subgoals import discover

NAME, WORLD = "peers", "crafting"
BUDGET = 1_000_000  # expansions of our default method, which has no limit of time
GOALS = ("mine-wood", "craft-boat", "craft-iron-ingot", "craft-bowl")
METHODS = {  # what is compared on growing maps
    "optimal": "ours, `optimal`",
    "regions": "ours, the default for a goal",
    "fd-optimal": "Fast Downward, A* with LM-cut",
    "fd-blind": "Fast Downward, A* without a heuristic",
    "fd-satisficing": "Fast Downward, LAMA's first plan",
}
LEAST_SHOWN = 0.001  # seconds: clocks that are read for so little are coarse
EXACT = ("optimal", "fd-optimal", "fd-blind")  # whose plans are said to be the cheapest
_MOTION: dict[str, tuple[str, Callable[[float], str]]] = {  # figures of a motion planner: headline, and how it is shown
    "success": ("right", lambda value: f"{hundredths(value)} %"),
    "ms_median": ("median time", lambda value: f"{value:.2f} ms"),
    "actions_mean": ("actions", lambda value: f"{value:.2f}"),
    "pose_length_mean": ("length", lambda value: f"{value:.2f}"),
}

FULL = Size(
    20, {"problems": 200, "parts": 8, "sizes": (7, 9, 11, 13, 15), "goals": GOALS, "queries": 200, "limit": 60.0}
)
QUICK = Size(
    2, {"problems": 4, "parts": 1, "sizes": (5, 6), "goals": GOALS[:1], "queries": 5, "limit": 10.0}, 0.5
)  # problems for costs are spread over parts; sizes of growing maps; queries of motion planners; seconds of a search


def jobs(extent: Extent) -> list[Job]:
    """Problems for the comparison of costs, growing maps (a seed is one map of each size and goal), motions."""
    size = extent.size
    recipe = Recipe(WORLD, "train", size.demonstrations, 0)
    asked = {"limit": size["limit"], "expansions": EXPANSIONS, "seed": 0, "configurations": _configurations("optimal")}
    listed = []
    for part in range(size["parts"]):
        numbers = list(range(part, size["problems"], size["parts"]))
        listed.append(Job(NAME, f"costs-{part}", costs_job, {**asked, "numbers": numbers}, size.minutes))
    for seed in range(extent.seeds):
        for cells in size["sizes"]:
            parameters = {
                "size": cells,
                "seed": seed,
                "goals": list(size["goals"]),
                "limit": size["limit"],
                "budget": BUDGET,
                "demonstrations": size.demonstrations,
                "configurations": _configurations(*CONFIGURATIONS),
            }
            listed.append(Job(NAME, f"size-{cells}-seed{seed}", growing_job, parameters, size.minutes, (recipe,)))
    listed.append(Job(NAME, "motions", motions_job, {"queries": size["queries"]}, size.minutes))
    return listed


def _configurations(*names: str) -> Plain:
    return {f"fd-{name}": CONFIGURATIONS[name] for name in names}


def costs_job(parameters: Plain, place: Place) -> Plain:
    """The least cost of the same problems, by us and by Fast Downward."""
    del place
    from reproductions.fast_downward import versions

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

    from reproductions.motion_peers import compare

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
        "right": is_right(problem, made.actions.tolist()) if made.found else None,
        "expansions": made.expansions,
        "seconds": round(seconds, 5),
        "cpu_seconds": round(cpu, 5),
    }


def _asked(problem: Problem, configurations: Mapping[str, Mapping[str, str]], limit: float) -> Plain:
    """What Fast Downward says of a problem, in several configurations; it is read once."""
    from reproductions.fast_downward import ask, read
    from reproductions.pddl import to_pddl

    reading = read(to_pddl(problem.world, problem.state, problem.term))
    found = {}
    for name, configuration in configurations.items():
        plain = ask(reading, configuration, limit).plain()
        steps, actions = plain.pop("cost"), plain.pop("actions")
        right = None if actions is None else len(actions) == steps and is_right(problem, actions)
        found[name] = {**plain, "steps": steps, "right": right}
    return found


def is_right(problem: Problem, actions: list[int]) -> bool:
    """Whether actions make the term come true, by the world's own rules."""
    states = [problem.state]
    for action in actions:
        states.append(problem.world.step(states[-1][None], np.array([action]))[0])
    size = len(actions)
    claimed = Plan(
        task=Term(problem.term),
        actions=np.array(actions, dtype=np.int64),
        states=np.stack(states),
        nodes=np.ones(size, dtype=np.int64),
        terms=(problem.term,) * size,
        cost=size * float(problem.world.costs[0]),
        expansions=0,
    )
    return validate(problem.world, claimed, Term(problem.term), partial(benchmark(WORLD).truth, problem.world)).ok


# The section.


def section(extent: Extent, results: Results) -> Section:
    """Costs, growing maps, motions."""
    size, limit = extent.size, extent.size["limit"]
    costs = _costs(_rows(results, "costs-"), limit)
    growing = {cells: _grown(_rows(results, f"size-{cells}-"), limit) for cells in size["sizes"]}
    growing = {cells: figures for cells, figures in growing.items() if figures}
    motions = results.get("motions", {}).get("figures")
    versions = {name: one for result in results.values() for name, one in result.get("versions", {}).items()}
    summary: Plain = {
        "versions": versions,
        "limit": limit,
        "costs": costs,
        "growing": {str(cells): figures for cells, figures in growing.items()},
        "motions": motions,
    }
    parts = [*_costs_text(costs, size), *_growing_text(growing, size), *_motions_text(motions)]
    parts.append(f"Versions: {', '.join(f'{name} {one}' for name, one in versions.items())}.")
    pictures = {}
    if growing:
        drawn = partial(draw_lines, groups=_lines(growing), across="rows and columns of the map", up="")
        pictures["growing"] = Picture("Time and steps on growing maps", partial(drawn, logarithmic="y"))
    return Section("Planners that others wrote", "\n\n".join(parts), summary, pictures)


def _rows(results: Results, prefix: str) -> list[Plain]:
    return [row for name, one in results.items() if name.startswith(prefix) for row in one["rows"]]


def _costs(rows: Sequence[Plain], limit: float) -> Plain | None:
    """How often both say the same, and which problems are left."""
    if not rows:
        return None
    pairs = [(row["problem"], row["optimal"], row["fd-optimal"]) for row in rows]
    answered = [(name, ours, theirs) for name, ours, theirs in pairs if theirs["ended"] in ("found", "exhausted")]
    equal = [ours for _, ours, theirs in answered if _said(ours) == _said(theirs)]
    steps = [ours["steps"] for _, ours, _ in pairs if ours["steps"] is not None]
    return {
        "problems": len(pairs),
        "equal": len(equal),
        "equal_with_plan": sum(ours["steps"] is not None for ours in equal),
        "different": sorted(name for name, ours, theirs in answered if _said(ours) != _said(theirs)),
        "unsolved": sorted({name for name, *_ in pairs} - {name for name, *_ in answered}),
        "wrong_plans": sorted(name for name, *both in pairs if any(one["right"] is False for one in both)),
        "steps": {
            "least": min(steps, default=0),
            "mean": sum(steps) / max(1, len(steps)),
            "most": max(steps, default=0),
        },
        "optimal": _times([ours for _, ours, _ in pairs], limit),
        "fd-optimal": _times([theirs for *_, theirs in pairs], limit),
    }


def _said(answer: Plain) -> tuple[str, int | None]:
    return answer["ended"], answer["steps"]


def _times(answers: Sequence[Plain], limit: float) -> Plain:
    """Medians and means; a search that was cut counts as the limit."""
    searches = [_search(one, limit) for one in answers]
    own = [one["own_seconds"] for one in answers if "own_seconds" in one]
    told = [one["expansions"] for one in answers if one["expansions"] is not None]
    return {
        "search_seconds_median": median(searches),
        "search_seconds_mean": sum(searches) / len(searches),
        "call_seconds_median": median(one["seconds"] for one in answers),
        "call_cpu_seconds_median": median(one["cpu_seconds"] for one in answers),
        "own_seconds_median": median(own) if own else None,
        "expansions_median": median(told) if told else None,
    }


def _search(answer: Plain, limit: float) -> float:
    """Seconds of search: processor time, as Fast Downward prints it; of ours the whole call is a search."""
    if answer["ended"] in ("time", "memory"):
        return limit
    printed = answer.get("search_seconds", answer["cpu_seconds"])
    return float(printed or 0.0)


def _grown(rows: Sequence[Plain], limit: float) -> Plain:
    """For each method on maps of one size: how many were solved, times, and steps where all found a plan."""
    if not rows:
        return {}
    common = [row for row in rows if all(row[method]["steps"] is not None for method in METHODS)]
    found: Plain = {}
    for method in METHODS:
        answers = [row[method] for row in rows]
        steps = [row[method]["steps"] for row in common]
        found[method] = {
            "problems": len(rows),
            "solved": sum(one["steps"] is not None for one in answers),
            "wrong_plans": sum(one["right"] is False for one in answers),
            "unsolved": sorted(row["problem"] for row in rows if row[method]["steps"] is None),
            "steps_mean": sum(steps) / len(steps) if steps else None,
            "compared": len(steps),
            **_times(answers, limit),
        }
    exact = [[row[method]["steps"] for method in EXACT if row[method]["steps"] is not None] for row in rows]
    exact = [said for said in exact if len(said) > 1]
    found["equal"] = {"problems": len(exact), "equal": sum(len(set(said)) == 1 for said in exact)}
    return found


_COSTS = (
    "**The least cost.** Random problems in Crafting World: a state and one term that is to come true, written as PDDL "
    "by `reproductions.pddl`. Half of them are on open fields of 4×4 to 7×7, half on maps with doors, rivers and "
    "islands; with a capacity of 2 to 6, several copies of an item on the ground and in the hands. Every {every}th has "
    "no plan; the others take {least} steps or more. Our `optimal` order knows the answer within {expansions:,} "
    "expansions: that is how they are drawn. Fast Downward answers with A* and the heuristic LM-cut, within {limit:g} "
    "s of search. All plans are replayed by the world's own rules."
)


def _costs_text(costs: Plain | None, size: Size) -> list[str]:
    if costs is None:
        return []
    steps, ours, theirs = costs["steps"], costs["optimal"], costs["fd-optimal"]
    shown = f"{steps['least']} / {steps['mean']:.1f} / {steps['most']}"
    rows = [
        ["problems", f"{costs['problems']}"],
        ["the same answer by both", f"**{costs['equal']}**"],
        ["… with a plan", f"{costs['equal_with_plan']}"],
        ["… without", f"{costs['equal'] - costs['equal_with_plan']}"],
        ["steps of the cheapest plan, least / mean / most", shown],
        ["ours, median time", _seconds(ours["search_seconds_median"])],
        ["Fast Downward, median time of search", _seconds(theirs["search_seconds_median"])],
        ["Fast Downward, median processor time of the whole call", _seconds(theirs["call_cpu_seconds_median"])],
    ]
    return [
        _COSTS.format(every=NO_PLAN_EACH, least=LEAST, expansions=EXPANSIONS, limit=size["limit"]),
        table(["", ""], rows),
        f"Different answers: {_listed(costs['different'])}. Not answered by Fast Downward in time and memory: "
        f"{_listed(costs['unsolved'])}. Plans that a replay found wrong: {_listed(costs['wrong_plans'])}.",
    ]


def _listed(names: Sequence[str]) -> str:
    return "; ".join(names) if names else "none"


def _seconds(value: float) -> str:
    """Seconds, or milliseconds if they are few; what is printed as nothing is less than a tenth of one."""
    if value < 0.0001:
        return "< 0.1 ms"
    return f"{value:.2f} s" if value >= 0.1 else f"{1000 * value:.1f} ms"


_GROWING = (
    "**Growing maps.** Open fields with up to 30 objects and empty hands; goals: {goals}. Ours: the `optimal` order, "
    "and the default for a goal alone, a search region by region that knows what needs what from {demonstrations} "
    "demonstrations of each training task, seen with the truth. (For a single term our default order for instructions, "
    "`deepest`, does the very search of `optimal`.) Fast Downward: A* with LM-cut, A* without a heuristic, the first "
    "plan of LAMA. A search may take {limit:g} s, of ours on the clock and of Fast Downward in processor time, which "
    "count where it was cut; our default has {budget:,} expansions instead. The median processor time of the search, "
    "as Fast Downward prints it for its own, and how many problems were solved:"
)


def _growing_text(growing: Mapping[int, Plain], size: Size) -> list[str]:
    if not growing:
        return []
    head = ["", *(f"{cells}×{cells}" for cells in growing)]

    def by_size(show: Callable[[Plain], str]) -> str:
        rows = [[label, *(show(figures[method]) for figures in growing.values())] for method, label in METHODS.items()]
        return table(head, rows)

    asked = {"goals": ", ".join(size["goals"]), "demonstrations": size.demonstrations, "limit": size["limit"]}
    same, total = (sum(figures["equal"][key] for figures in growing.values()) for key in ("equal", "problems"))
    wrong = sum(figures[method]["wrong_plans"] for figures in growing.values() for method in METHODS)
    return [
        _GROWING.format(**asked, budget=BUDGET),
        by_size(lambda one: f"{_seconds(one['search_seconds_median'])} ({one['solved']} of {one['problems']})"),
        "Median time on the clock of the whole call. Of ours that is the search; of Fast Downward reading PDDL with "
        "unified-planning, writing it again, translation and search, and in brackets Fast Downward's own part of it:",
        by_size(_call),
        "Steps of the plan, mean over the problems that all solved:",
        by_size(lambda one: NONE if one["steps_mean"] is None else f"{one['steps_mean']:.1f}"),
        f"The searches that promise the cheapest plan agree in {same} of {total} problems that at least two of them "
        f"solved; {wrong} plans were wrong when replayed.",
        _unsolved(growing),
    ]


def _call(figures: Plain) -> str:
    own = figures["own_seconds_median"]
    return _seconds(figures["call_seconds_median"]) + ("" if own is None else f" ({_seconds(own)})")


def _unsolved(growing: Mapping[int, Plain]) -> str:
    """The names of what was not solved, method by method."""
    names = {
        label: [name for figures in growing.values() for name in figures[method]["unsolved"]]
        for method, label in METHODS.items()
    }
    lines = [f"- {label}: {_listed(some)}" for label, some in names.items() if some]
    return "Not solved:\n\n" + "\n".join(lines) if lines else "Not solved: none."


def _motions_text(motions: Plain | None) -> list[str]:
    if motions is None:
        return []
    rows = [
        [name, *(NONE if figures[key] is None else show(figures[key]) for key, (_, show) in _MOTION.items())]
        for name, figures in sorted(motions.items(), key=lambda item: (not item[0].startswith("rsg"), item[0]))
        if isinstance(figures, dict)
    ]
    return [
        f"**Motions.** The same {motions['queries']} queries from pose to pose in Playroom for our motion planners and "
        "OMPL's, whose paths are simplified as its users do unless said otherwise; it asks our compiled check of whole "
        "motions, or of poses along them, through Python. Every path is judged by the same check of whole motions. "
        f"Making our roadmap takes {motions['rsg roadmap']['construction_ms']:.0f} ms besides.",
        table(["planner", *(head for head, _ in _MOTION.values())], rows),
    ]


def _lines(growing: Mapping[int, Plain]) -> dict[str, dict[str, list[Line]]]:
    """Against the size of the map: time of the search, of the whole call, and steps."""
    keys = {
        "search, processor time in s": "search_seconds_median",
        "whole call, on the clock in s": "call_seconds_median",
        "steps of the plan": "steps_mean",
    }
    found = {
        title: {method: [(n, one[method][key]) for n, one in growing.items()] for method in METHODS}
        for title, key in keys.items()
    }
    return {
        title: {
            METHODS[method].replace("`", ""): [[(n, max(y, LEAST_SHOWN)) for n, y in points if y is not None]]
            for method, points in rows.items()
        }
        for title, rows in found.items()
    }


EXPERIMENT = Experiment(NAME, 1, FULL, QUICK, jobs, section, ("pddl", "ompl"))
