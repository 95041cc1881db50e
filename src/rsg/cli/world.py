"""`rsg world`: look at a world."""

from pathlib import Path
from typing import cast

from rich.console import RenderableType
from rich.text import Text

from rsg.cli.command import Pictures, Place, Said, command, option
from rsg.cli.options import Seed, WorldName, picture
from rsg.cli.output import console, to_write
from rsg.core.arrays import Array
from rsg.core.errors import RsgError
from rsg.core.files import replacing
from rsg.core.random import stream
from rsg.demos.showing import write_png
from rsg.domain import Domain, find
from rsg.worlds import EitherWorld


@command
def world(
    name: WorldName,
    place: Place,
    pictures: Pictures,
    png: Path | None = picture(),
    save: Path | None = option(None, "Write it as text, to edit and load.", metavar="FILE", callback=to_write()),
    pixels: int | None = option(None, "The size of a cell, or of the picture's longer side.", "--pixels", "--cell"),
    subgoals: str | None = option(None, "The folder of a run, or untrained: for a picture of them.", metavar="RUN"),
    seed: Seed = 0,
    listed: bool = option(False, "List the places that have a name.", "--list"),
) -> Said:
    """Show a world at a random start, at a place that you name, or from a file of your own.

    With a WORLD, --help tells of its own options, too. For example:
    [bold]rsg world {world} --list[/bold]
    [bold]rsg world {world}{place} --seed 3 --png start.png[/bold]
    """
    domain = find(name, place)
    _check(domain, pictures, subgoals)
    if listed:
        places = [f"{name:18} {about}" for name, about in domain.places.items()]
        return Said(dict(domain.places), "\n".join(places) or f"{domain.name} has no places with names")
    where, state = domain.start((), stream(seed, "world"))
    if png:
        write_png(domain.picture(where, state, pixels or domain.pixels.get("large")), png)
    if save:
        text = domain.text(where, state)
        with replacing(save) as part:
            part.write_text(text, encoding="utf-8")
    learned = None
    if subgoals:
        from rsg.evaluation.named import subgoals_named  # which loads torch

        learned = subgoals_named(subgoals, domain, where).classifiers
    for key, path in pictures.items():
        write_png(domain.pictures[key].draw(where, state, pixels, learned), path)
    written = [path for path in (png, save, *pictures.values()) if path]
    values = {**domain.about(), "seed": seed, **domain.told(where, state), "written": [str(path) for path in written]}
    return Said(values, [view(domain, where, state)], written=written)


def view(domain: Domain, world: EitherWorld, state: Array) -> RenderableType:
    """A state for this terminal; plain text stays as it is, brackets too."""
    shown = domain.view(world, state, colours=console().color_system is not None)
    return Text(shown) if isinstance(shown, str) else cast(RenderableType, shown)


def _check(domain: Domain, pictures: dict[str, Path], subgoals: str | None) -> None:
    """An error for a picture of subgoals without any, and the other way round."""
    learned = [key for key, one in domain.pictures.items() if one.learned]
    if subgoals and not learned:
        raise RsgError(f"{domain.name} has no picture of subgoals; leave out --subgoals")
    if bool(subgoals) != any(key in pictures for key in learned):
        flags = " or ".join(f"--{key} FILE" for key in learned)
        raise RsgError(f"{flags} draws the subgoals of --subgoals RUN; give both")
    if subgoals == "oracle":
        raise RsgError("such a picture shows the truth beside what was learned; give the folder of a run, or untrained")
