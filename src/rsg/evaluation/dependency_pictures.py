"""A picture of which subgoals help which: the paper's matrix, and how often one came first where both were shown."""

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.image import AxesImage
from matplotlib.patches import Patch, Rectangle

from rsg.core.arrays import Floats
from rsg.core.pictures import panels
from rsg.planning import Dependencies

FRAME = "#e4572e"
UNKNOWN = "#eeeeee"  # two subgoals that no demonstration shows together
_LINES = "#dcdcdc"
_DASHES = (0, (2, 1.2))
_TITLES = (
    "d (eq. 6): of all that came before the row's subgoal,\nthe share of the column's",
    "of the demonstrations that show both subgoals,\nthe share in which the column's came first",
)


def draw_dependencies(path: Path, dependencies: Dependencies, title: str) -> None:
    """Heat maps of d(o1, o2) (eq. 6) and of the conditional matrix, side by side, with the prerequisites framed."""
    size = max(3.4, 0.27 * len(dependencies.terms))
    values = (dependencies.matrix, np.where(dependencies.together > 0, dependencies.conditional, np.nan))
    with panels(path, _TITLES, size + 1.2, size + 3.2) as axes:
        figure = axes[0].figure
        figure.set_layout_engine("compressed")
        figure.suptitle(title, fontsize=14, fontweight="bold")
        for one, matrix in zip(axes, values, strict=True):
            shown = _draw(one, matrix, dependencies, names=one is axes[0])
        bar = figure.colorbar(shown, ax=axes, shrink=0.6, aspect=30, pad=0.01, ticks=[0, 0.25, 0.5, 0.75, 1])
        bar.ax.yaxis.set_major_formatter(lambda value, _: f"{100 * value:.0f} %")
        bar.outline.set_visible(False)
        figure.legend(handles=_key(), loc="outside lower center", ncols=3, fontsize=10)


def _draw(axes: Axes, matrix: Floats, dependencies: Dependencies, names: bool) -> AxesImage:
    """One heat map; each row is a subgoal, each column one that may have come before it."""
    count, terms = len(dependencies.terms), dependencies.terms
    colors = colormaps["Blues"].with_extremes(bad=UNKNOWN)
    shown = axes.imshow(matrix, cmap=colors, vmin=0, vmax=1, interpolation="nearest")
    axes.title.set_fontsize(11)
    axes.set_xticks(range(count), terms, rotation=90, fontsize=9)
    axes.set_yticks(range(count), terms if names else [""] * count, fontsize=9)
    axes.set_xticks(np.arange(-0.5, count), minor=True)
    axes.set_yticks(np.arange(-0.5, count), minor=True)
    axes.tick_params(which="both", length=0)
    axes.grid(visible=False)
    axes.grid(visible=True, which="minor", color=_LINES, linewidth=0.6)
    axes.spines[:].set_visible(False)
    for row, column in np.argwhere(np.nan_to_num(matrix) >= 0.005):
        value = matrix[row, column]
        color = "white" if value > 0.55 else "black"
        axes.text(column, row, f"{100 * value:.0f}", color=color, fontsize=6.5, ha="center", va="center")
    for row, alternatives in enumerate(dependencies.prerequisites):
        style = _DASHES if len(alternatives) > 1 else "solid"
        for column in {need for one in alternatives for need in one}:
            place = (column - 0.44, row - 0.44)
            axes.add_patch(Rectangle(place, 0.88, 0.88, fill=False, edgecolor=FRAME, linewidth=1.7, linestyle=style))
    return shown


def _key() -> list[Any]:
    """What frames and grey mean."""
    frame: dict[str, Any] = {"fill": False, "edgecolor": FRAME, "linewidth": 1.7}
    return [
        Patch(**frame, label="prerequisite: nearly always held just before"),
        Patch(**frame, linestyle=_DASHES, label="alternative prerequisites: one of them held"),
        Patch(facecolor=UNKNOWN, edgecolor=_LINES, label="never shown together"),
    ]
