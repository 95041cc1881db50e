"""What the jobs of experiments have in common: train in a job's folder, plan from many starts, add up over seeds."""

from __future__ import annotations

import time
from collections.abc import Collection, Sequence
from dataclasses import asdict
from typing import Any

from rsg.core.errors import RsgError
from rsg.demos import Benchmark, Recipe, benchmark
from rsg.evaluation.jobs import Place, Plain
from rsg.evaluation.planning import evaluate_planning
from rsg.evaluation.tables import Rate
from rsg.search import GoalFn, SearchSettings
from rsg.subgoals import RsgSettings, learn
from rsg.subgoals.classifiers import Classifiers
from rsg.training import Progress
from rsg.training.loop import Report, Watch
from rsg.training.settings import restored

BUDGET = 5000  # expansions, the paper's limit
EVALUATION_SEED = 1000  # of the first seed: starts of evaluations are never those of training


def settings_of(seed: int, **changes: Any) -> Plain:
    """The settings of a training run as plain JSON, all defaults written out: a changed default is another job."""
    try:
        return asdict(RsgSettings(seed=seed, **changes))
    except TypeError:
        unknown = [key for key in changes if key not in RsgSettings.__dataclass_fields__]
        raise RsgError(f"this rsg has no setting '{unknown[0]}', which the experiment needs; update rsg") from None


def train(
    place: Place,
    settings: Plain,
    recipe: Recipe,
    watch: Watch | None = None,
    reports: Sequence[Report] = (),
    per_task: int | None = None,
) -> tuple[Classifiers, Plain]:
    """Train in the job's folder, or go on there; gives the classifiers and how it went.

    per_task: if not all demonstrations of each task.
    """
    source = benchmark(recipe.world)
    resumed = (place.run / "run.json").exists()
    begun = time.perf_counter()
    learned = learn(
        place.store(recipe),
        lambda demo: source.world(demo.setting),
        place.run,
        restored(RsgSettings, settings),
        per_task,
        watch=watch,
        reports=reports,
        tensorboard=False,
    )
    return learned.subgoals, how_it_went(learned.progress, None if resumed else time.perf_counter() - begun)


def how_it_went(progress: Progress, seconds: float | None) -> Plain:
    """What is kept of a training run; the wall time of earlier sessions is not known, so that is None."""
    if not progress.done:
        raise RsgError("training was interrupted; the same command goes on with it")
    return {
        "steps": progress.step,
        "best_step": progress.best_step,
        "held_out": progress.best,
        "ended": progress.done,
        "cpu_seconds": progress.seconds,
        "seconds": seconds,
        "history": progress.history,
    }


def evaluation(split: str, per_task: int, seed: int, **more: Any) -> Plain:
    """What an evaluation is asked for: `goals` (G or G-and-I), `fast`, `budget` and `per_node` may be given too."""
    usual = {"goals": "G", "fast": True, "budget": BUDGET, "per_node": None}
    assert set(more) <= set(usual)
    return {"split": split, "per_task": per_task, "seed": EVALUATION_SEED + seed, **usual, **more}


def evaluate(source: Benchmark, subgoals: Classifiers | GoalFn, asked: Plain) -> Plain:
    """Plan as asked, after the search is compiled; see `evaluate_planning` for the figures."""
    goal_fn: Any = subgoals
    if isinstance(subgoals, Classifiers):
        if hasattr(subgoals, "fast"):
            subgoals.fast = asked["fast"]
        goal_fn = subgoals.goals if asked["goals"] == "G" else subgoals.goals_with_i
    split, seed = asked["split"], asked["seed"]
    evaluate_planning(source, split, goal_fn, 1, seed, SearchSettings(budget=1))
    settings = SearchSettings(budget=asked["budget"], per_node=asked["per_node"], seed=seed)
    return evaluate_planning(source, split, goal_fn, asked["per_task"], seed, settings)


def rate(evaluations: Sequence[Plain], check: str = "success", without: Collection[str] = ()) -> Rate | None:
    """The success rate over seeds: of each seed's evaluation the tasks that are not to be left out; None if none is."""
    rows = [[row for row in one["tasks"] if row["task"] not in without] for one in evaluations]
    rows = [some for some in rows if some]
    if not rows:
        return None
    successes = (sum(round(row[check] * row["episodes"]) for row in some) for some in rows)
    return Rate(tuple(successes), tuple(sum(row["episodes"] for row in some) for some in rows))
