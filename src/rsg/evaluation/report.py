"""The report of a run: one HTML file that needs nothing else, with figures, curves, examples and all settings."""

from __future__ import annotations

import os
import platform
from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from rsg.core.errors import RunError
from rsg.core.files import replacing
from rsg.core.random import stream
from rsg.core.version import __version__
from rsg.demos import Benchmark
from rsg.evaluation import report_pictures as pictures
from rsg.evaluation.report_examples import (
    COST_MAP,
    COST_TASK,
    Followed,
    Planned,
    cost_maps,
    follow_demonstration,
    plan_novel_task,
)
from rsg.evaluation.report_results import (
    PAPERS,
    SPLITS,
    Paper,
    Results,
    Sizes,
    duration,
    measure,
    percent,
    unseen_success,
)
from rsg.evaluation.timeline import signs
from rsg.evaluation.trained import source_of
from rsg.search import is_continuous
from rsg.subgoals import Classifiers, RsgSettings, load_subgoals
from rsg.training import Run, TrainingSettings
from rsg.training.settings import restored

__all__ = [
    "SPLITS",
    "Paper",
    "Reported",
    "Results",
    "Sizes",
    "duration",
    "measure",
    "open_run",
    "percent",
    "write_report",
]

WORLDS = {"crafting": "Crafting World", "playroom": "Playroom"}


@dataclass(frozen=True, eq=False)
class Reported:
    """A run, opened for a report.

    Attributes:
        folder: where it is.
        source: the benchmark that it was trained for.
        subgoals: what it learned.
        settings: how.
        about: what the run says about itself.
        notes: of its last checkpoint: steps, history, seconds.
    """

    folder: Path
    source: Benchmark
    subgoals: Classifiers
    settings: RsgSettings
    about: dict[str, Any]
    notes: dict[str, Any]


def open_run(folder: str | Path) -> Reported:
    """Read a run; it must have learned subgoals in a world with a benchmark."""
    run = Run(folder)
    subgoals = load_subgoals(folder)
    if not run.about.get("source", {}).get("world"):
        raise RunError(f"{folder} does not say which world it is of; a report can be made of runs of 'rsg train'")
    settings = restored(RsgSettings, run.about["settings"])
    return Reported(Path(folder), source_of(run), subgoals, settings, run.about, run.load("last").notes)


def write_report(
    path: str | Path, run: str | Path | Reported, results: Results, command: str = "", losses: Sequence[float] = ()
) -> Path:
    """Write the report of a run as one HTML file.

    Args:
        path: the file.
        run: its folder, or the run already opened.
        results: what `measure` gave for it.
        command: how the report was asked for, to be shown.
        losses: of every step, if known; the run itself keeps those of some steps.
    """
    opened = run if isinstance(run, Reported) else open_run(run)
    sections = [
        _headline(opened, results),
        training(opened.notes, opened.settings, losses),
        _learned(follow_demonstration(opened.source, opened.subgoals, opened.settings)),
        _costs(opened) if opened.source.name == "crafting" else _places(opened),
        _novel(plan_novel_task(opened.source, opened.subgoals)),
        details(opened.folder, opened.about, opened.settings, command),
    ]
    return write_page(Path(path), sections)


def write_page(path: Path, sections: Sequence[str]) -> Path:
    """Write sections as one HTML file."""
    page = _PAGE.replace("@BODY@", "\n".join(sections))
    with replacing(path) as part:
        part.write_text(page, encoding="utf-8")
    return path


def _headline(run: Reported, results: Results) -> str:
    own, paper = results["rsg"], PAPERS[run.source.name]
    tiles = [
        tile(percent(own["compositional"]["success"]), "compositional tasks", percent(paper.compositional)),
        tile(percent(own["novel"]["success"]), "novel tasks", percent(paper.novel)),
        tile(duration(run.notes["seconds"]), "training", duration(paper.training)),
        tile(duration(own["novel"]["plan_ms_median"] / 1000), "a plan for a novel task", duration(paper.plan)),
    ]
    known = unseen_success(results)[1]
    unseen = f"Unseen only: without {_and(known)}, which is also trained on. " if known else ""
    text = (
        f"<h1>Rational subgoals in {WORLDS[run.source.name]}</h1>"
        f"<p class='lead'>What the run <code>{escape(run.folder.name)}</code> learned from demonstrations and their "
        "descriptions, and how well plans made with it do what was asked.</p>"
        f"<div class='tiles'>{''.join(tiles)}</div>{_success_table(run, results)}"
        "<p class='note'>Each plan may expand 5,000 (state, node) pairs, is replayed in the true world and judged by "
        "the true meaning of the terms. Strict: each subgoal is false where its part begins and true where it ends. "
        "Lenient: each is true somewhere, in order. In brackets the 95 % interval. "
        f"{unseen}{_floor_note(run)}Starts are drawn with seed {own['novel']['seed']}. "
        "Training time is processor time; where kernels had to be compiled during training, that is in it. "
        "The paper, which does not state its hardware: "
        f"<cite>{escape(paper.source)}</cite>.</p>"
    )
    return page_section("", text + task_tables(results["rsg"], "expansions"))


def _floor_note(run: Reported) -> str:
    in_a_room = run.source.name == "playroom"
    return "Untrained: plans on the roadmap alone, because random trees would take minutes. " if in_a_room else ""


def tile(value: str, label: str, paper: str) -> str:
    """A figure for the head of the page, beside the paper's."""
    return f"<div class='tile'><b>{value}</b><span>{label}</span><small>paper {paper}</small></div>"


def _success_table(run: Reported, results: Results) -> str:
    models = (results["rsg"], results["untrained"])
    paper = PAPERS[run.source.name]
    rows = []
    for split in SPLITS:
        strict, floor = (f"<b>{percent(found[split]['success'])}</b> {interval(found[split])}" for found in models)
        rows.append([f"{split}, strict", strict, f"<b>{percent(getattr(paper, split))}</b>", floor])
        lenient, floor = (percent(found[split]["success_lenient"]) for found in models)
        rows.append([f"{split}, lenient", lenient, "", floor])
    unseen, known = unseen_success(results)
    if known:
        rows.append(["novel, strict, unseen only", percent(unseen), "", ""])
    for split in SPLITS:
        rows.append([f"starts, {split}", f"{models[0][split]['episodes']:,}", "", f"{models[1][split]['episodes']:,}"])
    for split in SPLITS:
        own, floor = (duration(found[split]["plan_ms_median"] / 1000) for found in models)
        rows.append([f"median time of a plan, {split}", own, duration(paper.plan), floor])
    rows.append(["training", duration(run.notes["seconds"]), f"{duration(paper.training)}", ""])
    return html_table(["", "RSG, this run", "RSG, paper", "untrained"], rows, "figures")


def interval(found: dict[str, Any]) -> str:
    """The 95 % interval of a rate of success."""
    low, high = found["success_interval"]
    return f"<small>[{100 * low:.1f}, {100 * high:.1f}]</small>"


def task_tables(results: Mapping[str, dict[str, Any]], effort: str) -> str:
    """The figures of each task, by split; `effort` is what is counted of a plan or an episode."""
    parts = []
    for split in SPLITS:
        rows = [
            [
                escape(row["task"]),
                percent(row["success"]),
                percent(row["success_lenient"]),
                f"{row['expansions_mean']:,.0f}",
                f"{row['plan_ms_median']:.2f}",
            ]
            for row in results[split]["tasks"]
        ]
        table = html_table([f"{split} task", "strict", "lenient", f"{effort}, mean", "ms, median"], rows)
        starts = results[split]["per_task"]
        parts.append(f"<details><summary>Task by task: {split}, {starts} starts each</summary>{table}</details>")
    return "".join(parts)


def training(notes: dict[str, Any], settings: TrainingSettings, losses: Sequence[float] = ()) -> str:
    """How a run of any method was trained."""
    history, curriculum = notes["history"], settings.curriculum
    charts = [
        pictures.curve(history, "held_out", "score of held-out demonstrations", curriculum),
        pictures.curve(history, "loss", "loss of the batch", curriculum, losses),
    ]
    ended = escape(notes["done"]) or "interrupted"
    shaded = " Shaded: steps with single-term tasks only; when longer tasks join, the loss rises." if curriculum else ""
    best = f"best held-out score {notes['best']:.3f} at step {notes['best_step']}" if notes["best"] is not None else ""
    text = (
        f"<p>{notes['step']:,} steps of {settings.batch} demonstrations ({ended}), "
        f"{duration(notes['seconds'])} of processor time; {best}. Training sees trajectories and descriptions, never "
        f"the truth: it keeps the weights that explain held-out demonstrations best.{shaded}</p>"
    )
    return page_section("Training", text + f"<div class='row'>{''.join(map(figure, charts))}</div>")


def _learned(shown: Followed) -> str:
    truth = [step for number in range(len(shown.terms)) for step in shown.turns(number)]
    hits = sum(part.end in truth for part in shown.segments)
    text = (
        f"<p>A demonstration that was not trained on, of <code>{escape(shown.demo.task)}</code>. Lines: how sure each "
        "classifier G is that its subgoal holds. Shaded: the steps that the alignment gives to that subgoal. Dashed: "
        f"where the subgoal really comes true, which training never sees. {hits} of {len(shown.segments)} parts end "
        "exactly where a subgoal comes true.</p>"
    )
    strips = f"<div class='wide'>{figure(pictures.response_strips(shown))}</div>"
    return page_section("What it learned", f"{text}{strips}{_moments(shown)}")


def _moments(shown: Followed) -> str:
    """The state at the end of each part; in a room the whole way, on one floor plan."""
    if is_continuous(shown.world):
        words = (
            "The robot after each step, in the colour of the subgoal that the step serves; in full colour where it "
            "starts, and with a number where the alignment says that a subgoal came true."
        )
        drawn = figure(_png(pictures.floor_picture(shown), "the demonstration on the floor plan"), words)
        return f"<div class='row floor'>{drawn}</div>"
    states = [(0, "start"), *((part.end, f"step {part.end}: {part.term}") for part in shown.segments)]
    small = [
        figure(_png(pictures.state_picture(shown.world, shown.demo.states[step]), words), escape(words))
        for step, words in states
    ]
    return f"<div class='row small'>{''.join(small)}</div>"


def _places(run: Reported) -> str:
    """Where subgoals of Playroom hold."""
    world, state = run.source.start("novel", 0, stream(0, "report", "heat"))
    text = (
        "<p>In a random start, how sure each classifier G is that its subgoal holds, for each place of the robot: in "
        "the whole room, and around the effector for several orientations. Planners want to be surer than even odds, "
        "by a margin that was learned along with the classifiers.</p>"
    )
    drawn = figure(_png(pictures.heat_picture(run.subgoals, world, state), "where each subgoal holds"))
    return page_section("Where subgoals hold", f"{text}<div class='wide'>{drawn}</div>")


def _costs(run: Reported) -> str:
    from rsg.worlds.crafting.text import read_map

    world, state = read_map(COST_MAP)
    maps = cost_maps(world, state, COST_TASK, run.subgoals, run.settings)
    drawn = []
    for shown in maps:
        held = ", ".join(world.inventory(shown.state)) or "nothing"
        low, high = shown.range
        words = f"<b>{escape(shown.term)}</b>, holding {escape(held)}: {low:.2f} to {high:.2f}"
        drawn.append(figure(_png(pictures.cost_picture(shown), f"cost-to-go of {shown.term}"), words))
    text = (
        f"<p>The paper’s value-function figure for <code>{COST_TASK}</code>: for each machine node, every cell is "
        "coloured by what is left to pay when the agent stands there, J(s, v), computed with the learned classifiers. "
        "Deeper colour is a larger cost; each picture has its own scale. Dotted: a rational way from where the node is "
        "entered; red box: where it is left for the next one.</p>"
    )
    return page_section("Cost-to-go", f"{text}<div class='row'>{''.join(drawn)}</div>")


def _novel(shown: Planned) -> str:
    made = shown.plan
    marks = signs(shown.world, made.actions, arrows=True)[0] if made.found else []
    rows = [
        [
            escape(part.term),
            f"{part.start + 1}–{part.end}",
            f"<span class='moves'>{' '.join(marks[part.start : part.end])}</span>",
        ]
        for part in shown.segments
    ]
    verdict = "does the task" if shown.verdict.ok else shown.verdict.reason
    effort = f"{made.expansions:,} expansions, {1000 * made.seconds:.2f} ms"
    size = f"{len(shown.actions)} steps, cost {made.cost:.2f}; " if made.found else ""
    text = (
        f"<p>The last of the novel tasks, never trained on: <code>{escape(str(made.task))}</code>. "
        f"{size}{effort}. Replayed in the true world: <b>{escape(verdict)}</b>.</p>"
    )
    film = figure(gif(pictures.plan_animation(shown), "the plan, step by step"))
    steps = html_table(["subgoal", "steps", "actions"], rows) if rows else ""
    return page_section("A plan for a novel task", f"{text}<div class='row plan'>{film}<div>{steps}</div></div>")


def details(folder: Path, about: dict[str, Any], settings: TrainingSettings, command: str) -> str:
    """How a run of any method and its report came about."""
    import torch

    origin, usual = about.get("source", {}), type(settings)()
    facts = {
        "command": command,
        "rsg": __version__,
        "python, torch": f"{platform.python_version()}, {torch.__version__}",
        "machine": f"{platform.platform()}, {platform.machine()}, {os.cpu_count()} cores",
        "run": str(folder),
        "seed": str(settings.seed),
        "demonstrations": str(origin.get("demos", "given in memory")),
        "SHA-256 of the data": about["data"],
        "terms": f"{len(about['terms'])}: {', '.join(about['terms'])}",
    }
    first = html_table(
        ["", ""], [[key, f"<code>{escape(text)}</code>"] for key, text in facts.items() if text], "facts"
    )
    changed = [
        [key, f"<code>{escape(str(value))}</code>", "" if getattr(usual, key) == value else f"{getattr(usual, key)}"]
        for key, value in about["settings"].items()
    ]
    table = html_table(["setting", "value", "default, where it differs"], changed, "facts")
    return page_section("Details", f"{first}<details><summary>All settings of the run</summary>{table}</details>")


def page_section(title: str, content: str) -> str:
    """A part of the page."""
    heading = f"<h2>{escape(title)}</h2>" if title else ""
    return f"<section>{heading}{content}</section>"


def figure(content: str, caption: str = "") -> str:
    """A picture with what is said below it."""
    return f"<figure>{content}{f'<figcaption>{caption}</figcaption>' if caption else ''}</figure>"


def html_table(titles: Sequence[str], rows: Iterable[Sequence[str]], kind: str = "") -> str:
    """A table; its cells are HTML already."""
    head = "".join(f"<th>{escape(title)}</th>" for title in titles) if any(titles) else ""
    body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    return f"<div class='wide'><table class='{kind}'><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"


def _png(data: bytes, words: str) -> str:
    return f'<img alt="{escape(words)}" src="data:image/png;base64,{b64encode(data).decode()}">'


def gif(data: bytes, words: str) -> str:
    """An animation."""
    return f'<img alt="{escape(words)}" src="data:image/gif;base64,{b64encode(data).decode()}">'


def _and(names: Sequence[str]) -> str:
    return " and ".join(f"<code>{escape(name)}</code>" for name in names)


_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>rsg report</title>
<style>
:root {
  --ground: #fbfaf7; --card: #ffffff; --ink: #22272e; --soft: #5c6570; --faint: #b9bfc7;
  --accent: #1f6fb2; --second: #c4481c; --band: #d9e8f5; --line: #e4e2dc;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #14171c; --card: #1c2027; --ink: #e6e9ee; --soft: #a2abb8; --faint: #59626e;
    --accent: #6fb6f2; --second: #ff9a6b; --band: #253a4e; --line: #2d333d;
  }
}
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 62rem; padding: 1.2rem; background: var(--ground); color: var(--ink);
  font: 16px/1.5 system-ui, sans-serif; }
section { background: var(--card); border: 1px solid var(--line); border-radius: 12px; padding: 1.1rem 1.3rem;
  margin: 0 0 1.1rem; }
h1 { font-size: 1.6rem; line-height: 1.2; margin: .2rem 0 .4rem; }
h2 { font-size: 1.2rem; margin: 0 0 .4rem; }
p { margin: .4rem 0 .8rem; max-width: 54rem; }
.lead { color: var(--soft); }
.note { font-size: .85rem; color: var(--soft); }
code { font-size: .9em; overflow-wrap: anywhere; background: var(--band); border-radius: 4px; padding: .05em .3em; }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(10rem, 1fr)); gap: .8rem; margin: 1rem 0; }
.tile { border: 1px solid var(--line); border-radius: 10px; padding: .7rem .9rem; display: grid; }
.tile b { font-size: 1.7rem; line-height: 1.2; color: var(--accent); }
.tile small { color: var(--soft); }
.wide { overflow-x: auto; }
.wide svg { min-width: 36rem; }
table { border-collapse: collapse; font-size: .9rem; font-variant-numeric: tabular-nums; margin: .4rem 0 .8rem; }
th, td { text-align: right; padding: .3rem .8rem .3rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
th { color: var(--soft); font-weight: 600; }
th:first-child, td:first-child, .facts td, .facts th, .plan th, .plan td { text-align: left; }
.facts td:first-child { white-space: nowrap; }
.figures td:not(:first-child) { white-space: nowrap; }
.figures td:first-child { min-width: 9rem; }
td small { color: var(--soft); }
.figures th { white-space: nowrap; }
.moves { letter-spacing: .05em; }
figure { margin: 0; }
figcaption { font-size: .85rem; color: var(--soft); padding-top: .25rem; }
img, svg { display: block; max-width: 100%; height: auto; border-radius: 6px; }
svg { width: 100%; }
.row { display: flex; flex-wrap: wrap; gap: 1.1rem; margin-top: .8rem; }
.row > figure { flex: 1 1 17rem; min-width: 0; }
.row.small > figure { flex: 0 1 9rem; }
.row.plan > figure { flex: 0 1 18rem; }
.row.floor > figure { flex: 0 1 34rem; }
.row.plan > div { flex: 1 1 18rem; min-width: 0; }
summary { cursor: pointer; color: var(--accent); padding: .2rem 0; }
@media (max-width: 40rem) { body { padding: .6rem; } section { padding: .9rem; } td small { display: block; } }
</style>
</head>
<body>
@BODY@
</body>
</html>
"""
