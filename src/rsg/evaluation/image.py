"""`rsg reproduce image`: subgoals learned from pictures of Crafting World, planned with in other lights and places."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from rsg.core.random import stream
from rsg.demos import Recipe, benchmark
from rsg.evaluation.figures import draw_rates
from rsg.evaluation.jobs import Job, Place, Plain
from rsg.evaluation.reproduce import Experiment, Extent, Picture, Results, Section
from rsg.evaluation.statistics import mean_of
from rsg.evaluation.tables import NONE, Rate, number, percent, table
from rsg.evaluation.trials import BUDGET, evaluate, evaluation, rate, settings_of, train
from rsg.subgoals.images import LEVELS, MARGIN, PRESET, Camera, ImageClassifiers

NAME = "image"
WORLD = "crafting"
SPLITS = ("compositional", "novel")
PAPER = {"compositional": 82.0, "novel": 78.2}
BRIGHTNESS = 0.2
CAMERAS = {
    "as in training": Camera(),
    "another light for each picture": Camera(brightness=BRIGHTNESS, seed=1),
    "each picture shifted by up to half a cell": Camera(shift=MARGIN, seed=1),
    "both": Camera(brightness=BRIGHTNESS, shift=MARGIN, seed=1),
}
UNTRAINED = "untrained"


@dataclass(frozen=True)
class Sizes:
    """How much is done for each seed.

    Attributes:
        demonstrations: of each task.
        compositional, novel: starts of each task, for each camera.
        minutes: that it takes, about.
        changes: to the settings of training.
        budget: expansions of a plan.
    """

    demonstrations: int = 400
    compositional: int = 20
    novel: int = 25
    minutes: float = 12.0
    changes: Mapping[str, Any] = field(default_factory=dict)
    budget: int = BUDGET


FULL = Sizes()
QUICK = Sizes(20, 1, 1, 1.0, {"steps": 60, "curriculum": 20}, budget=300)


def jobs(extent: Extent) -> list[Job]:
    """For each seed: training, and plans with each camera."""
    size = QUICK if extent.quick else FULL
    listed = []
    for seed in range(extent.seeds):
        parameters = {
            "settings": settings_of(seed, **{"encoder": "image", **PRESET, **size.changes}),
            "demonstrations": size.demonstrations,
            "evaluations": {
                split: evaluation(split, getattr(size, split), seed, budget=size.budget) for split in SPLITS
            },
            "cameras": {name: asdict(camera) for name, camera in CAMERAS.items()},
        }
        recipe = Recipe(WORLD, "train", size.demonstrations, seed)
        listed.append(Job(NAME, f"seed{seed}", run, parameters, size.minutes, (recipe,)))
    return listed


def run(parameters: Plain, place: Place) -> Plain:
    """Train, then plan with each camera; and as it is before any training."""
    settings, source = parameters["settings"], benchmark(WORLD)
    recipe = Recipe(WORLD, "train", parameters["demonstrations"], settings["seed"])
    subgoals, training = train(place, settings, recipe)
    assert isinstance(subgoals, ImageClassifiers)
    found = {}
    for name, camera in parameters["cameras"].items():
        subgoals.camera = Camera(**camera)
        found[name] = _planned(source, subgoals, parameters["evaluations"])
    fresh = ImageClassifiers(source.vocabulary, settings["single"], settings["hidden"], settings["seed"])
    few = {split: {**asked, "per_task": 1} for split, asked in parameters["evaluations"].items()}
    found[UNTRAINED] = _planned(source, fresh, few)
    return {"training": training, "evaluations": found}


def _planned(source: Any, subgoals: Any, evaluations: Mapping[str, Plain]) -> Plain:
    return {split: evaluate(source, subgoals, asked) for split, asked in evaluations.items()}


def section(extent: Extent, results: Results) -> Section:
    """Success with each camera, and what it costs."""
    del extent
    rates = {name: _rates(results, name) for name in (*CAMERAS, UNTRAINED)}
    rows = [["**RSG, the paper**", *(f"{PAPER[split]:.1f}" for split in SPLITS), NONE, NONE]]
    for name, row in rates.items():
        if row["novel"] is not None:
            rows.append([name, *(percent(row[split]) for split in SPLITS), *_times(results, name)])
    training = [one["training"] for one in results.values()]
    costs = [
        ["training, processor time", number(_mean(training, "cpu_seconds"), 0, "s")],
        ["training, wall time with reading the data", number(_mean(training, "seconds"), 0, "s")],
        ["training, gradient steps", number(_mean(training, "steps"), 0)],
    ]
    factors = f"{1 - BRIGHTNESS:g} to {1 + BRIGHTNESS:g}"
    text = "\n\n".join(
        [
            "Classifiers see the pixels of a picture of the state, 8 to a cell, and nothing else. Success of plans for "
            f"instructions, strict, within {BUDGET:,} expansions in total, in percent: mean over seeds, with the 95 % "
            "interval of the mean over seeds in brackets. The same classifiers plan with four cameras: in *another "
            f"light* the levels of each picture are multiplied by {factors} and then lifted or lowered by up to "
            f"{LEVELS * BRIGHTNESS:.0f} of 255, and a *shift* moves map and inventory by whole pixels, "
            "eighths of a cell, up or down and left or right; each state has its own light and shift. The paper prints "
            "the very figures of its other world here, probably a slip.",
            table(["pictures", *SPLITS, *(f"median time of a plan, {split}" for split in SPLITS)], rows),
            table(["what it costs", "mean and range over seeds"], costs),
        ]
    )
    summary = {
        "paper": PAPER,
        "success": {name: {split: one.plain() for split, one in row.items() if one} for name, row in rates.items()},
        "training": {key: [one[key] for one in training] for key in ("cpu_seconds", "seconds", "steps")},
        "plan_ms_median": {
            name: {split: [one["plan_ms_median"] for one in _found(results, name, split)] for split in SPLITS}
            for name in (*CAMERAS, UNTRAINED)
        },
    }
    groups = {split: {short: rates[name][split] for short, name in SHORT.items()} for split in SPLITS}
    pictures = {
        "success": Picture("Success by camera", partial(draw_rates, groups=groups, paper=PAPER)),
        "seen": Picture("A state as each of the four cameras takes it", draw_seen),
    }
    return Section("Subgoals from pictures, Crafting World", text, summary, pictures if results else {})


SHORT = {
    "clean": "as in training",
    "light": "another light for each picture",
    "shift": "each picture shifted by up to half a cell",
    "both": "both",
    "untrained": UNTRAINED,
}


def _found(results: Results, name: str, split: str) -> list[Plain]:
    return [one["evaluations"][name][split] for one in results.values() if name in one["evaluations"]]


def _rates(results: Results, name: str) -> dict[str, Rate | None]:
    return {split: rate(_found(results, name, split)) for split in SPLITS}


def _times(results: Results, name: str) -> list[str]:
    return [number(_mean(_found(results, name, split), "plan_ms_median"), 0, "ms") for split in SPLITS]


def _mean(several: Sequence[Plain], key: str) -> Any:
    values = [one[key] for one in several if one[key] is not None]
    return mean_of(values) if values else None


def draw_seen(path: Path) -> None:
    """One state in four pictures, pixel by pixel."""
    from matplotlib.image import imsave

    source = benchmark(WORLD)
    world, state = source.start("novel", 0, stream(0, "seen"))
    eyes = ImageClassifiers(("nothing",), True, 1)
    shown = []
    for camera in CAMERAS.values():
        eyes.camera = camera
        picture = np.pad(eyes.pictures(world, state[None])[0], ((2, 2), (2, 2), (0, 0)), constant_values=255)
        shown.append(np.kron(picture, np.ones((4, 4, 1), dtype=np.uint8)))
    imsave(path, np.concatenate(shown, axis=1), format="png")


EXPERIMENT = Experiment(NAME, 3, 1, jobs, section)
