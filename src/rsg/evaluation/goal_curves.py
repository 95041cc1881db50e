"""Success against expansions: the figures of goal-only planning, and how they are drawn."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rsg.evaluation.figures import COLORS, PAPER, panels
from rsg.evaluation.goal_methods import BUDGET, MAIN
from rsg.evaluation.goal_methods import PAPER as PAPERS
from rsg.evaluation.jobs import Plain
from rsg.evaluation.reproduce import Results
from rsg.evaluation.statistics import Mean, mean_of
from rsg.evaluation.tables import Rate, hundredths, number

Rows = Sequence[Plain]
"""Of each goal: its name and the lists `success`, `expansions` and `microseconds` of its starts."""

EASY, HARD = "2–3 subgoals", "4–5 subgoals"
PAPER_POINTS = {"with dependencies": 4_311, "blind": 19_220}  # 4–5 subgoals, 70 %
_SHORT = {
    "ours": "ours",
    PAPERS: "paper's algorithm",
    "printed": "paper's, as printed",
    "uniform": "no dependencies",
    "blind": "blind",
}
_COLORS = dict(zip(_SHORT, (COLORS[0], COLORS[1], COLORS[1], COLORS[3], COLORS[5]), strict=True))
_FROM, _TO = 8, 200_000


class Trials(NamedTuple):
    """What a method did: the budget of each plan, and by seed the rows of all goals."""

    budget: int
    seeds: dict[int, Rows]

    def of(self, group: str | None = None, goal: str | None = None, starts: int | None = None) -> Trials:
        """Only the goals of a group, or one goal; only the first starts."""
        chosen = {
            seed: [
                {key: value[:starts] if isinstance(value, list) else value for key, value in row.items()}
                for row in rows
                if (group is None or group_of(row) == group) and (goal is None or row["goal"] == goal)
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

    def reach(self, share: float) -> dict[int, float]:
        """For each seed the expansions with which that share of the starts is solved; infinite if never."""
        return {seed: reach(rows, share) for seed, rows in self.seeds.items()}

    def success(self, budget: int = BUDGET) -> Rate:
        """The share that is solved within a budget."""
        solved = tuple(int((needed(rows) <= budget).sum()) for rows in self.rows)
        return Rate(solved, tuple(len(needed(rows)) for rows in self.rows))

    def wrong(self) -> int:
        """How many plans, of all seeds, do not do what they say."""
        return sum(row["success"].count(-1) for rows in self.rows for row in rows)

    def milliseconds(self) -> Mean:
        """The median time of a plan."""
        return mean_of([float(np.median(_joined(rows, "microseconds"))) / 1000 for rows in self.rows])

    def expansions(self, what: Any) -> Mean:
        """A mean or a median, say, of the expansions of a plan, successful or not."""
        return mean_of([float(what(_joined(rows, "expansions"))) for rows in self.rows])


def group_of(row: Plain) -> str:
    """Whether a goal takes few subgoals or many."""
    return EASY if row["subgoals"] <= 3 else HARD


def gathered(results: Results) -> dict[str, Trials]:
    """The trials of each method, over all jobs."""
    found: dict[str, Trials] = {}
    for job, one in results.items():
        for name, method in one.get("methods", {}).items():
            found.setdefault(name, Trials(method["budget"], {})).seeds[seed_of(job)] = method["goals"]
    return found


def seed_of(job: str) -> int:
    """The seed in the name of a job."""
    return int(job.rpartition("seed")[2])


def _joined(rows: Rows, key: str) -> NDArray[np.int64]:
    return np.concatenate([np.asarray(row[key], dtype=np.int64) for row in rows])


def needed(rows: Rows) -> NDArray[np.float64]:
    """The expansions of all starts that were solved; infinite for the others."""
    return np.where(_joined(rows, "success") == 1, _joined(rows, "expansions"), np.inf)


def reach(rows: Rows, share: float) -> float:
    """The fewest expansions with which at least that share of the starts is solved."""
    values = np.sort(needed(rows))
    return float(values[math.ceil(share * len(values) - 1e-9) - 1])


def reached(trials: Trials, share: float) -> str:
    """The same as text, over seeds; says where it was not reached within the budget."""
    values = list(trials.reach(share).values())
    never = sum(map(math.isinf, values))
    if never == len(values):
        return f"> {trials.budget:,}"
    if never:
        return f"> {trials.budget:,} in {never} of {len(values)}"
    return number(mean_of(values), 0)


def rate_text(rate: Rate) -> str:
    """A rate in percent, with its range over seeds."""
    mean = rate.over_seeds
    if mean.least == mean.most:
        return hundredths(mean.mean)
    return f"{hundredths(mean.mean)} ({hundredths(mean.least)} to {hundredths(mean.most)})"


def draw_pooled(path: Path, trials: Mapping[str, Trials]) -> None:
    """Success against expansions, few and many subgoals, with the paper's points."""
    with panels(path, [EASY, HARD], width=4.4, height=3.9) as axes:
        for one, group in zip(axes, (EASY, HARD), strict=True):
            _draw_curves(one, {name: several.of(group) for name, several in trials.items()})
            one.set_xlabel("expanded nodes")
        for (label, x), marker in zip(PAPER_POINTS.items(), "Ds", strict=True):
            axes[1].plot(x, 70, marker, color=PAPER, markersize=5.5, zorder=5, label=f"published, {label}: {x:,}")
        axes[0].set_ylabel("success in %")
        _legend(axes)


def draw_goals(path: Path, trials: Mapping[str, Trials]) -> None:
    """The same, a panel to each goal."""
    goals = {row["goal"]: row["subgoals"] for several in trials.values() for rows in several.rows for row in rows}
    titles = [f"{goal} ({count} subgoals)" for goal, count in goals.items()]
    with panels(path, titles, width=2.75) as axes:
        columns = math.ceil(len(axes) / 2)
        _in_rows(axes, columns, (2.75 * columns + 0.6, 5.4))
        for number_, (one, goal) in enumerate(zip(axes, goals, strict=True)):
            _draw_curves(one, {name: several.of(goal=goal) for name, several in trials.items()})
            one.title.set_fontsize(9)
            if number_ % columns == 0:
                one.set_ylabel("success in %")
            if number_ >= columns:
                one.set_xlabel("expanded nodes")
        _legend(axes)


def _in_rows(axes: Sequence[Any], columns: int, size: tuple[float, float]) -> None:
    """Put axes that stand side by side into rows."""
    figure = axes[0].figure
    figure.set_size_inches(*size)
    grid = figure.add_gridspec(math.ceil(len(axes) / columns), columns)
    for place, one in enumerate(axes):
        one.set_subplotspec(grid[place // columns, place % columns])


def _draw_curves(axes: Any, trials: Mapping[str, Trials]) -> None:
    """The mean over seeds of each method, and the range as a band."""
    axes.axvline(BUDGET, color="#b5b5b5", linewidth=0.9, linestyle=":")
    for name in MAIN:
        if name not in trials or not trials[name].seeds:
            continue
        budget = trials[name].budget
        grid = np.geomspace(_FROM, min(_TO, budget), 400)
        each = [np.searchsorted(np.sort(needed(rows)), grid, "right") for rows in trials[name].rows]
        shares = 100 * np.array(each) / [[len(needed(rows))] for rows in trials[name].rows]
        dashes = "--" if name == "printed" else "-"
        axes.plot(grid, shares.mean(axis=0), dashes, color=_COLORS[name], linewidth=1.6, label=_SHORT[name])
        axes.fill_between(grid, shares.min(axis=0), shares.max(axis=0), color=_COLORS[name], alpha=0.16, linewidth=0)
    axes.set_xscale("log")
    axes.set_xlim(_FROM, _TO)
    ticks = {10: "10", 100: "100", 1000: "1,000", 10_000: "10⁴", 100_000: "10⁵"}
    axes.set_xticks(list(ticks), list(ticks.values()))
    axes.minorticks_off()
    axes.set_ylim(0, 102)


def _legend(axes: Sequence[Any]) -> None:
    """One for all panels, below them."""
    handles, labels = axes[-1].get_legend_handles_labels()
    if handles:
        axes[0].figure.legend(
            handles, labels, loc="outside lower center", ncols=len(handles) if len(handles) < 6 else 4, fontsize=8.5
        )


def draw_growth(path: Path, sets: Mapping[tuple[str, int], Trials]) -> None:
    """Expansions and success for all terms, by the size of the map."""
    kinds = list(dict.fromkeys(hands for hands, _ in sets))
    sizes = sorted({size for _, size in sets})
    names = {"tools": "tools in the hands", "empty": "empty hands"}
    with panels(path, ["expansions of a plan", "success within the budget, in %"], width=4.0, height=3.4) as axes:
        for place, hands in enumerate(kinds):
            color, aside = COLORS[place], 0.08 * (place - (len(kinds) - 1) / 2)
            there = [size for size in sizes if (hands, size) in sets]
            for style, label, what in (("-", "mean", np.mean), ("--", "median", np.median)):
                found = [sets[hands, size].expansions(what) for size in there]
                _line(axes[0], np.add(there, aside), found, style, color, f"{names[hands]}, {label}")
            rates = [sets[hands, size].success().over_seeds for size in there]
            _line(axes[1], np.add(there, aside), [_percent(mean) for mean in rates], "-", color)
        for one in axes:
            one.set_xticks(sizes, [f"{size}×{size}" for size in sizes])
            one.set_xlabel("map")
        axes[0].set_yscale("log")
        axes[0].yaxis.set_major_formatter("{x:,.0f}")
        axes[1].set_ylim(min(90.0, axes[1].get_ylim()[0]), 100.5)
        _legend(axes[:1])


def _percent(mean: Mean) -> Mean:
    return replace(mean, mean=100 * mean.mean, least=100 * mean.least, most=100 * mean.most)


def _line(axes: Any, sizes: Any, found: Sequence[Mean], style: str, color: str, label: str | None = None) -> None:
    """Means by size, with the range over seeds."""
    means = np.array([one.mean for one in found])
    beside = np.abs([[one.mean - one.least for one in found], [one.most - one.mean for one in found]])
    axes.errorbar(
        sizes, means, beside, fmt=f"o{style}", color=color, capsize=3, markersize=4, linewidth=1.4, label=label
    )
