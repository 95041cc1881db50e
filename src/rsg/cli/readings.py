"""`rsg readings`: what the terms of a run mean, in words."""

from collections.abc import Iterator

from rich.markup import escape

from rsg.cli.command import Said, command
from rsg.cli.options import Home, RunFolder
from rsg.core.words import quantity
from rsg.evaluation.named import world_of_run
from rsg.subgoals import Told, demonstrators, load
from rsg.training import Run


@command
def readings(folder: RunFolder, world: Home = None) -> Said:
    """Say what each term means, how sure that is, what is open, and what would settle it.

    A term is read as the smallest formula over facts of a state that makes the
    demonstrators rational. Where two formulas explain what was shown equally
    well, both are told, with the demonstration that would tell them apart;
    [bold]rsg plan[/bold] then sees to both. Terms that no small formula explains have a
    network. For example:
    [bold]rsg train {world} --out out/run --per-task 1[/bold]
    [bold]rsg readings out/run[/bold]
    """
    subgoals = load(folder)
    told, shape = subgoals.tell(world_of_run(Run(folder), world)), subgoals.classifiers.shape
    found = shape if "alpha" in shape else {}
    values = {"run": str(folder), "terms": {one.term: one.plain() for one in told}}
    values |= {key: found[key] for key in ("alpha", "doubt", "doubted") if key in found}
    return Said(values, _show(told, demonstrators(found) if found else ""))


def _show(told: list[Told], about: str) -> Iterator[str]:
    """Each term: what it means, then what is open about it; at last, what holds for all."""
    for one in told:
        yield f"[bold]{one.term}[/bold]{one.means.removeprefix(one.term)}"
        if one.sure is not None:
            fits = "" if one.explained == one.seen else f", {one.explained} of them as described"
            seen = quantity(one.seen, "demonstration")
            yield f"    [bright_black]{one.sure:.1%} sure; {seen}{fits}[/bright_black]"
        for opened, settle in zip(one.open, one.settle, strict=False):
            yield f"    [yellow]open[/yellow]: {opened}. To settle it, show {settle}"
        if one.never_varied:
            so_far = f"so far always while {' and '.join(one.never_varied)}"
            asked = " or ".join(one.settle[len(one.open) :])
            yield f"    [bright_black]{so_far}; to see whether that matters, show {asked}[/bright_black]"
    if about:
        yield f"\nOf the demonstrators: {escape(about)}."
    if many := sum(bool(one.open) for one in told):
        yield f"\n{quantity(many, 'term')} with something open; each demonstration asked for settles one of them."
