"""`rsg task`: read a task, show its tree, its machine and its linear instructions."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rsg.cli.output import AsJson, console, emit
from rsg.core.words import quantity

if TYPE_CHECKING:
    from rich.tree import Tree

    from rsg.language import Machine, Task

SHOWN = 10  # how many linear instructions are listed


def task(
    text: Annotated[str, typer.Argument(metavar="TASK", help="For example: 'grab-axe then mine-wood and mine-coal'.")],
    draw: Annotated[Path | None, typer.Option(metavar="FILE", help="Draw the machine: .svg, .png or .pdf.")] = None,
    ltlf: Annotated[bool, typer.Option("--ltlf", help="Also write the task as an LTLf formula.")] = False,
    as_json: AsJson = False,
) -> None:
    """Read a task and show what it means.

    A task is made of terms (mine-wood, put-next(red-box, grey-door)) and the words [bold]then[/bold], [bold]or[/bold],
    [bold]and[/bold] (or >, |, &). 'then' binds loosest, 'and' tightest; parentheses override.
    """
    from rsg.language import Machine, parse, to_ltlf

    tree = parse(text)
    machine = Machine.of(tree)
    formula = str(to_ltlf(tree)) if ltlf else None
    if draw is not None:
        from rsg.language.drawing import draw as draw_machine

        draw_machine(machine, draw)
    if as_json:
        emit(as_values(machine) | ({"ltlf": formula} if formula else {}) | ({"drawing": str(draw)} if draw else {}))
        return
    show(machine)
    if formula:
        console().print(f"\nLTLf     {formula}", markup=False)
    if draw is not None:
        console().print(f"\nDrawn in {draw}", markup=False)


def as_values(machine: Machine) -> dict[str, object]:
    """What `--json` says of a task."""
    return {
        "task": str(machine.task),
        "nodes": machine.nodes,
        "edges": machine.edges,
        "instructions": machine.count_instructions(),
        "terms": [str(term) for term in machine.terms],
    }


def show(machine: Machine) -> None:
    """What a person sees of a task."""
    out = console()
    out.print(f"[bold]task[/bold]     {machine.task}\n")
    out.print(tree_of(machine.task))
    sizes = [quantity(machine.nodes, "node"), quantity(machine.edges, "edge"), quantity(len(machine.terms), "term")]
    out.print(f"\n[bold]machine[/bold]  {', '.join(sizes)} (v_0 and v_T included)")
    total = machine.count_instructions()
    out.print(f"[bold]means[/bold]    {quantity(total, 'linear instruction')}")
    for number, path in enumerate(islice(machine.paths(), SHOWN), start=1):
        out.print(f"  {number:2}. {' > '.join(map(str, path))}")
    if total > SHOWN:
        out.print(f"      and {quantity(total - SHOWN, 'more', 'more')}")


def tree_of(task: Task) -> Tree:
    """The syntax tree, ready to print."""
    from rich.tree import Tree

    from rsg.language import And, Or, Then

    if not isinstance(task, (Then, Or, And)):
        return Tree(str(task))
    branch = Tree(f"[bold cyan]{task.word}[/bold cyan]")
    branch.children.extend(tree_of(part) for part in task.parts)
    return branch
