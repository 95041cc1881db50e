"""Plans for goals: how they are tried, what many of them add up to, and success against expansions as a picture."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from reproductions.goal_counts import Count, counting
from reproductions.goal_guides import method_of
from reproductions.harness.jobs import Plain
from reproductions.harness.tables import Mean, Rate, mean_of, number, table
from reproductions.harness.trials import Learned
from rsg.core.pictures import COLORS, PAPER, panels
from rsg.core.random import stream
from rsg.domains.crafting.starts import start_for
from rsg.evaluation.statistics import hundredths
from rsg.planning import Dependencies, GoalProblem, Plan, planned, validate
from rsg.worlds import require

BUDGET = 25_000  # expansions, the paper's limit
SIZE = 7  # rows and columns of the maps, as in the split
GROUPS = EASY, HARD, ALL = "2–3 subgoals", "4–5 subgoals", "all"
SUBGOALS = {EASY: (2, 3), HARD: (4, 5), ALL: (2, 3, 4, 5), **{f"{n} subgoals": (n,) for n in (2, 3, 4, 5)}}
TITLES = {EASY: EASY, HARD: HARD, ALL: "all eight goals"}
UNITS = {"expansions": "expansions", "states": "states stepped", "different": "different states"}
PAPER_POINTS = {"with dependencies": 4_311, "blind": 19_220}  # expansions to 70 % with 4–5 subgoals
LINES = {  # of each method: its short name, colour and dashes
    "ours": ("ours", COLORS[0], "-"),
    "paper": ("paper's algorithm", COLORS[1], "-"),
    "printed": ("paper's, as printed", COLORS[1], "--"),
    "uniform": ("no dependencies", COLORS[3], "-"),
    "blind": ("blind", COLORS[5], "-"),
}
_FROM, _TO = 8, 200_000  # expansions that the picture shows

Rows = Sequence[Plain]
"""Of each goal: its name and the lists `success`, `microseconds` and those of `UNITS` of its starts."""


class Attempt(NamedTuple):
    """A plan, the states whose successors the world was asked for, and whether the plan is right."""

    made: Plan
    asked: Count
    right: bool


class Planner:
    """Plans with what was learned, and with dependencies of these subgoals; everything is compiled first."""

    def __init__(self, learned: Learned, dependencies: Dependencies, asked: Plain) -> None:
        self.source, self.seed, self.budget = learned.source, learned.starts, asked["budget"]
        self._goals, self._dependencies, self._method = learned.subgoals.goals, dependencies, method_of(asked)
        world, state = start_for("craft-boat", SIZE, stream(0, "compile"))
        self._plan(world, state, "craft-boat", 20)

    def _plan(self, world: Any, state: Any, goal: str, budget: int) -> tuple[Plan, Count]:
        """A plan, and what the world was asked for it."""
        world, asked = counting(world, budget)
        require(world, state[None])  # which planning then does not do again
        problem = GoalProblem(world, state, goal, self._goals, self._dependencies)
        return planned(problem, self._method, budget), asked

    def attempt(self, world: Any, state: Any, goal: str) -> Attempt:
        """A plan, judged by the truth."""
        made, asked = self._plan(world, state, goal, self.budget)
        return Attempt(made, asked, validate(world, made, goal, partial(self.source.truth, world)).ok)

    def row(self, goal: str, starts: Iterable[tuple[Any, Any]]) -> Plain:
        """Plans for a goal as lists: success is 1, 0 without a plan, -1 for a plan that is wrong."""
        several = [self.attempt(world, state, goal) for world, state in starts]
        return {
            "goal": goal,
            "success": [1 if one.right else -int(one.made.found) for one in several],
            "expansions": [one.made.expansions for one in several],
            "states": [one.asked.stepped for one in several],
            "different": [one.asked.different for one in several],
            "microseconds": [round(1e6 * one.made.seconds) for one in several],
        }


class Trials(NamedTuple):
    """What a method did: the budget of each plan, and by seed the rows of all goals."""

    budget: int
    seeds: dict[int, Rows]

    def of(self, group: str | None = None, goal: str | None = None, starts: int | None = None) -> "Trials":
        """Only the goals of a group, or one goal; only the first starts."""
        chosen = {
            seed: [
                {key: value[:starts] if isinstance(value, list) else value for key, value in row.items()}
                for row in rows
                if (group is None or row["subgoals"] in SUBGOALS[group]) and (goal is None or row["goal"] == goal)
            ]
            for seed, rows in self.seeds.items()
        }
        return Trials(self.budget, {seed: rows for seed, rows in chosen.items() if rows})

    @property
    def rows(self) -> list[Rows]:
        """The rows of each seed."""
        return list(self.seeds.values())

    @property
    def goals(self) -> list[str]:
        """The goals, in order."""
        return list(dict.fromkeys(row["goal"] for rows in self.rows for row in rows))

    def reach(self, share: float, unit: str = "expansions") -> dict[int, float]:
        """For each seed how much of a unit it takes until that share of the starts is solved; infinite if never."""
        return {seed: reach(rows, share, unit) for seed, rows in self.seeds.items()}

    def fewer_than(self, other: "Trials", share: float = 0.7, unit: str = "expansions") -> Mean | None:
        """How many times fewer of a unit than another one it needs, over seeds; None where one never gets there."""
        own, theirs = self.reach(share, unit), other.reach(share, unit)
        both = sorted(own.keys() & theirs.keys())
        if not both or any(math.isinf(value) for seed in both for value in (own[seed], theirs[seed])):
            return None
        return mean_of([theirs[seed] / own[seed] for seed in both])

    def success(self, budget: int = BUDGET) -> Rate:
        """The share that is solved within a budget."""
        every = [needed(rows) for rows in self.rows]
        return Rate(tuple(int((one <= budget).sum()) for one in every), tuple(map(len, every)))

    def wrong(self) -> int:
        """How many plans, of all seeds, do not do what they say."""
        return sum(row["success"].count(-1) for rows in self.rows for row in rows)

    def milliseconds(self) -> Mean:
        """The median time of a plan."""
        return mean_of([float(np.median(_joined(rows, "microseconds"))) / 1000 for rows in self.rows])

    def expansions(self, what: Any) -> Mean:
        """A mean or a median, say, of the expansions of a plan, successful or not."""
        return mean_of([float(what(_joined(rows, "expansions"))) for rows in self.rows])


def gathered(found: Iterable[tuple[Any, int, int, Rows]]) -> dict[Any, Trials]:
    """The trials of all seeds by their kind, from kind, budget, seed and rows."""
    trials: dict[Any, Trials] = {}
    for kind, budget, seed, rows in found:
        trials.setdefault(kind, Trials(budget, {})).seeds[seed] = rows
    return trials


def _joined(rows: Rows, key: str) -> NDArray[np.int64]:
    return np.concatenate([np.asarray(row[key], dtype=np.int64) for row in rows])


def needed(rows: Rows, unit: str = "expansions") -> NDArray[np.float64]:
    """What all starts took that were solved; infinite for the others."""
    return np.where(_joined(rows, "success") == 1, _joined(rows, unit), np.inf)


def reach(rows: Rows, share: float, unit: str = "expansions") -> float:
    """The least with which at least that share of the starts is solved."""
    values = np.sort(needed(rows, unit))
    return float(values[math.ceil(share * len(values) - 1e-9) - 1])


def reached(trials: Trials, share: float, unit: str = "expansions") -> str:
    """The same as text, over seeds; says where it was not reached within the budget, which is one of expansions."""
    values = list(trials.reach(share, unit).values())
    never = sum(map(math.isinf, values))
    beyond = f"> {trials.budget:,}" if unit == "expansions" else "never"
    if never == len(values):
        return beyond
    if never:
        return f"{beyond} in {never} of {len(values)}"
    return number(mean_of(values), 0)


def success_text(trials: Trials) -> str:
    """Success within the budget in percent, with its range over seeds."""
    mean = trials.success().over_seeds
    if mean.least == mean.most:
        return hundredths(mean.mean)
    return f"{hundredths(mean.mean)} ({hundredths(mean.least)} to {hundredths(mean.most)})"


Columns = Mapping[str, Callable[[Trials], str]]
"""Headlines, and what is said of trials below each."""


def listing(first: str, several: Mapping[str, Trials], columns: Columns, above: Sequence[Sequence[str]] = ()) -> str:
    """A table with a row to each trials, by label."""
    rows = [[label, *(show(one) for show in columns.values())] for label, one in several.items()]
    return table([first, *columns], [*above, *rows])


ENDS: Columns = {
    "wrong plans": lambda trials: str(trials.wrong()),
    "median time": lambda trials: number(trials.milliseconds(), 2, "ms"),
}


def draw_pooled(path: Path, trials: Mapping[str, Trials]) -> None:
    """Success against expansions, few subgoals, many, and all together, with the paper's points."""
    with panels(path, [TITLES[group] for group in GROUPS], width=3.8, height=3.9) as axes:
        for one, group in zip(axes, GROUPS, strict=True):
            _draw_curves(one, {name: several.of(group) for name, several in trials.items()})
            one.set_xlabel("expanded nodes")
        for (label, x), marker in zip(PAPER_POINTS.items(), "Ds", strict=True):
            axes[1].plot(x, 70, marker, color=PAPER, markersize=5.5, zorder=5, label=f"published, {label}: {x:,}")
        axes[0].set_ylabel("success in %")
        handles, labels = axes[1].get_legend_handles_labels()
        columns = len(handles) if len(handles) < 6 else 4
        axes[0].figure.legend(handles, labels, loc="outside lower center", ncols=columns, fontsize=8.5)


def _draw_curves(axes: Any, trials: Mapping[str, Trials]) -> None:
    """The mean over seeds of each method, and the range as a band."""
    axes.axvline(BUDGET, color="#b5b5b5", linewidth=0.9, linestyle=":")
    for name, (label, color, dashes) in LINES.items():
        if name not in trials or not trials[name].seeds:
            continue
        grid = np.geomspace(_FROM, min(_TO, trials[name].budget), 400)
        spent = [np.sort(needed(rows)) for rows in trials[name].rows]
        shares = np.array([100 * np.searchsorted(one, grid, "right") / len(one) for one in spent])
        axes.plot(grid, shares.mean(axis=0), dashes, color=color, linewidth=1.6, label=label)
        axes.fill_between(grid, shares.min(axis=0), shares.max(axis=0), color=color, alpha=0.16, linewidth=0)
    axes.set_xscale("log")
    axes.set_xlim(_FROM, _TO)
    ticks = {10: "10", 100: "100", 1000: "1,000", 10_000: "10⁴", 100_000: "10⁵"}
    axes.set_xticks(list(ticks), list(ticks.values()))
    axes.minorticks_off()
    axes.set_ylim(0, 102)
