"""`rsg reproduce baselines`: what RSG is compared with, on the same demonstrations and from the same starts."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from reproductions.baseline_variants import VARIANTS
from reproductions.harness.figures import draw_lines
from reproductions.harness.jobs import Job, Place, Plain
from reproductions.harness.reproduce import Experiment, Extent, Picture, Section
from reproductions.harness.results import Results, mean_or_none, rate, share
from reproductions.harness.tables import NONE, Rate, number, percent, table
from reproductions.harness.trials import (
    SPLITS,
    Size,
    Variant,
    evaluation,
    how_it_went,
    learned,
    learning,
    oracle_job,
    recipe_of,
)
from reproductions.ranking import evaluate_recognition
from rsg.baselines import METHODS, preset, train_baseline
from rsg.demos import Benchmark, Demonstration, Recipe, benchmark
from rsg.evaluation.paper import EPOCH, LABELS, ORACLE, PAPER, PAPER_TIMES, PICTURES, RSG
from rsg.evaluation.planning import Starts
from rsg.evaluation.policies import Examples, episode_film, evaluate_policy
from rsg.language import Task, machine_of
from rsg.subgoals import Classifiers, Recognised, Recogniser, RsgSettings
from rsg.subgoals.runs import PRESETS
from rsg.training.data import least_steps
from rsg.training.settings import restored

NAME = "baselines"
WORLDS = {"crafting": "Crafting World", "playroom": "Playroom"}
CHECKS = {"strict": "success", "lenient": "success_lenient"}
RECOGNISE = (RSG, "lstm", "bc", "bc-fsm")  # methods whose recognition is looked at; the paper's besides RSG
ENCODERS = {"crafting": "sets", "playroom": "relative"}  # of RSG
IMAGE = {"observation": "image", "batch": 32, "rate": 2e-3, "steps": 1500}  # what differs when BC-FSM sees pictures
STARTS = 7000  # the seed of the first seed's starts: other ones than those on which baselines were tuned
CHANGED: dict[str, tuple[str, tuple[str, ...], str]] = {  # method, worlds, what it means; first seed only
    "bc-any-action": ("bc", tuple(WORLDS), "BC may take actions without effect (the paper's)"),
    "bc-task-at-end": ("bc", tuple(WORLDS), "BC reads the task after the state (the paper's)"),
    "bc-fsm-any-action": ("bc-fsm", tuple(WORLDS), "BC-FSM may take actions without effect"),
    "irl-best-action": ("irl", ("crafting",), "IRL takes the best action"),
    "irl-uniform-moves": ("irl", ("playroom",), "IRL tries uniform moves (the paper's)"),
    "gail-no-cloning": ("gail", ("crafting",), "GAIL stops cloning when PPO begins"),
}

FULL = Size(400, {"primitive": 5, "crafting": 20, "playroom": 25, "recognised": 5})  # starts of each task, by world
QUICK = Size(
    10,
    {"primitive": 1, "crafting": 1, "playroom": 1, "recognised": 1},
    0.25,
    {"steps": 20, "curriculum": 10, "held_out": 8, "check_every": 10},
)


def jobs(extent: Extent) -> list[Job]:
    """For each seed and world: every baseline, RSG and the truth; in Crafting World BC-FSM from pictures too."""
    size, listed = extent.size, []
    for seed in range(extent.seeds):
        for world, encoder in ENCODERS.items():
            recipe = Recipe(world, "train", size.demonstrations, seed)
            starts = {"primitive": size["primitive"], **dict.fromkeys(SPLITS, size[world])}
            asked: Plain = {
                "evaluations": {
                    split: {**evaluation(split, count, seed), "seed": STARTS + seed} for split, count in starts.items()
                },
                "recognised": size["recognised"],
                "examples": seed == 0,
            }
            rsg = Variant(f"{world}-{RSG}", {"encoder": encoder, **PRESETS.get(encoder, {})}, asked, recipe)
            listed.append(learning(NAME, size, seed, rsg, rsg_job))
            for name, (method, changes) in _trained(world, first=seed == 0).items():
                settings = asdict(preset(method, world, **{"seed": seed, **changes, **size.changes}))
                more = {"variant": name, "recognised": 0, "examples": False} if name in CHANGED else {}
                parameters = {**asked, "recipe": asdict(recipe), "method": method, "settings": settings, **more}
                title = f"{world}-{name}-seed{seed}"
                listed.append(Job(NAME, title, baseline_job, parameters, size.minutes, (recipe,)))
            parameters = {"world": world, "evaluations": asked["evaluations"]}
            listed.append(Job(NAME, f"{world}-{ORACLE}-seed{seed}", oracle_job, parameters, 0.5))
    return listed


def _trained(world: str, first: bool) -> dict[str, tuple[str, Plain]]:
    """What is trained in a world, by name: the method, and what differs from its usual settings."""
    found: dict[str, tuple[str, Plain]] = {method: (method, {}) for method in METHODS}
    if world == "crafting":
        found[PICTURES] = ("bc-fsm", IMAGE)
    if first:
        found |= {name: (method, {}) for name, (method, worlds, _) in CHANGED.items() if world in worlds}
    return found


def baseline_job(parameters: Plain, place: Place) -> Plain:
    """Train a baseline; let it act, and look at trajectories."""
    source = benchmark(parameters["recipe"]["world"])
    method, training = _train(source, parameters, place)
    result: Plain = {"training": training}
    if hasattr(method, "act"):
        examples = Examples(source)
        result["evaluations"] = {}
        for split, asked in parameters["evaluations"].items():
            see = examples.see if parameters["examples"] and split == "compositional" else None
            starts = Starts(split, asked["per_task"], asked["seed"])
            result["evaluations"][split] = evaluate_policy(source, starts, method, see=see)
        result["examples"] = examples.found
    if method.name in RECOGNISE:
        result |= _recognition(source, method, parameters)
    return result


def _train(source: Benchmark, parameters: Plain, place: Place) -> tuple[Any, Plain]:
    """Train a baseline in the job's folder, or go on there."""
    kind = VARIANTS.get(parameters.get("variant", ""), METHODS[parameters["method"]])
    resumed, begun = (place.run / "run.json").exists(), time.perf_counter()
    trained = train_baseline(
        kind,
        place.store(recipe_of(parameters)),
        lambda demo: source.world(demo.setting),
        place.run,
        restored(kind.kind, parameters["settings"]),
        per_task=parameters.get("per_task"),
        tensorboard=False,
    )
    return trained.method, how_it_went(trained.progress, None if resumed else time.perf_counter() - begun)


def rsg_job(parameters: Plain, place: Place) -> Plain:
    """Train RSG; plan, and look at trajectories."""
    found = learned(parameters, place)
    looks = _recognition(found.source, Rational(found.subgoals, found.settings), parameters)
    return {"training": found.training, "evaluations": found.plans(parameters), **looks}


class Rational:
    """RSG as one who ranks tasks."""

    def __init__(self, subgoals: Classifiers, settings: RsgSettings) -> None:
        self._subgoals, self._settings = subgoals, settings

    def rank(self, world: Any, demo: Demonstration, tasks: Sequence[Task]) -> list[Recognised]:
        """Tasks, the most likely first."""
        return Recogniser(self._subgoals, tasks, self._settings).rank(world, demo.states, demo.actions)


def _recognition(source: Benchmark, method: Any, parameters: Plain) -> Plain:
    seed, count = STARTS + parameters["settings"]["seed"], parameters["recognised"]
    if not count:
        return {}
    return {
        "recognition": {split: evaluate_recognition(source, Starts(split, count, seed), method) for split in RANKED}
    }


RANKED = ("train", "novel")


# The section.


def section(extent: Extent, results: Results) -> Section:
    """Success beside the paper's, by the number of subgoals, recognition, and what it costs, for each world."""
    size = extent.size
    text = [
        "Every method is trained on the same demonstrations, "
        f"{size.demonstrations} of each training task and others for each seed, and judged from the same starts. "
        "Success in percent: mean over seeds, with the 95 % interval of the mean over seeds in brackets. RSG and "
        "the oracle plan within 5,000 expansions, and a plan must end where the task is done. A baseline acts for at "
        "most 100 steps, and its episode ends as soon as the task is done, whether it notices or not. Where baselines "
        "differ from the paper's is told in [Baselines](baselines.md).",
    ]
    worlds = {world: World(results, world) for world in WORLDS}
    for world, one in worlds.items():
        slip = " For pictures the paper prints the figures of Playroom, probably a slip." if world == "crafting" else ""
        only = " In Crafting World all tasks with more than three are novel." if world == "crafting" else ""
        text += [
            f"### {WORLDS[world]}",
            f"{size[world]} starts of each task and seed.{slip}",
            one.success_table(),
            f"By the number of subgoals that a task needs, all splits together, strict.{only}",
            one.subgoals_table(),
            *one.changed_text(),
            "Recognition: the description that ranks first is the right one, in percent.",
            one.recognition_table(),
            f"What it costs. An epoch is {EPOCH} batches, as in the paper. The time of an episode is that of a plan "
            "for RSG and the oracle; baselines act in several copies of a world side by side, which share the time. "
            "Wall times are those of two jobs side by side, with reading the data.",
            one.costs_table(),
        ]
    kept = {world: one.plain() for world, one in worlds.items()}
    keys = ("success", "by_subgoals", "recognition", "costs", "changed")
    summary: Plain = {"paper": PAPER, **{key: {world: kept[world][key] for world in WORLDS} for key in keys}}
    return Section("Baselines", "\n\n".join(text), summary, _pictures(worlds))


class World:
    """The results of one world: `methods` are those that have some, `acting` those of them that plan or act."""

    def __init__(self, results: Results, world: str) -> None:
        self.results, self.world = results, world
        self.methods = [method for method in LABELS if self.of(method)]
        self.acting = [method for method in self.methods if method != "lstm"]

    def of(self, method: str) -> list[Plain]:
        """The results of a method, a seed to each."""
        return self.results.of(f"{self.world}-{method}")

    def rate(self, method: str, split: str, check: str = "success") -> Rate | None:
        """Its success."""
        return self.results.rate(f"{self.world}-{method}", split, check)

    def success_table(self) -> str:
        """Each method beside the paper's."""
        rows = []
        for method in self.acting:
            paper = PAPER[self.world].get(method)
            row = [LABELS[method]]
            for place, split in enumerate(SPLITS):
                found = [percent(self.rate(method, split, key)) for key in CHECKS.values()]
                row += [f"{paper[place]:.1f}" if paper else NONE, *found]
            rows.append(row)
        return table(["method", *(f"{split}, {what}" for split in SPLITS for what in ("the paper", *CHECKS))], rows)

    def by_subgoals(self, method: str) -> dict[int, Rate]:
        """Success by the number of subgoals that a task needs, over all splits."""
        sums: dict[int, dict[int, list[int]]] = {}
        for seed, one in enumerate(self.of(method)):
            for row in (row for found in one.get("evaluations", {}).values() for row in found["tasks"]):
                both = sums.setdefault(least_steps(machine_of(row["task"])), {}).setdefault(seed, [0, 0])
                both[0] += round(row["success"] * row["episodes"])
                both[1] += row["episodes"]
        return {count: Rate(*map(tuple, zip(*seeds.values(), strict=True))) for count, seeds in sorted(sums.items())}

    def subgoals_table(self) -> str:
        """The same, as a table."""
        found = {method: self.by_subgoals(method) for method in self.acting}
        counts = sorted({count for row in found.values() for count in row})
        rows = [
            [LABELS[method], *(f"{100 * row[count].over_seeds.mean:.1f}" if count in row else NONE for count in counts)]
            for method, row in found.items()
        ]
        return table(["method", *map(str, counts)], rows)

    def changed(self) -> dict[str, dict[str, list[Rate | None]]]:
        """For each thing that was changed: success as usual and with the change, by split, of the first seed."""
        first = {
            (name, split): rate(self.results.evaluations(f"{self.world}-{name}", split)[:1])
            for name in (*METHODS, *CHANGED)
            for split in SPLITS
        }
        return {
            name: {split: [first[method, split], first[name, split]] for split in SPLITS}
            for name, (method, _, _) in CHANGED.items()
            if self.of(name)
        }

    def changed_text(self) -> list[str]:
        """The same, as a table; nothing if nothing was changed."""
        rows = [
            [CHANGED[name][2], *(percent(one) for split in SPLITS for one in row[split])]
            for name, row in self.changed().items()
        ]
        head = ["what is changed", *(f"{split}, {what}" for split in SPLITS for what in ("as usual", "changed"))]
        return ["One thing changed at a time, strict, seed 0:", table(head, rows)] if rows else []

    def recognised(self, method: str) -> dict[str, Rate]:
        """The rate by split."""
        every = [one["recognition"] for one in self.of(method) if "recognition" in one]
        found = {split: share([one[split] for one in every], "right") for split in RANKED}
        return {split: one for split, one in found.items() if one}

    def recognition_table(self) -> str:
        """The same, for each method."""
        found = {LABELS[method]: self.recognised(method) for method in RECOGNISE}
        rows = [[label, *map(percent, row.values())] for label, row in found.items() if row]
        return table(["method", "among the training descriptions", "among the novel ones"], rows)

    def costs(self, method: str) -> dict[str, list[float]]:
        """Over seeds: seconds of training in total and per epoch, milliseconds of an episode or a plan."""
        name = f"{self.world}-{method}"
        seconds, steps = self.results.training(name, "cpu_seconds"), self.results.training(name, "steps")
        times = [one["plan_ms_mean"] for split in SPLITS for one in self.results.evaluations(name, split)]
        return {
            "cpu_seconds": seconds,
            "wall_seconds": self.results.training(name, "seconds"),
            "epoch_seconds": [EPOCH * one / count for one, count in zip(seconds, steps, strict=True)],
            "episode_ms": times,
        }

    def costs_table(self) -> str:
        """Each method beside the paper's."""
        rows = []
        for method in self.methods:
            costs = {key: mean_or_none(values) for key, values in self.costs(method).items()}
            epochs, minutes, seconds = PAPER_TIMES[self.world].get(method, (0, 0.0, None))
            episode = costs["episode_ms"]
            rows.append(
                [
                    LABELS[method],
                    f"{epochs * minutes / 60:.1f} h" if epochs else NONE,
                    *(number(costs[key], 0, "s") for key in ("cpu_seconds", "wall_seconds")),
                    f"{60 * minutes:.0f} s" if epochs else NONE,
                    number(costs["epoch_seconds"], 2, "s"),
                    f"{1000 * seconds:,.0f} ms" if seconds else NONE,
                    f"{episode.mean:.1f} ms" if episode else NONE,
                ]
            )
        head = ["method", "training, the paper", "processor time", "wall time", "epoch, the paper", "epoch"]
        return table([*head, "episode, the paper", "episode"], rows)

    def plain(self) -> Plain:
        """All of it as JSON."""
        success = {
            method: {
                split: {what: one.plain() for what, key in CHECKS.items() if (one := self.rate(method, split, key))}
                for split in SPLITS
            }
            for method in self.acting
        }
        counts, ranks = (
            {method: {str(key): one.plain() for key, one in found(method).items()} for method in self.methods}
            for found in (self.by_subgoals, self.recognised)
        )
        return {
            "success": success,
            "by_subgoals": {method: row for method, row in counts.items() if row},
            "recognition": {method: row for method, row in ranks.items() if row},
            "costs": {method: self.costs(method) for method in self.methods},
            "changed": {
                name: {split: [one.over_seeds.mean for one in pair if one] for split, pair in row.items()}
                for name, row in self.changed().items()
            },
        }


def _pictures(worlds: Mapping[str, World]) -> dict[str, Picture]:
    groups = {WORLDS[world]: dict(_lines(one)) for world, one in worlds.items()}
    pictures = {}
    if any(groups.values()):
        drawn = partial(draw_lines, groups=groups, across="subgoals that a task needs", up="success, %")
        drawn = partial(drawn, limits=(-3.0, 103.0))
        pictures["subgoals"] = Picture("Success against the number of subgoals, every method", drawn)
    for world, found in worlds.items():
        for method in found.methods:
            for kind, one in found.of(method)[0].get("examples", {}).items():
                caption = f"A {kind} episode of {LABELS[method]} in {WORLDS[world]}"
                film = partial(_write_film, source=benchmark(world), example=one)
                pictures[f"{world}-{method}-{kind}"] = Picture(caption, film, "gif", shown=False)
    return pictures


def _write_film(path: Path, source: Benchmark, example: Mapping[str, Any]) -> None:
    path.write_bytes(episode_film(source, example, STARTS))


def _lines(world: World) -> Iterator[tuple[str, list[list[tuple[float, float]]]]]:
    for method in (ORACLE, *(one for one in LABELS if one != ORACLE)):  # RSG is drawn over the oracle
        if found := world.by_subgoals(method):
            yield LABELS[method], [[(count, 100 * one.over_seeds.mean) for count, one in found.items()]]


EXPERIMENT = Experiment(NAME, 3, FULL, QUICK, jobs, section)
