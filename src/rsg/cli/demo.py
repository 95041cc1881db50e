"""`rsg demo`: a newcomer's tour of what rsg does today."""

from __future__ import annotations

from rsg.cli.output import AsJson, console, emit
from rsg.cli.task import as_values, show

TASKS = {  # three tasks of the paper, from its appendix tables
    "A chain: one step after the other.": "mine-wood then craft-wood-plank",
    "'and' allows any order, and binds tighter than 'then'.": "mine-iron-ore and mine-coal then craft-iron-ingot",
    "'or' gives a choice; parentheses group.": (
        "grab-key or (grab-axe then mine-wood then craft-wood-plank then craft-boat) then grab-pickaxe"
        " then mine-gold-ore"
    ),
}


def demo(as_json: AsJson = False) -> None:
    """Walk through the task language on three tasks of the paper."""
    from rsg.language import Machine, parse, satisfies

    machines = {note: Machine.of(parse(text)) for note, text in TASKS.items()}
    if as_json:
        emit({"tasks": [as_values(machine) for machine in machines.values()]})
        return
    out = console()
    out.print("[bold]The task language[/bold]: what an agent is asked to do, in words that it will learn.\n")
    for number, (note, machine) in enumerate(machines.items(), start=1):
        out.print(f"[bold cyan]{number}. {note}[/bold cyan]")
        show(machine)
        out.print()

    task = parse(TASKS["A chain: one step after the other."])
    traces = {
        "wood, then the plank": [[0, 0], [1, 0], [1, 1]],
        "the plank without wood": [[0, 0], [0, 0], [0, 1]],
        "wood from the start": [[1, 0], [1, 0], [1, 1]],
    }
    out.print("[bold cyan]4. Does a trajectory do the task?[/bold cyan] Each subgoal must turn from false to true.")
    for story, trace in traces.items():
        verdict = "[green]yes[/green]" if satisfies(trace, task) else "[red]no[/red]"
        out.print(f"  {task}: {story:24} {verdict}")
    out.print("\n[bold]Try next[/bold]  .venv/bin/rsg task 'grab-axe then mine-wood and mine-coal' --draw machine.svg")
