"""`rsg reproduce exact-or-sampled`: the exact cost-to-go and the paper's sampled one, with equal processor time."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from statistics import median
from typing import Any

from rsg.demos import Recipe, benchmark
from rsg.evaluation.figures import Line, draw_lines
from rsg.evaluation.jobs import Job, Place, Plain
from rsg.evaluation.planning import evaluate_planning
from rsg.evaluation.reproduce import Experiment, Extent, Picture, Results, Section
from rsg.evaluation.statistics import mean_of
from rsg.evaluation.tables import number, percent, table
from rsg.evaluation.trials import EVALUATION_SEED, evaluate, evaluation, rate, settings_of, train
from rsg.subgoals import RsgSettings, learn
from rsg.training.loop import Method, Progress
from rsg.training.settings import restored

NAME = "exact-or-sampled"
WORLD = "crafting"
SCHEMES = ("exact", "sampled")
SPLITS = ("compositional", "novel")
MARKS = 1.3  # each point of the curve has so many times the processor time of the one before


@dataclass(frozen=True)
class Sizes:
    """How much is done for each seed and scheme.

    Attributes:
        seconds: of processor time for training.
        demonstrations: of each task.
        compositional, novel: starts of each task at the end; curve: at each point of the curve.
    """

    seconds: float = 600.0
    demonstrations: int = 400
    compositional: int = 150
    novel: int = 100
    curve: int = 4


FULL = Sizes()
QUICK = Sizes(20.0, 20, 3, 3, 1)
ENDLESS = {"steps": 100_000, "patience": 100_000}  # the budget ends training, nothing else
OFTEN = {"check_every": 10, "save_every": 50, "held_out": 64}  # looks take a fifth of the budget, in both


def jobs(extent: Extent) -> list[Job]:
    """Each scheme, for each seed, on the same demonstrations."""
    size = QUICK if extent.quick else FULL
    minutes = 1.5 * size.seconds / 60 + 0.5
    listed = []
    for seed in range(extent.seeds):
        recipe = Recipe(WORLD, "train", size.demonstrations, seed)
        evaluations = {
            "compositional": evaluation("compositional", size.compositional, seed),
            "novel": evaluation("novel", size.novel, seed),
        }
        for scheme in SCHEMES:
            settings = settings_of(seed, scheme=scheme, budget_seconds=size.seconds, **ENDLESS, **OFTEN)
            parameters = {
                "settings": settings,
                "demonstrations": size.demonstrations,
                "curve_per_task": size.curve,
                "evaluations": evaluations,
            }
            listed.append(Job(NAME, f"{scheme}-seed{seed}", run, parameters, minutes, (recipe,)))
    return listed


def run(parameters: Plain, place: Place) -> Plain:
    """Train until the budget is used up, looking at success on the way; then plan with the best held-out weights."""
    settings, source = parameters["settings"], benchmark(WORLD)
    recipe = Recipe(WORLD, "train", parameters["demonstrations"], settings["seed"])
    _compile(place, settings, recipe)
    curve = Curve(parameters["curve_per_task"], EVALUATION_SEED + settings["seed"])
    subgoals, training = train(place, settings, recipe, curve.watch, [curve.report])
    found = {split: evaluate(source, subgoals, asked) for split, asked in parameters["evaluations"].items()}
    return {"training": training, "evaluations": found}


def _compile(place: Place, settings: Plain, recipe: Recipe) -> None:
    """Have everything compiled before the budget counts."""
    source = benchmark(WORLD)
    few = {**settings, "steps": 2, "batch": 4, "curriculum": 0, "budget_seconds": 0.0}
    learn(place.store(recipe)[:50], lambda demo: source.world(demo.setting), None, restored(RsgSettings, few))


class Curve:
    """Success and the cost of a step against processor time; what it takes itself is not counted.

    Args:
        per_task: starts of each task at each point.
        seed: of the starts.
    """

    def __init__(self, per_task: int, seed: int) -> None:
        self._per_task, self._seed = per_task, seed
        self._progress: Progress | None = None
        self._begun, self._milliseconds = math.nan, list[float]()

    def watch(self, progress: Progress, figures: Mapping[str, float]) -> None:
        """After each step: note what it took."""
        del figures
        self._progress = progress
        now = time.process_time()
        looked = bool(progress.history) and progress.history[-1]["step"] == progress.step
        if not looked and not math.isnan(self._begun):
            self._milliseconds.append(1000 * (now - self._begun))
        self._begun = time.process_time()

    def report(self, step: int, method: Method) -> dict[str, float]:
        """At each look: processor time and the cost of a step since the last look; success at some looks."""
        del step
        figures: dict[str, float] = {}
        if self._milliseconds:
            figures["step_ms"] = median(self._milliseconds)
            self._milliseconds.clear()
        if self._progress is None:  # the first step of a session is a look: the time is not known yet
            return figures
        seconds, history = self._progress.seconds, self._progress.history
        figures["cpu_seconds"] = seconds
        before = max((row["cpu_seconds"] for row in history if "success_novel" in row), default=0.0)
        if seconds >= MARKS * before:
            module: Any = method.module
            for split in SPLITS:
                found = evaluate_planning(benchmark(WORLD), split, module.goals, self._per_task, self._seed)
                figures[f"success_{split}"] = found["success"]
        return figures


def section(extent: Extent, results: Results) -> Section:
    """A row to each scheme, and success against processor time."""
    del extent
    rows, summary = [], {}
    for scheme in SCHEMES:
        found = [one for name, one in results.items() if name.startswith(scheme)]
        if not found:
            continue
        trainings = [one["training"] for one in found]
        steps = mean_of([one["steps"] for one in trainings])
        cost = mean_of([_step_cost(one) for one in trainings])
        rates = {split: rate([one["evaluations"][split] for one in found]) for split in SPLITS}
        seconds = mean_of([one["cpu_seconds"] for one in trainings])
        rows.append(
            [scheme, number(seconds, 0, "s"), number(steps, 0), number(cost, 1, "ms"), *map(percent, rates.values())]
        )
        summary[scheme] = {
            "cpu_seconds": seconds.mean,
            "steps": steps.mean,
            "step_ms": cost.mean,
            "success": {split: one.plain() for split, one in rates.items() if one},
        }
    text = "\n\n".join(
        [
            "Two ways to the cost-to-go in the objective: *exact*, shortest paths on the graph of states around a "
            "demonstration, and *sampled*, the paper's search tree of a few full layers and a beam. Both get the same "
            "demonstrations, settings and processor time (without compilation and without the looks at success). "
            "Success is strict, in percent, with the weights of the best held-out score; the cost of a step is the "
            "median over all steps.",
            table(["scheme", "processor time", "steps", "cost of a step", *SPLITS], rows),
        ]
    )
    drawn = partial(draw_lines, groups=_curves(results), across="processor time in s", up="success in %")
    picture = Picture(
        "Success against processor time, both schemes", partial(drawn, logarithmic=True, limits=(-3, 103))
    )
    return Section("Exact or sampled cost-to-go, equal processor time", text, summary, {"success": picture})


def _step_cost(training: Plain) -> float:
    """Milliseconds of processor time of a step, without looks; with them where they were not measured apart."""
    known = [row["step_ms"] for row in training["history"] if "step_ms" in row]
    return float(median(known)) if known else 1000 * training["cpu_seconds"] / training["steps"]


def _curves(results: Results) -> dict[str, dict[str, list[Line]]]:
    return {
        split: {
            scheme: [
                [
                    (row["cpu_seconds"], 100 * row[f"success_{split}"])
                    for row in one["training"]["history"]
                    if f"success_{split}" in row
                ]
                for name, one in results.items()
                if name.startswith(scheme)
            ]
            for scheme in SCHEMES
        }
        for split in SPLITS
    }


EXPERIMENT = Experiment(NAME, 1, 1, jobs, section)
