"""`rsg reproduce exact-or-sampled`: the exact cost-to-go and the paper's sampled one, with equal processor time."""

import math
import time
from collections.abc import Iterator, Mapping
from statistics import median
from typing import Any

from reproductions.harness.figures import Line, curves
from reproductions.harness.jobs import Job, Place, Plain
from reproductions.harness.reproduce import Experiment, Section
from reproductions.harness.results import Results, plain
from reproductions.harness.tables import mean_of, number, page, percent, table
from reproductions.harness.trials import EVALUATION_SEED, ORDER, SPLITS, Size, Variant, learned, learning, recipe_of
from reproductions.paper.methods import METHODS
from rsg.domain import find
from rsg.evaluation.planning import Starts, evaluate_planning
from rsg.search import Product, SearchSettings
from rsg.subgoals import RsgSettings, learn
from rsg.training.loop import Looking, Method, Progress
from rsg.training.settings import restored

NAME = "exact-or-sampled"
SCHEMES = {"exact": "rsg", "sampled": "sampled"}  # the kind of each
MARKS = 1.3  # each point of the curve has so many times the processor time of the one before
ENDLESS = {"steps": 100_000, "patience": 100_000}  # the budget ends training, nothing else
OFTEN = {"check_every": 10, "save_every": 50, "held_out": 64}  # looks take a fifth of the budget, in both

FULL = Size(400, {"compositional": 150, "novel": 100, "curve": 4, "seconds": 600.0}, 15.5, seeds=1)
QUICK = Size(20, {"compositional": 3, "novel": 3, "curve": 1, "seconds": 20.0}, 1.0)


def jobs(size: Size) -> Iterator[Job]:
    """Each scheme, for each seed, on the same demonstrations."""
    for seed in range(size.seeds):
        asked = {"evaluations": size.evaluations(seed), "curve_per_task": size["curve"], "seconds": size["seconds"]}
        for scheme, kind in SCHEMES.items():
            yield learning(NAME, size, seed, Variant(scheme, {"kind": kind, **ENDLESS, **OFTEN}, asked), run)


def run(parameters: Plain, place: Place) -> Plain:
    """Train until the budget is used up, looking at success on the way; then plan with the best held-out weights."""
    _compile(parameters, place)
    curve = Curve(parameters["curve_per_task"], EVALUATION_SEED + parameters["settings"]["seed"])
    budget = parameters["seconds"]  # of processor time
    told: Looking = {"tracker": curve.track, "reports": [curve.report], "pace": lambda run: run.seconds / budget}
    found = learned(parameters, place, **told)
    return {"training": found.training, "evaluations": found.plans(parameters)}


def _compile(parameters: Plain, place: Place) -> None:
    """Have everything compiled before the budget counts."""
    source = find("crafting")
    few = {**parameters["settings"], "steps": 2, "batch": 4, "curriculum": 0}
    some = place.store(recipe_of(parameters))[:50]
    method = METHODS[parameters["kind"]]
    learn(some, lambda demo: source.world(demo.setting), None, restored(RsgSettings, few), method=method)


class Curve:
    """Success, from some starts of each task, and the cost of a step against processor time without its own."""

    def __init__(self, per_task: int, seed: int) -> None:
        self._per_task, self._seed = per_task, seed
        self._progress: Progress | None = None
        self._begun, self._milliseconds = math.nan, list[float]()

    def track(self, progress: Progress, figures: Mapping[str, float]) -> None:
        """After each step: note what it took."""
        self._progress = progress
        now = time.process_time()
        if "held_out" not in figures and not math.isnan(self._begun):
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
                starts = Starts(split, self._per_task, self._seed)
                found = evaluate_planning(find("crafting"), starts, module.goals, SearchSettings(Product(ORDER)))
                figures[f"success_{split}"] = found["success"]
        return figures


def section(size: Size, results: Results) -> Section:
    """A row to each scheme, and success against processor time."""
    del size
    rows, summary = [], {}
    for scheme in SCHEMES:
        if not results.of(scheme):
            continue
        rates = results.rates(scheme)
        seconds, steps = (mean_of(results.training(scheme, key)) for key in ("cpu_seconds", "steps"))
        cost = mean_of([_step_cost(one["training"]) for one in results.of(scheme)])
        figures = (number(seconds, 0, "s"), number(steps, 0), number(cost, 1, "ms"))
        rows.append([scheme, *figures, *map(percent, rates.values())])
        summary[scheme] = {
            "cpu_seconds": seconds.mean,
            "steps": steps.mean,
            "step_ms": cost.mean,
            "success": plain(rates),
        }
    text = page(NAME, schemes=table(["scheme", "processor time", "steps", "cost of a step", *SPLITS], rows))
    lines = {split: {scheme: _curves(results, scheme, split) for scheme in SCHEMES} for split in SPLITS}
    axes = ("processor time in s", "success in %", "x", (-3, 103))
    pictures = {"success": curves("Success against processor time, both schemes", lines, *axes)}
    return Section("Exact or sampled cost-to-go, equal processor time", text, summary, pictures)


def _step_cost(training: Plain) -> float:
    """Milliseconds of processor time of a step, without looks; with them where they were not measured apart."""
    known = [row["step_ms"] for row in training["history"] if "step_ms" in row]
    return float(median(known)) if known else 1000 * training["cpu_seconds"] / training["steps"]


def _curves(results: Results, scheme: str, split: str) -> list[Line]:
    key = f"success_{split}"
    histories = [one["training"]["history"] for one in results.of(scheme)]
    return [[(row["cpu_seconds"], 100 * row[key]) for row in one if key in row] for one in histories]


EXPERIMENT = Experiment(NAME, FULL, QUICK, jobs, section)
