"""Figures, all in one style, and the one way to save them."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any

from matplotlib import rc_context
from matplotlib.figure import Figure

from rsg.core.errors import RsgError
from rsg.core.files import replacing

COLORS = ("#2a6f97", "#c1666b", "#5b8e7d", "#b8860b", "#7a5c99", "#6c757d", "#3fa7d6")
PAPER = "#222222"
PLAIN: Any = {"axes.spines.top": False, "axes.spines.right": False}
_STYLE: Any = {
    **PLAIN,
    "font.size": 9,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#e4e4e4",
    "legend.frameon": False,
}


@contextmanager
def panels(path: str | Path, titles: Sequence[str], width: float = 3.6, height: float = 3.0) -> Iterator[list[Any]]:
    """Axes side by side, one per title, drawn into a PNG file at the end."""
    with rc_context(_STYLE):
        figure = Figure(figsize=(width * len(titles) + 0.6, height), layout="constrained")
        axes = list(figure.subplots(1, len(titles), squeeze=False)[0])
        for one, title in zip(axes, titles, strict=True):
            one.set_title(title, fontsize=10)
        yield axes
        save(path, png(figure, 130))


def png(figure: Figure, dpi: int) -> bytes:
    """A figure as PNG, the same each time."""
    data = BytesIO()
    figure.savefig(data, format="png", dpi=dpi, metadata={"Software": None})
    return data.getvalue()


def save(path: str | Path, data: bytes) -> None:
    """Write a PNG file, whole or not at all."""
    path = Path(path)
    if path.suffix.lower() != ".png":
        raise RsgError(f"cannot write a picture to {path}: the name must end in .png")
    with replacing(path) as part:
        part.write_bytes(data)
