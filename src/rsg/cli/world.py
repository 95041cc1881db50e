"""`rsg world`: look at a map."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from rsg.cli.output import AsJson, console, emit
from rsg.core.errors import RsgError

WorldName = Annotated[str, typer.Argument(metavar="WORLD", help="Which world: crafting.")]
Kind = Annotated[str | None, typer.Option("--kind", metavar="KIND", help="A kind of random map; see --list.")]
MapFile = Annotated[Path | None, typer.Option("--map", metavar="FILE", help="A map file instead of a random map.")]
Seed = Annotated[int, typer.Option("--seed", help="Which random map; the same seed gives the same map.")]


def world(
    name: WorldName,
    kind: Kind = None,
    map_file: MapFile = None,
    seed: Seed = 0,
    png: Annotated[Path | None, typer.Option(metavar="FILE", help="Write a picture of the map.")] = None,
    save: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the map as text, to edit and load.")] = None,
    cell: Annotated[int, typer.Option(help="Pixels per cell of the picture.")] = 48,
    show_kinds: Annotated[bool, typer.Option("--list", help="List the kinds of maps.")] = False,
    sprites: Annotated[Path | None, typer.Option(metavar="FILE", help="Write a picture of all objects.")] = None,
    as_json: AsJson = False,
) -> None:
    """Show a map: a random one of a kind, or one of your own from a text file.

    For example: [bold]rsg world crafting --kind islands --seed 3 --png map.png[/bold]
    """
    require_world(name)
    if show_kinds:
        _list_kinds(as_json)
        return
    from rsg.core.random import stream
    from rsg.worlds.crafting.starts import Starts
    from rsg.worlds.crafting.terminal import terminal_view
    from rsg.worlds.crafting.text import write_map

    starts = Starts(chosen_map(kind, map_file))
    state = starts.sample(stream(seed, "world"))
    written = []
    if png:
        _write_png(starts.world.render(state, cell), png)
        written.append(png)
    if sprites:
        from rsg.worlds.crafting.pictures import sheet

        _write_png(sheet(starts.world.rules, cell), sprites)
        written.append(sprites)
    if save:
        from rsg.core.files import replacing

        with replacing(save) as part:
            part.write_text(write_map(starts.world, state), encoding="utf-8")
        written.append(save)
    if as_json:
        emit(
            {
                "kind": starts.kind,
                "seed": seed,
                "height": starts.world.height,
                "width": starts.world.width,
                "capacity": starts.world.capacity,
                "agent": [int(x) for x in state[:2]],
                "inventory": list(starts.world.inventory(state)),
                "map": write_map(starts.world, state),
                "written": [str(path) for path in written],
            }
        )
        return
    console().print(terminal_view(starts.world, state))
    for path in written:
        console().print(f"\nwritten to {path}", markup=False)


def require_world(name: str) -> None:
    """Only worlds that there are."""
    if name != "crafting":
        raise RsgError(f"there is no world '{name}'; there is: crafting")


def chosen_map(kind: str | None, map_file: Path | None) -> str | Path | None:
    """The one map source that was asked for."""
    if kind is not None and map_file is not None:
        raise RsgError("give either --kind or --map, not both")
    if kind is not None:
        from rsg.worlds.crafting.maps import kind_named

        kind_named(kind)
    return map_file or kind


def _list_kinds(as_json: bool) -> None:
    from rsg.worlds.crafting.maps import KINDS

    if as_json:
        emit({name: kind.about for name, kind in KINDS.items()})
        return
    for name, kind in KINDS.items():
        console().print(f"[bold]{name:18}[/bold] {kind.about}")


def _write_png(picture: Any, path: Path) -> None:
    from PIL import Image

    from rsg.core.files import replacing

    if path.suffix.lower() != ".png":
        raise RsgError(f"cannot write a picture to {path}: the name must end in .png")
    with replacing(path) as part:
        Image.fromarray(picture).save(part, format="PNG")
