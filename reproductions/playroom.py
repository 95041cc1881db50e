"""`rsg reproduce playroom`: subgoals learned in a continuous world, the Playroom column of the paper's main table."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from reproductions.harness.figures import draw_lines, draw_rates
from reproductions.harness.jobs import Job, Place, Plain
from reproductions.harness.reproduce import Experiment, Extent, Picture, Section
from reproductions.harness.results import Rates, Results, mean_or_none, plain_rates, share
from reproductions.harness.tables import NONE, certainty, number, percent, table
from reproductions.harness.trials import (
    SPLITS,
    Size,
    Variant,
    evaluation,
    learn_job,
    learned,
    learning,
    oracle_job,
    untrained_job,
)
from reproductions.points import PRESET, points
from reproductions.recognition import Watcher
from rsg.demos import Recipe
from rsg.subgoals.runs import PRESETS

NAME = WORLD = "playroom"
PAPER = {"compositional": 82.0, "novel": 78.2}
PAPER_TRAINING, PAPER_PLAN = "32 h (60 epochs of 32.4 min)", "430 ms"
COMPARED = 3  # seeds of the rows beside the main ones
MAIN = "relative-400"
METHODS = {  # jobs by the names of their rows
    MAIN: "RSG, general network, sum over the edges of a roadmap",
    "sampled-400": "RSG, general network, sum over sampled actions (the paper's)",
    "point-400": "RSG, network that looks for a point",
    "untrained": "untrained",
    "oracle": "oracle (the truth)",
}
WATCHED = (MAIN, "point-400")
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
ROOMS: dict[str, tuple[str, ...]] = {"rotated-bars": (), "twelve": TWELVE}  # other rooms, and tasks of their own

FULL = Size(
    400, {"compositional": 100, "novel": 100, "few": 25, "watched": 20, "elsewhere": 100, "fewer": (5, 20, 100)}
)
QUICK = Size(
    10,
    {"compositional": 2, "novel": 2, "few": 2, "watched": 2, "elsewhere": 10, "fewer": (5,)},
    0.35,
    {"steps": 40, "curriculum": 20, "held_out": 8, "check_every": 20},
)


def jobs(extent: Extent) -> list[Job]:
    """For each seed: two networks, two sums over actions, fewer demonstrations; for the first one other rooms."""
    size, main, compared = extent.size, list[Job](), list[Job]()
    for seed in range(extent.seeds):
        recipe = Recipe(WORLD, "train", size.demonstrations, seed)
        many = {"evaluations": size.evaluations(seed), "watched": size["watched"]}
        some = {"evaluations": _few(size, seed, SPLITS)}
        for name in WATCHED:
            variant = Variant(name, _preset(name.partition("-")[0]), many, recipe)
            main.append(learning(NAME, size, seed, variant, watched_job))
        untrained = {"world": WORLD, "seed": seed, **some}
        main += [
            Job(NAME, f"untrained-seed{seed}", untrained_job, untrained, 1.0),
            Job(NAME, f"oracle-seed{seed}", oracle_job, {"world": WORLD, "evaluations": many["evaluations"]}, 1.0),
        ]
        beside = [Variant("sampled-400", {**_preset("relative"), "kind": "sampled-actions"}, some, recipe)]
        beside += [
            Variant(f"relative-{few}", _preset("relative"), {**some, "per_task": few}, recipe) for few in size["fewer"]
        ]
        compared += [learning(NAME, size, seed, one) for one in beside if seed < COMPARED]
    for room, tasks in ROOMS.items():
        recipe = Recipe(WORLD, "custom" if tasks else "train", size["elsewhere"], 0, tasks=tasks, map=room)
        asked = {"evaluations": _few(size, 0, ("custom",) if tasks else SPLITS), "tasks": TWELVE_NOVEL if tasks else ()}
        compared.append(learning(NAME, size, 0, Variant(room, _preset("relative"), asked, recipe), learn_job))
    return [*main, *compared]


def _preset(encoder: str) -> Plain:
    return {"encoder": encoder, **(PRESET if encoder == "point" else PRESETS[encoder])}


def _few(size: Size, seed: int, splits: tuple[str, ...]) -> Plain:
    return {split: evaluation(split, size["few"], seed) for split in splits}


def watched_job(parameters: Plain, place: Place) -> Plain:
    """Train, plan, and look at trajectories."""
    own = points if parameters["settings"]["encoder"] == "point" else None
    found, count = learned(parameters, place, encoder=own), parameters["watched"]
    watcher = Watcher(found.source, found.subgoals, found.starts, found.settings, shortest=False)
    return {
        "training": found.training,
        "evaluations": found.plans(parameters),
        "segmentation": {split: watcher.segmented(split, count) for split in SPLITS},
        "recognition": {split: watcher.recognised(split, count) for split in ("train", "novel")},
    }


def section(extent: Extent, results: Results) -> Section:
    """The paper's column, fewer demonstrations, other rooms, segmentation and recognition, and what it costs."""
    size = extent.size
    rates = {name: results.rates(name) for name in METHODS}
    lenient = {name: results.rates(name, "success_lenient") for name in METHODS}
    checks = {"": rates, ", lenient": lenient}
    fewer = {str(count): results.rates(f"relative-{count}") for count in size["fewer"]}
    fewer[str(size.demonstrations)] = rates[MAIN]
    rooms = {
        room: {split: results.rate(room, "custom" if tasks and split == "novel" else split) for split in SPLITS}
        for room, tasks in ROOMS.items()
    }  # tasks of a room's own are all novel
    watched, costs = {name: _watched(results, name) for name in WATCHED}, _costs(results)
    text = [
        *_main_text(size, results, rates),
        "How sure that is, and what the lenient check says (each subgoal is true somewhere, in order):",
        certainty({METHODS[name] + more: rows[name] for name in METHODS for more, rows in checks.items()}),
        "Fewer demonstrations of each task, general network:",
        table(["of each task", *SPLITS], [[count, *map(percent, row.values())] for count, row in fewer.items()]),
        f"Other rooms, the same code and settings, one seed, {size['elsewhere']} demonstrations of each task. In "
        f"`twelve` 12 terms are learned from tasks of its own; success is that of {len(TWELVE_NOVEL)} tasks that "
        "training has not seen. In `rotated-bars` the tasks are the paper's.",
        table(["room", *SPLITS], [[room, *map(percent, row.values())] for room, row in rooms.items()]),
        *_watched_text(watched),
        "What it costs: mean over seeds, with the range over seeds in brackets, several jobs side by side.",
        table(["", "paper", "ours"], costs),
    ]
    summary = {
        "paper": PAPER,
        "success": plain_rates(rates),
        "lenient": plain_rates(lenient),
        "fewer": plain_rates(fewer),
        "rooms": plain_rates(rooms),
        "watched": watched,
        "costs": {name: {"paper": paper, "ours": ours} for name, paper, ours in costs},
        "plan_ms_median": {
            name: {s: [one["plan_ms_median"] for one in results.evaluations(name, s)] for s in SPLITS}
            for name in METHODS
        },
        "training_cpu_seconds": results.training(MAIN, "cpu_seconds"),
    }
    return Section("Learning in a continuous world, Playroom", "\n\n".join(text), summary, _pictures(rates, fewer))


def _main_text(size: Size, results: Results, rates: Mapping[str, Rates]) -> list[str]:
    rows = [["**RSG, the paper**", *(f"{PAPER[split]:.1f}" for split in SPLITS), NONE, NONE]]
    for name, label in METHODS.items():
        shown = [label, *map(percent, rates[name].values()), *(_ms(results, name, split) for split in SPLITS)]
        rows.append([f"**{cell}**" for cell in shown] if name == MAIN else shown)
    return [
        "Success of plans for instructions in the paper's room, strict, in percent: mean over seeds, with the 95 % "
        f"interval of the mean over seeds in brackets; {size['novel']} starts of each task for the two networks and "
        f"the truth, {size['few']} for others. Sampled actions and fewer demonstrations have {COMPARED} seeds at most. "
        f"Each seed has its own {size.demonstrations} demonstrations of each of the 14 training tasks, first weights "
        "and starts. The *general* network sees where each effector is from where the robot stands; the other one "
        "looks for a point and a radius.",
        table(["method", *SPLITS, *(f"median time of a plan, {split}" for split in SPLITS)], rows),
    ]


def _ms(results: Results, name: str, split: str) -> str:
    return number(results.plans(name, split, "plan_ms_median"), 1, "ms")


def _costs(results: Results) -> list[tuple[str, str, str]]:
    rows = []
    for name in (MAIN, "sampled-400", "point-400"):
        for key, what in (("cpu_seconds", "processor time"), ("seconds", "wall time with reading the data")):
            paper = PAPER_TRAINING if key == "cpu_seconds" else NONE
            ours = number(mean_or_none(results.training(name, key)), 0, "s")
            rows.append((f"training, {what}: {METHODS[name]}", paper, ours))
    return rows + [(f"median time of a plan, {split}", PAPER_PLAN, _ms(results, MAIN, split)) for split in SPLITS]


def _watched(results: Results, name: str) -> Plain:
    """Rates of segmentation and recognition over seeds, by split."""
    found: Plain = {}
    for what, splits, of, kinds in (
        ("segmentation", SPLITS, "ends", ("exact", "near")),
        ("recognition", ("train", "novel"), "trajectories", ("right", "ideal")),
    ):
        for split in splits:
            rows = [one[what][split] for one in results.of(name)]
            for done in kinds:
                if one := share(rows, done, of):
                    found.setdefault(what, {}).setdefault(split, {})[done] = one.plain() | {"text": percent(one)}
    return found


def _watched_text(watched: Mapping[str, Plain]) -> list[str]:
    ends, ranks = (
        [
            [METHODS[name], split, *(one["text"] for one in row.values())]
            for name, found in watched.items()
            for split, row in found.get(what, {}).items()
        ]
        for what in ("segmentation", "recognition")
    )
    return [
        "*Segmentation*: the state in which each subgoal of the description ends, against the truth, in fresh "
        "demonstrations.",
        table(["method", "demonstrations", "ends exact", "within one step"], ends),
        "*Recognition*: the description that ranks first among those of the split is the right one. The *ceiling* "
        "is an observer who knows the true subgoals: of the descriptions that the trajectory has done in its last "
        "state and not before, it says the one that names the most steps. Who took one branch of an `or` is taken "
        "for one who was asked for that alone. It does not look at how the robot got there, as RSG does, which can "
        "so be better.",
        table(["method", "descriptions", "right", "ceiling"], ranks),
    ]


def _pictures(rates: Mapping[str, Rates], fewer: Mapping[str, Rates]) -> dict[str, Picture]:
    short = dict(zip(METHODS, ("general", "sampled", "point", "un-\ntrained", "oracle"), strict=True))
    groups = {split: {label: rates[name][split] for name, label in short.items()} for split in SPLITS}
    drawn: Any = partial(draw_rates, groups=groups, paper=PAPER)
    pictures = {"success": Picture("Success by split, with the paper's", drawn)}
    lines = {
        split: [[(int(count), 100 * one.over_seeds.mean) for count, row in fewer.items() if (one := row[split])]]
        for split in SPLITS
    }
    if any(line[0] for line in lines.values()):
        drawn = partial(draw_lines, groups={"fewer demonstrations": lines}, across="demonstrations of each task")
        drawn = partial(drawn, up="success, %", logarithmic="x", limits=(0.0, 103.0))
        pictures["fewer"] = Picture("Success against demonstrations of each task", drawn)
    return pictures


EXPERIMENT = Experiment(NAME, 5, FULL, QUICK, jobs, section)
