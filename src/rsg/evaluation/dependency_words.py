"""Which subgoals help which, in sentences; names are marked up as rich shows them."""

from collections.abc import Iterator

from rsg.core.words import quantity
from rsg.planning import Dependencies

MANY = 5  # prerequisites of one subgoal that a person is told


def sentences(found: Dependencies, top: int) -> Iterator[str]:
    """Prerequisites, then so many of the strongest links."""
    yield "[bold]Prerequisites[/bold]: what nearly always held just before a subgoal came true"
    free: dict[bool, list[str]] = {True: [], False: []}  # by whether they ever came true
    for number, (term, alternatives) in enumerate(zip(found.terms, found.prerequisites, strict=True)):
        if alternatives == ((),):
            free[bool(found.achieved[number])].append(term)
        else:
            yield f"  {_sentence(found, number)}"
    for seen, told in ((True, "need nothing that has a name"), (False, "never came true in a demonstration")):
        if free[seen]:
            yield f"  {told}: {', '.join(free[seen])}"
    links = found.links()
    yield "\n[bold]Links[/bold] of the paper's matrix d: what was achieved before what, the strongest first"
    for link in links[:top]:
        both = f"{link['together']:,} demonstrations that show both"
        times = f"all {both}" if link["before"] == link["together"] else f"{link['before']:,} of the {both}"
        pair = f"[green]{link['first']}[/green] came before [bold]{link['then']}[/bold]"
        yield f"  {pair} in {times}; d = {link['d']:.2f}"
    if len(links) > top:
        yield f"  [bright_black]({len(links) - top:,} more: --top {len(links)})[/bright_black]"
    if not links:
        yield "  none: no two subgoals were achieved one after the other in a demonstration that mentions both"


def _sentence(found: Dependencies, number: int) -> str:
    """How often a subgoal came true, and how often while its prerequisites held."""
    times, held = int(found.achieved[number]), found.held[number]
    names = [f"[green]{term}[/green]" for term in found.terms]
    text = f"[bold]{found.terms[number]}[/bold] came true {quantity(times, 'time')}, "
    needs, *others = found.prerequisites[number]
    if others:
        ways = [_several([f"{names[need]} ({held[need]:,})" for need in one]) for one in (needs, *others)]
        covered = int(found.covered[number])
        return f"{text}{'each time' if covered == times else f'{covered:,} of them'} while {' or '.join(ways)} held"
    always = [names[need] for need in needs if held[need] == times]
    rest = [need for need in sorted(needs, key=lambda need: -held[need]) if held[need] < times]
    told = [f"each time while {_several(always)} held"] if always else []
    told += [f"{held[n]:,}{' of them' if n == rest[0] else ''} while {names[n]} held" for n in rest]
    return text + _several(told)


def _several(parts: list[str]) -> str:
    """A list in words; a long one is cut."""
    if len(parts) > MANY:
        parts = [*parts[: MANY - 1], f"{len(parts) - MANY + 1} more"]
    return " and ".join(filter(None, (", ".join(parts[:-1]), parts[-1])))
