"""`rsg reproduce playroom`: subgoals learned in a continuous world, the Playroom column of the paper's main table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from rsg.core.random import stream
from rsg.demos import Recipe, benchmark
from rsg.evaluation.jobs import Job, Place, Plain
from rsg.evaluation.recognition import Watcher
from rsg.evaluation.reproduce import Experiment, Extent, Results, Section
from rsg.evaluation.trials import EVALUATION_SEED, evaluate, evaluation, settings_of, train
from rsg.subgoals import RsgSettings, untrained
from rsg.subgoals.runs import PRESETS
from rsg.training.settings import restored

NAME, WORLD = "playroom", "playroom"
SPLITS = ("compositional", "novel")
FEWER = (5, 20, 100)
COMPARED = 3  # seeds of the rows beside the main ones
MAIN = "relative-400"
METHODS = {  # jobs by the names of their rows
    MAIN: "RSG, general network, sum over the edges of a roadmap",
    "sampled-400": "RSG, general network, sum over sampled actions (the paper's)",
    "point-400": "RSG, network that looks for a point",
    "untrained": "untrained",
    "oracle": "oracle (the truth)",
}
TWELVE = (  # tasks for the twelve effectors of that room: all alone, and each once with another
    *("play-with-ball", "ring-bell", "turn-on-light", "turn-on-music", "turn-off-music", "touch-monkey"),
    *("beat-drum", "play-piano", "start-fan", "ring-door-bell", "solve-puzzle", "push-car"),
    *("beat-drum then play-piano", "start-fan then ring-door-bell", "solve-puzzle or push-car"),
    *("ring-bell and push-car then solve-puzzle", "play-piano then turn-off-music", "turn-on-light then beat-drum"),
)
TWELVE_NOVEL = (
    "push-car then beat-drum",
    "solve-puzzle and start-fan then touch-monkey",
    "ring-door-bell then play-piano",
)
ROOMS = {"rotated-bars": (), "twelve": TWELVE}  # other rooms, and tasks of their own


@dataclass(frozen=True)
class Sizes:
    """How much is done for each seed.

    Attributes:
        demonstrations: of each task; elsewhere: in other rooms.
        starts: of each task, for the two networks and the truth; few: for the other methods and rooms.
        watched: trajectories of each task that are looked at.
        fewer: demonstrations of each task, for a row each.
        minutes: that a job takes, about; changes: to the settings of training.
    """

    demonstrations: int = 400
    elsewhere: int = 100
    starts: int = 100
    few: int = 25
    watched: int = 20
    fewer: tuple[int, ...] = FEWER
    minutes: float = 3.0
    changes: Mapping[str, Any] = field(default_factory=dict)


FULL = Sizes()
QUICK = Sizes(10, 10, 2, 2, 2, (5,), 0.35, {"steps": 40, "curriculum": 20, "held_out": 8, "check_every": 20})


def jobs(extent: Extent) -> list[Job]:
    """For each seed: two networks, two sums over actions, fewer demonstrations; for the first one other rooms."""
    size = QUICK if extent.quick else FULL
    main, compared = [], []
    for seed in range(extent.seeds):
        many, some = ({split: evaluation(split, count, seed) for split in SPLITS} for count in (size.starts, size.few))
        learned = partial(_learned, size, seed, Recipe(WORLD, "train", size.demonstrations, seed))
        main += [
            learned(many, MAIN, "relative", watched=size.watched),
            learned(many, "point-400", "point", watched=size.watched),
            Job(NAME, f"untrained-seed{seed}", untrained_job, {"seed": seed, "evaluations": some}, 1.0),
            Job(NAME, f"oracle-seed{seed}", oracle_job, {"evaluations": many}, 1.0),
        ]
        if seed < COMPARED:
            compared += [
                learned(some, "sampled-400", "relative", actions="sampled"),
                *(learned(some, f"relative-{few}", "relative", per_task=few) for few in size.fewer),
            ]
    for room, tasks in ROOMS.items():
        recipe = Recipe(WORLD, "custom" if tasks else "train", size.elsewhere, 0, tasks=tasks, map=room)
        asked = {split: evaluation(split, size.few, 0) for split in (("custom",) if tasks else SPLITS)}
        compared.append(_learned(size, 0, recipe, asked, room, "relative"))
    return [*main, *compared]


def _learned(
    size: Sizes,
    seed: int,
    recipe: Recipe,
    asked: Plain,
    name: str,
    encoder: str,
    per_task: int | None = None,
    watched: int = 0,
    **more: Any,
) -> Job:
    parameters = {
        "settings": settings_of(seed, **{"encoder": encoder, **PRESETS[encoder], **size.changes, **more}),
        "per_task": per_task,
        "evaluations": asked,
        "watched": watched,
    }
    return Job(NAME, f"{name}-seed{seed}", learned_job, {**parameters, **_where(recipe)}, size.minutes, (recipe,))


def _where(recipe: Recipe) -> Plain:
    return {"demonstrations": recipe.per_task, "split": recipe.split, "tasks": list(recipe.tasks), "room": recipe.map}


def learned_job(parameters: Plain, place: Place) -> Plain:
    """Train, plan, and look at trajectories."""
    settings, tasks, room = parameters["settings"], tuple(parameters["tasks"]), parameters["room"]
    seed = settings["seed"]
    recipe = Recipe(WORLD, parameters["split"], parameters["demonstrations"], seed, tasks=tasks, map=room)
    subgoals, training = train(place, settings, recipe, per_task=parameters["per_task"])
    source = benchmark(WORLD, TWELVE_NOVEL if tasks else (), room)
    found = {split: evaluate(source, subgoals, asked) for split, asked in parameters["evaluations"].items()}
    result: Plain = {"training": training, "evaluations": found}
    if count := parameters["watched"]:
        watcher = Watcher(source, subgoals, EVALUATION_SEED + seed, restored(RsgSettings, settings), shortest=False)
        result["segmentation"] = {split: watcher.segmented(split, count) for split in SPLITS}
        result["recognition"] = {split: watcher.recognised(split, count) for split in ("train", "novel")}
    return result


def untrained_job(parameters: Plain, place: Place) -> Plain:
    """Plan with networks as they are before any training."""
    del place
    source: Any = benchmark(WORLD)
    world, _ = source.start("novel", 0, stream(0, "untrained"))
    return _planned(source, untrained(source.vocabulary, parameters["seed"], world), parameters)


def oracle_job(parameters: Plain, place: Place) -> Plain:
    """Plan with the truth."""
    del place
    source = benchmark(WORLD)
    return _planned(source, source.true_goals, parameters)


def _planned(source: Any, goals: Any, parameters: Plain) -> Plain:
    return {
        "evaluations": {split: evaluate(source, goals, asked) for split, asked in parameters["evaluations"].items()}
    }


def section(extent: Extent, results: Results) -> Section:
    """See `rsg.evaluation.playroom_section`."""
    from rsg.evaluation.playroom_section import section as written

    return written(QUICK if extent.quick else FULL, results)


EXPERIMENT = Experiment(NAME, 5, 1, jobs, section)
