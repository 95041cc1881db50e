"""Plots of results, all in one style."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reproductions.harness.tables import Rate
from rsg.core.pictures import COLORS, PAPER, panels
from rsg.evaluation.statistics import hundredths

_MANY = 4  # names of lines that fit into a panel


@dataclass(frozen=True)
class Picture:
    """A figure of a section: what it shows, a function that draws it into a file, of which kind (png or gif).

    One that is not `shown` is there for other pages.
    """

    caption: str
    draw: Callable[[Path], None]
    kind: str = "png"
    shown: bool = True


def bars(caption: str, groups: Mapping[str, Mapping[str, Rate | None]], paper: Mapping[str, float]) -> Picture:
    """Success by method, a panel to each split: the mean with its interval over seeds, each seed a dot.

    Args:
        caption: what is shown.
        groups: for each split, the rate of each method.
        paper: the paper's success in percent for splits, drawn as a line.
    """

    def draw(path: Path) -> None:
        with panels(path, list(groups)) as axes:
            for one, (split, rates) in zip(axes, groups.items(), strict=True):
                there = {name: rate for name, rate in rates.items() if rate is not None}
                for place, (name, rate) in enumerate(there.items()):
                    _bar(one, place, rate, COLORS[list(rates).index(name) % len(COLORS)])
                if split in paper:
                    _line_of_the_paper(one, paper[split])
                one.set_xticks(range(len(there)), list(there))
                one.set_ylim(0, 110)
                one.set_yticks(range(0, 101, 20))
                one.grid(axis="x", visible=False)
            axes[0].set_ylabel("success in %")

    return Picture(caption, draw)


def _line_of_the_paper(axes: Any, success: float) -> None:
    axes.axhline(success, color=PAPER, linestyle="--", linewidth=1)
    place: dict[str, Any] = {"xycoords": ("axes fraction", "data"), "textcoords": "offset points"}
    axes.annotate(f"paper {success:.1f}", (0.01, success), (0, -3), **place, fontsize=8, va="top")


def _bar(axes: Any, place: int, rate: Rate, color: str) -> None:
    mean = rate.over_seeds
    value = 100 * mean.mean
    axes.bar(place, value, width=0.62, color=color, alpha=0.75)
    if mean.low is not None and mean.high is not None:
        low, high = 100 * max(0.0, mean.low), 100 * min(1.0, mean.high)
        axes.errorbar(place, value, [[value - low], [high - value]], color=PAPER, capsize=4, linewidth=1.2)
        each = [100 * one for one in rate.seeds]
        axes.plot([place + 0.2] * len(each), each, ".", color=PAPER, markersize=4)
        value = max(value, high)
    axes.annotate(hundredths(mean.mean), (place, value), (0, 3), textcoords="offset points", ha="center", fontsize=8)


Line = Sequence[tuple[float, float]]
"""Points from left to right."""


def curves(
    caption: str,
    groups: Mapping[str, Mapping[str, Sequence[Line]]],
    across: str,
    up: str,
    logarithmic: str = "",
    limits: tuple[float, float] | None = None,
) -> Picture:
    """Curves, a panel to each group; lines of one name (one per seed) share a colour.

    Args:
        caption: what is shown.
        groups: for each panel, the lines of each name.
        across: what the horizontal axis shows; up: the vertical one.
        logarithmic: which axes are: `x`, `y` or `xy`.
        limits: of the vertical axis.
    """
    names = list(dict.fromkeys(name for lines in groups.values() for name in lines))

    def draw(path: Path) -> None:
        with panels(path, list(groups)) as axes:
            for one, lines in zip(axes, groups.values(), strict=True):
                _lines(one, lines, names)
                for axis in logarithmic:
                    one.set(**{f"{axis}scale": "log"})
                    getattr(one, f"{axis}axis").set_major_formatter("{x:g}")
                places = (x for several in lines.values() for line in several for x, _ in line)
                if "x" not in logarithmic and all(x == round(x) for x in places):
                    one.xaxis.get_major_locator().set_params(integer=True)
                if limits:
                    one.set_ylim(*limits)
                one.set_xlabel(across)
                if any(lines.values()) and len(names) <= _MANY:
                    one.legend(fontsize=8)
            if len(names) > _MANY:  # beside the last panel, where they hide nothing
                beside: dict[str, Any] = {"loc": "center left", "bbox_to_anchor": (1, 0.5)}
                fullest = max(axes, key=lambda one: len(one.get_lines()))
                axes[-1].legend(*fullest.get_legend_handles_labels(), fontsize=8, **beside)
            axes[0].set_ylabel(up)

    return Picture(caption, draw)


def _lines(axes: Any, lines: Mapping[str, Sequence[Line]], names: Sequence[str]) -> None:
    for name, several in lines.items():
        color = COLORS[names.index(name) % len(COLORS)]
        for number, line in enumerate(several):
            points = tuple(zip(*line, strict=True)) or ((), ())
            label = name if number == 0 else None
            axes.plot(*points, color=color, linewidth=1.3, marker="o", markersize=2.5, alpha=0.85, label=label)
