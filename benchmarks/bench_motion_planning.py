"""Planning in Playroom with true subgoals: success, time and cost by planner and room; and making a roadmap."""

from __future__ import annotations

import time
from typing import Any

from rsg.core.random import stream
from rsg.demos.playroom import PlayroomBenchmark
from rsg.evaluation import evaluate_planning
from rsg.search import SearchSettings, roadmap
from rsg.search.roadmap import _made
from rsg.worlds.playroom import SHIPPED

KEPT = ("episodes", "success", "success_lenient", "expansions_mean", "plan_ms_median", "plan_ms_mean", "cost_mean")


def run() -> dict[str, Any]:
    """The paper's room with 100 episodes for each task, the other rooms with 20; about ten minutes."""
    figures: dict[str, Any] = {}
    for layout in SHIPPED:
        room = PlayroomBenchmark(layout)
        figures[f"{layout} roadmap made, ms"] = _construction(room)
        for planner in ("roadmap", "rrt"):
            for split in ("compositional", "novel"):
                figures[f"{layout} {planner} {split}"] = _measured(
                    room, planner, split, 100 if layout == "paper" else 20
                )
    return figures


def _measured(room: Any, planner: str, split: str, count: int) -> dict[str, float]:
    settings = SearchSettings(planner=planner)
    evaluate_planning(room, split, room.true_goals, 1, settings=settings)
    result = evaluate_planning(room, split, room.true_goals, count, settings=settings)
    return {key: round(result[key], 4) for key in KEPT}


def _construction(room: PlayroomBenchmark) -> float:
    """Milliseconds for a roadmap, after one for what is compiled on the way."""
    world, state = room.start("train", 0, stream(0))
    roadmap(world, state)
    _made.clear()
    start = time.perf_counter()
    roadmap(world, state)
    return round(1000 * (time.perf_counter() - start), 1)
