"""`rsg world`: look at a map or a room."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rsg.cli.command import Said, command, option
from rsg.cli.options import Place, Seed, WorldName, picture
from rsg.cli.output import console, write_png
from rsg.cli.worlds import CELL, Face, face_named
from rsg.core.errors import RsgError
from rsg.core.files import replacing
from rsg.demos import benchmark


@dataclass(frozen=True)
class Files:
    """What is to be written."""

    png: Path | None = picture("Write a picture of it.")
    save: Path | None = option(None, "Write it as text (playroom: JSON), to edit and load.", metavar="FILE")
    cell: int | None = option(None, "crafting: pixels per cell of the picture, 48.")
    sprites: Path | None = picture("crafting: write a picture of all objects.")
    roadmap: Path | None = picture("playroom: write a picture of the roadmap on the floor.")
    heat: Path | None = picture("playroom: write a picture of where learned subgoals hold.")
    subgoals: str | None = option(None, "playroom, with --heat: the folder of a run, or untrained.", metavar="RUN")


@command
def world(
    name: WorldName,
    place: Place,
    files: Files,
    seed: Seed = 0,
    listed: bool = option(False, "List the kinds of maps, or the layouts.", "--list"),
) -> Said:
    """Show a world: a random map or room, or one of your own from a text file.

    For example:
    [bold]rsg world crafting --kind islands --seed 3 --png map.png[/bold]
    [bold]rsg world playroom --layout narrow --seed 3 --save my.json[/bold]
    [bold]rsg world playroom --subgoals out/run --heat heat.png[/bold]
    """
    special = {key: getattr(files, key) for key in ("cell", "sprites", "roadmap", "heat", "subgoals")}
    face = face_named(name, **vars(place), **special)
    if (files.subgoals is None) != (files.heat is None):
        raise RsgError("--heat FILE draws where the subgoals of --subgoals RUN hold; give both")
    if listed:
        return Said(dict(face.places), "\n".join(f"{name:18} {about}" for name, about in face.places.items()))
    where, state, about = face.start(place.name, (), seed, False)
    written = _write(face, where, state, files)
    if files.heat and files.subgoals:
        _draw_heat(files.heat, files.subgoals, benchmark(name, (), place.layout), where, state)
        written.append(files.heat)
    values = {**about, "seed": seed, **face.values(where, state), "written": [str(path) for path in written]}
    return Said(values, lambda: console().print(face.view(where, state)), written=written)


def _write(face: Face, world: Any, state: Any, files: Files) -> list[Path]:
    """The start as pictures and as text; gives what was written."""
    pictures = {"png": files.png, "sprites": files.sprites, "roadmap": files.roadmap}
    for name, path in pictures.items():
        if path:
            write_png(face.pictures[name](world, state, files.cell or CELL), path)
    if files.save:
        with replacing(files.save) as part:
            part.write_text(face.text(world, state), encoding="utf-8")
    return [path for path in (*pictures.values(), files.save) if path]


def _draw_heat(path: Path, subgoals: str, source: Any, world: Any, state: Any) -> None:
    """A picture of what classifiers say in a room."""
    from rsg.cli.subgoals import classifiers_named
    from rsg.evaluation.playroom_pictures import draw_heat

    if subgoals == "oracle":
        raise RsgError("--heat shows the truth beside what was learned; give the folder of a run, or untrained")
    draw_heat(path, classifiers_named(subgoals, source, world), world, state)
