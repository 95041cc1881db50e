"""`rsg plan`: from an instruction, or a goal only, to actions."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import RenderableType

from rsg.cli.command import Place, Said, command, option
from rsg.cli.options import GIVEN, Search, WorldName, dependencies_named, film, goal_fn_named, picture
from rsg.cli.world import view
from rsg.core.compiled import compiling
from rsg.core.errors import RsgError
from rsg.core.folder import write
from rsg.core.random import stream
from rsg.demos.showing import write_png
from rsg.domain import Domain, action_values, find
from rsg.evaluation.films import plan_film
from rsg.evaluation.planning import ALREADY, judged
from rsg.language import Machine, Task, Term
from rsg.planning import Plan, Verdict, plan_goal
from rsg.planning import plan as plan_task
from rsg.planning.goal_only import BUDGET
from rsg.search import is_continuous
from rsg.worlds import EitherWorld


@command
def plan(
    name: WorldName,
    task: Annotated[
        str | None, typer.Argument(metavar="TASK", help="The steps in words, joined by then, or, and.")
    ] = None,
    goal: str | None = option(
        None,
        "Only the end, instead of TASK; how to get there, with empty hands at first, is found out.",
        metavar="TERM",
    ),
    *,
    place: Place,
    search: Search,
    gif: Path | None = film(),
    png: Path | None = picture(", if the world can draw a whole plan; of rrt with its tree"),
) -> Said:
    """Plan for an instruction, or for a goal only, and show the steps, grouped by subgoal.

    Every plan is replayed in the true world. Exit code 0 with a plan that
    does what was asked, 1 without one. For example:
    [bold]rsg plan {world} "{task}" --seed 2[/bold]
    [bold]rsg plan {world} --goal {goal}[/bold]
    [bold]rsg plan {world} --goal {goal} --subgoals out/run --gif plan.gif[/bold]
    """
    domain = find(name, place)
    if png and not (domain.has("trail") or domain.has("plan_picture")):
        raise domain.lacks("picture of a whole plan", "write an animated one with --gif")
    wanted = _read(task, goal, domain, search.subgoals)
    machine, end = Machine.of(wanted), None if goal is None else wanted
    world, state = domain.start(machine.names, stream(search.seed, "world"), goal is not None)
    settings, goal_fn = search.settings_in(world, goal is not None), goal_fn_named(search.subgoals, domain, world)
    how = settings.planner
    about = {"subgoals": search.subgoals, "order": how.order or "auto", "planner": how.name, **domain.about()}
    about["transitions"] = how.transitions.name
    note, make = "", partial(plan_task, world, state, machine, goal_fn, settings)
    if goal is not None and not is_continuous(world):  # in a continuous one no subgoal needs another one first
        if search.order is not None or search.soft:
            wrong = "--soft" if search.soft else "--order"
            raise RsgError(f"{wrong} is for TASK; with --goal states where the goal lacks least come first")
        dependencies, note = dependencies_named(search.subgoals, find(name), goal_fn)
        make, about["order"] = (
            partial(plan_goal, world, state, str(end), goal_fn, dependencies, settings.budget or BUDGET),
            None,
        )
    with compiling() as kernels:
        made = make()
    made, verdict = judged(made, domain, world, goal_fn, end)
    about |= {"goal": str(end)} if end is not None else {}
    values = _values(made, verdict, world, kernels(), about)
    values["open"] = []
    if made.found and search.subgoals not in GIVEN:
        from rsg.subgoals import Subgoals, rests_on  # which loads torch

        if isinstance(goal_fn, Subgoals):
            values["open"] = rests_on(goal_fn.classifiers, made.terms, made.bold, world)
    gif, png = gif if made.found else None, png if made.found and made.ended != ALREADY else None
    if gif:
        write(gif, plan_film(domain, world, made))
    goals = goal_fn(world, Machine.of(made.task).names, state) if png else None
    if png and goals and (drawn := domain.plan_picture(world, made, goals, settings)) is not None:
        write_png(drawn, png)
    return Said(values, _show(domain, world, made, values, note), 0 if made.found and verdict.ok else 1, [gif, png])


def _read(task: str | None, goal: str | None, domain: Domain, subgoals: str) -> Task:
    """The task, or the one term that a goal is; terms are those of the world, or else of what was learned there."""
    if goal is None and task is None:
        example, end = domain.examples
        raise RsgError(f"say what to do: TASK, such as '{example}', or only the end: --goal {end}")
    if goal is not None and task is not None:
        raise RsgError("give either TASK or --goal, not both")
    terms = []
    if not domain.vocabulary and subgoals not in GIVEN:
        from rsg.training import Run  # which loads torch

        terms = Run(subgoals).about.get("terms", [])
    found = domain.read(goal or task or "", terms)
    if goal is not None and not isinstance(found, Term):
        raise RsgError(f"a goal is one term; '{found}' is more, give it as TASK: rsg plan {domain.name} \"{found}\"")
    return found


def _values(made: Plan, verdict: Verdict, world: EitherWorld, kernels: float, about: dict[str, Any]) -> dict[str, Any]:
    """What `--json` says; `kernels` are seconds that went into compiling or loading kernels, not into planning."""
    values = {
        "found": made.found,
        "task": about.get("goal") or str(made.task),
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
    if "goal" in about:
        values["instruction"] = str(made.task) if len(made.actions) else None
        values |= {"reached": list(made.reached), "missed": list(made.missed)}
    return values


def _show(
    domain: Domain, world: EitherWorld, made: Plan, values: dict[str, Any], note: str
) -> Iterator[RenderableType]:
    """A plan in the terminal, and what is to be said of it."""
    goal = values.get("goal")
    yield f"[bold]{'goal' if goal else 'task'}[/bold]   {values['task']}\n"
    yield view(domain, world, made.states[0])
    if not made.found:
        yield f"\n[yellow]{made.reason}[/yellow]"
        if made.reached:
            yield f"reached: {', '.join(made.reached)}"
    elif made.ended == ALREADY:
        yield f"\n[green]{goal} is already true at the start: there is nothing to do[/green]"
        if not values["valid"]:
            yield f"[red]so the subgoals say; in truth {values['reason']}[/red]"
    else:
        yield f"\nsubgoals on the way: {made.task}\n" if goal else ""
        for term, start, end in made.parts:
            told = domain.steps(world, made.states[start : end + 1], made.actions[start:end])
            yield f"  steps {start + 1:2} to {end:2}  [green]{term:20}[/green] {told}"
        right = f"replayed: {f'{goal} comes true' if goal else 'it does the task'}"
        right = right if domain.has("truth") else f"not judged: {domain.name} has no truth"
        judged = f"[green]{right}[/green]" if values["valid"] else f"[red]replayed: {values['reason']}[/red]"
        figures = f"{made.expansions:,} expansions, {values['ms']:.2f} ms"
        yield f"\n{len(made.actions)} steps, cost {made.cost:.2f}; {figures}; {judged}"
    yield from (f"[yellow]{sentence}[/yellow]" for sentence in values["open"])
    if note:
        yield f"[bright_black]{note}[/bright_black]"
    if values["compile_ms"] > 2000:
        seconds = values["compile_ms"] / 1000
        yield f"[bright_black](compiling the search took {seconds:.1f} s; that happens once)[/bright_black]"
