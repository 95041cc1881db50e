"""`rsg world`: look at a map or a room."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from rsg.cli.output import AsJson, console, emit, write_png
from rsg.cli.worlds import Face, face_named
from rsg.core.errors import RsgError

WorldName = Annotated[str, typer.Argument(metavar="WORLD", help="Which world: crafting or playroom.")]
Kind = Annotated[
    str | None, typer.Option("--kind", metavar="KIND", help="crafting: a kind of random map; see rsg world --list.")
]
MapFile = Annotated[
    Path | None, typer.Option("--map", metavar="FILE", help="crafting: a map file instead of a random map.")
]
Layout = Annotated[
    str | None,
    typer.Option("--layout", metavar="NAME|FILE", help="playroom: a layout or a JSON file; see rsg world --list."),
]
Seed = Annotated[int, typer.Option("--seed", help="Which random start; the same seed gives the same one.")]


def world(
    name: WorldName,
    kind: Kind = None,
    map_file: MapFile = None,
    layout: Layout = None,
    seed: Seed = 0,
    png: Annotated[Path | None, typer.Option(metavar="FILE", help="Write a picture of it.")] = None,
    save: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write it as text (playroom: JSON), to edit and load.")
    ] = None,
    cell: Annotated[int | None, typer.Option(help="crafting: pixels per cell of the picture, 48.")] = None,
    listed: Annotated[bool, typer.Option("--list", help="List the kinds of maps, or the layouts.")] = False,
    sprites: Annotated[
        Path | None, typer.Option(metavar="FILE", help="crafting: write a picture of all objects.")
    ] = None,
    roadmap: Annotated[
        Path | None, typer.Option(metavar="FILE", help="playroom: write a picture of the roadmap on the floor.")
    ] = None,
    subgoals: Annotated[
        str | None, typer.Option(metavar="RUN", help="playroom, with --heat: the folder of a run, or untrained.")
    ] = None,
    heat: Annotated[
        Path | None, typer.Option(metavar="FILE", help="playroom: write a picture of where learned subgoals hold.")
    ] = None,
    goal: Annotated[
        str | None, typer.Option(metavar="TERM", help="crafting, with --pddl: what is to come true, as in rsg plan.")
    ] = None,
    pddl: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="crafting, with --goal: write domain.pddl and problem.pddl, for any planner."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show a world: a random map or room, or one of your own from a text file.

    For example:
    [bold]rsg world crafting --kind islands --seed 3 --png map.png[/bold]
    [bold]rsg world playroom --layout narrow --seed 3 --save my.json[/bold]
    [bold]rsg world playroom --subgoals out/run --heat heat.png[/bold]
    [bold]rsg world crafting --goal craft-boat --pddl out/boat[/bold]
    """
    special = {"cell": cell, "sprites": sprites, "roadmap": roadmap, "heat": heat, "subgoals": subgoals}
    special |= {"goal": goal, "pddl": pddl}
    face = face_named(name, kind=kind, map=map_file, layout=layout, **special)
    if (subgoals is None) != (heat is None):
        raise RsgError("--heat FILE draws where the subgoals of --subgoals RUN hold; give both")
    if (goal is None) != (pddl is None):
        raise RsgError("--pddl DIR writes a planning problem whose goal is --goal TERM; give both")
    if listed:
        _list(face, as_json)
        return
    place = chosen_place(kind, map_file, layout)
    where, state, about = face.start(place, (), seed)
    if goal is not None:
        from rsg.worlds.crafting.truth import goals

        goals(where, [goal])  # says so if there is no such term
        (where, state), about = face.goal_start(place, goal, seed), {"goal": goal}
    written = []
    for option, path in (("png", png), ("sprites", sprites), ("roadmap", roadmap)):
        if path:
            write_png(partial(face.pictures()[option], where, state, cell), path)
            written.append(path)
    if heat and subgoals:
        _draw_heat(heat, subgoals, name, layout, where, state)
        written.append(heat)
    if save:
        from rsg.core.files import replacing

        with replacing(save) as part:
            part.write_text(face.text(where, state), encoding="utf-8")
        written.append(save)
    if goal and pddl:
        written += _write_pddl(pddl, where, state, goal)
    if as_json:
        emit({**about, "seed": seed, **face.values(where, state), "written": [str(path) for path in written]})
        return
    console().print(face.view(where, state))
    for path in written:
        console().print(f"\nwritten to {path}", markup=False)


def _draw_heat(path: Path, subgoals: str, name: str, layout: str | None, world: Any, state: Any) -> None:
    """A picture of what classifiers say in a room."""
    from rsg.cli.plan import classifiers_named
    from rsg.demos import benchmark
    from rsg.evaluation.playroom_pictures import draw_heat

    if subgoals == "oracle":
        raise RsgError("--heat shows the truth beside what was learned; give the folder of a run, or untrained")
    draw_heat(path, classifiers_named(subgoals, benchmark(name, (), layout), world), world, state)


def _write_pddl(folder: Path, world: Any, state: Any, goal: str) -> list[Path]:
    """A planning problem as two files."""
    from rsg.core.files import replacing
    from rsg.worlds.crafting.pddl import to_pddl

    texts = to_pddl(world, state, goal)._asdict()
    for name, text in texts.items():
        with replacing(folder / f"{name}.pddl") as part:
            part.write_text(text, encoding="utf-8")
    return [folder / f"{name}.pddl" for name in texts]


def chosen_place(kind: str | None, map_file: Path | None, layout: str | None) -> str | Path | None:
    """The one place that was asked for."""
    if kind is not None and map_file is not None:
        raise RsgError("give either --kind or --map, not both")
    if kind is not None:
        from rsg.worlds.crafting.maps import kind_named

        kind_named(kind)
    return map_file or kind or layout


def _list(face: Face, as_json: bool) -> None:
    if as_json:
        emit(dict(face.places()))
        return
    for name, about in face.places().items():
        console().print(f"[bold]{name:18}[/bold] {about}")
