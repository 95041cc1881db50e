"""What `rsg reproduce playroom` says."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from rsg.evaluation.figures import draw_lines, draw_rates
from rsg.evaluation.jobs import Plain
from rsg.evaluation.playroom import COMPARED, MAIN, METHODS, ROOMS, SPLITS, TWELVE_NOVEL, Sizes
from rsg.evaluation.reproduce import Picture, Results, Section
from rsg.evaluation.statistics import mean_of
from rsg.evaluation.tables import NONE, Rate, number, percent, table
from rsg.evaluation.trials import rate

PAPER = {"compositional": 82.0, "novel": 78.2}
PAPER_TRAINING, PAPER_PLAN = "32 h (60 epochs of 32.4 min)", "430 ms"


def section(size: Sizes, results: Results) -> Section:
    """The paper's column, fewer demonstrations, other rooms, segmentation and recognition, and what it costs."""
    rates = {name: _rates(results, name) for name in METHODS}
    fewer = {count: _rates(results, f"relative-{count}") for count in size.fewer}
    fewer[size.demonstrations] = rates[MAIN]
    text = "\n\n".join(
        [
            *_main_text(size, results, rates),
            *_fewer_text(fewer),
            *_rooms_text(size, results),
            *_watched_text(results),
            "What it costs: mean over seeds, with the range over seeds in brackets, several jobs side by side.",
            table(["", "paper", "ours"], _costs(results)),
        ]
    )
    lenient = {name: _rates(results, name, "success_lenient") for name in METHODS}
    summary = {
        "paper": PAPER,
        "success": {name: {s: one.plain() for s, one in row.items() if one} for name, row in rates.items()},
        "lenient": {name: {s: one.plain() for s, one in row.items() if one} for name, row in lenient.items()},
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


def _main_text(size: Sizes, results: Results, rates: Mapping[str, Mapping[str, Rate | None]]) -> list[str]:
    rows = [["**RSG, the paper**", *(f"{PAPER[split]:.1f}" for split in SPLITS), NONE, NONE]]
    for name, label in METHODS.items():
        shown = [label, *(percent(rates[name][split]) for split in SPLITS), *(_ms(results, name, s) for s in SPLITS)]
        rows.append([f"**{cell}**" for cell in shown] if name == MAIN else shown)
    return [
        "Success of plans for instructions in the paper's room, strict, in percent: mean over seeds, with the 95 % "
        f"interval of the mean over seeds in brackets; {size.starts} starts of each task for the two networks and the "
        f"truth, {size.few} for others. Sampled actions and fewer demonstrations have {COMPARED} seeds at most. Each "
        f"seed has its own {size.demonstrations} demonstrations of each of the 14 training tasks, first weights and "
        "starts. The *general* network sees where each effector is from where the robot stands; the other one looks "
        "for a point and a radius.",
        table(["method", *SPLITS, *(f"median time of a plan, {split}" for split in SPLITS)], rows),
        "How sure that is, and what the lenient check says (each subgoal is true somewhere, in order):",
        _certainty(results, rates),
    ]


def _fewer_text(fewer: Mapping[int, Mapping[str, Rate | None]]) -> list[str]:
    rows = [[str(count), *(percent(row[split]) for split in SPLITS)] for count, row in fewer.items()]
    return ["Fewer demonstrations of each task, general network:", table(["of each task", *SPLITS], rows)]


def _rooms_text(size: Sizes, results: Results) -> list[str]:
    rows = [[room, *(percent(rate(_found(results, room, split))) for split in _splits(room))] for room in ROOMS]
    return [
        f"Other rooms, the same code and settings, one seed, {size.elsewhere} demonstrations of each task. In `twelve` "
        f"12 terms are learned from tasks of its own; success is that of {len(TWELVE_NOVEL)} tasks that training has "
        "not seen. In `rotated-bars` the tasks are the paper's.",
        table(["room", *SPLITS], rows),
    ]


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


def _rates(results: Results, name: str, check: str = "success") -> dict[str, Rate | None]:
    return {split: rate(_found(results, name, split), check) for split in SPLITS}


def _ms(results: Results, name: str, split: str) -> str:
    times = [one["plan_ms_median"] for one in _found(results, name, split)]
    return number(mean_of(times), 1, "ms") if times else NONE


def _certainty(results: Results, rates: Mapping[str, Mapping[str, Rate | None]]) -> str:
    rows = []
    for name, row in rates.items():
        lenient = _rates(results, name, "success_lenient")
        for split, one in row.items():
            if one is not None:
                worst, episodes = f"{100 * one.over_seeds.least:.2f}", f"{sum(one.trials):,}"
                rows.append([METHODS[name], split, worst, percent(lenient[split]), episodes])
    return table(["method", "split", "worst seed", "lenient", "episodes"], rows)


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


def _watched_text(results: Results) -> list[str]:
    ends, ranks = [], []
    for name in (MAIN, "point-400"):
        found = _watched(results, name)
        for split, row in found.get("segmentation", {}).items():
            ends.append([METHODS[name], split, row["exact"]["text"], row["near"]["text"]])
        for split, row in found.get("recognition", {}).items():
            ranks.append([METHODS[name], split, row["right"]["text"], row["ideal"]["text"]])
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
            draw_lines,
            groups={"fewer demonstrations": lines},
            across="demonstrations of each task",
            up="success, %",
            logarithmic=True,
            limits=(0.0, 103.0),
        )
        pictures["fewer"] = Picture("Success against demonstrations of each task", drawn)
    return pictures
