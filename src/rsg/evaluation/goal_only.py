"""`rsg reproduce goal-only`: plans for a goal when nobody names the steps, the paper's search figure and beyond."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from rsg.core.random import stream
from rsg.demos import Benchmark, Recipe, Store, benchmark
from rsg.evaluation.goal_links import kept, true_orders
from rsg.evaluation.goal_methods import BLIND, BLIND_BUDGET, BUDGET, LADDER, LIMITS, MAIN, OURS, PAPER, Method
from rsg.evaluation.goal_only_section import section
from rsg.evaluation.goal_starts import HANDS, start_for, start_without
from rsg.evaluation.jobs import Job, Place, Plain
from rsg.evaluation.reproduce import Experiment, Extent
from rsg.evaluation.trials import EVALUATION_SEED, settings_of, train
from rsg.language import Machine, parse
from rsg.planning import Dependencies, GoalSettings, Plan, plan_goal, validate
from rsg.subgoals import discover
from rsg.subgoals.classifiers import Classifiers
from rsg.subgoals.dependencies import THRESHOLDS

NAME = "goal-only"
WORLD = "crafting"
SPLIT = "goal-only"
SIZE = 7  # rows and columns of the maps, as in the split
LARGER = (9, 12)


@dataclass(frozen=True)
class Sizes:
    """How much is done for each seed.

    Attributes:
        demonstrations: of each task.
        starts: of each of the eight goals; ladder, limits: the same for these tables.
        terms: starts of each of the 26 terms and kind of hands; growth: the same on larger maps.
        without: starts on which something is missing.
        budget, blind: expansions of a plan, and of the blind search.
        changes: to the settings of training.
    """

    demonstrations: int = 400
    starts: int = 100
    ladder: int = 25
    limits: int = 20
    terms: int = 20
    growth: int = 8
    without: int = 50
    budget: int = BUDGET
    blind: int = BLIND_BUDGET
    changes: Mapping[str, Any] = field(default_factory=dict)


FULL = Sizes()
QUICK = Sizes(20, 4, 2, 1, 1, 1, 5)


def jobs(extent: Extent) -> list[Job]:
    """For each seed what was learned, and plans by each method; the paper's limit is looked for with the first seed."""
    size = QUICK if extent.quick else FULL
    listed = []
    for seed in range(extent.seeds):
        base = {"settings": settings_of(seed, **size.changes), "demonstrations": size.demonstrations}
        recipe = Recipe(WORLD, "train", size.demonstrations, seed)
        own = _asked(OURS, MAIN[OURS], 0, size)["settings"]
        main = {name: _asked(name, method, size.starts, size) for name, method in MAIN.items()}
        ladder = {name: _asked(name, method, size.ladder, size) for name, method in LADDER.items() if name not in MAIN}
        wide = {"settings_of_plans": own, "terms": size.terms, "growth": size.growth, "without": size.without}
        work: list[tuple[str, Any, Plain, float]] = [
            ("links", links_job, {}, 0.4),
            ("ours", plans_job, {"methods": {OURS: main[OURS]}}, 0.4),
            ("paper", plans_job, {"methods": {name: main[name] for name in (PAPER, "printed")}}, 0.8),
            ("uniform", plans_job, {"methods": {"uniform": main["uniform"]}}, 1.1),
            ("blind", plans_job, {"methods": {BLIND: main[BLIND]}}, 1.4),
            ("ladder", plans_job, {"methods": ladder}, 3.0),
            ("terms", terms_job, wide, 2.0),
        ]
        if seed == 0:
            tried = {name: method.asked(size.limits, size.budget, "limits") for name, method in LIMITS.items()}
            work.append(("limits", plans_job, {"methods": tried}, 1.0))
        listed += [
            Job(NAME, f"{name}-seed{seed}", run, {**base, **more}, 0.3 if extent.quick else minutes, (recipe,))
            for name, run, more, minutes in work
        ]
    return listed


def _asked(name: str, method: Method, starts: int, size: Sizes) -> Plain:
    return method.asked(starts, size.blind if name == BLIND else size.budget)


@dataclass(frozen=True)
class Learned:
    """What a job plans with.

    Attributes:
        source: the benchmark.
        subgoals: the classifiers.
        store: the demonstrations that they were trained on.
        seed: of starts.
    """

    source: Benchmark
    subgoals: Classifiers
    store: Store
    seed: int

    def dependencies(self, threshold: str = "calibrated") -> Dependencies:
        """What the demonstrations show of the subgoals."""
        terms, source = self.subgoals.terms, self.source
        return discover(
            self.subgoals.goals, terms, self.store, lambda demo: source.world(demo.setting), threshold=threshold
        )


def _learned(parameters: Plain, place: Place) -> Learned:
    """Train in the job's folder."""
    settings = parameters["settings"]
    recipe = Recipe(WORLD, "train", parameters["demonstrations"], settings["seed"])
    subgoals, _ = train(place, settings, recipe)
    return Learned(benchmark(WORLD), subgoals, place.store(recipe), EVALUATION_SEED + settings["seed"])


def links_job(parameters: Plain, place: Place) -> Plain:
    """What was discovered by each threshold, and what really happened in the demonstrations."""
    learned = _learned(parameters, place)
    found = {name: kept(learned.dependencies(name)) for name in THRESHOLDS}
    return {"dependencies": found, "truth": true_orders(learned.store, learned.source)}


def plans_job(parameters: Plain, place: Place) -> Plain:
    """Plans for the eight goals, by each method that is asked for."""
    learned = _learned(parameters, place)
    methods = parameters["methods"]
    known = {threshold: learned.dependencies(threshold) for threshold in {one["threshold"] for one in methods.values()}}
    found = {}
    for name, asked in methods.items():
        planner = Planner(learned, known[asked["threshold"]], GoalSettings(**asked["settings"]))
        numbers = range(len(learned.source.tasks(SPLIT)))
        goals = [planner.goal(number, asked["starts"], asked["drawn"]) for number in numbers]
        found[name] = {"budget": asked["settings"]["budget"], "goals": goals}
    return {"methods": found}


class Planner:
    """Plans with what was learned and notes how each went; everything is compiled first.

    Args:
        learned: the classifiers, and where they came from.
        dependencies: of the subgoals.
        settings: of planning.
    """

    def __init__(self, learned: Learned, dependencies: Dependencies, settings: GoalSettings) -> None:
        self.learned, self._dependencies, self._settings = learned, dependencies, settings
        world, state = start_for("craft-boat", "empty", SIZE, stream(0, "compile"))
        self._plan(world, state, "craft-boat", replace(settings, budget=20))

    def _plan(self, world: Any, state: Any, goal: str, settings: GoalSettings) -> Plan:
        return plan_goal(world, state, goal, self.learned.subgoals.goals, self._dependencies, settings)

    def attempt(self, world: Any, state: Any, goal: str) -> tuple[Plan, bool]:
        """A plan, and whether it is right."""
        made = self._plan(world, state, goal, self._settings)
        return made, validate(world, made, goal, partial(self.learned.source.truth, world)).ok

    def goal(self, number: int, starts: int, drawn: str) -> Plain:
        """Plans for the last term of a task of the split; nothing else of the task is used but where it starts."""
        source, text = self.learned.source, self.learned.source.tasks(SPLIT)[number]
        goal = text.rpartition(" then ")[2]
        rows = []
        for i in range(starts):
            rng = stream(self.learned.seed, drawn, SPLIT, number, i)
            demo, _ = source.demonstrate(SPLIT, number, rng)
            rows.append(self.attempt(source.world(demo.setting), demo.states[0], goal))
        terms = Machine.of(parse(text)).terms
        return {"goal": goal, "subgoals": len(terms), **_noted(rows)}

    def term(self, term: str, hands: str, size: int, starts: int) -> Plain:
        """Plans for a term on random maps that hold what it needs."""
        rows = []
        for i in range(starts):
            rng = stream(self.learned.seed, "test", "terms", term, hands, size, i)
            rows.append(self.attempt(*start_for(term, hands, size, rng), term))
        return {"goal": term, **_noted(rows)}

    def without(self, number: int) -> Plain:
        """A plan for a goal that cannot be reached."""
        start = start_without(SIZE, stream(self.learned.seed, "test", "without", number))
        made, right = self.attempt(start.world, start.state, start.goal)
        assert not right, "a goal that is impossible by the rule table was reached"
        return {
            "goal": start.goal,
            "removed": start.removed,
            "first": sorted(start.first),
            "possible": sorted(start.possible),
            "found": made.found,
            "ended": made.ended,
            "expansions": made.expansions,
            "microseconds": round(1e6 * made.seconds),
            "reached": list(made.reached),
            "missed": list(made.missed),
            "reason": made.reason,
        }


def _noted(rows: Iterable[tuple[Plan, bool]]) -> Plain:
    """Plans as lists: success is 1, 0 without a plan, -1 for a plan that is wrong."""
    several = list(rows)
    return {
        "success": [1 if right else -int(made.found) for made, right in several],
        "expansions": [made.expansions for made, _ in several],
        "microseconds": [round(1e6 * made.seconds) for made, _ in several],
    }


def terms_job(parameters: Plain, place: Place) -> Plain:
    """Our plans for all terms, by what is in the hands and by the size of the map; and where there is no way."""
    learned = _learned(parameters, place)
    settings = GoalSettings(**parameters["settings_of_plans"])
    planner = Planner(learned, learned.dependencies(), settings)
    wanted = [(hands, SIZE, parameters["terms"]) for hands in HANDS]
    wanted += [(hands, size, parameters["growth"]) for size in LARGER for hands in HANDS[1:]]
    sets = [
        {
            "hands": hands,
            "size": size,
            "terms": [planner.term(term, hands, size, starts) for term in learned.source.vocabulary],
        }
        for hands, size, starts in wanted
    ]
    without = [planner.without(number) for number in range(parameters["without"])]
    return {"budget": settings.budget, "sets": sets, "without": without}


EXPERIMENT = Experiment(NAME, 5, 1, jobs, section)
