"""`rsg plan`: from an instruction to actions."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rsg.cli.output import AsJson, console, emit
from rsg.cli.world import Seed, WorldName, require_world
from rsg.core.errors import RsgError

if TYPE_CHECKING:
    from rsg.planning import Plan
    from rsg.search import GoalFn

Subgoals = Annotated[
    str,
    typer.Option(
        "--subgoals",
        metavar="WHICH",
        help="The folder of a run, or oracle (the truth), or untrained (random networks).",
    ),
]
Order = Annotated[str, typer.Option("--order", help="deepest, balanced, optimal, anytime or layered.")]


def plan(
    name: WorldName,
    task: Annotated[str, typer.Argument(metavar="TASK", help="For example: 'grab-axe then mine-wood'.")],
    map_: Annotated[str | None, typer.Option("--map", metavar="KIND|FILE", help="A kind of map or a map file.")] = None,
    seed: Seed = 0,
    subgoals: Subgoals = "oracle",
    order: Order = "deepest",
    budget: Annotated[int, typer.Option(help="How many (state, node) pairs may be expanded.")] = 5000,
    gif: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the plan as an animated picture.")] = None,
    as_json: AsJson = False,
) -> None:
    """Plan for an instruction and show the steps, grouped by subgoal.

    Exit code 0 with a plan, 1 without one. For example:
    [bold]rsg plan crafting "grab-axe then mine-wood then craft-wood-plank" --seed 2[/bold]
    """
    require_world(name)
    from rsg.core.random import stream
    from rsg.demos import benchmark
    from rsg.language import Machine, parse
    from rsg.planning import plan as make_plan
    from rsg.planning import validate
    from rsg.search import SearchSettings
    from rsg.worlds.crafting.starts import Starts

    source: Any = benchmark(name)
    settings = SearchSettings(order=order, budget=budget, seed=seed)
    machine = Machine.of(parse(task, source.vocabulary))
    terms = [str(term) for term in machine.terms]
    starts = Starts(map_, terms)
    state = starts.sample(stream(seed, "world"))
    world = starts.world
    goal_fn = goal_fn_named(subgoals, source)
    begun = time.perf_counter()
    make_plan(world, state, machine, goal_fn, replace(settings, budget=1))  # compiles the kernels, or loads them
    warming = time.perf_counter() - begun
    made = make_plan(world, state, machine, goal_fn, settings)
    verdict = validate(world, made, machine, lambda states, wanted: source.truth(world, states, wanted))
    if gif and made.found:
        from rsg.demos.showing import write_gif

        write_gif([world.render(state) for state in made.states], gif)
    if as_json:
        emit({**_values(made, world, verdict, subgoals, order), "compile_ms": round(1000 * warming, 1)})
    else:
        show_plan(made, world, state, verdict)
        if warming > 2:
            console().print(f"(compiling the search took {warming:.1f} s; that happens once)", style="bright_black")
        if gif and made.found:
            console().print(f"\nwritten to {gif}", markup=False)
    if not made.found:
        raise typer.Exit(1)


def goal_fn_named(name: str, source: Any) -> GoalFn:
    """The classifiers that were asked for."""
    if name == "oracle":
        fn: GoalFn = source.true_goals
        return fn
    if name == "untrained":
        from rsg.subgoals import untrained

        return untrained(source.vocabulary).goals
    from rsg.subgoals import load_subgoals

    if not Path(name).exists():
        raise RsgError(f"there are no subgoals '{name}'; give the folder of a run, oracle or untrained")
    return load_subgoals(name).goals


def _values(made: Plan, world: Any, verdict: Any, subgoals: str, order: str) -> dict[str, Any]:
    return {
        "found": made.found,
        "task": str(made.task),
        "actions": [world.actions[action] for action in made.actions],
        "terms": list(made.terms),
        "cost": made.cost if made.found else None,
        "expansions": made.expansions,
        "ms": round(1000 * made.seconds, 3),
        "ended": made.ended,
        "reason": made.reason or verdict.reason,
        "valid": verdict.ok,
        "valid_lenient": verdict.lenient,
        "subgoals": subgoals,
        "order": order,
    }


def show_plan(made: Plan, world: Any, state: Any, verdict: Any) -> None:
    """A plan in the terminal: the first map, then the steps for each subgoal."""
    from rsg.worlds.crafting.terminal import terminal_view

    out = console()
    out.print(f"[bold]task[/bold]   {made.task}\n")
    out.print(terminal_view(world, state))
    if not made.found:
        out.print(f"\n[yellow]{made.reason}[/yellow]")
        if made.reached:
            out.print(f"reached: {', '.join(made.reached)}")
        return
    out.print()
    names = [world.actions[action] for action in made.actions]
    start = 0
    for end in range(1, len(names) + 1):
        if end == len(names) or made.nodes[end] != made.nodes[start]:
            out.print(
                f"  steps {start + 1:2} to {end:2}  [green]{made.terms[start]:20}[/green] {' '.join(names[start:end])}"
            )
            start = end
    figures = f"{made.expansions:,} expansions, {1000 * made.seconds:.2f} ms"
    judged = "[green]replayed: it does the task[/green]" if verdict.ok else f"[red]replayed: {verdict.reason}[/red]"
    out.print(f"\n{len(names)} steps, cost {made.cost:.2f}; {figures}; {judged}")
