"""Options that several commands have."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from rsg.cli.command import option
from rsg.cli.output import ends_in

WorldName = Annotated[str, typer.Argument(metavar="WORLD", help="Which world: crafting or playroom.")]
RunFolder = Annotated[Path, typer.Argument(metavar="RUN", help="The folder of a run.")]
Layout = Annotated[
    str | None,
    typer.Option("--layout", metavar="NAME|FILE", help="playroom: a layout or a JSON file; see rsg world --list."),
]
Seed = Annotated[int, typer.Option("--seed", help="Which random start; the same seed gives the same one.")]
PerTask = Annotated[int, typer.Option(min=1, help="Starts of each task.")]


def picture(about: str) -> Any:
    """An option for a picture to write."""
    return option(None, about, metavar="FILE", callback=ends_in(".png"))


@dataclass(frozen=True)
class Place:
    """Where."""

    map: str | None = option(
        None,
        "crafting: a kind of map (see rsg world --list) or a map file; else a random one that holds what is needed.",
        *("--map", "--kind"),
        metavar="KIND|FILE",
    )
    layout: Layout = None

    @property
    def name(self) -> str | None:
        """The one that was asked for; no world has both."""
        return self.map or self.layout


@dataclass(frozen=True)
class Search:
    """How to plan, and with which subgoals."""

    subgoals: str = option(
        "oracle", "The folder of a run, or oracle (the truth), or untrained (random networks).", metavar="WHICH"
    )
    planner: str = option(
        "auto", "playroom: roadmap, rrt (random trees), or auto (a roadmap, and trees where it does not do)."
    )
    order: str | None = option(None, "deepest (crafting's default), balanced, optimal, anytime or auto (playroom's).")
    seed: Seed = 0
