"""`rsg task`: read a task, show its tree, its machine and its linear instructions."""

from itertools import islice
from pathlib import Path
from typing import Annotated

import typer
from rich.tree import Tree

from rsg.cli.command import Said, command, option
from rsg.cli.output import console
from rsg.core.words import quantity
from rsg.language import And, Machine, Or, Task, Then, parse, to_ltlf
from rsg.language.drawing import draw as draw_machine

SHOWN = 10  # how many linear instructions are listed


@command
def task(
    text: Annotated[str, typer.Argument(metavar="TASK", help="For example: 'grab-axe then mine-wood and mine-coal'.")],
    draw: Path | None = option(None, "Draw the machine: .svg, .png or .pdf.", metavar="FILE"),
    ltlf: bool = option(False, "Also write the task as an LTLf formula.", "--ltlf"),
) -> Said:
    """Read a task and show what it means.

    A task is made of terms (mine-wood, put-next(red-box, grey-door)) and the words [bold]then[/bold], [bold]or[/bold],
    [bold]and[/bold] (or >, |, &). 'then' binds loosest, 'and' tightest; parentheses override.
    """
    tree = parse(text)
    machine = Machine.of(tree)
    formula = str(to_ltlf(tree)) if ltlf else None
    if draw is not None:
        draw_machine(machine, draw)

    def show() -> None:
        _show(machine)
        if formula:
            console().print(f"\nLTLf     {formula}", markup=False)
        if draw is not None:
            console().print(f"\nDrawn in {draw}", markup=False)

    values = {
        "task": str(machine.task),
        "nodes": machine.nodes,
        "edges": machine.edges,
        "instructions": machine.count_instructions(),
        "terms": list(machine.names),
    }
    return Said(values | ({"ltlf": formula} if formula else {}) | ({"drawing": str(draw)} if draw else {}), show)


def _show(machine: Machine) -> None:
    """What a person sees of a task."""
    out = console()
    out.print(f"[bold]task[/bold]     {machine.task}\n")
    out.print(_tree_of(machine.task))
    sizes = [quantity(machine.nodes, "node"), quantity(machine.edges, "edge"), quantity(len(machine.terms), "term")]
    out.print(f"\n[bold]machine[/bold]  {', '.join(sizes)} (v_0 and v_T included)")
    total = machine.count_instructions()
    out.print(f"[bold]means[/bold]    {quantity(total, 'linear instruction')}")
    for number, path in enumerate(islice(machine.paths(), SHOWN), start=1):
        out.print(f"  {number:2}. {' > '.join(map(str, path))}")
    if total > SHOWN:
        out.print(f"      and {quantity(total - SHOWN, 'more', 'more')}")


def _tree_of(task: Task) -> Tree:
    """The syntax tree, ready to print."""
    if not isinstance(task, (Then, Or, And)):
        return Tree(str(task))
    branch = Tree(f"[bold cyan]{task.word}[/bold cyan]")
    branch.children.extend(_tree_of(part) for part in task.parts)
    return branch
