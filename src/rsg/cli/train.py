"""`rsg train`: learn subgoals, or train a baseline."""

import json
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

from rsg.baselines import METHODS, preset, settings_of_run, train_baseline
from rsg.cli.command import Said, command, option
from rsg.cli.demos import demonstrate
from rsg.cli.options import Layout, WorldName
from rsg.cli.worlds import face_named
from rsg.core.errors import RsgError, RunError, unknown
from rsg.core.progress import is_hushed, progress
from rsg.core.settings import meanings
from rsg.core.words import quantity
from rsg.demos import Recipe, Store
from rsg.evaluation import Starts, evaluate_planning
from rsg.evaluation.policies import evaluate_policy
from rsg.evaluation.trained import room_of, source_in
from rsg.subgoals import Classifiers, Reading, RsgSettings, learn, load_subgoals
from rsg.subgoals.runs import BY_FACTS, ENCODERS, NO_FACTS, check_device, rebuilt
from rsg.subgoals.runs import preset as rsg_preset
from rsg.training import Progress, Run, TrainingSettings, changed
from rsg.training.checkpoint import FOLDER

INTERRUPTED = 130
RSG = "rsg"
USUAL = 400  # demonstrations of each task
Watch = Callable[[Progress, Mapping[str, float]], None]


@dataclass(frozen=True)
class Data:
    """What is learned from."""

    demos: Path | None = option(None, "A store of demonstrations; without it one is made first.", metavar="DIR")
    per_task: int | None = option(None, f"Demonstrations of each task; {USUAL} are made unless you say otherwise.")
    layout: Layout = None


@dataclass(frozen=True)
class How:
    """What is trained, and how."""

    method: str | None = option(
        None,
        "rsg (subgoals to plan with; the default) or what it is compared with: bc (actions are cloned), bc-fsm (cloned "
        "for each subgoal), irl (a reward is learned), gail (episodes that pass for demonstrations) or lstm "
        "(recognises tasks, does not act).",
    )
    seed: int | None = option(None, "Where chance comes from.")
    encoder: str | None = option(
        None,
        "auto (the default where a state has facts: each term is read as a formula over facts, and has a network if no "
        "formula explains it), facts (formulas alone), or a network: sets (objects as sets, the paper's), flat (all "
        "numbers in one row), image (pixels) or relative (things as a robot sees them).",
    )
    begin: Path | None = option(None, "Begin with what another run learned.", "--from", metavar="RUN")
    changes: list[str] | None = option(None, "Change a setting; --set help lists them.", "--set", metavar="KEY=VALUE")


class _Job(NamedTuple):
    """What is trained, on what, from where on, and what the run remembers of that."""

    method: str
    settings: Any
    store: Store
    start: Classifiers | None
    origin: dict[str, Any]


@command
def train(
    name: WorldName,
    out: Annotated[Path, typer.Option(metavar="RUN", help="The folder of the run.")],
    data: Data,
    how: How,
    resume: bool = option(False, "Go on with a run that was interrupted.", "--resume"),
    watch: int = option(0, "Plans per compositional task at each look, only to report true success; 0: none.", min=0),
) -> Said:
    """Learn what the terms of the descriptions mean, from demonstrations; or train a baseline on them.

    Training stops when the score of held-out demonstrations no longer rises; it never sees the truth. Ctrl-C saves.
    For example:
    [bold]rsg train crafting --out out/run --set steps=200[/bold]
    [bold]rsg train playroom --out out/room --per-task 100[/bold]
    [bold]rsg train crafting --out out/bc --method bc[/bold]
    """
    face_named(name, layout=data.layout)
    if how.changes == ["help"]:
        settings = usual_settings(how.method or RSG, name)
        listed = [f"{key:16} {value!s:12} {meaning}" for key, value, meaning in meanings(settings)]
        return Said(vars(settings), "\n".join(listed))
    if data.layout is not None and data.demos is not None:
        raise RsgError("demonstrations know their room; give either --demos or --layout")
    job = _resumed(out, data, how) if resume else _begun(name, out, data, how)
    if job.store.manifest.world != name:
        raise RsgError(f"{job.store.folder} holds demonstrations of '{job.store.manifest.world}', not of '{name}'")
    started = time.perf_counter()
    done = _train(job, source_in(name, job.origin), out, watch)
    seconds = time.perf_counter() - started
    values = {
        "run": str(out),
        "step": done.step,
        "best_step": done.best_step,
        "held_out": done.best,
        "cpu_seconds": round(done.seconds, 3),
        "seconds": round(seconds, 3),
        "ended": done.done or "interrupted",
    }
    if not done.done:
        again = f"rsg train {name} --out {out} --resume"
        print(f"interrupted at step {done.step}; all is saved. To go on: {again}", file=sys.stderr)
        return Said(values, lambda: None, INTERRUPTED)
    fitted = f"{done.step} steps, {done.done}"
    if done.best is not None:
        fitted += f"; best held-out score {done.best:.4f} at step {done.best_step}"
    fitted = "\n".join([*_how_read(out), fitted])
    told = f"{fitted}; {done.seconds:.1f} s of processor time, {seconds:.1f} s in all\nsaved in {out}. Try next:"
    return Said(values, "\n  ".join([told, *_next(job, out, name, data.layout)]))


def _train(job: _Job, source: Any, out: Path, watch: int) -> Progress:
    """Train by the method of the job."""

    def world_of(demo: Any) -> Any:
        return source.world(demo.setting)

    given: dict[str, Any] = {"per_task": job.origin.get("per_task"), "source": {"world": source.name, **job.origin}}
    with training_bar(job.settings) as show:
        given |= {"watch": show, "reports": [partial(_success, source, watch)] if watch else []}
        if job.method == RSG:
            return learn(job.store, world_of, out, job.settings, start=job.start, **given).progress
        return train_baseline(job.method, job.store, world_of, out, job.settings, **given).progress


@contextmanager
def training_bar(settings: TrainingSettings, lines: bool = True) -> Iterator[Watch]:
    """A bar with the figures people want; in a pipe, one line per look instead, if lines are wanted."""
    lines = lines and not (is_hushed() or sys.stderr.isatty())
    with progress("training", settings.steps, "steps") as advance:
        done = 0

        def watch(run: Progress, figures: Mapping[str, float]) -> None:
            nonlocal done
            best = f"held-out {run.best:.3f}" if run.best is not None else ""
            advance(run.step - done, f"loss {figures['loss']:.3f}  {best}")
            done = run.step
            if lines and run.history and run.history[-1]["step"] == run.step:
                print(_line(run, settings.steps), file=sys.stderr)

        yield watch


def _line(run: Progress, steps: int) -> str:
    """The last look at a run."""
    last = run.history[-1]
    extra = "".join(f"  {key} {last[key]:.3f}" for key in last if key.startswith("success"))
    return (
        f"step {run.step:5}/{steps}  loss {last['loss']:8.4f}  held-out {last['held_out']:8.4f}"
        f"{extra}  {run.seconds:6.1f} s of processor time"
    )


def _resumed(out: Path, data: Data, how: How) -> _Job:
    """A run that goes on, with all that it was begun with."""
    if data != Data(data.demos) or replace(how, changes=how.changes or None) != How():
        raise RsgError("a run goes on with what it was begun with: with --resume give only --out and --demos")
    run = Run(out)
    origin: dict[str, Any] = run.about.get("source", {})
    if not data.demos and not origin.get("demos"):
        raise RsgError(f"{out} does not say where its demonstrations are; give them with --demos")
    method, start = run.about.get("method"), None
    settings, same = (settings_of_run(run), None) if method in METHODS else rebuilt(run)
    if origin.get("from"):  # a checkpoint has all that was taken over from there
        start = same if "last" in run.steps else load_subgoals(origin["from"])
    return _Job(str(method), settings, Store(data.demos or origin["demos"]), start, origin)


def _begun(name: str, out: Path, data: Data, how: How) -> _Job:
    """A new run; everything that can be wrong is looked at before demonstrations are made."""
    settings = chosen_settings(name, how)
    if (out / "run.json").exists():
        raise RunError(f"{out} already holds a run; add --resume to go on with it, or choose another folder")
    FOLDER.check_new(out)
    start = load_subgoals(how.begin) if how.begin else None
    store = Store(data.demos) if data.demos else _made(name, out, data, settings.seed)
    origin = {"demos": str(store.folder.resolve()), "per_task": data.per_task if data.demos else None, **room_of(store)}
    origin["from"] = str(how.begin.resolve()) if how.begin else None
    return _Job(how.method or RSG, settings, store, start, origin)


def _made(name: str, out: Path, data: Data, seed: int) -> Store:
    """Demonstrations of all training tasks, in a folder beside the run; what is there already is used."""
    recipe = Recipe(name, "train", USUAL if data.per_task is None else data.per_task, seed, map=data.layout)
    if "train" not in recipe.benchmark().splits:
        raise RsgError(
            f"{data.layout} lacks effectors that the paper's tasks are about; make demonstrations of tasks of your own "
            f"(rsg demos make {name} --layout {data.layout} --task ... --out DIR) and give them with --demos DIR"
        )
    return demonstrate(recipe, out.parent / f"{out.name}-demos")


def usual_settings(method: str, world: str) -> TrainingSettings:
    """The settings of a method as they are unless changed."""
    return RsgSettings() if method == RSG else preset(method, world)


def chosen_settings(name: str, how: How) -> TrainingSettings:
    """What was asked for; networks that are gone on with keep their shape."""
    settings: Any
    if how.method not in (None, RSG):
        if how.encoder is not None or how.begin is not None:
            raise RsgError(f"--encoder and --from are for rsg; '{how.method}' has a network of its own")
        settings = changed(preset(str(how.method), name), how.changes or [])
    else:
        had = Run(how.begin).about.get("settings", {}) if how.begin else {}
        kept = {key: had[key] for key in ("encoder", "hidden", "single") if key in had}
        asked = how.encoder or kept.get("encoder") or "auto"
        usual = rsg_preset("relative" if (name, asked) == ("playroom", "auto") else asked)
        settings = changed(replace(usual, **{**kept, "encoder": usual.encoder}), how.changes or [])
        if (name, settings.encoder) == ("playroom", "facts"):
            raise RsgError(NO_FACTS)
        if settings.encoder not in (*BY_FACTS, *ENCODERS):
            raise unknown("encoder", settings.encoder, (*BY_FACTS, *ENCODERS))
    check_device(settings.device)
    return settings if how.seed is None else replace(settings, seed=how.seed)  # type: ignore[no-any-return]


def _success(source: Any, per_task: int, step: int, method: Any) -> dict[str, float]:  # noqa: ARG001
    """A report of success against the truth."""
    if method.name == RSG:
        result = evaluate_planning(source, Starts("compositional", per_task), method.module.goals)
    elif hasattr(method, "act"):
        result = evaluate_policy(source, Starts("compositional", per_task), method)
    else:
        return {}
    return {"success_compositional": result["success"]}


def _how_read(out: Path) -> list[str]:
    """How many terms were read as formulas, if any."""
    about = Run(out).about
    found = about.get("shape", {}).get("readings") if about.get("method") == RSG else None
    if not found:
        return []
    several = [term for term, one in found.items() if Reading.restored(one).open]
    rest = about["shape"].get("network", {}).get("terms", [])
    told = f"{len(found)} of {quantity(len(found) + len(rest), 'term')} were read as formulas over facts"
    told += f"; a network knows {', '.join(rest)}" if rest else ""
    return [told + (f"; open: {', '.join(several)}" if several else "")]


def _next(job: _Job, out: Path, name: str, layout: str | None) -> list[str]:
    """Commands that show what was learned."""
    used = name if not (room := _room_named(job.origin, layout)) else f"{name} --layout {room}"
    look = [f"rsg eval {used} --subgoals {out} --split novel --per-task 100"]
    if job.method == RSG:
        look += [f"rsg readings {out}"] if name != "playroom" else []
        look.append(f"rsg plan {used} --goal TERM --subgoals {out}")
        if name == "playroom":
            look.append(f"rsg world {used} --subgoals {out} --heat heat.png")
        look += [f"rsg report {out}", f"rsg deps {out}"]
    elif job.method == "lstm":
        look = [f"rsg recognise {out} --demos DIR --candidates train"]
    return [*look, f"rsg info {out}"]


def _room_named(origin: Mapping[str, Any], layout: str | None) -> str | None:
    """The layout that other commands have to be told, if there is one and it has a name."""
    found = layout or json.loads(origin.get("setting", "{}")).get("layout")
    return found if isinstance(found, str) and found != "paper" else None
