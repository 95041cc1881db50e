"""`rsg plan`: from an instruction, or a goal only, to actions."""

import time
from dataclasses import dataclass, replace
from functools import partial
from math import log
from pathlib import Path
from typing import Annotated, Any

import typer

from rsg.cli.command import Said, command, option
from rsg.cli.options import Place, Search, WorldName, picture
from rsg.cli.output import console, write_png
from rsg.cli.subgoals import GIVEN, goal_fn_named
from rsg.cli.worlds import Face, action_values, face_named, plan_picture
from rsg.core.compiled import compiling
from rsg.core.errors import RsgError
from rsg.core.progress import progress
from rsg.core.random import stream
from rsg.demos import benchmark
from rsg.demos.showing import write_gif
from rsg.language import Machine, Task, Term, parse
from rsg.planning import Dependencies, GoalSettings, Plan, Verdict, plan_goal, validate
from rsg.planning import plan as plan_task
from rsg.search import GoalFn, SearchSettings, is_continuous

_ALREADY = "already true"  # how a search for such a goal ended
_FRESH = 20  # demonstrations of each training task, for classifiers that come without


@dataclass(frozen=True)
class Asked:
    """What is to be planned for."""

    task: Annotated[
        str | None, typer.Argument(metavar="TASK", help="The steps in words, for example: 'grab-axe then mine-wood'.")
    ] = None
    goal: str | None = option(
        None,
        "Only the end, instead of TASK: how to get there, with empty hands at first, is found out from what the "
        "demonstrations show.",
        metavar="TERM",
    )
    method: str | None = option(
        None,
        "crafting, with --goal: regions (the default: states where the goal lacks least come first), paper "
        "(one candidate instruction after the other), uniform (the same without dependencies) or blind.",
    )
    budget: int | None = option(None, "How many expansions there may be; 5,000 for TASK, 25,000 for a goal.")

    def check(self, face: Face, order: str | None) -> None:
        """An error if that is nothing, or too much."""
        if self.goal is None and self.task is None:
            example, end = face.examples
            raise RsgError(f"say what to do: TASK, such as '{example}', or only the end: --goal {end}")
        if self.goal is not None and self.task is not None:
            raise RsgError("give either TASK or --goal, not both")
        if self.goal is None and self.method is not None:
            raise RsgError("--method is for --goal; with TASK there is --order")
        if self.goal is not None and order is not None and "method" in face.options:
            raise RsgError("--order is for TASK; with --goal there is --method")

    def read(self, source: Any) -> Task:
        """The task, or the one term that a goal is."""
        task = parse(self.goal or self.task or "", source.vocabulary)
        if self.goal is not None and not isinstance(task, Term):
            raise RsgError(f"a goal is one term; '{task}' is more, give it as TASK: rsg plan {source.name} \"{task}\"")
        return task


@dataclass(frozen=True)
class Files:
    """What is to be written."""

    gif: Path | None = option(None, "Write the plan as an animated picture.", metavar="FILE")
    png: Path | None = picture("playroom: write the plan as a picture; of rrt with its tree.")


@command
def plan(name: WorldName, asked: Asked, place: Place, search: Search, files: Files) -> Said:
    """Plan for an instruction, or for a goal only, and show the steps, grouped by subgoal.

    Every plan is replayed in the true world. Exit code 0 with a plan,
    1 without one. For example:
    [bold]rsg plan crafting "grab-axe then mine-wood then craft-wood-plank" --seed 2[/bold]
    [bold]rsg plan crafting --goal craft-boat[/bold]
    [bold]rsg plan crafting --goal craft-bed --subgoals out/run --gif bed.gif[/bold]
    [bold]rsg plan crafting --goal craft-boat --method paper[/bold]  (for comparison)
    [bold]rsg plan playroom "turn-on-music then play-with-ball" --png plan.png[/bold]
    [bold]rsg plan playroom --goal ring-bell --layout narrow --planner rrt[/bold]
    """
    face = face_named(name, **vars(place), method=asked.method, png=files.png)
    asked.check(face, search.order)
    source: Any = benchmark(name, (), place.layout)
    task = asked.read(source)
    usual = 5000 if asked.goal is None else 25_000
    limit = usual if asked.budget is None else asked.budget
    settings = SearchSettings(order=search.order or face.order, budget=limit, seed=search.seed, planner=search.planner)
    world, state, _ = face.start(place.name, Machine.of(task).names, search.seed, asked.goal is not None)
    goal_fn = goal_fn_named(search.subgoals, source, world)
    how: dict[str, Any] = {"subgoals": search.subgoals, "order": settings.order}
    note, make = "", partial(plan_task, world, state, Machine.of(task), goal_fn, settings)
    if asked.goal is not None:
        how["method"] = None
        if not is_continuous(world):  # elsewhere no subgoal needs another one first
            limits = GoalSettings(method=asked.method or "regions", budget=limit, seed=search.seed)
            dependencies, note = _dependencies(search.subgoals, source, goal_fn)
            make = partial(plan_goal, world, state, str(task), goal_fn, dependencies, limits)
            how |= {"order": None, "method": limits.method}
    with compiling() as kernels:
        made = make()
    made, verdict = _judged(made, source, world, goal_fn, task if asked.goal is not None else None)
    about = {**how, "planner": settings.planner, **face.about(place.name)}
    about |= {"goal": str(task)} if asked.goal is not None else {}
    values = _values(made, verdict, world, kernels(), about)
    values["open"] = _open(goal_fn, made, world) if search.subgoals not in GIVEN else []
    gif, png = files.gif if made.found else None, files.png if made.found and made.ended != _ALREADY else None
    if gif:
        write_gif([world.render(state) for state in made.states], gif)
    if png:
        goals = goal_fn(world, Machine.of(made.task).names, state)
        write_png(plan_picture(world, made, goals, settings), png)
    return Said(values, partial(_show, face, world, made, values, note), 0 if made.found else 1, [gif, png])


def _judged(made: Plan, source: Any, world: Any, goal_fn: GoalFn, goal: Task | None) -> tuple[Plan, Verdict]:
    """A plan and what its replay says. Whether a goal holds at once is asked last: classifiers may be wrong there."""
    truth = partial(source.truth, world)
    if goal is None or made.found:
        return made, validate(world, made, goal or made.task, truth)
    state, term = made.states[:1], str(goal)
    if goal_fn(world, [term], state[0])(state)[0][0, 0] < log(SearchSettings().threshold or 0.5):
        return made, validate(world, made, goal, truth)
    right = bool(truth(state, [term])[0, 0])
    nothing = replace(made, cost=0.0, ended=_ALREADY, reached=(), missed=(), because="")
    return nothing, Verdict(right, right, "" if right else f"{term} is not true at the start")


def _dependencies(subgoals: str, source: Any, goal_fn: GoalFn) -> tuple[Dependencies, str]:
    """What needs what: of a run, or as classifiers that have none see it in a few fresh demonstrations."""
    from rsg.cli.deps import dependencies_of
    from rsg.subgoals import discover

    if subgoals not in GIVEN:
        return dependencies_of(Path(subgoals)), ""
    begun = time.perf_counter()
    tasks = [number for number in range(len(source.tasks("train"))) for _ in range(_FRESH)]
    with progress("demonstrating", len(tasks), "demonstrations") as advance:
        demos = []
        for count, number in enumerate(tasks):
            demos.append(source.demonstrate("train", number, stream(0, "dependencies", number, count))[0])
            advance(1)
    found = discover(goal_fn, source.vocabulary, demos, lambda demo: source.world(demo.setting))
    seconds = time.perf_counter() - begun
    return found, f"(what needs what was read off {len(demos):,} fresh demonstrations in {seconds:.1f} s)"


def _open(goal_fn: Any, made: Plan, world: Any) -> list[str]:
    """What the plan counts on though the data leave it open."""
    from rsg.subgoals import rests_on

    return rests_on(goal_fn.__self__, made.terms, made.bold, world) if made.found else []


def _values(made: Plan, verdict: Verdict, world: Any, kernels: float, about: dict[str, Any]) -> dict[str, Any]:
    """What `--json` says; `kernels` are seconds that went into compiling or loading kernels, not into planning."""
    values = {
        "found": made.found,
        "task": str(made.task),
        "actions": action_values(world, made.actions),
        "terms": list(made.terms),
        "cost": made.cost if made.found else None,
        "expansions": made.expansions,
        "ms": round(1000 * max(0.0, made.seconds - kernels), 3),
        "ended": made.ended,
        "reason": made.reason or verdict.reason,
        "valid": verdict.ok,
        "valid_lenient": verdict.lenient,
        **about,
        "compile_ms": round(1000 * kernels, 1),
    }
    if goal := about.get("goal"):
        instruction = str(made.task) if len(made.actions) else None
        values |= {"task": goal, "instruction": instruction}
        values |= {"reached": list(made.reached), "missed": list(made.missed)}
    return values


def _show(face: Face, world: Any, made: Plan, values: dict[str, Any], note: str) -> None:
    """A plan in the terminal, and what is to be said of it."""
    out, goal = console(), values.get("goal")
    out.print(f"[bold]{'goal' if goal else 'task'}[/bold]   {values['task']}\n")
    out.print(face.view(world, made.states[0]))
    if not made.found:
        out.print(f"\n[yellow]{made.reason}[/yellow]")
        if made.reached:
            out.print(f"reached: {', '.join(made.reached)}")
    elif made.ended == _ALREADY:
        out.print(f"\n[green]{goal} is already true at the start: there is nothing to do[/green]")
        if not values["valid"]:
            out.print(f"[red]so the subgoals say; in truth {values['reason']}[/red]")
    else:
        out.print(f"\nsubgoals on the way: {made.task}\n" if goal else "")
        _show_steps(face, world, made, values)
    for sentence in values["open"]:
        out.print(f"[yellow]{sentence}[/yellow]")
    if note:
        out.print(note, style="bright_black")
    if values["compile_ms"] > 2000:
        seconds = values["compile_ms"] / 1000
        out.print(f"(compiling the search took {seconds:.1f} s; that happens once)", style="bright_black")


def _show_steps(face: Face, world: Any, made: Plan, values: dict[str, Any]) -> None:
    """The steps for each subgoal, and what they come to."""
    out, goal = console(), values.get("goal")
    for term, start, end in made.parts:
        told = face.steps(world, made.states[start : end + 1], made.actions[start:end])
        out.print(f"  steps {start + 1:2} to {end:2}  [green]{term:20}[/green] {told}")
    right = f"replayed: {f'{goal} comes true' if goal else 'it does the task'}"
    judged = f"[green]{right}[/green]" if values["valid"] else f"[red]replayed: {values['reason']}[/red]"
    figures = f"{made.expansions:,} expansions, {values['ms']:.2f} ms"
    out.print(f"\n{len(made.actions)} steps, cost {made.cost:.2f}; {figures}; {judged}")
