"""`rsg reproduce baselines`: what RSG is compared with, on the same demonstrations and from the same starts."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from reproductions.baseline_variants import VARIANTS
from reproductions.harness.figures import Picture, curves
from reproductions.harness.jobs import Job, Place, Plain
from reproductions.harness.printed import EPOCH, PAPER, PAPER_TIMES
from reproductions.harness.reproduce import Experiment, Section
from reproductions.harness.results import Rates, Results, mean_or_none, plain, rate, share
from reproductions.harness.tables import NONE, Rate, number, page, percent, table
from reproductions.harness.trials import (
    EVALUATION_SEED,
    SPLITS,
    Size,
    Variant,
    evaluation,
    learned,
    learning,
    oracle_job,
    suited,
    trained,
)
from reproductions.recognition import RANKED, Rank, evaluate_recognition
from rsg.baselines import METHODS, preset, train_baseline
from rsg.demos import Recipe
from rsg.domain import Domain, find
from rsg.evaluation.planning import Starts
from rsg.evaluation.policies import Examples, episode_film, evaluate_policy
from rsg.evaluation.report import LABELS, ORACLE, PICTURES, RSG
from rsg.language import machine_of
from rsg.subgoals import Recogniser
from rsg.subgoals.recognition import SPECIFIC
from rsg.training.data import least_steps
from rsg.training.settings import restored

NAME = "baselines"
WORLDS = {"crafting": "Crafting World", "playroom": "Playroom"}
CHECKS = {"strict": "success", "lenient": "success_lenient"}
AMONG = {"train": "among the training descriptions", "novel": "among the novel ones"}
RECOGNISE = (RSG, "lstm", "bc", "bc-fsm")  # methods whose recognition is looked at; the paper's besides RSG
ENCODERS = {"crafting": "sets", "playroom": "relative"}  # of RSG
IMAGE = {"observation": "image", "batch": 32, "rate": 2e-3, "steps": 1500}  # what differs when BC-FSM sees pictures
CHANGED: dict[str, tuple[str, tuple[str, ...], str]] = {  # method, worlds, what it means; first seed only
    "bc-any-action": ("bc", tuple(WORLDS), "BC may take actions without effect (the paper's)"),
    "bc-task-at-end": ("bc", tuple(WORLDS), "BC reads the task after the state (the paper's)"),
    "bc-fsm-any-action": ("bc-fsm", tuple(WORLDS), "BC-FSM may take actions without effect"),
    "irl-best-action": ("irl", ("crafting",), "IRL takes the best action"),
    "irl-uniform-moves": ("irl", ("playroom",), "IRL tries uniform moves (the paper's)"),
    "gail-no-cloning": ("gail", ("crafting",), "GAIL stops cloning when PPO begins"),
}

FULL = Size(
    400, {"primitive": 5, "crafting": 20, "playroom": 25, "recognised": 5}, seeds=3
)  # starts of each task, by world
QUICK = Size(
    10,
    {"primitive": 1, "crafting": 1, "playroom": 1, "recognised": 1},
    0.25,
    {"steps": 20, "curriculum": 10, "held_out": 8, "check_every": 10},
)


def jobs(size: Size) -> Iterator[Job]:
    """For each seed and world: every baseline, RSG and the truth; in Crafting World BC-FSM from pictures too."""
    for seed in range(size.seeds):
        for world, encoder in ENCODERS.items():
            asked, recipe = _asked(size, world, seed), Recipe(world, "train", size.demonstrations, seed)
            yield learning(NAME, size, seed, Variant(f"{world}-{RSG}", suited(encoder), asked, recipe), rsg_job)
            for method in METHODS:
                yield _baseline(size, world, seed, method, method)
            if world == "crafting":
                yield _baseline(size, world, seed, PICTURES, "bc-fsm", IMAGE)
            parameters = {"world": world, "evaluations": asked["evaluations"]}
            yield Job(NAME, f"{world}-{ORACLE}-seed{seed}", oracle_job, parameters, 0.5)
    for name, (method, worlds, _) in CHANGED.items():
        for world in worlds:
            yield _baseline(size, world, 0, name, method)


def _asked(size: Size, world: str, seed: int) -> Plain:
    """What every method is asked for."""
    starts = {"primitive": size["primitive"], **dict.fromkeys(SPLITS, size[world])}
    evaluations = {split: evaluation(split, count, seed) for split, count in starts.items()}
    return {"evaluations": evaluations, "recognised": size["recognised"], "examples": seed == 0}


def _baseline(size: Size, world: str, seed: int, name: str, method: str, changes: Plain = {}) -> Job:  # noqa: B006
    """The job that trains a method, with some changes to its usual settings; `name` may be one of `CHANGED`."""
    recipe = Recipe(world, "train", size.demonstrations, seed)
    settings = asdict(preset(method, find(world), **{"seed": seed, **changes, **size.changes}))
    more = {"variant": name, "recognised": 0, "examples": False} if name in CHANGED else {}
    parameters = {**_asked(size, world, seed), "recipe": asdict(recipe), "method": method, "settings": settings, **more}
    return Job(NAME, f"{world}-{name}-seed{seed}", baseline_job, parameters, size.minutes, (recipe,))


def baseline_job(parameters: Plain, place: Place) -> Plain:
    """Train a baseline; let it act, and look at trajectories."""
    source = find(parameters["recipe"]["world"])
    kind = VARIANTS.get(parameters.get("variant", ""), METHODS[parameters["method"]])
    found, training = trained(
        parameters, place, source, partial(train_baseline, kind), restored(kind.kind, parameters["settings"])
    )
    result: Plain = {"training": training}
    if hasattr(found.method, "act"):
        examples = Examples(source)
        result["evaluations"] = {}
        for split, asked in parameters["evaluations"].items():
            see = examples.see if parameters["examples"] and split == "compositional" else None
            starts = Starts(split, asked["per_task"], asked["seed"])
            result["evaluations"][split] = evaluate_policy(source, starts, found.method, see=see)
        result["examples"] = examples.found
    if found.method.name in RECOGNISE:
        result |= _recognition(source, found.method.rank, parameters)
    return result


def rsg_job(parameters: Plain, place: Place) -> Plain:
    """Train RSG; plan, and look at trajectories."""
    found = learned(parameters, place)

    def rank(world: Any, demo: Any, tasks: Any) -> Any:
        return Recogniser(found.subgoals, tasks, found.settings).rank(world, demo)

    looks = _recognition(found.source, rank, parameters)
    return {"training": found.training, "evaluations": found.plans(parameters), **looks}


def _recognition(source: Domain, rank: Rank, parameters: Plain) -> Plain:
    seed, count = EVALUATION_SEED + parameters["settings"]["seed"], parameters["recognised"]
    looks = {split: evaluate_recognition(source, Starts(split, count, seed), rank) for split in AMONG if count}
    return {"recognition": looks} if looks else {}


# The section.


class Figures(NamedTuple):
    """What is told of a world.

    Attributes:
        success: of each method that plans or acts by split, strict and lenient.
        by_subgoals: the same by the number of subgoals that a task needs, strict, over all splits.
        recognition: how often a method recognises the task, by split, with and without a bonus for named steps.
        costs: of each method over seeds: seconds of training and of an epoch, milliseconds of an episode or a plan.
        changed: success by split as usual and with one thing changed, of the first seed.
    """

    success: Mapping[str, Mapping[str, Rates]]
    by_subgoals: Mapping[str, Mapping[int, Rate]]
    recognition: Mapping[str, Mapping[str, Rates]]
    costs: Mapping[str, Mapping[str, list[float]]]
    changed: Mapping[str, Mapping[str, list[Rate | None]]]


def figures(results: Results, world: str) -> Figures:
    """All that is told of a world."""
    names = {method: f"{world}-{method}" for method in LABELS if results.of(f"{world}-{method}")}
    counts = {method: by_subgoals(results.of(name)) for method, name in names.items()}
    ranks = {method: recognised(results.of(name)) for method, name in names.items()}
    first = {
        (name, split): rate(results.evaluations(f"{world}-{name}", split)[:1])
        for name in (*METHODS, *CHANGED)
        for split in SPLITS
    }
    return Figures(
        {
            method: {split: {what: results.rate(name, split, key) for what, key in CHECKS.items()} for split in SPLITS}
            for method, name in names.items()
            if method != "lstm"
        },
        {method: row for method, row in counts.items() if row},
        {method: row for method, row in ranks.items() if row},
        {
            method: {
                "cpu_seconds": results.training(name, "cpu_seconds"),
                "wall_seconds": results.training(name, "seconds"),
                "epoch_seconds": results.epochs(name),
                "episode_ms": [one for split in SPLITS for one in results.plans(name, split, "plan_ms_mean")],
            }
            for method, name in names.items()
        },
        {
            name: {split: [first[method, split], first[name, split]] for split in SPLITS}
            for name, (method, _, _) in CHANGED.items()
            if results.of(f"{world}-{name}")
        },
    )


def by_subgoals(seeds: list[Plain]) -> dict[int, Rate]:
    """Success by the number of subgoals that a task needs, over all splits."""
    sums: dict[int, dict[int, list[int]]] = {}
    for seed, one in enumerate(seeds):
        for row in (row for found in one.get("evaluations", {}).values() for row in found["tasks"]):
            both = sums.setdefault(least_steps(machine_of(row["task"])), {}).setdefault(seed, [0, 0])
            both[0] += round(row["success"] * row["episodes"])
            both[1] += row["episodes"]
    return {count: Rate(*map(tuple, zip(*seeds.values(), strict=True))) for count, seeds in sorted(sums.items())}


def recognised(seeds: list[Plain]) -> dict[str, Rates]:
    """How often the right description ranked first, by split, with and without a bonus for named steps."""
    every = [one["recognition"] for one in seeds if "recognition" in one]
    return {split: {kind: share([one[split] for one in every], kind) for kind in RANKED} for split in AMONG if every}


def section(size: Size, results: Results) -> Section:
    """Success beside the paper's, by the number of subgoals, recognition, and what it costs, for each world."""
    worlds = {world: figures(results, world) for world in WORLDS}
    tables = {
        world: {
            "success": _success_table(one, PAPER[world]),
            "subgoals": _subgoals_table(one),
            "changed": _changed_table(one),
            "recognition": _recognition_table(one),
            "costs": _costs_table(one, PAPER_TIMES[world]),
        }
        for world, one in worlds.items()
    }
    text = page(NAME, size=size, names=WORLDS, epoch=EPOCH, worlds=tables, specific=SPECIFIC)
    summary: Plain = {"paper": PAPER}
    for key in ("success", "by_subgoals", "recognition", "costs"):
        summary[key] = {world: plain(getattr(one, key)) for world, one in worlds.items()}
    summary["changed"] = {
        world: {
            name: {split: [one.over_seeds.mean for one in pair if one] for split, pair in row.items()}
            for name, row in found.changed.items()
        }
        for world, found in worlds.items()
    }
    return Section("Baselines", text, summary, _pictures(worlds, results))


def _success_table(found: Figures, paper: Mapping[str, tuple[float, float]]) -> str:
    rows = []
    for method, by_split in found.success.items():
        told = [f"{one:.1f}" for one in paper.get(method, ())] or [NONE] * len(SPLITS)
        cells = [(own, *map(percent, row.values())) for own, row in zip(told, by_split.values(), strict=True)]
        rows.append([LABELS[method], *(cell for some in cells for cell in some)])
    return table(["method", *(f"{split}, {what}" for split in SPLITS for what in ("the paper", *CHECKS))], rows)


def _subgoals_table(found: Figures) -> str:
    counts = sorted({count for row in found.by_subgoals.values() for count in row})
    rows = [
        [LABELS[method], *(f"{100 * row[count].over_seeds.mean:.1f}" if count in row else NONE for count in counts)]
        for method, row in found.by_subgoals.items()
    ]
    return table(["method", *map(str, counts)], rows)


def _recognition_table(found: Figures) -> str:
    rows = [
        [LABELS[method], *(percent(one) for row in found.recognition[method].values() for one in row.values())]
        for method in RECOGNISE
        if method in found.recognition
    ]
    return table(["method", *(f"{where}: {how}" for where in AMONG.values() for how in RANKED.values())], rows)


def _changed_table(found: Figures) -> str:
    """Nothing if nothing was changed."""
    rows = [
        [CHANGED[name][2], *(percent(one) for pair in row.values() for one in pair)]
        for name, row in found.changed.items()
    ]
    head = ["what is changed", *(f"{split}, {what}" for split in SPLITS for what in ("as usual", "changed"))]
    return table(head, rows) if rows else ""


def _costs_table(found: Figures, paper: Mapping[str, tuple[int, float, float | None]]) -> str:
    rows = []
    for method, values in found.costs.items():
        costs = {key: mean_or_none(some) for key, some in values.items()}
        epochs, minutes, seconds = paper.get(method, (0, 0.0, None))
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


def _pictures(worlds: Mapping[str, Figures], results: Results) -> dict[str, Picture]:
    order = (ORACLE, *(one for one in LABELS if one != ORACLE))  # RSG is drawn over the oracle
    groups = {
        WORLDS[world]: {
            LABELS[method]: [[(count, 100 * one.over_seeds.mean) for count, one in found.by_subgoals[method].items()]]
            for method in order
            if method in found.by_subgoals
        }
        for world, found in worlds.items()
    }
    pictures = {}
    if any(groups.values()):
        caption = "Success against the number of subgoals, every method"
        axes = ("subgoals that a task needs", "success, %")
        pictures["subgoals"] = curves(caption, groups, *axes, limits=(-3.0, 103.0))
    for world, found in worlds.items():
        for method in found.costs:
            for kind, one in results.of(f"{world}-{method}")[0].get("examples", {}).items():
                caption = f"A {kind} episode of {LABELS[method]} in {WORLDS[world]}"
                film = partial(_write_film, source=find(world), example=one)
                pictures[f"{world}-{method}-{kind}"] = Picture(caption, film, "gif", shown=False)
    return pictures


def _write_film(path: Path, source: Domain, example: Mapping[str, Any]) -> None:
    path.write_bytes(episode_film(source, example, EVALUATION_SEED))


EXPERIMENT = Experiment(NAME, FULL, QUICK, jobs, section)
