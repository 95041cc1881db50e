"""The report of a run: one HTML file that needs nothing else, with figures, curves, examples and all settings."""

import os
import platform
from base64 import b64encode
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from jinja2 import Environment, PackageLoader, StrictUndefined

from rsg.baselines import baseline_of, policy_for, settings_of_run
from rsg.core.files import replacing
from rsg.core.progress import Advance, progress
from rsg.core.random import stream
from rsg.core.version import __version__
from rsg.domain import Domain, Printed
from rsg.evaluation import report_pictures as pictures
from rsg.evaluation.films import plan_film
from rsg.evaluation.planning import Starts
from rsg.evaluation.policies import Examples, episode_film, evaluate_policy
from rsg.evaluation.report_results import (
    Followed,
    Results,
    Sizes,
    duration,
    follow_demonstration,
    measure,
    percent,
    plan_novel_task,
    unseen_success,
)
from rsg.evaluation.timeline import signs
from rsg.subgoals import Readings, demonstrators, load
from rsg.training import Run
from rsg.training.origin import home
from rsg.worlds import is_continuous

RSG, ORACLE, PICTURES = "rsg", "oracle", "bc-fsm-image"
LABELS = {
    RSG: "RSG",
    "irl": "IRL",
    "gail": "GAIL",
    "bc": "BC",
    "bc-fsm": "BC-FSM",
    PICTURES: "BC-FSM, pictures",
    "lstm": "LSTM",
    ORACLE: "oracle (the truth)",
}
SOURCE = "Learning Rational Subgoals from Demonstrations and Instructions (AAAI 2023)"


@dataclass(frozen=True, eq=False)
class Reported:
    """A run, opened for a report."""

    folder: Path  # where it is
    source: Domain  # the domain that it was trained in
    learned: Any  # its subgoals; of a baseline, its policy
    settings: Any  # how
    about: dict[str, Any]  # what the run says about itself
    notes: dict[str, Any]  # of its last checkpoint: steps, history, seconds


def open_run(folder: str | Path, domain: Domain | None = None) -> Reported:
    """Read a run that learned subgoals or a policy; domain: where, if the run's own is not to be found."""
    run = Run(folder)
    source = home(run, domain)
    learned: Any
    settings: Any
    if baseline_of(folder):
        world, _ = source.start_of(source.reported[-1], 0, stream(0, "world"))
        learned, settings = policy_for(folder, source, world), settings_of_run(run)
    else:
        learned = load(folder, source)
        settings = learned.settings
    return Reported(Path(folder), source, learned, settings, run.about, run.load("last").notes)


def measure_policy(run: Reported, per_task: int, seed: int, advance: Advance | None = None) -> tuple[Results, Examples]:
    """Let a policy act from some starts of each task: the figures of each split, and what was kept to be shown."""
    kept, splits = Examples(run.source), dict[str, dict[str, Any]]()
    for split in run.source.reported:
        see = None if splits else kept.see
        starts = Starts(split, per_task, seed)
        splits[split] = evaluate_policy(run.source, starts, run.learned, advance=advance, see=see)
    return {run.about["method"]: splits}, kept


def measured(run: Reported, sizes: Sizes, seed: int = 0) -> tuple[Results, Examples | None]:
    """How well a run does, with a bar for a person who waits: its plans, or what its policy does, and what was kept."""
    if not run.source.has("truth"):
        raise run.source.lacks("truth", "plans cannot be judged without it")
    if not run.source.reported:
        raise run.source.lacks("tasks", "there is nothing to plan for")
    if run.about["method"] == RSG:
        with progress("planning", sizes.plans(run.source), "plans") as advance:
            return measure(run.source, run.learned, sizes, seed, advance), None
    per_task = sizes.of(run.source)[run.source.reported[-1]]
    starts = per_task * sum(len(run.source.tasks(split)) for split in run.source.reported)
    with progress("acting", starts, "episodes") as advance:
        return measure_policy(run, per_task, seed, advance)


def write_report(
    path: str | Path, run: Reported, results: Results, command: str = "", kept: Examples | None = None
) -> Path:
    """Write the report of a run as one HTML file.

    results: by split for its method, and for what stands beside it, as `measured` gives them; command: how the report
    was asked for, to be shown; kept: episodes of a policy that are to be shown, None of a run of RSG.
    """
    values = _about(run, results[run.about["method"]], command)
    values |= _learned(run, results) if kept is None else {"films": _films(run, kept, values["own"])}
    pages = Environment(loader=PackageLoader("rsg.evaluation"), autoescape=True, undefined=StrictUndefined)
    pages.filters |= {"percent": percent, "duration": duration, "base64": lambda data: b64encode(data).decode()}
    text = pages.get_template("policy.html" if kept else "subgoals.html").render(values)
    path = Path(path)
    with replacing(path) as part:
        part.write_text(text, encoding="utf-8")
    return path


def _films(run: Reported, kept: Examples, splits: dict[str, Any]) -> list[tuple[str, str, bytes]]:
    """Episodes of a policy: good or failed, the task, and a film."""
    if not run.source.parts()["picture"]:
        return []
    split = run.source.reported[0]
    tasks, seed = run.source.tasks(split), splits[split]["seed"]
    return [(kind, tasks[one["task"]], episode_film(run.source, one, seed)) for kind, one in kept.found.items()]


def _learned(run: Reported, results: Results) -> dict[str, Any]:
    """What the page of RSG shows besides: a demonstration as it sees it, where subgoals hold, a plan."""
    unseen, known = unseen_success(results)
    followed = follow_demonstration(run.source, run.learned)
    world, plan, verdict = plan_novel_task(run.source, run.learned)
    read, drawn = isinstance(run.learned.classifiers, Readings), hasattr(world, "render")
    return {
        "readings": run.learned.tell(world) if read else [],
        "demonstrators": demonstrators(run.learned.classifiers.shape) if read else "",
        "floor": results["untrained"],
        "unseen": unseen,
        "known": known,
        "followed": followed,
        "strips": pictures.response_strips(followed),
        **_seen(run.source, followed),
        "illustrations": run.source.illustrations(run.learned.classifiers, run.settings),
        "continuous": is_continuous(world),
        "plan": plan,
        "verdict": verdict,
        "marks": signs(world, plan.actions, arrows=True)[0] if plan.found else [],
        "film": plan_film(run.source, world, plan) if drawn else None,
    }


def _about(run: Reported, own: dict[str, Any], command: str) -> dict[str, Any]:
    """What the page of any method says: figures by split beside the paper's, how it was trained, how it came about."""
    about, settings, usual = run.about, run.settings, type(run.settings)()
    method, rows = about["method"], run.notes["history"]
    facts = {
        "command": command,
        "rsg": __version__,
        "python, torch": f"{platform.python_version()}, {torch.__version__}",
        "machine": f"{platform.platform()}, {platform.machine()}, {os.cpu_count()} cores",
        "run": str(run.folder),
        "seed": str(settings.seed),
        "demonstrations": str(about.get("source", {}).get("demos", "given in memory")),
        "SHA-256 of the data": about["data"],
        "terms": f"{len(about['terms'])}: {', '.join(about['terms'])}",
    }
    return {
        "place": run.source.title,
        "label": LABELS[method],
        "own": own,
        "paper": run.source.published.get(method, Printed()),
        "printed": method in run.source.published,
        "source": SOURCE,
        "notes": run.notes,
        "settings": settings,
        "curves": [
            pictures.curve(rows, key, label, settings.curriculum)
            for key, label in (("held_out", "score of held-out demonstrations"), ("loss", "loss of the batch"))
            if rows
        ],
        "folder": run.folder,
        "facts": facts,
        "values": [(key, value, getattr(usual, key, value)) for key, value in about["settings"].items()],
    }


def _seen(source: Domain, followed: Followed) -> dict[str, Any]:
    """A demonstration in pictures: the whole way in one, or the states at the ends of parts, if they can be drawn."""
    world, states, parts = followed.world, followed.demo.states, followed.segments
    trail = source.trail(world, states, parts, len(parts))
    if trail is not None:
        return {"trail": pictures.small(trail, 256), "moments": []}
    steps = [(0, "start"), *((part.end, f"step {part.end}: {part.term}") for part in parts)]
    if not hasattr(world, "render"):
        steps = []
    moments = [(words, source.picture(world, states[step], source.pixels.get("small"))) for step, words in steps]
    return {"trail": None, "moments": [(words, pictures.small(drawn)) for words, drawn in moments]}
