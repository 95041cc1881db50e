"""Planning in Playroom with true subgoals: success, time and cost by planner and room; and making a roadmap.

Every plan is judged by `tests/reference/playroom.py`, which knows shapely and not a line of the planners.
"""

import time
from typing import Any

import numpy as np
from tests.reference.playroom import judge_plan

from reproductions.motion_peers import roadmap_ms
from rsg.core.random import stream
from rsg.domains.playroom import SHIPPED
from rsg.domains.playroom.domain import Playroom
from rsg.planning import plan
from rsg.search import PLANNERS, SearchSettings

PAPERS, OTHERS = 100, 20  # episodes of each task in the paper's room, and in others
SEED = 0


def run() -> dict[str, Any]:
    """Compositional and novel tasks in every room that is shipped; about ten minutes, most of them for the judge."""
    figures: dict[str, Any] = {"seed": SEED, "judge's resolution": 0.01}
    for layout in SHIPPED:
        room = Playroom(layout)
        figures[f"{layout} roadmap made, ms"] = roadmap_ms(*room.start_of("train", 0, stream(SEED)))
        for planner in ("roadmap", "rrt"):
            for split in ("compositional", "novel"):
                count = PAPERS if layout == "paper" else OTHERS
                figures[f"{layout} {planner} {split}"] = _measured(room, planner, split, count)
    return figures


def _measured(room: Playroom, planner: str, split: str, count: int) -> dict[str, Any]:
    """Plans from so many starts of each task; those that the judge refuses are told one by one."""
    wall, cpu, costs, expansions, wrong = [], [], [], [], []
    for number, task in enumerate(room.tasks(split)):
        for i in range(count):
            world, state = room.start_of(split, number, stream(SEED, "motion planning", split, number, i))
            begun = time.process_time()
            made = plan(world, state, task, room.true_goals, SearchSettings(PLANNERS[planner](), seed=i))
            cpu.append(1000 * (time.process_time() - begun))
            wall.append(1000 * made.seconds)
            expansions.append(made.expansions)
            objection = judge_plan(world.layout, made.states, made.actions, task) if made.found else made.reason
            if objection:
                wrong.append(f"{task}, start {i}: {objection}")
            else:
                costs.append(made.cost)
    episodes = len(wall)
    return {
        "episodes": episodes,
        "success": round(1 - len(wrong) / episodes, 5),
        "plan_ms_median": round(float(np.median(wall)), 2),
        "plan_ms_p95": round(float(np.quantile(wall, 0.95)), 2),
        "plan_cpu_ms_median": round(float(np.median(cpu)), 2),
        "expansions_mean": round(float(np.mean(expansions)), 1),
        "cost_mean": round(float(np.mean(costs)), 4),
        "failures": wrong,
    }
