"""`rsg train` and `rsg info`: learn subgoals, or train a baseline, and look at what was learned."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from rsg.cli.output import AsJson, console, emit
from rsg.cli.world import Layout, WorldName
from rsg.cli.worlds import face_named
from rsg.core.cores import cores
from rsg.core.errors import RsgError, RunError
from rsg.core.progress import progress

if TYPE_CHECKING:
    from rsg.demos import Store
    from rsg.subgoals import Classifiers, RsgSettings
    from rsg.training import Progress, TrainingSettings

INTERRUPTED = 130
RSG = "rsg"


def train(
    name: WorldName,
    out: Annotated[Path, typer.Option("--out", metavar="RUN", help="The folder of the run.")],
    demos: Annotated[
        Path | None, typer.Option(metavar="DIR", help="A store of demonstrations; without it one is made first.")
    ] = None,
    method: Annotated[
        str | None,
        typer.Option(
            help="rsg (subgoals to plan with; the default) or what it is compared with: bc (actions are cloned), "
            "bc-fsm (cloned for each subgoal), irl (a reward is learned), gail (episodes that pass for demonstrations) "
            "or lstm (recognises tasks, does not act)."
        ),
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Where chance comes from.")] = None,
    encoder: Annotated[
        str | None,
        typer.Option(
            help="sets (objects as sets, the paper's), flat (all numbers in one row) or image (pixels); in Playroom "
            "relative (things as the robot sees them), point (how near a point) or flat."
        ),
    ] = None,
    per_task: Annotated[
        int | None, typer.Option(help="Demonstrations of each task; 400 are made unless you say otherwise.")
    ] = None,
    layout: Layout = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with a run that was interrupted.")] = False,
    begin: Annotated[
        Path | None, typer.Option("--from", metavar="RUN", help="Begin with what another run learned.")
    ] = None,
    changes: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Change a setting; --set help lists them.")
    ] = None,
    watch: Annotated[
        int,
        typer.Option(help="Plans per compositional task at each look, only to report true success; 0: none."),
    ] = 0,
    as_json: AsJson = False,
) -> None:
    """Learn what the terms of the descriptions mean, from demonstrations; or train a baseline on them.

    Training stops when the score of held-out demonstrations no longer rises; it never sees the truth. Ctrl-C saves.
    For example:
    [bold]rsg train crafting --out out/run --set steps=200[/bold]
    [bold]rsg train playroom --out out/room --per-task 100[/bold]
    [bold]rsg train crafting --out out/bc --method bc[/bold]
    """
    face_named(name, layout=layout)
    if changes == ["help"]:
        _list_settings(method or RSG, name)
        return
    if watch < 0:
        raise RsgError(f"watch must not be negative, not {watch}")
    from rsg.evaluation.trained import source_in

    if layout is not None and demos is not None:
        raise RsgError("demonstrations know their room; give either --demos or --layout")
    if resume:
        if any(given is not None for given in (method, seed, encoder, changes or None, begin, per_task, layout)):
            raise RsgError("a run goes on with what it was begun with: with --resume give only --out and --demos")
        job = _resumed(out, demos)
    else:
        settings = _settings(method or RSG, name, seed, encoder, changes or [], begin)
        job = _begun(name, out, demos, method or RSG, settings, per_task, begin, layout, as_json)
    if job.store.manifest.world != name:
        raise RsgError(f"{job.store.folder} holds demonstrations of '{job.store.manifest.world}', not of '{name}'")
    source: Any = source_in(name, job.origin)
    started = time.perf_counter()
    with _Bar(job.settings, not as_json) as show:
        done = _train(job, source, out, show, watch)
    used = name if not (room := _room_named(job.origin, layout)) else f"{name} --layout {room}"
    _conclude(done, job.method, out, name, used, time.perf_counter() - started, as_json)


def _train(job: _Job, source: Any, out: Path, show: Any, watch: int) -> Progress:
    """Train by the method of the job."""

    def world_of(demo: Any) -> Any:
        return source.world(demo.setting)

    reports = [_success(source, watch)] if watch else []
    per_task, origin = job.origin.get("per_task"), {"world": source.name, **job.origin}
    if job.method == RSG:
        from rsg.subgoals import learn

        settings: Any = job.settings
        learned = learn(
            job.store, world_of, out, settings, per_task, job.start, watch=show, reports=reports, source=origin
        )
        return learned.progress
    from rsg.baselines import train_baseline

    trained = train_baseline(job.method, job.store, world_of, out, job.settings, per_task, show, reports, source=origin)
    return trained.progress


def _room_named(origin: Mapping[str, Any], layout: str | None) -> str | None:
    """The layout that other commands have to be told, if there is one and it has a name."""
    import json

    found = layout or json.loads(origin.get("setting", "{}")).get("layout")
    return found if isinstance(found, str) and found != "paper" else None


class _Job(NamedTuple):
    """What is trained, on what, from where on, and what the run remembers of that."""

    method: str
    settings: Any
    store: Store
    start: Classifiers | None
    origin: dict[str, Any]


def _resumed(out: Path, demos: Path | None) -> _Job:
    """A run that goes on, with all that it was begun with."""
    from rsg.demos import Store
    from rsg.subgoals import load_subgoals
    from rsg.subgoals.runs import rebuilt
    from rsg.training import Run

    run = Run(out)
    origin: dict[str, Any] = run.about.get("source", {})
    if not demos and not origin.get("demos"):
        raise RsgError(f"{out} does not say where its demonstrations are; give them with --demos")
    method = run.about.get("method")
    if method in baseline_names():
        from rsg.baselines import settings_of_run

        return _Job(method, settings_of_run(run), Store(demos or origin["demos"]), None, origin)
    settings, same = rebuilt(run)
    start = None
    if origin.get("from"):  # a checkpoint has all that was taken over from there
        start = same if run.has("last") else load_subgoals(origin["from"])
    return _Job(RSG, settings, Store(demos or origin["demos"]), start, origin)


def _begun(
    name: str,
    out: Path,
    demos: Path | None,
    method: str,
    settings: TrainingSettings,
    per_task: int | None,
    begin: Path | None,
    layout: str | None,
    quiet: bool,
) -> _Job:
    """A new run; everything that can be wrong is looked at before demonstrations are made."""
    from rsg.demos import Store
    from rsg.evaluation.trained import room_of
    from rsg.subgoals import load_subgoals

    _check_new(out)
    start = load_subgoals(begin) if begin else None
    if per_task is not None and per_task < 1:
        raise RsgError(f"per-task must be at least 1, not {per_task}")
    store = Store(demos) if demos else _make(name, out, per_task or 400, settings.seed, layout, quiet)
    source = {"demos": str(store.folder.resolve()), "per_task": per_task, **room_of(store)}
    return _Job(method, settings, store, start, {**source, "from": str(begin.resolve()) if begin else None})


def baseline_names() -> list[str]:
    """The methods besides RSG."""
    from rsg.baselines import METHODS

    return list(METHODS)


def _usual_settings(method: str, world: str) -> TrainingSettings:
    """The settings of a method as they are unless changed."""
    if method != RSG:
        from rsg.baselines import preset

        return preset(method, world)
    from rsg.subgoals import RsgSettings

    return RsgSettings()


def _list_settings(method: str, world: str) -> None:
    """All settings of a method with their defaults and what they mean."""
    import re

    settings = _usual_settings(method, world)
    kinds = [kind for kind in reversed(type(settings).__mro__) if kind is not object]
    told = re.sub(r"\n\s{12,}", " ", "\n".join(kind.__doc__ or "" for kind in kinds))
    usual = vars(settings)
    for names, meaning in re.findall(r"^ {8}([a-z_, :]*?): (.*)$", told, re.MULTILINE):
        console().print(f"[bold]{names:16}[/bold] {usual.get(names, '')!s:12} {meaning}", highlight=False)


def _settings(
    method: str, name: str, seed: int | None, encoder: str | None, changes: list[str], begin: Path | None
) -> TrainingSettings:
    """What was asked for."""
    if method == RSG:
        return _rsg_settings(name, seed, encoder, changes, begin)
    from rsg.subgoals.runs import check_device
    from rsg.training import changed

    if encoder is not None or begin is not None:
        raise RsgError(f"--encoder and --from are for rsg; '{method}' has a network of its own")
    settings = changed(_usual_settings(method, name), changes)
    check_device(settings.device)
    return settings if seed is None else replace(settings, seed=seed)


def _rsg_settings(
    name: str, seed: int | None, encoder: str | None, changes: list[str], begin: Path | None
) -> RsgSettings:
    """What was asked for; networks that are gone on with keep their shape."""
    from rsg.subgoals.runs import ENCODERS, check_device, preset
    from rsg.training import Run, changed

    had = Run(begin).about.get("settings", {}) if begin else {}
    kept = {key: had[key] for key in ("encoder", "hidden", "single", "context") if key in had}
    settings = preset(encoder or kept.get("encoder") or ("relative" if name == "playroom" else "sets"))
    settings = changed(replace(settings, **{**kept, "encoder": settings.encoder}), changes)
    settings = settings if seed is None else replace(settings, seed=seed)
    if settings.encoder not in ENCODERS:
        near = get_close_matches(settings.encoder, ENCODERS, n=1)
        hint = f"did you mean {near[0]}?" if near else f"there are: {', '.join(ENCODERS)}; your own goes to rsg.learn"
        raise RsgError(f"there is no encoder '{settings.encoder}'; {hint}")
    check_device(settings.device)
    return settings


def _check_new(out: Path) -> None:
    """A run is never overwritten."""
    if (out / "run.json").exists():
        raise RunError(f"{out} already holds a run; add --resume to go on with it, or choose another folder")
    from rsg.training.checkpoint import check_new

    check_new(out)


def _make(name: str, out: Path, per_task: int, seed: int, layout: str | None, quiet: bool) -> Any:
    """Demonstrations of all training tasks, in a folder beside the run; what is there already is used."""
    from rsg.demos import Recipe, make_demonstrations

    recipe = Recipe(name, "train", per_task, seed, map=layout)
    if "train" not in recipe.benchmark().splits:
        raise RsgError(
            f"{layout} lacks effectors that the paper's tasks are about; make demonstrations of tasks of your own "
            f"(rsg demos make {name} --layout {layout} --task ... --out DIR) and give them with --demos DIR"
        )
    folder = out.parent / f"{out.name}-demos"
    with progress("demonstrating", recipe.episodes(), "episodes", shown=not quiet) as advance:
        return make_demonstrations(recipe, folder, workers=cores(), advance=advance)


class _Bar:
    """A progress bar with the figures people want; in a pipe, one line per look instead."""

    def __init__(self, settings: TrainingSettings, shown: bool) -> None:
        self._settings, self._shown = settings, shown
        self._bar = progress("training", settings.steps, "steps", shown)
        self._at = 0

    def __enter__(self) -> Any:
        self._advance = self._bar.__enter__()
        return self._show

    def __exit__(self, *error: Any) -> None:
        self._bar.__exit__(*error)

    def _show(self, run: Progress, figures: Mapping[str, float]) -> None:
        best = f"held-out {run.best:.3f}" if run.best is not None else ""
        self._advance(run.step - self._at, f"loss {figures['loss']:.3f}  {best}")
        self._at = run.step
        last = run.history[-1] if run.history else None
        if self._shown and not sys.stderr.isatty() and last is not None and last["step"] == run.step:
            extra = "".join(f"  {key} {last[key]:.3f}" for key in last if key.startswith("success"))
            print(
                f"step {run.step:5}/{self._settings.steps}  loss {last['loss']:8.4f}  held-out {last['held_out']:8.4f}"
                f"{extra}  {run.seconds:6.1f} s of processor time",
                file=sys.stderr,
            )


def _success(source: Any, per_task: int) -> Any:
    """A report of success against the truth."""
    from rsg.evaluation import evaluate_planning

    def report(step: int, method: Any) -> dict[str, float]:
        del step
        if method.name == RSG:
            result = evaluate_planning(source, "compositional", method.module.goals, per_task)
        elif hasattr(method, "act"):
            from rsg.evaluation.policies import evaluate_policy

            result = evaluate_policy(source, "compositional", method, per_task)
        else:
            return {}
        return {"success_compositional": result["success"]}

    return report


def _conclude(run: Progress, method: str, out: Path, name: str, used: str, seconds: float, as_json: bool) -> None:
    values = {
        "run": str(out),
        "step": run.step,
        "best_step": run.best_step,
        "held_out": run.best,
        "cpu_seconds": round(run.seconds, 3),
        "seconds": round(seconds, 3),
        "ended": run.done or "interrupted",
    }
    if as_json:
        emit(values)
    elif run.done:
        console().print(
            f"{run.step} steps, {run.done}; best held-out score {run.best:.4f} at step {run.best_step}; "
            f"{run.seconds:.1f} s of processor time, {seconds:.1f} s in all"
        )
        console().print(f"saved in {out}. Try next:", markup=False)
        for line in _next(method, out, name, used):
            console().print(f"  {line}", markup=False)
    if not run.done:
        again = f"rsg train {name} --out {out} --resume"
        print(f"interrupted at step {run.step}; all is saved. To go on: {again}", file=sys.stderr)
        raise typer.Exit(INTERRUPTED)


def _next(method: str, out: Path, name: str, used: str) -> list[str]:
    """Commands that show what was learned."""
    look = [f"rsg eval {used} --subgoals {out} --split novel --per-task 100"]
    if method == RSG:
        look.append(f"rsg plan {used} --goal TERM --subgoals {out}")
        if name == "playroom":
            look.append(f"rsg world {used} --subgoals {out} --heat heat.png")
        look += [f"rsg report {out}", f"rsg deps {out}"]
    elif method == "lstm":
        look = [f"rsg recognise {out} --demos DIR --candidates train"]
    return [*look, f"rsg info {out}"]


def info(
    folder: Annotated[Path, typer.Argument(metavar="RUN", help="The folder of a run.")],
    as_json: AsJson = False,
) -> None:
    """Say what a run is: its settings, its data, what it learned, how far it is."""
    from rsg.training import Run

    run = Run(folder)
    about = run.about
    checkpoints = {which: run.load(which).notes for which in run.steps}
    if as_json:
        emit({"run": str(folder), **about, "checkpoints": checkpoints})
        return
    out = console()
    state = checkpoints.get("last")
    settings = about.get("settings", {})
    out.print(f"[bold]{folder}[/bold]  method {about.get('method', 'unknown')}")
    if state:
        ended = state["done"] or "not finished: rsg train ... --resume goes on"
        out.print(f"step {state['step']} of {settings.get('steps')} ({ended}), {state['seconds']:.1f} s CPU")
        if state["best"] is not None:
            out.print(f"best held-out score {state['best']:.4f} at step {state['best_step']}")
    else:
        out.print("no checkpoint yet")
    origin = about.get("source", {})
    out.print(f"data   {origin.get('demos', 'given in memory')}, sha256 {about.get('data', '')[:16]}…")
    if origin.get("from"):
        out.print(f"begun with what {origin['from']} had learned")
    out.print(f"terms  {len(about.get('terms', []))}: {', '.join(about.get('terms', []))}\n")
    out.print("[bold]settings[/bold]  (change them with --set key=value)")
    method = about.get("method", RSG)
    usual = vars(_usual_settings(method, origin.get("world", ""))) if method in (RSG, *baseline_names()) else {}
    for key, value in settings.items():
        note = "" if usual.get(key) == value else f"   [yellow](default {usual.get(key)})[/yellow]"
        out.print(f"  {key:16} {value}{note}")
    if state and state["history"]:
        out.print("\n[bold]history[/bold]")
        for row in state["history"]:
            rest = "  ".join(f"{key} {value:.4f}" for key, value in row.items() if key != "step")
            out.print(f"  step {int(row['step']):5}  {rest}")
