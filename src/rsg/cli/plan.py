"""`rsg plan`: from an instruction, or a goal only, to actions."""

from __future__ import annotations

import time
from dataclasses import replace
from math import log
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from rsg.cli.deps import dependencies_of
from rsg.cli.output import AsJson, console, emit, write_png
from rsg.cli.world import Layout, Seed, WorldName
from rsg.cli.worlds import Face, action_values, face_named, roadmap_ms
from rsg.core.errors import RsgError
from rsg.core.progress import progress

if TYPE_CHECKING:
    from rsg.demos import Demonstration
    from rsg.planning import Dependencies, Plan, Verdict
    from rsg.search import GoalFn, SearchSettings
    from rsg.subgoals import Classifiers

Subgoals = Annotated[
    str,
    typer.Option(
        "--subgoals",
        metavar="WHICH",
        help="The folder of a run, or oracle (the truth), or untrained (random networks).",
    ),
]
Order = Annotated[
    str | None,
    typer.Option(
        "--order", help="deepest (crafting's default), balanced, optimal, anytime, layered or auto (playroom's)."
    ),
]
Planner = Annotated[
    str,
    typer.Option(
        "--planner",
        help="playroom: roadmap, rrt (random trees), or auto (a roadmap, and trees where it does not do).",
    ),
]
_ALREADY = "already true"  # how a search for such a goal ended
_ENOUGH = 500  # expansions with which a plan in a continuous world is usually found
_FRESH = 20  # demonstrations of each training task, for classifiers that come without


def plan(
    name: WorldName,
    task: Annotated[
        str | None, typer.Argument(metavar="TASK", help="The steps in words, for example: 'grab-axe then mine-wood'.")
    ] = None,
    goal: Annotated[
        str | None,
        typer.Option(
            metavar="TERM",
            help="Only the end, instead of TASK: how to get there is found out from what the demonstrations show.",
        ),
    ] = None,
    map_: Annotated[
        str | None,
        typer.Option(
            "--map",
            metavar="KIND|FILE",
            help="crafting: a kind of map or a map file; else a random one that holds what is needed (--goal: empty "
            "hands).",
        ),
    ] = None,
    layout: Layout = None,
    seed: Seed = 0,
    subgoals: Subgoals = "oracle",
    planner: Planner = "auto",
    order: Order = None,
    method: Annotated[
        str | None,
        typer.Option(
            help="crafting, with --goal: regions (the default: states where the goal lacks least come first), paper "
            "(one candidate instruction after the other), uniform (the same without dependencies) or blind.",
        ),
    ] = None,
    budget: Annotated[
        int | None, typer.Option(help="How many expansions there may be; 5,000 for TASK, 25,000 for a goal.")
    ] = None,
    gif: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the plan as an animated picture.")] = None,
    png: Annotated[
        Path | None, typer.Option(metavar="FILE", help="playroom: write the plan as a picture; of rrt with its tree.")
    ] = None,
    as_json: AsJson = False,
) -> None:
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
    face = face_named(name, map=map_, layout=layout, method=method, png=png)
    from rsg.demos import benchmark

    place = map_ or layout
    source: Any = benchmark(name, (), layout)
    limits: dict[str, Any] = {"seed": seed, "planner": planner, "order": order or face.order}
    if goal is None:
        if task is None:
            example, end = face.examples
            raise RsgError(f"say what to do: TASK, such as '{example}', or only the end: --goal {end}")
        if method is not None:
            raise RsgError("--method is for --goal; with TASK there is --order")
        limits["budget"] = 5000 if budget is None else budget
        done = _for_task(face, source, task, place, subgoals, limits)
    else:
        if task is not None:
            raise RsgError("give either TASK or --goal, not both")
        if order is not None and "method" in face.options:
            raise RsgError("--order is for TASK; with --goal there is --method")
        limits["budget"] = 25_000 if budget is None else budget
        if limits["budget"] < 1:
            raise RsgError(f"budget must be at least 1, not {budget}")
        done = _for_goal(face, source, goal, place, subgoals, method, limits, quiet=as_json)
    if done.made.found and done.settings is not None:
        done = done._replace(about={**done.about, **roadmap_ms(done.world, done.state, done.settings)})
    _tell(face, done, gif, png, as_json)


class _Done(NamedTuple):
    """A plan with all that is told of it.

    Attributes:
        made, verdict: the plan, and what its replay says; world, state: where it starts.
        warming: seconds that compiling took.
        about: how it was asked for, for `--json`.
        goals: the classifiers; settings: of the search, if it was one for a task.
        goal: the term, if only that was named.
        note: something to say below it.
    """

    made: Plan
    verdict: Verdict
    world: Any
    state: Any
    warming: float
    about: dict[str, Any]
    goals: Any
    settings: SearchSettings | None
    goal: str | None = None
    note: str = ""


def _for_task(face: Face, source: Any, text: str, place: str | None, subgoals: str, limits: dict[str, Any]) -> _Done:
    from rsg.language import Machine, parse
    from rsg.planning import validate
    from rsg.search import SearchSettings

    settings = SearchSettings(**limits)
    machine = Machine.of(parse(text, source.vocabulary))
    terms = [str(term) for term in machine.terms]
    world, state, _ = face.start(place, terms, settings.seed)
    goal_fn = goal_fn_named(subgoals, source, world)
    made, warming = _planned(world, state, machine, goal_fn, settings)
    verdict = validate(world, made, machine, lambda states, wanted: source.truth(world, states, wanted))
    about = {"subgoals": subgoals, "order": settings.order, "planner": settings.planner, **face.about(place)}
    return _Done(made, verdict, world, state, warming, about, goal_fn(world, terms, state), settings)


def _planned(world: Any, state: Any, machine: Any, goal_fn: GoalFn, settings: SearchSettings) -> tuple[Plan, float]:
    """The plan, and how many seconds went into compiling and into the roadmap."""
    from rsg.planning import plan as make_plan
    from rsg.search import is_continuous

    begun = time.perf_counter()
    enough = 1 if not is_continuous(world) else min(_ENOUGH, settings.budget or _ENOUGH)
    make_plan(world, state, machine, goal_fn, replace(settings, budget=enough))  # compiles the kernels, or loads them
    warming = time.perf_counter() - begun
    return make_plan(world, state, machine, goal_fn, settings), warming


def _for_goal(
    face: Face,
    source: Any,
    goal: str,
    place: str | None,
    subgoals: str,
    method: str | None,
    limits: dict[str, Any],
    quiet: bool,
) -> _Done:
    from rsg.language import Machine, Term
    from rsg.planning import GoalSettings, plan_goal, validate
    from rsg.search import SearchSettings, is_continuous

    search = SearchSettings(**limits)
    settings = GoalSettings(method=method or "regions", budget=limits["budget"], seed=search.seed)
    term = _goal_term(goal, source)
    world, state = face.goal_start(place, term, search.seed)
    goal_fn = goal_fn_named(subgoals, source, world)
    how = {"subgoals": subgoals, "order": None, "method": settings.method}
    note, drawn = "", None
    if is_continuous(world):  # no subgoal needs another one first
        made, warming = _planned(world, state, Machine.of(Term(term)), goal_fn, search)
        how, drawn = {**how, "order": search.order, "method": None}, search
    else:
        dependencies, note = _dependencies(subgoals, source, goal_fn, quiet)
        begun = time.perf_counter()
        plan_goal(world, state, term, goal_fn, dependencies, replace(settings, budget=1))  # compiles, as above
        warming = time.perf_counter() - begun
        made = plan_goal(world, state, term, goal_fn, dependencies, settings)
    goals = goal_fn(world, [term], state)
    if not made.found and goals(state[None])[0][0, 0] >= log(settings.threshold):
        made, verdict = _nothing_to_do(source, world, made, term)
    else:
        verdict = validate(world, made, Term(term), lambda states, wanted: source.truth(world, states, wanted))
    about = {**how, "planner": search.planner, **face.about(place)}
    return _Done(made, verdict, world, state, warming, about, goals, drawn, term, note)


def _nothing_to_do(source: Any, world: Any, tried: Plan, term: str) -> tuple[Plan, Verdict]:
    """A plan without steps, for a goal that holds already. That is asked last: classifiers may be wrong at a start."""
    from rsg.planning import Verdict

    made = replace(tried, cost=0.0, ended=_ALREADY, reached=(), missed=(), because="")
    right = bool(source.truth(world, made.states, [term])[0, 0])
    return made, Verdict(right, right, "" if right else f"{term} is not true at the start")


def _goal_term(text: str, source: Any) -> str:
    """The one term that a goal is."""
    from rsg.language import Term, parse

    task = parse(text, source.vocabulary)
    if not isinstance(task, Term):
        raise RsgError(f"a goal is one term; '{task}' is more, give it as TASK: rsg plan {source.name} \"{task}\"")
    return str(task)


def _dependencies(subgoals: str, source: Any, goal_fn: GoalFn, quiet: bool) -> tuple[Dependencies, str]:
    """What needs what: of a run, or as classifiers that have none see it in a few fresh demonstrations."""
    if subgoals not in ("oracle", "untrained"):
        return dependencies_of(Path(subgoals), quiet=quiet), ""
    from rsg.core.random import stream
    from rsg.subgoals import discover

    begun = time.perf_counter()
    tasks = range(len(source.tasks("train")))
    with progress("demonstrating", _FRESH * len(tasks), "demonstrations", shown=not quiet) as advance:
        demos: list[Demonstration] = []
        for number in (number for number in tasks for _ in range(_FRESH)):
            rng = stream(0, "dependencies", number, len(demos))
            demos.append(source.demonstrate("train", number, rng)[0])
            advance(1)
    found = discover(goal_fn, source.vocabulary, demos, lambda demo: source.world(demo.setting))
    seconds = time.perf_counter() - begun
    return found, f"(what needs what was read off {len(demos):,} fresh demonstrations in {seconds:.1f} s)"


def _tell(face: Face, done: _Done, gif: Path | None, png: Path | None, as_json: bool) -> None:
    """Write what was asked for, and exit with 1 if there is no plan."""
    if gif and done.made.found:
        from rsg.demos.showing import write_gif

        write_gif([done.world.render(state) for state in done.made.states], gif)
    if png and done.made.found and done.settings is not None:
        settings = done.settings
        write_png(lambda: face.plan_picture(done.world, done.made, done.goals, settings), png)
    if as_json:
        emit({**_values(done), "compile_ms": round(1000 * done.warming, 1)})
    else:
        show_plan(face, done)
        if done.note:
            console().print(done.note, style="bright_black")
        if done.warming > 2:
            told = f"(compiling the search took {done.warming:.1f} s; that happens once)"
            console().print(told, style="bright_black")
        for path in (gif, png):
            if path and done.made.found:
                console().print(f"\nwritten to {path}", markup=False)
    if not done.made.found:
        raise typer.Exit(1)


def goal_fn_named(name: str, source: Any, world: Any) -> GoalFn:
    """The classifiers that were asked for, to be used in a world of the benchmark."""
    if name == "oracle":
        fn: GoalFn = source.true_goals
        return fn
    return classifiers_named(name, source, world).goals


def classifiers_named(name: str, source: Any, world: Any) -> Classifiers:
    """Learned or untrained classifiers."""
    from rsg.evaluation.trained import subgoals_for, untrained_for

    if name == "untrained":
        return untrained_for(source, world)
    if not Path(name).exists():
        raise RsgError(f"there are no subgoals '{name}'; give the folder of a run, oracle or untrained")
    return subgoals_for(name, source.name, world)


def _values(done: _Done) -> dict[str, Any]:
    made, verdict = done.made, done.verdict
    return {
        "found": made.found,
        "task": done.goal or str(made.task),
        "actions": action_values(done.world, made.actions),
        "terms": list(made.terms),
        "cost": made.cost if made.found else None,
        "expansions": made.expansions,
        "ms": round(1000 * made.seconds, 3),
        "ended": made.ended,
        "reason": made.reason or verdict.reason,
        "valid": verdict.ok,
        "valid_lenient": verdict.lenient,
        **done.about,
        **(_about_goal(done.goal, made) if done.goal else {}),
    }


def _about_goal(goal: str, made: Plan) -> dict[str, Any]:
    instruction = str(made.task) if len(made.actions) else None
    return {"goal": goal, "instruction": instruction, "reached": list(made.reached), "missed": list(made.missed)}


def show_plan(face: Face, done: _Done) -> None:
    """A plan in the terminal: the first map, then the steps for each subgoal."""
    out, made = console(), done.made
    out.print(f"[bold]goal[/bold]   {done.goal}\n" if done.goal else f"[bold]task[/bold]   {made.task}\n")
    out.print(face.view(done.world, done.state))
    if not made.found:
        out.print(f"\n[yellow]{made.reason}[/yellow]")
        if made.reached:
            out.print(f"reached: {', '.join(made.reached)}")
        return
    if made.ended == _ALREADY:
        out.print(f"\n[green]{done.goal} is already true at the start: there is nothing to do[/green]")
        if not done.verdict.ok:
            out.print(f"[red]so the subgoals say; in truth {done.verdict.reason}[/red]")
        return
    out.print(f"\nsubgoals on the way: {made.task}\n" if done.goal else "")
    start, steps = 0, len(made.actions)
    for end in range(1, steps + 1):
        if end == steps or made.nodes[end] != made.nodes[start]:
            told = face.steps(done.world, made.states[start : end + 1], made.actions[start:end])
            out.print(f"  steps {start + 1:2} to {end:2}  [green]{made.terms[start]:20}[/green] {told}")
            start = end
    figures = f"{made.expansions:,} expansions, {1000 * made.seconds:.2f} ms"
    if "roadmap_ms" in done.about:
        figures += f" after {done.about['roadmap_ms']:.1f} ms for the roadmap"
    right = f"replayed: {'it does the task' if not done.goal else f'{done.goal} comes true'}"
    judged = f"[green]{right}[/green]" if done.verdict.ok else f"[red]replayed: {done.verdict.reason}[/red]"
    out.print(f"\n{steps} steps, cost {made.cost:.2f}; {figures}; {judged}")
