"""`rsg reproduce image`: subgoals learned from pictures of Crafting World, planned with in other lights and places."""

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import numpy as np

from reproductions.camera import LEVELS, Camera
from reproductions.harness.figures import Picture, bars
from reproductions.harness.jobs import Job, Place, Plain
from reproductions.harness.reproduce import Experiment, Section
from reproductions.harness.results import PAPERS, Results, mean_or_none, plain
from reproductions.harness.tables import NONE, number, page, percent, table
from reproductions.harness.trials import BUDGET, SPLITS, Size, Variant, learned, learning, planned
from rsg.core.random import stream
from rsg.domain import find
from rsg.domains.crafting.images import MARGIN, ImageClassifiers

NAME = "image"
RSG = "rsg"
PAPER = PAPERS["playroom"]  # the paper prints the very figures of its other world here
BRIGHTNESS = 0.2
CLEAN, UNTRAINED = "clean", "untrained"
CAMERAS = {
    CLEAN: ("as in training", Camera()),
    "light": ("another light for each picture", Camera(brightness=BRIGHTNESS, seed=1)),
    "shift": ("each picture shifted by up to half a cell", Camera(shift=MARGIN, seed=1)),
    "both": ("both", Camera(brightness=BRIGHTNESS, shift=MARGIN, seed=1)),
}
NAMES = {**{name: label for name, (label, _) in CAMERAS.items()}, UNTRAINED: UNTRAINED}
FULL = Size(400, {"compositional": 20, "novel": 25, "budget": BUDGET}, 12.0, seeds=3)
QUICK = Size(20, {"compositional": 1, "novel": 1, "budget": 300}, 1.0, {"steps": 60, "curriculum": 20})


def jobs(size: Size) -> Iterator[Job]:
    """For each seed: training, and plans with each camera."""
    cameras = {name: asdict(camera) for name, (_, camera) in CAMERAS.items()}
    for seed in range(size.seeds):
        asked = {"evaluations": size.evaluations(seed, budget=size["budget"]), "cameras": cameras}
        yield learning(NAME, size, seed, Variant(RSG, {"encoder": "image"}, asked), run)


def run(parameters: Plain, place: Place) -> Plain:
    """Train, then plan with each camera, `-camera` added to the names of evaluations; and before any training."""
    found = learned(parameters, place)
    subgoals, settings = found.subgoals, found.settings
    assert isinstance(subgoals, ImageClassifiers)
    evaluations = Plain()
    for name, camera in parameters["cameras"].items():
        subgoals.camera = Camera(**camera)
        evaluations |= {f"{split}-{name}": one for split, one in found.plans(parameters).items()}
    fresh = ImageClassifiers(settings.single).grow(found.source.vocabulary)
    few = {f"{split}-{UNTRAINED}": {**one, "per_task": 1} for split, one in parameters["evaluations"].items()}
    evaluations |= planned(found.source, fresh, {"evaluations": few})
    return {"training": found.training, "evaluations": evaluations}


def section(size: Size, results: Results) -> Section:
    """Success with each camera, and what it costs."""
    del size
    rates = {label: results.rates(RSG, more=f"-{name}") for name, label in NAMES.items()}
    rows = [["**RSG, the paper**", *(f"{PAPER[split]:.1f}" for split in SPLITS), NONE, NONE]]
    for name, label in NAMES.items():
        times = (mean_or_none(results.plans(RSG, f"{split}-{name}")) for split in SPLITS)
        if rates[label]["novel"] is not None:
            rows.append([label, *map(percent, rates[label].values()), *(number(one, 0, "ms") for one in times)])
    text = page(
        NAME,
        success=table(["pictures", *SPLITS, *(f"median time of a plan, {split}" for split in SPLITS)], rows),
        costs=table(["what it costs", "mean and range over seeds"], list(results.costs(RSG).items())),
        budget=f"{BUDGET:,}",
        darkest=f"{1 - BRIGHTNESS:g}",
        lightest=f"{1 + BRIGHTNESS:g}",
        lifted=f"{LEVELS * BRIGHTNESS:.0f}",
    )
    summary = {
        "paper": PAPER,
        "success": plain(rates),
        "training": {key: results.training(RSG, key) for key in ("cpu_seconds", "seconds", "steps")},
        "plan_ms_median": {
            label: {split: results.plans(RSG, f"{split}-{name}") for split in SPLITS} for name, label in NAMES.items()
        },
    }
    groups = {split: {name: rates[label][split] for name, label in NAMES.items()} for split in SPLITS}
    pictures = {
        "success": bars("Success by camera", groups, PAPER),
        "seen": Picture("A state as each of the four cameras takes it", draw_seen),
    }
    return Section("Subgoals from pictures, Crafting World", text, summary, pictures if results else {})


def draw_seen(path: Path) -> None:
    """One state in four pictures, pixel by pixel."""
    from matplotlib.image import imsave

    world, state = find("crafting").start_of("novel", 0, stream(0, "seen"))
    eyes = ImageClassifiers()
    shown = []
    for _, camera in CAMERAS.values():
        eyes.camera = camera
        picture = np.pad(eyes.pictures(world, state[None])[0], ((2, 2), (2, 2), (0, 0)), constant_values=255)
        shown.append(np.kron(picture, np.ones((4, 4, 1), dtype=np.uint8)))
    imsave(path, np.concatenate(shown, axis=1), format="png")


EXPERIMENT = Experiment(NAME, FULL, QUICK, jobs, section)
