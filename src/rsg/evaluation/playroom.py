"""`rsg reproduce playroom`: subgoals learned in a continuous world, the Playroom column of the paper's main table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from rsg.core.random import stream
from rsg.demos import Recipe, benchmark
from rsg.evaluation.figures import draw_lines, draw_rates
from rsg.evaluation.jobs import Job, Place, Plain
from rsg.evaluation.recognition import Watcher
from rsg.evaluation.reproduce import Experiment, Extent, Picture, Results, Section
from rsg.evaluation.statistics import mean_of
from rsg.evaluation.tables import NONE, Rate, number, percent, table
from rsg.evaluation.trials import EVALUATION_SEED, evaluate, evaluation, rate, settings_of, train
from rsg.subgoals import RsgSettings, untrained
from rsg.subgoals.runs import PRESETS
from rsg.training.settings import restored

NAME, WORLD = "playroom", "playroom"
SPLITS = ("compositional", "novel")
PAPER = {"compositional": 82.0, "novel": 78.2}
PAPER_TRAINING, PAPER_PLAN = "32 h (60 epochs of 32.4 min)", "430 ms"
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
QUICK = Sizes(10, 10, 2, 2, 2, (5,), 1.0, {"steps": 40, "curriculum": 20, "held_out": 8, "check_every": 20})


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
    """The paper's column, fewer demonstrations, other rooms, segmentation and recognition, and what it costs."""
    size = QUICK if extent.quick else FULL
    rates = {name: _rates(results, name) for name in METHODS}
    fewer = {count: _rates(results, f"relative-{count}") for count in size.fewer}
    fewer[size.demonstrations] = rates[MAIN]
    main = [["**RSG, the paper**", *(f"{PAPER[split]:.1f}" for split in SPLITS), NONE, NONE]]
    for name, label in METHODS.items():
        shown = [label, *(percent(rates[name][split]) for split in SPLITS), *(_ms(results, name, s) for s in SPLITS)]
        main.append([f"**{cell}**" for cell in shown] if name == MAIN else shown)
    rooms = [[room, *(percent(rate(_found(results, room, s))) for s in _splits(room))] for room in ROOMS]
    text = "\n\n".join(
        [
            "Success of plans for instructions in the paper's room, strict, in percent: mean over seeds, with the 95 % "
            f"interval of the mean over seeds in brackets; {size.starts} starts of each task for the two networks and "
            f"the truth, {size.few} for others. Sampled actions and fewer demonstrations have {COMPARED} seeds. Each has its "
            f"own {size.demonstrations} demonstrations of each of the 14 training tasks, first weights and starts. "
            "The *general* network sees where each effector is from where the robot stands; the "
            "other one looks for a point and a radius.",
            table(["method", *SPLITS, *(f"median time of a plan, {split}" for split in SPLITS)], main),
            _certainty(rates),
            "Fewer demonstrations of each task, general network:",
            table(
                ["of each task", *SPLITS], [[str(n), *(percent(row[s]) for s in SPLITS)] for n, row in fewer.items()]
            ),
            f"Other rooms, the same code and settings, one seed, {size.elsewhere} demonstrations of each task. In `twelve` 12 terms are learned from tasks of its "
            f"own; success is that of {len(TWELVE_NOVEL)} tasks that training has not seen. In `rotated-bars` the "
            "tasks are the paper's.",
            table(["room", "compositional", "novel"], [[row[0], *row[1:]] for row in rooms]),
            _watched_text(results),
            "What it costs: mean over seeds, with the range over seeds in brackets, several jobs side by side.",
            table(["", "paper", "ours"], _costs(results)),
        ]
    )
    summary = {
        "paper": PAPER,
        "success": {name: {s: one.plain() for s, one in row.items() if one} for name, row in rates.items()},
        "fewer": {str(n): {s: one.plain() for s, one in row.items() if one} for n, row in fewer.items()},
        "rooms": {
            room: {s: r.plain() for s in _splits(room) if s and (r := rate(_found(results, room, s)))} for room in ROOMS
        },
        "watched": {name: _watched(results, name) for name in (MAIN, "point-400")},
        "costs": {name: {"paper": paper, "ours": ours} for name, paper, ours in _costs(results)},
        "plan_ms_median": {
            name: {s: [one["plan_ms_median"] for one in _found(results, name, s)] for s in SPLITS} for name in METHODS
        },
        "training_cpu_seconds": [one["cpu_seconds"] for one in _trainings(results, MAIN)],
    }
    return Section("Learning in a continuous world, Playroom", text, summary, _pictures(rates, fewer))


def _splits(room: str) -> tuple[str, str]:
    """The splits of another room, as columns: tasks of one's own are all novel."""
    return ("", "custom") if ROOMS[room] else ("compositional", "novel")


def _jobs(results: Results, name: str) -> list[Plain]:
    return [one for job, one in results.items() if job.rpartition("-seed")[0] == name]


def _found(results: Results, name: str, split: str) -> list[Plain]:
    found = [one["evaluations"].get(split) for one in _jobs(results, name)]
    return [one for one in found if one is not None]


def _trainings(results: Results, name: str) -> list[Plain]:
    return [one["training"] for one in _jobs(results, name)]


def _rates(results: Results, name: str) -> dict[str, Rate | None]:
    return {split: rate(_found(results, name, split)) for split in SPLITS}


def _ms(results: Results, name: str, split: str) -> str:
    times = [one["plan_ms_median"] for one in _found(results, name, split)]
    return number(mean_of(times), 1, "ms") if times else NONE


def _certainty(rates: Mapping[str, Mapping[str, Rate | None]]) -> str:
    worst = [
        [METHODS[name], split, f"{100 * one.over_seeds.least:.2f}", f"{sum(one.trials):,}"]
        for name, row in rates.items()
        for split, one in row.items()
        if one is not None
    ]
    return table(["method", "split", "worst seed", "episodes"], worst)


def _costs(results: Results) -> list[tuple[str, str, str]]:
    rows = []
    for name in (MAIN, "sampled-400", "point-400"):
        for key, what in (("cpu_seconds", "processor time"), ("seconds", "wall time with reading the data")):
            values = [one[key] for one in _trainings(results, name) if one[key] is not None]
            paper = PAPER_TRAINING if key == "cpu_seconds" else NONE
            rows.append(
                (f"training, {what}: {METHODS[name]}", paper, number(mean_of(values), 0, "s") if values else NONE)
            )
    rows += [(f"median time of a plan, {split}", PAPER_PLAN, _ms(results, MAIN, split)) for split in SPLITS]
    return rows


def _watched(results: Results, name: str) -> Plain:
    """Rates of segmentation and recognition over seeds, by split."""
    every = [one for one in _jobs(results, name) if "segmentation" in one]
    found: Plain = {}
    for what, done, of in (
        ("segmentation", "exact", "ends"),
        ("segmentation", "near", "ends"),
        ("recognition", "right", "trajectories"),
        ("recognition", "ideal", "trajectories"),
    ):
        for split in every[0][what] if every else ():
            rows = [one[what][split] for one in every]
            of_seeds = Rate(tuple(row[done] for row in rows), tuple(row[of] for row in rows))
            found.setdefault(what, {}).setdefault(split, {})[done] = of_seeds.plain() | {"text": percent(of_seeds)}
    return found


def _watched_text(results: Results) -> str:
    ends, ranks = [], []
    for name in (MAIN, "point-400"):
        found = _watched(results, name)
        for split, row in found.get("segmentation", {}).items():
            ends.append([METHODS[name], split, row["exact"]["text"], row["near"]["text"]])
        for split, row in found.get("recognition", {}).items():
            ranks.append([METHODS[name], split, row["right"]["text"], row["ideal"]["text"]])
    return "\n\n".join(
        [
            "*Segmentation*: the state in which each subgoal of the description ends, against the truth, in fresh "
            "demonstrations.",
            table(["method", "demonstrations", "ends exact", "within one step"], ends),
            "*Recognition*: the description that ranks first among those of the split is the right one. The *ceiling* "
            "is an observer who knows the true subgoals: of the descriptions that the trajectory has done in its last "
            "state and not before, it says the one that names the most steps. Who took one branch of an `or` is taken "
            "for one who was asked for that alone.",
            table(["method", "descriptions", "right", "ceiling"], ranks),
        ]
    )


def _pictures(rates: Any, fewer: Any) -> dict[str, Picture]:
    short = {
        MAIN: "general",
        "sampled-400": "sampled",
        "point-400": "point",
        "untrained": "un-\ntrained",
        "oracle": "oracle",
    }
    groups = {split: {label: rates[name][split] for name, label in short.items()} for split in SPLITS}
    lines = {
        split: [[(count, 100 * row[split].over_seeds.mean) for count, row in fewer.items() if row[split]]]
        for split in SPLITS
    }
    pictures = {
        "success": Picture("Success by split, with the paper's", partial(draw_rates, groups=groups, paper=PAPER))
    }
    if any(line[0] for line in lines.values()):
        drawn = partial(
            draw_lines, groups={"fewer demonstrations": lines}, across="demonstrations of each task", up="success, %"
        )
        pictures["fewer"] = Picture("Success against demonstrations of each task", drawn)
    return pictures


EXPERIMENT = Experiment(NAME, 5, 1, jobs, section)
