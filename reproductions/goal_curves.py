"""Success of plans for goals against expansions, as pictures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from reproductions.goal_trials import BUDGET, EASY, HARD, Trials, needed
from rsg.evaluation.pictures import COLORS, PAPER, panels

PAPER_POINTS = {"with dependencies": 4_311, "blind": 19_220}  # 4–5 subgoals, 70 %
LINES = {  # of each method: its short name, colour and dashes
    "ours": ("ours", COLORS[0], "-"),
    "paper": ("paper's algorithm", COLORS[1], "-"),
    "printed": ("paper's, as printed", COLORS[1], "--"),
    "uniform": ("no dependencies", COLORS[3], "-"),
    "blind": ("blind", COLORS[5], "-"),
}
_FROM, _TO = 8, 200_000


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


def _legend(axes: Sequence[Any]) -> None:
    """One for all panels, below them."""
    handles, labels = axes[-1].get_legend_handles_labels()
    if handles:
        axes[0].figure.legend(
            handles, labels, loc="outside lower center", ncols=len(handles) if len(handles) < 6 else 4, fontsize=8.5
        )
