"""What `rsg reproduce baselines` says."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from rsg.demos import Benchmark, benchmark
from rsg.demos.showing import write_gif
from rsg.evaluation.baselines import CHANGED, ORACLE, PICTURES, RECOGNISE, RSG, STARTS, WORLDS, Sizes
from rsg.evaluation.figures import draw_lines
from rsg.evaluation.jobs import Plain
from rsg.evaluation.policies import start_of
from rsg.evaluation.reproduce import Picture, Results, Section
from rsg.evaluation.statistics import mean_of
from rsg.evaluation.tables import NONE, Rate, number, percent, table
from rsg.evaluation.trials import rate

SPLITS = ("compositional", "novel")
CHECKS = {"strict": "success", "lenient": "success_lenient"}
LABELS = {
    RSG: "RSG",
    "irl": "IRL",
    "gail": "GAIL",
    "bc": "BC",
    "bc-fsm": "BC-FSM",
    PICTURES: "BC-FSM, pictures",
    "lstm": "LSTM",
    ORACLE: "oracle (the truth)",
}
PAPER: dict[str, dict[str, tuple[float, float]]] = {  # success in percent, compositional and novel
    "crafting": {
        RSG: (99.6, 97.8),
        "irl": (36.5, 1.8),
        "gail": (19.2, 1.0),
        "bc": (11.2, 0.8),
        "bc-fsm": (5.2, 0.3),
        PICTURES: (38.2, 31.5),
    },
    "playroom": {RSG: (82.0, 78.2), "irl": (28.3, 9.6), "bc": (15.8, 4.8), "bc-fsm": (38.2, 31.5)},
}
EPOCH = 30  # batches, the paper's
PAPER_TIMES: dict[str, dict[str, tuple[int, float, float | None]]] = {  # epochs, minutes of each, seconds of a plan
    "crafting": {
        RSG: (60, 17.0, 4.6962),
        "irl": (60, 34.8, 0.7269),
        "bc": (150, 0.3, 0.1615),
        "bc-fsm": (150, 0.5, 0.5423),
        "lstm": (200, 0.4, None),
    },
    "playroom": {
        RSG: (60, 32.4, 0.4313),
        "irl": (60, 7.1, 23.0187),
        "bc": (150, 0.4, 0.1688),
        "bc-fsm": (150, 0.5, 0.1875),
        "lstm": (200, 0.2, None),
    },
}
PIXELS = {"crafting": 20, "playroom": 200}  # of a cell, and of the room, in animations


def section(size: Sizes, results: Results) -> Section:
    """Success beside the paper's, by the number of subgoals, recognition, and what it costs, for each world."""
    parts = [
        "Every method is trained on the same demonstrations, "
        f"{size.demonstrations} of each training task and others for each seed, and judged from the same starts. "
        "Success in percent: mean over seeds, with the 95 % interval of the mean over seeds in brackets. RSG and "
        "the oracle plan within 5,000 expansions, and a plan must end where the task is done. A baseline acts for at "
        "most 100 steps, and its episode ends as soon as the task is done, whether it notices or not. Where baselines "
        "differ from the paper's is told in [Baselines](baselines.md).",
    ]
    for world, label in WORLDS.items():
        parts += [f"### {label}", *_success_text(size, results, world), *_subgoals_text(results, world)]
        parts += [*_changed_text(results, world), *_recognition_text(results, world), *_costs_text(results, world)]
    return Section("Baselines", "\n\n".join(parts), _summary(results), _pictures(results))


def _jobs(results: Results, world: str, method: str) -> list[Plain]:
    return [one for job, one in results.items() if job.rpartition("-seed")[0] == f"{world}-{method}"]


def _found(results: Results, world: str, method: str, split: str) -> list[Plain]:
    return [one["evaluations"][split] for one in _jobs(results, world, method) if "evaluations" in one]


def _there(results: Results, world: str) -> Iterator[str]:
    """The methods that have results in a world."""
    return (method for method in LABELS if _jobs(results, world, method))


# Success.


def _success_text(size: Sizes, results: Results, world: str) -> list[str]:
    rows = []
    for method in _there(results, world):
        if method == "lstm":
            continue
        paper = PAPER[world].get(method)
        row = [LABELS[method]]
        for place, split in enumerate(SPLITS):
            found = _found(results, world, method, split)
            row += [f"{paper[place]:.1f}" if paper else NONE, *(percent(rate(found, key)) for key in CHECKS.values())]
        rows.append(row)
    head = ["method", *(f"{split}, {what}" for split in SPLITS for what in ("the paper", *CHECKS))]
    told = f"{size.starts[world]} starts of each task and seed."
    slip = " For pictures the paper prints the figures of Playroom, probably a slip." if world == "crafting" else ""
    return [told + slip, table(head, rows)]


def by_subgoals(results: Results, world: str, method: str) -> dict[int, Rate]:
    """Success by the number of subgoals that a task needs, over all splits."""
    rows: dict[int, dict[int, list[int]]] = {}
    for seed, one in enumerate(_jobs(results, world, method)):
        for found in one.get("evaluations", {}).values():
            for row in found["tasks"]:
                sums = rows.setdefault(row["subgoals"], {}).setdefault(seed, [0, 0])
                sums[0] += round(row["success"] * row["episodes"])
                sums[1] += row["episodes"]
    return {
        count: Rate(tuple(done for done, _ in seeds.values()), tuple(of for _, of in seeds.values()))
        for count, seeds in sorted(rows.items())
    }


def _subgoals_text(results: Results, world: str) -> list[str]:
    found = {method: by_subgoals(results, world, method) for method in _there(results, world) if method != "lstm"}
    counts = sorted({count for row in found.values() for count in row})
    rows = [
        [LABELS[method], *(f"{100 * row[count].over_seeds.mean:.1f}" if count in row else NONE for count in counts)]
        for method, row in found.items()
    ]
    only = " In Crafting World all tasks with more than three are novel." if world == "crafting" else ""
    return [
        f"By the number of subgoals that a task needs, all splits together, strict.{only}",
        table(["method", *map(str, counts)], rows),
    ]


def _changed(results: Results, world: str) -> dict[str, dict[str, list[Rate | None]]]:
    """For each thing that was changed: success as usual and with the change, by split, of the first seed."""
    return {
        name: {split: [rate(_found(results, world, one, split)[:1]) for one in (method, name)] for split in SPLITS}
        for name, (method, _, _, _) in CHANGED.items()
        if _jobs(results, world, name)
    }


def _changed_text(results: Results, world: str) -> list[str]:
    rows = [
        [CHANGED[name][3], *(percent(one) for split in SPLITS for one in row[split])]
        for name, row in _changed(results, world).items()
    ]
    head = ["what is changed", *(f"{split}, {what}" for split in SPLITS for what in ("as usual", "changed"))]
    return ["One thing changed at a time, strict, seed 0:", table(head, rows)] if rows else []


# Recognition and costs.


def _recognised(results: Results, world: str, method: str) -> dict[str, Rate]:
    """The rate by split."""
    every = [one["recognition"] for one in _jobs(results, world, method) if "recognition" in one]
    return {
        split: Rate(tuple(one[split]["right"] for one in every), tuple(one[split]["trajectories"] for one in every))
        for split in (("train", "novel") if every else ())
    }


def _recognition_text(results: Results, world: str) -> list[str]:
    rows = []
    for method in RECOGNISE:
        if found := _recognised(results, world, method):
            rows.append([LABELS[method], *(percent(one) for one in found.values())])
    head = ["method", "among the training descriptions", "among the novel ones"]
    return ["Recognition: the description that ranks first is the right one, in percent.", table(head, rows)]


def _costs(results: Results, world: str, method: str) -> Plain:
    """Means over seeds: seconds of training in total and per epoch, milliseconds of an episode or a plan."""
    every = _jobs(results, world, method)
    training = [one["training"] for one in every if "training" in one]
    walls = [one["seconds"] for one in training if one["seconds"] is not None]
    times = [found["plan_ms_mean"] for split in SPLITS for found in _found(results, world, method, split)]
    return {
        "cpu_seconds": [one["cpu_seconds"] for one in training],
        "wall_seconds": walls,
        "epoch_seconds": [EPOCH * one["cpu_seconds"] / one["steps"] for one in training],
        "episode_ms": times,
    }


def _costs_text(results: Results, world: str) -> list[str]:
    rows = []
    for method in _there(results, world):
        costs = _costs(results, world, method)
        epochs, minutes, seconds = PAPER_TIMES[world].get(method, (0, 0.0, None))
        cells = [number(mean_of(costs[key]), 0, "s") if costs[key] else NONE for key in ("cpu_seconds", "wall_seconds")]
        epoch = number(mean_of(costs["epoch_seconds"]), 2, "s") if costs["epoch_seconds"] else NONE
        episode = f"{mean_of(costs['episode_ms']).mean:.1f} ms" if costs["episode_ms"] else NONE
        rows.append(
            [
                LABELS[method],
                f"{epochs * minutes / 60:.1f} h" if epochs else NONE,
                *cells,
                f"{60 * minutes:.0f} s" if epochs else NONE,
                epoch,
                f"{1000 * seconds:,.0f} ms" if seconds else NONE,
                episode,
            ]
        )
    head = ["method", "training, the paper", "processor time", "wall time", "epoch, the paper", "epoch"]
    return [
        f"What it costs. An epoch is {EPOCH} batches, as in the paper. The time of an episode is that of a plan for "
        "RSG and the oracle; baselines act in several copies of a world side by side, which share the time. "
        "Wall times are those of two jobs side by side, with reading the data.",
        table([*head, "episode, the paper", "episode"], rows),
    ]


# What is kept, and what is drawn.


def _summary(results: Results) -> Plain:
    kept: Plain = {"paper": PAPER, "success": {}, "by_subgoals": {}, "recognition": {}, "costs": {}}
    changed = {
        world: {
            name: {split: [one.over_seeds.mean for one in pair if one] for split, pair in row.items()}
            for name, row in _changed(results, world).items()
        }
        for world in WORLDS
    }
    for world in WORLDS:
        for method in _there(results, world):
            rates = {
                split: {what: one.plain() for what, key in CHECKS.items() if (one := rate(found, key))}
                for split in SPLITS
                if (found := _found(results, world, method, split))
            }
            counts = {str(count): one.plain() for count, one in by_subgoals(results, world, method).items()}
            recognised = {split: one.plain() for split, one in _recognised(results, world, method).items()}
            costs = _costs(results, world, method)
            for key, value in zip(list(kept)[1:], (rates, counts, recognised, costs), strict=True):
                if value:
                    kept[key].setdefault(world, {})[method] = value
    return {**kept, "changed": changed}


def _pictures(results: Results) -> dict[str, Picture]:
    groups = {label: dict(_lines(results, world)) for world, label in WORLDS.items()}
    drawn = partial(
        draw_lines, groups=groups, across="subgoals that a task needs", up="success, %", limits=(-3.0, 103.0)
    )
    pictures = {}
    if any(groups.values()):
        pictures["subgoals"] = Picture("Success against the number of subgoals, every method", drawn)
    for world in WORLDS:
        for method in _there(results, world):
            for kind, one in _jobs(results, world, method)[0].get("examples", {}).items():
                caption = f"A {kind} episode of {LABELS[method]} in {WORLDS[world]}"
                film = partial(draw_episode, source=benchmark(world), example=one, seed=STARTS)
                pictures[f"{world}-{method}-{kind}"] = Picture(caption, film, "gif", shown=False)
    return pictures


def _lines(results: Results, world: str) -> Iterator[tuple[str, list[list[tuple[float, float]]]]]:
    for method in (ORACLE, *(one for one in LABELS if one != ORACLE)):  # RSG is drawn over the oracle
        if found := by_subgoals(results, world, method):
            yield LABELS[method], [[(count, 100 * one.over_seeds.mean) for count, one in found.items()]]


def draw_episode(path: Path, source: Benchmark, example: Mapping[str, Any], seed: int) -> None:
    """Animate an episode that was kept of a compositional task: from the same start, by the same actions."""
    demo = start_of(source, "compositional", example["task"], example["start"], seed)
    world: Any = source.world(demo.setting)
    states = [demo.states[0]]
    for action in example["actions"]:
        states.append(world.step(states[-1][None], np.array([action]))[0])
    write_gif([world.render(state, PIXELS[source.name]) for state in states], path)
