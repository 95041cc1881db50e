"""`rsg reproduce baselines`: what RSG is compared with, on the same demonstrations and from the same starts."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from rsg.baselines import METHODS, Baseline, preset, train_baseline
from rsg.demos import Benchmark, Demonstration, Recipe, benchmark
from rsg.evaluation.jobs import Job, Place, Plain
from rsg.evaluation.policies import Acted, evaluate_policy, evaluate_recognition
from rsg.evaluation.reproduce import Experiment, Extent, Results, Section
from rsg.evaluation.trials import evaluate, evaluation, how_it_went, settings_of, train
from rsg.language import Task, machine_of
from rsg.subgoals import Classifiers, Recognised, Recogniser, RsgSettings
from rsg.subgoals.recognition import least_steps
from rsg.subgoals.runs import PRESETS
from rsg.training.settings import restored

NAME = "baselines"
WORLDS = {"crafting": "Crafting World", "playroom": "Playroom"}
SPLITS = ("primitive", "compositional", "novel")
RSG, ORACLE, PICTURES = "rsg", "oracle", "bc-fsm-image"
RECOGNISE = (RSG, "lstm", "bc", "bc-fsm")  # methods whose recognition is looked at; the paper's besides RSG
ENCODERS = {"crafting": "sets", "playroom": "relative"}  # of RSG
IMAGE = {"observation": "image", "batch": 32, "rate": 2e-3, "steps": 1500}  # what differs when BC-FSM sees pictures
STARTS = 7000  # the seed of the first seed's starts: other ones than those on which baselines were tuned
EVERYWHERE = tuple(WORLDS)
CHANGED: dict[
    str, tuple[str, Plain, tuple[str, ...], str]
] = {  # method, settings, worlds, what it means; first seed only
    "bc-any-action": ("bc", {"effective": False}, EVERYWHERE, "BC may take actions without effect (the paper's)"),
    "bc-task-at-end": ("bc", {"task_at": "end"}, EVERYWHERE, "BC reads the task after the state (the paper's)"),
    "bc-fsm-any-action": ("bc-fsm", {"effective": False}, EVERYWHERE, "BC-FSM may take actions without effect"),
    "irl-best-action": ("irl", {"draw": False}, ("crafting",), "IRL takes the best action"),
    "irl-uniform-moves": ("irl", {"moves": "uniform"}, ("playroom",), "IRL tries uniform moves (the paper's)"),
    "gail-no-cloning": ("gail", {"keep": 0.0}, ("crafting",), "GAIL stops cloning when PPO begins"),
}
LONGEST = 60  # steps of an episode that is shown


@dataclass(frozen=True)
class Sizes:
    """How much is done for each seed.

    Attributes:
        demonstrations: of each task.
        starts: of each task, by world; primitive: of each task of a single subgoal.
        recognised: fresh trajectories of each task.
        minutes: that a job takes, about.
        changes: to the settings of training.
    """

    demonstrations: int = 400
    starts: Mapping[str, int] = field(default_factory=lambda: {"crafting": 20, "playroom": 25})
    primitive: int = 5
    recognised: int = 5
    minutes: float = 3.0
    changes: Mapping[str, Any] = field(default_factory=dict)


FULL = Sizes()
SMALL = {"steps": 20, "curriculum": 10, "held_out": 8, "check_every": 10}
QUICK = Sizes(10, {"crafting": 1, "playroom": 1}, 1, 1, 0.25, SMALL)


def jobs(extent: Extent) -> list[Job]:
    """For each seed and world: every baseline, RSG and the truth; in Crafting World BC-FSM from pictures too."""
    size, listed = QUICK if extent.quick else FULL, []
    for seed in range(extent.seeds):
        for world in WORLDS:
            recipe = Recipe(world, "train", size.demonstrations, seed)
            asked = {
                "world": world,
                "demonstrations": size.demonstrations,
                "evaluations": {split: _evaluation(size, world, split, seed) for split in SPLITS},
                "recognised": size.recognised,
                "examples": seed == 0,
            }
            encoder = ENCODERS[world]
            learning = settings_of(seed, **{"encoder": encoder, **PRESETS.get(encoder, {}), **size.changes})
            listed.append(_job(size, world, RSG, seed, rsg_job, {**asked, "settings": learning}, recipe))
            for name, (method, changes, more) in _trained(world, first=seed == 0).items():
                settings = asdict(preset(method, world, **{"seed": seed, **changes, **size.changes}))
                parameters = {**asked, "method": method, "settings": settings, **more}
                listed.append(_job(size, world, name, seed, baseline_job, parameters, recipe))
            listed.append(_job(size, world, ORACLE, seed, oracle_job, asked))
    return listed


def _trained(world: str, first: bool) -> dict[str, tuple[str, Plain, Plain]]:
    """What is trained in a world, by name: the method, what differs from its usual settings, and what is asked."""
    found: dict[str, tuple[str, Plain, Plain]] = {method: (method, {}, {}) for method in METHODS}
    if world == "crafting":
        found[PICTURES] = ("bc-fsm", IMAGE, {})
    if first:
        brief: Plain = {"recognised": 0, "examples": False}
        found |= {name: (one[0], one[1], brief) for name, one in CHANGED.items() if world in one[2]}
    return found


def _evaluation(size: Sizes, world: str, split: str, seed: int) -> Plain:
    starts = size.primitive if split == "primitive" else size.starts[world]
    return {**evaluation(split, starts, seed), "seed": STARTS + seed}


def _job(size: Sizes, world: str, method: str, seed: int, run: Any, parameters: Plain, *needs: Recipe) -> Job:
    return Job(NAME, f"{world}-{method}-seed{seed}", run, parameters, size.minutes if needs else 0.5, needs)


def baseline_job(parameters: Plain, place: Place) -> Plain:
    """Train a baseline; let it act, and look at trajectories."""
    source, settings = benchmark(parameters["world"]), parameters["settings"]
    recipe = Recipe(source.name, "train", parameters["demonstrations"], settings["seed"])
    method, training = _train(place, parameters["method"], settings, recipe, parameters.get("per_task"))
    result: Plain = {"training": training}
    if hasattr(method, "act"):
        examples = Examples(source)
        result["evaluations"] = {}
        for split, asked in parameters["evaluations"].items():
            see = examples.see if parameters["examples"] and split == "compositional" else None
            found = evaluate_policy(source, split, method, asked["per_task"], asked["seed"], see=see)
            result["evaluations"][split] = _brief(found)
        result["examples"] = examples.found
    if method.name in RECOGNISE and parameters["recognised"]:
        result["recognition"] = _recognition(source, method, parameters)
    return result


def _train(place: Place, name: str, settings: Plain, recipe: Recipe, per_task: int | None) -> tuple[Any, Plain]:
    """Train a baseline in the job's folder, or go on there; `per_task` if not with all demonstrations."""
    source, resumed, begun = benchmark(recipe.world), (place.run / "run.json").exists(), time.perf_counter()
    trained = train_baseline(
        name,
        place.store(recipe),
        lambda demo: source.world(demo.setting),
        place.run,
        restored(METHODS[name].kind, settings),
        per_task,
        tensorboard=False,
    )
    return trained.method, how_it_went(trained.progress, None if resumed else time.perf_counter() - begun)


class Examples:
    """Keeps one good and one failed episode of several subgoals, neither too long to be watched."""

    def __init__(self, source: Benchmark) -> None:
        self._tasks = source.tasks("compositional")
        self.found: dict[str, Plain] = {}

    def see(self, acted: Acted) -> None:
        """Look at an episode."""
        kind = "good" if acted.episode.success else "failed"
        several = least_steps(machine_of(self._tasks[acted.task])) > 1
        if (
            kind not in self.found
            and several
            and len(acted.actions) > 5
            and (kind == "failed" or acted.episode.lenient)
        ):
            actions = acted.actions[:LONGEST].round(4).tolist()
            self.found[kind] = {"task": acted.task, "start": acted.start, "actions": actions}


def rsg_job(parameters: Plain, place: Place) -> Plain:
    """Train RSG; plan, and look at trajectories."""
    source, settings = benchmark(parameters["world"]), parameters["settings"]
    recipe = Recipe(source.name, "train", parameters["demonstrations"], settings["seed"])
    subgoals, training = train(place, settings, recipe, per_task=parameters.get("per_task"))
    result: Plain = {"training": training, "evaluations": _planned(source, subgoals, parameters)}
    if parameters["recognised"]:
        recogniser = Rational(subgoals, restored(RsgSettings, settings))
        result["recognition"] = _recognition(source, recogniser, parameters)
    return result


def oracle_job(parameters: Plain, place: Place) -> Plain:
    """Plan with the truth."""
    del place
    source = benchmark(parameters["world"])
    return {"evaluations": _planned(source, source.true_goals, parameters)}


class Rational:
    """RSG as one who ranks tasks."""

    def __init__(self, subgoals: Classifiers, settings: RsgSettings) -> None:
        self._subgoals, self._settings = subgoals, settings

    def rank(self, world: Any, demo: Demonstration, tasks: Sequence[Task]) -> list[Recognised]:
        """Tasks, the most likely first."""
        return Recogniser(self._subgoals, tasks, self._settings).rank(world, demo.states, demo.actions)


def _planned(source: Benchmark, goals: Any, parameters: Plain) -> Plain:
    return {split: _brief(evaluate(source, goals, asked)) for split, asked in parameters["evaluations"].items()}


def _recognition(source: Benchmark, method: Baseline | Rational, parameters: Plain) -> Plain:
    seed = STARTS + parameters["settings"]["seed"]
    count = parameters["recognised"]
    return {split: evaluate_recognition(source, split, method, count, seed) for split in ("train", "novel")}


def _brief(found: Plain) -> Plain:
    """An evaluation without what no table needs."""
    rows = [
        {key: row[key] for key in ("task", "episodes", "success", "success_lenient")}
        | {"subgoals": least_steps(machine_of(row["task"]))}
        for row in found["tasks"]
    ]
    kept = ("split", "per_task", "seed", "episodes", "plan_ms_median", "plan_ms_mean", "expansions_mean", "cost_mean")
    return {**{key: found[key] for key in kept}, "tasks": rows}


def section(extent: Extent, results: Results) -> Section:
    """See `rsg.evaluation.baselines_section`."""
    from rsg.evaluation.baselines_section import section as written

    return written(QUICK if extent.quick else FULL, results)


EXPERIMENT = Experiment(NAME, 3, 1, jobs, section)
