"""The pictures of a report: curves as SVG in the page's own colours, states as PNG, plans as GIF."""

import re
from collections.abc import Sequence
from io import BytesIO, StringIO
from typing import Any

from matplotlib import rc_context
from matplotlib.figure import Figure
from PIL import Image

from rsg.core.arrays import Bytes
from rsg.evaluation.report_results import Followed

# Colours that are drawn, and the page's names for them: the page has one set for light and one for dark screens.
_INK, _FAINT, _ACCENT, _SECOND, _BAND = "#010203", "#010204", "#010205", "#010206", "#010207"
_NAMES = {_INK: "ink", _FAINT: "faint", _ACCENT: "accent", _SECOND: "second", _BAND: "band"}
_STYLE: dict[Any, Any] = {
    "svg.fonttype": "none",
    "font.family": "sans-serif",
    "font.size": 9,
    "text.color": _INK,
    "axes.edgecolor": _FAINT,
    "axes.labelcolor": _INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "xtick.color": _INK,
    "ytick.color": _INK,
    "grid.color": _FAINT,
    "grid.alpha": 0.4,
}


def curve(history: Sequence[dict[str, float]], key: str, label: str, curriculum: int) -> str:
    """One figure over training; the curriculum is shaded."""
    with rc_context({**_STYLE, "svg.hashsalt": key}):
        figure = Figure(figsize=(4.4, 2.5), layout="constrained")
        axes = figure.subplots()
        steps = [row["step"] for row in history]
        if curriculum and steps:
            axes.axvspan(0, min(curriculum, steps[-1]), color=_BAND, lw=0)
        axes.plot(steps, [row[key] for row in history], color=_ACCENT, marker="o", markersize=3.5, lw=1.6)
        axes.set(xlabel="step", title=label, xlim=(0, None))
        axes.title.set_fontsize(10)
        axes.grid(axis="y")
        return svg(figure, f"{label} over the steps of training")


def response_strips(followed: Followed) -> str:
    """G of each term along the demonstration; the steps that serve the term are shaded, true changes are marked."""
    steps = len(followed.demo)
    with rc_context({**_STYLE, "svg.hashsalt": "responses"}):
        figure = Figure(figsize=(7.2, 0.62 * len(followed.terms) + 0.75), layout="constrained")
        rows = figure.subplots(len(followed.terms), 1, sharex=True, squeeze=False)[:, 0]
        for number, (axes, term) in enumerate(zip(rows, followed.terms, strict=True)):
            for part in followed.segments:
                if part.term == term:
                    axes.axvspan(part.start, part.end, color=_BAND, lw=0)
            axes.plot(followed.responses[:, number], color=_ACCENT, lw=1.6, marker="o", markersize=2.5)
            for turn in followed.turns(number):
                axes.axvline(turn, color=_SECOND, lw=1.4, ls=(0, (4, 2)))
            axes.set(ylim=(-0.08, 1.08), yticks=[0, 1], xlim=(-0.3, steps + 0.3))
            axes.set_ylabel(term, rotation=0, ha="right", va="center")
        rows[-1].set_xlabel("step of the demonstration")
        rows[-1].xaxis.get_major_locator().set_params(integer=True)
        return svg(figure, "Responses of the classifiers along a demonstration")


def small(drawn: Bytes, colours: int = 64) -> bytes:
    """A picture as PNG of few colours."""
    data = BytesIO()
    picture = Image.fromarray(drawn).quantize(colours, method=Image.Quantize.FASTOCTREE)
    picture.save(data, format="PNG", optimize=True)
    return data.getvalue()


def svg(figure: Figure, label: str) -> str:
    """A figure as SVG to stand inside of a page: no references to anywhere, colours by the page's names."""
    text = StringIO()
    figure.patch.set_alpha(0)
    for axes in figure.axes:
        axes.patch.set_alpha(0)
    figure.savefig(text, format="svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
    body = text.getvalue()
    body = body[body.index("<svg") :]
    box = re.search(r'viewBox="([^"]*)"', body)
    assert box is not None
    body = re.sub(r"<metadata>.*?</metadata>", "", body, flags=re.DOTALL)
    body = re.sub(r"<svg[^>]*>", f'<svg viewBox="{box.group(1)}" role="img" aria-label="{label}">', body, count=1)
    body = re.sub(r"(font: [0-9.]+px) [^;\"]*", r"\1 system-ui, sans-serif", body)
    body = body.replace("xlink:href", "href")  # which needs no other namespace
    for colour, name in _NAMES.items():
        body = body.replace(colour, f"var(--{name})")
    return body
