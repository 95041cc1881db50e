"""`rsg task`: read a task, show its tree, its machine and its linear instructions."""

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Annotated

import typer
from rich.console import RenderableType
from rich.markup import escape
from rich.tree import Tree

from rsg.cli.command import Said, command, option
from rsg.cli.output import to_write
from rsg.core.words import quantity
from rsg.language import And, Machine, Or, Task, Then, parse, to_ltlf
from rsg.language.drawing import draw as draw_machine

SHOWN = 10  # how many linear instructions are listed


@command
def task(
    text: Annotated[str, typer.Argument(metavar="TASK", help="For example: 'grab-axe then mine-wood and mine-coal'.")],
    draw: Path | None = option(None, "Draw the machine: .svg, .png or .pdf.", metavar="FILE", callback=to_write()),
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
    values = {
        "task": str(machine.task),
        "nodes": machine.nodes,
        "edges": machine.edges,
        "instructions": machine.count_instructions(),
        "terms": list(machine.names),
    }
    values |= ({"ltlf": formula} if formula else {}) | ({"drawing": str(draw)} if draw else {})
    return Said(values, _show(machine, formula, draw))


def _show(machine: Machine, formula: str | None, drawn: Path | None) -> Iterator[RenderableType]:
    """What a person sees of a task."""
    yield f"[bold]task[/bold]     {machine.task}\n"
    yield _tree_of(machine.task)
    sizes = [quantity(machine.nodes, "node"), quantity(machine.edges, "edge"), quantity(len(machine.terms), "term")]
    yield f"\n[bold]machine[/bold]  {', '.join(sizes)} (v_0 and v_T included)"
    total = machine.count_instructions()
    yield f"[bold]means[/bold]    {quantity(total, 'linear instruction')}"
    for number, path in enumerate(islice(machine.paths(), SHOWN), start=1):
        yield f"  {number:2}. {' > '.join(map(str, path))}"
    if total > SHOWN:
        yield f"      and {quantity(total - SHOWN, 'more', 'more')}"
    if formula:
        yield f"\nLTLf     {escape(formula)}"
    if drawn is not None:
        yield f"\nDrawn in {escape(str(drawn))}"


def _tree_of(task: Task) -> Tree:
    """The syntax tree, ready to print."""
    if not isinstance(task, (Then, Or, And)):
        return Tree(str(task))
    branch = Tree(f"[bold cyan]{task.word}[/bold cyan]")
    branch.children.extend(_tree_of(part) for part in task.parts)
    return branch
