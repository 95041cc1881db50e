"""`rsg train`: learn subgoals, or train a baseline."""

import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from rsg.baselines import METHODS, preset, settings_of_run, train_baseline
from rsg.cli.command import Place, Said, command, option
from rsg.cli.demos import demonstrate
from rsg.cli.options import WorldName, check_world, placed
from rsg.core.errors import RsgError, RunError, unknown
from rsg.core.progress import is_hushed, progress
from rsg.core.settings import meanings
from rsg.core.words import quantity
from rsg.demos import Recipe, Store
from rsg.domain import Domain, find, offers
from rsg.evaluation import Starts, evaluate_planning
from rsg.evaluation.policies import evaluate_policy
from rsg.subgoals import Reading, Subgoals, learn, load
from rsg.subgoals.building import network_named, rebuilt
from rsg.subgoals.building import preset as rsg_preset
from rsg.subgoals.runs import BY_FACTS, NO_FACTS, check_device
from rsg.training import Progress, Run, TrainingSettings, changed
from rsg.training.checkpoint import FOLDER
from rsg.training.loop import Watch
from rsg.training.origin import home, origin

INTERRUPTED = 130
RSG = "rsg"
USUAL = 400  # demonstrations of each task


@dataclass(frozen=True)
class How:
    """What is trained, on what, and how."""

    demos: Path | None = option(None, "A store of demonstrations; without it one is made first.", metavar="DIR")
    per_task: int | None = option(None, f"Demonstrations of each task; {USUAL} are made unless you say otherwise.")
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
        "formula explains it), facts (formulas alone), or a network: flat (all numbers in one row), or one that the "
        "world offers: sets (objects as sets, the paper's), image (pixels), relative (things as a robot sees them).",
    )
    begin: Path | None = option(None, "Begin with what another run learned.", "--from", metavar="RUN")
    changes: list[str] | None = option(None, "Change a setting; --set help lists them.", "--set", metavar="KEY=VALUE")


class Job(NamedTuple):
    """Where and what is trained, on what, from where on, and what the run remembers of that."""

    domain: Domain
    method: str
    settings: Any
    store: Store
    start: Subgoals | None
    origin: dict[str, Any]


@command
def train(
    name: WorldName,
    place: Place,
    how: How,
    out: Path | None = option(None, "The folder of the run.", metavar="RUN"),
    resume: bool = option(False, "Go on with a run that was interrupted.", "--resume"),
    watch: int = option(0, "Plans per task at each look, only to report true success; 0: none.", min=0),
) -> Said:
    """Learn what the terms of the descriptions mean, from demonstrations; or train a baseline on them.

    Training stops when the score of held-out demonstrations no longer rises; it never sees the truth. Ctrl-C saves.
    For example:
    [bold]rsg train {world} --out out/run --per-task 5[/bold]
    [bold]rsg train {world} --out out/bc --method bc[/bold]
    [bold]rsg train {world} --set help[/bold]
    """
    domain = find(name, place)
    if how.changes == ["help"]:
        settings = chosen_settings(domain, replace(how, changes=None))
        listed = [f"{key:16} {value!s:12} {meaning}" for key, value, meaning in meanings(settings)]
        return Said(vars(settings), "\n".join(listed))
    if out is None:
        raise RsgError("say where the run goes: --out RUN")
    if place is not None and how.demos is not None:
        raise RsgError(f"demonstrations know their place; leave out --demos, or{placed(domain)}")
    if watch and not (domain.has("truth") and domain.reported):
        raise domain.lacks("tasks" if domain.has("truth") else "truth", "leave out --watch")
    job = _resumed(domain, out, how) if resume else _begun(domain, out, how)
    check_world(job.store, domain.name)
    started = time.perf_counter()
    with training_bar(job.settings) as see:
        done = fit(job, out, watch=see, reports=[partial(_success, job.domain, watch)] if watch else [])
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
        return Said(values, (), INTERRUPTED)
    best = f"; best held-out score {done.best:.4f} at step {done.best_step}" if done.best is not None else ""
    took = f"{done.seconds:.1f} s of processor time, {seconds:.1f} s in all"
    fitted = f"{_how_read(out)}{done.step} steps, {done.done}{best}; {took}"
    return Said(values, "\n  ".join([f"{fitted}\nsaved in {out}. Try next:", *_next(job, out, name)]))


def fit(job: Job, out: Path, **looking: Any) -> Progress:
    """Train by the method of the job; looking: see `rsg.training.loop.Looking`."""

    def world_of(demo: Any) -> Any:
        return job.domain.world(demo.setting)

    looking |= {"per_task": job.origin.get("per_task"), "source": job.origin}
    if job.method == RSG:
        return learn(job.store, world_of, out, job.settings, start=job.start, **looking).progress
    return train_baseline(job.method, job.store, world_of, out, job.settings, **looking).progress


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
                last = run.history[-1]
                told = f"step {run.step:5}/{settings.steps}  loss {last['loss']:8.4f}  held-out {last['held_out']:8.4f}"
                told += "".join(f"  {key} {last[key]:.3f}" for key in last if key.startswith("success"))
                print(f"{told}  {run.seconds:6.1f} s of processor time", file=sys.stderr)

        yield watch


def _resumed(domain: Domain, out: Path, how: How) -> Job:
    """A run that goes on, with all that it was begun with."""
    if replace(how, demos=None, changes=how.changes or None) != How() or domain.place:
        raise RsgError("a run goes on with what it was begun with: with --resume give only --out and --demos")
    run = Run(out)
    told: dict[str, Any] = run.about.get("source", {})
    if not how.demos and not told.get("demos"):
        raise RsgError(f"{out} does not say where its demonstrations are; give them with --demos")
    method, start = run.about.get("method"), None
    settings, same = (settings_of_run(run), None) if method in METHODS else rebuilt(run)
    if told.get("from"):  # a checkpoint has all that was taken over from there
        start = Subgoals(same) if same and "last" in run.steps else load(told["from"])
    return Job(home(run, domain), str(method), settings, Store(how.demos or told["demos"]), start, told)


def _begun(domain: Domain, out: Path, how: How) -> Job:
    """A new run; everything that can be wrong is looked at before demonstrations are made."""
    settings = chosen_settings(domain, how)
    if (out / "run.json").exists():
        raise RunError(f"{out} already holds a run; add --resume to go on with it, or choose another folder")
    FOLDER.check_new(out)
    start = load(how.begin) if how.begin else None
    store = Store(how.demos) if how.demos else _made(domain, out, how.per_task, settings.seed)
    told = {**origin(domain, store), "per_task": how.per_task if how.demos else None}
    told["from"] = str(how.begin.resolve()) if how.begin else None
    there = domain.within(told["setting"]) if store.manifest.world == domain.name and told["setting"] else domain
    return Job(there, how.method or RSG, settings, store, start, told)


def _made(domain: Domain, out: Path, per_task: int | None, seed: int) -> Store:
    """Demonstrations of all training tasks, in a folder beside the run; what is there already is used."""
    if "train" not in domain.splits and not domain.has("truth"):
        raise domain.lacks("expert", "give --demos")
    if "train" not in domain.splits:
        raise RsgError(
            f"{domain.place or domain.name} has no tasks to train on (a split 'train'); make demonstrations of tasks "
            f"of your own (rsg demos make {domain.name}{placed(domain)} --task ... --out DIR) and give --demos DIR"
        )
    recipe = Recipe(domain.name, "train", USUAL if per_task is None else per_task, seed, map=domain.place)
    return demonstrate(domain, recipe, out.parent / f"{out.name}-demos")


def chosen_settings(domain: Domain, how: How) -> TrainingSettings:
    """What was asked for, on top of what suits the domain."""
    usual: Any
    if how.method in (None, RSG):
        usual = _usual(domain, how)
    elif how.encoder is None and how.begin is None:
        usual = preset(str(how.method), domain)
    else:
        raise RsgError(f"--encoder and --from are for rsg; '{how.method}' has a network of its own")
    settings = changed(usual, how.changes or [])
    encoder = getattr(settings, "encoder", "auto")
    if encoder not in BY_FACTS and not network_named(encoder):
        raise unknown("encoder", encoder, (*BY_FACTS, "flat", *offers(domain, "networks")))
    check_device(settings.device)
    return settings if how.seed is None else replace(settings, seed=how.seed)  # type: ignore[no-any-return]


def _usual(domain: Domain, how: How) -> Any:
    """What suits the domain and the encoder; networks that are gone on with keep their shape."""
    had = Run(how.begin).about.get("settings", {}) if how.begin else {}
    suits = {**domain.presets.get(RSG, {}), **{key: had[key] for key in ("hidden", "single") if key in had}}
    auto = suits.pop("encoder", "auto")
    asked = how.encoder or had.get("encoder") or "auto"
    if asked == "facts" and auto != "auto":
        raise RsgError(NO_FACTS)
    return replace(rsg_preset(auto if asked == "auto" else asked), **suits)


def _success(source: Any, per_task: int, _step: int, method: Any) -> dict[str, float]:
    """A report of success against the truth."""
    starts = Starts(source.reported[0], per_task)
    if method.name == RSG:
        result = evaluate_planning(source, starts, method.module.goals)
    elif hasattr(method, "act"):
        result = evaluate_policy(source, starts, method)
    else:
        return {}
    return {f"success_{starts.split}": result["success"]}


def _how_read(out: Path) -> str:
    """A line on how many terms were read as formulas, if any."""
    shape = Run(out).about.get("shape", {})
    if not (found := shape.get("readings")):
        return ""
    several = [term for term, one in found.items() if Reading.restored(one).open]
    rest = shape.get("network", {}).get("terms", [])
    told = f"{len(found)} of {quantity(len(found) + len(rest), 'term')} were read as formulas over facts"
    told += f"; a network knows {', '.join(rest)}" if rest else ""
    return told + (f"; open: {', '.join(several)}" if several else "") + "\n"


def _next(job: Job, out: Path, name: str) -> list[str]:
    """Commands that show what was learned."""
    domain, plans = job.domain, job.method == RSG
    judged = domain.has("truth") and bool(domain.reported)
    used, world = f"{name}{placed(domain)}", f" --world {name}" if ":" in name else ""
    pictures = [key for key, one in domain.pictures.items() if one.learned]
    commands = {
        f"eval {used} --subgoals {out} --split {''.join(domain.reported[-1:])}": judged and job.method != "lstm",
        f"readings {out}{world}": plans and job.settings.encoder in BY_FACTS,
        f"plan {used} --goal TERM --subgoals {out}": plans,
        **{f"world {used} --subgoals {out} --{key} {key}.png": plans for key in pictures},
        f"report {out}{world}": plans and judged,
        f"deps {out}{world}": plans,
        f"recognise {out} --demos DIR --candidates train{world}": job.method == "lstm",
        f"info {out}": True,
    }
    return [f"rsg {words}" for words, wanted in commands.items() if wanted]
