"""The report of a run: one HTML file that needs nothing else, with figures, curves, examples and all settings."""

from __future__ import annotations

import os
import platform
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from jinja2 import Environment, PackageLoader, StrictUndefined

from rsg.core.files import replacing
from rsg.core.random import stream
from rsg.core.version import __version__
from rsg.demos import Benchmark
from rsg.evaluation import report_pictures as pictures
from rsg.evaluation.paper import LABELS, RSG, SOURCE, Printed
from rsg.evaluation.report_examples import (
    COST_MAP,
    COST_TASK,
    Followed,
    cost_maps,
    follow_demonstration,
    plan_novel_task,
)
from rsg.evaluation.report_results import Results, duration, percent, unseen_success
from rsg.evaluation.timeline import signs
from rsg.evaluation.trained import source_of
from rsg.search import is_continuous
from rsg.subgoals import Classifiers, RsgSettings, load_subgoals
from rsg.training import Run, TrainingSettings
from rsg.training.settings import restored
from rsg.worlds.crafting.text import read_map

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
    run, subgoals = Run(folder), load_subgoals(folder)
    settings = restored(RsgSettings, run.about["settings"])
    return Reported(Path(folder), source_of(run), subgoals, settings, run.about, run.load("last").notes)


def write_report(
    path: str | Path, run: Reported, results: Results, command: str = "", losses: Sequence[float] = ()
) -> Path:
    """Write the report of a run as one HTML file.

    Args:
        path: the file.
        run: the run, opened.
        results: what `measure` gave for it.
        command: how the report was asked for, to be shown.
        losses: of every step, if known; the run itself keeps those of some steps.
    """
    unseen, known = unseen_success(results)
    followed = follow_demonstration(run.source, run.subgoals, run.settings)
    planned = plan_novel_task(run.source, run.subgoals)
    shown = _in_a_room if is_continuous(followed.world) else _on_a_map
    values = {
        **history(run.notes, run.settings, losses),
        **origin(run.folder, run.about, run.settings, command),
        **beside_the_paper(run.source.name, RSG, results["rsg"]),
        "floor": results["untrained"],
        "unseen": unseen,
        "known": known,
        "followed": followed,
        "strips": pictures.response_strips(followed),
        **shown(run, followed),
        "planned": planned,
        "marks": signs(planned.world, planned.plan.actions, arrows=True)[0] if planned.plan.found else [],
        "film": pictures.plan_animation(planned),
    }
    return write_page(Path(path), "subgoals.html", values)


def beside_the_paper(world: str, method: str, own: dict[str, Any]) -> dict[str, Any]:
    """The figures of a run of any method by split, and the paper's, for a page."""
    printed = Printed.of(world, method)
    return {"place": WORLDS[world], "label": LABELS[method], "own": own, "paper": printed, "source": SOURCE}


def write_page(path: Path, template: str, values: dict[str, Any]) -> Path:
    """Write an HTML file from a template of this package."""
    pages = Environment(loader=PackageLoader("rsg.evaluation"), autoescape=True, undefined=StrictUndefined)
    pages.filters |= {"percent": percent, "duration": duration, "base64": lambda data: b64encode(data).decode()}
    text = pages.get_template(template).render(values)
    with replacing(path) as part:
        part.write_text(text, encoding="utf-8")
    return path


def history(notes: dict[str, Any], settings: TrainingSettings, losses: Sequence[float] = ()) -> dict[str, Any]:
    """How a run of any method was trained, for a page."""
    rows, curriculum = notes["history"], settings.curriculum
    curves = [
        pictures.curve(rows, "held_out", "score of held-out demonstrations", curriculum),
        pictures.curve(rows, "loss", "loss of the batch", curriculum, losses),
    ]
    return {"notes": notes, "settings": settings, "curves": curves}


def origin(folder: Path, about: dict[str, Any], settings: TrainingSettings, command: str) -> dict[str, Any]:
    """How a run of any method and its report came about, for a page."""
    usual = type(settings)()
    facts = {
        "command": command,
        "rsg": __version__,
        "python, torch": f"{platform.python_version()}, {torch.__version__}",
        "machine": f"{platform.platform()}, {platform.machine()}, {os.cpu_count()} cores",
        "run": str(folder),
        "seed": str(settings.seed),
        "demonstrations": str(about.get("source", {}).get("demos", "given in memory")),
        "SHA-256 of the data": about["data"],
        "terms": f"{len(about['terms'])}: {', '.join(about['terms'])}",
    }
    values = [(key, value, getattr(usual, key, value)) for key, value in about["settings"].items()]
    return {"folder": folder, "facts": facts, "values": values}


def _on_a_map(run: Reported, followed: Followed) -> dict[str, Any]:
    """States at the ends of parts, and the costs-to-go."""
    states = [(0, "start"), *((part.end, f"step {part.end}: {part.term}") for part in followed.segments)]
    world, state = read_map(COST_MAP)
    costs = [
        (shown, ", ".join(world.inventory(shown.state)) or "nothing", pictures.cost_picture(shown))
        for shown in cost_maps(world, state, COST_TASK, run.subgoals, run.settings)
    ]
    moments = [(words, pictures.state_picture(followed.world, followed.demo.states[step])) for step, words in states]
    return {"moments": moments, "costs": costs, "cost_task": COST_TASK, "heat": None, "floor_plan": None}


def _in_a_room(run: Reported, followed: Followed) -> dict[str, Any]:
    """The whole way on one floor plan, and where subgoals hold."""
    world, state = run.source.start("novel", 0, stream(0, "report", "heat"))
    heat = pictures.heat_picture(run.subgoals, world, state)
    return {"floor_plan": pictures.floor_picture(followed), "heat": heat}
