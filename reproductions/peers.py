"""`rsg reproduce peers`: our planners beside those of others, on the same problems in the same run."""

import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from importlib.metadata import version
from statistics import mean, median
from typing import NamedTuple

import numpy as np

from reproductions.fast_downward import CONFIGURATIONS, ask, versions
from reproductions.goal_guides import regions
from reproductions.goal_terms import NAMES, held_for
from reproductions.harness.figures import Line, curves
from reproductions.harness.jobs import Job, Place, Plain
from reproductions.harness.reproduce import Experiment, Section
from reproductions.harness.results import Results
from reproductions.harness.tables import NONE, page, table
from reproductions.harness.trials import Size
from reproductions.motion_peers import compare
from reproductions.pddl import to_pddl
from rsg.core.errors import RsgError
from rsg.core.random import stream
from rsg.demos import Recipe
from rsg.domain import find
from rsg.domains.crafting import VOCABULARY, CraftingWorld, truth
from rsg.domains.crafting.maps import objects_for, sample_map
from rsg.domains.crafting.rules import ITEM
from rsg.domains.crafting.starts import leading_to, start_for
from rsg.domains.crafting.world import States
from rsg.evaluation.statistics import hundredths
from rsg.planning import GoalProblem, Plan, plan, planned
from rsg.search import Product, SearchSettings
from rsg.subgoals import discover

NAME, WORLD = "peers", "crafting"
BUDGET = 1_000_000  # expansions of our default method, which has no limit of time
OBSTACLES = ("key-door", "switch-door", "river", "river-and-room", "islands", "key-or-boat")
NO_PLAN_EACH = 10  # of so many problems, one has no plan
EXPANSIONS = 100_000  # within which ours knows the answer to a problem that is drawn for both
MAX_DRAWS = 2000
LEAST = 5  # steps of a plan, if there is to be one
_SIZES = (4, 5, 6, 7)
GOALS = ("mine-wood", "craft-boat", "craft-iron-ingot", "craft-bowl")
METHODS = {  # what is compared on growing maps
    "optimal": "ours, `optimal`",
    "regions": "ours, region by region",
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
    20,
    {"problems": 200, "parts": 8, "sizes": (7, 9, 11, 13, 15), "goals": GOALS, "queries": 200, "limit": 60.0},
    seeds=1,
)
QUICK = Size(
    2, {"problems": 4, "parts": 1, "sizes": (5, 6), "goals": GOALS[:1], "queries": 5, "limit": 10.0}, 0.5
)  # problems for costs are spread over parts; sizes of growing maps; queries of motion planners; seconds of a search


class Problem(NamedTuple):
    """Where it starts, what is to come true, and what it is called."""

    name: str
    world: CraftingWorld
    state: States
    term: str


def draw(seed: int, number: int, expansions: int = EXPANSIONS) -> tuple[Problem, Plan]:
    """A problem on an open field or one with an obstacle, and its cheapest plan, or that there is none, by ours."""
    solvable = number % NO_PLAN_EACH != NO_PLAN_EACH - 1
    for attempt in range(MAX_DRAWS):
        drawn = _drawn(number, solvable, stream(seed, "peers", number, attempt))
        if drawn is None:
            continue
        made = cheapest(drawn, expansions)
        if (made.found and len(made.actions) >= LEAST) if solvable else made.ended == "exhausted":
            return drawn, made
    raise RsgError(f"no problem {number} was found in {MAX_DRAWS} draws; take another seed")


def _drawn(number: int, solvable: bool, rng: np.random.Generator) -> Problem | None:
    """One try: a map, then another capacity, more items on the ground and in the hands."""
    term = VOCABULARY[rng.integers(len(VOCABULARY))]
    on_open_field = (number + number // NO_PLAN_EACH) % 2 == 0
    kind = "open" if on_open_field else OBSTACLES[rng.integers(len(OBSTACLES))]
    needs = objects_for(leading_to(term))
    try:
        if kind == "open":
            size = int(rng.choice(_SIZES))
            held = held_for(term, list(NAMES)[rng.integers(len(NAMES))], rng)
            world, state = start_for(term, size, rng, held)
        else:
            world, state = sample_map(kind, rng, needs)
    except RsgError:  # it does not fit onto the map
        return None
    if not solvable:
        cells = world.cells(state)  # one thing that may be needed is not there
        cells[cells == world.rules.code(needs[rng.integers(len(needs))])] = 0
    world, state = _varied(world, state, rng)
    no_switch = not (world.cells(state) == world.rules.code("switch")).any()
    if truth(world, state[None], [term])[0, 0] or (term == "toggle-switch" and no_switch):
        return None  # a switch that is not there cannot be a goal in PDDL
    size_text = f"{world.height}x{world.width}"
    return Problem(f"{number:03d} {term} on {kind} {size_text}, capacity {world.capacity}", world, state, term)


def _varied(world: CraftingWorld, state: States, rng: np.random.Generator) -> tuple[CraftingWorld, States]:
    """The same map with another capacity, more items on the ground, several of a kind among them, and in the hands."""
    names, codes = world.rules.names, world.cells(state)
    items = [names[code] for code in np.flatnonzero(world.rules.kinds == ITEM)]
    few = rng.choice(items, size=3)
    objects = {(int(y), int(x)): names[codes[y, x]] for y, x in np.argwhere(codes)}
    ground = [(int(y), int(x)) for y, x in np.argwhere(codes == 0)]
    for place in rng.permutation(len(ground))[: rng.integers(4)]:
        objects[ground[place]] = str(rng.choice(few))
    held = list(world.inventory(state))
    capacity = max(int(rng.integers(2, 7)), len(held))
    held += [str(rng.choice(few)) for _ in range(rng.integers(capacity - len(held) + 1))]
    other = CraftingWorld(world.height, world.width, capacity)
    return other, other.state(objects, (int(state[0]), int(state[1])), held)


def open_field(term: str, size: int, seed: int) -> Problem:
    """A map on which all that can help is within a walk; the hands are empty."""
    world, state = start_for(term, size, stream(seed, "peers", size, term))
    return Problem(f"{term} on {size}x{size}, map {seed}", world, state, term)


def cheapest(problem: Problem, budget: int | None = None, time_limit: float | None = None) -> Plan:
    """The plan with the least cost, by our search."""
    settings = SearchSettings(Product("optimal"), budget=budget, time_limit=time_limit)
    return plan(problem.world, problem.state, problem.term, find("crafting").true_goals, settings)


def jobs(size: Size) -> Iterator[Job]:
    """Problems for the comparison of costs, growing maps (a seed is one map of each size and goal), motions."""
    recipe = Recipe(WORLD, "train", size.demonstrations, 0)
    theirs = {f"fd-{name}": configuration for name, configuration in CONFIGURATIONS.items()}
    optimal = {"fd-optimal": theirs["fd-optimal"]}
    asked = {"limit": size["limit"], "expansions": EXPANSIONS, "seed": 0, "configurations": optimal}
    grown = {"limit": size["limit"], "budget": BUDGET, "goals": list(size["goals"]), "configurations": theirs}
    grown["demonstrations"] = size.demonstrations
    for part in range(size["parts"]):
        numbers = list(range(part, size["problems"], size["parts"]))
        yield Job(NAME, f"costs-{part}", costs_job, {**asked, "numbers": numbers}, size.minutes)
    for seed in range(size.seeds):
        for cells in size["sizes"]:
            parameters = {**grown, "size": cells, "seed": seed}
            yield Job(NAME, f"size-{cells}-seed{seed}", growing_job, parameters, size.minutes, (recipe,))
    yield Job(NAME, "motions", motions_job, {"queries": size["queries"]}, size.minutes)


def costs_job(parameters: Plain, place: Place) -> Plain:
    """The least cost of the same problems, by us and by Fast Downward."""
    del place
    rows = []
    for number in parameters["numbers"]:
        problem, _ = draw(parameters["seed"], number, parameters["expansions"])
        ours = _ours(problem, partial(cheapest, problem))
        theirs = _asked(problem, parameters["configurations"], parameters["limit"])
        rows.append({"problem": problem.name, "optimal": ours, **theirs})
    return {"rows": rows, "versions": versions()}


def growing_job(parameters: Plain, place: Place) -> Plain:
    """Every method on maps of one size, a goal to each; what needs what is as the truth sees it in demonstrations."""
    limit, source = parameters["limit"], find(WORLD)
    store = place.store(Recipe(WORLD, "train", parameters["demonstrations"], 0))
    known = discover(source.true_goals, source.vocabulary, store, lambda demo: source.world(demo.setting))
    rows = []
    for term in parameters["goals"]:
        problem = open_field(term, parameters["size"], parameters["seed"])
        asked = GoalProblem(problem.world, problem.state, term, source.true_goals, known)
        planned(asked, regions, 1)  # compiles the kernels, or loads them
        cheapest(problem, budget=1)
        ours = {
            "optimal": _ours(problem, partial(cheapest, problem, time_limit=limit)),
            "regions": _ours(problem, partial(planned, asked, regions, parameters["budget"])),
        }
        theirs = _asked(problem, parameters["configurations"], limit)
        rows.append({"problem": problem.name, **ours, **theirs})
    return {"size": parameters["size"], "rows": rows}


def motions_job(parameters: Plain, place: Place) -> Plain:
    """Our motion planners and OMPL's."""
    del place
    return {"figures": compare(parameters["queries"]), "versions": {"ompl": version("ompl")}}


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
    """What Fast Downward says of a problem, in several configurations."""
    texts, found = to_pddl(problem.world, problem.state, problem.term), {}
    for name, configuration in configurations.items():
        plain = ask(texts, configuration, limit)._asdict()
        actions = plain.pop("actions")
        right = None if actions is None else len(actions) == plain["steps"] and is_right(problem, actions)
        found[name] = {**plain, "right": right}
    return found


def is_right(problem: Problem, actions: Sequence[int]) -> bool:
    """Whether actions make the term come true, by the world's own rules."""
    state = problem.state[None]
    for action in actions:
        state = problem.world.step(state, np.array([action]))
    before, after = truth(problem.world, np.concatenate([problem.state[None], state]), [problem.term])[:, 0]
    return bool(after and not before)


# The section.


def section(size: Size, results: Results) -> Section:
    """Costs, growing maps, motions."""
    limit = size["limit"]
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
    text = page(
        NAME,
        size=size,
        limit=f"{limit:g}",
        no_plan_each=NO_PLAN_EACH,
        least=LEAST,
        expansions=f"{EXPANSIONS:,}",
        budget=f"{BUDGET:,}",
        seconds=_seconds,
        costs=costs,
        growing=_growing(growing) if growing else None,
        motions=motions,
        planners=_planners(motions or {}),
        versions=versions,
    )
    pictures = {}
    if growing:
        axes = ("rows and columns of the map", "", "y")
        pictures["growing"] = curves("Time and steps on growing maps", _lines(growing), *axes)
    return Section("Planners that others wrote", text, summary, pictures)


def _rows(results: Results, prefix: str) -> list[Plain]:
    return [row for name, one in results.items() if name.startswith(prefix) for row in one["rows"]]


def _costs(rows: Sequence[Plain], limit: float) -> Plain | None:
    """How often both say the same, and which problems are left."""
    if not rows:
        return None
    ours, theirs = ({row["problem"]: row[method] for row in rows} for method in ("optimal", "fd-optimal"))
    answered = {name for name, one in theirs.items() if one["ended"] in ("found", "exhausted")}
    different = {name for name in answered if any(ours[name][key] != theirs[name][key] for key in ("ended", "steps"))}
    steps = [one["steps"] for one in ours.values() if one["steps"] is not None]
    return {
        "problems": len(rows),
        "equal": len(answered - different),
        "equal_with_plan": sum(ours[name]["steps"] is not None for name in answered - different),
        "different": sorted(different),
        "unsolved": sorted(ours.keys() - answered),
        "wrong_plans": sorted(name for name in ours if False in (ours[name]["right"], theirs[name]["right"])),
        "steps": {"least": min(steps, default=0), "mean": mean(steps or [0.0]), "most": max(steps, default=0)},
        "optimal": _times(ours.values(), limit),
        "fd-optimal": _times(theirs.values(), limit),
    }


def _times(answers: Collection[Plain], limit: float) -> Plain:
    """Medians; a search that was cut counts as the limit."""
    cut = ("time", "memory")  # else processor time, as Fast Downward prints it; of ours the whole call is a search
    searches = [
        limit if one["ended"] in cut else float(one.get("search_seconds", one["cpu_seconds"]) or 0.0) for one in answers
    ]
    own = [one["own_seconds"] for one in answers if "own_seconds" in one]
    told = [one["expansions"] for one in answers if one["expansions"] is not None]
    return {
        "search_seconds_median": median(searches),
        "call_seconds_median": median(one["seconds"] for one in answers),
        "call_cpu_seconds_median": median(one["cpu_seconds"] for one in answers),
        "own_seconds_median": median(own) if own else None,
        "expansions_median": median(told) if told else None,
    }


def _grown(rows: Sequence[Plain], limit: float) -> Plain:
    """For each method on maps of one size: how many were solved, times, and steps where all found a plan."""
    if not rows:
        return {}
    common = [row for row in rows if all(row[method]["steps"] is not None for method in METHODS)]
    found: Plain = {}
    for method in METHODS:
        answers, steps = [row[method] for row in rows], [row[method]["steps"] for row in common]
        unsolved = sorted(row["problem"] for row in rows if row[method]["steps"] is None)
        found[method] = {
            "problems": len(rows),
            "solved": len(rows) - len(unsolved),
            "wrong_plans": sum(one["right"] is False for one in answers),
            "unsolved": unsolved,
            "steps_mean": sum(steps) / len(steps) if steps else None,
            "compared": len(steps),
            **_times(answers, limit),
        }
    exact = [[row[method]["steps"] for method in EXACT if row[method]["steps"] is not None] for row in rows]
    exact = [said for said in exact if len(said) > 1]
    found["equal"] = {"problems": len(exact), "equal": sum(len(set(said)) == 1 for said in exact)}
    return found


def _seconds(value: float | None, form: str = "{}") -> str:
    """Seconds, or milliseconds if they are few; what is printed as nothing is less than a tenth of one."""
    if value is None:
        return ""
    shown = f"{value:.2f} s" if value >= 0.1 else f"{1000 * value:.1f} ms"
    return form.format("< 0.1 ms" if value < 0.0001 else shown)


def _growing(growing: Mapping[int, Plain]) -> Plain:
    """What is told of growing maps."""
    every = growing.values()

    def by_size(show: Callable[[Plain], str]) -> str:
        rows = [[label, *(show(figures[method]) for figures in every)] for method, label in METHODS.items()]
        return table(["", *(f"{cells}×{cells}" for cells in growing)], rows)

    unsolved = {
        label: [name for figures in every for name in figures[method]["unsolved"]] for method, label in METHODS.items()
    }
    return {
        "searches": by_size(
            lambda one: f"{_seconds(one['search_seconds_median'])} ({one['solved']} of {one['problems']})"
        ),
        "calls": by_size(
            lambda one: _seconds(one["call_seconds_median"]) + _seconds(one["own_seconds_median"], " ({})")
        ),
        "steps": by_size(lambda one: NONE if one["steps_mean"] is None else f"{one['steps_mean']:.1f}"),
        "same": sum(figures["equal"]["equal"] for figures in every),
        "total": sum(figures["equal"]["problems"] for figures in every),
        "wrong": sum(figures[method]["wrong_plans"] for figures in every for method in METHODS),
        "unsolved": {label: names for label, names in unsolved.items() if names},
    }


def _planners(motions: Plain) -> str:
    rows = [
        [name, *(NONE if figures[key] is None else show(figures[key]) for key, (_, show) in _MOTION.items())]
        for name, figures in sorted(motions.items(), key=lambda item: (not item[0].startswith("rsg"), item[0]))
        if isinstance(figures, dict)
    ]
    return table(["planner", *(head for head, _ in _MOTION.values())], rows)


def _lines(growing: Mapping[int, Plain]) -> dict[str, dict[str, list[Line]]]:
    """Against the size of the map: time of the search, of the whole call, and steps."""
    keys = {
        "search, processor time in s": "search_seconds_median",
        "whole call, on the clock in s": "call_seconds_median",
        "steps of the plan": "steps_mean",
    }

    def line(method: str, key: str) -> Line:
        points = [(cells, one[method][key]) for cells, one in growing.items()]
        return [(cells, max(value, LEAST_SHOWN)) for cells, value in points if value is not None]

    return {
        title: {label.replace("`", ""): [line(method, key)] for method, label in METHODS.items()}
        for title, key in keys.items()
    }


EXPERIMENT = Experiment(NAME, FULL, QUICK, jobs, section, ("pddl", "ompl"))
