"""`rsg reproduce ablations`: one setting changed at a time, with what the paper says about it.

All variants of a seed learn from the same demonstrations and plan from the same starts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from rsg.core.random import stream
from rsg.demos import Benchmark, Recipe, Store, benchmark
from rsg.evaluation.ablations_section import CURVE, NAME, OURS, section
from rsg.evaluation.jobs import Job, Place, Plain
from rsg.evaluation.reproduce import Experiment, Extent
from rsg.evaluation.trials import evaluate, evaluation, settings_of, train
from rsg.subgoals.classifiers import Classifiers

WORLD = "crafting"
LONGER: dict[str, Any] = {"steps": 400, "curriculum": 200, "rate": 0.01}  # what G and I apart need
NO_DOUBT: dict[str, Any] = {"doubt": 0.0, "unmentioned": 0.0}
PRINTED: dict[str, Any] = {**NO_DOUBT, "one_action": False}  # the objective as the paper prints it

SWEEPS: dict[str, Mapping[str, Any]] = {  # other values of settings that are numbers
    **{f"alpha-{value:g}": {"alpha": value} for value in (0.1, 10.0)},
    **{f"weight-{value:g}": {"weight": value} for value in (0.1, 0.3, 3.0, 10.0)},
    **{f"gamma-{value:g}": {"gamma": value} for value in (0.01, 1.0)},
    **{f"beta-{value:g}": {"beta": value} for value in (0.1, 10.0)},
    **{f"depth-{value}": {"depth": value} for value in (1, 2, 6)},
}
CHANGES: dict[str, Mapping[str, Any]] = {  # by the name of the variant; `ablations_section` has its words
    OURS: {},
    "two": {"single": False},
    "no-one-action": {"one_action": False},
    "no-contrast": {"gamma": 0.0},
    "no-curriculum": {"curriculum": 0},
    "sampled": {"scheme": "sampled"},
    "no-doubt": {"doubt": 0.0},
    "no-price": {"unmentioned": 0.0},
    "neither": NO_DOUBT,
    **SWEEPS,
    **{f"alignment-{value}": {"alignment": value} for value in ("sum", "expectation")},
    "language": {"negatives_from": "language"},
}
AS_PRINTED = {**PRINTED, "curriculum": 0}
CONDITIONS: dict[str, Mapping[str, Any]] = {  # in which one classifier is compared with two
    "longer": {},
    "printed": PRINTED,
    "printed-no-curriculum": AS_PRINTED,
    "printed-slow": {**AS_PRINTED, "rate": 0.001},
    "printed-sampled": {**AS_PRINTED, "scheme": "sampled", "steps": 200},
}
CHANGES |= {f"one-{name}": {**LONGER, **changes} for name, changes in CONDITIONS.items()}
CHANGES |= {f"two-{name}": {**LONGER, **changes, "single": False} for name, changes in CONDITIONS.items()}


@dataclass(frozen=True)
class Sizes:
    """How much is done for each seed and variant.

    Attributes:
        demonstrations: of each task.
        compositional, novel: starts of each task.
        judged: demonstrations of each task on which each classifier is compared with the truth.
        changes: to the settings of training, for all.
        sweeps: whether settings that are numbers take other values, too.
    """

    demonstrations: int = 400
    compositional: int = 20
    novel: int = 50
    judged: int = 5
    changes: Mapping[str, Any] = field(default_factory=dict)
    sweeps: bool = True


FULL = Sizes()
QUICK = Sizes(20, 1, 1, 1, {"steps": 40, "curriculum": 15}, sweeps=False)


def jobs(extent: Extent) -> list[Job]:
    """Each variant, for each seed."""
    size = QUICK if extent.quick else FULL
    listed = []
    for seed in range(extent.seeds):
        recipe = Recipe(WORLD, "train", size.demonstrations, seed)
        evaluations = {
            "compositional": evaluation("compositional", size.compositional, seed),
            "novel": evaluation("novel", size.novel, seed),
        }
        for name, changes in CHANGES.items():
            if name in SWEEPS and not size.sweeps:
                continue
            settings = settings_of(seed, **{**changes, **size.changes})
            parameters = {
                "settings": settings,
                "demonstrations": size.demonstrations,
                "judged": size.judged,
                "evaluations": evaluations,
            }
            listed.append(Job(NAME, f"{name}-seed{seed}", run, parameters, _minutes(settings), (recipe,)))
        for name in ("one", "two"):
            settings = settings_of(seed, **{**CHANGES[f"{name}-longer"], **size.changes})
            parameters = {"settings": settings, "demonstrations": size.demonstrations, "judged": size.judged}
            listed.append(Job(NAME, f"{CURVE}{name}-seed{seed}", watch, parameters, 1.0, (recipe,)))
    return listed


def _minutes(settings: Plain) -> float:
    """About how long training and planning take."""
    slower = 3.0 if settings["scheme"] == "sampled" or settings["negatives_from"] == "language" else 1.0
    return 0.2 + 0.001 * slower * float(settings["steps"])


def run(parameters: Plain, place: Place) -> Plain:
    """Train, compare each classifier with the truth, then plan."""
    settings, source = parameters["settings"], benchmark(WORLD)
    recipe = Recipe(WORLD, "train", parameters["demonstrations"], settings["seed"])
    subgoals, training = train(place, settings, recipe)
    found = {name: evaluate(source, subgoals, asked) for name, asked in parameters["evaluations"].items()}
    terms = judged(source, subgoals, place.store(recipe), parameters["judged"], settings["seed"])
    training.pop("history")
    return {"training": training, "evaluations": found, "terms": terms}


def watch(parameters: Plain, place: Place) -> Plain:
    """Train, comparing the classifiers with the truth on the way."""
    settings, source = parameters["settings"], benchmark(WORLD)
    recipe = Recipe(WORLD, "train", parameters["demonstrations"], settings["seed"])

    def report(step: int, method: Any) -> Plain:
        del step
        found = judged(source, method.module, place.store(recipe), parameters["judged"], settings["seed"]).values()
        return {key: float(np.mean([share[key] for share in found])) for key in ("true", "false", "not_yet")}

    _, training = train(place, settings, recipe, reports=[report])
    keys = ("step", "true", "false", "not_yet")
    return {"curve": [{key: row[key] for key in keys} for row in training["history"]]}


def judged(source: Benchmark, subgoals: Classifiers, store: Store, per_task: int, seed: int) -> Plain:
    """For each term the share of true states that G calls true, and of false ones that it calls false.

    Measured on the states of some demonstrations of each training task. `not_yet` is the share of true states in
    which I still says "not yet".
    """
    names = list(source.vocabulary)
    chosen = stream(seed, "judged").permutation(len(store))[: per_task * len(source.tasks("train"))]
    right, count, not_yet = np.zeros((2, len(names))), np.zeros((2, len(names))), np.zeros(len(names))
    for number in sorted(chosen.tolist()):
        demo = store[number]
        world = source.world(demo.setting)
        truth = source.truth(world, demo.states, names)
        odds = subgoals.evaluate(world, demo.states, subgoals.numbers(names))
        called = odds[..., 0] >= 0
        not_yet += (truth & (odds[..., 1] > 0)).sum(axis=0)
        for kind in (0, 1):
            count[kind] += (truth == kind).sum(axis=0)
            right[kind] += ((truth == kind) & (called == kind)).sum(axis=0)
    share = np.where(count > 0, right / np.maximum(count, 1), 1.0)
    still = not_yet / np.maximum(count[1], 1)
    return {name: {"true": share[1, i], "false": share[0, i], "not_yet": still[i]} for i, name in enumerate(names)}


EXPERIMENT = Experiment(NAME, 5, 1, jobs, section)
