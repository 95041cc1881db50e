"""Playroom as the command line shows it; see `rsg.cli.worlds.Face`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rsg.cli.output import console

if TYPE_CHECKING:
    from rsg.envs.game import Game
    from rsg.planning import Plan
    from rsg.search import Goals, SearchSettings
    from rsg.subgoals import Segmentation

_PIXELS = 800
_DEFAULT = "paper"


class Playroom:
    """A place is a layout: one that comes with rsg, or a file."""

    name = "playroom"
    options: tuple[str, ...] = ("layout", "roadmap", "png", "heat", "subgoals")
    order = "auto"
    dtype = "float64"
    examples = ("turn-on-music then play-with-ball", "ring-bell")
    setting = '{"world": "playroom", "layout": "paper"}'

    def places(self) -> Mapping[str, str]:
        """The layouts."""
        from rsg.worlds.playroom.layout_files import LAYOUTS

        return LAYOUTS

    def start(self, place: str | Path | None, terms: Sequence[str], seed: int) -> tuple[Any, Any, dict[str, Any]]:
        """A random start in the room, if the layout leaves it to chance."""
        from rsg.core.random import stream
        from rsg.worlds.playroom import PlayroomWorld, load_layout
        from rsg.worlds.playroom.truth import effectors_of

        world = PlayroomWorld(load_layout(place or _DEFAULT))
        effectors_of(world, terms)
        return world, world.start(stream(seed, "world")), self.about(place)

    def goal_start(self, place: str | Path | None, term: str, seed: int) -> tuple[Any, Any]:
        """As for any task."""
        return self.start(place, [term], seed)[:2]

    def game(self, place: str | Path | None, task: str | None, seed: int) -> Game:
        """Move and turn."""
        from rsg.envs import PlayroomEnv
        from rsg.envs.game import PLAYROOM, Game

        return Game(PlayroomEnv(place or _DEFAULT, task), seed, PLAYROOM)

    def view(self, world: Any, state: Any) -> Any:
        """A small picture, or letters where there are no colours."""
        from rsg.worlds.playroom.terminal import terminal_view

        return terminal_view(world, state, colours=console().color_system is not None)

    def steps(self, world: Any, states: Any, actions: Any) -> str:  # noqa: ARG002
        """How many actions, and where they end."""
        from rsg.core.words import quantity

        x, y, angle = states[-1][:3]
        return f"{quantity(len(actions), 'step'):>8} to ({x:.2f}, {y:.2f}), angle {angle:.2f}"

    def values(self, world: Any, state: Any) -> dict[str, Any]:
        """The room, the pose of the robot, the places of the effectors, and what they are for."""
        return {"room": list(world.layout.size), **world.told(state), "terms": list(world.layout.terms)}

    def text(self, world: Any, state: Any) -> str:
        """A layout file in which everything starts where it is."""
        from rsg.worlds.playroom.layout_files import write_layout

        return write_layout(world.layout_at(state))

    def pictures(self) -> Mapping[str, Any]:
        """The room, and the roadmap on its floor."""
        return {"png": lambda world, state, _: world.render(state, _PIXELS), "roadmap": _roadmap_picture}

    def plan_picture(self, world: Any, plan: Plan, goals: Goals, settings: SearchSettings) -> Any:
        """The robot's outlines along the way, the end of each subgoal, and the tree that the planner `rrt` grew."""
        from rsg.language import Machine
        from rsg.search import TreeSearch
        from rsg.worlds.playroom.pictures import Trail, picture

        tree = None
        if settings.planner == "rrt":  # the same search once more: it ends with the same tree
            search = TreeSearch(world, plan.states[0], Machine.of(plan.task), goals, settings)
            search.run()
            tree = search.tree()
        ends = [i for i in range(1, len(plan.nodes) + 1) if i == len(plan.nodes) or plan.nodes[i] != plan.nodes[i - 1]]
        moments = [(end, plan.terms[end - 1]) for end in ends]
        return picture(world, plan.states[0], _PIXELS, Trail(plan.states, moments), tree)

    def draw_steps(self, path: Path, world: Any, steps: tuple[Any, Any], found: Segmentation, note: str) -> None:
        """The robot's outlines on the floor plan, and a timeline in the same colours."""
        from rsg.evaluation.playroom_pictures import draw_segmentation

        draw_segmentation(path, world, *steps, found, note)

    def about(self, place: str | Path | None) -> dict[str, Any]:
        """The layout."""
        return {"layout": str(place or _DEFAULT)}


def _roadmap_picture(world: Any, state: Any, _: int | None) -> Any:
    import numpy as np

    from rsg.search import roadmap
    from rsg.worlds.playroom.pictures import picture

    roads = roadmap(world, state)
    one = np.repeat(np.arange(len(roads.states)), np.diff(roads.edge_start))
    links = np.stack([one, roads.edge_end], axis=1)
    return picture(world, state, _PIXELS, links=(roads.states, links[links[:, 0] < links[:, 1]]))
