"""Which subgoal each step of a trajectory served, for people: as lines in a terminal, and as a picture with maps."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import cycle
from pathlib import Path
from string import ascii_letters
from textwrap import fill, shorten
from typing import Any

import numpy as np
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.patches import ConnectionPatch
from rich.text import Text

from rsg.core.arrays import Array, Bytes
from rsg.core.errors import RsgError
from rsg.core.files import new_folder
from rsg.core.pictures import COLORS, PAPER, PLAIN, png, save
from rsg.core.progress import progress
from rsg.core.words import quantity
from rsg.demos import Demonstration, Store, actions_of
from rsg.demos.demonstration import met
from rsg.demos.finding import with_actions
from rsg.demos.labels import Labels
from rsg.domain import Domain
from rsg.language import Task, parse
from rsg.planning import Part
from rsg.subgoals import Recognised, Segmentation
from rsg.worlds import EitherWorld

WIDTH = 80  # columns of a terminal
MAX_LABEL = 30
FILLED, ENDED, FREE = "█", "◆", "."
MAPS_IN_A_ROW = 8
WIDE, SLIDE = 12.8, 7.2  # inches
FAINT = "#666666"
_INKS = ("cyan", "magenta", "yellow", "green", "blue", "red")
_FLOOR = (
    "On the left: where it was after each step, in the colour of the subgoal that the step serves; in full colour "
    "where it starts, and with a number where a subgoal came true."
)
_ARROWS = {"up": "↑", "down": "↓", "left": "←", "right": "→", "toggle": "●"}
_COMPASS, _ON_THE_SPOT, _STILL = "→↗↑↖←↙↓↘", "·", 0.1  # signs of motions; how little is none, in actions


def parts(found: Segmentation) -> list[Part]:
    """The steps that serve each subgoal, in order; the last one may go on where the trajectory ends (`found.now`).

    >>> from rsg.language import parse
    >>> parts(Segmentation(parse("a then b"), -1.0, ("a", "a", "b"), (("a", 2),), "b"))
    [Part(term='a', start=0, end=2), Part(term='b', start=2, end=3)]
    """
    ends = [*found.ends, *([(found.now, len(found.terms))] if found.now else [])]
    starts = [0, *(end for _, end in ends)]
    return [Part(term, start, end) for (term, end), start in zip(ends, starts, strict=False)]


def signs(world: EitherWorld, actions: Array, arrows: bool = False) -> tuple[list[str], list[str]]:
    """A sign for each step, and what the signs mean.

    In a continuous world that is the way that the first two numbers of an action lead; elsewhere an arrow, if one is
    wanted and the action's name has one, or a letter: the name's first if that tells all actions apart.
    """
    if hasattr(world, "actions"):
        names, short = world.actions, [name[:1] for name in world.actions]
        if len(set(short)) < len(names):
            short = [ascii_letters[number % len(ascii_letters)] for number in range(len(names))]
        if arrows:
            short = [_ARROWS.get(name, letter) for name, letter in zip(names, short, strict=True)]
        return [short[action] for action in actions], [f"{s} {n}" for s, n in zip(short, names, strict=True)]
    way = np.asarray(actions, dtype=np.float64)[:, :2] / np.asarray(world.reach)[:2]
    compass = np.round(np.arctan2(way[:, -1], way[:, 0]) / (np.pi / 4)).astype(np.int64) % 8
    still = np.abs(way).max(axis=1) < _STILL
    return [_ON_THE_SPOT if stays else _COMPASS[k] for k, stays in zip(compass, still, strict=True)], [
        f"{_COMPASS[0]} the way it moved",
        f"{_ON_THE_SPOT} nearly on the spot",
    ]


# In a terminal.


def timeline_text(found: Segmentation, actions: Sequence[str], width: int = WIDTH) -> Text:
    """A row for each subgoal and a column for each step, folded so that it fits the columns of a terminal.

    actions: `[T]` a letter for each step.
    """
    steps = len(found.terms)
    cell = max(3, len(str(steps)) + 1)
    served = parts(found)
    label = min(MAX_LABEL, max(len("action"), *(len(part.term) for part in served)))
    room = max(1, (width - label - 5) // cell)
    text = Text()
    for low in range(0, steps, room):
        high = min(steps, low + room)
        numbers = [str(step + 1) for step in range(low, high)]
        text.append("\n" if low else "").append(f"{_line('step', label, numbers, cell)}\n", style="bright_black")
        for number, (part, ink) in enumerate(zip(served, cycle(_INKS))):
            ended = number < len(found.ends)
            if part.start < high and part.end > low:
                name = part.term if len(part.term) <= label else f"{part.term[: label - 1]}…"
                text.append(f"  {name:{label}} ").append(f"{_row(part, ended, low, high, cell)}\n", style=ink)
        text.append(f"{_line('action', label, actions[low:high], cell)}\n")
    return text


def _line(name: str, label: int, marks: Sequence[str], cell: int) -> str:
    """A name, then a mark in the middle of each step's column."""
    return f"  {name:{label}}  " + "".join(f"{mark:>{cell - 1}} " for mark in marks).rstrip()


def _row(part: Part, ended: bool, low: int, high: int, cell: int) -> str:
    """The columns of steps low to high: character k · cell stands between step k and step k + 1."""
    row = [" "] * ((high - low) * cell + 1)
    row[cell - 1 :: cell] = FREE * (high - low)
    start, end = max(part.start, low) - low, min(part.end, high) - low
    row[start * cell + 1 : end * cell] = FILLED * ((end - start) * cell - 1)
    if part.end > high:
        row[end * cell] = FILLED
    elif ended:
        row[end * cell] = ENDED
    return "".join(row).rstrip()


# As a picture.


def says(task: Task, text: str) -> bool:
    """Whether a description says this task; one that rsg cannot read says none."""
    try:
        return str(parse(text)) == str(task)
    except RsgError:
        return False


def draw(path: Path, source: Domain, shown: Demonstration, found: Segmentation, ranking: Sequence[Recognised]) -> None:
    """What a trajectory was recognised as, as a PNG file: on a picture of the whole way, or else as a timeline."""
    best, world = ranking[0], met(source.world(shown.setting), shown)
    told = "it was described so" if says(best.task, shown.task) else f"it was described as “{shown.task}”"
    note = f"{best.probability:.0%} among {quantity(len(ranking), 'candidate')}; {told}"
    floor = source.trail(world, shown.states, parts(found), len(found.ends))
    if floor is None:
        draw_timeline(path, world, shown.states, actions_of(shown), found, note)
    else:
        draw_on_floor(path, world, actions_of(shown), found, floor, note)


def draw_labels(folder: Path, store: Store, domain: Domain, labels: Labels) -> None:
    """A picture of each recording that has labels, `episode-00000.png` and so on: all of them, or none."""
    with new_folder(folder) as drawn, progress("drawing", len(store), "recordings") as advance:
        for demo, line in zip(store, labels.lines(), strict=True):
            if cut := line["segments"]:
                ends = tuple((one["term"], one["end"]) for one in cut)
                terms = tuple(one["term"] for one in cut for _ in range(one["start"], one["end"]))
                world = met(domain.world(demo.setting), demo)
                shown = with_actions(world, demo)
                least = min(one["confidence"] for one in cut)
                note = f"episode {line['episode']}; the least sure of its ends: {least:.0%}"
                found = Segmentation(parse(line["task"]), 0.0, terms, ends)
                picture = drawn / f"episode-{line['episode']:05}.png"
                draw_timeline(picture, world, shown.states, actions_of(shown), found, note)
            advance(1)


def draw_timeline(
    path: str | Path,
    world: EitherWorld,
    states: Array,
    actions: Array,
    found: Segmentation,
    note: str = "",
) -> None:
    """The timeline as a PNG file, a slide wide, with the map at the start and at each subgoal's end.

    note: a line below the task.
    """
    served, moments = parts(found), _moments(found)
    if not hasattr(world, "render"):
        with slide(path, found, note) as body:
            bars = body.subplots()
            draw_bars(bars, served, found)
            name_steps(bars, world, actions)
        return
    rows = -(-len(moments) // MAPS_IN_A_ROW)
    columns = -(-len(moments) // rows)
    low = 1.1 + max(0.27, min(0.45, 2.6 / len(served))) * len(served)  # inches of the bars
    height = max(SLIDE, 1.8 + 2.4 * rows + low)
    with slide(path, found, note, height) as body:
        above, below = body.subfigures(2, 1, height_ratios=(height - 1.8 - low, low))
        bars = below.subplots()
        draw_bars(bars, served, found)
        name_steps(bars, world, actions)
        places = above.subplots(rows, columns, squeeze=False).flat
        for number, ((name, step), axes) in enumerate(zip(moments, places, strict=False)):
            color = _color(number - 1) if number else PAPER
            axes.set_title(name, fontsize=12 if columns <= 6 else 10, color=color)
            axes.imshow(world.render(states[step]), interpolation="bicubic")
            axes.set(xticks=[], yticks=[], anchor="N")
            axes.spines[:].set(visible=True, color=color, linewidth=2.5)
            if rows == 1:  # then a line leads from each map to its place in time
                _connect(axes, bars, step, color)
        for axes in places:  # where no map is
            axes.axis("off")


def draw_on_floor(
    path: str | Path,
    world: EitherWorld,
    actions: Array,
    found: Segmentation,
    floor: Bytes,
    note: str = "",
) -> None:
    """A PNG file, a slide large: the whole way in one picture `floor`, and a timeline in the same colours.

    The other arguments are those of `draw_timeline`.
    """
    served = parts(found)
    with slide(path, found, note) as body:
        left, beside = body.subfigures(1, 2)
        plan = left.subplots()
        plan.imshow(floor, interpolation="antialiased")
        plan.set_anchor("NW")
        plan.axis("off")
        bars, words = beside.subplots(2, 1, height_ratios=(len(served), max(1, 7 - len(served))))
        draw_bars(bars, served, found)
        bars.set_yticks(range(len(served)), [f"{number}  {part.term}" for number, part in enumerate(served, 1)])
        name_steps(bars, world, actions, room=24)
        words.text(0, 0, fill(_FLOOR, 68), fontsize=10, color=FAINT)
        words.axis("off")


@contextmanager
def slide(path: str | Path, found: Segmentation, note: str, height: float = SLIDE) -> Iterator[Any]:
    """What is below a task and a line about it, to be drawn on; written as a PNG file at the end."""
    with rc_context({"font.size": 12, **PLAIN}):
        layout = ConstrainedLayoutEngine(rect=(0.02, 0.02, 0.96, 0.96), w_pad=0.1, h_pad=0.1)
        figure = Figure(figsize=(WIDE, height), facecolor="white", layout=layout)
        title = fill(f"“{found.task}”", 82, max_lines=4, placeholder=" …", break_on_hyphens=False)
        figure.suptitle(title, fontsize=17, fontweight="bold", color=PAPER, x=0.03, ha="left")
        body: Any = figure.subfigures()
        body.suptitle(shorten(note, 125, placeholder=" …"), fontsize=12, color=FAINT, x=0.01, ha="left")
        yield body
        save(path, png(figure, 150))


def _color(number: int) -> str:
    """Of a subgoal by its place in the order."""
    return COLORS[number % len(COLORS)]


def draw_bars(axes: Axes, served: Sequence[Part], found: Segmentation) -> None:
    """A bar for each subgoal; one that did not come true yet is paler."""
    for row, part in enumerate(served):
        ended = row < len(found.ends)
        left, length = part.start, part.end - part.start
        axes.barh(row, length, left=left, height=0.62, color=_color(row), alpha=1.0 if ended else 0.55)
        if ended:
            look: dict[str, Any] = {"mec": _color(row), "mew": 2.5, "markersize": 9, "clip_on": False, "zorder": 3}
            axes.plot(part.end, row, "D", color="white", **look)
        else:
            axes.annotate("…", (part.end, row), (6, 0), textcoords="offset points", va="center", fontsize=16)
    axes.set(ylim=(len(served) - 0.5, -0.5), xlim=(0, len(found.terms)))
    axes.set_yticks(range(len(served)), [part.term for part in served])
    axes.spines["left"].set_visible(False)
    axes.tick_params(axis="y", length=0)


def name_steps(axes: Axes, world: EitherWorld, actions: Array, room: int = 50) -> None:
    """The number of each step, and below it what was done; if there are more than have room, only of some."""
    steps, (marks, meanings) = len(actions), signs(world, actions, arrows=True)
    every = next(each for each in (1, 2, 5, 10, 20, 50, 100, 1000, steps) if steps <= room * each)
    apart, names = (1, "step\naction") if every <= 2 else (every, "step")  # of steps that are shown
    shown = range(apart - 1, steps, apart)
    numbers = [str(step + 1) if (step + 1) % every == 0 else "" for step in shown]
    ticks = [f"{number}\n{marks[step] if apart == 1 else ''}" for number, step in zip(numbers, shown, strict=True)]
    look: dict[str, Any] = {"fontsize": 12 if steps <= 0.6 * room else 9, "linespacing": 1.5}
    axes.set_xticks([step + 0.5 for step in shown], ticks, **look)
    axes.set_xticks(range(0, steps + 1, apart), minor=True)
    axes.tick_params(axis="x", length=0)
    axes.tick_params(axis="x", which="minor", length=4, color="#999999")
    axes.set_axisbelow(True)
    axes.grid(axis="x", which="minor", color="#ececec")
    place: dict[str, Any] = {"xycoords": "axes fraction", "textcoords": "offset points", "ha": "right", "va": "top"}
    axes.annotate(names, (0, 0), (-6, -3.5), **place, **look, color=FAINT)
    key = "   ".join(["◇ came true", *(meanings if apart == 1 else [])])
    axes.set_xlabel(key, loc="right", fontsize=10, color=FAINT)


def _moments(found: Segmentation) -> list[tuple[str, int]]:
    """The states that are shown, with their names: the start, each subgoal's end, and where it is now."""
    ends = [(f"{term}\nafter step {step}", step) for term, step in found.ends]
    now = [(f"now: {found.now}\nafter step {len(found.terms)}", len(found.terms))] if found.now else []
    return [("start", 0), *ends, *now]


def _connect(axes: Axes, bars: Axes, step: int, color: str) -> None:
    """A dashed line from below a map to the end of a step."""
    ends: dict[str, Any] = {"coordsA": "axes fraction", "coordsB": "data", "axesA": axes, "axesB": bars}
    look: dict[str, Any] = {"color": color, "ls": (0, (3, 2)), "lw": 1.5, "alpha": 0.8}
    line = ConnectionPatch((0.5, 0), (step, bars.get_ylim()[1]), **ends, **look)
    line.set_in_layout(False)
    axes.figure.add_artist(line)
