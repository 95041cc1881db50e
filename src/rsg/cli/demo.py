"""`rsg demo`: a newcomer's tour of what rsg does today."""

from __future__ import annotations

from pathlib import Path
from shutil import rmtree
from typing import Any

from rsg.cli.output import AsJson, console, emit
from rsg.cli.plan import show_plan
from rsg.cli.task import as_values, show
from rsg.core.progress import progress

OUT = Path("out")
EPISODE = 37  # a trip by boat
TASKS = {  # three tasks of the paper, from its appendix tables
    "A chain: one step after the other.": "mine-wood then craft-wood-plank",
    "'and' allows any order, and binds tighter than 'then'.": "mine-iron-ore and mine-coal then craft-iron-ingot",
    "'or' gives a choice; parentheses group.": (
        "grab-key or (grab-axe then mine-wood then craft-wood-plank then craft-boat) then grab-pickaxe"
        " then mine-gold-ore"
    ),
}


def demo(as_json: AsJson = False) -> None:
    """Show what rsg does today: the task language, a map, some demonstrations, a plan."""
    from rsg.language import Machine, parse

    machines = {note: Machine.of(parse(text)) for note, text in TASKS.items()}
    if as_json:
        emit({"tasks": [as_values(machine) for machine in machines.values()], "episode": _episode()[1]})
        return
    out = console()
    out.print("[bold]The task language[/bold]: what an agent is asked to do, in words that it will learn.\n")
    for number, (note, machine) in enumerate(machines.items(), start=1):
        out.print(f"[bold cyan]{number}. {note}[/bold cyan]")
        show(machine)
        out.print()
    _judge_traces()
    _show_world()
    _show_demonstrations()
    _show_plan()
    out.print("\n[bold]Try next[/bold]")
    out.print("  .venv/bin/rsg play crafting --task 'grab-axe then mine-wood'      move the agent yourself")
    out.print("  .venv/bin/rsg world crafting --kind islands --png map.png        look at a map")
    out.print("  .venv/bin/rsg plan crafting 'grab-axe then mine-wood' --seed 3    plan for an instruction")
    out.print("  .venv/bin/rsg demos make crafting --out out/train                the paper's training set")
    out.print("  .venv/bin/rsg task 'a then b and c' --draw machine.svg           draw the machine of a task")


def _judge_traces() -> None:
    from rsg.language import parse, satisfies

    task = parse("mine-wood then craft-wood-plank")
    traces = {
        "wood, then the plank": [[0, 0], [1, 0], [1, 1]],
        "the plank without wood": [[0, 0], [0, 0], [0, 1]],
        "wood from the start": [[1, 0], [1, 0], [1, 1]],
    }
    out = console()
    out.print("[bold cyan]4. Does a trajectory do the task?[/bold cyan] Each subgoal must turn from false to true.")
    for story, trace in traces.items():
        verdict = "[green]yes[/green]" if satisfies(trace, task) else "[red]no[/red]"
        out.print(f"  {task}: {story:24} {verdict}")


def _show_world() -> None:
    from rsg.worlds.crafting.terminal import terminal_view

    out = console()
    out.print("\n[bold]Crafting World[/bold]: 47 kinds of things and the rules of mining and crafting.\n")
    first, values = _episode()
    out.print(terminal_view(*first))
    out.print(f"\n{len(values['actions'])} random steps: {' '.join(values['actions'])}")
    out.print(
        f"They got hold of: {', '.join(values['inventory']) or 'nothing'}. Learning to do better is what rsg is for."
    )


def _show_demonstrations() -> None:
    """Make a small set, show one episode, write it as an animation."""
    from rsg.cli.demos import show_demonstration
    from rsg.demos import Recipe, benchmark, check_store, make_demonstrations
    from rsg.demos.showing import frames, milestones, write_gif

    out = console()
    recipe = Recipe("crafting", "novel", per_task=5)
    rmtree(OUT / "demo-novel", ignore_errors=True)  # the demo's own: it is made anew each time
    with progress("demonstrating", recipe.episodes(), "episodes") as advance:
        store = make_demonstrations(recipe, OUT / "demo-novel", workers=1, advance=advance)
    report = check_store(store)
    out.print("\n[bold]Demonstrations[/bold]: trajectories and the words that go with them, not cut into steps.\n")
    tasks, verdict = len(store) // recipe.per_task, "all is well" if report.ok else report.problems[0]
    out.print(
        f"{len(store)} demonstrations of the {tasks} novel tasks of the paper, {report.steps:,} steps, all replayed"
    )
    out.print(f"and judged: {verdict}. They are in {store.folder}; this is one of them.\n")
    source, demo = benchmark("crafting"), store[EPISODE]
    show_demonstration("crafting", demo, milestones(source, demo))
    write_gif(frames(source, demo), OUT / "demonstration.gif")
    out.print(f"\nThe same as an animation: {OUT / 'demonstration.gif'}")


def _show_plan() -> None:
    """Plan for the paper's hardest map with true subgoals, and check the plan."""
    from functools import partial

    from rsg.core.random import stream
    from rsg.demos import benchmark
    from rsg.demos.showing import write_gif
    from rsg.planning import plan, validate

    out = console()
    out.print("\n[bold]Planning[/bold]: from an instruction to actions, here with the true meaning of its subgoals.")
    out.print("[bright_black](the first plan compiles the search: some seconds, once)[/bright_black]\n")
    source: Any = benchmark("crafting")
    demo, _ = source.demonstrate("novel", 11, stream(1, "demo-plan"))  # a start on which the task can be done
    world, state, task = source.world(demo.setting), demo.states[0], demo.task
    plan(world, state, task, source.true_goals)
    made = plan(world, state, task, source.true_goals)
    verdict = validate(world, made, task, partial(source.truth, world))
    show_plan(made, world, state, verdict)
    write_gif([world.render(state) for state in made.states], OUT / "plan.gif")
    out.print(f"The same as an animation: {OUT / 'plan.gif'}")


def _episode() -> tuple[tuple[Any, Any], dict[str, Any]]:
    """A short random episode on a fixed map: where it began, and what happened."""
    from rsg.core.random import stream
    from rsg.envs import CraftingEnv

    env = CraftingEnv(map="river")
    rng = stream(0, "demo")
    first = env.reset(seed=0)[1]["state"]
    chosen = rng.integers(len(env.world.actions), size=30)
    for action in chosen:
        last = env.step(action)[4]["state"]
    names = [env.world.actions[action] for action in chosen]
    return (env.world, first), {"actions": names, "inventory": list(env.world.inventory(last))}
