"""`rsg readings`: what the terms of a run mean, in words."""

from functools import partial
from typing import Any

from rsg.cli.command import Said, command
from rsg.cli.options import RunFolder
from rsg.cli.output import console
from rsg.core.random import stream
from rsg.core.words import quantity
from rsg.evaluation.trained import source_of
from rsg.subgoals import Told, demonstrators, load_subgoals, tell
from rsg.training import Run


@command
def readings(folder: RunFolder) -> Said:
    """Say what each term means, how sure that is, what is open, and what would settle it.

    A term is read as the smallest formula over facts of a state that makes the
    demonstrators rational. Where two formulas explain what was shown equally
    well, both are told, with the demonstration that would tell them apart;
    [bold]rsg plan[/bold] then sees to both. Terms that no small formula explains have a
    network. For example:
    [bold]rsg train crafting --out out/run --per-task 1[/bold]
    [bold]rsg readings out/run[/bold]
    """
    subgoals, run = load_subgoals(folder), Run(folder)
    world = None
    if run.about.get("source", {}).get("world"):
        world, _ = source_of(run).start("train", 0, stream(0, "readings"))
    told = tell(subgoals, world)
    found = subgoals.shape if "alpha" in subgoals.shape else {}
    values = {"run": str(folder), "terms": {one.term: one.plain() for one in told}}
    values |= {key: found[key] for key in ("alpha", "doubt", "doubted") if key in found}
    return Said(values, partial(_show, told, demonstrators(found) if found else ""))


def _show(told: list[Told], about: str) -> None:
    out: Any = console()
    for one in told:
        _show_one(out, one)
    if about:
        out.print(f"\nOf the demonstrators: {about}.", markup=False)
    many = sum(bool(one.open) for one in told)
    if many:
        out.print(f"\n{quantity(many, 'term')} with something open; each demonstration asked for settles one of them.")


def _show_one(out: Any, one: Told) -> None:
    """A term: what it means, then what is open about it."""
    out.print(f"[bold]{one.term}[/bold]{one.means.removeprefix(one.term)}")
    if one.sure is not None:
        fits = "" if one.explained == one.seen else f", {one.explained} of them as described"
        out.print(f"    {one.sure:.1%} sure; {quantity(one.seen, 'demonstration')}{fits}", style="bright_black")
    for opened, settle in zip(one.open, one.settle, strict=False):
        out.print(f"    [yellow]open[/yellow]: {opened}. To settle it, show {settle}")
    if one.never_varied:
        so_far = f"so far always while {' and '.join(one.never_varied)}"
        asked = " or ".join(one.settle[len(one.open) :])
        out.print(f"    {so_far}; to see whether that matters, show {asked}", style="bright_black")
