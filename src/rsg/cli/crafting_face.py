"""Crafting World as the command line shows it; see `rsg.cli.worlds.Face`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rsg.core.errors import RsgError

if TYPE_CHECKING:
    from rsg.envs.game import Game
    from rsg.subgoals import Segmentation

_SIZE = 7  # rows and columns of the map for a goal
_CELL = 48  # pixels


class Crafting:
    """A place is a kind of map or a map file."""

    name = "crafting"
    options: tuple[str, ...] = ("kind", "map", "sprites", "cell", "method")
    order = "deepest"
    dtype = "uint8"
    examples = ("grab-axe then mine-wood", "craft-boat")
    setting = '{"world": "crafting", "height": 6, "width": 6, "capacity": 6, "objects": 36}'

    def places(self) -> Mapping[str, str]:
        """The kinds of maps."""
        from rsg.worlds.crafting.maps import KINDS

        return {name: kind.about for name, kind in KINDS.items()}

    def start(self, place: str | Path | None, terms: Sequence[str], seed: int) -> tuple[Any, Any, dict[str, Any]]:
        """A map that was asked for, or a random one that holds what is needed."""
        from rsg.core.random import stream
        from rsg.worlds.crafting.starts import Starts

        starts = Starts(place, terms)
        return starts.world, starts.sample(stream(seed, "world")), {"kind": starts.kind}

    def goal_start(self, place: str | Path | None, term: str, seed: int) -> tuple[Any, Any]:
        """The map that was asked for, or one on which all that can help is within a walk; hands are empty."""
        from rsg.core.random import stream
        from rsg.worlds.crafting.goal_starts import leading_to, start_for

        if place is None:
            return start_for(term, _SIZE, stream(seed, "world"))
        return self.start(place, leading_to(term), seed)[:2]  # holds what may be needed, though not always in reach

    def game(self, place: str | Path | None, task: str | None, seed: int) -> Game:
        """Arrows and toggle."""
        from rsg.envs import CraftingEnv
        from rsg.envs.game import Game

        return Game(CraftingEnv(map=place, task=task), seed)

    def view(self, world: Any, state: Any) -> Any:
        """The map in letters."""
        from rsg.worlds.crafting.terminal import terminal_view

        return terminal_view(world, state)

    def steps(self, world: Any, states: Any, actions: Any) -> str:  # noqa: ARG002
        """The names of the actions."""
        return " ".join(world.actions[action] for action in actions)

    def values(self, world: Any, state: Any) -> dict[str, Any]:
        """The size of the map, the agent, and the map itself."""
        return {
            "height": world.height,
            "width": world.width,
            "capacity": world.capacity,
            "agent": [int(x) for x in state[:2]],
            "inventory": list(world.inventory(state)),
            "map": self.text(world, state),
        }

    def text(self, world: Any, state: Any) -> str:
        """A map file."""
        from rsg.worlds.crafting.text import write_map

        return write_map(world, state)

    def pictures(self) -> Mapping[str, Any]:
        """The map, and all objects."""
        from rsg.worlds.crafting.pictures import sheet

        return {
            "png": lambda world, state, cell: world.render(state, cell or _CELL),
            "sprites": lambda world, _, cell: sheet(world.rules, cell or _CELL),
        }

    def plan_picture(self, *_: Any) -> Any:
        """There is none."""
        raise RsgError("--png is for playroom; in crafting a plan is drawn with --gif")

    def draw_steps(self, path: Path, world: Any, steps: tuple[Any, Any], found: Segmentation, note: str) -> None:
        """A timeline, with maps."""
        from rsg.evaluation.timeline import draw_timeline

        draw_timeline(path, world, *steps, found, note)

    def about(self, place: str | Path | None) -> dict[str, Any]:  # noqa: ARG002
        """Nothing more."""
        return {}
