"""`rsg reproduce playroom`: subgoals learned in a continuous world, the Playroom column of the paper's main table."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from reproductions.harness.figures import Picture, bars, curves
from reproductions.harness.jobs import Job, Place, Plain
from reproductions.harness.reproduce import Experiment, Section
from reproductions.harness.results import PAPERS, Rates, Results, line, mean_or_none, plain, share
from reproductions.harness.tables import NONE, certainty, number, page, percent, rates_table, table
from reproductions.harness.trials import (
    SPLITS,
    Learned,
    Size,
    Variant,
    evaluation,
    learned,
    learning,
    oracle_job,
    planned,
    suited,
    untrained_job,
)
from reproductions.points import PRESET, points
from reproductions.recognition import RANKED, SEGMENTED, Watcher
from rsg.core.arrays import Array, Floats
from rsg.demos import Recipe
from rsg.evaluation.planning import Starts, evaluate_planning
from rsg.search import GoalFn, Goals, Roadmap, SearchSettings, Soft, Trees
from rsg.subgoals.classifiers import log_sigmoid
from rsg.subgoals.recognition import SPECIFIC

NAME = WORLD = "playroom"
PAPER = PAPERS[WORLD]
PAPER_TRAINING, PAPER_PLAN = "32 h (60 epochs of 32.4 min)", "430 ms"
COMPARED = 3  # seeds of the rows beside the main ones
MAIN = "relative-400"
METHODS = {  # jobs by the names of their rows
    MAIN: "RSG, robot-frame network, sum over the edges of a roadmap",
    "even-400": "… planned for where G ≥ 1/2 instead of where it is surest",
    "soft-400": "… planned with soft transitions, the paper's cost −λ (log G + log I)",
    "trees-400": "… planned by random trees (RRT), as in the paper, to where it is surest",
    "sampled-400": "RSG, robot-frame network, sum over sampled actions (the paper's)",
    "point-400": "RSG, network that looks for a point",
    "untrained": "untrained",
    "oracle": "oracle (the truth)",
}
WATCHED = (MAIN, "point-400")
LOOKS = (  # at trajectories: in which splits, of how many of what, which kinds of answers count
    ("segmentation", SPLITS, "ends", SEGMENTED),
    ("recognition", ("train", "novel"), "trajectories", (*RANKED, "ideal")),
)
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
    400,
    {"compositional": 100, "novel": 100, "few": 25, "watched": 20, "elsewhere": 100, "fewer": (5, 20, 100)},
    seeds=5,
)
QUICK = Size(
    10,
    {"compositional": 2, "novel": 2, "few": 2, "watched": 2, "elsewhere": 10, "fewer": (5,)},
    0.35,
    {"steps": 40, "curriculum": 20, "held_out": 8, "check_every": 20},
)


def jobs(size: Size) -> Iterator[Job]:
    """For each seed: two networks, ways to plan, two sums over actions, fewer demonstrations; once other rooms."""
    relative = suited("relative")
    networks = {MAIN: relative, "point-400": {"encoder": "point", **PRESET}}
    for seed in range(size.seeds):
        recipe, many = Recipe(WORLD, "train", size.demonstrations, seed), size.evaluations(seed)
        for name, changes in networks.items():
            variant = Variant(name, changes, {"evaluations": many, "watched": size["watched"]}, recipe)
            yield learning(NAME, size, seed, variant, watched_job)
        even = Variant("even-400", relative, {"evaluations": many}, recipe)
        yield learning(NAME, size, seed, even, even_job)
        untrained = {"world": WORLD, "seed": seed, "evaluations": _few(size, seed, *SPLITS)}
        yield Job(NAME, f"untrained-seed{seed}", untrained_job, untrained, 1.0)
        yield Job(NAME, f"oracle-seed{seed}", oracle_job, {"world": WORLD, "evaluations": many}, 1.0)
    for seed in range(min(size.seeds, COMPARED)):
        recipe = Recipe(WORLD, "train", size.demonstrations, seed)
        some = {"evaluations": _few(size, seed, *SPLITS)}
        sampled = Variant("sampled-400", {**relative, "kind": "sampled-actions"}, some, recipe)
        for name, run in {"soft-400": soft_job, "trees-400": trees_job}.items():
            yield learning(NAME, size, seed, Variant(name, relative, some, recipe), run)
        fewer = [Variant(f"relative-{few}", relative, {**some, "per_task": few}, recipe) for few in size["fewer"]]
        for variant in (sampled, *fewer):
            yield learning(NAME, size, seed, variant)
    for room, tasks in ROOMS.items():
        recipe = Recipe(WORLD, "custom" if tasks else "train", size["elsewhere"], 0, tasks=tasks, map=room)
        few = _few(size, 0, *(["custom"] if tasks else SPLITS))
        asked = {"evaluations": few, "tasks": TWELVE_NOVEL if tasks else ()}
        yield learning(NAME, size, 0, Variant(room, relative, asked, recipe))


def _few(size: Size, seed: int, *splits: str) -> Plain:
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


def even_job(parameters: Plain, place: Place) -> Plain:
    """Train, then plan for wherever a subgoal is likelier than not."""
    found = learned(parameters, place)
    return {"training": found.training, "evaluations": planned(found.source, as_they_are(found), parameters)}


def soft_job(parameters: Plain, place: Place) -> Plain:
    """Train, then plan with transitions that are possible everywhere, at a cost."""
    found = learned(parameters, place)
    return _planned_by(found, as_they_are(found), Roadmap(transitions=Soft()), parameters)


def trees_job(parameters: Plain, place: Place) -> Plain:
    """Train, then plan by random trees alone."""
    found = learned(parameters, place)
    return _planned_by(found, found.subgoals.goals, Trees(), parameters)


def as_they_are(found: Learned) -> GoalFn:
    """What was learned, G and 1 - G, for planners that do not look where a subgoal is surest."""
    known = found.subgoals

    def goals(world: Any, terms: Sequence[str], state: Any) -> Goals:
        del state
        numbers = known.numbers(terms)

        def ask(states: Array) -> tuple[Floats, Floats]:
            odds = known.evaluate(world, states, numbers)[..., 0]
            return log_sigmoid(odds), log_sigmoid(-odds)

        return ask

    return goals


def _planned_by(found: Learned, goals: GoalFn, planner: Roadmap | Trees, parameters: Plain) -> Plain:
    evaluations = Plain()
    for name, asked in parameters["evaluations"].items():
        starts = Starts(asked["split"], asked["per_task"], asked["seed"])
        settings = SearchSettings(planner, asked["budget"], seed=starts.seed)
        evaluations[name] = evaluate_planning(found.source, starts, goals, settings)
    return {"training": found.training, "evaluations": evaluations}


def section(size: Size, results: Results) -> Section:
    """The paper's column, fewer demonstrations, other rooms, segmentation and recognition, and what it costs."""
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
    text = page(
        NAME,
        size=size,
        compared=COMPARED,
        specific=SPECIFIC,
        unseen=len(TWELVE_NOVEL),
        success=_main_table(results, rates),
        certainty=certainty({METHODS[name] + more: rows[name] for name in METHODS for more, rows in checks.items()}),
        fewer=rates_table("of each task", SPLITS, fewer),
        rooms=rates_table("room", SPLITS, rooms),
        segmentation=_watched_table(watched, "segmentation", "demonstrations", "ends exact", "within one step"),
        recognition=_watched_table(watched, "recognition", "descriptions", *RANKED.values(), "ceiling"),
        costs=table(["", "paper", "ours"], costs),
    )
    summary = {
        "paper": PAPER,
        "success": plain(rates),
        "lenient": plain(lenient),
        "fewer": plain(fewer),
        "rooms": plain(rooms),
        "watched": plain(watched),
        "costs": {name: {"paper": paper, "ours": ours} for name, paper, ours in costs},
        "plan_ms_median": {name: {split: results.plans(name, split) for split in SPLITS} for name in METHODS},
        "training_cpu_seconds": results.training(MAIN, "cpu_seconds"),
    }
    return Section("Learning in a continuous world, Playroom", text, summary, _pictures(rates, fewer))


def _main_table(results: Results, rates: Mapping[str, Rates]) -> str:
    rows = [["**RSG, the paper**", *(f"{PAPER[split]:.1f}" for split in SPLITS), NONE, NONE]]
    for name, label in METHODS.items():
        shown = [label, *map(percent, rates[name].values()), *(_ms(results, name, split) for split in SPLITS)]
        rows.append([f"**{cell}**" for cell in shown] if name == MAIN else shown)
    return table(["method", *SPLITS, *(f"median time of a plan, {split}" for split in SPLITS)], rows)


def _ms(results: Results, name: str, split: str) -> str:
    return number(mean_or_none(results.plans(name, split)), 1, "ms")


def _costs(results: Results) -> list[tuple[str, str, str]]:
    rows = []
    for name in (MAIN, "sampled-400", "point-400"):
        processor, wall, _ = results.costs(name).items()
        for (what, ours), paper in ((processor, PAPER_TRAINING), (wall, NONE)):
            rows.append((f"{what}: {METHODS[name]}", paper, ours))
    return rows + [(f"median time of a plan, {split}", PAPER_PLAN, _ms(results, MAIN, split)) for split in SPLITS]


def _watched(results: Results, name: str) -> dict[str, dict[str, Rates]]:
    """Rates of segmentation and recognition over seeds, by split; what was not looked at is left out."""
    every = results.of(name)
    return {
        what: {
            split: {kind: share([one[what][split] for one in every], kind, of) for kind in kinds} for split in splits
        }
        for what, splits, of, kinds in LOOKS
        if every
    }


def _watched_table(watched: Mapping[str, Mapping[str, Mapping[str, Rates]]], what: str, *head: str) -> str:
    rows = [
        [METHODS[name], split, *map(percent, row.values())]
        for name, found in watched.items()
        for split, row in found.get(what, {}).items()
    ]
    return table(["method", *head], rows)


def _pictures(rates: Mapping[str, Rates], fewer: Mapping[str, Rates]) -> dict[str, Picture]:
    drawn = ("RSG", "G ≥ ½", "soft", "trees", "sampled", "point", "un-\ntrained", "oracle")
    short = dict(zip(METHODS, drawn, strict=True))
    groups = {split: {label: rates[name][split] for name, label in short.items()} for split in SPLITS}
    pictures = {"success": bars("Success by split, with the paper's", groups, PAPER)}
    lines = {split: [line(fewer, split)] for split in SPLITS}
    if any(one for (one,) in lines.values()):
        axes = ("demonstrations of each task", "success, %", "x", (0.0, 103.0))
        caption = "Success against demonstrations of each task"
        pictures["fewer"] = curves(caption, {"fewer demonstrations": lines}, *axes)
    return pictures


EXPERIMENT = Experiment(NAME, FULL, QUICK, jobs, section)
